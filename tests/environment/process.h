// Starts a program and collects what it prints and how it ended.
#pragma once

#include <string>
#include <vector>

namespace votive::environment {

struct Ended {
  int status = -1;  // of an exit; −1 when a signal ended it
  int signal = 0;
  std::string out, error;
};

struct Start {
  std::vector<std::string> command;
  std::vector<std::string> variables = {};  // NAME=value, beside those of this process
  bool streams_closed = false;              // standard input, output and error are not there at all
  unsigned seconds = 600;
};
Ended run(const Start& start);

}  // namespace votive::environment
