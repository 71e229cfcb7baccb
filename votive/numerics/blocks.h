// Quantised blocks (ggml's layouts): what their bytes mean as numbers, and as the integers of D15 (CONTRACT.md 12), whose chain of additions is defined here.
// A group is a run of k that shares one weight scale: 32 elements, 16 in Q6_K. The number of a weight is scale * integer + offset.
#pragma once

#include "votive/numerics/convert.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

typedef enum { block_q4_0, block_q4_1, block_q5_0, block_q5_1, block_q8_0, block_q4_k, block_q5_k, block_q6_k } BlockFormat;

enum {
  q4_0_bytes = 18,  // f16 d, 16 bytes of nibbles: elements 0-15 low, 16-31 high
  q4_1_bytes = 20,  // f16 d, f16 m, nibbles
  q5_0_bytes = 22,  // f16 d, 32 fifth bits, nibbles
  q5_1_bytes = 24,  // f16 d, f16 m, 32 fifth bits, nibbles
  q8_0_bytes = 34,  // f16 d, 32 signed bytes
  q4_k_bytes =
      144,  // f16 d, f16 dmin, 12 bytes of 6-bit scales and minima, 128 bytes of nibbles: 64 elements per 32 bytes, low nibbles first
  q5_k_bytes = 176,  // as Q4_K with 32 bytes of fifth bits between, bit g of byte j for element j of group g
  q6_k_bytes = 210,  // 128 bytes of nibbles, 64 bytes of upper pairs, 16 signed scales, f16 d
  small_block = 32,  // elements of a block
  k_block = 256
};

VOTIVE_SCALAR i32 block_elements(BlockFormat format) { return format >= block_q4_k ? k_block : small_block; }
VOTIVE_SCALAR i32 block_group(BlockFormat format) { return format == block_q6_k ? 16 : 32; }
/// Whether a group has an offset, so that the chain has a second step.
VOTIVE_SCALAR u8 block_has_offset(BlockFormat format) {
  return (format == block_q4_1) | (format == block_q5_1) | (format == block_q4_k) | (format == block_q5_k);
}
VOTIVE_SCALAR i32 block_bytes(BlockFormat format) {
  switch (format) {
    case block_q4_0: return q4_0_bytes;
    case block_q4_1: return q4_1_bytes;
    case block_q5_0: return q5_0_bytes;
    case block_q5_1: return q5_1_bytes;
    case block_q8_0: return q8_0_bytes;
    case block_q4_k: return q4_k_bytes;
    case block_q5_k: return q5_k_bytes;
    case block_q6_k: return q6_k_bytes;
  }
  return 0;
}

/// One group of a block. weight is valid up to the group's length.
typedef struct {
  f32 scale;   // exact
  f32 offset;  // exact; 0 where the format has none
  i8 weight[32];
} BlockGroup;

VOTIVE_SCALAR f32 read_f16(const u8* p) { return f16_to_f32((u16)(p[0] | (u32)p[1] << 8)); }

VOTIVE_SCALAR void read_nibbles(const u8* p, i32 subtract, i8 weight[32]) {
  for (i32 j = 0; j < 16; ++j) {
    weight[j] = (i8)((p[j] & 0x0f) - subtract);
    weight[j + 16] = (i8)((p[j] >> 4) - subtract);
  }
}
VOTIVE_SCALAR void read_fives(const u8* fifth, const u8* p, i32 subtract, i8 weight[32]) {
  const u32 bits = (u32)fifth[0] | (u32)fifth[1] << 8 | (u32)fifth[2] << 16 | (u32)fifth[3] << 24;
  for (i32 j = 0; j < 16; ++j) {
    weight[j] = (i8)((i32)((p[j] & 0x0fu) | ((bits >> j) & 1u) << 4) - subtract);
    weight[j + 16] = (i8)((i32)((u32)(p[j] >> 4) | ((bits >> (j + 16)) & 1u) << 4) - subtract);
  }
}

