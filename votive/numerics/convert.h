// Conversions between all dtypes (CONTRACT.md 6), each with one rounding, to nearest, ties to even. Selects instead of branches: loops over them vectorise.
// A NaN becomes the canonical quiet NaN of the target, without its sign and payload. Where a float has no counterpart the integer saturates and NaN is 0.
#pragma once

#include "votive/numerics/portable.h"

namespace votive::numerics {

// ---- f16 and bf16 ----

VOTIVE_SCALAR f32 f16_to_f32(u16 h) {
  const u32 m = (u32)h & 0x7fffu;
  const u32 sign = ((u32)h & 0x8000u) << 16;
  const u32 normal = (m << 13) + 0x38000000u;
  // 2^-14 + m*2^-24 less 2^-14: exact, and no f32 subnormal on the way, which a flushing device would lose
  const u32 subnormal = bits_f32(f32_from_bits(0x38800000u + (m << 13)) - 0x1p-14f);
  u32 u = m < 0x0400u ? subnormal : normal;
  u = m >= 0x7c00u ? 0x7f800000u : u;
  u |= sign;
  return f32_from_bits(m > 0x7c00u ? 0x7fc00000u : u);
}

VOTIVE_SCALAR u16 f32_to_f16(f32 x) {
  const u32 u = bits_f32(x);
  const u32 sign = (u >> 16) & 0x8000u;
  const u32 a = u & 0x7fffffffu;
  const u32 subnormal = bits_f32(f32_from_bits(a) + 0.5f) - 0x3f000000u;  // the adder rounds at 2^-24, f16's last place there
  const u32 normal = (a + 0xc8000fffu + ((a >> 13) & 1u)) >> 13;          // exponent less 112, ties to even
  u32 r = a < 0x38800000u ? subnormal : normal;
  r = a >= 0x477ff000u ? 0x7c00u : r;
  r |= sign;
  return (u16)(a > 0x7f800000u ? 0x7e00u : r);
}

VOTIVE_SCALAR f32 bf16_to_f32(u16 h) {
  const u32 u = (u32)h << 16;
  return f32_from_bits((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u);
}

VOTIVE_SCALAR u16 f32_to_bf16(f32 x) {
  const u32 u = bits_f32(x);
  const u32 r = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
  return (u16)((u & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : r);
}

// ---- f8 (OCP): e4m3 has no infinity and its largest number is 448, e5m2 is f16 with two bits of fraction ----

VOTIVE_SCALAR f32 e4m3_to_f32(u8 h) {
  const u32 m = (u32)h & 0x7fu;
  const u32 sign = ((u32)h & 0x80u) << 24;
  const u32 normal = (m << 20) + 0x3c000000u;
  const u32 subnormal = bits_f32(f32_from_bits(0x3c800000u + (m << 20)) - 0x1p-6f);
  const u32 u = (m < 0x08u ? subnormal : normal) | sign;
  return f32_from_bits(m == 0x7fu ? 0x7fc00000u : u);
}

VOTIVE_SCALAR f32 e5m2_to_f32(u8 h) { return f16_to_f32((u16)((u32)h << 8)); }

/// The magnitude's e4m3 bits, not yet limited: 0x7f and above are beyond 448.
VOTIVE_SCALAR u32 e4m3_magnitude_f32(u32 a) {
  const u32 subnormal = bits_f32(f32_from_bits(a) + 0x1p14f) - 0x46800000u;  // the adder rounds at 2^-9
  const u32 normal = (a + 0xc407ffffu + ((a >> 20) & 1u)) >> 20;
  return a < 0x3c800000u ? subnormal : normal;
}

/// The magnitude's e5m2 bits, not yet limited: 0x7c and above are beyond 57344.
VOTIVE_SCALAR u32 e5m2_magnitude_f32(u32 a) {
  const u32 subnormal = bits_f32(f32_from_bits(a) + 0x1p7f) - 0x43000000u;  // the adder rounds at 2^-16
  const u32 normal = (a + 0xc80fffffu + ((a >> 21) & 1u)) >> 21;
  return a < 0x38800000u ? subnormal : normal;
}

/// Beyond 448, and so for infinities, +-448.
VOTIVE_SCALAR u8 f32_to_e4m3(f32 x) {
  const u32 u = bits_f32(x);
  const u32 a = u & 0x7fffffffu;
  u32 r = e4m3_magnitude_f32(a);
  r = a >= 0x43e00000u ? 0x7eu : r;
  r |= (u >> 24) & 0x80u;
  return (u8)(a > 0x7f800000u ? 0x7fu : r);
}

/// What rounds beyond 448 is NaN.
VOTIVE_SCALAR u8 f32_to_e4m3_nonsaturating(f32 x) {
  const u32 u = bits_f32(x);
  const u32 a = u & 0x7fffffffu;
  const u32 r = e4m3_magnitude_f32(a) | ((u >> 24) & 0x80u);
  return (u8)(a > 0x43e80000u ? 0x7fu : r);
}

/// Beyond 57344, and so for infinities, +-57344.
VOTIVE_SCALAR u8 f32_to_e5m2(f32 x) {
  const u32 u = bits_f32(x);
  const u32 a = u & 0x7fffffffu;
  u32 r = e5m2_magnitude_f32(a);
  r = a >= 0x47600000u ? 0x7bu : r;
  r |= (u >> 24) & 0x80u;
  return (u8)(a > 0x7f800000u ? 0x7eu : r);
}

/// What rounds beyond 57344 is infinite.
VOTIVE_SCALAR u8 f32_to_e5m2_nonsaturating(f32 x) {
  const u32 u = bits_f32(x);
  const u32 a = u & 0x7fffffffu;
  u32 r = e5m2_magnitude_f32(a);
  r = a >= 0x47700000u ? 0x7cu : r;
  r |= (u >> 24) & 0x80u;
  return (u8)(a > 0x7f800000u ? 0x7eu : r);
}

// ---- f64 to narrower floats: directly, since a stop at f32 would round twice ----

VOTIVE_SCALAR f64 f32_to_f64(f32 x) { return x != x ? nan_f64() : (f64)x; }
VOTIVE_SCALAR f32 f64_to_f32(f64 x) { return x != x ? nan_f32() : (f32)x; }

VOTIVE_SCALAR u16 f64_to_f16(f64 x) {
  const u64 u = bits_f64(x);
  const u64 sign = (u >> 48) & 0x8000u;
  const u64 a = u & 0x7fffffffffffffffu;
  const u64 subnormal = bits_f64(f64_from_bits(a) + 0x1p28) - 0x41b0000000000000u;
  const u64 normal = (a + 0xc10001ffffffffffu + ((a >> 42) & 1u)) >> 42;
  u64 r = (i64)a < 0x3f10000000000000 ? subnormal : normal;
  r = (i64)a >= 0x40effe0000000000 ? 0x7c00u : r;
  r |= sign;
  return (u16)((i64)a > 0x7ff0000000000000 ? 0x7e00u : r);
}

VOTIVE_SCALAR u16 f64_to_bf16(f64 x) {
  const u64 u = bits_f64(x);
  const u64 sign = (u >> 48) & 0x8000u;
  const u64 a = u & 0x7fffffffffffffffu;
  const u64 subnormal = bits_f64(f64_from_bits(a) + 0x1p-81) - 0x3ae0000000000000u;
  const u64 normal = (a + 0xc8000fffffffffffu + ((a >> 45) & 1u)) >> 45;
  u64 r = (i64)a < 0x3810000000000000 ? subnormal : normal;
  r = (i64)a >= 0x47eff00000000000 ? 0x7f80u : r;
  r |= sign;
  return (u16)((i64)a > 0x7ff0000000000000 ? 0x7fc0u : r);
}

/// The nearest f32 on the odd side: what is lost stays visible in the last place, so that a second rounding to at most 22 bits is as good as the only one.
VOTIVE_SCALAR f32 f64_to_f32_odd(f64 x) {
  const f32 r = (f32)x;
  const f64 back = (f64)r;
  const u32 u = bits_f32(r);
  const u32 away = (abs_f64(back) > abs_f64(x)) ? 1u : 0u;
  const u32 truncated = u - away;
  return f32_from_bits(((back != x) & (x == x)) ? (truncated | 1u) : u);
}

VOTIVE_SCALAR u8 f64_to_e4m3(f64 x) { return f32_to_e4m3(f64_to_f32_odd(x)); }
VOTIVE_SCALAR u8 f64_to_e4m3_nonsaturating(f64 x) { return f32_to_e4m3_nonsaturating(f64_to_f32_odd(x)); }
VOTIVE_SCALAR u8 f64_to_e5m2(f64 x) { return f32_to_e5m2(f64_to_f32_odd(x)); }
VOTIVE_SCALAR u8 f64_to_e5m2_nonsaturating(f64 x) { return f32_to_e5m2_nonsaturating(f64_to_f32_odd(x)); }

// ---- integers to floats ----

VOTIVE_SCALAR f32 i64_to_f32(i64 x) { return (f32)x; }
VOTIVE_SCALAR f32 u64_to_f32(u64 x) { return (f32)x; }
VOTIVE_SCALAR f64 i64_to_f64(i64 x) { return (f64)x; }
VOTIVE_SCALAR f64 u64_to_f64(u64 x) { return (f64)x; }
/// The same numbers from half the bits, which vector units convert at twice the rate and without a detour.
VOTIVE_SCALAR f32 i32_to_f32(i32 x) { return (f32)x; }
VOTIVE_SCALAR f32 u32_to_f32(u32 x) { return (f32)x; }
VOTIVE_SCALAR f64 i32_to_f64(i32 x) { return (f64)x; }
VOTIVE_SCALAR f64 u32_to_f64(u32 x) { return (f64)x; }

/// Within +-2^17, where f32 is exact and beyond which f16 and f8 are at their limits.
VOTIVE_SCALAR f32 i64_to_f32_limited(i64 x) {
  const i64 low = x < -131072 ? -131072 : x;
  return (f32)(i32)(low > 131072 ? 131072 : low);
}
VOTIVE_SCALAR f32 u64_to_f32_limited(u64 x) { return (f32)(i32)(x > 131072u ? 131072u : x); }

VOTIVE_SCALAR u16 i64_to_f16(i64 x) { return f32_to_f16(i64_to_f32_limited(x)); }
VOTIVE_SCALAR u16 u64_to_f16(u64 x) { return f32_to_f16(u64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 i64_to_e4m3(i64 x) { return f32_to_e4m3(i64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 u64_to_e4m3(u64 x) { return f32_to_e4m3(u64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 i64_to_e4m3_nonsaturating(i64 x) { return f32_to_e4m3_nonsaturating(i64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 u64_to_e4m3_nonsaturating(u64 x) { return f32_to_e4m3_nonsaturating(u64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 i64_to_e5m2(i64 x) { return f32_to_e5m2(i64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 u64_to_e5m2(u64 x) { return f32_to_e5m2(u64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 i64_to_e5m2_nonsaturating(i64 x) { return f32_to_e5m2_nonsaturating(i64_to_f32_limited(x)); }
VOTIVE_SCALAR u8 u64_to_e5m2_nonsaturating(u64 x) { return f32_to_e5m2_nonsaturating(u64_to_f32_limited(x)); }

/// First to at most 24 bits, the last one set where anything was cut off: exact in f32, so bf16's rounding is the only one.
VOTIVE_SCALAR u16 u64_to_bf16(u64 x) {
  const u32 high = (u32)(x >> 32);
  const u32 low = (u32)x;
  const u32 large = high != 0u;
  const u32 middle = (u32)(x >> 16);
  const u32 window = high >> 16 ? (high | (low != 0u)) : (large ? (middle | ((low & 0xffffu) != 0u)) : low);
  const f32 scale = high >> 16 ? 0x1p32f : (large ? 0x1p16f : 1.0f);
  const u32 odd = window >> 24 ? ((window & 0xffffff00u) | ((window & 0xffu) != 0u ? 0x100u : 0u)) : window;
  return f32_to_bf16((f32)odd * scale);
}
VOTIVE_SCALAR u16 i64_to_bf16(i64 x) {
  const u64 magnitude = x < 0 ? 0u - (u64)x : (u64)x;
  return (u16)(u64_to_bf16(magnitude) | (x < 0 ? 0x8000u : 0u));
}

// ---- floats to integers: toward zero, saturating, NaN to 0 ----

VOTIVE_SCALAR i32 f32_to_i32_within(f32 x, f32 low, f32 high) {
  f32 y = x == x ? x : 0.0f;
  y = y > low ? y : low;
  y = y < high ? y : high;
  return (i32)y;
}
VOTIVE_SCALAR i32 f64_to_i32_within(f64 x, f64 low, f64 high) {
  f64 y = x == x ? x : 0.0;
  y = y > low ? y : low;
  y = y < high ? y : high;
  return (i32)y;
}

VOTIVE_SCALAR i8 f32_to_i8(f32 x) { return (i8)f32_to_i32_within(x, -128.0f, 127.0f); }
VOTIVE_SCALAR u8 f32_to_u8(f32 x) { return (u8)f32_to_i32_within(x, 0.0f, 255.0f); }
VOTIVE_SCALAR i16 f32_to_i16(f32 x) { return (i16)f32_to_i32_within(x, -32768.0f, 32767.0f); }
VOTIVE_SCALAR u16 f32_to_u16(f32 x) { return (u16)f32_to_i32_within(x, 0.0f, 65535.0f); }
VOTIVE_SCALAR i32 f32_to_i32(f32 x) { return x >= 0x1p31f ? 2147483647 : f32_to_i32_within(x, -0x1p31f, 0x1.fffffep30f); }
/// Through two's complement of the upper half, since a signed conversion is what every vector unit has.
VOTIVE_SCALAR u32 f32_to_u32(f32 x) {
  const f32 upper = x >= 0x1p31f ? 0x1p31f : 0.0f;
  const u32 r = (u32)f32_to_i32_within(x - upper, 0.0f, 0x1.fffffep30f) + (x >= 0x1p31f ? 0x80000000u : 0u);
  return x >= 0x1p32f ? 0xffffffffu : r;
}
VOTIVE_SCALAR i64 f32_to_i64(f32 x) {
  f32 y = x == x ? x : 0.0f;
  y = y > -0x1p63f ? y : -0x1p63f;
  y = y < 0x1.fffffep62f ? y : 0x1.fffffep62f;
  const i64 r = (i64)y;
  return x >= 0x1p63f ? 0x7fffffffffffffff : r;
}
VOTIVE_SCALAR u64 f32_to_u64(f32 x) {
  const f32 upper = x >= 0x1p63f ? 0x1p63f : 0.0f;
  f32 y = x == x ? x - upper : 0.0f;
  y = y > 0.0f ? y : 0.0f;
  y = y < 0x1.fffffep62f ? y : 0x1.fffffep62f;
  const u64 r = (u64)(i64)y + (x >= 0x1p63f ? 0x8000000000000000u : 0u);
  return x >= 0x1p64f ? 0xffffffffffffffffu : r;
}

VOTIVE_SCALAR i8 f64_to_i8(f64 x) { return (i8)f64_to_i32_within(x, -128.0, 127.0); }
VOTIVE_SCALAR u8 f64_to_u8(f64 x) { return (u8)f64_to_i32_within(x, 0.0, 255.0); }
VOTIVE_SCALAR i16 f64_to_i16(f64 x) { return (i16)f64_to_i32_within(x, -32768.0, 32767.0); }
VOTIVE_SCALAR u16 f64_to_u16(f64 x) { return (u16)f64_to_i32_within(x, 0.0, 65535.0); }
VOTIVE_SCALAR i32 f64_to_i32(f64 x) { return f64_to_i32_within(x, -2147483648.0, 2147483647.0); }
VOTIVE_SCALAR u32 f64_to_u32(f64 x) {
  const f64 upper = x >= 0x1p31 ? 0x1p31 : 0.0;
  const u32 r = (u32)f64_to_i32_within(x - upper, 0.0, 2147483647.0) + (x >= 0x1p31 ? 0x80000000u : 0u);
  return r;
}
VOTIVE_SCALAR i64 f64_to_i64(f64 x) {
  f64 y = x == x ? x : 0.0;
  y = y > -0x1p63 ? y : -0x1p63;
  y = y < 0x1.fffffffffffffp62 ? y : 0x1.fffffffffffffp62;
  const i64 r = (i64)y;
  return x >= 0x1p63 ? 0x7fffffffffffffff : r;
}
VOTIVE_SCALAR u64 f64_to_u64(f64 x) {
  const f64 upper = x >= 0x1p63 ? 0x1p63 : 0.0;
  f64 y = x == x ? x - upper : 0.0;
  y = y > 0.0 ? y : 0.0;
  y = y < 0x1.fffffffffffffp62 ? y : 0x1.fffffffffffffp62;
  const u64 r = (u64)(i64)y + (x >= 0x1p63 ? 0x8000000000000000u : 0u);
  return x >= 0x1p64 ? 0xffffffffffffffffu : r;
}

// ---- to bool: everything but +-0, so NaN is true ----

VOTIVE_SCALAR u8 f32_to_bool(f32 x) { return x != 0.0f; }
VOTIVE_SCALAR u8 f64_to_bool(f64 x) { return x != 0.0; }
VOTIVE_SCALAR u8 i64_to_bool(i64 x) { return x != 0; }
VOTIVE_SCALAR u8 u64_to_bool(u64 x) { return x != 0u; }

}  // namespace votive::numerics
