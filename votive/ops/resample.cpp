// Rules of resampling: the taps and weights of an interpolated axis, and what is composed of other operations (grid_sample, shuffles). Everything is computed in
// f64 by operations that round once, so tables are the same on every machine.
#include "votive/ops/resample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/check.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

// ---- tables ----

namespace {

/// ⌊a·b/c⌋ of sizes.
Size scaled_down(Size a, Size b, Size c) {
  return static_cast<Size>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b) / static_cast<unsigned __int128>(c));
}

double near_cubic(double x, double a) { return ((a + 2) * x - (a + 3)) * x * x + 1; }
double far_cubic(double x, double a) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; }

double filter_at(Interpolation mode, double x) {
  x = std::fabs(x);
  if (mode == Interpolation::linear) return x < 1 ? 1 - x : 0;
  return x < 1 ? near_cubic(x, -0.5) : x < 2 ? far_cubic(x, -0.5) : 0;
}

Size clamp_index(double at, Size n) { return at <= 0 ? 0 : at >= static_cast<double>(n - 1) ? n - 1 : static_cast<Size>(at); }

class TableBuilder {
 public:
  explicit TableBuilder(const Interpolate& op) : op_(op) {
    step_ = op.step != 0 ? op.step : static_cast<double>(op.in) / static_cast<double>(op.size);
    if (op.align_corners) step_ = op.size > 1 ? static_cast<double>(op.in - 1) / static_cast<double>(op.size - 1) : 0;
  }

  TapTable build() {
    table_.begin.push_back(0);
    for (Size o = 0; o < op_.size; ++o) {
      add_output(o);
      table_.begin.push_back(static_cast<Size>(table_.index.size()));
    }
    table_.copies = op_.mode == Interpolation::nearest || op_.mode == Interpolation::nearest_exact;
    return std::move(table_);
  }

 private:
  void tap(Size index, double weight) {
    table_.index.push_back(index);
    table_.weight.push_back(weight);
  }

  void add_output(Size o) {
    const double position = static_cast<double>(o);
    switch (op_.mode) {
      case Interpolation::nearest:
        return tap(op_.step != 0 ? clamp_index(std::floor(position * step_), op_.in) : scaled_down(o, op_.in, op_.size), 1);
      case Interpolation::nearest_exact:
        return tap(op_.step != 0 ? clamp_index(std::floor((position + 0.5) * step_), op_.in) : scaled_down(2 * o + 1, op_.in, 2 * op_.size),
                   1);
      default: break;
    }
    if (op_.antialias) return add_filtered(position);
    double at = op_.align_corners ? position * step_ : (position + 0.5) * step_ - 0.5;
    if (op_.mode == Interpolation::linear) {
      at = std::max(at, 0.0);
      const Size first = clamp_index(std::floor(at), op_.in);
      const double t = std::min(at - static_cast<double>(first), 1.0);
      tap(first, 1 - t);
      return tap(std::min(first + 1, op_.in - 1), t);
    }
    const double whole = std::floor(at), t = at - whole;
    const double weights[4] = {far_cubic(t + 1, -0.75), near_cubic(t, -0.75), near_cubic(1 - t, -0.75), far_cubic(2 - t, -0.75)};
    for (int i = 0; i < 4; ++i) tap(clamp_index(whole + i - 1, op_.in), weights[i]);
  }

  /// Every element under the filter, which is as wide as `step` elements of the output where these are wider than the input's; weights of sum 1.
  void add_filtered(double position) {
    const double width = std::max(step_, 1.0), centre = step_ * (position + 0.5);
    const double support = (op_.mode == Interpolation::linear ? 1.0 : 2.0) * width;
    const auto whole = [&](double x) { return x <= 0 ? 0 : x >= static_cast<double>(op_.in) ? op_.in : static_cast<Size>(x); };
    Size first = whole(centre - support + 0.5), last = whole(centre + support + 0.5);
    if (first >= last) {  // nothing under it: the nearest
      first = std::min(first, op_.in - 1);
      return tap(first, 1);
    }
    double total = 0;
    const std::size_t start = table_.weight.size();
    for (Size i = first; i < last; ++i) {
      const double w = filter_at(op_.mode, (static_cast<double>(i) - centre + 0.5) / width);
      tap(i, w);
      total += w;
    }
    if (total == 0) return;
    for (std::size_t i = start; i < table_.weight.size(); ++i) table_.weight[i] /= total;
  }

  const Interpolate& op_;
  double step_;
  TapTable table_;
};

