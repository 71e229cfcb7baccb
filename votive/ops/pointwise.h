// Pointwise operations as data: one row says everything of an operation, and both devices, the public functions, gradients, tests and documents
// follow from it. A new one is a scalar in numerics/pointwise.h or math.h, a row here, and a declaration with its doc in functions/pointwise.h.
#pragma once

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
  X(floating, sqrt, 0, "sqrt(x)", (0.3, 3), xdivy(dy, 2 * y))  \
  X(floating, rsqrt, 0, "1 / sqrt(x)", (0.3, 3), multiply_no_nan(-0.5 * (y * y * y), dy))  \
  X(floating, recip, 0, "1 / x", (0.3, 3), -multiply_no_nan(y * y, dy))  \
  X(function, exp, 1.5, "e^x", (-2, 2), dy * y)  \
  X(function, exp2, 1.5, "2^x", (-2, 2), dy * (y * 0.6931471805599453))  \
  X(function, expm1, 1.5, "e^x - 1", (-2, 2), dy * (y + 1))  \
  X(function, log, 1, "ln x", (0.3, 3), xdivy(dy, x))  \
  X(function, log2, 1, "log to base 2", (0.3, 3), xdivy(dy, x * 0.6931471805599453))  \
  X(function, log10, 1, "log to base 10", (0.3, 3), xdivy(dy, x * 2.302585092994046))  \
  X(function, log1p, 1.5, "ln(1 + x)", (-0.7, 3), xdivy(dy, 1 + x))  \
  X(function, sin, 1.5, "sin x", (-4, 4), dy * cos(x))  \
  X(function, cos, 1.5, "cos x", (-4, 4), -(dy * sin(x)))  \
  X(function, tanh, 2, "tanh x", (-2, 2), dy * (1 - y * y))  \
  X(function, erf, 2, "2/sqrt(pi) integral of exp(-t t) over 0..x", (-2, 2), dy * (1.1283791670955126 * exp(-(x * x))))  \
  X(function, erfc, 3, "1 - erf x", (-2, 2), dy * (-1.1283791670955126 * exp(-(x * x))))  \
  X(function, softplus, 5, "ln(1 + e^x)", (-3, 3), dy * sigmoid(x))  \
  X(function, sigmoid, 5, "1 / (1 + e^-x)", (-3, 3), dy * (y * (1 - y)))  \
  X(function, silu, 6, "x sigmoid(x)", (-3, 3), gradient_of_silu(x, dy))  \
  X(function, gelu, 6, "x erfc(-x / sqrt(2)) / 2", (-3, 3), gradient_of_gelu(x, dy))  \
  X(function, gelu_tanh, 6, "x sigmoid(2 sqrt(2/pi) (x + 0.044715 x x x))", (-3, 3), gradient_of_gelu_tanh(x, dy))

// X(group, name, ulp, formula, (low, high) of sensible a, of b, gradient of a, gradient of b; both written in a, b, y and dy)
//
// Gradients see both operands in y's dtype and may be of the broadcast shape; only those that are wanted are computed.
//   arithmetic   name_f32, name_f64, name_i64, name_u64; the common dtype; bool with bool is refused (D6)
//   floating     name_f32, name_f64; integers are converted to f32 first
//   function     the same, of class P: all inner work in f32 or f64 and one rounding
//   compare      name_f32, name_f64, name_i64, name_u64, name_i64_u64, name_u64_i64 → bool; integers of any two dtypes compare mathematically
//   logical      name on truth values of any dtype → bool
#define VOTIVE_BINARY(X)  \
  X(arithmetic, add, 0, "a + b", (-2, 2), (-2, 2), dy, dy)  \
  X(arithmetic, sub, 0, "a - b", (-2, 2), (-2, 2), dy, -dy)  \
  X(arithmetic, mul, 0, "a b", (-2, 2), (-2, 2), dy * b, dy * a)  \
  X(arithmetic, minimum, 0, "the lesser; NaN wins, -0 < 0", (-2, 2), (-2, 2), where(gt(a, b), 0, dy), where(gt(a, b), dy, 0))  \
  X(arithmetic, maximum, 0, "the greater; NaN wins, -0 < 0", (-2, 2), (-2, 2), where(lt(a, b), 0, dy), where(lt(a, b), dy, 0))  \
  X(floating, div, 0, "a / b", (-2, 2), (0.5, 3), xdivy(dy, b), -xdivy(multiply_no_nan(y, dy), b))  \
  X(floating, multiply_no_nan, 0, "a b, 0 where b is 0", (-2, 2), (0.2, 2), multiply_no_nan(b, dy), multiply_no_nan(a, dy))  \
  X(floating, xdivy, 0, "a / b, 0 where a is 0", (0.2, 2), (0.5, 3), xdivy(dy, b), -xdivy(multiply_no_nan(y, dy), b))  \
  X(function, swiglu, 6, "silu(a) b", (-3, 3), (-2, 2), gradient_of_silu(a, dy * b), dy * silu(a))  \
  X(compare, eq, 0, "a = b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, ne, 0, "not a = b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, lt, 0, "a < b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, le, 0, "a <= b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, gt, 0, "a > b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(compare, ge, 0, "a >= b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_and, 0, "a and b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_or, 0, "a or b", (-2, 2), (-2, 2), Tensor(), Tensor())  \
  X(logical, logical_xor, 0, "a or b, not both", (-2, 2), (-2, 2), Tensor(), Tensor())
// clang-format on

enum class PointwiseGroup : std::uint8_t { arithmetic, rounding, floating, function, compare, logical };

enum class UnaryKind : std::uint8_t {
#define ROW(group, name, ...) name,
  VOTIVE_UNARY(ROW)
#undef ROW
};
enum class BinaryKind : std::uint8_t {
#define ROW(group, name, ...) name,
  VOTIVE_BINARY(ROW)
#undef ROW
};

struct Interval {
  double low, high;
  constexpr Interval(double from, double to) : low(from), high(to) {}
};

/// What a row says, for rules, tests and documents.
struct PointwiseRow {
  std::string_view name;
  PointwiseGroup group;
  double ulp;
  std::string_view formula;
  Interval a, b;                                 // where its operands are sensible
  std::string_view gradient_a, gradient_b = {};  // as written above

  Class numeric_class() const { return ulp > 0 ? Class::portable : Class::exact; }
};
std::span<const PointwiseRow> unary_rows();
std::span<const PointwiseRow> binary_rows();
inline const PointwiseRow& row(UnaryKind kind) { return unary_rows()[static_cast<std::size_t>(kind)]; }
inline const PointwiseRow& row(BinaryKind kind) { return binary_rows()[static_cast<std::size_t>(kind)]; }

/// The type in which a pointwise operation computes, both operands read as it and the result stored from it; storage types are converted at the edge of a tile (DESIGN.md principle 3).
/// `mixed` compares a u64 with a signed integer: both are read as 64 bits, the signed one's sign decides first.
enum class Compute : std::uint8_t { f32, f64, i64, u64, boolean, mixed };
Compute compute_type(UnaryKind kind, DType x);
Compute compute_type(BinaryKind kind, DType x, DType y);

struct Unary {
  UnaryKind kind;

  std::string_view name() const { return row(kind).name; }

  static constexpr OpInfo info{"unary", Class::portable};
  using Kernel = void(const Unary&, const Tensor& x, Tensor& y, Stream&);
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
  Meta result(const Meta& a, const Meta& b) const;
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
