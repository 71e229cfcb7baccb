// What every reduction on the CPU is made of: the elements behind each result in the order of the canonical tree, by a layout whose kept axes come first; where
// neighbours belong to different results, columns are streamed instead. Threads share results or, where these are few, chunks of 4096 and whole groups of a
// chunk; the partial results are joined by the same tree, so nothing depends on how many threads there were.
// Not here: which reductions there are (reduce.cpp, statistics.cpp), and those whose order is free (order_free.h).
#pragma once

#include <algorithm>
#include <cstring>

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

/// The results along the last kept axis, `width` at a time, as columns of rows: result o·C + c is column c of slice o. Wide enough for long runs of memory,
/// since what the hardware reads ahead past the end of one is lost.
class Columns {
 public:
  static constexpr Size widest = 4096;

  Columns(const Plan& plan, Size width)
      : C(plan.kept.shape.back()),
        width_(least(width, C)),
        outer_(without_last(plan)),
        outer_walk_({&outer_}),
        row_walk_({&plan.reduced}) {}

  const Size C;
  Size blocks() const { return (C + width_ - 1) / width_; }
  Size slices() const { return outer_.count(); }
  Size first(Size block) const { return block * width_; }
  Size width(Size block) const { return least(width_, C - first(block)); }

  /// Calls body(at, step, m) for rows [begin, end) from column c on, in their order: m rows, the first at element `at` of the buffer, `step` elements apart.
  template <class Body>
  void for_each_run(Size slice, Size c, Size begin, Size end, Body body) const {
    Size start = c;
    outer_walk_.for_each_run(slice, slice + 1, [&](const std::array<Size, 1>& at, Size) { start += at[0]; });
    row_walk_.for_each_run(begin, end, [&](const std::array<Size, 1>& at, Size m) { body(start + at[0], row_walk_.step(0), m); });
  }

 private:
  static Layout without_last(const Plan& plan) {
    Layout outer = plan.kept;
    outer.shape.erase(outer.rank() - 1);
    outer.strides.erase(outer.strides.rank() - 1);
    outer.offset = plan.all.offset;
    return outer;
  }

  Size width_;
  Layout outer_;
  Walk<1> outer_walk_, row_walk_;
};

/// What is joined: the elements as they are, or f(element, p[o]) of result o. leaf() is the tree of a chunk; `room` has space for one.
struct AsIs {
  static constexpr bool identity = true;

  template <class From, class Join>
  static auto leaf(const typename From::Storage* x, Size n, typename From::T*, Size) {
    if constexpr (Join::in_vectors) {
      return tree_of_registers<From, Join>(x, n);
    } else {
      return tree_leaf<typename From::T, Join>(x, n);
    }
  }
};
template <class T, T (*f)(T x, T p)>
struct Mapped {
  static constexpr bool identity = false;
  const T* p;

  void columns(const T* __restrict x, T* __restrict y, Size n, Size o) const {
    for (Size i = 0; i < n; ++i) y[i] = f(x[i], p == nullptr ? T{0} : p[o + i]);
  }
  template <class From, class Join>
  T leaf(const T* __restrict x, Size n, T* __restrict room, Size o) const {
    const T own = p == nullptr ? T{0} : p[o];
    for (Size i = 0; i < n; ++i) room[i] = f(x[i], own);
    return tree_leaf<T, Join>(room, n);
  }
};

/// partial[o·chunks + k] = the tree of chunk k of result o. Elements are read as dtype `read`, which From takes.
template <class T, class Join, class From, class Map>
void reduce_rows(const Tensor& x, const Plan& plan, DType read, T* partial, Map map) {
  using Storage = typename From::Storage;
  constexpr Size worth_its_own_read = 256;
  const Reader in(x, plan.all, read);
  const Size n = plan.n, chunks = plan.chunks;
  const Size per_unit = least(n, tree_chunk);
  const Size together = chunks > 1 || n >= worth_its_own_read ? 1 : tree_chunk / n;  // short rows are read together
  parallel_for(plan.outputs * chunks, most(1, grain / per_unit), [&](Size begin, Size end) {
    const Scratch<Storage> room(together * per_unit);
    const Scratch<T> mapped(Map::identity ? 0 : per_unit);
    for (Size unit = begin; unit < end; unit += together) {
      const Size units = least(together, end - unit), k = unit % chunks * tree_chunk;
      const Size m = least(n - k, tree_chunk);
      const Storage* values = in.read<Storage>(unit / chunks * n + k, units * m, room.data());
      for (Size i = 0; i < units; ++i)
        partial[unit + i] = map.template leaf<From, Join>(values + i * m, m, mapped.data(), (unit + i) / chunks);
    }
  });
}

