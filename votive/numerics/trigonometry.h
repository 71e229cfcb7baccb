// sin, cos and tan (CONTRACT.md 2.3), over the whole range of f32. Up to trig_limit_f32 the argument is reduced by three parts of pi/2 without a branch;
// beyond, by as many bits of 2/pi as the exponent needs (Payne and Hanek), in integers. A loop that wants to vectorise takes sin_moderate_f32 and repairs the rest.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

typedef struct {
  f32 sin;
  f32 cos;
} SinCosF32;

/// x = (r + low) + quadrant * pi/2, |r| <= pi/4.
typedef struct {
  f32 r;
  f32 low;
  u32 quadrant;
} ReducedF32;

VOTIVE_SCALAR f32 trig_limit_f32(void) { return 65536.0f; }

/// For |x| <= trig_limit_f32().
VOTIVE_SCALAR ReducedF32 reduce_moderate_f32(f32 x) {
  const f32 t = fma_f32(x, 0x1.45f306p-1f, 0x1.8p23f);
  const f32 n = t - 0x1.8p23f;
  const f32 first = fma_f32(n, -0x1.921fb6p+0f, x);  // exact: both are multiples of one ulp of x or of 2^-23
  const f32 second = n * 0x1.777a5cp-25f;
  ReducedF32 reduced;
  reduced.r = first + second;
  const f32 lost = second - (reduced.r - first);  // exact: first is a multiple of an ulp of second
  reduced.low = fma_f32(n, 0x1.ee59dap-50f, lost + fma_f32(n, 0x1.777a5cp-25f, -second));
  reduced.quadrant = bits_f32(t) - 0x4b400000u;
  return reduced;
}

/// Word j of 2/pi, 32 bits each, after a word of zeros.
VOTIVE_SCALAR u32 two_over_pi(u32 j) {
  return j == 0u   ? 0u
         : j == 1u ? 0xa2f9836eu
         : j == 2u ? 0x4e441529u
         : j == 3u ? 0xfc2757d1u
         : j == 4u ? 0xf534ddc0u
         : j == 5u ? 0xdb629599u
         : j == 6u ? 0x3c439041u
                   : 0xfe5163abu;
}

/// For finite |x| > trig_limit_f32().
VOTIVE_SCALAR ReducedF32 reduce_huge_f32(f32 x) {
  const u32 u = bits_f32(x);
  const u64 m = (u & 0x7fffffu) | 0x800000u;
  const u32 start = ((u >> 23) & 0xffu) - 120u;  // the first bit of 2/pi that does not contribute a multiple of 4
  const u32 j = start >> 5;
  const u32 shift = start & 31u;
  const u32 w0 = two_over_pi(j);
  const u32 w1 = two_over_pi(j + 1u);
  const u32 w2 = two_over_pi(j + 2u);
  const u32 w3 = two_over_pi(j + 3u);
  const u32 a0 = (u32)(((((u64)w0 << 32) | w1) << shift) >> 32);
  const u32 a1 = (u32)(((((u64)w1 << 32) | w2) << shift) >> 32);
  const u32 a2 = (u32)(((((u64)w2 << 32) | w3) << shift) >> 32);
  const u64 low = m * a2;
  const u64 middle = m * a1 + (low >> 32);
  const u64 product = ((m * a0) << 32) + middle;                       // modulo 4, with 62 bits of fraction
  const i64 fraction = (i64)((product << 2) | ((u32)low >> 30)) >> 1;  // of a quadrant, signed, in units of 2^-63
  const f32 head = (f32)fraction;
  const f32 tail = (f32)(fraction - (i64)head);
  const f32 negative = u >> 31 ? -1.0f : 1.0f;
  const f32 scale = 0x1p-63f * negative;
  const f32 r = head * 0x1.921fb6p+0f;
  const f32 lost = fma_f32(head, 0x1.921fb6p+0f, -r);
  const f32 rest = fma_f32(head, -0x1.777a5cp-25f, fma_f32(tail, 0x1.921fb6p+0f, lost));
  const u32 quadrant = (u32)(product >> 62) + ((u32)(product >> 61) & 1u);
  ReducedF32 reduced;
  reduced.r = r * scale;
  reduced.low = rest * scale;
  reduced.quadrant = u >> 31 ? 0u - quadrant : quadrant;
  return reduced;
}

VOTIVE_SCALAR f32 sin_quarter_f32(f32 r, f32 low) {
  const f32 s = r * r;
  f32 p = -0x1.9954a6p-13f;
  p = fma_f32(p, s, 0x1.11077ap-7f);
  p = fma_f32(p, s, -0x1.555546p-3f);
  return r + fma_f32(p, s * r, low);
}
VOTIVE_SCALAR f32 cos_quarter_f32(f32 r, f32 low) {
  const f32 s = r * r;
  f32 p = 0x1.99e0ecp-16f;
  p = fma_f32(p, s, -0x1.6c0c1ap-10f);
  p = fma_f32(p, s, 0x1.55554ap-5f);
  return 1.0f + fma_f32(-0.5f, s, fma_f32(p, s * s, -r * low));
}

