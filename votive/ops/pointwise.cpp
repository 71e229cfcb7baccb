// Rules of the pointwise operations: what each takes, what it gives, and what its bits promise. No loops and no arithmetic are here.
#include "votive/ops/pointwise.h"

#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

constexpr PointwiseRow rows_of_unary[] = {
#define ROW(group, name, ulp, formula, samples, gradient) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples, Interval samples, {#gradient}},
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr PointwiseRow rows_of_unary_with[] = {
#define ROW(group, name, ulp, formula, samples, attributes, gradient) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples, Interval samples, {#gradient}, Attributes attributes},
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
};
constexpr PointwiseRow rows_of_binary[] = {
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples_a, Interval samples_b, {#gradient_a, #gradient_b}},
    VOTIVE_BINARY(ROW)
#undef ROW
};
constexpr PointwiseRow rows_of_ternary[] = {
#define ROW(name, ulp, formula, samples, gradient_a, gradient_b, gradient_c) \
  {#name, PointwiseGroup::ternary, ulp, formula, Interval samples, Interval samples, {#gradient_a, #gradient_b, #gradient_c}},
    VOTIVE_TERNARY(ROW)
#undef ROW
};

constexpr bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }

void require_whole(std::string_view op, const Argument& x) {
  require_unblocked(op, x);
  if (is_whole(x.meta.dtype)) return;
  throw error_about(ErrorKind::DTypeMismatch, op, {x})
      .detail(describe(x))
      .accepted("bool, u8, i8, u16, i16, u32, i32, u64, i64")
      .hint(format("Cast it, e.g. {}.to(i64)", x.name));
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

/// Whether an expression speaks of `name`, so that a row says once what its gradient reads.
constexpr bool mentions(std::string_view expression, std::string_view name) {
  const auto in_word = [](char c) { return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t at = expression.find(name); at != std::string_view::npos; at = expression.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !in_word(expression[at - 1])) && (end == expression.size() || !in_word(expression[end]))) return true;
  }
  return false;
}

// The derivative of trigamma by eight steps of its recurrence and Stirling's series; by reflection below ½.
Tensor tetragamma(const Tensor& x) {
  const double pi = 3.141592653589793;
  const Tensor reflected = lt(x, 0.5);
  const Tensor z = where(reflected, 1 - x, x);
  const auto cube = [](const Tensor& t) { return t * square(t); };
  Tensor y = cube(recip(z));
  for (int k = 1; k < 8; ++k) y = y + cube(recip(z + k));
  const Tensor r = recip(z + 8);
  const Tensor q = square(r);
  Tensor tail = full({}, 35.0 / 2, x.dtype(), {.device = x.device()});
  for (const double c : {-691.0 / 210, 5.0 / 6, -3.0 / 10, 1.0 / 6, -1.0 / 6, 1.0 / 2}) tail = c + q * tail;
  y = -(2 * y + q + r * q + square(q) * tail);
  return where(reflected, y - cube(recip(sin(x * pi))) * cos(x * pi) * (2 * pi * pi * pi), y);
}

// (cos(πx) − sinc(x)) / x, by its series where the two nearly agree.
Tensor slope_of_sinc(const Tensor& x) {
  const double pi = 3.141592653589793;
  const Tensor near = lt(abs(x), 0.25);
  const Tensor z = square(where(near, x, 0) * pi);
  double factorial = 1, coefficient[9] = {};  // of zᵏ: (−1)ᵏ 2k / (2k+1)!
  for (int k = 1; k < 9; ++k) {
    factorial *= 2.0 * k * (2 * k + 1);
    coefficient[k] = (k % 2 == 1 ? -2.0 : 2.0) * k / factorial;
  }
  Tensor series = full({}, coefficient[8], x.dtype(), {.device = x.device()});
  for (int k = 7; k >= 1; --k) series = coefficient[k] + z * series;
  const Tensor away = where(near, 1, x);
  return where(near, x * (pi * pi) * series, (cos(away * pi) - sinc(away)) / away);
}

Tensor gradient_of_atan2(const Tensor& dy, const Tensor& over, const Tensor& a, const Tensor& b) {
  const Tensor h = hypot(a, b);
  return xdivy(xdivy(dy * over, h), h);
}

Tensor gradient_of_xlogy(const Tensor& a, const Tensor& argument, const Tensor& log, const Tensor& dy) {
  return where(logical_and(eq(a, 0), le(argument, 0)), 0, multiply_no_nan(log, dy));
}

Tensor first_of_fmin(const Tensor& a, const Tensor& b) { return logical_or(ne(b, b), le(a, b)); }
Tensor first_of_fmax(const Tensor& a, const Tensor& b) { return logical_or(ne(b, b), ge(a, b)); }

Tensor gradient_of_selu(const Tensor& x, const Tensor& dy) {
  return where(gt(x, 0), dy * 1.0507009873554805, dy * (1.7580993408473766 * exp(minimum(x, 0))));
}

// The gradients of fused functions are those of their compositions, term by term and in the order in which the walk adds them (D16).

// x·sigmoid(x)
Tensor gradient_of_silu(const Tensor& x, const Tensor& dy) {
  const Tensor s = sigmoid(x);
  return dy * s + dy * x * (s * (1 - s));
}

// x·(erfc(−x/√2)/2)
Tensor gradient_of_gelu(const Tensor& x, const Tensor& dy) {
  const double c = -0.7071067811865476;
  const Tensor u = x * c;
  return dy * (0.5 * erfc(u)) + dy * x * 0.5 * (-1.1283791670955126 * exp(-(u * u))) * c;
}

// x·sigmoid(x·(c₁ + c₃·x²))
Tensor gradient_of_gelu_tanh(const Tensor& x, const Tensor& dy) {
  const double c1 = 1.5957691216057308, c3 = 0.07135481282052486;
  const Tensor factor = c1 + c3 * square(x);
  const Tensor s = sigmoid(x * factor);
  const Tensor dz = dy * x * (s * (1 - s));
  return dy * s + dz * factor + dz * x * c3 * (2 * x);
}

// x·sigmoid(1.702 x)
Tensor gradient_of_quick_gelu(const Tensor& x, const Tensor& dy) {
  const Tensor s = sigmoid(x * 1.702);
  return dy * s + dy * x * (s * (1 - s)) * 1.702;
}

// x·tanh(softplus(x))
Tensor gradient_of_mish(const Tensor& x, const Tensor& dy) {
  const Tensor t = tanh(softplus(x));
  return dy * t + dy * x * (1 - t * t) * sigmoid(x);
}

/// What gradients may speak of. Absent where no gradient does.
struct Slope {
  Tensor a, b, c, y, dy;
  Attributes attributes = 0;  // of an operation that has them; a ternary one's `value` is the first
};
using Gradient = Tensor (*)(const Slope&);

#define OF(...)                                                                                                       \
  [](const Slope& s) -> Tensor {                                                                                      \
    [[maybe_unused]] const Tensor &x = s.a, &a = s.a, &b = s.b, &c = s.c, &y = s.y, &dy = s.dy;                       \
    [[maybe_unused]] const double p = s.attributes.p, q = s.attributes.q, r = s.attributes.r, value = s.attributes.p; \
    return __VA_ARGS__;                                                                                               \
  }
constexpr Gradient gradients_of_unary[][1] = {
#define ROW(group, name, ulp, formula, samples, gradient) {OF(gradient)},
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr Gradient gradients_of_unary_with[][1] = {
#define ROW(group, name, ulp, formula, samples, attributes, gradient) {OF(gradient)},
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
};
constexpr Gradient gradients_of_binary[][2] = {
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) {OF(gradient_a), OF(gradient_b)},
    VOTIVE_BINARY(ROW)
#undef ROW
};
constexpr Gradient gradients_of_ternary[][3] = {
#define ROW(name, ulp, formula, samples, gradient_a, gradient_b, gradient_c) {OF(gradient_a), OF(gradient_b), OF(gradient_c)},
    VOTIVE_TERNARY(ROW)
#undef ROW
};
#undef OF

Saves saves_of(const PointwiseRow& r, std::initializer_list<std::string_view> operands) {
  const auto mentioned = [&](std::string_view name) {
    return mentions(r.gradients[0], name) || mentions(r.gradients[1], name) || mentions(r.gradients[2], name);
  };
  Saves saves{0, mentioned("y")};
  std::uint32_t bit = 1;
  for (const std::string_view name : operands) {
    if (mentioned(name)) saves.inputs |= bit;
    bit *= 2;
  }
  return saves;
}

// Operands come in the result's dtype: an unsigned exponent less one is no number.
template <std::size_t n>
Tensors gradients_of(const Gradient (&gradients)[n], const Saves& saves, const Backward& step, Attributes attributes = 0) {
  const Tensor& dy = step.dy();
  const auto operand = [&](int i) { return (saves.inputs >> i & 1) != 0 ? step.x(i).to(dy.dtype()) : Tensor(); };
  const Slope slope{operand(0), operand(1), operand(2), saves.outputs ? step.y() : Tensor(), dy, attributes};
  Tensors result(n);
  for (std::size_t i = 0; i < n; ++i) {
    const int input = static_cast<int>(i);
    if (step.wants(input)) result[i] = step.to_input(gradients[i](slope), input);
  }
  return result;
}

Error about_element(ErrorKind kind, std::string_view op, const Tensor& b, Size flat, std::string value, std::string_view is) {
  std::vector<Size> position(static_cast<std::size_t>(b.rank()));
  for (int axis = b.rank() - 1; axis >= 0; --axis) {
    position[static_cast<std::size_t>(axis)] = flat % b.shape()[axis];
    flat /= b.shape()[axis];
  }
  const Meta meta = b.meta();
  std::string detail =
      format("argument 'b' (#2, {}) {} {} at position {}", describe(meta), is, value, to_string(Shape(std::span<const Size>(position))));
  return error_about(kind, op, {{"b", 2, meta}}).value(std::move(value)).position(std::move(position)).detail(std::move(detail));
}

}  // namespace

