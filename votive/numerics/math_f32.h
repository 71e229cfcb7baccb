// exp, log and what is made of them, in f32 (CONTRACT.md 2.3). Without branches, so that loops vectorise: what is special is selected at the end.
// Coefficients are minimax polynomials (tools/fit_polynomials.py); the errors named were measured over all inputs by tests/numerics.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

/// 2^k, -126 <= k <= 127.
VOTIVE_SCALAR f32 power_of_two_f32(i32 k) { return f32_from_bits((u32)(k + 127) << 23); }

/// fraction * 2^exponent, not yet multiplied out, because the product may be subnormal while what it is multiplied with brings it back.
typedef struct {
  f32 fraction;
  i32 exponent;
} ScaledF32;

VOTIVE_SCALAR f32 first_factor_f32(i32 exponent) { return power_of_two_f32(exponent >> 1); }
VOTIVE_SCALAR f32 second_factor_f32(i32 exponent) { return power_of_two_f32(exponent - (exponent >> 1)); }

/// exp(x + low) for |x| <= 200 and |low| below an ulp of x. Without a low part it is -0, which the compiler drops.
VOTIVE_SCALAR ScaledF32 exp_scaled_f32(f32 x, f32 low) {
  const f32 t = fma_f32(x, 0x1.715476p+0f, 0x1.8p23f);  // adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits
  const f32 n = t - 0x1.8p23f;
  f32 r = fma_f32(n, -0x1.62e4p-1f, x);
  r = fma_f32(n, -0x1.7f7d1cp-20f, r + low);
  f32 p = 0x1.6ff34cp-10f;
  p = fma_f32(p, r, 0x1.12593ep-7f);
  p = fma_f32(p, r, 0x1.5552fap-5f);
  p = fma_f32(p, r, 0x1.555464p-3f);
  p = fma_f32(p, r, 0.5f);
  ScaledF32 e;
  e.fraction = fma_f32(p * r, r, r) + 1.0f;
  e.exponent = (i32)(bits_f32(t) - 0x4b400000u);
  return e;
}

/// e^x.   <= 1.5 ulp, subnormal results included.
VOTIVE_SCALAR f32 exp_f32(f32 x) {
  f32 c = x > -104.0f ? x : -104.0f;
  c = c < 89.0f ? c : 89.0f;
  const ScaledF32 e = exp_scaled_f32(c, -0.0f);
  const f32 y = e.fraction * first_factor_f32(e.exponent) * second_factor_f32(e.exponent);
  return x != x ? x : y;
}

/// 2^x.   <= 1.5 ulp;  integers are exact.
VOTIVE_SCALAR f32 exp2_f32(f32 x) {
  f32 c = x > -151.0f ? x : -151.0f;
  c = c < 129.0f ? c : 129.0f;
  const f32 t = c + 0x1.8p23f;
  const f32 r = c - (t - 0x1.8p23f);
  const i32 k = (i32)(bits_f32(t) - 0x4b400000u);
  f32 p = 0x1.17b08ep-13f;
  p = fma_f32(p, r, 0x1.5ef412p-10f);
  p = fma_f32(p, r, 0x1.3b67e2p-7f);
  p = fma_f32(p, r, 0x1.c6af9ep-5f);
  p = fma_f32(p, r, 0x1.ebfb94p-3f);
  p = fma_f32(p, r, 0x1.62e430p-1f);
  const f32 y = fma_f32(p, r, 1.0f) * first_factor_f32(k) * second_factor_f32(k);
  return x != x ? x : y;
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
  f32 p = 0x1.dd9612p-4f;
  p = fma_f32(p, f, -0x1.07d83cp-3f);
  p = fma_f32(p, f, 0x1.bb8f34p-4f);
  p = fma_f32(p, f, -0x1.f3385ep-4f);
  p = fma_f32(p, f, 0x1.24d7c2p-3f);
  p = fma_f32(p, f, -0x1.559bacp-3f);
  p = fma_f32(p, f, 0x1.99985ep-3f);
  p = fma_f32(p, f, -0x1.ffff02p-3f);
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

/// The logarithm to base 2.   <= 1 ulp;  powers of two are exact.
VOTIVE_SCALAR f32 log2_f32(f32 x) {
  const LogPartsF32 parts = log_parts_f32(x);
  const f32 f = parts.f;
  f32 p = 0x1.07aa38p-2f;
  p = fma_f32(p, f, -0x1.905d00p-3f);
  p = fma_f32(p, f, 0x1.0f7afap-3f);
  p = fma_f32(p, f, -0x1.63413ap-3f);
  p = fma_f32(p, f, 0x1.aaf00cp-3f);
  p = fma_f32(p, f, -0x1.ed3c2cp-3f);
  p = fma_f32(p, f, 0x1.27613ap-2f);
  p = fma_f32(p, f, -0x1.715230p-2f);
  p = fma_f32(p, f, 0x1.ec70dap-2f);
  p = fma_f32(p, f, -0x1.715478p-1f);
  const f32 low = fma_f32(p * f, f, f * 0x1.4ae0c0p-26f);
  const f32 head = fma_f32(f, 0x1.715476p+0f, parts.e);
  const f32 lost = fma_f32(f, 0x1.715476p+0f, parts.e - head);
  return log_ends_f32(x, head + (low + lost));
}

/// 1 / (1 + e^-x).   <= 5 ulp;  0 and 1 at -inf and inf.
VOTIVE_SCALAR f32 sigmoid_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 e = exp_f32(a < 104.0f ? -a : -104.0f);
  const f32 y = (x < 0.0f ? e : 1.0f) / (1.0f + e);
  return x != x ? x : y;
}

