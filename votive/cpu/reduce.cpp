// Reductions on the CPU: sum mean prod min max any all over any axes of any layout, argmax and argmin. Elements are put in the order of the canonical tree by
// a layout whose kept axes come first; where neighbours belong to different results, columns are streamed instead. Threads share results or, where these
// are few, chunks of 4096; the partial results are joined by the same tree, so nothing depends on how many threads there were.
#include "votive/ops/reduce.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain = Size{1} << 15;  // elements read by a thread at least
constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }

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

/// partial[o·chunks + k] = the tree of chunk k of result o.
template <class T, class Join>
void reduce_rows(const Tensor& x, const Plan& plan, DType as, T* partial) {
  const Reader in(x, plan.all, as);
  const Size n = plan.n, chunks = plan.chunks;
  const Size per_unit = least(n, tree_chunk);
  const T* dense = in.dense<T>();
  parallel_for(plan.outputs * chunks, most(1, grain / per_unit), [&](Size begin, Size end) {
    if (chunks > 1 || dense != nullptr) {
      const Scratch<T> room(dense != nullptr ? 0 : tree_chunk);
      for (Size unit = begin; unit < end; ++unit) {
        const Size k = unit % chunks * tree_chunk, at = unit / chunks * n + k;
        const Size m = least(n - k, tree_chunk);
        partial[unit] = tree_leaf<T, Join>(dense != nullptr ? dense + at : in.read<T>(at, m, room.data()), m);
      }
      return;
    }
    const Size rows = most(1, tree_chunk / n);  // short rows are read together
    const Scratch<T> room(rows * n);
    for (Size o = begin; o < end; o += rows) {
      const Size m = least(rows, end - o);
      const T* values = in.read<T>(o * n, m * n, room.data());
      for (Size i = 0; i < m; ++i) partial[o + i] = tree_leaf<T, Join>(values + i * n, n);
    }
  });
}

constexpr Size columns_at_once = 128;
constexpr Size rows_ahead = 16;  // pieces of 512 bytes in different pages: the hardware does not see where the next one is

/// partial[(outer·chunks + k)·C + c]: results along the last kept axis (C of them) stay neighbours.
template <class T, class Join>
void reduce_columns(const Tensor& x, const Plan& plan, DType as, T* partial) {
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
          if (convert.is_identity()) {
            tree.push(reinterpret_cast<const T*>(row));
          } else {
            convert(row, reinterpret_cast<std::byte*>(converted), width);
            tree.push(converted);
          }
        }
      });
      tree.fold(partial + slice * C + c);
    }
  });
}

/// One T per result, in the order of the kept axes.
template <class T, class Join>
void reduce_all(const Tensor& x, const Plan& plan, DType as, T* results) {
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
    reduce_columns<T, Join>(x, plan, as, partial);
  } else {
    reduce_rows<T, Join>(x, plan, as, partial);
  }
  if (chunks == 1) return;
  const Size C = columns ? plan.kept.shape.back() : 1;
  for (Size o = 0; o < plan.outputs; ++o) results[o] = tree_combine<T, Join>(partial + o / C * chunks * C + o % C, chunks, C);
}

/// Results of type T (dtype `as`) to y; a mean is divided first, in f32 or f64.
template <class T>
void store(const Reduce& op, const T* results, DType as, Size n, Tensor& y) {
  const Size count = y.count();
  std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(y.dtype());
  DType from = as;
  const Scratch<f32> quotients(op.kind == ReduceKind::mean ? count * 2 : 0);
  const std::byte* values = reinterpret_cast<const std::byte*>(results);
  if (op.kind == ReduceKind::mean) {
    from = as == DType::f64 ? DType::f64 : DType::f32;
    values = reinterpret_cast<const std::byte*>(quotients.data());
    for (Size i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, f64>) {
        reinterpret_cast<f64*>(quotients.data())[i] = results[i] / static_cast<f64>(n);
      } else {
        const f32 sum = as == DType::i64 ? numerics::i64_to_f32(static_cast<i64>(results[i])) : static_cast<f32>(results[i]);
        quotients[i] = sum / numerics::i64_to_f32(n);
      }
    }
  }
  const Conversion convert(from, y.dtype());
  if (convert.is_identity()) {
    std::memcpy(to, values, static_cast<std::size_t>(count * block_bytes(from)));
  } else {
    convert(values, to, count);
  }
}

template <class T>
void reduce_as(const Reduce& op, const Tensor& x, Tensor& y, const Plan& plan, DType as) {
  const Scratch<T> results(plan.outputs);
  switch (op.kind) {
    case ReduceKind::sum:
    case ReduceKind::mean: reduce_all<T, Sum<T>>(x, plan, as, results.data()); break;
    case ReduceKind::prod: reduce_all<T, Product<T>>(x, plan, as, results.data()); break;
    case ReduceKind::min: reduce_all<T, Least<T>>(x, plan, as, results.data()); break;
    default: reduce_all<T, Greatest<T>>(x, plan, as, results.data()); break;
  }
  store(op, results.data(), as, plan.n, y);
}

