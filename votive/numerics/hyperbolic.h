// sinh, cosh and the inverses of all three hyperbolic functions (CONTRACT.md 2.3), from exp and log with their digits carried along. No branches.
#pragma once

#include "votive/numerics/power.h"

namespace votive::numerics {

/// The hyperbolic sine.   <= 2 ulp.
VOTIVE_SCALAR f32 sinh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 z = x * x;
  f32 p = 0x1.75a6f4p-19f;
  p = fma_f32(p, z, 0x1.a02156p-13f);
  p = fma_f32(p, z, 0x1.1110e2p-7f);
  p = fma_f32(p, z, 0x1.555556p-3f);
  const f32 small = fma_f32(p * z, a, a);
  // (e^a - e^-a) / 2 = (head + tail - 2^-2k / head) 2^(k-1)
  const ScaledF32 e = exp_scaled_f32(a < 90.0f ? a : 90.0f);
  const f32 head = 1.0f + e.excess;
  const f32 tail = (1.0f - head) + e.excess;
  const f32 below = power_of_two_f32(e.exponent < 40 ? -2 * e.exponent : -80) / head;
  const i32 k = e.exponent - 1;
  const f32 large = (head + (tail - below)) * first_factor_f32(k) * second_factor_f32(k);
  const f32 y = copysign_f32(a < 1.0f ? small : large, x);
  return x != x ? x : y;
}
VOTIVE_SCALAR f64 sinh_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 z = x * x;
  f64 p = 0x1.c4217eed2622ep-48;
  p = fma_f64(p, z, 0x1.a6d0151ade1bdp-41);
  p = fma_f64(p, z, 0x1.6130b1abeaa9fp-33);
  p = fma_f64(p, z, 0x1.ae6442059a718p-26);
  p = fma_f64(p, z, 0x1.71de3a68249b7p-19);
  p = fma_f64(p, z, 0x1.a01a01a007b1cp-13);
  p = fma_f64(p, z, 0x1.1111111111199p-7);
  p = fma_f64(p, z, 0x1.5555555555555p-3);
  const f64 small = fma_f64(p * z, a, a);
  const ExcessF64 e = exp_excess_f64(a < 711.0 ? a : 711.0, 0.0);
  const f64 head = 1.0 + e.head;
  const f64 tail = ((1.0 - head) + e.head) + e.tail;
  const f64 below = power_of_two_f64(e.exponent < 100 ? -2 * e.exponent : -200) / (head + tail);
  const f64 near = head - below;
  const f64 large = (near + (((head - near) - below) + tail)) * power_of_two_f64((e.exponent - 1) >> 1) *
                    power_of_two_f64(e.exponent - 1 - ((e.exponent - 1) >> 1));
  const f64 y = copysign_f64(a < 1.0 ? small : large, x);
  return x != x ? x : y;
}

/// The hyperbolic cosine.   <= 2 ulp.
VOTIVE_SCALAR f32 cosh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const ScaledF32 e = exp_scaled_f32(a < 90.0f ? a : 90.0f);
  const f32 head = 1.0f + e.excess;
  const f32 tail = (1.0f - head) + e.excess;
  const f32 below = power_of_two_f32(e.exponent < 40 ? -2 * e.exponent : -80) / head;
  const i32 k = e.exponent - 1;
  const f32 y = (head + (tail + below)) * first_factor_f32(k) * second_factor_f32(k);
  return x != x ? x : y;
}
VOTIVE_SCALAR f64 cosh_f64(f64 x) {
  const f64 a = abs_f64(x);
  const ExcessF64 e = exp_excess_f64(a < 711.0 ? a : 711.0, 0.0);
  const f64 head = 1.0 + e.head;
  const f64 tail = ((1.0 - head) + e.head) + e.tail;
  const f64 below = power_of_two_f64(e.exponent < 100 ? -2 * e.exponent : -200) / (head + tail);
  const i32 k = e.exponent - 1;
  const f64 y = (head + (tail + below)) * power_of_two_f64(k >> 1) * power_of_two_f64(k - (k >> 1));
  return x != x ? x : y;
}

