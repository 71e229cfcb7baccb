// erf and its relatives, lgamma, digamma and sinc against MPFR, in f32 and f64: within the bounds that functions_special.cpp names.
#include <mpfr.h>

#include "tests/numerics/exact.h"
#include "tests/numerics/judge.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

class SpecialFunction : public testing::TestWithParam<Row> {};
TEST_P(SpecialFunction, StaysWithinItsBound) { judge_both(GetParam()); }
INSTANTIATE_TEST_SUITE_P(All, SpecialFunction, testing::ValuesIn(special_rows().begin(), special_rows().end()), name_of);

// 1 - x down to 2^-53, where erfinv reaches 5.8.
TEST(ErfinvF64, StaysWithinItsBoundNextToOne) {
  Random random{11};
  Big want;
  double worst = 0;
  for (int i = 0; i < 2'000; ++i) {
    const double x = 1 - std::ldexp(double(random() >> 11), -54 - int(random() % 53));
    if (x == 1) continue;
    exact_erfinv_from(erfinv_f64(x), want.v, Big(x).v);
    worst = std::max(worst, error_in_ulp(erfinv_f64(x), want, 0, format_f64));
  }
  std::printf("erfinv next to 1 in f64: %.4f ulp\n", worst);
  EXPECT_LE(worst, 4);
}

}  // namespace
}  // namespace votive::numerics
