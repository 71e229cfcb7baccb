// A tile of outputs in registers whose broadcast operand is read where it lies: R numbers side by side at every step of the sum, the steps evenly apart. So
// rows of k and v are multiplied without being packed first. Not here: operands that are packed by tile (matmul_tile.h).
#pragma once

#include "votive/cpu/matmul_tile.h"

namespace votive::cpu::VOTIVE_ISA {

/// Rows of a tile of so many vectors: what the registers hold beside the vectors of b and one of a.
constexpr int direct_rows([[maybe_unused]] int vectors) {
#if defined(VOTIVE_ISA_v3)
  return vectors == 1 ? 12 : 6;
#elif defined(VOTIVE_ISA_baseline)
  return vectors == 1 ? 8 : 4;
#else
  return 14;
#endif
}

/// b: `vectors` vectors per unit, units b_step apart. a: R numbers per unit, at a + u·a_step.
template <class Dot>
struct DirectOperands {
  Size units;
  const typename Dot::Packed* a;
  Size a_step;
  const typename Dot::Packed* b;
  Size b_step;
  const u32* lanes;  // per unit, a bit for every lane of the tile that takes part; null: all do
};

#if defined(__AVX512F__)
using LaneMask = __mmask16;
inline LaneMask lane_mask(u32 bits) { return static_cast<__mmask16>(bits); }
/// acc = a·b + acc in the lanes of the mask.
[[gnu::always_inline]] inline void accumulate_where(LaneMask mask, Vf32& acc, Vf32 a, Vf32 b) {
  acc.v = _mm512_mask3_fmadd_ps(a.v, b.v, acc.v, mask);
}
#else
using LaneMask = Vi32;
inline LaneMask lane_mask(u32 bits) {
  i32 lanes[Vi32::lanes];
  for (int l = 0; l < Vi32::lanes; ++l) lanes[l] = -static_cast<i32>(bits >> l & 1);
  return Vi32::load(lanes);
}
[[gnu::always_inline]] inline void accumulate_where(LaneMask mask, Vf32& acc, Vf32 a, Vf32 b) {
  const Vi32 before = as_i32(acc);
  acc = as_f32(bit_xor(before, bit_and(mask, bit_xor(before, as_i32(fma(a, b, acc))))));
}
#endif

enum class Steps { even, masked };  // masked: lanes that take no part are left alone (DotF32)

template <class Dot, int R, int N, Steps steps>
void direct_tile(const DirectOperands<Dot>& x, const TileEnds<typename Dot::Acc>& ends) {
  using Vector = typename Dot::Vector;
  using Operand = typename Dot::Operand;
  constexpr int lanes = Vector::lanes;
  Vector acc[R * N];
  start_tile<R, N>(ends, acc);
  {
    const typename Dot::Environment environment;
    const typename Dot::Packed *a = x.a, *b = x.b;
    for (Size u = 0; u < x.units; ++u) {
      Operand b_u[N];
      unroll<N>([&](auto j) __attribute__((always_inline)) { b_u[j] = Operand::load(b + j * lanes); });
      if constexpr (steps == Steps::masked) {
        LaneMask mask[N];
        unroll<N>([&](auto j) __attribute__((always_inline)) { mask[j] = lane_mask(x.lanes[u] >> (j * lanes)); });
        unroll<R>([&](auto i) __attribute__((always_inline)) {
          const Operand a_ui = Operand::broadcast(a[i]);
          unroll<N>([&](auto j) __attribute__((always_inline)) { accumulate_where(mask[j], acc[i * N + j], a_ui, b_u[j]); });
        });
      } else {
        unroll<R>([&](auto i) __attribute__((always_inline)) {
          Operand a_ui;
          broadcast_from(a + i, a_ui);
          unroll<N>([&](auto j) __attribute__((always_inline)) { Dot::step(acc[i * N + j], a_ui, b_u[j]); });
        });
      }
      a += x.a_step;
      b += x.b_step;
    }
  }
  finish_tile<R, N>(ends, acc);
}

template <class Dot>
using DirectFunction = void (*)(const DirectOperands<Dot>&, const TileEnds<typename Dot::Acc>&);

/// direct_tile<Dot, rows, vectors, steps> for 1 ≤ vectors ≤ 2 and 1 ≤ rows ≤ direct_rows(vectors).
template <class Dot, Steps steps>
DirectFunction<Dot> direct_function(int rows, int vectors) {
  struct Table {
    DirectFunction<Dot> at[2][16] = {};
    constexpr Table() {
      unroll_constant<2>(
          [this](auto v) { unroll_constant<direct_rows(v + 1)>([this, v](auto r) { at[v][r] = direct_tile<Dot, r + 1, v + 1, steps>; }); });
    }
  };
  static constexpr Table table;
  return table.at[vectors - 1][rows - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
