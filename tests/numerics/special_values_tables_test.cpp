// C99's Annex F tables and what PyTorch and NumPy users expect at zeros, infinities and NaN, in f32 and f64 alike: zeros with their signs, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

constexpr double inf = INFINITY, nan = NAN;
constexpr double pi = 3.14159265358979323846;

struct Of1 {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  double x, want;
};
struct Of2 {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  double x, y, want;
};

template <class T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}
/// want in T; where it is no number of T it is one that was rounded, and one ulp is left to the function.
template <class T>
bool agrees(T got, double want) {
  const T rounded = T(want);
  return same(got, rounded) ||
         (want == std::rint(want) ? false : std::abs(got - rounded) <= std::abs(rounded) * std::numeric_limits<T>::epsilon());
}

#define ROW(name, x, want)                                                                        \
  {                                                                                               \
#name, [](float v) { return name##_f32(v); }, [](double v) { return name##_f64(v); }, x, want \
  }

const Of1 of_one[] = {
    ROW(tan, 0.0, 0.0),
    ROW(tan, -0.0, -0.0),
    ROW(tan, inf, nan),
    ROW(tan, -inf, nan),
    ROW(asin, 0.0, 0.0),
    ROW(asin, -0.0, -0.0),
    ROW(asin, 1, pi / 2),
    ROW(asin, -1, -pi / 2),
    ROW(asin, 1.5, nan),
    ROW(asin, -inf, nan),
    ROW(acos, 1, 0.0),
    ROW(acos, -1, pi),
    ROW(acos, -1.5, nan),
    ROW(acos, inf, nan),
    ROW(atan, 0.0, 0.0),
    ROW(atan, -0.0, -0.0),
    ROW(atan, inf, pi / 2),
    ROW(atan, -inf, -pi / 2),
    ROW(sinh, 0.0, 0.0),
    ROW(sinh, -0.0, -0.0),
    ROW(sinh, inf, inf),
    ROW(sinh, -inf, -inf),
    ROW(sinh, 1e5, inf),
    ROW(cosh, 0.0, 1),
    ROW(cosh, -0.0, 1),
    ROW(cosh, inf, inf),
    ROW(cosh, -inf, inf),
    ROW(cosh, -1e5, inf),
    ROW(asinh, 0.0, 0.0),
    ROW(asinh, -0.0, -0.0),
    ROW(asinh, inf, inf),
    ROW(asinh, -inf, -inf),
    ROW(acosh, 1, 0.0),
    ROW(acosh, inf, inf),
    ROW(acosh, 0.5, nan),
    ROW(acosh, -inf, nan),
    ROW(atanh, 0.0, 0.0),
    ROW(atanh, -0.0, -0.0),
    ROW(atanh, 1, inf),
    ROW(atanh, -1, -inf),
    ROW(atanh, 1.5, nan),
    ROW(atanh, -inf, nan),
    ROW(lgamma, 1, 0.0),
    ROW(lgamma, 2, 0.0),
    ROW(lgamma, 0.0, inf),
    ROW(lgamma, -0.0, inf),
    ROW(lgamma, -3, inf),
    ROW(lgamma, inf, inf),
    ROW(lgamma, -inf, inf),
    ROW(lgamma, 3, 0.69314718055994530942),
    ROW(lgamma, 0.5, 0.57236494292470008707),
    ROW(digamma, 0.0, -inf),  // PyTorch 1.8 and SciPy
    ROW(digamma, -0.0, inf),
    ROW(digamma, -2, nan),
    ROW(digamma, inf, inf),
    ROW(digamma, -inf, nan),
    ROW(digamma, 1, -0.57721566490153286061),
    ROW(erfinv, 0.0, 0.0),
    ROW(erfinv, -0.0, -0.0),
    ROW(erfinv, 1, inf),
    ROW(erfinv, -1, -inf),
    ROW(erfinv, 1.5, nan),
    ROW(sinc, 0.0, 1),
    ROW(sinc, -0.0, 1),
    ROW(sinc, 1, 0.0),
    ROW(sinc, -2, 0.0),
    ROW(sinc, 0.5, 2 / pi),
    ROW(sinc, inf, nan),
    ROW(log_sigmoid, inf, -0.0),
    ROW(log_sigmoid, -inf, -inf),
    ROW(log_sigmoid, -1e30, -1e30),
    ROW(mish, -inf, -0.0),
    ROW(mish, inf, inf),
    ROW(mish, -0.0, -0.0),
    ROW(mish, 1e30, 1e30),
    ROW(selu, -0.0, -0.0),
    ROW(selu, inf, inf),
    ROW(selu, -inf, -1.7580993408473768599),
    ROW(hardswish, -inf, -0.0),
    ROW(hardswish, inf, inf),
    ROW(hardswish, 3e38, 3e38),
    ROW(hardswish, -4, -0.0),
    ROW(hardswish, 3, 3),
    ROW(hardsigmoid, -inf, 0.0),
    ROW(hardsigmoid, inf, 1),
    ROW(hardsigmoid, 0, 0.5),
    ROW(softsign, inf, 1),
    ROW(softsign, -inf, -1),
    ROW(softsign, -0.0, -0.0),
    ROW(tanhshrink, inf, inf),
    ROW(tanhshrink, -inf, -inf),
    ROW(tanhshrink, -0.0, -0.0),
    ROW(relu6, -0.0, 0.0),
    ROW(relu6, 7, 6),
    ROW(relu6, inf, 6),
    ROW(relu6, -inf, 0.0),
    ROW(quick_gelu, -inf, -0.0),
    ROW(quick_gelu, inf, inf),
    ROW(quick_gelu, -3e38, -0.0),
    ROW(quick_gelu, 3e38, 3e38),
    ROW(frac, -1.75, -0.75),
    ROW(frac, 3, 0.0),
    ROW(frac, -3, 0.0),
    ROW(frac, inf, nan),
    ROW(rad2deg, inf, inf),
    ROW(rad2deg, -inf, -inf),
    ROW(rad2deg, -0.0, -0.0),
    ROW(deg2rad, -inf, -inf),
    ROW(deg2rad, -0.0, -0.0),
    ROW(deg2rad, 180, pi),
};

