// Pointwise operations as data: one row says everything of an operation, and both devices, the public functions, gradients, tests and documents
// follow from it. A new one is a scalar in numerics/pointwise.h or math.h, a row here, and a declaration with its doc in functions/pointwise.h.
#pragma once

#include <array>
#include <span>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

// clang-format off
// X(group, name, ulp, formula, (low, high) of sensible x, gradient of x written in x, y = name(x) and dy)
//
// The group says what it takes and which scalars its text has; ulp is the bound of class P, 0 is class E. What a gradient mentions is saved for it.
//   arithmetic   name_f32, name_f64, name_i64, name_u64; integers keep their dtype; bool is refused
//   rounding     name_f32, name_f64; integers come back as they are, without a kernel; bool is refused
//   floating     name_f32, name_f64; integers and bool are converted to f32 first (CONTRACT.md 1.4)
//   function     the same, of class P
//   predicate    name_f32, name_f64 → bool; any dtype of single elements
//   bitwise      name_i64, name_u64 and name_bool; integers and bool
//   logical      name of a truth value → bool; any dtype of single elements
#define VOTIVE_UNARY(X)  \
  X(arithmetic, neg, 0, "-x", (-2, 2), -dy)  \
  X(arithmetic, abs, 0, "|x|", (-2, 2), dy * sign(x))  \
  X(arithmetic, sign, 0, "-1, 0 or 1", (-2, 2), zeros_like(dy))  \
  X(arithmetic, relu, 0, "max(x, 0)", (-2, 2), where(le(y, 0), 0, dy))  \
  X(arithmetic, square, 0, "x x", (-2, 2), dy * (2 * x))  \
  X(rounding, floor, 0, "largest integer <= x", (-2, 2), zeros_like(dy))  \
  X(rounding, ceil, 0, "least integer >= x", (-2, 2), zeros_like(dy))  \
  X(rounding, trunc, 0, "x without its fraction", (-2, 2), zeros_like(dy))  \
  X(rounding, round, 0, "nearest integer, ties to even", (-2, 2), zeros_like(dy))  \
  X(floating, frac, 0, "x - trunc x", (-2, 2), dy)  \
  X(floating, sqrt, 0, "sqrt(x)", (0.3, 3), xdivy(dy, 2 * y))  \
  X(floating, rsqrt, 0, "1 / sqrt(x)", (0.3, 3), multiply_no_nan(-0.5 * (y * y * y), dy))  \
  X(floating, recip, 0, "1 / x", (0.3, 3), -multiply_no_nan(y * y, dy))  \
  X(floating, relu6, 0, "min(max(x, 0), 6)", (-3, 9), where(logical_and(gt(y, 0), lt(y, 6)), dy, 0))  \
  X(floating, hardsigmoid, 0, "relu6(x + 3) / 6", (-5, 5), where(lt(abs(x), 3), dy / 6, 0))  \
  X(function, hardswish, 2.5, "x relu6(x + 3) / 6", (-5, 5), dy * hardsigmoid(x) + where(lt(abs(x), 3), dy * x / 6, 0))  \
  X(function, exp, 1.5, "e^x", (-2, 2), dy * y)  \
  X(function, exp2, 1.5, "2^x", (-2, 2), dy * (y * 0.6931471805599453))  \
  X(function, expm1, 1.5, "e^x - 1", (-2, 2), dy * (y + 1))  \
  X(function, log, 1, "ln x", (0.3, 3), xdivy(dy, x))  \
  X(function, log2, 1, "log to base 2", (0.3, 3), xdivy(dy, x * 0.6931471805599453))  \
  X(function, log10, 1, "log to base 10", (0.3, 3), xdivy(dy, x * 2.302585092994046))  \
  X(function, log1p, 1.5, "ln(1 + x)", (-0.7, 3), xdivy(dy, 1 + x))  \
  X(function, sin, 1.5, "sin x", (-4, 4), dy * cos(x))  \
  X(function, cos, 1.5, "cos x", (-4, 4), -(dy * sin(x)))  \
  X(function, tan, 2, "tan x", (-1.2, 1.2), dy * (1 + y * y))  \
  X(function, asin, 2, "arcsin x", (-0.8, 0.8), xdivy(dy, sqrt((1 - x) * (1 + x))))  \
  X(function, acos, 2, "arccos x", (-0.8, 0.8), -xdivy(dy, sqrt((1 - x) * (1 + x))))  \
  X(function, atan, 2, "arctan x", (-3, 3), dy / (1 + x * x))  \
  X(function, sinh, 2, "(e^x - e^-x) / 2", (-2, 2), dy * cosh(x))  \
  X(function, cosh, 2, "(e^x + e^-x) / 2", (-2, 2), dy * sinh(x))  \
  X(function, tanh, 2, "tanh x", (-2, 2), dy * (1 - y * y))  \
  X(function, asinh, 3, "arsinh x", (-3, 3), dy / hypot(x, ones_like(x)))  \
  X(function, acosh, 3, "arcosh x", (1.3, 4), xdivy(dy, sqrt((x - 1) * (x + 1))))  \
  X(function, atanh, 3, "artanh x", (-0.8, 0.8), xdivy(dy, (1 - x) * (1 + x)))  \
  X(function, erf, 2, "2/sqrt(pi) integral of exp(-t t) over 0..x", (-2, 2), dy * (1.1283791670955126 * exp(-(x * x))))  \
  X(function, erfc, 3, "1 - erf x", (-2, 2), dy * (-1.1283791670955126 * exp(-(x * x))))  \
  X(function, erfinv, 4, "inverse of erf", (-0.8, 0.8), multiply_no_nan(0.886226925452758 * exp(y * y), dy))  \
  X(function, lgamma, 4, "ln |gamma(x)|", (0.4, 4), multiply_no_nan(digamma(x), dy))  \
  X(function, digamma, 8, "derivative of lgamma", (0.4, 4), multiply_no_nan(trigamma(x), dy))  \
  X(function, trigamma, 6, "derivative of digamma", (0.4, 4), multiply_no_nan(tetragamma(x), dy))  \
  X(function, sinc, 4, "sin(pi x) / (pi x), 1 at 0", (-2, 2), dy * slope_of_sinc(x))  \
  X(function, rad2deg, 0.51, "x 180 / pi", (-4, 4), rad2deg(dy))  \
  X(function, deg2rad, 0.51, "x pi / 180", (-90, 90), deg2rad(dy))  \
  X(function, sigmoid, 5, "1 / (1 + e^-x)", (-3, 3), dy * (y * (1 - y)))  \
  X(function, logit, 4, "ln(x / (1 - x))", (0.1, 0.9), xdivy(dy, x * (1 - x)))  \
  X(function, log_sigmoid, 5, "ln sigmoid(x)", (-3, 3), dy * sigmoid(-x))  \
  X(function, softplus, 5, "ln(1 + e^x)", (-3, 3), dy * sigmoid(x))  \
  X(function, softsign, 1.5, "x / (1 + |x|)", (-3, 3), dy / square(1 + abs(x)))  \
  X(function, tanhshrink, 4, "x - tanh x", (-3, 3), dy * square(tanh(x)))  \
  X(function, selu, 4, "1.0507 x, or 1.7581 (e^x - 1) below 0", (-3, 3), gradient_of_selu(x, dy))  \
  X(function, mish, 6, "x tanh(softplus(x))", (-3, 3), gradient_of_mish(x, dy))  \
  X(function, silu, 6, "x sigmoid(x)", (-3, 3), gradient_of_silu(x, dy))  \
  X(function, gelu, 6, "x erfc(-x / sqrt(2)) / 2", (-3, 3), gradient_of_gelu(x, dy))  \
  X(function, gelu_tanh, 6, "x sigmoid(2 sqrt(2/pi) (x + 0.044715 x x x))", (-3, 3), gradient_of_gelu_tanh(x, dy))  \
  X(function, quick_gelu, 6, "x sigmoid(1.702 x)", (-3, 3), gradient_of_quick_gelu(x, dy))  \
  X(predicate, isnan, 0, "x is NaN", (-2, 2), Tensor())  \
  X(predicate, isinf, 0, "x is inf or -inf", (-2, 2), Tensor())  \
  X(predicate, isfinite, 0, "x is neither NaN nor infinite", (-2, 2), Tensor())  \
  X(predicate, signbit, 0, "the sign bit of x", (-2, 2), Tensor())  \
  X(bitwise, bitwise_not, 0, "every bit of x turned; of a bool, not x", (-2, 2), Tensor())  \
  X(logical, logical_not, 0, "x is zero", (-2, 2), Tensor())

