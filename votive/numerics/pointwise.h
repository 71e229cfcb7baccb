// Every pointwise operation of class E, written once for every device (CONTRACT.md 2.1, 2.2, 2.5). Scalars in, scalars out: nothing here knows a tensor,
// a thread or a vector. Integers compute in 64 bits and wrap; the caller narrows, which is the same as wrapping in the narrow type.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

// ---- floats ----

VOTIVE_SCALAR f32 add_f32(f32 a, f32 b) { return a + b; }
VOTIVE_SCALAR f64 add_f64(f64 a, f64 b) { return a + b; }
VOTIVE_SCALAR f32 sub_f32(f32 a, f32 b) { return a - b; }
VOTIVE_SCALAR f64 sub_f64(f64 a, f64 b) { return a - b; }
VOTIVE_SCALAR f32 mul_f32(f32 a, f32 b) { return a * b; }
VOTIVE_SCALAR f64 mul_f64(f64 a, f64 b) { return a * b; }
VOTIVE_SCALAR f32 div_f32(f32 a, f32 b) { return a / b; }
VOTIVE_SCALAR f64 div_f64(f64 a, f64 b) { return a / b; }
VOTIVE_SCALAR f32 recip_f32(f32 x) { return 1.0f / x; }
VOTIVE_SCALAR f64 recip_f64(f64 x) { return 1.0 / x; }

/// a b, and 0 where b = 0 whatever a is.
VOTIVE_SCALAR f32 multiply_no_nan_f32(f32 a, f32 b) { return b == 0.0f ? 0.0f : a * b; }
VOTIVE_SCALAR f64 multiply_no_nan_f64(f64 a, f64 b) { return b == 0.0 ? 0.0 : a * b; }
/// a / b, and 0 where a = 0 whatever b is.
VOTIVE_SCALAR f32 xdivy_f32(f32 a, f32 b) { return a == 0.0f ? 0.0f : a / b; }
VOTIVE_SCALAR f64 xdivy_f64(f64 a, f64 b) { return a == 0.0 ? 0.0 : a / b; }

/// Two roundings:  1 / sqrt(x).   +-0 give +-inf.
VOTIVE_SCALAR f32 rsqrt_f32(f32 x) { return 1.0f / sqrt_f32(x); }
VOTIVE_SCALAR f64 rsqrt_f64(f64 x) { return 1.0 / sqrt_f64(x); }

VOTIVE_SCALAR f32 round_f32(f32 x) { return rint_f32(x); }
VOTIVE_SCALAR f64 round_f64(f64 x) { return rint_f64(x); }

VOTIVE_SCALAR f32 square_f32(f32 x) { return x * x; }
VOTIVE_SCALAR f64 square_f64(f64 x) { return x * x; }

/// IEEE 754-2019 minimum:  NaN wins, -0 < +0.
VOTIVE_SCALAR f32 minimum_f32(f32 a, f32 b) {
  const f32 zero = f32_from_bits(bits_f32(a) | bits_f32(b));  // equal numbers differ in bits only as -0 and +0
  const f32 m = a < b ? a : (a == b ? zero : b);
  return a != a ? a : m;
}
VOTIVE_SCALAR f64 minimum_f64(f64 a, f64 b) {
  const f64 zero = f64_from_bits(bits_f64(a) | bits_f64(b));
  const f64 m = a < b ? a : (a == b ? zero : b);
  return a != a ? a : m;
}
/// IEEE 754-2019 maximum:  NaN wins, -0 < +0.
VOTIVE_SCALAR f32 maximum_f32(f32 a, f32 b) {
  const f32 zero = f32_from_bits(bits_f32(a) & bits_f32(b));
  const f32 m = a > b ? a : (a == b ? zero : b);
  return a != a ? a : m;
}
VOTIVE_SCALAR f64 maximum_f64(f64 a, f64 b) {
  const f64 zero = f64_from_bits(bits_f64(a) & bits_f64(b));
  const f64 m = a > b ? a : (a == b ? zero : b);
  return a != a ? a : m;
}

