// What checked mode asks of integers (CONTRACT.md 2.1), against arithmetic of 128 bits: every pair of 8-bit numbers, and telling and random ones of 16 to 64.
#include <gtest/gtest.h>

#include <vector>

#include "tests/numerics/inputs.h"
#include "votive/numerics/checked.h"

namespace votive::numerics {
namespace {

__extension__ typedef __int128 Wide;

bool fits_signed(Wide v, int width) { return v >= -(Wide(1) << (width - 1)) && v < Wide(1) << (width - 1); }
bool fits_unsigned(Wide v, int width) { return v >= 0 && v < Wide(1) << width; }

/// a^n, or something that fits nowhere as soon as it is too large for 64 bits.
Wide power(Wide a, u64 n) {
  const Wide beyond = Wide(1) << 100;
  if (a == 0 || a == 1) return n == 0 ? 1 : a;
  if (a == -1) return n % 2 ? -1 : 1;
  Wide y = 1;
  for (u64 i = 0; i < n; ++i) {
    if (__builtin_mul_overflow(y, a, &y)) return beyond;
    if (y > Wide(1) << 64 || y < -(Wide(1) << 64)) return beyond;
  }
  return y;
}

void compare_signed(i64 a, i64 b, int width) {
  const auto bad = [&](Wide v) { return !fits_signed(v, width); };
  ASSERT_EQ(add_overflows_i64(a, b, width), bad(Wide(a) + b)) << a << " + " << b << ", " << width << " bits";
  ASSERT_EQ(sub_overflows_i64(a, b, width), bad(Wide(a) - b)) << a << " - " << b << ", " << width << " bits";
  ASSERT_EQ(mul_overflows_i64(a, b, width), bad(Wide(a) * b)) << a << " * " << b << ", " << width << " bits";
  ASSERT_EQ(neg_overflows_i64(a, width), bad(-Wide(a)));
  ASSERT_EQ(abs_overflows_i64(a, width), bad(a < 0 ? -Wide(a) : Wide(a)));
  ASSERT_EQ(square_overflows_i64(a, width), bad(Wide(a) * a));
  if (b != 0) { ASSERT_EQ(div_overflows_i64(a, b, width), bad(Wide(a) / b)) << a << " / " << b; }
  if (b >= 0) { ASSERT_EQ(pow_overflows_i64(a, u64(b), width), bad(power(a, u64(b)))) << a << " ^ " << b << ", " << width << " bits"; }
  const bool count_bad = b < 0 || b >= width;
  ASSERT_EQ(shift_right_overflows_i64(a, b, width), count_bad);
  ASSERT_EQ(shift_left_overflows_i64(a, b, width), count_bad || bad(Wide(a) * (Wide(1) << (b & 63))))
      << a << " << " << b << ", " << width << " bits";
}

void compare_unsigned(u64 a, u64 b, int width) {
  const auto bad = [&](Wide v) { return !fits_unsigned(v, width); };
  ASSERT_EQ(add_overflows_u64(a, b, width), bad(Wide(a) + Wide(b))) << a << " + " << b;
  ASSERT_EQ(sub_overflows_u64(a, b, width), bad(Wide(a) - Wide(b)));
  __extension__ typedef unsigned __int128 WideUnsigned;
  ASSERT_EQ(mul_overflows_u64(a, b, width), WideUnsigned(a) * b >= WideUnsigned(1) << width) << a << " * " << b;
  ASSERT_EQ(neg_overflows_u64(a, width), bad(-Wide(a)));
  ASSERT_EQ(abs_overflows_u64(a, width), 0);
  ASSERT_EQ(square_overflows_u64(a, width), WideUnsigned(a) * a >= WideUnsigned(1) << width);
  if (b != 0) { ASSERT_EQ(div_overflows_u64(a, b, width), 0); }
  ASSERT_EQ(pow_overflows_u64(a, b, width), bad(power(Wide(a), b))) << a << " ^ " << b << ", " << width << " bits";
  const bool count_bad = b >= u64(width);
  ASSERT_EQ(shift_right_overflows_u64(a, i64(b), width), count_bad);
  ASSERT_EQ(shift_left_overflows_u64(a, i64(b), width), count_bad || WideUnsigned(a) << (b & 63) >= WideUnsigned(1) << width);
}

TEST(CheckedIntegers, AreRightForEveryPairOfBytes) {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) compare_signed(a, b, 8);
  }
  for (u64 a = 0; a < 256; ++a) {
    for (u64 b = 0; b < 256; ++b) compare_unsigned(a, b, 8);
  }
}

