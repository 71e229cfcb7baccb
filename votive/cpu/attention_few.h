// The two inner loops of attention with few queries: rows of q times keys that lie row by row, and probabilities times values. Accumulators stay in registers,
// one chain per output. Not here: which keys and threads (attention_few.cpp).
#pragma once

#include "votive/cpu/matmul_pack.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr int most_few_rows = 8;
inline constexpr Size key_bytes_ahead = 4096;  // of keys touched before they are needed, in the order in which they lie

// Keys as squares of 32-bit lanes: `each` numbers per lane, `parts` numbers of a query per lane.

struct KeysF32 {
  using Word = f32;
  using Query = f32;
  using Environment = NoEnvironment;
  static constexpr int lanes = Vf32::lanes;
  static constexpr Size each = 1, parts = 1;
  static void take(const std::byte* from, Size units, f32* to) { std::memcpy(to, from, static_cast<std::size_t>(units) * sizeof(f32)); }
  [[gnu::always_inline]] static Vf32 load(const f32* p) { return Vf32::load(p); }
  [[gnu::always_inline]] static Vf32 load_part(const f32* p, int n) { return Vf32::load_part(p, n); }
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& keys, const f32* query) {
    Vf32 q;
    broadcast_from(query, q);
    accumulate(acc, q, keys);
  }
};

struct KeysF16 : KeysF32 {
  using Word = u16;
  static void take(const std::byte* from, Size units, f32* to) {
    for (Size d = 0; d < units; ++d) to[d] = numerics::f16_to_f32(reinterpret_cast<const u16*>(from)[d]);
  }
  [[gnu::always_inline]] static Vf32 load(const u16* p) { return Vf32::load_f16(p); }
  [[gnu::always_inline]] static Vf32 load_part(const u16*, int) { return Vf32::zero(); }  // are_few() asks for whole vectors
};

/// Pairs of bf16, the odd element first.
struct KeysBf16 {
  using Word = u16;
  static constexpr int lanes = Vf32::lanes;
  static constexpr Size each = 2;
  [[gnu::always_inline]] static Vf32 load(const u16* p) { return as_f32(Vi32::load(p)); }
  [[gnu::always_inline]] static Vf32 load_part(const u16* p, int n) {
    u32 pairs[lanes] = {};
    std::memcpy(pairs, p, static_cast<std::size_t>(n) * sizeof(u32));
    return as_f32(Vi32::load(pairs));
  }
#if defined(__AVX512BF16__)
  using Query = u32;
  using Environment = NoEnvironment;
  static constexpr Size parts = 1;
  static void take(const std::byte* from, Size units, u32* to) { std::memcpy(to, from, static_cast<std::size_t>(units) * sizeof(u32)); }
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& keys, const u32* query) {
    Vi32 q;
    broadcast_from(query, q);
    accumulate_bf16(acc, q, as_i32(keys));
  }
#else
  using Query = f32;
  using Environment = FlushToZero;
  static constexpr Size parts = 2;
  static void take(const std::byte* from, Size units, f32* to) {
    const u16* words = reinterpret_cast<const u16*>(from);
    for (Size i = 0; i < 2 * units; ++i) to[i] = numerics::bf16_to_f32(words[i ^ 1]);
  }
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& keys, const f32* query) {
    Vf32 odd, even;
    broadcast_from(query, odd);
    broadcast_from(query + 1, even);
    DotBf16::step(acc, odd, as_f32(bit_and(as_i32(keys), Vi32::broadcast(-65536))));
    DotBf16::step(acc, even, as_f32(shift_left<16>(as_i32(keys))));
  }
#endif
};

template <class Keys>
struct KeyRows {
  const typename Keys::Word* keys;
  Size step, count;
  Size units;                         // of a row, in lanes
  const typename Keys::Query* query;  // rows of units · parts
};

