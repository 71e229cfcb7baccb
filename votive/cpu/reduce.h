// What every reduction on the CPU is made of: the elements behind each result in the order of the canonical tree, by a layout whose kept axes come first; where
// neighbours belong to different results, columns are streamed instead. Threads share results or, where these are few, chunks of 4096; the partial results are
// joined by the same tree, so nothing depends on how many threads there were. Not here: which reductions there are (reduce.cpp, statistics.cpp).
#pragma once

#include "votive/base/thread_pool.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

namespace reducing {

inline constexpr Size grain = Size{1} << 15;  // elements read by a thread at least
inline constexpr Size least(Size a, Size b) { return a < b ? a : b; }
inline constexpr Size most(Size a, Size b) { return a > b ? a : b; }

/// The elements behind one result, and where results are: kept axes, then reduced ones, each in logical order and without axes of size 1.
struct Plan {
  Layout kept, reduced, all;
  Size outputs, n, chunks;

  Plan(const Layout& x, std::uint32_t axes) {
    kept.offset = reduced.offset = 0;
    for (int axis = 0; axis < x.rank(); ++axis) {
      if (x.shape[axis] == 1) continue;
      Layout& side = (axes >> axis & 1) != 0 ? reduced : kept;
      side.shape.push_back(x.shape[axis]);
      side.strides.push_back(x.strides[axis]);
    }
    all = kept;
    all.offset = x.offset;
    for (int axis = 0; axis < reduced.rank(); ++axis) {
      all.shape.push_back(reduced.shape[axis]);
      all.strides.push_back(reduced.strides[axis]);
    }
    outputs = kept.count();
    n = reduced.count();
    chunks = (n + tree_chunk - 1) / tree_chunk;
  }

  /// Whether neighbours in memory belong to neighbouring results.
  bool runs_across() const {
    if (kept.rank() == 0 || kept.strides.back() != 1 || kept.shape.back() < 4) return false;
    return reduced.rank() > 0 && reduced.strides.back() != 1;
  }
};

/// What is joined: the elements as they are, or f(element, p[o]) of result o.
struct AsIs {
  static constexpr bool identity = true;
};
template <class T, T (*f)(T x, T p)>
struct Mapped {
  static constexpr bool identity = false;
  const T* p;

