// The canonical tree and dot product against a literal transcription of CONTRACT.md 3.2 and 4.4: absent elements written out, the split recursive.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/numerics/inputs.h"
#include "tests/numerics/literal_tree.h"
#include "votive/numerics/reduce.h"

namespace votive::numerics {
namespace {

using literal::Product, literal::split, literal::Sum, literal::tree;

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t n = 0; n < 70; ++n) all.push_back(n);
  for (std::size_t n : {511, 512, 513, 1000, 4095, 4096, 4097, 8191, 8192, 8193, 12288, 12289, 20480, 28671, 28673, 4096 * 13 + 5})
    all.push_back(n);
  return all;
}

float number(Random& random) {
  const std::uint64_t r = random();
  return std::ldexp(float(std::int32_t(r >> 32)), int(r % 40) - 51);
}

TEST(Tree, IsTheLiteralOne) {
  Random random{21};
  for (std::size_t n : sizes()) {
    for (std::size_t stride : {1u, 3u}) {
      std::vector<float> x(n), spread(n * stride + 1, NAN), factors(n);
      std::vector<double> wide(n), wide_factors(n);
      for (std::size_t i = 0; i < n; ++i) {
        x[i] = number(random);
        spread[i * stride] = x[i];
        wide[i] = double(x[i]) * (1 + 0x1p-40);
        factors[i] = 1 + std::ldexp(float(std::int32_t(random() >> 32)), -40);
        wide_factors[i] = double(factors[i]) * (1 + 0x1p-40);
      }
      ASSERT_EQ(bits_f32(tree_sum_f32(spread.data(), i64(n), i64(stride))), bits_f32(tree<Sum>(x))) << n;
      ASSERT_EQ(bits_f64(tree_sum_f64(wide.data(), i64(n), 1)), bits_f64(tree<Sum>(wide))) << n;
      ASSERT_EQ(bits_f32(tree_prod_f32(factors.data(), i64(n), 1)), bits_f32(tree<Product>(factors))) << n;
      ASSERT_EQ(bits_f64(tree_prod_f64(wide_factors.data(), i64(n), 1)), bits_f64(tree<Product>(wide_factors))) << n;
    }
  }
}

TEST(Tree, KeepsTheSignOfZero) {
  const std::vector<float> zeros(5000, -0.0f);
  EXPECT_EQ(bits_f32(tree_sum_f32(zeros.data(), 5000, 1)), bits_f32(-0.0f));
  EXPECT_EQ(bits_f32(tree_sum_f32(zeros.data(), 1, 1)), bits_f32(-0.0f));
  EXPECT_EQ(bits_f32(tree_sum_f32(zeros.data(), 0, 1)), bits_f32(0.0f));
  EXPECT_EQ(tree_prod_f32(zeros.data(), 0, 1), 1.0f);
  const float one_nan[] = {1, NAN, 2};
  EXPECT_TRUE(std::isnan(tree_sum_f32(one_nan, 3, 1)));
}

TEST(Tree, TakesANegativeStride) {
  std::vector<float> x(10000);
  Random random{22};
  for (float& v : x) v = number(random);
  std::vector<float> backwards(x.rbegin(), x.rend());
  EXPECT_EQ(bits_f32(tree_sum_f32(&x[9999], 10000, -1)), bits_f32(tree<Sum>(backwards)));
}

TEST(Tree, CombinesChunksMadeElsewhere) {
  Random random{23};
  for (std::size_t n = 1; n < 200; ++n) {
    std::vector<float> sums(n);
    for (float& v : sums) v = number(random);
    ASSERT_EQ(bits_f32(tree_combine_chunks_f32(sums.data(), i64(n))), bits_f32(split<Sum>(sums, 0, n))) << n;
  }
}

// CONTRACT.md 10, row 33, in the f32 that bf16 accumulates in.
TEST(Tree, CountsOnesExactly) {
  const std::vector<float> ones(100000, 1);
  EXPECT_EQ(tree_sum_f32(ones.data(), 4096, 1), 4096);
  EXPECT_EQ(tree_sum_f32(ones.data(), 100000, 1), 100000);
}

