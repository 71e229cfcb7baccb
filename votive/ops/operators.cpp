// The public pointwise functions and operators, and what they make of a literal. Everything ends in apply; compositions are in compositions.cpp.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/ops/apply.h"
#include "votive/ops/literal.h"
#include "votive/ops/modes.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

namespace {

// In checked mode a result that wrapped is an error (CONTRACT.md 2.1). The value is what it always is, so it is looked for afterwards.
void check_integers(UnaryKind kind, const Tensor& x, const Tensor& y) {
  if (!is_integer(y.dtype())) return;
  const auto lost = [&]() -> Tensor {
    const Unchecked off;
    const Tensor zero = zeros({}, x.dtype(), {.device = x.device()});
    switch (kind) {
      case UnaryKind::neg: return apply(Binary{BinaryKind::sub_overflows}, zero, x);
      case UnaryKind::abs: return apply(Binary{BinaryKind::sub_overflows}, zero, minimum(x, zero));
      case UnaryKind::square: return apply(Binary{BinaryKind::mul_overflows}, x, x);
      default: return {};
    }
  }();
  if (lost.defined()) require_no_overflow(row(kind).name, lost, {&x}, y);
}

/// Where the least common multiple of a and b, |(a / gcd) b|, is not in their dtype. MIN has no magnitude: its multiple shows below 0.
Tensor multiple_overflows(const Tensor& a, const Tensor& b, const Tensor& y) {
  const Tensor divisor = gcd(a, b);
  const Tensor quotient = div_trunc(a.to(y.dtype()), where(eq(divisor, 0), 1, divisor));
  return logical_or(apply(Binary{BinaryKind::mul_overflows}, quotient, b.to(y.dtype())), lt(y, 0));
}

void check_integers(BinaryKind kind, const Tensor& a, const Tensor& b, const Tensor& y) {
  if (!is_integer(y.dtype())) return;
  const auto refuse = [&](const Tensor& lost) { require_no_overflow(row(kind).name, lost, {&a, &b}, y); };
  const auto number = [&](const Tensor& t) { return t.dtype() == DType::boolean ? t.to(y.dtype()) : t; };
  const auto check = [&](BinaryKind overflows) { refuse(apply(Binary{overflows}, number(a), number(b))); };
  const Unchecked off;
  switch (kind) {
    case BinaryKind::add: return check(BinaryKind::add_overflows);
    case BinaryKind::sub: return check(BinaryKind::sub_overflows);
    case BinaryKind::mul: return check(BinaryKind::mul_overflows);
    case BinaryKind::pow: return check(BinaryKind::pow_overflows);
    case BinaryKind::shift_left: return check(BinaryKind::shift_left_overflows);
    case BinaryKind::shift_right: return check(BinaryKind::shift_right_overflows);
    case BinaryKind::gcd: return refuse(lt(y, 0));
    case BinaryKind::lcm: return refuse(multiple_overflows(a, b, y));
    case BinaryKind::div_trunc:
    case BinaryKind::floor_div: return check(BinaryKind::div_overflows);
    default: return;
  }
}

Tensor unary(UnaryKind kind, const Tensor& x) {
  const Unary op{kind};
  // An integer is its own floor; no kernel is needed to say so.
  if (row(kind).group == PointwiseGroup::rounding && is_integer(op.result(x.meta()).dtype)) return x;
  Tensor y = apply(op, x);
  if (is_checked()) [[unlikely]]
    check_integers(kind, x, y);
  return y;
}

Tensor binary(BinaryKind kind, const Tensor& a, const Tensor& b) {
  Tensor y = apply(Binary{kind}, a, b);
  if (is_checked()) [[unlikely]]
    check_integers(kind, a, b, y);
  return y;
}

}  // namespace

#define ROW(group, name, ...) \
  Tensor name(const Tensor& x) { return unary(UnaryKind::name, x); }
VOTIVE_UNARY(ROW)
#undef ROW

#define ROW(group, name, ...) \
  Tensor name(const Tensor& a, const Tensor& b) { return binary(BinaryKind::name, a, b); }
VOTIVE_BINARY(ROW)
#undef ROW

#define GROUP_one(name) \
  Tensor name(const Tensor& x, double p) { return apply(UnaryWith{UnaryWithKind::name, p}, x); }
#define GROUP_two(name) \
  Tensor name(const Tensor& x, double p, double q) { return apply(UnaryWith{UnaryWithKind::name, {p, q}}, x); }
