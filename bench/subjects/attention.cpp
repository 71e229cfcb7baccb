// Attention over a prompt (a share of the fma rate of the useful half) and of one token over a long cache (a share of the bandwidth of reading it).
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

void prompt(DType dtype, Size D, Goal goal) {
  const Size T = 2048, H = 16;
  add({.name = "attention causal 2048 h16 d" + std::to_string(D) + " " + std::string(to_string(dtype)),
       .unit = "GFLOP/s",
       .amount = 2.0 * static_cast<double>(H * T * T * D),  // two products, half of each
       .limit = Limit::fma_f32,
       .goal = goal,
       .make = [=] {
         const Tensor q = randn({1, H, T, D}, {.seed = 1}).to(dtype), k = randn({1, H, T, D}, {.seed = 2}).to(dtype),
                      v = randn({1, H, T, D}, {.seed = 3}).to(dtype);
         return call([=] { return attention(q, k, v, {}, {.causal = true}); });
       }});
}

void decode(DType dtype, Size S, Size H, Size K, Size D, Goal goal) {
  const auto bytes = 2.0 * static_cast<double>(K * S * D * block_bytes(dtype));
  add({.name = "attention decode " + std::to_string(S) + " h" + std::to_string(H) + "/" + std::to_string(K) + " d" + std::to_string(D) +
               " " + std::string(to_string(dtype)),
       .unit = "GB/s",
       .amount = bytes,
       .limit = Limit::read,
       .goal = goal,
       .make = [=] {
         // caches enough that none stays near
         std::vector<Tensor> keys, values;
         for (double have = 0; have < 160e6; have += bytes) {
           keys.push_back(rand({1, K, S, D}, {.seed = 2}).to(dtype));
           values.push_back(rand({1, K, S, D}, {.seed = 3}).to(dtype));
         }
         const Tensor q = randn({1, H, 1, D}, {.seed = 1}).to(dtype);
         return call([=, next = std::size_t{0}]() mutable {
           const std::size_t i = next++ % keys.size();
           return attention(q, keys[i], values[i]);
         });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  for (DType dtype : {f32, bf16}) {
    prompt(dtype, 64, {0.70, 0.70});
    prompt(dtype, 128, {0.70, 0.70});
  }
  for (DType dtype : {f32, bf16}) decode(dtype, 2048, 16, 16, 64, {0.90, 0.90});
  decode(f16, 4096, 9, 3, 64, {0.90, 0.90});
  decode(f32, 4096, 32, 8, 128, {0.90, 0.90});
  return run(argc, argv);
}
