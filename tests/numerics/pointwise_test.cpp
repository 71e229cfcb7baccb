// Class E pointwise operations: integers against 128-bit arithmetic, floats against the tables of CONTRACT.md 2.2 and, for fmod, the C library's exact one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/numerics/inputs.h"
#include "votive/numerics/pointwise.h"

namespace votive::numerics {
namespace {

constexpr float inf = INFINITY;
constexpr float nan = NAN;
constexpr i64 min64 = std::numeric_limits<i64>::min();
constexpr i64 max64 = std::numeric_limits<i64>::max();
__extension__ typedef __int128 Wide;

bool same(float a, float b) { return (std::isnan(a) && std::isnan(b)) || bits_f32(a) == bits_f32(b); }
bool same(double a, double b) { return (std::isnan(a) && std::isnan(b)) || bits_f64(a) == bits_f64(b); }

const float corners[] = {0.0f,
                         -0.0f,
                         1,
                         -1,
                         2,
                         -2,
                         0.5f,
                         -0.5f,
                         1.5f,
                         2.5f,
                         -2.5f,
                         0x1p-149f,
                         -0x1p-149f,
                         0x1p-126f,
                         0x1.fffffcp-127f,
                         0x1.fffffep127f,
                         -0x1.fffffep127f,
                         inf,
                         -inf,
                         nan,
                         3,
                         10,
                         0.1f,
                         0.3f,
                         1e-30f,
                         -1e-30f,
                         1e30f,
                         16777216,
                         16777218,
                         8388607.5f};

// An operation in at least 2p + 2 bits, rounded to p, is that operation rounded once (Figueroa 1995): f64 for f32, quadruple precision for f64.
#if defined(__x86_64__)
__extension__ typedef __float128 Quadruple;
#else
typedef long double Quadruple;  // AArch64's has 113 bits
#endif

template <class T, class Wider>
void expect_one_rounding(T a, T b, T sum, T difference, T product, T quotient) {
  const auto x = static_cast<Wider>(a), y = static_cast<Wider>(b);
  ASSERT_TRUE(same(sum, static_cast<T>(x + y))) << std::hexfloat << a << " + " << b;
  ASSERT_TRUE(same(difference, static_cast<T>(x - y))) << std::hexfloat << a << " - " << b;
  ASSERT_TRUE(same(product, static_cast<T>(x * y))) << std::hexfloat << a << " * " << b;
  ASSERT_TRUE(same(quotient, static_cast<T>(x / y))) << std::hexfloat << a << " / " << b;
}
void expect_one_rounding(float a, float b) {
  expect_one_rounding<float, double>(a, b, add_f32(a, b), sub_f32(a, b), mul_f32(a, b), div_f32(a, b));
  ASSERT_TRUE(same(recip_f32(b), float(1 / double(b)))) << std::hexfloat << b;
  ASSERT_TRUE(same(rsqrt_f32(b), float(1 / double(float(std::sqrt(double(b))))))) << std::hexfloat << b;
}
void expect_one_rounding(double a, double b) {
  expect_one_rounding<double, Quadruple>(a, b, add_f64(a, b), sub_f64(a, b), mul_f64(a, b), div_f64(a, b));
  ASSERT_TRUE(same(recip_f64(b), static_cast<double>(static_cast<Quadruple>(1) / b))) << std::hexfloat << b;
}

TEST(Arithmetic, IsRoundedOnce) {
  for (float a : corners) {
    for (float b : corners) expect_one_rounding(a, b), expect_one_rounding(double(a), double(b));
  }
  for (int n = 1; n <= 20'000; ++n) expect_one_rounding(float(n), 3.0f);  // x * (1/3) differs at every third
  Random random{3};
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t r = random(), near = random();
    expect_one_rounding(f32_from_bits(u32(r)), f32_from_bits(u32(r >> 32)));
    expect_one_rounding(f32_from_bits(u32(r)), f32_from_bits((u32(r) & 0x7f800000u) ^ u32(near >> 39)));  // of one magnitude: cancellation
    expect_one_rounding(f64_from_bits(r), f64_from_bits(i % 2 != 0 ? near : (r & 0x7ff0000000000000u) ^ near >> 10));
    if (HasFatalFailure()) return;
  }
}

// 754-2019: the order is -inf < ... < -0 < +0 < ... < inf; a number that falls on both sides of NaN is decided by the rule's name.
TEST(Minimum, OrdersZerosAndKeepsNan) {
  const auto order = [](float x) { return x == 0 ? (std::signbit(x) ? -0x1p-160 : 0x1p-160) : double(x); };
  for (float a : corners) {
    for (float b : corners) {
      const bool any_nan = std::isnan(a) || std::isnan(b);
      const float low = order(a) < order(b) ? a : b;
      const float high = order(a) > order(b) ? a : b;
      EXPECT_TRUE(same(minimum_f32(a, b), any_nan ? nan : low)) << a << " " << b;
      EXPECT_TRUE(same(maximum_f32(a, b), any_nan ? nan : high)) << a << " " << b;
      EXPECT_TRUE(same(minimum_f64(a, b), any_nan ? double(nan) : double(low))) << a << " " << b;
      EXPECT_TRUE(same(maximum_f64(a, b), any_nan ? double(nan) : double(high))) << a << " " << b;
      const float low_number = std::isnan(a) ? b : std::isnan(b) ? a : low;
      const float high_number = std::isnan(a) ? b : std::isnan(b) ? a : high;
      EXPECT_TRUE(same(fmin_f32(a, b), low_number)) << a << " " << b;
      EXPECT_TRUE(same(fmax_f32(a, b), high_number)) << a << " " << b;
      EXPECT_TRUE(same(fmin_f64(a, b), double(low_number))) << a << " " << b;
      EXPECT_TRUE(same(fmax_f64(a, b), double(high_number))) << a << " " << b;
    }
  }
}

TEST(Clamp, WithLimitsTheWrongWayRoundGivesTheUpper) {
  EXPECT_EQ(clamp_f32(5, 3, 1), 1);
  EXPECT_EQ(clamp_f32(-5, 3, 1), 1);
  EXPECT_EQ(clamp_i64(2, 5, -5), -5);
  EXPECT_TRUE(std::isnan(clamp_f32(nan, 0, 1)));
  EXPECT_TRUE(std::isnan(clamp_f32(0, nan, 1)));
  EXPECT_TRUE(std::isnan(clamp_f32(0, 0, nan)));
}

// CONTRACT.md 10, rows 24 and 25.
TEST(Rounding, IsHalfToEvenAndKeepsZeros) {
  EXPECT_TRUE(same(round_f32(0.5f), 0.0f));
  EXPECT_TRUE(same(round_f32(1.5f), 2.0f));
  EXPECT_TRUE(same(round_f32(2.5f), 2.0f));
  EXPECT_TRUE(same(round_f32(-0.5f), -0.0f));
  EXPECT_TRUE(same(ceil_f32(-0.5f), -0.0f));
  EXPECT_TRUE(same(trunc_f32(-0.9f), -0.0f));
  EXPECT_TRUE(same(floor_f32(-0.0f), -0.0f));
  EXPECT_TRUE(same(round_f64(-inf), double(-inf)));
  EXPECT_TRUE(same(sign_f32(nan), nan));
  EXPECT_TRUE(same(sign_f32(-0.0f), -0.0f));
  EXPECT_TRUE(same(sign_f32(-3.0f), -1.0f));
  EXPECT_TRUE(same(relu_f32(nan), nan));
  EXPECT_TRUE(same(relu_f32(-0.0f), 0.0f));
  EXPECT_TRUE(same(relu_f32(-inf), 0.0f));
  EXPECT_TRUE(same(rsqrt_f32(-0.0f), -inf));
  EXPECT_TRUE(same(rsqrt_f32(inf), 0.0f));
  EXPECT_TRUE(same(recip_f32(-0.0f), -inf));
}

TEST(BitOperations, ActOnNanAsItIs) {
  EXPECT_EQ(bits_f32(neg_f32(f32_from_bits(0x7fc12345u))), 0xffc12345u);
  EXPECT_EQ(bits_f32(abs_f32(f32_from_bits(0xffa12345u))), 0x7fa12345u);
  EXPECT_EQ(bits_f64(neg_f64(f64_from_bits(0x7ff0000000000001u))), 0xfff0000000000001u);
  EXPECT_EQ(bits_f32(copysign_f32(f32_from_bits(0x7fc12345u), -1)), 0xffc12345u);
}

TEST(Fmod, IsExactForAllCornersAndRandomBits) {
  Random random{2};
  std::vector<std::pair<float, float>> pairs;
  for (float a : corners) {
    for (float b : corners) pairs.emplace_back(a, b);
  }
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t r = random();
    pairs.emplace_back(f32_from_bits(u32(r)), f32_from_bits(i % 2 ? u32(r >> 32) : (u32(r) & 0x7f800000u) ^ u32(r >> 40)));
  }
  for (auto [a, b] : pairs) {
    ASSERT_TRUE(same(fmod_f32(a, b), std::fmod(a, b))) << std::hexfloat << a << " " << b << " " << fmod_f32(a, b);
  }
  for (int i = 0; i < 100'000; ++i) {
    const double a = f64_from_bits(random());
    const double b = i % 2 ? f64_from_bits(random()) : std::ldexp(a, -int(random() % 200)) * 1.2345;
    ASSERT_TRUE(same(fmod_f64(a, b), std::fmod(a, b))) << std::hexfloat << a << " " << b << " " << fmod_f64(a, b);
  }
  EXPECT_TRUE(same(fmod_f64(0x1.fffffffffffffp1023, 0x1p-1074), 0.0));
}

// CPython's float_divmod is the definition; rows 26 to 28 are CONTRACT.md 10.
TEST(FloorDivision, IsPythons) {
  EXPECT_EQ(floor_div_f64(1.0, 0.1), 9);
  EXPECT_EQ(floor_div_f32(-1, inf), -1);
  EXPECT_EQ(remainder_f32(-1, inf), inf);
  EXPECT_TRUE(same(remainder_f32(-0.0f, 1), 0.0f));
  EXPECT_TRUE(same(remainder_f32(0.0f, -1), -0.0f));
  EXPECT_EQ(remainder_f32(-1e-30f, 1), 1);
  EXPECT_TRUE(std::isnan(remainder_f32(5, 0)));
  EXPECT_TRUE(same(floor_div_f32(1, inf), 0.0f));
  EXPECT_TRUE(std::isnan(floor_div_f32(inf, 1)));
  EXPECT_EQ(floor_div_f32(5, 0), inf);
  EXPECT_EQ(floor_div_f32(-5, 0), -inf);
  EXPECT_TRUE(std::isnan(floor_div_f32(0, 0)));
  EXPECT_TRUE(same(floor_div_f32(-0.0f, 3), -0.0f));
  EXPECT_EQ(floor_div_f32(7, 2), 3);
  EXPECT_EQ(floor_div_f32(-7, 2), -4);
  EXPECT_EQ(remainder_f32(-7, 2), 1);
  EXPECT_EQ(remainder_f32(7, -2), -1);
  EXPECT_EQ(div_trunc_f32(-7, 2), -3);
  Random random{12};
  for (int i = 0; i < 100'000; ++i) {
    const i64 a = i64(random() % 20001) - 10000;
    const i64 b = i64(random() % 200) - 100;
    if (b == 0) continue;
    const i64 q = a / b - ((a % b != 0) && ((a < 0) != (b < 0)));
    ASSERT_EQ(floor_div_f32(float(a), float(b)), float(q));
    ASSERT_EQ(remainder_f32(float(a), float(b)), float(a - q * b));
  }
}

const i64 telling[] = {0,   1,    -1,    2,          -2,          7,          -7,    10,        127,   -128,      255,
                       256, -129, 65535, 2147483647, -2147483648, 4294967296, max64, max64 - 1, min64, min64 + 1, min64 + 2};

TEST(Integers, WrapAndDivideAsTheTableSays) {
  std::vector<i64> values(std::begin(telling), std::end(telling));
  Random random{1};
  for (int i = 0; i < 200; ++i) values.push_back(i64(random()) >> random() % 64);
  for (i64 a : values) {
    for (i64 b : values) {
      ASSERT_EQ(add_i64(a, b), i64(u64(Wide(a) + b)));
      ASSERT_EQ(sub_i64(a, b), i64(u64(Wide(a) - b)));
      ASSERT_EQ(mul_i64(a, b), i64(u64(Wide(a) * b)));
      ASSERT_EQ(eq_i64_u64(a, u64(b)), Wide(a) == Wide(u64(b)));
      ASSERT_EQ(ne_i64_u64(a, u64(b)), Wide(a) != Wide(u64(b)));
      ASSERT_EQ(lt_i64_u64(a, u64(b)), Wide(a) < Wide(u64(b)));
      ASSERT_EQ(le_i64_u64(a, u64(b)), Wide(a) <= Wide(u64(b)));
      ASSERT_EQ(gt_i64_u64(a, u64(b)), Wide(a) > Wide(u64(b)));
      ASSERT_EQ(ge_i64_u64(a, u64(b)), Wide(a) >= Wide(u64(b)));
      if (b == 0) {
        ASSERT_EQ(div_trunc_i64(a, b), 0);
        ASSERT_EQ(fmod_i64(a, b), 0);
        ASSERT_EQ(floor_div_i64(a, b), 0);
        ASSERT_EQ(remainder_i64(a, b), 0);
        ASSERT_EQ(div_trunc_u64(u64(a), u64(b)), 0u);
        ASSERT_EQ(remainder_u64(u64(a), u64(b)), 0u);
        continue;
      }
      const Wide q = Wide(a) / b;
      const Wide r = Wide(a) % b;
      const bool lower = r != 0 && (r < 0) != (b < 0);
      ASSERT_EQ(div_trunc_i64(a, b), i64(u64(q))) << a << " " << b;
      ASSERT_EQ(fmod_i64(a, b), i64(r));
      ASSERT_EQ(floor_div_i64(a, b), i64(u64(q - lower)));
      ASSERT_EQ(remainder_i64(a, b), i64(lower ? r + b : r));
      ASSERT_EQ(div_trunc_u64(u64(a), u64(b)), u64(a) / u64(b));
      ASSERT_EQ(fmod_u64(u64(a), u64(b)), u64(a) % u64(b));
    }
    ASSERT_EQ(neg_i64(a), i64(u64(-Wide(a))));
    ASSERT_EQ(abs_i64(a), a < 0 ? i64(u64(-Wide(a))) : a);
    ASSERT_EQ(sign_i64(a), a < 0 ? -1 : a > 0);
  }
  // CONTRACT.md 10, rows 9, 12 and 13
  EXPECT_EQ(floor_div_i64(-7, 2), -4);
  EXPECT_EQ(remainder_i64(-7, 2), 1);
  EXPECT_EQ(div_trunc_i64(min64, -1), min64);
  EXPECT_EQ(i8(abs_i64(-128)), -128);
}

// Row 18; a width is that of the tensor's dtype.
TEST(Shifts, ByTooMuchLeaveNothingOrTheSign) {
  EXPECT_EQ(shift_left_i64(1, 32, 32), 0);
  EXPECT_EQ(shift_left_i64(1, -1, 32), 0);
  EXPECT_EQ(i32(shift_left_i64(1, 31, 32)), std::numeric_limits<i32>::min());
  EXPECT_EQ(shift_left_u64(3, 63, 64), 1ull << 63);
  EXPECT_EQ(shift_left_u64(3, 64, 64), 0u);
  EXPECT_EQ(shift_right_i64(-8, 1, 32), -4);
  EXPECT_EQ(shift_right_i64(-8, 32, 32), -1);
  EXPECT_EQ(shift_right_i64(-8, -1, 32), -1);
  EXPECT_EQ(shift_right_i64(8, 64, 64), 0);
  EXPECT_EQ(shift_right_u64(1ull << 63, 63, 64), 1u);
  EXPECT_EQ(shift_right_u64(255, 8, 8), 0u);
  EXPECT_EQ(shift_left_i64(1, max64, 64), 0);
  EXPECT_EQ(shift_left_i64(1, min64, 64), 0);
}

TEST(Pow, OfIntegersIsExactModulo) {
  EXPECT_EQ(pow_u64(0, 0), 1u);
  EXPECT_EQ(pow_i64(-3, 3), -27);
  EXPECT_EQ(pow_i64(2, 63), min64);
  EXPECT_EQ(pow_u64(2, 64), 0u);
  u64 product = 1;
  for (u64 n = 0; n < 100; ++n, product *= 7) ASSERT_EQ(pow_u64(7, n), product);
}

}  // namespace
}  // namespace votive::numerics
