// Programs that spoil their surroundings print the bits that an ordinary one prints: floating-point environments, threads, forks, small stacks, too
// little memory, nonsense in the environment. Each is a process of its own, so a crash or a hang is a failed test.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>

#include "tests/environment/process.h"
#include "votive/base/thread_pool.h"
#include "votive/runtime/devices.h"

namespace votive::environment {
namespace {

std::string program(const std::string& name) { return PROGRAMS + name; }
bool exists(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

#if defined(SANITIZED)
constexpr bool sanitized = true;
constexpr const char* how_sanitized = SANITIZED;
#else
constexpr bool sanitized = false;
constexpr const char* how_sanitized = "";
#endif

using Lines = std::vector<std::pair<std::string, std::string>>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    lines.emplace_back(line.substr(0, tab), tab == std::string::npos ? "" : line.substr(tab + 1));
  }
  return lines;
}

/// What an ordinary process prints.
const Lines& ordinary() {
  static const Lines lines = [] {
    const Ended ended = run({.command = {program("environment_sample"), "plain"}});
    EXPECT_EQ(ended.status, 0) << "signal " << ended.signal << " " << ended.error;
    return lines_of(ended.out);
  }();
  return lines;
}

class HostileEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(VOTIVE_EMULATED)
    GTEST_SKIP() << "programs cannot start programs under this emulator";
#endif
    ASSERT_GT(ordinary().size(), sanitized ? 500u : 2000u);
  }

  static void expect_the_same(const Lines& lines, const std::string& where) {
    const std::map<std::string, std::string> wanted(ordinary().begin(), ordinary().end());
    std::size_t equal = 0, shown = 0;
    for (const auto& [name, answer] : lines) {
      const auto want = wanted.find(name);
      if (want != wanted.end() && want->second == answer) {
        ++equal;
      } else if (++shown <= 12) {
        ADD_FAILURE() << where << ": " << name << " gives " << answer << " instead of "
                      << (want == wanted.end() ? "nothing" : want->second);
      }
    }
    EXPECT_EQ(equal, ordinary().size()) << where;
    std::printf("%s: %zu of %zu answers equal\n", where.c_str(), equal, ordinary().size());
  }

  static Ended expect_ordinary(const Start& start) {
    std::string where;
    for (const std::string& variable : start.variables) where += variable + " ";
    for (std::size_t i = 0; i < start.command.size(); ++i)
      where += (i == 0 ? "" : " ") + start.command[i].substr(start.command[i].rfind('/') + 1);
    const Ended ended = run(start);
    EXPECT_EQ(ended.signal, 0) << where << ": " << ended.error;
    EXPECT_EQ(ended.status, 0) << where << ": " << ended.error;
    expect_the_same(lines_of(ended.out), where);
    return ended;
  }
};

