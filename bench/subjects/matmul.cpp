// Products of floats and of 8-bit integers: squares, layers with prepacked weights, one row (decode).
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

double product(Size m, Size n, Size k) { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }

void square(Size n, DType dtype, Limit limit, Goal goal) {
  add({.name = "matmul " + std::string(to_string(dtype)) + " " + std::to_string(n),
       .unit = "GFLOP/s",
       .amount = product(n, n, n),
       .limit = limit,
       .goal = goal,
       .make = [=] {
         const Tensor a = randn({n, n}, {.seed = 1}).to(dtype), b = randn({n, n}, {.seed = 2}).to(dtype);
         return call([=] { return matmul(a, b); });
       }});
}

/// x [m, 4096] times a weight [4096, 4096] as a model stores it, arranged once.
void layer(Size m, DType dtype, Limit limit, Goal goal) {
  const Size n = 4096;
  add({.name = "linear " + std::string(to_string(dtype)) + " m=" + std::to_string(m) + " 4096x4096 prepacked",
       .unit = "GFLOP/s",
       .amount = product(m, n, n),
       .limit = limit,
       .goal = goal,
       .make = [=] {
         const Tensor x = randn({m, n}, {.seed = 1}).to(dtype), w = prepack(randn({n, n}, {.seed = 2}).to(dtype));
         return call([=] { return linear(x, w); });
       }});
}

/// One row times enough weights that none stays in a cache.
void row(DType dtype, Goal goal) {
  const Size n = 4096, bytes = n * n * block_bytes(dtype), count = std::max<Size>(2, (Size{160} << 20) / bytes);
  add({.name = "linear " + std::string(to_string(dtype)) + " m=1 4096x4096 prepacked",
       .unit = "GB/s",
       .amount = static_cast<double>(bytes),
       .limit = Limit::read,
       .goal = goal,
       .make = [=] {
         const Tensor x = randn({1, n}, {.seed = 1}).to(dtype);
         std::vector<Tensor> weights;
         for (Size i = 0; i < count; ++i) weights.push_back(prepack(rand({n, n}, {.seed = static_cast<std::uint64_t>(i)}).to(dtype)));
         return call([=, next = std::size_t{0}]() mutable { return linear(x, weights[next++ % weights.size()]); });
       }});
}

void integers(Size m, Size n, Size k, Goal goal) {
  add({.name = "matmul i8 " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
       .unit = "GFLOP/s",
       .amount = product(m, n, k),
       .limit = Limit::dot_int8,
       .goal = goal,
       .make = [=] {
         const Tensor a = randint(-128, 128, {m, k}, {.seed = 1, .dtype = i8}), b = randint(-128, 128, {k, n}, {.seed = 2, .dtype = i8});
         return call([=] { return matmul(a, b); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  for (Size n : {64, 128, 256}) square(n, f32, Limit::fma_f32, {0.85, 0.80});
  for (Size n : {512, 1024, 2048}) square(n, f32, Limit::fma_f32, {0.95, 0.87});
  for (Size n : {256, 512, 1024, 2048}) square(n, bf16, Limit::dot_bf16, {0.93, 0.82});
  for (Size n : {256, 1024}) square(n, f16, Limit::fma_f32, {0.85, 0.78});
  for (Size n : {256, 1024}) square(n, f64, Limit::fma_f64, {0.93, 0.87});
  layer(16, f32, Limit::fma_f32, {0.75, 0.75});
  layer(128, f32, Limit::fma_f32, {0.95, 0.87});
  layer(512, f32, Limit::fma_f32, {0.95, 0.87});
  layer(16, bf16, Limit::dot_bf16, {0.80, 0});
  layer(128, bf16, Limit::dot_bf16, {0.93, 0.82});
  layer(512, bf16, Limit::dot_bf16, {0.93, 0.82});
  layer(128, f16, Limit::fma_f32, {0.85, 0.78});
  row(f32, {0.95, 0.95});
  row(bf16, {0.95, 0.95});
  row(f16, {0.95, 0.95});
  integers(128, 4096, 4096, {0.93, 0.80});
  integers(512, 512, 512, {0.93, 0.80});
  integers(1024, 1024, 1024, {0.93, 0.80});
  return run(argc, argv);
}
