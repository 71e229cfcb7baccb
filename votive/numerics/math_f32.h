// exp, log and what is made of them, in f32 (CONTRACT.md 2.3). Without branches, so that loops vectorise: what is special is selected at the end.
// Coefficients are minimax polynomials (tools/fit_polynomials.py); the errors named were measured over all inputs by tests/numerics.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

/// 2^k, -126 <= k <= 127.
VOTIVE_SCALAR f32 power_of_two_f32(i32 k) { return f32_from_bits((u32)(k + 127) << 23); }

/// (1 + excess) * 2^exponent, not yet multiplied out: a factor takes 1 + excess by one fma, and the product may be subnormal while the factor brings it back.
typedef struct {
  f32 excess;
  i32 exponent;
} ScaledF32;

VOTIVE_SCALAR f32 first_factor_f32(i32 exponent) { return power_of_two_f32(exponent >> 1); }
VOTIVE_SCALAR f32 second_factor_f32(i32 exponent) { return power_of_two_f32(exponent - (exponent >> 1)); }

/// (exp(r) - 1 - r) / r^2 on [-ln 2 / 2, ln 2 / 2].
VOTIVE_SCALAR f32 exp_tail_f32(f32 r) {
  f32 p = 0x1.6d7cb4p-10f;
  p = fma_f32(p, r, 0x1.123b00p-7f);
  p = fma_f32(p, r, 0x1.5554bep-5f);
  p = fma_f32(p, r, 0x1.555490p-3f);
  return fma_f32(p, r, 0.5f);
}

/// (1 + excess) * 2^k with k in the low bits of `bits`.
typedef struct {
  f32 excess;
  u32 bits;
} ExpPartsF32;

/// exp(x + low), |low| below an ulp of x: the parts, for |x| <= 200.
VOTIVE_SCALAR ExpPartsF32 exp_parts_of_sum_f32(f32 x, f32 low) {
  const f32 t = fma_f32(x, 0x1.715476p+0f, 0x1.8p23f);  // adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits
  const f32 n = t - 0x1.8p23f;
  const f32 r = fma_f32(n, -0x1.62e4p-1f, x) + fma_f32(n, -0x1.7f7d1cp-20f, low);
  ExpPartsF32 e;
  e.excess = fma_f32(exp_tail_f32(r) * r, r, r);
  e.bits = bits_f32(t);
  return e;
}
VOTIVE_SCALAR ExpPartsF32 exp_parts_f32(f32 x) {
  const f32 t = fma_f32(x, 0x1.715476p+0f, 0x1.8p23f);
  const f32 n = t - 0x1.8p23f;
  const f32 r = fma_f32(n, -0x1.7f7d1cp-20f, fma_f32(n, -0x1.62e4p-1f, x));
  ExpPartsF32 e;
  e.excess = fma_f32(exp_tail_f32(r) * r, r, r);
  e.bits = bits_f32(t);
  return e;
}

/// x * 2^k, k in the low bits, where x and the product are normal numbers or k is 0: one addition to the exponent, into which nothing else is shifted. Not for NaN.
VOTIVE_SCALAR f32 scaled_f32(f32 x, u32 bits) { return f32_from_bits(bits_f32(x) + (bits << 23)); }

VOTIVE_SCALAR ScaledF32 scaled_of_parts_f32(ExpPartsF32 parts) {
  ScaledF32 e;
  e.excess = parts.excess;
  e.exponent = (i32)(parts.bits - 0x4b400000u);
  return e;
}
/// exp(x) for |x| <= 200.
VOTIVE_SCALAR ScaledF32 exp_scaled_f32(f32 x) { return scaled_of_parts_f32(exp_parts_f32(x)); }
/// exp(x + low) for |x| <= 200 and |low| below an ulp of x.
VOTIVE_SCALAR ScaledF32 exp_of_sum_f32(f32 x, f32 low) { return scaled_of_parts_f32(exp_parts_of_sum_f32(x, low)); }

