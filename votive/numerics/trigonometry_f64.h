// sin, cos and tan in f64 (CONTRACT.md 2.3): the ways of trigonometry.h with 192 bits of 2/pi instead of 96.
#pragma once

#include "votive/numerics/pointwise.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

typedef struct {
  f64 sin;
  f64 cos;
} SinCosF64;

/// x = (r + low) + quadrant * pi/2, |r| <= pi/4.
typedef struct {
  f64 r;
  f64 low;
  u64 quadrant;
} ReducedF64;

VOTIVE_SCALAR f64 trig_limit_f64(void) { return 1048576.0; }

/// For |x| <= trig_limit_f64().
VOTIVE_SCALAR ReducedF64 reduce_moderate_f64(f64 x) {
  const f64 t = fma_f64(x, 0x1.45f306dc9c883p-1, 0x1.8p52);
  const f64 n = t - 0x1.8p52;
  const f64 first = fma_f64(n, -0x1.921fb54442d18p+0, x);  // exact
  const f64 second = n * -0x1.1a62633145c07p-54;
  ReducedF64 reduced;
  reduced.r = first + second;
  const f64 lost = second - (reduced.r - first);  // exact: first is a multiple of an ulp of second
  reduced.low = fma_f64(n, 0x1.f1976b7ed8fbcp-110, lost + fma_f64(n, -0x1.1a62633145c07p-54, -second));
  reduced.quadrant = bits_f64(t);
  return reduced;
}

/// Word j of 2/pi, 64 bits each, after a word of zeros.
VOTIVE_SCALAR u64 two_over_pi_word(u32 j) {
  switch (j) {
    case 0: return 0u;
    case 1: return 0xa2f9836e4e441529u;
    case 2: return 0xfc2757d1f534ddc0u;
    case 3: return 0xdb6295993c439041u;
    case 4: return 0xfe5163abdebbc561u;
    case 5: return 0xb7246e3a424dd2e0u;
    case 6: return 0x06492eea09d1921cu;
    case 7: return 0xfe1deb1cb129a73eu;
    case 8: return 0xe88235f52ebb4484u;
    case 9: return 0xe99c7026b45f7e41u;
    case 10: return 0x3991d639835339f4u;
    case 11: return 0x9c845f8bbdf9283bu;
    case 12: return 0x1ff897ffde05980fu;
    case 13: return 0xef2f118b5a0a6d1fu;
    case 14: return 0x6d367ecf27cb09b7u;
    case 15: return 0x4f463f669e5fea2du;
    case 16: return 0x7527bac7ebe5f17bu;
    case 17: return 0x3d0739f78a5292eau;
    case 18: return 0x6bfb5fb11f8d5d08u;
    default: return 0x56033046fc7b6babu;
  }
}

VOTIVE_SCALAR u64 funnel_left_u64(u64 high, u64 low, u32 shift) { return (high << shift) | ((low >> 1) >> (63u - shift)); }

/// For finite |x| > trig_limit_f64().
VOTIVE_SCALAR ReducedF64 reduce_huge_f64(f64 x) {
  const u64 u = bits_f64(x);
  const u64 m = (u & 0xfffffffffffffu) | 0x10000000000000u;
  const u32 start = ((u32)(u >> 52) & 0x7ffu) - 1013u;  // the first bit of 2/pi that does not contribute a multiple of 4
  const u32 j = start >> 6;
  const u32 shift = start & 63u;
  const u64 w0 = two_over_pi_word(j);
  const u64 w1 = two_over_pi_word(j + 1u);
  const u64 w2 = two_over_pi_word(j + 2u);
  const u64 w3 = two_over_pi_word(j + 3u);
  const u64 a0 = funnel_left_u64(w0, w1, shift);
  const u64 a1 = funnel_left_u64(w1, w2, shift);
  const u64 a2 = funnel_left_u64(w2, w3, shift);
  const u64 below = multiply_high_u64(m, a2);
  const u64 middle = m * a1 + below;
  const u64 product = m * a0 + multiply_high_u64(m, a1) + (middle < below);  // modulo 4, with 62 bits of fraction, 64 more in middle
  const u64 upper = (product << 2) | (middle >> 62);                         // of a quadrant, signed, in units of 2^-64
  const u64 lower = middle << 2;
  const i64 fraction = (i64)upper >> 1;
  const u64 rest = ((upper & 1u) << 63) | (lower >> 1);  // of a unit of 2^-63
  const f64 whole = (f64)fraction;
  const f64 part = (f64)(fraction - (i64)whole) + (f64)(i64)(rest >> 1) * 0x1p-63;
  const f64 head = whole + part;
  const f64 tail = part - (head - whole);
  const f64 scale = u >> 63 ? -0x1p-63 : 0x1p-63;
  const f64 r = head * 0x1.921fb54442d18p+0;
  const f64 lost = fma_f64(head, 0x1.921fb54442d18p+0, -r);
  const f64 low = fma_f64(head, 0x1.1a62633145c07p-54, fma_f64(tail, 0x1.921fb54442d18p+0, lost));
  const u64 quadrant = (product >> 62) + ((product >> 61) & 1u);
  ReducedF64 reduced;
  reduced.r = r * scale;
  reduced.low = low * scale;
  reduced.quadrant = u >> 63 ? 0u - quadrant : quadrant;
  return reduced;
}

