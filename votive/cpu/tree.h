// The canonical tree (CONTRACT.md 3.2) in vectors: 32 lanes are 2, 4 or 8 registers, so the order of additions is the same at any width. For sums and
// products, and for minima, maxima and integers too, whose order is free. Rows lie dense; columns are streamed row by row, a tree for each column.
// Not here: which elements belong together (reduce.cpp) and what is done with the result.
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "votive/cpu/types.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size tree_chunk = numerics::tree_chunk, tree_lanes = numerics::tree_lanes;

// What a tree joins with, and the number that changes nothing.

template <class T>
struct Sum {
  static T identity() { return static_cast<T>(-0.0); }
  static T join(T a, T b) { return a + b; }
};
template <class T>
struct Product {
  static T identity() { return T{1}; }
  static T join(T a, T b) { return a * b; }
};
template <class T>
struct Least {
  static T identity() { return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max(); }
  static T join(T a, T b) {
    if constexpr (std::is_same_v<T, f32>)
      return numerics::minimum_f32(a, b);
    else if constexpr (std::is_same_v<T, f64>)
      return numerics::minimum_f64(a, b);
    else
      return a < b ? a : b;
  }
};
template <class T>
struct Greatest {
  static T identity() { return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest(); }
  static T join(T a, T b) {
    if constexpr (std::is_same_v<T, f32>)
      return numerics::maximum_f32(a, b);
    else if constexpr (std::is_same_v<T, f64>)
      return numerics::maximum_f64(a, b);
    else
      return a > b ? a : b;
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
  if constexpr (std::is_floating_point_v<T> && (std::is_same_v<Join, Greatest<T>> || std::is_same_v<Join, Least<T>>)) {
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
template <class T, class Join>
class TreeColumns {
 public:
  static constexpr Size rows_of_memory = 5 * tree_lanes;

  TreeColumns(T* memory, Size width) : memory_(memory), width_(width) {}

  void push(const T* __restrict row) {
    const Size step = rows_ / tree_lanes % numerics::tree_group_steps;
    T* __restrict lane = lanes(0) + rows_ % tree_lanes * width_;
    if (step == 0) {
      for (Size c = 0; c < width_; ++c) lane[c] = row[c];
    } else {
      for (Size c = 0; c < width_; ++c) lane[c] = Join::join(lane[c], row[c]);
    }
    ++rows_;
    if (rows_ % group_rows == 0) close_group(group_rows);
  }

  void fold(T* __restrict result) {
    const Size live = rows_ < tree_lanes ? rows_ : tree_lanes;
    if (rows_ % group_rows != 0) close_group(rows_ % group_rows);
    int level = 1;
    while ((groups_ >> (level - 1) & 1) == 0) ++level;
    T* total = lanes(level);
    for (++level; groups_ >> (level - 1) != 0; ++level) {
      if ((groups_ >> (level - 1) & 1) == 0) continue;
      join_lanes(lanes(level), total, total == lanes(1) ? last_live_ : tree_lanes);
      total = lanes(level);
    }
    for (Size w = 16; w > 0; w /= 2) {
      for (Size l = 0; l < w && l + w < live; ++l) join_lanes_at(total, l, l + w);
    }
    for (Size c = 0; c < width_; ++c) result[c] = total[c];
  }

 private:
  static constexpr Size group_rows = tree_lanes * numerics::tree_group_steps;

  // Level 0 is the group in work, level i holds 2^(i−1) finished groups; eight are a chunk.
  T* lanes(int level) { return memory_ + level * tree_lanes * width_; }

  void join_lanes_at(T* lane, Size l, Size other) {
    T* __restrict a = lane + l * width_;
    const T* __restrict b = lane + other * width_;
    for (Size c = 0; c < width_; ++c) a[c] = Join::join(a[c], b[c]);
  }
  /// a = a ∘ b for the first `live` lanes; the others of b are absent.
  void join_lanes(T* __restrict a, const T* __restrict b, Size live) {
    for (Size i = 0; i < live * width_; ++i) a[i] = Join::join(a[i], b[i]);
  }
  void close_group(Size rows) {
    last_live_ = rows < tree_lanes ? rows : tree_lanes;
    const T* value = lanes(0);
    int level = 1;
    Size live = last_live_;
    for (; (groups_ >> (level - 1) & 1) != 0; ++level) {
      join_lanes(lanes(level), value, live);
      value = lanes(level);
      live = tree_lanes;
    }
    std::memcpy(lanes(level), value, sizeof(T) * static_cast<std::size_t>(live * width_));
    ++groups_;
    if (level > 1) last_live_ = tree_lanes;
  }

  T* memory_;
  Size width_, rows_ = 0, groups_ = 0, last_live_ = tree_lanes;
};

}  // namespace votive::cpu::VOTIVE_ISA
