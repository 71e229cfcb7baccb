// Philox 4x32-10 and what is drawn from it (CONTRACT.md 7). Element i of a stream is a function of (seed, stream, offset, i) alone, so contents depend on no
// device, thread, layout or split. Who holds the state and advances it is ops' business.
#pragma once

#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

typedef struct {
  u32 word[4];
} PhiloxWords;

/// Salmon, Moraes, Dror, Shaw 2011: ten rounds.
VOTIVE_SCALAR PhiloxWords philox4x32_10(u32 c0, u32 c1, u32 c2, u32 c3, u32 k0, u32 k1) {
  for (i32 round = 0; round < 10; ++round) {
    const u64 p0 = (u64)0xd2511f53u * c0;
    const u64 p1 = (u64)0xcd9e8d57u * c2;
    c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
    c1 = (u32)p1;
    c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
    c3 = (u32)p0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  PhiloxWords out;
  out.word[0] = c0;
  out.word[1] = c1;
  out.word[2] = c2;
  out.word[3] = c3;
  return out;
}

/// Words 4*block ... 4*block + 3 of a stream: key = seed, counter = (block, stream).
VOTIVE_SCALAR PhiloxWords philox_block(u64 seed, u64 stream, u64 block) {
  return philox4x32_10((u32)block, (u32)(block >> 32), (u32)stream, (u32)(stream >> 32), (u32)seed, (u32)(seed >> 32));
}

/// Element i of a draw of 32-bit words that starts at block `offset`.
VOTIVE_SCALAR u32 random_word32(u64 seed, u64 stream, u64 offset, u64 i) {
  return philox_block(seed, stream, offset + (i >> 2)).word[i & 3u];
}

/// Two words as one, the first one high.
VOTIVE_SCALAR u64 join_words(u32 first, u32 second) { return ((u64)first << 32) | second; }

/// Element i of a draw of 64-bit words: two to a block.
VOTIVE_SCALAR u64 random_word64(u64 seed, u64 stream, u64 offset, u64 i) {
  const PhiloxWords words = philox_block(seed, stream, offset + (i >> 1));
  return (i & 1u) ? join_words(words.word[2], words.word[3]) : join_words(words.word[0], words.word[1]);
}

/// The stream that is fork k of a stream: Philox of k under the parent as key, in a part of the counter that the constant reserves.
VOTIVE_SCALAR u64 fork_stream(u64 parent, u64 k) {
  const PhiloxWords words = philox4x32_10((u32)k, (u32)(k >> 32), 0x6b726f66u, 0u, (u32)parent, (u32)(parent >> 32));
  return join_words(words.word[0], words.word[1]);
}

/// Uniform on [0, 1), exact, never 1.
VOTIVE_SCALAR f32 uniform_f32(u32 word) { return (f32)(i32)(word >> 8) * 0x1p-24f; }
VOTIVE_SCALAR f64 uniform_f64(u64 word) { return (f64)(i64)(word >> 11) * 0x1p-53; }
/// The f32 value of an f16 or bf16 draw: it has their 11 or 8 bits, so narrowing is exact.
VOTIVE_SCALAR f32 uniform_f16(u32 word) { return (f32)(i32)(word >> 21) * 0x1p-11f; }
VOTIVE_SCALAR f32 uniform_bf16(u32 word) { return (f32)(i32)(word >> 24) * 0x1p-8f; }

VOTIVE_SCALAR f32 next_below_f32(f32 x) {
  const u32 u = bits_f32(x);
  return f32_from_bits(x == 0.0f ? 0x80000001u : (u >> 31 ? u + 1u : u - 1u));
}
VOTIVE_SCALAR f64 next_below_f64(f64 x) {
  const u64 u = bits_f64(x);
  return f64_from_bits(x == 0.0 ? 0x8000000000000001u : (u >> 63 ? u + 1u : u - 1u));
}

/// The largest f16 (bf16) below x, a value of that dtype.
VOTIVE_SCALAR f32 next_below_f16(f32 x) {
  const u16 u = f32_to_f16(x);
  return f16_to_f32((u & 0x7fffu) == 0u ? (u16)0x8001u : (u16)(u >> 15 ? u + 1u : u - 1u));
}
VOTIVE_SCALAR f32 next_below_bf16(f32 x) {
  const u16 u = f32_to_bf16(x);
  return bf16_to_f32((u & 0x7fffu) == 0u ? (u16)0x8001u : (u16)(u >> 15 ? u + 1u : u - 1u));
}

/// Uniform on [low, high):  low + u (high - low) in two roundings, and what reaches high becomes the float below it.
VOTIVE_SCALAR f32 uniform_between_f32(f32 u, f32 low, f32 high) {
  const f32 y = low + u * (high - low);
  return y >= high ? next_below_f32(high) : y;
}
VOTIVE_SCALAR f64 uniform_between_f64(f64 u, f64 low, f64 high) {
  const f64 y = low + u * (high - low);
  return y >= high ? next_below_f64(high) : y;
}

/// Uniform integers of [low, low + range), range > 0; a range of 0 stands for 2^64. The bias is at most range * 2^-64.
VOTIVE_SCALAR u64 uniform_u64(u64 word, u64 low, u64 range) { return low + (range == 0u ? word : multiply_high_u64(word, range)); }
VOTIVE_SCALAR i64 uniform_i64(u64 word, i64 low, u64 range) { return (i64)uniform_u64(word, (u64)low, range); }

/// floor(p * 2^32) for p in [0, 1]; a word below it is true, so p = 1 always is.
VOTIVE_SCALAR u64 bernoulli_threshold(f64 p) {
  const f64 scaled = p * 0x1p32;
  return scaled >= 0x1p32 ? 0x100000000u : (scaled > 0.0 ? (u64)(i64)scaled : 0u);
}
VOTIVE_SCALAR u8 bernoulli(u32 word, u64 threshold) { return (u64)word < threshold; }

typedef struct {
  f32 first;
  f32 second;
} NormalPairF32;
typedef struct {
  f64 first;
  f64 second;
} NormalPairF64;

/// Box and Muller: elements 2j and 2j+1 from words 2j and 2j+1. The radius comes from u in (0, 1], the angle from the second word as a signed fraction of pi.
VOTIVE_SCALAR NormalPairF32 normal_pair_f32(u32 x0, u32 x1) {
  const f32 u = fma_f32((f32)x0, 0x1p-32f, 0x1p-33f);
  const f32 radius = sqrt_f32(-2.0f * log_f32(u));
  const SinCosF32 angle = sincospi_f32((f32)(i32)x1 * 0x1p-31f);
  NormalPairF32 z;
  z.first = radius * angle.cos;
  z.second = radius * angle.sin;
  return z;
}
VOTIVE_SCALAR NormalPairF64 normal_pair_f64(u64 x0, u64 x1) {
  const f64 u = fma_f64((f64)x0, 0x1p-64, 0x1p-65);
  const f64 radius = sqrt_f64(-2.0 * log_f64(u));
  const SinCosF64 angle = sincospi_f64((f64)(i64)x1 * 0x1p-63);
  NormalPairF64 z;
  z.first = radius * angle.cos;
  z.second = radius * angle.sin;
  return z;
}

}  // namespace votive::numerics
