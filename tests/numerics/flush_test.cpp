// The bf16 dot product's fma is what vdpbf16ps does, bit for bit. The rule itself is tested in reduce_test.cpp and flush_exact_test.cpp, on every machine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "tests/numerics/inputs.h"
#include "tests/numerics/probe.h"
#include "votive/numerics/reduce.h"

namespace votive::numerics {
namespace {

#if VOTIVE_PROBE_v4n

std::uint32_t bits(float x) {
  std::uint32_t u;
  std::memcpy(&u, &x, 4);
  return u;
}
float from_bits(std::uint32_t u) {
  float x;
  std::memcpy(&x, &u, 4);
  return x;
}
/// An exponent field in [low, low + count), random sign and fraction.
std::uint16_t bf16_between(std::uint64_t r, std::uint32_t low, std::uint32_t count) {
  return std::uint16_t((r & 0x807f) | (low + std::uint32_t(r >> 32) % count) << 7);
}
std::uint32_t f32_between(std::uint64_t r, std::uint32_t low, std::uint32_t count) {
  return (std::uint32_t(r) & 0x807fffffu) | (low + std::uint32_t(r >> 33) % count) << 23;
}

struct Family {
  const char* name;
  std::uint32_t a_low, a_count, b_low, b_count, c_low, c_count;  // exponent fields
};
const Family families[] = {
    {"anything", 0, 256, 0, 256, 0, 256},      {"moderate", 110, 36, 110, 36, 100, 60},
    {"cancelling", 126, 3, 126, 3, 124, 8},    {"products near the smallest normal", 60, 8, 60, 8, 0, 6},
    {"subnormal inputs", 0, 3, 120, 16, 0, 6}, {"products far below the sum", 50, 8, 50, 8, 0, 3},
    {"overflowing", 185, 10, 185, 10, 250, 6},
};

TEST(FmaFlush, IsWhatTheInstructionComputes) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this machine has no vdpbf16ps";
  constexpr std::size_t lanes = 1 << 16;
  std::vector<float> c(lanes), got(lanes);
  std::vector<std::uint16_t> a(2 * lanes), b(2 * lanes);
  Random random{11};
  const int rounds = exhaustive() ? 600 : 30;
  for (const Family& family : families) {
    std::size_t different = 0;
    std::size_t total = 0;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < 2 * lanes; ++i) {
        a[i] = bf16_between(random(), family.a_low, family.a_count);
        b[i] = bf16_between(random(), family.b_low, family.b_count);
      }
      for (float& x : c) x = from_bits(f32_between(random(), family.c_low, family.c_count));
      numerics_probe::v4n::dot_pairs(c.data(), a.data(), b.data(), got.data(), lanes);
      for (std::size_t i = 0; i < lanes; ++i) {
        const float first = fma_flush_f32(bf16_to_f32(a[2 * i + 1]), bf16_to_f32(b[2 * i + 1]), c[i]);
        const float want = fma_flush_f32(bf16_to_f32(a[2 * i]), bf16_to_f32(b[2 * i]), first);
        if (bits(want) == bits(got[i]) || (std::isnan(want) && std::isnan(got[i]))) continue;
        if (different++ < 3) {
          ADD_FAILURE() << family.name << ": c " << std::hexfloat << c[i] << " odd " << bf16_to_f32(a[2 * i + 1]) << " * "
                        << bf16_to_f32(b[2 * i + 1]) << " even " << bf16_to_f32(a[2 * i]) << " * " << bf16_to_f32(b[2 * i]) << " gives "
                        << got[i] << ", the text " << want;
        }
      }
      total += lanes;
    }
    std::printf("%-36s %zu of %zu lanes differ\n", family.name, different, total);
    EXPECT_EQ(different, 0u) << family.name;
  }
}

// The corner that a random search does not meet: sums at 2^-126 less products between 2^-152 and 2^-148.
TEST(FmaFlush, IsWhatTheInstructionComputesAtTheSmallestNormal) {
  if (!__builtin_cpu_supports("avx512bf16")) GTEST_SKIP() << "this machine has no vdpbf16ps";
  std::size_t different = 0;
  std::size_t total = 0;
  for (std::uint32_t c_bits = 0x00800000u; c_bits < 0x00800004u; ++c_bits) {
    for (int sign = 0; sign < 2; ++sign) {
      for (int exponent = -160; exponent <= -140; ++exponent) {
        for (std::uint32_t fa = 0; fa < 128; ++fa) {
          std::vector<float> c(128, from_bits(c_bits | (sign ? 0x80000000u : 0u))), got(128);
          std::vector<std::uint16_t> a(256), b(256);
          const int ea = exponent / 2;
          const int eb = exponent - ea;
          for (std::uint32_t fb = 0; fb < 128; ++fb) {
            a[2 * fb + 1] = std::uint16_t(std::uint32_t(ea + 127) << 7 | fa | (sign ? 0u : 0x8000u));
            b[2 * fb + 1] = std::uint16_t(std::uint32_t(eb + 127) << 7 | fb);
          }
          numerics_probe::v4n::dot_pairs(c.data(), a.data(), b.data(), got.data(), 128);
          for (std::uint32_t fb = 0; fb < 128; ++fb, ++total) {
            const float first = fma_flush_f32(bf16_to_f32(a[2 * fb + 1]), bf16_to_f32(b[2 * fb + 1]), c[fb]);
            const float want = fma_flush_f32(0.0f, 0.0f, first);
            if (bits(want) != bits(got[fb]) && different++ < 8) {
              ADD_FAILURE() << "c " << std::hexfloat << c[fb] << " + " << bf16_to_f32(a[2 * fb + 1]) << " * " << bf16_to_f32(b[2 * fb + 1])
                            << " gives " << got[fb] << ", the text " << want;
            }
          }
        }
      }
    }
  }
  std::printf("%zu of %zu lanes differ\n", different, total);
  EXPECT_EQ(different, 0u);
}

#else
TEST(FmaFlush, IsWhatTheInstructionComputes) { GTEST_SKIP() << "vdpbf16ps is an instruction of x86-64 that this build has no kernels for"; }
TEST(FmaFlush, IsWhatTheInstructionComputesAtTheSmallestNormal) {
  GTEST_SKIP() << "vdpbf16ps is an instruction of x86-64 that this build has no kernels for";
}
#endif

}  // namespace
}  // namespace votive::numerics
