// lgamma, digamma and the inverse of erf: no entry of CONTRACT.md 2.3, so their bounds stand here. Near zeros of a function, where its terms cancel, the
// bound is in ulp of the largest term. No branches.
#pragma once

#include "votive/numerics/erf_f64.h"
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
  y = x < 0.0f ? mirrored : y;
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
  y = x < 0.0 ? mirrored : y;
  const u32 whole = rint_f64(a) == a;
  y = (((x < 0.0) & whole) | (a == 0.0)) ? infinity_f64() : y;
  y = a == infinity_f64() ? a : y;
  return x != x ? x : y;
}

/// digamma(1 + d) for 0 <= d <= 1: a polynomial times the distance from its zero.
VOTIVE_SCALAR f32 digamma_near_f32(f32 d) {
  const f32 v = d - 0.5f;
  f32 p = 0x1.44ccd2p-7f;
  p = fma_f32(p, v, -0x1.071828p-6f);
  p = fma_f32(p, v, 0x1.242c86p-6f);
  p = fma_f32(p, v, -0x1.a9792ap-6f);
  p = fma_f32(p, v, 0x1.4d1b9cp-5f);
  p = fma_f32(p, v, -0x1.fc127cp-5f);
  p = fma_f32(p, v, 0x1.85248cp-4f);
  p = fma_f32(p, v, -0x1.2fed22p-3f);
  p = fma_f32(p, v, 0x1.eca11ap-3f);
  p = fma_f32(p, v, -0x1.b1cb64p-2f);
  p = fma_f32(p, v, 0x1.e6f0ccp-1f);
  return p * ((d - 0x1.d8b618p-2f) - 0x1.ab5f20p-27f);
}
VOTIVE_SCALAR f64 digamma_near_f64(f64 d) {
  const f64 v = d - 0.5;
  f64 p = 0x1.453a7bdf65e9fp-13;
  p = fma_f64(p, v, -0x1.75968e9220d95p-13);
  p = fma_f64(p, v, 0x1.7643423049c4bp-15);
  p = fma_f64(p, v, -0x1.2ff03e98274bfp-13);
  p = fma_f64(p, v, 0x1.759130e3bd1efp-12);
  p = fma_f64(p, v, -0x1.fd7838f0221a2p-12);
  p = fma_f64(p, v, 0x1.643dd151fd740p-11);
  p = fma_f64(p, v, -0x1.0fb5a05042e8ep-10);
  p = fma_f64(p, v, 0x1.9a7ed72b74230p-10);
  p = fma_f64(p, v, -0x1.336d80e859942p-9);
  p = fma_f64(p, v, 0x1.cd13affdf6a8dp-9);
  p = fma_f64(p, v, -0x1.5a06aa61143b7p-8);
  p = fma_f64(p, v, 0x1.03c0f8df195a0p-7);
  p = fma_f64(p, v, -0x1.863563bd8c44fp-7);
  p = fma_f64(p, v, 0x1.25646f2ec0119p-6);
  p = fma_f64(p, v, -0x1.b9f8b11d953bfp-6);
  p = fma_f64(p, v, 0x1.4de9aa225b04fp-5);
  p = fma_f64(p, v, -0x1.fb44202a1c32cp-5);
  p = fma_f64(p, v, 0x1.8512e5901c52dp-4);
  p = fma_f64(p, v, -0x1.2feeeb98a795ep-3);
  p = fma_f64(p, v, 0x1.eca189b8e719bp-3);
  p = fma_f64(p, v, -0x1.b1cb63005ee98p-2);
  p = fma_f64(p, v, 0x1.e6f0cbb873616p-1);
  return p * ((d - 0x1.d8b618d5af8fep-2) + 0x1.1e563779a1f5bp-56);
}

