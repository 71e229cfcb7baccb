// Inverse trigonometry and the hyperbolic functions against MPFR: within the bounds of CONTRACT.md 2.3 in f32 and f64 (functions_inverse.cpp).
#include <mpfr.h>

#include "tests/numerics/judge.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

class InverseAndHyperbolic : public testing::TestWithParam<Row> {};
TEST_P(InverseAndHyperbolic, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, InverseAndHyperbolic, testing::ValuesIn(inverse_rows().begin(), inverse_rows().end()), name_of);

// The sampler takes exponents evenly; the ends of these domains are where the difficulty is.
TEST(InverseAndHyperbolic, StayWithinTheirBoundsNextToOne) {
  Random random{11};
  Big want;
  double worst[4] = {};
  for (int i = 0; i < 20'000; ++i) {
    const double d = std::ldexp(double(random() >> 11), -54 - int(random() % 53));
    mpfr_asin(want.v, Big(1 - d).v, MPFR_RNDN);
    worst[0] = std::max(worst[0], error_in_ulp(asin_f64(1 - d), want, 0, format_f64));
    mpfr_acos(want.v, Big(1 - d).v, MPFR_RNDN);
    worst[1] = std::max(worst[1], error_in_ulp(acos_f64(1 - d), want, 0, format_f64));
    mpfr_acosh(want.v, Big(1 + d).v, MPFR_RNDN);
    worst[2] = std::max(worst[2], error_in_ulp(acosh_f64(1 + d), want, 0, format_f64));
    mpfr_atanh(want.v, Big(1 - d).v, MPFR_RNDN);
    worst[3] = std::max(worst[3], error_in_ulp(atanh_f64(1 - d), want, 0, format_f64));
  }
  std::printf("next to 1 in f64: asin %.4f, acos %.4f, acosh %.4f, atanh %.4f ulp\n", worst[0], worst[1], worst[2], worst[3]);
  EXPECT_LE(worst[0], 2);
  EXPECT_LE(worst[1], 2);
  EXPECT_LE(worst[2], 3);
  EXPECT_LE(worst[3], 3);
}

}  // namespace
}  // namespace votive::numerics