VOTIVE_SCALAR SinCosF32 sincos_reduced_f32(ReducedF32 x) {
  const f32 s = sin_quarter_f32(x.r, x.low);
  const f32 c = cos_quarter_f32(x.r, x.low);
  const u32 odd = x.quadrant & 1u;
  SinCosF32 y;
  y.sin = f32_from_bits(bits_f32(odd ? c : s) ^ ((x.quadrant & 2u) << 30));
  y.cos = f32_from_bits(bits_f32(odd ? s : c) ^ (((x.quadrant + 1u) & 2u) << 30));
  return y;
}

/// sin and cos of |x| <= trig_limit_f32(), without a branch; beyond it the result means nothing.   <= 1.5 ulp.
VOTIVE_SCALAR f32 sin_moderate_f32(f32 x) { return x == 0.0f ? x : sincos_reduced_f32(reduce_moderate_f32(x)).sin; }
VOTIVE_SCALAR f32 cos_moderate_f32(f32 x) { return sincos_reduced_f32(reduce_moderate_f32(x)).cos; }

/// The sine.   <= 1.5 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f32 sin_f32(f32 x) {
  if (abs_f32(x) <= trig_limit_f32()) return sin_moderate_f32(x);
  return abs_f32(x) < infinity_f32() ? sincos_reduced_f32(reduce_huge_f32(x)).sin : nan_f32();
}
/// The cosine.   <= 1.5 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f32 cos_f32(f32 x) {
  if (abs_f32(x) <= trig_limit_f32()) return cos_moderate_f32(x);
  return abs_f32(x) < infinity_f32() ? sincos_reduced_f32(reduce_huge_f32(x)).cos : nan_f32();
}

/// tan of the reduced argument: a polynomial, or -1 over it with what it and the quotient rounded off.
VOTIVE_SCALAR f32 tan_reduced_f32(ReducedF32 x) {
  const f32 s = x.r * x.r;
  f32 p = 0x1.22a4b8p-8f;
  p = fma_f32(p, s, -0x1.1bae98p-15f);
  p = fma_f32(p, s, 0x1.6664f8p-7f);
  p = fma_f32(p, s, 0x1.5c03a8p-6f);
  p = fma_f32(p, s, 0x1.baed7ap-5f);
  p = fma_f32(p, s, 0x1.110d24p-3f);
  p = fma_f32(p, s, 0x1.555562p-2f);
  const f32 about = fma_f32(p * s, x.r, x.r);
  const f32 rest = fma_f32(p * s, x.r, fma_f32(about * about, x.low, x.low));
  const f32 head = x.r + rest;
  const f32 tail = (x.r - head) + rest;
  const f32 q = -1.0f / head;
  const f32 inverse = fma_f32(fma_f32(q, tail, fma_f32(q, head, 1.0f)), q, q);
  return x.quadrant & 1u ? inverse : head;
}

/// tan of |x| <= trig_limit_f32(), without a branch; beyond it the result means nothing.   <= 2 ulp.
VOTIVE_SCALAR f32 tan_moderate_f32(f32 x) { return x == 0.0f ? x : tan_reduced_f32(reduce_moderate_f32(x)); }

/// The tangent.   <= 2 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f32 tan_f32(f32 x) {
  if (abs_f32(x) <= trig_limit_f32()) return tan_moderate_f32(x);
  return abs_f32(x) < infinity_f32() ? tan_reduced_f32(reduce_huge_f32(x)) : nan_f32();
}

/// sin(pi v) and cos(pi v) for |v| <= 2^20.
VOTIVE_SCALAR SinCosF32 sincospi_f32(f32 v) {
  const f32 t = fma_f32(v, 2.0f, 0x1.8p23f);
  const f32 r = fma_f32(t - 0x1.8p23f, -0.5f, v);
  const u32 quadrant = bits_f32(t) - 0x4b400000u;
  const f32 s = r * r;
  f32 p = 0x1.444684p-4f;
  p = fma_f32(p, s, -0x1.32adc0p-1f);
  p = fma_f32(p, s, 0x1.466b78p+1f);
  p = fma_f32(p, s, -0x1.4abbcep+2f);
  p = fma_f32(p, s, -0x1.777a5cp-24f);
  const f32 sine = fma_f32(r, 0x1.921fb6p+1f, p * r);
  f32 q = 0x1.c20bd2p-4f;
  q = fma_f32(q, s, 0x1.b79d8ap-3f);
  q = fma_f32(q, s, -0x1.558c8ap+0f);
  q = fma_f32(q, s, 0x1.03c192p+2f);
  q = fma_f32(q, s, -0x1.3bd3ccp+2f);
  const f32 cosine = fma_f32(q, s, 1.0f);
  const u32 odd = quadrant & 1u;
  SinCosF32 y;
  y.sin = f32_from_bits(bits_f32(odd ? cosine : sine) ^ ((quadrant & 2u) << 30));
  y.cos = f32_from_bits(bits_f32(odd ? sine : cosine) ^ (((quadrant + 1u) & 2u) << 30));
  return y;
}

}  // namespace votive::numerics