/// e^x.   <= 1.5 ulp, subnormal results included.
VOTIVE_SCALAR f32 exp_f32(f32 x) {
  // One clamp for both ends: of two, g++ makes four comparisons. A NaN passes, here and below, and needs no select at the end.
  const f32 a = abs_f32(x);
  const ScaledF32 e = exp_scaled_f32(copysign_f32(a > 104.0f ? 104.0f : a, x));
  return (1.0f + e.excess) * first_factor_f32(e.exponent) * second_factor_f32(e.exponent);
}

// name_moderate: the bits of name where is_moderate_name says so, for less. No number on the way is subnormal or infinite there, so one addition to an
// exponent scales, and nothing has to be clamped.

VOTIVE_SCALAR u32 is_moderate_exp_f32(f32 x) { return abs_f32(x) <= 87.0f; }
VOTIVE_SCALAR f32 exp_moderate_f32(f32 x) {
  const ExpPartsF32 e = exp_parts_f32(x);
  return scaled_f32(1.0f + e.excess, e.bits);
}

/// 2^x.   <= 1.5 ulp;  integers are exact.
VOTIVE_SCALAR f32 exp2_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 c = copysign_f32(a > 151.0f ? 151.0f : a, x);
  const f32 t = c + 0x1.8p23f;
  const f32 r = c - (t - 0x1.8p23f);
  const i32 k = (i32)(bits_f32(t) - 0x4b400000u);
  f32 p = 0x1.4449f8p-13f;
  p = fma_f32(p, r, 0x1.5f0ad6p-10f);
  p = fma_f32(p, r, 0x1.3b2a26p-7f);
  p = fma_f32(p, r, 0x1.c6af78p-5f);
  p = fma_f32(p, r, 0x1.ebfbe0p-3f);
  p = fma_f32(p, r, 0x1.62e430p-1f);
  return fma_f32(p, r, 1.0f) * first_factor_f32(k) * second_factor_f32(k);
}

/// x = m * 2^e with m in [2/3, 4/3), for positive finite x: what the logarithms start from. f = m - 1, exact.
typedef struct {
  f32 f;
  f32 e;
} LogPartsF32;

VOTIVE_SCALAR LogPartsF32 log_parts_f32(f32 x) {
  const u32 subnormal = bits_f32(x) < 0x00800000u;
  const u32 u = bits_f32(subnormal ? x * 0x1p23f : x);
  const u32 k = (u - 0x3f2aaaabu) & 0xff800000u;
  LogPartsF32 parts;
  parts.f = f32_from_bits(u - k) - 1.0f;
  parts.e = (f32)((i32)k >> 23) + (subnormal ? -23.0f : 0.0f);
  return parts;
}

/// What every logarithm is at the ends of its domain: 0 gives -inf, a negative number NaN, inf inf.
VOTIVE_SCALAR f32 log_ends_f32(f32 x, f32 y) {
  y = x == infinity_f32() ? x : y;
  y = x < 0.0f ? nan_f32() : y;
  y = x == 0.0f ? -infinity_f32() : y;
  return x != x ? x : y;
}

/// (log(1 + f) - f) / f^2 on [-1/3, 1/3].
VOTIVE_SCALAR f32 log_tail_f32(f32 f) {
  f32 p = 0x1.e7fc1cp-4f;
  p = fma_f32(p, f, -0x1.06fad4p-3f);
  p = fma_f32(p, f, 0x1.b986c2p-4f);
  p = fma_f32(p, f, -0x1.f39870p-4f);
  p = fma_f32(p, f, 0x1.24e7d0p-3f);
  p = fma_f32(p, f, -0x1.559854p-3f);
  p = fma_f32(p, f, 0x1.999802p-3f);
  p = fma_f32(p, f, -0x1.ffff14p-3f);
  p = fma_f32(p, f, 0x1.555556p-2f);
  return fma_f32(p, f, -0.5f);
}

