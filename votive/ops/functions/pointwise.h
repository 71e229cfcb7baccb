// Element by element: arithmetic, rounding, the functions of analysis, choice, and casts (CONTRACT.md 2 and 6). Operators, comparisons and bits are in
// operators.h, activations in activations.h. Shapes broadcast. Unless a docstring says otherwise two dtypes must have a common one (CONTRACT.md 1.2),
// integers and bool are converted to f32 by functions whose result is a float, and 8-bit floats have no arithmetic: what does not fit is Error{DTypeMismatch}.
#pragma once

#include <optional>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

// ---- arithmetic ----

/// a + b, rounded once; integers wrap, and are checked in a CheckedScope. Class E.
/// Example: add(tensor({1, 2}), tensor({0.5, 0.25}))  // [1.5, 2.25]
Tensor add(const Tensor& a, const Tensor& b);
/// a − b, rounded once; integers wrap. Class E.
/// Example: sub(tensor({1, 2}), tensor({0.5, 0.25}))  // [0.5, 1.75]
Tensor sub(const Tensor& a, const Tensor& b);
/// a·b, rounded once; integers wrap. Class E.
/// Example: mul(tensor({3, 4}), tensor({{1}, {2}}))  // [[3, 4], [6, 8]]
Tensor mul(const Tensor& a, const Tensor& b);
/// True division: a / b, rounded once; integers are converted to f32 first, so 7 / 2 is 3.5. Class E. x / 0 is ±inf, 0 / 0 NaN.
/// Example: div(tensor({7, -1}, i32), tensor({2, 0}, i32))  // [3.5, -inf]
Tensor div(const Tensor& a, const Tensor& b);
/// The quotient toward zero: of integers exactly, of floats trunc(a / b). Class E; MIN / −1 = MIN.
/// Throws Error{DivisionByZero} for an integer 0 in b, naming its position, before anything is written.
/// Example: div_trunc(tensor({-7, 7}, i32), tensor({2, 2}, i32))  // [-3, 3]
Tensor div_trunc(const Tensor& a, const Tensor& b);
Tensor div_trunc(const Tensor& x, Literal value);
/// Python's `//`: the quotient toward −∞. Of floats exactly so, 1 // 0.1 is 9, and x // 0 is x / 0. Class E; MIN // −1 = MIN.
/// Throws Error{DivisionByZero} for an integer 0 in b.
/// Example: floor_div(tensor({-7, 7}, i32), tensor({2, 2}, i32))  // [-4, 3]
Tensor floor_div(const Tensor& a, const Tensor& b);
Tensor floor_div(const Tensor& x, Literal value);
/// Python's `%`: a − b·floor_div(a, b), with the sign of b. Class E. Floats: x % 0 is NaN, −1 % inf is inf, a zero has b's sign.
/// Throws Error{DivisionByZero} for an integer 0 in b.
/// Example: remainder(tensor({-7, 7}, i32), tensor({2, -2}, i32))  // [1, -1]
Tensor remainder(const Tensor& a, const Tensor& b);
Tensor remainder(const Tensor& x, Literal value);
/// C's remainder: a − b·trunc(a / b) exactly, with the sign of a. Class E. Floats: fmod(x, 0) and fmod(inf, b) are NaN.
/// Throws Error{DivisionByZero} for an integer 0 in b.
/// Example: fmod(tensor({-7, 7}, i32), tensor({2, -2}, i32))  // [-1, 1]
Tensor fmod(const Tensor& a, const Tensor& b);
Tensor fmod(const Tensor& x, Literal value);
/// aᵇ. Integers exactly, modulo 2ʷ, class E; floats by C99's table (x⁰ = 1 and 1ʸ = 1 also for NaN), class P, ≤ 2 ulp, and exact for b = −1, 0, 1, 2.
/// Throws Error{Domain} for integers with a negative exponent.
/// Example: pow(tensor({-2, 4}), tensor({3, 0.5}))  // [-8, 2]
Tensor pow(const Tensor& a, const Tensor& b);
Tensor pow(const Tensor& x, Literal value);
Tensor pow(Literal value, const Tensor& x);
/// The lesser: NaN wins, −0 < +0. Class E; on a tie the gradient goes to the first.
/// Example: minimum(tensor({1, 5}), tensor({2, 3}))  // [1, 3]
Tensor minimum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& x, Literal value);
/// The greater: NaN wins, −0 < +0. Class E; on a tie the gradient goes to the first.
/// Example: maximum(tensor({1, 5}), tensor({2, 3}))  // [2, 5]
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& x, Literal value);
/// The lesser, where a NaN is missing data. Class E.
/// Example: fmin(tensor({1, 0.0}) / tensor({1, 0}), tensor({2, 3}))  // [1, 3]
Tensor fmin(const Tensor& a, const Tensor& b);
/// The greater, where a NaN is missing data. Class E.
/// Example: fmax(tensor({1, 0.0}) / tensor({1, 0}), tensor({2, 3}))  // [2, 3]
Tensor fmax(const Tensor& a, const Tensor& b);
/// minimum(maximum(x, low), high), so that low > high gives high and NaN stays. Class E. Either bound may be left out, not both.
/// Example: clamp(tensor({-3, 0.5, 7}), -1, 1)  // [-1, 0.5, 1]
/// Example: clamp(tensor({-3, 0.5, 7}), {}, 1)  // [-3, 0.5, 1]
Tensor clamp(const Tensor& x, std::optional<Literal> low, std::optional<Literal> high);
Tensor clamp(const Tensor& x, const Tensor& low, const Tensor& high);
/// −x; integers wrap, also MIN. Class E; of NaN too it turns the sign bit alone.
/// Example: neg(tensor({1, -2}))  // [-1, 2]
Tensor neg(const Tensor& x);
/// |x|; abs(MIN) = MIN. Class E; of NaN too it clears the sign bit alone. Its gradient at 0 is 0.
/// Example: abs(tensor({1, -2}))  // [1, 2]
Tensor abs(const Tensor& x);
/// −1, 0 or 1; ±0 and NaN stay themselves. Class E.
/// Example: sign(tensor({-7, 0, 3}))  // [-1, 0, 1]
Tensor sign(const Tensor& x);
/// x·x. Class E.
/// Example: square(tensor({-3, 0.5}))  // [9, 0.25]
Tensor square(const Tensor& x);
/// √x, correctly rounded: −0 stays, below 0 NaN. Class E.
/// Example: sqrt(tensor({4, 2.25}))  // [2, 1.5]
Tensor sqrt(const Tensor& x);
/// 1 / √x, two roundings. Class E. ±0 give ±inf.
/// Example: rsqrt(tensor({4, 0.25}))  // [0.5, 2]
Tensor rsqrt(const Tensor& x);
/// 1 / x, rounded once. Class E.
/// Example: recip(tensor({4, 0.25}))  // [0.25, 4]
Tensor recip(const Tensor& x);
/// a·b + c, rounded once. Floats only; class E.
/// Example: fma(tensor({2, 3}), tensor({4, 5}), tensor({1, 1}))  // [9, 16]
Tensor fma(const Tensor& a, const Tensor& b, const Tensor& c);
/// factor·x + term, rounded once; the two numbers are f32 beside f16, bf16 and f32, f64 beside f64. Class E.
/// Example: affine(tensor({1, 2}), 10, 0.5)  // [10.5, 20.5]
Tensor affine(const Tensor& x, double factor, double term);
/// x + value·a·b: one rounding after value·a. Floats only; class E.
/// Example: addcmul(tensor({1, 1}), tensor({2, 3}), tensor({4, 5}), 0.5)  // [5, 8.5]
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// x + value·(a / b): the quotient rounded, then one fma. Floats only; class E.
/// Example: addcdiv(tensor({1, 1}), tensor({2, 3}), tensor({4, 6}), 2)  // [2, 2]
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
/// From a to b: a + weight·(b − a), from weight ½ on as b − (1 − weight)·(b − a), so that 0 gives a and 1 gives b. Floats only; class E.
/// Example: lerp(tensor({0, 10}), tensor({4, 20}), 0.25)  // [1, 12.5]
Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight);
Tensor lerp(const Tensor& a, const Tensor& b, Literal weight);
/// |a| with the sign bit of b, also of zeros and NaN. Class E.
/// Example: copysign(tensor({1, -2}), tensor({-3, 4}))  // [-1, 2]
Tensor copysign(const Tensor& a, const Tensor& b);
/// a·b, and 0 where b is 0 whatever a is: the chain rule's ∞·0 at a kink. Class E.
/// Example: multiply_no_nan(recip(tensor({0, 2})), tensor({0, 6}))  // [0, 3]
Tensor multiply_no_nan(const Tensor& a, const Tensor& b);
/// a / b, and 0 where a is 0 whatever b is. Class E.
/// Example: xdivy(tensor({0, 6}), tensor({0, 2}))  // [0, 3]
Tensor xdivy(const Tensor& a, const Tensor& b);
/// The greatest common divisor of the magnitudes, gcd(0, 0) = 0. Integers; class E.
/// Example: gcd(tensor({12, 0}, i32), tensor({18, 5}, i32))  // [6, 5]
Tensor gcd(const Tensor& a, const Tensor& b);
/// The least common multiple of the magnitudes, modulo 2ʷ. Integers; class E.
/// Example: lcm(tensor({4, 0}, i32), tensor({6, 5}, i32))  // [12, 0]
Tensor lcm(const Tensor& a, const Tensor& b);

