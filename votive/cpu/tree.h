// The canonical tree (CONTRACT.md 3.2) in vectors: 32 lanes are 2, 4 or 8 registers, so the order of additions is the same at any width. For sums and
// products, and for minima, maxima and integers too, whose order is free. Elements are read as they are stored and widened on the way into the lanes. Rows lie
// dense; columns are streamed row by row, a tree for each column. Not here: which elements belong together (reduce.h) and what is done with the result.
#pragma once

#include <type_traits>
#include <utility>

#include "votive/cpu/joins.h"
#include "votive/numerics/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size tree_chunk = numerics::tree_chunk, tree_lanes = numerics::tree_lanes;

/// The tree's 32 lanes in registers.
template <class V>
struct LaneRegisters {
  static constexpr int registers = tree_lanes / V::lanes;
  V r[registers];

  template <class From>
  [[gnu::always_inline]] static LaneRegisters load(const typename From::Storage* x) {
    LaneRegisters lanes;
    unroll<registers>([&](auto i) __attribute__((always_inline)) { lanes.r[i] = From::load(x + i * V::lanes); });
    return lanes;
  }
  template <class Join>
  [[gnu::always_inline]] static LaneRegisters join(const LaneRegisters& a, const LaneRegisters& b) {
    LaneRegisters lanes;
    unroll<registers>([&](auto i) __attribute__((always_inline)) { lanes.r[i] = Join::join_vectors(a.r[i], b.r[i]); });
    return lanes;
  }
};

/// lane[l] of `steps` ≤ 16 full rows of 32: one group, in step order.
template <class T, class Join>
inline void tree_group(const T* __restrict x, Size steps, T* __restrict lane) {
  T acc[tree_lanes];
  for (Size l = 0; l < tree_lanes; ++l) acc[l] = x[l];
  for (Size s = 1; s < steps; ++s) {
    for (Size l = 0; l < tree_lanes; ++l) acc[l] = Join::join(acc[l], x[s * tree_lanes + l]);
  }
  for (Size l = 0; l < tree_lanes; ++l) lane[l] = acc[l];
}

template <class T, class Join>
inline T tree_fold_lanes(T* lane) {
  for (Size l = 0; l < 16; ++l) lane[l] = Join::join(lane[l], lane[l + 16]);
  for (Size l = 0; l < 8; ++l) lane[l] = Join::join(lane[l], lane[l + 8]);
  for (Size l = 0; l < 4; ++l) lane[l] = Join::join(lane[l], lane[l + 4]);
  return Join::join(Join::join(lane[0], lane[2]), Join::join(lane[1], lane[3]));
}

/// One chunk of floats, 0 < n ≤ 4096. What is absent is the identity: groups of a chunk join as the bits of a counter carry, which is the same. Steps are
/// a loop on purpose: all unrolled, g++ reads the first register's lines of a group before the second's, and the prefetcher sees no stream (0.7 of read
/// bandwidth instead of 0.97, 2-core Zen 4).
template <class From, class Join>
inline typename From::T tree_of_registers(const typename From::Storage* x, Size n) {
  using T = typename From::T;
  using V = decltype(From::load(x));
  using Lanes = LaneRegisters<V>;
  constexpr Size group = tree_lanes * numerics::tree_group_steps;
  Lanes level[4];
  unsigned groups = 0;
  for (Size at = 0; at < n; at += group) {
    const Size m = n - at < group ? n - at : group, steps = m / tree_lanes, part = m % tree_lanes;
    const typename From::Storage* p = x + at;
    Lanes lanes;
    if (steps > 0) lanes = Lanes::template load<From>(p);
    Size s = 1;
    for (; s + 3 <= steps; s += 3) {
      unroll<3>([&](auto i) __attribute__((always_inline)) {
        lanes = Lanes::template join<Join>(lanes, Lanes::template load<From>(p + (i + 1) * tree_lanes));
      });
      p += 3 * tree_lanes;
    }
    for (; s < steps; ++s) {
      p += tree_lanes;
      lanes = Lanes::template join<Join>(lanes, Lanes::template load<From>(p));
    }
    if (part > 0) {
      alignas(64) T last[tree_lanes];
      for (Size l = 0; l < tree_lanes; ++l) last[l] = Join::identity();
      for (Size l = 0; l < part; ++l) last[l] = From::one(x[at + steps * tree_lanes + l]);
      const Lanes rest = Lanes::template load<Elements<T>>(last);
      lanes = steps > 0 ? Lanes::template join<Join>(lanes, rest) : rest;
    }
    int l = 0;
    for (; (groups >> l & 1) != 0; ++l) lanes = Lanes::template join<Join>(level[l], lanes);
    level[l] = lanes;
    ++groups;
  }
  int l = 0;
  while ((groups >> l & 1) == 0) ++l;
  Lanes total = level[l];
  for (++l; groups >> l != 0; ++l) {
    if ((groups >> l & 1) != 0) total = Lanes::template join<Join>(level[l], total);
  }
  alignas(64) T lane[tree_lanes];
  unroll<Lanes::registers>([&](auto i) { store(lane + i * V::lanes, total.r[i]); });
  return tree_fold_lanes<T, Join>(lane);
}

