// The loops of quantised products: rows of 15-bit activations times groups of 16 weight rows that lie as Packing::rows16 (packed_weight.h). A lane is a
// row of the weight, so that its sum needs no horizontal step. Sums of a group of k are exact integers, hence their order is free and each instruction set
// takes its own way to them; the chain of fma over groups is the contract's (D15). Not here: tensors and threads (quantised.cpp).
#pragma once

#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "votive/cpu/integer_lanes.h"
#include "votive/cpu/packed_weight.h"
#include "votive/numerics/blocks.h"

namespace votive::cpu::VOTIVE_ISA {

using numerics::i16;

/// 32 consecutive k of one row of x.
struct alignas(16) ActivationBlock {
  i8 q[64];      // as bytes, q = 256·high + low: 32 high ones, then 32 low ones; as words: of each four k in the order 0 2 1 3
  f32 scale;     // d_x; NaN where the block holds a NaN or an infinity
  f32 sum;       // S = Σ q, exact
  i32 start[2];  // −zero·S: of a group of 32 k, or of either 16
};

/// `zero` is what stands for 0 in the stored weights, `group` how many k share a scale.
inline void quantise_block(const f32* x, bool as_words, int zero, int group, ActivationBlock& block) {
  i16 q[32];
  numerics::quantise_activation_block(x, q, &block.scale);
  if (as_words) {
    i16 ordered[32];
    for (int k = 0; k < 32; k += 4) {
      ordered[k] = q[k];
      ordered[k + 1] = q[k + 2];
      ordered[k + 2] = q[k + 1];
      ordered[k + 3] = q[k + 3];
    }
    std::memcpy(block.q, ordered, sizeof ordered);
  } else {
    for (int k = 0; k < 32; ++k) {
      const auto low = static_cast<i8>(q[k]);
      block.q[32 + k] = low;
      block.q[k] = static_cast<i8>((q[k] - low) >> 8);
    }
  }
  i32 half[2] = {};
  for (int k = 0; k < 16; ++k) half[0] += q[k];
  for (int k = 16; k < 32; ++k) half[1] += q[k];
  const i32 sum = half[0] + half[1];
  block.sum = static_cast<f32>(sum);
  block.start[0] = -zero * (group == 16 ? half[0] : sum);
  block.start[1] = -zero * half[1];
}

// ---- one unit of 32 k --------------------------------------------------------------------------------------------------------------------

/// Stored weights of k = 4j … 4j+3, a byte each.
template <DType dtype, int j>
[[gnu::always_inline]] inline Lanes::I stored(const u8* unit) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  if constexpr (format.bits == 8) {
    return Lanes::load(unit + 64 * j);
  } else {
    Lanes::I v = Lanes::load(unit + 64 * (j % 4));
    if constexpr (j >= 4) v = Lanes::template right<4>(v);
    v = Lanes::both(v, Lanes::all(0x0f0f0f0f));
    if constexpr (format.bits == 5) {
      Lanes::I fifth = Lanes::load(unit + 256);
      if constexpr (j < 4) {
        fifth = Lanes::template left<4 - j>(fifth);
      } else {
        fifth = Lanes::template right<j - 4>(fifth);
      }
      v = Lanes::either(v, Lanes::both(fifth, Lanes::all(0x10101010)));
    }
    if constexpr (format.bits == 6) {
      Lanes::I upper = Lanes::load(unit + 256 + 64 * (j / 4));
      if constexpr (j % 4 < 2) {
        upper = Lanes::template left<4 - 2 * (j % 4)>(upper);
      } else {
        upper = Lanes::template right<2 * (j % 4) - 4>(upper);
      }
      v = Lanes::either(v, Lanes::both(upper, Lanes::all(0x30303030)));
    }
    return v;
  }
}

/// The same as words: of k = 4j and 4j + 2, or of k = 4j + 1 and 4j + 3.
template <class L, DType dtype, int j, bool odd>
[[gnu::always_inline]] inline typename L::I stored_words(const u8* unit) {
  if constexpr (quantised_format(dtype).bits == 4) {
    constexpr int shift = 4 * (j / 4) + 8 * odd;
    const typename L::I v = L::load(unit + 64 * (j % 4));
    if constexpr (shift == 0) return L::both(v, L::all(0x000f000f));
    if constexpr (shift == 12) return L::template right16<12>(v);
    return L::both(L::template right<shift>(v), L::all(0x000f000f));
  } else {
    const typename L::I v = stored<dtype, j>(unit);
    if constexpr (odd) return L::template right16<8>(v);
    return L::both(v, L::all(0x00ff00ff));
  }
}