/// Taps by the element they read, in ascending order of outputs.
TapTable transposed_table(const TapTable& from, Size in) {
  TapTable to;
  to.begin.assign(static_cast<std::size_t>(in) + 1, 0);
  for (const Size i : from.index) ++to.begin[static_cast<std::size_t>(i) + 1];
  for (std::size_t i = 1; i < to.begin.size(); ++i) to.begin[i] += to.begin[i - 1];
  std::vector<Size> next = to.begin;
  to.index.resize(from.index.size());
  to.weight.resize(from.index.size());
  for (std::size_t o = 0; o + 1 < from.begin.size(); ++o) {
    for (auto k = static_cast<std::size_t>(from.begin[o]); k < static_cast<std::size_t>(from.begin[o + 1]); ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(from.index[k])]++);
      to.index[at] = static_cast<Size>(o);
      to.weight[at] = from.weight[k];
    }
  }
  return to;
}

}  // namespace

TapTable Interpolate::table() const {
  TapTable forward = TableBuilder(*this).build();
  return transposed ? transposed_table(forward, in) : forward;
}

Meta Interpolate::result(const Meta& x) const {
  Meta y = x;
  y.shape[axis] = transposed ? in : size;
  return y;
}

Tensors Interpolate::gradient(const Backward& b) const {
  Interpolate back = *this;
  back.transposed = !transposed;
  return {apply(back, b.dy())};
}

// ---- interpolate ----

namespace {

Tensor interpolate_axes(std::string_view op, const Tensor& x, const Shape& size, const std::vector<double>& scale,
                        InterpolateOptions options) {
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  const bool nearest = options.mode == Interpolation::nearest || options.mode == Interpolation::nearest_exact;
  const bool filters = options.mode == Interpolation::linear || options.mode == Interpolation::cubic;
  if (nearest) {
    require_unblocked(op, a);
  } else {
    require_floating(op, a);
  }
  const int axes = size.rank(), first = meta.shape.rank() - axes;
  require_rank(op, a, std::max(1, axes));
  if ((options.align_corners || options.antialias) && !filters) {
    throw error_about(ErrorKind::InvalidArgument, op, {a})
        .detail(options.align_corners ? "align_corners" : "antialias")
        .accepted("only with modes linear and cubic");
  }
  Shape result = meta.shape;
  for (int axis = 0; axis < axes; ++axis) {
    if (size[axis] < 0 || size[axis] >= Size{1} << 61)
      throw error_about(ErrorKind::InvalidArgument, op, {a}).value(format("{}", size[axis])).detail(format("size {}", size[axis]));
    if (size[axis] != 0 && meta.shape[first + axis] == 0)
      throw error_about(ErrorKind::EmptyReduction, op, {a}).detail(format("axis {} of {} is empty", first + axis, describe(a)));
    result[first + axis] = size[axis];
  }
  checked_count(op, result, std::max<Size>(block_bytes(meta.dtype), sizeof(float)));
  if (options.mode == Interpolation::area) {
    if (axes > 3) throw error_about(ErrorKind::InvalidArgument, op, {a}).detail(format("area of {} axes", axes)).accepted("one to three");
    Tensor y = reshape(x, [&] {
      Shape planes{1, 1};
      for (int axis = 0; axis < first; ++axis) planes[1] *= meta.shape[axis];
      for (int axis = 0; axis < axes; ++axis) planes.push_back(meta.shape[first + axis]);
      return planes;
    }());
    if (axes == 1) y = adaptive_avg_pool1d(y, size[0]);
    if (axes == 2) y = adaptive_avg_pool2d(y, {size[0], size[1]});
    if (axes == 3) y = adaptive_avg_pool3d(y, {size[0], size[1], size[2]});
    return reshape(y, result);
  }
  const bool half = meta.dtype == DType::f16 || meta.dtype == DType::bf16;
  Tensor y = half && !nearest ? x.to(DType::f32) : x;
  for (int axis = axes - 1; axis >= 0; --axis) {
    const Size n = meta.shape[first + axis];
    const double step = scale.empty() || options.align_corners ? 0 : 1 / scale[static_cast<std::size_t>(axis)];
    if (n == size[axis] && (step == 0 || step == 1)) continue;
    y = apply(Interpolate{.axis = first + axis,
                          .in = n,
                          .size = size[axis],
                          .mode = options.mode,
                          .step = step,
                          .align_corners = options.align_corners,
                          .antialias = options.antialias},
              y);
  }
  return y.to(meta.dtype);
}

}  // namespace

Tensor interpolate(const Tensor& x, const Shape& size, InterpolateOptions options) {
  return interpolate_axes("interpolate", x, size, {}, options);
}

