// Exponentials, logarithms and trigonometry against MPFR: within the bounds of CONTRACT.md 2.3 in f32 and f64 (functions_elementary.cpp).
#include <mpfr.h>

#include "tests/numerics/judge.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

class Elementary : public testing::TestWithParam<Row> {};
TEST_P(Elementary, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, Elementary, testing::ValuesIn(elementary_rows().begin(), elementary_rows().end()), name_of);

// The double nearest to a multiple of pi/2 (Kahan; Muller, Elementary Functions, 10.2): 2^-62 or so from it.
TEST(SinF64, SurvivesTheWorstCancellation) {
  const double x = 6381956970095103.0 * 0x1p797;
  Big want;
  mpfr_cos(want.v, Big(x).v, MPFR_RNDN);
  EXPECT_LE(error_in_ulp(cos_f64(x), want, 0, format_f64), 1);
  mpfr_sin(want.v, Big(x).v, MPFR_RNDN);
  EXPECT_LE(error_in_ulp(sin_f64(x), want, 0, format_f64), 1);
  mpfr_tan(want.v, Big(x).v, MPFR_RNDN);
  EXPECT_LE(error_in_ulp(tan_f64(x), want, 0, format_f64), 2);
  EXPECT_LT(std::abs(cos_f64(x)), 1e-18);
}

}  // namespace
}  // namespace votive::numerics
