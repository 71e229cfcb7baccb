// The canonical scan (CONTRACT.md 3.4) in vectors. A line: blocks of 16 lie in the lanes of a register after a transposition, so that many of them are summed
// serially at once; offsets are Blelloch's two sweeps over arrays. Columns: rows are streamed, offsets come from a binary counter of finished subtrees, which is
// the down-sweep read from the top: for every set bit of a block's number, from the highest, the sum of the left subtree it passes.
// Not here: which lines there are (scan.cpp).
#pragma once

#include <algorithm>

#include "votive/cpu/scratch.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size block_elements = 16, blocks_of_chunk = tree_chunk / block_elements;

/// One chunk of a line of floats: sum() it, and then, knowing what comes before it, finish() it.
template <class T, class Join>
class ChunkScan {
 public:
  /// Of n ≤ 4096 elements.
  T sum(const T* x, Size n) {
    constexpr Size together = V::lanes * block_elements;
    Size at = 0;
    for (; at + together <= n; at += together) add_blocks(x + at, at);
    blocks_ = at / block_elements;
    if (at < n) {
      alignas(64) T rest[together];
      std::fill(std::copy(x + at, x + n, rest), rest + together, Join::identity());
      add_blocks(rest, at);
      blocks_ += V::lanes;
    }
    return sweep();
  }
  static constexpr Size at_once = 1024;  // elements that finish() is asked for, but for the last ones
  /// y = what is before the chunk ∘ what is before the block ∘ what the block has so far, for n elements from `first` on, a multiple of at_once.
  void finish(T before, Size first, T* y, Size n) const {
    constexpr Size together = V::lanes * block_elements;
    Size at = 0;
    for (; at + together <= n; at += together) put_blocks(before, first + at, y + at);
    if (at == n) return;
    alignas(64) T rest[together];
    put_blocks(before, first + at, rest);
    std::copy(rest, rest + (n - at), y + at);
  }

 private:
  using V = decltype(Elements<T>::load(nullptr));
  static constexpr Size tiles = block_elements / V::lanes;  // of a register's lanes by as many elements, along a block

  void add_blocks(const T* x, Size at) {
    V sum;
    T* so_far = so_far_ + at;
    for (Size tile = 0; tile < tiles; ++tile) {
      V r[V::lanes];
      unroll<V::lanes>([&](auto j) __attribute__((always_inline)) { r[j] = V::load(x + j * block_elements + tile * V::lanes); });
      transpose(r);
      unroll<V::lanes>([&](auto i) __attribute__((always_inline)) {
        sum = tile == 0 && i == 0 ? r[i] : Join::join_vectors(sum, r[i]);
        store(so_far + (tile * V::lanes + i) * V::lanes, sum);
      });
    }
    store(sums_ + at / block_elements, sum);
  }
  void put_blocks(T before, Size at, T* y) const {
    const V offset = Join::join_vectors(V::broadcast(before), V::load(offsets_ + at / block_elements));
    const T* so_far = so_far_ + at;
    for (Size tile = 0; tile < tiles; ++tile) {
      V r[V::lanes];
      unroll<V::lanes>([&](auto i) __attribute__((always_inline)) {
        r[i] = Join::join_vectors(offset, V::load(so_far + (tile * V::lanes + i) * V::lanes));
      });
      transpose(r);
      unroll<V::lanes>([&](auto j) __attribute__((always_inline)) { store(y + j * block_elements + tile * V::lanes, r[j]); });
    }
  }
  /// offsets_ of all blocks, and the sum of them. Blocks up to the next power of two are identities, which change nothing.
  T sweep() {
    Size leaves = 1;
    while (leaves < blocks_) leaves *= 2;
    std::fill(sums_ + blocks_, sums_ + leaves, Join::identity());
    T* level[9];
    level[0] = sums_;
    int top = 0;
    for (Size m = leaves; m > 1; m /= 2) {
      const T* __restrict from = level[top];
      T* __restrict to = level[++top] = sums_ + 2 * blocks_of_chunk - m;
      for (Size i = 0; i < m / 2; ++i) to[i] = Join::join(from[2 * i], from[2 * i + 1]);
    }
    const T total = *level[top];
    T other[blocks_of_chunk];
    T *parents = (top & 1) != 0 ? other : offsets_, *children = (top & 1) != 0 ? offsets_ : other;
    parents[0] = Join::identity();
    for (Size m = 1; m < leaves; m *= 2) {
      const T* __restrict left = level[--top];
      const T* __restrict from = parents;
      T* __restrict to = children;
      for (Size i = 0; i < m; ++i) {
        to[2 * i] = from[i];
        to[2 * i + 1] = Join::join(from[i], left[2 * i]);
      }
      std::swap(parents, children);
    }
    return total;
  }