Tensor interpolate_by(const Tensor& x, const std::vector<double>& scale, InterpolateOptions options) {
  constexpr std::string_view op = "interpolate_by";
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_present(op, a);
  if (scale.size() > static_cast<std::size_t>(meta.shape.rank())) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a}).detail(format("{} factors for {}", scale.size(), describe(a)));
  }
  Shape size;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const double n = static_cast<double>(meta.shape[meta.shape.rank() - static_cast<int>(scale.size()) + static_cast<int>(i)]);
    const double scaled = std::floor(n * scale[i]);
    if (!(scale[i] > 0) || !(scaled < 0x1p61)) {
      throw error_about(ErrorKind::InvalidArgument, op, {a})
          .value(format("{}", scale[i]))
          .detail(format("scale {}", scale[i]))
          .accepted("finite, above 0");
    }
    size.push_back(static_cast<Size>(scaled));
  }
  return interpolate_axes(op, x, size, options.mode == Interpolation::area ? std::vector<double>{} : scale, options);
}

// ---- grid_sample: defined by its parts, which give it its gradients; computed in one pass where nobody asks for these ----

namespace {

class Sampler {
 public:
  Sampler(const Tensor& x, const Tensor& grid, GridSampleOptions options) : options_(options), axes_(x.rank() - 2) {
    const Shape& shape = x.shape();
    channels_ = shape[1];
    Size plane = 1;
    for (int axis = 2; axis < x.rank(); ++axis) plane *= shape[axis];
    values_ = reshape(x, {shape[0], channels_, plane});
    Size points = 1;
    for (int axis = 1; axis <= axes_; ++axis) points *= grid.shape()[axis];
    for (int i = 0; i < axes_; ++i) {
      // the grid names its axes from the last to the first
      size_[static_cast<std::size_t>(i)] = shape[2 + i];
      at_[static_cast<std::size_t>(i)] = position(reshape(select(grid, -1, axes_ - 1 - i), {shape[0], 1, points}), shape[2 + i]);
    }
  }

  Tensor nearest() const {
    Coordinates at;
    for (int i = 0; i < axes_; ++i) at[index(i)] = round(padded(at_[index(i)], size_[index(i)]));
    return read(at);
  }

