// Powers, and what else needs a logarithm with more digits than its result (CONTRACT.md 2.3): pow, hypot, logaddexp, xlogy. The logarithm comes as a pair
// head + tail; without branches, so that loops vectorise.
#pragma once

#include "votive/numerics/math_f32.h"
#include "votive/numerics/math_f64.h"
#include "votive/numerics/portable.h"

namespace votive::numerics {

/// head + tail, the tail below half an ulp of the head.
typedef struct {
  f32 head;
  f32 tail;
} PairF32;

/// a + b, exactly.
VOTIVE_SCALAR PairF32 two_sum_f32(f32 a, f32 b) {
  PairF32 y;
  y.head = a + b;
  const f32 back = y.head - a;
  y.tail = (a - (y.head - back)) + (b - back);
  return y;
}
VOTIVE_SCALAR PairF64 two_sum_f64(f64 a, f64 b) {
  PairF64 y;
  y.head = a + b;
  const f64 back = y.head - a;
  y.tail = (a - (y.head - back)) + (b - back);
  return y;
}

/// log(x) of positive finite x, to about 2^-34 of itself.
VOTIVE_SCALAR PairF32 log_long_f32(f32 x) {
  const u32 subnormal = bits_f32(x) < 0x00800000u;
  const u32 u = bits_f32(subnormal ? x * 0x1p23f : x);
  const u32 k = (u - 0x3f3504f3u) & 0xff800000u;
  const f32 e = (f32)((i32)k >> 23) + (subnormal ? -23.0f : 0.0f);
  const f32 f = f32_from_bits(u - k) - 1.0f;
  // log(1+f) = 2s + s^3 (2/3 + z p(z)) with s = f / (2+f), z = s^2, everything but p in pairs
  const f32 d = 2.0f + f;
  const f32 d_low = f - (d - 2.0f);
  const f32 r = 1.0f / d;
  const f32 s = f * r;
  const f32 s_low = fma_f32(-s, d_low, fma_f32(-s, d, f)) * r;
  const f32 z = s * s;
  const f32 z_low = fma_f32(2.0f * s, s_low, fma_f32(s, s, -z));
  f32 p = 0x1.dfd264p-3f;
  p = fma_f32(p, z, 0x1.245192p-2f);
  p = fma_f32(p, z, 0x1.999a02p-2f);
  const f32 w = z * p;
  const f32 c = 0x1.555556p-1f + w;
  const f32 c_low = ((0x1.555556p-1f - c) + w) - 0x1.555556p-26f;
  const f32 t = z * c;
  const f32 t_low = fma_f32(z, c_low, fma_f32(z_low, c, fma_f32(z, c, -t)));
  const f32 g = s * t;
  const f32 g_low = fma_f32(s, t_low, fma_f32(s_low, t, fma_f32(s, t, -g)));
  const f32 h = fma_f32(2.0f, s, g);
  const f32 h_low = (fma_f32(2.0f, s, -h) + g) + fma_f32(2.0f, s_low, g_low);
  const f32 a = e * 0x1.62e4p-1f;  // exact; e is 0 or the larger of the two
  const f32 y = a + h;
  const f32 y_low = ((a - y) + h) + fma_f32(e, 0x1.7f7d1cp-20f, h_low);
  PairF32 l;
  l.head = y + y_low;
  l.tail = (y - l.head) + y_low;
  return l;
}

/// log(x) of positive finite x, to about 2^-70 of itself.
VOTIVE_SCALAR PairF64 log_long_f64(f64 x) {
  const LogPartsF64 parts = log_parts_f64(x);
  const f64 f = parts.m - 1.0;
  const f64 d = 2.0 + f;
  const f64 d_low = f - (d - 2.0);
  const f64 r = 1.0 / d;
  const f64 s = f * r;
  const f64 s_low = fma_f64(-s, d_low, fma_f64(-s, d, f)) * r;
  const f64 z = s * s;
  const f64 z_low = fma_f64(2.0 * s, s_low, fma_f64(s, s, -z));
  f64 p = 0x1.e87b7c3417d30p-4;
  p = fma_f64(p, z, 0x1.de8cf0b8be0cfp-4);
  p = fma_f64(p, z, 0x1.111e34af9275dp-3);
  p = fma_f64(p, z, 0x1.3b1375d2cc28ap-3);
  p = fma_f64(p, z, 0x1.745d17defd1dap-3);
  p = fma_f64(p, z, 0x1.c71c71c64dd55p-3);
  p = fma_f64(p, z, 0x1.249249249280ap-2);
  const f64 w = z * p;
  const f64 b = 0x1.999999999999ap-2 + w;  // 2/5 + ...
  const f64 b_low = ((0x1.999999999999ap-2 - b) + w) - 0x1.999999999999ap-56;
  const f64 v = z * b;
  const f64 v_low = fma_f64(z, b_low, fma_f64(z_low, b, fma_f64(z, b, -v)));
  const f64 c = 0x1.5555555555555p-1 + v;  // 2/3 + ...
  const f64 c_low = ((0x1.5555555555555p-1 - c) + v) + (v_low + 0x1.5555555555555p-55);
  const f64 t = z * c;
  const f64 t_low = fma_f64(z, c_low, fma_f64(z_low, c, fma_f64(z, c, -t)));
  const f64 g = s * t;
  const f64 g_low = fma_f64(s, t_low, fma_f64(s_low, t, fma_f64(s, t, -g)));
  const f64 h = fma_f64(2.0, s, g);
  const f64 h_low = (fma_f64(2.0, s, -h) + g) + fma_f64(2.0, s_low, g_low);
  const f64 a = parts.e * 0x1.62e42ffp-1;  // exact
  const f64 low = parts.e * -0x1.718432a1b0e26p-35;
  const f64 y = a + h;
  const PairF64 rest = two_sum_f64((a - y) + h, low);
  const f64 y_low = rest.head + (rest.tail + (fma_f64(parts.e, -0x1.718432a1b0e26p-35, -low) + h_low));
  PairF64 l;
  l.head = y + y_low;
  l.tail = (y - l.head) + y_low;
  return l;
}

/// log(1 + x + low), |low| below an ulp of x, 1 + x positive and finite:  within half an ulp and a little.
VOTIVE_SCALAR f32 log1p_sum_f32(f32 x, f32 low) {
  const PairF32 u = two_sum_f32(1.0f, x);
  const PairF32 l = log_long_f32(u.head);
  return l.head + (l.tail + (u.tail + low) / u.head);
}
VOTIVE_SCALAR f64 log1p_sum_f64(f64 x, f64 low) {
  const PairF64 u = two_sum_f64(1.0, x);
  const PairF64 l = log_long_f64(u.head);
  return l.head + (l.tail + (u.tail + low) / u.head);
}

/// x^y by C99's table:  x^0 = 1 and 1^y = 1 also for NaN, (-8)^(1/3) = NaN.   <= 2 ulp;  y = -1, 0, 1, 2 are correctly rounded.
VOTIVE_SCALAR f32 pow_f32(f32 x, f32 y) {
  const f32 a = abs_f32(x);
  const PairF32 l = log_long_f32(a);
  const f32 product = y * l.head;
  f32 c = product > -120.0f ? product : -120.0f;
  c = c < 100.0f ? c : 100.0f;
  const f32 low = c == product ? fma_f32(y, l.tail, fma_f32(y, l.head, -product)) : 0.0f;
  // exp(c + low); what the reduced argument rounds off is kept, so that exact powers come out exactly
  const f32 t = fma_f32(c, 0x1.715476p+0f, 0x1.8p23f);
  const f32 n = t - 0x1.8p23f;
  const f32 high = fma_f32(n, -0x1.62e4p-1f, c);
  const f32 tail = fma_f32(n, -0x1.7f7d1cp-20f, low);
  const f32 r = high + tail;
  const f32 lost = (high - r) + tail;
  const f32 head = 1.0f + r;
  const f32 excess = ((1.0f - head) + r) + fma_f32(exp_tail_f32(r), r * r, lost);
  const i32 k = (i32)(bits_f32(t) - 0x4b400000u);
  f32 power = (head + excess) * first_factor_f32(k) * second_factor_f32(k);
  power = a == 1.0f ? 1.0f : power;
  power = ((a == 0.0f) | (a == infinity_f32())) ? ((a == 0.0f) == (y > 0.0f) ? 0.0f : infinity_f32()) : power;
  power = y == 2.0f ? a * a : power;
  power = y == 1.0f ? a : power;
  power = y == -1.0f ? 1.0f / a : power;
  const f32 half = 0.5f * y;
  const u32 whole = trunc_f32(y) == y;
  const u32 odd = whole & (trunc_f32(half) != half);
  power = f32_from_bits(bits_f32(power) | (odd ? bits_f32(x) & 0x80000000u : 0u));
  power = ((x < 0.0f) & (a < infinity_f32()) & !whole) ? nan_f32() : power;
  power = ((x != x) | (y != y)) ? nan_f32() : power;
  return ((y == 0.0f) | (x == 1.0f)) ? 1.0f : power;
}

/// x^y by C99's table.   <= 1 ulp;  y = -1, 0, 1, 2 are correctly rounded.
VOTIVE_SCALAR f64 pow_f64(f64 x, f64 y) {
  const f64 a = abs_f64(x);
  const PairF64 l = log_long_f64(a);
  const f64 product = y * l.head;
  f64 c = product > -760.0 ? product : -760.0;
  c = c < 720.0 ? c : 720.0;
  const f64 low = c == product ? fma_f64(y, l.tail, fma_f64(y, l.head, -product)) : 0.0;
  const ScaledF64 e = exp_scaled_f64(c, low);
  const i32 first = e.exponent >> 1;
  f64 power = e.fraction * power_of_two_f64(first) * power_of_two_f64(e.exponent - first);
  power = a == 1.0 ? 1.0 : power;
  power = ((a == 0.0) | (a == infinity_f64())) ? ((a == 0.0) == (y > 0.0) ? 0.0 : infinity_f64()) : power;
  power = y == 2.0 ? a * a : power;
  power = y == 1.0 ? a : power;
  power = y == -1.0 ? 1.0 / a : power;
  const f64 half = 0.5 * y;
  const u32 whole = trunc_f64(y) == y;
  const u32 odd = whole & (trunc_f64(half) != half);
  power = f64_from_bits(bits_f64(power) | (odd ? bits_f64(x) & 0x8000000000000000u : 0u));
  power = ((x < 0.0) & (a < infinity_f64()) & !whole) ? nan_f64() : power;
  power = ((x != x) | (y != y)) ? nan_f64() : power;
  return ((y == 0.0) | (x == 1.0)) ? 1.0 : power;
}

/// sqrt(a^2 + b^2), never over- or underflowing early.   <= 1 ulp;  inf beside NaN gives inf.
VOTIVE_SCALAR f32 hypot_f32(f32 a, f32 b) {
  const f32 x = abs_f32(a);
  const f32 y = abs_f32(b);
  const f32 most = x > y ? x : y;
  const f32 least = x > y ? y : x;
  u32 e = bits_f32(most) >> 23;
  e = e < 1u ? 1u : (e > 253u ? 253u : e);
  const f32 scale = f32_from_bits((254u - e) << 23);
  const f32 u = most * scale;
  const f32 v = least * scale;
  const f32 square = v * v;
  const f32 sum = fma_f32(u, u, square);
  const f32 root = sqrt_f32(sum);
  const f32 lost = fma_f32(-root, root, sum) + fma_f32(v, v, -square);  // of the root's square
  const f32 h = (most == 0.0f ? 0.0f : root + lost / (2.0f * root)) * f32_from_bits(e << 23);
  const f32 most_or_nan = x == x ? (y == y ? h : y) : x;
  return most == infinity_f32() ? most : (least == infinity_f32() ? least : most_or_nan);
}
VOTIVE_SCALAR f64 hypot_f64(f64 a, f64 b) {
  const f64 x = abs_f64(a);
  const f64 y = abs_f64(b);
  const f64 most = x > y ? x : y;
  const f64 least = x > y ? y : x;
  u64 e = bits_f64(most) >> 52;
  e = e < 1u ? 1u : (e > 2045u ? 2045u : e);
  const f64 scale = f64_from_bits((2046u - e) << 52);
  const f64 u = most * scale;
  const f64 v = least * scale;
  const f64 square = v * v;
  const f64 sum = fma_f64(u, u, square);
  const f64 root = sqrt_f64(sum);
  const f64 lost = fma_f64(-root, root, sum) + fma_f64(v, v, -square);  // of the root's square
  const f64 h = (most == 0.0 ? 0.0 : root + lost / (2.0 * root)) * f64_from_bits(e << 52);
  const f64 most_or_nan = x == x ? (y == y ? h : y) : x;
  return most == infinity_f64() ? most : (least == infinity_f64() ? least : most_or_nan);
}

/// log(e^a + e^b), never overflowing early.   <= 5 ulp of the larger of |result| and |max(a, b)|: where the two cancel, the result is the difference of numbers
/// of that size.   (-inf, -inf) gives -inf.
VOTIVE_SCALAR f32 logaddexp_f32(f32 a, f32 b) {
  const f32 most = a > b ? a : b;
  const f32 least = a > b ? b : a;
  const PairF32 d = two_sum_f32(least, -most);
  const ScaledF32 e = exp_of_sum_f32(d.head > -105.0f ? d.head : -105.0f, d.head > -105.0f ? d.tail : 0.0f);
  const f32 head = 1.0f + e.excess;
  const f32 tail = (1.0f - head) + e.excess;
  const f32 first = first_factor_f32(e.exponent);
  const f32 second = second_factor_f32(e.exponent);
  const f32 x = head * first * second;
  const PairF32 u = two_sum_f32(1.0f, x);
  const PairF32 l = log_long_f32(u.head);
  const PairF32 y = two_sum_f32(most, l.head);
  const f32 sum = y.head + (y.tail + (l.tail + (u.tail + tail * first * second) / u.head));
  const f32 either = a == a ? (b == b ? most : b) : a;  // also where the difference is no number
  return abs_f32(most) < infinity_f32() ? (abs_f32(d.head) < infinity_f32() ? sum : either) : either;
}
VOTIVE_SCALAR f64 logaddexp_f64(f64 a, f64 b) {
  const f64 most = a > b ? a : b;
  const f64 least = a > b ? b : a;
  const PairF64 d = two_sum_f64(least, -most);
  const ExcessF64 e = exp_excess_f64(d.head > -750.0 ? d.head : -750.0, d.head > -750.0 ? d.tail : 0.0);
  const f64 head = 1.0 + (e.head + e.tail);
  const f64 tail = ((1.0 - head) + e.head) + e.tail;
  const f64 first = power_of_two_f64(e.exponent >> 1);
  const f64 second = power_of_two_f64(e.exponent - (e.exponent >> 1));
  const f64 x = head * first * second;
  const PairF64 u = two_sum_f64(1.0, x);
  const PairF64 l = log_long_f64(u.head);
  const PairF64 y = two_sum_f64(most, l.head);
  const f64 sum = y.head + (y.tail + (l.tail + (u.tail + tail * first * second) / u.head));
  const f64 either = a == a ? (b == b ? most : b) : a;  // also where the difference is no number
  return abs_f64(most) < infinity_f64() ? (abs_f64(d.head) < infinity_f64() ? sum : either) : either;
}

/// x log y, and 0 where x = 0 for whatever y but NaN.   <= 3 ulp.
VOTIVE_SCALAR f32 xlogy_f32(f32 x, f32 y) {
  const f32 l = x * log_f32(y);
  return ((x == 0.0f) & (y == y)) ? 0.0f : l;
}
VOTIVE_SCALAR f64 xlogy_f64(f64 x, f64 y) {
  const f64 l = x * log_f64(y);
  return ((x == 0.0) & (y == y)) ? 0.0 : l;
}
/// x log(1 + y), and 0 where x = 0 for whatever y but NaN.   <= 4 ulp.
VOTIVE_SCALAR f32 xlog1py_f32(f32 x, f32 y) {
  const f32 l = x * log1p_f32(y);
  return ((x == 0.0f) & (y == y)) ? 0.0f : l;
}
VOTIVE_SCALAR f64 xlog1py_f64(f64 x, f64 y) {
  const f64 l = x * log1p_f64(y);
  return ((x == 0.0) & (y == y)) ? 0.0 : l;
}

}  // namespace votive::numerics
