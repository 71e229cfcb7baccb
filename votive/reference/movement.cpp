// Movements straight from CONTRACT.md 8: bits to other places.
#include "votive/ops/movement.h"

#include <string>

#include "votive/ops/index_syntax.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"
#include "votive/reference/positions.h"

namespace votive::reference {

void place(const Place& op, const Tensor& x, Tensor& y, Stream&) {
  std::vector<u64> values(static_cast<std::size_t>(y.count()), op.bits);
  const std::vector<u64> bits = read_bits(x);
  const std::vector<Size> places = element_offsets(op.at);
  for (std::size_t i = 0; i < bits.size(); ++i) values[static_cast<std::size_t>(places[i])] = bits[i];
  write_bits(y, values);
}

void overlay(const Overlay& op, const Tensor& x, const Tensor& source, Tensor& y, Stream&) {
  std::vector<u64> values = read_bits(x);
  const std::vector<u64> bits = read_bits(source);
  const std::vector<Size> places = element_offsets(op.at);
  for (std::size_t i = 0; i < bits.size(); ++i) values[static_cast<std::size_t>(places[i])] = bits[i];
  write_bits(y, values);
}

void triangle(const Triangle& op, const Tensor& x, Tensor& y, Stream&) {
  const Size rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1];
  std::vector<u64> values = read_bits(x);
  for (Size i = 0; i < x.count(); ++i) {
    const Size row = i / columns % rows, column = i % columns;
    if (op.lower ? column > row + op.offset : column < row + op.offset) values[static_cast<std::size_t>(i)] = 0;
  }
  write_bits(y, values);
}

void locate(const Locate& op, std::span<const Tensor> indices, Tensor& y, Stream&) {
  std::vector<i64> positions(static_cast<std::size_t>(y.count()), 0);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Size n = op.sizes[static_cast<int>(k)];
    checked_positions({op.info.name, "at[" + std::to_string(op.entries[k]) + "]", 2, op.axes[k], n}, indices[k]);
    const std::vector<i64> values = read_i64(broadcast(indices[k], y.shape()));
    for (std::size_t i = 0; i < values.size(); ++i) positions[i] = positions[i] * n + (values[i] < 0 ? values[i] + n : values[i]);
  }
  write_i64(y, positions);
}

void bitcast(const Bitcast&, const Tensor& x, Tensor& y, Stream&) { write_bits(y, read_bits(x)); }

}  // namespace votive::reference
