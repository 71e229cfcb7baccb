// Rules of convolutions: which windows the numbers of a call describe, and the gradients, which are convolutions again.
#include "votive/ops/conv.h"

#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/check.h"
#include "votive/ops/ops.h"

namespace votive {

// ---- numbers per axis ----

PerAxis::PerAxis(std::initializer_list<Size> values) : values_{}, given_(static_cast<int>(values.size())) {
  if (values.size() == 0 || values.size() > 3)
    throw Error(ErrorKind::InvalidArgument, "PerAxis")
        .detail(text::format("{} numbers", values.size()))
        .accepted("one, or one per spatial axis");
  std::copy(values.begin(), values.end(), values_.begin());
  if (given_ == 1) values_.fill(values_[0]);
}

std::array<Size, 3> PerAxis::of(std::string_view op, std::string_view what, int axes) const {
  if (given_ != 1 && given_ != axes)
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} of {} numbers for {} axes", what, given_, axes));
  return values_;
}

Padding::Padding(std::initializer_list<Pair> values) : given_(static_cast<int>(values.size())) {
  if (values.size() == 0 || values.size() > 3)
    throw Error(ErrorKind::InvalidArgument, "Padding").detail(text::format("{} pairs", values.size())).accepted("one per spatial axis");
  std::copy(values.begin(), values.end(), pairs_.begin());
}

Padding::Padding(std::string_view name) : same_(name == "same") {
  if (same_ || name == "valid") return;
  throw Error(ErrorKind::InvalidArgument, "Padding")
      .value(std::string(name))
      .detail(text::format("'{}'", name))
      .accepted("\"same\", \"valid\"");
}

std::array<Padding::Pair, 3> Padding::of(std::string_view op, int axes) const {
  if (given_ != 0) {
    if (given_ != axes) throw Error(ErrorKind::InvalidArgument, op).detail(text::format("padding of {} pairs for {} axes", given_, axes));
    return pairs_;
  }
  const auto both = both_.of(op, "padding", axes);
  std::array<Pair, 3> pairs;
  for (std::size_t i = 0; i < 3; ++i) pairs[i] = {both[i], both[i]};
  return pairs;
}

Windows Windows::in_three() const {
  Windows all{.axes = 3};
  for (int axis = 0; axis < axes; ++axis) {
    const auto from = static_cast<std::size_t>(axis), to = static_cast<std::size_t>(axis + 3 - axes);
    all.kernel[to] = kernel[from];
    all.stride[to] = stride[from];
    all.dilation[to] = dilation[from];
    all.before[to] = before[from];
    all.size[to] = size[from];
  }
  return all;
}

Spatial spatial_of(const Shape& shape, int axes) {
  Spatial sizes{1, 1, 1};
  for (int axis = 0; axis < axes; ++axis) sizes[static_cast<std::size_t>(axis + 3 - axes)] = shape[shape.rank() - axes + axis];
  return sizes;
}

namespace {

constexpr Size most_size = Size{1} << 62;

Shape with_spatial(Size images, Size channels, const Spatial& sizes, int axes) {
  Shape shape{images, channels};
  for (int axis = 0; axis < axes; ++axis) shape.push_back(sizes[static_cast<std::size_t>(axis)]);
  return shape;
}

/// (kernel − 1)·dilation + 1
Size span_of(std::string_view op, const Argument& x, Size kernel, Size dilation) {
  Size span = 0;
  if (__builtin_mul_overflow(kernel - 1, dilation, &span) || span >= most_size)
    throw error_about(ErrorKind::SizeOverflow, op, {x}).detail(text::format("a kernel of {} with dilation {}", kernel, dilation));
  return span + 1;
}

void require_numbers(std::string_view op, const Argument& x, std::string_view what, const Spatial& values, int axes, Size least) {
  for (int axis = 0; axis < axes; ++axis) {
    const Size value = values[static_cast<std::size_t>(axis)];
    if (value < least || value >= most_size) {
      throw error_about(ErrorKind::InvalidArgument, op, {x})
          .value(text::format("{}", value))
          .detail(text::format("{} {} at spatial axis {}", what, value, axis))
          .accepted(text::format("{} to 2⁶² − 1", least));
    }
  }
}

void require_padding(std::string_view op, const Argument& x, const std::array<Padding::Pair, 3>& padding, int axes) {
  Spatial ends{};
  for (std::size_t i = 0; i < 3; ++i) ends[i] = padding[i].first;
  require_numbers(op, x, "padding", ends, axes, 0);
  for (std::size_t i = 0; i < 3; ++i) ends[i] = padding[i].second;
  require_numbers(op, x, "padding", ends, axes, 0);
}

}  // namespace

