// The measure of accuracy: a function of the scalar text against MPFR with 240 bits, in ulp as CONTRACT.md 2.3 counts them, and the tables of functions
// (functions_*.cpp) that judge.h and the exhaustive run (exhaustive.h) go through. Rows are data, so that a table of many functions compiles in seconds.
#pragma once

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "tests/numerics/inputs.h"

namespace votive::numerics {

/// A number of MPFR.
struct Big {
  mpfr_t v;
  explicit Big(double x = 0) {
    mpfr_init2(v, 240);
    mpfr_set_d(v, x, MPFR_RNDN);
  }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(v); }
};

/// y = f(x), or f(a, b), in MPFR.
using Exact = void (*)(mpfr_t y, const mpfr_t x);
using Exact2 = void (*)(mpfr_t y, const mpfr_t a, const mpfr_t b);

template <int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t)>
void exact(mpfr_t y, const mpfr_t x) {
  function(y, x, MPFR_RNDN);
}

/// A float format's precision and exponents.
struct Format {
  int bits, smallest, beyond;  // 2^smallest is the smallest subnormal, 2^beyond the first number that is too large
};
inline constexpr Format format_f32{24, -149, 128};
inline constexpr Format format_f64{53, -1074, 1024};

/// The distance of two floats around y.
inline double ulp_of(double y, Format format) {
  int exponent = 0;
  std::frexp(y, &exponent);
  return std::ldexp(1.0, std::max(exponent - format.bits, format.smallest));
}

/// |got - want| in ulp of want or of `scale`, whichever is larger. An infinite result stands for 2^128 or 2^1024, where the rounded number would be.
inline double error_in_ulp(double got, const Big& want, double scale, Format format) {
  if (mpfr_nan_p(want.v)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  if (mpfr_inf_p(want.v)) return std::isinf(got) && (got > 0) == (mpfr_sgn(want.v) > 0) ? 0 : INFINITY;
  if (std::isinf(got) && mpfr_get_exp(want.v) > format.beyond) return (got > 0) == (mpfr_sgn(want.v) > 0) ? 0 : INFINITY;
  Big difference;
  if (std::isinf(got)) {
    mpfr_set_si_2exp(difference.v, got > 0 ? 1 : -1, format.beyond, MPFR_RNDN);
  } else {
    mpfr_set_d(difference.v, got, MPFR_RNDN);
  }
  mpfr_sub(difference.v, difference.v, want.v, MPFR_RNDN);
  long exponent = mpfr_zero_p(want.v) ? format.smallest : mpfr_get_exp(want.v) - format.bits;
  if (scale != 0) {
    int place = 0;
    std::frexp(scale, &place);
    exponent = std::max<long>(exponent, place - format.bits);
  }
  exponent = std::min<long>(std::max<long>(exponent, format.smallest), format.beyond - format.bits);
  mpfr_mul_2si(difference.v, difference.v, -exponent, MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.v, MPFR_RNDN));
}

/// The same for f32 with an f64 near the true value: enough to find the worst input among billions.
inline double nearly_error_in_ulp(float got, double want, double scale) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  const bool same_sign = (got > 0) == (want > 0);
  if (std::abs(want) >= 0x1p128 && std::isinf(got)) return same_sign ? 0 : INFINITY;
  const double value = std::isinf(got) ? std::copysign(0x1p128, got) : double(got);
  return std::abs(value - want) / std::min(ulp_of(std::max(std::abs(want), scale), format_f32), 0x1p104);
}

/// A function of one argument. Where the f32 or f64 text is absent it is null.
struct Row {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double (*nearly)(double);
  Exact exactly;
  double bound_f32, bound_f64;        // in ulp
  double least, largest;              // of x, in both formats
  double (*slack)(double) = nullptr;  // what the bound grows by
  double (*scale)(double) = nullptr;  // the ulp of this counts where it is larger than the result
  int samples = 30'000;               // in f64; fewer where MPFR takes long
};

/// The tables, one per subject: functions_elementary.cpp and its neighbours. A row's name may say which part of the axis it samples ("log_near_1").
std::span<const Row> elementary_rows();
std::span<const Row> inverse_rows();
std::span<const Row> activation_rows();
std::span<const Row> special_rows();

/// Exponents evenly, and half of the samples in the top eight binades, where most functions do most of their work.
inline double sample_f64(Random& random, double least, double largest) {
  int low = 0, high = 0;
  const double most = std::max(std::abs(least), std::abs(largest));
  const bool positive = least > 0;
  std::frexp(positive ? least : std::max(most * 0x1p-60, 0x1p-1060), &low);
  std::frexp(most, &high);
  const std::uint64_t r = random();
  const int from = r & 1 ? low : std::max(low, high - 8);
  const double fraction = 0.5 + double(random() >> 11) * 0x1p-54;
  const double x = std::ldexp(fraction, from + int((r >> 8) % std::uint64_t(high - from + 1)));
  return (r & 2) != 0 && !positive ? -x : x;
}

}  // namespace votive::numerics
