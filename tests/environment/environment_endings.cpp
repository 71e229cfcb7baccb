// Beginnings and endings of threads and processes while Votive computes: one scene per run, named by the first argument. A scene checks its own numbers
// and the process must end by itself with status 0; "wrong: …" on standard output says what was not as it should be.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <locale>
#include <map>
#include <memory>
#include <thread>

#include "tests/environment/surroundings.h"
#include "votive/base/thread_pool.h"
#include "votive/votive.h"

namespace {

using namespace votive;

int wrong = 0;
void expect(bool fine, const char* what) {
  if (fine) return;
  ++wrong;
  std::printf("wrong: %s\n", what);
  std::fflush(stdout);
}

/// Work that uses every thread of the pool, with a known answer: 0 + 1 + … + n − 1 in integers, and a product of matrices of ones.
bool computes() {
  constexpr Size n = 300000;
  const std::int64_t total = sum(arange(0, n, 1)).item<std::int64_t>();
  const float corner = select(select(matmul(ones({70, 300}), ones({300, 90})), 0, 69), 0, 89).item<float>();
  return total == n * (n - 1) / 2 && corner == 300;
}

// ---- statics: made before main, used and destroyed after it ----

bool computes_in_statics() { return std::getenv("VOTIVE_TEST_STATICS") != nullptr; }

struct Late {
  Tensor kept = computes_in_statics() ? ones({5000}) : Tensor();
  ~Late() {
    if (!computes_in_statics()) return;
    const bool fine = sum(kept).item<float>() == 5000 && computes();
    std::printf(fine ? "late: fine\n" : "wrong: a static's destructor computed something else\n");
    std::fflush(stdout);
  }
};
Late late;
// Computed before main, perhaps before any static of the library.
const Tensor early = computes_in_statics() ? arange(0, 100000, 1, i32) * 2 : Tensor();

int statics() {
  expect(sum(early).item<std::int64_t>() == 100000LL * 99999, "what was computed before main");
  expect(computes(), "main");
  std::atexit([] {
    if (!computes()) std::printf("wrong: atexit\n");
  });
  return 0;
}

/// Runs while the thread's other locals end; holds a tensor and computes.
struct OfThread {
  Tensor kept = arange(0, 3000, 1, f32);
  ~OfThread() { expect(sum(kept).item<float>() == 4498500 && computes(), "a thread_local's destructor"); }
};

int threads_end() {
  set_threads(3);
  Tensor handed;
  // The thread that starts the pool ends; the pool lives on, and so do the tensors it made.
  std::thread([&] {
    expect(computes(), "the first thread");
    handed = arange(0, 60000, 1, f32);
  }).join();
  expect(computes(), "after the first thread ended");
  expect(sum(handed).item<float>() > 0, "a tensor of a thread that ended");
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> many;
    for (int t = 0; t < 6; ++t)
      many.emplace_back([] {
        thread_local const OfThread of_thread;
        static_cast<void>(&of_thread);
        expect(computes(), "one of many threads");
      });
    for (std::thread& thread : many) thread.join();
  }
  handed = Tensor();
  return 0;
}

int detached_threads() {
  set_threads(2);
  std::atomic<int> done{0};
  for (int t = 0; t < 30; ++t)
    std::thread([&done] {
      thread_local const OfThread of_thread;
      static_cast<void>(&of_thread);
      expect(computes(), "a detached thread");
      ++done;
    }).detach();
  while (done < 30) std::this_thread::yield();
  return 0;
}

int changing_numbers_of_threads() {
  std::atomic<bool> stop{false};
  std::vector<std::thread> many;
  for (int t = 0; t < 3; ++t)
    many.emplace_back([&] {
      while (!stop) expect(computes(), "while the number of threads changes");
    });
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  for (int count = 1; std::chrono::steady_clock::now() < end; count = count % 11 + 1) set_threads(count);
  stop = true;
  for (std::thread& thread : many) thread.join();
  return 0;
}