/// The derivative of lgamma.   x > 0: <= 4 ulp;  x < 0: <= 8 ulp of the larger of |y| and |pi cot(pi x)|.   +-0 give -+inf, negative integers NaN.
VOTIVE_SCALAR f32 digamma_f32(f32 x) {
  const f32 a = abs_f32(x);
  const PairF32 l = log_long_f32(a);
  const f32 near = digamma_near_f32(a < 1.0f ? a : (a < 2.0f ? a - 1.0f : 0.0f));
  const f32 inverse = 1.0f / a;
  const f32 i = a < 2.0f ? 0.5f : inverse;
  const f32 z = i * i;
  f32 p = -0x1.0f337ep-8f;
  p = fma_f32(p, z, 0x1.4a7bfap-8f);
  p = fma_f32(p, z, -0x1.03a878p-8f);
  p = fma_f32(p, z, 0x1.03acacp-8f);
  p = fma_f32(p, z, -0x1.1111a0p-7f);
  p = fma_f32(p, z, 0x1.555556p-4f);
  const f32 far = l.head + (l.tail - fma_f32(p, z, 0.5f * i));
  const f32 right = a < 1.0f ? near - inverse : (a < 2.0f ? near : far);
  // digamma(-a) = digamma(a) + 1/a + pi cot(pi a)
  const f32 after = a < 1.0f ? near : right + inverse;
  const f32 r = a - rint_f32(a);
  const SinCosF32 turn = sincospi_f32(r);
  const f32 left = after + 0x1.921fb6p+1f * turn.cos / turn.sin;
  f32 y = bits_f32(x) >> 31 ? (((r == 0.0f) & (a > 0.0f)) ? nan_f32() : left) : right;
  y = a == infinity_f32() ? (x > 0.0f ? x : nan_f32()) : y;
  y = a == 0.0f ? copysign_f32(infinity_f32(), neg_f32(x)) : y;
  return x != x ? x : y;
}
VOTIVE_SCALAR f64 digamma_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 inverse = 1.0 / a;
  const f64 near = digamma_near_f64(a < 1.0 ? a : (a < 2.0 ? a - 1.0 : (a < 3.0 ? a - 2.0 : 0.0)));
  const f64 m = a < 3.0 ? 3.0 : a;
  const PairF64 l = log_long_f64(m);
  const f64 i = 1.0 / m;
  const f64 z = i * i;
  f64 p = -0x1.2da1d4ba1bd8dp+10;
  p = fma_f64(p, z, 0x1.35bf2957f7b50p+12);
  p = fma_f64(p, z, -0x1.04b15b271d7afp+12);
  p = fma_f64(p, z, 0x1.c08c9f48fe4d3p+10);
  p = fma_f64(p, z, -0x1.f44c56b9e9281p+8);
  p = fma_f64(p, z, 0x1.9b0a22b0f0667p+6);
  p = fma_f64(p, z, -0x1.1433cd11496bep+4);
  p = fma_f64(p, z, 0x1.548cdab047bf8p+1);
  p = fma_f64(p, z, -0x1.b84b906e4ffdap-2);
  p = fma_f64(p, z, 0x1.53f19585f5344p-4);
  p = fma_f64(p, z, -0x1.597b3e3cd6a1ap-6);
  p = fma_f64(p, z, 0x1.f07ac67897bf5p-8);
  p = fma_f64(p, z, -0x1.11110e3db4110p-8);
  p = fma_f64(p, z, 0x1.04104100a65f4p-8);
  p = fma_f64(p, z, -0x1.111111111017ap-7);
  p = fma_f64(p, z, 0x1.5555555555555p-4);
  const f64 far = l.head + (l.tail - fma_f64(p, z, 0.5 * i));
  const f64 middle = a < 2.0 ? near : near + 1.0 / (a - 1.0);
  const f64 right = a < 1.0 ? near - inverse : (a < 3.0 ? middle : far);
  const f64 after = a < 1.0 ? near : right + inverse;
  const f64 r = a - rint_f64(a);
  const SinCosF64 turn = sincospi_f64(r);
  const f64 left = after + 0x1.921fb54442d18p+1 * turn.cos / turn.sin;
  f64 y = bits_f64(x) >> 63 ? (((r == 0.0) & (a > 0.0)) ? nan_f64() : left) : right;
  y = a == infinity_f64() ? (x > 0.0 ? x : nan_f64()) : y;
  y = a == 0.0 ? copysign_f64(infinity_f64(), neg_f64(x)) : y;
  return x != x ? x : y;
}

