// Movements straight from CONTRACT.md 8: bits to other places.
#include "votive/ops/movement.h"

#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

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

void bitcast(const Bitcast&, const Tensor& x, Tensor& y, Stream&) { write_bits(y, read_bits(x)); }

}  // namespace votive::reference
