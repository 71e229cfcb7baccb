// Philox by its published answers, draws by their definitions (CONTRACT.md 7), normals by Box and Muller in the C library's f64.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/numerics/inputs.h"
#include "votive/numerics/random.h"

namespace votive::numerics {
namespace {

TEST(Philox, GivesThePublishedAnswers) {
  const struct {
    u32 counter[4], key[2], want[4];
  } answers[] = {
      // Random123, tests/kat_vectors
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const auto& a : answers) {
    const PhiloxWords got = philox4x32_10(a.counter[0], a.counter[1], a.counter[2], a.counter[3], a.key[0], a.key[1]);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(got.word[i], a.want[i]);
  }
  const PhiloxWords block = philox_block(0x299f31d0a4093822u, 0x0370734413198a2eu, 0x85a308d3243f6a88u);
  EXPECT_EQ(block.word[0], 0xd16cfe09u);
}

TEST(Philox, GivesAnElementWhateverTheDrawBegan) {
  for (u64 i = 0; i < 40; ++i) {
    EXPECT_EQ(random_word32(5, 6, 7, i), random_word32(5, 6, 7 + i / 4, i % 4));
    EXPECT_EQ(random_word64(5, 6, 7, i), join_words(random_word32(5, 6, 7, 2 * i), random_word32(5, 6, 7, 2 * i + 1)));
  }
  std::set<u64> streams;
  for (u64 k = 0; k < 10000; ++k) streams.insert(fork_stream(k % 100, k / 100));
  EXPECT_EQ(streams.size(), 10000u);
}

TEST(Uniform, IsItsHighBitsAndNeverOne) {
  EXPECT_EQ(uniform_f32(0), 0.0f);
  EXPECT_EQ(uniform_f32(0xffffffffu), 1 - 0x1p-24f);
  EXPECT_EQ(uniform_f16(0xffffffffu), 1 - 0x1p-11f);
  EXPECT_EQ(uniform_bf16(0xffffffffu), 1 - 0x1p-8f);
  EXPECT_EQ(uniform_f64(~0ull), 1 - 0x1p-53);
  Random random{1};
  for (int i = 0; i < 1000; ++i) {
    const u64 r = random();
    EXPECT_EQ(double(uniform_f32(u32(r))), std::floor(double(u32(r)) / 256) / 16777216);
    EXPECT_EQ(uniform_f64(r), std::ldexp(double(r / 2048), -53));
  }
  EXPECT_EQ(uniform_between_f32(1 - 0x1p-24f, 1, 1 + 0x1p-23f), 1.0f);  // 1 + 2^-23 (1 - 2^-24) rounds to the limit
  EXPECT_EQ(uniform_between_f32(0.75f, 0, 0x1p-149f), 0.0f);
  EXPECT_LT(uniform_between_f32(1 - 0x1p-24f, -1, 0), 0.0f);
  EXPECT_EQ(uniform_between_f32(0.5f, 2, 4), 3.0f);
}

TEST(UniformIntegers, AreTheHighBitsOfAProduct) {
  __extension__ typedef unsigned __int128 Wide;
  Random random{2};
  for (int i = 0; i < 10000; ++i) {
    const u64 a = random() >> (random() % 64), b = random() >> (random() % 64);
    ASSERT_EQ(multiply_high_u64(a, b), u64(Wide(a) * b >> 64));
  }
  EXPECT_EQ(uniform_i64(0, -5, 10), -5);
  EXPECT_EQ(uniform_i64(~0ull, -5, 10), 4);
  EXPECT_EQ(uniform_i64(12345, std::numeric_limits<i64>::min(), 0), std::numeric_limits<i64>::min() + 12345);
}

TEST(Bernoulli, OfOneIsAlwaysTrue) {
  EXPECT_EQ(bernoulli_threshold(1), 0x100000000u);
  EXPECT_EQ(bernoulli(0xffffffffu, bernoulli_threshold(1)), 1);
  EXPECT_EQ(bernoulli(0, bernoulli_threshold(0)), 0);
  EXPECT_EQ(bernoulli(0x7fffffffu, bernoulli_threshold(0.5)), 1);
  EXPECT_EQ(bernoulli(0x80000000u, bernoulli_threshold(0.5)), 0);
  EXPECT_EQ(bernoulli_threshold(0x1p-33), 0u);
  EXPECT_EQ(bernoulli_threshold(NAN), 0u);
}

TEST(Normal, IsBoxAndMullers) {
  constexpr double pi = 3.14159265358979323846;
  double sum = 0, squares = 0, fourth = 0;
  constexpr int n = 200'000;
  for (int i = 0; i < n; ++i) {
    const PhiloxWords words = philox_block(1, 2, u64(i));
    for (int pair = 0; pair < 4; pair += 2) {
      const u32 x0 = words.word[pair], x1 = words.word[pair + 1];
      const NormalPairF32 z = normal_pair_f32(x0, x1);
      const double radius = std::sqrt(-2 * std::log(std::fma(double(float(x0)), 0x1p-32, 0x1p-33)));
      const double angle = pi * std::ldexp(double(std::int32_t(x1)), -31);
      // u is rounded to f32 once more near 1, where the radius is small
      ASSERT_NEAR(z.first, radius * std::cos(angle), 4e-4 * (radius < 0.05) + 4e-6);
      ASSERT_NEAR(z.second, radius * std::sin(angle), 4e-4 * (radius < 0.05) + 4e-6);
      for (double v : {double(z.first), double(z.second)}) sum += v, squares += v * v, fourth += v * v * v * v;
    }
  }
  const double count = 4.0 * n;
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 3, 5 * std::sqrt(96 / count));
  EXPECT_NEAR(normal_pair_f32(0, 0).first, std::sqrt(66 * std::log(2.0)), 1e-6);  // the tail ends at 6.76
  EXPECT_EQ(normal_pair_f32(0xffffffffu, 0).first, 0.0f);
}

TEST(Normal, OfF64IsBoxAndMullers) {
  Random random{3};
  for (int i = 0; i < 100'000; ++i) {
    const u64 x0 = random(), x1 = random();
    const NormalPairF64 z = normal_pair_f64(x0, x1);
    const double radius = std::sqrt(-2 * std::log(std::fma(double(x0), 0x1p-64, 0x1p-65)));
    const double angle = 3.14159265358979323846 * std::ldexp(double(std::int64_t(x1)), -63);
    ASSERT_NEAR(z.first, radius * std::cos(angle), 1e-14);
    ASSERT_NEAR(z.second, radius * std::sin(angle), 1e-14);
  }
}

}  // namespace
}  // namespace votive::numerics
