// The modes a program may ask for on a thread (CONTRACT.md 0.1.6): each only adds errors, none changes a value.
#pragma once

#include <cstdint>
#include <string_view>

#include "votive/core/tensor.h"

namespace votive {

namespace detail {
extern constinit thread_local bool checks_integers;
extern constinit thread_local bool traps_non_finite;
/// Throws Error{NonFinite} naming `op` if a floating result holds a NaN or an infinity. Operations that only move or make elements are let through.
void trap_non_finite(std::string_view op, const Tensor& y);
}  // namespace detail

/// While it lives, an integer result on this thread that its dtype cannot hold is Error{IntegerOverflow}, naming the operation and the position:
/// add, sub, mul, neg, abs, square, pow, shifts, MIN / −1, and casts to narrower integers.
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

enum class BinaryKind : std::uint8_t;
/// Throws Error{IntegerOverflow} at the first position where the integers a and b lose bits in `kind`; y is their result.
void require_no_overflow(BinaryKind kind, std::string_view op, const Tensor& a, const Tensor& b, const Tensor& y);
/// Throws Error{IntegerOverflow} or Error{Domain} at the first element of x that `dtype` holds only changed by more than rounding.
void require_fits(std::string_view op, const Tensor& x, DType dtype);

}  // namespace votive
