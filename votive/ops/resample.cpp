// Rules of resampling: the taps and weights of an interpolated axis, and channels moved into space and back. Tables are computed in
// f64 by operations that round once, so tables are the same on every machine.
#include "votive/ops/resample.h"

#include <algorithm>
#include <cmath>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/check.h"
#include "votive/ops/ops.h"

namespace votive {

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
  return as_one(op, [&] {
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
        throw error_about(ErrorKind::InvalidArgument, op, {a})
            .value(text::format("{}", size[axis]))
            .detail(text::format("size {}", size[axis]));
      if (size[axis] != 0 && meta.shape[first + axis] == 0)
        throw error_about(ErrorKind::EmptyReduction, op, {a}).detail(text::format("axis {} of {} is empty", first + axis, describe(a)));
      result[first + axis] = size[axis];
    }
    checked_count(op, result, std::max<Size>(block_bytes(meta.dtype), sizeof(float)));
    if (options.mode == Interpolation::area) {
      if (axes > 3)
        throw error_about(ErrorKind::InvalidArgument, op, {a}).detail(text::format("area of {} axes", axes)).accepted("one to three");
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
  });
}

}  // namespace

Tensor interpolate(const Tensor& x, const Shape& size, InterpolateOptions options) {
  return interpolate_axes("interpolate", x, size, {}, options);
}

Tensor interpolate_by(const Tensor& x, const std::vector<double>& scale, InterpolateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "interpolate_by";
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_present(op, a);
  if (scale.size() > static_cast<std::size_t>(meta.shape.rank())) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a}).detail(text::format("{} factors for {}", scale.size(), describe(a)));
  }
  Shape size;
  for (std::size_t i = 0; i < scale.size(); ++i) {
    const double n = static_cast<double>(meta.shape[meta.shape.rank() - static_cast<int>(scale.size()) + static_cast<int>(i)]);
    const double scaled = std::floor(n * scale[i]);
    if (!(scale[i] > 0) || !(scaled < 0x1p61)) {
      throw error_about(ErrorKind::InvalidArgument, op, {a})
          .value(text::format("{}", scale[i]))
          .detail(text::format("scale {}", scale[i]))
          .accepted("finite, above 0");
    }
    size.push_back(static_cast<Size>(scaled));
  }
  return interpolate_axes(op, x, size, options.mode == Interpolation::area ? std::vector<double>{} : scale, options);
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
        .value(text::format("{}", factor))
        .detail(text::format("{} {}", what, factor))
        .accepted("at least 1");
  }
  return meta;
}

void require_multiple(std::string_view op, const Meta& x, int axis, Size of) {
  if (x.shape[axis] % of == 0) return;
  throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, x}})
      .detail(text::format("axis {} of {} is no multiple of {}", axis, describe(Argument{"x", 1, x}), of));
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
