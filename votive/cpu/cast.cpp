// Casts between all dtypes, and quantised blocks as floats (CONTRACT.md section 6). The arithmetic is in convert.cpp; here it meets layouts and threads.
#include "votive/base/thread_pool.h"
#include "votive/cpu/copy.h"
#include "votive/cpu/dequantise.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/tile.h"
#include "votive/ops/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain = 16 * tile_size;

void cast(const Cast& op, const Tensor& x, Tensor& y, Stream& stream) {
  if (x.packing() == Packing::panels) {
    const Tensor values = unpacked(x);
    if (op.dtype == x.dtype()) return copy_elements(values, y);
    return cast(op, values, y, stream);
  }
  if (is_quantised(x.dtype()) && (x.packing() != Packing::none || !has_rows_of_blocks(x))) {
    const Tensor values = dequantised(x);
    if (op.dtype == DType::f32) return copy_elements(values, y);
    return cast(op, values, y, stream);
  }
  const Size count = y.count();
  if (!is_quantised(x.dtype()) && x.dtype() != op.dtype && x.is_contiguous()) {
    const Conversion convert(x.dtype(), op.dtype, op.saturate);
    const Size bytes_x = block_bytes(x.dtype()), bytes_y = block_bytes(op.dtype);
    const std::byte* from = x.buffer() + x.offset() * bytes_x;
    std::byte* to = y.mutable_buffer() + y.offset() * bytes_y;
    const ConvertRun streamed = count * bytes_y >= stream_threshold ? streamed_run(x.dtype(), op.dtype, op.saturate) : nullptr;
    parallel_for(count, grain, [&](Size begin, Size end) {
      if (streamed == nullptr) return convert(from + begin * bytes_x, to + begin * bytes_y, end - begin);
      streamed(from + begin * bytes_x, to + begin * bytes_y, end - begin);
      stream_fence();
    });
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
