// Rules and gradients of scatter and its kin. Values of indices are checked by the kernel, all of them before it writes (CONTRACT.md 5.2).
#include "votive/ops/scatter.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/literal.h"
#include "votive/ops/modes.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

namespace votive {

void require_written_dtype(std::string_view op, const Argument& x, const Argument& source) {
  require_unblocked(op, source);
  const auto common = common_dtype(x.meta.dtype, source.meta.dtype);
  if (common && *common == x.meta.dtype) return;
  throw error_about(ErrorKind::DTypeMismatch, op, {x, source})
      .detail(text::format("{} cannot hold every value of {}", describe(x), describe(source)))
      .hint(text::format("Cast it, e.g. {}.to({})", source.name, to_string(x.meta.dtype)));
}

namespace {

/// What is checked before any shape or axis (CONTRACT.md 9).
void require_dtypes_and_devices(const Scatter& op, const Argument& a, const Argument& i, const Argument& s) {
  switch (op.mode) {
    case ScatterMode::assign: require_unblocked(op.call, a); break;
    case ScatterMode::min:
    case ScatterMode::max: require_plain(op.call, a); break;
    case ScatterMode::add:
    case ScatterMode::mul: require_number(op.call, a); break;
    case ScatterMode::mean: require_floating(op.call, a); break;
  }
  require_index(op.call, i);
  require_written_dtype(op.call, a, s);
  require_same_device(op.call, a, i);
  require_same_device(op.call, a, s);
}

}  // namespace

Meta Scatter::result(const Meta& x, const Meta& indices, const Meta& source) const {
  const Argument a{"x", 1, x}, i{"indices", 2, indices}, s{"source", 3, source};
  require_dtypes_and_devices(*this, a, i, s);
  require_rank(call, a, 1);
  Shape expected = indices.shape;
  if (slices) {
    expected = looked_up_shape(call, a, i, axis);
  } else {
    require_rank(call, i, x.shape.rank(), x.shape.rank());
    for (int at = 0; at < x.shape.rank(); ++at) {
      if (at == axis || indices.shape[at] <= x.shape[at]) continue;
      throw error_about(ErrorKind::ShapeMismatch, call, {a, i})
          .detail(text::format("{} and {}: axis {} of the indices is longer", describe(a), describe(i), at));
    }
  }
  if (source.shape.rank() != 0) require_shape(call, s, expected);
  if (x.shape[axis] == 0 && count(indices.shape) != 0) {  // y is empty, so no kernel will say it
    throw error_about(ErrorKind::IndexOutOfRange, call, {i})
        .detail(text::format("argument 'indices' (#2, {}) has {} indices; axis {} of {} has no elements", describe(indices),
                             count(indices.shape), axis, describe(a)));
  }
  return {.dtype = x.dtype, .shape = x.shape, .device = x.device};
}

Saves Scatter::saves() const {
  const bool chooses = mode == ScatterMode::min || mode == ScatterMode::max;
  return {chooses || mode == ScatterMode::mul ? 0b111u : 0b010u, chooses};
}

namespace {

/// The one call of the kernel; in the checked mode what it added or multiplied is looked at once more.
Tensor scattered(const Scatter& op, const Tensor& x, const Tensor& indices, const Tensor& updates) {
  Tensor y = apply(op, x, indices, updates);
  const bool joins = op.mode == ScatterMode::add || op.mode == ScatterMode::mul;
  if (is_checked() && joins && is_integer(x.dtype()) && updates.count() != 0) [[unlikely]] {
    const Tensor elements = reshape(arange(0, x.count(), 1, DType::i64, {.device = x.device()}), x.shape());
    require_updates_fit(op.call, op.mode == ScatterMode::add ? Joined::sums : Joined::products, x,
                        op.slices ? index_select(elements, indices, op.axis) : gather(elements, indices, op.axis), updates);
  }
  return y;
}

Tensor put(Scatter op, const Tensor& x, const Tensor& indices, const Tensor& source) {
  const Meta a = x.meta(), i = indices.meta(), s = source.meta();
  require_dtypes_and_devices(op, {"x", 1, a}, {"indices", 2, i}, {"source", 3, s});
  op.axis = normalise_axis(op.call, op.axis, a.shape.rank());
  op.result(a, i, s);
  Tensor updates = source.to(a.dtype);
  if (s.shape.rank() == 0)
    updates = broadcast_to(updates, op.slices ? looked_up_shape(op.call, {"x", 1, a}, {"indices", 2, i}, op.axis) : i.shape);
  return scattered(op, x, indices, updates);
}

Tensor filled(const Meta& like, Literal value, DType dtype) { return full(like.shape, value, dtype, {.device = like.device}); }

/// What a scatter's gradient is made of: the same indices, read and written again.
struct Addressed {
  Scatter op;
  const Tensor& indices;