  void row(const T* __restrict x, T* __restrict y, Size n, Size o) const {
    const T own = p == nullptr ? T{0} : p[o];
    for (Size i = 0; i < n; ++i) y[i] = f(x[i], own);
  }
  void columns(const T* __restrict x, T* __restrict y, Size n, Size o) const {
    for (Size i = 0; i < n; ++i) y[i] = f(x[i], p == nullptr ? T{0} : p[o + i]);
  }
};

/// partial[o·chunks + k] = the tree of chunk k of result o.
template <class T, class Join, class Map = AsIs>
void reduce_rows(const Tensor& x, const Plan& plan, DType as, T* partial, Map map = {}) {
  const Reader in(x, plan.all, as);
  const Size n = plan.n, chunks = plan.chunks;
  const Size per_unit = least(n, tree_chunk);
  const T* dense = in.dense<T>();
  parallel_for(plan.outputs * chunks, most(1, grain / per_unit), [&](Size begin, Size end) {
    if (chunks > 1 || dense != nullptr) {
      const Scratch<T> room(dense != nullptr ? 0 : tree_chunk), mapped(Map::identity ? 0 : per_unit);
      for (Size unit = begin; unit < end; ++unit) {
        const Size k = unit % chunks * tree_chunk, at = unit / chunks * n + k;
        const Size m = least(n - k, tree_chunk);
        const T* values = dense != nullptr ? dense + at : in.read<T>(at, m, room.data());
        if constexpr (!Map::identity) {
          map.row(values, mapped.data(), m, unit / chunks);
          values = mapped.data();
        }
        partial[unit] = tree_leaf<T, Join>(values, m);
      }
      return;
    }
    const Size rows = most(1, tree_chunk / n);  // short rows are read together
    const Scratch<T> room(rows * n), mapped(Map::identity ? 0 : n);
    for (Size o = begin; o < end; o += rows) {
      const Size m = least(rows, end - o);
      const T* values = in.read<T>(o * n, m * n, room.data());
      for (Size i = 0; i < m; ++i) {
        if constexpr (Map::identity) {
          partial[o + i] = tree_leaf<T, Join>(values + i * n, n);
        } else {
          map.row(values + i * n, mapped.data(), n, o + i);
          partial[o + i] = tree_leaf<T, Join>(mapped.data(), n);
        }
      }
    }
  });
}

inline constexpr Size columns_at_once = 128;
inline constexpr Size rows_ahead = 16;  // pieces of 512 bytes in different pages: the hardware does not see where the next one is

/// partial[(outer·chunks + k)·C + c]: results along the last kept axis (C of them) stay neighbours.
template <class T, class Join, class Map = AsIs>
void reduce_columns(const Tensor& x, const Plan& plan, DType as, T* partial, Map map = {}) {
  const Size C = plan.kept.shape.back();
  const Size blocks = (C + columns_at_once - 1) / columns_at_once;
  const Conversion convert(x.dtype(), as);
  const Size bytes = block_bytes(x.dtype());
  Layout outer = plan.kept;
  outer.shape.erase(outer.rank() - 1);
  outer.strides.erase(outer.strides.rank() - 1);
  outer.offset = plan.all.offset;
  const Walk<1> outer_walk({&outer});
  const Walk<1> row_walk({&plan.reduced});
  const Size step = row_walk.step(0);
  const Size work = least(plan.n, tree_chunk) * least(C, columns_at_once);
  parallel_for(outer.count() * plan.chunks * blocks, most(1, grain / work), [&](Size begin, Size end) {
    const Scratch<T> memory(TreeColumns<T, Join>::rows_of_memory * columns_at_once);
    alignas(64) T converted[columns_at_once];
    alignas(64) T mapped[columns_at_once];
    for (Size unit = begin; unit < end; ++unit) {
      const Size c = unit % blocks * columns_at_once;
      const Size slice = unit / blocks;  // outer·chunks + k
      const Size k = slice % plan.chunks * tree_chunk;
      const Size width = least(columns_at_once, C - c);
      Size start = c;
      outer_walk.for_each_run(slice / plan.chunks, slice / plan.chunks + 1, [&](const std::array<Size, 1>& at, Size) { start += at[0]; });
      const std::byte* from = x.buffer() + start * bytes;
      TreeColumns<T, Join> tree(memory.data(), width);
      row_walk.for_each_run(k, least(plan.n, k + tree_chunk), [&](const std::array<Size, 1>& at, Size m) {
        for (Size i = 0; i < m; ++i) {
          const std::byte* row = from + (at[0] + i * step) * bytes;
          for (Size ahead = 0; ahead < width * bytes; ahead += 64) __builtin_prefetch(row + rows_ahead * step * bytes + ahead);
          const T* values = reinterpret_cast<const T*>(row);
          if (!convert.is_identity()) {
            convert(row, reinterpret_cast<std::byte*>(converted), width);
            values = converted;
          }
          if constexpr (!Map::identity) {
            map.columns(values, mapped, width, slice / plan.chunks * C + c);
            values = mapped;
          }
          tree.push(values);
        }
      });
      tree.fold(partial + slice * C + c);
    }
  });
}

/// One T per result, in the order of the kept axes.
template <class T, class Join, class Map = AsIs>
void reduce_all(const Tensor& x, const Plan& plan, DType as, T* results, Map map = {}) {
  if (plan.n == 0) {
    const T nothing = std::is_same_v<Join, Sum<T>> ? T{0} : Join::identity();
    for (Size i = 0; i < plan.outputs; ++i) results[i] = nothing;
    return;
  }
  const bool columns = plan.runs_across();
  const Size chunks = plan.chunks;
  const Scratch<T> memory(chunks > 1 ? plan.outputs * chunks : 0);
  T* partial = chunks > 1 ? memory.data() : results;
  if (columns) {
    reduce_columns<T, Join, Map>(x, plan, as, partial, map);
  } else {
    reduce_rows<T, Join, Map>(x, plan, as, partial, map);
  }
  if (chunks == 1) return;
  const Size C = columns ? plan.kept.shape.back() : 1;
  for (Size o = 0; o < plan.outputs; ++o) results[o] = tree_combine<T, Join>(partial + o / C * chunks * C + o % C, chunks, C);
}

/// One value per result, of dtype `from`, to y.
inline void put(const void* results, DType from, Tensor& y) {
  const Size count = y.count();
  std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(y.dtype());
  const std::byte* values = static_cast<const std::byte*>(results);
  const Conversion convert(from, y.dtype());
  if (convert.is_identity()) {
    std::memcpy(to, values, static_cast<std::size_t>(count * block_bytes(from)));
  } else {
    convert(values, to, count);
  }
}

}  // namespace reducing

}  // namespace votive::cpu::VOTIVE_ISA