/// total[r·V + v] += Σ w·q over k = 4·first … 4·(first + n) − 1, for M rows of x and V vectors of weight rows: bytes to 32 bits, a plane of q each.
template <class L, DType dtype, int M, int V, int first, int n>
[[gnu::always_inline]] inline void add_byte_products(const u8* const (&weights)[V], const ActivationBlock* x, Size x_row,
                                                     typename L::I (&total)[M * V]) {
  typename L::I high[M * V];
#pragma GCC unroll 16
  for (int i = 0; i < M * V; ++i) high[i] = L::zero();
  const auto step = [&]<int j>() __attribute__((always_inline)) {
    typename L::I w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) w[v] = stored<dtype, j>(weights[v]);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      const i8* q = x[r * x_row].q + 4 * j;
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        high[r * V + v] = L::dot(high[r * V + v], w[v], L::four(q));
        total[r * V + v] = L::dot(total[r * V + v], w[v], L::four(q + 32));
      }
    }
  };
  [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) { (step.template operator()<first + j>(), ...); }
  (std::make_integer_sequence<int, n>{});
#pragma GCC unroll 16
  for (int i = 0; i < M * V; ++i) total[i] = L::add(total[i], L::template left<8>(high[i]));
}

/// The same where no instruction adds bytes to 32 bits, for weights of fewer than 8 bits: pairs go to 16 bits, `run` vectors of them are added there before
/// they could overflow (run·2·w·128 < 2¹⁵), then both planes are widened and joined.
template <class L, DType dtype, int V, int first, int n>
[[gnu::always_inline]] inline void add_byte_pairs(const u8* const (&weights)[V], const ActivationBlock* x, typename L::I (&total)[V]) {
  constexpr int bits = quantised_format(dtype).bits, run = bits == 4 ? 8 : bits == 5 ? 4 : 2;
  typename L::I high[V], low[V];
  const auto step = [&]<int j>() __attribute__((always_inline)) {
    const typename L::I q_high = L::four(x->q + 4 * (first + j)), q_low = L::four(x->q + 32 + 4 * (first + j));
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      const typename L::I w = stored<dtype, first + j>(weights[v]);
      high[v] = j % run == 0 ? L::pairs(w, q_high) : L::add16(high[v], L::pairs(w, q_high));
      low[v] = j % run == 0 ? L::pairs(w, q_low) : L::add16(low[v], L::pairs(w, q_low));
      L::keep_order(high[v]);
      L::keep_order(low[v]);
      if constexpr (j % run == run - 1 || j == n - 1) {
        total[v] = L::add(total[v], L::add(L::widen(high[v], L::all(0x01000100)), L::widen(low[v], L::all(0x00010001))));
      }
    }
  };
  [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) { (step.template operator()<j>(), ...); }
  (std::make_integer_sequence<int, n>{});
}

/// The same with words: two products of a word of w and one of q to 32 bits.
template <class L, DType dtype, int M, int V, int first, int n>
[[gnu::always_inline]] inline void add_word_products(const u8* const (&weights)[V], const ActivationBlock* x, Size x_row,
                                                     typename L::I (&total)[M * V]) {
  const auto step = [&]<int j, bool odd>() __attribute__((always_inline)) {
    typename L::I w[V];
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) w[v] = stored_words<L, dtype, j, odd>(weights[v]);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      const typename L::I q = L::four(x[r * x_row].q + 8 * j + 4 * odd);
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        total[r * V + v] = L::add(total[r * V + v], L::widen(w[v], q));
        L::keep_order(total[r * V + v]);
      }
    }
  };
  [&]<int... j>(std::integer_sequence<int, j...>) __attribute__((always_inline)) {
    ((step.template operator()<first + j, false>(), step.template operator()<first + j, true>()), ...);
  }
  (std::make_integer_sequence<int, n>{});
}

/// How the sums of a unit are formed; x is quantised accordingly.
enum class Products { bytes, byte_pairs, words };

/// Of many rows: words need fewer steps per row, byte pairs fewer per weight.
inline constexpr Products products_of_rows = Lanes::has_dot ? Products::bytes : Products::words;
constexpr Products products_of_one(DType dtype) {
  return Lanes::has_dot ? Products::bytes : quantised_format(dtype).bits == 8 ? Products::words : Products::byte_pairs;
}

