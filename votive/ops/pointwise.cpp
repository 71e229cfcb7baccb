// Rules of the pointwise operations: what each takes, what it gives, and what its bits promise. No loops and no arithmetic are here.
#include "votive/ops/pointwise.h"

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

// name, class, ulp bound of class P (CONTRACT.md 2.3)
constexpr PointwiseRow unary_rows[] = {
    {"neg", Class::exact, 0},      {"abs", Class::exact, 0},          {"sign", Class::exact, 0},       {"relu", Class::exact, 0},
    {"square", Class::exact, 0},   {"floor", Class::exact, 0},        {"ceil", Class::exact, 0},       {"trunc", Class::exact, 0},
    {"round", Class::exact, 0},    {"sqrt", Class::exact, 0},         {"rsqrt", Class::exact, 0},      {"recip", Class::exact, 0},
    {"exp", Class::portable, 1.5}, {"log", Class::portable, 1},       {"sin", Class::portable, 1.5},   {"cos", Class::portable, 1.5},
    {"tanh", Class::portable, 2},  {"erf", Class::portable, 2},       {"sigmoid", Class::portable, 5}, {"silu", Class::portable, 6},
    {"gelu", Class::portable, 6},  {"gelu_tanh", Class::portable, 6},
};
constexpr PointwiseRow binary_rows[] = {
    {"add", Class::exact, 0},     {"sub", Class::exact, 0},         {"mul", Class::exact, 0},        {"minimum", Class::exact, 0},
    {"maximum", Class::exact, 0}, {"div", Class::exact, 0},         {"swiglu", Class::portable, 6},  {"eq", Class::exact, 0},
    {"ne", Class::exact, 0},      {"lt", Class::exact, 0},          {"le", Class::exact, 0},         {"gt", Class::exact, 0},
    {"ge", Class::exact, 0},      {"logical_and", Class::exact, 0}, {"logical_or", Class::exact, 0}, {"logical_xor", Class::exact, 0},
};
static_assert(std::size(unary_rows) == unary_kinds && std::size(binary_rows) == binary_kinds);

constexpr bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }

Compute compute_of(DType dtype) {
  if (dtype == DType::f64) return Compute::f64;
  if (is_signed_integer(dtype)) return Compute::i64;
  return is_whole(dtype) ? Compute::u64 : Compute::f32;
}

void refuse_f64(std::string_view op, const Argument& x) {
  if (x.meta.dtype != DType::f64) return;
  throw error_about(ErrorKind::Unsupported, op, {x})
      .detail(describe(x))
      .accepted("f16, bf16, f32 and integers")
      .hint(format("Cast it, e.g. {}.to(f32)", x.name));
}

}  // namespace

const PointwiseRow& row(UnaryKind kind) { return unary_rows[static_cast<int>(kind)]; }
const PointwiseRow& row(BinaryKind kind) { return binary_rows[static_cast<int>(kind)]; }

bool is_arithmetic(UnaryKind kind) { return kind <= UnaryKind::square; }
bool is_rounding(UnaryKind kind) { return kind >= UnaryKind::floor && kind <= UnaryKind::round; }
bool is_function(UnaryKind kind) { return kind >= UnaryKind::exp; }
bool is_arithmetic(BinaryKind kind) { return kind <= BinaryKind::maximum; }
bool is_compare(BinaryKind kind) { return kind >= BinaryKind::eq && kind <= BinaryKind::ge; }
bool is_logical(BinaryKind kind) { return kind >= BinaryKind::logical_and; }

Compute compute_type(UnaryKind kind, DType x) {
  if (is_arithmetic(kind) || is_rounding(kind)) return compute_of(x);
  return x == DType::f64 ? Compute::f64 : Compute::f32;
}

