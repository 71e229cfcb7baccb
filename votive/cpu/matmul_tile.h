// The innermost part of a product: an R × N·lanes tile of outputs in registers over one run of packed k, for each of the three dot products of
// CONTRACT.md 4.4, from b as it was packed or in a weight's own width.
// Not here: how operands are packed (matmul_pack.h), how a matrix is cut into tiles (matmul_blocks.h, matmul_panels.h).
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

// ---- what b holds ------------------------------------------------------------------------------------------------------------------------------
// A row of b is `units` units of k; load<i>() gives the operand of the i-th of them in the order in which they are accumulated.

/// Numbers as the dot product multiplies them.
template <class Dot>
struct ReadPacked {
  using Word = typename Dot::Packed;
  static constexpr int units = 1;
  template <int>
  [[gnu::always_inline]] static typename Dot::Operand load(const Word* p) {
    return Dot::Operand::load(p);
  }
};

/// f16, widened on the way into a register: the conversion runs beside the fma (no cost in a tile of 14 rows, 2-core Zen 4).
struct ReadF16 {
  using Word = u16;
  static constexpr int units = 1;
  template <int>
  [[gnu::always_inline]] static Vf32 load(const Word* p) {
    return Vf32::load_f16(p);
  }
};

/// Pairs of bf16 as two numbers of f32: the bf16 rule takes the odd one first, the f32 rule the even one. An odd k ends with half a pair.
template <bool odd_first>
struct ReadPairs {
  using Word = u32;
  static constexpr int units = 2;
  template <int i>
  [[gnu::always_inline]] static Vf32 load(const Word* p) {
    if constexpr ((i == 0) == odd_first) {
      return Vf32::load_odd_bf16(p);
    } else {
      return Vf32::load_even_bf16(p);
    }
  }
  static constexpr int even = odd_first ? 1 : 0;
};

/// Where the accumulators of a tile start and end.
template <class Acc>
struct TileEnds {
  const Acc* resume;  // rows of resume_step with the chain so far, or null: start at +0
  Size resume_step;
  Acc* c;  // rows of c_step
  Size c_step;
  bool add;                     // the block is complete: c += accumulators, one ordinary addition; else c = accumulators
  const void* ahead = nullptr;  // what to fetch into L2 meanwhile, ahead_step bytes per row of b
  Size ahead_step = 0;
};

/// One unit: R numbers of a times N vectors of b. Whichever are fewer wait in registers for the others to pass by.
template <class Dot, class Read, int R, int N, int part>
[[gnu::always_inline]] inline void multiply_unit(const typename Dot::Packed* a, const typename Read::Word* b, typename Dot::Vector* acc) {
  using Operand = typename Dot::Operand;
  constexpr int lanes = Dot::Vector::lanes;
  if constexpr (R < N) {
    Operand a_u[R];
    unroll<R>([&](auto i) __attribute__((always_inline)) { broadcast_from(a + i, a_u[i]); });
    unroll<N>([&](auto j) __attribute__((always_inline)) {
      const Operand b_uj = Read::template load<part>(b + j * lanes);
      unroll<R>([&](auto i) __attribute__((always_inline)) { Dot::step(acc[i * N + j], a_u[i], b_uj); });
    });
  } else {
    Operand b_u[N];
    unroll<N>([&](auto j) __attribute__((always_inline)) { b_u[j] = Read::template load<part>(b + j * lanes); });
    unroll<R>([&](auto i) __attribute__((always_inline)) {
      Operand a_ui;
      broadcast_from(a + i, a_ui);
      unroll<N>([&](auto j) __attribute__((always_inline)) { Dot::step(acc[i * N + j], a_ui, b_u[j]); });
    });
  }
}

/// The R × N accumulators of a tile as `ends` says they start, and where they end.
template <int R, int N, class Acc, class Vector>
[[gnu::always_inline]] inline void start_tile(const TileEnds<Acc>& ends, Vector* acc) {
  constexpr int lanes = Vector::lanes;
  if (ends.resume != nullptr) {
    unroll<R>([&](auto i) __attribute__((always_inline)) {
      unroll<N>([&](auto j)
                    __attribute__((always_inline)) { acc[i * N + j] = Vector::load(ends.resume + i * ends.resume_step + j * lanes); });
    });
  } else {
    unroll<R * N>([&](auto i) __attribute__((always_inline)) { acc[i] = Vector::zero(); });
  }
}
template <int R, int N, class Acc, class Vector>
[[gnu::always_inline]] inline void finish_tile(const TileEnds<Acc>& ends, Vector* acc) {
  constexpr int lanes = Vector::lanes;
  unroll<R>([&](auto i) __attribute__((always_inline)) {
    Acc* c = ends.c + i * ends.c_step;
    unroll<N>([&](auto j) __attribute__((always_inline)) {
      if (ends.add) acc[i * N + j] = add(Vector::load(c + j * lanes), acc[i * N + j]);
      store(c + j * lanes, acc[i * N + j]);
    });
  });
}

