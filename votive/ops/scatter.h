// Operations that put updates into a copy of a tensor: scatter in all its modes, index_add, index_copy (CONTRACT.md 5.3). What is not named stays, bit for bit.
#pragma once

#include "votive/ops/check.h"
#include "votive/ops/functions/indexing.h"
#include "votive/ops/gradient.h"
#include "votive/ops/index.h"
#include "votive/ops/op.h"

namespace votive {

/// y = x, and then along `axis`, for every update u of `source` (of x's dtype; rank 0: the same for all) at the place its index names:
///   assign: u, the highest row-major position of several; min, max: CONTRACT.md 2.2; mean: (x + T(u…)) / (1 + how many)
///   add: x + T(u…), mul: x · Π(u…) by the canonical tree over ascending positions, f32 or f64, one rounding; integers mod 2ʷ
/// `slices`: an index names a whole slice, source has x's shape with `axis` replaced by the indices' axes. Else an index per element: indices and source
/// have one shape, x's rank, and on other axes at most its size.
struct Scatter {
  std::string_view call;
  ScatterMode mode;
  int axis;
  bool slices;

  static constexpr OpInfo info{"scatter", Class::exact};
  using Kernel = void(const Scatter&, const Tensor& x, const Tensor& indices, const Tensor& source, Tensor& y, Stream&);
  std::string_view name() const { return call; }
  IndexRange range(Size n) const { return {call, "indices", 2, axis, n}; }
  Meta result(const Meta& x, const Meta& indices, const Meta& source) const;
  Saves saves() const;
  Tensors gradient(const Backward& b) const;
};

/// What is written into x takes x's dtype: one that x's holds every value of, else DTypeMismatch with the cast (CONTRACT.md 1.2, in-place).
void require_written_dtype(std::string_view op, const Argument& x, const Argument& source);

}  // namespace votive