// X(attributes, name, ulp, formula, (low, high) of sensible x, (attributes of a sample), gradient of x written in x, y, dy and p, q, r)
//
// Functions of one tensor and of one, two or three numbers p, q, r, which are f32 beside anything but f64: name_f32(x, p, …), name_f64(x, p, …).
// Integers and bool are converted to f32 first.
#define VOTIVE_UNARY_WITH(X)  \
  X(one, leaky_relu, 0, "x, or p x below 0", (-2, 2), (0.1), where(gt(x, 0), dy, dy * p))  \
  X(one, elu, 4, "x, or p (e^x - 1) below 0", (-2, 2), (0.7), where(gt(x, 0), dy, dy * (p * exp(minimum(x, 0)))))  \
  X(one, celu, 6, "x, or p (e^(x/p) - 1) below 0", (-2, 2), (0.7), where(gt(x, 0), dy, dy * exp(minimum(x, 0) / p)))  \
  X(one, hardshrink, 0, "x, or 0 within -p..p", (-2, 2), (0.5), where(gt(abs(x), p), dy, 0))  \
  X(one, softshrink, 0, "x moved by p toward 0, or 0", (-2, 2), (0.5), where(gt(abs(x), p), dy, 0))  \
  X(two, hardtanh, 0, "min(max(x, p), q)", (-2, 2), (-0.7, 1.2), where(logical_and(gt(x, p), lt(x, q)), dy, 0))  \
  X(two, threshold, 0, "x above p, else q", (-2, 2), (0.3, -0.6), where(gt(x, p), dy, 0))  \
  X(two, affine, 0, "p x + q, rounded once", (-2, 2), (1.7, -0.3), dy * p)  \
  X(three, nan_to_num, 0, "p for NaN, q for inf, r for -inf, else x", (-2, 2), (0, 3, -3), where(isfinite(x), dy, 0))

