// asin, acos, atan, atan2 (CONTRACT.md 2.3): a polynomial near 0, and pi in two parts for what is reflected to it. No branches.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

/// (asin(s) - s) / s^3 as a polynomial of z = s^2, |s| <= 1/2.
VOTIVE_SCALAR f32 asin_tail_f32(f32 z) {
  f32 p = 0x1.59ccd6p-5f;
  p = fma_f32(p, z, 0x1.8bb506p-6f);
  p = fma_f32(p, z, 0x1.748a2ep-5f);
  p = fma_f32(p, z, 0x1.33016ap-4f);
  p = fma_f32(p, z, 0x1.5555cap-3f);
  return p;
}
VOTIVE_SCALAR f64 asin_tail_f64(f64 z) {
  f64 p = 0x1.0bb8d4d4d25cfp-5;
  p = fma_f64(p, z, -0x1.596ff32f2df2cp-6);
  p = fma_f64(p, z, 0x1.64a684b1b8dacp-6);
  p = fma_f64(p, z, 0x1.e27b4f221451cp-9);
  p = fma_f64(p, z, 0x1.617895a8160acp-7);
  p = fma_f64(p, z, 0x1.757a9b5b5e29ep-7);
  p = fma_f64(p, z, 0x1.ca20eb164e60fp-7);
  p = fma_f64(p, z, 0x1.1c49e16b86627p-6);
  p = fma_f64(p, z, 0x1.6e8bdfbb1a87bp-6);
  p = fma_f64(p, z, 0x1.f1c71a8cee614p-6);
  p = fma_f64(p, z, 0x1.6db6db7228a4ep-5);
  p = fma_f64(p, z, 0x1.333333332df3ap-4);
  p = fma_f64(p, z, 0x1.5555555555578p-3);
  return p;
}

/// The arc sine;  beyond +-1 NaN.   <= 2 ulp.
VOTIVE_SCALAR f32 asin_f32(f32 x) {
  const f32 a = abs_f32(x);
  const u32 large = a > 0.5f;  // pi/2 - 2 asin(sqrt((1-a)/2))
  const f32 z = large ? 0.5f * (1.0f - a) : a * a;
  const f32 s = large ? sqrt_f32(z) : a;
  const f32 tail = asin_tail_f32(z) * z * s;
  const f32 head = 0x1.921fb6p+0f - 2.0f * s;
  const f32 lost = (0x1.921fb6p+0f - head) - 2.0f * s;
  const f32 reflected = head + (lost + fma_f32(-2.0f, tail, -0x1.777a5cp-25f));
  return copysign_f32(large ? reflected : s + tail, x);
}
VOTIVE_SCALAR f64 asin_f64(f64 x) {
  const f64 a = abs_f64(x);
  const u32 large = a > 0.5;
  const f64 z = large ? 0.5 * (1.0 - a) : a * a;
  const f64 s = large ? sqrt_f64(z) : a;
  const f64 tail = asin_tail_f64(z) * z * s;
  const f64 head = 0x1.921fb54442d18p+0 - 2.0 * s;
  const f64 lost = (0x1.921fb54442d18p+0 - head) - 2.0 * s;
  const f64 reflected = head + (lost + fma_f64(-2.0, tail, 0x1.1a62633145c07p-54));
  return copysign_f64(large ? reflected : s + tail, x);
}

/// The arc cosine;  beyond +-1 NaN, acos(1) = +0.   <= 2 ulp.
VOTIVE_SCALAR f32 acos_f32(f32 x) {
  const f32 a = abs_f32(x);
  const u32 large = a > 0.5f;
  const f32 z = large ? 0.5f * (1.0f - a) : a * a;
  const f32 s = large ? sqrt_f32(z) : a;
  // base - (v + v z p): pi/2 and asin(x), or 0 or pi and twice asin(s)
  const f32 base = large ? (x < 0.0f ? 0x1.921fb6p+1f : 0.0f) : 0x1.921fb6p+0f;
  const f32 base_low = large ? (x < 0.0f ? -0x1.777a5cp-24f : 0.0f) : -0x1.777a5cp-25f;
  const f32 v = large ? (x < 0.0f ? 2.0f * s : -2.0f * s) : x;
  const f32 tail = asin_tail_f32(z) * z * v;
  const f32 head = base - v;
  const f32 y = head + (((base - head) - v) + (base_low - tail));
  return y;
}
VOTIVE_SCALAR f64 acos_f64(f64 x) {
  const f64 a = abs_f64(x);
  const u32 large = a > 0.5;
  const f64 z = large ? 0.5 * (1.0 - a) : a * a;
  const f64 s = large ? sqrt_f64(z) : a;
  const f64 base = large ? (x < 0.0 ? 0x1.921fb54442d18p+1 : 0.0) : 0x1.921fb54442d18p+0;
  const f64 base_low = large ? (x < 0.0 ? 0x1.1a62633145c07p-53 : 0.0) : 0x1.1a62633145c07p-54;
  const f64 v = large ? (x < 0.0 ? 2.0 * s : -2.0 * s) : x;
  const f64 tail = asin_tail_f64(z) * z * v;
  const f64 head = base - v;
  return head + (((base - head) - v) + (base_low - tail));
}

