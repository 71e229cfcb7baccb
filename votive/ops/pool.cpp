// Rules of pooling. Max pooling keeps the places it found, which is all its gradient needs; averages and their gradients are each other's transposes.
#include "votive/ops/pool.h"

#include <algorithm>
#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/ops.h"

namespace votive {

Bins::Range Bins::range(const Windows& w, std::size_t i, Size o, Size in) const {
  if (!adaptive) return {o * w.stride[i] - w.before[i], w.dilation[i], w.kernel[i]};
  // ⌊o·in/size⌋ without the product: in = q·size + r
  const Size n = w.size[i], q = in / n, r = in % n;
  const Size first =
      o * q + static_cast<Size>(static_cast<unsigned __int128>(o) * static_cast<unsigned __int128>(r) / static_cast<unsigned __int128>(n));
  const auto up = static_cast<unsigned __int128>(o + 1) * static_cast<unsigned __int128>(r);
  const Size end = (o + 1) * q + static_cast<Size>((up + static_cast<unsigned __int128>(n - 1)) / static_cast<unsigned __int128>(n));
  return {first, 1, end - first};
}

namespace {

Shape spatial_replaced(const Shape& x, int axes, const Spatial& sizes) {
  Shape shape = x;
  for (int axis = 0; axis < axes; ++axis) shape[x.rank() - axes + axis] = sizes[static_cast<std::size_t>(axis)];
  return shape;
}

Spatial last_of(const Shape& shape, int axes) {
  Spatial sizes{1, 1, 1};
  for (int axis = 0; axis < axes; ++axis) sizes[static_cast<std::size_t>(axis)] = shape[shape.rank() - axes + axis];
  return sizes;
}

/// [N, C, …] with the spatial axes as one.
Tensor flat_planes(const Tensor& x) {
  Size plane = 1;
  for (int axis = 2; axis < x.rank(); ++axis) plane *= x.shape()[axis];
  return reshape(x, {x.shape()[0], x.shape()[1], plane});
}

}  // namespace

std::pair<Meta, Meta> MaxPool::result(const Meta& x) const {
  Meta values{.dtype = x.dtype, .shape = spatial_replaced(x.shape, bins.windows.axes, bins.windows.size), .device = x.device};
  Meta indices = values;
  indices.dtype = DType::i64;
  return {values, indices};
}

Tensors MaxPool::gradient(const Backward& b) const {
  if (!b.dy(0).defined()) return {Tensor()};
  const int axes = bins.windows.axes;
  return {apply(MaxUnpool{axes, last_of(b.meta().shape, axes), true}, b.dy(0), b.y(1))};
}

Meta MaxUnpool::result(const Meta& x, const Meta&) const {
  return {.dtype = x.dtype, .shape = spatial_replaced(x.shape, axes, size), .device = x.device};
}

Tensors MaxUnpool::gradient(const Backward& b) const {
  const Tensor places = flat_planes(b.x(1));
  Tensor dx = gather(flat_planes(b.dy()), places, -1);
  if (!sums) {
    // what was overwritten gets nothing
    const Tensor order = broadcast_to(arange(0, places.shape()[2], 1, DType::i64, {.device = places.device()}), places.shape());
    const Tensor won =
        apply(MaxUnpool{1, {b.dy().count() / std::max<Size>(1, places.shape()[0] * places.shape()[1]), 1, 1}, false}, order, places);
    dx = where(eq(gather(won, places, -1), order), dx, zeros_like(dx));
  }
  return {reshape(dx, b.meta(0).shape), Tensor()};
}

Error unpool_index_error(const Tensor& indices, Size at, Size value, Size plane) {
  std::vector<Size> position(static_cast<std::size_t>(indices.rank()));
  for (int axis = indices.rank() - 1; axis >= 0; --axis) {
    position[static_cast<std::size_t>(axis)] = at % indices.shape()[axis];
    at /= indices.shape()[axis];
  }
  const Meta meta = indices.meta();
  const Argument argument{"indices", 2, meta};
  return error_about(ErrorKind::IndexOutOfRange, "max_unpool", {argument})
      .value(text::format("{}", value))
      .position(position)
      .detail(text::format("argument 'indices' (#2, {}) has {} at position {}; valid range for {} elements is 0..{}", describe(meta), value,
                           to_string(Shape(std::span<const Size>(position))), plane, plane - 1));
}

Meta AveragePool::result(const Meta& x) const {
  return {.dtype = x.dtype, .shape = spatial_replaced(x.shape, bins.windows.axes, bins.windows.size), .device = x.device};
}

Tensors AveragePool::gradient(const Backward& b) const {
  return {apply(AverageSpread{*this, last_of(b.meta().shape, bins.windows.axes)}, b.dy())};
}

Size AveragePool::counted(const Bins::Range& range, std::size_t i, Size in) const {
  if (bins.adaptive) return range.count;
  const std::size_t idle = static_cast<std::size_t>(3 - bins.windows.axes);
  if (i < idle) return 1;
  const Size end = range.first + range.count;
  if (count_padding) return std::min(end, padded_end[i - idle]) - range.first;
  return std::min(end, in) - std::max<Size>(range.first, 0);
}

Meta AverageSpread::result(const Meta& x) const {
  return {.dtype = x.dtype, .shape = spatial_replaced(x.shape, pool.bins.windows.axes, in), .device = x.device};
}

Tensors AverageSpread::gradient(const Backward& b) const { return {apply(pool, b.dy())}; }

// ---- calls ----

namespace {

Shape last_axes(const Shape& shape, int axes) { return Shape(std::span(shape.end() - axes, static_cast<std::size_t>(axes))); }

/// x with an axis of images where it has none; `single` says so.
Tensor with_images(const Tensor& x, bool single) { return single ? unsqueeze(x, 0) : x; }

Windows pool_windows(std::string_view op, const Argument& x, int axes, const PerAxis& kernel, const PerAxis& stride, const Padding& padding,
                     const PerAxis& dilation, bool ceil) {
  const Spatial sizes = kernel.of(op, "kernel", axes), given = stride.of(op, "stride", axes);
  const bool own = std::all_of(given.begin(), given.begin() + axes, [](Size s) { return s == 0; });
  const Windows w = slide(op, x, axes, last_axes(x.meta.shape, axes), sizes, own ? kernel : stride, padding, dilation, ceil);
  if (padding.is_same()) return w;
  const auto ends = padding.of(op, axes);
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Size most = std::max(ends[i].first, ends[i].second), span = (w.kernel[i] - 1) * w.dilation[i] + 1;
    if (most > span / 2) {
      throw error_about(ErrorKind::InvalidArgument, op, {x})
          .value(text::format("{}", most))
          .detail(text::format("padding {} of a kernel that spans {}", most, span))
          .accepted("at most half");
    }
  }
  return w;
}

/// With dilation a window may step over all there is, where an axis is shorter than a step.
void require_elements(std::string_view op, const Argument& x, const Windows& w) {
  for (int axis = 0; axis < w.axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Size n = x.meta.shape[x.meta.shape.rank() - w.axes + axis], d = w.dilation[i];
    if (n >= d || (n > 0 && votive::count(x.meta.shape) == 0)) continue;
    for (Size o = 0; o < w.size[i]; ++o) {
      const Size first = o * w.stride[i] - w.before[i];
      const Size inside = first >= 0 ? first : first + (-first + d - 1) / d * d;  // the first tap at or after 0
      if (inside < n && (inside - first) / d < w.kernel[i]) continue;
      throw error_about(ErrorKind::EmptyReduction, op, {x})
          .detail(text::format("window {} of spatial axis {} of {} holds padding alone", o, axis, describe(x)));
    }
  }
}

Bins adaptive_bins(std::string_view op, const Argument& x, int axes, const Spatial& size) {
  for (int axis = 0; axis < axes; ++axis) {
    const Size n = x.meta.shape[x.meta.shape.rank() - axes + axis], s = size[static_cast<std::size_t>(axis)];
    if (s < 1)
      throw error_about(ErrorKind::InvalidArgument, op, {x})
          .value(text::format("{}", s))
          .detail(text::format("size {}", s))
          .accepted("at least 1");
    if (n == 0)
      throw error_about(ErrorKind::EmptyReduction, op, {x}).detail(text::format("spatial axis {} of {} is empty", axis, describe(x)));
  }
  checked_count(op, spatial_replaced(x.meta.shape, axes, size), block_bytes(x.meta.dtype));
  return {.windows = {.axes = axes, .size = size}, .adaptive = true};
}

void require_number_of_rank(std::string_view op, const Argument& x, int axes) {
  require_number(op, x);
  require_rank(op, x, axes + 1, axes + 2);
}

std::pair<Tensor, Tensor> run_max(const Bins& bins, const Tensor& x) {
  const bool single = x.rank() == bins.windows.axes + 1;
  auto [values, indices] = apply_pair(MaxPool{bins}, with_images(x, single));
  if (!single) return {std::move(values), std::move(indices)};
  return {squeeze(values, 0), squeeze(indices, 0)};
}

std::pair<Tensor, Tensor> max_pool(std::string_view op, int axes, const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {
  return as_one(op, [&] {
    const Meta meta = x.meta();
    const Argument a{"x", 1, meta};
    require_number_of_rank(op, a, axes);
    const Windows w = pool_windows(op, a, axes, kernel, options.stride, options.padding, options.dilation, options.ceil);
    require_elements(op, a, w);
    return run_max({.windows = w}, x);
  });
}

std::pair<Tensor, Tensor> adaptive_max(std::string_view op, int axes, const Tensor& x, const Spatial& size) {
  return as_one(op, [&] {
    const Meta meta = x.meta();
    const Argument a{"x", 1, meta};
    require_number_of_rank(op, a, axes);
    return run_max(adaptive_bins(op, a, axes, size), x);
  });
}

/// Integers are averaged in f32, as mean() does.
Tensor run_average(const AveragePool& op, const Tensor& x) {
  const bool single = x.rank() == op.bins.windows.axes + 1;
  const Tensor y = apply(op, with_images(is_floating(x.dtype()) ? x : x.to(DType::f32), single));
  return single ? squeeze(y, 0) : y;
}

AveragePool average_pool(std::string_view op, int axes, const Argument& a, const PerAxis& kernel, const AveragePoolOptions& options) {
  require_plain(op, a);
  require_rank(op, a, axes + 1, axes + 2);
  const Windows w = pool_windows(op, a, axes, kernel, options.stride, options.padding, 1, options.ceil);
  if (options.divisor && *options.divisor == 0) {
    throw error_about(ErrorKind::InvalidArgument, op, {a}).value("0").detail("divisor 0").accepted("any other number, or none");
  }
  AveragePool pool{.bins = {.windows = w}, .count_padding = options.count_padding, .divisor = options.divisor.value_or(0)};
  const auto ends = options.padding.of(op, axes);
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Size n = a.meta.shape[a.meta.shape.rank() - axes + axis];
    pool.padded_end[i] =
        options.padding.is_same() ? std::max(n, (w.size[i] - 1) * w.stride[i] + w.kernel[i] - w.before[i]) : n + ends[i].second;
  }
  return pool;
}

Tensor avg_pool(std::string_view op, int axes, const Tensor& x, const PerAxis& kernel, const AveragePoolOptions& options) {
  return as_one(op, [&] {
    const Meta meta = x.meta();
    return run_average(average_pool(op, axes, {"x", 1, meta}, kernel, options), x);
  });
}

Tensor adaptive_avg(std::string_view op, int axes, const Tensor& x, const PerAxis& size) {
  return as_one(op, [&] {
    const Meta meta = x.meta();
    const Argument a{"x", 1, meta};
    require_plain(op, a);
    require_rank(op, a, axes + 1, axes + 2);
    return run_average({.bins = adaptive_bins(op, a, axes, size.of(op, "size", axes))}, x);
  });
}

Tensor lp_pool(std::string_view op, int axes, const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options) {
  return as_one(op, [&] {
    const Meta meta = x.meta();
    require_floating(op, {"x", 1, meta});
    const AveragePool pool = average_pool(op, axes, {"x", 1, meta}, kernel, {.stride = options.stride, .ceil = options.ceil, .divisor = 1});
    if (!(p > 0))
      throw error_about(ErrorKind::InvalidArgument, op, {{"x", 1, meta}})
          .value(text::format("{}", p))
          .detail(text::format("p {}", p))
          .accepted("p > 0");
    const Tensor wide = meta.dtype == DType::f64 ? x : x.to(DType::f32);
    if (std::isinf(p)) return run_max(pool.bins, abs(wide)).first.to(meta.dtype);
    if (p == 1) return run_average(pool, abs(wide)).to(meta.dtype);
    if (p == 2) return sqrt(run_average(pool, square(wide))).to(meta.dtype);
    return pow(run_average(pool, pow(abs(wide), p)), 1 / p).to(meta.dtype);
  });
}

Axes after_second(std::string_view op, const Tensor& x) {
  const Meta meta = x.meta();
  require_plain(op, {"x", 1, meta});
  require_rank(op, {"x", 1, meta}, 3);
  std::vector<int> axes;
  for (int axis = 2; axis < meta.shape.rank(); ++axis) axes.push_back(axis);
  return Axes(axes);
}

}  // namespace