// ---- rounding ----

/// The largest integer ≤ x; integers are their own. Class E; ±0, ±inf and NaN stay.
/// Example: floor(tensor({-1.5, 1.5}))  // [-2, 1]
Tensor floor(const Tensor& x);
/// The least integer ≥ x. Class E; ceil(−0.5) is −0.
/// Example: ceil(tensor({-1.5, 1.5}))  // [-1, 2]
Tensor ceil(const Tensor& x);
/// x without its fraction. Class E.
/// Example: trunc(tensor({-1.5, 1.5}))  // [-1, 1]
Tensor trunc(const Tensor& x);
/// The nearest integer, ties to even. Class E.
/// With decimals, round(x·10ᵈ) / 10ᵈ, each step rounded; for negative ones round(x / 10⁻ᵈ)·10⁻ᵈ.
/// Example: round(tensor({0.5, 1.5, 2.5}))  // [0, 2, 2]
/// Example: round(tensor({1234.5, 0.25}), -2)  // [1200, 0]
Tensor round(const Tensor& x);
Tensor round(const Tensor& x, int decimals);
/// x − trunc(x), exactly, with the sign of x. Class E.
/// Example: frac(tensor({-1.5, 1.25}))  // [-0.5, 0.25]
Tensor frac(const Tensor& x);

