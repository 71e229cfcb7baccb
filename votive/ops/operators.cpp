// The public pointwise functions and operators, and what they make of a literal. Everything ends in apply.
#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

using text::format;

#define X(name) \
  Tensor name(const Tensor& x) { return apply(Unary{UnaryKind::name}, x); }
VOTIVE_UNARY_ARITHMETIC(X)
VOTIVE_UNARY_FLOAT(X)
VOTIVE_UNARY_FUNCTION(X)
#undef X

namespace {

// An integer is its own floor; no kernel is needed to say so.
Tensor rounding(UnaryKind kind, const Tensor& x) {
  const Unary op{kind};
  const Meta meta = op.result(x.meta());
  return is_integer(meta.dtype) ? x : apply(op, x);
}

}  // namespace

#define X(name) \
  Tensor name(const Tensor& x) { return rounding(UnaryKind::name, x); }
VOTIVE_UNARY_ROUNDING(X)
#undef X

#define X(name) \
  Tensor name(const Tensor& a, const Tensor& b) { return apply(Binary{BinaryKind::name}, a, b); }
VOTIVE_BINARY_ARITHMETIC(X)
VOTIVE_BINARY_FLOAT(X)
VOTIVE_BINARY_COMPARE(X)
VOTIVE_BINARY_LOGICAL(X)
#undef X

Tensor swiglu(const Tensor& gate, const Tensor& up) { return apply(Binary{BinaryKind::swiglu}, gate, up); }

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

}  // namespace

#define X(name) \
  Tensor name(const Tensor& x, Literal value) { return compare_with_literal(BinaryKind::name, x, value); }
VOTIVE_BINARY_COMPARE(X)
#undef X
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
