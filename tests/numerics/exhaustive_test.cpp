// The exhaustive run (exhaustive.h) sees what it is for: one wrong input among many, a wrong rounding to a half, a bound that is too small. And the f64 value
// that decides for MPFR is near enough to.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cstring>

#include "tests/numerics/exhaustive.h"
#include "votive/numerics/math.h"

namespace votive::numerics {
namespace {

const Whole& whole_named(const std::string& name) {
  static const std::vector<Whole> all = whole_functions();
  for (const Whole& function : all) {
    if (name == function.row->name) return function;
  }
  throw std::runtime_error("no function " + name);
}

/// exp, but for one input, where it is two ulp too large.
constexpr std::uint32_t wrong_input = 0x3f812345u;
void exp_wrong_once(const void* in, void* out, std::size_t n) {
  whole_named("exp").f32(in, out, n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t x, y;
    std::memcpy(&x, static_cast<const char*>(in) + 4 * i, 4);
    std::memcpy(&y, static_cast<const char*>(out) + 4 * i, 4);
    if (x == wrong_input) y += 2;
    std::memcpy(static_cast<char*>(out) + 4 * i, &y, 4);
  }
}

TEST(TheExhaustiveRun, FindsOneWrongInput) {
  Whole wrong = whole_named("exp");
  const Worst good = judge_range(wrong, wrong_input & ~0xffffu, 1 << 16);
  EXPECT_EQ(good.above, 0u);
  EXPECT_LT(good.error, 1.5);
  wrong.f32 = exp_wrong_once;
  const Worst found = judge_range(wrong, wrong_input & ~0xffffu, 1 << 16);
  EXPECT_EQ(found.above, 1u);
  EXPECT_GT(found.error, 1.5);
  EXPECT_EQ(bits_f32(static_cast<float>(found.at)), wrong_input);
}

TEST(TheExhaustiveRun, FindsANumberWhereNanIsDue) {
  Whole wrong = whole_named("log");
  wrong.f32 = [](const void* in, void* out, std::size_t n) {
    whole_named("log").f32(in, out, n);
    for (std::size_t i = 0; i < n; ++i) {
      float y;
      std::memcpy(&y, static_cast<char*>(out) + 4 * i, 4);
      if (y != y) y = 0;
      std::memcpy(static_cast<char*>(out) + 4 * i, &y, 4);
    }
  };
  EXPECT_EQ(judge_range(whole_named("log"), 0xbf800000u, 4096).above, 0u);
  EXPECT_EQ(judge_range(wrong, 0xbf800000u, 4096).above, 4096u);
}

TEST(TheExhaustiveRun, FindsAHalfThatIsOneOff) {
  Row row = *whole_named("silu").row;
  const Worst good = judge_every_half(row, Half::f16);
  EXPECT_EQ(good.above, 0u);
  EXPECT_EQ(good.inputs, 65534u);
  row.f32 = [](float x) { return x == 1.0f ? silu_f32(x) * (1 + 0x1p-11f) : silu_f32(x); };
  EXPECT_EQ(judge_every_half(row, Half::f16).above, 1u);
}

TEST(TheExhaustiveRun, FindsAWrongRoundingInF64) {
  Row row = *whole_named("exp").row;
  EXPECT_EQ(judge_f64_widely(row, 100).above, 0u);
  row.f64 = [](double x) { return x == 0x1p-3 ? std::nextafter(std::nextafter(exp_f64(x), 9), 9) : exp_f64(x); };
  EXPECT_EQ(judge_f64_widely(row, 100).above, 1u);
}

TEST(TheExhaustiveRun, HasEveryFunctionOfClassPAndAnOracleThatIsNear) {
  EXPECT_GE(whole_functions().size(), 46u);
  for (const Whole& function : whole_functions()) {
    ASSERT_NE(function.row, nullptr) << function.oracle->name;
    EXPECT_LT(distance_of_oracle(function), 0x1p-20) << function.row->name;
  }
}

}  // namespace
}  // namespace votive::numerics