VOTIVE_SCALAR f64 sin_quarter_f64(f64 r, f64 low) {
  const f64 s = r * r;
  f64 p = -0x1.9fbc195c8755ep-41;
  p = fma_f64(p, s, 0x1.61094210f6405p-33);
  p = fma_f64(p, s, -0x1.ae642ba14b992p-26);
  p = fma_f64(p, s, 0x1.71de3a332faedp-19);
  p = fma_f64(p, s, -0x1.a01a019ffe09ep-13);
  p = fma_f64(p, s, 0x1.1111111111068p-7);
  p = fma_f64(p, s, -0x1.5555555555555p-3);
  return r + fma_f64(p, s * r, low);
}
VOTIVE_SCALAR f64 cos_quarter_f64(f64 r, f64 low) {
  const f64 s = r * r;
  f64 p = 0x1.9c7bd79219dcbp-45;
  p = fma_f64(p, s, -0x1.9371ceff16a21p-37);
  p = fma_f64(p, s, 0x1.1eed6d771720dp-29);
  p = fma_f64(p, s, -0x1.27e4fb588d1ecp-22);
  p = fma_f64(p, s, 0x1.a01a019ffb916p-16);
  p = fma_f64(p, s, -0x1.6c16c16c16b2bp-10);
  p = fma_f64(p, s, 0x1.5555555555555p-5);
  const f64 head = fma_f64(-0.5, s, 1.0);
  const f64 lost = fma_f64(-0.5, s, 1.0 - head);
  return head + (lost + fma_f64(p, s * s, fma_f64(-r, low, -0.5 * fma_f64(r, r, -s))));
}

VOTIVE_SCALAR SinCosF64 sincos_reduced_f64(ReducedF64 x) {
  const f64 s = sin_quarter_f64(x.r, x.low);
  const f64 c = cos_quarter_f64(x.r, x.low);
  const u64 odd = x.quadrant & 1u;
  SinCosF64 y;
  y.sin = f64_from_bits(bits_f64(odd ? c : s) ^ ((x.quadrant & 2u) << 62));
  y.cos = f64_from_bits(bits_f64(odd ? s : c) ^ (((x.quadrant + 1u) & 2u) << 62));
  return y;
}

/// sin and cos of |x| <= trig_limit_f64(), without a branch; beyond it the result means nothing.   <= 1 ulp.
VOTIVE_SCALAR f64 sin_moderate_f64(f64 x) { return x == 0.0 ? x : sincos_reduced_f64(reduce_moderate_f64(x)).sin; }
VOTIVE_SCALAR f64 cos_moderate_f64(f64 x) { return sincos_reduced_f64(reduce_moderate_f64(x)).cos; }

/// The sine.   <= 1 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f64 sin_f64(f64 x) {
  if (abs_f64(x) <= trig_limit_f64()) return sin_moderate_f64(x);
  return abs_f64(x) < infinity_f64() ? sincos_reduced_f64(reduce_huge_f64(x)).sin : nan_f64();
}
/// The cosine.   <= 1 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f64 cos_f64(f64 x) {
  if (abs_f64(x) <= trig_limit_f64()) return cos_moderate_f64(x);
  return abs_f64(x) < infinity_f64() ? sincos_reduced_f64(reduce_huge_f64(x)).cos : nan_f64();
}