TEST(Dot, IsBlocksOf1024InOrder) {
  Random random{24};
  for (std::size_t n : {0u, 1u, 2u, 3u, 7u, 1023u, 1024u, 1025u, 2048u, 5000u}) {
    std::vector<float> a(n), b(n);
    std::vector<double> wide_a(n), wide_b(n);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = number(random), b[i] = number(random);
      wide_a[i] = a[i] * (1 + 0x1p-30), wide_b[i] = b[i];
    }
    float want = 0;
    double wide = 0;
    for (std::size_t block = 0; block * 1024 < n; ++block) {
      float acc = 0;
      double wide_acc = 0;
      for (std::size_t i = block * 1024; i < std::min(n, (block + 1) * 1024); ++i) {
        acc = std::fma(a[i], b[i], acc);
        wide_acc = std::fma(wide_a[i], wide_b[i], wide_acc);
      }
      want = block == 0 ? acc : want + acc;
      wide = block == 0 ? wide_acc : wide + wide_acc;
    }
    EXPECT_EQ(bits_f32(dot_f32(a.data(), 1, b.data(), 1, i64(n))), bits_f32(want)) << n;
    EXPECT_EQ(bits_f64(dot_f64(wide_a.data(), 1, wide_b.data(), 1, i64(n))), bits_f64(wide)) << n;
    std::vector<float> apart(2 * n + 1, NAN);
    for (std::size_t i = 0; i < n; ++i) apart[2 * i] = a[i];
    EXPECT_EQ(bits_f32(dot_f32(apart.data(), 2, b.data(), 1, i64(n))), bits_f32(want)) << n;
  }
}

// A chain may end in -0 (a product too small to keep), and nothing is added to the first block.
TEST(Dot, StartsAsItsFirstBlock) {
  const float small = 0x1p-100f, negative = -0x1p-100f;
  EXPECT_EQ(bits_f32(dot_f32(&negative, 1, &small, 1, 1)), bits_f32(-0.0f));
  const std::uint16_t narrow_small = f32_to_bf16(small), narrow_negative = f32_to_bf16(negative);
  EXPECT_EQ(bits_f32(dot_bf16(&narrow_negative, 1, &narrow_small, 1, 1)), bits_f32(-0.0f));
}

TEST(FmaFlush, DecidesByTheResultRoundedWithoutAnExponentLimit) {
  // 2^-126 - 2^-150: what an ordinary fma rounds up to 2^-126
  EXPECT_EQ(bits_f32(fma_flush_f32(0x1p-75f, -0x1p-75f, 0x1p-126f)), 0u);
  EXPECT_EQ(bits_f32(fma_flush_f32(0x1p-75f, 0x1p-75f, -0x1p-126f)), 0x80000000u);
  // 2^-126 - 2^-151: halfway, to even
  EXPECT_EQ(fma_flush_f32(0x1p-75f, -0x1p-76f, 0x1p-126f), 0x1p-126f);
  EXPECT_EQ(bits_f32(fma_flush_f32(0x1p-75f, -0x1.02p-76f, 0x1p-126f)), 0u);
  EXPECT_EQ(fma_flush_f32(0x1p-63f, 0x1p-63f, 0.0f), 0x1p-126f);
  EXPECT_EQ(bits_f32(fma_flush_f32(0x1p-63f, -0x1.fep-64f, 0.0f)), 0x80000000u);
  EXPECT_EQ(bits_f32(fma_flush_f32(f32_from_bits(0x00010000u), 0x1p100f, -0.0f)), 0u);       // a subnormal factor is zero
  EXPECT_EQ(bits_f32(fma_flush_f32(1.0f, -0.0f, f32_from_bits(0x807fffffu))), 0x80000000u);  // so is a subnormal sum
  EXPECT_EQ(fma_flush_f32(0x1p127f, 0x1p127f, 1.0f), INFINITY);
}