#define POOLS(d, axes)                                                                                                              \
  Tensor max_pool##d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {                                       \
    return max_pool("max_pool" #d, axes, x, kernel, options).first;                                                                 \
  }                                                                                                                                 \
  std::pair<Tensor, Tensor> max_pool##d##_with_indices(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options) {     \
    return max_pool("max_pool" #d "_with_indices", axes, x, kernel, options);                                                       \
  }                                                                                                                                 \
  Tensor avg_pool##d(const Tensor& x, const PerAxis& kernel, const AveragePoolOptions& options) {                                   \
    return avg_pool("avg_pool" #d, axes, x, kernel, options);                                                                       \
  }                                                                                                                                 \
  Tensor adaptive_avg_pool##d(const Tensor& x, const PerAxis& size) { return adaptive_avg("adaptive_avg_pool" #d, axes, x, size); } \
  Tensor adaptive_max_pool##d(const Tensor& x, const PerAxis& size) {                                                               \
    return adaptive_max("adaptive_max_pool" #d, axes, x, size.of("adaptive_max_pool" #d, "size", axes)).first;                      \
  }                                                                                                                                 \
  Tensor lp_pool##d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options) {                               \
    return lp_pool("lp_pool" #d, axes, x, p, kernel, options);                                                                      \
  }