/// The natural logarithm.   <= 1 ulp.
VOTIVE_SCALAR f32 log_f32(f32 x) {
  const LogPartsF32 parts = log_parts_f32(x);
  const f32 f = parts.f;
  const f32 y = fma_f32(log_tail_f32(f), f * f, f);
  return log_ends_f32(x, fma_f32(parts.e, 0x1.62e430p-1f, y));
}

/// Positive normal numbers.
VOTIVE_SCALAR u32 is_moderate_log_f32(f32 x) { return (x >= 0x1p-126f) & (x <= 0x1.fffffep127f); }
VOTIVE_SCALAR f32 log_moderate_f32(f32 x) {
  const u32 u = bits_f32(x);
  const u32 k = (u - 0x3f2aaaabu) & 0xff800000u;
  const f32 f = f32_from_bits(u - k) - 1.0f;
  return fma_f32((f32)((i32)k >> 23), 0x1.62e430p-1f, fma_f32(log_tail_f32(f), f * f, f));
}

/// The logarithm to base 2.   <= 1 ulp;  powers of two are exact.
VOTIVE_SCALAR f32 log2_f32(f32 x) {
  const LogPartsF32 parts = log_parts_f32(x);
  const f32 f = parts.f;
  f32 p = 0x1.6297fep-3f;
  p = fma_f32(p, f, -0x1.8cd31ep-3f);
  p = fma_f32(p, f, 0x1.3de488p-3f);
  p = fma_f32(p, f, -0x1.64146ep-3f);
  p = fma_f32(p, f, 0x1.a6a04cp-3f);
  p = fma_f32(p, f, -0x1.ed2cacp-3f);
  p = fma_f32(p, f, 0x1.277556p-2f);
  p = fma_f32(p, f, -0x1.71525cp-2f);
  p = fma_f32(p, f, 0x1.ec70a0p-2f);
  p = fma_f32(p, f, -0x1.715478p-1f);
  const f32 product = p * f;
  const f32 product_lost = fma_f32(p, f, -product);
  const f32 low = fma_f32(product, f, f * (0x1.4ae0c0p-26f + product_lost));
  const f32 head = fma_f32(f, 0x1.715476p+0f, parts.e);
  const f32 lost = fma_f32(f, 0x1.715476p+0f, parts.e - head);
  return log_ends_f32(x, head + (low + lost));
}

/// The logarithm to base 10.   <= 1 ulp.
VOTIVE_SCALAR f32 log10_f32(f32 x) {
  const LogPartsF32 parts = log_parts_f32(x);
  const f32 f = parts.f;
  f32 p = 0x1.ac2f66p-5f;
  p = fma_f32(p, f, -0x1.cd8488p-5f);
  p = fma_f32(p, f, 0x1.7e43fcp-5f);
  p = fma_f32(p, f, -0x1.b0b2bap-5f);
  p = fma_f32(p, f, 0x1.fcf45cp-5f);
  p = fma_f32(p, f, -0x1.28c324p-4f);
  p = fma_f32(p, f, 0x1.63c41ap-4f);
  p = fma_f32(p, f, -0x1.bcb662p-4f);
  p = fma_f32(p, f, 0x1.287a78p-3f);
  p = fma_f32(p, f, -0x1.bcb7b2p-3f);
  const f32 product = p * f;
  const f32 product_lost = fma_f32(p, f, -product);
  const f32 base = parts.e * 0x1.344p-2f;  // exact: log10(2) to 12 bits
  const f32 head = fma_f32(f, 0x1.bcb7b2p-2f, base);
  const f32 lost = fma_f32(f, 0x1.bcb7b2p-2f, base - head);
  // What is small goes in first: just below 1/8, where an ulp is half of what it is above, a rounding more is one too many.
  const f32 small = fma_f32(f, product_lost - 0x1.5b235ep-27f, parts.e * 0x1.3509f8p-18f) + lost;
  return log_ends_f32(x, head + fma_f32(product, f, small));
}