#define GROUP_three(name)  // nan_to_num, whose numbers depend on the dtype
#define ROW(group, name, ...) GROUP_##group(name)
VOTIVE_UNARY_WITH(ROW)
#undef ROW
#undef GROUP_one
#undef GROUP_two
#undef GROUP_three

Tensor fma(const Tensor& a, const Tensor& b, const Tensor& c) { return apply(Ternary{TernaryKind::fma}, a, b, c); }
Tensor lerp(const Tensor& a, const Tensor& b, const Tensor& weight) { return apply(Ternary{TernaryKind::lerp}, a, b, weight); }
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return apply(Ternary{TernaryKind::addcmul, value}, x, a, b);
}
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return apply(Ternary{TernaryKind::addcdiv, value}, x, a, b);
}

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Where op;
  const DType dtype = op.result(condition.meta(), a.meta(), b.meta()).dtype;
  return apply(op, condition, a.to(dtype), b.to(dtype));
}

namespace {

constexpr std::string_view beyond_floats = "Cast the tensor, e.g. x.to(f64)";

Tensor scalar(Literal value, DType dtype, Device device, std::string_view op, std::string_view hint) {
  return apply(Fill{{.dtype = dtype, .shape = {}, .device = device}, literal_bits(op, value, dtype, hint)});
}

/// What to cast the tensor to so that an integer literal fits beside it.
std::string_view wider(DType dtype, Literal value) {
  for (const DType candidate : {DType::i32, DType::i64, DType::u64}) {
    const auto common = common_dtype(dtype, candidate);
    if (common && is_integer(*common) && fits(value, *common)) return to_string(*common);
  }
  return "f64";
}

[[noreturn]] void refuse_literal(std::string_view op, const Tensor& x, Literal value, std::string hint) {
  const Meta meta = x.meta();
  const Argument argument{"x", 1, meta};
  throw error_about(ErrorKind::DTypeMismatch, op, {argument})
      .detail(text::format("{} and the literal {}", describe(argument), to_string(value)))
      .value(to_string(value))
      .hint(std::move(hint));
}

/// x and a literal where apply() would ask no rules of x and an equal tensor: the literal is a row of the stack then. Tensor() elsewhere.
Tensor with_dense_literal(BinaryKind kind, const Tensor& x, Literal value, bool literal_first) {
  auto* const loop = find_dense(Binary{kind}, x);
  if (loop == nullptr || value.kind() == Literal::Kind::boolean || detail::traps_non_finite || asks_for_gradient(x)) return {};
  const FloatEnvironment environment;
  const float single =
      value.kind() == Literal::Kind::floating ? numerics::f64_to_f32(value.as_floating()) : std::numeric_limits<float>::infinity();
  const bool is_easy = x.dtype() == DType::f32 && std::isfinite(single);
  const std::uint64_t bits = is_easy ? std::bit_cast<std::uint32_t>(single) : literal_bits(row(kind).name, value, x.dtype(), beyond_floats);
  const auto n = static_cast<std::size_t>(x.count());
  alignas(64) std::byte literals[small_and_dense_bytes];
  switch (block_bytes(x.dtype())) {
    case 2: std::fill_n(reinterpret_cast<std::uint16_t*>(literals), n, static_cast<std::uint16_t>(bits)); break;
    case 4: std::fill_n(reinterpret_cast<std::uint32_t*>(literals), n, static_cast<std::uint32_t>(bits)); break;
    default: std::fill_n(reinterpret_cast<std::uint64_t*>(literals), n, bits);
  }
  Tensor y = Tensor::allocate_like(x);
  loop(literal_first ? literals : x.first(), literal_first ? x.first() : literals, y.mutable_first(), x.count());
  return y;
}

Tensor with_literal(BinaryKind kind, const Tensor& x, Literal value, std::string_view symbol = {}, bool literal_first = false) {
  if (Tensor y = with_dense_literal(kind, x, value, literal_first); y.defined()) return y;
  const std::string_view op = row(kind).name;
  const PointwiseGroup group = row(kind).group;
  const Meta meta = x.meta();
  require_plain(op, {"x", 1, meta});
  const auto compute = [&](const Tensor& a, const Tensor& b) { return literal_first ? binary(kind, b, a) : binary(kind, a, b); };
  if (group == PointwiseGroup::bitwise && meta.dtype == DType::boolean && value.kind() == Literal::Kind::boolean)
    return compute(x, scalar(value, DType::boolean, x.device(), op, {}));
  if (value.kind() == Literal::Kind::boolean || meta.dtype == DType::boolean) {
    refuse_literal(op, x, value, meta.dtype == DType::boolean ? "Cast the tensor, e.g. x.to(i64)" : "Write the number, 0 or 1");
  }
  const bool of_bits = group == PointwiseGroup::bitwise || group == PointwiseGroup::shift || group == PointwiseGroup::integer;
  if (value.kind() == Literal::Kind::floating && of_bits) refuse_literal(op, x, value, "Write an integer");
  if (value.kind() == Literal::Kind::floating && is_integer(meta.dtype)) {
    const Tensor f = cast(x, DType::f32);
    return compute(f, scalar(value, DType::f32, x.device(), op, {}));
  }
  const DType dtype = meta.dtype;
  if (is_integer(dtype) && !literal_first) {
    if (group == PointwiseGroup::division && value.as_unsigned() == 0) {
      throw error_about(ErrorKind::DivisionByZero, op, {{"x", 1, meta}})
          .value("0")
          .detail(text::format("x {} is divided by the literal 0", describe(meta)))
          .hint("Use x.to(f32) for inf and NaN");
    }
    if (group == PointwiseGroup::power && value.kind() == Literal::Kind::signed_integer && value.as_signed() < 0) {
      throw error_about(ErrorKind::Domain, op, {{"x", 1, meta}})
          .value(to_string(value))
          .detail(text::format("x {} has the negative exponent {}", describe(meta), to_string(value)))
          .hint(text::format("Cast the base, e.g. pow(x.to(f32), {})", to_string(value)));
    }
    // A count that is no value of x's dtype shifts as any other from the width on does.
    if (group == PointwiseGroup::shift && !(fits(value, dtype) && value.as_unsigned() < 64)) value = 64;
  }
  std::string wide;
  std::string_view hint;  // made only where it will be shown: a text of this length asks for memory
  if (is_integer(dtype) && !fits(value, dtype)) {
    const std::string cast_x = text::format("x.to({})", wider(dtype, value));
    wide = symbol.empty()  ? text::format("Cast the tensor, e.g. {}({}, {})", op, cast_x, to_string(value))
           : literal_first ? text::format("Cast the tensor, e.g. {} {} {}", to_string(value), symbol, cast_x)
                           : text::format("Cast the tensor, e.g. {} {} {}", cast_x, symbol, to_string(value));
    hint = wide;
  } else if (!is_integer(dtype)) {
    hint = beyond_floats;
  }
  return compute(x, scalar(value, dtype, x.device(), op, hint));
}

// Integers compare with any number as mathematics does: an integer literal keeps its 64 bits, a float becomes the integer threshold
// that divides the integers as it does (CONTRACT.md 2.5).
Tensor compare_with_literal(BinaryKind kind, const Tensor& x, Literal value) {
  const FloatEnvironment environment;
  const Binary op{kind};
  const Meta meta = x.meta();
  require_unblocked(op.name(), {"x", 1, meta});
  if (meta.dtype == DType::boolean && value.kind() == Literal::Kind::boolean) {
    return apply(op, x, scalar(value, DType::boolean, x.device(), op.name(), {}));
  }
  if (!is_integer(meta.dtype) || value.kind() == Literal::Kind::boolean) return with_literal(kind, x, value);
  const auto constant = [&](bool holds) { return full(x.shape(), holds, DType::boolean, {.device = x.device()}); };
  const auto compare = [&](Literal threshold) {
    const DType dtype = threshold.kind() == Literal::Kind::signed_integer ? DType::i64 : DType::u64;
    return apply(op, x, scalar(threshold, dtype, x.device(), op.name(), {}));
  };
  if (value.kind() != Literal::Kind::floating) return compare(value);
  const double v = value.as_floating();
  const bool is_whole = v == std::floor(v) && std::isfinite(v);
  if (std::isnan(v) || (!is_whole && (kind == BinaryKind::eq || kind == BinaryKind::ne))) return constant(kind == BinaryKind::ne);
  const double t = kind == BinaryKind::lt || kind == BinaryKind::ge ? std::ceil(v) : std::floor(v);
  if (t >= 0x1p64) return constant(kind == BinaryKind::lt || kind == BinaryKind::le || kind == BinaryKind::ne);
  if (t < -0x1p63) return constant(kind == BinaryKind::gt || kind == BinaryKind::ge || kind == BinaryKind::ne);
  return t < 0 ? compare(static_cast<std::int64_t>(t)) : compare(static_cast<std::uint64_t>(t));
}

}  // namespace

