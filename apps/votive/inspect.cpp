// votive inspect: what a GGUF or safetensors file says of itself: metadata and tensors.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace votive::app {

namespace {

/// A file in the two lists that both formats have.
struct Contents {
  std::string format;
  std::vector<std::pair<std::string, std::string>> metadata;
  struct Row {
    std::string name, dtype;
    Shape shape;
    std::size_t bytes;
  };
  std::vector<Row> tensors;
};

bool begins_with_gguf(const std::string& path) {
  const MappedFile file(path);  // refuses folders, pipes and devices
  return file.bytes().size() >= 4 && std::string_view(reinterpret_cast<const char*>(file.bytes().data()), 4) == "GGUF";
}

Contents read_contents(const std::string& path) {
  Contents contents;
  if (begins_with_gguf(path)) {
    const io::GgufFile file(path);
    contents.format = fmt::format("GGUF {}", file.version());
    for (const io::GgufValue& value : file.values()) contents.metadata.emplace_back(value.key(), value.text());
    for (const io::GgufTensor& tensor : file.tensors()) {
      contents.tensors.push_back({std::string(tensor.name), std::string(tensor.type_name), tensor.shape(), tensor.bytes});
    }
    return contents;
  }
  const io::SafetensorsFile file(path);
  contents.format = "safetensors";
  for (const auto& [key, value] : file.metadata()) contents.metadata.emplace_back(key, value);
  for (Size i = 0; i < file.size(); ++i) {
    const Meta meta = file.meta(i);
    contents.tensors.push_back({std::string(file.name(i)), std::string(to_string(meta.dtype)), meta.shape, file.bytes(i)});
  }
  return contents;
}

/// A name as a terminal may show it: a hostile file's control characters are spelled, not obeyed.
std::string shown(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte == 127) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text;
}

void print_text(const Contents& contents) {
  std::size_t bytes = 0, widest = 0;
  Size elements = 0;
  for (const auto& row : contents.tensors) {
    bytes += row.bytes;
    elements += count(row.shape);
    widest = std::max(widest, row.name.size());
  }
  std::fputs(fmt::format("{} · {} tensors · {:.1f} M elements · {:.1f} MB\n\n", contents.format, contents.tensors.size(),
                         static_cast<double>(elements) * 1e-6, static_cast<double>(bytes) * 1e-6)
                 .c_str(),
             stdout);
  for (const auto& [key, value] : contents.metadata) std::fputs(fmt::format("{} = {}\n", shown(key), shown(value)).c_str(), stdout);
  if (!contents.metadata.empty()) std::fputc('\n', stdout);
  for (const auto& row : contents.tensors) {
    std::fputs(fmt::format("{:<{}}  {:<7} {}\n", shown(row.name), widest, row.dtype, to_string(row.shape)).c_str(), stdout);
  }
}

void print_json(const Contents& contents) {
  nlohmann::ordered_json json;
  json["format"] = contents.format;
  for (const auto& [key, value] : contents.metadata) json["metadata"][key] = value;
  json["tensors"] = nlohmann::ordered_json::array();
  for (const auto& row : contents.tensors) {
    json["tensors"].push_back({{"name", row.name}, {"dtype", row.dtype}, {"shape", row.shape.to_vector()}, {"bytes", row.bytes}});
  }
  // Strings of a file need not be UTF-8; what is not is shown as U+FFFD.
  std::fputs((json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n").c_str(), stdout);
}

}  // namespace

void add_inspect(CLI::App& app, int& code) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("inspect", "show the metadata and tensors of a GGUF or safetensors file");
  command->footer("Examples:\n  votive inspect smollm2.gguf\n  votive inspect model.safetensors --json");
  command->add_option("file", options->file, "the file")->required()->check(CLI::ExistingFile);
  command->add_flag("--json", options->json, "as JSON");
  command->callback([options, &code] {
    const Contents contents = read_contents(options->file);
    options->json ? print_json(contents) : print_text(contents);
    code = success;
  });
}

}  // namespace votive::app
