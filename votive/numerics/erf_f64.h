// erf, erfc and gelu in f64 (CONTRACT.md 2.3), the ways of math_f32.h: near 0 a polynomial of x^2, elsewhere exp(-x^2) times a polynomial of a quotient.
#pragma once

#include "votive/numerics/math_f64.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

/// erf(x)/x - 1 as a polynomial of s = x^2, |x| <= 1.
VOTIVE_SCALAR f64 erf_tail_f64(f64 s) {
  f64 p = -0x1.1a5e7ce0f8dd1p-35;
  p = fma_f64(p, s, 0x1.30b1af9226198p-32);
  p = fma_f64(p, s, -0x1.eca7c29057ed7p-30);
  p = fma_f64(p, s, 0x1.0faf89d3ddc1fp-26);
  p = fma_f64(p, s, -0x1.61f50b7e0b296p-23);
  p = fma_f64(p, s, 0x1.ba25d7604b222p-20);
  p = fma_f64(p, s, -0x1.f4d6a9d811fecp-17);
  p = fma_f64(p, s, 0x1.f9a35b2db6598p-14);
  p = fma_f64(p, s, -0x1.c02db5b14dcb8p-11);
  p = fma_f64(p, s, 0x1.565bcd17b18ecp-8);
  p = fma_f64(p, s, -0x1.b82ce312c823bp-6);
  p = fma_f64(p, s, 0x1.ce2f21a043b22p-4);
  p = fma_f64(p, s, -0x1.812746b037a02p-2);
  return fma_f64(p, s, 0x1.06eba8214db69p-3);
}

/// exp(u^2) erfc(u) for 0 <= u <= 27.4.
VOTIVE_SCALAR f64 erfcx_f64(f64 u) {
  const f64 d = u + 4.0;
  const f64 lost = u < 4.0 ? u - (d - 4.0) : 4.0 - (d - u);
  const f64 s = 1.0 / d;
  f64 t = fma_f64(-8.0, s, 1.0);  // (u - 4) / (u + 4), then without what the sum and the quotient rounded off
  t = fma_f64(fma_f64(-t, u, fma_f64(t + 1.0, -4.0, u)), s, t);
  f64 p = 0x1.077e5b8fc8affp-32;
  p = fma_f64(p, t, -0x1.ba522ec4759b2p-29);
  p = fma_f64(p, t, -0x1.18dbba5950e7ap-26);
  p = fma_f64(p, t, 0x1.5300dc085cb20p-27);
  p = fma_f64(p, t, 0x1.18548748aedffp-23);
  p = fma_f64(p, t, -0x1.6f4eeaec5aef3p-24);
  p = fma_f64(p, t, -0x1.cb802e284d75ap-21);
  p = fma_f64(p, t, 0x1.7fe289c688d8fp-20);
  p = fma_f64(p, t, 0x1.3b8923abee757p-18);
  p = fma_f64(p, t, -0x1.3c77444b2cea0p-16);
  p = fma_f64(p, t, -0x1.e85b671660d1ep-19);
  p = fma_f64(p, t, 0x1.72cdd7f546072p-13);
  p = fma_f64(p, t, -0x1.dd28055bbd4f5p-12);
  p = fma_f64(p, t, -0x1.269b53cbd6e35p-12);
  p = fma_f64(p, t, 0x1.908f467427e60p-8);
  p = fma_f64(p, t, -0x1.b00c052c94dddp-6);
  p = fma_f64(p, t, 0x1.38dbd2c9fd972p-4);
  p = fma_f64(p, t, -0x1.645fd8a4b9c26p-3);
  p = fma_f64(p, t, 0x1.52cac2370c687p-2);
  p = fma_f64(p, t, -0x1.14eacb1ad038ap-1);
  p = fma_f64(p, t, 0x1.8be202d26c79fp-1);
  p = fma_f64(p, t, -0x1.f3fe31ecb49bfp-1);
  p = fma_f64(p, t, 0x1.18932bf08e154p+0);
  const f64 y = p * s;
  return fma_f64(fma_f64(-y, lost, fma_f64(-y, d, p)), s, y);
}

/// The error function.   <= 2 ulp.
VOTIVE_SCALAR f64 erf_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 small = fma_f64(erf_tail_f64(a * a), a, a);
  const f64 u = a < 6.0 ? a : 6.0;
  const f64 h = -(u * u);
  const ExcessF64 e = exp_excess_f64(h, -fma_f64(u, u, h));
  const f64 g = erfcx_f64(u);
  const f64 large = fma_f64(-fma_f64(g, e.head + e.tail, g), power_of_two_f64(e.exponent), 1.0);
  const f64 y = copysign_f64(a < 1.0 ? small : large, x);
  return x != x ? x : y;
}

/// 1 - erf(x), without the cancellation.   <= 3 ulp.
VOTIVE_SCALAR f64 erfc_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 small = 1.0 - fma_f64(erf_tail_f64(x * x), x, x);
  const f64 u = a < 27.4 ? a : 27.4;
  const f64 h = -(u * u);
  const ExcessF64 e = exp_excess_f64(h, -fma_f64(u, u, h));
  const i32 first = e.exponent >> 1;
  const f64 g = erfcx_f64(u);
  const f64 tail = fma_f64(g, e.head + e.tail, g) * power_of_two_f64(first) * power_of_two_f64(e.exponent - first);
  f64 y = x < 0.0 ? 2.0 - tail : tail;
  y = a < 0.75 ? small : y;
  return x != x ? x : y;
}

/// x * Phi(x).   <= 6 ulp;  gelu(-inf) = -0.
VOTIVE_SCALAR f64 gelu_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 u = a < 38.7 ? a : 38.7;
  const f64 h = -0.5 * (u * u);
  const ExcessF64 e = exp_excess_f64(h, -0.5 * fma_f64(u, u, 2.0 * h));
  const i32 first = e.exponent >> 1;
  const f64 g = 0.5 * erfcx_f64(u * 0x1.6a09e667f3bcdp-1);
  const f64 half = fma_f64(g, e.head + e.tail, g) * power_of_two_f64(first);
  const f64 rest = power_of_two_f64(e.exponent - first);
  const f64 c = x > -38.7 ? x : -38.7;
  const f64 y = x < 0.0 ? c * half * rest : x * fma_f64(-half, rest, 1.0);
  return x != x ? x : y;
}

}  // namespace votive::numerics
