// Reductions, scans over rows and orders: sum mean prod min max any all, argmax argmin, softmax, norms, sort and topk (CONTRACT.md 3 and 4).
#pragma once

#include <utility>

#include "votive/ops/check.h"
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
};

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

/// y = exp(x − m) / Σ exp(x − m) along an axis; or its logarithm (x − m) − log Σ. Kernels meet floats (softmax() has cast integers to f32); f64 in f64.
struct Softmax {
  int axis;  // in [0, rank)
  bool logarithm = false;

  static constexpr OpInfo info{"softmax", Class::portable};
  using Kernel = void(const Softmax&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return logarithm ? "log_softmax" : "softmax"; }
  Meta result(const Meta& x) const;
};

/// y = (x · r) · γ,  r = 1/√(T(x²)/n + ε) over the last axis; γ of x's dtype. f64 in f64, all else in f32, one rounding at the end.
struct RmsNorm {
  float epsilon;

  static constexpr OpInfo info{"rms_norm", Class::portable};
  using Kernel = void(const RmsNorm&, const Tensor& x, const Tensor& gamma, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& gamma) const;
};

/// y = ((x − μ) · r) · γ + β over the last axis, r = 1/√(var + ε), mean and var of CONTRACT.md 3.4; γ and β of x's dtype, either may be absent (no operation).
struct LayerNorm {
  float epsilon;

  static constexpr OpInfo info{"layer_norm", Class::portable};
  using Kernel = void(const LayerNorm&, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& gamma, const Meta& beta) const;
};

/// Stable order along an axis: values and their i64 indices. NaN is last ascending and first descending; −0 equals +0.
/// k < 0: the whole axis (sort), else its first k (topk).
struct Sort {
  int axis;
  bool descending;
  Size k = -1;

  static constexpr OpInfo info{"sort", Class::exact};
  using Kernel = void(const Sort&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
  std::string_view name() const { return k < 0 ? "sort" : "topk"; }
  std::pair<Meta, Meta> result(const Meta& x) const;
};

}  // namespace votive
