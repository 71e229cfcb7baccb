// exp, log and what is made of them, in f64 (CONTRACT.md 2.3). The f32 functions' methods, with the rounding errors carried along.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

/// 2^k, -1022 <= k <= 1023.
VOTIVE_SCALAR f64 power_of_two_f64(i32 k) { return f64_from_bits((u64)(u32)(k + 1023) << 52); }

typedef struct {
  f64 fraction;
  i32 exponent;
} ScaledF64;

typedef struct {
  f64 head;
  f64 tail;
  i32 exponent;
} ExcessF64;

/// exp(x + low) = (1 + head + tail) * 2^exponent for |x| <= 1400 and |low| at most a few ulp of x.
VOTIVE_SCALAR ExcessF64 exp_excess_f64(f64 x, f64 low) {
  const f64 n = fma_f64(x, 0x1.71547652b82fep+0, 0x1.8p52) - 0x1.8p52;
  const f64 high = fma_f64(n, -0x1.62e42ffp-1, x);
  const f64 tail = fma_f64(n, 0x1.718432a1b0e26p-35, low);
  const f64 r = high + tail;
  const f64 lost = (high - r) + tail;
  f64 p = 0x1.1f86a1335a774p-29;
  p = fma_f64(p, r, 0x1.af6f74e0c9c79p-26);
  p = fma_f64(p, r, 0x1.27e4cfbff2127p-22);
  p = fma_f64(p, r, 0x1.71ddedf554603p-19);
  p = fma_f64(p, r, 0x1.a01a01ab9e8c5p-16);
  p = fma_f64(p, r, 0x1.a01a01b46e14ep-13);
  p = fma_f64(p, r, 0x1.6c16c16c1567ep-10);
  p = fma_f64(p, r, 0x1.111111110e9b5p-7);
  p = fma_f64(p, r, 0x1.5555555555557p-5);
  p = fma_f64(p, r, 0x1.555555555555cp-3);
  p = fma_f64(p, r, 0.5);
  ExcessF64 e;
  e.head = r;
  e.tail = fma_f64(p, r * r, lost);
  e.exponent = (i32)n;
  return e;
}

/// exp(x + low) = fraction * 2^exponent, likewise.
VOTIVE_SCALAR ScaledF64 exp_scaled_f64(f64 x, f64 low) {
  const ExcessF64 excess = exp_excess_f64(x, low);
  const f64 head = 1.0 + excess.head;
  const f64 rest = (1.0 - head) + excess.head;  // exact, since |excess| < 1
  ScaledF64 e;
  e.fraction = head + (rest + excess.tail);
  e.exponent = excess.exponent;
  return e;
}

/// e^x.   <= 1 ulp.
VOTIVE_SCALAR f64 exp_f64(f64 x) {
  f64 c = x > -746.0 ? x : -746.0;
  c = c < 710.0 ? c : 710.0;
  const ScaledF64 e = exp_scaled_f64(c, -0.0);
  const i32 half = e.exponent >> 1;
  const f64 y = e.fraction * power_of_two_f64(half) * power_of_two_f64(e.exponent - half);
  return x != x ? x : y;
}

/// head + tail, the tail below half an ulp of the head.
typedef struct {
  f64 head;
  f64 tail;
} PairF64;

/// x = m * 2^e for positive finite x, m in [sqrt(1/2), sqrt(2)).
typedef struct {
  f64 m;
  f64 e;
} LogPartsF64;

