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
  static constexpr std::string_view names[] = {"sum", "mean", "prod", "min", "max", "any", "all"};
  using Kernel = void(const Reduce&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return names[static_cast<int>(kind)]; }
  Meta result(const Meta& x) const;
  Saves saves() const { return {kind == ReduceKind::sum || kind == ReduceKind::mean ? 0u : 1u, false}; }
  /// Of an extreme: to the one element that argmin or argmax names. Of prod: by exclusive products, so that zeros get theirs.
  Tensors gradient(const Backward& b) const;
};

enum class StatisticKind : std::uint8_t { var, std, norm, logsumexp };

/// What takes more than one pass (CONTRACT.md 3.4), f32 inside (f64 for f64), one rounding. var: m = T(x)/n, s1 = T(x − m), s2 = T((x − m)²),
/// (s2 − s1²/n)/(n − correction), NaN where n ≤ correction; std: its root. norm: e = exponent of max |x|, √T((x·2⁻ᵉ)²)·2ᵉ; where the maximum is 0, ∞ or
/// NaN, the maximum. logsumexp: log T(exp(x − m)) + m, m = max x, or 0 where that is not finite. Kernels meet floats.
struct Statistic {
  StatisticKind kind;
  std::uint32_t axes;
  bool keep = false;
  double correction = 0;

  static constexpr OpInfo info{"statistic", Class::portable};
  using Kernel = void(const Statistic&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const;
  Meta result(const Meta& x) const;
  Saves saves() const { return {1u, false}; }
  Tensors gradient(const Backward& b) const;
};

/// `shape` without the axes whose bit is set, or with size 1 there.
Shape reduced_shape(const Shape& shape, std::uint32_t axes, bool keep);
/// How many elements a reduction over `axes` joins.
Size joined_count(const Shape& shape, std::uint32_t axes);

enum class Joined : std::uint8_t { sums, products };
/// In the checked mode: throws Error{IntegerOverflow} where a sum or product of x's integers over `axes`, or with `prefixes` of the first of them,
/// leaves 64 bits.
void require_joins_fit(std::string_view op, Joined joined, bool prefixes, const Tensor& x, std::uint32_t axes);
/// The same of integers that are added or multiplied into x: update i goes to element targets[i] of x, counted row-major.
void require_updates_fit(std::string_view op, Joined joined, const Tensor& x, const Tensor& targets, const Tensor& updates);

/// A tensor as rows [outputs, n] of the elements that a reduction over `axes` joins, in the order in which it numbers them; and back to `shape`.
Tensor to_rows(const Tensor& x, std::uint32_t axes);
Tensor from_rows(const Tensor& rows, const Shape& shape, std::uint32_t axes);

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
