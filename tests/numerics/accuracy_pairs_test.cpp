// Functions of two arguments against MPFR, in f32 and f64: the bounds of CONTRACT.md 2.3 and of numerics/power.h.
#include <mpfr.h>

#include <string>

#include "tests/numerics/exact.h"
#include "tests/numerics/judge.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

struct Row2 {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  double (*nearly)(double, double);
  Exact2 exactly;
  double bound_f32, bound_f64;
  int spread;                                 // exponents of the arguments
  double (*scale)(double, double) = nullptr;  // the ulp of this counts where it is larger than the result
  int samples = 30'000;                       // in f64; fewer where MPFR takes long
};

template <int (*function)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t)>
void exact2(mpfr_t y, const mpfr_t a, const mpfr_t b) {
  function(y, a, b, MPFR_RNDN);
}
void exact_logaddexp(mpfr_t y, const mpfr_t a, const mpfr_t b) {
  Big d;
  mpfr_sub(d.v, mpfr_less_p(a, b) ? a : b, mpfr_less_p(a, b) ? b : a, MPFR_RNDN);
  exact_softplus(d.v, d.v);
  mpfr_add(y, d.v, mpfr_less_p(a, b) ? b : a, MPFR_RNDN);
}
void exact_xlogy(mpfr_t y, const mpfr_t a, const mpfr_t b) {
  Big t;
  mpfr_log(t.v, b, MPFR_RNDN);
  mpfr_mul(y, a, t.v, MPFR_RNDN);
}
void exact_xlog1py(mpfr_t y, const mpfr_t a, const mpfr_t b) {
  Big t;
  mpfr_log1p(t.v, b, MPFR_RNDN);
  mpfr_mul(y, a, t.v, MPFR_RNDN);
}
void exact_geglu(mpfr_t y, const mpfr_t a, const mpfr_t b) {
  Big t;
  exact_gelu(t.v, a);
  mpfr_mul(y, t.v, b, MPFR_RNDN);
}

double logaddexp(double a, double b) { return std::max(a, b) + std::log1p(std::exp(std::min(a, b) - std::max(a, b))); }
/// A subnormal gelu has lost digits before it is multiplied.
double smallest_times(double, double b) { return b * 0x1p-126; }
double larger(double a, double b) { return std::max(a, b); }
double xlogy(double a, double b) { return a * std::log(b); }
double xlog1py(double a, double b) { return a * std::log1p(b); }
double geglu(double a, double b) { return 0.5 * a * std::erfc(-a * 0.70710678118654752440) * b; }

#define BOTH(name) [](float x, float y) { return name##_f32(x, y); }, [](double x, double y) { return name##_f64(x, y); }