class CallersEnvironment : public HostileEnvironment, public ::testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(OfFloatingPoint, CallersEnvironment,
                         ::testing::Values("flushing", "upward", "downward", "toward_zero", "trapping"),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(CallersEnvironment, ChangesNoBit) { expect_ordinary({.command = {program("environment_sample"), GetParam()}}); }

TEST_P(CallersEnvironment, ChangesNoBitOfTheBaselineEither) {
  expect_ordinary({.command = {program("environment_sample"), GetParam()}, .variables = {"VOTIVE_ISA=baseline", "VOTIVE_THREADS=3"}});
}

TEST_F(HostileEnvironment, OfAProgramLinkedWithFastMathChangesNoBit) {
  if (!exists(program("environment_sample_fast"))) GTEST_SKIP() << "this compiler has no crtfastmath.o";
  const Ended ended = expect_ordinary({.command = {program("environment_sample_fast"), "process"}});
  EXPECT_NE(ended.error.find("flushing: 1"), std::string::npos) << "the program does not flush, so it proves nothing: " << ended.error;
}

TEST_F(HostileEnvironment, OfALibraryLoadedLaterChangesNoBit) {
#if defined(FAST_LIBRARY)
  const Ended ended = expect_ordinary({.command = {program("environment_sample"), "process", FAST_LIBRARY}});
  EXPECT_NE(ended.error.find("flushing: 1"), std::string::npos) << "the library does not flush, so it proves nothing: " << ended.error;
#else
  GTEST_SKIP() << "this compiler has no crtfastmath.o";
#endif
}

TEST_F(HostileEnvironment, OfManyThreadsFromTheFirstCallOnChangesNoBit) {
  expect_ordinary({.command = {program("environment_sample"), "threads", "6"}, .variables = {"VOTIVE_THREADS=2"}});
}

TEST_F(HostileEnvironment, OfAnOpenMpRegionChangesNoBit) {
  if (!exists(program("environment_sample_openmp"))) GTEST_SKIP() << "this compiler has no OpenMP";
  if (std::string(how_sanitized).find("thread") != std::string::npos)
    GTEST_SKIP() << "ThreadSanitizer does not see the barriers of OpenMP's own library";
  expect_ordinary({.command = {program("environment_sample_openmp"), "openmp", "4"}, .variables = {"VOTIVE_THREADS=3"}});
}

TEST_F(HostileEnvironment, OfTheChildOfAForkChangesNoBit) {
  if (std::string(how_sanitized).find("thread") != std::string::npos)
    GTEST_SKIP() << "ThreadSanitizer ends a forked child that starts threads";
  expect_ordinary({.command = {program("environment_sample"), "fork"}, .variables = {"VOTIVE_THREADS=3"}});
}

TEST_F(HostileEnvironment, OfAStackOf64KiBChangesNoBitOnAnyInstructionSet) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's frames are many times larger";
  for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
    if (!set.available) continue;
    expect_ordinary({.command = {program("environment_sample"), "stack", "65536"}, .variables = {"VOTIVE_ISA=" + std::string(set.name)}});
  }
}

TEST_F(HostileEnvironment, OfWorkersWithStacksOf64KiBChangesNoBit) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's frames are many times larger";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &before), 0);
  rlimit little = before;
  little.rlim_cur = 64 << 10;  // the size of every thread's stack in programs started from here
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &little), 0);
  expect_ordinary({.command = {program("environment_sample"), "plain"}, .variables = {"VOTIVE_THREADS=3"}});
  ::setrlimit(RLIMIT_STACK, &before);
}

TEST_F(HostileEnvironment, OfALimitOnAddressSpaceGivesTheBitsOrOutOfMemory) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs terabytes of address space";
  const Ended ended = expect_ordinary({.command = {program("environment_sample"), "address_space"}, .variables = {"VOTIVE_THREADS=3"}});
  std::printf("%s", ended.error.c_str());
}

TEST_F(HostileEnvironment, WithoutStandardStreamsChangesNoBitAndWritesToNoFile) {
  char path[] = "/tmp/votive_environment_XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_GE(file, 0);
  ::close(file);
  const Ended ended =
      run({.command = {program("environment_sample"), "file", path}, .variables = {"VOTIVE_THREADS=3"}, .streams_closed = true});
  EXPECT_EQ(ended.status, 0) << "signal " << ended.signal;
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  ::unlink(path);
  expect_the_same(lines_of(text.str()), "streams closed");
}

TEST_F(HostileEnvironment, WhereAnyRequestForMemoryFailsGivesTheBitsOrOutOfMemory) {
  if (sanitized) GTEST_SKIP() << "a sanitizer replaces operator new itself";
  const Ended ended = run({.command = {program("environment_memory")}});
  EXPECT_EQ(ended.signal, 0) << ended.error;
  EXPECT_EQ(ended.status, 0) << ended.out.substr(0, 4000) << ended.error;
  std::printf("%s", ended.out.substr(ended.out.rfind('\n', ended.out.size() - 2) + 1).c_str());
}

