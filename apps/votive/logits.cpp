// votive logits: every logit of a text, as raw f32 [T, V] in machine order: what the tests of bits and values compare.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "command.h"

namespace votive::app {

namespace {

std::vector<std::int32_t> read_ids(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::int32_t> ids;
  std::int32_t id;
  while (file >> id) ids.push_back(id);
  if (ids.empty() || !file.eof()) throw Error(ErrorKind::InvalidFile, "logits").detail(fmt::format("'{}' is no list of token ids", path));
  return ids;
}

/// The ids in row `row` of a batch: the text itself in row 0, in other rows the same text turned, so that the rows differ.
Tensor batch_of(const std::vector<std::int32_t>& ids, Size begin, Size n, Size batch, Device device) {
  const auto length = static_cast<Size>(ids.size());
  std::vector<std::int32_t> rows(static_cast<std::size_t>(batch * n));
  for (Size row = 0; row < batch; ++row) {
    for (Size i = 0; i < n; ++i)
      rows[static_cast<std::size_t>(row * n + i)] = ids[static_cast<std::size_t>((begin + i + row * 17) % length)];
  }
  return from_host<std::int32_t>(rows, {batch, n}, i32, {.device = device});
}

}  // namespace

void add_logits(CLI::App& app, int& code) {
  struct Options {
    std::string model, ids, output;
    Size piece = 0, batch = 1, first = 0;
    bool prepack = true;
    MachineOptions machine;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("logits", "write every logit of a text as raw f32 [tokens, vocabulary]");
  command->footer(
      "Examples:\n  votive logits smollm2.gguf --ids text.ids --output logits.f32\n  votive logits smollm2.gguf --ids text.ids --piece 7 "
      "--output - | sha256sum");
  command->add_option("model", options->model, "a GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("--ids", options->ids, "a file of token ids, separated by blanks or lines")->required()->check(CLI::ExistingFile);
  command->add_option("--output", options->output, "the file to write; - is standard output")->required();
  command->add_option("--piece", options->piece, "tokens read at a time; 0: all at once")->check(CLI::NonNegativeNumber);
  command->add_option("--batch", options->batch, "read beside batch − 1 other texts")->check(CLI::Range(1, 64));
  command->add_option("--first", options->first, "only the first so many tokens; 0: all")->check(CLI::NonNegativeNumber);
  command->add_flag("!--no-prepack", options->prepack, "use the weights as the file has them");
  options->machine.add_to(*command);
  command->callback([options, &code] {
    const Device device = options->machine.apply();
    std::vector<std::int32_t> ids = read_ids(options->ids);
    if (options->first > 0 && options->first < static_cast<Size>(ids.size())) ids.resize(static_cast<std::size_t>(options->first));
    const auto length = static_cast<Size>(ids.size());
    const models::LanguageModel model =
        models::load(options->model, {.prepack = options->prepack && device == Device::cpu, .device = device});
    const Size piece = options->piece > 0 ? options->piece : length;
    models::KvCache cache = model.network().make_cache(options->batch, length);
    std::FILE* out = options->output == "-" ? stdout : std::fopen(options->output.c_str(), "wb");
    if (out == nullptr) throw Error(ErrorKind::Io, "logits").detail(fmt::format("cannot write '{}'", options->output));
    bool written = true;
    for (Size at = 0; at < length && written; at += piece) {
      const Size n = std::min(piece, length - at);
      const Tensor logits = model.network()(batch_of(ids, at, n, options->batch, device), cache);
      const std::vector<float> values = select(logits, 0, 0).to_host<float>();
      written = std::fwrite(values.data(), sizeof(float), values.size(), out) == values.size();
    }
    written = (out == stdout ? std::fflush(out) : std::fclose(out)) == 0 && written;
    if (!written) throw Error(ErrorKind::Io, "logits").detail(fmt::format("writing '{}' failed", options->output));
    code = success;
  });
}

}  // namespace votive::app