/// IEEE 754-2019 minimumNumber:  NaN is missing data, -0 < +0.
VOTIVE_SCALAR f32 fmin_f32(f32 a, f32 b) {
  const f32 m = minimum_f32(a, b);
  return b != b ? a : (a != a ? b : m);
}
VOTIVE_SCALAR f64 fmin_f64(f64 a, f64 b) {
  const f64 m = minimum_f64(a, b);
  return b != b ? a : (a != a ? b : m);
}
/// IEEE 754-2019 maximumNumber.
VOTIVE_SCALAR f32 fmax_f32(f32 a, f32 b) {
  const f32 m = maximum_f32(a, b);
  return b != b ? a : (a != a ? b : m);
}
VOTIVE_SCALAR f64 fmax_f64(f64 a, f64 b) {
  const f64 m = maximum_f64(a, b);
  return b != b ? a : (a != a ? b : m);
}

/// minimum(maximum(x, low), high), so that low > high gives high.
VOTIVE_SCALAR f32 clamp_f32(f32 x, f32 low, f32 high) { return minimum_f32(maximum_f32(x, low), high); }
VOTIVE_SCALAR f64 clamp_f64(f64 x, f64 low, f64 high) { return minimum_f64(maximum_f64(x, low), high); }

/// -1 or 1;  +-0 and NaN stay themselves.
VOTIVE_SCALAR f32 sign_f32(f32 x) { return x > 0.0f ? 1.0f : (x < 0.0f ? -1.0f : x); }
VOTIVE_SCALAR f64 sign_f64(f64 x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); }

/// maximum(x, +0):  NaN stays, -0 becomes +0.
VOTIVE_SCALAR f32 relu_f32(f32 x) { return x <= 0.0f ? 0.0f : x; }
VOTIVE_SCALAR f64 relu_f64(f64 x) { return x <= 0.0 ? 0.0 : x; }

/// minimum(maximum(x, +0), 6).
VOTIVE_SCALAR f32 relu6_f32(f32 x) { return x <= 0.0f ? 0.0f : (x >= 6.0f ? 6.0f : x); }
VOTIVE_SCALAR f64 relu6_f64(f64 x) { return x <= 0.0 ? 0.0 : (x >= 6.0 ? 6.0 : x); }
VOTIVE_SCALAR f32 hardtanh_f32(f32 x, f32 low, f32 high) { return clamp_f32(x, low, high); }
VOTIVE_SCALAR f64 hardtanh_f64(f64 x, f64 low, f64 high) { return clamp_f64(x, low, high); }
/// x, or slope * x where x is below 0.
VOTIVE_SCALAR f32 leaky_relu_f32(f32 x, f32 slope) { return x < 0.0f ? slope * x : x; }
VOTIVE_SCALAR f64 leaky_relu_f64(f64 x, f64 slope) { return x < 0.0 ? slope * x : x; }

/// x above limit, else value.
VOTIVE_SCALAR f32 threshold_f32(f32 x, f32 limit, f32 value) { return x <= limit ? value : x; }
VOTIVE_SCALAR f64 threshold_f64(f64 x, f64 limit, f64 value) { return x <= limit ? value : x; }
/// factor x + term, one rounding.
VOTIVE_SCALAR f32 affine_f32(f32 x, f32 factor, f32 term) { return fma_f32(x, factor, term); }
VOTIVE_SCALAR f64 affine_f64(f64 x, f64 factor, f64 term) { return fma_f64(x, factor, term); }
/// The three numbers that are none, replaced.
VOTIVE_SCALAR f32 nan_to_num_f32(f32 x, f32 nan, f32 above, f32 below) {
  return x != x ? nan : (x == infinity_f32() ? above : (x == -infinity_f32() ? below : x));
}
VOTIVE_SCALAR f64 nan_to_num_f64(f64 x, f64 nan, f64 above, f64 below) {
  return x != x ? nan : (x == infinity_f64() ? above : (x == -infinity_f64() ? below : x));
}

/// x - trunc(x), exact, the sign of x;  whole numbers give +0, infinities NaN.
VOTIVE_SCALAR f32 frac_f32(f32 x) { return x - trunc_f32(x); }
VOTIVE_SCALAR f64 frac_f64(f64 x) { return x - trunc_f64(x); }

