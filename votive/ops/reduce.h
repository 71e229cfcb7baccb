// Reductions: many elements to one along any axes, and the place of an extreme (CONTRACT.md 3).
#pragma once

#include <utility>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

enum class ReduceKind : std::uint8_t { sum, mean, prod, min, max, any, all };

/// Over the axes whose bit is set in `axes`; elements are numbered row-major over the reduced axes in logical order (the canonical tree).
struct Reduce {
  ReduceKind kind;
  std::uint32_t axes;  // bit a: axis a is reduced
  bool keep = false;

  static constexpr OpInfo info{"reduce", Class::exact};
  using Kernel = void(const Reduce&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const;  ///< "sum", "mean", …
  Meta result(const Meta& x) const;
  Saves saves() const { return {kind == ReduceKind::sum || kind == ReduceKind::mean ? 0u : 1u, false}; }
  /// Of an extreme: to the one element that argmin or argmax names. Of prod: by exclusive products, so that zeros get theirs.
  Tensors gradient(const Backward& b) const;
};

/// A tensor as rows [outputs, n] of the elements that a reduction over `axes` joins, in the order in which it numbers them; and back to `shape`.
Tensor to_rows(const Tensor& x, std::uint32_t axes);
Tensor from_rows(const Tensor& rows, const Shape& shape, std::uint32_t axes);
/// `shape` with size 1 at `axes`.
Shape kept_shape(const Shape& shape, std::uint32_t axes);

/// Lowest index of the largest (smallest) element along one axis, i64; NaN is the extreme, −0 and +0 are equal.
struct ArgReduce {
  bool largest;
  int axis;  // in [0, rank)
  bool keep = false;

  static constexpr OpInfo info{"argreduce", Class::exact};
  using Kernel = void(const ArgReduce&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return largest ? "argmax" : "argmin"; }
  Meta result(const Meta& x) const;
};

}  // namespace votive
