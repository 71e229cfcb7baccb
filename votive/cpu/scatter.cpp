// Scatter on the CPU. Updates become (target, number) pairs; those of one target are brought together by a counting sort and joined by the canonical tree, a
// target at a time, so threads share no sum. Not here: which update may be written by whom, for no two threads write to one target.
#include "votive/ops/scatter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "votive/cpu/copy.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scatter_plan.h"
#include "votive/cpu/tree_rows.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

/// Calls body with a value of the unsigned type of that many bytes.
template <class Body>
void with_width(Size bytes, Body body) {
  switch (bytes) {
    case 1: return body(u8{});
    case 2: return body(u16{});
    case 4: return body(u32{});
    default: return body(u64{});
  }
}

/// Calls body(k, target) in order of k for the targets of a range of its own: every thread takes whole blocks, or reads all targets and takes those that are
/// its.
template <class Body>
void for_each_own(const ScatterPlan& plan, Body body) {
  constexpr Size worth_sharing = Size{1} << 16;
  if (plan.blocks >= threads()) {
    const Size each = plan.updates / plan.blocks;
    return parallel_for(plan.blocks, 1 + worth_sharing / (each + 1), [&](Size begin, Size end) {
      for (Size k = begin * each; k < end * each; ++k) body(k, plan.target[k]);
    });
  }
  const Size parts = plan.updates < worth_sharing ? 1 : threads();
  parallel_for(plan.n, (plan.n + parts - 1) / parts, [&](Size begin, Size end) {
    for (Size k = 0; k < plan.updates; ++k) {
      const i64 t = plan.target[k];
      if (t >= begin && t < end) body(k, t);
    }
  });
}

/// The last update of each target.
void assign(const ScatterPlan& plan, const Tensor& source, Tensor& y) {
  const Size bytes = block_bytes(y.dtype());
  const Dense values(source, source.dtype());
  const std::byte* from = values.data<std::byte>();
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  if (plan.of_elements()) {
    return with_width(bytes, [&]<class T>(T) {
      const T* source_values = reinterpret_cast<const T*>(from);
      T* places = reinterpret_cast<T*>(to);
      for_each_own(plan, [&](Size k, Size t) { places[t] = source_values[k]; });
    });
  }
  const Scratch<i64> last(plan.n);
  for (Size k = 0; k < plan.updates; ++k) last[plan.target[k]] = k;
  const Size run = plan.inner * bytes;
  parallel_for(plan.outer * plan.updates, 1 + (Size{1} << 15) / (run + 1), [&](Size begin, Size end) {
    for (Size unit = begin; unit < end; ++unit) {
      const Size o = unit / plan.updates, k = unit % plan.updates, t = plan.target[k];
      if (last[t] == k) std::memcpy(to + (o * plan.n + t) * run, from + unit * run, static_cast<std::size_t>(run));
    }
  });
}

/// Few targets, which every thread has for itself until the end: integers add in any order. value(k) is that of update k.
template <class T, class Value>
void add_in_shares(const ScatterPlan& plan, T* to, Value value) {
  const Size parts = threads(), n = plan.n;
  const Scratch<T> shares(parts * n);
  parallel_for(parts, 1, [&](Size begin, Size end) {
    for (Size part = begin; part < end; ++part) {
      T* const own = shares.data() + part * n;
      std::fill_n(own, n, T{0});
      for (Size k = plan.updates * part / parts; k < plan.updates * (part + 1) / parts; ++k) {
        T& place = own[plan.target[k]];
        place = static_cast<T>(place + value(k));
      }
    }
  });
  parallel_for(n, Size{1} << 14, [&](Size begin, Size end) {
    for (Size part = 0; part < parts; ++part) {
      for (Size t = begin; t < end; ++t) to[t] = static_cast<T>(to[t] + shares[part * n + t]);
    }
  });
}

/// One at a time where they lie; or in shares, since threads that each read all targets to find their own guess wrong half the time.
template <class T, class Value>
void add_each(const ScatterPlan& plan, T* to, Value value) {
  constexpr Size worth_sharing = Size{1} << 16, most_places = Size{1} << 18;
  if (threads() > 1 && plan.blocks < threads() && plan.updates >= worth_sharing && plan.n <= most_places && plan.n <= plan.updates / 4)
    return add_in_shares(plan, to, value);
  for_each_own(plan, [&](Size k, Size t) { to[t] = static_cast<T>(to[t] + value(k)); });
}

