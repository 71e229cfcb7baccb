// Computes the sample in the surroundings that its first argument names and prints a line per item: the name, a tab, the answer.
//   plain flushing upward downward toward_zero trapping   each call in that floating-point environment
//   process [LIBRARY]   in whatever the process has, after loading LIBRARY when one is named; says on standard error whether it flushes subnormals
//   threads N           N threads from the first call on, each in surroundings of its own; prints what differs between them too
//   openmp N            in a parallel region of N threads
//   fork                in a child forked when the parent has computed, while another thread of it computes
//   stack BYTES         on a thread with a stack of BYTES
//   address_space       each call under a limit on address space; then all of them again without
//   file PATH           in the process's surroundings, written to PATH: standard output may be closed
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "tests/environment/sample.h"
#include "votive/core/memory.h"

namespace votive::environment {
namespace {

using Answers = std::vector<std::string>;

const Sample& sample() {
  static const Sample all;
  return all;
}

const char* volatile current = "nothing yet";

/// Says which item a trap ended: without it a signal would be all one sees.
void on_trap(int number) {
  const char* const name = current;
  static_cast<void>(!::write(2, name, std::strlen(name)));
  static_cast<void>(!::write(2, ": a trap\n", 9));
  ::signal(number, SIG_DFL);
  ::raise(number);
}

Answers answers(Surroundings kind) {
  Answers all;
  for (std::size_t i = 0; i < sample().size(); ++i) {
    current = sample().name(i).c_str();
    all.push_back(sample().answer(i, kind));
  }
  return all;
}

void print(const Answers& all, std::ostream* file = nullptr) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string line = sample().name(i) + "\t" + all[i] + "\n";
    if (file != nullptr) {
      *file << line;
    } else {
      std::fputs(line.c_str(), stdout);
    }
  }
  std::fflush(stdout);
}

int in_threads(int count) {
  sample();
  std::vector<Answers> of(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&of, t] {
      // Each begins elsewhere in the list, so that different operations meet.
      const std::size_t n = sample().size(), first = n * static_cast<std::size_t>(t) / of.size();
      Answers mine(n);
      for (std::size_t i = 0; i < n; ++i) mine[(first + i) % n] = sample().answer((first + i) % n, every_surroundings[t % 6]);
      of[static_cast<std::size_t>(t)] = std::move(mine);
    });
  for (std::thread& thread : threads) thread.join();
  print(of[0]);
  int differing = 0;
  for (std::size_t t = 1; t < of.size(); ++t)
    for (std::size_t i = 0; i < sample().size(); ++i)
      if (of[t][i] != of[0][i] && ++differing < 20)
        std::printf("%s on thread %zu, %s\t%s\n", sample().name(i).c_str(), t, to_string(every_surroundings[t % 6]).data(),
                    of[t][i].c_str());
  return differing == 0 ? 0 : 1;
}

int in_openmp(int count) {
#if defined(_OPENMP)
  Answers all(sample().size());
  const int n = static_cast<int>(all.size());
#pragma omp parallel for num_threads(count) schedule(dynamic)
  for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = sample().answer(static_cast<std::size_t>(i), every_surroundings[i % 6]);
  print(all);
  return 0;
#else
  std::fprintf(stderr, "built without OpenMP, for %d threads\n", count);
  return 77;
#endif
}

int in_a_child() {
  answers(Surroundings::plain);  // the pool has its threads
  std::atomic<bool> stop{false};
  std::thread other([&stop] {
    for (std::size_t i = 0; !stop; i = (i + 7) % sample().size()) static_cast<void>(sample().answer(i));
  });
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    print(answers(Surroundings::plain));
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  stop = true;
  other.join();
  if (WIFSIGNALED(status)) std::fprintf(stderr, "the child ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int on_a_stack_of(std::size_t bytes) {
  sample();
  static Answers all;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, bytes) != 0) return 2;
  pthread_t thread;
  const auto body = [](void*) -> void* {
    all = answers(Surroundings::plain);
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, body, nullptr) != 0) return 2;
  pthread_join(thread, nullptr);
  print(all);
  return 0;
}

std::size_t mapped_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

int in_little_address_space() {
  sample();
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  Answers limited;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < sample().size(); ++i) {
    const auto enter = [&] {
      trim_memory();
      rlimit limit = before;
      limit.rlim_cur = mapped_bytes() + (std::size_t{1} << 14 << (i % 8 * 2));  // 16 KiB to 256 MiB more than there is
      ::setrlimit(RLIMIT_AS, &limit);
    };
    current = sample().name(i).c_str();
    std::string answer = sample().answer(i, Surroundings::plain, enter, [&] { ::setrlimit(RLIMIT_AS, &before); });
    // Also where it was the list of results, which the table's own call makes. What the library asks for is environment_memory's matter.
    if (answer == "std::bad_alloc") answer = "out of memory";
    refused += answer == "out of memory";
    limited.push_back(std::move(answer));
  }
  std::fprintf(stderr, "%zu of %zu refused for lack of memory\n", refused, sample().size());
  const Answers later = answers(Surroundings::plain);
  print(later);
  for (std::size_t i = 0; i < later.size(); ++i)
    if (limited[i] != later[i] && limited[i] != "out of memory")
      std::printf("%s under a limit\t%s\n", sample().name(i).c_str(), limited[i].c_str());
  return refused > 0 ? 0 : 3;
}

int in_the_process(const char* library) {
  if (library != nullptr) {
    static_cast<void>(sample().answer(0));
    if (::dlopen(library, RTLD_NOW) == nullptr) {
      std::fprintf(stderr, "%s\n", ::dlerror());
      return 2;
    }
  }
  std::fprintf(stderr, "flushing: %d\n", is_flushing() ? 1 : 0);
  print(answers(Surroundings::plain));
  return 0;
}

int run(const std::vector<std::string>& words) {
  const std::string mode = words.empty() ? "plain" : words[0];
  const int number = words.size() > 1 ? std::atoi(words[1].c_str()) : 0;
  if (const auto kind = surroundings_of(mode)) {
    ::signal(SIGFPE, on_trap);
    print(answers(*kind));
    return 0;
  }
  if (mode == "process") return in_the_process(words.size() > 1 ? words[1].c_str() : nullptr);
  if (mode == "threads") return in_threads(number);
  if (mode == "openmp") return in_openmp(number);
  if (mode == "fork") return in_a_child();
  if (mode == "stack") return on_a_stack_of(static_cast<std::size_t>(number));
  if (mode == "address_space") return in_little_address_space();
  if (mode == "file") {
    const Answers all = answers(Surroundings::plain);
    std::ofstream file(words.at(1));
    print(all, &file);
    return file.good() ? 0 : 2;
  }
  std::fprintf(stderr, "no mode '%s'\n", mode.c_str());
  return 2;
}

}  // namespace
}  // namespace votive::environment

int main(int argc, char** argv) {
  try {
    return votive::environment::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
