// The flush rule of CONTRACT.md 4.4 against MPFR, whose exponent has no limit here: the exact a * b + c, rounded to 24 bits, and only then compared with 2^-126.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <cmath>

#include "tests/numerics/inputs.h"
#include "votive/numerics/reduce.h"

namespace votive::numerics {
namespace {

float flush(float x) { return std::abs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }

float by_the_rule(float a, float b, float c) {
  mpfr_t x, y, z, exact, rounded;
  mpfr_inits2(24, x, y, z, rounded, nullptr);
  mpfr_init2(exact, 800);
  mpfr_set_flt(x, flush(a), MPFR_RNDN);
  mpfr_set_flt(y, flush(b), MPFR_RNDN);
  mpfr_set_flt(z, flush(c), MPFR_RNDN);
  mpfr_fma(exact, x, y, z, MPFR_RNDN);
  mpfr_set(rounded, exact, MPFR_RNDN);
  const bool below = mpfr_cmp_d(rounded, 0x1p-126) < 0 && mpfr_cmp_d(rounded, -0x1p-126) > 0;
  const float result = below ? (mpfr_signbit(rounded) ? -0.0f : 0.0f) : mpfr_get_flt(rounded, MPFR_RNDN);
  mpfr_clears(x, y, z, exact, rounded, nullptr);
  return result;
}

TEST(FmaFlush, IsTheRuleToTheLetter) {
  Random random{31};
  const auto number = [&](int low, int count, int digits) {
    const std::uint64_t r = random();
    const float fraction = 1 + std::ldexp(float(r >> 41), -23);
    const float kept = std::ldexp(std::rint(std::ldexp(fraction, digits)), -digits);
    return std::ldexp(r & 1 ? kept : -kept, low + int((r >> 8) % std::uint64_t(count)));
  };
  for (int i = 0; i < 300'000; ++i) {
    float a, b, c;
    switch (i % 4) {
      case 0: a = number(-80, 20, 7), b = number(-70, 20, 7), c = number(-130, 8, 23); break;
      case 1: a = number(-76, 3, 1 + i % 7), b = number(-76, 3, i % 2), c = std::copysign(0x1p-126f, float(i % 8) - 4); break;
      case 2: a = number(-140, 280, 7), b = number(-140, 280, 7), c = number(-149, 290, 23); break;
      default: a = number(-64, 4, 7), b = number(-64, 4, 7), c = -a * b; break;
    }
    a = bf16_to_f32(f32_to_bf16(a)), b = bf16_to_f32(f32_to_bf16(b));
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    const float got = fma_flush_f32(a, b, c);
    ASSERT_EQ(bits_f32(got), bits_f32(by_the_rule(a, b, c))) << std::hexfloat << a << " * " << b << " + " << c;
  }
}

}  // namespace
}  // namespace votive::numerics
