// What the CPU's kernels cost: nanoseconds of small operations through the public functions, and the bandwidth of large ones beside a plain copy of the same
// bytes on the same threads. Machines shared with others drift, so only the ratio to the copy of the same run means anything.
#include <benchmark/benchmark.h>

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/ops/ops.h"

namespace votive {
namespace {

using Function1 = Tensor (*)(const Tensor&);

void small_add(benchmark::State& state) {
  const Tensor a = rand({state.range(0)}), b = rand({state.range(0)});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(small_add)->Arg(16)->Arg(256)->Arg(4096);

void small_add_of_two_axes(benchmark::State& state) {
  const Tensor a = rand({4, 4}), b = rand({4, 4});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(small_add_of_two_axes);

void small_times_literal(benchmark::State& state) {
  const Tensor a = rand({16});
  for (auto _ : state) benchmark::DoNotOptimize(a * Literal(0.5f));
}
BENCHMARK(small_times_literal);

void small_broadcast_add(benchmark::State& state) {
  const Tensor a = rand({4, 16}), b = rand({16});
  for (auto _ : state) benchmark::DoNotOptimize(add(a, b));
}
BENCHMARK(small_broadcast_add);

void small_exp(benchmark::State& state) {
  const Tensor a = rand({16});
  for (auto _ : state) benchmark::DoNotOptimize(exp(a));
}
BENCHMARK(small_exp);

void small_sum(benchmark::State& state) {
  const Tensor a = rand({16});
  for (auto _ : state) benchmark::DoNotOptimize(sum(a));
}
BENCHMARK(small_sum);

void small_cast(benchmark::State& state) {
  const Tensor a = rand({16});
  for (auto _ : state) benchmark::DoNotOptimize(a.to(f16));
}
BENCHMARK(small_cast);

void rms_norm_of_one_row(benchmark::State& state) {
  const Tensor x = randn({1, 1, 576}), gamma = rand({576});
  for (auto _ : state) benchmark::DoNotOptimize(rms_norm(x, gamma));
}
BENCHMARK(rms_norm_of_one_row);

void rope_of_one_position(benchmark::State& state) {
  const Tensor x = randn({1, 9, 1, 64}), p = tensor({17}, i32), f = rope_frequencies(64);
  for (auto _ : state) benchmark::DoNotOptimize(rope(x, p, f));
}
BENCHMARK(rope_of_one_position);

constexpr Size large = 16 << 20;  // elements: 64 MiB of f32

/// Bytes moved per second; the argument is the number of threads.
template <class Op>
void measure(benchmark::State& state, Size bytes, Op op) {
  const int before = threads();
  set_threads(static_cast<int>(state.range(0)));
  for (auto _ : state) op();
  set_threads(before);
  state.SetBytesProcessed(state.iterations() * bytes);
}

void large_copy(benchmark::State& state) {
  const Tensor x = rand({large});
  Tensor y = zeros({large});
  measure(state, 2 * 4 * large, [&] { copy_into(y, x); });
}
BENCHMARK(large_copy)->Arg(1)->Arg(2)->UseRealTime();

void large_memcpy(benchmark::State& state) {
  const Tensor x = rand({large});
  Tensor y = zeros({large});
  measure(state, 2 * 4 * large, [&] { std::memcpy(y.mutable_buffer(), x.buffer(), 4 * large); });
}
BENCHMARK(large_memcpy)->Arg(1)->UseRealTime();

void large_add(benchmark::State& state) {
  const Tensor a = rand({large}), b = rand({large});
  measure(state, 3 * 4 * large, [&] { benchmark::DoNotOptimize(add(a, b)); });
}
BENCHMARK(large_add)->Arg(1)->Arg(2)->UseRealTime();

void large_add_of_a_row(benchmark::State& state) {
  const Tensor a = rand({large / 576, 576}), b = rand({576});
  measure(state, 2 * 4 * a.count(), [&] { benchmark::DoNotOptimize(add(a, b)); });
}
BENCHMARK(large_add_of_a_row)->Arg(1)->Arg(2)->UseRealTime();

void large_add_i32(benchmark::State& state) {
  const Tensor a = zeros({large}, i32);
  measure(state, 3 * 4 * large, [&] { benchmark::DoNotOptimize(add(a, a)); });
}
BENCHMARK(large_add_i32)->Arg(1)->UseRealTime();

void large_add_bf16(benchmark::State& state) {
  const Tensor a = rand({large}, {.dtype = bf16});
  measure(state, 3 * 2 * large, [&] { benchmark::DoNotOptimize(add(a, a)); });
}
BENCHMARK(large_add_bf16)->Arg(1)->UseRealTime();

template <Function1 f>
void large_unary(benchmark::State& state) {
  const Tensor x = randn({large});
  measure(state, 2 * 4 * large, [&] { benchmark::DoNotOptimize(f(x)); });
}
BENCHMARK(large_unary<exp>)->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK(large_unary<silu>)->Arg(1)->UseRealTime();
BENCHMARK(large_unary<gelu>)->Arg(1)->UseRealTime();
BENCHMARK(large_unary<log>)->Arg(1)->UseRealTime();
BENCHMARK(large_unary<sin>)->Arg(1)->UseRealTime();
BENCHMARK(large_unary<tanh>)->Arg(1)->UseRealTime();
BENCHMARK(large_unary<erf>)->Arg(1)->UseRealTime();

void large_cast_to_f16(benchmark::State& state) {
  const Tensor x = randn({large});
  measure(state, 6 * large, [&] { benchmark::DoNotOptimize(x.to(f16)); });
}
BENCHMARK(large_cast_to_f16)->Arg(1)->UseRealTime();

void large_sum(benchmark::State& state) {
  const Tensor x = rand({large});
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(sum(x)); });
}
BENCHMARK(large_sum)->Arg(1)->Arg(2)->UseRealTime();

void large_max(benchmark::State& state) {
  const Tensor x = rand({large});
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(max(x)); });
}
BENCHMARK(large_max)->Arg(1)->UseRealTime();

