// Quantised blocks against ggml's formulas, written here from its structures one format at a time, and the chain of D15 against its sentence.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/numerics/inputs.h"
#include "votive/numerics/blocks.h"

namespace votive::numerics {
namespace {

float half(const u8* p) {
  std::uint16_t h;
  std::memcpy(&h, p, 2);
  const int exponent = h >> 10 & 31;
  const float fraction = float(h & 1023);
  const float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return h >> 15 ? -magnitude : magnitude;
}

/// ggml-quants.c, dequantize_row_*, for one block.
void by_ggml(BlockFormat format, const u8* b, float* y) {
  switch (format) {
    case block_q4_0:
      for (int j = 0; j < 16; ++j) {
        y[j] = float((b[2 + j] & 15) - 8) * half(b);
        y[j + 16] = float((b[2 + j] >> 4) - 8) * half(b);
      }
      return;
    case block_q4_1:
      for (int j = 0; j < 16; ++j) {
        y[j] = float(b[4 + j] & 15) * half(b) + half(b + 2);
        y[j + 16] = float(b[4 + j] >> 4) * half(b) + half(b + 2);
      }
      return;
    case block_q5_0:
    case block_q5_1: {
      const bool one = format == block_q5_1;
      const u8* high = b + (one ? 4 : 2);
      std::uint32_t qh;
      std::memcpy(&qh, high, 4);
      for (int j = 0; j < 16; ++j) {
        const int x0 = (high[4 + j] & 15) | (((qh >> j) << 4) & 16);
        const int x1 = (high[4 + j] >> 4) | ((qh >> (j + 12)) & 16);
        y[j] = one ? float(x0) * half(b) + half(b + 2) : float(x0 - 16) * half(b);
        y[j + 16] = one ? float(x1) * half(b) + half(b + 2) : float(x1 - 16) * half(b);
      }
      return;
    }
    case block_q8_0:
      for (int j = 0; j < 32; ++j) y[j] = float(static_cast<signed char>(b[2 + j])) * half(b);
      return;
    case block_q4_k:
    case block_q5_k: {
      const bool five = format == block_q5_k;
      const u8* scales = b + 4;
      const u8* qh = b + 16;
      const u8* ql = b + (five ? 48 : 16);
      int is = 0;
      u8 u1 = 1, u2 = 2;
      for (int j = 0; j < 256; j += 64) {
        float d[2], m[2];
        for (int i = 0; i < 2; ++i) {
          const int k = is + i;
          const u8 sc = k < 4 ? scales[k] & 63 : u8((scales[k + 4] & 15) | ((scales[k - 4] >> 6) << 4));
          const u8 mn = k < 4 ? scales[k + 4] & 63 : u8((scales[k + 4] >> 4) | ((scales[k] >> 6) << 4));
          d[i] = half(b) * float(sc), m[i] = half(b + 2) * float(mn);
        }
        for (int l = 0; l < 32; ++l) *y++ = d[0] * float((ql[l] & 15) + (five && (qh[l] & u1) ? 16 : 0)) - m[0];
        for (int l = 0; l < 32; ++l) *y++ = d[1] * float((ql[l] >> 4) + (five && (qh[l] & u2) ? 16 : 0)) - m[1];
        ql += 32, is += 2, u1 = u8(u1 << 2), u2 = u8(u2 << 2);
      }
      return;
    }
    case block_q6_k: {
      const u8* ql = b;
      const u8* qh = b + 128;
      const auto* sc = reinterpret_cast<const signed char*>(b + 192);
      const float d = half(b + 208);
      for (int n = 0; n < 256; n += 128) {
        for (int l = 0; l < 32; ++l) {
          const int is = l / 16;
          y[l] = d * float(sc[is]) * float(((ql[l] & 15) | ((qh[l] & 3) << 4)) - 32);
          y[l + 32] = d * float(sc[is + 2]) * float(((ql[l + 32] & 15) | (((qh[l] >> 2) & 3) << 4)) - 32);
          y[l + 64] = d * float(sc[is + 4]) * float(((ql[l] >> 4) | (((qh[l] >> 4) & 3) << 4)) - 32);
          y[l + 96] = d * float(sc[is + 6]) * float(((ql[l + 32] >> 4) | (((qh[l] >> 6) & 3) << 4)) - 32);
        }
        y += 128, ql += 64, qh += 32, sc += 8;
      }
      return;
    }
  }
}

struct Named {
  BlockFormat format;
  const char* name;
  int bytes, elements, group;
  bool offset;
  int halves[2];  // where f16 numbers stand
  int most;       // the largest |integer weight|
};
const Named formats[] = {{block_q4_0, "q4_0", 18, 32, 32, false, {0, 0}, 8},   {block_q4_1, "q4_1", 20, 32, 32, true, {0, 2}, 15},
                         {block_q5_0, "q5_0", 22, 32, 32, false, {0, 0}, 16},  {block_q5_1, "q5_1", 24, 32, 32, true, {0, 2}, 31},
                         {block_q8_0, "q8_0", 34, 32, 32, false, {0, 0}, 128}, {block_q4_k, "q4_k", 144, 256, 32, true, {0, 2}, 15},
                         {block_q5_k, "q5_k", 176, 256, 32, true, {0, 2}, 31}, {block_q6_k, "q6_k", 210, 256, 16, false, {208, 208}, 32}};

class Blocks : public testing::TestWithParam<Named> {};

/// Random bytes, but finite halves.
std::vector<u8> random_block(const Named& f, Random& random) {
  std::vector<u8> block(std::size_t(f.bytes));
  for (u8& b : block) b = u8(random());
  for (int at : f.halves) {
    if ((block[std::size_t(at) + 1] & 0x7c) == 0x7c) block[std::size_t(at) + 1] ^= 0x40;
  }
  return block;
}

TEST_P(Blocks, MeanTheNumbersOfTheirFormulas) {
  const Named& f = GetParam();
  EXPECT_EQ(block_bytes(f.format), f.bytes);
  EXPECT_EQ(block_elements(f.format), f.elements);
  EXPECT_EQ(block_group(f.format), f.group);
  EXPECT_EQ(block_has_offset(f.format), f.offset);
  Random random{41};
  for (int round = 0; round < 2000; ++round) {
    const std::vector<u8> block = random_block(f, random);
    float want[256], got[256];
    by_ggml(f.format, block.data(), want);
    dequantise_block(f.format, block.data(), got);
    for (int i = 0; i < f.elements; ++i) {
      ASSERT_EQ(got[i], want[i]) << f.name << " element " << i;
      const BlockGroup g = block_read_group(f.format, block.data(), i / f.group);
      const int w = g.weight[i % f.group];
      ASSERT_LE(std::abs(w), f.most);
      // scale * integer is exact, so one rounding is left
      ASSERT_EQ(float(double(g.scale) * w + double(g.offset)), want[i]) << f.name << " element " << i;
    }
  }
}

TEST_P(Blocks, AddUpInTheChainOfTheContract) {
  const Named& f = GetParam();
  Random random{42};
  for (int round = 0; round < 50; ++round) {
    const int blocks = round % 5;
    std::vector<u8> weights;
    for (int i = 0; i < blocks; ++i) {
      const std::vector<u8> block = random_block(f, random);
      weights.insert(weights.end(), block.begin(), block.end());
    }
    const int k = blocks * f.elements;
    std::vector<float> x(std::size_t(k) + 1), scales(std::size_t(k / 32) + 1);
    std::vector<i16> q(std::size_t(k) + 1);
    for (int i = 0; i < k; ++i) x[std::size_t(i)] = std::ldexp(float(std::int32_t(random())), int(random() % 6) - 33);
    for (int i = 0; i < k / 32; ++i)
      ASSERT_EQ(quantise_activation_block(&x[std::size_t(i) * 32], &q[std::size_t(i) * 32], &scales[std::size_t(i)]), 1);

    float acc = 0;
    for (int at = 0; at < k; at += f.group) {
      const BlockGroup g = block_read_group(f.format, &weights[std::size_t(at / f.elements * f.bytes)], at % f.elements / f.group);
      std::int64_t t = 0, s = 0;
      for (int j = 0; j < f.group; ++j) t += std::int64_t(g.weight[j]) * q[std::size_t(at + j)], s += q[std::size_t(at + j)];
      const double dx = scales[std::size_t(at / 32)];
      ASSERT_EQ(double(float(g.scale * dx)), g.scale * dx);  // exact
      ASSERT_EQ(double(float(g.offset * dx)), g.offset * dx);
      acc = std::fma(float(g.scale * dx), float(t), acc);
      if (f.offset) acc = std::fma(float(g.offset * dx), float(s), acc);
    }
    EXPECT_EQ(bits_f32(dot_quantised(f.format, weights.data(), q.data(), scales.data(), blocks)), bits_f32(acc)) << f.name;
  }
}

TEST_P(Blocks, AreWithinThePromiseOfTheFloatProduct) {
  const Named& f = GetParam();
  Random random{43};
  const int blocks = 8;
  std::vector<u8> weights;
  for (int i = 0; i < blocks; ++i) {
    const std::vector<u8> block = random_block(f, random);
    weights.insert(weights.end(), block.begin(), block.end());
  }
  const int k = blocks * f.elements;
  std::vector<float> x(std::size_t(k), 0), w(std::size_t(k), 0), scales(std::size_t(k / 32), 0);
  std::vector<i16> q(std::size_t(k), 0);
  for (float& v : x) v = float(std::int32_t(random())) * 0x1p-31f;
  for (int i = 0; i < blocks; ++i) by_ggml(f.format, &weights[std::size_t(i * f.bytes)], &w[std::size_t(i * f.elements)]);
  for (int i = 0; i < k / 32; ++i) quantise_activation_block(&x[std::size_t(i) * 32], &q[std::size_t(i) * 32], &scales[std::size_t(i)]);
  double exact = 0, bound = 0;
  for (int i = 0; i < k; ++i) exact += double(w[std::size_t(i)]) * x[std::size_t(i)], bound += std::abs(double(w[std::size_t(i)]));
  EXPECT_NEAR(dot_quantised(f.format, weights.data(), q.data(), scales.data(), blocks), exact, bound * 0x1p-13);
}

INSTANTIATE_TEST_SUITE_P(All, Blocks, testing::ValuesIn(formats), [](const auto& instance) { return instance.param.name; });

TEST(Activations, KeepFifteenBitsUnderOneExponent) {
  Random random{44};
  for (int round = 0; round < 20'000; ++round) {
    float x[32];
    const int exponent = int(random() % 277) - 149;
    for (float& v : x) v = std::ldexp(float(std::int32_t(random())), exponent - 31 - int(random() % 3));
    float largest = 0;
    for (float v : x) largest = std::max(largest, std::abs(v));
    i16 q[32];
    float scale;
    ASSERT_EQ(quantise_activation_block(x, q, &scale), 1);
    int e = 0;
    std::frexp(largest, &e);  // largest < 2^e
    e = largest == 0 ? -100 : std::max(e, -100);
    ASSERT_EQ(scale, std::ldexp(1.0f, e - 14));
    for (int j = 0; j < 32; ++j) {
      ASSERT_EQ(double(q[j]), std::rint(std::ldexp(double(x[j]), 14 - e)));
      ASSERT_LE(std::abs(int(q[j])), 1 << 14);
    }
  }
}

TEST(Activations, WithANanOrAnInfinityMakeEveryOutputNan) {
  for (float bad : {float(NAN), float(INFINITY), -float(INFINITY)}) {
    float x[32] = {1, 2, 3};
    x[17] = bad;
    i16 q[32];
    float scale;
    EXPECT_EQ(quantise_activation_block(x, q, &scale), 0);
    EXPECT_TRUE(std::isnan(scale));
    for (i16 v : q) EXPECT_EQ(v, 0);
    const u8 zeros[q8_0_bytes] = {};
    EXPECT_TRUE(std::isnan(dot_q8_0(zeros, q, &scale, 1)));
  }
}

TEST(Activations, OfZerosAreZeros) {
  const float x[32] = {0.0f, -0.0f, 0x1p-149f};
  i16 q[32];
  float scale;
  EXPECT_EQ(quantise_activation_block(x, q, &scale), 1);
  EXPECT_EQ(scale, 0x1p-114f);
  for (i16 v : q) EXPECT_EQ(v, 0);
}

}  // namespace
}  // namespace votive::numerics
