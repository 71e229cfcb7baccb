// The f64 functions of class P against MPFR with 200 bits: within the bound of CONTRACT.md 2.3.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

#include "tests/numerics/inputs.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

constexpr int precision = 200;

struct Big {
  mpfr_t v;
  Big() { mpfr_init2(v, precision); }
  explicit Big(double x) : Big() { mpfr_set_d(v, x, MPFR_RNDN); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(v); }
};

/// |got - want| in units of the distance of two doubles around want, at subnormal size the smallest one. A result of infinity stands for 2^1024.
double error_in_ulp(double got, const Big& want) {
  if (mpfr_nan_p(want.v)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  Big limit;
  mpfr_set_ui_2exp(limit.v, 1, 1024, MPFR_RNDN);
  const bool beyond = mpfr_cmpabs(want.v, limit.v) >= 0;
  if (beyond) return std::isinf(got) ? 0 : INFINITY;
  const long exponent = mpfr_zero_p(want.v) ? -1074 : std::max<long>(mpfr_get_exp(want.v) - 53, -1074);
  Big difference;
  if (std::isinf(got)) {
    mpfr_setsign(difference.v, limit.v, got < 0, MPFR_RNDN);
  } else {
    mpfr_set_d(difference.v, got, MPFR_RNDN);
  }
  mpfr_sub(difference.v, difference.v, want.v, MPFR_RNDN);
  mpfr_mul_2si(difference.v, difference.v, -exponent, MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.v, MPFR_RNDN));
}

void sigmoid(mpfr_t y, const mpfr_t x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}
void softplus(mpfr_t y, const mpfr_t x) {
  mpfr_exp(y, x, MPFR_RNDN);
  mpfr_log1p(y, y, MPFR_RNDN);
}
void silu(mpfr_t y, const mpfr_t x) {
  sigmoid(y, x);
  mpfr_mul(y, y, x, MPFR_RNDN);
}
void gelu(mpfr_t y, const mpfr_t x) {
  Big t;
  mpfr_sqrt_ui(t.v, 2, MPFR_RNDN);
  mpfr_div(t.v, x, t.v, MPFR_RNDN);
  mpfr_neg(t.v, t.v, MPFR_RNDN);
  mpfr_erfc(t.v, t.v, MPFR_RNDN);
  mpfr_mul(y, t.v, x, MPFR_RNDN);
  mpfr_div_ui(y, y, 2, MPFR_RNDN);
}
void gelu_tanh(mpfr_t y, const mpfr_t x) {
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
  sigmoid(y, z.v);
  mpfr_mul(y, y, x, MPFR_RNDN);
}

struct Case {
  const char* name;
  double (*function)(double);
  void (*exactly)(mpfr_t, const mpfr_t);
  double bound;
  double least, largest;  // of |x|
  double (*slack)(double) = nullptr;
};

const Case cases[] = {
    {"exp", [](double x) { return exp_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_exp(y, x, MPFR_RNDN); }, 1, 0x1p-60, 760},
    {"log", [](double x) { return log_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log(y, x, MPFR_RNDN); }, 1, 0x1p-1074,
     0x1.fffffffffffffp1023},
    {"log_near_1", [](double x) { return log_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log(y, x, MPFR_RNDN); }, 1, 0.5, 2},
    {"log2", [](double x) { return log2_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log2(y, x, MPFR_RNDN); }, 1, 0x1p-1074,
     0x1.fffffffffffffp1023},
    {"log2_near_1", [](double x) { return log2_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log2(y, x, MPFR_RNDN); }, 1, 0.5, 2},
    {"log10", [](double x) { return log10_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log10(y, x, MPFR_RNDN); }, 1, 0x1p-1074,
     0x1.fffffffffffffp1023},
    {"log10_near_1", [](double x) { return log10_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log10(y, x, MPFR_RNDN); }, 1, 0.5, 2},
    {"log1p", [](double x) { return log1p_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log1p(y, x, MPFR_RNDN); }, 1, 0x1p-80,
     0x1.fffffffffffffp1023},
    {"log1p_near_0", [](double x) { return log1p_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_log1p(y, x, MPFR_RNDN); }, 1, 0x1p-6, 1},
    {"exp2", [](double x) { return exp2_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_exp2(y, x, MPFR_RNDN); }, 1, 0x1p-60, 1080},
    {"softplus", [](double x) { return softplus_f64(x); }, softplus, 5, 0x1p-60, 760},
    {"sigmoid", [](double x) { return sigmoid_f64(x); }, sigmoid, 5, 0x1p-60, 760},
    {"silu", [](double x) { return silu_f64(x); }, silu, 6, 0x1p-60, 770},
    {"gelu_tanh", [](double x) { return gelu_tanh_f64(x); }, gelu_tanh, 6, 0x1p-60, 24,
     [](double x) { return 3.2 * std::abs(x + 0.044715 * x * x * x); }},
    {"gelu", [](double x) { return gelu_f64(x); }, gelu, 6, 0x1p-60, 39},
    {"erf", [](double x) { return erf_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_erf(y, x, MPFR_RNDN); }, 2, 0x1p-60, 7},
    {"erfc", [](double x) { return erfc_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_erfc(y, x, MPFR_RNDN); }, 3, 0x1p-60, 28},
    {"tanh", [](double x) { return tanh_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_tanh(y, x, MPFR_RNDN); }, 2, 0x1p-60, 25},
    {"expm1", [](double x) { return expm1_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_expm1(y, x, MPFR_RNDN); }, 1, 0x1p-60, 760},
    {"sin", [](double x) { return sin_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_sin(y, x, MPFR_RNDN); }, 1, 0x1p-60, 0x1p60},
    {"cos", [](double x) { return cos_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_cos(y, x, MPFR_RNDN); }, 1, 0x1p-60, 0x1p60},
    {"sin_huge", [](double x) { return sin_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_sin(y, x, MPFR_RNDN); }, 1, 0x1p60,
     0x1.fffffffffffffp1023},
    {"cos_huge", [](double x) { return cos_f64(x); }, [](mpfr_t y, const mpfr_t x) { mpfr_cos(y, x, MPFR_RNDN); }, 1, 0x1p60,
     0x1.fffffffffffffp1023},
    {"sinpi", [](double x) { return sincospi_f64(x).sin; }, [](mpfr_t y, const mpfr_t x) { mpfr_sinpi(y, x, MPFR_RNDN); }, 1.5, 0x1p-60, 4},
    {"cospi", [](double x) { return sincospi_f64(x).cos; }, [](mpfr_t y, const mpfr_t x) { mpfr_cospi(y, x, MPFR_RNDN); }, 1.5, 0x1p-60, 4},
};