/// log(1 + x).   <= 1.5 ulp;  +-0 stay themselves, -1 gives -inf.
VOTIVE_SCALAR f32 log1p_f32(f32 x) {
  const f32 u = 1.0f + x;
  const u32 k = (bits_f32(u) - 0x3f2aaaabu) & 0xff800000u;
  // (1 + x) / 2^k - 1 from x itself, which has the digits that u lost; where x is large it is u
  const f32 scale = f32_from_bits(0x3f800000u - k);
  const f32 f = x < 0x1p30f ? fma_f32(x, scale, scale - 1.0f) : f32_from_bits(bits_f32(u) - k) - 1.0f;
  const f32 lost = x < 0x1p23f ? fma_f32(x, scale, (scale - 1.0f) - f) : 0.0f;
  const f32 low = fma_f32(log_tail_f32(f), f * f, fma_f32(-f, lost, lost));
  const f32 e = (f32)((i32)k >> 23);
  const f32 product = e * 0x1.62e430p-1f;
  const f32 head = product + f;  // e is 0, or the product the larger of the two
  const f32 y = head + (((product - head) + f) + (fma_f32(e, 0x1.62e430p-1f, -product) + low));
  return x == 0.0f ? x : log_ends_f32(u, x != x ? x : y);
}

/// e^x - 1.   <= 1.5 ulp;  +-0 stay themselves.
VOTIVE_SCALAR f32 expm1_f32(f32 x) {
  f32 c = x < -20.0f ? -20.0f : x;
  c = c > 89.0f ? 89.0f : c;
  const f32 t = fma_f32(c, 0x1.715476p+0f, 0x1.8p23f);
  const f32 n = t - 0x1.8p23f;
  const f32 r = fma_f32(n, -0x1.7f7d1cp-20f, fma_f32(n, -0x1.62e4p-1f, c));
  const i32 k = (i32)(bits_f32(t) - 0x4b400000u);
  const u32 last = k > 127;  // 2^128 is no number: one doubling waits
  const f32 scale = power_of_two_f32(last ? 127 : k);
  const f32 a = scale - (last ? 0.5f : 1.0f);
  const f32 sum = fma_f32(r, scale, a);
  const f32 lost = fma_f32(r, scale, a - sum);
  const f32 y = (sum + fma_f32(exp_tail_f32(r) * r * r, scale, lost)) * (last ? 2.0f : 1.0f);
  return x == 0.0f ? x : y;
}

/// log(1 + e^x), never overflowing early.   <= 5 ulp.
VOTIVE_SCALAR f32 softplus_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 y = (x > 0.0f ? x : 0.0f) + log1p_f32(exp_f32(-a));
  return x != x ? x : y;
}

/// 1 / (1 + e^-x).   <= 5 ulp;  0 and 1 at -inf and inf.
VOTIVE_SCALAR f32 sigmoid_f32(f32 x) {
  const f32 e = exp_f32(neg_f32(abs_f32(x)));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}
