// Every f32 function of class P against MPFR: within the bound of CONTRACT.md 2.3 for every finite input. The search for the worst input takes the C library's
// f64 functions, whose error is 2^-28 of an f32 ulp; what it finds is judged by MPFR with 200 bits.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

#include "tests/numerics/inputs.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

/// The distance of two floats around y, at subnormal size the smallest subnormal; f64 holds it for every y.
double ulp_of_f32(double y) {
  int exponent = 0;
  std::frexp(y, &exponent);
  const int place = exponent - 24;
  return std::ldexp(1.0, place < -149 ? -149 : place);
}

/// An infinite result stands for 2^128, where the rounded number would be.
double finite_f32(float y) { return std::isinf(y) ? std::copysign(0x1p128, y) : double(y); }

double error_in_ulp(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isnan(got)) return INFINITY;
  if (std::abs(want) >= 0x1p128)
    return std::isinf(got) && (got > 0) == (want > 0) ? 0 : std::abs(finite_f32(got) - std::copysign(0x1p128, want)) / 0x1p104;
  return std::abs(finite_f32(got) - want) / ulp_of_f32(want);
}

/// A number of MPFR with 200 bits.
struct Big {
  mpfr_t v;
  explicit Big(double x = 0) {
    mpfr_init2(v, 200);
    mpfr_set_d(v, x, MPFR_RNDN);
  }
  Big(const Big& other) {
    mpfr_init2(v, 200);
    mpfr_set(v, other.v, MPFR_RNDN);
  }
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(v); }
};
template <int (*function)(mpfr_t, const mpfr_t, mpfr_rnd_t)>
Big apply(const Big& x) {
  Big y;
  function(y.v, x.v, MPFR_RNDN);
  return y;
}
Big operator*(const Big& a, const Big& b) {
  Big y;
  mpfr_mul(y.v, a.v, b.v, MPFR_RNDN);
  return y;
}
Big operator/(const Big& a, const Big& b) {
  Big y;
  mpfr_div(y.v, a.v, b.v, MPFR_RNDN);
  return y;
}
Big operator+(const Big& a, const Big& b) {
  Big y;
  mpfr_add(y.v, a.v, b.v, MPFR_RNDN);
  return y;
}
Big pi() {
  Big y;
  mpfr_const_pi(y.v, MPFR_RNDN);
  return y;
}
Big root(const Big& x) { return apply<mpfr_sqrt>(x); }

Big big_sigmoid(const Big& x) { return Big(1) / (Big(1) + apply<mpfr_exp>(Big(-1) * x)); }
Big big_gelu(const Big& x) { return Big(0.5) * x * apply<mpfr_erfc>(Big(-1) * x / root(Big(2))); }
Big big_gelu_tanh(const Big& x) {
  const Big z = Big(2) * root(Big(2) / pi()) * (x + Big(44715) / Big(1000000) * x * x * x);
  return x * big_sigmoid(z);
}

double sigmoid(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }
double softplus(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x))); }
double silu(double x) { return x * sigmoid(x); }
double gelu(double x) { return 0.5 * x * std::erfc(-x * 0.70710678118654752440); }
double gelu_tanh_inner(double x) { return 2 * 0.79788456080286535588 * (x + 0.044715 * x * x * x); }
double gelu_tanh(double x) { return x * sigmoid(gelu_tanh_inner(x)); }

struct Case {
  const char* name;
  float (*function)(float);
  double (*nearly)(double);
  Big (*exactly)(const Big&);
  double bound;                       // in ulp
  double (*slack)(double) = nullptr;  // what the bound grows by
  float limit = INFINITY;             // of |x|
};

double cospi(double x) {
  const double quadrant = std::rint(2 * x);
  const double r = 3.14159265358979323846 * (x - quadrant / 2);
  const int turn = int(std::int64_t(quadrant) & 3);
  return turn == 0 ? std::cos(r) : turn == 1 ? -std::sin(r) : turn == 2 ? -std::cos(r) : std::sin(r);
}
double sinpi(double x) {
  const double quadrant = std::rint(2 * x);
  const double r = 3.14159265358979323846 * (x - quadrant / 2);
  const int turn = int(std::int64_t(quadrant) & 3);
  return turn == 0 ? std::sin(r) : turn == 1 ? std::cos(r) : turn == 2 ? -std::sin(r) : -std::cos(r);
}
double gelu_tanh_slack(double x) { return 2 * std::abs(gelu_tanh_inner(x)); }

