// Sampling at the points of a grid: defined by its parts, which are public operations and give it its gradients; computed in one pass where nobody asks for
// these.
#include <algorithm>
#include <array>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/check.h"
#include "votive/ops/ops.h"
#include "votive/ops/resample.h"

namespace votive {

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

/// Samples of nearest elements, as they stand to the grid: no small step changes them.
struct Nearest {
  static constexpr OpInfo info{"grid_sample", Class::exact};
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const {
    const Meta& grid = b.meta(1);
    return {b.dy(), b.wants(1) ? zeros(grid.shape, grid.dtype, {.device = grid.device}) : Tensor()};
  }
};

}  // namespace

Tensor grid_sample_in_parts(const Tensor& x, const Tensor& grid, GridSampleOptions options) {
  const Sampler sampler(x, grid, options);
  if (options.mode == Interpolation::cubic) return sampler.cubic();
  if (options.mode == Interpolation::linear) return sampler.linear();
  const Tensor y = sampler.nearest();
  return record(Nearest{}, Tensor::view(y, y.layout()), y, grid);
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
        .detail(text::format("{} and {}", describe(a), describe(b)))
        .accepted(text::format("a grid of {} points with {} coordinates each", meta.shape[0], axes));
  }
  for (int axis = 2; axis < meta.shape.rank(); ++axis) {
    if (meta.shape[axis] == 0)
      throw error_about(ErrorKind::EmptyReduction, op, {a}).detail(text::format("axis {} of {} is empty", axis, describe(a)));
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
  const FloatEnvironment environment;
  constexpr std::string_view op = "affine_grid";
  return as_one(op, [&] {
    const Meta meta = theta.meta();
    const Argument a{"theta", 1, meta};
    require_floating(op, a);
    require_rank(op, a, 3, 3);
    const int axes = size.rank() - 2;
    if (axes != 2 && axes != 3)
      throw error_about(ErrorKind::InvalidArgument, op, {a})
          .detail(text::format("size {}", to_string(size)))
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
  });
}

}  // namespace votive
