// Packing::panels: a weight [n, k] of floats in the order in which products read it, for every instruction set. Bits are only moved.
//
// Its rows, which are columns of the product, stand in panels of 32 (f64: 16) side by side, the last one as wide as what is left:
//   f32 f64   panel → k → row
//   f16       panel → k → row
//   bf16      panel → pair of k → row, a pair in 32 bits, the even one low; an odd k ends with −0, which changes no sum
// 128 bytes of zeros follow, since vectors read past the last panel's width.
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

/// Where row `row` of a packed [n, k] begins, and how far apart its units of k are, in bytes.
struct PackedRow {
  Size start, step;
  PackedRow(DType dtype, Size n, Size k, Size row) {
    const Size width = dtype == DType::f64 ? panel_columns<f64> : panel_columns<f32>;
    const Size unit = dtype == DType::bf16 ? 4 : block_bytes(dtype), units = dtype == DType::bf16 ? (k + 1) / 2 : k;
    const Size panel = row / width, left = n - panel * width;
    step = (left < width ? left : width) * unit;
    start = panel * width * units * unit + row % width * unit;
  }
};

/// Two rows of f16 from one of pairs.
void split_pairs(const u32* pairs, int width, bool both, u16* to) {
  for (int j = 0; j < width; ++j) to[j] = static_cast<u16>(pairs[j]);
  if (!both) return;
  for (int j = 0; j < width; ++j) to[width + j] = static_cast<u16>(pairs[j] >> 16);
}

/// k in [k0, k1) of the `width` rows at `from`.
void pack_piece(DType dtype, const std::byte* from, Size row_step, Size k_step, int width, Size k0, Size k1, std::byte* panel) {
  const PackSource source{from + k0 * k_step * block_bytes(dtype), row_step, k_step, width, true};
  const Size k = k1 - k0;
  switch (dtype) {
    case DType::f64: return pack_numbers<DotF64, StoredF64>(source, width, k, reinterpret_cast<f64*>(panel) + k0 * width);
    case DType::f32: return pack_numbers<DotF32, StoredF32>(source, width, k, reinterpret_cast<f32*>(panel) + k0 * width);
    case DType::bf16: return pack_pairs(source, width, k, reinterpret_cast<u32*>(panel) + k0 / 2 * width);
    default: break;
  }
  alignas(64) u32 pairs[128 * panel_columns<f32>];
  for (Size at = 0; at < k; at += 256) {
    const Size part = k - at < 256 ? k - at : 256;
    PackSource piece = source;
    piece.data += at * k_step * 2;
    pack_pairs(piece, width, part, pairs);
    u16* to = reinterpret_cast<u16*>(panel) + (k0 + at) * width;
    for (Size u = 0; u < part; u += 2) split_pairs(pairs + u / 2 * width, width, u + 1 < part, to + u * width);
  }
}

}  // namespace

void prepack_floats(const Tensor& w, Tensor& y) {
  const DType dtype = w.dtype();
  const Size n = w.shape()[0], k = w.shape()[1], bytes = block_bytes(dtype);
  const Size width = dtype == DType::f64 ? panel_columns<f64> : panel_columns<f32>;
  std::byte* const to = y.mutable_buffer();
  constexpr Size piece = numerics::dot_block;
  const Size pieces = (k + piece - 1) / piece;
  parallel_for((n + width - 1) / width * pieces, 1, [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const Size row = i / pieces * width, k0 = i % pieces * piece;
      pack_piece(dtype, w.buffer() + (w.offset() + row * w.strides()[0]) * bytes, w.strides()[0], w.strides()[1],
                 smaller(static_cast<int>(width), n - row), k0, k0 + piece < k ? k0 + piece : k, to + PackedRow(dtype, n, k, row).start);
    }
  });
  std::memset(to + y.buffer_bytes() - 128, 0, 128);
}

void read_packed_floats(const Tensor& w, Size row, std::byte* to) {
  const DType dtype = w.dtype();
  const Size k = w.shape()[1], bytes = block_bytes(dtype);
  const PackedRow at(dtype, w.shape()[0], k, row);
  const std::byte* from = w.buffer() + at.start;
  const bool pairs = dtype == DType::bf16;
  for (Size i = 0; i < k; ++i) {
    const std::byte* number = pairs ? from + i / 2 * at.step + i % 2 * bytes : from + i * at.step;
    std::memcpy(to + i * bytes, number, static_cast<std::size_t>(bytes));
  }
}

Tensor unpacked(const Tensor& w) {
  if (w.strides()[1] != 1) {
    const Tensor rows = unpacked(Tensor::view(w, Layout{{w.shape()[1], w.shape()[0]}, {w.strides()[1], w.strides()[0]}, 0}));
    return Tensor::view(rows, Layout{w.shape(), w.strides(), 0});
  }
  Tensor y = Tensor::allocate("cast", {.dtype = w.dtype(), .shape = w.shape()});
  const Size k = w.shape()[1], row_bytes = k * block_bytes(w.dtype());
  parallel_for(w.shape()[0], k < 4096 ? 16 : 1, [&](Size begin, Size end) {
    for (Size row = begin; row < end; ++row) read_packed_floats(w, row, y.mutable_buffer() + row * row_bytes);
  });
  return y;
}

}  // namespace votive::cpu::VOTIVE_ISA
