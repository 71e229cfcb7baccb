// What an operation pays before its arithmetic: a block, a tensor, a view, the walk, the environment, fork and join.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <cstring>

#include "votive/base/float_environment.h"
#include "votive/base/thread_pool.h"
#include "votive/core/memory.h"
#include "votive/core/tensor.h"
#include "votive/core/walk.h"

namespace votive {
namespace {

void allocate_and_free(benchmark::State& state) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    const Memory memory = allocate_memory(bytes);
    benchmark::DoNotOptimize(memory.address);
    free_memory(memory);
  }
}
BENCHMARK(allocate_and_free)->Arg(64)->Arg(4096)->Arg(100 << 10)->Arg(64 << 20);

void tensor_and_release(benchmark::State& state) {
  const Meta meta{f32, {state.range(0)}};
  for (auto _ : state) {
    const Tensor x = Tensor::allocate("bench", meta);
    benchmark::DoNotOptimize(x.buffer());
  }
}
BENCHMARK(tensor_and_release)->Arg(16)->Arg(512)->Arg(1024)->Arg(16 << 20);

void tensor_of_four_axes_and_release(benchmark::State& state) {
  const Meta meta{f32, {2, 2, 2, 2}};
  for (auto _ : state) {
    const Tensor x = Tensor::allocate("bench", meta);
    benchmark::DoNotOptimize(x.buffer());
  }
}
BENCHMARK(tensor_of_four_axes_and_release);

void view_and_release(benchmark::State& state) {
  const Tensor x = Tensor::allocate("bench", {f32, {4, 4}});
  const Layout layout{{4, 4}, {1, 4}, 0};
  for (auto _ : state) {
    const Tensor y = Tensor::view(x, layout);
    benchmark::DoNotOptimize(y.buffer());
  }
}
BENCHMARK(view_and_release);

void walk_of_three_contiguous_operands(benchmark::State& state) {
  const Layout layout = Layout::contiguous({4, 4});
  for (auto _ : state) {
    const Walk<3> walk({&layout, &layout, &layout});
    walk.for_each_run(0, walk.count(), [](const std::array<Size, 3>& offsets, Size n) { benchmark::DoNotOptimize(offsets[0] + n); });
  }
}
BENCHMARK(walk_of_three_contiguous_operands);

void float_environment(benchmark::State& state) {
  for (auto _ : state) {
    const FloatEnvironment environment;
    benchmark::DoNotOptimize(&environment);
  }
}
BENCHMARK(float_environment);

// A fresh output, written once: from the second on its pages are there.
void fresh_output_of_64_mb(benchmark::State& state) {
  for (auto _ : state) {
    Tensor y = Tensor::allocate("bench", {u8, {64 << 20}});
    std::memset(y.mutable_buffer(), 1, y.buffer_bytes());
    benchmark::DoNotOptimize(y.buffer());
  }
  state.SetBytesProcessed(state.iterations() * (64 << 20));
}
BENCHMARK(fresh_output_of_64_mb)->Unit(benchmark::kMicrosecond);

void fork_and_join(benchmark::State& state) {
  const int before = threads();
  set_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) parallel_for(threads(), 1, [](Size begin, Size) { benchmark::DoNotOptimize(begin); });
  set_threads(before);
}
BENCHMARK(fork_and_join)->Arg(1)->Arg(2)->Arg(3)->UseRealTime();

// The caller works alone for 20 µs between two jobs: the workers still spin.
void fork_and_join_after_20_us(benchmark::State& state) {
  const int before = threads();
  set_threads(2);
  for (auto _ : state) {
    state.PauseTiming();
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(20)) {}
    state.ResumeTiming();
    parallel_for(2, 1, [](Size begin, Size) { benchmark::DoNotOptimize(begin); });
  }
  set_threads(before);
}
BENCHMARK(fork_and_join_after_20_us)->UseRealTime()->Iterations(20000);

// Both threads must come: each of the two pieces waits for the other.
void meeting_of_two_threads(benchmark::State& state) {
  const int before = threads();
  set_threads(2);
  for (auto _ : state) {
    std::atomic<int> arrived{0};
    parallel_for(2, 1, [&](Size, Size) {
      arrived.fetch_add(1, std::memory_order_acq_rel);
      while (arrived.load(std::memory_order_acquire) < 2) {}
    });
  }
  set_threads(before);
}
BENCHMARK(meeting_of_two_threads)->UseRealTime();

}  // namespace
}  // namespace votive
