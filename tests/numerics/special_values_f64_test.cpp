// What the f64 functions of class P must give exactly (CONTRACT.md 2.3, last column): zeros with their signs, infinities, NaN.
#include <gtest/gtest.h>

#include <cmath>

#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

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
