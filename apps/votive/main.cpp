// votive: the command line. Subcommands are one file each; this one parses, runs and turns errors into exit codes.
#include <cstdio>
#include <string>
#include <string_view>

#include "run.h"

int main(int argc, char** argv) {
  using namespace votive::app;
  CLI::App app(
      "Votive runs language models with the same bits on every device, instruction set and number of threads.\n"
      "Exit codes: 0 done, 1 an error (named on standard error), 2 wrong usage, 3 verify found other bits, 130 interrupted by Ctrl-C.");
  app.name("votive");
  app.require_subcommand(1);
  app.footer("votive COMMAND --help shows a command's options and examples.");
  int code = success;
  add_generate(app, code);
  add_chat(app, code);
  add_inspect(app, code);
  add_verify(app, code);
  add_bench_model(app, code);
  add_logits(app, code);
  if (const std::string_view first = argc > 1 ? argv[1] : "-";
      !first.starts_with('-') && app.get_subcommands([&](CLI::App* command) { return command->get_name() == first; }).empty()) {
    std::fputs(("votive: no command '" + std::string(first) + "'; votive --help lists them\n").c_str(), stderr);
    return wrong_usage;
  }
  return run(app, argc, argv, code);
}
