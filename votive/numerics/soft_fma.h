// fma without the instruction, in integers: for machines that lack it under a C library whose own is not known to be right. musl's (1.2.5) gives +0 where
// a product that underflows to -0 meets +0. glibc's is right and takes the instruction where there is one. Not here: flushing (reduce.h), other rounding modes.
#pragma once

#include <stdint.h>
#include <string.h>

namespace votive::numerics {

// Not inlined: some hundred instructions in the place of one. Static, so that no instruction set's copy serves another's caller.

/// x * 2^-n with all that is lost in the last bit.
static inline unsigned __int128 soft_shift_right(unsigned __int128 x, int n) {
  if (n >= 128) return x != 0;
  if (n == 0) return x;
  return x >> n | (x << (128 - n) != 0);
}

/// A number that is neither 0 nor infinite as m * 2^e, 2^52 <= m < 2^53.
static inline uint64_t soft_parts(uint64_t bits, int* e) {
  uint64_t m = bits & 0x000fffffffffffffu;
  const int field = (int)(bits >> 52 & 0x7ff);
  if (field != 0) {
    *e = field - 1075;
    return m | 0x0010000000000000u;
  }
  const int up = __builtin_clzll(m) - 11;
  *e = -1074 - up;
  return m << up;
}

/// a b + c, rounded once to nearest even.
__attribute__((noinline, unused)) static double soft_fma_f64(double a, double b, double c) {
  uint64_t x, y, z;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  memcpy(&z, &c, sizeof z);
  const uint64_t infinity = 0x7ff0000000000000u, magnitude = 0x7fffffffffffffffu;
  if ((x & magnitude) >= infinity || (y & magnitude) >= infinity) return a * b + c;
  if ((z & magnitude) >= infinity) return c + c;
  if ((x & magnitude) == 0 || (y & magnitude) == 0) return a * b + c;
  if ((z & magnitude) == 0) return a * b;  // rounded once; where it underflows to 0, the sign is the product's
  int ex, ey, ec;
  const uint64_t mx = soft_parts(x, &ex), my = soft_parts(y, &ey), mz = soft_parts(z, &ec);
  // Both with their first bit in 124 or 125, which leaves 20 zeros below: where the difference cancels, no bit was lost in shifting.
  unsigned __int128 p = (unsigned __int128)mx * my << 20, q = (unsigned __int128)mz << 73;
  int e = ex + ey - 20;
  ec -= 73;
  if (e < ec) {
    p = soft_shift_right(p, ec - e > 127 ? 128 : ec - e);
    e = ec;
  } else {
    q = soft_shift_right(q, e - ec > 127 ? 128 : e - ec);
  }
  uint64_t sign = (x ^ y) >> 63;
  if (sign == z >> 63) {
    p += q;
  } else if (p == q) {
    return 0.0;
  } else if (p > q) {
    p -= q;
  } else {
    p = q - p;
    sign = z >> 63;
  }
  const uint64_t high = (uint64_t)(p >> 64);
  const int bits = high != 0 ? 128 - __builtin_clzll(high) : 64 - __builtin_clzll((uint64_t)p);
  const int first = e + bits - 1;  // exponent of the first bit
  uint64_t result;
  if (first > 1023) {
    result = infinity;
  } else {
    const int below = first < -1022 ? -1022 - first : 0;
    const int shift = bits - 53 + below;
    uint64_t m;
    if (shift <= 0) {
      m = (uint64_t)(p << -shift);
    } else if (shift > bits) {
      m = 0;  // less than half of the smallest number
    } else {
      const unsigned __int128 half = (unsigned __int128)1 << (shift - 1), rest = p & (half + (half - 1));
      m = (uint64_t)(p >> (shift - 1) >> 1);
      if (rest > half || (rest == half && (m & 1) != 0)) ++m;
    }
    result = below > 0 ? m : ((uint64_t)(first + 1022) << 52) + m;  // a carry goes up into the exponent, to infinity at the end
  }
  result |= sign << 63;
  double r;
  memcpy(&r, &result, sizeof r);
  return r;
}

/// The same of f32: the product is exact in f64, the sum is rounded to odd there, and then once.
__attribute__((noinline, unused)) static float soft_fma_f32(float a, float b, float c) {
  const double p = (double)a * (double)b, z = (double)c;
  double s = p + z;
  const double back = s - p;
  const double lost = (p - (s - back)) + (z - back);
  uint64_t bits;
  memcpy(&bits, &s, sizeof bits);
  if (lost != 0.0 && lost == lost && (bits & 0x7fffffffffffffffu) < 0x7ff0000000000000u && (bits & 1) == 0) {
    bits = (lost > 0.0) == (s > 0.0) ? bits + 1 : bits - 1;
    memcpy(&s, &bits, sizeof s);
  }
  return (float)s;
}

}  // namespace votive::numerics
