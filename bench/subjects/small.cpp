// What an operation pays before its arithmetic, with and without recording; fork and join; a fresh output.
#include <atomic>
#include <cstring>

#include "bench/harness.h"
#include "votive/core/memory.h"

using namespace votive;
using namespace votive::bench;

namespace {

void cost(const char* name, Goal ns, std::function<std::function<void()>()> make, int most_threads = 1) {
  add({.name = name, .unit = "ns", .amount = 1, .goal = ns, .most_threads = most_threads, .make = std::move(make)});
}

}  // namespace

int main(int argc, char** argv) {
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