#undef ROW
#define ROW(name, x, y, want)                                                                                                 \
  {                                                                                                                           \
#name, [](float v, float w) { return name##_f32(v, w); }, [](double v, double w) { return name##_f64(v, w); }, x, y, want \
  }

const Of2 of_two[] = {
    ROW(pow, 0.0, -3, inf),
    ROW(pow, 0.0, -2, inf),
    ROW(pow, 0.0, -2.5, inf),
    ROW(pow, 0.0, -inf, inf),
    ROW(pow, 0.0, 3, 0.0),
    ROW(pow, 0.0, 2, 0.0),
    ROW(pow, 0.0, 0.5, 0.0),
    ROW(pow, 0.0, inf, 0.0),
    ROW(pow, 0.0, -1, inf),
    ROW(pow, 0.0, 1, 0.0),
    ROW(pow, -0.0, -3, -inf),
    ROW(pow, -0.0, -2, inf),
    ROW(pow, -0.0, -2.5, inf),
    ROW(pow, -0.0, -inf, inf),
    ROW(pow, -0.0, 3, -0.0),
    ROW(pow, -0.0, 2, 0.0),
    ROW(pow, -0.0, 0.5, 0.0),
    ROW(pow, -0.0, inf, 0.0),
    ROW(pow, -0.0, -1, -inf),
    ROW(pow, -0.0, 1, -0.0),
    ROW(pow, -1, inf, 1),
    ROW(pow, -1, -inf, 1),
    ROW(pow, 1, nan, 1),
    ROW(pow, 1, inf, 1),
    ROW(pow, 1, -inf, 1),
    ROW(pow, 1, 7.5, 1),
    ROW(pow, 1, -1e30, 1),
    ROW(pow, 1, 0.0, 1),
    ROW(pow, nan, 0.0, 1),
    ROW(pow, nan, -0.0, 1),
    ROW(pow, inf, 0.0, 1),
    ROW(pow, inf, -0.0, 1),
    ROW(pow, -inf, 0.0, 1),
    ROW(pow, -inf, -0.0, 1),
    ROW(pow, 0.0, 0.0, 1),
    ROW(pow, 0.0, -0.0, 1),
    ROW(pow, -0.0, 0.0, 1),
    ROW(pow, -0.0, -0.0, 1),
    ROW(pow, -2.5, 0.0, 1),
    ROW(pow, -2.5, -0.0, 1),
    ROW(pow, 1e30, 0.0, 1),
    ROW(pow, 1e30, -0.0, 1),
    ROW(pow, -8, 1.0 / 3, nan),
    ROW(pow, -2.5, 0.5, nan),
    ROW(pow, -1e+30, -1e-10, nan),
    ROW(pow, 0.5, -inf, inf),
    ROW(pow, -0.5, -inf, inf),
    ROW(pow, 1.5, -inf, 0.0),
    ROW(pow, -1.5, -inf, 0.0),
    ROW(pow, 0.5, inf, 0.0),
    ROW(pow, -0.5, inf, 0.0),
    ROW(pow, 1.5, inf, inf),
    ROW(pow, -1.5, inf, inf),
    ROW(pow, -inf, -3, -0.0),
    ROW(pow, -inf, -2, 0.0),
    ROW(pow, -inf, -0.5, 0.0),
    ROW(pow, -inf, 3, -inf),
    ROW(pow, -inf, 2, inf),
    ROW(pow, -inf, 0.5, inf),
    ROW(pow, -inf, -inf, 0.0),
    ROW(pow, -inf, inf, inf),
    ROW(pow, inf, -3, 0.0),
    ROW(pow, inf, -0.5, 0.0),
    ROW(pow, inf, 2, inf),
    ROW(pow, inf, -inf, 0.0),
    ROW(pow, inf, inf, inf),
    ROW(pow, -2, 3, -8),
    ROW(pow, 10, 3, 1000),
    ROW(pow, 2, -3, 0.125),
    ROW(pow, nan, 1, nan),
    ROW(pow, 2, nan, nan),
    ROW(pow, -3, nan, nan),
    ROW(pow, -2, 1e+30, inf),
    ROW(pow, 2, 1e+30, inf),
    ROW(pow, -2, -1e+30, 0.0),
    ROW(pow, -1, 1e+30, 1),
    ROW(pow, -1, 16777215, -1),
    ROW(atan2, 0.0, -0.0, pi),
    ROW(atan2, 0.0, 0.0, 0.0),
    ROW(atan2, 0.0, -2, pi),
    ROW(atan2, 0.0, 2, 0.0),
    ROW(atan2, 3, 0.0, pi / 2),
    ROW(atan2, 3, -0.0, pi / 2),
    ROW(atan2, 3, -inf, pi),
    ROW(atan2, 3, inf, 0.0),
    ROW(atan2, inf, 5, pi / 2),
    ROW(atan2, inf, -5, pi / 2),
    ROW(atan2, inf, -inf, 3 * pi / 4),
    ROW(atan2, inf, inf, pi / 4),
    ROW(atan2, 1, 1, pi / 4),
    ROW(atan2, 1, -1, 3 * pi / 4),
    ROW(atan2, -0.0, -0.0, -pi),
    ROW(atan2, -0.0, 0.0, -0.0),
    ROW(atan2, -0.0, -2, -pi),
    ROW(atan2, -0.0, 2, -0.0),
    ROW(atan2, -3, 0.0, -pi / 2),
    ROW(atan2, -3, -0.0, -pi / 2),
    ROW(atan2, -3, -inf, -pi),
    ROW(atan2, -3, inf, -0.0),
    ROW(atan2, -inf, 5, -pi / 2),
    ROW(atan2, -inf, -5, -pi / 2),
    ROW(atan2, -inf, -inf, -3 * pi / 4),
    ROW(atan2, -inf, inf, -pi / 4),
    ROW(atan2, -1, 1, -pi / 4),
    ROW(atan2, -1, -1, -3 * pi / 4),
    ROW(atan2, nan, 1, nan),
    ROW(atan2, 1, nan, nan),
    ROW(atan2, nan, inf, nan),
    ROW(hypot, 3, 4, 5),
    ROW(hypot, -3, 4, 5),
    ROW(hypot, 0.0, -0.0, 0.0),
    ROW(hypot, -7, 0.0, 7),
    ROW(hypot, inf, nan, inf),
    ROW(hypot, nan, -inf, inf),
    ROW(hypot, -inf, 2, inf),
    ROW(hypot, nan, 2, nan),
    ROW(hypot, 2, nan, nan),
    ROW(hypot, 0x1p-149, 0.0, 0x1p-149),
    ROW(hypot, 3 * 0x1p-140, 4 * 0x1p-140, 5 * 0x1p-140),
    ROW(hypot, 3 * 0x1p120, 4 * 0x1p120, 5 * 0x1p120),
    ROW(logaddexp, -inf, -inf, -inf),
    ROW(logaddexp, inf, -inf, inf),
    ROW(logaddexp, inf, inf, inf),
    ROW(logaddexp, -inf, 3, 3),
    ROW(logaddexp, 3, -inf, 3),
    ROW(logaddexp, nan, 1, nan),
    ROW(logaddexp, inf, nan, nan),
    ROW(logaddexp, -inf, nan, nan),
    ROW(logaddexp, 3e38, -3e38, 3e38),
    ROW(logaddexp, 0.0, 0.0, 0.69314718055994530942),
    ROW(logaddexp, 1000, 1000, 1000.69314718055994531),
    ROW(xlogy, 0.0, nan, nan),
    ROW(xlogy, 0.0, inf, 0.0),
    ROW(xlogy, -0.0, -5, 0.0),
    ROW(xlogy, nan, 1, nan),
    ROW(xlogy, 2, inf, inf),
    ROW(xlog1py, 0.0, nan, nan),
    ROW(xlog1py, 0.0, inf, 0.0),
    ROW(xlog1py, -0.0, -5, 0.0),
    ROW(xlog1py, nan, 1, nan),
    ROW(xlog1py, 2, inf, inf),
    ROW(xlogy, 0.0, 0.0, 0.0),
    ROW(xlogy, 2, 0.0, -inf),
    ROW(xlogy, 2, -1, nan),
    ROW(xlogy, 2, 1, 0.0),
    ROW(xlog1py, 0.0, -1, 0.0),
    ROW(xlog1py, 2, -1, -inf),
    ROW(xlog1py, 2, -2, nan),
    ROW(xlog1py, 2, 0.0, 0.0),
    ROW(elu, -inf, 2, -2),
    ROW(elu, inf, 2, inf),
    ROW(elu, -0.0, 2, -0.0),
    ROW(celu, -inf, 2, -2),
    ROW(celu, 3, 2, 3),
    ROW(leaky_relu, -4, 0.25, -1),
    ROW(leaky_relu, -0.0, 0.25, -0.0),
    ROW(leaky_relu, -inf, 0.5, -inf),
    ROW(hardshrink, 0.5, 0.5, 0.0),
    ROW(hardshrink, 0.75, 0.5, 0.75),
    ROW(hardshrink, nan, 0.5, nan),
    ROW(softshrink, 0.75, 0.5, 0.25),
    ROW(softshrink, -0.75, 0.5, -0.25),
    ROW(softshrink, 0.25, 0.5, 0.0),
    ROW(softshrink, nan, 0.5, nan),
    ROW(geglu, -inf, 2, -0.0),
    ROW(geglu, inf, 2, inf),
    ROW(copysign, 3, -0.0, -3),
};