/// One chunk, 0 < n ≤ 4096, of dense elements. Absent ones are the identity.
template <class T, class Join>
inline T tree_of_lanes(const T* x, Size n) {
  constexpr Size group = tree_lanes * numerics::tree_group_steps;
  alignas(64) T lane[8][tree_lanes];
  Size groups = 0;
  Size at = 0;
  for (; at + group <= n; at += group) tree_group<T, Join>(x + at, numerics::tree_group_steps, lane[groups++]);
  if (const Size rest = n - at; rest > 0) {
    const Size steps = rest / tree_lanes, part = rest % tree_lanes;
    T* last = lane[groups++];
    if (steps > 0) {
      tree_group<T, Join>(x + at, steps, last);
    } else {
      for (Size l = 0; l < tree_lanes; ++l) last[l] = Join::identity();
    }
    for (Size l = 0; l < part; ++l) last[l] = steps > 0 ? Join::join(last[l], x[at + steps * tree_lanes + l]) : x[at + l];
  }
  if (groups > 2) {
    for (Size k = groups; k < 8; ++k) {
      for (Size l = 0; l < tree_lanes; ++l) lane[k][l] = Join::identity();
    }
    for (Size l = 0; l < tree_lanes; ++l) {
      lane[0][l] = Join::join(Join::join(Join::join(lane[0][l], lane[1][l]), Join::join(lane[2][l], lane[3][l])),
                              Join::join(Join::join(lane[4][l], lane[5][l]), Join::join(lane[6][l], lane[7][l])));
    }
  } else if (groups == 2) {
    for (Size l = 0; l < tree_lanes; ++l) lane[0][l] = Join::join(lane[0][l], lane[1][l]);
  }
  return tree_fold_lanes<T, Join>(lane[0]);
}

/// The extreme of n dense floats. Plain comparisons first; a NaN, or a zero whose sign they do not see, is looked for only when there is one
/// (0.09 ns per element against 0.3 with minimum() and maximum() themselves).
template <class T, class Join>
inline T extreme_leaf(const T* x, Size n) {
  constexpr Size width = 2 * tree_lanes;
  constexpr bool largest = std::is_same_v<Join, Greatest<T>>;
  T lane[width];
  int ordered[width];
  for (Size l = 0; l < width; ++l) {
    lane[l] = Join::identity();
    ordered[l] = 1;
  }
  Size i = 0;
  for (; i + width <= n; i += width) {
    for (Size l = 0; l < width; ++l) {
      const T v = x[i + l];
      lane[l] = (largest ? v > lane[l] : v < lane[l]) ? v : lane[l];
      ordered[l] &= v == v;
    }
  }
  for (Size l = 0; i + l < n; ++l) {
    lane[l] = (largest ? x[i + l] > lane[l] : x[i + l] < lane[l]) ? x[i + l] : lane[l];
    ordered[l] &= x[i + l] == x[i + l];
  }
  T extreme = lane[0];
  int all_ordered = 1;
  for (Size l = 0; l < width; ++l) {
    extreme = (largest ? lane[l] > extreme : lane[l] < extreme) ? lane[l] : extreme;
    all_ordered &= ordered[l];
  }
  if (all_ordered != 0 && extreme != 0) return extreme;
  return tree_of_lanes<T, Join>(x, n);
}

/// One chunk, 0 < n ≤ 4096, of dense elements.
template <class T, class Join>
inline T tree_leaf(const T* x, Size n) {
  if constexpr (Join::in_vectors) {
    return tree_of_registers<Elements<T>, Join>(x, n);
  } else if constexpr (std::is_floating_point_v<T>) {
    return extreme_leaf<T, Join>(x, n);
  } else {
    return tree_of_lanes<T, Join>(x, n);
  }
}

/// Chunk results in order to one: the recursive split at the largest power of two below the count, as a binary counter carries.
template <class T, class Join>
class UpperTree {
 public:
  void push(T value) {
    int level = 0;
    for (; (count_ >> level & 1) != 0; ++level) value = Join::join(subtree_[level], value);
    subtree_[level] = value;
    ++count_;
  }
  T total() const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    T value = subtree_[level];
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) != 0) value = Join::join(subtree_[level], value);
    }
    return value;
  }

 private:
  Size count_ = 0;
  T subtree_[52] = {};  // 2⁶³ elements
};

/// `count` > 0 chunk results, `step` apart.
template <class T, class Join>
inline T tree_combine(const T* chunk, Size count, Size step = 1) {
  UpperTree<T, Join> tree;
  for (Size i = 0; i < count; ++i) tree.push(chunk[i * step]);
  return tree.total();
}

/// The canonical sum of n dense elements on this thread;  of none, +0.
template <class T>
inline T tree_sum(const T* x, Size n) {
  if (n == 0) return T{0};
  if (n <= tree_chunk) return tree_leaf<T, Sum<T>>(x, n);
  UpperTree<T, Sum<T>> tree;
  for (Size at = 0; at < n; at += tree_chunk) tree.push(tree_leaf<T, Sum<T>>(x + at, n - at < tree_chunk ? n - at : tree_chunk));
  return tree.total();
}