/// The inverse of erf;  +-1 give +-inf, beyond NaN.   <= 4 ulp.
VOTIVE_SCALAR f32 erfinv_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 z = x * x;
  f32 p = 0x1.02e57cp+0f;
  p = fma_f32(p, z, -0x1.09582ap+1f);
  p = fma_f32(p, z, 0x1.063232p+1f);
  p = fma_f32(p, z, -0x1.107d60p+0f);
  p = fma_f32(p, z, 0x1.a530b2p-2f);
  p = fma_f32(p, z, -0x1.9bd56ep-6f);
  p = fma_f32(p, z, 0x1.320ef6p-4f);
  p = fma_f32(p, z, 0x1.5fa132p-4f);
  p = fma_f32(p, z, 0x1.05494ep-3f);
  p = fma_f32(p, z, 0x1.db29d2p-3f);
  const f32 s = sqrt_f32(-log_f32(a < 1.0f ? 1.0f - a : 1.0f));
  const f32 v = s - 2.625f;
  f32 q = -0x1.f86fc0p-26f;
  q = fma_f32(q, v, 0x1.367a5ep-23f);
  q = fma_f32(q, v, 0x1.3e4460p-20f);
  q = fma_f32(q, v, -0x1.650ee6p-18f);
  q = fma_f32(q, v, 0x1.430848p-17f);
  q = fma_f32(q, v, -0x1.aa3554p-16f);
  q = fma_f32(q, v, 0x1.67918cp-14f);
  q = fma_f32(q, v, -0x1.de182cp-13f);
  q = fma_f32(q, v, 0x1.111a5ep-11f);
  q = fma_f32(q, v, -0x1.02f46ap-10f);
  q = fma_f32(q, v, 0x1.c816bcp-11f);
  q = fma_f32(q, v, 0x1.4cd514p-8f);
  q = fma_f32(q, v, -0x1.76e416p-5f);
  q = fma_f32(q, v, 0x1.34e564p-2f);
  const f32 y = copysign_f32(a < 0.75f ? fma_f32(a, 0x1.c5bf8ap-1f, fma_f32(p, z, -0x1.c96212p-26f) * a) : s - q, x);
  return a < 1.0f ? y : (a == 1.0f ? copysign_f32(infinity_f32(), x) : nan_f32());
}
/// A polynomial's 20 bits, and one step of Halley's to all of them.
VOTIVE_SCALAR f64 erfinv_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 c = a < 1.0 ? a : 0.0;
  const f64 z = c * c;
  f64 p = 0x1.0d0bf0p-3f;
  p = fma_f64(p, z, 0x1.32d1fcp-9f);
  p = fma_f64(p, z, 0x1.3daff4p-4f);
  p = fma_f64(p, z, 0x1.5bbfb4p-4f);
  p = fma_f64(p, z, 0x1.057578p-3f);
  p = fma_f64(p, z, 0x1.db2852p-3f);
  p = fma_f64(p, z, 0x1.c5bf8ap-1f);
  const f64 s = sqrt_f64(-log_f64(1.0 - c));
  const f64 v = s - 3.4;
  f64 q = -0x1.402fb34766292p-25;
  q = fma_f64(q, v, 0x1.dfd3bbba4514ep-23);
  q = fma_f64(q, v, -0x1.05b936a17fec6p-22);
  q = fma_f64(q, v, -0x1.9f444f7332590p-23);
  q = fma_f64(q, v, -0x1.9f51163e292e6p-19);
  q = fma_f64(q, v, 0x1.fe26ad6dcab6dp-17);
  q = fma_f64(q, v, -0x1.12338c35f4c14p-15);
  q = fma_f64(q, v, 0x1.1b029dfa52dbcp-14);
  q = fma_f64(q, v, -0x1.a37289374bfdap-14);
  q = fma_f64(q, v, -0x1.a32ccb2ebc9b7p-12);
  q = fma_f64(q, v, 0x1.4f383f44e2436p-8);
  q = fma_f64(q, v, -0x1.333c220b93475p-5);
  q = fma_f64(q, v, 0x1.13dcc814f17d3p-2);
  const f64 y = c < 0.5 ? p * c : s - q;
  const f64 miss = c < 0.5 ? erf_f64(y) - c : (1.0 - c) - erfc_f64(y);
  const f64 step = miss * 0x1.c5bf891b4ef6ap-1 * exp_f64(y * y);  // over erf'
  const f64 root = copysign_f64(y - step / fma_f64(y, step, 1.0), x);
  return a < 1.0 ? (a < 0x1p-500 ? x * 0x1.c5bf891b4ef6ap-1 : root) : (a == 1.0 ? copysign_f64(infinity_f64(), x) : nan_f64());
}

}  // namespace votive::numerics