// ---- functions of analysis: class P, the bits are the same everywhere ----

/// eˣ. Class P, ≤ 1.5 ulp.
/// Example: exp(tensor({0, 1}))  // [1, 2.7182817]
Tensor exp(const Tensor& x);
/// 2ˣ. Class P, ≤ 1.5 ulp.
/// Example: exp2(tensor({3, -1}))  // [8, 0.5]
Tensor exp2(const Tensor& x);
/// eˣ − 1 without cancellation. Class P, ≤ 1.5 ulp.
/// Example: expm1(tensor({0, 1}))  // [0, 1.7182819]
Tensor expm1(const Tensor& x);
/// ln x: ±0 give −inf, below 0 NaN. Class P, ≤ 1 ulp.
/// Example: log(tensor({1, 0}))  // [0, -inf]
Tensor log(const Tensor& x);
/// The logarithm to base 2. Class P, ≤ 1 ulp.
/// Example: log2(tensor({8, 0.5}))  // [3, -1]
Tensor log2(const Tensor& x);
/// The logarithm to base 10. Class P, ≤ 1 ulp.
/// Example: log10(tensor({1000, 1}))  // [3, 0]
Tensor log10(const Tensor& x);
/// ln(1 + x) without cancellation; −1 gives −inf. Class P, ≤ 1.5 ulp.
/// Example: log1p(tensor({0, -1}))  // [0, -inf]
Tensor log1p(const Tensor& x);
/// sin x, x in radians of any magnitude. Class P, ≤ 1.5 ulp.
/// Example: sin(tensor({0, 1}))  // [0, 0.84147096]
Tensor sin(const Tensor& x);
/// cos x. Class P, ≤ 1.5 ulp.
/// Example: cos(tensor({0, 1}))  // [1, 0.5403023]
Tensor cos(const Tensor& x);
/// tan x. Class P, ≤ 2 ulp.
/// Example: tan(tensor({0, 1}))  // [0, 1.5574077]
Tensor tan(const Tensor& x);
/// arcsin x; beyond ±1 NaN. Class P, ≤ 2 ulp.
/// Example: asin(tensor({0, 1}))  // [0, 1.5707964]
Tensor asin(const Tensor& x);
/// arccos x; beyond ±1 NaN. Class P, ≤ 2 ulp.
/// Example: acos(tensor({1, 0}))  // [0, 1.5707964]
Tensor acos(const Tensor& x);
/// arctan x. Class P, ≤ 2 ulp.
/// Example: atan(tensor({0, 1}))  // [0, 0.7853981]
Tensor atan(const Tensor& x);
/// The angle of the point (x, y) = (b, a), in −π..π; zeros and infinities by C99's table. Class P, ≤ 2 ulp.
/// Example: atan2(tensor({1, 0}), tensor({0, -1}))  // [1.5707964, 3.1415927]
Tensor atan2(const Tensor& a, const Tensor& b);
/// √(a² + b²), never overflowing early. Class P, ≤ 1 ulp; inf beside NaN is inf.
/// Example: hypot(tensor({3, 1e30}), tensor({4, 0}))  // [5, 1e+30]
Tensor hypot(const Tensor& a, const Tensor& b);
/// (eˣ − e⁻ˣ) / 2. Class P, ≤ 2 ulp.
/// Example: sinh(tensor({0, 1}))  // [0, 1.1752012]
Tensor sinh(const Tensor& x);
/// (eˣ + e⁻ˣ) / 2. Class P, ≤ 2 ulp.
/// Example: cosh(tensor({0, 1}))  // [1, 1.5430806]
Tensor cosh(const Tensor& x);
/// tanh x, ±1 far out and never NaN. Class P, ≤ 2 ulp.
/// Example: tanh(tensor({0, 100}))  // [0, 1]
Tensor tanh(const Tensor& x);
/// The inverse of sinh. Class P, ≤ 3 ulp.
/// Example: asinh(tensor({0, 1}))  // [0, 0.8813736]
Tensor asinh(const Tensor& x);
/// The inverse of cosh; below 1 NaN. Class P, ≤ 3 ulp.
/// Example: acosh(tensor({1, 2}))  // [0, 1.3169578]
Tensor acosh(const Tensor& x);
/// The inverse of tanh; ±1 give ±inf. Class P, ≤ 3 ulp.
/// Example: atanh(tensor({0, 1}))  // [0, inf]
Tensor atanh(const Tensor& x);
/// 2/√π ∫₀ˣ e^(−t²) dt. Class P, ≤ 2 ulp.
/// Example: erf(tensor({0, 1}))  // [0, 0.84270084]
Tensor erf(const Tensor& x);
/// 1 − erf x without cancellation. Class P, ≤ 3 ulp.
/// Example: erfc(tensor({0, 1}))  // [1, 0.15729919]
Tensor erfc(const Tensor& x);
/// The inverse of erf; ±1 give ±inf, beyond NaN. Class P, ≤ 4 ulp.
/// Example: erfinv(tensor({0, 1}))  // [0, inf]
Tensor erfinv(const Tensor& x);
/// ln |Γ(x)|; 0 and the negative integers give inf. Class P, ≤ 4 ulp for x > 0 (below, of its largest term).
/// Example: lgamma(tensor({1, 5}))  // [0, 3.1780539]
Tensor lgamma(const Tensor& x);
/// The derivative of lgamma; ±0 give ∓inf, negative integers NaN. Class P, ≤ 4 ulp for x > 0 (below 8, of its largest term).
/// Example: digamma(tensor({1, 0.5}))  // [-0.5772157, -1.96351]
Tensor digamma(const Tensor& x);
/// The derivative of digamma; 0 and the negative integers give inf. Class P, ≤ 4 ulp for x > 0, 6 below.
/// Example: trigamma(tensor({1}))  // [1.644934]
Tensor trigamma(const Tensor& x);
/// sin(πx) / (πx), 1 at 0. Class P, ≤ 4 ulp.
/// Example: sinc(tensor({0, 0.5, 1}))  // [1, 0.63661975, 0]
Tensor sinc(const Tensor& x);
/// x·180/π. Class P, ≤ 0.51 ulp.
/// Example: rad2deg(tensor({1}))  // [57.29578]
Tensor rad2deg(const Tensor& x);
/// x·π/180. Class P, ≤ 0.51 ulp.
/// Example: deg2rad(tensor({180}))  // [3.1415927]
Tensor deg2rad(const Tensor& x);
/// ln(eᵃ + eᵇ), never overflowing early; (−inf, −inf) gives −inf. Class P, ≤ 5 ulp of the larger of the result and the operands.
/// Example: logaddexp(tensor({0, 1000}), tensor({0, 1000}))  // [0.6931472, 1000.6932]
Tensor logaddexp(const Tensor& a, const Tensor& b);
/// a·ln b, and 0 where a is 0 and b is not NaN. Class P, ≤ 3 ulp.
/// Example: xlogy(tensor({0, 2}), tensor({0, 1}))  // [0, 0]
Tensor xlogy(const Tensor& a, const Tensor& b);
/// a·ln(1 + b), and 0 where a is 0 and b is not NaN. Class P, ≤ 4 ulp.
/// Example: xlog1py(tensor({0, 2}), tensor({-1, 0}))  // [0, 0]
Tensor xlog1py(const Tensor& a, const Tensor& b);