/// total[r·V + v] = exact Σ (w − zero)·q over k = 4·first … 4·(first + n) − 1.
template <DType dtype, Products products, int M, int V, int first, int n>
[[gnu::always_inline]] inline void exact_dots(const u8* const (&weights)[V], const ActivationBlock* x, Size x_row,
                                              Lanes::I (&total)[M * V]) {
  constexpr int zero = quantised_format(dtype).zero;
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) total[r * V + v] = zero == 0 ? Lanes::zero() : Lanes::all(x[r * x_row].start[first / 4]);
  }
  if constexpr (products == Products::bytes) {
    add_byte_products<Lanes, dtype, M, V, first, n>(weights, x, x_row, total);
  } else if constexpr (products == Products::words) {
    add_word_products<Lanes, dtype, M, V, first, n>(weights, x, x_row, total);
  } else {
    add_byte_pairs<Lanes, dtype, V, first, n>(weights, x, total);
  }
}

// ---- groups of w times rows of x -----------------------------------------------------------------------------------------------------------

/// Scales and offsets of V vectors of weight rows; those of a block, and of a unit where it has its own.
template <DType dtype, int V>
struct Scales {
  static constexpr QuantisedFormat format = quantised_format(dtype);
  Lanes::F d[V], m[V];

  [[gnu::always_inline]] void read(const u8* block) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      d[v] = Lanes::half(block + 2 * Lanes::count * v);
      m[v] = Lanes::nothing();
      if constexpr (format.offset) m[v] = Lanes::half(block + 32 + 2 * Lanes::count * v);
      if constexpr (format.offset && format.unit_header != 0) m[v] = Lanes::negative(m[v]);
    }
  }
};

/// sum[r·V + v] continues its chain over the groups of one unit.
template <DType dtype, Products products, int M, int V>
[[gnu::always_inline]] inline void add_unit(const u8* unit, int part, const Scales<dtype, V>& scales, const ActivationBlock* x, Size x_row,
                                            Lanes::F* sum) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  const u8* weights[V];
#pragma GCC unroll 4
  for (int v = 0; v < V; ++v) weights[v] = unit + format.unit_header + (part + v) * 4 * Lanes::count;
  const auto add_group = [&]<int first, int n>() __attribute__((always_inline)) {
    Lanes::I total[M * V];
    exact_dots<dtype, products, M, V, first, n>(weights, x, x_row, total);
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
      Lanes::F scale = scales.d[v], offset = scales.m[v];
      const u8* at = unit + (part + v) * Lanes::count;
      if constexpr (format.group == 16) {
        scale = Lanes::times(scale, Lanes::signed_bytes(at + 4 * first));
      } else if constexpr (format.unit_header != 0) {
        scale = Lanes::times(scale, Lanes::bytes(at));
        offset = Lanes::times(offset, Lanes::bytes(at + 16));
      }
#pragma GCC unroll 8
      for (int r = 0; r < M; ++r) {
        const ActivationBlock& block = x[r * x_row];
        const Lanes::F dx = Lanes::all(block.scale);
        Lanes::F& s = sum[r * V + v];
        s = Lanes::fma(Lanes::times(scale, dx), Lanes::to_float(total[r * V + v]), s);
        if constexpr (format.offset) s = Lanes::fma(Lanes::times(offset, dx), Lanes::all(block.sum), s);
      }
    }
  };
  if constexpr (format.group == 16) {
    add_group.template operator()<0, 4>();
    add_group.template operator()<4, 4>();
  } else {
    add_group.template operator()<0, 8>();
  }
}

/// y[16·r + lane] = the chain over groups of k, for M rows of x and one group of weight rows, V vectors of them at a time.
template <DType dtype, int M, int V>
void multiply_rows(const u8* group, Size blocks, const ActivationBlock* x, Size x_row, f32* y) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  for (int part = 0; part < 16 / Lanes::count; part += V) {
    Lanes::F sum[M * V];
#pragma GCC unroll 16
    for (int i = 0; i < M * V; ++i) sum[i] = Lanes::nothing();
    const u8* block = group;
    const ActivationBlock* x_at = x;
    for (Size b = 0; b < blocks; ++b, block += format.block_bytes()) {
      Scales<dtype, V> scales;
      scales.read(block + 2 * Lanes::count * part);
      const u8* unit = block + format.header;
      for (int u = 0; u < format.units; ++u, unit += format.unit_bytes(), ++x_at) {
        add_unit<dtype, products_of_rows, M, V>(unit, part, scales, x_at, x_row, sum);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) Lanes::store(y + 16 * r + Lanes::count * (part + v), sum[r * V + v]);
    }
  }
}