class AccuracyF64 : public testing::TestWithParam<Case> {};

TEST_P(AccuracyF64, StaysWithinItsBound) {
  const Case& test = GetParam();
  Random random{5};
  double worst = 0, worst_x = 0, worst_ratio = -1;
  Big want;
  const int samples = exhaustive() ? 4'000'000 : 40'000;
  int least = 0, largest = 0;
  std::frexp(test.least, &least);
  std::frexp(test.largest, &largest);
  for (int i = 0; i < samples; ++i) {
    // exponents evenly, and half of the samples in the top eight binades, where most functions do most of their work
    const std::uint64_t r = random();
    const int low = r & 1 ? least : std::max(least, largest - 8);
    const double fraction = 0.5 + double(random() >> 11) * 0x1p-54;
    double x = std::ldexp(fraction, low + int((r >> 8) % std::uint64_t(largest - low + 1)));
    x = (r & 2) != 0 ? -x : x;
    if (std::abs(x) > test.largest || std::abs(x) < test.least) continue;
    test.exactly(want.v, Big(x).v);
    const double error = error_in_ulp(test.function(x), want);
    const double bound = test.bound + (test.slack != nullptr ? test.slack(x) : 0.0);
    if (error / bound > worst_ratio) worst_ratio = error / bound, worst = error, worst_x = x;
  }
  std::printf("%-10s worst %.4f ulp, %.3f of its bound, at %a\n", test.name, worst, worst_ratio, worst_x);
  EXPECT_GT(worst, 0.4);
  EXPECT_LE(worst_ratio, 1);
}

INSTANTIATE_TEST_SUITE_P(All, AccuracyF64, testing::ValuesIn(cases), [](const auto& instance) { return instance.param.name; });

TEST(PowPositiveF64, IsWithinTwoUlp) {
  Random random{9};
  Big want;
  double worst = 0;
  for (int i = 0; i < 60'000; ++i) {
    const double base = std::ldexp(1 + double(random() >> 12) * 0x1p-52, int(random() % 60) - 30);
    const double y = std::ldexp(double(std::int64_t(random()) >> 11), -52 - int(random() % 8) + (i % 4 == 0 ? 5 : 0));
    const Big b(base), e(y);
    mpfr_pow(want.v, b.v, e.v, MPFR_RNDN);
    worst = std::max(worst, error_in_ulp(pow_positive_f64(base, y), want));
  }
  std::printf("pow_positive worst %.4f ulp\n", worst);
  EXPECT_LE(worst, 2);
  // the frequencies of rotary positions
  for (int i = 0; i < 64; ++i) {
    for (double theta : {10000.0, 500000.0, 1000000.0}) {
      const Big b(theta), e(-double(i) / 64);
      mpfr_pow(want.v, b.v, e.v, MPFR_RNDN);
      EXPECT_LE(error_in_ulp(pow_positive_f64(theta, -double(i) / 64), want), 1);
    }
  }
}