Windows slide(std::string_view op, const Argument& x, int axes, const Shape& in, const Spatial& kernel, const PerAxis& stride,
              const Padding& padding, const PerAxis& dilation, bool ceil) {
  Windows w{.axes = axes, .kernel = kernel, .stride = stride.of(op, "stride", axes), .dilation = dilation.of(op, "dilation", axes)};
  require_numbers(op, x, "kernel size", w.kernel, axes, 1);
  require_numbers(op, x, "stride", w.stride, axes, 1);
  require_numbers(op, x, "dilation", w.dilation, axes, 1);
  const auto ends = padding.of(op, axes);
  if (!padding.is_same()) require_padding(op, x, ends, axes);
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const Size n = in[axis], span = span_of(op, x, w.kernel[i], w.dilation[i]), s = w.stride[i];
    if (padding.is_same()) {
      w.size[i] = n / s + (n % s != 0 ? 1 : 0);
      // as the last window needs: it begins at (size − 1)·stride < n
      const Size total = n == 0 ? 0 : std::max<Size>(span - (n - (w.size[i] - 1) * s), 0);
      w.before[i] = total / 2;
      continue;
    }
    Size padded = 0;
    if (__builtin_add_overflow(n, ends[i].first, &padded) || __builtin_add_overflow(padded, ends[i].second, &padded) || padded >= most_size)
      throw error_about(ErrorKind::SizeOverflow, op, {x})
          .detail(text::format("axis {} with padding {} and {}", n, ends[i].first, ends[i].second));
    w.before[i] = ends[i].first;
    if (span > padded) {
      throw error_about(ErrorKind::ShapeMismatch, op, {x})
          .detail(text::format("a kernel that spans {} does not fit the {} elements of spatial axis {} of {}, padding included", span,
                               padded, axis, describe(x)));
    }
    w.size[i] = (padded - span) / s + 1;
    // one more window where it begins inside the input or the padding before it
    if (ceil && (padded - span) % s != 0 && w.size[i] * s < n + ends[i].first) ++w.size[i];
  }
  checked_count(op, with_spatial(1, 1, w.kernel, axes));
  checked_count(op, with_spatial(1, 1, w.size, axes));
  return w;
}

// ---- operations ----

namespace {

Shape last(const Shape& shape, int axes) { return Shape(std::span(shape.end() - axes, static_cast<std::size_t>(axes))); }

Spatial first_of(const Shape& shape, int axes) {
  Spatial sizes{1, 1, 1};
  for (int axis = 0; axis < axes; ++axis) sizes[static_cast<std::size_t>(axis)] = shape[shape.rank() - axes + axis];
  return sizes;
}

/// dw[g·M + m, c, t] = Σ over n, o of dy[n, g·M + m, o] · x[n, g·C + c, o·stride + t·dilation − before]: a convolution of x by dy whose channels are
/// the images, with stride and dilation exchanged.
Tensor weight_gradient(const Windows& w, Size groups, const Tensor& x, const Tensor& dy) {
  const Size images = x.shape()[0], channels = x.shape()[1] / groups, rows = dy.shape()[1] / groups;
  const auto swapped = [&](const Tensor& t, Size per_group, bool groups_first) {
    Shape split{images, groups, per_group};
    std::vector<int> order = groups_first ? std::vector<int>{1, 2, 0} : std::vector<int>{2, 1, 0};
    Shape joined = groups_first ? Shape{groups * per_group, images} : Shape{per_group, groups * images};
    for (int axis = 2; axis < t.rank(); ++axis) {
      split.push_back(t.shape()[axis]);
      order.push_back(axis + 1);
      joined.push_back(t.shape()[axis]);
    }
    return reshape(permute(reshape(t, split), order), joined);
  };
  Windows windows = w;
  windows.kernel = first_of(dy.shape(), w.axes);
  windows.stride = w.dilation;
  windows.dilation = w.stride;
  windows.size = w.kernel;
  return transpose(apply(Conv{windows, groups}, swapped(x, channels, false), swapped(dy, rows, true), Tensor()), 0, 1);
}

Tensor bias_gradient(const Tensor& dy) {
  std::vector<int> axes{0};
  for (int axis = 2; axis < dy.rank(); ++axis) axes.push_back(axis);
  return sum(dy, {.axis = Axes(axes)});
}

std::string_view numbered(int axes, std::string_view one, std::string_view two, std::string_view three) {
  return axes == 1 ? one : axes == 2 ? two : three;
}

}  // namespace