TEST_F(HostileEnvironment, WhereAnyRequestForMemoryFailsTextIsReadOrOutOfMemory) {
  if (!exists(program("environment_memory_text")))
    GTEST_SKIP() << "built without text, or with a sanitizer, which replaces operator new itself";
  const Ended ended = run({.command = {program("environment_memory_text")}});
  EXPECT_EQ(ended.status, 0) << "signal " << ended.signal << " " << ended.out.substr(0, 4000) << ended.error;
}

// The programs themselves: their tables too must not be built on the stack.
TEST_F(HostileEnvironment, OfAStackOf64KiBEndsNoCommand) {
#ifdef VOTIVE_COMMAND
  if (sanitized) GTEST_SKIP() << "a sanitizer's frames are many times larger";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_STACK, &before), 0);
  rlimit little = before;
  little.rlim_cur = 64 << 10;
  ASSERT_EQ(::setrlimit(RLIMIT_STACK, &little), 0);
  const Ended listed = run({.command = {VOTIVE_COMMAND, "verify", "--list-instruction-sets"}}),
              verified = run({.command = {VOTIVE_COMMAND, "verify", "--all", "--function", "exp f16"}});
  ::setrlimit(RLIMIT_STACK, &before);
  EXPECT_EQ(listed.status, 0) << "signal " << listed.signal << " " << listed.error;
  EXPECT_NE(listed.out.find("baseline ok"), std::string::npos) << listed.out;
  EXPECT_EQ(verified.status, 0) << "signal " << verified.signal << " " << verified.out << verified.error;
#else
  GTEST_SKIP() << "built without the command line";
#endif
}

TEST_F(HostileEnvironment, WithoutThreadsToBeHadChangesNoBit) {
  if (sanitized) GTEST_SKIP() << "a sanitizer replaces operator new itself";
  const Ended ended = run({.command = {program("environment_memory"), "threads"}});
  EXPECT_EQ(ended.status, 0) << "signal " << ended.signal << " " << ended.out << ended.error;
}