/// x * sigmoid(z) where z has the sign of x, and x is -limit for whatever z <= -120 stood for.
VOTIVE_SCALAR f32 times_sigmoid_f32(f32 x, f32 z, f32 limit) {
  const f32 a = abs_f32(z);
  const ScaledF32 e = exp_scaled_f32(a < 120.0f ? -a : -120.0f, -0.0f);
  const f32 half = e.fraction * first_factor_f32(e.exponent);
  const f32 rest = second_factor_f32(e.exponent);
  const f32 c = x > -limit ? x : -limit;
  // the small factor comes last: for x = -100 sigmoid is subnormal, the product is not
  return (c < 0.0f ? c * half : c) / fma_f32(half, rest, 1.0f) * (c < 0.0f ? rest : 1.0f);
}

/// x * sigmoid(x).   <= 6 ulp;  silu(-inf) = -0.
VOTIVE_SCALAR f32 silu_f32(f32 x) {
  const f32 y = times_sigmoid_f32(x, x, 120.0f);
  return x != x ? x : y;
}

/// silu(gate) * up, the gated activation of Llama's MLP.
VOTIVE_SCALAR f32 swiglu_f32(f32 gate, f32 up) { return silu_f32(gate) * up; }

/// x * sigmoid(z), z = 2 sqrt(2/pi) (x + 0.044715 x^3).   <= 6 + 2|z| ulp, finite for every finite x.
VOTIVE_SCALAR f32 gelu_tanh_f32(f32 x) {
  const f32 z = x * fma_f32(x * x, 0x1.2444f2p-4f, 0x1.988454p+0f);
  const f32 y = times_sigmoid_f32(x, z, 12.0f);
  return x != x ? x : y;
}

/// x * Phi(x) with the normal distribution's Phi, so that no digit is lost at the left.   <= 6 ulp;  gelu(-5) = -1.4333e-6, gelu(-inf) = -0.
VOTIVE_SCALAR f32 gelu_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 u = a < 15.0f ? a : 15.0f;
  // Phi(-u) = exp(-u^2/2) * G(u), the square in two parts: at u = 14 an ulp of it is 1e-5
  const f32 h = -0.5f * (u * u);
  const f32 low = -0.5f * fma_f32(u, u, 2.0f * h);
  const ScaledF32 e = exp_scaled_f32(h, low);
  const f32 s = 1.0f / (u + 4.0f);
  const f32 t = fma_f32(-8.0f, s, 1.0f);  // (u - 4) / (u + 4)
  f32 p = -0x1.c3e16ep-14f;
  p = fma_f32(p, t, 0x1.ba5c28p-13f);
  p = fma_f32(p, t, 0x1.979200p-10f);
  p = fma_f32(p, t, -0x1.cfe59cp-9f);
  p = fma_f32(p, t, -0x1.ecfbe4p-8f);
  p = fma_f32(p, t, 0x1.eee376p-5f);
  p = fma_f32(p, t, -0x1.7e002cp-3f);
  p = fma_f32(p, t, 0x1.8c6d72p-2f);
  p = fma_f32(p, t, -0x1.373e38p-1f);
  p = fma_f32(p, t, 0x1.82b4bcp-1f);
  const f32 half = p * s * e.fraction * first_factor_f32(e.exponent);
  const f32 rest = second_factor_f32(e.exponent);
  const f32 c = x > -15.0f ? x : -15.0f;
  const f32 left = c * half * rest;
  const f32 right = x * fma_f32(-half, rest, 1.0f);
  const f32 y = x < 0.0f ? left : right;
  return x != x ? x : y;
}

