// votive generate: a prompt in, the model's continuation out, as it comes.
#include <iostream>
#include <iterator>
#include <memory>

#include "command.h"

namespace votive::app {

void add_generate(CLI::App& app, int& code) {
  struct Options {
    std::string model, prompt;
    models::GenerateOptions generation;
    MachineOptions machine;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "continue a text");
  command->footer(
      "Examples:\n"
      "  votive generate smollm2.gguf \"The sea was\"\n"
      "  votive generate smollm2.gguf \"The sea was\" --temperature 0.7 --seed 1 --max-tokens 64\n"
      "  votive generate smollm2.gguf - < letter.txt");
  command->add_option("model", options->model, "a GGUF file")->required()->check(CLI::ExistingFile);
  command->add_option("prompt", options->prompt, "the text to continue; - reads standard input")->required();
  add_generation_options(*command, options->generation);
  command->add_flag("--parse-special", options->generation.parse_special, "control tokens spelled in the prompt are tokens");
  options->machine.add_to(*command);
  command->callback([options, &code] {
    if (options->prompt == "-") options->prompt.assign(std::istreambuf_iterator<char>(std::cin), {});
    const Device device = options->machine.apply();
    const models::LanguageModel model = load_with_progress(options->model, device);
    catch_interrupt();
    models::Generation generation = model.generate(options->prompt, options->generation);
    std::fwrite(options->prompt.data(), 1, options->prompt.size(), stdout);
    code = write_pieces(generation);
    report_speed(generation.statistics());
  });
}

}  // namespace votive::app
