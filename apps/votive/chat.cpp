// votive chat: a conversation by the model's own template. Ctrl-C ends an answer, Ctrl-D or /bye the conversation.
#include <unistd.h>

#include <iostream>
#include <memory>

#include "command.h"

namespace votive::app {

namespace {

int converse(const models::LanguageModel& model, const models::GenerateOptions& options, const std::string& system, bool say_speed) {
  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({"system", system});
  const bool asks = isatty(STDIN_FILENO) != 0;
  std::string line;
  while (true) {
    if (asks) std::fputs("> ", stderr);
    allow_interrupt();
    if (!std::getline(std::cin, line) || line == "/bye") return success;
    if (line.empty()) continue;
    messages.push_back({"user", line});
    forget_interrupt();
    models::Generation generation = model.chat(messages, options);
    std::string answer;
    const int code = write_pieces(generation, &answer);
    if (say_speed) report_speed(generation.statistics());
    if (code != success && !asks) return code;
    messages.push_back({"assistant", answer});
  }
}

}  // namespace

void add_chat(CLI::App& app, int& code) {
  struct Options {
    std::string model, system;
    models::GenerateOptions generation{.max_tokens = 512, .temperature = 0.7, .top_p = 0.95};
    MachineOptions machine;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("chat", "talk with a model, by its own template");
  command->footer(
      "Examples:\n"
      "  votive chat smollm2.gguf\n"
      "  echo \"Name three colours.\" | votive chat smollm2.gguf --temperature 0\n"
      "Ctrl-C ends an answer; /bye or Ctrl-D ends the conversation.");
  command->add_option("model", options->model, "a GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("--system", options->system, "what the model is told first");
  add_generation_options(*command, options->generation);
  options->machine.add_to(*command);
  command->callback([options, &code] {
    const Device device = options->machine.apply();
    const models::LanguageModel model = load_with_progress(options->model, device);
    code = converse(model, options->generation, options->system, stderr_is_terminal());
  });
}

}  // namespace votive::app