/// tan of the reduced argument: a polynomial, or -1 over it with what it and the quotient rounded off.
VOTIVE_SCALAR f64 tan_reduced_f64(ReducedF64 x) {
  const f64 s = x.r * x.r;
  f64 p = 0x1.4a6242b9e67e6p-17;
  p = fma_f64(p, s, -0x1.9b0145a59af9bp-16);
  p = fma_f64(p, s, 0x1.9c000b4135ef6p-15);
  p = fma_f64(p, s, -0x1.b841b81ca269fp-16);
  p = fma_f64(p, s, 0x1.1c1728360f6a1p-14);
  p = fma_f64(p, s, 0x1.5d37d8bebe0b4p-14);
  p = fma_f64(p, s, 0x1.ff71f0c06ddfep-13);
  p = fma_f64(p, s, 0x1.34b702c694130p-11);
  p = fma_f64(p, s, 0x1.7db21c3bd8177p-10);
  p = fma_f64(p, s, 0x1.d6d2dce2dac03p-9);
  p = fma_f64(p, s, 0x1.226e3ac9a30d1p-7);
  p = fma_f64(p, s, 0x1.664f485ab115cp-6);
  p = fma_f64(p, s, 0x1.ba1ba1bacbf2ap-5);
  p = fma_f64(p, s, 0x1.11111111104c3p-3);
  p = fma_f64(p, s, 0x1.555555555555fp-2);
  const f64 about = fma_f64(p * s, x.r, x.r);
  const f64 rest = fma_f64(p * s, x.r, fma_f64(about * about, x.low, x.low));
  const f64 head = x.r + rest;
  const f64 tail = (x.r - head) + rest;
  const f64 q = -1.0 / head;
  const f64 inverse = fma_f64(fma_f64(q, tail, fma_f64(q, head, 1.0)), q, q);
  return x.quadrant & 1u ? inverse : head;
}

/// tan of |x| <= trig_limit_f64(), without a branch; beyond it the result means nothing.   <= 2 ulp.
VOTIVE_SCALAR f64 tan_moderate_f64(f64 x) { return x == 0.0 ? x : tan_reduced_f64(reduce_moderate_f64(x)); }

/// The tangent.   <= 2 ulp for every finite x;  +-inf give NaN.
VOTIVE_SCALAR f64 tan_f64(f64 x) {
  if (abs_f64(x) <= trig_limit_f64()) return tan_moderate_f64(x);
  return abs_f64(x) < infinity_f64() ? tan_reduced_f64(reduce_huge_f64(x)) : nan_f64();
}

/// sin(pi v) and cos(pi v) for |v| <= 2^49.
VOTIVE_SCALAR SinCosF64 sincospi_f64(f64 v) {
  const f64 t = fma_f64(v, 2.0, 0x1.8p52);
  const f64 r = fma_f64(t - 0x1.8p52, -0.5, v);
  const u64 quadrant = bits_f64(t);
  const f64 s = r * r;
  f64 p = -0x1.73fdb123c9518p-16;
  p = fma_f64(p, s, 0x1.e909595e50ea1p-12);
  p = fma_f64(p, s, -0x1.e3076f6549db1p-8);
  p = fma_f64(p, s, 0x1.5078349df5ad3p-4);
  p = fma_f64(p, s, -0x1.32d2cce63b24cp-1);
  p = fma_f64(p, s, 0x1.466bc6775ab7dp+1);
  p = fma_f64(p, s, -0x1.4abbce625be53p+2);
  p = fma_f64(p, s, 0x1.1a62633145c07p-53);
  const f64 sine = fma_f64(r, 0x1.921fb54442d18p+1, p * r);
  f64 q = -0x1.bf1c01054a27cp-16;
  q = fma_f64(q, s, -0x1.96b280b954014p-14);
  q = fma_f64(q, s, 0x1.f99fcdaaf9716p-10);
  q = fma_f64(q, s, -0x1.a6d1c7873cf14p-6);
  q = fma_f64(q, s, 0x1.e1f50661a1cc7p-3);
  q = fma_f64(q, s, -0x1.55d3c7e3b8a98p+0);
  q = fma_f64(q, s, 0x1.03c1f081b5a34p+2);
  q = fma_f64(q, s, -0x1.3bd3cc9be45dep+2);
  const f64 cosine = fma_f64(q, s, 1.0);
  const u64 odd = quadrant & 1u;
  SinCosF64 y;
  y.sin = f64_from_bits(bits_f64(odd ? cosine : sine) ^ ((quadrant & 2u) << 62));
  y.cos = f64_from_bits(bits_f64(odd ? sine : cosine) ^ (((quadrant + 1u) & 2u) << 62));
  return y;
}

}  // namespace votive::numerics