/// Three threads that compute until the process ends.
void compute_forever() {
  for (int t = 0; t < 3; ++t)
    std::thread([] {
      while (true)
        if (!computes()) std::_Exit(9);
    }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

int exit_while_others_compute() {
  set_threads(3);
  compute_forever();
  return 0;
}

int quick_exit_while_others_compute() {
  set_threads(3);
  compute_forever();
  std::quick_exit(0);
}

int main_thread_ends_first() {
  set_threads(3);
  expect(computes(), "main");
  std::thread([] {
    for (int i = 0; i < 50; ++i) expect(computes(), "after main's thread ended");
    std::exit(wrong == 0 ? 0 : 1);
  }).detach();
  ::pthread_exit(nullptr);
}

std::atomic<int> signals{0};

int signals_interrupt() {
  set_threads(3);
  struct sigaction action {};
  action.sa_handler = [](int) {
    signals = signals + 1;
#if !defined(__SANITIZE_THREAD__)  // which takes this for a mistake, as it is; Votive must bear with it
    errno = EINTR;
#endif
  };  // without SA_RESTART: calls of the system are interrupted
  ::sigaction(SIGALRM, &action, nullptr);
  const itimerval often{{0, 300}, {0, 300}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < end) expect(computes(), "between signals");
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  expect(signals > 100, "too few signals came");
  return 0;
}

/// The pool's first threads start under a caller that flushes or rounds upward: they must not inherit it.
int pool_started_in_a_hostile_thread(environment::Surroundings kind) {
  std::vector<float> products, sums;
  {
    const environment::Within within(kind);
    const Tensor tiny = full({400000}, 1e-40, f32), third = full({400000}, 1, f32) / 3;
    products = (tiny * 1).to_host<float>();
    sums = (third + third).to_host<float>();
  }
  std::printf("%a %a\n", static_cast<double>(products.front()), static_cast<double>(sums.back()));
  for (const float p : products) expect(p == products[0] && std::fpclassify(p) == FP_SUBNORMAL, "a worker flushes");
  for (const float s : sums) expect(s == sums[0], "a worker rounds in another way");
  return 0;
}

/// What a program meets that was started with nonsense in VOTIVE_THREADS or VOTIVE_ISA: the same typed error at every call, never anything else.
int asked_for_nonsense() {
  for (int i = 0; i < 3; ++i) {
    try {
      computes();
      std::printf("computed\n");
    } catch (const Error& error) { std::printf("%s\n", error.what()); }
  }
  std::thread([] {
    try {
      computes();
    } catch (const Error& error) { std::printf("%s\n", error.what()); }
  }).join();
  return 0;
}

/// A device that needs no set of its own is refused all the same, every time.
int asked_for_nonsense_of_reference() {
  for (int i = 0; i < 3; ++i) {
    try {
      exp(ones({3}, DType::f32, {.device = Device::reference}));
      std::printf("computed\n");
    } catch (const Error& error) { std::printf("%s\n", error.what()); }
  }
  return 0;
}

/// Numbers in texts must not follow the program's locale.
int locale_with_commas() {
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::locale::global(std::locale(std::locale::classic(), new Commas));
  std::cout.imbue(std::locale());
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})  // the C library's too, where the machine has one
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  expect(to_string(tensor({0.1, 2.5}, bf16)) == "tensor bf16[2] on cpu: [0.1, 2.5]", "to_string of bf16 follows the locale");
  expect(to_string(tensor({1234567.5, 0.25}, f64)) == "tensor f64[2] on cpu: [1234567.5, 0.25]", "to_string follows the locale");
  try {
    tensor({1, 2}, u8) + 123456;
  } catch (const Error& error) {
    expect(std::string(error.what()).find("123456 is not in u8") != std::string::npos, "errors follow the locale");
  }
  try {
    reshape(zeros({1000000}), {7, 3});
  } catch (const Error& error) { expect(std::string(error.what()).find("1000000") != std::string::npos, "errors follow the locale"); }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<int()>> scenes{
      {"statics", statics},
      {"threads_end", threads_end},
      {"detached_threads", detached_threads},
      {"changing_numbers_of_threads", changing_numbers_of_threads},
      {"exit_while_others_compute", exit_while_others_compute},
      {"quick_exit_while_others_compute", quick_exit_while_others_compute},
      {"main_thread_ends_first", main_thread_ends_first},
      {"signals_interrupt", signals_interrupt},
      {"pool_started_flushing", [] { return pool_started_in_a_hostile_thread(environment::Surroundings::flushing); }},
      {"pool_started_upward", [] { return pool_started_in_a_hostile_thread(environment::Surroundings::upward); }},
      {"pool_started_trapping", [] { return pool_started_in_a_hostile_thread(environment::Surroundings::trapping); }},
      {"asked_for_nonsense", asked_for_nonsense},
      {"asked_for_nonsense_of_reference", asked_for_nonsense_of_reference},
      {"locale_with_commas", locale_with_commas},
  };
  const auto scene = scenes.find(argc > 1 ? argv[1] : "");
  if (scene == scenes.end()) return 2;
  const int status = scene->second();
  std::fflush(stdout);
  return wrong != 0 ? 1 : status;
}
