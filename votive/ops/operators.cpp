// The public pointwise functions and operators, and what they make of a literal. Everything ends in apply.
#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

using text::format;

namespace {

// An integer is its own floor; no kernel is needed to say so.
Tensor unary(UnaryKind kind, const Tensor& x) {
  const Unary op{kind};
  if (row(kind).group == PointwiseGroup::rounding && is_integer(op.result(x.meta()).dtype)) return x;
  return apply(op, x);
}

}  // namespace

#define ROW(group, name, ...) \
  Tensor name(const Tensor& x) { return unary(UnaryKind::name, x); }
VOTIVE_UNARY(ROW)
#undef ROW

#define ROW(group, name, ...) \
  Tensor name(const Tensor& a, const Tensor& b) { return apply(Binary{BinaryKind::name}, a, b); }
VOTIVE_BINARY(ROW)
#undef ROW

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  const Where op;
  const DType dtype = op.result(condition.meta(), a.meta(), b.meta()).dtype;
  return apply(op, condition, a.to(dtype), b.to(dtype));
}

namespace {

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
      .detail(format("{} and the literal {}", describe(argument), to_string(value)))
      .value(to_string(value))
      .hint(std::move(hint));
}

Tensor with_literal(BinaryKind kind, const Tensor& x, Literal value, std::string_view symbol, bool literal_first) {
  const Binary op{kind};
  const Meta meta = x.meta();
  require_plain(op.name(), {"x", 1, meta});
  const auto compute = [&](const Tensor& a, const Tensor& b) { return literal_first ? apply(op, b, a) : apply(op, a, b); };
  if (value.kind() == Literal::Kind::boolean || meta.dtype == DType::boolean) {
    refuse_literal(op.name(), x, value, meta.dtype == DType::boolean ? "Cast the tensor, e.g. x.to(i64)" : "Write the number, 0 or 1");
  }
  if (value.kind() == Literal::Kind::floating && is_integer(meta.dtype)) {
    const Tensor f = cast(x, DType::f32);
    return compute(f, scalar(value, DType::f32, x.device(), op.name(), {}));
  }
  const DType dtype = meta.dtype;
  std::string hint;
  if (is_integer(dtype) && !fits(value, dtype)) {
    const std::string cast_x = format("x.to({})", wider(dtype, value));
    hint = symbol.empty()  ? format("Cast the tensor, e.g. {}({}, {})", op.name(), cast_x, to_string(value))
           : literal_first ? format("Cast the tensor, e.g. {} {} {}", to_string(value), symbol, cast_x)
                           : format("Cast the tensor, e.g. {} {} {}", cast_x, symbol, to_string(value));
  } else if (!is_integer(dtype)) {
    hint = "Cast the tensor, e.g. x.to(f64)";
  }
  return compute(x, scalar(value, dtype, x.device(), op.name(), hint));
}

// Integers compare with any number as mathematics does: an integer literal keeps its 64 bits, a float becomes the integer threshold
// that divides the integers as it does (CONTRACT.md 2.5).
Tensor compare_with_literal(BinaryKind kind, const Tensor& x, Literal value) {
  const Binary op{kind};
  const Meta meta = x.meta();
  require_unblocked(op.name(), {"x", 1, meta});
  if (meta.dtype == DType::boolean && value.kind() == Literal::Kind::boolean) {
    return apply(op, x, scalar(value, DType::boolean, x.device(), op.name(), {}));
  }
  if (!is_integer(meta.dtype) || value.kind() == Literal::Kind::boolean) return with_literal(kind, x, value, {}, false);
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

/// The literal as a tensor that `where` may set beside x: x keeps its dtype, unless a float meets an integer.
Tensor beside(const Tensor& x, Literal value) {
  const Meta meta = x.meta();
  require_unblocked("where", {"x", 1, meta});
  const bool to_f32 = value.kind() == Literal::Kind::floating && is_integer(meta.dtype);
  return scalar(value, to_f32 ? DType::f32 : meta.dtype, x.device(), "where", "Cast the tensor");
}

Tensor for_literal(const Tensor& x, Literal value) {
  return value.kind() == Literal::Kind::floating && is_integer(x.dtype()) ? x.to(DType::f32) : x;
}

}  // namespace

Tensor where(const Tensor& condition, const Tensor& a, Literal b) {
  const Tensor value = beside(a, b);
  return where(condition, for_literal(a, b), value);
}
Tensor where(const Tensor& condition, Literal a, const Tensor& b) {
  const Tensor value = beside(b, a);
  return where(condition, value, for_literal(b, a));
}

Tensor eq(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::eq, x, value); }
Tensor ne(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::ne, x, value); }
Tensor lt(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::lt, x, value); }
Tensor le(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::le, x, value); }
Tensor gt(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::gt, x, value); }
Tensor ge(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::ge, x, value); }
Tensor minimum(const Tensor& x, Literal value) { return with_literal(BinaryKind::minimum, x, value, {}, false); }
Tensor maximum(const Tensor& x, Literal value) { return with_literal(BinaryKind::maximum, x, value, {}, false); }

Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
Tensor operator-(const Tensor& x) { return neg(x); }
Tensor operator+(const Tensor& a, Literal b) { return with_literal(BinaryKind::add, a, b, "+", false); }
Tensor operator-(const Tensor& a, Literal b) { return with_literal(BinaryKind::sub, a, b, "-", false); }
Tensor operator*(const Tensor& a, Literal b) { return with_literal(BinaryKind::mul, a, b, "*", false); }
Tensor operator/(const Tensor& a, Literal b) { return with_literal(BinaryKind::div, a, b, "/", false); }
Tensor operator+(Literal a, const Tensor& b) { return with_literal(BinaryKind::add, b, a, "+", true); }
Tensor operator-(Literal a, const Tensor& b) { return with_literal(BinaryKind::sub, b, a, "-", true); }
Tensor operator*(Literal a, const Tensor& b) { return with_literal(BinaryKind::mul, b, a, "*", true); }
Tensor operator/(Literal a, const Tensor& b) { return with_literal(BinaryKind::div, b, a, "/", true); }

}  // namespace votive
