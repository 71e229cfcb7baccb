// Rules of the pointwise operations: what each takes, what it gives, and what its bits promise. No loops and no arithmetic are here.
#include "votive/ops/pointwise.h"

#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive {

constexpr PointwiseRow detail::rows_of_unary[unary_kinds] = {
#define ROW(group, name, ulp, formula, samples, gradient) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples, Interval samples, {#gradient}},
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr PointwiseRow detail::rows_of_unary_with[unary_with_kinds] = {
#define ROW(group, name, ulp, formula, samples, attributes, gradient) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples, Interval samples, {#gradient}, Attributes attributes},
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
};
constexpr PointwiseRow detail::rows_of_binary[binary_kinds] = {
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples_a, Interval samples_b, {#gradient_a, #gradient_b}},
    VOTIVE_BINARY(ROW)
#undef ROW
};
constexpr PointwiseRow detail::rows_of_ternary[ternary_kinds] = {
#define ROW(name, ulp, formula, samples, gradient_a, gradient_b, gradient_c) \
  {#name, PointwiseGroup::ternary, ulp, formula, Interval samples, Interval samples, {#gradient_a, #gradient_b, #gradient_c}},
    VOTIVE_TERNARY(ROW)
#undef ROW
};

namespace {

constexpr bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }

void require_whole(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  if (is_whole(x.meta.dtype)) return;
  throw error_about(ErrorKind::DTypeMismatch, op, {x})
      .detail(describe(x))
      .accepted("bool, u8, i8, u16, i16, u32, i32, u64, i64")
      .hint(text::format("Cast it, e.g. {}.to(i64)", x.name));
}

Compute compute_of(DType dtype) {
  if (dtype == DType::f64) return Compute::f64;
  if (is_signed_integer(dtype)) return Compute::i64;
  return is_whole(dtype) ? Compute::u64 : Compute::f32;
}

bool is_of_integers(PointwiseGroup group) {
  return group == PointwiseGroup::integer || group == PointwiseGroup::shift || group == PointwiseGroup::overflows ||
         group == PointwiseGroup::lost_bits;
}

Error about_element(ErrorKind kind, std::string_view op, const Tensor& b, Size flat, std::string value, std::string_view is) {
  std::vector<Size> position(static_cast<std::size_t>(b.rank()));
  for (int axis = b.rank() - 1; axis >= 0; --axis) {
    position[static_cast<std::size_t>(axis)] = flat % b.shape()[axis];
    flat /= b.shape()[axis];
  }
  const Meta meta = b.meta();
  std::string detail = text::format("argument 'b' (#2, {}) {} {} at position {}", describe(meta), is, value,
                                    to_string(Shape(std::span<const Size>(position))));
  return error_about(kind, op, {{"b", 2, meta}}).value(std::move(value)).position(std::move(position)).detail(std::move(detail));
}

}  // namespace

bool PointwiseRow::gives_bool() const {
  switch (group) {
    case PointwiseGroup::predicate:
    case PointwiseGroup::logical:
    case PointwiseGroup::compare:
    case PointwiseGroup::overflows:
    case PointwiseGroup::lost_bits: return true;
    default: return false;
  }
}

void refuse_divisor(std::string_view op, const Tensor& b, Size flat) {
  throw about_element(ErrorKind::DivisionByZero, op, b, flat, "0", "is").hint("Use div() for inf, or where() to replace zeros");
}

void refuse_exponent(std::string_view op, const Tensor& b, Size flat, std::int64_t value) {
  throw about_element(ErrorKind::Domain, op, b, flat, text::format("{}", value), "has the negative exponent")
      .hint("Cast the base, e.g. a.to(f32)");
}

bool keeps_floats(UnaryKind kind) {
  const PointwiseGroup group = row(kind).group;
  return group == PointwiseGroup::arithmetic || group == PointwiseGroup::rounding || group == PointwiseGroup::floating ||
         group == PointwiseGroup::function;
}

bool keeps_floats(BinaryKind kind) {
  const PointwiseRow& r = row(kind);
  return !r.gives_bool() && !is_of_integers(r.group) && r.group != PointwiseGroup::bitwise;
}

DType width_of(DType x, DType y) { return common_dtype(x, y).value_or(x); }

Compute compute_type(UnaryKind kind, DType x) {
  switch (row(kind).group) {
    case PointwiseGroup::arithmetic:
    case PointwiseGroup::rounding: return compute_of(x);
    case PointwiseGroup::bitwise: return x == DType::boolean ? Compute::boolean : compute_of(x);
    case PointwiseGroup::logical: return Compute::boolean;
    default: return x == DType::f64 ? Compute::f64 : Compute::f32;
  }
}

Compute compute_type(BinaryKind kind, DType x, DType y) {
  const PointwiseGroup group = row(kind).group;
  if (group == PointwiseGroup::logical) return Compute::boolean;
  if (group == PointwiseGroup::shift || is_of_integers(group)) return compute_of(width_of(x, y));
  if (is_whole(x) && is_whole(y)) {
    if (group == PointwiseGroup::floating || group == PointwiseGroup::function) return Compute::f32;
    if (!is_signed_integer(x) && !is_signed_integer(y)) return Compute::u64;
    return x == DType::u64 || y == DType::u64 ? Compute::mixed : Compute::i64;
  }
  return x == DType::f64 || y == DType::f64 ? Compute::f64 : Compute::f32;
}

Meta Unary::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  Meta y = x;
  switch (row(kind).group) {
    case PointwiseGroup::arithmetic:
    case PointwiseGroup::rounding: require_number(name(), argument); return y;
    case PointwiseGroup::bitwise: require_whole(name(), argument); return y;
    case PointwiseGroup::predicate:
    case PointwiseGroup::logical:
      require_unblocked(name(), argument);
      y.dtype = DType::boolean;
      return y;
    default:
      require_plain(name(), argument);
      if (is_whole(x.dtype)) y.dtype = DType::f32;
      return y;
  }
}

Meta UnaryWith::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_plain(name(), argument);
  Meta y = x;
  if (is_whole(x.dtype)) y.dtype = DType::f32;
  for (const double v : {attributes.p, attributes.q, attributes.r}) {
    if (y.dtype == DType::f64 || !std::isfinite(v) || std::fabs(v) < 0x1.ffffffp127) continue;
    throw Error(ErrorKind::LiteralOutOfRange, name())
        .value(text::format("{}", v))
        .detail(text::format("{} is beyond the largest f32", v))
        .hint("Cast the tensor, e.g. x.to(f64)");
  }
  if (kind == UnaryWithKind::celu && attributes.p == 0)
    throw Error(ErrorKind::InvalidArgument, name()).arg("alpha", 2).value("0").detail("alpha is 0");
  const bool shrinks = kind == UnaryWithKind::softshrink || kind == UnaryWithKind::hardshrink;
  if (shrinks && !(attributes.p >= 0)) {
    throw Error(ErrorKind::InvalidArgument, name())
        .arg("limit", 2)
        .value(text::format("{}", attributes.p))
        .detail(text::format("limit is {}", attributes.p))
        .accepted("limits of at least 0");
  }
  return y;
}