class Scene : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(OfBeginningsAndEndings, Scene,
                         ::testing::Values("threads_end", "detached_threads", "changing_numbers_of_threads", "exit_while_others_compute",
                                           "quick_exit_while_others_compute", "main_thread_ends_first", "signals_interrupt",
                                           "locale_with_commas"),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(Scene, EndsByItself) {
#if defined(VOTIVE_EMULATED)
  GTEST_SKIP() << "programs cannot start programs under this emulator";
#endif
  const bool ends_early = std::string(GetParam()).find("exit") != std::string::npos || std::string(GetParam()) == "main_thread_ends_first";
  if (ends_early && std::string(how_sanitized).find("thread") != std::string::npos)
    GTEST_SKIP() << "ThreadSanitizer takes the end of a process whose threads still run for a race";
  // What goes wrong between threads goes wrong sometimes.
  for (int round = 0; round < 5; ++round) {
    // A main thread that has ended takes from the leak checker's sight what the C library noted for its threads.
    const std::vector<std::string> variables =
        ends_early ? std::vector<std::string>{"ASAN_OPTIONS=detect_leaks=0"} : std::vector<std::string>{};
    const Ended ended = run({.command = {program("environment_endings"), GetParam()}, .variables = variables, .seconds = 120});
    ASSERT_EQ(ended.signal, 0) << GetParam() << ": " << ended.out << ended.error;
    ASSERT_EQ(ended.status, 0) << GetParam() << ": " << ended.out << ended.error;
  }
}

Ended scene(const std::string& name, std::vector<std::string> variables) {
  return run({.command = {program("environment_endings"), name}, .variables = std::move(variables), .seconds = 120});
}

class Statics : public HostileEnvironment {};

TEST_F(Statics, ComputeBeforeMainAndAfterIt) {
  for (const char* threads : {"VOTIVE_THREADS=1", "VOTIVE_THREADS=3"}) {
    const Ended ended = scene("statics", {threads, "VOTIVE_TEST_STATICS=1"});
    EXPECT_EQ(ended.status, 0) << "signal " << ended.signal << " " << ended.error;
    EXPECT_EQ(ended.out, "late: fine\n") << threads;
  }
}

// 1e-40 and twice a third, as f32 has them to nearest.
TEST_F(Statics, OfAPoolThatStartsInAnotherEnvironmentAreTheContracts) {
  for (const std::string kind : {"flushing", "upward", "trapping"}) {
    const Ended ended = scene("pool_started_" + kind, {"VOTIVE_THREADS=4"});
    EXPECT_EQ(ended.status, 0) << kind << ": signal " << ended.signal << " " << ended.out;
    EXPECT_EQ(ended.out, "0x1.16c2p-133 0x1.555556p-1\n") << kind;
  }
}

class Nonsense : public HostileEnvironment {};

std::string four_times(const std::string& line) { return line + "\n" + line + "\n" + line + "\n" + line + "\n"; }

TEST_F(Nonsense, InVotiveThreadsIsATypedErrorAtEveryCall) {
  for (const std::string value : {"0", "-3", "two", "3x", " 3", "257", "99999999999999999999", "0x4", "\xff"}) {
    const Ended ended = scene("asked_for_nonsense", {"VOTIVE_THREADS=" + value});
    EXPECT_EQ(ended.status, 0) << value << ": signal " << ended.signal << " " << ended.error;
    const std::string shown = value == "\xff" ? "\\xff" : value;  // no byte of somebody else's may steer a terminal
    EXPECT_EQ(ended.out, four_times("VOTIVE_THREADS: invalid argument: '" + shown + "' is not a number of threads. Accepted: 1 … 256."));
  }
}

TEST_F(Nonsense, InVotiveIsaIsATypedErrorAtEveryCallThatNamesTheChoices) {
  const std::vector<std::string> values{"v5", "AVX2", " v3", "baseline,v3", "\xff", std::string(5000, 'v')};
  for (const std::string& value : values) {
    const Ended ended = scene("asked_for_nonsense", {"VOTIVE_ISA=" + value});
    EXPECT_EQ(ended.status, 0) << value << ": signal " << ended.signal << " " << ended.error;
    const Lines lines = lines_of(ended.out);
    ASSERT_EQ(lines.size(), 4u) << ended.out;
    for (const auto& [line, rest] : lines) {
      EXPECT_EQ(line, lines[0].first);
      const std::string shown = value == "\xff" ? "\\xff" : value.size() > 80 ? value.substr(0, 80) + "…" : value;
      EXPECT_NE(line.find("'" + shown + "'"), std::string::npos) << line;
      EXPECT_TRUE(line.starts_with("VOTIVE_ISA: invalid argument: ")) << line;
      EXPECT_NE(line.find("baseline"), std::string::npos) << line;
    }
  }
}

TEST_F(Nonsense, InVotiveIsaIsRefusedByEveryDeviceEveryTime) {
  const Ended ended = scene("asked_for_nonsense_of_reference", {"VOTIVE_ISA=v5"});
  EXPECT_EQ(ended.status, 0) << ended.error;
  const Lines lines = lines_of(ended.out);
  ASSERT_EQ(lines.size(), 3u) << ended.out;
  for (const auto& [line, rest] : lines) EXPECT_NE(line.find("'v5'"), std::string::npos) << line;
}

TEST_F(Nonsense, OfNothingIsAsIfItWereNotSet) {
  const Ended ended = scene("asked_for_nonsense", {"VOTIVE_ISA=", "VOTIVE_THREADS="});
  EXPECT_EQ(ended.out, "computed\ncomputed\ncomputed\n");
}

}  // namespace
}  // namespace votive::environment
