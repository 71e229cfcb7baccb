// Fingerprints of pointwise operations: of one tensor on random bits of every dtype, of two on every pair of equal dtypes and, where the rules of promotion
// are at work, on every pair. Their f32 functions are covered on all inputs by `votive verify --all` (every_input.cpp).
#include "fingerprint_list.h"

namespace votive::app {

namespace {

struct Binary {
  const char* name;
  Tensor (*function)(const Tensor&, const Tensor&);
};

/// Integers without zeros, which no integer divides by.
Tensor divisor(const Tensor& x) { return is_integer(x.dtype()) ? where(eq(x, 0), full({}, 3, x.dtype(), {.device = x.device()}), x) : x; }

// clang-format off
#define NAMED(name) {#name, name}
constexpr UnaryFunction of_one[] = {
    NAMED(neg), NAMED(abs), NAMED(sign), NAMED(relu), NAMED(relu_squared), NAMED(relu6), NAMED(square), NAMED(floor), NAMED(ceil), NAMED(trunc),
    NAMED(round), NAMED(frac), NAMED(sqrt), NAMED(rsqrt), NAMED(recip), NAMED(hardsigmoid), NAMED(hardswish), NAMED(exp), NAMED(exp2), NAMED(expm1),
    NAMED(log), NAMED(log2), NAMED(log10), NAMED(log1p), NAMED(sin), NAMED(cos), NAMED(tan), NAMED(asin), NAMED(acos), NAMED(atan), NAMED(sinh),
    NAMED(cosh), NAMED(tanh), NAMED(asinh), NAMED(acosh), NAMED(atanh), NAMED(erf), NAMED(erfc), NAMED(erfinv), NAMED(lgamma), NAMED(digamma),
    NAMED(trigamma), NAMED(sinc), NAMED(rad2deg), NAMED(deg2rad), NAMED(sigmoid), NAMED(logit), NAMED(log_sigmoid), NAMED(softplus), NAMED(softsign),
    NAMED(tanhshrink), NAMED(selu), NAMED(mish), NAMED(silu), NAMED(gelu), NAMED(gelu_tanh), NAMED(quick_gelu), NAMED(isnan), NAMED(isinf),
    NAMED(isfinite), NAMED(signbit), NAMED(bitwise_not), NAMED(logical_not)};
constexpr Binary of_two[] = {
    NAMED(add), NAMED(sub), NAMED(mul), NAMED(div), NAMED(minimum), NAMED(maximum), NAMED(fmin), NAMED(fmax), NAMED(multiply_no_nan), NAMED(xdivy),
    NAMED(copysign), NAMED(atan2), NAMED(hypot), NAMED(logaddexp), NAMED(xlogy), NAMED(xlog1py), NAMED(swiglu), NAMED(geglu), NAMED(gcd), NAMED(lcm),
    NAMED(bitwise_and), NAMED(bitwise_or), NAMED(bitwise_xor), NAMED(add_overflows), NAMED(sub_overflows), NAMED(mul_overflows),
    NAMED(div_overflows), NAMED(shift_left_overflows), NAMED(shift_right_overflows), NAMED(eq), NAMED(ne), NAMED(lt), NAMED(le), NAMED(gt),
    NAMED(ge), NAMED(logical_and), NAMED(logical_or), NAMED(logical_xor)};
constexpr Binary dividing[] = {NAMED(div_trunc), NAMED(floor_div), NAMED(remainder), NAMED(fmod)};
constexpr Binary raising[] = {NAMED(pow), NAMED(pow_overflows)};
constexpr Binary shifting[] = {NAMED(shift_left), NAMED(shift_right)};
constexpr Binary of_every_pair[] = {NAMED(add), NAMED(mul), NAMED(maximum), NAMED(eq), NAMED(lt), NAMED(shift_left)};
#undef NAMED
// clang-format on

void add_operators(Collector& c) {
  const Device d = c.device();
  const auto a = [d](DType t) { return random_bits({257}, t, 110, d); };
  const auto b = [d](DType t) { return small({257}, t, 111, d) + small({257}, t, 112, d); };
  const auto by = [d](DType t) { return divisor(small({257}, t, 113, d)); };
  c.all("operator+", [=](DType t) { return Outputs{a(t) + b(t), a(t) + 3, 3 + a(t)}; });
  c.all("operator-", [=](DType t) { return Outputs{a(t) - b(t), a(t) - 3, 3 - a(t), -a(t)}; });
  c.all("operator*", [=](DType t) { return Outputs{a(t) * b(t), a(t) * 3, 3 * a(t)}; });
  c.all("operator/", [=](DType t) { return Outputs{a(t) / by(t), a(t) / 3, 3 / by(t)}; });
  c.all("operator%", [=](DType t) { return Outputs{a(t) % by(t), a(t) % 3, 3 % by(t)}; });
  c.all("operator+ with 0.1", [=](DType t) { return Outputs{a(t) + 0.1, 0.1 + a(t)}; });
  c.all("operator* with 0.1", [=](DType t) { return Outputs{a(t) * 0.1, a(t) / 0.1, a(t) - 0.1}; });
  c.all("operator==", [=](DType t) { return Outputs{a(t) == b(t), b(t) == 3, 3 == b(t), b(t) == 0.5}; });
  c.all("operator!=", [=](DType t) { return Outputs{a(t) != b(t), b(t) != 3, 3 != b(t)}; });
  c.all("operator<", [=](DType t) { return Outputs{a(t) < b(t), a(t) < 3, 3 < a(t), a(t) < 7.5}; });
  c.all("operator<=", [=](DType t) { return Outputs{a(t) <= b(t), a(t) <= 3, 3 <= a(t)}; });
  c.all("operator>", [=](DType t) { return Outputs{a(t) > b(t), a(t) > 3, 3 > a(t)}; });
  c.all("operator>=", [=](DType t) { return Outputs{a(t) >= b(t), a(t) >= 3, 3 >= a(t)}; });
  c.all("operator&", [=](DType t) { return t == boolean ? Outputs{a(t) & a(t), a(t) & true} : Outputs{a(t) & b(t), a(t) & 5, 5 & a(t)}; });
  c.all("operator|", [=](DType t) { return t == boolean ? Outputs{a(t) | a(t), a(t) | true} : Outputs{a(t) | b(t), a(t) | 5, 5 | a(t)}; });
  c.all("operator^", [=](DType t) { return t == boolean ? Outputs{a(t) ^ a(t), a(t) ^ true} : Outputs{a(t) ^ b(t), a(t) ^ 5, 5 ^ a(t)}; });
  c.all("operator~", [=](DType t) { return Outputs{~a(t)}; });
  c.all("operator<<", [=](DType t) { return Outputs{a(t) << by(t), a(t) << 3, 3 << by(t)}; });
  c.all("operator>>", [=](DType t) { return Outputs{a(t) >> by(t), a(t) >> 3, 3 >> by(t)}; });
}

}  // namespace

std::span<const UnaryFunction> functions_of_one() { return of_one; }

void add_unary(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return random_bits({2053}, t, 101, d); };
  for (const auto& [name, function] : of_one) c.all(name, [=, f = function](DType t) { return Outputs{f(x(t))}; });
  const auto sized = [d](DType t) { return numbers({2053}, t, 102, d); };
  c.all("leaky_relu", [=](DType t) { return Outputs{leaky_relu(x(t), 0.1)}; });
  c.all("elu", [=](DType t) { return Outputs{elu(x(t), 0.7), elu(sized(t), 0.7)}; });
  c.all("celu", [=](DType t) { return Outputs{celu(x(t), 0.7), celu(sized(t), 0.7)}; });
  c.all("hardshrink", [=](DType t) { return Outputs{hardshrink(x(t)), hardshrink(sized(t))}; });
  c.all("softshrink", [=](DType t) { return Outputs{softshrink(x(t)), softshrink(sized(t))}; });
  c.all("hardtanh", [=](DType t) { return Outputs{hardtanh(x(t), -0.7, 1.2), hardtanh(sized(t))}; });
  c.all("threshold", [=](DType t) { return Outputs{threshold(x(t), 0.3, -0.6)}; });
  c.all("affine", [=](DType t) { return Outputs{affine(x(t), 1.7, -0.3), affine(sized(t), 1.7, -0.3)}; });
  c.all("nan_to_num", [=](DType t) { return Outputs{nan_to_num(x(t)), nan_to_num(x(t), {.nan = 1, .posinf = 3, .neginf = -3})}; });
  c.all("clamp", [=](DType t) { return Outputs{clamp(x(t), 2, 100), clamp(x(t), {}, 7), clamp(x(t), sized(t), x(t))}; });
  c.all("round to decimals", [=](DType t) { return Outputs{round(sized(t), 2), round(sized(t), -1)}; });
  c.all("prelu", [=](DType t) { return Outputs{prelu(normal({3, 7, 31}, t, 103, d), normal({7}, t, 104, d))}; });
  c.all("glu", [=](DType t) { return Outputs{glu(numbers({3, 66}, t, 105, d)), glu(numbers({4, 33}, t, 105, d), 0)}; });
  for (const DType to : every_dtype) {
    const std::string target(to_string(to));
    for (const DType from : every_dtype) {
      if (from == to) continue;
      const std::string pair = std::string(to_string(from)) + " to " + target;
      c.one_if_taken("cast " + pair, [&] { return Outputs{cast(x(from), to)}; });
      c.one_if_taken("cast_checked " + pair, [&] { return Outputs{cast_checked(positions({513}, 2, from, 106, d), to)}; });
    }
    if (is_float8(to)) c.all("cast without saturation to " + target, [=](DType t) { return Outputs{cast(x(t), to, {.saturate = false})}; });
  }
}