/// One rounding:  x + value * a * b where value * a is exact, as it is for the usual 1; else that product is rounded first.
VOTIVE_SCALAR f32 addcmul_f32(f32 x, f32 a, f32 b, f32 value) { return fma_f32(value * a, b, x); }
VOTIVE_SCALAR f64 addcmul_f64(f64 x, f64 a, f64 b, f64 value) { return fma_f64(value * a, b, x); }
/// x + value * (a / b), the quotient rounded, then one fma.
VOTIVE_SCALAR f32 addcdiv_f32(f32 x, f32 a, f32 b, f32 value) { return fma_f32(value, a / b, x); }
VOTIVE_SCALAR f64 addcdiv_f64(f64 x, f64 a, f64 b, f64 value) { return fma_f64(value, a / b, x); }
/// a + t (b - a) by one fma after b - a; from t = 1/2 on as b + (t - 1) (b - a), so that t = 1 gives b itself.
VOTIVE_SCALAR f32 lerp_f32(f32 a, f32 b, f32 t) {
  const f32 d = b - a;
  return t < 0.5f ? fma_f32(t, d, a) : fma_f32(t - 1.0f, d, b);
}
VOTIVE_SCALAR f64 lerp_f64(f64 a, f64 b, f64 t) {
  const f64 d = b - a;
  return t < 0.5 ? fma_f64(t, d, a) : fma_f64(t - 1.0, d, b);
}

/// x * 180/pi and x * pi/180, the constant in two parts.   <= 0.51 ulp above the subnormal numbers.
VOTIVE_SCALAR f32 rad2deg_f32(f32 x) {
  const f32 y = fma_f32(x, 0x1.ca5dc2p+5f, x * -0x1.670f82p-21f);
  return x == 0.0f ? x : (abs_f32(x) < infinity_f32() ? y : x);
}
VOTIVE_SCALAR f64 rad2deg_f64(f64 x) {
  const f64 y = fma_f64(x, 0x1.ca5dc1a63c1f8p+5, x * -0x1.1e7ab456405f9p-49);
  return x == 0.0 ? x : (abs_f64(x) < infinity_f64() ? y : x);
}
VOTIVE_SCALAR f32 deg2rad_f32(f32 x) { return fma_f32(x, 0x1.1df46ap-6f, x * 0x1.294e9cp-33f); }
VOTIVE_SCALAR f64 deg2rad_f64(f64 x) { return fma_f64(x, 0x1.1df46a2529d39p-6, x * 0x1.5c1d8becdd291p-62); }

VOTIVE_SCALAR u8 isnan_f32(f32 x) { return x != x; }
VOTIVE_SCALAR u8 isnan_f64(f64 x) { return x != x; }
VOTIVE_SCALAR u8 isinf_f32(f32 x) { return abs_f32(x) == infinity_f32(); }
VOTIVE_SCALAR u8 isinf_f64(f64 x) { return abs_f64(x) == infinity_f64(); }
VOTIVE_SCALAR u8 isfinite_f32(f32 x) { return abs_f32(x) < infinity_f32(); }
VOTIVE_SCALAR u8 isfinite_f64(f64 x) { return abs_f64(x) < infinity_f64(); }
/// The sign bit, also of zeros and NaN.
VOTIVE_SCALAR u8 signbit_f32(f32 x) { return (u8)(bits_f32(x) >> 31); }
VOTIVE_SCALAR u8 signbit_f64(f64 x) { return (u8)(bits_f64(x) >> 63); }

/// The next float after a toward b;  b where they are equal (so that the zeros keep their sign), NaN where either is.
VOTIVE_SCALAR f32 nextafter_f32(f32 a, f32 b) {
  const u32 u = bits_f32(a);
  const u32 outward = (a < b) == (a > 0.0f);  // away from zero
  const u32 next = (u & 0x7fffffffu) == 0u ? ((bits_f32(b) & 0x80000000u) | 1u) : (outward ? u + 1u : u - 1u);
  return ((a != a) | (b != b)) ? nan_f32() : (a == b ? b : f32_from_bits(next));
}
VOTIVE_SCALAR f64 nextafter_f64(f64 a, f64 b) {
  const u64 u = bits_f64(a);
  const u32 outward = (a < b) == (a > 0.0);
  const u64 next = (u & 0x7fffffffffffffffu) == 0u ? ((bits_f64(b) & 0x8000000000000000u) | 1u) : (outward ? u + 1u : u - 1u);
  return ((a != a) | (b != b)) ? nan_f64() : (a == b ? b : f64_from_bits(next));
}

