// Rules of lookups: embedding, index_select, take, gather, and what a mask chooses. Values of indices are checked by the kernel, all of them before it
// writes (CONTRACT.md 5.2).
#include "votive/ops/index.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/scatter.h"

namespace votive {

void refuse_index(const IndexRange& range, const Tensor& indices, Size flat, std::int64_t value) {
  std::vector<Size> position(static_cast<std::size_t>(indices.rank()));
  for (int axis = indices.rank() - 1; axis >= 0; --axis) {
    position[static_cast<std::size_t>(axis)] = flat % indices.shape()[axis];
    flat /= indices.shape()[axis];
  }
  const bool beyond_i64 = indices.dtype() == DType::u64 && value < 0;
  const std::string shown = beyond_i64 ? text::format("{}", static_cast<std::uint64_t>(value)) : text::format("{}", value);
  const bool bounded = range.n != INT64_MAX;
  const std::string limit = bounded ? text::format("{}..{}", range.low(indices.dtype()), range.n - 1) : "0 and more";
  const std::string of = !bounded         ? "a count"
                         : range.axis < 0 ? text::format("{} elements", range.n)
                                          : text::format("axis {} of size {}", range.axis, range.n);
  const Meta meta = indices.meta();
  throw error_about(ErrorKind::IndexOutOfRange, range.call, {{range.argument, range.number, meta}})
      .value(shown)
      .position(position)
      .limit(limit)
      .detail(text::format("argument '{}' (#{}, {}) has {} at position {}; valid range for {} is {}", range.argument, range.number,
                           describe(meta), shown, to_string(Shape(std::span<const Size>(position))), of, range.n == 0 ? "empty" : limit));
}

Shape looked_up_shape(std::string_view op, const Argument& x, const Argument& indices, int axis) {
  const int rank = x.meta.shape.rank() - 1 + indices.meta.shape.rank();
  if (rank > max_rank) {
    throw error_about(ErrorKind::ShapeMismatch, op, {x, indices})
        .detail(text::format("{} by {} would have {} axes", describe(x), describe(indices), rank))
        .accepted(text::format("at most {} axes", max_rank));
  }
  Shape shape;
  for (int a = 0; a < axis; ++a) shape.push_back(x.meta.shape[a]);
  for (const Size n : indices.meta.shape) shape.push_back(n);
  for (int a = axis + 1; a < x.meta.shape.rank(); ++a) shape.push_back(x.meta.shape[a]);
  return shape;
}

Meta Embedding::result(const Meta& table, const Meta& ids) const {
  const Argument t{"table", 1, table}, i{"ids", 2, ids};
  require_present(info.name, t);
  if (table.device == Device::reference) require_unpacked(info.name, t);
  require_index(info.name, i);
  require_same_device(info.name, t, i);
  require_rank(info.name, t, 2, 2);
  require_rank(info.name, i, 0, max_rank - 1);
  Meta y{.dtype = is_quantised(table.dtype) ? DType::f32 : table.dtype, .shape = ids.shape, .device = table.device};
  y.shape.push_back(table.shape[1]);
  return y;
}

Meta IndexSelect::result(const Meta& x, const Meta& indices) const {
  const Argument a{"x", 1, x}, i{"indices", 2, indices};
  require_unblocked(name(), a);
  require_index(name(), i);
  require_same_device(name(), a, i);
  require_rank(name(), a, 1);
  return {.dtype = x.dtype, .shape = looked_up_shape(name(), a, i, axis), .device = x.device};
}

Meta Gather::result(const Meta& x, const Meta& indices) const {
  const Argument a{"x", 1, x}, i{"indices", 2, indices};
  require_unblocked(info.name, a);
  require_index(info.name, i);
  require_same_device(info.name, a, i);
  require_rank(info.name, a, 1);
  require_rank(info.name, i, x.shape.rank(), x.shape.rank());
  for (int at = 0; at < x.shape.rank(); ++at) {
    if (at == axis || indices.shape[at] <= x.shape[at]) continue;
    throw error_about(ErrorKind::ShapeMismatch, info.name, {a, i})
        .detail(text::format("{} and {}: axis {} of the indices is longer", describe(a), describe(i), at));
  }
  return {.dtype = x.dtype, .shape = indices.shape, .device = x.device};
}

Meta Nonzero::result(const Meta& mask) const {
  Meta y{.dtype = DType::i64, .shape = {found}, .device = mask.device};
  if (coordinates) y.shape.push_back(mask.shape.rank());
  return y;
}

namespace {

/// What a gradient is added to.
Tensor nothing_like(const Meta& x) { return zeros(x.shape, x.dtype, {.device = x.device}); }

}  // namespace

Tensors Embedding::gradient(const Backward& b) const { return {index_add(nothing_like(b.meta(0)), b.x(1), b.dy(), 0), {}}; }

Tensors IndexSelect::gradient(const Backward& b) const { return {index_add(nothing_like(b.meta(0)), b.x(1), b.dy(), axis), {}}; }

Tensors Gather::gradient(const Backward& b) const { return {scatter_add(nothing_like(b.meta(0)), b.x(1), b.dy(), axis), {}}; }

Tensor embedding(const Tensor& table, const Tensor& ids) { return apply(Embedding{}, table, ids); }

Tensor index_select(const Tensor& x, const Tensor& indices, int axis) {
  const Meta meta = x.meta();
  const Meta which = indices.meta();
  require_unblocked("index_select", {"x", 1, meta});
  require_index("index_select", {"indices", 2, which});
  require_same_device("index_select", {"x", 1, meta}, {"indices", 2, which});
  return apply(IndexSelect{normalise_axis("index_select", axis, meta.shape.rank())}, x, indices);
}

Tensor take(const Tensor& x, const Tensor& indices) {
  const Meta meta = x.meta(), which = indices.meta();
  const Argument a{"x", 1, meta}, i{"indices", 2, which};
  require_unblocked("take", a);
  require_index("take", i);
  require_same_device("take", a, i);
  return apply(IndexSelect{.axis = 0, .flat = true}, reshape(x, {count(meta.shape)}), indices);
}

Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  const Meta meta = x.meta();
  const Meta which = indices.meta();
  require_unblocked("gather", {"x", 1, meta});
  require_index("gather", {"indices", 2, which});
  require_same_device("gather", {"x", 1, meta}, {"indices", 2, which});
  return apply(Gather{normalise_axis("gather", axis, meta.shape.rank())}, x, indices);
}