/// The hyperbolic tangent.   <= 2 ulp.
VOTIVE_SCALAR f32 tanh_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 s = x * x;
  f32 p = -0x1.7449d0p-8f;
  p = fma_f32(p, s, 0x1.51d4d8p-6f);
  p = fma_f32(p, s, -0x1.b8318ap-5f);
  p = fma_f32(p, s, 0x1.1106e4p-3f);
  p = fma_f32(p, s, -0x1.555532p-2f);
  const f32 small = fma_f32(p * s, a, a);
  const ScaledF32 e = exp_scaled_f32(a < 10.0f ? 2.0f * a : 20.0f, -0.0f);
  const f32 large = 1.0f - 2.0f / fma_f32(e.fraction, power_of_two_f32(e.exponent), 1.0f);
  const f32 y = copysign_f32(a < 0.625f ? small : large, x);
  return x != x ? x : y;
}

/// erf(x)/x - 1 as a polynomial of s = x^2, |x| <= 0.93.
VOTIVE_SCALAR f32 erf_tail_f32(f32 s) {
  f32 p = 0x1.4e62dep-14f;
  p = fma_f32(p, s, -0x1.a5c09ep-11f);
  p = fma_f32(p, s, 0x1.5442d2p-8f);
  p = fma_f32(p, s, -0x1.b80084p-6f);
  p = fma_f32(p, s, 0x1.ce2d60p-4f);
  p = fma_f32(p, s, -0x1.812740p-2f);
  return fma_f32(p, s, 0x1.06eba8p-3f);
}

/// The error function.   <= 2 ulp.
VOTIVE_SCALAR f32 erf_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 small = fma_f32(erf_tail_f32(a * a), a, a);
  // erf(a) = 1 - exp(-(a + a*R(a)))
  const f32 t = a < 4.0f ? a : 4.0f;
  f32 p = 0x1.5ded4cp-17f;
  p = fma_f32(p, t, -0x1.4a1c68p-12f);
  p = fma_f32(p, t, 0x1.d9322cp-9f);
  p = fma_f32(p, t, -0x1.843518p-6f);
  p = fma_f32(p, t, 0x1.b2d38cp-4f);
  p = fma_f32(p, t, 0x1.4538b2p-1f);
  p = fma_f32(p, t, 0x1.0772dcp-3f);
  const ScaledF32 e = exp_scaled_f32(-fma_f32(p, t, t), -0.0f);
  const f32 large = fma_f32(-e.fraction, power_of_two_f32(e.exponent), 1.0f);
  const f32 y = copysign_f32(a < 0.921875f ? small : large, x);
  return x != x ? x : y;
}

/// 1 - erf(x), without the cancellation.   <= 3 ulp.
VOTIVE_SCALAR f32 erfc_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 small = 1.0f - fma_f32(erf_tail_f32(x * x), x, x);
  // erfc(u) = exp(-u^2) * g(u), the square in two parts
  const f32 u = a < 10.2f ? a : 10.2f;
  const f32 h = -(u * u);
  const f32 low = -fma_f32(u, u, h);
  const ScaledF32 e = exp_scaled_f32(h, low);
  const f32 s = 1.0f / (u + 3.0f);
  const f32 t = fma_f32(-6.0f, s, 1.0f);  // (u - 3) / (u + 3)
  f32 p = -0x1.857248p-13f;
  p = fma_f32(p, t, -0x1.884de0p-12f);
  p = fma_f32(p, t, 0x1.87b964p-9f);
  p = fma_f32(p, t, -0x1.537a18p-10f);
  p = fma_f32(p, t, -0x1.b763aep-6f);
  p = fma_f32(p, t, 0x1.e9a54cp-4f);
  p = fma_f32(p, t, -0x1.3deb5ep-2f);
  p = fma_f32(p, t, 0x1.2e324cp-1f);
  p = fma_f32(p, t, -0x1.c44c46p-1f);
  p = fma_f32(p, t, 0x1.12f21ep+0f);
  const f32 half = p * s * e.fraction * first_factor_f32(e.exponent);
  const f32 tail = half * second_factor_f32(e.exponent);
  f32 y = x < 0.0f ? 2.0f - tail : tail;
  y = a < 0.5f ? small : y;
  return x != x ? x : y;
}

}  // namespace votive::numerics