/// scores[row·score_step + s] = query row · key s. Writes whole vectors of keys.
template <class Keys, int rows>
void dot_keys(const KeyRows<Keys>& x, f32* scores, Size score_step) {
  constexpr int lanes = Keys::lanes;
  const Size query_step = x.units * Keys::parts;
  for (Size s = 0; s < x.count; s += lanes) {
    const typename Keys::Word* row[lanes];
    for (int i = 0; i < lanes; ++i) row[i] = x.keys + (s + i < x.count ? s + i : x.count - 1) * x.step;
    const char* ahead = reinterpret_cast<const char*>(row[0]) + key_bytes_ahead;
    Vf32 acc[rows];
    unroll<rows>([&](auto m) __attribute__((always_inline)) { acc[m] = Vf32::zero(); });
    {
      const typename Keys::Environment environment;
      Size d = 0;
      for (; d + lanes <= x.units; d += lanes) {
        Vf32 square[lanes];
        unroll<lanes>([&](auto i) __attribute__((always_inline)) {
          __builtin_prefetch(ahead + i * 4 * lanes);
          square[i] = Keys::load(row[i] + d * Keys::each);
        });
        ahead += 4 * lanes * lanes;
        transpose(square);
        const typename Keys::Query* query = x.query + d * Keys::parts;
        unroll<lanes>([&](auto u) __attribute__((always_inline)) {
          unroll<rows>([&](auto m)
                           __attribute__((always_inline)) { Keys::step(acc[m], square[u], query + m * query_step + u * Keys::parts); });
        });
      }
      if (d < x.units) {
        const int n = static_cast<int>(x.units - d);
        Vf32 square[lanes];
        for (int i = 0; i < lanes; ++i) square[i] = Keys::load_part(row[i] + d * Keys::each, n);
        transpose(square);
        const typename Keys::Query* query = x.query + d * Keys::parts;
        for (int u = 0; u < n; ++u) {
          unroll<rows>([&](auto m)
                           __attribute__((always_inline)) { Keys::step(acc[m], square[u], query + m * query_step + u * Keys::parts); });
        }
      }
    }
    unroll<rows>([&](auto m) __attribute__((always_inline)) { store(scores + m * score_step + s, acc[m]); });
  }
}

template <class Keys>
using DotKeys = void (*)(const KeyRows<Keys>&, f32*, Size);

template <class Keys>
DotKeys<Keys> dot_keys_function(int rows) {
  struct Table {
    DotKeys<Keys> at[most_few_rows] = {};
    constexpr Table() {
      unroll_constant<most_few_rows>([this](auto m) { at[m] = dot_keys<Keys, m + 1>; });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1];
}

/// Vectors of columns for so many rows: what the registers hold beside the smaller side's operands.
constexpr int weigh_vectors(int rows) {
#if defined(__AVX512F__)
  return rows <= 3 ? 8 : rows == 4 ? 6 : rows == 5 ? 5 : rows == 6 ? 4 : 3;
#else
  return rows == 1 ? 8 : rows == 2 ? 6 : rows == 3 ? 4 : rows == 4 ? 3 : rows <= 6 ? 2 : 1;
#endif
}

/// sums[row·sum_step + column] continue their chains over n keys: p[row·p_step + s]·v[s·v_step + column].
template <class Stored, int rows, int vectors>
void weigh_keys(Size n, const f32* p, Size p_step, const typename Stored::Word* v, Size v_step, f32* sums, Size sum_step) {
  constexpr int lanes = Vf32::lanes;
  Vf32 acc[rows * vectors];
  unroll<rows>([&](auto m) __attribute__((always_inline)) {
    unroll<vectors>([&](auto j) __attribute__((always_inline)) { acc[m * vectors + j] = Vf32::load(sums + m * sum_step + j * lanes); });
  });
  for (Size s = 0; s < n; ++s, ++p, v += v_step) {
    if constexpr (rows < vectors) {
      Vf32 weight[rows];
      unroll<rows>([&](auto m) __attribute__((always_inline)) { broadcast_from(p + m * p_step, weight[m]); });
      unroll<vectors>([&](auto j) __attribute__((always_inline)) {
        const Vf32 value = Stored::load(v + j * lanes);
        unroll<rows>([&](auto m) __attribute__((always_inline)) { accumulate(acc[m * vectors + j], weight[m], value); });
      });
    } else {
      Vf32 value[vectors];
      unroll<vectors>([&](auto j) __attribute__((always_inline)) { value[j] = Stored::load(v + j * lanes); });
      unroll<rows>([&](auto m) __attribute__((always_inline)) {
        Vf32 weight;
        broadcast_from(p + m * p_step, weight);
        unroll<vectors>([&](auto j) __attribute__((always_inline)) { accumulate(acc[m * vectors + j], weight, value[j]); });
      });
    }
  }
  unroll<rows>([&](auto m) __attribute__((always_inline)) {
    unroll<vectors>([&](auto j) __attribute__((always_inline)) { store(sums + m * sum_step + j * lanes, acc[m * vectors + j]); });
  });
}

template <class Stored>
using WeighKeys = void (*)(Size, const f32*, Size, const typename Stored::Word*, Size, f32*, Size);

template <class Stored>
WeighKeys<Stored> weigh_keys_function(int rows, int vectors) {
  struct Table {
    WeighKeys<Stored> at[most_few_rows][8] = {};
    constexpr Table() {
      unroll_constant<most_few_rows>(
          [this](auto r) { unroll_constant<weigh_vectors(r + 1)>([this, r](auto v) { at[r][v] = weigh_keys<Stored, r + 1, v + 1>; }); });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1][vectors - 1];
}

}  // namespace votive::cpu::VOTIVE_ISA