  Tensor linear() const {
    Coordinates low, share;
    for (int i = 0; i < axes_; ++i) {
      const Tensor at = padded(at_[index(i)], size_[index(i)]);
      low[index(i)] = floor(at);
      share[index(i)] = at - low[index(i)];
    }
    Tensor sum;
    for (int corner = 0; corner < 1 << axes_; ++corner) {
      Coordinates at;
      Tensor weight;
      for (int i = 0; i < axes_; ++i) {
        const bool high = (corner >> (axes_ - 1 - i) & 1) != 0;
        at[index(i)] = high ? low[index(i)] + 1 : low[index(i)];
        const Tensor own = high ? share[index(i)] : 1 - share[index(i)];
        weight = weight.defined() ? weight * own : own;
      }
      const Tensor part = read(at) * weight;
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  }

  Tensor cubic() const {
    Coordinates low;
    std::array<std::array<Tensor, 4>, 2> weights;
    for (int i = 0; i < 2; ++i) {
      low[index(i)] = floor(at_[index(i)]);
      const Tensor t = at_[index(i)] - low[index(i)], rest = 1 - t;
      weights[index(i)] = {far(t + 1), near(t), near(rest), far(rest + 1)};
    }
    Tensor sum;
    for (int row = 0; row < 4; ++row) {
      Tensor line;
      for (int column = 0; column < 4; ++column) {
        const Coordinates at{padded(low[0] + (row - 1), size_[0]), padded(low[1] + (column - 1), size_[1]), Tensor()};
        const Tensor part = read(at) * weights[1][index(column)];
        line = line.defined() ? line + part : part;
      }
      const Tensor part = line * weights[0][index(row)];
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  }

 private:
  using Coordinates = std::array<Tensor, 3>;
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  static Tensor near(const Tensor& x) { return ((x * 1.25 - 2.25) * x) * x + 1; }
  static Tensor far(const Tensor& x) { return ((x * -0.75 + 3.75) * x - 6) * x + 3; }

  /// [−1, 1] to elements
  Tensor position(const Tensor& grid, Size n) const {
    if (options_.align_corners) return (grid + 1) * (static_cast<double>(n - 1) / 2);
    return ((grid + 1) * static_cast<double>(n) - 1) / 2;
  }

  /// A coordinate brought back to the elements there are; zeros are made later.
  Tensor padded(const Tensor& at, Size n) const {
    if (options_.padding == GridPadding::zeros) return at;
    const double last = static_cast<double>(n - 1);
    Tensor inside = at;
    if (options_.padding == GridPadding::reflection) {
      const double low = options_.align_corners ? 0 : -0.5, span = options_.align_corners ? last : static_cast<double>(n);
      if (span == 0) return at * 0;
      const Tensor distance = abs(at - low), flips = floor(distance / span), extra = distance - flips * span;
      const Tensor even = eq(flips - floor(flips / 2) * 2, 0);
      inside = where(even, extra + low, (span + low) - extra);
    }
    return minimum(maximum(inside, 0.0), last);
  }

  /// x at whole coordinates, 0 outside
  Tensor read(const Coordinates& at) const {
    Tensor place, inside;
    for (int i = 0; i < axes_; ++i) {
      const Tensor c = at[index(i)].detach();
      const double last = static_cast<double>(size_[index(i)] - 1);
      const Tensor valid = logical_and(ge(c, 0.0), le(c, last));
      inside = inside.defined() ? logical_and(inside, valid) : valid;
      const Tensor whole = minimum(maximum(c, 0.0), last).to(DType::i64);
      place = place.defined() ? place * size_[index(i)] + whole : whole;
    }
    const Shape shape{values_.shape()[0], channels_, place.shape()[2]};
    const Tensor values = gather(values_, broadcast_to(place, shape), -1);
    return where(broadcast_to(inside, shape), values, zeros_like(values));
  }

  GridSampleOptions options_;
  int axes_;
  Size channels_ = 0;
  std::array<Size, 3> size_{};
  Coordinates at_;
  Tensor values_;
};

}  // namespace

Tensor grid_sample_in_parts(const Tensor& x, const Tensor& grid, GridSampleOptions options) {
  const Sampler sampler(x, grid, options);
  return options.mode == Interpolation::cubic    ? sampler.cubic()
         : options.mode == Interpolation::linear ? sampler.linear()
                                                 : sampler.nearest();
}

Meta GridSample::result(const Meta& x, const Meta& grid) const {
  Meta y{.dtype = x.dtype, .shape = {x.shape[0], x.shape[1]}, .device = x.device};
  for (int axis = 1; axis + 1 < grid.shape.rank(); ++axis) y.shape.push_back(grid.shape[axis]);
  return y;
}

Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions options) {
  constexpr std::string_view op = "grid_sample";
  const Meta meta = x.meta(), meta_grid = grid.meta();
  const Argument a{"x", 1, meta}, b{"grid", 2, meta_grid};
  require_floating(op, a);
  require_floating(op, b);
  require_same_dtype(op, a, b);
  require_same_device(op, a, b);
  require_rank(op, a, 4, 5);
  const int axes = meta.shape.rank() - 2;
  require_rank(op, b, axes + 2, axes + 2);
  if (meta_grid.shape[0] != meta.shape[0] || meta_grid.shape.back() != axes) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a, b})
        .detail(format("{} and {}", describe(a), describe(b)))
        .accepted(format("a grid of {} points with {} coordinates each", meta.shape[0], axes));
  }
  for (int axis = 2; axis < meta.shape.rank(); ++axis) {
    if (meta.shape[axis] == 0)
      throw error_about(ErrorKind::EmptyReduction, op, {a}).detail(format("axis {} of {} is empty", axis, describe(a)));
  }
  const bool cubic = options.mode == Interpolation::cubic;
  if ((cubic && axes != 2) || options.mode == Interpolation::nearest_exact || options.mode == Interpolation::area) {
    throw error_about(ErrorKind::InvalidArgument, op, {a, b}).detail("mode").accepted("nearest, linear, and cubic for images");
  }
  const Shape result = GridSample{options}.result(meta, meta_grid).shape;
  checked_count(op, result, sizeof(double));
  const DType wide = meta.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor values = x.to(wide), points = grid.to(wide);
  if (asks_for_gradient(values, points)) return reshape(grid_sample_in_parts(values, points, options), result).to(meta.dtype);
  return apply(GridSample{options}, values, points).to(meta.dtype);
}

