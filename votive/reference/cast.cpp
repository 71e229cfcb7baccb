// Casts (CONTRACT.md 6), copies and concatenation.
#include <cstring>

#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

void cast(const Cast& op, const Tensor& x, Tensor& y, Stream&) {
  const DType from = x.dtype();
  if (from == DType::f64) return write_f64(y, read_f64(x), op.saturate);
  if (from == DType::boolean || is_unsigned_integer(from)) return write_u64(y, read_u64(x), op.saturate);
  if (is_signed_integer(from)) return write_i64(y, read_i64(x), op.saturate);
  write_f32(y, read_f32(x), op.saturate);
}

void copy(const Copy&, const Tensor& x, Tensor& y, Stream&) {
  if (!is_quantised(x.dtype()) && x.packing() == Packing::none) return write_bits(y, read_bits(x));
  const Size block = block_size(x.dtype()), bytes = block_bytes(x.dtype());
  std::memcpy(y.mutable_buffer() + y.offset() / block * bytes, x.buffer() + x.offset() / block * bytes,
              static_cast<std::size_t>(x.count() / block * bytes));
}

void concat(const Concat& op, std::span<const Tensor> parts, Tensor& y, Stream&) {
  const Around whole(y.shape(), op.axis);
  std::vector<u64> values(static_cast<std::size_t>(y.count()));
  Size start = 0;
  for (const Tensor& part : parts) {
    const std::vector<u64> bits = read_bits(part);
    const Around around(part.shape(), op.axis);
    for (Size o = 0; o < around.outer; ++o) {
      for (Size i = 0; i < around.n; ++i) {
        for (Size j = 0; j < around.inner; ++j)
          values[static_cast<std::size_t>(whole.at(o, start + i, j))] = bits[static_cast<std::size_t>(around.at(o, i, j))];
      }
    }
    start += around.n;
  }
  write_bits(y, values);
}

}  // namespace votive::reference
