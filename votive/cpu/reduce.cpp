// Reductions of one pass on the CPU: sum mean prod min max any all over any axes of any layout. What they are made of is in reduce.h and order_free.h.
// Not here: argmax and argmin (arg_reduce.cpp).
#include "votive/ops/few.h"

#include "votive/cpu/arg_reduce.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/lane_sums.h"
#include "votive/cpu/order_free.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace reducing;

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
    case ReduceKind::mean:
      if constexpr (std::is_same_v<T, u64>) {
        plan.n == 0 ? reduce_all<T, Sum<T>>(x, plan, as, results.data()) : sum_integers(x, plan, results.data());
      } else {
        reduce_all<T, Sum<T>>(x, plan, as, results.data());
      }
      break;
    case ReduceKind::prod: reduce_all<T, Product<T>>(x, plan, as, results.data()); break;
    case ReduceKind::min: reduce_all<T, Least<T>>(x, plan, as, results.data()); break;
    default: reduce_all<T, Greatest<T>>(x, plan, as, results.data()); break;
  }
  store(op, results.data(), as, plan.n, y);
}

/// Results are elements, and y has their dtype.
bool reduce_extreme(bool largest, const Tensor& x, Tensor& y, const Plan& plan) {
  if (plan.n == 0) return false;  // then there are no results either
  return with_keys(x.dtype(), [&]<class Keys>(Keys) {
    auto* results = data<typename Keys::Storage>(y);
    largest ? extremes<Keys, true>(x, plan, results) : extremes<Keys, false>(x, plan, results);
  });
}

void reduce_truth(const Reduce& op, const Tensor& x, Tensor& y, const Plan& plan) {
  if (x.dtype() == DType::boolean && reduce_extreme(op.kind == ReduceKind::any, x, y, plan)) return;
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

// Few dense elements to one number, which need not be planned: what apply() runs by itself.

f32 narrowed(Elements<f32>, f32 v) { return v; }
f64 narrowed(Elements<f64>, f64 v) { return v; }
u16 narrowed(Bf16Elements, f32 v) { return numerics::f32_to_bf16(v); }
u16 narrowed(F16Elements, f32 v) { return numerics::f32_to_f16(v); }

template <class From, class Join, bool mean>
void join_few(const void* x, void* y, Size n) {
  using T = typename From::T;
  const auto* elements = static_cast<const typename From::Storage*>(x);
  T total;
  if constexpr (std::is_same_v<From, Elements<T>> && std::is_same_v<Join, Sum<T>>) {
    total = n <= tree_lanes ? sum_of_lanes(elements, n) : tree_of_registers<From, Join>(elements, n);
  } else {
    total = tree_of_registers<From, Join>(elements, n);
  }
  if (mean) total = total / static_cast<T>(n);
  *static_cast<typename From::Storage*>(y) = narrowed(From{}, total);
}

template <class Keys, bool largest>
void extreme_of_few(const void* x, void* y, Size n) {
  using Storage = typename Keys::Storage;
  *static_cast<Storage*>(y) = Keys::template element<largest>(extreme_key<Keys, largest>(static_cast<const Storage*>(x), n));
}

template <class From, class Keys>
void register_few(DType dtype) {
  using T = typename From::T;
  add_few<Reduce>(static_cast<std::size_t>(ReduceKind::sum), dtype, join_few<From, Sum<T>, false>);
  add_few<Reduce>(static_cast<std::size_t>(ReduceKind::mean), dtype, join_few<From, Sum<T>, true>);
  add_few<Reduce>(static_cast<std::size_t>(ReduceKind::prod), dtype, join_few<From, Product<T>, false>);
  add_few<Reduce>(static_cast<std::size_t>(ReduceKind::min), dtype, extreme_of_few<Keys, false>);
  add_few<Reduce>(static_cast<std::size_t>(ReduceKind::max), dtype, extreme_of_few<Keys, true>);
}

/// The same of up to one chunk.
bool reduce_few(const Reduce& op, const Tensor& x, Tensor& y) {
  const Size n = x.count();
  if (op.kind > ReduceKind::max || y.count() != 1 || n == 0 || n > tree_chunk || !is_floating(x.dtype()) || !x.is_contiguous())
    return false;
  few_loop<Reduce>(static_cast<std::size_t>(op.kind), x.dtype())(x.first(), y.mutable_first(), n);
  return true;
}

void reduce(const Reduce& op, const Tensor& x, Tensor& y, Stream&) {
  if (reduce_few(op, x, y)) return;
  const Plan plan(x.layout(), op.axes);
  const DType as = exact_compute(x.dtype());
  if (op.kind == ReduceKind::any || op.kind == ReduceKind::all) return reduce_truth(op, x, y, plan);
  if ((op.kind == ReduceKind::min || op.kind == ReduceKind::max) && reduce_extreme(op.kind == ReduceKind::max, x, y, plan)) return;
  if (as == DType::f32) return reduce_as<f32>(op, x, y, plan, as);
  if (as == DType::f64) return reduce_as<f64>(op, x, y, plan, as);
  const bool may_overflow = block_bytes(x.dtype()) == 8 || plan.n >> 31 != 0;
  if (op.kind == ReduceKind::mean && may_overflow) return wide_mean(x, y, plan, as);
  reduce_as<u64>(op, x, y, plan, as);  // sums and products modulo 2⁶⁴ are the same signed and unsigned
}

}  // namespace

void register_reduce(Kernels& kernels) {
  kernels.add<Reduce>(Device::cpu, reduce);
  kernels.add<ArgReduce>(Device::cpu, arg_reduce);
  register_few<Elements<f32>, F32Keys>(DType::f32);
  register_few<Elements<f64>, F64Keys>(DType::f64);
  register_few<Bf16Elements, Bf16Keys>(DType::bf16);
  register_few<F16Elements, F16Keys>(DType::f16);
}

}  // namespace votive::cpu::VOTIVE_ISA
