// Rules of the pointwise operations: what each takes, what it gives, and what its bits promise. No loops and no arithmetic are here.
#include "votive/ops/pointwise.h"

#include "votive/base/text.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

constexpr PointwiseRow rows_of_unary[] = {
#define ROW(group, name, ulp, formula, samples, gradient) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples, Interval samples, #gradient},
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr PointwiseRow rows_of_binary[] = {
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) \
  {#name, PointwiseGroup::group, ulp, formula, Interval samples_a, Interval samples_b, #gradient_a, #gradient_b},
    VOTIVE_BINARY(ROW)
#undef ROW
};

constexpr bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }

bool is_arithmetic(const PointwiseRow& r) { return r.group == PointwiseGroup::arithmetic || r.group == PointwiseGroup::rounding; }

Compute compute_of(DType dtype) {
  if (dtype == DType::f64) return Compute::f64;
  if (is_signed_integer(dtype)) return Compute::i64;
  return is_whole(dtype) ? Compute::u64 : Compute::f32;
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

using Gradient1 = Tensor (*)(const Tensor& x, const Tensor& y, const Tensor& dy);
using Gradient2 = Tensor (*)(const Tensor& a, const Tensor& b, const Tensor& y, const Tensor& dy);

constexpr Gradient1 gradients_of_unary[] = {
#define ROW(group, name, ulp, formula, samples, gradient) \
  []([[maybe_unused]] const Tensor& x, [[maybe_unused]] const Tensor& y, [[maybe_unused]] const Tensor& dy) -> Tensor { return gradient; },
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr Gradient2 gradients_of_binary[][2] = {
#define OF(gradient)                                                                                       \
  []([[maybe_unused]] const Tensor& a, [[maybe_unused]] const Tensor& b, [[maybe_unused]] const Tensor& y, \
     [[maybe_unused]] const Tensor& dy) -> Tensor { return gradient; }
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) {OF(gradient_a), OF(gradient_b)},
    VOTIVE_BINARY(ROW)
#undef ROW
#undef OF
};

}  // namespace

std::span<const PointwiseRow> unary_rows() { return rows_of_unary; }
std::span<const PointwiseRow> binary_rows() { return rows_of_binary; }

Compute compute_type(UnaryKind kind, DType x) {
  if (is_arithmetic(row(kind))) return compute_of(x);
  return x == DType::f64 ? Compute::f64 : Compute::f32;
}

Compute compute_type(BinaryKind kind, DType x, DType y) {
  const PointwiseGroup group = row(kind).group;
  if (group == PointwiseGroup::logical) return Compute::boolean;
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
  if (is_arithmetic(row(kind))) {
    require_number(name(), argument);
    return y;
  }
  require_plain(name(), argument);
  if (is_whole(x.dtype)) y.dtype = DType::f32;
  return y;
}

Meta Binary::result(const Meta& a, const Meta& b) const {
  const PointwiseGroup group = row(kind).group;
  const bool to_bool = group == PointwiseGroup::compare || group == PointwiseGroup::logical;
  // What programs do most: two floats of one dtype and shape, with which nothing is wrong.
  const bool alike = a.present && b.present && a.dtype == b.dtype && a.device == b.device && a.shape == b.shape;
  if (alike && is_floating(a.dtype) && a.packing == b.packing && !to_bool) return a;
  const Argument x{"a", 1, a}, y{"b", 2, b};
  Meta result;
  if (to_bool) {
    require_unblocked(name(), x);
    require_unblocked(name(), y);
    if (group == PointwiseGroup::compare && (!is_whole(a.dtype) || !is_whole(b.dtype))) require_common_dtype(name(), x, y);
    result.dtype = DType::boolean;
  } else {
    require_plain(name(), x);
    require_plain(name(), y);
    result.dtype = require_common_dtype(name(), x, y);
    if (result.dtype == DType::boolean) {
      throw error_about(ErrorKind::DTypeMismatch, name(), {x, y})
          .detail(format("{} and {}: bool has no arithmetic", describe(x), describe(y)))
          .hint(format("Use logical_or or logical_and, or cast, e.g. {}.to(i64)", x.name));
    }
    if (group != PointwiseGroup::arithmetic && is_integer(result.dtype)) result.dtype = DType::f32;
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

Saves Unary::saves() const {
  const std::string_view gradient = row(kind).gradient_a;
  return {mentions(gradient, "x") ? 1u : 0u, mentions(gradient, "y")};
}

Tensors Unary::gradient(const Backward& b) const {
  const Saves saved = saves();
  return {gradients_of_unary[static_cast<int>(kind)](saved.inputs != 0 ? b.x() : Tensor(), saved.outputs ? b.y() : Tensor(), b.dy())};
}

Saves Binary::saves() const {
  const auto either = [&](std::string_view operand) {
    return mentions(row(kind).gradient_a, operand) || mentions(row(kind).gradient_b, operand);
  };
  return {(either("a") ? 1u : 0u) | (either("b") ? 2u : 0u), either("y")};
}

Tensors Binary::gradient(const Backward& step) const {
  const Saves saved = saves();
  const Tensor& dy = step.dy();
  const auto operand = [&](int i) { return (saved.inputs >> i & 1) != 0 ? step.x(i).to(dy.dtype()) : Tensor(); };
  const Tensor a = operand(0), b = operand(1), y = saved.outputs ? step.y() : Tensor();
  Tensors result(2);
  for (int i = 0; i < 2; ++i) {
    if (step.wants(i)) result[static_cast<std::size_t>(i)] = step.to_input(gradients_of_binary[static_cast<int>(kind)][i](a, b, y, dy), i);
  }
  return result;
}

Tensors Where::gradient(const Backward& step) const {
  const Tensor& dy = step.dy();
  Tensors result(3);
  if (step.wants(1)) result[1] = step.to_input(where(step.x(0), dy, 0), 1);
  if (step.wants(2)) result[2] = step.to_input(where(step.x(0), 0, dy), 2);
  return result;
}

Tensors Copy::gradient(const Backward& b) const { return {b.dy()}; }

}  // namespace votive