// 1 + 2^-24 rounds to 1. With 1 in the chain, (-1, 2^-24) loses the small number if the odd element is first, (2^-24, -1) keeps it.
TEST(Dot, OfBf16TakesTheOddElementFirst) {
  const auto dot = [](std::vector<float> x) {
    std::vector<std::uint16_t> narrow, ones(x.size(), 0x3f80);
    for (float v : x) narrow.push_back(f32_to_bf16(v));
    return dot_bf16(narrow.data(), 1, ones.data(), 1, i64(x.size()));
  };
  EXPECT_EQ(dot({1, 0, -1, 0x1p-24f}), 0.0f);
  EXPECT_EQ(dot({1, 0, 0x1p-24f, -1}), 0x1p-24f);
  EXPECT_EQ(dot({1, 0x1p-24f, -1}), 0.0f);
  // an absent partner is no operation: a chain from +0 over -0 alone is +0 either way, and over a single number is that number
  EXPECT_EQ(bits_f32(dot({-0.0f})), 0u);
  EXPECT_EQ(dot({3}), 3.0f);
}

TEST(Dot, OfBf16FollowsItsPairsAtAnyLengthAndStride) {
  Random random{25};
  for (std::size_t n : {0u, 1u, 2u, 5u, 1023u, 1024u, 1025u, 1026u, 3001u}) {
    std::vector<std::uint16_t> a(n), b(n), apart(3 * n + 1, 0x7fc0);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = f32_to_bf16(number(random)), b[i] = f32_to_bf16(number(random));
      apart[3 * i] = a[i];
    }
    float want = 0;
    for (std::size_t block = 0; block * 1024 < n; ++block) {
      float acc = 0;
      const std::size_t end = std::min(n, (block + 1) * 1024);
      for (std::size_t i = block * 1024; i < end; i += 2) {
        // far from the subnormals, where the flush does nothing
        if (i + 1 < end) acc = std::fma(bf16_to_f32(a[i + 1]), bf16_to_f32(b[i + 1]), acc);
        acc = std::fma(bf16_to_f32(a[i]), bf16_to_f32(b[i]), acc);
      }
      want = block == 0 ? acc : want + acc;
    }
    EXPECT_EQ(bits_f32(dot_bf16(a.data(), 1, b.data(), 1, i64(n))), bits_f32(want)) << n;
    EXPECT_EQ(bits_f32(dot_bf16(apart.data(), 3, b.data(), 1, i64(n))), bits_f32(want)) << n;
  }
}

/// The number of f16 bits, by its definition.
float half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float magnitude = exponent == 0 ? std::ldexp(float(fraction), -24) : std::ldexp(float(1024 + fraction), exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(Dot, OfF16IsThatOfItsNumbersInF32) {
  Random random{26};
  const auto finite = [&] { return std::uint16_t(random() & 0xfbffu); };  // no exponent of infinities and NaN
  for (std::size_t n : {0u, 1u, 2u, 5u, 1023u, 1024u, 1025u, 3001u}) {
    std::vector<std::uint16_t> a(n), b(n), apart(3 * n + 1, 0x7e00);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = finite(), b[i] = finite();
      apart[3 * i] = a[i];
    }
    float want = 0;
    for (std::size_t block = 0; block * 1024 < n; ++block) {
      float acc = 0;
      for (std::size_t i = block * 1024; i < std::min(n, (block + 1) * 1024); ++i) acc = std::fma(half(a[i]), half(b[i]), acc);
      want = block == 0 ? acc : want + acc;
    }
    EXPECT_EQ(bits_f32(dot_f16(a.data(), 1, b.data(), 1, i64(n))), bits_f32(want)) << n;
    EXPECT_EQ(bits_f32(dot_f16(apart.data(), 3, b.data(), 1, i64(n))), bits_f32(want)) << n;
  }
  const std::vector<std::uint16_t> ones(4096, 0x3c00);  // a sum kept in f16 stops at 2048
  EXPECT_EQ(dot_f16(ones.data(), 1, ones.data(), 1, 4096), 4096);
}

// CONTRACT.md 10, row 36.
TEST(Dot, OfBf16OnesIsTheirNumber) {
  const std::vector<std::uint16_t> ones(4096, 0x3f80);
  EXPECT_EQ(dot_bf16(ones.data(), 1, ones.data(), 1, 4096), 4096);
}

}  // namespace
}  // namespace votive::numerics
