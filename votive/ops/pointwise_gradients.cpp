// Gradients of the pointwise operations, as their rows write them, and what is saved for them: what a gradient mentions. Those that need more than an
// expression are functions here; all are written with Votive's operations, so that they have gradients themselves.
#include <limits>

#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

namespace {

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

/// eᵃ / (eᵃ + eᵇ), and nothing of nothing: where both are −∞, 0, as logsumexp's.
Tensor share_of_sum(const Tensor& a, const Tensor& b) {
  const double infinity = std::numeric_limits<double>::infinity();
  return sigmoid(where(eq(a, b), where(lt(abs(a), infinity), 0, a), a - b));
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

// Where x is infinite its factor is 0 and the limit finite: multiply_no_nan keeps it (D16).

// x·sigmoid(x)
Tensor gradient_of_silu(const Tensor& x, const Tensor& dy) {
  const Tensor s = sigmoid(x);
  return dy * s + multiply_no_nan(dy * x, s * (1 - s));
}

// x·(erfc(−x/√2)/2)
Tensor gradient_of_gelu(const Tensor& x, const Tensor& dy) {
  const double c = -0.7071067811865476;
  const Tensor u = x * c;
  return dy * (0.5 * erfc(u)) + multiply_no_nan(dy * x * 0.5, -1.1283791670955126 * exp(-(u * u))) * c;
}

// x·sigmoid(x·(c₁ + c₃·x²))
Tensor gradient_of_gelu_tanh(const Tensor& x, const Tensor& dy) {
  const double c1 = 1.5957691216057308, c3 = 0.07135481627260025;
  const Tensor factor = c1 + c3 * square(x);
  const Tensor s = sigmoid(x * factor);
  // Far out s(1 − s) is 0 and the factors are infinite: the limit is 0 (D16).
  const Tensor dz = multiply_no_nan(dy * x, s * (1 - s));
  return dy * s + multiply_no_nan(factor, dz) + multiply_no_nan(2 * x, multiply_no_nan(x, dz) * c3);
}

// x·sigmoid(1.702 x)
Tensor gradient_of_quick_gelu(const Tensor& x, const Tensor& dy) {
  const Tensor s = sigmoid(x * 1.702);
  return dy * s + multiply_no_nan(dy * x, s * (1 - s)) * 1.702;
}

// x·tanh(softplus(x))
Tensor gradient_of_mish(const Tensor& x, const Tensor& dy) {
  const Tensor t = tanh(softplus(x));
  return dy * t + multiply_no_nan(multiply_no_nan(dy * x, 1 - t * t), sigmoid(x));
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

constexpr Saves saves_of(std::initializer_list<std::string_view> gradients, std::initializer_list<std::string_view> operands) {
  const auto mentioned = [&](std::string_view name) {
    for (const std::string_view gradient : gradients)
      if (mentions(gradient, name)) return true;
    return false;
  };
  Saves saves{0, mentioned("y")};
  std::uint32_t bit = 1;
  for (const std::string_view name : operands) {
    if (mentioned(name)) saves.inputs |= bit;
    bit *= 2;
  }
  return saves;
}

// Read when this file is compiled: a recorded operation would spend as long on it as on its node.
constexpr Saves saves_of_unary[] = {
#define ROW(group, name, ulp, formula, samples, gradient) saves_of({#gradient}, {"x"}),
    VOTIVE_UNARY(ROW)
#undef ROW
};
constexpr Saves saves_of_unary_with[] = {
#define ROW(group, name, ulp, formula, samples, attributes, gradient) saves_of({#gradient}, {"x"}),
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
};
constexpr Saves saves_of_binary[] = {
#define ROW(group, name, ulp, formula, samples_a, samples_b, gradient_a, gradient_b) saves_of({#gradient_a, #gradient_b}, {"a", "b"}),
    VOTIVE_BINARY(ROW)
#undef ROW
};
constexpr Saves saves_of_ternary[] = {
#define ROW(name, ulp, formula, samples, gradient_a, gradient_b, gradient_c) \
  saves_of({#gradient_a, #gradient_b, #gradient_c}, {"a", "b", "c"}),
    VOTIVE_TERNARY(ROW)
#undef ROW
};

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

}  // namespace

Saves Unary::saves() const { return saves_of_unary[static_cast<int>(kind)]; }
Saves UnaryWith::saves() const { return saves_of_unary_with[static_cast<int>(kind)]; }
Saves Binary::saves() const { return saves_of_binary[static_cast<int>(kind)]; }
Saves Ternary::saves() const { return saves_of_ternary[static_cast<int>(kind)]; }

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