VOTIVE_SCALAR LogPartsF64 log_parts_f64(f64 x) {
  const u32 subnormal = (i64)bits_f64(x) < 0x0010000000000000;
  const u64 u = bits_f64(subnormal ? x * 0x1p54 : x);
  const u64 biased = (u - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
  const i32 exponent = (i32)(u32)(biased >> 32) >> 20;
  LogPartsF64 parts;
  parts.m = f64_from_bits(u - biased);
  parts.e = (f64)(exponent - (subnormal ? 54 : 0));
  return parts;
}

/// log(m) + e log(2), to about 2^-63.
VOTIVE_SCALAR PairF64 log_of_parts_f64(f64 m, f64 e) {
  const f64 f = m - 1.0;
  const f64 s = f / (2.0 + f);
  const f64 z = s * s;
  f64 p = 0x1.2f58e1150dc02p-3;
  p = fma_f64(p, z, 0x1.3999caf3530d6p-3);
  p = fma_f64(p, z, 0x1.74668a02476eap-3);
  p = fma_f64(p, z, 0x1.c71c50ae0340fp-3);
  p = fma_f64(p, z, 0x1.2492494384427p-2);
  p = fma_f64(p, z, 0x1.999999997e30fp-2);
  p = fma_f64(p, z, 0x1.5555555555597p-1);
  // log(1+f) = f - f^2/2 + s*(f^2/2 + z*p)
  const f64 h = 0.5 * f * f;
  const f64 h_lost = fma_f64(0.5 * f, f, -h);
  const f64 small = fma_f64(s, fma_f64(z, p, h), fma_f64(e, -0x1.718432a1b0e26p-35, -h_lost));
  const f64 a = fma_f64(e, 0x1.62e42ffp-1, 0.0);
  const f64 b = f - h;
  const f64 b_lost = (f - b) - h;
  const f64 c = a + b;
  const f64 c_back = c - a;
  const f64 c_lost = (a - (c - c_back)) + (b - c_back);
  const f64 tail = c_lost + (b_lost + small);
  PairF64 y;
  y.head = c + tail;
  y.tail = (c - y.head) + tail;
  return y;
}

VOTIVE_SCALAR PairF64 log_pair_f64(f64 x) {
  const LogPartsF64 parts = log_parts_f64(x);
  return log_of_parts_f64(parts.m, parts.e);
}

/// What every logarithm is at the ends of its domain.
VOTIVE_SCALAR f64 log_ends_f64(f64 x, f64 y) {
  y = x == infinity_f64() ? x : y;
  y = x < 0.0 ? nan_f64() : y;
  y = x == 0.0 ? -infinity_f64() : y;
  return x != x ? x : y;
}

/// The natural logarithm.   <= 1 ulp.
VOTIVE_SCALAR f64 log_f64(f64 x) { return log_ends_f64(x, log_pair_f64(x).head); }

/// The logarithm to base 2.   <= 1 ulp;  powers of two are exact.
VOTIVE_SCALAR f64 log2_f64(f64 x) {
  const LogPartsF64 parts = log_parts_f64(x);
  const PairF64 l = log_of_parts_f64(parts.m, 0.0);
  const f64 product = l.head * 0x1.71547652b82fep+0;
  const f64 low =
      fma_f64(l.head, 0x1.777d0ffda0d24p-56, fma_f64(l.tail, 0x1.71547652b82fep+0, fma_f64(l.head, 0x1.71547652b82fep+0, -product)));
  const f64 head = parts.e + product;  // e is 0 or the larger of the two
  return log_ends_f64(x, head + ((product - (head - parts.e)) + low));
}

/// The logarithm to base 10.   <= 1 ulp.
VOTIVE_SCALAR f64 log10_f64(f64 x) {
  const PairF64 l = log_pair_f64(x);
  const f64 product = l.head * 0x1.bcb7b1526e50ep-2;
  const f64 low =
      fma_f64(l.head, 0x1.95355baaafad3p-57, fma_f64(l.tail, 0x1.bcb7b1526e50ep-2, fma_f64(l.head, 0x1.bcb7b1526e50ep-2, -product)));
  return log_ends_f64(x, product + low);
}

/// log(1 + x).   <= 1 ulp;  +-0 stay themselves, -1 gives -inf.
VOTIVE_SCALAR f64 log1p_f64(f64 x) {
  const f64 u = 1.0 + x;
  const f64 lost = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);
  const PairF64 l = log_pair_f64(u);
  const f64 y = l.head + (l.tail + lost / u);
  return x == 0.0 ? x : log_ends_f64(u, y);
}

/// 2^x.   <= 1 ulp;  integers are exact.
VOTIVE_SCALAR f64 exp2_f64(f64 x) {
  f64 c = x > -1076.0 ? x : -1076.0;
  c = c < 1025.0 ? c : 1025.0;
  const f64 n = rint_f64(c);
  const f64 f = c - n;
  const f64 product = f * 0x1.62e42fefa39efp-1;
  const ScaledF64 e = exp_scaled_f64(product, fma_f64(f, 0x1.abc9e3b39803fp-56, fma_f64(f, 0x1.62e42fefa39efp-1, -product)));
  const i32 k = (i32)n + e.exponent;
  const f64 y = e.fraction * power_of_two_f64(k >> 1) * power_of_two_f64(k - (k >> 1));
  return x != x ? x : y;
}

/// log(1 + e^x), never overflowing early.   <= 5 ulp.
VOTIVE_SCALAR f64 softplus_f64(f64 x) {
  const f64 y = (x > 0.0 ? x : 0.0) + log1p_f64(exp_f64(-abs_f64(x)));
  return x != x ? x : y;
}

/// base^y for positive finite base and finite y:  exp(y log base), the logarithm in two parts.   <= 2 ulp.
VOTIVE_SCALAR f64 pow_positive_f64(f64 base, f64 y) {
  const PairF64 l = log_pair_f64(base);
  const f64 product = y * l.head;
  f64 low = fma_f64(y, l.tail, fma_f64(y, l.head, -product));
  f64 c = product > -746.0 ? product : -746.0;
  c = c < 710.0 ? c : 710.0;
  low = c == product ? low : 0.0;
  const ScaledF64 e = exp_scaled_f64(c, low);
  const i32 half = e.exponent >> 1;
  return e.fraction * power_of_two_f64(half) * power_of_two_f64(e.exponent - half);
}

/// 1 / (1 + e^-x).   <= 5 ulp.
VOTIVE_SCALAR f64 sigmoid_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 e = exp_f64(a < 746.0 ? -a : -746.0);
  const f64 y = (x < 0.0 ? e : 1.0) / (1.0 + e);
  return x != x ? x : y;
}