#undef ROW

TEST(Tables, OfFunctionsOfOneNumberHold) {
  for (const Of1& row : of_one) {
    EXPECT_PRED2(agrees<float>, row.f32(float(row.x)), row.want) << row.name << "_f32(" << row.x << ")";
    EXPECT_PRED2(agrees<double>, row.f64(row.x), row.want) << row.name << "_f64(" << row.x << ")";
    EXPECT_TRUE(std::isnan(row.f32(NAN))) << row.name;
    EXPECT_TRUE(std::isnan(row.f64(NAN))) << row.name;
  }
}

TEST(Tables, OfFunctionsOfTwoNumbersHold) {
  for (const Of2& row : of_two) {
    EXPECT_PRED2(agrees<float>, row.f32(float(row.x), float(row.y)), row.want) << row.name << "_f32(" << row.x << ", " << row.y << ")";
    EXPECT_PRED2(agrees<double>, row.f64(row.x, row.y), row.want) << row.name << "_f64(" << row.x << ", " << row.y << ")";
  }
}

// The largest results before overflow, and what follows.
TEST(Tables, EndWhereTheFormatEnds) {
  EXPECT_EQ(sinh_f32(0x1.65a9fap6f), INFINITY);
  EXPECT_LT(sinh_f32(0x1.65a9f8p6f), INFINITY);
  EXPECT_LT(cosh_f64(0x1.633ce8fb9f87dp9), INFINITY);
  EXPECT_EQ(cosh_f64(0x1.633ce8fb9f87ep9), INFINITY);
  EXPECT_EQ(pow_f32(2, 127), 0x1p127f);
  EXPECT_EQ(pow_f32(2, 128), INFINITY);
  EXPECT_EQ(pow_f32(2, -149), 0x1p-149f);
  EXPECT_EQ(pow_f32(2, -151), 0);
  EXPECT_EQ(pow_f64(2, -1074), 0x1p-1074);
  EXPECT_EQ(pow_f64(2, 1023), 0x1p1023);
  EXPECT_EQ(pow_f64(2, 1024), INFINITY);
  EXPECT_EQ(lgamma_f32(5e36f), INFINITY);
  EXPECT_LT(lgamma_f32(4e36f), INFINITY);
  EXPECT_EQ(asinh_f32(3e38f), float(std::asinh(double(3e38f))));
}