std::string_view Conv::name() const { return numbered(windows.axes, "conv1d", "conv2d", "conv3d"); }
std::string_view ConvTranspose::name() const { return numbered(windows.axes, "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"); }

Meta Conv::result(const Meta& x, const Meta& w, const Meta&) const {
  return {.dtype = x.dtype, .shape = with_spatial(x.shape[0], w.shape[0], windows.size, windows.axes), .device = x.device};
}

Tensors Conv::gradient(const Backward& b) const {
  Tensors gradients(3);
  const Tensor& dy = b.dy();
  if (b.wants(0)) {
    Windows back = windows;
    back.size = first_of(b.meta(0).shape, windows.axes);
    gradients[0] = apply(ConvTranspose{back, groups}, dy, b.x(1), Tensor());
  }
  if (b.wants(1)) gradients[1] = weight_gradient(windows, groups, b.x(0), dy);
  if (b.wants(2)) gradients[2] = bias_gradient(dy);
  return gradients;
}

Meta ConvTranspose::result(const Meta& x, const Meta& w, const Meta&) const {
  return {.dtype = x.dtype, .shape = with_spatial(x.shape[0], w.shape[1] * groups, windows.size, windows.axes), .device = x.device};
}

Tensors ConvTranspose::gradient(const Backward& b) const {
  Tensors gradients(3);
  const Tensor& dy = b.dy();
  Windows back = windows;
  back.size = first_of(b.meta(0).shape, windows.axes);
  if (b.wants(0)) gradients[0] = apply(Conv{back, groups}, dy, b.x(1), Tensor());
  if (b.wants(1)) gradients[1] = weight_gradient(back, groups, dy, b.x(0));
  if (b.wants(2)) gradients[2] = bias_gradient(dy);
  return gradients;
}

Meta Im2Col::result(const Meta& x) const {
  const Windows w = windows.in_three();
  const Shape shape{x.shape[0], x.shape[1] * w.taps(), w.count()};
  checked_count(info.name, shape, block_bytes(x.dtype));
  return {.dtype = x.dtype, .shape = shape, .device = x.device};
}

Tensors Im2Col::gradient(const Backward& b) const { return {apply(Col2Im{windows, first_of(b.meta().shape, windows.axes)}, b.dy())}; }

Meta Col2Im::result(const Meta& x) const {
  const Shape shape = with_spatial(x.shape[0], x.shape[1] / windows.in_three().taps(), in, windows.axes);
  checked_count(info.name, shape, block_bytes(x.dtype));
  return {.dtype = x.dtype, .shape = shape, .device = x.device};
}

Tensors Col2Im::gradient(const Backward& b) const { return {apply(Im2Col{windows}, b.dy())}; }

// ---- calls ----

