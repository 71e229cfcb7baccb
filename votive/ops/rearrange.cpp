// Movements made of views and joins: axes moved, tensors turned, rolled and repeated. Each names itself in errors, whatever it is made of.
#include <algorithm>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

Tensor ravel(const Tensor& x) {
  const Meta meta = elements_meta("ravel", x);
  return reshaped_to("ravel", x, {count(meta.shape)});
}

Tensor swap_axes(const Tensor& x, int a, int b) {
  const Meta meta = elements_meta("swap_axes", x);
  const int rank = meta.shape.rank();
  int axes[max_rank];
  for (int i = 0; i < rank; ++i) axes[i] = i;
  std::swap(axes[normalise_axis("swap_axes", a, rank)], axes[normalise_axis("swap_axes", b, rank)]);
  return permuted_to("swap_axes", x, {axes, static_cast<std::size_t>(rank)});
}

Tensor movedim(const Tensor& x, std::span<const int> from, std::span<const int> to) {
  const Meta meta = elements_meta("movedim", x);
  const int rank = meta.shape.rank();
  if (from.size() != to.size()) {
    throw error_about(ErrorKind::InvalidArgument, "movedim", {{"x", 1, meta}})
        .detail(text::format("{} axes and {} places", from.size(), to.size()));
  }
  int axes[max_rank];
  std::fill_n(axes, max_rank, -1);
  std::uint32_t moved = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const int axis = normalise_axis("movedim", from[i], rank), place = normalise_axis("movedim", to[i], rank);
    if ((moved >> axis & 1) != 0 || axes[place] >= 0) {
      throw error_about(ErrorKind::InvalidAxis, "movedim", {{"x", 1, meta}})
          .detail((moved >> axis & 1) != 0 ? text::format("axis {} is named twice", from[i])
                                           : text::format("place {} is named twice", to[i]));
    }
    moved |= 1u << axis;
    axes[place] = axis;
  }
  int next = 0;
  for (int place = 0; place < rank; ++place) {
    if (axes[place] >= 0) continue;
    while ((moved >> next & 1) != 0) ++next;
    axes[place] = next++;
  }
  return permuted_to("movedim", x, {axes, static_cast<std::size_t>(rank)});
}

Tensor movedim(const Tensor& x, std::initializer_list<int> from, std::initializer_list<int> to) {
  return movedim(x, std::span(from.begin(), from.size()), std::span(to.begin(), to.size()));
}

Tensor movedim(const Tensor& x, int from, int to) { return movedim(x, std::span(&from, 1), std::span(&to, 1)); }

Tensor atleast(const Tensor& x, int rank) {
  const Meta meta = elements_meta("atleast", x);
  if (rank < 0 || rank > max_rank) {
    throw error_about(ErrorKind::InvalidArgument, "atleast", {{"x", 1, meta}})
        .detail(text::format("rank {} is not in 0..{}", rank, max_rank));
  }
  Shape shape = meta.shape;
  while (shape.rank() < rank) shape.insert(0, 1);
  return reshaped_to("atleast", x, shape);
}

Tensor rot90(const Tensor& x, Size k, int a, int b) {
  const Meta meta = elements_meta("rot90", x);
  const int rank = meta.shape.rank();
  const int from = normalise_axis("rot90", a, rank), to = normalise_axis("rot90", b, rank);
  if (from == to) throw error_about(ErrorKind::InvalidAxis, "rot90", {{"x", 1, meta}}).detail(text::format("axes {} and {} are one", a, b));
  const Size turns = (k % 4 + 4) % 4;
  Tensor y = x;
  if (turns == 1 || turns == 2) y = flipped("rot90", y, 1u << to);
  if (turns == 2 || turns == 3) y = flipped("rot90", y, 1u << from);
  if (turns % 2 == 0) return y;
  int axes[max_rank];
  for (int i = 0; i < rank; ++i) axes[i] = i;
  std::swap(axes[from], axes[to]);
  return permuted_to("rot90", y, {axes, static_cast<std::size_t>(rank)});
}

