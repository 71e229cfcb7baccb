// The innermost part of a product: an R × N·lanes tile of outputs in registers over one run of packed k, for each of the three dot products of
// CONTRACT.md 4.4. Not here: how operands are packed (matmul_pack.h), how a matrix is cut into tiles (matmul_blocks.h).
#pragma once

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(VOTIVE_ISA_v3)
inline constexpr int tile_rows = 6;  // 12 accumulators, 2 of b and 1 of a in 16 registers
#elif defined(VOTIVE_ISA_baseline)
inline constexpr int tile_rows = 4;
#else
inline constexpr int tile_rows = 14;  // 28 accumulators, 2 of b and 1 of a in 32 registers
#endif

/// Vectors of a tile of so many rows. Few rows take more, since an fma takes four cycles and two start in each.
constexpr int tile_vectors([[maybe_unused]] int rows) {
#if defined(VOTIVE_ISA_v3)
  return rows == 1 ? 6 : rows == 2 ? 4 : rows <= 4 ? 3 : 2;
#elif defined(VOTIVE_ISA_baseline)
  return 2;
#else
  return rows == 1 ? 8 : rows <= 6 ? 4 : 2;
#endif
}

struct NoEnvironment {
  NoEnvironment() {}
  ~NoEnvironment() {}
};

/// f32 rule: one k per unit.
struct DotF32 {
  using Acc = f32;
  using Vector = Vf32;
  using Packed = f32;
  using Operand = Vf32;
  using Environment = NoEnvironment;
  static constexpr bool pairs = false;    // two k in a unit of 32 bits
  static constexpr bool swapped = false;  // the odd k of a pair before the even one
  static constexpr Size units(Size k) { return k; }
  [[gnu::always_inline]] static void step(Vf32& acc, Vf32 a, Vf32 b) { accumulate(acc, a, b); }
};

struct DotF64 {
  using Acc = f64;
  using Vector = Vf64;
  using Packed = f64;
  using Operand = Vf64;
  using Environment = NoEnvironment;
  static constexpr bool pairs = false;
  static constexpr bool swapped = false;
  static constexpr Size units(Size k) { return k; }
  [[gnu::always_inline]] static void step(Vf64& acc, Vf64 a, Vf64 b) { accumulate(acc, a, b); }
};

#if defined(__AVX512BF16__)
/// bf16 rule in one instruction: a pair of k per unit.
struct DotBf16 {
  using Acc = f32;
  using Vector = Vf32;
  using Packed = u32;
  using Operand = Vi32;
  using Environment = NoEnvironment;
  static constexpr bool pairs = true;
  static constexpr bool swapped = false;
  static constexpr Size units(Size k) { return (k + 1) / 2; }
  [[gnu::always_inline]] static void step(Vf32& acc, Vi32 a, Vi32 b) { accumulate_bf16(acc, a, b); }
};
#else
/// bf16 rule as the f32 rule's tile: widened when packed, the odd element of a pair first, subnormals flushed.
struct DotBf16 {
  using Acc = f32;
  using Vector = Vf32;
  using Packed = f32;
  using Operand = Vf32;
  using Environment = FlushToZero;
  static constexpr bool pairs = false;
  static constexpr bool swapped = true;
  static constexpr Size units(Size k) { return k; }
#if defined(VOTIVE_ISA_baseline)
  [[gnu::always_inline]] static void step(Vf32& acc, Vf32 a, Vf32 b) { accumulate_flushed(acc, a, b); }
#else
  [[gnu::always_inline]] static void step(Vf32& acc, Vf32 a, Vf32 b) { accumulate(acc, a, b); }
#endif
};
#endif

/// Where the accumulators of a tile start and end.
template <class Acc>
struct TileEnds {
  const Acc* resume;  // rows of resume_step with the chain so far, or null: start at +0
  Size resume_step;
  Acc* c;  // rows of c_step
  Size c_step;
  bool add;  // the block is complete: c += accumulators, one ordinary addition; else c = accumulators
};

/// units × (R rows of a, N vectors of b). a: R numbers per unit. b: at least N vectors per unit, units b_step apart.
template <class Dot, int R, int N>
void tile(Size units, const typename Dot::Packed* a, const typename Dot::Packed* b, Size b_step, const TileEnds<typename Dot::Acc>& ends) {
  using Vector = typename Dot::Vector;
  using Operand = typename Dot::Operand;
  constexpr int lanes = Vector::lanes;
  Vector acc[R * N];
  if (ends.resume != nullptr) {
    unroll<R>([&](auto i) __attribute__((always_inline)) {
      unroll<N>([&](auto j)
                    __attribute__((always_inline)) { acc[i * N + j] = Vector::load(ends.resume + i * ends.resume_step + j * lanes); });
    });
  } else {
    unroll<R * N>([&](auto i) __attribute__((always_inline)) { acc[i] = Vector::zero(); });
  }
  {
    const typename Dot::Environment environment;
    for (Size u = 0; u < units; ++u) {
      Operand b_u[N];
      unroll<N>([&](auto j) __attribute__((always_inline)) { b_u[j] = Operand::load(b + j * lanes); });
      unroll<R>([&](auto i) __attribute__((always_inline)) {
        Operand a_ui;
        broadcast_from(a + i, a_ui);
        unroll<N>([&](auto j) __attribute__((always_inline)) { Dot::step(acc[i * N + j], a_ui, b_u[j]); });
      });
      a += R;
      b += b_step;
    }
  }
  unroll<R>([&](auto i) __attribute__((always_inline)) {
    typename Dot::Acc* c = ends.c + i * ends.c_step;
    unroll<N>([&](auto j) __attribute__((always_inline)) {
      if (ends.add) acc[i * N + j] = add(Vector::load(c + j * lanes), acc[i * N + j]);
      store(c + j * lanes, acc[i * N + j]);
    });
  });
}

template <class Dot>
using TileFunction = void (*)(Size, const typename Dot::Packed*, const typename Dot::Packed*, Size, const TileEnds<typename Dot::Acc>&);

/// tile<Dot, rows, vectors> for every 1 ≤ rows ≤ tile_rows, 1 ≤ vectors ≤ tile_vectors(rows).
template <class Dot>
TileFunction<Dot> tile_function(int rows, int vectors) {
  struct Table {
    TileFunction<Dot> at[tile_rows][8] = {};
    constexpr Table() {
      unroll_constant<tile_rows>(
          [this](auto r) { unroll_constant<tile_vectors(r + 1)>([this, r](auto v) { at[r][v] = tile<Dot, r + 1, v + 1>; }); });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1][vectors - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