Compute compute_type(BinaryKind kind, DType x, DType y) {
  if (is_logical(kind)) return Compute::boolean;
  if (is_whole(x) && is_whole(y)) {
    if (kind == BinaryKind::div) return Compute::f32;
    if (!is_signed_integer(x) && !is_signed_integer(y)) return Compute::u64;
    return x == DType::u64 || y == DType::u64 ? Compute::mixed : Compute::i64;
  }
  return x == DType::f64 || y == DType::f64 ? Compute::f64 : Compute::f32;
}

Meta Unary::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  Meta y = x;
  if (is_arithmetic(kind) || is_rounding(kind)) {
    require_number(name(), argument);
    return y;
  }
  require_plain(name(), argument);
  if (is_function(kind)) refuse_f64(name(), argument);
  if (is_whole(x.dtype)) y.dtype = DType::f32;
  return y;
}

Meta Binary::result(const Meta& a, const Meta& b) const {
  // What programs do most: two floats of one dtype and shape, with which nothing is wrong.
  const bool alike = a.present && b.present && a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  if (alike && is_floating(a.dtype) && (is_arithmetic(kind) || kind == BinaryKind::div)) return a;
  const Argument x{"a", 1, a}, y{"b", 2, b};
  Meta result;
  if (is_logical(kind)) {
    require_unblocked(name(), x);
    require_unblocked(name(), y);
    result.dtype = DType::boolean;
  } else if (is_compare(kind)) {
    require_unblocked(name(), x);
    require_unblocked(name(), y);
    if (!is_whole(a.dtype) || !is_whole(b.dtype)) require_common_dtype(name(), x, y);
    result.dtype = DType::boolean;
  } else if (kind == BinaryKind::swiglu) {
    require_floating(name(), x);
    require_floating(name(), y);
    refuse_f64(name(), x);
    refuse_f64(name(), y);
    result.dtype = require_common_dtype(name(), x, y);
  } else {
    require_plain(name(), x);
    require_plain(name(), y);
    result.dtype = require_common_dtype(name(), x, y);
    if (result.dtype == DType::boolean) {
      throw error_about(ErrorKind::DTypeMismatch, name(), {x, y})
          .detail(format("{} and {}: bool has no arithmetic", describe(x), describe(y)))
          .hint(format("Use logical_or or logical_and, or cast, e.g. {}.to(i64)", x.name));
    }
    if (kind == BinaryKind::div && is_integer(result.dtype)) result.dtype = DType::f32;
  }
  require_same_device(name(), x, y);
  result.device = a.device;
  result.shape = require_broadcast(name(), x, y);
  return result;
}

Meta Where::result(const Meta& condition, const Meta& a, const Meta& b) const {
  const Argument c{"condition", 1, condition}, x{"a", 2, a}, y{"b", 3, b};
  require_bool(info.name, c);
  require_unblocked(info.name, x);
  require_unblocked(info.name, y);
  Meta result;
  result.dtype = require_common_dtype(info.name, x, y);
  require_same_device(info.name, c, x);
  require_same_device(info.name, x, y);
  result.device = condition.device;
  result.shape = require_broadcast(info.name, x, y);
  const Meta both{.dtype = result.dtype, .shape = result.shape, .device = result.device};
  result.shape = require_broadcast(info.name, c, {"a and b", 2, both});
  return result;
}

Meta Copy::result(const Meta& x) const {
  require_present(info.name, {"x", 1, x});
  return x;
}

Tensors Binary::gradient(const Backward& b) const {
  const Tensor& dy = b.dy();
  switch (kind) {
    case BinaryKind::add: return {b.to_input(dy, 0), b.to_input(dy, 1)};
    case BinaryKind::sub: return {b.to_input(dy, 0), b.to_input(-dy, 1)};
    case BinaryKind::mul: return {b.to_input(dy * b.x(1), 0), b.to_input(dy * b.x(0), 1)};
    default: detail::refuse_no_gradient(name());
  }
}

Tensors Copy::gradient(const Backward& b) const { return {b.dy()}; }

}  // namespace votive
