// Rules of lookups: embedding, index_select, gather. Values of indices are checked by the kernel, all of them before it writes (CONTRACT.md 5.2).
#include "votive/ops/index.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

void refuse_index(std::string_view op, std::string_view argument, int number, const Tensor& indices, Size flat, std::int64_t value,
                  Size low, Size high) {
  std::vector<Size> position(static_cast<std::size_t>(indices.rank()));
  for (int axis = indices.rank() - 1; axis >= 0; --axis) {
    position[static_cast<std::size_t>(axis)] = flat % indices.shape()[axis];
    flat /= indices.shape()[axis];
  }
  const bool beyond_i64 = indices.dtype() == DType::u64 && value < 0;
  const std::string shown = beyond_i64 ? format("{}", static_cast<std::uint64_t>(value)) : format("{}", value);
  const Meta meta = indices.meta();
  throw error_about(ErrorKind::IndexOutOfRange, op, {{argument, number, meta}})
      .value(shown)
      .position(position)
      .limit(format("{}..{}", low, high))
      .detail(format("argument '{}' (#{}, {}) has {} at position {}; valid range is {}..{}", argument, number, describe(meta), shown,
                     to_string(Shape(std::span<const Size>(position))), low, high));
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
  require_unblocked(info.name, a);
  require_index(info.name, i);
  require_same_device(info.name, a, i);
  require_rank(info.name, a, 1);
  require_rank(info.name, i, 0, 1);
  Meta y = x;
  if (indices.shape.rank() == 0) {
    y.shape.erase(axis);
  } else {
    y.shape[axis] = indices.shape[0];
  }
  return y;
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
        .detail(format("{} and {}: axis {} of the indices is longer", describe(a), describe(i), at));
  }
  return {.dtype = x.dtype, .shape = indices.shape, .device = x.device};
}

Tensor embedding(const Tensor& table, const Tensor& ids) { return apply(Embedding{}, table, ids); }

Tensor index_select(const Tensor& x, const Tensor& indices, int axis) {
  const Meta meta = x.meta();
  require_unblocked("index_select", {"x", 1, meta});
  return apply(IndexSelect{normalise_axis("index_select", axis, meta.shape.rank())}, x, indices);
}

Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  const Meta meta = x.meta();
  require_unblocked("gather", {"x", 1, meta});
  return apply(Gather{normalise_axis("gather", axis, meta.shape.rank())}, x, indices);
}

}  // namespace votive
