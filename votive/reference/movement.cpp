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

}  // namespace votive::reference
