// Indices of any integer dtype and layout as checked positions, all of them before a kernel writes anything (CONTRACT.md 5.2).
#pragma once

#include <atomic>
#include <optional>

#include "votive/base/thread_pool.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/index.h"

namespace votive::cpu::VOTIVE_ISA {

/// Positions in [0, n), in row-major order of the indices; negative ones count from the end where the range says so. The error names the lowest bad one.
/// Dense i64 of which none is negative are left where they lie, unless they are to be changed.
class Positions {
 public:
  Positions(const IndexRange& range, const Tensor& indices, bool to_change = false) {
    const Reader in(indices, indices.layout(), DType::i64);
    const i64 low = range.low(indices.dtype()), n = range.n;
    if (const i64* given = in.dense<i64>(); given != nullptr && !to_change) {
      std::atomic<bool> any_below{false};
      check(range, indices, in, [&](Size at, Size m) {
        i64 least = 0, most = 0;
        for (Size i = at; i < at + m; ++i) {
          least = given[i] < least ? given[i] : least;
          most = given[i] > most ? given[i] : most;
        }
        if (least < 0) any_below.store(true, std::memory_order_relaxed);
        return least < low || most >= n;
      });
      if (!any_below.load(std::memory_order_relaxed)) {
        positions_ = given;
        return;
      }
    }
    positions_ = own_.emplace(indices.count()).data();
    check(range, indices, in, [&](Size at, Size m) {
      i64* place = own_->data() + at;
      const i64* values = in.read<i64>(at, m, place);
      bool bad = false;  // a u64 past 2⁶³ is negative here, and refused as it should be
      for (Size i = 0; i < m; ++i) {
        const i64 v = values[i];
        bad |= (v < low) | (v >= n);
        place[i] = v < 0 ? v + n : v;
      }
      return bad;
    });
  }
  const i64* data() const { return positions_; }
  i64 operator[](Size i) const { return positions_[i]; }
  /// Calls change(i, position) and keeps what it gives, for every position of a range.
  template <class Change>
  void replace(Size begin, Size end, Change change) {
    for (Size i = begin; i < end; ++i) (*own_)[i] = change(i, positions_[i]);
  }

 private:
  /// Calls is_bad(first, count) for tiles of indices, and refuses the first of a tile that is.
  template <class IsBad>
  static void check(const IndexRange& range, const Tensor& indices, const Reader& in, IsBad is_bad) {
    const Size count = indices.count();
    std::atomic<Size> first_bad{count};
    parallel_for((count + tile_size - 1) / tile_size, 16, [&](Size begin, Size end) {
      for (Size at = begin * tile_size; at < end * tile_size && at < count; at += tile_size) {
        if (!is_bad(at, count - at < tile_size ? count - at : tile_size)) continue;
        Size lowest = first_bad.load();
        while (at < lowest && !first_bad.compare_exchange_weak(lowest, at)) {}
      }
    });
    if (const Size at = first_bad.load(); at != count) refuse(range, indices, in, at);
  }

  [[noreturn]] static void refuse(const IndexRange& range, const Tensor& indices, const Reader& in, Size at) {
    const Size n = indices.count() - at < tile_size ? indices.count() - at : tile_size;
    const Scratch<i64> room(n);
    const i64* values = in.read<i64>(at, n, room.data());
    Size i = 0;
    while (values[i] >= range.low(indices.dtype()) && values[i] < range.n) ++i;
    refuse_index(range, indices, at + i, values[i]);
  }

  const i64* positions_;
  std::optional<Scratch<i64>> own_;
};

}  // namespace votive::cpu::VOTIVE_ISA
