// Softmax and the norms: rows scaled by what is in them, all inner work in f32 (f64 for f64), one rounding at the end (CONTRACT.md 4.1 and 4.2).
#pragma once

#include <string_view>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

/// The type in which operations of one final rounding compute: f64 for f64, else f32.
inline DType inner_dtype(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

/// y = exp(x − m) / Σ exp(x − m) along an axis; or its logarithm (x − m) − log Σ. Kernels meet floats (softmax() has cast integers to f32); f64 in f64.
struct Softmax {
  int axis;  // in [0, rank)
  bool logarithm = false;
  bool narrow = false;  // x is f16 or bf16

  static constexpr OpInfo info{"softmax", Class::portable};
  using Kernel = void(const Softmax&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const { return logarithm ? "log_softmax" : "softmax"; }
  Meta result(const Meta& x) const;
  Saves saves() const { return {from_output() ? 0u : 1u, from_output()}; }
  Tensors gradient(const Backward& b) const;

  /// A 16-bit result is rounded; its gradient computes the row again as the composition has it, in f32.
  bool from_output() const { return !logarithm && !narrow; }
};

/// y = (x · r) · γ,  r = 1/√(T(x²)/n + ε) over the last axis; γ of x's dtype or absent. f64 in f64, all else in f32, one rounding at the end.
struct RmsNorm {
  float epsilon;

  static constexpr OpInfo info{"rms_norm", Class::portable};
  using Kernel = void(const RmsNorm&, const Tensor& x, const Tensor& gamma, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& gamma) const;
  Saves saves() const { return {~0u, false}; }
  Tensors gradient(const Backward& b) const;
};

/// y = ((x − μ) · r) · γ + β over the last axis, r = 1/√(var + ε), mean and var of CONTRACT.md 3.4; γ and β of x's dtype, either may be absent (no operation).
/// Row i belongs to group i mod `groups`, which has `weights` of γ and of β, each for as many neighbours as it takes: layer_norm has one group and a weight
/// per element, group_norm and instance_norm a weight per channel.
struct LayerNorm {
  float epsilon;
  std::string_view called = "layer_norm";
  Size groups = 1;
  Size weights = -1;  // −1: one per element

  static constexpr OpInfo info{"layer_norm", Class::portable};
  using Kernel = void(const LayerNorm&, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Size weights_of(Size n) const { return weights < 0 ? n : weights; }
  Meta result(const Meta& x, const Meta& gamma, const Meta& beta) const;
  Saves saves() const { return {3u, false}; }
  Tensors gradient(const Backward& b) const;
};

/// y = ((x − mean[c]) · r[c]) · γ[c] + β[c], r = 1/√(variance + ε), c along axis 1; γ and β may be absent. Each of the four is of x's dtype or of the inner.
struct BatchNorm {
  float epsilon;

  static constexpr OpInfo info{"batch_norm", Class::portable};
  using Kernel = void(const BatchNorm&, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma,
                      const Tensor& beta, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& mean, const Meta& variance, const Meta& gamma, const Meta& beta) const;
  Saves saves() const { return {15u, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