TEST(CheckedIntegers, AreRightAtEveryWidth) {
  Random random{3};
  for (int width : {16, 32, 64}) {
    std::vector<i64> values = {0, 1, -1, 2, -2, 3, -3, 7, width - 1, width, width + 1, -width};
    for (int bit = 1; bit < width; ++bit) {
      for (i64 near : {-1, 0, 1}) values.push_back(wrap_i64(i64((u64(1) << bit) + u64(near)), width));
    }
    for (int i = 0; i < 60; ++i) values.push_back(wrap_i64(i64(random()) >> random() % 64, width));
    for (i64 a : values) {
      for (i64 b : values) {
        compare_signed(a, b % 1000 == b ? b : (b & 63), width);  // powers and shifts by few
        compare_unsigned(wrap_u64(u64(a), width), wrap_u64(u64(b), width) % 70, width);
        ASSERT_EQ(add_overflows_i64(a, b, width), !fits_signed(Wide(a) + b, width));
        ASSERT_EQ(sub_overflows_i64(a, b, width), !fits_signed(Wide(a) - b, width));
        ASSERT_EQ(mul_overflows_i64(a, b, width), !fits_signed(Wide(a) * b, width)) << a << " * " << b;
        const u64 c = wrap_u64(u64(a), width), d = wrap_u64(u64(b), width);
        ASSERT_EQ(add_overflows_u64(c, d, width), !fits_unsigned(Wide(c) + Wide(d), width));
        ASSERT_EQ(sub_overflows_u64(c, d, width), c < d);
      }
    }
  }
}

TEST(CheckedIntegers, KnowTheTablesCases) {
  EXPECT_EQ(div_overflows_i64(-128, -1, 8), 1);
  EXPECT_EQ(div_overflows_i64(-128, -1, 16), 0);
  EXPECT_EQ(abs_overflows_i64(INT64_MIN, 64), 1);
  EXPECT_EQ(pow_overflows_i64(-2, 63, 64), 0);
  EXPECT_EQ(pow_overflows_i64(2, 63, 64), 1);
  EXPECT_EQ(pow_overflows_u64(2, 63, 64), 0);
  EXPECT_EQ(pow_overflows_i64(10, 0x7fffffffffffffff, 64), 1);
  EXPECT_EQ(pow_overflows_i64(-1, 0x7fffffffffffffff, 8), 0);
  EXPECT_EQ(shift_left_overflows_i64(-1, 31, 32), 0);
  EXPECT_EQ(shift_left_overflows_i64(1, 31, 32), 1);
  EXPECT_EQ(shift_left_overflows_u64(1, 31, 32), 0);
}

TEST(Wrap, KeepsTheLowBits) {
  EXPECT_EQ(wrap_i64(200, 8), -56);
  EXPECT_EQ(wrap_i64(-129, 8), 127);
  EXPECT_EQ(wrap_u64(511, 8), 255u);
  EXPECT_EQ(wrap_i64(INT64_MIN, 64), INT64_MIN);
  EXPECT_EQ(wrap_u64(~0ull, 64), ~0ull);
}

TEST(Gcd, IsEuclids) {
  EXPECT_EQ(gcd_i64(12, -18), 6);
  EXPECT_EQ(gcd_i64(0, -5), 5);
  EXPECT_EQ(gcd_u64(0, 0), 0u);
  EXPECT_EQ(gcd_u64(1ull << 63, 3ull << 40), 1ull << 40);
  EXPECT_EQ(lcm_i64(4, -6), 12);
  EXPECT_EQ(lcm_u64(0, 7), 0u);
}

}  // namespace
}  // namespace votive::numerics