void add_binary(Collector& c) {
  const Device d = c.device();
  const auto a = [d](DType t) { return random_bits({5, 1, 131}, t, 121, d); };
  const auto b = [d](DType t) { return random_bits({3, 131}, t, 122, d); };
  for (const auto& [name, function] : of_two)
    c.all(name, [=, f = function](DType t) { return Outputs{f(a(t), b(t)), f(numbers({700}, t, 123, d), numbers({700}, t, 124, d))}; });
  for (const auto& [name, function] : dividing) {
    c.all(name, [=, f = function](DType t) { return Outputs{f(a(t), divisor(b(t))), f(a(t), divisor(small({3, 131}, t, 125, d)))}; });
  }
  for (const auto& [name, function] : raising) {
    c.all(name, [=, f = function](DType t) {
      const Tensor exponent = is_integer(t) ? positions({3, 131}, 32, t, 126, d) : normal({3, 131}, t, 126, d);
      return Outputs{f(a(t), exponent), f(numbers({5, 1, 131}, t, 127, d), exponent)};
    });
  }
  for (const auto& [name, function] : shifting)
    c.all(name, [=, f = function](DType t) { return Outputs{f(a(t), positions({131}, 70, t, 128, d)), f(a(t), a(t))}; });
  for (const std::span<const Binary> table :
       {std::span<const Binary>(of_two), std::span<const Binary>(dividing), std::span<const Binary>(raising)}) {
    for (const auto& [name, function] : table) {
      // a bool beside a number is that number's dtype, beside another bool it is refused (D6)
      c.one_if_taken(std::string(name) + " bool and f32", [&, f = function] { return Outputs{f(a(boolean), b(f32))}; });
      c.one_if_taken(std::string(name) + " bool and i32", [&, f = function] {
        return Outputs{f(a(boolean), positions({3, 131}, 30, i32, 129, d) + 1)};
      });
    }
  }
  for (const auto& [name, function] : of_every_pair) {
    for (const DType p : every_dtype) {
      for (const DType q : every_dtype) {
        if (p == q) continue;
        c.one_if_taken(std::string(name) + " " + std::string(to_string(p)) + " and " + std::string(to_string(q)), [&, f = function] {
          return Outputs{f(random_bits({9, 1}, p, 129, d), random_bits({37}, q, 130, d))};
        });
      }
    }
  }
  c.all("isclose", [=](DType t) {
    const Tensor x = numbers({301}, t, 131, d), y = small({301}, t, 132, d);
    return Outputs{isclose(x, x), isclose(x, y, {.rtol = 0.5, .atol = 0.5, .equal_nan = true}),
                   full({}, allclose(x, x, {.equal_nan = true}), boolean, {.device = d})};
  });
  c.all("allclose", [=](DType t) {
    const Tensor x = small({301}, t, 133, d);
    return Outputs{full({}, allclose(x, x), boolean), full({}, allclose(x, small({301}, t, 134, d)), boolean)};
  });
  c.all("fma", [=](DType t) {
    return Outputs{fma(a(t), b(t), normal({131}, t, 135, d)), fma(normal({3, 131}, t, 136, d), b(t), normal({}, t, 137, d))};
  });
  c.all("lerp", [=](DType t) { return Outputs{lerp(a(t), b(t), rand({131}, {.seed = 137}).to(t).to(d)), lerp(a(t), b(t), 0.3)}; });
  c.all("addcmul", [=](DType t) { return Outputs{addcmul(a(t), b(t), a(t), 0.7), addcmul(normal({131}, t, 138, d), b(t), a(t))}; });
  c.all("addcdiv", [=](DType t) { return Outputs{addcdiv(a(t), b(t), a(t), 0.7), addcdiv(normal({131}, t, 139, d), b(t), a(t))}; });
  c.all(
      "where",
      [=](DType t) {
        const Tensor condition = random_bits({3, 131}, boolean, 140, d);
        return Outputs{where(condition, a(t), b(t)), where(condition, a(t), 1), where(condition, 1, b(t))};
      },
      NanBits::exact);
  add_operators(c);
}

}  // namespace votive::app
