// Names of compare_opinfo.py for sums of products: matmul and what is made of it, convolution, pooling, resampling.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static PerAxis per_axis(const Call& c, const char* name) {
  if (!c.has(name)) return name == std::string_view("padding") || name == std::string_view("output_padding") ? 0 : 1;
  const std::vector<Size> v = c.integers(name);
  return v.size() == 1 ? PerAxis{v[0]} : v.size() == 2 ? PerAxis{v[0], v[1]} : PerAxis{v[0], v[1], v[2]};
}

static Padding padding(const Call& c) {
  if (c.has("mode")) return Padding(c.text("mode"));
  const std::vector<Size> v = c.integers("padding");
  return v.size() == 1 ? Padding{v[0]} : v.size() == 2 ? Padding{v[0], v[1]} : Padding{v[0], v[1], v[2]};
}

using Conv = Tensor(const Tensor&, const Tensor&, const Tensor&, const ConvOptions&);
template <Conv conv>
Tensors convolve(const Call& c) {
  const ConvOptions o{
      .stride = per_axis(c, "stride"), .padding = padding(c), .dilation = per_axis(c, "dilation"), .groups = c.integer("groups", 1)};
  return {conv(c.x(0), c.x(1), c.x(2), o)};
}

using ConvTranspose = Tensor(const Tensor&, const Tensor&, const Tensor&, const ConvTransposeOptions&);
template <ConvTranspose conv>
Tensors convolve_transposed(const Call& c) {
  const ConvTransposeOptions o{.stride = per_axis(c, "stride"),
                               .padding = padding(c),
                               .output_padding = per_axis(c, "output_padding"),
                               .dilation = per_axis(c, "dilation"),
                               .groups = c.integer("groups", 1)};
  return {conv(c.x(0), c.x(1), c.x(2), o)};
}

/// beta·c + alpha·y, written as a user would.
static Tensors added(const Call& c, Tensor y) {
  const Literal beta = c.number("beta", 1), alpha = c.number("alpha", 1);
  const auto is_one = [](Literal v) { return v.kind() == Literal::Kind::floating ? v.as_floating() == 1 : v.as_signed() == 1; };
  const auto is_zero = [](Literal v) { return v.kind() == Literal::Kind::floating ? v.as_floating() == 0 : v.as_signed() == 0; };
  if (!is_one(alpha)) y = y * alpha;
  if (is_zero(beta)) return {broadcast_to(y, broadcast_shape("added", c.x(0).shape(), y.shape()))};
  return {(is_one(beta) ? c.x(0) : c.x(0) * beta) + y};
}

/// Σ a·b along one axis, as a matmul of rows and columns: products of halves are summed in f32.
static Tensor dot_along(const Tensor& a, const Tensor& b, int axis) {
  const Shape shape = broadcast_shape("vecdot", a.shape(), b.shape());
  const int from = normalise_axis("vecdot", axis, shape.rank());
  std::vector<int> order;
  for (int i = 0; i < shape.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  order.push_back(from);
  const auto last = [&](const Tensor& x) { return permute(broadcast_to(x, shape), std::span<const int>(order)); };
  return squeeze(squeeze(matmul(unsqueeze(last(a), -2), unsqueeze(last(b), -1)), -1), -1);
}

void add_products(Table& table) {
  table["matmul"] = [](const Call& c) { return Tensors{matmul(c.x(0), c.x(1))}; };
  table["dot"] = [](const Call& c) { return Tensors{matmul(c.x(0), c.x(1))}; };
  table["outer"] = [](const Call& c) { return Tensors{matmul(unsqueeze(c.x(0), 1), unsqueeze(c.x(1), 0))}; };
  table["linear"] = [](const Call& c) { return Tensors{linear(c.x(0), c.x(1), c.x(2))}; };
  table["addmm"] = [](const Call& c) { return added(c, matmul(c.x(1), c.x(2))); };
  table["addmv"] = table["baddbmm"] = table["addmm"];
  table["addbmm"] = [](const Call& c) { return added(c, sum(matmul(c.x(1), c.x(2)), {.axis = 0})); };
  table["addr"] = [](const Call& c) { return added(c, unsqueeze(c.x(1), 1) * unsqueeze(c.x(2), 0)); };
  table["multi_dot"] = [](const Call& c) {
    Tensor y = c.x(0);
    for (const Tensor& b : c.tensors(1)) y = matmul(y, b);
    return Tensors{y};
  };
  table["vecdot"] = [](const Call& c) { return Tensors{dot_along(c.x(0), c.x(1), c.axis())}; };
  table["conv1d"] = convolve<conv1d>;
  table["conv2d"] = convolve<conv2d>;
  table["conv3d"] = convolve<conv3d>;
  table["conv_transpose1d"] = convolve_transposed<conv_transpose1d>;
  table["conv_transpose2d"] = convolve_transposed<conv_transpose2d>;
  table["conv_transpose3d"] = convolve_transposed<conv_transpose3d>;
  table["im2col"] = [](const Call& c) {
    const UnfoldOptions o{.stride = per_axis(c, "stride"), .padding = padding(c), .dilation = per_axis(c, "dilation")};
    return Tensors{im2col(c.x(), per_axis(c, "kernel"), o)};
  };
}

}  // namespace votive::opinfo
