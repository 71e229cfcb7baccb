// The innermost part of an 8-bit product: an R × 2-vector tile of 32-bit sums in registers over one run of packed k. Sums are exact modulo 2³², so
// nothing here has an order to keep. A unit is four k of a row or column, as one or two 32-bit words, in one of two ways:
//
//   bytes (v4n, and v4emulated to test its text elsewhere): one word, a signed and b unsigned, as vpdpbusd wants them. With a = a' + α and b = b' − β
//     (α is 128 for u8, β is 128 for i8, else 0)   Σ a·b = Σ a'·b' − β·Σ a' + α·Σ b' − k·α·β
//   pairs (all others, where vpmaddubsw would saturate at 2·255·128): widened to 16 bits, even k in the first word and odd k in the second. Winograd's
//     inner product needs half the multiplications:   a₀·b₀ + a₁·b₁ = (a₀ + b₁)·(a₁ + b₀) − a₀·a₁ − b₀·b₁
//     so that a unit costs two vpaddw, one vpmaddwd and one vpaddd. Two vpmaddwd and two vpaddd leave the two multipliers no slack: 191 of the
//     213 G operations/s that this reaches of 234 (AVX2, 2-core Zen 4).
//
// What depends on a row or a column alone is summed when it is packed (matmul_int8_pack.h) and comes in through Int8Ends.
#pragma once

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr int int8_unit = 4;

#if defined(VOTIVE_ISA_v4n) || defined(VOTIVE_ISA_v4emulated)
inline constexpr bool int8_as_bytes = true;
inline constexpr int int8_rows = 14;  // 28 sums, 2 of b, 1 of a in 32 registers
#elif defined(VOTIVE_ISA_v4)
inline constexpr bool int8_as_bytes = false;
inline constexpr int int8_rows = 12;  // 24 sums, 4 of b, 2 of a and 2 to work in
#else
inline constexpr bool int8_as_bytes = false;
inline constexpr int int8_rows = 4;  // 8 sums, 4 of b, 2 of a and 2 to work in 16 registers
#endif
inline constexpr int int8_words = int8_as_bytes ? 1 : 2;  // per unit
inline constexpr int int8_columns = 2 * Vi32::lanes;

/// A zero of its own for every sum: g++ 12 would copy one of them in every step to keep a zero that it shared.
[[gnu::always_inline]] inline Vi32 zero_sum() {
#if defined(VOTIVE_ISA_v4n) || defined(VOTIVE_ISA_v4)
  Vi32 v;
  asm volatile("vpxord %0, %0, %0" : "=v"(v.v));
  return v;
#elif defined(VOTIVE_ISA_v3)
  Vi32 v;
  asm volatile("vpxor %0, %0, %0" : "=x"(v.v));
  return v;
#else
  return Vi32::zero();
#endif
}

[[gnu::always_inline]] inline Vi32 broadcast_word(const u32* p) {
#if defined(VOTIVE_ISA_v4n) || defined(VOTIVE_ISA_v4)
  Vi32 v;
  asm volatile("vpbroadcastd %1, %0" : "=v"(v.v) : "m"(*p));
  return v;
#elif defined(VOTIVE_ISA_v3)
  Vi32 v;
  asm volatile("vpbroadcastd %1, %0" : "=x"(v.v) : "m"(*p));
  return v;
#else
  return Vi32::broadcast(static_cast<i32>(*p));
#endif
}

