// fma without the instruction, for C libraries whose own is not known to be right: against MPFR with IEEE's range, and against the fma that this build uses.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/numerics/inputs.h"
#include "votive/numerics/portable.h"
#include "votive/numerics/soft_fma.h"

namespace votive::numerics {
namespace {

/// a b + c rounded once, with subnormal numbers and infinities where the format has them.
template <class T>
T by_mpfr(T a, T b, T c) {
  constexpr bool wide = sizeof(T) == 8;
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t x, y, z, sum;
  mpfr_inits2(53, x, y, z, nullptr);
  mpfr_init2(sum, wide ? 53 : 24);
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  mpfr_set_d(z, c, MPFR_RNDN);
  mpfr_set_emin(wide ? -1073 : -148);
  mpfr_set_emax(wide ? 1024 : 128);
  const int ternary = mpfr_fma(sum, x, y, z, MPFR_RNDN);
  mpfr_subnormalize(sum, ternary, MPFR_RNDN);
  const T result = static_cast<T>(mpfr_get_d(sum, MPFR_RNDN));
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  mpfr_clears(x, y, z, sum, nullptr);
  return result;
}

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

TEST(SoftFma, OfF64RoundsOnceWhateverTheExponents) {
  Random random{41};
  for (int i = 0; i < 300'000; ++i) {
    const auto number = [&](std::int64_t exponent) {
      const std::uint64_t r = random(), kept = ~std::uint64_t{0} << (r >> 53) % (i % 2 == 0 ? 1 : 52);
      return std::bit_cast<double>((r & 0x800fffffffffffffu & (kept | std::uint64_t{1} << 63)) |
                                   static_cast<std::uint64_t>(std::clamp<std::int64_t>(exponent, 0, 2046)) << 52);
    };
    const std::int64_t first = static_cast<std::int64_t>(random() % 2047), second = static_cast<std::int64_t>(random() % 2047);
    const std::int64_t around = static_cast<std::int64_t>(random() % (i % 3 == 0 ? 7 : 241)) - (i % 3 == 0 ? 3 : 120);
    const double a = number(first), b = number(second);
    const double c = i % 5 == 0 ? -(a * b) : number(first + second - 1023 + around);  // a fifth of them cancels
    const double got = soft_fma_f64(a, b, c);
    ASSERT_PRED2(same, got, fma_f64(a, b, c)) << std::hexfloat << a << " * " << b << " + " << c;
    if (std::isfinite(c)) { ASSERT_PRED2(same, got, by_mpfr(a, b, c)) << std::hexfloat << a << " * " << b << " + " << c; }
  }
}

TEST(SoftFma, OfF32RoundsOnceWhateverTheExponents) {
  Random random{42};
  for (int i = 0; i < 300'000; ++i) {
    const auto number = [&](int exponent) {
      return std::bit_cast<float>((static_cast<std::uint32_t>(random()) & 0x807fffffu) |
                                  static_cast<std::uint32_t>(std::clamp(exponent, 0, 254)) << 23);
    };
    const int first = static_cast<int>(random() % 255), second = static_cast<int>(random() % 255),
              around = static_cast<int>(random() % 61) - 30;
    const float a = number(first), b = number(second), c = i % 5 == 0 ? -(a * b) : number(first + second - 127 + around);
    const float got = soft_fma_f32(a, b, c);
    ASSERT_PRED2(same, got, fma_f32(a, b, c)) << std::hexfloat << a << " * " << b << " + " << c;
    if (std::isfinite(c)) { ASSERT_PRED2(same, got, by_mpfr(a, b, c)) << std::hexfloat << a << " * " << b << " + " << c; }
  }
}

// Zeros, ends of the range, infinities and NaN with each other, in every sign. The last line is where musl 1.2.5 fails.
TEST(SoftFma, OfCornersIsIeees) {
  const double wide[] = {0,        0x1p-1074, 0x0.fffffffffffffp-1022, 0x1p-1022, 0x1p-540,
                         0x1p-511, 1,         0x1.0000000000001p0,     0x1p511,   0x1.fffffffffffffp1023,
                         INFINITY, NAN};
  const float narrow[] = {0, 0x1p-149f, 0x0.fffffep-126f, 0x1p-126f, 0x1p-75f, 1, 0x1.000002p0f, 0x1p63f, 0x1.fffffep127f, INFINITY, NAN};
  const auto each = [](const auto& numbers, const auto& check) {
    for (auto a : numbers) {
      for (auto b : numbers) {
        for (auto c : numbers) {
          for (int signs = 0; signs < 8; ++signs) check(signs & 1 ? -a : a, signs & 2 ? -b : b, signs & 4 ? -c : c);
        }
      }
    }
  };
  each(wide,
       [](double a, double b, double c) { EXPECT_PRED2(same, soft_fma_f64(a, b, c), by_mpfr(a, b, c)) << a << " * " << b << " + " << c; });
  each(narrow,
       [](float a, float b, float c) { EXPECT_PRED2(same, soft_fma_f32(a, b, c), by_mpfr(a, b, c)) << a << " * " << b << " + " << c; });
  EXPECT_EQ(std::bit_cast<std::uint64_t>(soft_fma_f64(0x1p-600, -0x1p-600, 0.0)), 0x8000000000000000u);
}

}  // namespace
}  // namespace votive::numerics