namespace {

/// x, the argument of this name and number, and a literal as two tensors of one dtype: x's own, unless a float meets an integer.
std::pair<Tensor, Tensor> beside(std::string_view op, std::string_view name, int number, const Tensor& x, Literal value) {
  const Meta meta = x.meta();
  require_unblocked(op, {name, number, meta});
  const Tensor as = value.kind() == Literal::Kind::floating && is_integer(meta.dtype) ? x.to(DType::f32) : x;
  return {as, scalar(value, as.dtype(), x.device(), op, "Cast the tensor")};
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, Literal b) {
  const auto [first, second] = beside("where", "a", 2, a, b);
  return where(condition, first, second);
}
Tensor where(const Tensor& condition, Literal a, const Tensor& b) {
  const auto [second, first] = beside("where", "b", 3, b, a);
  return where(condition, first, second);
}
Tensor lerp(const Tensor& a, const Tensor& b, Literal weight) {
  const auto [first, second] = beside("lerp", "a", 1, a, weight);
  return lerp(first, b, second);
}

Tensor eq(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::eq, x, value); }
Tensor ne(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::ne, x, value); }
Tensor lt(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::lt, x, value); }
Tensor le(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::le, x, value); }
Tensor gt(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::gt, x, value); }
Tensor ge(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::ge, x, value); }
Tensor minimum(const Tensor& x, Literal value) { return with_literal(BinaryKind::minimum, x, value); }
Tensor maximum(const Tensor& x, Literal value) { return with_literal(BinaryKind::maximum, x, value); }
Tensor div_trunc(const Tensor& x, Literal value) { return with_literal(BinaryKind::div_trunc, x, value); }
Tensor floor_div(const Tensor& x, Literal value) { return with_literal(BinaryKind::floor_div, x, value); }
Tensor remainder(const Tensor& x, Literal value) { return with_literal(BinaryKind::remainder, x, value); }
Tensor fmod(const Tensor& x, Literal value) { return with_literal(BinaryKind::fmod, x, value); }
Tensor pow(const Tensor& x, Literal value) {
  const bool is_two = value.kind() == Literal::Kind::floating ? value.as_floating() == 2 : value.as_unsigned() == 2;
  // x² is correctly rounded by either way, and this one is a multiplication
  if (is_two && is_floating(x.meta().dtype) && x.defined() && x.packing() == Packing::none) return square(x);
  return with_literal(BinaryKind::pow, x, value);
}
Tensor pow(Literal value, const Tensor& x) { return with_literal(BinaryKind::pow, x, value, {}, true); }