void sum_of_rows(benchmark::State& state) {
  const Tensor x = rand({large / 1024, 1024});
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(sum(x, {.axis = 1})); });
}
BENCHMARK(sum_of_rows)->Arg(1)->Arg(2)->UseRealTime();

void sum_of_columns(benchmark::State& state) {
  const Tensor x = rand({large / 1024, 1024});
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(sum(x, {.axis = 0})); });
}
BENCHMARK(sum_of_columns)->Arg(1)->Arg(2)->UseRealTime();

void softmax_of_rows(benchmark::State& state) {
  const Size n = state.range(1);
  const Tensor x = randn({large / n, n});
  measure(state, 2 * 4 * large, [&] { benchmark::DoNotOptimize(softmax(x)); });
}
BENCHMARK(softmax_of_rows)->Args({1, 64})->Args({1, 1024})->Args({2, 1024})->Args({1, 32768})->UseRealTime();

void rms_norm_of_rows(benchmark::State& state) {
  const Tensor x = randn({large / 1024, 1024}), gamma = rand({1024});
  measure(state, 2 * 4 * large, [&] { benchmark::DoNotOptimize(rms_norm(x, gamma)); });
}
BENCHMARK(rms_norm_of_rows)->Arg(1)->Arg(2)->UseRealTime();

void layer_norm_of_rows(benchmark::State& state) {
  const Tensor x = randn({large / 1024, 1024}), gamma = rand({1024}), beta = rand({1024});
  measure(state, 2 * 4 * large, [&] { benchmark::DoNotOptimize(layer_norm(x, gamma, beta)); });
}
BENCHMARK(layer_norm_of_rows)->Arg(1)->UseRealTime();

void transpose_copy(benchmark::State& state) {
  const Tensor x = rand({4096, 4096});
  measure(state, 2 * 4 * large, [&] { benchmark::DoNotOptimize(contiguous(transpose(x))); });
}
BENCHMARK(transpose_copy)->Arg(1)->Arg(2)->UseRealTime();

void random_normals(benchmark::State& state) {
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(randn({large})); });
}
BENCHMARK(random_normals)->Arg(1)->UseRealTime();

void random_uniforms(benchmark::State& state) {
  measure(state, 4 * large, [&] { benchmark::DoNotOptimize(rand({large})); });
}
BENCHMARK(random_uniforms)->Arg(1)->UseRealTime();

void sort_of_rows(benchmark::State& state) {
  const Tensor x = rand({32, 32768});
  measure(state, 4 * x.count(), [&] { benchmark::DoNotOptimize(sort(x).values); });
}
BENCHMARK(sort_of_rows)->Arg(1)->UseRealTime();

void topk_of_logits(benchmark::State& state) {
  const Tensor x = rand({1, 49152});
  for (auto _ : state) benchmark::DoNotOptimize(topk(x, 40).values);
}
BENCHMARK(topk_of_logits);

void argmax_of_logits(benchmark::State& state) {
  const Tensor x = rand({1, 49152});
  for (auto _ : state) benchmark::DoNotOptimize(argmax(x));
}
BENCHMARK(argmax_of_logits);

}  // namespace
}  // namespace votive