/// Vectors of a group that one row of x passes at once: all, so that the group is read once, but of lanes that are arrays one, which g++ compiles faster.
inline constexpr int vectors_of_one = Lanes::count >= 8 ? 16 / Lanes::count : 1;

/// y[16·i + lane] = the same for one row of x and S groups of weight rows, `step` bytes apart. Unit by unit in turns, so that S streams are fetched ahead:
/// one alone, with the arithmetic of a row between its loads, reaches three quarters of read bandwidth (2-core Zen 4).
template <DType dtype, int S>
void multiply_streams(const u8* group, Size step, Size blocks, const ActivationBlock* x, f32* y) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  constexpr int V = vectors_of_one, passes = 16 / Lanes::count / V;
  Lanes::F sum[S * passes * V];
  for (int i = 0; i < S * passes * V; ++i) sum[i] = Lanes::nothing();
  for (Size b = 0; b < blocks; ++b, group += format.block_bytes()) {
    Scales<dtype, V> scales[S * passes];
    for (int i = 0; i < S * passes; ++i) scales[i].read(group + i / passes * step + 2 * Lanes::count * V * (i % passes));
    const u8* unit = group + format.header;
    for (int u = 0; u < format.units; ++u, unit += format.unit_bytes(), ++x) {
#pragma GCC unroll 1
      for (int i = 0; i < S * passes; ++i) {
        add_unit<dtype, products_of_one(dtype), 1, V>(unit + i / passes * step, i % passes * V, scales[i], x, 0, sum + i * V);
      }
    }
  }
  for (int i = 0; i < S * passes * V; ++i) Lanes::store(y + Lanes::count * i, sum[i]);
}

/// Rows of x that share a weight while it is in registers, most of them first: what is left of many takes smaller tiles. Measured on Zen 5 (v4n): 8 rows
/// 1.3 × 4 rows.
template <int largest, int... smaller>
struct TileSizes {
  static constexpr int rows[] = {largest, smaller...};
  static constexpr int count = 1 + sizeof...(smaller), most = largest;
};
using QuantisedTiles = std::conditional_t<Lanes::count >= 8, TileSizes<8, 4, 2, 1>, TileSizes<4, 1>>;
inline constexpr int streams_of_one = 4;

struct MultiplyFunctions {
  using Rows = void (*)(const u8* group, Size blocks, const ActivationBlock* x, Size x_row, f32* y);
  using Streams = void (*)(const u8* group, Size step, Size blocks, const ActivationBlock* x, f32* y);
  std::array<Rows, QuantisedTiles::count> tiles;
  Streams streams, stream;  // one row alone: streams_of_one groups, and one
  bool one_as_words;
};

/// Few rows leave registers for a whole group beside them, which is then read once.
template <int rows>
inline constexpr int vectors_of_tile = rows <= 4 ? vectors_of_one : 1;

template <DType dtype, int... sizes>
constexpr std::array<MultiplyFunctions::Rows, sizeof...(sizes)> tiles_of(TileSizes<sizes...>) {
  return {multiply_rows<dtype, sizes, vectors_of_tile<sizes>>...};
}

template <DType dtype>
constexpr MultiplyFunctions multiply_functions_of() {
  return {tiles_of<dtype>(QuantisedTiles()), multiply_streams<dtype, streams_of_one>, multiply_streams<dtype, 1>,
          products_of_one(dtype) == Products::words};
}

inline MultiplyFunctions multiply_functions(DType dtype) {
  switch (dtype) {
    case DType::q4_0: return multiply_functions_of<DType::q4_0>();
    case DType::q4_1: return multiply_functions_of<DType::q4_1>();
    case DType::q5_0: return multiply_functions_of<DType::q5_0>();
    case DType::q5_1: return multiply_functions_of<DType::q5_1>();
    case DType::q8_0: return multiply_functions_of<DType::q8_0>();
    case DType::q4_k: return multiply_functions_of<DType::q4_k>();
    case DType::q5_k: return multiply_functions_of<DType::q5_k>();
    default: return multiply_functions_of<DType::q6_k>();
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
