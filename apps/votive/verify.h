// `votive verify`, also a small program of its own (votive-verify), which needs no tokenizer and no model and so exists where their libraries do not.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace votive::app {

/// Gives a command, or a whole program, verify's options and what it does.
void configure_verify(CLI::App& command, int& code);

/// What two people put beside each other to compare: "AMD EPYC, x86_64", "votive 0.1.0, g++ 12.2.0, release".
std::string machine_name();
std::string build_name();

struct AllOptions {
  std::string device = "cpu";
  std::vector<std::string> functions;  // all when empty
  int threads = 0;                     // the machine's when 0
  std::string write;                   // a file to write the hashes to, instead of comparing
  bool json = false;
};
/// Every input of every f32 function of one tensor. Gives the exit code.
int verify_every_input(const AllOptions& options);

}  // namespace votive::app