/// The inverse of sinh.   <= 3 ulp.
VOTIVE_SCALAR f32 asinh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const u32 large = a > 0x1p14f;  // ln 2a from there on
  const f32 c = large ? 1.0f : a;
  const f32 z = c * c;
  const PairF32 u = two_sum_f32(c, z / (1.0f + sqrt_f32(1.0f + z)));  // e^asinh - 1
  const PairF32 v = two_sum_f32(1.0f, u.head);
  const PairF32 l = log_long_f32(large ? a : v.head);
  const f32 y = copysign_f32(l.head + (large ? 0x1.62e430p-1f + l.tail : l.tail + (v.tail + u.tail) / v.head), x);
  return a < infinity_f32() ? y : x;
}
VOTIVE_SCALAR f64 asinh_f64(f64 x) {
  const f64 a = abs_f64(x);
  const u32 large = a > 0x1p28;
  const f64 c = large ? 1.0 : a;
  const f64 z = c * c;
  const PairF64 u = two_sum_f64(c, z / (1.0 + sqrt_f64(1.0 + z)));
  const PairF64 v = two_sum_f64(1.0, u.head);
  const PairF64 l = log_long_f64(large ? a : v.head);
  const f64 y = copysign_f64(l.head + (large ? 0x1.62e42fefa39efp-1 + l.tail : l.tail + (v.tail + u.tail) / v.head), x);
  return a < infinity_f64() ? y : x;
}

/// The inverse of cosh;  below 1 NaN.   <= 3 ulp.
VOTIVE_SCALAR f32 acosh_f32(f32 x) {
  const u32 large = x > 0x1p14f;
  const f32 t = large ? 1.0f : x - 1.0f;
  const PairF32 u = two_sum_f32(t, sqrt_f32(fma_f32(t, t, 2.0f * t)));  // e^acosh - 1
  const PairF32 v = two_sum_f32(1.0f, u.head);
  const PairF32 l = log_long_f32(large ? x : v.head);
  const f32 y = l.head + (large ? 0x1.62e430p-1f + l.tail : l.tail + (v.tail + u.tail) / v.head);
  return x >= 1.0f ? (x < infinity_f32() ? y : x) : nan_f32();
}
VOTIVE_SCALAR f64 acosh_f64(f64 x) {
  const u32 large = x > 0x1p28;
  const f64 t = large ? 1.0 : x - 1.0;
  const PairF64 u = two_sum_f64(t, sqrt_f64(fma_f64(t, t, 2.0 * t)));
  const PairF64 v = two_sum_f64(1.0, u.head);
  const PairF64 l = log_long_f64(large ? x : v.head);
  const f64 y = l.head + (large ? 0x1.62e42fefa39efp-1 + l.tail : l.tail + (v.tail + u.tail) / v.head);
  return x >= 1.0 ? (x < infinity_f64() ? y : x) : nan_f64();
}

/// The inverse of tanh;  +-1 give +-inf, beyond NaN.   <= 3 ulp.
VOTIVE_SCALAR f32 atanh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 c = a < 1.0f ? a : 0.0f;
  // log((1+c) / (1-c)) / 2, the quotient less 1 being 2c / (1-c)
  const f32 d = 1.0f - c;
  const f32 d_low = (1.0f - d) - c;
  const f32 q = 2.0f * c / d;
  const f32 q_low = fma_f32(-q, d_low, fma_f32(-q, d, 2.0f * c)) / d;
  const f32 y = copysign_f32(0.5f * log1p_sum_f32(q, q_low), x);
  return a < 0x1p-13f ? x : (a < 1.0f ? y : (a == 1.0f ? copysign_f32(infinity_f32(), x) : nan_f32()));
}
VOTIVE_SCALAR f64 atanh_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 c = a < 1.0 ? a : 0.0;
  const f64 d = 1.0 - c;
  const f64 d_low = (1.0 - d) - c;
  const f64 q = 2.0 * c / d;
  const f64 q_low = fma_f64(-q, d_low, fma_f64(-q, d, 2.0 * c)) / d;
  const f64 y = copysign_f64(0.5 * log1p_sum_f64(q, q_low), x);
  return a < 0x1p-28 ? x : (a < 1.0 ? y : (a == 1.0 ? copysign_f64(infinity_f64(), x) : nan_f64()));
}

}  // namespace votive::numerics