  /// The element at each update's place.
  Tensor read(const Tensor& x) const { return op.slices ? index_select(x, indices, op.axis) : gather(x, indices, op.axis); }
  Tensor write(const Tensor& x, const Tensor& source, ScatterMode mode) const {
    return put({op.call, mode, op.axis, op.slices}, x, indices, source);
  }
  /// The updates and the places they go to along one axis, an index per element.
  std::pair<Tensor, Tensor> per_element(const Meta& x, const Tensor& source, int& along) const;
  /// The number of each update, row-major.
  Tensor numbers(const Meta& source) const {
    return reshape(arange(0, count(source.shape), 1, DType::i64, {.device = source.device}), source.shape);
  }
};

std::pair<Tensor, Tensor> Addressed::per_element(const Meta& x, const Tensor& source, int& along) const {
  const Tensor signed_places = indices.to(DType::i64);
  const Tensor places = where(lt(signed_places, 0), signed_places + x.shape[op.axis], signed_places);
  along = op.axis;
  if (!op.slices) return {places, source};
  Shape shape{1, places.count(), 1};
  const Tensor middle = reshape(places, shape);
  for (int a = 0; a < op.axis; ++a) shape[0] *= x.shape[a];
  for (int a = op.axis + 1; a < x.shape.rank(); ++a) shape[2] *= x.shape[a];
  along = 1;
  return {broadcast_to(middle, shape), reshape(source, shape)};
}

/// For each update the product of the others of its place: without a division, so that zeros are right, also in the gradient of this. Updates of one
/// place are brought together by a stable sort; then products of ever longer runs of neighbours (Hillis and Steele) from both sides.
Tensor product_of_others(const Tensor& places, const Tensor& updates, int axis) {
  const Size n = places.shape()[axis];
  if (updates.count() == 0) return updates;
  const Sorted ordered = sort(places, {.axis = axis});
  const Tensor number = arange(0, n, 1, DType::i64, {.device = places.device()});
  Shape along = Shape::filled(places.rank(), 1);
  along[axis] = n;
  const Tensor one = full({}, 1, updates.dtype(), {.device = places.device()});
  const Tensor values = gather(updates, ordered.indices, axis);
  const auto from_one_side = [&](Size direction) {
    const auto neighbour = [&](const Tensor& x, Size distance) {
      return index_select(x, minimum(maximum(number - direction * distance, 0), n - 1), axis);
    };
    const auto shares = [&](Size distance) {
      const Tensor other = number - direction * distance;
      const Tensor inside = reshape(logical_and(ge(other, 0), lt(other, n)), along);
      return logical_and(eq(neighbour(ordered.values, distance), ordered.values), inside);
    };
    Tensor product = values;
    for (Size distance = 1; distance < n; distance *= 2) {
      const Tensor shared = shares(distance);
      if (!any(shared).item<bool>()) break;
      product = where(shared, product * neighbour(product, distance), product);
    }
    return where(shares(1), neighbour(product, 1), one);
  };
  const Tensor back = sort(ordered.indices, {.axis = axis}).indices;
  return gather(from_one_side(1) * from_one_side(-1), back, axis);
}

}  // namespace

Tensors Scatter::gradient(const Backward& b) const {
  const Addressed at{*this, b.x(1)};
  const Tensor& dy = b.dy();
  const Meta &x = b.meta(0), &source = b.meta(2);
  const bool of_x = b.wants(0), of_source = b.wants(2);
  Tensors g(3);
  switch (mode) {
    case ScatterMode::add:
      if (of_x) g[0] = dy;
      if (of_source) g[2] = at.read(dy);
      return g;
    case ScatterMode::assign: {
      if (of_x) g[0] = at.write(dy, filled({.device = x.device}, 0, x.dtype), ScatterMode::assign);
      if (!of_source) return g;
      const Tensor number = at.numbers(source);
      const Tensor last = at.write(filled(x, -1, DType::i64), number, ScatterMode::assign);
      g[2] = where(eq(at.read(last), number), at.read(dy), filled({.device = x.device}, 0, x.dtype));
      return g;
    }
    case ScatterMode::min:
    case ScatterMode::max: {
      // A winner equals the result; a NaN is one as well. x comes before the updates, these by their numbers.
      const auto wins = [](const Tensor& value, const Tensor& best) { return logical_or(eq(value, best), ne(value, value)); };
      const Tensor zero = filled({.device = x.device}, 0, x.dtype);
      const Tensor stays = wins(b.x(0), b.y());
      if (of_x) g[0] = where(stays, dy, zero);
      if (!of_source) return g;
      const Tensor number = at.numbers(source), none = filled({.device = x.device}, count(source.shape), DType::i64);
      const Tensor candidate = where(wins(b.x(2), at.read(b.y())), number, none);
      const Tensor first = at.write(where(stays, filled({.device = x.device}, -1, DType::i64), none), candidate, ScatterMode::min);
      g[2] = where(eq(at.read(first), number), at.read(dy), zero);
      return g;
    }
    case ScatterMode::mean: {
      const Tensor n = at.write(filled(x, 1, DType::f32), filled({.device = x.device}, 1, DType::f32), ScatterMode::add);
      const Tensor share = (dy / n).to(x.dtype);
      if (of_x) g[0] = share;
      if (of_source) g[2] = at.read(share);
      return g;
    }
    case ScatterMode::mul: {
      const Tensor one = filled({.device = x.device}, 1, x.dtype);
      if (of_x) g[0] = dy * at.write(broadcast_to(one, x.shape), b.x(2), ScatterMode::mul);
      if (!of_source) return g;
      int along = 0;
      const auto [places, updates] = at.per_element(x, b.x(2), along);
      g[2] = at.read(dy * b.x(0)) * reshape(product_of_others(places, updates, along), source.shape);
      return g;
    }
  }
  return g;
}

Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& source, ScatterOptions options) {
  return put({"scatter", options.mode, options.axis, false}, x, indices, source);
}

Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  return put({"scatter_add", ScatterMode::add, axis, false}, x, indices, source);
}

Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  return put({"index_add", ScatterMode::add, axis, true}, x, indices, source);
}

