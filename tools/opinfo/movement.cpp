// Names of compare_opinfo.py for what moves elements or makes tensors, without computing.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static SliceOptions slice_options(const Call& c) {
  SliceOptions o{.axis = c.axis(), .step = c.integer("step", 1)};
  if (c.has("start")) o.start = c.integer("start");
  if (c.has("stop")) o.stop = c.integer("stop");
  return o;
}

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
  table["slice"] = [](const Call& c) { return Tensors{slice(c.x(), slice_options(c))}; };
  table["narrow"] = [](const Call& c) { return Tensors{narrow(c.x(), c.axis(), c.integer("start"), c.integer("n"))}; };
  table["select"] = [](const Call& c) { return Tensors{select(c.x(), c.axis(), c.integer("index"))}; };
  table["flip"] = [](const Call& c) { return Tensors{flip(c.x(), Axes(c.axes()))}; };
  table["broadcast_to"] = [](const Call& c) { return Tensors{broadcast_to(c.x(), c.shape())}; };
  table["contiguous"] = [](const Call& c) { return Tensors{contiguous(c.x())}; };
  table["split"] = [](const Call& c) { return split(c.x(), c.integers("sizes"), c.axis()); };
  table["chunk"] = [](const Call& c) { return chunk(c.x(), c.integer("chunks"), c.axis()); };
  table["concat"] = [](const Call& c) { return Tensors{concat(c.tensors(), c.axis("axis", 0))}; };
  table["stack"] = [](const Call& c) { return Tensors{stack(c.tensors(), c.axis("axis", 0))}; };
  table["unbind"] = [](const Call& c) {
    Tensors all;
    for (Size i = 0; i < c.x().size(c.axis()); ++i) all.push_back(select(c.x(), c.axis(), i));
    return all;
  };
  table["broadcast_tensors"] = [](const Call& c) {
    Shape shape;
    for (const Tensor& x : c.tensors()) shape = broadcast_shape("broadcast_tensors", shape, x.shape());
    Tensors all;
    for (const Tensor& x : c.tensors()) all.push_back(broadcast_to(x, shape));
    return all;
  };
  table["movedim"] = [](const Call& c) {
    return Tensors{movedim(c.x(), std::span<const int>(c.axes("source")), std::span<const int>(c.axes("target")))};
  };
  table["rot90"] = [](const Call& c) { return Tensors{rot90(c.x(), c.integer("k"), c.axes()[0], c.axes()[1])}; };
  table["roll"] = [](const Call& c) {
    if (!c.has("axes")) return Tensors{roll(c.x(), c.integers("shifts")[0])};
    return Tensors{roll(c.x(), std::span<const Size>(c.integers("shifts")), std::span<const int>(c.axes()))};
  };
  table["repeat"] = [](const Call& c) { return Tensors{repeat(c.x(), c.shape("counts"))}; };
  table["tile"] = [](const Call& c) { return Tensors{tile(c.x(), c.shape("counts"))}; };
  table["repeat_interleave"] = [](const Call& c) {
    const Tensor x = c.has("axis") ? c.x() : flatten(c.x());
    return Tensors{c.has("n") ? repeat_interleave(x, c.integer("n"), c.axis("axis", 0)) : repeat_interleave(x, c.x(1), c.axis("axis", 0))};
  };
  table["diagonal"] = [](const Call& c) {
    return Tensors{diagonal(c.x(), {.offset = c.integer("offset"), .a = c.axis("a", -2), .b = c.axis("b", -1)})};
  };
  table["diag_embed"] = [](const Call& c) {
    return Tensors{diag_embed(c.x(), {.offset = c.integer("offset"), .a = c.axis("a", -2), .b = c.axis("b", -1)})};
  };
  table["diag"] = [](const Call& c) { return Tensors{diag(c.x(), c.integer("offset"))}; };
  table["tril"] = [](const Call& c) { return Tensors{tril(c.x(), c.integer("offset"))}; };
  table["triu"] = [](const Call& c) { return Tensors{triu(c.x(), c.integer("offset"))}; };
  table["unfold"] = [](const Call& c) { return Tensors{unfold(c.x(), c.axis(), c.integer("size"), c.integer("step"))}; };
  table["pad"] = [](const Call& c) {  // PyTorch's list starts with the last axis
    const std::map<std::string, PadMode> modes = {
        {"constant", PadMode::constant}, {"edge", PadMode::edge}, {"reflect", PadMode::reflect}, {"circular", PadMode::circular}};
    const std::vector<Size> pads = c.integers("pads");
    std::vector<PadWidth> widths(static_cast<std::size_t>(c.x().rank()));
    for (std::size_t i = 0; 2 * i < pads.size(); ++i) widths[widths.size() - 1 - i] = {pads[2 * i], pads[2 * i + 1]};
    return Tensors{pad(c.x(), std::span<const PadWidth>(widths), {.mode = modes.at(c.text("mode")), .value = c.number("value")})};
  };
  table["slice_scatter"] = [](const Call& c) { return Tensors{slice_scatter(c.x(0), c.x(1), slice_options(c))}; };
  table["select_scatter"] = [](const Call& c) { return Tensors{select_scatter(c.x(0), c.x(1), c.axis(), c.integer("index"))}; };
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