namespace {

/// dtype and device of a convolution's operands; gives the dtype of its result.
DType conv_dtype(std::string_view op, const Argument& x, const Argument& w, const Argument& bias) {
  require_floating(op, x);
  require_floating(op, w);
  const DType dtype = require_common_dtype(op, x, w);
  if (bias.meta.present) {
    require_floating(op, bias);
    if (bias.meta.dtype != dtype) {
      throw error_about(ErrorKind::DTypeMismatch, op, {x, bias})
          .detail(text::format("{} beside a convolution in {}", describe(bias), to_string(dtype)))
          .hint(text::format("Cast it, e.g. bias.to({})", to_string(dtype)));
    }
  }
  require_same_device(op, x, w);
  require_same_device(op, x, bias);
  return dtype;
}

/// Shapes but for the windows. `in_axis` of w is that of input channels per group.
void check_channels(std::string_view op, const Argument& x, const Argument& w, const Argument& bias, int axes, Size groups,
                    bool transposed) {
  require_rank(op, x, axes + 1, axes + 2);
  require_rank(op, w, axes + 2, axes + 2);
  const Size channels = x.meta.shape[x.meta.shape.rank() - axes - 1], rows = w.meta.shape[0], columns = w.meta.shape[1];
  if (groups < 1) {
    throw error_about(ErrorKind::InvalidArgument, op, {x, w}).value(text::format("{}", groups)).detail(text::format("{} groups", groups));
  }
  if (transposed) {
    if (channels != rows || channels % groups != 0) {
      throw error_about(ErrorKind::ShapeMismatch, op, {x, w})
          .detail(text::format("{} with {} channels and {}, groups {}: w has one row per input channel", describe(x), channels, describe(w),
                               groups));
    }
    checked_count(op, {columns, groups});
  } else if (channels % groups != 0 || channels / groups != columns || rows % groups != 0) {
    Error error = error_about(ErrorKind::ShapeMismatch, op, {x, w})
                      .detail(text::format("{} with {} channels and {}, groups {}: w holds {} channels per group for {} outputs",
                                           describe(x), channels, describe(w), groups, columns, rows));
    if (groups == 1 && columns > 0 && channels % columns == 0 && rows % (channels / columns) == 0)
      error.hint(text::format("Did you mean groups = {}?", channels / columns));
    throw error;
  }
  const Size outputs = transposed ? columns * groups : rows;
  if (bias.meta.present) require_shape(op, bias, {outputs});
}

/// The call on a batch of one where x has none.
template <class Op>
Tensor run(const Op& op, int axes, const Tensor& x, const Tensor& w, const Tensor& bias, DType dtype) {
  const bool single = x.rank() == axes + 1;
  const Tensor images = (single ? unsqueeze(x, 0) : x).to(dtype);
  checked_count(op.name(), op.result(images.meta(), w.meta(), bias.meta()).shape, block_bytes(dtype));
  const Tensor y = apply(op, images, w.to(dtype), bias);
  return single ? squeeze(y, 0) : y;
}

Tensor convolution(std::string_view op, int axes, const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions& options) {
  const Meta meta_x = x.meta(), meta_w = w.meta(), meta_bias = bias.meta();
  const Argument a{"x", 1, meta_x}, b{"w", 2, meta_w}, c{"bias", 3, meta_bias};
  const DType dtype = conv_dtype(op, a, b, c);
  check_channels(op, a, b, c, axes, options.groups, false);
  const Windows windows =
      slide(op, a, axes, last(meta_x.shape, axes), first_of(meta_w.shape, axes), options.stride, options.padding, options.dilation);
  return run(Conv{windows, options.groups}, axes, x, w, bias, dtype);
}

Tensor transposed_convolution(std::string_view op, int axes, const Tensor& x, const Tensor& w, const Tensor& bias,
                              const ConvTransposeOptions& options) {
  const Meta meta_x = x.meta(), meta_w = w.meta(), meta_bias = bias.meta();
  const Argument a{"x", 1, meta_x}, b{"w", 2, meta_w}, c{"bias", 3, meta_bias};
  const DType dtype = conv_dtype(op, a, b, c);
  check_channels(op, a, b, c, axes, options.groups, true);
  Windows windows{.axes = axes,
                  .kernel = first_of(meta_w.shape, axes),
                  .stride = options.stride.of(op, "stride", axes),
                  .dilation = options.dilation.of(op, "dilation", axes)};
  require_numbers(op, a, "kernel size", windows.kernel, axes, 1);
  require_numbers(op, a, "stride", windows.stride, axes, 1);
  require_numbers(op, a, "dilation", windows.dilation, axes, 1);
  if (options.padding.is_same()) {
    throw error_about(ErrorKind::InvalidArgument, op, {a}).detail("padding \"same\"").accepted("numbers and \"valid\"");
  }
  const auto padding = options.padding.of(op, axes);
  const auto extra = options.output_padding.of(op, "output_padding", axes);
  require_padding(op, a, padding, axes);
  require_numbers(op, a, "output_padding", extra, axes, 0);
  for (int axis = 0; axis < axes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (extra[i] >= std::max(windows.stride[i], windows.dilation[i])) {
      throw error_about(ErrorKind::InvalidArgument, op, {a})
          .value(text::format("{}", extra[i]))
          .detail(text::format("output_padding {} with stride {} and dilation {}", extra[i], windows.stride[i], windows.dilation[i]))
          .accepted("less than the larger of them");
    }
    const Size n = meta_x.shape[meta_x.shape.rank() - axes + axis], span = span_of(op, a, windows.kernel[i], windows.dilation[i]);
    Size reach = 0, cut = 0;
    if (__builtin_mul_overflow(n - 1, windows.stride[i], &reach) || __builtin_add_overflow(reach, span + extra[i], &reach) ||
        __builtin_add_overflow(padding[i].first, padding[i].second, &cut))
      throw error_about(ErrorKind::SizeOverflow, op, {a}).detail(text::format("spatial axis {} with stride {}", axis, windows.stride[i]));
    if (n == 0 || reach <= cut) {
      throw error_about(ErrorKind::ShapeMismatch, op, {a})
          .detail(text::format("nothing is left of spatial axis {} of {}: {} positions less padding {}", axis, describe(a),
                               n == 0 ? 0 : reach, cut));
    }
    windows.before[i] = padding[i].first;
    windows.size[i] = reach - cut;
  }
  return run(ConvTranspose{windows, options.groups}, axes, x, w, bias, dtype);
}

int spatial_axes(std::string_view op, const Argument& x, int others) {
  require_rank(op, x, others + 1, others + 3);
  return x.meta.shape.rank() - others;
}

}  // namespace

