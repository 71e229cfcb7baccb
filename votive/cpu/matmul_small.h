// Small products of plain numbers with both operands where they lie: no packing, no scratch, no second fork and join. From 4 × 4, where a call's set-up
// would cost more than its sums, to what a core holds in its nearest caches. One block of k, so one chain of fma per output (CONTRACT.md 4.4).
#pragma once

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul_tile.h"

namespace votive::cpu::VOTIVE_ISA {

/// y[m, n] = a·b; element (i, u) of a is a[i·a_row + u·a_column], rows of b and y are contiguous and b_row, y_row apart.
template <class Dot>
struct SmallProduct {
  using Acc = typename Dot::Acc;
  using Vector = typename Dot::Vector;
  static constexpr int lanes = Vector::lanes;
#if defined(VOTIVE_ISA_v3)
  static constexpr int most_rows = 6;
#elif defined(VOTIVE_ISA_baseline)
  static constexpr int most_rows = 4;
#else
  static constexpr int most_rows = 14;
#endif
  static constexpr int most_columns = 2 * lanes;

  Size m, n, k;
  const Acc* a;
  Size a_row, a_column;
  const Acc* b;
  Size b_row;
  Acc* y;
  Size y_row;

  Size row_tiles() const { return (m + most_rows - 1) / most_rows; }
  Size column_tiles() const { return (n + most_columns - 1) / most_columns; }

  /// Tiles [begin, end), those of the same columns one after the other.
  void run(Size begin, Size end) const {
    const Size tiles = row_tiles();
    for (Size i = begin; i < end; ++i) {
      const Size t = i % tiles, column = i / tiles * most_columns, first = m * t / tiles;
      const int rows = static_cast<int>(m * (t + 1) / tiles - first);
      const int columns = static_cast<int>(n - column < most_columns ? n - column : most_columns);
      table.at[rows - 1][columns > lanes][columns % lanes == 0](*this, first, column, columns);
    }
  }

 private:
  using Tile = void (*)(const SmallProduct&, Size row, Size column, int columns);

  template <int R, int N, bool whole>
  static void tile(const SmallProduct& p, Size row, Size column, int columns) {
    const int last = columns - (N - 1) * lanes;
    // Every third row has a pointer, those between are one and two steps from it: 14 rows in 6 registers.
    constexpr int pointers = (R + 2) / 3;
    const char* a[pointers];
    const Size a_row = p.a_row * Size{sizeof(Acc)}, a_column = p.a_column * Size{sizeof(Acc)};
    unroll<pointers>([&](auto i) __attribute__((always_inline)) { a[i] = reinterpret_cast<const char*>(p.a + (row + 3 * i) * p.a_row); });
    const Acc* b = p.b + column;
    Vector acc[R * N];
    unroll<R * N>([&](auto i) __attribute__((always_inline)) { acc[i] = Vector::zero(); });
    for (Size u = 0; u < p.k; ++u) {
      Vector b_u[N];
      unroll<N>([&](auto j) __attribute__((always_inline)) {
        b_u[j] = whole || j + 1 < N ? Vector::load(b + j * lanes) : Vector::load_part(b + j * lanes, last);
      });
      unroll<R>([&](auto i) __attribute__((always_inline)) {
        Vector a_ui;
        broadcast_from(reinterpret_cast<const Acc*>(a[i / 3] + i % 3 * a_row), a_ui);
        unroll<N>([&](auto j) __attribute__((always_inline)) { Dot::step(acc[i * N + j], a_ui, b_u[j]); });
      });
      unroll<pointers>([&](auto i) __attribute__((always_inline)) { a[i] += a_column; });
      b += p.b_row;
    }
    unroll<R>([&](auto i) __attribute__((always_inline)) {
      Acc* to = p.y + (row + i) * p.y_row + column;
      unroll<N>([&](auto j) __attribute__((always_inline)) {
        if (whole || j + 1 < N) {
          store(to + j * lanes, acc[i * N + j]);
        } else {
          store_part(to + j * lanes, last, acc[i * N + j]);
        }
      });
    });
  }

  struct Table {
    Tile at[most_rows][2][2] = {};
    constexpr Table() {
      unroll_constant<most_rows>([this](auto r) {
        unroll_constant<2>([this, r](auto v) {
          at[r][v][0] = tile<r + 1, v + 1, false>;
          at[r][v][1] = tile<r + 1, v + 1, true>;
        });
      });
    }
  };
  static constexpr Table table{};
};

}  // namespace votive::cpu::VOTIVE_ISA
