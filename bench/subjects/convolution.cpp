// Convolutions, NCHW in and out, weights as they come.
#include "bench/harness.h"

using namespace votive;
using namespace votive::bench;

namespace {

void convolution(const char* name, DType dtype, Shape x_shape, Shape w_shape, ConvOptions options, double operations, Limit limit,
                 Goal goal) {
  add({.name = std::string(name) + " " + std::string(to_string(dtype)),
       .unit = limit == Limit::copy ? "GB/s" : "GFLOP/s",
       .amount = operations,
       .limit = limit,
       .goal = goal,
       .make = [=] {
         const Tensor x = randn(x_shape, {.seed = 1}).to(dtype), w = randn(w_shape, {.seed = 2}).to(dtype);
         return call([=] { return conv2d(x, w, {}, options); });
       }});
}

}  // namespace

int main(int argc, char** argv) {
  const double plain = 2.0 * 64 * 64 * 9 * 56 * 56;
  convolution("conv 3x3 64-64 56x56", f32, {1, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}, plain, Limit::fma_f32, {0.90, 0.82});
  convolution("conv 3x3 64-64 56x56", bf16, {1, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}, plain, Limit::dot_bf16, {0.90, 0.82});
  convolution("conv 3x3 64-64 56x56 batch 8", f32, {8, 64, 56, 56}, {64, 64, 3, 3}, {.padding = 1}, 8 * plain, Limit::fma_f32,
              {0.90, 0.82});
  convolution("conv 1x1 256-64 56x56 batch 8", f32, {8, 256, 56, 56}, {64, 256, 1, 1}, {}, 2.0 * 8 * 56 * 56 * 256 * 64, Limit::fma_f32,
              {});
  convolution("conv 7x7 3-64 224x224 stride 2", f32, {1, 3, 224, 224}, {64, 3, 7, 7}, {.stride = 2, .padding = 3},
              2.0 * 112 * 112 * 147 * 64, Limit::fma_f32, {});
  for (DType dtype : {f32, bf16}) {
    const double bytes = 2.0 * 32 * 128 * 56 * 56 * static_cast<double>(block_bytes(dtype));
    convolution("depthwise 3x3 128 56x56 batch 32", dtype, {32, 128, 56, 56}, {128, 1, 3, 3}, {.padding = 1, .groups = 128}, bytes,
                Limit::copy, {0.70, 0.70});
  }
  return run(argc, argv);
}
