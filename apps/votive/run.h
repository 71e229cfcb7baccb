// What both programs end with: the words are parsed, the command runs, and whatever goes wrong becomes a line on standard error and an exit code.
#pragma once

#include <cstdio>
#include <new>
#include <string>

#include "command.h"

namespace votive::app {

/// `code` is what the commands of `app` store theirs in. A result that could not be written is a failure too.
inline int run(CLI::App& app, int argc, char** argv, const int& code) {
  const auto say = [&](const std::string& what) { std::fputs((app.get_name() + ": " + what + "\n").c_str(), stderr); };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) { return app.exit(error) == 0 ? success : wrong_usage; } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: out of memory\n", app.get_name().c_str());  // which asks for none
    return failure;
  } catch (const std::exception& error) {
    say(error.what());
    return failure;
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    say("standard output could not be written");
    return code == success ? failure : code;
  }
  return code;
}

}  // namespace votive::app