TEST(Classification, SeesTheBits) {
  EXPECT_EQ(isnan_f32(NAN) + isnan_f64(NAN), 2);
  EXPECT_EQ(isnan_f32(INFINITY) + isnan_f64(0), 0);
  EXPECT_EQ(isinf_f32(-INFINITY) + isinf_f64(INFINITY), 2);
  EXPECT_EQ(isinf_f32(NAN) + isinf_f64(1e308), 0);
  EXPECT_EQ(isfinite_f32(0x1p-149f) + isfinite_f64(-1e308), 2);
  EXPECT_EQ(isfinite_f32(NAN) + isfinite_f64(-INFINITY), 0);
  EXPECT_EQ(signbit_f32(-0.0f) + signbit_f64(-INFINITY) + signbit_f32(f32_from_bits(0xffc00000u)), 3);
  EXPECT_EQ(signbit_f32(0.0f) + signbit_f64(3), 0);
}

TEST(Nextafter, IsTheCLibrarys) {
  const float telling[] = {0.0f,     -0.0f,     0x1p-149f, -0x1p-149f, 1,   -1, 0x1.fffffep127f, -0x1.fffffep127f,
                           INFINITY, -INFINITY, NAN,       0x1p-126f,  2.5f};
  for (float a : telling) {
    for (float b : telling) {
      EXPECT_TRUE(same(nextafter_f32(a, b), std::nextafter(a, b))) << a << " " << b;
      EXPECT_TRUE(same(nextafter_f64(a, b), std::nextafter(double(a), double(b)))) << a << " " << b;
    }
  }
}

