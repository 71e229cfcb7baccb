// Quantised weights: one row (decode, a share of read bandwidth) and 512 rows (prompt, a share of the f32 fma rate), the same bits in both.
#include <cstring>

#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

/// Any bits are weights; scales are kept ordinary numbers.
Tensor weight(DType dtype, Size n, Size k, unsigned seed) {
  Tensor w = Tensor::allocate("bench", {.dtype = dtype, .shape = {n, k}});
  auto* bytes = reinterpret_cast<unsigned char*>(w.mutable_buffer());
  std::uint64_t state = seed + 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < w.buffer_bytes(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = static_cast<unsigned char>(state >> 56);
  }
  const std::uint16_t scale = 0x2000;  // 2⁻⁷
  const auto block = static_cast<std::size_t>(block_bytes(dtype));
  for (std::size_t at = 0; at < w.buffer_bytes(); at += block) {
    if (dtype == DType::q6_k) {
      std::memcpy(bytes + at + block - 2, &scale, 2);
    } else {
      std::memcpy(bytes + at, &scale, 2);
      if (dtype != DType::q4_0 && dtype != DType::q5_0 && dtype != DType::q8_0) std::memcpy(bytes + at + 2, &scale, 2);
    }
  }
  return prepack(w);
}

void row(DType dtype, Goal goal) {
  const Size n = 4096, k = 4096, bytes = n * k / block_size(dtype) * block_bytes(dtype), count = (Size{160} << 20) / bytes;
  add({.name = "linear " + std::string(to_string(dtype)) + " m=1 4096x4096",
       .unit = "GB/s",
       .amount = static_cast<double>(bytes),
       .limit = Limit::read,
       .goal = goal,
       .make = [=] {
         const Tensor x = randn({1, k}, {.seed = 1});
         std::vector<Tensor> weights;
         for (Size i = 0; i < count; ++i) weights.push_back(weight(dtype, n, k, static_cast<unsigned>(i)));
         return call([=, next = std::size_t{0}]() mutable { return linear(x, weights[next++ % weights.size()]); });
       }});
}

void rows(DType dtype, Size m, Goal goal) {
  const Size n = 4096, k = 4096;
  add({.name = "linear " + std::string(to_string(dtype)) + " m=" + std::to_string(m) + " 4096x4096",
       .unit = "GFLOP/s",
       .amount = 2.0 * static_cast<double>(m) * n * k,
       .limit = Limit::fma_f32,
       .goal = goal,
       .make = [=] {
         const Tensor x = randn({m, k}, {.seed = 1}), w = weight(dtype, n, k, 1);
         return call([=] { return linear(x, w); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  for (DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1}) row(dtype, {0.95, 0.95});
  for (DType dtype : {DType::q4_k, DType::q5_k, DType::q6_k}) row(dtype, {0.90, 0.90});
  for (DType dtype : {DType::q5_0, DType::q5_1}) row(dtype, {});
  for (DType dtype : {DType::q4_0, DType::q4_1}) rows(dtype, 512, {1.4, 1.05});
  for (DType dtype : {DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) rows(dtype, 512, {1.3, 1.0});
  for (DType dtype : {DType::q5_0, DType::q5_1}) rows(dtype, 512, {});
  return run(argc, argv);
}
