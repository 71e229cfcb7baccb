// The words the scalar text is written in: fixed-width types, fma, sqrt, rounding, bit casts. One header per device language would differ only here.
//
// Every header of this folder is a C subset that C++20, CUDA, OpenCL C and Metal read alike: no templates, overloads, references or recursion; f16, bf16
// and f8 are carried as their bits in u16 and u8. A device that compiles the text at run time drops the namespace lines and the includes and puts its own
// words in front. No libm: what is not here is built from + - * / fma, comparisons, selects and integers, so it has the same bits everywhere.
#pragma once

#include <stdint.h>
#include <string.h>

#if !defined(__FMA__) && !defined(__aarch64__) && !defined(__GLIBC__)
#include "votive/numerics/soft_fma.h"
#endif

#if defined(__GNUC__)
#define VOTIVE_SCALAR __attribute__((always_inline)) static inline  // inlined, so no instruction set's copy can serve another's caller
#else
#define VOTIVE_SCALAR static inline
#endif

namespace votive::numerics {

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef float f32;
typedef double f64;

#if defined(__FMA__) || defined(__aarch64__) || defined(__GLIBC__)
VOTIVE_SCALAR f32 fma_f32(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
VOTIVE_SCALAR f64 fma_f64(f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); }
#else
VOTIVE_SCALAR f32 fma_f32(f32 a, f32 b, f32 c) { return soft_fma_f32(a, b, c); }
VOTIVE_SCALAR f64 fma_f64(f64 a, f64 b, f64 c) { return soft_fma_f64(a, b, c); }
#endif
VOTIVE_SCALAR f32 sqrt_f32(f32 x) { return __builtin_sqrtf(x); }
VOTIVE_SCALAR f64 sqrt_f64(f64 x) { return __builtin_sqrt(x); }

/// To the nearest integer, ties to even.
VOTIVE_SCALAR f32 rint_f32(f32 x) { return __builtin_rintf(x); }
VOTIVE_SCALAR f64 rint_f64(f64 x) { return __builtin_rint(x); }
VOTIVE_SCALAR f32 floor_f32(f32 x) { return __builtin_floorf(x); }
VOTIVE_SCALAR f64 floor_f64(f64 x) { return __builtin_floor(x); }
VOTIVE_SCALAR f32 ceil_f32(f32 x) { return __builtin_ceilf(x); }
VOTIVE_SCALAR f64 ceil_f64(f64 x) { return __builtin_ceil(x); }
VOTIVE_SCALAR f32 trunc_f32(f32 x) { return __builtin_truncf(x); }
VOTIVE_SCALAR f64 trunc_f64(f64 x) { return __builtin_trunc(x); }

VOTIVE_SCALAR u32 bits_f32(f32 x) {
  u32 u;
  memcpy(&u, &x, sizeof u);
  return u;
}
VOTIVE_SCALAR f32 f32_from_bits(u32 u) {
  f32 x;
  memcpy(&x, &u, sizeof x);
  return x;
}
VOTIVE_SCALAR u64 bits_f64(f64 x) {
  u64 u;
  memcpy(&u, &x, sizeof u);
  return u;
}
VOTIVE_SCALAR f64 f64_from_bits(u64 u) {
  f64 x;
  memcpy(&x, &u, sizeof x);
  return x;
}

VOTIVE_SCALAR f32 nan_f32(void) { return f32_from_bits(0x7fc00000u); }
VOTIVE_SCALAR f64 nan_f64(void) { return f64_from_bits(0x7ff8000000000000u); }
VOTIVE_SCALAR f32 infinity_f32(void) { return f32_from_bits(0x7f800000u); }
VOTIVE_SCALAR f64 infinity_f64(void) { return f64_from_bits(0x7ff0000000000000u); }

VOTIVE_SCALAR f32 abs_f32(f32 x) { return f32_from_bits(bits_f32(x) & 0x7fffffffu); }
VOTIVE_SCALAR f64 abs_f64(f64 x) { return f64_from_bits(bits_f64(x) & 0x7fffffffffffffffu); }
VOTIVE_SCALAR f32 neg_f32(f32 x) { return f32_from_bits(bits_f32(x) ^ 0x80000000u); }
VOTIVE_SCALAR f64 neg_f64(f64 x) { return f64_from_bits(bits_f64(x) ^ 0x8000000000000000u); }
VOTIVE_SCALAR f32 copysign_f32(f32 magnitude, f32 sign) {
  return f32_from_bits((bits_f32(magnitude) & 0x7fffffffu) | (bits_f32(sign) & 0x80000000u));
}
VOTIVE_SCALAR f64 copysign_f64(f64 magnitude, f64 sign) {
  return f64_from_bits((bits_f64(magnitude) & 0x7fffffffffffffffu) | (bits_f64(sign) & 0x8000000000000000u));
}

}  // namespace votive::numerics
