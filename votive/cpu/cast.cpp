// Casts between all dtypes, and quantised blocks as floats (CONTRACT.md section 6). The arithmetic is in convert.cpp; here it meets layouts and threads.
#include "votive/base/thread_pool.h"
#include "votive/cpu/dequantise.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain = 16 * tile_size;

/// A weight that prepack() arranged, row by row.
void cast_packed(const Cast& op, const Tensor& w, Tensor& y) {
  const Size k = w.shape()[1];
  const Conversion convert(DType::f32, op.dtype, op.saturate);
  std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(op.dtype);
  parallel_for(w.shape()[0], k < grain ? grain / k : 1, [&](Size begin, Size end) {
    const Scratch<f32> values(k);
    for (Size row = begin; row < end; ++row) {
      std::byte* place = to + row * k * block_bytes(op.dtype);
      if (convert.is_identity()) {
        dequantise_row(w, row, reinterpret_cast<f32*>(place));
      } else {
        dequantise_row(w, row, values.data());
        convert(reinterpret_cast<const std::byte*>(values.data()), place, k);
      }
    }
  });
}

void cast(const Cast& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.packing() != Packing::none) return cast_packed(op, x, y);
  const Size count = y.count();
  if (count <= grain && !is_quantised(x.dtype()) && x.dtype() != op.dtype && x.is_contiguous()) {
    const Conversion convert(x.dtype(), op.dtype, op.saturate);
    convert(x.buffer() + x.offset() * block_bytes(x.dtype()), y.mutable_buffer() + y.offset() * block_bytes(op.dtype), count);
    return;
  }
  const Reader in(x, x.layout(), op.dtype, op.saturate);
  const Writer out(y, y.layout(), op.dtype);
  parallel_for(count, grain, [&](Size begin, Size end) {
    Tile tile;
    for (Size at = begin; at < end; at += tile_size) {
      const Size n = end - at < tile_size ? end - at : tile_size;
      const std::byte* values = in.read_bytes(at, n, out.place<std::byte>(at, &tile));
      out.write(at, n, values);
    }
    out.finish();
  });
}

}  // namespace

void register_cast(Kernels& kernels) { kernels.add<Cast>(Device::cpu, cast); }

}  // namespace votive::cpu::VOTIVE_ISA
