// erf and its relatives, lgamma, digamma and sinc: their text, their true value and the bounds of CONTRACT.md 2.3 and of numerics/gamma.h, digamma.h, erfinv.h.
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "tests/numerics/exact.h"
#include "tests/numerics/oracle.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

void exact_erfinv(mpfr_t y, const mpfr_t x) { exact_erfinv_from(erfinv_f64(mpfr_get_d(x, MPFR_RNDN)), y, x); }

/// Twenty-four steps of the recurrence, then the asymptotic series with the Bernoulli numbers to B20; left of 1/2 the reflection. Good to 2^-70.
void exact_trigamma(mpfr_t y, const mpfr_t x) {
  Big t, u, a;
  mpfr_set(a.v, x, MPFR_RNDN);
  const bool left = mpfr_cmp_d(x, 0.5) < 0;
  if (left) mpfr_ui_sub(a.v, 1, x, MPFR_RNDN);
  Big sum;
  for (int i = 0; i < 24; ++i) {
    mpfr_sqr(t.v, a.v, MPFR_RNDN);
    mpfr_ui_div(t.v, 1, t.v, MPFR_RNDN);
    mpfr_add(sum.v, sum.v, t.v, MPFR_RNDN);
    mpfr_add_ui(a.v, a.v, 1, MPFR_RNDN);
  }
  mpfr_ui_div(t.v, 1, a.v, MPFR_RNDN);  // 1/a
  mpfr_add(sum.v, sum.v, t.v, MPFR_RNDN);
  mpfr_sqr(u.v, t.v, MPFR_RNDN);
  mpfr_div_ui(a.v, u.v, 2, MPFR_RNDN);
  mpfr_add(sum.v, sum.v, a.v, MPFR_RNDN);
  const long bernoulli[][2] = {{1, 6},       {-1, 30}, {1, 42},      {-1, 30},     {5, 66},
                               {-691, 2730}, {7, 6},   {-3617, 510}, {43867, 798}, {-174611, 330}};
  for (auto [over, under] : bernoulli) {
    mpfr_mul(t.v, t.v, u.v, MPFR_RNDN);  // 1/a^(2k+1)
    mpfr_mul_si(a.v, t.v, over, MPFR_RNDN);
    mpfr_div_si(a.v, a.v, under, MPFR_RNDN);
    mpfr_add(sum.v, sum.v, a.v, MPFR_RNDN);
  }
  if (left) {
    mpfr_sinpi(t.v, x, MPFR_RNDN);
    mpfr_const_pi(u.v, MPFR_RNDN);
    mpfr_div(t.v, u.v, t.v, MPFR_RNDN);
    mpfr_sqr(t.v, t.v, MPFR_RNDN);
    mpfr_sub(sum.v, t.v, sum.v, MPFR_RNDN);
  }
  mpfr_set(y, sum.v, MPFR_RNDN);
}

#define BOTH(name) [](float x) { return name##_f32(x); }, [](double x) { return name##_f64(x); }

const Row rows[] = {
    {"erf", BOTH(erf), std::erf, exact<mpfr_erf>, 2, 2, -7, 7, nullptr, nullptr, 10'000},
    {"erfc", BOTH(erfc), std::erfc, exact<mpfr_erfc>, 3, 3, -30, 30, nullptr, nullptr, 5'000},
    {"erfinv", BOTH(erfinv), oracle::erfinv, exact_erfinv, 4, 4, -1, 1, nullptr, nullptr, 3'000},
    {"lgamma", BOTH(lgamma), oracle::lgamma, exact_lgamma, 3, 3, 0x1p-1022, 0x1p1000, nullptr, nullptr, 10'000},
    {"lgamma_near_1", BOTH(lgamma), oracle::lgamma, exact_lgamma, 3, 3, 0x1p-8, 20, nullptr, nullptr, 10'000},
    {"lgamma_left", BOTH(lgamma), oracle::lgamma, exact_lgamma, 4, 4, -200, -0x1p-20, nullptr, oracle::size_of_lgamma, 5'000},
    {"lgamma_left_of_0", BOTH(lgamma), oracle::lgamma, exact_lgamma, 4, 4, -0x1p-20, -0x1p-1074, nullptr, oracle::size_of_lgamma, 5'000},
    {"digamma", BOTH(digamma), oracle::digamma, exact<mpfr_digamma>, 4, 4, 0x1p-120, 0x1p120, nullptr, nullptr, 10'000},
    {"digamma_near_1", BOTH(digamma), oracle::digamma, exact<mpfr_digamma>, 4, 4, 0x1p-8, 20, nullptr, nullptr, 10'000},
    {"digamma_left", BOTH(digamma), oracle::digamma, exact<mpfr_digamma>, 8, 8, -200, -0x1p-20, nullptr, oracle::size_of_digamma, 5'000},
    {"trigamma", BOTH(trigamma), oracle::trigamma, exact_trigamma, 4, 4, 0x1p-50, 0x1p60, nullptr, nullptr, 2'000},
    {"trigamma_near_1", BOTH(trigamma), oracle::trigamma, exact_trigamma, 4, 4, 0x1p-8, 20, nullptr, nullptr, 2'000},
    {"trigamma_left", BOTH(trigamma), oracle::trigamma, exact_trigamma, 6, 6, -200, -0x1p-20, nullptr, nullptr, 2'000},
    {"sinc", BOTH(sinc), oracle::sinc, exact_sinc, 4, 4, -0x1p20, 0x1p20},
};

#undef BOTH

}  // namespace

std::span<const Row> special_rows() { return rows; }

}  // namespace votive::numerics
