// The pool covers a range exactly once, whoever calls it, and leaves nothing behind. Expectations are counted in the test.
#include "votive/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "votive/base/float_environment.h"

namespace votive {
namespace {

// Leaves the number of threads as it was.
struct ThreadPool : testing::Test {
  int before = threads();
  ~ThreadPool() override { set_threads(before); }
};

std::unique_ptr<std::atomic<int>[]> zeros(Size n) {
  return std::unique_ptr<std::atomic<int>[]>(new std::atomic<int>[static_cast<std::size_t>(n)]());
}

TEST_F(ThreadPool, CoversEveryElementExactlyOnceForAnyThreadsSizesAndGrains) {
  for (int count : {1, 2, 3, 7}) {
    set_threads(count);
    for (Size n : {1, 2, 3, 31, 64, 1000, 4097})
      for (Size grain : {1, 2, 16, 1000, 5000}) {
        const auto visits = zeros(n);
        std::atomic<bool> aligned{true};
        parallel_for(n, grain, [&](Size begin, Size end) {
          if (begin % grain != 0 || (end % grain != 0 && end != n) || begin >= end) aligned = false;
          for (Size i = begin; i < end; ++i) visits[static_cast<std::size_t>(i)].fetch_add(1, std::memory_order_relaxed);
        });
        EXPECT_TRUE(aligned) << n << " by " << grain << " on " << count;
        for (Size i = 0; i < n; ++i)
          ASSERT_EQ(visits[static_cast<std::size_t>(i)], 1) << i << " of " << n << " by " << grain << " on " << count;
      }
  }
}

TEST_F(ThreadPool, CoversARangeWhoseEndIsTheLargestSize) {
  set_threads(3);
  constexpr Size n = std::numeric_limits<Size>::max(), grain = n / 5;
  std::atomic<Size> sum{0};
  parallel_for(n, grain, [&](Size begin, Size end) { sum.fetch_add(end - begin); });
  EXPECT_EQ(sum, n);
}

TEST_F(ThreadPool, CallsNothingForAnEmptyRange) {
  bool called = false;
  parallel_for(0, 1, [&](Size, Size) { called = true; });
  parallel_for_worker(-3, 1, [&](Size, Size, int) { called = true; });
  EXPECT_FALSE(called);
}

TEST_F(ThreadPool, TakesAGrainBelowOneAsOne) {
  set_threads(2);
  std::atomic<Size> sum{0};
  parallel_for_worker(100, 0, [&](Size begin, Size end, int) { sum.fetch_add(end - begin); });
  EXPECT_EQ(sum, 100);
}

TEST_F(ThreadPool, NumbersWorkersBelowThreadsAndNeverTwoAtATimeAlike) {
  for (int count : {2, 3, 7}) {
    set_threads(count);
    std::vector<std::atomic<int>> inside(static_cast<std::size_t>(count));
    std::atomic<bool> wrong{false};
    for (int round = 0; round < 50; ++round)
      parallel_for_worker(64, 1, [&](Size, Size, int worker) {
        if (worker < 0 || worker >= count || inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) wrong = true;
        std::this_thread::yield();
        inside[static_cast<std::size_t>(worker)].fetch_sub(1);
      });
    EXPECT_FALSE(wrong) << count;
  }
}

TEST_F(ThreadPool, UsesAsManyThreadsAsItWasTold) {
  for (int count : {2, 3, 7}) {
    set_threads(count);
    EXPECT_EQ(threads(), count);
    std::mutex lock;
    std::set<std::thread::id> seen;
    std::atomic<int> arrived{0};
    // Each piece waits until all threads hold one, so the job ends only when as many threads as pieces came.
    parallel_for(count, 1, [&](Size, Size) {
      ++arrived;
      while (arrived < count) std::this_thread::yield();
      const std::lock_guard guard(lock);
      seen.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(static_cast<int>(seen.size()), count);
  }
}

TEST_F(ThreadPool, RunsNestedCallsOnTheCallingThread) {
  set_threads(3);
  const auto visits = zeros(64 * 64);
  std::atomic<bool> moved{false};
  parallel_for(64, 1, [&](Size begin, Size end) {
    const auto outer = std::this_thread::get_id();
    for (Size i = begin; i < end; ++i)
      parallel_for(64, 1, [&](Size from, Size to) {
        if (std::this_thread::get_id() != outer) moved = true;
        for (Size j = from; j < to; ++j) visits[static_cast<std::size_t>(i * 64 + j)].fetch_add(1);
      });
  });
  EXPECT_FALSE(moved);
  for (std::size_t i = 0; i < 64 * 64; ++i) ASSERT_EQ(visits[i], 1) << i;
}

TEST_F(ThreadPool, ServesCallersOnSeveralThreadsAtOnce) {
  set_threads(2);
  std::vector<std::thread> callers;
  std::vector<Size> sums(4, 0);
  for (std::size_t caller = 0; caller < sums.size(); ++caller)
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<Size> sum{0};
        parallel_for(100, 1, [&](Size begin, Size end) {
          for (Size i = begin; i < end; ++i) sum.fetch_add(i, std::memory_order_relaxed);
        });
        sums[caller] += sum;
      }
    });
  for (std::thread& caller : callers) caller.join();
  for (Size sum : sums) EXPECT_EQ(sum, 200 * 4950);
}

TEST_F(ThreadPool, RethrowsAnExceptionAfterAllPiecesEndedAndGoesOn) {
  for (int count : {1, 2, 3, 7}) {
    set_threads(count);
    std::atomic<int> running{0};
    try {
      parallel_for(1000, 1, [&](Size begin, Size end) {
        ++running;
        const bool throws = begin <= 500 && 500 < end;
        if (!throws) std::this_thread::yield();
        --running;
        if (throws) throw std::runtime_error("at 500");
      });
      ADD_FAILURE() << "nothing was thrown on " << count;
    } catch (const std::runtime_error& error) { EXPECT_STREQ(error.what(), "at 500"); }
    EXPECT_EQ(running, 0);
    std::atomic<Size> sum{0};
    parallel_for(1000, 1, [&](Size begin, Size end) { sum.fetch_add(end - begin); });
    EXPECT_EQ(sum, 1000);
  }
}

TEST_F(ThreadPool, RethrowsOneOfManyExceptions) {
  set_threads(7);
  for (int round = 0; round < 100; ++round)
    EXPECT_THROW(parallel_for(100, 1, [](Size begin, Size) { throw Error(ErrorKind::Domain, "piece").value(std::to_string(begin)); }),
                 Error);
}

TEST_F(ThreadPool, RefusesNumbersOfThreadsOutsideOneTo256) {
  for (int count : {0, -1, 257, std::numeric_limits<int>::min()}) {
    try {
      set_threads(count);
      ADD_FAILURE() << count << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      EXPECT_EQ(error.op(), "set_threads");
      EXPECT_EQ(error.value(), std::to_string(count));
    }
  }
  EXPECT_EQ(threads(), before);
}

TEST_F(ThreadPool, ShrinksAndGrowsBetweenCalls) {
  for (int count : {7, 1, 3, 2, 16, 2}) {
    set_threads(count);
    for (int round = 0; round < 20; ++round) {
      std::atomic<Size> sum{0};
      std::atomic<int> highest{0};
      parallel_for_worker(256, 1, [&](Size begin, Size end, int worker) {
        sum.fetch_add(end - begin);
        for (int seen = highest; worker > seen && !highest.compare_exchange_weak(seen, worker);) {}
      });
      EXPECT_EQ(sum, 256);
      EXPECT_LT(highest, count);
    }
  }
}

TEST_F(ThreadPool, GivesWorkersTheEnvironmentOfTheContractWhateverTheCallerHas) {
#if defined(__x86_64__)
  std::thread([] {
    detail::set_float_control(0x9fc0);  // what a library linked with -ffast-math leaves behind
    set_threads(33);                    // more than any test before: some workers start now
    std::atomic<int> arrived{0}, flushing{0};
    const auto caller = std::this_thread::get_id();
    parallel_for(33, 1, [&](Size, Size) {
      ++arrived;
      while (arrived < 33) std::this_thread::yield();
      volatile float tiny = 1e-40f;
      if (std::this_thread::get_id() != caller && tiny * 1.0f == 0) ++flushing;
    });
    EXPECT_EQ(flushing, 0);
  }).join();
#else
  GTEST_SKIP() << "the control word of this test is MXCSR";
#endif
}

TEST_F(ThreadPool, UsesNoCpuTimeWhenIdle) {
  set_threads(3);
  parallel_for(100, 1, [](Size, Size) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto used = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const auto before_idling = used();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LT(used() - before_idling, std::chrono::milliseconds(30));
}

// Runs `body` in a child process and gives its exit status, or −1 when it did not end by itself.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(body());
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int sum_is_right() {
  std::atomic<Size> sum{0};
  parallel_for(1000, 1, [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) sum.fetch_add(i);
  });
  return sum == 499500 ? 0 : 1;
}

#if defined(__SANITIZE_THREAD__) || defined(VOTIVE_EMULATED)
constexpr bool threads_after_fork = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
constexpr bool threads_after_fork = false;
#else
constexpr bool threads_after_fork = true;
#endif
#else
constexpr bool threads_after_fork = true;
#endif

TEST_F(ThreadPool, WorksInTheChildOfAForkAndStillInTheParent) {
  if (!threads_after_fork) GTEST_SKIP() << "ThreadSanitizer and qemu end a forked child that starts threads";
  set_threads(3);
  EXPECT_EQ(sum_is_right(), 0);
  EXPECT_EQ(status_of_child([] {
              // All three must come: the parent's workers do not exist here.
              std::atomic<int> arrived{0};
              parallel_for(3, 1, [&](Size, Size) {
                ++arrived;
                while (arrived < 3) std::this_thread::yield();
              });
              return sum_is_right();
            }),
            0);
  EXPECT_EQ(sum_is_right(), 0);
}

TEST_F(ThreadPool, WorksInAChildForkedWhileAnotherThreadUsesThePool) {
  if (!threads_after_fork) GTEST_SKIP() << "ThreadSanitizer and qemu end a forked child that starts threads";
  set_threads(2);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) sum_is_right();
  });
  for (int round = 0; round < 10; ++round) EXPECT_EQ(status_of_child(sum_is_right), 0);
  stop = true;
  other.join();
}

