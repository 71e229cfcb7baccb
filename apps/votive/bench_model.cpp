// votive bench-model: tokens per second of one model on this machine, prompt and decode, for comparison in one run with other programs.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"

namespace votive::app {

namespace {

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// `n` ids that a vocabulary of any size has; their values do not change the work.
Tensor some_ids(Size n, Size first) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(n));
  for (Size i = 0; i < n; ++i) ids[static_cast<std::size_t>(i)] = static_cast<std::int32_t>((first + 37 * i) % 1000);
  return from_host<std::int32_t>(ids, {1, n}, i32);
}

}  // namespace

void add_bench_model(CLI::App& app, int& code) {
  struct Options {
    std::string model;
    int prompt = 512, decode = 128;
    bool json = false;
    MachineOptions machine;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("bench-model", "measure tokens per second of a model");
  command->footer(
      "Examples:\n  votive bench-model smollm2.gguf --threads 2\n  votive bench-model smollm2.gguf --prompt 128 --decode 64 --json");
  command->add_option("model", options->model, "a GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("--prompt", options->prompt, "tokens of the prompt")->capture_default_str()->check(CLI::Range(0, 1 << 20));
  command->add_option("--decode", options->decode, "tokens to make, one at a time")->capture_default_str()->check(CLI::Range(0, 1 << 20));
  command->add_flag("--json", options->json, "as JSON, alone on standard output");
  options->machine.add_to(*command);
  command->callback([options, &code] {
    options->machine.apply();
    double start = seconds_now();
    const models::LanguageModel model = load_with_progress(options->model, Device::cpu);
    const double load_seconds = seconds_now() - start;
    const models::Llama& network = model.network();
    nlohmann::ordered_json json;
    json["threads"] = votive::threads();
    json["instruction_set"] = runtime::instruction_set();
    json["load_seconds"] = load_seconds;
    {
      models::KvCache warm = network.make_cache(1, 16);
      network(some_ids(8, 1), warm, true);
    }
    if (options->prompt > 0) {
      models::KvCache cache = network.make_cache(1, options->prompt);
      start = seconds_now();
      for (Size at = 0; at < options->prompt; at += 512) network(some_ids(std::min<Size>(512, options->prompt - at), at), cache, true);
      json["prompt_tokens_per_second"] = options->prompt / (seconds_now() - start);
    }
    if (options->decode > 0) {
      models::KvCache cache = network.make_cache(1, options->decode + 1);
      network(some_ids(1, 1), cache, true);
      start = seconds_now();
      for (Size i = 0; i < options->decode; ++i) network(some_ids(1, i), cache, true);
      json["decode_tokens_per_second"] = options->decode / (seconds_now() - start);
    }
    if (options->json) {
      std::fputs((json.dump() + "\n").c_str(), stdout);
    } else {
      for (const auto& [key, value] : json.items()) std::fputs(fmt::format("{:<26} {}\n", key, value.dump()).c_str(), stdout);
    }
    code = success;
  });
}

}  // namespace votive::app