VOTIVE_SCALAR u32 is_moderate_sigmoid_f32(f32 x) { return is_moderate_exp_f32(x); }
VOTIVE_SCALAR f32 sigmoid_moderate_f32(f32 x) {
  const f32 e = exp_moderate_f32(neg_f32(abs_f32(x)));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// x * sigmoid(z) where z has the sign of x, and x is -limit for whatever z <= -120 stood for.
VOTIVE_SCALAR f32 times_sigmoid_f32(f32 x, f32 z, f32 limit) {
  const f32 a = abs_f32(z);
  const ScaledF32 e = exp_scaled_f32(neg_f32(a > 120.0f ? 120.0f : a));
  const f32 first = first_factor_f32(e.exponent);
  const f32 second = second_factor_f32(e.exponent);
  const f32 c = x < -limit ? -limit : x;
  // the small factor comes last: for x = -100 sigmoid is subnormal, the product is not
  const f32 left = fma_f32(c, e.excess, c) * first;
  const f32 below = fma_f32(fma_f32(e.excess, first, first), second, 1.0f);
  return (c < 0.0f ? left : c) / below * (c < 0.0f ? second : 1.0f);
}

/// The same from e = e^-|z| where that and its product with x are normal numbers, or x so small that e is 1.
VOTIVE_SCALAR f32 times_sigmoid_moderate_f32(f32 x, ExpPartsF32 e) {
  const f32 left = scaled_f32(fma_f32(x, e.excess, x), e.bits);
  return (x < 0.0f ? left : x) / (1.0f + scaled_f32(1.0f + e.excess, e.bits));
}

/// x * sigmoid(x).   <= 6 ulp;  silu(-inf) = -0.
VOTIVE_SCALAR f32 silu_f32(f32 x) { return times_sigmoid_f32(x, x, 120.0f); }
VOTIVE_SCALAR u32 is_moderate_silu_f32(f32 x) { return abs_f32(x) <= 80.0f; }
VOTIVE_SCALAR f32 silu_moderate_f32(f32 x) { return times_sigmoid_moderate_f32(x, exp_parts_f32(neg_f32(abs_f32(x)))); }

/// silu(gate) * up, the gated activation of Llama's MLP.
VOTIVE_SCALAR f32 swiglu_f32(f32 gate, f32 up) { return silu_f32(gate) * up; }

/// x * sigmoid(z + low), |low| below a few ulp of z; otherwise as times_sigmoid_f32.
VOTIVE_SCALAR f32 times_sigmoid_of_sum_f32(f32 x, f32 z, f32 low, f32 limit) {
  const f32 a = abs_f32(z);
  const f32 part = z < 0.0f ? low : -low;
  const ScaledF32 e = exp_of_sum_f32(a < 120.0f ? -a : -120.0f, a < 120.0f ? part : 0.0f);
  const f32 first = first_factor_f32(e.exponent);
  const f32 second = second_factor_f32(e.exponent);
  const f32 c = x > -limit ? x : -limit;
  const f32 left = fma_f32(c, e.excess, c) * first;
  const f32 below = fma_f32(fma_f32(e.excess, first, first), second, 1.0f);
  return (c < 0.0f ? left : c) / below * (c < 0.0f ? second : 1.0f);
}

/// z = 2 sqrt(2/pi) (x + 0.044715 x^3) in two parts, for gelu_tanh.
typedef struct {
  f32 z;
  f32 low;
} GeluArgumentF32;

VOTIVE_SCALAR GeluArgumentF32 gelu_argument_f32(f32 x) {
  const f32 s = x * x;
  const f32 s_low = fma_f32(x, x, -s);
  const f32 cubic = s * 0x1.2444f2p-4f;
  const f32 cubic_low = fma_f32(s_low, 0x1.2444f2p-4f, fma_f32(s, 0x1.49b16ap-29f, fma_f32(s, 0x1.2444f2p-4f, -cubic)));
  const f32 c = 0x1.988454p+0f + cubic;
  const f32 back = c - 0x1.988454p+0f;
  const f32 c_low = ((0x1.988454p+0f - (c - back)) + (cubic - back)) + (cubic_low - 0x1.857936p-25f);
  GeluArgumentF32 argument;
  argument.z = x * c;
  argument.low = fma_f32(x, c_low, fma_f32(x, c, -argument.z));
  return argument;
}

/// x * sigmoid(z), z = 2 sqrt(2/pi) (x + 0.044715 x^3), finite for every finite x.   <= 6 + 2|z| ulp;  z is carried in two parts, so that it is 3 in fact.
VOTIVE_SCALAR f32 gelu_tanh_f32(f32 x) {
  const GeluArgumentF32 argument = gelu_argument_f32(x);
  const f32 y = times_sigmoid_of_sum_f32(x, argument.z, argument.low, 12.0f);
  return x != x ? x : y;
}
VOTIVE_SCALAR u32 is_moderate_gelu_tanh_f32(f32 x) { return abs_f32(x) <= 9.5f; }
VOTIVE_SCALAR f32 gelu_tanh_moderate_f32(f32 x) {
  const GeluArgumentF32 argument = gelu_argument_f32(x);
  const f32 low = f32_from_bits(bits_f32(argument.low) ^ (~bits_f32(argument.z) & 0x80000000u));
  return times_sigmoid_moderate_f32(x, exp_parts_of_sum_f32(neg_f32(abs_f32(argument.z)), low));
}

/// Phi(-u) = exp(-u^2/2) * G(u), the normal distribution's: G(u) * (1 + excess), and what is left of the exponential, 0 <= u <= 15.
VOTIVE_SCALAR ExpPartsF32 normal_tail_f32(f32 u) {
  // the square in two parts: at u = 14 an ulp of it is 1e-5
  const f32 w = -0.5f * u;
  const f32 h = w * u;
  const f32 low = fma_f32(w, u, -h);
  ExpPartsF32 e = exp_parts_of_sum_f32(h, low);
  const f32 s = 1.0f / (u + 2.25f);
  const f32 t = fma_f32(-4.5f, s, 1.0f);  // (u - 2.25) / (u + 2.25)
  f32 p = -0x1.9a5566p-14f;
  p = fma_f32(p, t, -0x1.c22840p-13f);
  p = fma_f32(p, t, 0x1.f8d2c0p-13f);
  p = fma_f32(p, t, 0x1.66fca4p-10f);
  p = fma_f32(p, t, 0x1.af7b66p-11f);
  p = fma_f32(p, t, -0x1.71abf2p-8f);
  p = fma_f32(p, t, -0x1.5a1a3cp-7f);
  p = fma_f32(p, t, 0x1.c81690p-6f);
  p = fma_f32(p, t, 0x1.483984p-4f);
  p = fma_f32(p, t, -0x1.8ba77ap-2f);
  p = fma_f32(p, t, 0x1.62039ap-1f);
  f32 y = p * s;
  y = fma_f32(fma_f32(-y, u + 2.25f, p), s, y);  // the correctly rounded quotient
  e.excess = fma_f32(y, e.excess, y);
  return e;
}

/// x * Phi(x) with the normal distribution's Phi, so that no digit is lost at the left.   <= 6 ulp;  gelu(-5) = -1.4333e-6, gelu(-inf) = -0.
VOTIVE_SCALAR f32 gelu_f32(f32 x) {
  const f32 a = abs_f32(x);
  const ScaledF32 tail = scaled_of_parts_f32(normal_tail_f32(a > 15.0f ? 15.0f : a));
  const f32 half = tail.excess * first_factor_f32(tail.exponent);
  const f32 rest = second_factor_f32(tail.exponent);
  const f32 c = x < -15.0f ? -15.0f : x;
  const f32 left = c * half * rest;
  const f32 right = x * fma_f32(-half, rest, 1.0f);
  return x < 0.0f ? left : right;
}
VOTIVE_SCALAR u32 is_moderate_gelu_f32(f32 x) { return abs_f32(x) <= 12.0f; }
VOTIVE_SCALAR f32 gelu_moderate_f32(f32 x) {
  const ExpPartsF32 tail = normal_tail_f32(abs_f32(x));
  const f32 share = scaled_f32(tail.excess, tail.bits);
  return x * (x < 0.0f ? share : 1.0f - share);
}

/// The hyperbolic tangent.   <= 2 ulp.
VOTIVE_SCALAR f32 tanh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 s = x * x;
  f32 p = -0x1.7449f2p-8f;
  p = fma_f32(p, s, 0x1.51d4dap-6f);
  p = fma_f32(p, s, -0x1.b8318ap-5f);
  p = fma_f32(p, s, 0x1.1106e4p-3f);
  p = fma_f32(p, s, -0x1.555532p-2f);
  const f32 small = fma_f32(p * s, a, a);
  const ScaledF32 e = exp_scaled_f32(2.0f * (a > 10.0f ? 10.0f : a));
  const f32 large = 1.0f - 2.0f / fma_f32(1.0f + e.excess, power_of_two_f32(e.exponent), 1.0f);
  return copysign_f32(a < 0.625f ? small : large, x);
}

