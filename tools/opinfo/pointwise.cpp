// Names of compare_opinfo.py for what works element by element, the operators and casts.
#include <cmath>
#include <numbers>

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
    UNARY(neg),          UNARY(abs),       UNARY(sign),      UNARY(relu),      UNARY(square),   UNARY(floor),        UNARY(ceil),
    UNARY(trunc),        UNARY(round),     UNARY(sqrt),      UNARY(rsqrt),     UNARY(recip),    UNARY(exp),          UNARY(exp2),
    UNARY(expm1),        UNARY(log2),      UNARY(log10),     UNARY(log1p),     UNARY(erfc),     UNARY(log),          UNARY(sin),
    UNARY(cos),          UNARY(tanh),      UNARY(erf),       UNARY(sigmoid),   UNARY(silu),     UNARY(gelu),         UNARY(gelu_tanh),
    OPERATOR(add, +),    OPERATOR(sub, -), OPERATOR(mul, *), OPERATOR(div, /), BINARY(minimum), BINARY(maximum),     BINARY(eq),
    BINARY(ne),          BINARY(lt),       BINARY(le),       BINARY(gt),       BINARY(ge),      BINARY(logical_and), BINARY(logical_or),
    BINARY(logical_xor),
};

#undef UNARY
#undef BINARY
#undef OPERATOR

void add_pointwise(Table& table) {
  table.insert(std::begin(rows), std::end(rows));
  table["softplus"] = [](const Call& c) { return Tensors{softplus(c.x())}; };
  // What PyTorch has a name for and one writes here (docs/FROM_PYTORCH.md).
  table["positive"] = [](const Call& c) { return Tensors{c.x()}; };
  table["deg2rad"] = [](const Call& c) { return Tensors{c.x() * (std::numbers::pi / 180)}; };
  table["rad2deg"] = [](const Call& c) { return Tensors{c.x() * (180 / std::numbers::pi)}; };
  table["isposinf"] = [](const Call& c) { return Tensors{eq(c.x(), INFINITY)}; };
  table["isneginf"] = [](const Call& c) { return Tensors{eq(c.x(), -INFINITY)}; };
  table["ldexp"] = [](const Call& c) { return Tensors{c.x(0) * exp2(c.x(1))}; };
  table["threshold"] = [](const Call& c) { return Tensors{where(gt(c.x(), c.number("threshold")), c.x(), c.number("value"))}; };
  table["isin"] = [](const Call& c) { return Tensors{any(eq(unsqueeze(c.x(0), -1), flatten(c.x(1))), {.axis = -1})}; };
  table["where"] = [](const Call& c) { return Tensors{where(c.x(0), c.x(1), c.x(2))}; };
  table["cast"] = [](const Call& c) { return Tensors{cast(c.x(), c.dtype(), {.saturate = c.flag("saturate", true)})}; };
}

}  // namespace votive::opinfo