/// Integers add in any order.
void add_integers(const ScatterPlan& plan, const Tensor& source, Tensor& y) {
  bool one_value = true;  // a count adds the same to all
  for (int axis = 0; axis < source.rank(); ++axis) one_value &= source.strides()[axis] == 0 || source.shape()[axis] == 1;
  with_width(block_bytes(y.dtype()), [&]<class T>(T) {
    T* to = data<T>(y);
    if (one_value) {
      const T value = *data<T>(source);
      return add_each(plan, to, [value](Size) { return value; });
    }
    const Dense values(source, source.dtype());
    add_each(plan, to, [from = values.data<T>()](Size k) { return from[k]; });
  });
}

/// The tree over m dense values.
template <class T, class Join>
T join_run(const T* x, Size m) {
  if (m <= tree_chunk) return tree_leaf<T, Join>(x, m);
  UpperTree<T, Join> tree;
  for (Size at = 0; at < m; at += tree_chunk) tree.push(tree_leaf<T, Join>(x + at, m - at < tree_chunk ? m - at : tree_chunk));
  return tree.total();
}

/// Updates in the order of their targets, behind a number that changes nothing.
template <class T, class Join>
class SortedUpdates {
 public:
  explicit SortedUpdates(Size count) : values_(count + 1) { values_[0] = Join::identity(); }
  T& operator[](Size i) const { return values_[i + 1]; }

  /// The tree over m of them from `begin` on. How many a target has comes in no order that could be foreseen, so up to three take no branch: absent ones are
  /// the number in front (half the time of a branch for each, 2-core Zen 4).
  T join(Size begin, Size m) const {
    if (m > 3) return join_run<T, Join>(values_.data() + 1 + begin, m);
    const auto present = [&](Size i) { return (begin + 1 + i) & -Size{m > i}; };
    return Join::join(Join::join(values_[present(0)], values_[present(2)]), values_[present(1)]);
  }

 private:
  Scratch<T> values_;
};

template <class T, class Join, bool mean>
T settled(T x, T total, Size m) {
  const T joined = Join::join(x, total);
  if constexpr (mean) {
    return joined / static_cast<T>(m + 1);
  } else {
    return joined;
  }
}

/// A tile of targets: fetched, joined with the runs of updates that `run_of` says each has, first and how many, and put back. `place_of` tells where a target
/// lies; one without updates stays.
template <class T, class Join, bool mean, class PlaceOf, class RunOf>
void join_tiles(Tensor& y, DType as, Size count, const SortedUpdates<T, Join>& updates, PlaceOf place_of, RunOf run_of) {
  const Conversion load(y.dtype(), as), store(as, y.dtype());
  with_width(block_bytes(y.dtype()), [&]<class Storage>(Storage) {
    Storage* to = data<Storage>(y);
    parallel_for(count, tile_size, [&](Size begin, Size end) {
      Tile raw, room;
      Storage* stored = reinterpret_cast<Storage*>(raw.bytes);
      for (Size at = begin; at < end; at += tile_size) {
        const Size n = end - at < tile_size ? end - at : tile_size;
        for (Size g = 0; g < n; ++g) stored[g] = to[place_of(at + g)];
        T* x = reinterpret_cast<T*>(load.is_identity() ? raw.bytes : room.bytes);
        if (!load.is_identity()) load(raw.bytes, room.bytes, n);
        for (Size g = 0; g < n; ++g) {
          const auto [first, m] = run_of(at + g);
          x[g] = settled<T, Join, mean>(x[g], updates.join(first, m), m);
        }
        if (!store.is_identity()) store(room.bytes, raw.bytes, n);
        for (Size g = 0; g < n; ++g) {
          Storage& place = to[place_of(at + g)];
          place = run_of(at + g).second != 0 ? stored[g] : place;
        }
      }
    });
  });
}

/// Updates k … k + count of targets t … t + n, which are dense enough that each has a counter.
template <class T, class Join, bool mean, class Count>
void join_counted(const i64* target, const T* from, Size count, Size t, Size n, Tensor& y, DType as) {
  const SortedUpdates<T, Join> sorted(count);
  const Scratch<Count> ends(n + 1);  // of each target's run, shifted by one: the end of the run before it is where it begins
  std::fill_n(ends.data(), n + 1, Count{0});
  Count* const end = ends.data() - t;
  for (Size k = 0; k < count; ++k) ++end[target[k] + 1];
  for (Size i = 0; i < n; ++i) ends[i + 1] += ends[i];
  for (Size k = 0; k < count; ++k) sorted[static_cast<Size>(end[target[k]]++)] = from[k];
  const auto run_of = [&](Size i) {
    const Size begin = i == 0 ? 0 : static_cast<Size>(ends[i - 1]);
    return std::pair<Size, Size>{begin, static_cast<Size>(ends[i]) - begin};
  };
  join_tiles<T, Join, mean>(
      y, as, n, sorted, [&](Size i) { return t + i; }, run_of);
}

