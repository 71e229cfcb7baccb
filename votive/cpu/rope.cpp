// Rotary positions: one table of sines and cosines per position, shared by all heads, then every row turns its pairs. Not here: where frequencies come from.
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/angles.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/attention.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

template <class T>
void turn_halves(const T* __restrict x, const T* __restrict c, const T* __restrict s, T* __restrict y, Size pairs) {
  for (Size i = 0; i < pairs; ++i) {
    y[i] = x[i] * c[i] - x[i + pairs] * s[i];
    y[i + pairs] = x[i] * s[i] + x[i + pairs] * c[i];
  }
}

template <class T>
void turn_interleaved(const T* __restrict x, const T* __restrict c, const T* __restrict s, T* __restrict y, Size pairs) {
  // in one loop g++ 12 takes the two lines for a complex product and fuses them (vfmaddsub), contraction forbidden or not
  for (Size i = 0; i < pairs; ++i) y[2 * i] = x[2 * i] * c[i] - x[2 * i + 1] * s[i];
  for (Size i = 0; i < pairs; ++i) y[2 * i + 1] = x[2 * i] * s[i] + x[2 * i + 1] * c[i];
}

template <class Value>
void rope_as(const Rope& op, const Tensor& x, const Tensor& positions, const Tensor& frequencies, Tensor& y) {
  constexpr DType as = std::is_same_v<Value, f64> ? DType::f64 : DType::f32;
  const Size B = x.shape()[0], H = x.shape()[1], T = x.shape()[2], D = x.shape()[3], pairs = frequencies.shape()[0];
  const Size places = positions.count();  // T, or B·T where every sequence has its own
  const Scratch<Value> table(places * (3 * pairs + 1) + pairs);
  Value* cosine = table.data();
  Value* sine = cosine + places * pairs;
  Value* angle = sine + places * pairs;
  Value* room = angle + places * pairs;
  const Value* at = Reader(positions, positions.layout(), as).read<Value>(0, places, room);
  const Value* frequency = Reader(frequencies, frequencies.layout(), as).read<Value>(0, pairs, room + places);
  parallel_for(places, 1 + 1024 / (pairs + 1), [&](Size begin, Size end) {
    for (Size p = begin; p < end; ++p) {
      for (Size i = 0; i < pairs; ++i) angle[p * pairs + i] = at[p] * frequency[i];
    }
    sines_and_cosines(angle + begin * pairs, sine + begin * pairs, cosine + begin * pairs, (end - begin) * pairs);
  });

  const Reader in(x, x.layout(), as);
  const Reader bits(x, x.layout(), x.dtype());
  const Writer out(y, y.layout(), as);
  const Size bytes = block_bytes(x.dtype());
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  const auto turn = op.pairing == RopePairing::halves ? turn_halves<Value> : turn_interleaved<Value>;
  parallel_for(B * H * T, 1 + 8192 / D, [&](Size begin, Size end) {
    const Scratch<Value> row(3 * D);
    for (Size r = begin; r < end; ++r) {
      const Size t = r % T, b = r / T / H;
      const Size p = places == T ? t : b * T + t;
      const Value* values = in.read<Value>(r * D, D, row.data());
      Value* place = out.place<Value>(r * D, row.data() + D);
      turn(values, cosine + p * pairs, sine + p * pairs, place, pairs);
      for (Size d = 2 * pairs; d < D; ++d) place[d] = values[d];
      out.write(r * D, D, place);
      if (2 * pairs < D && bytes < 4) {  // what does not turn is copied, a NaN with its bits
        out.finish();
        const std::byte* raw = bits.read_bytes(r * D, D, reinterpret_cast<std::byte*>(row.data() + 2 * D));
        std::memcpy(to + (r * D + 2 * pairs) * bytes, raw + 2 * pairs * bytes, static_cast<std::size_t>((D - 2 * pairs) * bytes));
      }
    }
    out.finish();
  });
}

void rope(const Rope& op, const Tensor& x, const Tensor& positions, const Tensor& frequencies, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return rope_as<f64>(op, x, positions, frequencies, y);
  rope_as<f32>(op, x, positions, frequencies, y);
}

}  // namespace

void register_rope(Kernels& kernels) { kernels.add<Rope>(Device::cpu, rope); }

}  // namespace votive::cpu::VOTIVE_ISA