// X(group, name, ulp, formula, (low, high) of sensible a, of b, gradient of a, gradient of b; both written in a, b, y and dy)
//
// Gradients see both operands in y's dtype and may be of the broadcast shape; only those that are wanted are computed.
//   arithmetic   name_f32, name_f64, name_i64, name_u64; the common dtype; bool with bool is refused (D6)
//   division     the same; an integer divided by zero is Error{DivisionByZero}
//   power        the same; a negative exponent of an integer is Error{Domain}
//   floating     name_f32, name_f64; integers are converted to f32 first
//   function     the same, of class P: all inner work in f32 or f64 and one rounding
//   integer      name_i64, name_u64; integers only
//   bitwise      name_u64; integers and bool
//   shift        name_i64, name_u64 of a number, a count and the number's width; the common dtype, or a's where there is none
//   overflows    name_i64, name_u64 of both numbers and the width of their common dtype → bool
//   lost_bits    name_i64, name_u64 of a number, a count and the number's width → bool
//   compare      name_f32, name_f64, name_i64, name_u64, name_i64_u64, name_u64_i64 → bool; integers of any two dtypes compare mathematically
//   logical      name of two truth values → bool; any dtypes of single elements
#define VOTIVE_BINARY(X)  \
  X(arithmetic, add, 0, "a + b", (-2, 2), (-2, 2), dy, dy)  \
  X(arithmetic, sub, 0, "a - b", (-2, 2), (-2, 2), dy, -dy)  \
  X(arithmetic, mul, 0, "a b", (-2, 2), (-2, 2), dy * b, dy * a)  \
  X(arithmetic, minimum, 0, "the lesser; NaN wins, -0 < 0", (-2, 2), (-2, 2), where(gt(a, b), 0, dy), where(gt(a, b), dy, 0))  \
  X(arithmetic, maximum, 0, "the greater; NaN wins, -0 < 0", (-2, 2), (-2, 2), where(lt(a, b), 0, dy), where(lt(a, b), dy, 0))  \
  X(arithmetic, fmin, 0, "the lesser; NaN is missing, -0 < 0", (-2, 2), (-2, 2), where(first_of_fmin(a, b), dy, 0), where(first_of_fmin(a, b), 0, dy))  \
  X(arithmetic, fmax, 0, "the greater; NaN is missing, -0 < 0", (-2, 2), (-2, 2), where(first_of_fmax(a, b), dy, 0), where(first_of_fmax(a, b), 0, dy))  \
  X(division, div_trunc, 0, "trunc(a / b)", (-5, 5), (0.5, 2), zeros_like(dy), zeros_like(dy))  \
  X(division, floor_div, 0, "floor(a / b)", (-5, 5), (0.5, 2), zeros_like(dy), zeros_like(dy))  \
  X(division, remainder, 0, "a - b floor_div(a, b)", (-5, 5), (0.5, 2), dy, -(dy * floor_div(a, b)))  \
  X(division, fmod, 0, "a - b div_trunc(a, b), exactly", (-5, 5), (0.5, 2), dy, -(dy * div_trunc(a, b)))  \
  X(power, pow, 2, "a^b", (0.3, 2), (-2, 2), multiply_no_nan(pow(a, b - 1), dy * b), where(eq(a, 0), multiply_no_nan(where(ge(b, 0), 0, -y), dy), xlogy(dy * y, a)))  \
  X(floating, div, 0, "a / b", (-2, 2), (0.5, 3), xdivy(dy, b), -xdivy(multiply_no_nan(y, dy), b))  \
  X(floating, multiply_no_nan, 0, "a b, 0 where b is 0", (-2, 2), (0.2, 2), multiply_no_nan(b, dy), multiply_no_nan(a, dy))  \
  X(floating, xdivy, 0, "a / b, 0 where a is 0", (0.2, 2), (0.5, 3), xdivy(dy, b), -xdivy(multiply_no_nan(y, dy), b))  \
  X(floating, copysign, 0, "|a| with the sign of b", (-2, 2), (-2, 2), dy * (sign(a) * copysign(ones_like(b), b)), zeros_like(dy))  \
  X(function, atan2, 2, "angle of the point (b, a)", (-2, 2), (0.3, 2), gradient_of_atan2(dy, b, a, b), gradient_of_atan2(-dy, a, a, b))  \
  X(function, hypot, 1, "sqrt(a a + b b)", (0.3, 2), (-2, 2), dy * xdivy(a, y), dy * xdivy(b, y))  \
  X(function, logaddexp, 5, "ln(e^a + e^b)", (-2, 2), (-2, 2), dy * share_of_sum(a, b), dy * share_of_sum(b, a))  \
  X(function, xlogy, 3, "a ln b, 0 where a is 0", (0.2, 2), (0.3, 3), gradient_of_xlogy(a, b, log(b), dy), xdivy(dy * a, b))  \
  X(function, xlog1py, 4, "a ln(1 + b), 0 where a is 0", (0.2, 2), (-0.6, 3), gradient_of_xlogy(a, 1 + b, log1p(b), dy), xdivy(dy * a, 1 + b))  \
  X(function, swiglu, 6, "silu(a) b", (-3, 3), (-2, 2), gradient_of_silu(a, dy * b), dy * silu(a))  \
  X(function, geglu, 7.5, "gelu(a) b", (-3, 3), (-2, 2), gradient_of_gelu(a, dy * b), dy * gelu(a))  \
  X(integer, gcd, 0, "greatest common divisor", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(integer, lcm, 0, "least common multiple", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(bitwise, bitwise_and, 0, "bits of both", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(bitwise, bitwise_or, 0, "bits of either", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(bitwise, bitwise_xor, 0, "bits of one and not the other", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(shift, shift_left, 0, "a 2^b, bits shifted out are lost", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(shift, shift_right, 0, "floor(a / 2^b)", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(overflows, add_overflows, 0, "a + b does not fit", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(overflows, sub_overflows, 0, "a - b does not fit", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(overflows, mul_overflows, 0, "a b does not fit", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(overflows, div_overflows, 0, "a / b does not fit", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(overflows, pow_overflows, 0, "a^b does not fit", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(lost_bits, shift_left_overflows, 0, "a << b loses bits", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(lost_bits, shift_right_overflows, 0, "b is no count of a's bits", (0, 9), (0, 9), Tensor(), Tensor())  \
  X(compare, eq, 0, "a = b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, ne, 0, "not a = b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, lt, 0, "a < b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, le, 0, "a <= b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, gt, 0, "a > b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, ge, 0, "a >= b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_and, 0, "a and b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_or, 0, "a or b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_xor, 0, "a or b, not both", (-2, 2), (-2, 2), Tensor(), Tensor())

// X(name, ulp, formula, (low, high) of sensible a, b and c, gradients of a, b and c; written in a, b, c, y, dy and `value`)
//
// Floats only; name_f32(a, b, c, value), name_f64; all inner work in f32 or f64 and one rounding to the common dtype.
#define VOTIVE_TERNARY(X)  \
  X(fma, 0, "a b + c, rounded once", (-2, 2), dy * b, dy * a, dy)  \
  X(lerp, 0, "a + c (b - a)", (-2, 2), dy * (1 - c), dy * c, dy * (b - a))  \
  X(addcmul, 0, "a + value b c, rounded once", (-2, 2), dy, dy * (value * c), dy * (value * b))  \
  X(addcdiv, 0, "a + value b / c", (0.5, 2), dy, xdivy(dy * value, c), -xdivy(dy * value * xdivy(b, c), c))
// clang-format on

enum class PointwiseGroup : std::uint8_t {
  arithmetic,
  rounding,
  floating,
  function,
  predicate,
  bitwise,
  logical,  // of one
  division,
  power,
  integer,
  shift,
  overflows,
  lost_bits,
  compare,  // of two
  one,
  two,
  three,  // of one with attributes
  ternary,
};

enum class UnaryKind : std::uint8_t {
#define ROW(group, name, ...) name,
  VOTIVE_UNARY(ROW)
#undef ROW
};
enum class UnaryWithKind : std::uint8_t {
#define ROW(group, name, ...) name,
  VOTIVE_UNARY_WITH(ROW)
#undef ROW
};
enum class BinaryKind : std::uint8_t {
#define ROW(group, name, ...) name,
  VOTIVE_BINARY(ROW)
#undef ROW
};
enum class TernaryKind : std::uint8_t {
#define ROW(name, ...) name,
  VOTIVE_TERNARY(ROW)
#undef ROW
};

struct Interval {
  double low, high;
  constexpr Interval(double from, double to) : low(from), high(to) {}
};

/// The numbers that a function of one tensor takes beside it.
struct Attributes {
  double p, q, r;
  constexpr Attributes(double first, double second = 0, double third = 0)
      : p(first), q(second), r(third) {}  // NOLINT(google-explicit-constructor)
};

#define ROW(...) +1
inline constexpr std::size_t unary_kinds = 0 VOTIVE_UNARY(ROW), unary_with_kinds = 0 VOTIVE_UNARY_WITH(ROW),
                             binary_kinds = 0 VOTIVE_BINARY(ROW), ternary_kinds = 0 VOTIVE_TERNARY(ROW);
#undef ROW

/// What a row says, for rules, tests and documents.
struct PointwiseRow {
  std::string_view name;
  PointwiseGroup group;
  double ulp;
  std::string_view formula;
  Interval a, b;                                   // where its operands are sensible
  std::array<std::string_view, 3> gradients = {};  // as written above
  Attributes attributes = 0;                       // of a sample

  Class numeric_class() const { return ulp > 0 ? Class::portable : Class::exact; }
  bool gives_bool() const;
};
namespace detail {
extern const PointwiseRow rows_of_unary[unary_kinds], rows_of_unary_with[unary_with_kinds], rows_of_binary[binary_kinds],
    rows_of_ternary[ternary_kinds];
}
inline std::span<const PointwiseRow> unary_rows() { return detail::rows_of_unary; }
inline std::span<const PointwiseRow> unary_with_rows() { return detail::rows_of_unary_with; }
inline std::span<const PointwiseRow> binary_rows() { return detail::rows_of_binary; }
inline std::span<const PointwiseRow> ternary_rows() { return detail::rows_of_ternary; }
inline const PointwiseRow& row(UnaryKind kind) { return detail::rows_of_unary[static_cast<std::size_t>(kind)]; }
inline const PointwiseRow& row(UnaryWithKind kind) { return detail::rows_of_unary_with[static_cast<std::size_t>(kind)]; }
inline const PointwiseRow& row(BinaryKind kind) { return detail::rows_of_binary[static_cast<std::size_t>(kind)]; }
inline const PointwiseRow& row(TernaryKind kind) { return detail::rows_of_ternary[static_cast<std::size_t>(kind)]; }

/// The type in which a pointwise operation computes, both operands read as it and the result stored from it; storage types are converted at the edge of a tile (DESIGN.md principle 3).
/// `mixed` compares a u64 with a signed integer: both are read as 64 bits, the signed one's sign decides first.
enum class Compute : std::uint8_t { f32, f64, i64, u64, boolean, mixed };
Compute compute_type(UnaryKind kind, DType x);
Compute compute_type(BinaryKind kind, DType x, DType y);
/// The dtype whose width counts for an operation on two integers: the common one, or x where none holds both (a shift of u64 by a signed count).
DType width_of(DType x, DType y);

/// Whether floats of one dtype give that dtype and nothing about them can be wrong: what a dense loop may be registered for.
bool keeps_floats(UnaryKind kind);
bool keeps_floats(BinaryKind kind);

/// What kernels throw before they write: element `flat` (row-major) of `b` is a zero that divides, or an exponent below zero.
[[noreturn]] void refuse_divisor(std::string_view op, const Tensor& b, Size flat);
[[noreturn]] void refuse_exponent(std::string_view op, const Tensor& b, Size flat, std::int64_t value);

struct Unary {
  UnaryKind kind;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"unary", Class::portable};
  using Kernel = void(const Unary&, const Tensor& x, Tensor& y, Stream&);
  using Dense = void(const void* x, void* y, Size n);
  static constexpr std::size_t kinds = unary_kinds;
  Meta result(const Meta& x) const;
  Saves saves() const;
  Tensors gradient(const Backward& b) const;
};

struct UnaryWith {
  UnaryWithKind kind;
  Attributes attributes;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"unary_with", Class::portable};
  using Kernel = void(const UnaryWith&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const;
  Tensors gradient(const Backward& b) const;
};

/// Operands of any two dtypes that the rules allow, each read as the compute type; shapes broadcast to y's.
struct Binary {
  BinaryKind kind;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"binary", Class::portable};
  using Kernel = void(const Binary&, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  using Dense = void(const void* a, const void* b, void* y, Size n);
  static constexpr std::size_t kinds = binary_kinds;
  Meta result(const Meta& a, const Meta& b) const;
  Saves saves() const;
  Tensors gradient(const Backward& b) const;
};

/// Three floats; shapes broadcast to y's.
struct Ternary {
  TernaryKind kind;
  double value = 1;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"ternary", Class::exact};
  using Kernel = void(const Ternary&, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& y, Stream&);
  Meta result(const Meta& a, const Meta& b, const Meta& c) const;
  Saves saves() const;
  Tensors gradient(const Backward& b) const;
};

/// where(condition, a, b): bits of a where the condition holds, of b elsewhere. Kernels meet a and b of y's dtype (where() has cast them);
/// the three shapes broadcast to y's.
struct Where {
  static constexpr OpInfo info{"where", Class::exact};
  using Kernel = void(const Where&, const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& y, Stream&);
  Meta result(const Meta& condition, const Meta& a, const Meta& b) const;
  Saves saves() const { return {1, false}; }
  Tensors gradient(const Backward& b) const;
};

/// CONTRACT.md section 6. From a quantised dtype: the GGUF formula in f32, then the rule of f32. To a quantised dtype: Unsupported.
struct Cast {
  DType dtype;
  bool saturate = true;  // for e4m3 and e5m2

  std::string_view name() const { return "to"; }

  static constexpr OpInfo info{"cast", Class::exact};
  using Kernel = void(const Cast&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// The same bits in another layout or on another device of host memory; x and y have one shape and dtype, either may be strided.
/// Quantised and packed tensors come row-major on both sides: their bytes are copied.
struct Copy {
  static constexpr OpInfo info{"copy", Class::exact};
  using Kernel = void(const Copy&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
