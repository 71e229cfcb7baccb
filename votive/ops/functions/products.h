// Sums of products: matmul and what is made of it (CONTRACT.md 4.3, 4.4).
#pragma once

#include <optional>

#include "votive/core/tensor.h"

namespace votive {

struct MatmulOptions {
  std::optional<DType> out = {};  // of the sums: f32 for f16 and bf16; i64 for 8-bit integers
};
/// Matrix product:  y[…, m, n] = Σₖ a[…, m, k] · b[…, k, n], batch axes broadcast; a vector is a row on the left and a column on the right.
///   a, b  floating: the common dtype, sums in f32 (f64 for f64), one rounding; b may be a quantised weight whose blocks run along k
///         8-bit integers of any sign: i32, exact; wider ones: i64 or u64, exact modulo 2⁶⁴
/// Class E in the canonical order of CONTRACT.md 4.4; an empty k gives zeros; 0·inf is NaN. Gradients of a and b, none of quantised weights.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, and Error{InvalidArgument} where sums of 8-bit products may leave i32: pass out = i64.
/// Example: matmul(tensor({{1, 2}, {3, 4}}), tensor({{5}, {6}}))  // [[17], [39]]
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});
/// A layer's product:  y[…, n] = Σₖ x[…, k] · w[n, k] + bias[n], the bias added before the one rounding.
///   x  floating [..., k] · w  [n, k], floating, quantised or prepacked · bias  [n] of y's dtype, or none
/// Class E (CONTRACT.md 4.4; D15 for quantised weights, which get no gradient). Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: linear(tensor({1, 2}), tensor({{3, 4}}), tensor({10}))  // [21]
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});
/// A weight arranged for this machine's matmul; the weight itself where there is nothing to gain. Class E: no bit of a result changes.
/// Throws Error{DTypeMismatch} unless floating or quantised, Error{ShapeMismatch} for a transposed view of blocks.
/// Example: linear(tensor({1, 2}), prepack(tensor({{3, 4}})))  // [11]
Tensor prepack(const Tensor& w);

}  // namespace votive
