// Rotary positions straight from their formula: every pair turned by position·frequency, one rounding per operation.
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

f32 sine(f32 x) { return sin_f32(x); }
f64 sine(f64 x) { return sin_f64(x); }
f32 cosine(f32 x) { return cos_f32(x); }
f64 cosine(f64 x) { return cos_f64(x); }

template <class T>
std::vector<T> turned(const Rope& op, const Shape& shape, const std::vector<T>& in, const std::vector<T>& at,
                      const std::vector<T>& frequency) {
  const Size B = shape[0], H = shape[1], steps = shape[2], D = shape[3], pairs = static_cast<Size>(frequency.size());
  const bool halves = op.pairing == RopePairing::halves;
  std::vector<T> out = in;
  for (Size b = 0; b < B; ++b) {
    for (Size h = 0; h < H; ++h) {
      for (Size t = 0; t < steps; ++t) {
        const Size row = ((b * H + h) * steps + t) * D;
        for (Size i = 0; i < pairs; ++i) {
          const auto first = static_cast<std::size_t>(row + (halves ? i : 2 * i)),
                     second = static_cast<std::size_t>(row + (halves ? i + pairs : 2 * i + 1));
          const T angle = at[static_cast<std::size_t>(b * steps + t)] * frequency[static_cast<std::size_t>(i)];
          const T c = cosine(angle), s = sine(angle);
          out[first] = in[first] * c - in[second] * s;
          out[second] = in[first] * s + in[second] * c;
        }
      }
    }
  }
  return out;
}

}  // namespace

void rope(const Rope& op, const Tensor& x, const Tensor& positions, const Tensor& frequencies, Tensor& y, Stream&) {
  const Size B = x.shape()[0], H = x.shape()[1], T = x.shape()[2], D = x.shape()[3], pairs = frequencies.shape()[0];
  const Tensor at = broadcast(positions, {B, T});
  if (x.dtype() == DType::f64) {
    write_f64(y, turned(op, x.shape(), read_f64(x), read_f64(at), read_f64(frequencies)));
  } else {
    write_f32(y, turned(op, x.shape(), read_f32(x), read_f32(at), read_f32(frequencies)));
  }
  if (2 * pairs == D) return;
  // what does not turn is copied, a NaN with its bits
  const std::vector<u64> bits = read_bits(x);
  std::vector<u64> result = read_bits(y);
  for (Size row = 0; row < B * H * T; ++row) {
    for (Size d = 2 * pairs; d < D; ++d) result[static_cast<std::size_t>(row * D + d)] = bits[static_cast<std::size_t>(row * D + d)];
  }
  write_bits(y, result);
}

}  // namespace votive::reference