/// Columns of one chunk: push rows 0, 1, … (at most 4096) of `width` elements, then fold. Memory: 160 rows of `width`.
template <class T, class Join, class From = Elements<T>>
class TreeColumns {
 public:
  using Storage = typename From::Storage;
  static constexpr Size rows_of_memory = 5 * tree_lanes;
  static constexpr Size rows_together = 4 * tree_lanes;

  TreeColumns(T* memory, Size width) : width_(width) {
    for (int i = 0; i < 5; ++i) level_[i] = memory + i * tree_lanes * width;
  }

  void push(const Storage* row) {
    join_steps<1>(level_[0] + rows_ % tree_lanes * width_, row, 0, width_);
    pushed(1);
  }
  /// As many rows as there are, `step` elements apart. Four steps of a lane at once: its sums are in memory, and seldom in L1 (0.85 of read bandwidth instead
  /// of 0.55, 2-core Zen 4, rows of 16 KiB).
  void push(const Storage* row, Size step, Size rows) {
    for (; rows > 0 && rows_ % rows_together != 0; --rows, row += step) push(row);
    for (; rows >= rows_together; rows -= rows_together, row += rows_together * step) {
      if (step == width_) {  // the 32 lanes are one long row
        join_steps<4>(level_[0], row, tree_lanes * step, tree_lanes * width_);
      } else {
        for (Size l = 0; l < tree_lanes; ++l) join_steps<4>(level_[0] + l * width_, row + l * step, tree_lanes * step, width_);
      }
      pushed(rows_together);
    }
    for (; rows > 0; --rows, row += step) push(row);
  }

  void fold(T* __restrict result) {
    const Size live = rows_ < tree_lanes ? rows_ : tree_lanes;
    fold_lanes(lanes(), width_, width_, live, result);
  }
  /// The 32 lanes of all rows; those that had none are not written. No more rows after this.
  T* lanes() {
    if (rows_ % group_rows != 0) close_group(rows_ % group_rows);
    int level = 1;
    while ((groups_ >> (level - 1) & 1) == 0) ++level;
    T* total = level_[level];
    Size live = level == 1 ? last_live_ : tree_lanes;
    for (++level; groups_ >> (level - 1) != 0; ++level) {
      if ((groups_ >> (level - 1) & 1) == 0) continue;
      join_lanes(level_[level], total, live * width_);
      total = level_[level];
      live = tree_lanes;
    }
    return total;
  }

  /// a = a ∘ b, n elements.
  static void join_lanes(T* __restrict a, const T* __restrict b, Size n) {
    for (Size i = 0; i < n; ++i) a[i] = Join::join(a[i], b[i]);
  }
  /// The first `live` of 32 lanes to one, each of `width` elements and `step` apart.
  static void fold_lanes(T* lane, Size step, Size width, Size live, T* __restrict result) {
    for (Size w = 16; w > 0; w /= 2) {
      for (Size l = 0; l < w && l + w < live; ++l) join_lanes(lane + l * step, lane + (l + w) * step, width);
    }
    for (Size c = 0; c < width; ++c) result[c] = lane[c];
  }

 private:
  static constexpr Size group_rows = tree_lanes * numerics::tree_group_steps;

  /// `steps` rows, `apart` from each other, to the sums of their lane, or of all lanes; the first of a group begin them.
  template <int steps>
  void join_steps(T* __restrict sums, const Storage* __restrict row, Size apart, Size n) const {
    const bool begin = rows_ % group_rows < tree_lanes;
    Size i = 0;
    if constexpr (Join::in_vectors) {
      using V = decltype(From::load(row));
      for (; i + V::lanes <= n; i += V::lanes) {
        V v = From::load(row + i);
        if (!begin) v = Join::join_vectors(V::load(sums + i), v);
        unroll<steps - 1>([&](auto s) __attribute__((always_inline)) { v = Join::join_vectors(v, From::load(row + (s + 1) * apart + i)); });
        store(sums + i, v);
      }
    }
    for (; i < n; ++i) {
      T v = From::one(row[i]);
      if (!begin) v = Join::join(sums[i], v);
      for (int s = 1; s < steps; ++s) v = Join::join(v, From::one(row[s * apart + i]));
      sums[i] = v;
    }
  }
  void pushed(Size rows) {
    rows_ += rows;
    if (rows_ % group_rows == 0) close_group(group_rows);
  }
  void close_group(Size rows) {
    Size live = rows < tree_lanes ? rows : tree_lanes;
    int at = 0;  // where the sum of all that is joined so far lies
    for (; (groups_ >> at & 1) != 0; ++at) {
      join_lanes(level_[at + 1], level_[at], live * width_);
      live = tree_lanes;
    }
    std::swap(level_[at], level_[at + 1]);
    ++groups_;
    last_live_ = live;
  }

  T* level_[5];  // level 0 is the group in work, level i holds 2^(i−1) finished groups; eight are a chunk
  Size width_, rows_ = 0, groups_ = 0, last_live_ = tree_lanes;
};

}  // namespace votive::cpu::VOTIVE_ISA
