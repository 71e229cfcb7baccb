// Padding, cropping and windows: an axis made longer, shorter, or laid over itself.
#include "votive/base/text.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

std::string_view name_of(PadMode mode) {
  constexpr std::string_view names[] = {"constant", "edge", "reflect", "circular"};
  return names[static_cast<int>(mode)];
}

/// Everything a user can do wrong, before anything is allocated.
Shape padded_shape(const Meta& x, std::span<const PadWidth> widths, PadMode mode) {
  const auto refuse = [&](ErrorKind kind, int axis, const std::string& detail) {
    const PadWidth& w = widths[static_cast<std::size_t>(axis)];
    throw error_about(kind, "pad", {{"x", 1, x}})
        .detail(text::format("{{{}, {}}} ({}) at axis {} of {}: {}", w.before, w.after, name_of(mode), axis, describe(x), detail));
  };
  Shape shape = x.shape;
  for (int axis = 0; axis < x.shape.rank(); ++axis) {
    const auto [before, after] = widths[static_cast<std::size_t>(axis)];
    const Size n = x.shape[axis];
    // what is left of x, first; neither sum leaves 64 bits, for one of the summands is not positive
    const Size crop_before = std::min<Size>(before, 0), crop_after = std::min<Size>(after, 0);
    if (crop_before < -n || crop_after < -(n + crop_before)) refuse(ErrorKind::InvalidArgument, axis, "more is taken away than there is");
    const Size kept = n + crop_before + crop_after, most = std::max(before, after);
    if (__builtin_add_overflow(kept, std::max<Size>(before, 0), &shape[axis]) ||
        __builtin_add_overflow(shape[axis], std::max<Size>(after, 0), &shape[axis]))
      refuse(ErrorKind::SizeOverflow, axis, "the axis passes 2^63 - 1");
    if (most <= 0 || mode == PadMode::constant) continue;
    if (kept == 0) refuse(ErrorKind::InvalidArgument, axis, "there is no element to take");
    if (mode == PadMode::reflect && most > kept - 1) {
      refuse(ErrorKind::InvalidArgument, axis, text::format("{} elements have {} beside their edge", kept, kept - 1));
    }
    if (mode == PadMode::circular && most > kept) refuse(ErrorKind::InvalidArgument, axis, text::format("there are {} elements", kept));
  }
  checked_count("pad", shape, block_bytes(x.dtype));
  return shape;
}

/// One axis made longer by elements of its own.
Tensor extended(const Tensor& x, int axis, Size before, Size after, PadMode mode) {
  const Size n = x.shape()[axis];
  const auto part = [&](Size start, Size size) { return narrowed("pad", x, axis, start, size); };
  const auto edge = [&](Size at, Size size) {
    Shape shape = x.shape();
    shape[axis] = size;
    return broadcasted_to("pad", part(at, 1), shape);
  };
  const std::uint32_t bit = 1u << axis;
  std::vector<Tensor> parts;
  if (before > 0) {
    parts.push_back(mode == PadMode::edge      ? edge(0, before)
                    : mode == PadMode::reflect ? flipped("pad", part(1, before), bit)
                                               : part(n - before, before));
  }
  parts.push_back(x);
  if (after > 0) {
    parts.push_back(mode == PadMode::edge      ? edge(n - 1, after)
                    : mode == PadMode::reflect ? flipped("pad", part(n - 1 - after, after), bit)
                                               : part(0, after));
  }
  return concatenated(Concat{axis, "pad"}, x.dtype(), parts);
}

}  // namespace

