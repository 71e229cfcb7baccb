// The modes a program may ask for on a thread (CONTRACT.md 0.1.6): each only adds errors, none changes a value.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "votive/ops/op.h"

namespace votive {

namespace detail {
extern constinit thread_local bool checks_integers VOTIVE_INITIAL_EXEC;
extern constinit thread_local bool traps_non_finite VOTIVE_INITIAL_EXEC;
/// Throws Error{NonFinite} naming `op` if a floating result holds a NaN or an infinity. Operations that only move or make elements are let through.
void trap_non_finite(std::string_view op, const Tensor& y);
}  // namespace detail

/// While it lives, an integer result on this thread that its dtype cannot hold is Error{IntegerOverflow}, naming the operation and the position:
/// add, sub, mul, neg, abs, square, pow, gcd, lcm, shifts, MIN / −1, casts to narrower integers, sums and products along an axis, and what is added or
/// multiplied into a tensor by index. Integer matmul is exact in 32 bits or refuses by itself.
class CheckedScope {
 public:
  CheckedScope() { detail::checks_integers = true; }
  ~CheckedScope() { detail::checks_integers = before_; }
  CheckedScope(const CheckedScope&) = delete;
  CheckedScope& operator=(const CheckedScope&) = delete;

 private:
  bool before_ = detail::checks_integers;
};

/// While it lives, an operation on this thread whose floating result holds a NaN or an infinity is Error{NonFinite}, naming it and the position.
class NonFiniteTrapScope {
 public:
  NonFiniteTrapScope() { detail::traps_non_finite = true; }
  ~NonFiniteTrapScope() { detail::traps_non_finite = before_; }
  NonFiniteTrapScope(const NonFiniteTrapScope&) = delete;
  NonFiniteTrapScope& operator=(const NonFiniteTrapScope&) = delete;

 private:
  bool before_ = detail::traps_non_finite;
};

/// Whether integer operations of this thread are to be checked.
inline bool is_checked() { return detail::checks_integers; }

/// While it lives, every mode of the thread is off: for what a check computes itself.
class Unchecked {
 public:
  Unchecked() { detail::checks_integers = detail::traps_non_finite = false; }
  ~Unchecked() {
    detail::checks_integers = checks_;
    detail::traps_non_finite = traps_;
  }
  Unchecked(const Unchecked&) = delete;
  Unchecked& operator=(const Unchecked&) = delete;

 private:
  bool checks_ = detail::checks_integers, traps_ = detail::traps_non_finite;
};

/// Throws Error{IntegerOverflow} at the first true element of `lost`: the integers there, one or two, have a result that y's dtype does not hold.
void require_no_overflow(std::string_view op, const Tensor& lost, std::initializer_list<const Tensor*> operands, const Tensor& y);
/// Throws Error{IntegerOverflow} or Error{Domain} at the first element of x that `dtype` holds only changed by more than rounding.
void require_fits(std::string_view op, const Tensor& x, DType dtype);

}  // namespace votive
