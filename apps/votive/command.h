// What the subcommands of `votive` share: their registration, the terminal, Ctrl-C. A subcommand is one file with one add_… function.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "votive/votive.h"

namespace votive::app {

/// Exit codes, also in --help: what a script may rely on.
enum ExitCode : int { success = 0, failure = 1, wrong_usage = 2, different = 3, interrupted = 130 };

/// Each adds its subcommand; running it stores its exit code in `code`.
void add_generate(CLI::App& app, int& code);
void add_chat(CLI::App& app, int& code);
void add_inspect(CLI::App& app, int& code);
void add_verify(CLI::App& app, int& code);
void add_bench_model(CLI::App& app, int& code);
void add_logits(CLI::App& app, int& code);

// ---- the terminal (terminal.cpp) ----

bool stderr_is_terminal();
/// A bar on standard error that redraws itself; silent when standard error is no terminal.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  void show(double fraction);

 private:
  std::string what_;
  int shown_ = -1;
};

/// From now on Ctrl-C only sets a flag, so that a command can end its line and say how far it came; a second one ends the process at once.
void catch_interrupt();
bool was_interrupted();
void forget_interrupt();
/// Ctrl-C ends the process again, as while a command waits for a line.
void allow_interrupt();

/// Threads and device options that several commands have.
struct MachineOptions {
  int threads = 0;
  std::string device = "cpu";

  void add_to(CLI::App& command);
  Device apply() const;  ///< sets the threads; gives the device
};
models::LanguageModel load_with_progress(const std::string& path, Device device);

/// Options of generation, as flags.
void add_generation_options(CLI::App& command, models::GenerateOptions& options);
/// Writes pieces as they come; on Ctrl-C ends the line. Returns the exit code.
int write_pieces(models::Generation& generation, std::string* collected = nullptr);
void report_speed(const models::GenerationStatistics& statistics);

}  // namespace votive::app