/// sum += a·b of four signed by four unsigned bytes in every lane. In place and in order where g++ 12 would move or spill.
[[gnu::always_inline]] inline void accumulate_bytes(Vi32& sum, Vi32 a, Vi32 b) {
#if defined(VOTIVE_ISA_v4n)
  asm volatile("vpdpbusd %1, %2, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
#else
  sum = dpbusd(sum, as_i8(b), as_i8(a));
#endif
}

/// sum += (a even + b odd)·(a odd + b even) over two pairs in every lane.
[[gnu::always_inline]] inline void accumulate_pairs(Vi32& sum, Vi32 a_even, Vi32 a_odd, Vi32 b_even, Vi32 b_odd) {
#if defined(VOTIVE_ISA_v4)
  __m512i x, y;
  asm volatile("vpaddw %3, %6, %1\n\tvpaddw %4, %5, %2\n\tvpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0"
               : "+v"(sum.v), "=&v"(x), "=&v"(y)
               : "v"(a_even.v), "v"(a_odd.v), "v"(b_even.v), "v"(b_odd.v));
#elif defined(VOTIVE_ISA_v3)
  __m256i x, y;
  asm volatile("vpaddw %3, %6, %1\n\tvpaddw %4, %5, %2\n\tvpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0"
               : "+x"(sum.v), "=&x"(x), "=&x"(y)
               : "x"(a_even.v), "x"(a_odd.v), "x"(b_even.v), "x"(b_odd.v));
#else
  sum = dpwssd(sum, add(as_i16(a_even), as_i16(b_odd)), add(as_i16(a_odd), as_i16(b_even)));
#endif
}

/// What a tile's sums still lack, and where they go.
struct Int8Ends {
  const i32* of_rows;     // one number per row, to be added to each of its sums; or null
  const i32* of_columns;  // one per column; or null
  i32* c;
  Size c_step;
  bool add;  // c += sums; else c = sums
};

/// units × (R rows of a, 2 vectors of b). a: R words per unit, twice as pairs; b: int8_columns words.
template <int R>
void int8_tile(Size units, const u32* a, const u32* b, const Int8Ends& ends) {
  constexpr int lanes = Vi32::lanes;
  Vi32 sum[2 * R];
  unroll<2 * R>([&](auto i) __attribute__((always_inline)) { sum[i] = zero_sum(); });
  for (Size u = 0; u < units; ++u) {
    const Vi32 b0 = Vi32::load(b), b1 = Vi32::load(b + lanes);
    if constexpr (int8_as_bytes) {
      unroll<R>([&](auto i) __attribute__((always_inline)) {
        const Vi32 a_ui = broadcast_word(a + i);
        accumulate_bytes(sum[2 * i], a_ui, b0);
        accumulate_bytes(sum[2 * i + 1], a_ui, b1);
      });
    } else {
      const Vi32 b0_odd = Vi32::load(b + 2 * lanes), b1_odd = Vi32::load(b + 3 * lanes);
      unroll<R>([&](auto i) __attribute__((always_inline)) {
        const Vi32 even = broadcast_word(a + i), odd = broadcast_word(a + R + i);
        accumulate_pairs(sum[2 * i], even, odd, b0, b0_odd);
        accumulate_pairs(sum[2 * i + 1], even, odd, b1, b1_odd);
      });
    }
    a += R * int8_words;
    b += int8_columns * int8_words;
  }
  if (ends.of_rows != nullptr) {
    unroll<2 * R>([&](auto i) __attribute__((always_inline)) { sum[i] = add(sum[i], Vi32::broadcast(ends.of_rows[i / 2])); });
  }
  if (ends.of_columns != nullptr) {
    unroll<2 * R>([&](auto i) __attribute__((always_inline)) { sum[i] = add(sum[i], Vi32::load(ends.of_columns + i % 2 * lanes)); });
  }
  i32* c = ends.c;
  const Size c_step = ends.c_step;
  if (ends.add) {
    unroll<2 * R>([&](auto i) __attribute__((always_inline)) { sum[i] = add(sum[i], Vi32::load(c + i / 2 * c_step + i % 2 * lanes)); });
  }
  unroll<2 * R>([&](auto i) __attribute__((always_inline)) { store(c + i / 2 * c_step + i % 2 * lanes, sum[i]); });
}

using Int8TileFunction = void (*)(Size, const u32*, const u32*, const Int8Ends&);

/// int8_tile<rows> for 1 ≤ rows ≤ int8_rows.
inline Int8TileFunction int8_tile_function(int rows) {
  struct Table {
    Int8TileFunction at[int8_rows] = {};
    constexpr Table() {
      unroll_constant<int8_rows>([this](auto r) { at[r] = int8_tile<r + 1>; });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