Tensor true_places(const Tensor& mask) { return apply(Nonzero{.found = sum(mask).item<std::int64_t>(), .coordinates = false}, mask); }

namespace {

/// The mask's shape is that of x's leading axes.
void require_leading_mask(std::string_view op, const Argument& x, const Argument& mask) {
  require_unblocked(op, x);
  require_bool(op, mask);
  require_same_device(op, x, mask);
  bool leads = mask.meta.shape.rank() <= x.meta.shape.rank();
  for (int axis = 0; leads && axis < mask.meta.shape.rank(); ++axis) leads = mask.meta.shape[axis] == x.meta.shape[axis];
  if (leads) return;
  throw error_about(ErrorKind::ShapeMismatch, op, {x, mask})
      .detail(text::format("{} and {}: the mask has not the shape of the leading axes", describe(x), describe(mask)))
      .hint("Broadcast it, e.g. broadcast_to(mask, x.shape())");
}

/// The mask broadcasts to x's shape.
void require_fitting_mask(std::string_view op, const Argument& x, const Argument& mask) {
  require_unblocked(op, x);
  require_bool(op, mask);
  require_same_device(op, x, mask);
  if (require_broadcast(op, x, mask) == x.meta.shape) return;
  throw error_about(ErrorKind::ShapeMismatch, op, {x, mask})
      .detail(text::format("{} is larger than {}", describe(mask), describe(x)))
      .hint("Broadcast x first, e.g. broadcast_to(x, mask.shape())");
}

}  // namespace

Tensor nonzero(const Tensor& x) {
  const Meta meta = x.meta();
  require_unblocked("nonzero", {"x", 1, meta});
  const Tensor mask = x.detach().to(DType::boolean);
  return apply(Nonzero{.found = sum(mask).item<std::int64_t>(), .coordinates = true}, mask);
}

Tensor masked_select(const Tensor& x, const Tensor& mask) {
  const Meta a = x.meta(), m = mask.meta();
  require_leading_mask("masked_select", {"x", 1, a}, {"mask", 2, m});
  Shape rows{count(m.shape)};
  for (int axis = m.shape.rank(); axis < a.shape.rank(); ++axis) rows.push_back(a.shape[axis]);
  return apply(IndexSelect{.axis = 0}, reshape(x, rows), true_places(mask));
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, Literal value) {
  const Meta a = x.meta(), m = mask.meta();
  require_fitting_mask("masked_fill", {"x", 1, a}, {"mask", 2, m});
  literal_bits("masked_fill", value, a.dtype, "Cast x first");
  return where(mask, full({}, value, a.dtype, {.device = a.device}), x);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value) {
  const Meta a = x.meta(), m = mask.meta(), v = value.meta();
  const Argument to{"x", 1, a}, from{"value", 3, v};
  require_fitting_mask("masked_fill", to, {"mask", 2, m});
  require_written_dtype("masked_fill", to, from);
  require_same_device("masked_fill", to, from);
  require_rank("masked_fill", from, 0, 0);
  return where(mask, value.to(a.dtype), x);
}

Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source) {
  return as_one("masked_scatter", [&] {
    const Meta a = x.meta(), m = mask.meta(), s = source.meta();
    const Argument to{"x", 1, a}, from{"source", 3, s};
    require_fitting_mask("masked_scatter", to, {"mask", 2, m});
    require_written_dtype("masked_scatter", to, from);
    require_same_device("masked_scatter", to, from);
    const Tensor chosen = true_places(broadcast_to(mask, a.shape));
    const Size n = chosen.count(), given = count(s.shape);
    if (n > given) {
      throw error_about(ErrorKind::ShapeMismatch, "masked_scatter", {to, from})
          .detail(text::format("{} has {} elements for {} places", describe(from), given, n));
    }
    return reshape(index_copy(reshape(x, {count(a.shape)}), chosen, narrow(reshape(source, {given}), 0, 0, n), 0), a.shape);
  });
}

}  // namespace votive