Tensor conv1d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions& options) {
  return convolution("conv1d", 1, x, w, bias, options);
}
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions& options) {
  return convolution("conv2d", 2, x, w, bias, options);
}
Tensor conv3d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvOptions& options) {
  return convolution("conv3d", 3, x, w, bias, options);
}
Tensor conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed_convolution("conv_transpose1d", 1, x, w, bias, options);
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed_convolution("conv_transpose2d", 2, x, w, bias, options);
}
Tensor conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& bias, const ConvTransposeOptions& options) {
  return transposed_convolution("conv_transpose3d", 3, x, w, bias, options);
}

Tensor im2col(const Tensor& x, const PerAxis& kernel, const UnfoldOptions& options) {
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_unblocked("im2col", a);
  const int axes = spatial_axes("im2col", a, 2);
  return apply(Im2Col{slide("im2col", a, axes, last(meta.shape, axes), kernel.of("im2col", "kernel", axes), options.stride, options.padding,
                            options.dilation)},
               x);
}

Tensor col2im(const Tensor& x, const Shape& size, const PerAxis& kernel, const UnfoldOptions& options) {
  const Meta meta = x.meta();
  const Argument a{"x", 1, meta};
  require_floating("col2im", a);
  require_rank("col2im", a, 3, 3);
  if (size.empty() || size.rank() > 3) {
    throw error_about(ErrorKind::InvalidArgument, "col2im", {a})
        .detail(text::format("size {}", to_string(size)))
        .accepted("one to three axes");
  }
  checked_count("col2im", size);
  const Col2Im op{
      slide("col2im", a, size.rank(), size, kernel.of("col2im", "kernel", size.rank()), options.stride, options.padding, options.dilation),
      first_of(size, size.rank())};
  const Windows w = op.windows.in_three();
  Size taps = 1;
  for (const Size k : w.kernel) taps *= k;  // each fits its axis, and the axes' product was checked
  if (meta.shape[1] % taps != 0 || meta.shape[2] != w.count()) {
    throw error_about(ErrorKind::ShapeMismatch, "col2im", {a})
        .detail(text::format("{} for {} windows of {} elements", describe(a), w.count(), taps))
        .accepted(text::format("[N, a multiple of {}, {}]", taps, w.count()));
  }
  return apply(op, x);
}

}  // namespace votive