std::span<const PointwiseRow> unary_rows() { return rows_of_unary; }
std::span<const PointwiseRow> unary_with_rows() { return rows_of_unary_with; }
std::span<const PointwiseRow> binary_rows() { return rows_of_binary; }
std::span<const PointwiseRow> ternary_rows() { return rows_of_ternary; }

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
  throw about_element(ErrorKind::Domain, op, b, flat, format("{}", value), "has the negative exponent")
      .hint("Cast the base, e.g. a.to(f32)");
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
        .value(format("{}", v))
        .detail(format("{} is beyond the largest f32", v))
        .hint("Cast the tensor, e.g. x.to(f64)");
  }
  if (kind == UnaryWithKind::celu && attributes.p == 0)
    throw Error(ErrorKind::InvalidArgument, name()).arg("alpha", 2).value("0").detail("alpha is 0");
  const bool shrinks = kind == UnaryWithKind::softshrink || kind == UnaryWithKind::hardshrink;
  if (shrinks && !(attributes.p >= 0)) {
    throw Error(ErrorKind::InvalidArgument, name())
        .arg("limit", 2)
        .value(format("{}", attributes.p))
        .detail(format("limit is {}", attributes.p))
        .accepted("limits of at least 0");
  }
  return y;
}

Meta Binary::result(const Meta& a, const Meta& b) const {
  const PointwiseRow& r = row(kind);
  const PointwiseGroup group = r.group;
  // What programs do most: two floats of one dtype and shape, with which nothing is wrong.
  const bool alike = a.present && b.present && a.dtype == b.dtype && a.device == b.device && a.shape == b.shape && a.packing == b.packing;
  if (alike && is_floating(a.dtype) && !r.gives_bool() && !is_of_integers(group) && group != PointwiseGroup::bitwise) return a;
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
          .detail(format("{} and {}: bool has no arithmetic", describe(x), describe(y)))
          .hint(format("Use logical_or or logical_and, or cast, e.g. {}.to(i64)", x.name));
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

Saves Unary::saves() const { return saves_of(row(kind), {"x"}); }
Saves UnaryWith::saves() const { return saves_of(row(kind), {"x"}); }
Saves Binary::saves() const { return saves_of(row(kind), {"a", "b"}); }
Saves Ternary::saves() const { return saves_of(row(kind), {"a", "b", "c"}); }

Tensors Unary::gradient(const Backward& b) const { return gradients_of(gradients_of_unary[static_cast<int>(kind)], saves(), b); }
Tensors UnaryWith::gradient(const Backward& b) const {
  return gradients_of(gradients_of_unary_with[static_cast<int>(kind)], saves(), b, attributes);
}
Tensors Binary::gradient(const Backward& b) const { return gradients_of(gradients_of_binary[static_cast<int>(kind)], saves(), b); }
Tensors Ternary::gradient(const Backward& b) const { return gradients_of(gradients_of_ternary[static_cast<int>(kind)], saves(), b, value); }

Tensors Where::gradient(const Backward& step) const {
  const Tensor& dy = step.dy();
  Tensors result(3);
  if (step.wants(1)) result[1] = step.to_input(where(step.x(0), dy, 0), 1);
  if (step.wants(2)) result[2] = step.to_input(where(step.x(0), 0, dy), 2);
  return result;
}

Tensors Copy::gradient(const Backward& b) const { return {b.dy()}; }

}  // namespace votive