Tensor affine_grid(const Tensor& theta, const Shape& size, AffineGridOptions options) {
  constexpr std::string_view op = "affine_grid";
  const Meta meta = theta.meta();
  const Argument a{"theta", 1, meta};
  require_floating(op, a);
  require_rank(op, a, 3, 3);
  const int axes = size.rank() - 2;
  if (axes != 2 && axes != 3)
    throw error_about(ErrorKind::InvalidArgument, op, {a})
        .detail(format("size {}", to_string(size)))
        .accepted("{N, C, H, W} or {N, C, D, H, W}");
  require_shape(op, a, {size[0], axes, axes + 1});
  Shape grid{size[0]};
  for (int axis = 0; axis < axes; ++axis) grid.push_back(size[2 + axis]);
  grid.push_back(axes + 1);
  checked_count(op, grid, sizeof(double));
  const DType wide = meta.dtype == DType::f64 ? DType::f64 : DType::f32;
  Shape points = grid;
  points.erase(0);
  points.back() = 1;
  std::vector<Tensor> columns;
  for (int i = axes - 1; i >= 0; --i) {
    // centres of n equal parts of [−1, 1], or their outermost points
    const Size n = size[2 + i];
    std::vector<double> at(static_cast<std::size_t>(n));
    for (Size j = 0; j < n; ++j) {
      const double place = options.align_corners ? (n > 1 ? 2.0 * static_cast<double>(j) / static_cast<double>(n - 1) : 1.0)
                                                 : (2.0 * static_cast<double>(j) + 1) / static_cast<double>(n);
      at[static_cast<std::size_t>(j)] = place - 1;
    }
    Shape own = Shape::filled(axes + 1, 1);
    own[i] = n;
    columns.push_back(broadcast_to(reshape(from_host<double>(at, {n}, DType::f64, {.device = theta.device()}).to(wide), own), points));
  }
  columns.push_back(ones(points, wide, {.device = theta.device()}));
  const Tensor base = concat(columns, -1);
  Shape result = grid;
  result.back() = axes;
  Size count = 1;
  for (int axis = 0; axis < axes; ++axis) count *= size[2 + axis];
  return reshape(matmul(reshape(base, {count, axes + 1}), transpose(theta.to(wide))), result).to(meta.dtype);
}

// ---- shuffles ----

namespace {

Meta shufflable(std::string_view op, const Tensor& x, Size factor, std::string_view what, int least_rank) {
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_unblocked(op, a);
  require_rank(op, a, least_rank);
  if (factor < 1 || factor > Size{1} << 30) {
    throw error_about(ErrorKind::InvalidArgument, op, {a})
        .value(format("{}", factor))
        .detail(format("{} {}", what, factor))
        .accepted("at least 1");
  }
  return meta;
}

void require_multiple(std::string_view op, const Meta& x, int axis, Size of) {
  if (x.shape[axis] % of == 0) return;
  throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, x}})
      .detail(format("axis {} of {} is no multiple of {}", axis, describe(Argument{"x", 1, x}), of));
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, Size r) {
  const Meta meta = shufflable("pixel_shuffle", x, r, "factor", 3);
  const int c = meta.shape.rank() - 3;
  require_multiple("pixel_shuffle", meta, c, r * r);
  Size outer = 1;
  Shape result = meta.shape;
  for (int axis = 0; axis < c; ++axis) outer *= meta.shape[axis];
  const Size channels = meta.shape[c] / (r * r), h = meta.shape[c + 1], w = meta.shape[c + 2];
  result[c] = channels;
  result[c + 1] = h * r;
  result[c + 2] = w * r;
  return reshape(permute(reshape(x, {outer, channels, r, r, h, w}), {0, 1, 4, 2, 5, 3}), result);
}

Tensor pixel_unshuffle(const Tensor& x, Size r) {
  const Meta meta = shufflable("pixel_unshuffle", x, r, "factor", 3);
  const int c = meta.shape.rank() - 3;
  require_multiple("pixel_unshuffle", meta, c + 1, r);
  require_multiple("pixel_unshuffle", meta, c + 2, r);
  Size outer = 1;
  Shape result = meta.shape;
  for (int axis = 0; axis < c; ++axis) outer *= meta.shape[axis];
  const Size channels = meta.shape[c], h = meta.shape[c + 1] / r, w = meta.shape[c + 2] / r;
  result[c] = channels * r * r;
  result[c + 1] = h;
  result[c + 2] = w;
  return reshape(permute(reshape(x, {outer, channels, h, r, w, r}), {0, 1, 3, 5, 2, 4}), result);
}

Tensor channel_shuffle(const Tensor& x, Size groups) {
  const Meta meta = shufflable("channel_shuffle", x, groups, "groups", 2);
  require_multiple("channel_shuffle", meta, 1, groups);
  Size inner = 1;
  for (int axis = 2; axis < meta.shape.rank(); ++axis) inner *= meta.shape[axis];
  return reshape(transpose(reshape(x, {meta.shape[0], groups, meta.shape[1] / groups, inner}), 1, 2), meta.shape);
}

}  // namespace votive
