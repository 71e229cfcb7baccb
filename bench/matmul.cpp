// Products and attention in GFLOP/s of processor time, one thread unless VOTIVE_THREADS says otherwise. The limit to compare with is the FMA rate:
// lanes × 2 units × 2 × clock (bf16 twice that where vdpbf16ps exists). Not here: quantised weights, other programs (bench/peers).
#include <benchmark/benchmark.h>

#include "votive/votive.h"

namespace votive {
namespace {

void report(benchmark::State& state, double operations, double bytes) {
  state.counters["GFLOP/s"] = benchmark::Counter(operations / 1e9, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["GB/s"] = benchmark::Counter(bytes / 1e9, benchmark::Counter::kIsIterationInvariantRate);
}

void square(benchmark::State& state, DType dtype) {
  const Size n = state.range(0);
  const Tensor a = randn({n, n}, {.seed = 1}).to(dtype), b = randn({n, n}, {.seed = 2}).to(dtype);
  for (auto _ : state) benchmark::DoNotOptimize(matmul(a, b));
  const double size = static_cast<double>(n);
  report(state, 2 * size * size * size, 0);
}

/// x [m, 4096] times a weight [4096, 4096] as a model stores it.
void linear_rows(benchmark::State& state, DType dtype) {
  const Size m = state.range(0), n = 4096;
  const Tensor x = randn({m, n}, {.seed = 1}).to(dtype), w = randn({n, n}, {.seed = 2}).to(dtype);
  for (auto _ : state) benchmark::DoNotOptimize(linear(x, w));
  const double size = static_cast<double>(n);
  report(state, 2 * static_cast<double>(m) * size * size, size * size * static_cast<double>(block_bytes(dtype)));
}

void prefill(benchmark::State& state, DType dtype) {
  const Size T = state.range(0), H = 9, K = 3, D = 64;
  const Tensor q = randn({1, H, T, D}, {.seed = 1}).to(dtype), k = randn({1, K, T, D}, {.seed = 2}).to(dtype),
               v = randn({1, K, T, D}, {.seed = 3}).to(dtype);
  for (auto _ : state) benchmark::DoNotOptimize(attention(q, k, v, {}, {.causal = true}));
  report(state, 2.0 * static_cast<double>(H * T * T * D), 0);
}

void decode(benchmark::State& state, DType dtype) {
  const Size S = state.range(0), H = 9, K = 3, D = 64;
  const Tensor q = randn({1, H, 1, D}, {.seed = 1}).to(dtype), k = randn({1, K, S, D}, {.seed = 2}).to(dtype),
               v = randn({1, K, S, D}, {.seed = 3}).to(dtype);
  for (auto _ : state) benchmark::DoNotOptimize(attention(q, k, v));
  report(state, 4.0 * static_cast<double>(H * S * D), 2.0 * static_cast<double>(K * S * D * block_bytes(dtype)));
}

BENCHMARK_CAPTURE(square, f32, DType::f32)->Arg(4)->Arg(64)->Arg(256)->Arg(512)->Arg(1024)->Arg(2048);
BENCHMARK_CAPTURE(square, bf16, DType::bf16)->Arg(256)->Arg(512)->Arg(1024)->Arg(2048);
BENCHMARK_CAPTURE(square, f16, DType::f16)->Arg(1024);
BENCHMARK_CAPTURE(square, f64, DType::f64)->Arg(1024);
BENCHMARK_CAPTURE(linear_rows, f32, DType::f32)->Arg(1)->Arg(4)->Arg(16)->Arg(128);
BENCHMARK_CAPTURE(linear_rows, bf16, DType::bf16)->Arg(1)->Arg(4)->Arg(16)->Arg(128);
BENCHMARK_CAPTURE(prefill, f32, DType::f32)->Arg(128)->Arg(512)->Arg(2048);
BENCHMARK_CAPTURE(prefill, bf16, DType::bf16)->Arg(512);
BENCHMARK_CAPTURE(decode, f32, DType::f32)->Arg(128)->Arg(600)->Arg(4096);
BENCHMARK_CAPTURE(decode, f16, DType::f16)->Arg(600);

}  // namespace
}  // namespace votive
