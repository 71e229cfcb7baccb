// The derivatives of lgamma, digamma and trigamma: no entries of CONTRACT.md 2.3, so their bounds stand here. Polynomials up to 2 or 3, Stirling's series
// beyond, the reflection left of 0. No branches.
#pragma once

#include "votive/numerics/power.h"
#include "votive/numerics/trigonometry.h"
#include "votive/numerics/trigonometry_f64.h"

namespace votive::numerics {

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

/// trigamma(1 + d) for 0 <= d <= 1.
VOTIVE_SCALAR f32 trigamma_near_f32(f32 d) {
  const f32 v = d - 0.5f;
  f32 p = -0x1.862c8cp-4f;
  p = fma_f32(p, v, 0x1.0a5732p-3f);
  p = fma_f32(p, v, -0x1.add3acp-4f);
  p = fma_f32(p, v, 0x1.242f9cp-3f);
  p = fma_f32(p, v, -0x1.b22228p-3f);
  p = fma_f32(p, v, 0x1.1ee07ap-2f);
  p = fma_f32(p, v, -0x1.72b8acp-2f);
  p = fma_f32(p, v, 0x1.da0948p-2f);
  p = fma_f32(p, v, -0x1.287892p-1f);
  p = fma_f32(p, v, 0x1.68baaep-1f);
  p = fma_f32(p, v, -0x1.a85808p-1f);
  p = fma_f32(p, v, 0x1.de9e64p-1f);
  return p;
}
VOTIVE_SCALAR f64 trigamma_near_f64(f64 d) {
  const f64 v = d - 0.5;
  f64 p = 0x1.c16244b5d35d4p-10;
  p = fma_f64(p, v, -0x1.102f51f186a57p-9);
  p = fma_f64(p, v, 0x1.5c8e08ce4b9ddp-12);
  p = fma_f64(p, v, -0x1.1bcff0a15ac9fp-10);
  p = fma_f64(p, v, 0x1.b77cc624ed776p-9);
  p = fma_f64(p, v, -0x1.1ef7e52b8726fp-8);
  p = fma_f64(p, v, 0x1.6a97ea7381e73p-8);
  p = fma_f64(p, v, -0x1.06ec35258e3c3p-7);
  p = fma_f64(p, v, 0x1.7a4903b800a8ap-7);
  p = fma_f64(p, v, -0x1.0a61ba11f5ebbp-6);
  p = fma_f64(p, v, 0x1.7628e04c3e1adp-6);
  p = fma_f64(p, v, -0x1.06043fffe5d7fp-5);
  p = fma_f64(p, v, 0x1.6d18353201a8ap-5);
  p = fma_f64(p, v, -0x1.f9c73916a81f8p-5);
  p = fma_f64(p, v, 0x1.5c0830537755bp-4);
  p = fma_f64(p, v, -0x1.db4d836301a8ep-4);
  p = fma_f64(p, v, 0x1.41a51c38f11d0p-3);
  p = fma_f64(p, v, -0x1.aeb6f15c7b58fp-3);
  p = fma_f64(p, v, 0x1.1cc1377a77976p-2);
  p = fma_f64(p, v, -0x1.72d7487c252ffp-2);
  p = fma_f64(p, v, 0x1.da2d963d036ffp-2);
  p = fma_f64(p, v, -0x1.287825428e805p-1);
  p = fma_f64(p, v, 0x1.68ba30a420916p-1);
  p = fma_f64(p, v, -0x1.a85808a40aba2p-1);
  p = fma_f64(p, v, 0x1.de9e64df22ef3p-1);
  return p;
}

/// The derivative of digamma.   x > 0: <= 4 ulp;  x < 0: <= 6 ulp.   0 and the negative integers give inf.
VOTIVE_SCALAR f32 trigamma_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 near = trigamma_near_f32(a < 1.0f ? a : (a < 2.0f ? a - 1.0f : 0.0f));
  const f32 inverse = 1.0f / a;
  const f32 square = inverse * inverse;
  const f32 i = a < 2.0f ? 0.5f : inverse;
  const f32 z = i * i;
  f32 p = -0x1.1fdaaap-5f;
  p = fma_f32(p, z, 0x1.5a6b08p-5f);
  p = fma_f32(p, z, -0x1.ed7e00p-6f);
  p = fma_f32(p, z, 0x1.838116p-6f);
  p = fma_f32(p, z, -0x1.110ac0p-5f);
  p = fma_f32(p, z, 0x1.555554p-3f);
  const f32 far = i + z * fma_f32(p, i, 0.5f);
  const f32 right = a < 1.0f ? near + square : (a < 2.0f ? near : far);
  // trigamma(-a) = (pi / sin(pi a))^2 + 1/a^2 - trigamma(a)
  const f32 after = a < 1.0f ? near : right - square;
  const f32 turn = 0x1.921fb6p+1f / sincospi_f32(a - rint_f32(a)).sin;
  f32 y = x < 0.0f ? fma_f32(turn, turn, -after) : right;
  y = a == infinity_f32() ? (x > 0.0f ? 0.0f : nan_f32()) : y;
  return x != x ? x : y;
}
VOTIVE_SCALAR f64 trigamma_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 near = trigamma_near_f64(a < 1.0 ? a : (a < 2.0 ? a - 1.0 : (a < 3.0 ? a - 2.0 : 0.0)));
  const f64 inverse = 1.0 / a;
  const f64 square = inverse * inverse;
  const f64 i = a < 3.0 ? 1.0 / 3.0 : inverse;
  const f64 before = 1.0 / (a < 2.0 ? 1.0 : a - 1.0);
  const f64 z = i * i;
  f64 p = -0x1.442fa8e3071cap+19;
  p = fma_f64(p, z, 0x1.3e0dcbdf5f251p+19);
  p = fma_f64(p, z, -0x1.235eb9566a54dp+18);
  p = fma_f64(p, z, 0x1.4e3ed122e98ecp+16);
  p = fma_f64(p, z, -0x1.11a73329b2de1p+14);
  p = fma_f64(p, z, 0x1.5e431f8522d22p+11);
  p = fma_f64(p, z, -0x1.7f28931a40028p+8);
  p = fma_f64(p, z, 0x1.8e5d72698d620p+5);
  p = fma_f64(p, z, -0x1.bcadb3196e6eep+2);
  p = fma_f64(p, z, 0x1.29e4c26709515p+0);
  p = fma_f64(p, z, -0x1.03243b774052cp-2);
  p = fma_f64(p, z, 0x1.364d14cf7a567p-4);
  p = fma_f64(p, z, -0x1.11110f68c50a1p-5);
  p = fma_f64(p, z, 0x1.86186182f69d2p-6);
  p = fma_f64(p, z, -0x1.111111111063bp-5);
  p = fma_f64(p, z, 0x1.5555555555555p-3);
  const f64 far = i + z * fma_f64(p, i, 0.5);
  const f64 middle = a < 2.0 ? near : fma_f64(-before, before, near);  // trigamma(a) = trigamma(a-1) - 1/(a-1)^2
  const f64 right = a < 1.0 ? near + square : (a < 3.0 ? middle : far);
  // trigamma(-a) = (pi / sin(pi a))^2 + 1/a^2 - trigamma(a)
  const f64 after = a < 1.0 ? near : right - square;
  const f64 turn = 0x1.921fb54442d18p+1 / sincospi_f64(a - rint_f64(a)).sin;
  f64 y = x < 0.0 ? fma_f64(turn, turn, -after) : right;
  y = a == infinity_f64() ? (x > 0.0 ? 0.0 : nan_f64()) : y;
  return x != x ? x : y;
}

}  // namespace votive::numerics