  alignas(64) T so_far_[tree_chunk];  // by registers of blocks, then by element
  alignas(64) T sums_[2 * blocks_of_chunk];
  alignas(64) T offsets_[blocks_of_chunk];
  Size blocks_ = 0;
};

/// Sums of 2^i consecutive parts where bit i of the count is set; `width` of them side by side.
template <class T, class Join>
class Before {
 public:
  Before(T* memory, Size width) : subtree_(memory), width_(width) {}
  static Size rows_of_memory(Size parts) {
    Size levels = 1;
    while (parts >> levels != 0) ++levels;
    return levels;
  }

  void clear(Size width) {
    width_ = width;
    count_ = 0;
  }
  /// offset = offset ∘ all that was pushed.
  void join_all(T* __restrict joined, T* __restrict offset) const {
    bool some = false;
    for (int level = 62; level >= 0; --level) {
      if ((count_ >> level & 1) == 0) continue;
      const T* __restrict value = subtree_ + level * width_;
      if (some) {
        for (Size c = 0; c < width_; ++c) joined[c] = Join::join(joined[c], value[c]);
      } else {
        std::copy_n(value, width_, joined);
      }
      some = true;
    }
    if (!some) return;
    for (Size c = 0; c < width_; ++c) offset[c] = Join::join(offset[c], joined[c]);
  }
  /// Overwrites the value.
  void push(T* __restrict value) {
    int level = 0;
    for (; (count_ >> level & 1) != 0; ++level) {
      const T* __restrict left = subtree_ + level * width_;
      for (Size c = 0; c < width_; ++c) value[c] = Join::join(left[c], value[c]);
    }
    std::copy_n(value, width_, subtree_ + level * width_);
    ++count_;
  }
  /// The root, of at least one part: what is absent on the right changes nothing.
  void total(T* __restrict sum) const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    std::copy_n(subtree_ + level * width_, width_, sum);
    for (++level; count_ >> level != 0; ++level) {
      if ((count_ >> level & 1) == 0) continue;
      const T* __restrict left = subtree_ + level * width_;
      for (Size c = 0; c < width_; ++c) sum[c] = Join::join(left[c], sum[c]);
    }
  }

 private:
  T* subtree_;
  Size width_, count_ = 0;
};

/// Scans of columns, row by row.
template <class T, class Join>
class ScanColumns {
 public:
  /// Of n rows, `width` columns at most.
  ScanColumns(Size n, Size width)
      : memory_((4 + block_levels + Before<T, Join>::rows_of_memory(n / tree_chunk)) * width),
        so_far_(memory_.data()),
        offset_(so_far_ + width),
        chunk_offset_(offset_ + width),
        room_(chunk_offset_ + width),
        blocks_(room_ + width, width),
        chunks_(room_ + (1 + block_levels) * width, width) {}

  void begin(Size width) {
    width_ = width;
    row_ = 0;
    blocks_.clear(width);
    chunks_.clear(width);
    std::fill_n(chunk_offset_, width, Join::identity());
  }
  /// Columns first … first + n of the next row.
  void push(const T* __restrict x, Size first, Size n, T* __restrict y) {
    if (first == 0 && row_ % block_elements == 0) begin_block();
    T* __restrict so_far = so_far_ + first;
    const T* __restrict offset = offset_ + first;
    if (row_ % block_elements == 0) {
      for (Size c = 0; c < n; ++c) {
        so_far[c] = x[c];
        y[c] = Join::join(offset[c], x[c]);
      }
    } else {
      for (Size c = 0; c < n; ++c) {
        so_far[c] = Join::join(so_far[c], x[c]);
        y[c] = Join::join(offset[c], so_far[c]);
      }
    }
    if (first + n == width_) ++row_;
  }

 private:
  static constexpr Size block_levels = 9;

  void begin_block() {
    if (row_ > 0) blocks_.push(so_far_);
    if (row_ > 0 && row_ % tree_chunk == 0) {
      blocks_.total(so_far_);
      chunks_.push(so_far_);
      blocks_.clear(width_);
      std::fill_n(chunk_offset_, width_, Join::identity());
      chunks_.join_all(room_, chunk_offset_);
    }
    std::copy_n(chunk_offset_, width_, offset_);
    blocks_.join_all(room_, offset_);
  }

  Scratch<T> memory_;
  T *so_far_, *offset_, *chunk_offset_, *room_;
  Before<T, Join> blocks_, chunks_;
  Size width_ = 0, row_ = 0;
};

}  // namespace votive::cpu::VOTIVE_ISA