/// Scale j of the 12 packed bytes of Q4_K and Q5_K: the low 6 bits of byte j, or from 4 on a nibble with its upper pair kept in bytes 0-3.
VOTIVE_SCALAR u32 k_scale(const u8* packed, i32 j) {
  return j < 4 ? packed[j] & 63u : (packed[j + 4] & 0x0fu) | (u32)(packed[j - 4] >> 6) << 4;
}
VOTIVE_SCALAR u32 k_minimum(const u8* packed, i32 j) {
  return j < 4 ? packed[j + 4] & 63u : (u32)(packed[j + 4] >> 4) | (u32)(packed[j] >> 6) << 4;
}

VOTIVE_SCALAR BlockGroup q4_0_group(const u8* block) {
  BlockGroup g;
  g.scale = read_f16(block);
  g.offset = 0.0f;
  read_nibbles(block + 2, 8, g.weight);
  return g;
}
VOTIVE_SCALAR BlockGroup q4_1_group(const u8* block) {
  BlockGroup g;
  g.scale = read_f16(block);
  g.offset = read_f16(block + 2);
  read_nibbles(block + 4, 0, g.weight);
  return g;
}
VOTIVE_SCALAR BlockGroup q5_0_group(const u8* block) {
  BlockGroup g;
  g.scale = read_f16(block);
  g.offset = 0.0f;
  read_fives(block + 2, block + 6, 16, g.weight);
  return g;
}
VOTIVE_SCALAR BlockGroup q5_1_group(const u8* block) {
  BlockGroup g;
  g.scale = read_f16(block);
  g.offset = read_f16(block + 2);
  read_fives(block + 4, block + 8, 0, g.weight);
  return g;
}
VOTIVE_SCALAR BlockGroup q8_0_group(const u8* block) {
  BlockGroup g;
  g.scale = read_f16(block);
  g.offset = 0.0f;
  memcpy(g.weight, block + 2, 32);
  return g;
}
VOTIVE_SCALAR BlockGroup q4_k_group(const u8* block, i32 group) {
  BlockGroup g;
  g.scale = read_f16(block) * (f32)(i32)k_scale(block + 4, group);
  g.offset = -read_f16(block + 2) * (f32)(i32)k_minimum(block + 4, group);
  const u8* nibbles = block + 16 + (group >> 1) * 32;
  for (i32 j = 0; j < 32; ++j) g.weight[j] = (i8)((nibbles[j] >> ((group & 1) * 4)) & 0x0f);
  return g;
}
VOTIVE_SCALAR BlockGroup q5_k_group(const u8* block, i32 group) {
  BlockGroup g;
  g.scale = read_f16(block) * (f32)(i32)k_scale(block + 4, group);
  g.offset = -read_f16(block + 2) * (f32)(i32)k_minimum(block + 4, group);
  const u8* fifth = block + 16;
  const u8* nibbles = block + 48 + (group >> 1) * 32;
  for (i32 j = 0; j < 32; ++j) g.weight[j] = (i8)(((nibbles[j] >> ((group & 1) * 4)) & 0x0f) | ((fifth[j] >> group) & 1) << 4);
  return g;
}
/// Group 0-15 of 16 elements: a half of 128 elements is four rows of 32, each with its nibble of 64 bytes and its pair of 32.
VOTIVE_SCALAR BlockGroup q6_k_group(const u8* block, i32 group) {
  BlockGroup g;
  const i32 half = group >> 3;
  const i32 row = (group >> 1) & 3;
  const i32 first = (group & 1) * 16;
  const u8* nibbles = block + half * 64 + (row & 1) * 32 + first;
  const u8* pairs = block + 128 + half * 32 + first;
  g.scale = read_f16(block + 208) * (f32)(i8)block[192 + group];
  g.offset = 0.0f;
  for (i32 j = 0; j < 16; ++j) g.weight[j] = (i8)((((nibbles[j] >> ((row >> 1) * 4)) & 0x0f) | ((pairs[j] >> (row * 2)) & 3) << 4) - 32);
  for (i32 j = 16; j < 32; ++j) g.weight[j] = 0;
  return g;
}

/// Group `group` of one block of any format.
VOTIVE_SCALAR BlockGroup block_read_group(BlockFormat format, const u8* block, i32 group) {
  switch (format) {
    case block_q4_0: return q4_0_group(block);
    case block_q4_1: return q4_1_group(block);
    case block_q5_0: return q5_0_group(block);
    case block_q5_1: return q5_1_group(block);
    case block_q8_0: return q8_0_group(block);
    case block_q4_k: return q4_k_group(block, group);
    case block_q5_k: return q5_k_group(block, group);
    case block_q6_k: break;
  }
  return q6_k_group(block, group);
}