Tensor pad(const Tensor& x, std::span<const PadWidth> widths, PadOptions options) {
  const Meta meta = x.meta();
  require_unblocked("pad", {"x", 1, meta});
  const std::uint64_t bits = options.mode == PadMode::constant ? literal_bits("pad", options.value, meta.dtype) : 0;
  const int rank = meta.shape.rank();
  if (static_cast<int>(widths.size()) != rank) {
    throw error_about(ErrorKind::InvalidArgument, "pad", {{"x", 1, meta}})
        .detail(text::format("{} widths for {}: one is needed per axis", widths.size(), describe(meta)));
  }
  const Shape shape = padded_shape(meta, widths, options.mode);
  Tensor y = x;
  Layout at = Layout::contiguous(shape);
  bool grows = false;
  for (int axis = 0; axis < rank; ++axis) {
    const auto [before, after] = widths[static_cast<std::size_t>(axis)];
    const Size start = std::max<Size>(-before, 0), kept = meta.shape[axis] - start - std::max<Size>(-after, 0);
    y = narrowed("pad", y, axis, start, kept);
    at = sliced(at, axis, std::max<Size>(before, 0), 1, kept);
    grows = grows || before > 0 || after > 0;
  }
  if (!grows) return y;
  if (options.mode == PadMode::constant) return apply(Place{"pad", shape, at, bits}, y);
  for (int axis = 0; axis < rank; ++axis) {
    const auto [before, after] = widths[static_cast<std::size_t>(axis)];
    if (before > 0 || after > 0) y = extended(y, axis, before, after, options.mode);
  }
  return y;
}

Tensor pad(const Tensor& x, std::initializer_list<PadWidth> widths, PadOptions options) {
  return pad(x, std::span(widths.begin(), widths.size()), options);
}

Tensor pad(const Tensor& x, int axis, Size before, Size after, PadOptions options) {
  const Meta meta = x.meta();
  require_unblocked("pad", {"x", 1, meta});
  PadWidth widths[max_rank];
  widths[normalise_axis("pad", axis, meta.shape.rank())] = {before, after};
  return pad(x, std::span(widths, static_cast<std::size_t>(meta.shape.rank())), options);
}

Tensor unfold(const Tensor& x, int axis, Size size, Size step) {
  const Meta meta = elements_meta("unfold", x);
  const int rank = meta.shape.rank(), at = normalise_axis("unfold", axis, rank);
  const Size n = meta.shape[at];
  if (rank == max_rank) {
    throw error_about(ErrorKind::ShapeMismatch, "unfold", {{"x", 1, meta}})
        .detail(text::format("{} has {} axes, the most there can be", describe(meta), max_rank));
  }
  if (size < 1 || step < 1 || size > n) {
    throw error_about(ErrorKind::InvalidArgument, "unfold", {{"x", 1, meta}})
        .detail(text::format("windows of {} every {} along axis {} of {}, which has {}", size, step, axis, describe(meta), n));
  }
  Layout layout = x.layout();
  layout.shape[at] = (n - size) / step + 1;
  layout.shape.push_back(size);
  layout.strides.push_back(layout.strides[at]);
  layout.strides[at] = layout.shape[at] == 1 ? 1 : layout.strides[at] * step;
  return record(Unfold{at, size, step}, Tensor::view(x, layout), x);
}

// Element p = (w + q)·step + r of x, r < step, is element q·step + r of window w: the windows that meet in block b of `step` elements are w = b − q. So the
// windows are cut into Q pieces of `step`, piece q shifted by q blocks, and the pieces summed. A shift is a reshape: rows of length L read as rows of L + 1.
Tensors Unfold::gradient(const Backward& b) const {
  const Shape& shape = b.meta().shape;
  const int rank = shape.rank();
  const Size n = shape[axis], windows = b.dy().shape()[axis], outer = b.dy().count() / windows / size;
  const Size pace = windows == 1 ? size : step, Q = (size - 1) / pace + 1;
  Tensor g = reshape(movedim(b.dy(), axis, rank - 1), {outer, windows, size});
  g = reshape(pad(g, 2, 0, Q * pace - size), {outer, windows, Q, pace});
  if (Q > 1) {
    g = permute(flip(g, 2), {0, 2, 1, 3});
    g = reshape(pad(g, 2, 0, Q - 2), {outer, Q * (windows + Q - 2), pace});
    g = reshape(pad(g, 1, Q - 1, 1), {outer, Q, windows + Q - 1, pace});
    g = sum(g, {.axis = 1});
  }
  const Size covered = (windows + Q - 1) * pace;
  g = pad(reshape(g, {outer, covered}), 1, 0, n - covered);
  Shape moved = shape;
  moved.erase(axis);
  moved.push_back(n);
  return {movedim(reshape(g, moved), rank - 1, axis)};
}

}  // namespace votive
