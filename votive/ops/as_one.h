// A function made of others answers as one: what a part of it throws names the function that was called, and the trap looks at its result alone, since a
// part may pass through an infinity that the result never shows (the logarithm of a probability of 0).
#pragma once

#include <new>
#include <utility>

#include "votive/base/error.h"
#include "votive/base/float_environment.h"
#include "votive/base/refuse_memory.h"
#include "votive/ops/modes.h"

namespace votive {

namespace detail {

/// Lets the trap rest while the parts of a function are computed.
class WithoutTrap {
 public:
  WithoutTrap() { traps_non_finite = false; }
  ~WithoutTrap() { traps_non_finite = before_; }
  WithoutTrap(const WithoutTrap&) = delete;
  WithoutTrap& operator=(const WithoutTrap&) = delete;

 private:
  bool before_ = traps_non_finite;
};

inline void trap_results(std::string_view op, const Tensor& y) {
  if (y.defined()) trap_non_finite(op, y);
}
inline void trap_results(std::string_view, bool) {}
template <class Results>
void trap_results(std::string_view op, const Results& all) {
  if constexpr (requires { all.begin(); }) {
    for (const Tensor& y : all) trap_results(op, y);
  } else if constexpr (requires { Results{Tensor(), Tensor(), Tensor()}; }) {
    const auto& [first, second, third] = all;
    trap_results(op, first);
    trap_results(op, second);
    trap_results(op, third);
  } else {
    const auto& [first, second] = all;
    trap_results(op, first);
    trap_results(op, second);
  }
}

}  // namespace detail

/// `work()`, a tensor, two or three or a list of them, as the result of the function `op`. What it computes on the caller's thread, such as a scale, is
/// computed in the floating-point environment of the contract.
template <class Work>
auto as_one(std::string_view op, const Work& work) {
  const FloatEnvironment environment;
  try {
    if (!detail::traps_non_finite) return work();
    auto result = [&] {
      const detail::WithoutTrap rest;
      return work();
    }();
    detail::trap_results(op, result);
    return result;
  } catch (Error& error) {
    error.in(op);
    throw;
  } catch (const std::bad_alloc&) { detail::refuse_memory(op); }
}

}  // namespace votive
