// Movement without motion: reshape, permute, slice and their kin are new layouts over the same buffer. Only reshape may need a copy.
// Blocks and packed rows cannot be cut: those tensors allow transposing the last two axes, and select and narrow of the axes before them.
#include "votive/base/text.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

bool is_blocked(const Meta& x) { return is_quantised(x.dtype) || x.packing != Packing::none; }

[[noreturn]] void refuse_blocked(std::string_view op, const Meta& x) {
  throw error_about(ErrorKind::Unsupported, op, {{"x", 1, x}})
      .detail(text::format("x {} lies in blocks", describe(x)))
      .accepted("transpose of the last two axes, select and narrow of axes before the last")
      .hint("Dequantise it, e.g. x.to(f32)");
}

Meta movable(std::string_view op, const Tensor& x) {
  const Meta meta = x.meta();
  require_present(op, {"x", 1, meta});
  return meta;
}

/// The axis along which blocks and interleaved rows run must stay whole: with the last two axes in order that is the last, transposed it is the one before.
/// A packed weight interleaves its rows, so both stay whole there.
void require_whole_axis(std::string_view op, const Tensor& x, int axis) {
  const Meta meta = x.meta();
  if (!is_blocked(meta)) return;
  const int rank = meta.shape.rank();
  const bool transposed = rank >= 2 && x.strides()[rank - 1] != 1 && meta.shape[rank - 1] != 1;
  const int block_axis = transposed ? rank - 2 : rank - 1;
  if (axis == block_axis || (meta.packing != Packing::none && axis >= rank - 2)) refuse_blocked(op, meta);
}

}  // namespace

Meta elements_meta(std::string_view op, const Tensor& x) {
  const Meta meta = movable(op, x);
  if (is_blocked(meta)) refuse_blocked(op, meta);
  return meta;
}

Tensor reshaped_to(std::string_view op, const Tensor& x, const Shape& shape) {
  if (shape == x.shape()) return x;
  if (is_quantised(x.dtype()) || x.packing() != Packing::none) refuse_blocked(op, x.meta());
  if (x.is_row_major()) return record(Reshape{op}, Tensor::view_row_major(x, shape), x);
  Layout layout;
  if (reshaped(x.layout(), shape, layout)) return record(Reshape{op}, Tensor::view(x, layout), x);
  const Tensor dense = apply(Copy{}, x);
  return record(Reshape{op}, Tensor::view(dense, Layout::contiguous(shape)), dense);
}

Tensor permuted_to(std::string_view op, const Tensor& x, std::span<const int> axes) {
  Permute permutation{.called = op};
  for (std::size_t i = 0; i < axes.size(); ++i) permutation.axes[i] = static_cast<std::int8_t>(axes[i]);
  return record(permutation, Tensor::view(x, permuted(x.layout(), axes)), x);
}

namespace {

/// x with `layout`, which leaves out or adds axes of size 1.
Tensor with_axes_of_one(std::string_view op, const Tensor& x, const Layout& layout) {
  return record(Reshape{op}, Tensor::view(x, layout), x);
}

}  // namespace

namespace {

/// Whether `shape` holds n elements and leaves nothing to be deduced or refused.
bool holds_exactly(const Shape& shape, Size n) {
  Size product = 1;
  bool plain = n > 0;
  for (const Size size : shape) plain &= size > 0 && !__builtin_mul_overflow(product, size, &product);
  return plain && product == n;
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.defined() && holds_exactly(shape, x.count())) return reshaped_to("reshape", x, shape);
  const Meta meta = movable("reshape", x);
  const auto refuse = [&](ErrorKind kind, const std::string& detail) {
    return error_about(kind, "reshape", {{"x", 1, meta}}).detail(text::format("{} to {}: {}", describe(meta), to_string(shape), detail));
  };
  Shape result = shape;
  int deduced = -1;
  Shape known;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) {
      if (shape[axis] < 0) throw refuse(ErrorKind::InvalidArgument, text::format("size {} at axis {}", shape[axis], axis));
      known.push_back(shape[axis]);
    } else if (deduced >= 0) {
      throw refuse(ErrorKind::InvalidArgument, "more than one -1");
    } else {
      deduced = axis;
    }
  }
  const Size others = checked_count("reshape", known);
  const Size n = count(meta.shape);
  if (deduced >= 0) {
    if (others == 0) throw refuse(ErrorKind::InvalidArgument, "-1 is ambiguous beside a size 0");
    if (n % others != 0) throw refuse(ErrorKind::ShapeMismatch, text::format("{} elements are no multiple of {}", n, others));
    result[deduced] = n / others;
  } else if (others != n) {
    throw refuse(ErrorKind::ShapeMismatch, text::format("{} elements and {}", n, others));
  }
  return reshaped_to("reshape", x, result);
}

