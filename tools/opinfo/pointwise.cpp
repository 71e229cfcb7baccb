// Names of compare_opinfo.py for what works element by element, the operators and casts.
#include <cmath>

#include "tools/opinfo/call.h"

namespace votive::opinfo {

#define UNARY(name)                                           \
  {                                                           \
#name, [](const Call& c) { return Tensors{name(c.x())}; } \
  }
#define BINARY(name)                                                                                                                \
  {                                                                                                                                 \
#name, [](const Call& c) { return binary(c, [](const auto& a, const auto& b) -> decltype(name(a, b)) { return name(a, b); }); } \
  }
#define OPERATOR(name, op)                                                                                                  \
  {                                                                                                                         \
#name, [](const Call& c) { return binary(c, [](const auto& a, const auto& b) -> decltype(a op b) { return a op b; }); } \
  }

static const Table::value_type rows[] = {
    UNARY(neg),
    UNARY(abs),
    UNARY(sign),
    UNARY(square),
    UNARY(sqrt),
    UNARY(rsqrt),
    UNARY(recip),
    UNARY(floor),
    UNARY(ceil),
    UNARY(trunc),
    UNARY(frac),
    UNARY(exp),
    UNARY(exp2),
    UNARY(expm1),
    UNARY(log),
    UNARY(log2),
    UNARY(log10),
    UNARY(log1p),
    UNARY(sin),
    UNARY(cos),
    UNARY(tan),
    UNARY(asin),
    UNARY(acos),
    UNARY(atan),
    UNARY(sinh),
    UNARY(cosh),
    UNARY(tanh),
    UNARY(asinh),
    UNARY(acosh),
    UNARY(atanh),
    UNARY(erf),
    UNARY(erfc),
    UNARY(erfinv),
    UNARY(lgamma),
    UNARY(digamma),
    UNARY(sinc),
    UNARY(rad2deg),
    UNARY(deg2rad),
    UNARY(isnan),
    UNARY(isinf),
    UNARY(isfinite),
    UNARY(signbit),
    UNARY(logical_not),
    UNARY(bitwise_not),
    UNARY(relu),
    UNARY(relu6),
    UNARY(selu),
    UNARY(sigmoid),
    UNARY(log_sigmoid),
    UNARY(softplus),
    UNARY(softsign),
    UNARY(tanhshrink),
    UNARY(mish),
    UNARY(silu),
    UNARY(gelu),
    UNARY(gelu_tanh),
    UNARY(hardsigmoid),
    UNARY(hardswish),
    OPERATOR(add, +),
    OPERATOR(sub, -),
    OPERATOR(mul, *),
    OPERATOR(div, /),
    OPERATOR(remainder, %),
    OPERATOR(bitwise_and, &),
    OPERATOR(bitwise_or, |),
    OPERATOR(bitwise_xor, ^),
    OPERATOR(shift_left, <<),
    OPERATOR(shift_right, >>),
    BINARY(div_trunc),
    BINARY(floor_div),
    BINARY(fmod),
    BINARY(pow),
    BINARY(minimum),
    BINARY(maximum),
    BINARY(fmin),
    BINARY(fmax),
    BINARY(copysign),
    BINARY(gcd),
    BINARY(lcm),
    BINARY(atan2),
    BINARY(hypot),
    BINARY(logaddexp),
    BINARY(xlogy),
    BINARY(xlog1py),
    BINARY(eq),
    BINARY(ne),
    BINARY(lt),
    BINARY(le),
    BINARY(gt),
    BINARY(ge),
    BINARY(logical_and),
    BINARY(logical_or),
    BINARY(logical_xor),
    BINARY(prelu),
};

#undef UNARY
#undef BINARY
#undef OPERATOR

static std::optional<Literal> optional_number(const Call& c, int i) { return c.is_literal(i) ? c.literal(i) : std::optional<Literal>(); }

void add_pointwise(Table& table) {
  table.insert(std::begin(rows), std::end(rows));
  table["where"] = [](const Call& c) { return Tensors{where(c.x(0), c.x(1), c.x(2))}; };
  table["cast"] = [](const Call& c) { return Tensors{cast(c.x(), c.dtype(), {.saturate = c.flag("saturate", true)})}; };
  table["round"] = [](const Call& c) { return Tensors{c.has("decimals") ? round(c.x(), c.axis("decimals")) : round(c.x())}; };
  table["clamp"] = [](const Call& c) {
    if (c.is_literal(1) || c.is_literal(2)) return Tensors{clamp(c.x(), optional_number(c, 1), optional_number(c, 2))};
    if (!c.x(1).defined()) return Tensors{minimum(c.x(0), c.x(2))};
    if (!c.x(2).defined()) return Tensors{maximum(c.x(0), c.x(1))};
    return Tensors{clamp(c.x(0), c.x(1), c.x(2))};
  };
  table["lerp"] = [](const Call& c) {
    return Tensors{c.is_literal(2) ? lerp(c.x(0), c.x(1), c.literal(2)) : lerp(c.x(0), c.x(1), c.x(2))};
  };
  table["addcmul"] = [](const Call& c) { return Tensors{addcmul(c.x(0), c.x(1), c.x(2), c.real("value", 1))}; };
  table["addcdiv"] = [](const Call& c) { return Tensors{addcdiv(c.x(0), c.x(1), c.x(2), c.real("value", 1))}; };
  table["nan_to_num"] = [](const Call& c) {
    NanToNumOptions o{.nan = c.real("nan", 0)};
    if (c.has("posinf")) o.posinf = c.real("posinf");
    if (c.has("neginf")) o.neginf = c.real("neginf");
    return Tensors{nan_to_num(c.x(), o)};
  };
  table["isclose"] = [](const Call& c) {
    return Tensors{isclose(c.x(0), c.x(1), {.rtol = c.real("relative"), .atol = c.real("absolute"), .equal_nan = c.flag("equal_nan")})};
  };
  table["allclose"] = [](const Call& c) {
    const bool y = allclose(c.x(0), c.x(1), {.rtol = c.real("relative"), .atol = c.real("absolute"), .equal_nan = c.flag("equal_nan")});
    return Tensors{full({}, y, boolean)};
  };
  table["leaky_relu"] = [](const Call& c) { return Tensors{leaky_relu(c.x(), c.real("slope", 0.01))}; };
  table["elu"] = [](const Call& c) { return Tensors{elu(c.x(), c.real("alpha", 1))}; };
  table["celu"] = [](const Call& c) { return Tensors{celu(c.x(), c.real("alpha", 1))}; };
  table["hardtanh"] = [](const Call& c) { return Tensors{hardtanh(c.x(), c.real("low", -1), c.real("high", 1))}; };
  table["threshold"] = [](const Call& c) { return Tensors{threshold(c.x(), c.real("threshold"), c.real("value"))}; };
  table["hardshrink"] = [](const Call& c) { return Tensors{hardshrink(c.x(), c.real("lambda_", 0.5))}; };
  table["softshrink"] = [](const Call& c) { return Tensors{softshrink(c.x(), c.real("lambda_", 0.5))}; };
  table["glu"] = [](const Call& c) { return Tensors{glu(c.x(), c.axis())}; };
  // What PyTorch has a name for and one writes here (docs/FROM_PYTORCH.md).
  table["positive"] = [](const Call& c) { return Tensors{c.x()}; };
  table["isposinf"] = [](const Call& c) { return Tensors{eq(c.x(), INFINITY)}; };
  table["isneginf"] = [](const Call& c) { return Tensors{eq(c.x(), -INFINITY)}; };
  table["ldexp"] = [](const Call& c) { return Tensors{c.x(0) * exp2(c.x(1))}; };
  table["logit"] = [](const Call& c) { return Tensors{log(c.x() / (1 - c.x()))}; };
}

}  // namespace votive::opinfo