/// partial[(slice·chunks + k)·C + c], results along the last kept axis as neighbours; of elements as they lie. Where there are fewer columns and chunks than
/// threads, threads share the groups of a chunk: aligned halves, quarters or eighths of it, whose lanes are joined before they are folded.
template <class T, class Join, class From>
void reduce_columns(const Tensor& x, const Plan& plan, T* partial) {
  using Storage = typename From::Storage;
  using Tree = TreeColumns<T, Join, From>;
  constexpr Size group_rows = tree_lanes * numerics::tree_group_steps;
  const Storage* elements = reinterpret_cast<const Storage*>(x.buffer());
  const Columns columns(plan, Columns::widest);
  const Size C = columns.C, blocks = columns.blocks(), units = columns.slices() * plan.chunks * blocks;
  const Size rows = least(plan.n, tree_chunk);
  Size parts = 1;
  while (parts < 8 && units * parts < threads() && rows > parts * group_rows && rows * least(C, Columns::widest) / parts > grain)
    parts *= 2;
  const Size part_rows = tree_chunk / parts, present = (rows + part_rows - 1) / part_rows, width = columns.width(0);
  const Scratch<T> lanes(parts > 1 ? units * present * tree_lanes * width : 0);
  const auto lanes_of = [&](Size unit, Size part) { return lanes.data() + (unit * present + part) * tree_lanes * width; };
  const auto place_of = [&](Size unit) { return partial + unit / blocks * C + columns.first(unit % blocks); };
  parallel_for(units * present, most(1, grain / (least(rows, part_rows) * width)), [&](Size begin, Size end) {
    const Scratch<T> memory(Tree::rows_of_memory * width);
    for (Size i = begin; i < end; ++i) {
      const Size unit = i / present, part = i % present, block = unit % blocks, slice = unit / blocks;
      const Size k = slice % plan.chunks * tree_chunk, w = columns.width(block);
      const Size first = k + part * part_rows, last = least(least(plan.n, k + tree_chunk), first + part_rows);
      Tree tree(memory.data(), w);
      if (first < last) {
        columns.for_each_run(slice / plan.chunks, columns.first(block), first, last,
                             [&](Size at, Size step, Size m) { tree.push(elements + at, step, m); });
      }
      if (parts == 1) {
        tree.fold(place_of(unit));
        continue;
      }
      T* own = lanes_of(unit, part);
      const Size live = least(tree_lanes, most(0, last - first)) * w;
      if (live > 0) std::copy_n(tree.lanes(), live, own);
      std::fill(own + live, own + tree_lanes * w, Join::identity());
    }
  });
  if (parts == 1) return;
  constexpr Size narrow = 256;
  const Size cuts = (width + narrow - 1) / narrow;
  parallel_for(units * cuts, most(1, grain / (present * tree_lanes * narrow)), [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const Size unit = i / cuts, c = i % cuts * narrow, w = columns.width(unit % blocks);
      if (c >= w) continue;
      const Size m = least(narrow, w - c);
      for (Size apart = 1; apart < present; apart *= 2) {
        for (Size part = 0; part + apart < present; part += 2 * apart) {
          for (Size l = 0; l < tree_lanes; ++l)
            Tree::join_lanes(lanes_of(unit, part) + l * w + c, lanes_of(unit, part + apart) + l * w + c, m);
        }
      }
      Tree::fold_lanes(lanes_of(unit, 0) + c, w, m, tree_lanes, place_of(unit) + c);
    }
  });
}

/// The same of elements that are converted to T or mapped first, row by row.
template <class T, class Join, class Map>
void reduce_changed_columns(const Tensor& x, const Plan& plan, DType as, T* partial, Map map) {
  using Tree = TreeColumns<T, Join>;
  constexpr Size at_once = 512;
  const Columns columns(plan, at_once);
  const Size C = columns.C, blocks = columns.blocks(), bytes = block_bytes(x.dtype());
  const Conversion convert(x.dtype(), as);
  const Size work = least(plan.n, tree_chunk) * least(C, at_once);
  parallel_for(columns.slices() * plan.chunks * blocks, most(1, grain / work), [&](Size begin, Size end) {
    const Scratch<T> memory(Tree::rows_of_memory * least(C, at_once));
    alignas(64) T converted[at_once];
    alignas(64) T mapped[at_once];
    for (Size unit = begin; unit < end; ++unit) {
      const Size block = unit % blocks, c = columns.first(block), width = columns.width(block);
      const Size slice = unit / blocks, k = slice % plan.chunks * tree_chunk;
      Tree tree(memory.data(), width);
      const auto push = [&](const std::byte* row) {
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
      };
      columns.for_each_run(slice / plan.chunks, c, k, least(plan.n, k + tree_chunk), [&](Size at, Size step, Size m) {
        for (Size i = 0; i < m; ++i) push(x.buffer() + (at + i * step) * bytes);
      });
      tree.fold(partial + slice * C + c);
    }
  });
}

/// The chunks of each result, as rows or columns left them, to one T per result, in the order of the kept axes.
template <class T, class Join>
void join_chunks(const Plan& plan, bool columns, const T* partial, T* results) {
  const Size chunks = plan.chunks, C = columns ? plan.kept.shape.back() : 1;
  for (Size o = 0; o < plan.outputs; ++o) results[o] = tree_combine<T, Join>(partial + o / C * chunks * C + o % C, chunks, C);
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
  const auto as_stored = [&]<class From>(From) {
    columns ? reduce_columns<T, Join, From>(x, plan, partial) : reduce_rows<T, Join, From>(x, plan, x.dtype(), partial, map);
  };
  const bool done = [&] {
    if constexpr (Map::identity) {
      if (x.dtype() == as) return as_stored(Elements<T>{}), true;
      if constexpr (Join::in_vectors && std::is_same_v<T, f32>) {
        if (x.dtype() == DType::bf16) return as_stored(Bf16Elements{}), true;
        if (x.dtype() == DType::f16) return as_stored(F16Elements{}), true;
      }
    }
    return false;
  }();
  if (!done) {
    columns ? reduce_changed_columns<T, Join>(x, plan, as, partial, map) : reduce_rows<T, Join, Elements<T>>(x, plan, as, partial, map);
  }
  if (chunks > 1) join_chunks<T, Join>(plan, columns, partial, results);
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