/// units × (R rows of a, N vectors of b). a: R numbers per unit. b: rows of at least N vectors of Read::Word, b_step words apart.
template <class Dot, class Read, int R, int N>
void tile(Size units, const typename Dot::Packed* a, const void* b_words, Size b_step, const TileEnds<typename Dot::Acc>& ends) {
  using Vector = typename Dot::Vector;
  const auto* b = static_cast<const typename Read::Word*>(b_words);
  const auto* ahead = static_cast<const char*>(ends.ahead != nullptr ? ends.ahead : b_words);
  const Size ahead_step = ends.ahead_step;
  // c is written at the end, and often added to; it comes from afar.
  unroll<R>([&](auto i) __attribute__((always_inline)) {
    unroll<(N * sizeof(Vector) + 63) / 64>([&](auto j) __attribute__((always_inline)) {
      __builtin_prefetch(reinterpret_cast<const char*>(ends.c + i * ends.c_step) + 64 * j, 1);
    });
  });
  Vector acc[R * N];
  start_tile<R, N>(ends, acc);
  {
    const typename Dot::Environment environment;
    Size u = 0;
    for (; u + Read::units <= units; u += Read::units) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += ahead_step;
      unroll<Read::units>([&](auto part) __attribute__((always_inline)) { multiply_unit<Dot, Read, R, N, part>(a + part * R, b, acc); });
      a += Read::units * R;
      b += b_step;
    }
    if constexpr (Read::units == 2) {
      if (u < units) multiply_unit<Dot, Read, R, N, Read::even>(a, b, acc);
    }
  }
  finish_tile<R, N>(ends, acc);
}

template <class Dot>
using TileFunction = void (*)(Size, const typename Dot::Packed*, const void*, Size, const TileEnds<typename Dot::Acc>&);

/// tile<Dot, ReadPacked, rows, vectors> for every 1 ≤ rows ≤ tile_rows, 1 ≤ vectors ≤ tile_vectors(rows).
template <class Dot>
TileFunction<Dot> tile_function(int rows, int vectors) {
  struct Table {
    TileFunction<Dot> at[tile_rows][8] = {};
    constexpr Table() {
      unroll_constant<tile_rows>([this](auto r) {
        unroll_constant<tile_vectors(r + 1)>([this, r](auto v) { at[r][v] = tile<Dot, ReadPacked<Dot>, r + 1, v + 1>; });
      });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1][vectors - 1];
}

// ---- tiles over panels of b (matmul_panels.h) ------------------------------------------------------------------------------------------------------

/// Columns of a panel: 128 bytes of accumulators, for every instruction set.
template <class Acc>
inline constexpr int panel_columns = static_cast<int>(128 / sizeof(Acc));

#if defined(VOTIVE_ISA_v3)
inline constexpr int panel_rows = 3;     // a panel's four vectors pass by three rows: 7 loads for 12 fma, where 6 × 2 takes 8
inline constexpr int panel_vectors = 4;  // and half a panel would use half of the sets of L1
inline constexpr Size panel_piece = 256;
#elif defined(VOTIVE_ISA_baseline)
inline constexpr int panel_rows = 4;
inline constexpr int panel_vectors = 2;
inline constexpr Size panel_piece = 256;
#else
inline constexpr int panel_rows = 14;
inline constexpr int panel_vectors = 2;
inline constexpr Size panel_piece = numerics::dot_block;  // units of k after which the next tile takes its turn: 14 rows need no b in L1
#endif

/// tile<Dot, Read, rows, vectors> for every 1 ≤ rows ≤ panel_rows, 1 ≤ vectors ≤ panel_vectors.
template <class Dot, class Read>
TileFunction<Dot> panel_tile_function(int rows, int vectors) {
  struct Table {
    TileFunction<Dot> at[panel_rows][panel_vectors] = {};
    constexpr Table() {
      unroll_constant<panel_rows>(
          [this](auto r) { unroll_constant<panel_vectors>([this, r](auto v) { at[r][v] = tile<Dot, Read, r + 1, v + 1>; }); });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1][vectors - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
