// The one path of every operation on every device: rules, allocation, kernel, record. Read it once and you know the framework.
#pragma once

#include <new>
#include <utility>

#include "votive/base/float_environment.h"
#include "votive/base/refuse_memory.h"
#include "votive/ops/gradient.h"
#include "votive/ops/modes.h"
#include "votive/ops/registry.h"

namespace votive {

namespace detail {
template <class... Rest>
const Tensor& first_of(const Tensor& first, const Rest&...) {
  return first;
}
}  // namespace detail

/// One result. Every error a user can make is thrown by op.result() before anything is allocated; values (indices) are checked by the kernel before it writes.
/// All of it runs in the floating-point environment of the contract, and memory that cannot be had is Error{OutOfMemory}, also for a list of ten numbers.
template <class Op, class... In>
Tensor apply(const Op& op, const In&... in) try {
  const FloatEnvironment environment;
  if constexpr (requires { typename Op::Dense; }) {
    // What programs do most: small floats of one dtype and shape, with which nothing can be wrong. The rules would say x's own dtype, shape and device.
    if (auto* const loop = find_dense(op, in...)) {
      Tensor y = Tensor::allocate_like(detail::first_of(in...));
      loop(in.first()..., y.mutable_first(), detail::first_of(in...).count());
      if (detail::traps_non_finite) [[unlikely]]
        detail::trap_non_finite(op_name(op), y);
      return record(op, std::move(y), in...);
    }
  }
  const Meta meta = op.result(in.meta()...);
  Tensor y = Tensor::allocate(op_name(op).data(), meta);
  if (y.count() != 0) {
    Stream stream(meta.device);
    find_kernel<Op>(op_name(op), meta.device)(op, in..., y, stream);
    if (detail::traps_non_finite) [[unlikely]]
      detail::trap_non_finite(op_name(op), y);
  }
  return record(op, std::move(y), in...);
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

/// Two results, such as values and indices.
template <class Op, class... In>
std::pair<Tensor, Tensor> apply_pair(const Op& op, const In&... in) try {
  const FloatEnvironment environment;
  const auto [first, second] = op.result(in.meta()...);
  Tensor y = Tensor::allocate(op_name(op).data(), first);
  Tensor z = Tensor::allocate(op_name(op).data(), second);
  if (y.count() != 0) {
    Stream stream(first.device);
    find_kernel<Op>(op_name(op), first.device)(op, in..., y, z, stream);
    if (detail::traps_non_finite) [[unlikely]]
      detail::trap_non_finite(op_name(op), y);
  }
  return record_pair(op, std::move(y), std::move(z), in...);
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

/// A list of inputs (concat). result() has seen the same list.
template <class Op>
Tensor apply_list(const Op& op, std::span<const Tensor> in) try {
  const FloatEnvironment environment;
  const Meta meta = op.result(in);
  Tensor y = Tensor::allocate(op_name(op).data(), meta);
  if (y.count() != 0) {
    Stream stream(meta.device);
    find_kernel<Op>(op_name(op), meta.device)(op, in, y, stream);
    if (detail::traps_non_finite) [[unlikely]]
      detail::trap_non_finite(op_name(op), y);
  }
  return record_list(op, std::move(y), in);
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

/// A kernel that writes into memory that exists (the verbs that name their destination).
template <class Op, class... In>
void apply_into(const Op& op, Tensor& destination, const In&... in) try {
  if (destination.count() == 0) return;
  const FloatEnvironment environment;
  Stream stream(destination.device());
  find_kernel<Op>(op_name(op), destination.device())(op, in..., destination, stream);
} catch (const std::bad_alloc&) { detail::refuse_memory(op_name(op)); }

}  // namespace votive
