// The shorter texts of moderate numbers (name_moderate) have the bits of the whole ones wherever is_moderate_name allows them, and both texts agree about
// where that is. Also the steps that the whole texts share with them.
#include <gtest/gtest.h>

#include "tests/numerics/inputs.h"
#include "votive/numerics/math_f32.h"

namespace votive::numerics {
namespace {

template <class Whole, class Moderate, class IsModerate>
void expect_same(Whole whole, Moderate moderate, IsModerate is_moderate) {
  std::uint64_t count = 0, different = 0;
  f32 first = 0;
  each_f32(1 << 13, [&](std::uint32_t u) {
    const f32 x = f32_from_bits(u);
    if (!is_moderate(x)) return;
    ++count;
    if (bits_f32(whole(x)) != bits_f32(moderate(x)) && different++ == 0) first = x;
  });
  EXPECT_GT(count, 100'000u);
  EXPECT_EQ(different, 0u) << "first at " << first;
  EXPECT_FALSE(is_moderate(nan_f32()));
  EXPECT_FALSE(is_moderate(infinity_f32()));
  EXPECT_FALSE(is_moderate(-infinity_f32()));
}

#define SAME(name)                                                                               \
  expect_same([](f32 x) { return name##_f32(x); }, [](f32 x) { return name##_moderate_f32(x); }, \
              [](f32 x) { return is_moderate_##name##_f32(x); })
TEST(Moderate, ExpHasTheBitsOfTheWholeText) { SAME(exp); }
TEST(Moderate, LogHasTheBitsOfTheWholeText) { SAME(log); }
TEST(Moderate, SigmoidHasTheBitsOfTheWholeText) { SAME(sigmoid); }
TEST(Moderate, SiluHasTheBitsOfTheWholeText) { SAME(silu); }
TEST(Moderate, GeluHasTheBitsOfTheWholeText) { SAME(gelu); }
TEST(Moderate, GeluTanhHasTheBitsOfTheWholeText) { SAME(gelu_tanh); }
#undef SAME

}  // namespace
}  // namespace votive::numerics
