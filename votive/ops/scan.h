// Scans: every element joined with those before it along one axis, and the linear recurrence that their gradients need (CONTRACT.md 3.1, 3.4).
#pragma once

#include <utility>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

enum class ScanKind : std::uint8_t { sum, prod, logsumexp };

/// y[k] = x[0] ∘ … ∘ x[k]. Sums and products of floats by the canonical scan of 3.4, in f32 (f64 for f64), one rounding per output; of integers modulo
/// 2⁶⁴, to i64 or u64. logsumexp: the chain y[k] = logaddexp(y[k−1], x[k]); kernels meet floats.
struct Scan {
  ScanKind kind;
  int axis;  // in [0, rank)

  static constexpr OpInfo info{"scan", Class::exact};
  using Kernel = void(const Scan&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const;
  Meta result(const Meta& x) const;
  Saves saves() const { return {kind == ScanKind::sum ? 0u : 1u, kind == ScanKind::logsumexp}; }
  Tensors gradient(const Backward& b) const;
};

/// The extreme of x[0…k] and its lowest index, i64; NaN is the extreme, and −0 < +0 for the value while they tie for the index, as in max and argmax.
struct ScanExtreme {
  bool largest;
  int axis;

  static constexpr OpInfo info{"scan_extreme", Class::exact};
  using Kernel = void(const ScanExtreme&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
  std::string_view name() const { return largest ? "cummax" : "cummin"; }
  std::pair<Meta, Meta> result(const Meta& x) const;
  Saves saves() const { return {0, true}; }
  Tensors gradient(const Backward& b) const;
};

/// y[0] = b[0], y[k] = fma(a[k], y[k−1], b[k]) along an axis; f32 inside (f64 for f64), one rounding per output. a and b are alike.
struct Recurrence {
  int axis;

  static constexpr OpInfo info{"linear_recurrence", Class::exact};
  using Kernel = void(const Recurrence&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  Meta result(const Meta& a, const Meta& b) const;
  Saves saves() const { return {1u, true}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
