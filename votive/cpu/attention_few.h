// The two inner loops of attention with few queries: rows of q times keys that lie row by row, and probabilities times values. Accumulators stay in registers,
// one chain per output. Not here: which keys and threads (attention_few.cpp).
#pragma once

#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/simd_half.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(__x86_64__) && !defined(__FMA__)
inline constexpr bool fma_is_long = true;  // some hundred instructions in the place of one: nothing is gained by many of them in a row
#else
inline constexpr bool fma_is_long = false;
#endif

inline constexpr int most_few_rows = fma_is_long ? 2 : 8;

// Keys are touched before they are needed in the order in which they lie: short ones far ahead and in L2 alone, since more lines of L1 are then waited for than
// it can wait for (bf16 of 64 numbers 25 GB/s instead of 14, 2-core Zen 4); longer ones a little ahead in L1.
inline constexpr Size short_key = 128, short_keys_ahead = 16384, key_bytes_ahead = 8192;

// Keys as columns of 32-bit lanes: `each` numbers per lane, `parts` numbers of a query per lane, `columns` of them at a time, a key per lane of `Vector`.

struct KeysF32 {
  using Word = f32;
  using Query = f32;
  using Vector = Vf32Half;
  using Environment = NoEnvironment;
  static constexpr Size each = 1, parts = 1;
  static constexpr int columns = 4;
  static void take(const std::byte* word, f32* to) { std::memcpy(to, word, sizeof(f32)); }
  template <int groups, int columns_apart, class V>
  [[gnu::always_inline]] static void step(V* acc, const V* keys, const f32* query) {
    V q;
    broadcast_from(query, q);
    unroll<groups>([&](auto g) __attribute__((always_inline)) { accumulate(acc[g], q, keys[columns_apart * g]); });
  }
  [[gnu::always_inline]] static void load(const std::byte* p, Size step, Vf32Half* keys) { load_columns<f32>(p, step, keys); }
};

struct KeysF16 : KeysF32 {
  using Word = u16;
  static void take(const std::byte* word, f32* to) { *to = numerics::f16_to_f32(*reinterpret_cast<const u16*>(word)); }
  [[gnu::always_inline]] static void load(const std::byte* p, Size step, Vf32Half* keys) { load_columns<u16>(p, step, keys); }
};

/// Of one row: turned before they are widened, which leaves a longer step but half the shuffles (24 GB/s instead of 16; of three rows 15 instead of 17).
struct KeysF16OfOneRow : KeysF16 {
#if defined(__AVX512F__)
  using Vector = Vf32;
  static constexpr int columns = 8;
  [[gnu::always_inline]] static void load(const std::byte* p, Size step, Vf32* keys) { load_f16_columns(p, step, keys); }
#endif
};

/// Pairs of bf16, the odd element first.
struct KeysBf16 {
  using Word = u16;
  using Vector = Vf32Half;
  static constexpr Size each = 2;
  static constexpr int columns = 4;
  // As the f32 whose bits a pair is.
  [[gnu::always_inline]] static void load(const std::byte* p, Size step, Vf32Half* keys) { load_columns<f32>(p, step, keys); }
#if defined(__AVX512BF16__)
  using Query = f32;
  using Environment = NoEnvironment;
  static constexpr Size parts = 1;
  static void take(const std::byte* word, f32* to) { std::memcpy(to, word, sizeof(f32)); }
  template <int groups, int columns_apart>
  [[gnu::always_inline]] static void step(Vf32Half* acc, const Vf32Half* keys, const f32* query) {
    Vf32Half q;
    broadcast_from(query, q);
    unroll<groups>([&](auto g) __attribute__((always_inline)) { accumulate_bf16(acc[g], q, keys[columns_apart * g]); });
  }
#else
  using Query = f32;
  using Environment = FlushToZero;
  static constexpr Size parts = 2;
  static void take(const std::byte* word, f32* to) {
    const u16* pair = reinterpret_cast<const u16*>(word);
    to[0] = numerics::bf16_to_f32(pair[1]);
    to[1] = numerics::bf16_to_f32(pair[0]);
  }
  template <int groups, int columns_apart>
  [[gnu::always_inline]] static void step(Vf32Half* acc, const Vf32Half* keys, const f32* query) {
    Vf32Half odd, even;
    broadcast_from(query, odd);
    broadcast_from(query + 1, even);
    unroll<groups>([&](auto g) __attribute__((always_inline)) {
      accumulate_flushing(acc[g], odd, odd_bf16(keys[columns_apart * g]));
      accumulate_flushing(acc[g], even, even_bf16(keys[columns_apart * g]));
    });
  }
  [[gnu::always_inline]] static void accumulate_flushing(Vf32Half& acc, Vf32Half a, Vf32Half b) {
#if defined(VOTIVE_ISA_baseline)
    accumulate_flushed(acc, a, b);
#else
    accumulate(acc, a, b);
#endif
  }
#endif
};

