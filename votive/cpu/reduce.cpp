// Reductions on the CPU: sum mean prod min max any all, var std norm logsumexp over any axes of any layout, argmax and argmin. Elements are put in the order of the canonical tree by
// a layout whose kept axes come first; where neighbours belong to different results, columns are streamed instead. Threads share results or, where these
// are few, chunks of 4096; the partial results are joined by the same tree, so nothing depends on how many threads there were.
#include "votive/ops/reduce.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"
#include "votive/numerics/math.h"

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

constexpr Size columns_at_once = 128;
constexpr Size rows_ahead = 16;  // pieces of 512 bytes in different pages: the hardware does not see where the next one is

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
void put(const void* results, DType from, Tensor& y) {
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

/// Results of type T (dtype `as`) to y; a mean is divided first, in f32 or f64.
template <class T>
void store(const Reduce& op, const T* results, DType as, Size n, Tensor& y) {
  if (op.kind != ReduceKind::mean) return put(results, as, y);
  using Quotient = std::conditional_t<std::is_same_v<T, f64>, f64, f32>;
  const Scratch<Quotient> quotients(y.count());
  for (Size i = 0; i < y.count(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      quotients[i] = results[i] / static_cast<T>(n);
    } else {
      quotients[i] = (as == DType::i64 ? numerics::i64_to_f32(static_cast<i64>(results[i])) : numerics::u64_to_f32(results[i])) /
                     numerics::i64_to_f32(n);
    }
  }
  put(quotients.data(), std::is_same_v<T, f64> ? DType::f64 : DType::f32, y);
}

__extension__ using u128 = unsigned __int128;

/// To the nearest, ties to even: 64 leading bits, the last of them a 1 if anything is lost, are rounded once.
f32 wide_to_f32(u128 magnitude) {
  const u64 high = static_cast<u64>(magnitude >> 64);
  if (high == 0) return numerics::u64_to_f32(static_cast<u64>(magnitude));
  const int shift = 64 - __builtin_clzll(high);
  const bool lost = (magnitude & ((u128{1} << shift) - 1)) != 0;
  const f32 leading = numerics::u64_to_f32(static_cast<u64>(magnitude >> shift) | (lost ? 1u : 0u));
  return leading * numerics::f32_from_bits(static_cast<u32>(127 + shift) << 23);
}

/// The mean of integers whose sum may leave 64 bits.
void wide_mean(const Tensor& x, Tensor& y, const Plan& plan, DType as) {
  const Reader in(x, plan.all, as);
  const Scratch<f32> means(plan.outputs);
  const Size n = plan.n;
  parallel_for(plan.outputs, most(1, grain / most(n, 1)), [&](Size begin, Size end) {
    const Scratch<u64> room(least(n, tree_chunk));
    for (Size o = begin; o < end; ++o) {
      u128 sum = 0;  // two's complement
      for (Size k = 0; k < n; k += tree_chunk) {
        const Size m = least(n - k, tree_chunk);
        const u64* values = in.read<u64>(o * n + k, m, room.data());
        u64 low = 0, high = 0, negative = 0;  // of 32 bits each: a chunk cannot overflow
        for (Size i = 0; i < m; ++i) {
          low += values[i] & 0xffffffffu;
          high += values[i] >> 32;
          negative += values[i] >> 63;
        }
        sum += (static_cast<u128>(high) << 32) + low;
        if (as == DType::i64) sum -= static_cast<u128>(negative) << 64;
      }
      const bool below = as == DType::i64 && (sum >> 127) != 0;
      const f32 magnitude = wide_to_f32(below ? -sum : sum);
      means[o] = (below ? -magnitude : magnitude) / numerics::i64_to_f32(n);
    }
  });
  put(means.data(), DType::f32, y);
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
  const bool may_overflow = block_bytes(x.dtype()) == 8 || plan.n >> 31 != 0;
  if (op.kind == ReduceKind::mean && may_overflow) return wide_mean(x, y, plan, as);
  if (as == DType::i64 && (op.kind == ReduceKind::min || op.kind == ReduceKind::max)) return reduce_signed_extreme(op, x, y, plan);
  reduce_as<u64>(op, x, y, plan, as);  // sums and products modulo 2⁶⁴ are the same signed and unsigned
}

template <class T>
T deviation(T x, T mean) {
  return x - mean;
}
template <class T>
T squared_deviation(T x, T mean) {
  return (x - mean) * (x - mean);
}
VOTIVE_SCALAR f32 absolute(f32 x) { return numerics::abs_f32(x); }
VOTIVE_SCALAR f64 absolute(f64 x) { return numerics::abs_f64(x); }
template <class T>
T magnitude(T x, T) {
  return absolute(x);
}
template <class T>
T scaled_square(T x, T scale) {
  return (x * scale) * (x * scale);
}
VOTIVE_SCALAR f32 exponential(f32 x) { return numerics::exp_f32(x); }
VOTIVE_SCALAR f64 exponential(f64 x) { return numerics::exp_f64(x); }
template <class T>
T shifted_exponential(T x, T shift) {
  return exponential(x - shift);
}
VOTIVE_SCALAR f32 logarithm(f32 x) { return numerics::log_f32(x); }
VOTIVE_SCALAR f64 logarithm(f64 x) { return numerics::log_f64(x); }
VOTIVE_SCALAR f32 root(f32 x) { return numerics::sqrt_f32(x); }
VOTIVE_SCALAR f64 root(f64 x) { return numerics::sqrt_f64(x); }

/// 2^e, e the exponent of a positive finite x, at least that of the least normal number: 2^−e is a number then.
VOTIVE_SCALAR f32 power_below(f32 x) {
  const u32 exponent = numerics::bits_f32(x) >> 23;
  return numerics::f32_from_bits((exponent == 0 ? 1u : exponent) << 23);
}
VOTIVE_SCALAR f64 power_below(f64 x) {
  const u64 exponent = numerics::bits_f64(x) >> 52;
  return numerics::f64_from_bits((exponent == 0 ? u64{1} : exponent) << 52);
}

template <class T>
void variances(const Statistic& op, const Tensor& x, const Plan& plan, DType as, T* y) {
  const T n = static_cast<T>(plan.n);
  const f64 divisor = static_cast<f64>(plan.n) - op.correction;
  if (!(divisor > 0)) {
    for (Size o = 0; o < plan.outputs; ++o) y[o] = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  const Scratch<T> mean(plan.outputs), s1(plan.outputs);
  reduce_all<T, Sum<T>>(x, plan, as, mean.data());
  for (Size o = 0; o < plan.outputs; ++o) mean[o] = mean[o] / n;
  reduce_all<T, Sum<T>>(x, plan, as, s1.data(), Mapped<T, deviation<T>>{mean.data()});
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, squared_deviation<T>>{mean.data()});
  for (Size o = 0; o < plan.outputs; ++o) {
    y[o] = (y[o] - s1[o] * s1[o] / n) / static_cast<T>(divisor);
    if (op.kind == StatisticKind::std) y[o] = root(y[o]);
  }
}

template <class T>
void norms(const Tensor& x, const Plan& plan, DType as, T* y) {
  const Scratch<T> most_of(plan.outputs), scale(plan.outputs);
  reduce_all<T, Greatest<T>>(x, plan, as, most_of.data(), Mapped<T, magnitude<T>>{nullptr});
  const auto is_answer = [](T m) { return !(m > 0 && m < std::numeric_limits<T>::infinity()); };
  for (Size o = 0; o < plan.outputs; ++o) {
    if (plan.n == 0) most_of[o] = 0;
    scale[o] = is_answer(most_of[o]) ? T{1} : T{1} / power_below(most_of[o]);
  }
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, scaled_square<T>>{scale.data()});
  for (Size o = 0; o < plan.outputs; ++o) y[o] = is_answer(most_of[o]) ? most_of[o] : root(y[o]) * power_below(most_of[o]);
}

