// Several index tensors that choose together, as one position per choice.
#pragma once

#include <array>
#include <span>

#include "votive/ops/check.h"
#include "votive/ops/op.h"

namespace votive {

/// y = (…(i₀·n₁ + i₁)·n₂ + …) as i64 over the broadcast shape of the index tensors; entry k lies in −n_k … n_k−1, or 0 … n_k−1 for unsigned dtypes.
/// Kernels check every entry before they write.
struct Locate {
  Shape sizes;                                // n₀, n₁, …
  std::array<std::int8_t, max_rank> entries;  // which entry of the user's list each tensor is
  std::array<std::int8_t, max_rank> axes;     // of x, that each chooses along

  static constexpr OpInfo info{"index", Class::exact};
  using Kernel = void(const Locate&, std::span<const Tensor> indices, Tensor& y, Stream&);
  Meta result(std::span<const Tensor> indices) const;
};

}  // namespace votive