TEST_F(ThreadPool, EndsCleanlyWhenTheProcessExits) {
  if (!threads_after_fork) GTEST_SKIP() << "ThreadSanitizer and qemu end a forked child that starts threads";
  set_threads(3);
  EXPECT_EXIT(
      {
        sum_is_right();
        std::exit(3);
      },
      testing::ExitedWithCode(3), "");
}

TEST_F(ThreadPool, LeavesSignalsToTheThreadsOfTheProgram) {
  set_threads(2);
  std::atomic<int> arrived{0}, open{0};
  const auto caller = std::this_thread::get_id();
  parallel_for(2, 1, [&](Size, Size) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (std::this_thread::get_id() != caller && ::sigismember(&blocked, SIGINT) != 1) ++open;
  });
  EXPECT_EQ(open, 0);
}

// Not a test: what a child of the next two prints.
TEST(ThreadsOfTheProcess, DISABLED_AreShown) {
  try {
    std::printf("threads: %d\n", threads());
  } catch (const Error& error) { std::printf("error: %s\n", error.what()); }
}

// The line that this program prints of its threads when started by `command`.
std::string shown_by(const std::string& command) {
  char self[4096] = {};
  if (::readlink("/proc/self/exe", self, sizeof self - 1) <= 0) return "no /proc/self/exe";
  const std::string line = command + " '" + self + "' --gtest_also_run_disabled_tests --gtest_filter=ThreadsOfTheProcess.DISABLED_AreShown";
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) return "no pipe";
  std::string found;
  char text[4096];
  while (std::fgets(text, sizeof text, pipe) != nullptr)
    if (std::string(text).starts_with("threads: ") || std::string(text).starts_with("error: ")) found = text;
  ::pclose(pipe);
  return found;
}

