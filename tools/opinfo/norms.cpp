// Names of compare_opinfo.py for softmax, the normalising layers, attention and losses.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

void add_norms(Table& table) {
  table["softmax"] = [](const Call& c) { return Tensors{softmax(c.x(), {.axis = c.axis()})}; };
  table["log_softmax"] = [](const Call& c) { return Tensors{log_softmax(c.x(), {.axis = c.axis()})}; };
  table["rms_norm"] = [](const Call& c) { return Tensors{rms_norm(c.x(0), c.x(1), {.epsilon = c.real32("epsilon", 1e-5)})}; };
  table["layer_norm"] = [](const Call& c) { return Tensors{layer_norm(c.x(0), c.x(1), c.x(2), {.epsilon = c.real32("epsilon", 1e-5)})}; };
  table["attention"] = [](const Call& c) {
    AttentionOptions o{.causal = c.flag("causal")};
    if (c.has("scale")) o.scale = c.real32("scale");
    return Tensors{attention(c.x(0), c.x(1), c.x(2), c.x(3), o)};
  };
}

}  // namespace votive::opinfo
