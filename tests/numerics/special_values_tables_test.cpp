// C99's Annex F tables and what PyTorch and NumPy users expect at zeros, infinities and NaN, in f32 and f64 alike: zeros with their signs, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

constexpr double inf = INFINITY, nan = NAN;
constexpr double pi = 3.14159265358979323846;

struct Of1 {
  const char* name;
  float (*f32)(float);
  double (*f64)(double);
  struct Value {
    double x, want;
  };
  std::vector<Value> values;
};
struct Of2 {
  const char* name;
  float (*f32)(float, float);
  double (*f64)(double, double);
  struct Value {
    double x, y, want;
  };
  std::vector<Value> values;
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

#define OF(name) #name, [](float v) { return name##_f32(v); }, [](double v) { return name##_f64(v); }
const Of1 of_one[] = {
    {OF(tan), {{0.0, 0.0}, {-0.0, -0.0}, {inf, nan}, {-inf, nan}}},
    {OF(asin), {{0.0, 0.0}, {-0.0, -0.0}, {1, pi / 2}, {-1, -pi / 2}, {1.5, nan}, {-inf, nan}}},
    {OF(acos), {{1, 0.0}, {-1, pi}, {-1.5, nan}, {inf, nan}}},
    {OF(atan), {{0.0, 0.0}, {-0.0, -0.0}, {inf, pi / 2}, {-inf, -pi / 2}}},
    {OF(sinh), {{0.0, 0.0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}, {1e5, inf}}},
    {OF(cosh), {{0.0, 1}, {-0.0, 1}, {inf, inf}, {-inf, inf}, {-1e5, inf}}},
    {OF(asinh), {{0.0, 0.0}, {-0.0, -0.0}, {inf, inf}, {-inf, -inf}}},
    {OF(acosh), {{1, 0.0}, {inf, inf}, {0.5, nan}, {-inf, nan}}},
    {OF(atanh), {{0.0, 0.0}, {-0.0, -0.0}, {1, inf}, {-1, -inf}, {1.5, nan}, {-inf, nan}}},
    {OF(lgamma),
     {{1, 0.0},
      {2, 0.0},
      {0.0, inf},
      {-0.0, inf},
      {-3, inf},
      {inf, inf},
      {-inf, inf},
      {3, 0.69314718055994530942},
      {0.5, 0.57236494292470008707}}},
    // as PyTorch 1.8 and SciPy
    {OF(trigamma), {{0.0, inf}, {-0.0, inf}, {-2, inf}, {inf, 0.0}, {-inf, nan}, {1, 1.6449340668482264365}, {0.5, 4.9348022005446793094}}},
    {OF(digamma), {{0.0, -inf}, {-0.0, inf}, {-2, nan}, {inf, inf}, {-inf, nan}, {1, -0.57721566490153286061}}},
    {OF(erfinv), {{0.0, 0.0}, {-0.0, -0.0}, {1, inf}, {-1, -inf}, {1.5, nan}}},
    {OF(sinc), {{0.0, 1}, {-0.0, 1}, {1, 0.0}, {-2, 0.0}, {0.5, 2 / pi}, {inf, nan}}},
    {OF(log_sigmoid), {{inf, -0.0}, {-inf, -inf}, {-1e30, -1e30}}},
    {OF(mish), {{-inf, -0.0}, {inf, inf}, {-0.0, -0.0}, {1e30, 1e30}}},
    {OF(selu), {{-0.0, -0.0}, {inf, inf}, {-inf, -1.7580993408473768599}}},
    {OF(hardswish), {{-inf, -0.0}, {inf, inf}, {3e38, 3e38}, {-4, -0.0}, {3, 3}}},
    {OF(hardsigmoid), {{-inf, 0.0}, {inf, 1}, {0, 0.5}}},
    {OF(softsign), {{inf, 1}, {-inf, -1}, {-0.0, -0.0}}},
    {OF(tanhshrink), {{inf, inf}, {-inf, -inf}, {-0.0, -0.0}}},
    {OF(relu6), {{-0.0, 0.0}, {7, 6}, {inf, 6}, {-inf, 0.0}}},
    {OF(quick_gelu), {{-inf, -0.0}, {inf, inf}, {-3e38, -0.0}, {3e38, 3e38}}},
    {OF(frac), {{-1.75, -0.75}, {3, 0.0}, {-3, 0.0}, {inf, nan}}},
    {OF(rad2deg), {{inf, inf}, {-inf, -inf}, {-0.0, -0.0}}},
    {OF(deg2rad), {{-inf, -inf}, {-0.0, -0.0}, {180, pi}}},
};
#undef OF

#define OF(name) #name, [](float v, float w) { return name##_f32(v, w); }, [](double v, double w) { return name##_f64(v, w); }
const Of2 of_two[] = {
    {OF(pow), {{0.0, -3, inf},     {0.0, -2, inf},    {0.0, -2.5, inf},      {0.0, -inf, inf}, {0.0, 3, 0.0},     {0.0, 2, 0.0},
               {0.0, 0.5, 0.0},    {0.0, inf, 0.0},   {0.0, -1, inf},        {0.0, 1, 0.0},    {-0.0, -3, -inf},  {-0.0, -2, inf},
               {-0.0, -2.5, inf},  {-0.0, -inf, inf}, {-0.0, 3, -0.0},       {-0.0, 2, 0.0},   {-0.0, 0.5, 0.0},  {-0.0, inf, 0.0},
               {-0.0, -1, -inf},   {-0.0, 1, -0.0},   {-1, inf, 1},          {-1, -inf, 1},    {1, nan, 1},       {1, inf, 1},
               {1, -inf, 1},       {1, 7.5, 1},       {1, -1e30, 1},         {1, 0.0, 1},      {nan, 0.0, 1},     {nan, -0.0, 1},
               {inf, 0.0, 1},      {inf, -0.0, 1},    {-inf, 0.0, 1},        {-inf, -0.0, 1},  {0.0, 0.0, 1},     {0.0, -0.0, 1},
               {-0.0, 0.0, 1},     {-0.0, -0.0, 1},   {-2.5, 0.0, 1},        {-2.5, -0.0, 1},  {1e30, 0.0, 1},    {1e30, -0.0, 1},
               {-8, 1.0 / 3, nan}, {-2.5, 0.5, nan},  {-1e+30, -1e-10, nan}, {0.5, -inf, inf}, {-0.5, -inf, inf}, {1.5, -inf, 0.0},
               {-1.5, -inf, 0.0},  {0.5, inf, 0.0},   {-0.5, inf, 0.0},      {1.5, inf, inf},  {-1.5, inf, inf},  {-inf, -3, -0.0},
               {-inf, -2, 0.0},    {-inf, -0.5, 0.0}, {-inf, 3, -inf},       {-inf, 2, inf},   {-inf, 0.5, inf},  {-inf, -inf, 0.0},
               {-inf, inf, inf},   {inf, -3, 0.0},    {inf, -0.5, 0.0},      {inf, 2, inf},    {inf, -inf, 0.0},  {inf, inf, inf},
               {-2, 3, -8},        {10, 3, 1000},     {2, -3, 0.125},        {nan, 1, nan},    {2, nan, nan},     {-3, nan, nan},
               {-2, 1e+30, inf},   {2, 1e+30, inf},   {-2, -1e+30, 0.0},     {-1, 1e+30, 1},   {-1, 16777215, -1}}},
    {OF(atan2), {{0.0, -0.0, pi},         {0.0, 0.0, 0.0},    {0.0, -2, pi},         {0.0, 2, 0.0},       {3, 0.0, pi / 2},
                 {3, -0.0, pi / 2},       {3, -inf, pi},      {3, inf, 0.0},         {inf, 5, pi / 2},    {inf, -5, pi / 2},
                 {inf, -inf, 3 * pi / 4}, {inf, inf, pi / 4}, {1, 1, pi / 4},        {1, -1, 3 * pi / 4}, {-0.0, -0.0, -pi},
                 {-0.0, 0.0, -0.0},       {-0.0, -2, -pi},    {-0.0, 2, -0.0},       {-3, 0.0, -pi / 2},  {-3, -0.0, -pi / 2},
                 {-3, -inf, -pi},         {-3, inf, -0.0},    {-inf, 5, -pi / 2},    {-inf, -5, -pi / 2}, {-inf, -inf, -3 * pi / 4},
                 {-inf, inf, -pi / 4},    {-1, 1, -pi / 4},   {-1, -1, -3 * pi / 4}, {nan, 1, nan},       {1, nan, nan},
                 {nan, inf, nan}}},
    {OF(hypot),
     {{3, 4, 5},
      {-3, 4, 5},
      {0.0, -0.0, 0.0},
      {-7, 0.0, 7},
      {inf, nan, inf},
      {nan, -inf, inf},
      {-inf, 2, inf},
      {nan, 2, nan},
      {2, nan, nan},
      {0x1p-149, 0.0, 0x1p-149},
      {3 * 0x1p-140, 4 * 0x1p-140, 5 * 0x1p-140},
      {3 * 0x1p120, 4 * 0x1p120, 5 * 0x1p120}}},
    {OF(logaddexp),
     {{-inf, -inf, -inf},
      {inf, -inf, inf},
      {inf, inf, inf},
      {-inf, 3, 3},
      {3, -inf, 3},
      {nan, 1, nan},
      {inf, nan, nan},
      {-inf, nan, nan},
      {3e38, -3e38, 3e38},
      {0.0, 0.0, 0.69314718055994530942},
      {1000, 1000, 1000.69314718055994531}}},
    {OF(xlogy),
     {{0.0, nan, nan},
      {0.0, inf, 0.0},
      {-0.0, -5, 0.0},
      {nan, 1, nan},
      {2, inf, inf},
      {0.0, 0.0, 0.0},
      {2, 0.0, -inf},
      {2, -1, nan},
      {2, 1, 0.0}}},
    {OF(xlog1py),
     {{0.0, nan, nan},
      {0.0, inf, 0.0},
      {-0.0, -5, 0.0},
      {nan, 1, nan},
      {2, inf, inf},
      {0.0, -1, 0.0},
      {2, -1, -inf},
      {2, -2, nan},
      {2, 0.0, 0.0}}},
    {OF(elu), {{-inf, 2, -2}, {inf, 2, inf}, {-0.0, 2, -0.0}}},
    {OF(celu), {{-inf, 2, -2}, {3, 2, 3}}},
    {OF(leaky_relu), {{-4, 0.25, -1}, {-0.0, 0.25, -0.0}, {-inf, 0.5, -inf}}},
    {OF(hardshrink), {{0.5, 0.5, 0.0}, {0.75, 0.5, 0.75}, {nan, 0.5, nan}}},
    {OF(softshrink), {{0.75, 0.5, 0.25}, {-0.75, 0.5, -0.25}, {0.25, 0.5, 0.0}, {nan, 0.5, nan}}},
    {OF(geglu), {{-inf, 2, -0.0}, {inf, 2, inf}}},
    {OF(copysign), {{3, -0.0, -3}}},
};
#undef OF

TEST(Tables, OfFunctionsOfOneNumberHold) {
  for (const Of1& row : of_one) {
    for (auto [x, want] : row.values) {
      EXPECT_PRED2(agrees<float>, row.f32(float(x)), want) << row.name << "_f32(" << x << ")";
      EXPECT_PRED2(agrees<double>, row.f64(x), want) << row.name << "_f64(" << x << ")";
    }
    EXPECT_TRUE(std::isnan(row.f32(NAN))) << row.name;
    EXPECT_TRUE(std::isnan(row.f64(NAN))) << row.name;
  }
}

TEST(Tables, OfFunctionsOfTwoNumbersHold) {
  for (const Of2& row : of_two) {
    for (auto [x, y, want] : row.values) {
      EXPECT_PRED2(agrees<float>, row.f32(float(x), float(y)), want) << row.name << "_f32(" << x << ", " << y << ")";
      EXPECT_PRED2(agrees<double>, row.f64(x, y), want) << row.name << "_f64(" << x << ", " << y << ")";
    }
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
