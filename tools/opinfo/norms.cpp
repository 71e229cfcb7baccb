// Names of compare_opinfo.py for softmax, the normalising layers, attention and losses.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

/// A norm over several last axes is one over them flattened.
template <class Norm>
static Tensors over_last(const Call& c, Norm norm) {
  const int n = c.axis("axes", 1);
  if (n == 1) return {norm(c.x(0), c.x(1), c.x(2))};
  const auto flat = [](const Tensor& w) { return w.defined() ? flatten(w) : w; };
  return {reshape(norm(flatten(c.x(0), -n, -1), flat(c.x(1)), flat(c.x(2))), c.x(0).shape())};
}

void add_norms(Table& table) {
  table["softmax"] = [](const Call& c) { return Tensors{softmax(c.x(), {.axis = c.axis()})}; };
  table["softmin"] = [](const Call& c) { return Tensors{softmax(-c.x(), {.axis = c.axis()})}; };
  table["log_softmax"] = [](const Call& c) { return Tensors{log_softmax(c.x(), {.axis = c.axis()})}; };
  table["rms_norm"] = [](const Call& c) {
    return over_last(
        c, [&](const Tensor& x, const Tensor& gamma, const Tensor&) { return rms_norm(x, gamma, {.epsilon = c.real32("epsilon", 1e-5)}); });
  };
  table["layer_norm"] = [](const Call& c) {
    return over_last(c, [&](const Tensor& x, const Tensor& gamma, const Tensor& beta) {
      return layer_norm(x, gamma, beta, {.epsilon = c.real32("epsilon", 1e-5)});
    });
  };
  table["attention"] = [](const Call& c) {
    AttentionOptions o{.causal = c.flag("causal")};
    if (c.has("scale")) o.scale = c.real32("scale");
    return Tensors{attention(c.x(0), c.x(1), c.x(2), c.x(3), o)};
  };
}

}  // namespace votive::opinfo
