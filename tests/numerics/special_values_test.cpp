// What the f32 functions of class P must give exactly (CONTRACT.md 2.3, last column): zeros with their signs, infinities, NaN, and the rows of section 10.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/numerics/inputs.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

constexpr float inf = INFINITY;

void expect_bits(float got, float want, const char* what) {
  EXPECT_EQ(bits_f32(got), bits_f32(want)) << what << ": " << got << ", not " << want;
}

TEST(SpecialValues, OfExponentials) {
  expect_bits(exp_f32(0.0f), 1, "exp(0)");
  expect_bits(exp_f32(-0.0f), 1, "exp(-0)");
  expect_bits(exp_f32(-inf), 0, "exp(-inf)");
  expect_bits(exp_f32(inf), inf, "exp(inf)");
  expect_bits(exp_f32(0x1.62e42ep+6f), 0x1.ffff08p127f, "exp of the last number before overflow");
  expect_bits(exp_f32(0x1.62e430p+6f), inf, "exp of the next");
  expect_bits(exp_f32(-0x1.9fe368p+6f), 0x1p-149f, "exp of the last number before 0");
  expect_bits(exp_f32(-0x1.9fe36ap+6f), 0, "exp of the next");
  EXPECT_TRUE(std::isnan(exp_f32(NAN)));
  for (int k = -149; k <= 127; ++k) expect_bits(exp2_f32(float(k)), std::ldexp(1.0f, k), "exp2 of an integer");
  expect_bits(exp2_f32(128), inf, "exp2(128)");
  expect_bits(exp2_f32(-150), 0, "exp2(-150)");
  expect_bits(exp2_f32(-inf), 0, "exp2(-inf)");
  expect_bits(exp2_f32(inf), inf, "exp2(inf)");
  EXPECT_TRUE(std::isnan(exp2_f32(NAN)));
}

TEST(SpecialValues, OfLogarithms) {
  for (float (*log)(float) :
       {+[](float x) { return log_f32(x); }, +[](float x) { return log2_f32(x); }, +[](float x) { return log10_f32(x); }}) {
    expect_bits(log(0.0f), -inf, "log(0)");
    expect_bits(log(-0.0f), -inf, "log(-0)");
    expect_bits(log(1), 0, "log(1)");
    expect_bits(log(inf), inf, "log(inf)");
    EXPECT_TRUE(std::isnan(log(-1)));
    EXPECT_TRUE(std::isnan(log(-0x1p-149f)));
    EXPECT_TRUE(std::isnan(log(-inf)));
    EXPECT_TRUE(std::isnan(log(NAN)));
  }
  for (int k = -149; k <= 127; ++k) expect_bits(log2_f32(std::ldexp(1.0f, k)), float(k), "log2 of a power of two");
}

TEST(SpecialValues, OfExpm1Log1pAndSoftplus) {
  expect_bits(expm1_f32(-0.0f), -0.0f, "expm1(-0)");
  expect_bits(expm1_f32(-inf), -1, "expm1(-inf)");
  expect_bits(expm1_f32(inf), inf, "expm1(inf)");
  expect_bits(expm1_f32(0x1.62e42ep+6f), 0x1.ffff08p127f, "expm1 of the last number before overflow");
  expect_bits(log1p_f32(-0.0f), -0.0f, "log1p(-0)");
  expect_bits(log1p_f32(-1), -inf, "log1p(-1)");
  expect_bits(log1p_f32(inf), inf, "log1p(inf)");
  expect_bits(log1p_f32(0x1p-149f), 0x1p-149f, "log1p of the smallest number");
  expect_bits(softplus_f32(inf), inf, "softplus(inf)");
  expect_bits(softplus_f32(-inf), 0, "softplus(-inf)");
  expect_bits(softplus_f32(1e30f), 1e30f, "softplus(1e30)");
  for (float x : {float(NAN), -1.5f, -inf}) EXPECT_TRUE(std::isnan(log1p_f32(x)));
  EXPECT_TRUE(std::isnan(expm1_f32(NAN)));
  EXPECT_TRUE(std::isnan(softplus_f32(NAN)));
}

