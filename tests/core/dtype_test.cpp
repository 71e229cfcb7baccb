// Promotion is the table of CONTRACT.md 1.2, transcribed here; sizes of blocks are those of the formats.
#include "votive/core/dtype.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <vector>

namespace votive {
namespace {

// Column order as in the rows' names; "-" is the table's ✗. bool ⊕ bool has a common dtype (for where, cat); that it has no arithmetic is the operation's rule.
constexpr const char* table = R"(
bool bool u8  i8  u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 -    -
u8   u8   u8  i16 u16 i16 u32 i32 u64 i64 f16 bf16 f32 f64 -    -
i8   i8   i16 i8  i32 i16 i64 i32 -   i64 f16 bf16 f32 f64 -    -
u16  u16  u16 i32 u16 i32 u32 i32 u64 i64 -   -    f32 f64 -    -
i16  i16  i16 i16 i32 i16 i64 i32 -   i64 -   -    f32 f64 -    -
u32  u32  u32 i64 u32 i64 u32 i64 u64 i64 -   -    -   f64 -    -
i32  i32  i32 i32 i32 i32 i64 i32 -   i64 -   -    -   f64 -    -
u64  u64  u64 -   u64 -   u64 -   u64 -   -   -    -   -   -    -
i64  i64  i64 i64 i64 i64 i64 i64 -   i64 -   -    -   -   -    -
f16  f16  f16 f16 -   -   -   -   -   -   f16 f32  f32 f64 -    -
bf16 bf16 bf16 bf16 - -   -   -   -   -   f32 bf16 f32 f64 -    -
f32  f32  f32 f32 f32 f32 -   -   -   -   f32 f32  f32 f64 -    -
f64  f64  f64 f64 f64 f64 f64 f64 -   -   f64 f64  f64 f64 -    -
e4m3 -    -   -   -   -   -   -   -   -   -   -    -   -   e4m3 -
e5m2 -    -   -   -   -   -   -   -   -   -   -    -   -   -    e5m2
)";
constexpr std::array plain = {boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, e4m3, e5m2};
constexpr std::array quantised = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

std::string name_of(std::optional<DType> d) { return d ? std::string(to_string(*d)) : "-"; }

TEST(CommonDType, IsTheTableOfTheContract) {
  std::istringstream cells(table);
  for (DType row : plain) {
    std::string cell;
    cells >> cell;
    ASSERT_EQ(cell, to_string(row));
    for (DType column : plain) {
      cells >> cell;
      EXPECT_EQ(name_of(common_dtype(row, column)), cell) << to_string(row) << " with " << to_string(column);
    }
  }
}

TEST(CommonDType, OfQuantisedBlocksIsOnlyTheirOwn) {
  for (DType q : quantised) {
    for (DType d : plain) {
      EXPECT_EQ(common_dtype(q, d), std::nullopt);
      EXPECT_EQ(common_dtype(d, q), std::nullopt);
    }
    for (DType other : quantised) EXPECT_EQ(common_dtype(q, other), q == other ? std::optional(q) : std::nullopt);
  }
}

// Sizes from the structs of GGUF's reference implementation: a f16 scale is 2 bytes.
TEST(Blocks, HaveTheSizesOfTheFileFormat) {
  const auto is = [](DType d, Size elements, Size bytes) { return block_size(d) == elements && block_bytes(d) == bytes; };
  EXPECT_TRUE(is(DType::q4_0, 32, 2 + 16));
  EXPECT_TRUE(is(DType::q4_1, 32, 2 + 2 + 16));
  EXPECT_TRUE(is(DType::q5_0, 32, 2 + 4 + 16));
  EXPECT_TRUE(is(DType::q5_1, 32, 2 + 2 + 4 + 16));
  EXPECT_TRUE(is(DType::q8_0, 32, 2 + 32));
  EXPECT_TRUE(is(DType::q4_k, 256, 2 + 2 + 12 + 128));
  EXPECT_TRUE(is(DType::q5_k, 256, 2 + 2 + 12 + 32 + 128));
  EXPECT_TRUE(is(DType::q6_k, 256, 128 + 64 + 16 + 2));
  EXPECT_TRUE(is(boolean, 1, 1));
  EXPECT_TRUE(is(bf16, 1, 2));
  EXPECT_TRUE(is(f64, 1, 8));
}

TEST(DTypes, FallIntoExactlyOneKind) {
  for (int i = 0; i < dtype_count; ++i) {
    const auto d = static_cast<DType>(i);
    EXPECT_EQ((d == boolean) + is_signed_integer(d) + is_unsigned_integer(d) + is_floating(d) + is_float8(d) + is_quantised(d), 1)
        << to_string(d);
    EXPECT_EQ(is_integer(d), is_signed_integer(d) || is_unsigned_integer(d));
    EXPECT_NE(to_string(d), "unknown");
  }
}

}  // namespace
}  // namespace votive
