// Element by element: arithmetic, functions, comparisons, casts, and the operators (CONTRACT.md 2).
#pragma once

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);  ///< true division: integers give f32
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor neg(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor sign(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor square(const Tensor& x);
Tensor floor(const Tensor& x);
Tensor ceil(const Tensor& x);
Tensor trunc(const Tensor& x);
Tensor round(const Tensor& x);  ///< half to even
Tensor sqrt(const Tensor& x);
Tensor rsqrt(const Tensor& x);
Tensor recip(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor exp2(const Tensor& x);
Tensor expm1(const Tensor& x);
Tensor log(const Tensor& x);
Tensor log2(const Tensor& x);
Tensor log10(const Tensor& x);
Tensor log1p(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor erf(const Tensor& x);
Tensor erfc(const Tensor& x);
Tensor softplus(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor silu(const Tensor& x);
Tensor gelu(const Tensor& x);
Tensor gelu_tanh(const Tensor& x);
/// a·b, and 0 where b is 0 whatever a is: the chain rule's ∞·0 at a kink.
Tensor multiply_no_nan(const Tensor& a, const Tensor& b);
/// a / b, and 0 where a is 0 whatever b is.
Tensor xdivy(const Tensor& a, const Tensor& b);
Tensor swiglu(const Tensor& gate, const Tensor& up);
Tensor eq(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& a, const Tensor& b);
/// With a literal: integers compare with any number as mathematics does, i8[1] < 256 is true and u8[3] > 2.5 is true (CONTRACT.md 2.5).
Tensor eq(const Tensor& x, Literal value);
Tensor ne(const Tensor& x, Literal value);
Tensor lt(const Tensor& x, Literal value);
Tensor le(const Tensor& x, Literal value);
Tensor gt(const Tensor& x, Literal value);
Tensor ge(const Tensor& x, Literal value);
Tensor minimum(const Tensor& x, Literal value);
Tensor maximum(const Tensor& x, Literal value);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_or(const Tensor& a, const Tensor& b);
Tensor logical_xor(const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, Literal b);
Tensor where(const Tensor& condition, Literal a, const Tensor& b);
struct CastOptions {
  bool saturate = true;
};
Tensor cast(const Tensor& x, DType dtype, CastOptions options = {});

/// Operators, also with a literal on either side (CONTRACT.md 1.3); `%` and integer divisions come with their operations.
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator+(const Tensor& a, Literal b);
Tensor operator-(const Tensor& a, Literal b);
Tensor operator*(const Tensor& a, Literal b);
Tensor operator/(const Tensor& a, Literal b);
Tensor operator+(Literal a, const Tensor& b);
Tensor operator-(Literal a, const Tensor& b);
Tensor operator*(Literal a, const Tensor& b);
Tensor operator/(Literal a, const Tensor& b);

}  // namespace votive
