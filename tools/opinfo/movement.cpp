// Names of compare_opinfo.py for what moves elements or makes tensors, without computing.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

void add_movement(Table& table) {
  table["reshape"] = [](const Call& c) { return Tensors{reshape(c.x(), c.shape())}; };
  table["flatten"] = [](const Call& c) { return Tensors{flatten(c.x(), c.axis("first", 0), c.axis("last", -1))}; };
  table["permute"] = [](const Call& c) { return Tensors{permute(c.x(), std::span<const int>(c.axes()))}; };
  table["transpose"] = [](const Call& c) { return Tensors{transpose(c.x(), c.axis("a", -2), c.axis("b", -1))}; };
  table["squeeze"] = [](const Call& c) {
    std::vector<int> axes = c.axes();
    for (int& axis : axes) axis = normalise_axis("squeeze", axis, c.x().rank());
    std::sort(axes.begin(), axes.end(), std::greater<>());
    Tensor y = c.x();
    for (int axis : axes) y = squeeze(y, axis);
    return Tensors{y};
  };
  table["unsqueeze"] = [](const Call& c) { return Tensors{unsqueeze(c.x(), c.axis())}; };
  table["slice"] = [](const Call& c) {
    SliceOptions o{.axis = c.axis(), .step = c.integer("step", 1)};
    if (c.has("start")) o.start = c.integer("start");
    if (c.has("stop")) o.stop = c.integer("stop");
    return Tensors{slice(c.x(), o)};
  };
  table["narrow"] = [](const Call& c) { return Tensors{narrow(c.x(), c.axis(), c.integer("start"), c.integer("n"))}; };
  table["select"] = [](const Call& c) { return Tensors{select(c.x(), c.axis(), c.integer("index"))}; };
  table["flip"] = [](const Call& c) { return Tensors{flip(c.x(), Axes(c.axes()))}; };
  table["broadcast_to"] = [](const Call& c) { return Tensors{broadcast_to(c.x(), c.shape())}; };
  table["contiguous"] = [](const Call& c) { return Tensors{contiguous(c.x())}; };
  table["split"] = [](const Call& c) { return split(c.x(), c.integers("sizes"), c.axis()); };
  table["chunk"] = [](const Call& c) { return chunk(c.x(), c.integer("chunks"), c.axis()); };
  table["concat"] = [](const Call& c) { return Tensors{concat(c.tensors(), c.axis("axis", 0))}; };
  table["stack"] = [](const Call& c) { return Tensors{stack(c.tensors(), c.axis("axis", 0))}; };
  table["zeros"] = [](const Call& c) { return Tensors{zeros(c.shape(), c.dtype(), {.device = c.device()})}; };
  table["ones"] = [](const Call& c) { return Tensors{ones(c.shape(), c.dtype(), {.device = c.device()})}; };
  table["zeros_like"] = [](const Call& c) { return Tensors{zeros_like(c.x())}; };
  table["ones_like"] = [](const Call& c) { return Tensors{ones_like(c.x())}; };
  table["full"] = [](const Call& c) { return Tensors{full(c.shape(), c.number("value"), c.dtype(), {.device = c.device()})}; };
  table["eye"] = [](const Call& c) { return Tensors{eye(c.integer("n"), c.dtype(), {.device = c.device()})}; };
  table["arange"] = [](const Call& c) {
    return Tensors{arange(c.number("start"), c.number("stop"), c.number("step", 1), c.optional_dtype(), {.device = c.device()})};
  };
  table["linspace"] = [](const Call& c) {
    return Tensors{linspace(c.real("start"), c.real("stop"), c.integer("n"), c.dtype(), {.device = c.device()})};
  };
}

}  // namespace votive::opinfo
