// What `checked` mode asks of integers (CONTRACT.md 2.1): would the result of the dtype's own width differ from the true one? Operands are numbers of `width`
// bits, 8 to 64, carried in 64; a predicate says 1 for yes. Also the cut to a width, and gcd and lcm. No value is ever changed here.
#pragma once

#include "votive/numerics/pointwise.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

/// The low `width` bits as a number of that width:  what a narrower dtype keeps.
VOTIVE_SCALAR u64 wrap_u64(u64 a, i32 width) { return a << (64 - width) >> (64 - width); }
VOTIVE_SCALAR i64 wrap_i64(i64 a, i32 width) { return (i64)((u64)a << (64 - width)) >> (64 - width); }

VOTIVE_SCALAR u8 add_overflows_u64(u64 a, u64 b, i32 width) { return (a + b < a) | (wrap_u64(a + b, width) != a + b); }
VOTIVE_SCALAR u8 add_overflows_i64(i64 a, i64 b, i32 width) {
  const i64 y = add_i64(a, b);
  return (((a ^ y) & (b ^ y)) < 0) | (wrap_i64(y, width) != y);
}
VOTIVE_SCALAR u8 sub_overflows_u64(u64 a, u64 b, i32 width) {
  (void)width;
  return a < b;
}
VOTIVE_SCALAR u8 sub_overflows_i64(i64 a, i64 b, i32 width) {
  const i64 y = sub_i64(a, b);
  return (((a ^ b) & (a ^ y)) < 0) | (wrap_i64(y, width) != y);
}
VOTIVE_SCALAR u8 mul_overflows_u64(u64 a, u64 b, i32 width) {
  const u32 high = multiply_high_u64(a, b) != 0u;
  return (u8)(high | (wrap_u64(a * b, width) != a * b));
}
VOTIVE_SCALAR u8 mul_overflows_i64(i64 a, i64 b, i32 width) {
  const i64 y = mul_i64(a, b);
  // the high word of the signed product must be the sign of the low one
  const u64 high = multiply_high_u64((u64)a, (u64)b) - (a < 0 ? (u64)b : 0u) - (b < 0 ? (u64)a : 0u);
  return (high != (u64)(y >> 63)) | (wrap_i64(y, width) != y);
}
VOTIVE_SCALAR u8 neg_overflows_u64(u64 a, i32 width) {
  (void)width;
  return a != 0u;
}
VOTIVE_SCALAR u8 neg_overflows_i64(i64 a, i32 width) { return sub_overflows_i64(0, a, width); }
VOTIVE_SCALAR u8 abs_overflows_u64(u64 a, i32 width) {
  (void)a, (void)width;
  return 0u;
}
VOTIVE_SCALAR u8 abs_overflows_i64(i64 a, i32 width) { return (a < 0) & neg_overflows_i64(a, width); }
VOTIVE_SCALAR u8 square_overflows_u64(u64 a, i32 width) { return mul_overflows_u64(a, a, width); }
VOTIVE_SCALAR u8 square_overflows_i64(i64 a, i32 width) { return mul_overflows_i64(a, a, width); }

/// div_trunc and floor_div: the one quotient that does not fit is MIN / -1. A zero divisor is another error.
VOTIVE_SCALAR u8 div_overflows_u64(u64 a, u64 b, i32 width) {
  (void)a, (void)b, (void)width;
  return 0u;
}
VOTIVE_SCALAR u8 div_overflows_i64(i64 a, i64 b, i32 width) { return (b == -1) & neg_overflows_i64(a, width); }

VOTIVE_SCALAR u8 pow_overflows_u64(u64 a, u64 n, i32 width) {
  u64 result = 1u;
  u32 lost = 0u;       // the result no longer fits
  u32 base_lost = 0u;  // the square does not: an error as soon as it is used
  for (; n != 0u; n >>= 1) {
    if ((n & 1u) != 0u) {
      lost |= base_lost | mul_overflows_u64(result, a, width);
      result *= a;
    }
    base_lost |= mul_overflows_u64(a, a, width);
    a *= a;
  }
  return (u8)lost;
}
VOTIVE_SCALAR u8 pow_overflows_i64(i64 a, u64 n, i32 width) {
  i64 result = 1;
  u32 lost = 0u;
  u32 base_lost = 0u;
  for (; n != 0u; n >>= 1) {
    if ((n & 1u) != 0u) {
      lost |= base_lost | mul_overflows_i64(result, a, width);
      result = mul_i64(result, a);
    }
    base_lost |= mul_overflows_i64(a, a, width);
    a = mul_i64(a, a);
  }
  return (u8)lost;
}

/// A count below 0 or from the width on, or a bit (for signed numbers: a sign) that a << count would lose.
VOTIVE_SCALAR u8 shift_left_overflows_u64(u64 a, i64 count, i32 width) {
  const u64 y = a << ((u64)count & 63u);
  return (count < 0) | (count >= width) | (wrap_u64(y, width) >> ((u64)count & 63u) != a);
}
VOTIVE_SCALAR u8 shift_left_overflows_i64(i64 a, i64 count, i32 width) {
  const i64 y = (i64)((u64)a << ((u64)count & 63u));
  return (count < 0) | (count >= width) | (wrap_i64(y, width) >> ((u64)count & 63u) != a);
}
VOTIVE_SCALAR u8 shift_right_overflows_u64(u64 a, i64 count, i32 width) {
  (void)a;
  return (count < 0) | (count >= width);
}
VOTIVE_SCALAR u8 shift_right_overflows_i64(i64 a, i64 count, i32 width) {
  (void)a;
  return (count < 0) | (count >= width);
}

/// The greatest common divisor of the magnitudes, gcd(0, 0) = 0 (Euclid).   gcd(MIN, MIN) = MIN wraps.
VOTIVE_SCALAR u64 gcd_u64(u64 a, u64 b) {
  while (b != 0u) {
    const u64 r = a % b;
    a = b;
    b = r;
  }
  return a;
}
VOTIVE_SCALAR i64 gcd_i64(i64 a, i64 b) { return (i64)gcd_u64((u64)abs_i64(a), (u64)abs_i64(b)); }
/// The least common multiple modulo 2^64, 0 where an argument is 0.
VOTIVE_SCALAR u64 lcm_u64(u64 a, u64 b) {
  const u64 g = gcd_u64(a, b);
  return g == 0u ? 0u : a / g * b;
}
VOTIVE_SCALAR i64 lcm_i64(i64 a, i64 b) { return (i64)lcm_u64((u64)abs_i64(a), (u64)abs_i64(b)); }

}  // namespace votive::numerics
