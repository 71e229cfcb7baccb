// Indices of any integer dtype and layout as checked positions, all of them before a kernel writes anything (CONTRACT.md 5.2).
#pragma once

#include <atomic>

#include "votive/base/thread_pool.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/index.h"

namespace votive::cpu::VOTIVE_ISA {

/// Positions in [0, n), in row-major order of the indices; negative ones count from the end where the range says so. The error names the lowest bad one.
class Positions {
 public:
  Positions(const IndexRange& range, const Tensor& indices) : memory_(indices.count()) {
    const i64 low = range.low(indices.dtype()), n = range.n;
    const Reader in(indices, indices.layout(), DType::i64);
    const Size tiles = (indices.count() + tile_size - 1) / tile_size;
    std::atomic<Size> first_bad{indices.count()};
    parallel_for(tiles, 16, [&](Size begin, Size end) {
      for (Size tile = begin; tile < end; ++tile) {
        const Size at = tile * tile_size, m = indices.count() - at < tile_size ? indices.count() - at : tile_size;
        i64* place = memory_.data() + at;
        const i64* values = in.read<i64>(at, m, place);
        bool bad = false;  // a u64 past 2⁶³ is negative here, and refused as it should be
        for (Size i = 0; i < m; ++i) {
          const i64 v = values[i];
          bad |= (v < low) | (v >= n);
          place[i] = v < 0 ? v + n : v;
        }
        if (!bad) continue;
        Size lowest = first_bad.load();
        while (at < lowest && !first_bad.compare_exchange_weak(lowest, at)) {}
      }
    });
    if (const Size at = first_bad.load(); at != indices.count()) refuse(range, indices, in, at);
  }
  const i64* data() const { return memory_.data(); }
  /// Calls change(i, position) and keeps what it gives, for every position of a range.
  template <class Change>
  void replace(Size begin, Size end, Change change) {
    for (Size i = begin; i < end; ++i) memory_[i] = change(i, memory_[i]);
  }
  i64 operator[](Size i) const { return memory_[i]; }

 private:
  [[noreturn]] void refuse(const IndexRange& range, const Tensor& indices, const Reader& in, Size at) {
    const i64* values = in.read<i64>(at, indices.count() - at < tile_size ? indices.count() - at : tile_size, memory_.data());
    Size i = 0;
    while (values[i] >= range.low(indices.dtype()) && values[i] < range.n) ++i;
    refuse_index(range, indices, at + i, values[i]);
  }

  Scratch<i64> memory_;
};

}  // namespace votive::cpu::VOTIVE_ISA