/// The GGUF formulas: scale * integer is exact in f32, so that the sum with the offset is the only rounding.
VOTIVE_SCALAR void dequantise_block(BlockFormat format, const u8* block, f32* y) {
  const i32 length = block_group(format);
  for (i32 group = 0; group * length < block_elements(format); ++group) {
    const BlockGroup g = block_read_group(format, block, group);
    for (i32 j = 0; j < length; ++j) {
      const f32 product = g.scale * (f32)g.weight[j];
      y[group * length + j] = block_has_offset(format) ? product + g.offset : product;
    }
  }
}

// ---- activations of 15 bits ----

/// 32 consecutive activations as integers of at most 2^14 and one power of two: e is the exponent with max |x| < 2^e, at least -100, the scale 2^(e - 14).
/// Returns whether all are finite; if one is not, the scale is NaN and the integers 0, which makes every output of the chain NaN.
VOTIVE_SCALAR u8 quantise_activation_block(const f32* x, i16* q, f32* scale) {
  u32 largest = 0u;
  for (i32 j = 0; j < 32; ++j) {
    const u32 a = bits_f32(x[j]) & 0x7fffffffu;
    largest = a > largest ? a : largest;
  }
  const u8 finite = largest < 0x7f800000u;
  const i32 exponent = (i32)(largest >> 23) - 126;
  const i32 e = exponent > -100 ? exponent : -100;
  const f32 inverse = f32_from_bits(finite ? (u32)(14 - e + 127) << 23 : 0u);
  *scale = finite ? f32_from_bits((u32)(e - 14 + 127) << 23) : nan_f32();
  for (i32 j = 0; j < 32; ++j) {
    const f32 t = finite ? x[j] * inverse : 0.0f;
    q[j] = (i16)(i32)rint_f32(t);
  }
  return finite;
}

// ---- the chain ----

/// One group's step: T = sum w q and S = sum q exact, each converted once;  acc = fma(s d, T, acc), then with an offset acc = fma(t d, S, acc).
VOTIVE_SCALAR f32 dot_quantised_step(f32 acc, f32 scale, f32 offset, u8 has_offset, f32 activation_scale, i32 weighted_sum, i32 sum) {
  acc = fma_f32(scale * activation_scale, (f32)weighted_sum, acc);
  return has_offset ? fma_f32(offset * activation_scale, (f32)sum, acc) : acc;
}

/// The quantised dot product of `blocks` weight blocks with as many activations (q in blocks of 32, one scale each). This is the definition of D15.
VOTIVE_SCALAR f32 dot_quantised(BlockFormat format, const u8* weights, const i16* q, const f32* scales, i64 blocks) {
  const i32 length = block_group(format);
  const i32 elements = block_elements(format);
  const u8 has_offset = block_has_offset(format);
  f32 acc = 0.0f;
  for (i64 block = 0; block < blocks; ++block) {
    for (i32 group = 0; group * length < elements; ++group) {
      const BlockGroup g = block_read_group(format, weights + block * block_bytes(format), group);
      const i64 k = block * elements + group * length;
      i32 weighted_sum = 0;
      i32 sum = 0;
      for (i32 j = 0; j < length; ++j) {
        weighted_sum += (i32)g.weight[j] * q[k + j];
        sum += q[k + j];
      }
      acc = dot_quantised_step(acc, g.scale, g.offset, has_offset, scales[k / 32], weighted_sum, sum);
    }
  }
  return acc;
}
VOTIVE_SCALAR f32 dot_q4_0(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q4_0, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q4_1(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q4_1, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q5_0(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q5_0, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q5_1(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q5_1, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q8_0(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q8_0, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q4_k(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q4_k, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q5_k(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q5_k, w, q, scales, blocks);
}
VOTIVE_SCALAR f32 dot_q6_k(const u8* w, const i16* q, const f32* scales, i64 blocks) {
  return dot_quantised(block_q6_k, w, q, scales, blocks);
}

}  // namespace votive::numerics