/// head + tail, an angle of 0 to pi/4.
typedef struct {
  f32 head;
  f32 tail;
} ArcF32;

/// atan(n / d) for 0 <= n <= d, d > 0 and finite: the quotient, and what makes it the angle.
VOTIVE_SCALAR ArcF32 arc_f32(f32 n, f32 d) {
  const f32 q = n / d;
  const f32 q_low = fma_f32(-q, d, n) / d;
  const f32 z = q * q;
  f32 p = -0x1.ddfa0ep-10f;
  p = fma_f32(p, z, 0x1.69ffaep-7f);
  p = fma_f32(p, z, -0x1.016d42p-5f);
  p = fma_f32(p, z, 0x1.dccce2p-5f);
  p = fma_f32(p, z, -0x1.58c94ep-4f);
  p = fma_f32(p, z, 0x1.c0cbfep-4f);
  p = fma_f32(p, z, -0x1.24265ap-3f);
  p = fma_f32(p, z, 0x1.999268p-3f);
  p = fma_f32(p, z, -0x1.555540p-2f);
  ArcF32 arc;
  arc.head = q;
  arc.tail = fma_f32(p * z, q, fma_f32(-0.5f * z, q_low, q_low));
  return arc;
}

typedef struct {
  f64 head;
  f64 tail;
} ArcF64;

VOTIVE_SCALAR ArcF64 arc_f64(f64 n, f64 d) {
  const f64 q = n / d;
  const f64 q_low = fma_f64(-q, d, n) / d;
  const f64 z = q * q;
  f64 p = -0x1.28be341c50473p-17;
  p = fma_f64(p, z, 0x1.bc0400f41dd93p-14);
  p = fma_f64(p, z, -0x1.3bef298c24cc6p-11);
  p = fma_f64(p, z, 0x1.1dd5e4b00733ap-9);
  p = fma_f64(p, z, -0x1.73c6ac333cba6p-8);
  p = fma_f64(p, z, 0x1.75dcc205846c0p-7);
  p = fma_f64(p, z, -0x1.32b38cdc5dda9p-6);
  p = fma_f64(p, z, 0x1.ae009c0906169p-6);
  p = fma_f64(p, z, -0x1.0d1c8222cfedep-5);
  p = fma_f64(p, z, 0x1.394f0b008f437p-5);
  p = fma_f64(p, z, -0x1.5f44636b6d029p-5);
  p = fma_f64(p, z, 0x1.84bf3fb539bebp-5);
  p = fma_f64(p, z, -0x1.aedd35bfc00aap-5);
  p = fma_f64(p, z, 0x1.e1d51d6ce6b71p-5);
  p = fma_f64(p, z, -0x1.11103deeaa4a0p-4);
  p = fma_f64(p, z, 0x1.3b139d1a9c9dbp-4);
  p = fma_f64(p, z, -0x1.745d15ea925dap-4);
  p = fma_f64(p, z, 0x1.c71c71b78ed47p-4);
  p = fma_f64(p, z, -0x1.249249245c735p-3);
  p = fma_f64(p, z, 0x1.9999999998db7p-3);
  p = fma_f64(p, z, -0x1.555555555554ep-2);
  ArcF64 arc;
  arc.head = q;
  arc.tail = fma_f64(p * z, q, fma_f64(-0.5 * z, q_low, q_low));
  return arc;
}