POOLS(1d, 1)
POOLS(2d, 2)
POOLS(3d, 3)
#undef POOLS

std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x, const Shape& size) {
  constexpr std::string_view op = "adaptive_max_pool_with_indices";
  const Meta meta = x.meta();
  require_number(op, {"x", 1, meta});
  if (size.empty() || size.rank() > 3) {
    throw error_about(ErrorKind::InvalidArgument, op, {{"x", 1, meta}})
        .detail(text::format("size {}", to_string(size)))
        .accepted("one to three axes");
  }
  return adaptive_max(op, size.rank(), x, last_of(size, size.rank()));
}

Tensor max_unpool(const Tensor& x, const Tensor& indices, const Shape& size) {
  constexpr std::string_view op = "max_unpool";
  const Meta meta = x.meta(), meta_indices = indices.meta();
  const Argument a{"x", 1, meta}, b{"indices", 2, meta_indices};
  require_number(op, a);
  require_index(op, b);
  require_same_device(op, a, b);
  const int axes = size.rank();
  if (axes < 1 || axes > 3) {
    throw error_about(ErrorKind::InvalidArgument, op, {a}).detail(text::format("size {}", to_string(size))).accepted("one to three axes");
  }
  require_rank(op, a, axes + 1, axes + 2);
  require_shape(op, b, meta.shape);
  checked_count(op, spatial_replaced(meta.shape, axes, last_of(size, axes)), block_bytes(meta.dtype));
  const bool single = x.rank() == axes + 1;
  const Tensor y = apply(MaxUnpool{axes, last_of(size, axes)}, with_images(x, single), with_images(indices.to(DType::i64), single));
  return single ? squeeze(y, 0) : y;
}

Tensor global_avg_pool(const Tensor& x) {
  return as_one("global_avg_pool", [&] { return mean(x, {.axis = after_second("global_avg_pool", x), .keep = true}); });
}
Tensor global_max_pool(const Tensor& x) {
  return as_one("global_max_pool", [&] { return max(x, {.axis = after_second("global_max_pool", x), .keep = true}); });
}

}  // namespace votive
