// What an operation pays before its arithmetic, with and without recording; fork and join; a fresh output; a process.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "bench/harness.h"
#include "votive/core/memory.h"

using namespace votive;
using namespace votive::bench;

namespace {

void cost(const char* name, Goal ns, std::function<std::function<void()>()> make, int most_threads = 1) {
  add({.name = name, .unit = "ns", .amount = 1, .goal = ns, .most_threads = most_threads, .make = std::move(make)});
}

/// This program again, as one that only multiplies two small matrices: from its start to its end.
void start_and_multiply() {
  char name[] = "bench_small", once[] = "--multiply-once";
  char* arguments[] = {name, once, nullptr};
  char* environment[] = {nullptr};
  pid_t child = 0;
  int status = 1;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environment) != 0 || waitpid(child, &status, 0) != child ||
      status != 0)
    std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--multiply-once") == 0) {
    use(matmul(rand({16, 16}), rand({16, 16})));
    return 0;
  }
  const Goal plain{30, 40}, recorded{60, 80};
  cost("add 16", plain, [] {
    const Tensor a = rand({16}), b = rand({16});
    return call([=] { return add(a, b); });
  });
  cost("add 4x4", plain, [] {
    const Tensor a = rand({4, 4}), b = rand({4, 4});
    return call([=] { return add(a, b); });
  });
  cost("times a literal 16", plain, [] {
    const Tensor a = rand({16});
    return call([=] { return a * Literal(0.5f); });
  });
  cost("exp 16", plain, [] {
    const Tensor a = rand({16});
    return call([=] { return exp(a); });
  });
  cost("sum 16", plain, [] {
    const Tensor a = rand({16});
    return call([=] { return sum(a); });
  });
  cost("reshape 16", plain, [] {
    const Tensor a = rand({16});
    return call([=] { return reshape(a, {4, 4}); });
  });
  cost("matmul 4x4", plain, [] {
    const Tensor a = rand({4, 4}), b = rand({4, 4});
    return call([=] { return matmul(a, b); });
  });
  cost("softmax 16", plain, [] {
    const Tensor a = rand({16});
    return call([=] { return softmax(a); });
  });
  cost("add 16 recorded", recorded, [] {
    const Tensor a = rand({16}).require_grad(), b = rand({16});
    return call([=] { return add(a, b); });
  });
  cost("exp 16 recorded", recorded, [] {
    const Tensor a = rand({16}).require_grad();
    return call([=] { return exp(a); });
  });
  cost("a process: start, matmul 16x16, end", {5e6, 5e6}, [] { return std::function<void()>(start_and_multiply); });
  // Both threads must come: each of the two pieces waits for the other.
  cost("fork and join of 2 threads, hot", {700, 1000}, [] {
    set_threads(2);
    return std::function<void()>([] {
      std::atomic<int> arrived{0};
      parallel_for(2, 1, [&](Size, Size) {
        arrived.fetch_add(1, std::memory_order_acq_rel);
        while (arrived.load(std::memory_order_acquire) < 2) {}
      });
    });
  });
  add({.name = "fresh output of 64 MiB, written once",
       .unit = "GB/s",
       .amount = 64 << 20,
       .limit = Limit::copy,
       .most_threads = 1,
       .make = [] {
         return std::function<void()>([] {
           Tensor y = Tensor::allocate("bench", {u8, {64 << 20}});
           std::memset(y.mutable_buffer(), 1, y.buffer_bytes());
           use(y);
         });
       }});
  return run(argc, argv);
}