namespace {

Tensor rolled(const Tensor& x, Size shift, int axis) {
  const Size n = x.shape()[axis];
  if (n == 0) return x;
  const Size by = (shift % n + n) % n;
  if (by == 0) return x;
  const Tensor parts[] = {narrowed("roll", x, axis, n - by, by), narrowed("roll", x, axis, 0, n - by)};
  return concatenated(Concat{axis, "roll"}, x.dtype(), parts);
}

}  // namespace

Tensor roll(const Tensor& x, std::span<const Size> shifts, std::span<const int> axes) try {
  const Meta meta = x.meta();
  require_unblocked("roll", {"x", 1, meta});
  if (shifts.size() != axes.size()) {
    throw error_about(ErrorKind::InvalidArgument, "roll", {{"x", 1, meta}})
        .detail(text::format("{} shifts for {} axes", shifts.size(), axes.size()));
  }
  Axes(std::vector<int>(axes.begin(), axes.end())).mask("roll", meta.shape.rank());
  Tensor y = x;
  for (std::size_t i = 0; i < axes.size(); ++i) y = rolled(y, shifts[i], normalise_axis("roll", axes[i], meta.shape.rank()));
  return y;
} catch (const std::bad_alloc&) { detail::refuse_memory("roll"); }

Tensor roll(const Tensor& x, std::initializer_list<Size> shifts, std::initializer_list<int> axes) {
  return roll(x, std::span(shifts.begin(), shifts.size()), std::span(axes.begin(), axes.size()));
}

Tensor roll(const Tensor& x, Size shift, int axis) { return roll(x, std::span(&shift, 1), std::span(&axis, 1)); }

Tensor roll(const Tensor& x, Size shift) {
  const Meta meta = x.meta();
  require_unblocked("roll", {"x", 1, meta});
  return reshaped_to("roll", rolled(reshaped_to("roll", x, {count(meta.shape)}), shift, 0), meta.shape);
}

Tensor expand(const Tensor& x, const Shape& shape) {
  const Meta meta = elements_meta("expand", x);
  Shape whole = shape;
  const int extra = shape.rank() - meta.shape.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] != -1) continue;
    if (axis < extra) {
      throw error_about(ErrorKind::InvalidArgument, "expand", {{"x", 1, meta}})
          .detail(text::format("-1 at axis {} of {}: {} has no such axis", axis, to_string(shape), describe(meta)));
    }
    if (axis - extra < meta.shape.rank()) whole[axis] = meta.shape[axis - extra];
  }
  return broadcasted_to("expand", x, whole);
}

Tensor broadcast_like(const Tensor& x, const Tensor& like) {
  elements_meta("broadcast_like", x);
  require_present("broadcast_like", {"like", 2, like.meta()});
  return broadcasted_to("broadcast_like", x, like.shape());
}

namespace {

/// Every axis counts[axis] times, the whole tensor (`whole`) or every element in place: a new axis beside each, broadcast, then merged into one copy.
Tensor repeated(std::string_view op, const Tensor& x, const Shape& counts, bool whole) {
  const Shape& shape = x.shape();
  Shape result = shape;
  int added = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    Size n = 0;
    if (counts[axis] < 0 || __builtin_mul_overflow(shape[axis], counts[axis], &n)) {
      const Meta meta = x.meta();
      throw error_about(counts[axis] < 0 ? ErrorKind::InvalidArgument : ErrorKind::SizeOverflow, op, {{"x", 1, meta}})
          .detail(text::format("{} times axis {} of {}", counts[axis], axis, describe(meta)));
    }
    result[axis] = n;
    if (counts[axis] != 1 && shape[axis] != 1) ++added;
  }
  checked_count(op, result, block_bytes(x.dtype()));
  if (shape.rank() + added > max_rank) {  // one axis at a time, from the last so that small pieces grow first
    Tensor y = x;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (counts[axis] == 1) continue;
      Size outer = 1, inner = 1;
      for (int a = 0; a < axis; ++a) outer *= y.shape()[a];
      for (int a = axis + 1; a < shape.rank(); ++a) inner *= y.shape()[a];
      Shape next = y.shape();
      next[axis] = result[axis];
      const Tensor flat = reshaped_to(op, y, {outer, shape[axis], inner});
      y = reshaped_to(op, repeated(op, flat, {1, counts[axis], 1}, whole), next);
    }
    return y;
  }
  Shape split, wide;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const Size n = shape[axis], c = counts[axis];
    if (n == 1 || c == 1) {
      split.push_back(n);
      wide.push_back(n * c);
    } else if (whole) {
      split.push_back(1), split.push_back(n);
      wide.push_back(c), wide.push_back(n);
    } else {
      split.push_back(n), split.push_back(1);
      wide.push_back(n), wide.push_back(c);
    }
  }
  return reshaped_to(op, broadcasted_to(op, reshaped_to(op, x, split), wide), result);
}