/// erf(x)/x - 1 as a polynomial of s = x^2, |x| <= 0.93.
VOTIVE_SCALAR f32 erf_tail_f32(f32 s) {
  f32 p = 0x1.5c2c78p-14f;
  p = fma_f32(p, s, -0x1.a9fd8ap-11f);
  p = fma_f32(p, s, 0x1.54be02p-8f);
  p = fma_f32(p, s, -0x1.b80d1ap-6f);
  p = fma_f32(p, s, 0x1.ce2deep-4f);
  p = fma_f32(p, s, -0x1.812742p-2f);
  return fma_f32(p, s, 0x1.06eba8p-3f);
}

/// The error function.   <= 2 ulp.
VOTIVE_SCALAR f32 erf_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 small = fma_f32(erf_tail_f32(a * a), a, a);
  // erf(a) = 1 - exp(-(a + a*R(a)))
  const f32 t = a > 4.0f ? 4.0f : a;
  f32 p = 0x1.5dee66p-17f;
  p = fma_f32(p, t, -0x1.4a1d42p-12f);
  p = fma_f32(p, t, 0x1.d932e6p-9f);
  p = fma_f32(p, t, -0x1.84355cp-6f);
  p = fma_f32(p, t, 0x1.b2d3a4p-4f);
  p = fma_f32(p, t, 0x1.4538b0p-1f);
  p = fma_f32(p, t, 0x1.0772dep-3f);
  const ScaledF32 e = exp_scaled_f32(-fma_f32(p, t, t));
  const f32 large = fma_f32(-1.0f - e.excess, power_of_two_f32(e.exponent), 1.0f);
  return copysign_f32(a < 0.921875f ? small : large, x);
}