/// Groups of keys whose chains run side by side, and how many of them share what is broadcast of a query. For one row a single group, whose chains wait for
/// each other but whose keys lie close together: 16 f32 keys of 64 at once are read at two thirds of bandwidth, 8 at nine tenths (2-core Zen 4);
/// f16 keys, half as long, come 16 at a time. For more rows, what the registers hold beside four columns.
struct KeyGroups {
  int count, sharing;
};
template <class Keys>
using KeysOfOneRow = std::conditional_t<std::is_same_v<Keys, KeysF16>, KeysF16OfOneRow, Keys>;
template <class Keys>
constexpr KeyGroups key_groups(int rows) {
  if (fma_is_long || Keys::Vector::lanes > Vf32Half::lanes) return {1, 1};
#if defined(__AVX512F__)
  return rows == 1 ? KeyGroups{1, 1} : KeyGroups{2, 2};
#else
  return rows == 1 || rows > 5 ? KeyGroups{1, 1} : KeyGroups{2, 1};
#endif
}
template <class Keys>
constexpr Size keys_at_once(int rows) {
  if (rows == 1) return key_groups<KeysOfOneRow<Keys>>(1).count * KeysOfOneRow<Keys>::Vector::lanes;
  return key_groups<Keys>(rows).count * Keys::Vector::lanes;
}
inline constexpr Size most_keys_at_once = 2 * Vf32::lanes;

template <class Keys>
struct KeyRows {
  const std::byte* keys;
  Size step, count;                   // bytes from key to key; at least keys_at_once keys
  Size units;                         // of a key, in lanes
  const typename Keys::Query* query;  // [unit][row][part]
};

/// scores[row·score_step + s] = query row · key s.
template <class Keys, int rows>
void dot_keys(const KeyRows<Keys>& x, f32* scores, Size score_step) {
  using Vector = typename Keys::Vector;
  constexpr int lanes = Vector::lanes, groups = key_groups<Keys>(rows).count, sharing = key_groups<Keys>(rows).sharing,
                width = Keys::columns;
  constexpr Size lane_bytes = Keys::each * static_cast<Size>(sizeof(typename Keys::Word)), columns_bytes = width * lane_bytes;
  constexpr Size query_step = rows * Keys::parts, at_once = Size{groups} * lanes, lines = (at_once * columns_bytes + 63) / 64;
  const typename Keys::Environment environment;
  const bool is_short = x.units * lane_bytes <= short_key;
  for (Size s = 0; s < x.count; s += at_once) {
    if (s + at_once > x.count) s = x.count - at_once;  // the last keys, some of them again
    const std::byte* at = x.keys + s * x.step;
    const std::byte* ahead = at + (is_short ? short_keys_ahead : key_bytes_ahead);
    const typename Keys::Query* query = x.query;
    Vector acc[rows * groups];
    unroll<rows * groups>([&](auto i) __attribute__((always_inline)) { acc[i] = Vector::zero(); });
    const auto add_columns = [&](auto columns, auto load) __attribute__((always_inline)) {
      unroll<groups / sharing>([&](auto share) __attribute__((always_inline)) {
        Vector keys[sharing * width];
        unroll<sharing>([&](auto g) __attribute__((always_inline)) { load(share * sharing + g, keys + width * g); });
        unroll<columns>([&](auto u) __attribute__((always_inline)) {
          unroll<rows>([&](auto m) __attribute__((always_inline)) {
            Keys::template step<sharing, width>(acc + m * groups + share * sharing, keys + u, query + u * query_step + m * Keys::parts);
          });
        });
      });
    };
    Size d = 0;
    for (; d + width <= x.units; d += width) {
      if (is_short) {
        unroll<lines>([&](auto i) __attribute__((always_inline)) { __builtin_prefetch(ahead + i * 64, 0, 2); });
      } else {
        unroll<lines>([&](auto i) __attribute__((always_inline)) { __builtin_prefetch(ahead + i * 64); });
      }
      add_columns(
          std::integral_constant<int, width>{}, [&](auto g, Vector* keys)
                                                    __attribute__((always_inline)) { Keys::load(at + g * lanes * x.step, x.step, keys); });
      at += columns_bytes;
      ahead += at_once * columns_bytes;
      query += width * query_step;
    }
    for (; d < x.units; ++d) {
      add_columns(
          std::integral_constant<int, 1>{}, [&](auto g, Vector* keys) __attribute__((always_inline)) {
            alignas(16) std::byte rest[lanes * columns_bytes] = {};
            for (int i = 0; i < lanes; ++i)
              std::memcpy(rest + i * columns_bytes, at + (g * lanes + i) * x.step, static_cast<std::size_t>(lane_bytes));
            Keys::load(rest, columns_bytes, keys);
          });
      at += lane_bytes;
      query += query_step;
    }
    unroll<rows>([&](auto m) __attribute__((always_inline)) {
      unroll<groups>([&](auto g) __attribute__((always_inline)) { store(scores + m * score_step + s + g * lanes, acc[m * groups + g]); });
    });
  }
}