Meta Binary::result(const Meta& a, const Meta& b) const {
  const PointwiseRow& r = row(kind);
  const PointwiseGroup group = r.group;
  // What programs do most: two floats of one dtype and shape, with which nothing is wrong.
  const bool alike = a.present && b.present && a.dtype == b.dtype && a.device == b.device && a.shape == b.shape &&
                     a.packing == Packing::none && b.packing == Packing::none;
  if (alike && is_floating(a.dtype) && keeps_floats(kind)) return a;
  const Argument x{"a", 1, a}, y{"b", 2, b};
  Meta result;
  if (group == PointwiseGroup::logical || group == PointwiseGroup::compare) {
    require_unblocked(name(), x);
    require_unblocked(name(), y);
    if (group == PointwiseGroup::compare && (!is_whole(a.dtype) || !is_whole(b.dtype))) require_common_dtype(name(), x, y);
  } else if (is_of_integers(group)) {
    require_integer(name(), x);
    require_integer(name(), y);
    const bool counts = group == PointwiseGroup::shift || group == PointwiseGroup::lost_bits;
    result.dtype = counts ? width_of(a.dtype, b.dtype) : require_common_dtype(name(), x, y);
  } else if (group == PointwiseGroup::bitwise) {
    require_whole(name(), x);
    require_whole(name(), y);
    result.dtype = require_common_dtype(name(), x, y);
  } else {
    require_plain(name(), x);
    require_plain(name(), y);
    result.dtype = require_common_dtype(name(), x, y);
    if (result.dtype == DType::boolean) {
      throw error_about(ErrorKind::DTypeMismatch, name(), {x, y})
          .detail(text::format("{} and {}: bool has no arithmetic", describe(x), describe(y)))
          .hint(text::format("Use logical_or or logical_and, or cast, e.g. {}.to(i64)", x.name));
    }
    const bool to_float = group == PointwiseGroup::floating || group == PointwiseGroup::function;
    if (to_float && is_integer(result.dtype)) result.dtype = DType::f32;
  }
  if (r.gives_bool()) result.dtype = DType::boolean;
  require_same_device(name(), x, y);
  result.device = a.device;
  result.shape = require_broadcast(name(), x, y);
  return result;
}

Meta Ternary::result(const Meta& a, const Meta& b, const Meta& c) const {
  const Argument x{"a", 1, a}, y{"b", 2, b}, z{"c", 3, c};
  for (const Argument& argument : {x, y, z}) require_floating(name(), argument);
  Meta result;
  const Meta both{.dtype = require_common_dtype(name(), x, y), .shape = {}, .device = a.device};
  result.dtype = require_common_dtype(name(), {"a and b", 1, both}, z);
  require_same_device(name(), x, y);
  require_same_device(name(), x, z);
  result.device = a.device;
  const Meta joined{.dtype = both.dtype, .shape = require_broadcast(name(), x, y), .device = a.device};
  result.shape = require_broadcast(name(), {"a and b", 1, joined}, z);
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

}  // namespace votive
