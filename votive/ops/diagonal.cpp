// Diagonals and triangles of the planes of two axes.
#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

/// The two axes of a plane in a tensor of `rank`.
std::pair<int, int> plane(std::string_view op, const Meta& x, const DiagonalOptions& options, int rank) {
  if (rank < 2) throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, x}}).detail(text::format("{} has no two axes", describe(x)));
  const int a = normalise_axis(op, options.a, rank), b = normalise_axis(op, options.b, rank);
  if (a == b)
    throw error_about(ErrorKind::InvalidAxis, op, {{"x", 1, x}}).detail(text::format("axes {} and {} are one", options.a, options.b));
  return {a, b};
}

Tensor embedded(std::string_view op, const Tensor& x, const DiagonalOptions& options) {
  const Meta meta = x.meta();
  require_unblocked(op, {"x", 1, meta});
  require_rank(op, {"x", 1, meta}, 1, max_rank - 1);
  const auto [a, b] = plane(op, meta, options, meta.shape.rank() + 1);
  const Size last = meta.shape.back();
  Size n = 0;
  if (options.offset == INT64_MIN || __builtin_add_overflow(last, options.offset < 0 ? -options.offset : options.offset, &n))
    throw error_about(ErrorKind::SizeOverflow, op, {{"x", 1, meta}}).detail(text::format("offset {}", options.offset));
  Shape shape = meta.shape;
  shape.erase(shape.rank() - 1);
  shape.insert(std::min(a, b), n);
  shape.insert(std::max(a, b), n);
  checked_count(op, shape, block_bytes(meta.dtype));
  return apply(Place{op, shape, diagonal_of(Layout::contiguous(shape), a, b, options.offset)}, x);
}

Tensor triangle(bool lower, const Tensor& x, Size offset) {
  Triangle op{lower, 0};
  const Meta meta = op.result(x.meta());
  const Size rows = meta.shape[meta.shape.rank() - 2], columns = meta.shape.back();
  op.offset = std::clamp(offset, -rows, columns);
  return apply(op, x);
}

}  // namespace

Layout diagonal_of(Layout layout, int a, int b, Size offset) {
  const Size rows = layout.shape[a], columns = layout.shape[b];
  const Size stride = layout.strides[a] + layout.strides[b];
  Size n = 0;
  if (offset >= 0 && offset < columns) {
    n = std::min(rows, columns - offset);
    if (n > 0) layout.offset += offset * layout.strides[b];
  } else if (offset < 0 && offset > -rows) {
    n = std::min(rows + offset, columns);
    if (n > 0) layout.offset -= offset * layout.strides[a];
  }
  for (const int axis : {std::max(a, b), std::min(a, b)}) {
    layout.shape.erase(axis);
    layout.strides.erase(axis);
  }
  layout.shape.push_back(n);
  layout.strides.push_back(n > 1 ? stride : 1);
  return layout;
}

Tensor diagonal(const Tensor& x, DiagonalOptions options) {
  const Meta meta = elements_meta("diagonal", x);
  const auto [a, b] = plane("diagonal", meta, options, meta.shape.rank());
  return view_of("diagonal", x, [&, first = a, second = b](const Layout& l) { return diagonal_of(l, first, second, options.offset); });
}

Tensor diag_embed(const Tensor& x, DiagonalOptions options) { return embedded("diag_embed", x, options); }

Tensor diag(const Tensor& x, Size offset) {
  const Meta meta = elements_meta("diag", x);
  require_rank("diag", {"x", 1, meta}, 1, 2);
  if (meta.shape.rank() == 1) return embedded("diag", x, {.offset = offset});
  return view_of("diag", x, [&](const Layout& l) { return diagonal_of(l, 0, 1, offset); });
}

Meta Triangle::result(const Meta& x) const {
  require_unblocked(name(), {"x", 1, x});
  require_rank(name(), {"x", 1, x}, 2);
  return {.dtype = x.dtype, .shape = x.shape, .device = x.device};
}

Tensors Triangle::gradient(const Backward& b) const { return {apply(*this, b.dy())}; }

Tensor tril(const Tensor& x, Size offset) { return triangle(true, x, offset); }
Tensor triu(const Tensor& x, Size offset) { return triangle(false, x, offset); }

}  // namespace votive
