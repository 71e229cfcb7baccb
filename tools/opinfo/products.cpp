// Names of compare_opinfo.py for sums of products: matmul and what is made of it, convolution, pooling, resampling.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static PerAxis per_axis(const Call& c, const char* name, Size otherwise) {
  if (!c.has(name)) return otherwise;
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
      .stride = per_axis(c, "stride", 1), .padding = padding(c), .dilation = per_axis(c, "dilation", 1), .groups = c.integer("groups", 1)};
  return {conv(c.x(0), c.x(1), c.x(2), o)};
}

using ConvTranspose = Tensor(const Tensor&, const Tensor&, const Tensor&, const ConvTransposeOptions&);
template <ConvTranspose conv>
Tensors convolve_transposed(const Call& c) {
  const ConvTransposeOptions o{.stride = per_axis(c, "stride", 1),
                               .padding = padding(c),
                               .output_padding = per_axis(c, "output_padding", 0),
                               .dilation = per_axis(c, "dilation", 1),
                               .groups = c.integer("groups", 1)};
  return {conv(c.x(0), c.x(1), c.x(2), o)};
}

using MaxPool = Tensor(const Tensor&, const PerAxis&, const MaxPoolOptions&);
using MaxPoolIndices = std::pair<Tensor, Tensor>(const Tensor&, const PerAxis&, const MaxPoolOptions&);
template <MaxPool pool, MaxPoolIndices pool_with_indices>
Tensors max_pool(const Call& c) {
  const MaxPoolOptions o{
      .stride = per_axis(c, "stride", 0), .padding = padding(c), .dilation = per_axis(c, "dilation", 1), .ceil = c.flag("ceil")};
  if (!c.flag("indices")) return {pool(c.x(), per_axis(c, "kernel", 1), o)};
  const auto [values, indices] = pool_with_indices(c.x(), per_axis(c, "kernel", 1), o);
  return {values, indices};
}

using AveragePool = Tensor(const Tensor&, const PerAxis&, const AveragePoolOptions&);
template <AveragePool pool>
Tensors average_pool(const Call& c) {
  AveragePoolOptions o{
      .stride = per_axis(c, "stride", 0), .padding = padding(c), .ceil = c.flag("ceil"), .count_padding = c.flag("count_padding", true)};
  if (c.has("divisor")) o.divisor = c.integer("divisor");
  return {pool(c.x(), per_axis(c, "kernel", 1), o)};
}

using Adaptive = Tensor(const Tensor&, const PerAxis&);
template <Adaptive pool>
Tensors adaptive(const Call& c) {
  if (!c.flag("indices")) return {pool(c.x(), per_axis(c, "size", 1))};
  const auto [values, indices] = adaptive_max_pool_with_indices(c.x(), c.shape("size"));
  return {values, indices};
}

static Tensors unpool(const Call& c) { return {max_unpool(c.x(0), c.x(1), c.shape("size"))}; }

static Interpolation interpolation(const Call& c) {
  const std::map<std::string, Interpolation> modes = {{"nearest", Interpolation::nearest},  {"nearest-exact", Interpolation::nearest_exact},
                                                      {"linear", Interpolation::linear},    {"bilinear", Interpolation::linear},
                                                      {"trilinear", Interpolation::linear}, {"bicubic", Interpolation::cubic},
                                                      {"area", Interpolation::area}};
  return modes.at(c.text("mode"));
}

/// beta·c + alpha·y, written as a user would.
static Tensors added(const Call& c, Tensor y) {
  const double beta = c.real("beta", 1), alpha = c.real("alpha", 1);
  if (alpha != 1) y = is_floating(y.dtype()) ? y * alpha : y * static_cast<std::int64_t>(alpha);
  if (beta == 0) return {broadcast_to(y, broadcast_shape("added", c.x(0).shape(), y.shape()))};
  return {(beta == 1 ? c.x(0) : is_floating(c.x(0).dtype()) ? c.x(0) * beta : c.x(0) * static_cast<std::int64_t>(beta)) + y};
}

/// Σ a·b along any axis.
static Tensor dot_along(const Tensor& a, const Tensor& b, int axis) {
  const Shape shape = broadcast_shape("vecdot", a.shape(), b.shape());
  return vecdot(movedim(broadcast_to(a, shape), axis, -1), movedim(broadcast_to(b, shape), axis, -1));
}