/// Single elements: the values themselves are brought into the order of their targets, so that each has a dense run of them; block by block, as many at once
/// as the caches hold.
template <class T, class Join, bool mean>
void join_elements(const ScatterPlan& plan, const Tensor& source, Tensor& y, DType as) {
  const Dense values(source, as);
  const T* from = values.data<T>();
  if (!plan.is_dense()) {
    const Groups groups(plan);
    const SortedUpdates<T, Join> sorted(plan.updates);
    for (Size i = 0; i < plan.updates; ++i) sorted[i] = from[groups.order[i]];
    const auto run_of = [&](Size g) { return std::pair<Size, Size>{groups.begin[g], groups.begin[g + 1] - groups.begin[g]}; };
    return join_tiles<T, Join, mean>(
        y, as, groups.count, sorted, [&](Size g) { return groups.target[g]; }, run_of);
  }
  constexpr Size at_once = Size{1} << 15;
  const Size n = plan.n / plan.blocks, count = plan.updates / plan.blocks;
  parallel_for(plan.blocks, 1 + at_once / (n + count), [&](Size begin, Size end) {
    const Size step = 1 + at_once / (n + count);
    for (Size block = begin; block < end; block += step) {
      const Size m = block + step < end ? step : end - block, all = m * count;
      const auto join = [&]<class Count>(Count) {
        join_counted<T, Join, mean, Count>(plan.target.data() + block * count, from + block * count, all, block * n, m * n, y, as);
      };
      all < Size{0xffffffff} ? join(u32{}) : join(u64{});
    }
  });
}

/// Runs: for each target a tree per column, `width` columns at a time. A unit of work is one target's columns.
template <class T, class Join, bool mean>
class JoinRuns {
 public:
  JoinRuns(const ScatterPlan& plan, const Groups& groups, const Tensor& source, Tensor& y, DType as)
      : plan_(plan),
        groups_(groups),
        values_(source, as),
        from_(values_.template data<T>()),
        load_(y.dtype(), as),
        store_(as, y.dtype()),
        bytes_(block_bytes(y.dtype())),
        cuts_((plan.inner + width - 1) / width),
        to_(y.mutable_buffer() + y.offset() * bytes_) {}

  void run() const {
    parallel_for(plan_.outer * groups_.count * cuts_, 1 + (Size{1} << 12) / least(plan_.inner, width), [&](Size first, Size last) {
      const Scratch<T> room(width), total(width), memory(TreeColumns<T, Join>::rows_of_memory * width);
      const Scratch<const T*> rows(2 * most_gathered_rows);
      const T **now = rows.data(), **then = now + most_gathered_rows;
      Size coming = rows_of(Unit(*this, first), then);
      for (Size i = first; i < last; ++i) {
        const Unit unit(*this, i);
        const Size m = coming;
        std::swap(now, then);
        coming = i + 1 < last ? rows_of(Unit(*this, i + 1), then) : 0;
        if constexpr (Join::in_vectors) {
          if (m > 1) tree_of_rows<T, Join>(now, m, unit.columns, then, coming, total.data());
        }
        if (m == 0) join_many(unit, memory.data(), total.data());
        put(unit, m == 1 ? now[0] : total.data(), room.data());
      }
    });
  }

 private:
  static constexpr Size width = 512;
  static Size least(Size a, Size b) { return a < b ? a : b; }

  struct Unit {
    const i64* order;  // numbers of its updates
    Size m, target, o, at, columns;
    Unit(const JoinRuns& all, Size i) {
      const Size g = i / all.cuts_ % all.groups_.count;
      order = all.groups_.order.data() + all.groups_.begin[g];
      m = all.groups_.begin[g + 1] - all.groups_.begin[g];
      target = all.groups_.target[g];
      o = i / all.cuts_ / all.groups_.count;
      at = i % all.cuts_ * width;
      columns = least(width, all.plan_.inner - at);
    }
  };
  const T* row(const Unit& unit, Size i) const { return from_ + (unit.o * plan_.updates + unit.order[i]) * plan_.inner + unit.at; }