template <class Keys>
using DotKeys = void (*)(const KeyRows<Keys>&, f32*, Size);
/// Of one row, perhaps with other keys; what a query is does not differ.
template <class Keys>
void dot_one(const KeyRows<Keys>& x, f32* scores, Size score_step) {
  dot_keys<KeysOfOneRow<Keys>, 1>({x.keys, x.step, x.count, x.units, x.query}, scores, score_step);
}

template <class Keys>
DotKeys<Keys> dot_keys_function(int rows) {
  struct Table {
    DotKeys<Keys> at[most_few_rows] = {};
    constexpr Table() {
      at[0] = dot_one<Keys>;
      unroll_constant<most_few_rows - 1>([this](auto m) { at[m + 1] = dot_keys<Keys, m + 2>; });
    }
  };
  static constexpr Table table;
  return table.at[rows - 1];
}

/// Vectors of columns for so many rows: what the registers hold beside the smaller side's operands.
constexpr int weigh_vectors(int rows) {
  if (fma_is_long) return 3 - rows;
#if defined(__AVX512F__)
  return rows <= 3 ? 8 : rows == 4 ? 6 : rows == 5 ? 5 : rows == 6 ? 4 : 3;
#else
  return rows == 1 ? 8 : rows == 2 ? 6 : rows == 3 ? 4 : rows == 4 ? 3 : rows <= 6 ? 2 : 1;
#endif
}

/// sums[row·sum_step + column] continue their chains over n keys: p[row·p_step + s]·v[s·v_step + column]. With each key `lines` more are fetched at `ahead`,
/// where the next piece lies, in the order of the memory, which groups of columns leave.
template <class Stored, int rows, int vectors>
void weigh_keys(Size n, const f32* p, Size p_step, const typename Stored::Word* v, Size v_step, f32* sums, Size sum_step,
                const std::byte* ahead, Size lines) {
  constexpr int lanes = Vf32::lanes;
  Vf32 acc[rows * vectors];
  unroll<rows>([&](auto m) __attribute__((always_inline)) {
    unroll<vectors>([&](auto j) __attribute__((always_inline)) { acc[m * vectors + j] = Vf32::load(sums + m * sum_step + j * lanes); });
  });
  for (Size s = 0; s < n; ++s, ++p, v += v_step) {
    for (Size i = 0; i < lines; ++i, ahead += 64) __builtin_prefetch(ahead, 0, 2);
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
using WeighKeys = void (*)(Size, const f32*, Size, const typename Stored::Word*, Size, f32*, Size, const std::byte*, Size);

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
