// Conversions against exact integer arithmetic: a number is m * 2^e, and rounding it is a shift with a look at what falls off.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/numerics/inputs.h"
#include "votive/numerics/convert.h"

namespace votive::numerics {
namespace {

/// A narrow format: bits of significand, the exponent of its last place at the bottom, the largest finite number's bits, and what lies beyond.
struct Format {
  const char* name;
  int digits;
  int last_place;
  std::uint32_t largest;
  std::uint32_t beyond;  // bits of what is too large: infinity, or the largest number, or NaN
  std::uint32_t nan;
  int sign_bit;
};
const Format f16{"f16", 11, -24, 0x7bff, 0x7c00, 0x7e00, 15};
const Format bf16{"bf16", 8, -133, 0x7f7f, 0x7f80, 0x7fc0, 15};
const Format e4m3{"e4m3", 4, -9, 0x7e, 0x7e, 0x7f, 7};
const Format e4m3_open{"e4m3 nonsaturating", 4, -9, 0x7e, 0x7f, 0x7f, 7};
const Format e5m2{"e5m2", 3, -16, 0x7b, 0x7b, 0x7e, 7};
const Format e5m2_open{"e5m2 nonsaturating", 3, -16, 0x7b, 0x7c, 0x7e, 7};
const Format single{"f32", 24, -149, 0x7f7fffff, 0x7f800000, 0x7fc00000, 31};

/// m * 2^e to nearest, ties to even.
std::uint32_t round_to(const Format& format, bool negative, std::uint64_t m, int e) {
  const std::uint32_t sign = negative ? 1u << format.sign_bit : 0u;
  if (m == 0) return sign;
  const int leading = 63 - __builtin_clzll(m) + e;
  const int place = std::max(leading - format.digits + 1, format.last_place);
  const int drop = place - e;
  std::uint64_t kept = 0;
  if (drop <= 0) {
    kept = m << -drop;
  } else if (drop <= 64) {
    kept = drop == 64 ? 0 : m >> drop;
    const std::uint64_t half = 1ull << (drop - 1);
    const std::uint64_t lost = drop == 64 ? m : m & ((half << 1) - 1);
    kept += lost > half || (lost == half && (kept & 1));
  }
  const std::uint64_t magnitude = kept + (std::uint64_t(place - format.last_place) << (format.digits - 1));
  return (magnitude > format.largest && format.beyond == format.nan ? 0 : sign) |
         (magnitude > format.largest ? format.beyond : std::uint32_t(magnitude));
}

std::uint32_t round_f64_to(const Format& format, double x) {
  if (std::isnan(x)) return format.nan;
  std::uint64_t u;
  std::memcpy(&u, &x, 8);
  const bool negative = u >> 63;
  const int biased = int(u >> 52 & 0x7ff);
  if (biased == 0x7ff) return round_to(format, negative, 1, 2000);
  return round_to(format, negative, (u & 0xfffffffffffffu) | (biased ? 1ull << 52 : 0), (biased ? biased : 1) - 1075);
}

double value_of(const Format& format, std::uint32_t bits) {
  const bool negative = bits >> format.sign_bit;
  const std::uint32_t m = bits & ((1u << format.sign_bit) - 1);
  if (m > format.largest) return m == format.beyond && format.beyond != format.nan ? (negative ? -INFINITY : INFINITY) : NAN;
  const int field = int(m >> (format.digits - 1));
  const std::uint32_t fraction = (m & ((1u << (format.digits - 1)) - 1)) | (field ? 1u << (format.digits - 1) : 0u);
  const double magnitude = std::ldexp(double(fraction), format.last_place + (field ? field - 1 : 0));
  return negative ? -magnitude : magnitude;
}

struct Conversion {
  const Format& format;
  std::uint32_t (*from_f32)(float);
  std::uint32_t (*from_f64)(double);
  std::uint32_t (*from_i64)(std::int64_t);
  std::uint32_t (*from_u64)(std::uint64_t);
};
const Conversion conversions[] = {
    {f16, [](float x) -> std::uint32_t { return f32_to_f16(x); }, [](double x) -> std::uint32_t { return f64_to_f16(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_f16(x); }, [](std::uint64_t x) -> std::uint32_t { return u64_to_f16(x); }},
    {bf16, [](float x) -> std::uint32_t { return f32_to_bf16(x); }, [](double x) -> std::uint32_t { return f64_to_bf16(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_bf16(x); }, [](std::uint64_t x) -> std::uint32_t { return u64_to_bf16(x); }},
    {e4m3, [](float x) -> std::uint32_t { return f32_to_e4m3(x); }, [](double x) -> std::uint32_t { return f64_to_e4m3(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_e4m3(x); }, [](std::uint64_t x) -> std::uint32_t { return u64_to_e4m3(x); }},
    {e4m3_open, [](float x) -> std::uint32_t { return f32_to_e4m3_nonsaturating(x); },
     [](double x) -> std::uint32_t { return f64_to_e4m3_nonsaturating(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_e4m3_nonsaturating(x); },
     [](std::uint64_t x) -> std::uint32_t { return u64_to_e4m3_nonsaturating(x); }},
    {e5m2, [](float x) -> std::uint32_t { return f32_to_e5m2(x); }, [](double x) -> std::uint32_t { return f64_to_e5m2(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_e5m2(x); }, [](std::uint64_t x) -> std::uint32_t { return u64_to_e5m2(x); }},
    {e5m2_open, [](float x) -> std::uint32_t { return f32_to_e5m2_nonsaturating(x); },
     [](double x) -> std::uint32_t { return f64_to_e5m2_nonsaturating(x); },
     [](std::int64_t x) -> std::uint32_t { return i64_to_e5m2_nonsaturating(x); },
     [](std::uint64_t x) -> std::uint32_t { return u64_to_e5m2_nonsaturating(x); }},
};

class Narrow : public testing::TestWithParam<Conversion> {};

TEST_P(Narrow, FromF32RoundsOnce) {
  const Conversion& test = GetParam();
  std::size_t wrong = 0;
  each_f32(4096, [&](std::uint32_t u) {
    const float x = f32_from_bits(u);
    wrong += test.from_f32(x) != round_f64_to(test.format, x);
  });
  EXPECT_EQ(wrong, 0u);
}

// Halfway between two neighbours is where rounding twice, or to odd, or away, would show.
TEST_P(Narrow, FromF64IsRightAroundEveryHalfwayPoint) {
  const Conversion& test = GetParam();
  for (std::uint32_t bits = 0; bits <= test.format.largest; ++bits) {
    const double here = value_of(test.format, bits);
    const double next = bits < test.format.largest ? value_of(test.format, bits + 1) : 2 * here - value_of(test.format, bits - 1);
    const double middle = here + (next - here) / 2;
    for (double x : {here, middle, std::nextafter(middle, 0.0), std::nextafter(middle, INFINITY), middle * (1 + 0x1p-30),
                     middle * (1 - 0x1p-30), std::nextafter(here, INFINITY), std::nextafter(next, 0.0)}) {
      ASSERT_EQ(test.from_f64(x), round_f64_to(test.format, x)) << test.format.name << " " << std::hexfloat << x;
      ASSERT_EQ(test.from_f64(-x), round_f64_to(test.format, -x)) << test.format.name << " " << std::hexfloat << -x;
    }
  }
  for (double x : {0.0, -0.0, double(NAN), double(INFINITY), -double(INFINITY), 0x1p-1074, 0x1p-200, 0x1.fffffffffffffp1023, 1e300, -1e300,
                   0x1p128, 0x1.fffffffp127}) {
    EXPECT_EQ(test.from_f64(x), round_f64_to(test.format, x)) << test.format.name << " " << x;
  }
}

TEST_P(Narrow, FromF64IsRightForAnyBits) {
  const Conversion& test = GetParam();
  Random random{3};
  std::size_t wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    std::uint64_t u = random();
    if (i % 2 == 0) u = (u & ~(0x7ffull << 52)) | (std::uint64_t(1023 - 150 + int(random() % 300)) << 52);  // the exponents that matter
    const double x = f64_from_bits(u);
    wrong += test.from_f64(x) != round_f64_to(test.format, x);
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_P(Narrow, FromIntegersRoundsOnce) {
  const Conversion& test = GetParam();
  Random random{4};
  const auto check = [&](std::uint64_t u) {
    ASSERT_EQ(test.from_u64(u), round_to(test.format, false, u, 0)) << u;
    const std::int64_t s = std::int64_t(u);
    ASSERT_EQ(test.from_i64(s), round_to(test.format, s < 0, s < 0 ? 0 - u : u, 0)) << s;
  };
  for (std::uint64_t u = 0; u < 70'000; ++u) check(u), check(0 - u);
  for (int i = 0; i < 200'000; ++i) check(random() >> (random() % 64));
  for (int bit = 8; bit < 64; ++bit) {
    // halfway points of every size with one bit far below
    for (std::uint64_t top = 128; top < 512; ++top) {
      const int shift = bit - 8;
      const std::uint64_t halfway = shift > 0 ? (top << shift) | (1ull << (shift - 1)) : top;
      check(halfway), check(halfway + 1), check(halfway - 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Narrow, testing::ValuesIn(conversions), [](const auto& instance) {
  std::string name = instance.param.format.name;
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
});

TEST(Widen, GivesEveryNarrowNumberExactly) {
  std::size_t wrong = 0;
  const auto differ = [](float got, double want) {
    return std::isnan(want) ? bits_f32(got) != 0x7fc00000u : !(got == want && std::signbit(got) == std::signbit(want));
  };
  for (std::uint32_t h = 0; h < 65536; ++h) {
    wrong += differ(f16_to_f32(u16(h)), value_of(f16, h));
    wrong += differ(bf16_to_f32(u16(h)), value_of(bf16, h));
  }
  for (std::uint32_t h = 0; h < 256; ++h) {
    wrong += differ(e4m3_to_f32(u8(h)), value_of(e4m3, h));
    wrong += differ(e5m2_to_f32(u8(h)), value_of(e5m2_open, h));
  }
  EXPECT_EQ(wrong, 0u);
}

TEST(Narrowing, OfAWidenedNumberIsThatNumber) {
  for (std::uint32_t h = 0; h < 65536; ++h) {
    const bool nan16 = (h & 0x7fff) > 0x7c00, nanb = (h & 0x7fff) > 0x7f80;
    ASSERT_EQ(f32_to_f16(f16_to_f32(u16(h))), nan16 ? 0x7e00 : h);
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(u16(h))), nanb ? 0x7fc0 : h);
  }
  for (std::uint32_t h = 0; h < 256; ++h) {
    ASSERT_EQ(f32_to_e4m3(e4m3_to_f32(u8(h))), (h & 0x7f) == 0x7f ? 0x7f : h);
    ASSERT_EQ(f32_to_e5m2_nonsaturating(e5m2_to_f32(u8(h))), (h & 0x7f) > 0x7c ? 0x7e : h);
  }
}

// CONTRACT.md 10, row 31: through f32 it would be 1.
TEST(Narrowing, OfF64ToF16DoesNotStopAtF32) {
  const double x = 1 + 0x1p-11 + 0x1p-30;
  EXPECT_EQ(f16_to_f32(f64_to_f16(x)), 1.0009765625f);
  EXPECT_EQ(f16_to_f32(f32_to_f16(float(x))), 1.0f);
}

// Row 32, and section 6: 464 still rounds to 448.
TEST(Narrowing, ToE4m3Saturates) {
  EXPECT_EQ(e4m3_to_f32(f32_to_e4m3(500)), 448);
  EXPECT_EQ(e4m3_to_f32(f32_to_e4m3(-INFINITY)), -448);
  EXPECT_EQ(e4m3_to_f32(f32_to_e4m3_nonsaturating(464)), 448);
  EXPECT_TRUE(std::isnan(e4m3_to_f32(f32_to_e4m3_nonsaturating(464.1f))));
  EXPECT_EQ(e5m2_to_f32(f32_to_e5m2(INFINITY)), 57344);
  EXPECT_EQ(e5m2_to_f32(f32_to_e5m2_nonsaturating(61440)), INFINITY);
}

TEST(Narrowing, OfF64AndIntegersToF32RoundsOnce) {
  Random random{8};
  for (int i = 0; i < 300'000; ++i) {
    const double x =
        f64_from_bits(i % 2 ? random() : (random() & ~(0x7ffull << 52)) | std::uint64_t(1023 - 160 + int(random() % 300)) << 52);
    ASSERT_EQ(bits_f32(f64_to_f32(x)), round_f64_to(single, x)) << std::hexfloat << x;
    const std::uint64_t u = random() >> (random() % 64);
    const std::int64_t s = std::int64_t(u);
    ASSERT_EQ(bits_f32(u64_to_f32(u)), round_to(single, false, u, 0)) << u;
    ASSERT_EQ(bits_f32(i64_to_f32(s)), round_to(single, s < 0, s < 0 ? 0 - u : u, 0)) << s;
  }
}

/// Toward zero, saturating, NaN to 0: by comparing with the limits in 64-bit extended or wider precision before any conversion.
template <class Int>
Int truncate(double x) {
  if (std::isnan(x)) return 0;
  const double below = std::trunc(x);
  if (below <= double(std::numeric_limits<Int>::min())) return std::numeric_limits<Int>::min();
  // the largest Int + 1 is a power of two, exact in double
  if (below >= std::ldexp(1.0, std::numeric_limits<Int>::digits)) return std::numeric_limits<Int>::max();
  return Int(below);
}

template <class Int>
void check_truncation(Int (*from_f32)(float), Int (*from_f64)(double), const char* name) {
  Random random{6};
  std::size_t wrong = 0;
  each_f32(512, [&](std::uint32_t u) { wrong += from_f32(f32_from_bits(u)) != truncate<Int>(f32_from_bits(u)); });
  for (int i = 0; i < 500'000; ++i) {
    const double x =
        f64_from_bits(i % 4 == 0 ? random() : (random() & ~(0x7ffull << 52)) | std::uint64_t(1023 - 4 + int(random() % 72)) << 52);
    wrong += from_f64(x) != truncate<Int>(x);
  }
  const double low = double(std::numeric_limits<Int>::min());
  const double high = std::ldexp(1.0, std::numeric_limits<Int>::digits);
  for (double edge : {low, high, 0.0, 1.0, -1.0}) {
    for (double x : {edge, edge - 1, edge + 1, edge - 0.5, edge + 0.5, std::nextafter(edge, INFINITY), std::nextafter(edge, -INFINITY)}) {
      wrong += from_f64(x) != truncate<Int>(x);
      wrong += from_f32(float(x)) != truncate<Int>(float(x));
    }
  }
  for (double x : {double(NAN), double(INFINITY), -double(INFINITY), -0.0}) wrong += from_f64(x) != truncate<Int>(x);
  EXPECT_EQ(wrong, 0u) << name;
}

TEST(Truncate, SaturatesAndTakesNanToZero) {
  check_truncation<i8>([](float x) { return f32_to_i8(x); }, [](double x) { return f64_to_i8(x); }, "i8");
  check_truncation<u8>([](float x) { return f32_to_u8(x); }, [](double x) { return f64_to_u8(x); }, "u8");
  check_truncation<i16>([](float x) { return f32_to_i16(x); }, [](double x) { return f64_to_i16(x); }, "i16");
  check_truncation<u16>([](float x) { return f32_to_u16(x); }, [](double x) { return f64_to_u16(x); }, "u16");
  check_truncation<i32>([](float x) { return f32_to_i32(x); }, [](double x) { return f64_to_i32(x); }, "i32");
  check_truncation<u32>([](float x) { return f32_to_u32(x); }, [](double x) { return f64_to_u32(x); }, "u32");
  check_truncation<i64>([](float x) { return f32_to_i64(x); }, [](double x) { return f64_to_i64(x); }, "i64");
  check_truncation<u64>([](float x) { return f32_to_u64(x); }, [](double x) { return f64_to_u64(x); }, "u64");
  // CONTRACT.md 10, rows 29 and 30
  EXPECT_EQ(f32_to_u8(300), 255);
  EXPECT_EQ(f32_to_i32(NAN), 0);
  EXPECT_EQ(f32_to_i32(3e9f), 2147483647);
}

TEST(ToBool, IsTrueForAllButZeros) {
  EXPECT_EQ(f32_to_bool(-0.0f), 0);
  EXPECT_EQ(f32_to_bool(NAN), 1);
  EXPECT_EQ(f32_to_bool(0x1p-149f), 1);
  EXPECT_EQ(f64_to_bool(-0.0), 0);
  EXPECT_EQ(f64_to_bool(0x1p-1074), 1);
  EXPECT_EQ(i64_to_bool(0), 0);
  EXPECT_EQ(i64_to_bool(std::numeric_limits<i64>::min()), 1);
  EXPECT_EQ(u64_to_bool(1ull << 63), 1);
}

}  // namespace
}  // namespace votive::numerics