/// x * sigmoid(z) where z has the sign of x, and x is -limit for whatever z <= -760 stood for.
VOTIVE_SCALAR f64 times_sigmoid_f64(f64 x, f64 z, f64 limit) {
  const f64 a = abs_f64(z);
  const ScaledF64 e = exp_scaled_f64(a < 760.0 ? -a : -760.0, -0.0);
  const i32 first = e.exponent >> 1;
  const f64 half = e.fraction * power_of_two_f64(first);
  const f64 rest = power_of_two_f64(e.exponent - first);
  const f64 c = x > -limit ? x : -limit;
  return (c < 0.0 ? c * half : c) / fma_f64(half, rest, 1.0) * (c < 0.0 ? rest : 1.0);
}

/// x * sigmoid(x).   <= 6 ulp;  silu(-inf) = -0.
VOTIVE_SCALAR f64 silu_f64(f64 x) {
  const f64 y = times_sigmoid_f64(x, x, 760.0);
  return x != x ? x : y;
}

/// silu(gate) * up.
VOTIVE_SCALAR f64 swiglu_f64(f64 gate, f64 up) { return silu_f64(gate) * up; }

/// x * sigmoid(z + low), |low| below a few ulp of z; otherwise as times_sigmoid_f64.
VOTIVE_SCALAR f64 times_sigmoid_of_sum_f64(f64 x, f64 z, f64 low, f64 limit) {
  const f64 a = abs_f64(z);
  const f64 part = z < 0.0 ? low : -low;
  const ScaledF64 e = exp_scaled_f64(a < 760.0 ? -a : -760.0, a < 760.0 ? part : 0.0);
  const i32 first = e.exponent >> 1;
  const f64 half = e.fraction * power_of_two_f64(first);
  const f64 rest = power_of_two_f64(e.exponent - first);
  const f64 c = x > -limit ? x : -limit;
  return (c < 0.0 ? c * half : c) / fma_f64(half, rest, 1.0) * (c < 0.0 ? rest : 1.0);
}

/// x * sigmoid(z), z = 2 sqrt(2/pi) (x + 0.044715 x^3).   <= 6 + 2|z| ulp;  z is carried in two parts, so that it is 3 in fact.
VOTIVE_SCALAR f64 gelu_tanh_f64(f64 x) {
  const f64 s = x * x;
  const f64 s_low = fma_f64(x, x, -s);
  const f64 cubic = s * 0x1.2444f2a4d8b4bp-4;
  const f64 cubic_low = fma_f64(s_low, 0x1.2444f2a4d8b4bp-4, fma_f64(s, -0x1.6c843a29d1c70p-61, fma_f64(s, 0x1.2444f2a4d8b4bp-4, -cubic)));
  const f64 c = 0x1.9884533d43651p+0 + cubic;
  const f64 back = c - 0x1.9884533d43651p+0;
  const f64 c_low = ((0x1.9884533d43651p+0 - (c - back)) + (cubic - back)) + (cubic_low - 0x1.cbc0d30ebfd15p-54);
  const f64 z = x * c;
  const f64 y = times_sigmoid_of_sum_f64(x, z, fma_f64(x, c_low, fma_f64(x, c, -z)), 24.0);
  return x != x ? x : y;
}

/// e^x - 1 for -746 <= x <= 709, to about 2^-60.
VOTIVE_SCALAR PairF64 expm1_pair_f64(f64 x) {
  const ExcessF64 e = exp_excess_f64(x, -0.0);
  // 2^k (1 + head + tail) - 1
  const f64 scale = power_of_two_f64(e.exponent < -64 ? -64 : e.exponent);
  const f64 a = scale - 1.0;
  const f64 b = e.head * scale;
  const f64 sum = a + b;
  const f64 rest = fma_f64(e.tail, scale, (b - (sum - a)) + ((scale - a) - 1.0));
  PairF64 y;
  y.head = sum + rest;
  y.tail = rest - (y.head - sum);
  return y;
}

/// e^x - 1.   <= 1 ulp;  +-0 stay themselves.
VOTIVE_SCALAR f64 expm1_f64(f64 x) {
  const f64 y = expm1_pair_f64(x > -746.0 ? (x < 100.0 ? x : 100.0) : -746.0).head;
  return ((x != x) | (x == 0.0)) ? x : (x > 100.0 ? exp_f64(x) : y);
}

/// The hyperbolic tangent.   <= 2 ulp:  m / (m + 2) with m = e^2|x| - 1, the quotient of two pairs.
VOTIVE_SCALAR f64 tanh_f64(f64 x) {
  const f64 a = abs_f64(x);
  const PairF64 m = expm1_pair_f64(a < 22.0 ? 2.0 * a : 44.0);
  const f64 d = m.head + 2.0;
  const f64 lost = (m.head < 2.0 ? m.head - (d - 2.0) : 2.0 - (d - m.head)) + m.tail;
  const f64 q = m.head / d;
  const f64 y = copysign_f64(q + (fma_f64(-q, d, m.head) + fma_f64(-q, lost, m.tail)) / d, x);
  return ((x != x) | (a < 0x1p-30)) ? x : y;
}

}  // namespace votive::numerics