void reduce_truth(const Reduce& op, const Tensor& x, Tensor& y, const Plan& plan) {
  u8* results = data<u8>(y);
  if (op.kind == ReduceKind::any) {
    reduce_all<u8, Greatest<u8>>(x, plan, DType::boolean, results);
  } else {
    reduce_all<u8, Least<u8>>(x, plan, DType::boolean, results);
  }
  if (plan.n == 0) {
    for (Size i = 0; i < plan.outputs; ++i) results[i] = op.kind == ReduceKind::all;
  }
}

void reduce_signed_extreme(const Reduce& op, const Tensor& x, Tensor& y, const Plan& plan) {
  const Scratch<i64> results(plan.outputs);
  if (op.kind == ReduceKind::min) {
    reduce_all<i64, Least<i64>>(x, plan, DType::i64, results.data());
  } else {
    reduce_all<i64, Greatest<i64>>(x, plan, DType::i64, results.data());
  }
  store(op, results.data(), DType::i64, plan.n, y);
}

/// One chunk of dense f32 to one number, which need not be planned.
bool reduce_small(const Reduce& op, const Tensor& x, Tensor& y) {
  const Size n = x.count();
  if (x.dtype() != DType::f32 || y.count() != 1 || n == 0 || n > tree_chunk || op.kind > ReduceKind::max || !x.is_contiguous())
    return false;
  const f32* values = data<f32>(x);
  f32* to = data<f32>(y);
  switch (op.kind) {
    case ReduceKind::sum: *to = tree_leaf<f32, Sum<f32>>(values, n); break;
    case ReduceKind::mean: *to = tree_leaf<f32, Sum<f32>>(values, n) / numerics::i64_to_f32(n); break;
    case ReduceKind::prod: *to = tree_leaf<f32, Product<f32>>(values, n); break;
    case ReduceKind::min: *to = tree_leaf<f32, Least<f32>>(values, n); break;
    default: *to = tree_leaf<f32, Greatest<f32>>(values, n); break;
  }
  return true;
}

void reduce(const Reduce& op, const Tensor& x, Tensor& y, Stream&) {
  if (reduce_small(op, x, y)) return;
  const Plan plan(x.layout(), op.axes);
  const DType as = exact_compute(x.dtype());
  if (op.kind == ReduceKind::any || op.kind == ReduceKind::all) return reduce_truth(op, x, y, plan);
  if (as == DType::f32) return reduce_as<f32>(op, x, y, plan, as);
  if (as == DType::f64) return reduce_as<f64>(op, x, y, plan, as);
  if (as == DType::i64 && (op.kind == ReduceKind::min || op.kind == ReduceKind::max)) return reduce_signed_extreme(op, x, y, plan);
  reduce_as<u64>(op, x, y, plan, as);  // sums and products modulo 2⁶⁴ are the same signed and unsigned
}

/// The first place of the extreme in n dense elements; NaN is the extreme, and equal zeros are equal.
template <class T>
Size place_of(const T* x, Size n, T extreme) {
  Size i = 0;
  if (extreme != extreme) {
    while (x[i] == x[i]) ++i;
  } else {
    while (i + 1 < n && x[i] != extreme) ++i;
  }
  return i;
}

template <class T, class Join>
void arg_reduce_as(const Tensor& x, Tensor& y, const Plan& plan, DType as) {
  const Size n = plan.n, chunks = plan.chunks;
  const Scratch<T> best(plan.outputs * chunks);
  reduce_rows<T, Join>(x, plan, as, best.data());
  const Reader in(x, plan.all, as);
  i64* results = data<i64>(y);
  parallel_for(plan.outputs, most(1, grain / least(n, tree_chunk)), [&](Size begin, Size end) {
    const Scratch<T> room(least(n, tree_chunk));
    for (Size o = begin; o < end; ++o) {  // only the first chunk that holds the extreme is searched
      const T* value = best.data() + o * chunks;
      const T extreme = tree_combine<T, Join>(value, chunks);
      const Size k = place_of(value, chunks, extreme) * tree_chunk;
      const Size m = least(n - k, tree_chunk);
      results[o] = k + place_of(in.read<T>(o * n + k, m, room.data()), m, extreme);
    }
  });
}

template <class T>
void arg_reduce_of(bool largest, const Tensor& x, Tensor& y, const Plan& plan, DType as) {
  if (largest) {
    arg_reduce_as<T, Greatest<T>>(x, y, plan, as);
  } else {
    arg_reduce_as<T, Least<T>>(x, y, plan, as);
  }
}

void arg_reduce(const ArgReduce& op, const Tensor& x, Tensor& y, Stream&) {
  const Plan plan(x.layout(), 1u << op.axis);
  const DType as = exact_compute(x.dtype());
  switch (as) {
    case DType::f32: return arg_reduce_of<f32>(op.largest, x, y, plan, as);
    case DType::f64: return arg_reduce_of<f64>(op.largest, x, y, plan, as);
    case DType::i64: return arg_reduce_of<i64>(op.largest, x, y, plan, as);
    default: return arg_reduce_of<u64>(op.largest, x, y, plan, as);
  }
}

}  // namespace

void register_reduce(Kernels& kernels) {
  kernels.add<Reduce>(Device::cpu, reduce);
  kernels.add<ArgReduce>(Device::cpu, arg_reduce);
}

}  // namespace votive::cpu::VOTIVE_ISA
