// What movements give back: the gradient of a view puts elements where they came from.
#include "votive/ops/movement.h"

#include "votive/base/text.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

Tensor laid_out(std::string_view op, const Tensor& x, Layout at) {
  const Tensor dense = contiguous(x);
  Layout layout = at;
  layout.offset += dense.offset();
  return record(View{op, std::move(at)}, Tensor::view(dense, layout), dense);
}

}  // namespace

Tensors Reshape::gradient(const Backward& b) const { return {reshape(b.dy(), b.meta().shape)}; }

Tensors Permute::gradient(const Backward& b) const {
  const int rank = b.meta().shape.rank();
  std::vector<int> inverse(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) inverse[static_cast<std::size_t>(axes[static_cast<std::size_t>(i)])] = i;
  return {permute(b.dy(), inverse)};
}

Tensors Flip::gradient(const Backward& b) const {
  std::vector<int> list;
  for (int axis = 0; axis < b.meta().shape.rank(); ++axis) {
    if ((axes >> axis & 1) != 0) list.push_back(axis);
  }
  return {flip(b.dy(), Axes(list))};
}

Tensors Broadcast::gradient(const Backward& b) const { return {b.to_input(b.dy(), 0)}; }

Tensors View::gradient(const Backward& b) const { return {apply(Place{called, b.meta().shape, at}, b.dy())}; }

Tensors Place::gradient(const Backward& b) const { return {laid_out(called, b.dy(), at)}; }

Tensors Overlay::gradient(const Backward& b) const {
  const Tensor& dy = b.dy();
  Tensors dx(2);
  if (b.wants(0)) dx[0] = apply(*this, dy, zeros(at.shape, dy.dtype(), {.device = dy.device()}));
  if (b.wants(1)) dx[1] = laid_out(called, dy, at);
  return dx;
}

namespace {

/// What is checked before any axis or shape (CONTRACT.md 9).
void require_overlay(std::string_view op, const Tensor& x, const Tensor& source) {
  const Meta to = x.meta(), from = source.meta();
  const Argument a{"x", 1, to}, s{"source", 2, from};
  require_unblocked(op, a);
  require_unblocked(op, s);
  if (common_dtype(to.dtype, from.dtype) != to.dtype) {
    throw error_about(ErrorKind::DTypeMismatch, op, {a, s})
        .detail(text::format("{} does not hold every value of {}", describe(a), describe(s)))
        .hint(text::format("Cast it, e.g. source.to({})", to_string(to.dtype)));
  }
  require_same_device(op, a, s);
}

}  // namespace

Tensor overlaid(std::string_view op, const Tensor& x, const Tensor& source, const Layout& at) {
  require_overlay(op, x, source);
  const Meta to = x.meta(), from = source.meta();
  const Argument a{"x", 1, to}, s{"source", 2, from};
  const Meta part{.dtype = to.dtype, .shape = at.shape, .device = to.device};
  if (require_broadcast(op, {"the slice", 1, part}, s) != at.shape) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a, s})
        .detail(text::format("{} does not broadcast to {}, the shape of the slice", describe(s), to_string(at.shape)));
  }
  return apply(Overlay{op, at}, x, broadcasted_to(op, source.to(to.dtype), at.shape));
}

Tensor slice_scatter(const Tensor& x, const Tensor& source, SliceOptions options) {
  require_overlay("slice_scatter", x, source);
  const Meta meta = elements_meta("slice_scatter", x);
  return overlaid("slice_scatter", x, source, sliced_by("slice_scatter", meta, options, Layout::contiguous(meta.shape)));
}

Tensor select_scatter(const Tensor& x, const Tensor& source, int axis, Size index) {
  require_overlay("select_scatter", x, source);
  const Meta meta = elements_meta("select_scatter", x);
  const int at = normalise_axis("select_scatter", axis, meta.shape.rank());
  return overlaid("select_scatter", x, source, selected_from("select_scatter", meta, at, index, Layout::contiguous(meta.shape)));
}

Meta Bitcast::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  require_unblocked(info.name, argument);
  if (dtype != x.dtype && (is_quantised(dtype) || dtype == DType::boolean || block_bytes(dtype) != block_bytes(x.dtype))) {
    throw error_about(ErrorKind::DTypeMismatch, info.name, {argument})
        .detail(text::format("{} as {}", describe(argument), to_string(dtype)))
        .accepted(text::format("dtypes of {} bytes, and not bool, whose bytes are 0 or 1", block_bytes(x.dtype)))
        .hint(dtype == DType::boolean ? "Compare it, e.g. ne(x, 0)" : text::format("Convert it, e.g. x.to({})", to_string(dtype)));
  }
  return {.dtype = dtype, .shape = x.shape, .device = x.device};
}

Tensor bitcast(const Tensor& x, DType dtype) {
  const Bitcast op{dtype};
  op.result(x.meta());
  return x.dtype() == dtype ? x : apply(op, x);
}

Tensors Concat::gradient(const Backward& b) const {
  Tensors gradients;
  Size start = 0;
  for (int i = 0; i < b.inputs(); ++i) {
    const Size n = b.meta(i).shape[axis];
    gradients.push_back(b.wants(i) ? narrow(b.dy(), axis, start, n) : Tensor());
    start += n;
  }
  return gradients;
}

}  // namespace votive
