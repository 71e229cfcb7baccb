// Every value of every 8- and 16-bit dtype cast to every dtype, against CONTRACT.md 6 computed here: truncation and saturation, the low bits of two's
// complement, and rounding to nearest even by ldexp and nearbyint.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "tests/contract/numbers.h"
#include "tests/contract/values.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"

namespace votive::contract {
namespace {

constexpr DType narrow_dtypes[] = {DType::boolean, DType::u8,   DType::i8,   DType::u16, DType::i16,
                                   DType::f16,     DType::bf16, DType::e4m3, DType::e5m2};

bool is_float(DType d) { return is_floating(d) || is_float8(d); }

/// A float as an integer: toward zero, what is beyond the dtype at its end, NaN 0.
std::uint64_t truncated(DType to, double x) {
  if (std::isnan(x)) return 0;
  const int bits = static_cast<int>(block_bytes(to)) * 8 - (is_signed_integer(to) ? 1 : 0);
  const double above = std::ldexp(1.0, bits), least = is_signed_integer(to) ? -above : 0.0;
  if (x >= above) return static_cast<std::uint64_t>((Wide{1} << bits) - 1);
  return static_cast<std::uint64_t>(static_cast<Wide>(std::max(std::trunc(x), least)));
}

std::uint64_t cast_bits(DType from, DType to, bool saturate, std::uint64_t bits) {
  const double x = value_of(from, bits);
  if (to == DType::boolean) return x != 0;
  if (is_float(to)) return rounded_to(to, x, is_float8(to) && saturate);
  return is_float(from) ? truncated(to, x) : static_cast<std::uint64_t>(integer_of(from, bits));
}

class CastsFrom : public ::testing::TestWithParam<DType> {
 protected:
  static inline long long compared = 0;
  static void TearDownTestSuite() { std::printf("casts: %lld results compared with arithmetic\n", compared); }
};

INSTANTIATE_TEST_SUITE_P(NarrowDTypes, CastsFrom, ::testing::ValuesIn(narrow_dtypes),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_P(CastsFrom, GiveForEveryValueAndEveryDTypeWhatArithmeticGives) {
  const DType from = GetParam();
  std::vector<std::uint64_t> all(from == DType::boolean ? 2 : std::size_t{1} << (8 * block_bytes(from)));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  const Shape shape{static_cast<Size>(all.size())};
  const Tensor x = tensor_of(from, shape, all);
  const std::string before(runtime::instruction_set());
  for (int d = 0; d <= static_cast<int>(DType::e5m2); ++d) {
    const DType to = static_cast<DType>(d);
    if (to == from) continue;
    for (const bool saturate : {true, false}) {
      if (!saturate && !is_float8(to)) continue;
      std::vector<std::uint64_t> wanted;
      for (const std::uint64_t bits : all) wanted.push_back(cast_bits(from, to, saturate, bits));
      const Tensor expected = tensor_of(to, shape, wanted);
      const std::string what = std::string(to_string(from)) + " to " + std::string(to_string(to)) + (saturate ? "" : " without saturation");
      EXPECT_EQ(difference(cast(moved(x, Device::reference), to, {.saturate = saturate}), expected, false), "") << what << " on reference";
      for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
        if (!set.available || (sanitized && set.name != before)) continue;
        runtime::set_instruction_set(set.name);
        EXPECT_EQ(difference(cast(x, to, {.saturate = saturate}), expected, false), "") << what << " on " << set.name;
        compared += shape[0];
      }
      compared += shape[0];
    }
  }
  runtime::set_instruction_set(before);
}

// The oracle itself, on numbers that are known: CONTRACT.md 6 and 10, rows 29 to 32.
TEST(Rounding, OfTheseTestsIsToNearestEven) {
  EXPECT_EQ(rounded_to(DType::f16, 1 + 0x1p-11), 0x3c00u);
  EXPECT_EQ(rounded_to(DType::f16, 1 + 0x1p-11 + 0x1p-30), 0x3c01u);
  EXPECT_EQ(rounded_to(DType::f16, 65520), 0x7c00u);
  EXPECT_EQ(rounded_to(DType::f16, 65519), 0x7bffu);
  EXPECT_EQ(rounded_to(DType::f16, -0x1p-25), 0x8000u);
  EXPECT_EQ(rounded_to(DType::f16, 0x1.8p-25), 0x0001u);
  EXPECT_EQ(rounded_to(DType::bf16, 257), 0x4380u);
  EXPECT_EQ(rounded_to(DType::f32, 16777217), 0x4b800000u);
  EXPECT_EQ(rounded_to(DType::e4m3, 464), 0x7eu);
  EXPECT_EQ(rounded_to(DType::e4m3, 465), 0x7fu);
  EXPECT_EQ(rounded_to(DType::e4m3, 500, true), 0x7eu);
  EXPECT_EQ(rounded_to(DType::e5m2, 61440), 0x7cu);
  EXPECT_EQ(rounded_to(DType::f64, 0x1.fffffffffffffp1023), 0x7fefffffffffffffu);
  EXPECT_EQ(rounded_to(DType::f64, -0x1p-1074), 0x8000000000000001u);
  EXPECT_EQ(truncated(DType::u8, 300), 255u);
  EXPECT_EQ(truncated(DType::i32, 3e9), 0x7fffffffu);
  EXPECT_EQ(static_cast<std::int64_t>(truncated(DType::i64, -1e30)), INT64_MIN);
  for (const DType d : {DType::f16, DType::bf16, DType::e4m3, DType::e5m2}) {
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (8 * block_bytes(d)); ++bits) {
      if (!std::isnan(value_of(d, bits))) { EXPECT_EQ(rounded_to(d, value_of(d, bits)), bits) << to_string(d); }
    }
  }
}

}  // namespace
}  // namespace votive::contract