TEST(SpecialValues, OfTrigonometry) {
  expect_bits(sin_f32(0.0f), 0.0f, "sin(0)");
  expect_bits(sin_f32(-0.0f), -0.0f, "sin(-0)");
  expect_bits(cos_f32(0.0f), 1, "cos(0)");
  for (float x : {inf, -inf, float(NAN)}) {
    EXPECT_TRUE(std::isnan(sin_f32(x)));
    EXPECT_TRUE(std::isnan(cos_f32(x)));
  }
  expect_bits(sin_f32(0x1p-149f), 0x1p-149f, "sin of the smallest number");
  for (float x : {1.0f, 2.5f, 100.0f, 65536.0f}) {
    expect_bits(sin_moderate_f32(x), sin_f32(x), "sin_moderate within its limit");
    expect_bits(cos_moderate_f32(x), cos_f32(x), "cos_moderate within its limit");
    expect_bits(sin_f32(-x), -sin_f32(x), "sin is odd");
    expect_bits(cos_f32(-x), cos_f32(x), "cos is even");
  }
  for (float x : {65544.0f, 1e10f, 1e30f, 3e38f}) {
    expect_bits(sin_f32(-x), -sin_f32(x), "sin is odd");
    expect_bits(cos_f32(-x), cos_f32(x), "cos is even");
  }
}

TEST(SpecialValues, OfActivations) {
  expect_bits(tanh_f32(inf), 1, "tanh(inf)");
  expect_bits(tanh_f32(-inf), -1, "tanh(-inf)");
  expect_bits(tanh_f32(-0.0f), -0.0f, "tanh(-0)");
  expect_bits(erf_f32(inf), 1, "erf(inf)");
  expect_bits(erf_f32(-inf), -1, "erf(-inf)");
  expect_bits(erf_f32(-0.0f), -0.0f, "erf(-0)");
  expect_bits(erfc_f32(inf), 0, "erfc(inf)");
  expect_bits(erfc_f32(-inf), 2, "erfc(-inf)");
  expect_bits(erfc_f32(0), 1, "erfc(0)");
  expect_bits(sigmoid_f32(-inf), 0, "sigmoid(-inf)");
  expect_bits(sigmoid_f32(inf), 1, "sigmoid(inf)");
  expect_bits(sigmoid_f32(0), 0.5f, "sigmoid(0)");
  expect_bits(silu_f32(-inf), -0.0f, "silu(-inf)");
  expect_bits(silu_f32(inf), inf, "silu(inf)");
  expect_bits(silu_f32(-0x1.fffffep127f), -0.0f, "silu of the lowest number");
  expect_bits(silu_f32(-0.0f), -0.0f, "silu(-0)");
  expect_bits(gelu_f32(-inf), -0.0f, "gelu(-inf)");
  expect_bits(gelu_f32(inf), inf, "gelu(inf)");
  expect_bits(gelu_f32(-0x1.fffffep127f), -0.0f, "gelu of the lowest number");
  expect_bits(gelu_tanh_f32(-inf), -0.0f, "gelu_tanh(-inf)");
  expect_bits(gelu_tanh_f32(inf), inf, "gelu_tanh(inf)");
  expect_bits(gelu_tanh_f32(-1e30f), -0.0f, "gelu_tanh(-1e30)");
  expect_bits(gelu_tanh_f32(1e30f), 1e30f, "gelu_tanh(1e30)");
  for (float (*function)(float) :
       {+[](float x) { return tanh_f32(x); }, +[](float x) { return erf_f32(x); }, +[](float x) { return erfc_f32(x); },
        +[](float x) { return sigmoid_f32(x); }, +[](float x) { return silu_f32(x); }, +[](float x) { return gelu_f32(x); },
        +[](float x) { return gelu_tanh_f32(x); }}) {
    EXPECT_TRUE(std::isnan(function(NAN)));
    EXPECT_TRUE(std::isnan(function(-NAN)));
  }
}

// CONTRACT.md 10, row 44: 0.5 x (1 + erf(x / sqrt 2)) gives -1.4901e-6.
TEST(Gelu, OfMinusFiveKeepsItsDigits) { EXPECT_NEAR(gelu_f32(-5), -1.4332577e-6f, 1e-12f); }

TEST(Functions, AreFiniteForEveryFiniteInputWhereTheyShouldBe) {
  std::size_t bad = 0;
  each_f32(256, [&](std::uint32_t u) {
    const float x = f32_from_bits(u);
    if (!std::isfinite(x)) return;
    for (float y :
         {sigmoid_f32(x), silu_f32(x), gelu_f32(x), gelu_tanh_f32(x), tanh_f32(x), erf_f32(x), erfc_f32(x), sin_f32(x), cos_f32(x)}) {
      bad += !std::isfinite(y);
    }
    bad += !(abs_f32(tanh_f32(x)) <= 1) || !(abs_f32(erf_f32(x)) <= 1) || !(abs_f32(sin_f32(x)) <= 1) || !(abs_f32(cos_f32(x)) <= 1) ||
           !(sigmoid_f32(x) >= 0 && sigmoid_f32(x) <= 1) || !(erfc_f32(x) >= 0 && erfc_f32(x) <= 2);
  });
  EXPECT_EQ(bad, 0u);
}

}  // namespace
}  // namespace votive::numerics