Tensor index_copy(const Tensor& x, const Tensor& indices, const Tensor& source, int axis) {
  return put({"index_copy", ScatterMode::assign, axis, true}, x, indices, source);
}

Tensor index_reduce(const Tensor& x, const Tensor& indices, const Tensor& source, ScatterOptions options) {
  return put({"index_reduce", options.mode, options.axis, true}, x, indices, source);
}

Tensor index_fill(const Tensor& x, const Tensor& indices, Literal value, int axis) {
  const Meta a = x.meta();
  require_unblocked("index_fill", {"x", 1, a});
  literal_bits("index_fill", value, a.dtype, "Cast x first");
  return put({"index_fill", ScatterMode::assign, axis, true}, x, indices, full({}, value, a.dtype, {.device = a.device}));
}

namespace {

/// The index tensors of index_put as places along one axis each; a mask gives one per axis of its own.
std::vector<Tensor> places_of(const Argument& x, std::span<const Tensor> indices) {
  std::vector<Tensor> all;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::string name = text::format("indices[{}]", k);
    const Meta meta = indices[k].meta();
    const Argument argument{name, 2, meta};
    const auto axis = static_cast<int>(all.size());
    const int axes = meta.dtype == DType::boolean ? meta.shape.rank() : 1;
    if (axis + axes > x.meta.shape.rank()) {
      throw error_about(ErrorKind::ShapeMismatch, "index_put", {x, argument})
          .detail(text::format("{} has no axis {} for {}", describe(x), axis + axes - 1, describe(argument)));
    }
    if (meta.dtype != DType::boolean) {
      all.push_back(apply(IndexPlaces{{"index_put", name, 2, axis, x.meta.shape[axis]}}, indices[k]));
      continue;
    }
    for (int a = 0; a < axes; ++a) {
      if (meta.shape[a] == x.meta.shape[axis + a]) continue;
      throw error_about(ErrorKind::ShapeMismatch, "index_put", {x, argument})
          .detail(text::format("{} and {}: axis {} of the mask meets axis {}", describe(x), describe(argument), a, axis + a));
    }
    const Tensor found = nonzero(indices[k]);
    for (int a = 0; a < axes; ++a) all.push_back(select(found, 1, a));
  }
  return all;
}

}  // namespace

Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values, IndexPutOptions options) {
  const Meta a = x.meta(), v = values.meta();
  const Argument to{"x", 1, a}, from{"values", 3, v};
  const Scatter op{"index_put", options.accumulate ? ScatterMode::add : ScatterMode::assign, 0, true};
  options.accumulate ? require_number(op.call, to) : require_unblocked(op.call, to);
  require_written_dtype(op.call, to, from);
  require_same_device(op.call, to, from);
  if (indices.empty()) throw error_about(ErrorKind::InvalidArgument, op.call, {to}).detail("no indices");
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::string name = text::format("indices[{}]", k);
    const Meta meta = indices[k].meta();
    const Argument argument{name, 2, meta};
    require_present(op.call, argument);
    if (meta.dtype != DType::boolean) require_index(op.call, argument);
    require_same_device(op.call, to, argument);
  }
  const std::vector<Tensor> places = places_of(to, indices);
  // One place among the indexed axes taken flat; where x is empty there is none, and nothing to write.
  Shape named, rest;
  for (const Tensor& p : places) named = broadcast_shape(op.call, named, p.shape());
  for (int axis = static_cast<int>(places.size()); axis < a.shape.rank(); ++axis) rest.push_back(a.shape[axis]);
  Shape given = named;
  for (const Size n : rest) given.push_back(n);
  if (require_broadcast(op.call, from, {"what is indexed", 1, {.dtype = a.dtype, .shape = given}}) != given) {
    throw error_about(ErrorKind::ShapeMismatch, op.call, {to, from})
        .detail(text::format("{} does not broadcast to {}", describe(from), to_string(given)));
  }
  if (count(a.shape) == 0) return x;
  Tensor flat = zeros({}, DType::i64, {.device = a.device});
  Size n = 1;
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    flat = flat * a.shape[static_cast<int>(axis)] + places[axis];
    n *= a.shape[static_cast<int>(axis)];
  }
  rest.insert(0, n);
  return reshape(scattered(op, reshape(x, rest), flat, broadcast_to(values.to(a.dtype), given)), a.shape);
}

Tensor index_put(const Tensor& x, std::initializer_list<Tensor> indices, const Tensor& values, IndexPutOptions options) {
  return index_put(x, std::span(indices.begin(), indices.size()), values, options);
}

}  // namespace votive