Tensor flatten(const Tensor& x, int first, int last) {
  const Meta meta = elements_meta("flatten", x);
  if (meta.shape.rank() == 0) return reshaped_to("flatten", x, {1});
  const int a = normalise_axis("flatten", first, meta.shape.rank());
  const int b = normalise_axis("flatten", last, meta.shape.rank());
  if (a > b) {
    throw error_about(ErrorKind::InvalidAxis, "flatten", {{"x", 1, meta}})
        .detail(text::format("first axis {} comes after last axis {}", first, last));
  }
  Shape shape;
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    if (axis <= a || axis > b) {
      shape.push_back(meta.shape[axis]);
    } else {
      shape.back() *= meta.shape[axis];
    }
  }
  return reshaped_to("flatten", x, shape);
}

Tensor permute(const Tensor& x, std::span<const int> axes) {
  const Meta meta = elements_meta("permute", x);
  const int rank = meta.shape.rank();
  if (static_cast<int>(axes.size()) != rank) {
    throw error_about(ErrorKind::InvalidArgument, "permute", {{"x", 1, meta}})
        .detail(text::format("{} axes for {}", axes.size(), describe(meta)));
  }
  int normalised[max_rank];
  std::uint32_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    normalised[i] = normalise_axis("permute", axes[i], rank);
    if ((seen >> normalised[i] & 1) != 0) {
      throw error_about(ErrorKind::InvalidAxis, "permute", {{"x", 1, meta}}).detail(text::format("axis {} is named twice", axes[i]));
    }
    seen |= 1u << normalised[i];
  }
  return permuted_to("permute", x, {normalised, static_cast<std::size_t>(rank)});
}

Tensor permute(const Tensor& x, std::initializer_list<int> axes) { return permute(x, std::span(axes.begin(), axes.size())); }

Tensor transpose(const Tensor& x, int a, int b) {
  const Meta meta = movable("transpose", x);
  const int rank = meta.shape.rank();
  const int i = normalise_axis("transpose", a, rank), j = normalise_axis("transpose", b, rank);
  if (is_blocked(meta) && std::min(i, j) < rank - 2) refuse_blocked("transpose", meta);
  int axes[max_rank];
  for (int axis = 0; axis < rank; ++axis) axes[axis] = axis == i ? j : axis == j ? i : axis;
  return permuted_to("transpose", x, {axes, static_cast<std::size_t>(rank)});
}

Tensor squeeze(const Tensor& x, int axis) {
  const Meta meta = movable("squeeze", x);
  const int at = normalise_axis("squeeze", axis, meta.shape.rank());
  if (meta.shape[at] != 1) {
    throw error_about(ErrorKind::ShapeMismatch, "squeeze", {{"x", 1, meta}})
        .detail(text::format("axis {} of {} has size {}", axis, describe(meta), meta.shape[at]));
  }
  if (is_blocked(meta) && at >= meta.shape.rank() - 2) refuse_blocked("squeeze", meta);
  Layout layout = x.layout();
  layout.shape.erase(at);
  layout.strides.erase(at);
  return with_axes_of_one("squeeze", x, layout);
}

Tensor squeeze(const Tensor& x) {
  elements_meta("squeeze", x);
  Layout layout{.shape = {}, .strides = {}, .offset = x.offset()};
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (x.shape()[axis] == 1) continue;
    layout.shape.push_back(x.shape()[axis]);
    layout.strides.push_back(x.strides()[axis]);
  }
  return layout.rank() == x.rank() ? x : with_axes_of_one("squeeze", x, layout);
}

Tensor unsqueeze(const Tensor& x, int axis) {
  const Meta meta = movable("unsqueeze", x);
  const int at = normalise_axis("unsqueeze", axis, meta.shape.rank() + 1);
  if (meta.shape.rank() == max_rank) {
    throw error_about(ErrorKind::ShapeMismatch, "unsqueeze", {{"x", 1, meta}})
        .detail(text::format("{} has {} axes, the most there can be", describe(meta), max_rank));
  }
  if (is_blocked(meta) && at > meta.shape.rank() - 2) refuse_blocked("unsqueeze", meta);
  Layout layout = x.layout();
  layout.shape.insert(at, 1);
  layout.strides.insert(at, 1);
  return with_axes_of_one("unsqueeze", x, layout);
}

