// Lookups straight from CONTRACT.md 5. Every index is checked before anything is written.
#include "votive/ops/index.h"

#include "votive/numerics/convert.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"
#include "votive/reference/positions.h"

namespace votive::reference {

using namespace numerics;

std::vector<Size> checked_positions(const IndexRange& range, const Tensor& indices) {
  std::vector<Size> positions = read_i64(indices);
  const bool is_signed = is_signed_integer(indices.dtype());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    Size& p = positions[i];
    const bool beyond_i64 = !is_signed && p < 0;
    if (beyond_i64 || p < range.low(indices.dtype()) || p >= range.n) refuse_index(range, indices, static_cast<Size>(i), p);
    if (p < 0) p += range.n;
  }
  return positions;
}

namespace {

template <class T>
std::vector<T> rows_of(const std::vector<T>& table, const std::vector<Size>& ids, Size D) {
  std::vector<T> values;
  for (const Size id : ids) {
    for (Size d = 0; d < D; ++d) values.push_back(table[static_cast<std::size_t>(id * D + d)]);
  }
  return values;
}

}  // namespace

void embedding(const Embedding& op, const Tensor& table, const Tensor& ids, Tensor& y, Stream&) {
  const std::vector<Size> rows = checked_positions({op.info.name, "ids", 2, 0, table.shape()[0], false}, ids);
  const Size D = table.shape()[1];
  if (is_quantised(table.dtype())) return write_f32(y, rows_of(read_f32(table), rows, D));
  write_bits(y, rows_of(read_bits(table), rows, D));
}

void index_select(const IndexSelect& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Around around(x.shape(), op.axis);
  const std::vector<Size> positions = checked_positions(op.range(around.n), indices);
  const std::vector<u64> bits = read_bits(x);
  std::vector<u64> values;
  for (Size o = 0; o < around.outer; ++o) {
    for (const Size p : positions) {
      for (Size j = 0; j < around.inner; ++j) values.push_back(bits[static_cast<std::size_t>(around.at(o, p, j))]);
    }
  }
  write_bits(y, values);
}

void gather(const Gather& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const std::vector<Size> positions = checked_positions(op.range(x.shape()[op.axis]), indices);
  const std::vector<u64> bits = read_bits(x);
  const Strides in_x = contiguous_strides(x.shape()), in_y = contiguous_strides(y.shape());
  std::vector<u64> values;
  for (Size i = 0; i < y.count(); ++i) {
    Size from = 0;
    for (int axis = 0; axis < y.rank(); ++axis) {
      const Size index = i / in_y[axis] % y.shape()[axis];
      from += (axis == op.axis ? positions[static_cast<std::size_t>(i)] : index) * in_x[axis];
    }
    values.push_back(bits[static_cast<std::size_t>(from)]);
  }
  write_bits(y, values);
}

void index_places(const IndexPlaces& op, const Tensor& indices, Tensor& y, Stream&) { write_i64(y, checked_positions(op.range, indices)); }

void nonzero(const Nonzero& op, const Tensor& mask, Tensor& y, Stream&) {
  const std::vector<u8> truth = read_truth(mask);
  const Strides steps = contiguous_strides(mask.shape());
  std::vector<i64> found;
  for (Size i = 0; i < mask.count(); ++i) {
    if (truth[static_cast<std::size_t>(i)] == 0) continue;
    if (!op.coordinates) found.push_back(i);
    for (int axis = 0; op.coordinates && axis < mask.rank(); ++axis) found.push_back(i / steps[axis] % mask.shape()[axis]);
  }
  write_i64(y, found);
}

}  // namespace votive::reference
