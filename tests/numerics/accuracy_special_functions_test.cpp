// erf and its relatives, lgamma, digamma and sinc against MPFR, in f32 and f64: the bounds of CONTRACT.md 2.3 and of numerics/gamma.h.
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
double nearly_erfinv(double x) { return erfinv_f64(x); }
double nearly_lgamma(double x) { return x == std::rint(x) && x <= 0 ? INFINITY : std::lgamma(x); }
double nearly_sinc(double x) { return sinc_f64(x); }
void exact_erfinv(mpfr_t y, const mpfr_t x) { exact_erfinv_from(erfinv_f64(mpfr_get_d(x, MPFR_RNDN)), y, x); }

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