const Case cases[] = {
    {"exp", [](float x) { return exp_f32(x); }, std::exp, apply<mpfr_exp>, 1.5},
    {"exp2", [](float x) { return exp2_f32(x); }, std::exp2, apply<mpfr_exp2>, 1.5},
    {"log", [](float x) { return log_f32(x); }, std::log, apply<mpfr_log>, 1},
    {"log2", [](float x) { return log2_f32(x); }, std::log2, apply<mpfr_log2>, 1},
    {"log10", [](float x) { return log10_f32(x); }, std::log10, apply<mpfr_log10>, 1},
    {"log1p", [](float x) { return log1p_f32(x); }, std::log1p, apply<mpfr_log1p>, 1.5},
    {"expm1", [](float x) { return expm1_f32(x); }, std::expm1, apply<mpfr_expm1>, 1.5},
    {"softplus", [](float x) { return softplus_f32(x); }, softplus, [](const Big& x) { return apply<mpfr_log1p>(apply<mpfr_exp>(x)); }, 5},
    {"sin", [](float x) { return sin_f32(x); }, std::sin, apply<mpfr_sin>, 1.5},
    {"cos", [](float x) { return cos_f32(x); }, std::cos, apply<mpfr_cos>, 1.5},
    {"tanh", [](float x) { return tanh_f32(x); }, std::tanh, apply<mpfr_tanh>, 2},
    {"erf", [](float x) { return erf_f32(x); }, std::erf, apply<mpfr_erf>, 2},
    {"erfc", [](float x) { return erfc_f32(x); }, std::erfc, apply<mpfr_erfc>, 3},
    {"sigmoid", [](float x) { return sigmoid_f32(x); }, sigmoid, big_sigmoid, 5},
    {"silu", [](float x) { return silu_f32(x); }, silu, [](const Big& x) { return x * big_sigmoid(x); }, 6},
    {"gelu", [](float x) { return gelu_f32(x); }, gelu, big_gelu, 6},
    {"gelu_tanh", [](float x) { return gelu_tanh_f32(x); }, gelu_tanh, big_gelu_tanh, 6, gelu_tanh_slack},
    {"sinpi", [](float x) { return sincospi_f32(x).sin; }, sinpi, apply<mpfr_sinpi>, 1.5, nullptr, 0x1p20f},
    {"cospi", [](float x) { return sincospi_f32(x).cos; }, cospi, apply<mpfr_cospi>, 1.5, nullptr, 0x1p20f},
    {"sin_moderate", [](float x) { return sin_moderate_f32(x); }, std::sin, apply<mpfr_sin>, 1.5, nullptr, trig_limit_f32()},
    {"cos_moderate", [](float x) { return cos_moderate_f32(x); }, std::cos, apply<mpfr_cos>, 1.5, nullptr, trig_limit_f32()},
};

class AccuracyF32 : public testing::TestWithParam<Case> {};

TEST_P(AccuracyF32, StaysWithinItsBound) {
  const Case& test = GetParam();
  double worst = -1;
  double worst_ratio = -1;
  float worst_x = 0;
  each_f32(4096, [&](std::uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, 4);
    if (!std::isfinite(x) || std::abs(x) > test.limit) return;
    const double error = error_in_ulp(test.function(x), test.nearly(x));
    const double bound = test.bound + (test.slack ? test.slack(x) : 0.0);
    if (error / bound > worst_ratio) {
      worst_ratio = error / bound;
      worst = error;
      worst_x = x;
    }
  });
  const float got = test.function(worst_x);
  const Big exact = test.exactly(Big(worst_x));
  const double near = mpfr_get_d(exact.v, MPFR_RNDN);
  Big difference = Big(finite_f32(got)) + Big(-1) * exact;
  const double judged =
      std::abs(near) >= 0x1p128 ? error_in_ulp(got, near) : std::abs(mpfr_get_d(difference.v, MPFR_RNDN)) / ulp_of_f32(near);
  const double bound = test.bound + (test.slack ? test.slack(worst_x) : 0.0);
  std::printf("%-10s worst %.4f of %.2f ulp at %a (%.9g), found with %.4f\n", test.name, judged, bound, double(worst_x), double(worst_x),
              worst);
  EXPECT_LE(judged, bound);
  EXPECT_NEAR(judged, worst, 0.01);
}

INSTANTIATE_TEST_SUITE_P(All, AccuracyF32, testing::ValuesIn(cases), [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace votive::numerics