/// The angle of the point (x, y), C99's table for zeros and infinities.   <= 2 ulp.
VOTIVE_SCALAR f32 atan2_f32(f32 y, f32 x) {
  const f32 a = abs_f32(y);
  const f32 b = abs_f32(x);
  const u32 steep = a > b;
  const f32 least = steep ? b : a;
  const f32 most = steep ? a : b;
  // quotients that are no number: 0/0 and finite/inf count as 0, inf/inf as 1
  const u32 endless = most == infinity_f32();
  const f32 n = endless ? (least == infinity_f32() ? 1.0f : 0.0f) : least;
  const f32 d = (endless | (most == 0.0f)) ? 1.0f : most;
  const ArcF32 arc = arc_f32(n, d);
  const u32 left = bits_f32(x) >> 31;
  const f32 base = steep ? 0x1.921fb6p+0f : (left ? 0x1.921fb6p+1f : 0.0f);
  const f32 base_low = steep ? -0x1.777a5cp-25f : (left ? -0x1.777a5cp-24f : 0.0f);
  const u32 down = (steep ^ left) << 31;
  const f32 v = f32_from_bits(bits_f32(arc.head) ^ down);
  const f32 v_low = f32_from_bits(bits_f32(arc.tail) ^ down);
  const f32 head = base + v;
  const f32 angle = head + (((base - head) + v) + (base_low + v_low));
  return ((x != x) | (y != y)) ? nan_f32() : copysign_f32(angle, y);
}
VOTIVE_SCALAR f64 atan2_f64(f64 y, f64 x) {
  const f64 a = abs_f64(y);
  const f64 b = abs_f64(x);
  const u32 steep = a > b;
  const f64 least = steep ? b : a;
  const f64 most = steep ? a : b;
  const u32 endless = most == infinity_f64();
  const f64 n = endless ? (least == infinity_f64() ? 1.0 : 0.0) : least;
  const f64 d = (endless | (most == 0.0)) ? 1.0 : most;
  const ArcF64 arc = arc_f64(n, d);
  const u64 left = bits_f64(x) >> 63;
  const f64 base = steep ? 0x1.921fb54442d18p+0 : (left ? 0x1.921fb54442d18p+1 : 0.0);
  const f64 base_low = steep ? 0x1.1a62633145c07p-54 : (left ? 0x1.1a62633145c07p-53 : 0.0);
  const u64 down = ((u64)steep ^ left) << 63;
  const f64 v = f64_from_bits(bits_f64(arc.head) ^ down);
  const f64 v_low = f64_from_bits(bits_f64(arc.tail) ^ down);
  const f64 head = base + v;
  const f64 angle = head + (((base - head) + v) + (base_low + v_low));
  return ((x != x) | (y != y)) ? nan_f64() : copysign_f64(angle, y);
}

/// The arc tangent.   <= 2 ulp.
VOTIVE_SCALAR f32 atan_f32(f32 x) {
  const f32 a = abs_f32(x);
  const u32 steep = a > 1.0f;  // pi/2 - atan(1/a)
  const u32 endless = a == infinity_f32();
  const ArcF32 arc = arc_f32(steep ? (endless ? 0.0f : 1.0f) : a, steep ? (endless ? 1.0f : a) : 1.0f);
  const f32 head = 0x1.921fb6p+0f - arc.head;
  const f32 reflected = head + (((0x1.921fb6p+0f - head) - arc.head) + (-0x1.777a5cp-25f - arc.tail));
  return copysign_f32(steep ? reflected : arc.head + arc.tail, x);
}
VOTIVE_SCALAR f64 atan_f64(f64 x) {
  const f64 a = abs_f64(x);
  const u32 steep = a > 1.0;  // pi/2 - atan(1/a)
  const u32 endless = a == infinity_f64();
  const ArcF64 arc = arc_f64(steep ? (endless ? 0.0 : 1.0) : a, steep ? (endless ? 1.0 : a) : 1.0);
  const f64 head = 0x1.921fb54442d18p+0 - arc.head;
  const f64 reflected = head + (((0x1.921fb54442d18p+0 - head) - arc.head) + (0x1.1a62633145c07p-54 - arc.tail));
  return copysign_f64(steep ? reflected : arc.head + arc.tail, x);
}

}  // namespace votive::numerics
