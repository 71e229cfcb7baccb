// What functions are, in f64 and by libm: near enough to the true value to find the worst input of an f32 function among billions. Written without branches
// or calls of templates, so that a loop over them is vectorised by libmvec (its four ulp are 2^-27 of an f32's) where there is one: glibc on x86-64, by g++.
// oracle_loops.cpp is those loops, compiled once per instruction set; functions_*.cpp take single values. exhaustive.cpp asks MPFR whether they are near.
#pragma once

#include <math.h>

#include "votive/numerics/math.h"

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
extern "C" {
#define ORACLE(name) double name(double) noexcept __attribute__((simd("notinbranch")));
ORACLE(exp)
ORACLE(exp2)
ORACLE(expm1)
ORACLE(log)
ORACLE(log2)
ORACLE(log10)
ORACLE(log1p)
ORACLE(sin)
ORACLE(cos)
ORACLE(tan)
ORACLE(asin)
ORACLE(acos)
ORACLE(atan)
ORACLE(sinh)
ORACLE(cosh)
ORACLE(tanh)
ORACLE(asinh)
ORACLE(acosh)
ORACLE(atanh)
ORACLE(erf)
ORACLE(erfc)
#undef ORACLE
}
#endif

namespace votive::numerics::oracle {

constexpr double pi = 3.14159265358979323846;

static inline double sigmoid(double x) {
  const double e = ::exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}
static inline double softplus(double x) { return (x > 0 ? x : 0) + ::log1p(::exp(-fabs(x))); }
static inline double log_sigmoid(double x) { return -softplus(-x); }
static inline double logit(double x) {
  const double middle = ::log1p((2 * x - 1) / (1 - x)), outer = ::log(x) - ::log1p(-x);
  return x > 0.25 && x < 0.75 ? middle : outer;
}
static inline double silu(double x) { return x * sigmoid(x); }
static inline double quick_gelu(double x) { return x * sigmoid(1.702 * x); }
static inline double mish(double x) { return x * ::tanh(softplus(x)); }
static inline double gelu(double x) { return 0.5 * x * ::erfc(-x * 0.70710678118654752440); }
static inline double gelu_tanh_inner(double x) { return 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x); }
static inline double gelu_tanh(double x) { return x * sigmoid(gelu_tanh_inner(x)); }
static inline double gelu_tanh_slack(double x) { return 2 * fabs(gelu_tanh_inner(x)); }
static inline double elu(double x) { return x < 0 ? ::expm1(x) : x; }
static inline double celu(double x) { return x < 0 ? 1.25 * ::expm1(x / 1.25) : x; }
static inline double elu_of_five_quarters(double x) { return x < 0 ? 1.25 * ::expm1(x) : x; }
static inline double selu(double x) { return 1.0507009873554804934 * (x < 0 ? 1.6732632423543772848 * ::expm1(x) : x); }
static inline double softsign(double x) { return x / (1 + fabs(x)); }
static inline double hardsigmoid(double x) {
  const double up = x + 3 > 0 ? x + 3 : 0;
  return (up < 6 ? up : 6) / 6;
}
static inline double hardswish(double x) { return x * hardsigmoid(x); }
static inline double tanhshrink(double x) {
  const double small = tanhshrink_f64(x), large = x - ::tanh(x);
  return fabs(x) < 0.1 ? small : large;
}
static inline double rad2deg(double x) { return x * 57.29577951308232087680; }
static inline double deg2rad(double x) { return x * 0.01745329251994329577; }
static inline double recip(double x) { return 1 / x; }
static inline double rsqrt(double x) { return 1 / __builtin_sqrt(x); }

// Those that libm lacks are the f64 text's own, which accuracy_special_functions_test.cpp holds against MPFR.
static inline double digamma(double x) { return digamma_f64(x); }
static inline double trigamma(double x) { return trigamma_f64(x); }
static inline double erfinv(double x) { return erfinv_f64(x); }
static inline double sinc(double x) { return sinc_f64(x); }
static inline double lgamma(double x) {
  int sign = 0;
  return x == __builtin_rint(x) && x <= 0 ? INFINITY : ::lgamma_r(x, &sign);
}

/// Left of 0 lgamma and digamma have zeros where terms of these sizes cancel; an error counts in ulp of the larger of result and term.
static inline double size_of_lgamma(double x) {
  int sign = 0;
  const double s = fabs(::sin(pi * (x - __builtin_rint(x))));
  const double a = fabs(::lgamma_r(1 - x, &sign)), b = fabs(::log(s / pi));
  return x > 0 ? 0 : a > b ? a : b;
}
static inline double size_of_digamma(double x) { return x > 0 ? 0 : pi / fabs(::tan(pi * (x - __builtin_rint(x)))); }
static inline double one_left_of_0(double x) { return x < 0 ? 1 : 0; }
static inline double two_left_of_0(double x) { return x < 0 ? 2 : 0; }
static inline double four_left_of_0(double x) { return x < 0 ? 4 : 0; }

}  // namespace votive::numerics::oracle
