// erf and its relatives, lgamma, digamma and sinc against MPFR, in f32 and f64: the bounds of CONTRACT.md 2.3 and of numerics/gamma.h, digamma.h and erfinv.h.
#include <mpfr.h>

#include "tests/numerics/accuracy.h"
#include "tests/numerics/exact.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

// Left of 0 lgamma and digamma have zeros where terms of these sizes cancel.
double size_of_lgamma(double x) {
  const double s = std::abs(std::sin(3.14159265358979323846 * (x - std::rint(x))));
  return x > 0 ? 0 : std::max(std::abs(std::lgamma(1 - x)), std::abs(std::log(s / 3.14159265358979323846)));
}
double size_of_digamma(double x) {
  return x > 0 ? 0 : 3.14159265358979323846 / std::abs(std::tan(3.14159265358979323846 * (x - std::rint(x))));
}

double nearly_digamma(double x) { return digamma_f64(x); }
double nearly_trigamma(double x) { return trigamma_f64(x); }
double nearly_erfinv(double x) { return erfinv_f64(x); }
double nearly_lgamma(double x) { return x == std::rint(x) && x <= 0 ? INFINITY : std::lgamma(x); }
double nearly_sinc(double x) { return sinc_f64(x); }
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
    {"erfinv", BOTH(erfinv), nearly_erfinv, exact_erfinv, 4, 4, -1, 1, nullptr, nullptr, 3'000},
    {"lgamma", BOTH(lgamma), nearly_lgamma, exact_lgamma, 3, 3, 0x1p-1022, 0x1p1000, nullptr, nullptr, 10'000},
    {"lgamma_near_1", BOTH(lgamma), nearly_lgamma, exact_lgamma, 3, 3, 0x1p-8, 20, nullptr, nullptr, 10'000},
    {"lgamma_left", BOTH(lgamma), nearly_lgamma, exact_lgamma, 4, 4, -200, -0x1p-20, nullptr, size_of_lgamma, 5'000},
    {"digamma", BOTH(digamma), nearly_digamma, exact<mpfr_digamma>, 4, 4, 0x1p-120, 0x1p120, nullptr, nullptr, 10'000},
    {"digamma_near_1", BOTH(digamma), nearly_digamma, exact<mpfr_digamma>, 4, 4, 0x1p-8, 20, nullptr, nullptr, 10'000},
    {"digamma_left", BOTH(digamma), nearly_digamma, exact<mpfr_digamma>, 8, 8, -200, -0x1p-20, nullptr, size_of_digamma, 5'000},
    {"trigamma", BOTH(trigamma), nearly_trigamma, exact_trigamma, 4, 4, 0x1p-50, 0x1p60, nullptr, nullptr, 2'000},
    {"trigamma_near_1", BOTH(trigamma), nearly_trigamma, exact_trigamma, 4, 4, 0x1p-8, 20, nullptr, nullptr, 2'000},
    {"trigamma_left", BOTH(trigamma), nearly_trigamma, exact_trigamma, 6, 6, -200, -0x1p-20, nullptr, nullptr, 2'000},
    {"sinc", BOTH(sinc), nearly_sinc, exact_sinc, 4, 4, -0x1p20, 0x1p20},
};

#undef BOTH

class SpecialFunction : public testing::TestWithParam<Row> {};
TEST_P(SpecialFunction, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, SpecialFunction, testing::ValuesIn(rows), name_of);

// 1 - x down to 2^-53, where erfinv reaches 5.8.
TEST(ErfinvF64, StaysWithinItsBoundNextToOne) {
  Random random{11};
  Big want;
  double worst = 0;
  for (int i = 0; i < 2'000; ++i) {
    const double x = 1 - std::ldexp(double(random() >> 11), -54 - int(random() % 53));
    if (x == 1) continue;
    exact_erfinv(want.v, Big(x).v);
    worst = std::max(worst, error_in_ulp(erfinv_f64(x), want, 0, format_f64));
  }
  std::printf("erfinv next to 1 in f64: %.4f ulp\n", worst);
  EXPECT_LE(worst, 4);
}

}  // namespace
}  // namespace votive::numerics
