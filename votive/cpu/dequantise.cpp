// One loop per format, so that its shifts and masks are constants.
#include "votive/cpu/dequantise.h"

#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/cpu/packed_weight.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/numerics/blocks.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

template <numerics::BlockFormat format, DType dtype>
void dequantise(const std::byte* from, std::byte* to, Size n) {
  const u8* blocks = reinterpret_cast<const u8*>(from);
  f32* y = reinterpret_cast<f32*>(to);
  for (Size i = 0; i < n; i += block_size(dtype), blocks += block_bytes(dtype)) numerics::dequantise_block(format, blocks, y + i);
}

}  // namespace

ConvertRun dequantise_run(DType from) {
  switch (from) {
    case DType::q4_0: return dequantise<numerics::block_q4_0, DType::q4_0>;
    case DType::q4_1: return dequantise<numerics::block_q4_1, DType::q4_1>;
    case DType::q5_0: return dequantise<numerics::block_q5_0, DType::q5_0>;
    case DType::q5_1: return dequantise<numerics::block_q5_1, DType::q5_1>;
    case DType::q8_0: return dequantise<numerics::block_q8_0, DType::q8_0>;
    case DType::q4_k: return dequantise<numerics::block_q4_k, DType::q4_k>;
    case DType::q5_k: return dequantise<numerics::block_q5_k, DType::q5_k>;
    case DType::q6_k: return dequantise<numerics::block_q6_k, DType::q6_k>;
    default: return nullptr;
  }
}

bool has_rows_of_blocks(const Tensor& w) {
  return w.rank() > 0 && w.shape().back() % block_size(w.dtype()) == 0 && w.strides().back() == 1;
}

void dequantise_row(const Tensor& w, Size row, f32* y) {
  const DType dtype = w.dtype();
  const Size k = w.shape()[1];
  std::byte* to = reinterpret_cast<std::byte*>(y);
  if (w.packing() == Packing::none) {
    const Size start = (w.offset() + row * w.strides()[0]) / block_size(dtype) * block_bytes(dtype);
    dequantise_run(dtype)(w.buffer() + start, to, k);
    return;
  }
  const Scratch<u8> raw(k / block_size(dtype) * block_bytes(dtype));
  read_packed_row(dtype, reinterpret_cast<const u8*>(w.buffer()), k, row, raw.data());
  dequantise_run(dtype)(reinterpret_cast<const std::byte*>(raw.data()), to, k);
}

namespace {

Layout with_last_axes_swapped(Layout layout) {
  const int last = layout.rank() - 1;
  std::swap(layout.shape[last], layout.shape[last - 1]);
  std::swap(layout.strides[last], layout.strides[last - 1]);
  return layout;
}

}  // namespace

Tensor dequantised(const Tensor& w) {
  if (!has_rows_of_blocks(w)) {
    const Tensor rows = dequantised(Tensor::view(w, with_last_axes_swapped(w.layout())));
    return Tensor::view(rows, with_last_axes_swapped(rows.layout()));
  }
  Tensor y = Tensor::allocate("cast", {.dtype = DType::f32, .shape = w.shape()});
  f32* to = data<f32>(y);
  const Size k = w.shape().back(), rows = w.count() / k;
  constexpr Size grain = 16 * tile_size;
  if (w.packing() != Packing::none) {
    parallel_for(rows, k < grain ? grain / k : 1, [&](Size begin, Size end) {
      for (Size row = begin; row < end; ++row) dequantise_row(w, row, to + row * k);
    });
    return y;
  }
  const Reader in(w, w.layout(), DType::f32);
  parallel_for(w.count(), grain, [&](Size begin, Size end) { in.read<f32>(begin, end - begin, to + begin); });
  return y;
}

}  // namespace votive::cpu::VOTIVE_ISA
