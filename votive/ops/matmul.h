// Products: matmul with its bias, and the packed form of weights (CONTRACT.md 4.3–4.5, D14, D15).
#pragma once

#include <optional>
#include <string_view>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"

namespace votive {

/// y[…, m, n] = Σₖ a[…, m, k] · b[…, k, n] (+ bias[n]), batch axes broadcast; canonical order of 4.4, bias added in the accumulator's type,
/// one rounding at the end. a: f16 bf16 f32 f64. b: the same dtypes, or a quantised weight whose k axis has stride 1
/// (transpose(w) of w [n, k]); then D15, and y has a's dtype. f64 computes in f64. Kernels meet a and b of y's dtype, a quantised b, or a packed one
/// whose dtype widens to y's; a quantised or packed b has rank 2 (a any batch rank), a bias has y's dtype. `keeps_sum`: y is the f32 sum where a and b have 16 bits.
struct Matmul {
  bool keeps_sum = false;

  static constexpr OpInfo info{"matmul", Class::exact};
  using Kernel = void(const Matmul&, const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& y, Stream&);
  Meta result(const Meta& a, const Meta& b, const Meta& bias) const;
  Saves saves() const { return {0b011, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The same of integers, exact modulo 2ʷ of y's dtype: i32, i64 or u64 (CONTRACT.md 4.6). Kernels meet any integer dtypes, batch axes broadcast.
struct IntegerMatmul {
  DType dtype;

  static constexpr OpInfo info{"matmul", Class::exact};
  using Kernel = void(const IntegerMatmul&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  Meta result(const Meta& a, const Meta& b) const;
};

/// matmul() under the name of the call that the user made.
Tensor product_of(std::string_view op, const Tensor& a, const Tensor& b, std::optional<DType> out = {});

/// The same weight [n, k] as the CPU's matmul reads it: of a quantised one the rows interleaved by 16 (Packing::rows16), of floats panels of 32 rows,
/// k ascending (Packing::panels). Bits of no result change.
struct Prepack {
  static constexpr OpInfo info{"prepack", Class::exact};
  using Kernel = void(const Prepack&, const Tensor& w, Tensor& y, Stream&);
  Meta result(const Meta& w) const;
};

}  // namespace votive