TEST(Lerp, ReachesBothEnds) {
  for (float a : {1.0f, -3.0f, 1e30f, 0.1f}) {
    for (float b : {2.0f, 1e-30f, -1e20f, 0.3f}) {
      EXPECT_EQ(lerp_f32(a, b, 0), a);
      EXPECT_EQ(lerp_f32(a, b, 1), b);
      EXPECT_EQ(lerp_f64(a, b, 0), a);
      EXPECT_EQ(lerp_f64(a, b, 1), b);
    }
  }
  EXPECT_EQ(lerp_f32(1, 3, 0.5f), 2);
  EXPECT_EQ(lerp_f32(0, 10, 0.25f), 2.5f);
  EXPECT_EQ(lerp_f32(0, 10, 2), 20);
}

// CONTRACT.md 2.2: one rounding. (1 + 2^-12)^2 - 1 has digits that the rounded product loses.
TEST(Addcmul, RoundsOnce) {
  const float x = 1 + 0x1p-12f;
  EXPECT_EQ(addcmul_f32(-1, x, x, 1), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(addcmul_f32(1, 2, 3, 0.5f), 4);
  EXPECT_EQ(addcdiv_f32(1, 3, 4, 2), 2.5f);
  EXPECT_EQ(addcmul_f64(1, 2, 3, 0.5), 4);
  EXPECT_EQ(addcdiv_f64(1, 3, 4, 2), 2.5);
}

}  // namespace
}  // namespace votive::numerics