Tensor operator-(const Tensor& x) { return neg(x); }
Tensor operator~(const Tensor& x) { return bitwise_not(x); }

// Each operator with two tensors and with a literal on either side.
#define OPERATOR(symbol, name)                                                                                        \
  Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); }                                     \
  Tensor operator symbol(const Tensor& a, Literal b) { return with_literal(BinaryKind::name, a, b, #symbol, false); } \
  Tensor operator symbol(Literal a, const Tensor& b) { return with_literal(BinaryKind::name, b, a, #symbol, true); }
OPERATOR(+, add)
OPERATOR(-, sub)
OPERATOR(*, mul)
OPERATOR(/, div)
OPERATOR(%, remainder)
OPERATOR(&, bitwise_and)
OPERATOR(|, bitwise_or)
OPERATOR(^, bitwise_xor)
OPERATOR(<<, shift_left)
OPERATOR(>>, shift_right)
#undef OPERATOR

#define OPERATOR(symbol, name, mirrored)                                          \
  Tensor operator symbol(const Tensor& a, const Tensor& b) { return name(a, b); } \
  Tensor operator symbol(const Tensor& a, Literal b) { return name(a, b); }       \
  Tensor operator symbol(Literal a, const Tensor& b) { return mirrored(b, a); }
OPERATOR(==, eq, eq)
OPERATOR(!=, ne, ne)
OPERATOR(<, lt, gt)
OPERATOR(<=, le, ge)
OPERATOR(>, gt, lt)
OPERATOR(>=, ge, le)
#undef OPERATOR

}  // namespace votive