static void add_matmuls(Table& table) {
  table["matmul"] = [](const Call& c) { return Tensors{matmul(c.x(0), c.x(1))}; };
  table["mv"] = [](const Call& c) { return Tensors{mv(c.x(0), c.x(1))}; };
  table["dot"] = [](const Call& c) { return Tensors{dot(c.x(0), c.x(1))}; };
  table["inner"] = [](const Call& c) { return Tensors{inner(c.x(0), c.x(1))}; };
  table["outer"] = [](const Call& c) { return Tensors{outer(c.x(0), c.x(1))}; };
  table["kron"] = [](const Call& c) { return Tensors{kron(c.x(0), c.x(1))}; };
  table["linear"] = [](const Call& c) { return Tensors{linear(c.x(0), c.x(1), c.x(2))}; };
  table["bilinear"] = [](const Call& c) { return Tensors{bilinear(c.x(0), c.x(1), c.x(2), c.x(3))}; };
  table["einsum"] = [](const Call& c) { return Tensors{einsum(c.text("formula"), c.tensors())}; };
  table["tensordot"] = [](const Call& c) {
    return Tensors{tensordot(c.x(0), c.x(1), std::span<const int>(c.axes("a")), std::span<const int>(c.axes("b")))};
  };
  table["vecdot"] = [](const Call& c) { return Tensors{dot_along(c.x(0), c.x(1), c.axis())}; };
  table["trace"] = [](const Call& c) { return Tensors{trace(c.x())}; };
  table["addmm"] = [](const Call& c) {
    if (!is_floating(c.x(0).dtype())) return added(c, matmul(c.x(1), c.x(2)));
    return Tensors{addmm(c.x(0), c.x(1), c.x(2), {.alpha = c.real32("alpha", 1), .beta = c.real32("beta", 1)})};
  };
  table["baddbmm"] = [](const Call& c) {
    if (!is_floating(c.x(0).dtype())) return added(c, matmul(c.x(1), c.x(2)));
    return Tensors{baddbmm(c.x(0), c.x(1), c.x(2), {.alpha = c.real32("alpha", 1), .beta = c.real32("beta", 1)})};
  };
  table["addmv"] = [](const Call& c) { return added(c, mv(c.x(1), c.x(2))); };
  table["addbmm"] = [](const Call& c) { return added(c, sum(matmul(c.x(1), c.x(2)), {.axis = 0})); };
  table["addr"] = [](const Call& c) { return added(c, unsqueeze(c.x(1), 1) * unsqueeze(c.x(2), 0)); };
  table["multi_dot"] = [](const Call& c) {
    Tensor y = c.x(0);
    for (const Tensor& b : c.tensors(1)) y = matmul(y, b);
    return Tensors{y};
  };
}

static void add_windows(Table& table) {
  table["conv1d"] = convolve<conv1d>;
  table["conv2d"] = convolve<conv2d>;
  table["conv3d"] = convolve<conv3d>;
  table["conv_transpose1d"] = convolve_transposed<conv_transpose1d>;
  table["conv_transpose2d"] = convolve_transposed<conv_transpose2d>;
  table["conv_transpose3d"] = convolve_transposed<conv_transpose3d>;
  table["im2col"] = [](const Call& c) {
    const UnfoldOptions o{.stride = per_axis(c, "stride", 1), .padding = padding(c), .dilation = per_axis(c, "dilation", 1)};
    return Tensors{im2col(c.x(), per_axis(c, "kernel", 1), o)};
  };
  table["max_pool1d"] = max_pool<max_pool1d, max_pool1d_with_indices>;
  table["max_pool2d"] = max_pool<max_pool2d, max_pool2d_with_indices>;
  table["max_pool3d"] = max_pool<max_pool3d, max_pool3d_with_indices>;
  table["max_unpool1d"] = table["max_unpool2d"] = table["max_unpool3d"] = unpool;
  table["avg_pool1d"] = average_pool<avg_pool1d>;
  table["avg_pool2d"] = average_pool<avg_pool2d>;
  table["avg_pool3d"] = average_pool<avg_pool3d>;
  table["adaptive_avg_pool1d"] = adaptive<adaptive_avg_pool1d>;
  table["adaptive_avg_pool2d"] = adaptive<adaptive_avg_pool2d>;
  table["adaptive_avg_pool3d"] = adaptive<adaptive_avg_pool3d>;
  table["adaptive_max_pool1d"] = adaptive<adaptive_max_pool1d>;
  table["adaptive_max_pool2d"] = adaptive<adaptive_max_pool2d>;
  table["adaptive_max_pool3d"] = adaptive<adaptive_max_pool3d>;
}

static void add_resampling(Table& table) {
  table["interpolate"] = [](const Call& c) {
    const InterpolateOptions o{.mode = interpolation(c), .align_corners = c.flag("align_corners"), .antialias = c.flag("antialias")};
    return Tensors{c.has("size") ? interpolate(c.x(), c.shape("size"), o) : interpolate_by(c.x(), c.reals("scale"), o)};
  };
  table["grid_sample"] = [](const Call& c) {
    const std::map<std::string, GridPadding> pads = {
        {"zeros", GridPadding::zeros}, {"border", GridPadding::border}, {"reflection", GridPadding::reflection}};
    return Tensors{grid_sample(
        c.x(0), c.x(1), {.mode = interpolation(c), .padding = pads.at(c.text("outside")), .align_corners = c.flag("align_corners")})};
  };
  table["pixel_shuffle"] = [](const Call& c) { return Tensors{pixel_shuffle(c.x(), c.integer("factor"))}; };
  table["pixel_unshuffle"] = [](const Call& c) { return Tensors{pixel_unshuffle(c.x(), c.integer("factor"))}; };
  table["channel_shuffle"] = [](const Call& c) { return Tensors{channel_shuffle(c.x(), c.integer("groups"))}; };
}

void add_products(Table& table) {
  add_matmuls(table);
  add_windows(table);
  add_resampling(table);
}

}  // namespace votive::opinfo