const Row2 rows[] = {
    {"pow", BOTH(pow), std::pow, exact2<mpfr_pow>, 2, 1, 8},
    {"pow_wide", BOTH(pow), std::pow, exact2<mpfr_pow>, 2, 1, 60},
    {"atan2", BOTH(atan2), std::atan2, exact2<mpfr_atan2>, 2, 2, 6},
    {"atan2_wide", BOTH(atan2), std::atan2, exact2<mpfr_atan2>, 2, 2, 120},
    {"hypot", BOTH(hypot), std::hypot, exact2<mpfr_hypot>, 1, 1, 6},
    {"hypot_wide", BOTH(hypot), std::hypot, exact2<mpfr_hypot>, 1, 1, 120},
    {"logaddexp", BOTH(logaddexp), logaddexp, exact_logaddexp, 5, 5, 6, larger},
    {"xlogy", BOTH(xlogy), xlogy, exact_xlogy, 3, 3, 20},
    {"xlog1py", BOTH(xlog1py), xlog1py, exact_xlog1py, 4, 4, 20},
    {"geglu", BOTH(geglu), geglu, exact_geglu, 7.5, 7.5, 4, smallest_times, 3'000},
};

#undef BOTH

/// A number of either sign with its exponent in -spread ... spread; some have few digits, so that exact and halfway results occur.
double sample(Random& random, int spread) {
  const std::uint64_t r = random();
  const std::uint64_t digits = (r >> 6 & 7) == 0 ? random() >> 59 << 59 : random();
  const double x = std::ldexp(1 + double(digits >> 12) * 0x1p-52, int((r >> 10) % std::uint64_t(2 * spread + 1)) - spread);
  return r & 1 ? -x : x;
}

class OfTwo : public testing::TestWithParam<Row2> {};

TEST_P(OfTwo, InF32StaysWithinItsBound) {
  const Row2& row = GetParam();
  Random random{5};
  double worst = -1;
  float worst_a = 0, worst_b = 0;
  const auto scale = [&](double a, double b) { return row.scale != nullptr ? std::abs(row.scale(a, b)) : 0.0; };
  const int samples = exhaustive() ? 400'000'000 : 1'000'000;
  for (int i = 0; i < samples; ++i) {
    const float a = float(sample(random, row.spread)), b = float(sample(random, row.spread));
    const double error = nearly_error_in_ulp(row.f32(a, b), row.nearly(a, b), scale(a, b));
    if (error > worst) worst = error, worst_a = a, worst_b = b;
  }
  Big want;
  row.exactly(want.v, Big(worst_a).v, Big(worst_b).v);
  const double judged = error_in_ulp(row.f32(worst_a, worst_b), want, scale(worst_a, worst_b), format_f32);
  std::printf("%-16s f32 worst %.4f of %.2f ulp at %a, %a\n", row.name, judged, row.bound_f32, double(worst_a), double(worst_b));
  EXPECT_LE(judged, row.bound_f32);
}

TEST_P(OfTwo, InF64StaysWithinItsBound) {
  const Row2& row = GetParam();
  Random random{6};
  double worst = -1, worst_a = 0, worst_b = 0;
  Big want, a, b;
  const int samples = exhaustive() ? 100 * row.samples : row.samples;
  for (int i = 0; i < samples; ++i) {
    const double x = sample(random, row.spread), y = sample(random, row.spread);
    mpfr_set_d(a.v, x, MPFR_RNDN);
    mpfr_set_d(b.v, y, MPFR_RNDN);
    row.exactly(want.v, a.v, b.v);
    const double error = error_in_ulp(row.f64(x, y), want, row.scale != nullptr ? std::abs(row.scale(x, y)) : 0.0, format_f64);
    if (error > worst) worst = error, worst_a = x, worst_b = y;
  }
  std::printf("%-16s f64 worst %.4f of %.2f ulp at %a, %a\n", row.name, worst, row.bound_f64, worst_a, worst_b);
  EXPECT_LE(worst, row.bound_f64);
}

INSTANTIATE_TEST_SUITE_P(All, OfTwo, testing::ValuesIn(rows), [](const auto& instance) { return std::string(instance.param.name); });

// Near 1 the exponent magnifies what the logarithm lost, and results near the ends of the range magnify it most.
TEST(Pow, IsWithinItsBoundWhereTheResultIsHugeOrTiny) {
  Random random{9};
  Big want;
  double worst_f32 = 0, worst_f64 = 0;
  for (int i = 0; i < 60'000; ++i) {
    const double base = std::ldexp(1 + double(random() >> 12) * 0x1p-52, int(random() % 3) - 1);
    const double reach = (i % 2 ? 80 : 88) + double(random() >> 11) * 0x1p-53;
    const float x = float(base), y = float((i & 2 ? reach : -reach) / std::log(double(x)));
    if (std::isfinite(y)) {
      mpfr_pow(want.v, Big(x).v, Big(y).v, MPFR_RNDN);
      worst_f32 = std::max(worst_f32, error_in_ulp(pow_f32(x, y), want, 0, format_f32));
    }
    const double e = (i & 2 ? 8 : -8) * reach / std::log(base);
    if (!std::isfinite(e)) continue;
    mpfr_pow(want.v, Big(base).v, Big(e).v, MPFR_RNDN);
    worst_f64 = std::max(worst_f64, error_in_ulp(pow_f64(base, e), want, 0, format_f64));
  }
  std::printf("pow to the ends of the range: f32 %.4f, f64 %.4f ulp\n", worst_f32, worst_f64);
  EXPECT_LE(worst_f32, 2);
  EXPECT_LE(worst_f64, 1);
}

TEST(Pow, OfMinusOneZeroOneAndTwoIsCorrectlyRounded) {
  each_sampled_f32(256, [](std::uint32_t u) {
    const float x = f32_from_bits(u);
    if (std::isnan(x)) return;
    ASSERT_EQ(bits_f32(pow_f32(x, 0)), bits_f32(1.0f));
    ASSERT_EQ(bits_f32(pow_f32(x, 1)), bits_f32(x));
    ASSERT_EQ(bits_f32(pow_f32(x, 2)), bits_f32(x * x));
    ASSERT_EQ(bits_f32(pow_f32(x, -1)), bits_f32(1 / x));
    const double d = double(x) * 1.0000000123;
    ASSERT_EQ(bits_f64(pow_f64(d, 0)), bits_f64(1.0));
    ASSERT_EQ(bits_f64(pow_f64(d, 1)), bits_f64(d));
    ASSERT_EQ(bits_f64(pow_f64(d, 2)), bits_f64(d * d));
    ASSERT_EQ(bits_f64(pow_f64(d, -1)), bits_f64(1 / d));
  });
}

// What a schoolbook says is exact comes out exactly: every whole power that the format holds.
TEST(Pow, OfWholeNumbersIsExactWhereTheResultIsANumber) {
  for (int base = 1; base < 2000; ++base) {
    double product = 1;
    for (int n = 0; product < 0x1p53; ++n, product *= base) {
      if (product <= 0x1p24) {
        ASSERT_EQ(pow_f32(float(base), float(n)), float(product)) << base << "^" << n;
        ASSERT_EQ(pow_f32(float(-base), float(n)), float(n % 2 ? -product : product)) << -base << "^" << n;
      }
      ASSERT_EQ(pow_f64(base, n), product) << base << "^" << n;
      if (base == 1 && n > 60) break;
    }
  }
}

TEST(PowPositiveF64, IsWithinTwoUlp) {
  Random random{9};
  Big want;
  double worst = 0;
  for (int i = 0; i < 60'000; ++i) {
    const double base = std::ldexp(1 + double(random() >> 12) * 0x1p-52, int(random() % 60) - 30);
    const double y = std::ldexp(double(std::int64_t(random()) >> 11), -52 - int(random() % 8) + (i % 4 == 0 ? 5 : 0));
    mpfr_pow(want.v, Big(base).v, Big(y).v, MPFR_RNDN);
    worst = std::max(worst, error_in_ulp(pow_positive_f64(base, y), want, 0, format_f64));
  }
  std::printf("pow_positive worst %.4f ulp\n", worst);
  EXPECT_LE(worst, 2);
  // the frequencies of rotary positions
  for (int i = 0; i < 64; ++i) {
    for (double theta : {10000.0, 500000.0, 1000000.0}) {
      mpfr_pow(want.v, Big(theta).v, Big(-double(i) / 64).v, MPFR_RNDN);
      EXPECT_LE(error_in_ulp(pow_positive_f64(theta, -double(i) / 64), want, 0, format_f64), 1);
    }
  }
}

}  // namespace
}  // namespace votive::numerics
