// The innermost part of an 8-bit product: an R × 2-vector tile of 32-bit sums in registers over one run of packed k. Sums are exact modulo 2³², so
// nothing here has an order to keep. A unit is the 32-bit word that one step multiplies in every lane:
//   bytes (v4n, and v4emulated to test its text elsewhere)   four k: a signed, b unsigned, as vpdpbusd wants them; packing shifts a u8 a and an i8 b
//                                                             by 128, and sums of rows and columns take that out again (matmul_int8.cpp)
//   pairs (all others)                                        two k widened to 16 bits for vpmaddwd, for vpmaddubsw saturates at 2·255·128
// Not here: how operands are packed (matmul_int8_pack.h).
#pragma once

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(VOTIVE_ISA_v4n) || defined(VOTIVE_ISA_v4emulated)
inline constexpr int int8_unit = 4;
#else
inline constexpr int int8_unit = 2;
#endif

#if defined(VOTIVE_ISA_v3)
inline constexpr int int8_rows = 6;  // 12 sums, 2 of b, 1 of a and 1 product in 16 registers
#elif defined(VOTIVE_ISA_baseline)
inline constexpr int int8_rows = 4;
#else
inline constexpr int int8_rows = 14;  // 28 sums, 2 of b, 1 of a and, as pairs, 1 product in 32 registers
#endif
inline constexpr int int8_columns = 2 * Vi32::lanes;

/// sum += a·b over a unit in every lane. In place and in order where g++ 12 would move or spill.
[[gnu::always_inline]] inline void accumulate_unit(Vi32& sum, Vi32 a, Vi32 b) {
#if defined(VOTIVE_ISA_v4n)
  asm volatile("vpdpbusd %1, %2, %0" : "+v"(sum.v) : "v"(a.v), "v"(b.v));
#elif defined(VOTIVE_ISA_v4)
  __m512i product;
  asm volatile("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0" : "+v"(sum.v), "=&v"(product) : "v"(a.v), "v"(b.v));
#elif defined(VOTIVE_ISA_v3)
  __m256i product;
  asm volatile("vpmaddwd %2, %3, %1\n\tvpaddd %1, %0, %0" : "+x"(sum.v), "=&x"(product) : "x"(a.v), "x"(b.v));
#elif defined(VOTIVE_ISA_v4emulated)
  sum = dpbusd(sum, as_i8(b), as_i8(a));
#else
  sum = dpwssd(sum, as_i16(a), as_i16(b));
#endif
}

[[gnu::always_inline]] inline Vi32 broadcast_unit(const u32* p) {
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

/// What a tile's sums still lack, and where they go.
struct Int8Ends {
  const i32* of_rows;     // one number per row, to be added to each of its sums; or null
  const i32* of_columns;  // one per column; or null
  i32* c;
  Size c_step;
  bool add;  // c += sums; else c = sums
};

/// units × (R rows of a, 2 vectors of b). a: R words per unit; b: int8_columns words per unit.
template <int R>
void int8_tile(Size units, const u32* a, const u32* b, const Int8Ends& ends) {
  constexpr int lanes = Vi32::lanes;
  Vi32 sum[2 * R];
  unroll<2 * R>([&](auto i) __attribute__((always_inline)) { sum[i] = Vi32::zero(); });
  for (Size u = 0; u < units; ++u) {
    const Vi32 b0 = Vi32::load(b), b1 = Vi32::load(b + lanes);
    unroll<R>([&](auto i) __attribute__((always_inline)) {
      const Vi32 a_ui = broadcast_unit(a + i);
      accumulate_unit(sum[2 * i], a_ui, b0);
      accumulate_unit(sum[2 * i + 1], a_ui, b1);
    });
    a += R;
    b += int8_columns;
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