  /// Where a unit's updates lie, so that those of the next one are fetched beside the work; 0 where they are not joined from where they lie.
  Size rows_of(const Unit& unit, const T** rows) const {
    if (unit.m > 1 && (!Join::in_vectors || unit.m > most_gathered_rows)) return 0;
    for (Size i = 0; i < unit.m; ++i) rows[i] = row(unit, i);
    return unit.m;
  }

  void join_many(const Unit& unit, T* memory, T* total) const {
    const Size chunks = (unit.m + tree_chunk - 1) / tree_chunk;
    const Scratch<T> parts(chunks * unit.columns);
    for (Size c = 0; c < chunks; ++c) {
      TreeColumns<T, Join> tree(memory, unit.columns);
      for (Size i = c * tree_chunk; i < least(unit.m, (c + 1) * tree_chunk); ++i) tree.push(row(unit, i));
      tree.fold(chunks == 1 ? total : parts.data() + c * unit.columns);
    }
    if (chunks == 1) return;
    for (Size w = 0; w < unit.columns; ++w) total[w] = tree_combine<T, Join>(parts.data() + w, chunks, unit.columns);
  }

  void put(const Unit& unit, const T* total, T* room) const {
    std::byte* place = to_ + ((unit.o * plan_.n + unit.target) * plan_.inner + unit.at) * bytes_;
    T* x = load_.is_identity() ? reinterpret_cast<T*>(place) : room;
    if (!load_.is_identity()) load_(place, reinterpret_cast<std::byte*>(x), unit.columns);
    for (Size w = 0; w < unit.columns; ++w) x[w] = settled<T, Join, mean>(x[w], total[w], unit.m);
    if (!store_.is_identity()) store_(reinterpret_cast<const std::byte*>(x), place, unit.columns);
  }

  const ScatterPlan& plan_;
  const Groups& groups_;
  const Dense values_;
  const T* from_;
  const Conversion load_, store_;
  const Size bytes_, cuts_;
  std::byte* const to_;
};

template <class T, class Join, bool mean = false>
void join_updates(const ScatterPlan& plan, const Tensor& source, Tensor& y, DType as) {
  if (plan.of_elements()) return join_elements<T, Join, mean>(plan, source, y, as);
  const Groups groups(plan);
  JoinRuns<T, Join, mean>(plan, groups, source, y, as).run();
}

template <class T>
void join_floats(ScatterMode mode, const ScatterPlan& plan, const Tensor& source, Tensor& y, DType as) {
  switch (mode) {
    case ScatterMode::add: return join_updates<T, Sum<T>>(plan, source, y, as);
    case ScatterMode::mul: return join_updates<T, Product<T>>(plan, source, y, as);
    case ScatterMode::min: return join_updates<T, Least<T>>(plan, source, y, as);
    case ScatterMode::max: return join_updates<T, Greatest<T>>(plan, source, y, as);
    default: return join_updates<T, Sum<T>, true>(plan, source, y, as);
  }
}

template <class T>
void join_integers(ScatterMode mode, const ScatterPlan& plan, const Tensor& source, Tensor& y, DType as) {
  if (mode == ScatterMode::min) return join_updates<T, Least<T>>(plan, source, y, as);
  join_updates<T, Greatest<T>>(plan, source, y, as);
}

void scatter(const Scatter& op, const Tensor& x, const Tensor& indices, const Tensor& source, Tensor& y, Stream&) {
  const ScatterPlan plan(op, indices, y);
  copy_elements(x, y);
  if (source.count() == 0) return;
  if (op.mode == ScatterMode::assign) return assign(plan, source, y);
  const DType as = exact_compute(y.dtype());
  if (as == DType::f32) return join_floats<f32>(op.mode, plan, source, y, as);
  if (as == DType::f64) return join_floats<f64>(op.mode, plan, source, y, as);
  if (op.mode == ScatterMode::add && plan.of_elements()) return add_integers(plan, source, y);
  // modulo 2⁶⁴ a sign does not matter
  if (op.mode == ScatterMode::add) return join_updates<u64, Sum<u64>>(plan, source, y, as);
  if (op.mode == ScatterMode::mul) return join_updates<u64, Product<u64>>(plan, source, y, as);
  if (as == DType::i64) return join_integers<i64>(op.mode, plan, source, y, as);
  join_integers<u64>(op.mode, plan, source, y, as);
}

}  // namespace

void register_scatter(Kernels& kernels) { kernels.add<Scatter>(Device::cpu, scatter); }

}  // namespace votive::cpu::VOTIVE_ISA