// ---- choice ----

/// Bits of a where the condition holds, of b elsewhere: nothing of the branch not taken leaks. Class E; condition must be bool.
/// Example: where(tensor({true, false}, boolean), tensor({1, 2}), tensor({3, 4}))  // [1, 4]
/// Example: where(tensor({true, false}, boolean), tensor({1, 2}), 0)  // [1, 0]
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
Tensor where(const Tensor& condition, const Tensor& a, Literal b);
Tensor where(const Tensor& condition, Literal a, const Tensor& b);
struct NanToNumOptions {
  double nan = 0;
  std::optional<double> posinf = {};  // the largest finite number of the dtype
  std::optional<double> neginf = {};  // the least
};
/// x with NaN, inf and −inf replaced; integers come back as they are. Class E.
/// Example: nan_to_num(log(tensor({0, 1})), {.neginf = -9})  // [-9, 0]
Tensor nan_to_num(const Tensor& x, NanToNumOptions options = {});

// ---- casts ----

struct CastOptions {
  bool saturate = true;  // of 8-bit floats: beyond the largest becomes it, else NaN or inf
};
/// x in another dtype: floats round to nearest even, directly; float → integer truncates and saturates, NaN gives 0; integers wrap; → bool is x ≠ 0.
/// Class E. x.to(dtype) is the same with default options. Throws Error{Unsupported} for a quantised dtype.
/// Example: cast(tensor({300, -1.5}), u8)  // [255, 0]
Tensor cast(const Tensor& x, DType dtype, CastOptions options = {});
/// cast(x, dtype), where every value must survive but for rounding. Class E.
/// Throws Error{Domain} for NaN as an integer and a float beyond the floats of dtype, Error{IntegerOverflow} for what is beyond its integers,
/// naming the value and its position.
/// Example: cast_checked(tensor({255, 1.5}), u8)  // [255, 1]
Tensor cast_checked(const Tensor& x, DType dtype);

}  // namespace votive