template <class T>
void log_sums(const Tensor& x, const Plan& plan, DType as, T* y) {
  const Scratch<T> shift(plan.outputs);
  reduce_all<T, Greatest<T>>(x, plan, as, shift.data());
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (Size o = 0; o < plan.outputs; ++o) shift[o] = shift[o] > -infinity && shift[o] < infinity ? shift[o] : T{0};
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, shifted_exponential<T>>{shift.data()});
  for (Size o = 0; o < plan.outputs; ++o) y[o] = logarithm(y[o]) + shift[o];
}

template <class T>
void statistic_as(const Statistic& op, const Tensor& x, Tensor& y, DType as) {
  const Plan plan(x.layout(), op.axes);
  const Scratch<T> results(plan.outputs);
  switch (op.kind) {
    case StatisticKind::var:
    case StatisticKind::std: variances(op, x, plan, as, results.data()); break;
    case StatisticKind::norm: norms(x, plan, as, results.data()); break;
    case StatisticKind::logsumexp: log_sums(x, plan, as, results.data()); break;
  }
  put(results.data(), as, y);
}

void statistic(const Statistic& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return statistic_as<f64>(op, x, y, DType::f64);
  statistic_as<f32>(op, x, y, DType::f32);
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
  kernels.add<Statistic>(Device::cpu, statistic);
}

}  // namespace votive::cpu::VOTIVE_ISA