/// 1 - erf(x), without the cancellation.   <= 3 ulp.
VOTIVE_SCALAR f32 erfc_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 small = 1.0f - fma_f32(erf_tail_f32(x * x), x, x);
  // erfc(u) = exp(-u^2) * g(u), the square in two parts
  const f32 u = a < 10.2f ? a : 10.2f;
  const f32 h = -(u * u);
  const f32 low = -fma_f32(u, u, h);
  const ScaledF32 e = exp_of_sum_f32(h, low);
  const f32 d = u + 1.5f;
  const f32 lost = u < 1.5f ? u - (d - 1.5f) : 1.5f - (d - u);
  const f32 s = 1.0f / d;
  f32 t = fma_f32(-3.0f, s, 1.0f);  // (u - 1.5) / (u + 1.5), then without what d and the quotient rounded off
  t = fma_f32(fma_f32(-t, u, fma_f32(t + 1.0f, -1.5f, u)), s, t);
  f32 p = -0x1.792916p-11f;
  p = fma_f32(p, t, 0x1.47db48p-10f);
  p = fma_f32(p, t, 0x1.e17ed6p-10f);
  p = fma_f32(p, t, -0x1.db6166p-11f);
  p = fma_f32(p, t, -0x1.35c13ep-7f);
  p = fma_f32(p, t, -0x1.09d194p-7f);
  p = fma_f32(p, t, 0x1.874f74p-5f);
  p = fma_f32(p, t, 0x1.35befep-4f);
  p = fma_f32(p, t, -0x1.0404eap-1f);
  p = fma_f32(p, t, 0x1.edf488p-1f);
  f32 y = p * s;
  y = fma_f32(fma_f32(-y, lost, fma_f32(-y, d, p)), s, y);  // the correctly rounded quotient
  const f32 half = fma_f32(y, e.excess, y) * first_factor_f32(e.exponent);
  const f32 tail = half * second_factor_f32(e.exponent);
  y = x < 0.0f ? 2.0f - tail : tail;
  y = a < 0.75f ? small : y;
  return x != x ? x : y;
}

}  // namespace votive::numerics
