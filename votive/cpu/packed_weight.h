// Packing::rows16: a quantised weight [n, k] with its rows interleaved by 16, one 32-bit lane per row, four consecutive k per lane, so that a
// dot product needs no horizontal sum and a scale serves 16 rows (99 % of read bandwidth for one row of x, 2-core Zen 4; row-major 36–65 %).
// Bits are only moved. Rows past n are zero.
//
// A group of 16 rows is a run of blocks along k. A block holds its scales, then units of 32 k:
//   q4_0 q4_1 q5_0 q5_1 q8_0   [d: 16 f16] [m: 16 f16 where the format has one] [unit]
//   q4_k q5_k                  [d: 16 f16] [dmin: 16 f16] 8 × { [scale: 16 u8] [minimum: 16 u8] [unit] }
//   q6_k                       [d: 16 f16] 8 × { [scale of k 0–15: 16 i8] [scale of k 16–31: 16 i8] [unit] }
// A unit is, for lane r and byte i (k = 4j + i in the unit):
//   4 bits   4 × 64 bytes: row j < 4 holds k = 4j + i in the low half, k = 16 + 4j + i in the high half of byte 4r + i
//   5 bits   the same, then 64 bytes: bit j of byte 4r + i is the fifth bit of k = 4j + i, j < 8
//   6 bits   the same four rows, then 2 × 64 bytes: bits 2j, 2j+1 of byte 4r + i are the two upper bits of k = 4j + i, j < 4 (second row: j − 4)
//   8 bits   8 × 64 bytes: the signed byte of k = 4j + i, plus 128
#pragma once

#include <cstring>

#include "votive/core/dtype.h"
#include "votive/numerics/blocks.h"

namespace votive::cpu {

using numerics::i8;
using numerics::u16;
using numerics::u32;
using numerics::u8;

/// What a kernel needs to know of a quantised dtype at compile time.
struct QuantisedFormat {
  int bits;         // of a stored weight
  int zero;         // what to subtract from the stored weight
  bool offset;      // has an offset t beside the scale s
  int units;        // of 32 k per block
  int group;        // k that share a scale: 32 or 16
  int header;       // bytes of scales before the units, for 16 rows
  int unit_header;  // bytes of scales before each unit's weights

