// Random tensors: their contents depend on seed, stream, offset and index alone (CONTRACT.md 7).
#pragma once

#include "votive/core/tensor.h"

namespace votive {

/// Where random numbers come from: a seed, a stream and how much was used. Passing it advances `offset`.
struct Generator {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  Generator fork(std::uint64_t k) const;
};
struct RandomOptions {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  DType dtype = f32;
  Device device = Device::cpu;
};
Tensor rand(const Shape& shape, RandomOptions options = {});   ///< uniform in [0, 1)
Tensor randn(const Shape& shape, RandomOptions options = {});  ///< normal, mean 0, variance 1
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, RandomOptions options = {.dtype = i64});
/// From a generator, whose offset moves past what was drawn; seed, stream and offset of the options are not read.
Tensor rand(const Shape& shape, Generator& generator, RandomOptions options = {});
Tensor randn(const Shape& shape, Generator& generator, RandomOptions options = {});
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, RandomOptions options = {.dtype = i64});

}  // namespace votive
