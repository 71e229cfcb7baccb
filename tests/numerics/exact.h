// Functions that MPFR has not, made of those it has: the true values that accuracy_*_test.cpp compare with.
#pragma once

#include <mpfr.h>

#include "tests/numerics/accuracy.h"

namespace votive::numerics {

inline void exact_sigmoid(mpfr_t y, const mpfr_t x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
/// max(x, 0) + log1p(e^-|x|): e^x alone would leave even MPFR's range.
inline void exact_softplus(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_abs(t.v, x, MPFR_RNDN);
  mpfr_neg(t.v, t.v, MPFR_RNDN);
  mpfr_exp(t.v, t.v, MPFR_RNDN);
  mpfr_log1p(t.v, t.v, MPFR_RNDN);
  if (mpfr_sgn(x) > 0) {
    mpfr_add(y, t.v, x, MPFR_RNDN);
  } else {
    mpfr_set(y, t.v, MPFR_RNDN);
  }
}
inline void exact_logit(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_ui_sub(t.v, 1, x, MPFR_RNDN);
  mpfr_div(t.v, x, t.v, MPFR_RNDN);
  mpfr_log(y, t.v, MPFR_RNDN);
}
inline void exact_log_sigmoid(mpfr_t y, const mpfr_t x) {
  mpfr_neg(y, x, MPFR_RNDN);
  exact_softplus(y, y);
  mpfr_neg(y, y, MPFR_RNDN);
}
inline void exact_silu(mpfr_t y, const mpfr_t x) {
  Big t;
  exact_sigmoid(t.v, x);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
}
inline void exact_quick_gelu(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_mul_ui(t.v, x, 1702, MPFR_RNDN);
  mpfr_div_ui(t.v, t.v, 1000, MPFR_RNDN);
  exact_sigmoid(t.v, t.v);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
}
inline void exact_mish(mpfr_t y, const mpfr_t x) {
  Big t;
  exact_softplus(t.v, x);
  mpfr_tanh(t.v, t.v, MPFR_RNDN);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
}
inline void exact_gelu(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_sqrt_ui(t.v, 2, MPFR_RNDN);
  mpfr_div(t.v, x, t.v, MPFR_RNDN);
  mpfr_neg(t.v, t.v, MPFR_RNDN);
  mpfr_erfc(t.v, t.v, MPFR_RNDN);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);
}
inline void exact_gelu_tanh(mpfr_t y, const mpfr_t x) {
  Big z, c;
  mpfr_sqr(z.v, x, MPFR_RNDN);
  mpfr_mul(z.v, z.v, x, MPFR_RNDN);
  mpfr_mul_ui(z.v, z.v, 44715, MPFR_RNDN);
  mpfr_div_ui(z.v, z.v, 1000000, MPFR_RNDN);
  mpfr_add(z.v, z.v, x, MPFR_RNDN);
  mpfr_const_pi(c.v, MPFR_RNDN);
  mpfr_ui_div(c.v, 8, c.v, MPFR_RNDN);  // (2 sqrt(2 / pi))^2
  mpfr_sqrt(c.v, c.v, MPFR_RNDN);
  mpfr_mul(z.v, z.v, c.v, MPFR_RNDN);
  exact_sigmoid(z.v, z.v);
  mpfr_mul(y, z.v, x, MPFR_RNDN);
}
inline void exact_elu(mpfr_t y, const mpfr_t x) { mpfr_sgn(x) < 0 ? mpfr_expm1(y, x, MPFR_RNDN) : mpfr_set(y, x, MPFR_RNDN); }
/// celu with alpha = 5/4, a number of both formats.
inline void exact_celu(mpfr_t y, const mpfr_t x) {
  if (mpfr_sgn(x) >= 0) {
    mpfr_set(y, x, MPFR_RNDN);
    return;
  }
  mpfr_div_d(y, x, 1.25, MPFR_RNDN);
  mpfr_expm1(y, y, MPFR_RNDN);
  mpfr_mul_d(y, y, 1.25, MPFR_RNDN);
}
inline void exact_selu(mpfr_t y, const mpfr_t x) {
  Big scale, alpha;
  mpfr_set_str(scale.v, "1.0507009873554804934193349852946", 10, MPFR_RNDN);
  mpfr_set_str(alpha.v, "1.6732632423543772848170429916717", 10, MPFR_RNDN);
  exact_elu(y, x);
  if (mpfr_sgn(x) < 0) mpfr_mul(y, y, alpha.v, MPFR_RNDN);
  mpfr_mul(y, y, scale.v, MPFR_RNDN);
}
inline void exact_softsign(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_abs(t.v, x, MPFR_RNDN);
  mpfr_add_ui(t.v, t.v, 1, MPFR_RNDN);
  mpfr_div(y, x, t.v, MPFR_RNDN);
}
/// With more bits, since x and tanh(x) may agree in most of them; x^3 / 3 where they would agree in all.
inline void exact_tanhshrink(mpfr_t y, const mpfr_t x) {
  if (mpfr_zero_p(x) || (mpfr_regular_p(x) && mpfr_get_exp(x) < -120)) {
    mpfr_pow_ui(y, x, 3, MPFR_RNDN);
    mpfr_div_ui(y, y, 3, MPFR_RNDN);
    return;
  }
  mpfr_t t;
  mpfr_init2(t, 600);
  mpfr_tanh(t, x, MPFR_RNDN);
  mpfr_sub(y, x, t, MPFR_RNDN);
  mpfr_clear(t);
}
inline void exact_hardsigmoid(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_add_ui(t.v, x, 3, MPFR_RNDN);
  if (mpfr_sgn(t.v) < 0) mpfr_set_ui(t.v, 0, MPFR_RNDN);
  if (mpfr_cmp_ui(t.v, 6) > 0) mpfr_set_ui(t.v, 6, MPFR_RNDN);
  mpfr_div_ui(y, t.v, 6, MPFR_RNDN);
}
inline void exact_hardswish(mpfr_t y, const mpfr_t x) {
  Big t;
  exact_hardsigmoid(t.v, x);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
}
inline void exact_degrees(mpfr_t y, const mpfr_t x) {
  Big pi;
  mpfr_const_pi(pi.v, MPFR_RNDN);
  mpfr_mul_ui(y, x, 180, MPFR_RNDN);
  mpfr_div(y, y, pi.v, MPFR_RNDN);
}
inline void exact_radians(mpfr_t y, const mpfr_t x) {
  Big pi;
  mpfr_const_pi(pi.v, MPFR_RNDN);
  mpfr_mul(y, x, pi.v, MPFR_RNDN);
  mpfr_div_ui(y, y, 180, MPFR_RNDN);
}

inline void exact_lgamma(mpfr_t y, const mpfr_t x) {
  int sign = 0;
  mpfr_lgamma(y, &sign, x, MPFR_RNDN);
}
/// Newton's iteration from the f64 text's answer, which need only be near.
inline void exact_erfinv_from(double start, mpfr_t y, const mpfr_t x) {
  mpfr_set_d(y, start, MPFR_RNDN);
  if (mpfr_cmpabs_ui(x, 1) >= 0) return;
  Big e, d, c;
  mpfr_const_pi(c.v, MPFR_RNDN);
  mpfr_sqrt(c.v, c.v, MPFR_RNDN);
  mpfr_div_ui(c.v, c.v, 2, MPFR_RNDN);
  for (int i = 0; i < 4; ++i) {
    mpfr_erf(e.v, y, MPFR_RNDN);
    mpfr_sub(e.v, e.v, x, MPFR_RNDN);
    mpfr_sqr(d.v, y, MPFR_RNDN);
    mpfr_exp(d.v, d.v, MPFR_RNDN);
    mpfr_mul(d.v, d.v, c.v, MPFR_RNDN);
    mpfr_mul(d.v, d.v, e.v, MPFR_RNDN);
    mpfr_sub(y, y, d.v, MPFR_RNDN);
  }
}
inline void exact_sinc(mpfr_t y, const mpfr_t x) {
  if (mpfr_zero_p(x)) {
    mpfr_set_ui(y, 1, MPFR_RNDN);
    return;
  }
  Big t, pi;
  mpfr_sinpi(t.v, x, MPFR_RNDN);
  mpfr_const_pi(pi.v, MPFR_RNDN);
  mpfr_mul(pi.v, pi.v, x, MPFR_RNDN);
  mpfr_div(y, t.v, pi.v, MPFR_RNDN);
}

}  // namespace votive::numerics