bool starts_itself() { return !shown_by("").empty(); }

TEST(ThreadsOfTheProcess, AreWhatTheEnvironmentSays) {
  if (!starts_itself()) GTEST_SKIP() << "this program cannot start itself here (under an emulator)";
  EXPECT_EQ(shown_by("VOTIVE_THREADS=5"), "threads: 5\n");
  EXPECT_EQ(shown_by("VOTIVE_THREADS=256"), "threads: 256\n");
  for (const std::string wrong : {"0", "257", "-1", "two", "3x", "99999999999999999999"})
    EXPECT_EQ(shown_by("VOTIVE_THREADS=" + wrong),
              "error: VOTIVE_THREADS: invalid argument: '" + wrong + "' is not a number of threads. Accepted: 1 … 256.\n");
}

TEST(ThreadsOfTheProcess, AreTheCpusThatItMayRunOn) {
  if (!starts_itself()) GTEST_SKIP() << "this program cannot start itself here (under an emulator)";
  cpu_set_t before, one;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(shown_by("env -u VOTIVE_THREADS"), "threads: " + std::to_string(std::min(CPU_COUNT(&before), 256)) + "\n");
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  const std::string shown = shown_by("env -u VOTIVE_THREADS");
  ::sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(shown, "threads: 1\n");
}

TEST(FloatEnvironment, RestoresTheCallersControlWordAndKeepsTheContractInside) {
#if defined(__x86_64__)
  const unsigned own = detail::float_control();
  for (unsigned word : {0x9fc0u /* FTZ, DAZ */, 0x7f80u /* toward zero */, 0x1f80u, 0x1fbfu /* flags raised */}) {
    detail::set_float_control(word);
    {
      const FloatEnvironment environment;
      EXPECT_EQ(detail::float_control() & 0xffc0, 0x1f80u);
    }
    const unsigned after = detail::float_control();
    detail::set_float_control(own);
    EXPECT_EQ(after & 0xffc0, word & 0xffc0);
  }
#else
  GTEST_SKIP() << "the control word of this test is MXCSR";
#endif
}

}  // namespace
}  // namespace votive