// The double nearest to a multiple of pi/2 (Kahan; Muller, Elementary Functions, 10.2): 2^-62 or so from it.
TEST(SinF64, SurvivesTheWorstCancellation) {
  const double x = 6381956970095103.0 * 0x1p797;
  Big want;
  mpfr_cos(want.v, Big(x).v, MPFR_RNDN);
  EXPECT_LE(error_in_ulp(cos_f64(x), want), 1);
  mpfr_sin(want.v, Big(x).v, MPFR_RNDN);
  EXPECT_LE(error_in_ulp(sin_f64(x), want), 1);
  EXPECT_LT(std::abs(cos_f64(x)), 1e-18);
}

TEST(SpecialValuesF64, AreThoseOfTheTable) {
  EXPECT_EQ(bits_f64(sin_f64(-0.0)), bits_f64(-0.0));
  EXPECT_TRUE(std::isnan(sin_f64(INFINITY)));
  EXPECT_TRUE(std::isnan(cos_f64(-INFINITY)));
  EXPECT_TRUE(std::isnan(cos_f64(NAN)));
  EXPECT_EQ(tanh_f64(INFINITY), 1.0);
  EXPECT_EQ(tanh_f64(-INFINITY), -1.0);
  EXPECT_EQ(bits_f64(tanh_f64(-0.0)), bits_f64(-0.0));
  EXPECT_EQ(expm1_f64(INFINITY), INFINITY);
  EXPECT_EQ(expm1_f64(-INFINITY), -1.0);
  EXPECT_EQ(bits_f64(expm1_f64(-0.0)), bits_f64(-0.0));
  EXPECT_EQ(erf_f64(-INFINITY), -1.0);
  EXPECT_EQ(bits_f64(erf_f64(-0.0)), bits_f64(-0.0));
  EXPECT_EQ(erfc_f64(INFINITY), 0.0);
  EXPECT_EQ(erfc_f64(-INFINITY), 2.0);
  EXPECT_EQ(bits_f64(gelu_f64(-INFINITY)), bits_f64(-0.0));
  EXPECT_EQ(gelu_f64(INFINITY), INFINITY);
  EXPECT_EQ(bits_f64(gelu_f64(-1e300)), bits_f64(-0.0));
  for (double (*function)(double) :
       {+[](double x) { return tanh_f64(x); }, +[](double x) { return erf_f64(x); }, +[](double x) { return erfc_f64(x); },
        +[](double x) { return gelu_f64(x); }, +[](double x) { return expm1_f64(x); }}) {
    EXPECT_TRUE(std::isnan(function(NAN)));
  }
  EXPECT_EQ(exp_f64(0.0), 1.0);
  EXPECT_EQ(exp_f64(-0.0), 1.0);
  EXPECT_EQ(exp_f64(-INFINITY), 0.0);
  EXPECT_EQ(exp_f64(INFINITY), INFINITY);
  EXPECT_EQ(exp_f64(709.79), INFINITY);
  EXPECT_EQ(exp_f64(-745.2), 0.0);
  EXPECT_EQ(exp_f64(-745.1), 0x1p-1074);
  EXPECT_TRUE(std::isnan(exp_f64(NAN)));
  EXPECT_EQ(log_f64(0.0), -INFINITY);
  EXPECT_EQ(log_f64(-0.0), -INFINITY);
  EXPECT_EQ(bits_f64(log_f64(1.0)), 0u);
  EXPECT_EQ(log_f64(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(log_f64(-1.0)));
  EXPECT_TRUE(std::isnan(log_f64(-INFINITY)));
  EXPECT_TRUE(std::isnan(log_f64(NAN)));
  for (int k = -1074; k <= 1023; ++k) {
    EXPECT_EQ(log2_f64(std::ldexp(1.0, k)), k);
    EXPECT_EQ(exp2_f64(k), std::ldexp(1.0, k));
  }
  EXPECT_EQ(exp2_f64(1024), INFINITY);
  EXPECT_EQ(exp2_f64(-1075), 0.0);
  EXPECT_EQ(log1p_f64(-1.0), -INFINITY);
  EXPECT_EQ(bits_f64(log1p_f64(-0.0)), bits_f64(-0.0));
  EXPECT_TRUE(std::isnan(log1p_f64(-1.5)));
  EXPECT_EQ(log1p_f64(INFINITY), INFINITY);
  EXPECT_EQ(softplus_f64(-INFINITY), 0.0);
  EXPECT_EQ(softplus_f64(INFINITY), INFINITY);
  EXPECT_EQ(bits_f64(silu_f64(-INFINITY)), bits_f64(-0.0));
  EXPECT_EQ(silu_f64(INFINITY), INFINITY);
  EXPECT_EQ(sigmoid_f64(-INFINITY), 0.0);
  EXPECT_EQ(sigmoid_f64(INFINITY), 1.0);
  EXPECT_EQ(bits_f64(gelu_tanh_f64(-INFINITY)), bits_f64(-0.0));
  EXPECT_EQ(gelu_tanh_f64(INFINITY), INFINITY);
  EXPECT_EQ(gelu_tanh_f64(0x1p1000), 0x1p1000);
  EXPECT_TRUE(std::isnan(gelu_tanh_f64(NAN)));
}

}  // namespace
}  // namespace votive::numerics