Layout sliced_by(std::string_view op, const Meta& x, const SliceOptions& options, const Layout& layout) {
  const int axis = normalise_axis(op, options.axis, x.shape.rank());
  if (options.step == 0) throw error_about(ErrorKind::InvalidArgument, op, {{"x", 1, x}}).detail("step is 0");
  const Size n = x.shape[axis];
  const bool forward = options.step > 0;
  // Python's clamping: the ends a step can stand on, and one before or after them
  const Size low = forward ? 0 : -1, high = forward ? n : n - 1;
  const auto clamp = [&](std::optional<Size> at, Size otherwise) {
    if (!at) return otherwise;
    const Size from_front = *at < 0 ? (*at < -n ? low : *at + n) : *at;
    return std::clamp(from_front, low, high);
  };
  const Size start = clamp(options.start, forward ? low : high), stop = clamp(options.stop, forward ? high : low);
  // one less than the distance, divided and one more: no intermediate is larger than n, whatever the step
  const Size distance = forward ? stop - start : start - stop;
  const auto stride = forward ? static_cast<std::uint64_t>(options.step) : std::uint64_t{0} - static_cast<std::uint64_t>(options.step);
  const Size kept = distance <= 0 ? 0 : static_cast<Size>(static_cast<std::uint64_t>(distance - 1) / stride) + 1;
  return sliced(layout, axis, kept == 0 ? 0 : start, kept <= 1 ? 1 : options.step, kept);
}

Tensor slice(const Tensor& x, SliceOptions options) {
  const Meta meta = elements_meta("slice", x);
  return view_of("slice", x, [&](const Layout& l) { return sliced_by("slice", meta, options, l); });
}

Tensor narrow(const Tensor& x, int axis, Size start, Size n) {
  const Meta meta = movable("narrow", x);
  const int at = normalise_axis("narrow", axis, meta.shape.rank());
  const Size size = meta.shape[at];
  if (start < 0 || n < 0 || start > size || n > size - start) {
    throw error_about(ErrorKind::IndexOutOfRange, "narrow", {{"x", 1, meta}})
        .detail(text::format("{} elements from {} of axis {} of {}, which has {}", n, start, axis, describe(meta), size));
  }
  return narrowed("narrow", x, at, start, n);
}

Tensor narrowed(std::string_view op, const Tensor& x, int at, Size start, Size n) {
  if (n == x.shape()[at]) return x;
  require_whole_axis(op, x, at);
  return view_of(op, x, [&](const Layout& l) { return sliced(l, at, n == 0 ? 0 : start, 1, n); });
}

Layout selected_from(std::string_view op, const Meta& x, int axis, Size index, const Layout& layout) {
  const Size n = x.shape[axis];
  if (index < -n || index >= n) {
    throw error_about(ErrorKind::IndexOutOfRange, op, {{"x", 1, x}})
        .detail(n == 0 ? text::format("index {} of axis {} of {}, which is empty", index, axis, describe(x))
                       : text::format("index {} of axis {} of {}; valid range is {}..{}", index, axis, describe(x), -n, n - 1))
        .value(text::format("{}", index));
  }
  Layout result = sliced(layout, axis, index < 0 ? index + n : index, 1, 1);
  result.shape.erase(axis);
  result.strides.erase(axis);
  return result;
}

Tensor select(const Tensor& x, int axis, Size index) {
  const Meta meta = movable("select", x);
  const int at = normalise_axis("select", axis, meta.shape.rank());
  if (is_blocked(meta)) {
    selected_from("select", meta, at, index, x.layout());
    require_whole_axis("select", x, at);
  }
  return view_of("select", x, [&](const Layout& l) { return selected_from("select", meta, at, index, l); });
}

Tensor flipped(std::string_view op, const Tensor& x, std::uint32_t axes) {
  Layout layout = x.layout();
  std::uint32_t turned = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Size n = x.shape()[axis];
    if ((axes >> axis & 1) == 0 || n <= 1) continue;
    layout = sliced(layout, axis, n - 1, -1, n);
    turned |= 1u << axis;
  }
  if (turned == 0) return x;
  return record(Flip{op, turned}, Tensor::view(x, layout), x);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  const Meta meta = elements_meta("flip", x);
  return flipped("flip", x, axes.mask("flip", meta.shape.rank()));
}

Tensor broadcasted_to(std::string_view op, const Tensor& x, const Shape& shape) {
  const Meta meta = x.meta();
  checked_count(op, shape, block_bytes(meta.dtype));
  const int extra = shape.rank() - meta.shape.rank();
  bool fits = extra >= 0;
  for (int axis = 0; fits && axis < meta.shape.rank(); ++axis) fits = meta.shape[axis] == shape[axis + extra] || meta.shape[axis] == 1;
  if (!fits) {
    throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, meta}})
        .detail(text::format("{} does not broadcast to {}", describe(meta), to_string(shape)));
  }
  if (meta.shape == shape) return x;
  return record(Broadcast{op}, Tensor::view(x, broadcast_layout(x.layout(), shape)), x);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  elements_meta("broadcast_to", x);
  return broadcasted_to("broadcast_to", x, shape);
}

}  // namespace votive