Tensor tiled(std::string_view op, const Tensor& x, Shape counts) {
  Shape shape = x.shape();
  while (shape.rank() < counts.rank()) shape.insert(0, 1);
  while (counts.rank() < shape.rank()) counts.insert(0, 1);
  return repeated(op, reshaped_to(op, x, shape), counts, true);
}

}  // namespace

Tensor tile(const Tensor& x, const Shape& counts) {
  elements_meta("tile", x);
  return tiled("tile", x, counts);
}

Tensor repeat(const Tensor& x, const Shape& counts) {
  const Meta meta = elements_meta("repeat", x);
  if (counts.rank() < meta.shape.rank()) {
    throw error_about(ErrorKind::InvalidArgument, "repeat", {{"x", 1, meta}})
        .detail(text::format("{} counts for {}", counts.rank(), describe(meta)))
        .hint("Use tile, which puts ones in front");
  }
  return tiled("repeat", x, counts);
}

Tensor repeat_interleave(const Tensor& x, Size n, int axis) {
  const Meta meta = elements_meta("repeat_interleave", x);
  Shape counts = Shape::filled(meta.shape.rank(), 1);
  counts[normalise_axis("repeat_interleave", axis, meta.shape.rank())] = n;
  return repeated("repeat_interleave", x, counts, false);
}

Tensor repeat_interleave(const Tensor& x, const Tensor& counts, int axis) {
  constexpr std::string_view op = "repeat_interleave";
  const Meta meta = x.meta(), count_meta = counts.meta();
  const Argument a{"x", 1, meta}, c{"counts", 2, count_meta};
  require_unblocked(op, a);
  require_index(op, c);
  require_same_device(op, a, c);
  const int at = normalise_axis(op, axis, meta.shape.rank());
  require_rank(op, c, 0, 1);
  const Size n = meta.shape[at];
  if (count_meta.shape.rank() == 1 && count_meta.shape[0] != n) {
    throw error_about(ErrorKind::ShapeMismatch, op, {a, c})
        .detail(text::format("{} counts for axis {} of {}, which has {}", count_meta.shape[0], axis, describe(a), n));
  }
  const bool unsigned_counts = count_meta.dtype == DType::u64;
  const std::vector<std::int64_t> each = counts.to(DType::i64).to_host<std::int64_t>();
  Size total = 0;
  for (std::size_t i = 0; i < each.size(); ++i) {
    if (each[i] < 0 || __builtin_add_overflow(total, each[i], &total)) {
      throw error_about(each[i] < 0 && !unsigned_counts ? ErrorKind::InvalidArgument : ErrorKind::SizeOverflow, op, {c})
          .position({static_cast<Size>(i)})
          .value(text::format("{}", each[i]))
          .detail(text::format("{} has {} at position [{}]", describe(c),
                               unsigned_counts ? text::format("{}", static_cast<std::uint64_t>(each[i])) : text::format("{}", each[i]), i));
    }
  }
  if (count_meta.shape.rank() == 0) return repeat_interleave(x, each[0], axis);
  Shape result = meta.shape;
  result[at] = total;
  checked_count(op, result, std::max<Size>(block_bytes(meta.dtype), 8));
  std::vector<std::int64_t> sources;
  sources.reserve(static_cast<std::size_t>(total));
  for (Size i = 0; i < n; ++i) sources.insert(sources.end(), static_cast<std::size_t>(each[static_cast<std::size_t>(i)]), i);
  return index_select(x, from_host<std::int64_t>(sources, {total}, DType::i64, {.device = meta.device}), at);
}

}  // namespace votive
