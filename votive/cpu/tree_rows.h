// The canonical tree of rows that lie anywhere, a tree for each column: lane after lane from the leaves up, so that no sum is in memory. Not here: rows of
// one matrix, of any number (TreeColumns).
#pragma once

#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size most_gathered_rows = tree_lanes * numerics::tree_group_steps;  // one group: a lane adds its rows one after the other

inline constexpr int gathered_vectors = 4;  // side by side: two lines of a row of f32, and five levels of them in 32 registers

template <class V, bool whole>
[[gnu::always_inline]] inline V load_lanes(const auto* x, [[maybe_unused]] int count) {
  if constexpr (whole) {
    return V::load(x);
  } else {
    return V::load_part(x, count);
  }
}

/// Lanes `lane`, lane + width, … of m rows, joined.
template <class Join, int width, int n, bool whole, class V, class T>
[[gnu::always_inline]] inline void join_lanes_of(const T* const* rows, Size lane, Size m, Size column, int count, V (&sum)[n]) {
  if constexpr (width == tree_lanes) {
    unroll<n>([&](auto j) __attribute__((always_inline)) { sum[j] = load_lanes<V, whole>(rows[lane] + column + j * V::lanes, count); });
    for (Size i = lane + tree_lanes; i < m; i += tree_lanes) {
      unroll<n>([&](auto j) __attribute__((always_inline)) {
        sum[j] = Join::join_vectors(sum[j], load_lanes<V, whole>(rows[i] + column + j * V::lanes, count));
      });
    }
  } else {
    join_lanes_of<Join, 2 * width, n, whole>(rows, lane, m, column, count, sum);
    if (lane + width < m) {
      V other[n];
      join_lanes_of<Join, 2 * width, n, whole>(rows, lane + width, m, column, count, other);
      unroll<n>([&](auto j) __attribute__((always_inline)) { sum[j] = Join::join_vectors(sum[j], other[j]); });
    }
  }
}

template <class Join, int n, bool whole, class T>
[[gnu::noinline]] void join_gathered_columns(const T* const* rows, Size m, Size column, int count, T* result) {
  using V = decltype(Elements<T>::load(result));
  V sum[n];
  join_lanes_of<Join, 1, n, whole>(rows, 0, m, column, count, sum);
  unroll<n>([&](auto j) __attribute__((always_inline)) {
    if constexpr (whole) {
      store(result + column + j * V::lanes, sum[j]);
    } else {
      store_part(result + column + j * V::lanes, count, sum[j]);
    }
  });
}

/// result[c] = the tree over rows[0][c] … rows[m − 1][c], 0 < m ≤ most_gathered_rows. Rows `next`, of which there are `coming`, are fetched meanwhile.
template <class T, class Join>
void tree_of_rows(const T* const* rows, Size m, Size columns, const T* const* next, Size coming, T* result) {
  constexpr Size lanes = decltype(Elements<T>::load(result))::lanes, together = gathered_vectors * lanes;
  constexpr Size line = 64 / static_cast<Size>(sizeof(T));
  const auto fetch = [&](Size from, Size to) {
    for (Size i = 0; i < coming; ++i) {
      for (Size c = from; c < to; c += line) __builtin_prefetch(next[i] + c, 0, 2);
    }
  };
  Size at = 0;
  for (; at + together <= columns; at += together) {
    fetch(at, at + together);
    join_gathered_columns<Join, gathered_vectors, true>(rows, m, at, 0, result);
  }
  fetch(at, columns);
  for (; at + lanes <= columns; at += lanes) join_gathered_columns<Join, 1, true>(rows, m, at, 0, result);
  if (at < columns) join_gathered_columns<Join, 1, false>(rows, m, at, static_cast<int>(columns - at), result);
}

}  // namespace votive::cpu::VOTIVE_ISA
