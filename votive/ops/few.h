// The short way of operations on few numbers: small row-major floats on the CPU, with which nothing can be wrong, go straight to a loop that asks for nothing
// more. Of pointwise operations apply() does this itself (find_dense); here are those whose result has another shape, or whose loop takes more than a count.
#pragma once

#include "votive/ops/apply.h"
#include "votive/ops/matmul.h"
#include "votive/ops/norm.h"
#include "votive/ops/reduce.h"

namespace votive {

/// The loop of an operation, and of how many kinds of it.
template <class Op>
struct Few;
template <>
struct Few<Reduce> {  // all elements to one; kinds from sum to max
  using Loop = void(const void* x, void* y, Size n);
  static constexpr std::size_t kinds = 5;
};
template <>
struct Few<Softmax> {  // along the last axis; kind 1 is the logarithm
  using Loop = void(const void* x, void* y, Size rows, Size n);
  static constexpr std::size_t kinds = 2;
};
template <>
struct Few<Matmul> {  // y[m, n] = a[m, k]·b[k, n]
  using Loop = void(const void* a, const void* b, void* y, Size m, Size n, Size k);
  static constexpr std::size_t kinds = 1;
};

namespace detail {
/// Null where a kind or a dtype has none, and until the kernels are registered.
template <class Op>
struct FewTable {
  static constexpr std::size_t dtypes = static_cast<std::size_t>(DType::f64) - static_cast<std::size_t>(DType::f16) + 1;
  static std::atomic<typename Few<Op>::Loop*>& at(std::size_t kind, DType dtype) {
    return loops[kind * dtypes + (static_cast<std::size_t>(dtype) - static_cast<std::size_t>(DType::f16))];
  }
  static inline std::array<std::atomic<typename Few<Op>::Loop*>, Few<Op>::kinds * dtypes> loops{};
};
}  // namespace detail

/// A later registration replaces the earlier, as in Kernels::add.
template <class Op>
void add_few(std::size_t kind, DType dtype, typename Few<Op>::Loop* loop) {
  detail::FewTable<Op>::at(kind, dtype).store(loop, std::memory_order_release);
}
/// Of a floating dtype, on the CPU.
template <class Op>
typename Few<Op>::Loop* few_loop(std::size_t kind, DType dtype) {
  return detail::FewTable<Op>::at(kind, dtype).load(std::memory_order_acquire);
}
/// The loop for x, null unless x is as the short way needs it.
template <class Op>
typename Few<Op>::Loop* few_loop(std::size_t kind, const Tensor& x) {
  if (!x.is_small_and_dense() || !is_floating(x.dtype()) || x.device() != Device::cpu) return nullptr;
  return few_loop<Op>(kind, x.dtype());
}

/// What apply() does, of a result that compute() allocates and fills.
template <class Op, class Compute, class... In>
Tensor apply_few(const Op& op, const Compute& compute, const In&... in) try {
  const FloatEnvironment environment;
  Tensor y = compute();
  if (detail::traps_non_finite) [[unlikely]]
    detail::trap_non_finite(op_name(op), y);
  return record(op, std::move(y), in...);
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

}  // namespace votive