  constexpr int unit_weights() const { return bits == 4 ? 256 : bits == 5 ? 320 : bits == 6 ? 384 : 512; }
  constexpr int unit_bytes() const { return unit_header + unit_weights(); }
  constexpr int block_bytes() const { return header + units * unit_bytes(); }  // 16 rows × block_size(dtype) k
};

constexpr QuantisedFormat quantised_format(DType dtype) {
  switch (dtype) {
    case DType::q4_0: return {4, 8, false, 1, 32, 32, 0};
    case DType::q4_1: return {4, 0, true, 1, 32, 64, 0};
    case DType::q5_0: return {5, 16, false, 1, 32, 32, 0};
    case DType::q5_1: return {5, 0, true, 1, 32, 64, 0};
    case DType::q8_0: return {8, 128, false, 1, 32, 32, 0};
    case DType::q4_k: return {4, 0, true, 8, 32, 64, 32};
    case DType::q5_k: return {5, 0, true, 8, 32, 64, 32};
    default: return {6, 32, false, 8, 16, 32, 32};  // q6_k
  }
}

/// One block of one row as 32·units stored weights and its scales.
struct StoredBlock {
  u16 d, m;       // f16: scale, and offset or dmin
  u8 scale[16];   // K formats: per unit; q6_k: per 16 k, signed
  u8 minimum[8];  // q4_k, q5_k: per unit
  u8 weight[256];
};

namespace detail {

static inline u16 word_at(const u8* p) {
  u16 w;
  std::memcpy(&w, p, 2);
  return w;
}

}  // namespace detail

/// Lane `lane` of a packed block: the inverse of pack_lane() (packed_words.h), in plain steps.
static inline void read_packed_lane(DType dtype, const u8* packed, int lane, StoredBlock& block) {
  const QuantisedFormat format = quantised_format(dtype);
  std::memcpy(&block.d, packed + 2 * lane, 2);
  block.m = 0;
  if (format.offset) std::memcpy(&block.m, packed + 32 + 2 * lane, 2);
  for (int unit = 0; unit < format.units; ++unit) {
    const u8* from = packed + format.header + unit * format.unit_bytes();
    if (format.group == 16) {
      block.scale[2 * unit] = from[lane];
      block.scale[2 * unit + 1] = from[16 + lane];
    } else if (format.unit_header != 0) {
      block.scale[unit] = from[lane];
      block.minimum[unit] = from[16 + lane];
    }
    from += format.unit_header;
    u8* w = block.weight + 32 * unit;
    for (int k = 0; k < 32; ++k) {
      const int j = k / 4, byte = 4 * lane + k % 4;
      if (format.bits == 8) {
        w[k] = from[64 * j + byte];
        continue;
      }
      u8 v = (from[64 * (j % 4) + byte] >> (j < 4 ? 0 : 4)) & 15;
      if (format.bits == 5) v = static_cast<u8>(v | (((from[256 + byte] >> j) & 1) << 4));
      if (format.bits == 6) v = static_cast<u8>(v | (((from[256 + 64 * (j / 4) + byte] >> (2 * (j % 4))) & 3) << 4));
      w[k] = v;
    }
  }
}

/// The block as the file has it.
static inline void write_stored_block(DType dtype, const StoredBlock& block, u8* p) {
  std::memset(p, 0, static_cast<std::size_t>(block_bytes(dtype)));
  if (dtype != DType::q6_k) {
    std::memcpy(p, &block.d, 2);
    if (quantised_format(dtype).offset) std::memcpy(p + 2, &block.m, 2);
  }
  const u8* w = block.weight;
  switch (dtype) {
    case DType::q4_0:
    case DType::q4_1:
      for (int k = 0; k < 16; ++k) p[(dtype == DType::q4_1 ? 4 : 2) + k] = static_cast<u8>(w[k] | (w[16 + k] << 4));
      return;
    case DType::q5_0:
    case DType::q5_1: {
      u8* high = p + (dtype == DType::q5_1 ? 4 : 2);
      u32 fifth = 0;
      for (int k = 0; k < 32; ++k) fifth |= static_cast<u32>(w[k] >> 4) << k;
      std::memcpy(high, &fifth, 4);
      for (int k = 0; k < 16; ++k) high[4 + k] = static_cast<u8>((w[k] & 15) | ((w[16 + k] & 15) << 4));
      return;
    }
    case DType::q8_0:
      for (int k = 0; k < 32; ++k) p[2 + k] = static_cast<u8>(w[k] ^ 128);
      return;
    case DType::q4_k:
    case DType::q5_k: {
      u8* scales = p + 4;
      for (int unit = 0; unit < 4; ++unit) {
        scales[unit] = static_cast<u8>(block.scale[unit] | ((block.scale[unit + 4] >> 4) << 6));
        scales[unit + 4] = static_cast<u8>(block.minimum[unit] | ((block.minimum[unit + 4] >> 4) << 6));
        scales[unit + 8] = static_cast<u8>((block.scale[unit + 4] & 15) | ((block.minimum[unit + 4] & 15) << 4));
      }
      u8* high = p + 16;
      u8* q = dtype == DType::q5_k ? p + 48 : p + 16;
      for (int pair = 0; pair < 4; ++pair) {
        for (int k = 0; k < 32; ++k) {
          const u8 low = w[64 * pair + k], up = w[64 * pair + 32 + k];
          q[32 * pair + k] = static_cast<u8>((low & 15) | ((up & 15) << 4));
          if (dtype == DType::q5_k) high[k] = static_cast<u8>(high[k] | ((low >> 4) << (2 * pair)) | ((up >> 4) << (2 * pair + 1)));
        }
      }
      return;
    }
    default: {
      std::memcpy(p + 208, &block.d, 2);
      std::memcpy(p + 192, block.scale, 16);
      for (int half = 0; half < 2; ++half) {
        u8* low = p + 64 * half;
        u8* high = p + 128 + 32 * half;
        const u8* v = w + 128 * half;
        for (int k = 0; k < 32; ++k) {
          low[k] = static_cast<u8>((v[k] & 15) | ((v[64 + k] & 15) << 4));
          low[32 + k] = static_cast<u8>((v[32 + k] & 15) | ((v[96 + k] & 15) << 4));
          high[k] = static_cast<u8>((v[k] >> 4) | ((v[32 + k] >> 4) << 2) | ((v[64 + k] >> 4) << 4) | ((v[96 + k] >> 4) << 6));
        }
      }
      return;
    }
  }
}

/// Row `row` of a packed weight [n, k] as the file had it: k / block_size blocks to `raw`.
static inline void read_packed_row(DType dtype, const u8* packed, Size k, Size row, u8* raw) {
  const Size blocks = k / block_size(dtype), bytes = quantised_format(dtype).block_bytes();
  const u8* block = packed + (row / 16) * blocks * bytes;
  StoredBlock stored;
  for (Size b = 0; b < blocks; ++b) {
    read_packed_lane(dtype, block + b * bytes, static_cast<int>(row % 16), stored);
    write_stored_block(dtype, stored, raw + b * block_bytes(dtype));
  }
}

}  // namespace votive::cpu
