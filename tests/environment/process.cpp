// fork and exec with files for the two streams: nothing can block on a full pipe, and nothing of the test's own process is inherited but those.
#include "tests/environment/process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace votive::environment {

namespace {

std::string temporary() {
  char name[] = "/tmp/votive_environment_XXXXXX";
  const int file = ::mkstemp(name);
  if (file >= 0) ::close(file);
  return name;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  ::unlink(path.c_str());
  return text.str();
}

void redirect(const std::string& path, int to) {
  const int file = ::open(path.c_str(), O_WRONLY | O_TRUNC);
  ::dup2(file, to);
  ::close(file);
}

}  // namespace

Ended run(const Start& start) {
  const std::string out = temporary(), error = temporary();
  std::vector<char*> words;
  for (const std::string& word : start.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const std::string& variable : start.variables) ::putenv(const_cast<char*>(variable.c_str()));
    if (start.streams_closed) {
      for (int stream = 0; stream < 3; ++stream) ::close(stream);
    } else {
      redirect(out, 1);
      redirect(error, 2);
    }
    ::alarm(start.seconds);
    ::execv(words[0], words.data());
    ::_exit(127);
  }
  Ended ended;
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  ended.out = contents(out);
  ended.error = contents(error);
  return ended;
}

}  // namespace votive::environment