VOTIVE_SCALAR u8 eq_f32(f32 a, f32 b) { return a == b; }
VOTIVE_SCALAR u8 ne_f32(f32 a, f32 b) { return a != b; }
VOTIVE_SCALAR u8 lt_f32(f32 a, f32 b) { return a < b; }
VOTIVE_SCALAR u8 le_f32(f32 a, f32 b) { return a <= b; }
VOTIVE_SCALAR u8 gt_f32(f32 a, f32 b) { return a > b; }
VOTIVE_SCALAR u8 ge_f32(f32 a, f32 b) { return a >= b; }
VOTIVE_SCALAR u8 eq_f64(f64 a, f64 b) { return a == b; }
VOTIVE_SCALAR u8 ne_f64(f64 a, f64 b) { return a != b; }
VOTIVE_SCALAR u8 lt_f64(f64 a, f64 b) { return a < b; }
VOTIVE_SCALAR u8 le_f64(f64 a, f64 b) { return a <= b; }
VOTIVE_SCALAR u8 gt_f64(f64 a, f64 b) { return a > b; }
VOTIVE_SCALAR u8 ge_f64(f64 a, f64 b) { return a >= b; }

// ---- integers ----

VOTIVE_SCALAR u64 add_u64(u64 a, u64 b) { return a + b; }
VOTIVE_SCALAR u64 sub_u64(u64 a, u64 b) { return a - b; }
VOTIVE_SCALAR u64 mul_u64(u64 a, u64 b) { return a * b; }
VOTIVE_SCALAR u64 neg_u64(u64 a) { return 0u - a; }
VOTIVE_SCALAR u64 abs_u64(u64 a) { return a; }
VOTIVE_SCALAR i64 add_i64(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
VOTIVE_SCALAR i64 sub_i64(i64 a, i64 b) { return (i64)((u64)a - (u64)b); }
VOTIVE_SCALAR i64 mul_i64(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
VOTIVE_SCALAR i64 neg_i64(i64 a) { return (i64)(0u - (u64)a); }
VOTIVE_SCALAR i64 abs_i64(i64 a) { return a < 0 ? neg_i64(a) : a; }

VOTIVE_SCALAR u64 square_u64(u64 a) { return a * a; }
VOTIVE_SCALAR i64 square_i64(i64 a) { return mul_i64(a, a); }

VOTIVE_SCALAR u64 minimum_u64(u64 a, u64 b) { return a < b ? a : b; }
VOTIVE_SCALAR u64 maximum_u64(u64 a, u64 b) { return a > b ? a : b; }
VOTIVE_SCALAR u64 clamp_u64(u64 x, u64 low, u64 high) { return minimum_u64(maximum_u64(x, low), high); }
VOTIVE_SCALAR i64 minimum_i64(i64 a, i64 b) { return a < b ? a : b; }
VOTIVE_SCALAR i64 maximum_i64(i64 a, i64 b) { return a > b ? a : b; }
VOTIVE_SCALAR i64 clamp_i64(i64 x, i64 low, i64 high) { return minimum_i64(maximum_i64(x, low), high); }
VOTIVE_SCALAR u64 fmin_u64(u64 a, u64 b) { return minimum_u64(a, b); }
VOTIVE_SCALAR u64 fmax_u64(u64 a, u64 b) { return maximum_u64(a, b); }
VOTIVE_SCALAR i64 fmin_i64(i64 a, i64 b) { return minimum_i64(a, b); }
VOTIVE_SCALAR i64 fmax_i64(i64 a, i64 b) { return maximum_i64(a, b); }
VOTIVE_SCALAR u64 sign_u64(u64 x) { return x != 0u; }
VOTIVE_SCALAR i64 sign_i64(i64 x) { return (x > 0) - (x < 0); }
VOTIVE_SCALAR u64 relu_u64(u64 x) { return x; }
VOTIVE_SCALAR i64 relu_i64(i64 x) { return x > 0 ? x : 0; }

/// The high 64 bits of a * b.
VOTIVE_SCALAR u64 multiply_high_u64(u64 a, u64 b) {
  const u64 a0 = (u32)a;
  const u64 a1 = a >> 32;
  const u64 b0 = (u32)b;
  const u64 b1 = b >> 32;
  const u64 middle = a1 * b0 + ((a0 * b0) >> 32);
  const u64 cross = a0 * b1 + (u32)middle;
  return a1 * b1 + (middle >> 32) + (cross >> 32);
}

/// C's division.   A zero divisor is reported by the caller and gives 0;  MIN / -1 = MIN.
VOTIVE_SCALAR u64 div_trunc_u64(u64 a, u64 b) {
  const u64 q = a / (b == 0u ? 1u : b);
  return b == 0u ? 0u : q;
}
VOTIVE_SCALAR i64 div_trunc_i64(i64 a, i64 b) {
  const i64 q = a / (((b == 0) | (b == -1)) ? 1 : b);  // the two divisors that trap
  return b == 0 ? 0 : (b == -1 ? neg_i64(a) : q);
}
/// C's remainder, the sign of a.   A zero divisor gives 0;  MIN fmod -1 = 0.
VOTIVE_SCALAR u64 fmod_u64(u64 a, u64 b) { return a % (b == 0u ? 1u : b); }
VOTIVE_SCALAR i64 fmod_i64(i64 a, i64 b) { return a % (((b == 0) | (b == -1)) ? 1 : b); }
/// Python's floor division.   A zero divisor gives 0;  MIN / -1 = MIN.
VOTIVE_SCALAR u64 floor_div_u64(u64 a, u64 b) { return div_trunc_u64(a, b); }
VOTIVE_SCALAR i64 floor_div_i64(i64 a, i64 b) {
  const i64 r = fmod_i64(a, b);
  return div_trunc_i64(a, b) - ((r != 0) & ((r ^ b) < 0) & (b != 0));  // one less when a remainder is left and the signs differ
}
/// Python's remainder, the sign of b.   A zero divisor gives 0.
VOTIVE_SCALAR u64 remainder_u64(u64 a, u64 b) { return fmod_u64(a, b); }
VOTIVE_SCALAR i64 remainder_i64(i64 a, i64 b) {
  const i64 r = fmod_i64(a, b);
  return ((r != 0) & ((r ^ b) < 0)) ? r + b : r;
}

/// a^n modulo 2^64, 0^0 = 1, by squaring.   The caller reports a negative exponent.
VOTIVE_SCALAR u64 pow_u64(u64 a, u64 n) {
  u64 result = 1u;
  for (; n != 0u; n >>= 1) {
    result *= n & 1u ? a : 1u;
    a *= a;
  }
  return result;
}
VOTIVE_SCALAR i64 pow_i64(i64 a, u64 n) { return (i64)pow_u64((u64)a, n); }

/// Shifts of a number that is `width` bits wide in its own dtype:  a count below 0 or from width on leaves no bit (arithmetic >> leaves the sign).
VOTIVE_SCALAR u64 shift_left_u64(u64 a, i64 count, i32 width) { return ((count < 0) | (count >= width)) ? 0u : a << ((u64)count & 63u); }
VOTIVE_SCALAR i64 shift_left_i64(i64 a, i64 count, i32 width) { return (i64)shift_left_u64((u64)a, count, width); }
VOTIVE_SCALAR u64 shift_right_u64(u64 a, i64 count, i32 width) { return ((count < 0) | (count >= width)) ? 0u : a >> ((u64)count & 63u); }
VOTIVE_SCALAR i64 shift_right_i64(i64 a, i64 count, i32 width) {
  return a >> (((count < 0) | (count >= width)) ? 63u : ((u64)count & 63u));
}

VOTIVE_SCALAR u64 bitwise_and_u64(u64 a, u64 b) { return a & b; }
VOTIVE_SCALAR u64 bitwise_or_u64(u64 a, u64 b) { return a | b; }
VOTIVE_SCALAR u64 bitwise_xor_u64(u64 a, u64 b) { return a ^ b; }
VOTIVE_SCALAR u64 bitwise_not_u64(u64 a) { return ~a; }
VOTIVE_SCALAR i64 bitwise_not_i64(i64 a) { return ~a; }

VOTIVE_SCALAR u8 eq_u64(u64 a, u64 b) { return a == b; }
VOTIVE_SCALAR u8 ne_u64(u64 a, u64 b) { return a != b; }
VOTIVE_SCALAR u8 lt_u64(u64 a, u64 b) { return a < b; }
VOTIVE_SCALAR u8 le_u64(u64 a, u64 b) { return a <= b; }
VOTIVE_SCALAR u8 gt_u64(u64 a, u64 b) { return a > b; }
VOTIVE_SCALAR u8 ge_u64(u64 a, u64 b) { return a >= b; }
VOTIVE_SCALAR u8 eq_i64(i64 a, i64 b) { return a == b; }
VOTIVE_SCALAR u8 ne_i64(i64 a, i64 b) { return a != b; }
VOTIVE_SCALAR u8 lt_i64(i64 a, i64 b) { return a < b; }
VOTIVE_SCALAR u8 le_i64(i64 a, i64 b) { return a <= b; }
VOTIVE_SCALAR u8 gt_i64(i64 a, i64 b) { return a > b; }
VOTIVE_SCALAR u8 ge_i64(i64 a, i64 b) { return a >= b; }

/// Signed with unsigned, as numbers:  -1 is not 2^64 - 1.
VOTIVE_SCALAR u8 eq_i64_u64(i64 a, u64 b) { return (a >= 0) & ((u64)a == b); }
VOTIVE_SCALAR u8 ne_i64_u64(i64 a, u64 b) { return (a < 0) | ((u64)a != b); }
VOTIVE_SCALAR u8 lt_i64_u64(i64 a, u64 b) { return (a < 0) | ((u64)a < b); }
VOTIVE_SCALAR u8 le_i64_u64(i64 a, u64 b) { return (a < 0) | ((u64)a <= b); }
VOTIVE_SCALAR u8 gt_i64_u64(i64 a, u64 b) { return (a >= 0) & ((u64)a > b); }
VOTIVE_SCALAR u8 ge_i64_u64(i64 a, u64 b) { return (a >= 0) & ((u64)a >= b); }

VOTIVE_SCALAR u8 eq_u64_i64(u64 a, i64 b) { return eq_i64_u64(b, a); }
VOTIVE_SCALAR u8 ne_u64_i64(u64 a, i64 b) { return ne_i64_u64(b, a); }
VOTIVE_SCALAR u8 lt_u64_i64(u64 a, i64 b) { return gt_i64_u64(b, a); }
VOTIVE_SCALAR u8 le_u64_i64(u64 a, i64 b) { return ge_i64_u64(b, a); }
VOTIVE_SCALAR u8 gt_u64_i64(u64 a, i64 b) { return lt_i64_u64(b, a); }
VOTIVE_SCALAR u8 ge_u64_i64(u64 a, i64 b) { return le_i64_u64(b, a); }

// ---- bool: one byte, 0 or 1 ----

VOTIVE_SCALAR u8 logical_and(u8 a, u8 b) { return a & b; }
VOTIVE_SCALAR u8 logical_or(u8 a, u8 b) { return a | b; }
VOTIVE_SCALAR u8 logical_xor(u8 a, u8 b) { return a ^ b; }
VOTIVE_SCALAR u8 logical_not(u8 a) { return a ^ 1u; }
VOTIVE_SCALAR u8 bitwise_not_bool(u8 a) { return logical_not(a); }

// ---- float division with remainder (CONTRACT.md 2.2) ----

/// fmod of finite magnitudes by long division, 40 bits of quotient at a time.
VOTIVE_SCALAR f32 fmod_magnitude_f32(f32 a, f32 b) {
  const u32 ua = bits_f32(a);
  const u32 ub = bits_f32(b);
  const i32 ea = ua >> 23 ? (i32)(ua >> 23) : 1;
  const i32 eb = ub >> 23 ? (i32)(ub >> 23) : 1;
  const u64 mb = (ub & 0x7fffffu) | (ub >> 23 ? 0x800000u : 0u);
  u64 r = (ua & 0x7fffffu) | (ua >> 23 ? 0x800000u : 0u);
  i32 shift = ea - eb;
  r %= mb;
  while ((shift > 0) & (r != 0u)) {
    const i32 step = shift < 40 ? shift : 40;
    r = (r << step) % mb;
    shift -= step;
  }
  // r * 2^(eb - 150), exact: r < mb
  f32 result = (f32)(u32)r;
  i32 e = eb - 150;
  if (e < -126) {
    result *= 0x1p-75f;
    e += 75;
  }
  return result * f32_from_bits((u32)(e + 127) << 23);
}
/// As above, 11 bits of quotient at a time.
VOTIVE_SCALAR f64 fmod_magnitude_f64(f64 a, f64 b) {
  const u64 ua = bits_f64(a);
  const u64 ub = bits_f64(b);
  const i32 ea = ua >> 52 ? (i32)(ua >> 52) : 1;
  const i32 eb = ub >> 52 ? (i32)(ub >> 52) : 1;
  const u64 mb = (ub & 0xfffffffffffffu) | (ub >> 52 ? 0x10000000000000u : 0u);
  u64 r = (ua & 0xfffffffffffffu) | (ua >> 52 ? 0x10000000000000u : 0u);
  i32 shift = ea - eb;
  r %= mb;
  while ((shift > 0) & (r != 0u)) {
    const i32 step = shift < 11 ? shift : 11;
    r = (r << step) % mb;
    shift -= step;
  }
  f64 result = (f64)r;
  i32 e = eb - 1075;
  if (e < -1022) {
    result *= 0x1p-75;
    e += 75;
  }
  return result * f64_from_bits((u64)(e + 1023) << 52);
}

/// The exact IEEE remainder toward zero, the sign of a.   a infinite or b = 0 gives NaN, b infinite gives a.
VOTIVE_SCALAR f32 fmod_f32(f32 a, f32 b) {
  const f32 x = abs_f32(a);
  const f32 y = abs_f32(b);
  if ((a != a) | (b != b) | (x == infinity_f32()) | (y == 0.0f)) return nan_f32();
  if (x < y) return a;
  return copysign_f32(fmod_magnitude_f32(x, y), a);
}
VOTIVE_SCALAR f64 fmod_f64(f64 a, f64 b) {
  const f64 x = abs_f64(a);
  const f64 y = abs_f64(b);
  if ((a != a) | (b != b) | (x == infinity_f64()) | (y == 0.0)) return nan_f64();
  if (x < y) return a;
  return copysign_f64(fmod_magnitude_f64(x, y), a);
}

/// Python's remainder, the sign of b;  r + b is rounded, so -1e-30 % 1 = 1.
VOTIVE_SCALAR f32 remainder_f32(f32 a, f32 b) {
  const f32 r = fmod_f32(a, b);
  if (r == 0.0f) return copysign_f32(0.0f, b);
  return (r < 0.0f) != (b < 0.0f) ? r + b : r;
}
VOTIVE_SCALAR f64 remainder_f64(f64 a, f64 b) {
  const f64 r = fmod_f64(a, b);
  if (r == 0.0) return copysign_f64(0.0, b);
  return (r < 0.0) != (b < 0.0) ? r + b : r;
}

/// Python's floor division:  1 // 0.1 = 9.   b = 0 gives a / b;  a zero takes the sign of a / b.
VOTIVE_SCALAR f32 floor_div_f32(f32 a, f32 b) {
  if (b == 0.0f) return a / b;
  const f32 r = fmod_f32(a, b);
  f32 q = (a - r) / b;
  if ((r != 0.0f) & ((r < 0.0f) != (b < 0.0f))) q -= 1.0f;
  if (q == 0.0f) return copysign_f32(0.0f, a / b);
  const f32 down = floor_f32(q);
  return q - down > 0.5f ? down + 1.0f : down;
}
VOTIVE_SCALAR f64 floor_div_f64(f64 a, f64 b) {
  if (b == 0.0) return a / b;
  const f64 r = fmod_f64(a, b);
  f64 q = (a - r) / b;
  if ((r != 0.0) & ((r < 0.0) != (b < 0.0))) q -= 1.0;
  if (q == 0.0) return copysign_f64(0.0, a / b);
  const f64 down = floor_f64(q);
  return q - down > 0.5 ? down + 1.0 : down;
}

/// trunc(a / b), the quotient rounded first.
VOTIVE_SCALAR f32 div_trunc_f32(f32 a, f32 b) { return trunc_f32(a / b); }
VOTIVE_SCALAR f64 div_trunc_f64(f64 a, f64 b) { return trunc_f64(a / b); }

}  // namespace votive::numerics
