// lgamma: no entry of CONTRACT.md 2.3, so its bound stands here. Left of 0, where its terms cancel, the bound is in ulp of the largest term. No branches.
#pragma once

#include "votive/numerics/power.h"
#include "votive/numerics/trigonometry.h"
#include "votive/numerics/trigonometry_f64.h"

namespace votive::numerics {

/// lgamma(1+u) / u on [-1/2, 1/2], lgamma(2+u) / u on [-1/2, 1]: no digit is lost at lgamma's two zeros.
VOTIVE_SCALAR f32 lgamma_near_one_f32(f32 u) {
  f32 p = 0x1.5de86ep-3f;
  p = fma_f32(p, u, -0x1.7b0646p-3f);
  p = fma_f32(p, u, 0x1.57d1b4p-5f);
  p = fma_f32(p, u, -0x1.6d52fap-5f);
  p = fma_f32(p, u, 0x1.ba2e5cp-4f);
  p = fma_f32(p, u, -0x1.edf152p-4f);
  p = fma_f32(p, u, 0x1.ff16dep-4f);
  p = fma_f32(p, u, -0x1.251198p-3f);
  p = fma_f32(p, u, 0x1.5b509cp-3f);
  p = fma_f32(p, u, -0x1.a8d340p-3f);
  p = fma_f32(p, u, 0x1.15130ep-2f);
  p = fma_f32(p, u, -0x1.9a4d0ep-2f);
  p = fma_f32(p, u, 0x1.a51a66p-1f);
  p = fma_f32(p, u, -0x1.2788d0p-1f);
  return p;
}
VOTIVE_SCALAR f32 lgamma_near_two_f32(f32 u) {
  f32 p = 0x1.d68d60p-16f;
  p = fma_f32(p, u, -0x1.40dd86p-13f);
  p = fma_f32(p, u, 0x1.2b3af8p-12f);
  p = fma_f32(p, u, -0x1.2cadf6p-12f);
  p = fma_f32(p, u, 0x1.bf33a6p-12f);
  p = fma_f32(p, u, -0x1.2a243ap-10f);
  p = fma_f32(p, u, 0x1.7c2c6ap-9f);
  p = fma_f32(p, u, -0x1.e4bc62p-8f);
  p = fma_f32(p, u, 0x1.51314cp-6f);
  p = fma_f32(p, u, -0x1.13df4cp-4f);
  p = fma_f32(p, u, 0x1.4a34ccp-2f);
  p = fma_f32(p, u, 0x1.b0ee60p-2f);
  return p;
}
VOTIVE_SCALAR f64 lgamma_near_one_f64(f64 u) {
  f64 p = 0x1.f810f5946c48ap-3;
  p = fma_f64(p, u, -0x1.c7afe8fbbbd61p-3);
  p = fma_f64(p, u, -0x1.9216a269080eep-3);
  p = fma_f64(p, u, 0x1.31526faecb778p-3);
  p = fma_f64(p, u, 0x1.67bf0bfe0ef05p-3);
  p = fma_f64(p, u, -0x1.22fff15724b97p-3);
  p = fma_f64(p, u, -0x1.17d6b393d6649p-9);
  p = fma_f64(p, u, -0x1.02e20b332ace1p-6);
  p = fma_f64(p, u, 0x1.f6c13ce00e343p-5);
  p = fma_f64(p, u, -0x1.e737fd5275529p-5);
  p = fma_f64(p, u, 0x1.b79b32ff19a98p-5);
  p = fma_f64(p, u, -0x1.d997698a335e8p-5);
  p = fma_f64(p, u, 0x1.00e9f36419d85p-4);
  p = fma_f64(p, u, -0x1.11801d34b5984p-4);
  p = fma_f64(p, u, 0x1.2483ae1b7a5ecp-4);
  p = fma_f64(p, u, -0x1.3b15ed0f93145p-4);
  p = fma_f64(p, u, 0x1.556bece29c68fp-4);
  p = fma_f64(p, u, -0x1.748c8f090aa5fp-4);
  p = fma_f64(p, u, 0x1.9a01d90ad6657p-4);
  p = fma_f64(p, u, -0x1.c8066db60ca14p-4);
  p = fma_f64(p, u, 0x1.010b36cee91e5p-3);
  p = fma_f64(p, u, -0x1.2703a1e2c28d6p-3);
  p = fma_f64(p, u, 0x1.5b40cb0fa336ap-3);
  p = fma_f64(p, u, -0x1.a8b9c17a9a7a3p-3);
  p = fma_f64(p, u, 0x1.151322ac7dd4ep-2);
  p = fma_f64(p, u, -0x1.9a4d55beab300p-2);
  p = fma_f64(p, u, 0x1.a51a6625307d2p-1);
  p = fma_f64(p, u, -0x1.2788cfc6fb619p-1);
  return p;
}
VOTIVE_SCALAR f64 lgamma_near_two_f64(f64 u) {
  f64 p = -0x1.60ea65bbe430ap-29;
  p = fma_f64(p, u, 0x1.5d1707d24edafp-29);
  p = fma_f64(p, u, 0x1.4819a450449f4p-25);
  p = fma_f64(p, u, -0x1.0db275a266511p-23);
  p = fma_f64(p, u, 0x1.12e40237499cdp-23);
  p = fma_f64(p, u, 0x1.c5bf43b3cb4c2p-25);
  p = fma_f64(p, u, -0x1.0d49699c4ab63p-22);
  p = fma_f64(p, u, 0x1.48f1a774e8568p-22);
  p = fma_f64(p, u, -0x1.b90cde20e1298p-22);
  p = fma_f64(p, u, 0x1.e14a8f5de9d7dp-21);
  p = fma_f64(p, u, -0x1.110d299dfcee3p-19);
  p = fma_f64(p, u, 0x1.26ad598e821bfp-18);
  p = fma_f64(p, u, -0x1.3ce3902aee95fp-17);
  p = fma_f64(p, u, 0x1.580395264e302p-16);
  p = fma_f64(p, u, -0x1.78dc2745103e6p-15);
  p = fma_f64(p, u, 0x1.a127e4eca1cacp-14);
  p = fma_f64(p, u, -0x1.d3fd5c78ef499p-13);
  p = fma_f64(p, u, 0x1.0b36af46d8b26p-11);
  p = fma_f64(p, u, -0x1.38ac5c0ce3696p-10);
  p = fma_f64(p, u, 0x1.7add6eade1aa8p-9);
  p = fma_f64(p, u, -0x1.e404fc21cb464p-8);
  p = fma_f64(p, u, 0x1.51322ac7d860ap-6);
  p = fma_f64(p, u, -0x1.13e001a557553p-4);
  p = fma_f64(p, u, 0x1.4a34cc4a60fa6p-2);
  p = fma_f64(p, u, 0x1.b0ee6072093cep-2);
  return p;
}

/// log |Gamma(x)|.   x > 0: <= 3 ulp;  x < 0: <= 4 ulp of the largest of |y|, |lgamma(1 - x)| and |log(sin(pi x)/pi)|.   0 and the negative integers give inf.
VOTIVE_SCALAR f32 lgamma_f32(f32 x) {
  const f32 a = abs_f32(x);
  const PairF32 l = log_long_f32(a);
  const f32 u = a < 0.5f ? a : (a < 1.5f ? a - 1.0f : a - 2.0f);
  const f32 c = a < 3.0f ? u : 0.0f;
  const f32 near = fma_f32(c, a < 1.5f ? lgamma_near_one_f32(c) : lgamma_near_two_f32(c), 0.0f);  // + 0: lgamma(1) is no -0
  // Stirling: (a - 1/2)(log a - 1) + (log(2 pi) - 1) / 2 + 1/(12a) - ...
  const f32 inverse = 1.0f / (a < 3.0f ? 3.0f : a);
  const f32 z = inverse * inverse;
  f32 p = -0x1.f2e10ap-12f;
  p = fma_f32(p, z, 0x1.9d9660p-11f);
  p = fma_f32(p, z, -0x1.6c1800p-9f);
  p = fma_f32(p, z, 0x1.555556p-4f);
  const f32 b = a - 0.5f;
  const f32 b_low = (a - b) - 0.5f;
  const f32 q = l.head - 1.0f;
  const f32 q_low = ((l.head - q) - 1.0f) + l.tail;
  const f32 product = b * q;
  const f32 low = fma_f32(b_low, q, fma_f32(b, q_low, fma_f32(b, q, -product)));
  const f32 rest = fma_f32(p, inverse, 0x1.acfe3ap-2f) + low;
  const f32 far = product < infinity_f32() ? product + rest : product;
  f32 y = a < 0.5f ? near - l.head : (a < 3.0f ? near : far);
  // lgamma(-a) = log(pi / |sin(pi a)|) - lgamma(1 + a)
  const f32 next = a < 0.5f ? near : y + l.head;
  const f32 sine = abs_f32(sincospi_f32(a - rint_f32(a)).sin);
  const f32 mirrored = (0x1.250d04p+0f - log_f32(sine)) - next;
  y = ((x < 0.0f) & (a >= 0x1p-30f)) ? mirrored : y;  // nearer to 0 both sides are -log a; pi a would lose its digits where it is subnormal
  const u32 whole = rint_f32(a) == a;
  y = (((x < 0.0f) & whole) | (a == 0.0f)) ? infinity_f32() : y;
  y = a == infinity_f32() ? a : y;
  return x != x ? x : y;
}

/// As above.   x > 0: <= 3 ulp.
VOTIVE_SCALAR f64 lgamma_f64(f64 x) {
  const f64 a = abs_f64(x);
  const PairF64 l = log_long_f64(a);
  const f64 u = a < 0.5 ? a : (a < 1.5 ? a - 1.0 : a - 2.0);
  const f64 c = a < 3.0 ? u : 0.0;
  const f64 near = fma_f64(c, a < 1.5 ? lgamma_near_one_f64(c) : lgamma_near_two_f64(c), 0.0);  // + 0: lgamma(1) is no -0
  const f64 inverse = 1.0 / (a < 3.0 ? 3.0 : a);
  const f64 z = inverse * inverse;
  f64 p = -0x1.6be276ba529b2p+9;
  p = fma_f64(p, z, 0x1.14e8cf4529d1fp+9);
  p = fma_f64(p, z, -0x1.6b3eaaf7705cbp+7);
  p = fma_f64(p, z, 0x1.00419d7dba4e6p+5);
  p = fma_f64(p, z, -0x1.4f746ed75d0acp+1);
  p = fma_f64(p, z, -0x1.760904e2fc97bp-3);
  p = fma_f64(p, z, 0x1.b5d20a3f4f8d3p-4);
  p = fma_f64(p, z, -0x1.ae1e01bab8cbap-6);
  p = fma_f64(p, z, 0x1.9cf6b363f9260p-8);
  p = fma_f64(p, z, -0x1.f600f17ec2c58p-10);
  p = fma_f64(p, z, 0x1.b94c8b9c26d28p-11);
  p = fma_f64(p, z, -0x1.381373a852464p-11);
  p = fma_f64(p, z, 0x1.a01a018c85689p-11);
  p = fma_f64(p, z, -0x1.6c16c16c1371fp-9);
  p = fma_f64(p, z, 0x1.5555555555555p-4);
  const f64 b = a - 0.5;
  const f64 b_low = (a - b) - 0.5;
  const f64 q = l.head - 1.0;
  const f64 q_low = ((l.head - q) - 1.0) + l.tail;
  const f64 product = b * q;
  const f64 low = fma_f64(b_low, q, fma_f64(b, q_low, fma_f64(b, q, -product)));
  const f64 rest = fma_f64(p, inverse, 0x1.acfe390c97d69p-2) + low;
  const f64 far = product < infinity_f64() ? product + rest : product;
  f64 y = a < 0.5 ? near - l.head : (a < 3.0 ? near : far);
  const f64 next = a < 0.5 ? near : y + l.head;
  const f64 sine = abs_f64(sincospi_f64(a - rint_f64(a)).sin);
  const f64 mirrored = (0x1.250d048e7a1bdp+0 - log_f64(sine)) - next;
  y = ((x < 0.0) & (a >= 0x1p-60)) ? mirrored : y;
  const u32 whole = rint_f64(a) == a;
  y = (((x < 0.0) & whole) | (a == 0.0)) ? infinity_f64() : y;
  y = a == infinity_f64() ? a : y;
  return x != x ? x : y;
}

}  // namespace votive::numerics
