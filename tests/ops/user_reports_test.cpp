// What users of other frameworks report (named by project and number; bare numbers are candle's), where the operation exists here. On every device.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

class UserReports : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, UserReports, every_device, device_name);

TEST_P(UserReports, S5SortPutsEveryNanLastAndStaysAPermutation) {
  std::vector<float> row(64);
  for (int i = 0; i < 64; ++i) row[static_cast<std::size_t>(i)] = i % 7 == 3 ? nan : static_cast<float>((i * 37) % 64);
  const Tensor x = from_host(std::span<const float>(row), {64}, f32, here);
  for (const bool descending : {false, true}) {
    const Sorted s = sort(x, {.descending = descending});
    std::vector<std::int64_t> indices = s.indices.to_host<std::int64_t>();
    const std::vector<float> values = s.values.to_host<float>();
    for (std::size_t i = 0; i < 64; ++i) {
      const float expected = row[static_cast<std::size_t>(indices[i])];
      EXPECT_TRUE(values[i] == expected || (std::isnan(values[i]) && std::isnan(expected)));
      EXPECT_EQ(std::isnan(values[i]), descending ? i < 9 : i >= 55);
    }
    std::sort(indices.begin(), indices.end());
    for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(indices[static_cast<std::size_t>(i)], i);
  }
}

TEST_P(UserReports, N3875SortLooksAtTheViewAndNotAtItsBuffer) {
  const Tensor row = select(of({{1, 2, 3}, {30, 10, 20}}, f32), 0, 1);
  EXPECT_EQ(sort(row).indices.to_host<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_EQ(sort(row, {.descending = true}).indices.to_host<std::int64_t>(), (std::vector<std::int64_t>{0, 2, 1}));
}

TEST_P(UserReports, N2327EmptyTensorsCompare) {
  EXPECT_EQ(eq(zeros({2, 1, 1, 0}, f32, here), zeros({2, 1, 1, 0}, f32, here)).shape(), (Shape{2, 1, 1, 0}));
}

TEST_P(UserReports, N1037IndexSelectAlongTheSecondAxis) {
  EXPECT_EQ(index_select(of({{1, 2}, {3, 4}}, i32), of({1, 0, 1}, i64), 1).to_host<std::int32_t>(),
            (std::vector<std::int32_t>{2, 1, 2, 4, 3, 4}));
}

TEST_P(UserReports, N3371IndexSelectOfI64ByU32) {
  const Tensor x = reshape(arange(1, 11, 1, i64, here), {5, 2});
  EXPECT_EQ(index_select(x, of({0, 4, 2}, u32)).to_host<std::int64_t>(), (std::vector<std::int64_t>{1, 2, 9, 10, 5, 6}));
}

TEST_P(UserReports, N3200IntegerExtremesAreExact) {
  const Tensor x = of({std::int64_t{9007199254740993}, std::int64_t{9007199254740992}, std::int64_t{-9007199254740993}}, i64);
  EXPECT_EQ(max(x).item<std::int64_t>(), 9007199254740993);
  EXPECT_EQ(min(x).item<std::int64_t>(), -9007199254740993);
  EXPECT_EQ(min(of({4294967295u, 4294967294u}, u32)).item<std::uint32_t>(), 4294967294u);
}

TEST_P(UserReports, N1602ComparingI64GivesBool) {
  const Tensor y = eq(of({1, 2}, i64), of({1, 3}, i64));
  EXPECT_EQ(y.dtype(), boolean);
  EXPECT_EQ(y.to_host<bool>(), (std::vector<bool>{true, false}));
}

TEST_P(UserReports, N1948MatmulTakesAnyLayout) {
  const Tensor x = reshape(arange(0, 8 * 64, 1, f32, here), {1, 8, 64});
  const Tensor row = select(x, 1, 7), w = transpose(reshape(arange(0, 32 * 64, 1, f32, here), {32, 64}));
  EXPECT_EQ(matmul(row, w).to_host<float>(), matmul(contiguous(row), contiguous(w)).to_host<float>());
}

TEST_P(UserReports, N73ItemReadsItsOwnElement) { EXPECT_EQ(narrow(of({1, 2, 3}, f32), 0, 2, 1).item<float>(), 3.0f); }

TEST_P(UserReports, N3477RmsNormOfLargeNumbersIsFinite) {
  std::vector<float> values(4 * 6912);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 7e9f : -7e9f;
  const Tensor y = rms_norm(from_host(std::span<const float>(values), {4, 6912}, f32, here), ones({6912}, f32, here));
  for (const float v : y.to_host<float>()) ASSERT_NEAR(std::fabs(v), 1.0f, 1e-5f);
}

TEST_P(UserReports, Mlx4090MinusZeroIsFalse) {
  for (const DType dtype : {f16, f32, f64}) {
    EXPECT_FALSE(any(full({70}, -0.0, dtype, here)).item<bool>());
    EXPECT_FALSE(all(of({0.0, -0.0}, dtype)).item<bool>());
  }
  EXPECT_TRUE(any(of({nan}, f32)).item<bool>());
}

TEST_P(UserReports, Mlx1355SumOfBoolCounts) {
  const Tensor y = sum(ones({10, 10, 10}, boolean, here));
  EXPECT_EQ(y.dtype(), i64);
  EXPECT_EQ(y.item<std::int64_t>(), 1000);
}

TEST_P(UserReports, Mlx501LargeLiteralsStayExact) {
  EXPECT_EQ(full({1}, 4294967295u, u32, here).item<std::uint32_t>(), 4294967295u);
  EXPECT_EQ(full({1}, std::numeric_limits<std::uint64_t>::max(), u64, here).item<std::uint64_t>(),
            std::numeric_limits<std::uint64_t>::max());
}

TEST_P(UserReports, Mlx3229BoolBecomesOneAndZero) {
  EXPECT_EQ(of({true, false, true}, boolean).to(f16).to_host<std::uint16_t>(), (std::vector<std::uint16_t>{0x3c00, 0, 0x3c00}));
  EXPECT_EQ(of({true, false, true}, boolean).to(bf16).to_host<std::uint16_t>(), (std::vector<std::uint16_t>{0x3f80, 0, 0x3f80}));
}

TEST_P(UserReports, Mlx4021AxesOutOfRangeAreErrors) {
  const Tensor x = zeros({2, 2}, f32, here);
  EXPECT_EQ(kind_of([&] { unsqueeze(x, -4); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { gather(x, zeros({2, 2}, i64, here), -9); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { softmax(zeros({}, f32, here)); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { sum(x, {.axis = {0, -2}}); }), ErrorKind::InvalidAxis);
}

TEST_P(UserReports, Mlx4252SortOfAFlippedView) {
  const Tensor x = of({{3, 1, 2}, {6, 4, 5}}, i32);
  EXPECT_EQ(sort(flip(x, 0)).values.to_host<std::int32_t>(), (std::vector<std::int32_t>{4, 5, 6, 1, 2, 3}));
  const Tensor longer = flip(reshape(arange(0, 3 * 32769, 1, i32, here), {3, 32769}), 1);
  EXPECT_EQ(select(select(sort(longer).values, 0, 1), 0, 0).item<std::int32_t>(), 32769);
}

TEST_P(UserReports, Mlx3720ArithmeticOnAReversedView) {
  EXPECT_EQ((flip(arange(0, 8, 1, f32, here), 0) * 2.0).to_host<float>(), (std::vector<float>{14, 12, 10, 8, 6, 4, 2, 0}));
}

TEST_P(UserReports, Mlx3739SliceOfFourAxes) {
  const Tensor x = reshape(arange(0, 5 * 6 * 7 * 8, 1, i32, here), {5, 6, 7, 8});
  Tensor y = x;
  for (int axis = 0; axis < 4; ++axis) y = slice(y, {.axis = axis, .start = axis + 1, .stop = axis + 3});
  const Tensor z = contiguous(y);
  EXPECT_EQ(select(select(select(select(z, 0, 0), 0, 0), 0, 0), 0, 0).item<std::int32_t>(), ((1 * 6 + 2) * 7 + 3) * 8 + 4);
  EXPECT_EQ(select(select(select(select(z, 0, 1), 0, 1), 0, 1), 0, 1).item<std::int32_t>(), ((2 * 6 + 3) * 7 + 4) * 8 + 5);
}

TEST_P(UserReports, Mlx4125BatchesOfMatmulBroadcast) {
  const Tensor y = matmul(ones({1, 3, 4}, f32, here), ones({2, 4, 5}, f32, here));
  EXPECT_EQ(y.shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(sum(y).item<float>(), 120.0f);
}

TEST_P(UserReports, Mlx3675AnErrorLeavesEverythingUsable) {
  const Tensor x = of({1, 2}, f32);
  EXPECT_THROW(index_select(x, of({9}, i64)), Error);
  EXPECT_EQ((x + x).to_host<float>(), (std::vector<float>{2, 4}));
}

// The exact sum is 4449; the nearest f16 is 4448.
TEST_P(UserReports, Pytorch59489SumOfF16IsRoundedOnce) {
  std::vector<std::uint16_t> ones_of(4449, 0x3c00);
  EXPECT_EQ(sum(from_host(std::span<const std::uint16_t>(ones_of), {4449}, f16, here)).to(f32).item<float>(), 4448.0f);
}

TEST_P(UserReports, Pytorch1810TopkTakesNanFirstWithAValidIndex) {
  const Sorted top = topk(of({-1, nan, 2, 1}, f32), 1);
  EXPECT_TRUE(std::isnan(top.values.item<float>()));
  EXPECT_EQ(top.indices.item<std::int64_t>(), 1);
}

TEST_P(UserReports, Pytorch190781NegativeNanIsLastToo) {
  Tensor x = arange(0, 129, 1, f32, here);
  Tensor first = narrow(x, 0, 0, 6);
  copy_into(first, full({}, -nan, f32, here));
  const std::vector<float> sorted = sort(x).values.to_host<float>();
  EXPECT_EQ(sorted[0], 6.0f);
  EXPECT_TRUE(std::isnan(sorted[123]));
}

TEST_P(UserReports, Pytorch15764LongSortsAreConsistent) {
  const Tensor x = flip(arange(0, 32768, 1, f32, here), 0);
  const std::vector<std::int64_t> order = sort(x).indices.to_host<std::int64_t>();
  EXPECT_EQ(order.front(), 32767);
  EXPECT_EQ(order.back(), 0);
}

TEST_P(UserReports, Pytorch178716SmallIntegersPromoteToHoldBoth) {
  const Tensor y = of({200}, u8) + of({-1}, i8);
  EXPECT_EQ(y.dtype(), i16);
  EXPECT_EQ(y.item<std::int16_t>(), 199);
}

TEST_P(UserReports, Llama25568SumOfAPermutedTensor) {
  const Tensor x = reshape(arange(0, 33 * 256, 1, f32, here), {33, 256});
  EXPECT_EQ(sum(permute(x, {1, 0}), {.axis = 1}).to_host<float>(), sum(contiguous(transpose(x)), {.axis = 1}).to_host<float>());
}

TEST_P(UserReports, Llama22913WritingIntoAViewHonoursItsOffset) {
  const Tensor cache = zeros({3, 2}, f32, here);
  Tensor second = select(cache, 0, 1);
  copy_into(second, of({5, 6}, f32));
  EXPECT_EQ(cache.to_host<float>(), (std::vector<float>{0, 0, 5, 6, 0, 0}));
}

TEST_P(UserReports, Llama14580RopeOfPartOfAHeadCopiesTheRest) {
  const Tensor x = transpose(rand({1, 3, 2, 8}, {.seed = 3, .device = GetParam()}), 1, 2);
  const Tensor frequencies = rope_frequencies(4, 10000, here);
  const Tensor y = rope(x, arange(5, 8, 1, i64, here), frequencies);
  EXPECT_EQ(narrow(y, 3, 4, 4).to_host<float>(), narrow(x, 3, 4, 4).to_host<float>());
  EXPECT_NE(narrow(y, 3, 0, 4).to_host<float>(), narrow(x, 3, 0, 4).to_host<float>());
}

// #3005: angles in f32 whatever the dtype of x. Position 2000, frequency 1: cos(2000) = −0.36745…, sin(2000) = 0.93004…
TEST_P(UserReports, N3005RopeOfHalvesComputesAnglesInF32) {
  const Tensor y = rope(of({{{{1.0, 0.0}}}}, bf16), of({2000}, i64), of({1.0}, f32));
  EXPECT_NEAR(narrow(y, 3, 0, 1).to(f32).item<float>(), -0.3674596f, 0.001f);
  EXPECT_NEAR(narrow(y, 3, 1, 1).to(f32).item<float>(), 0.9300395f, 0.002f);
}

TEST_P(UserReports, SoftmaxRowsOfSpecials) {
  const std::vector<float> y = softmax(of({{-infinity, -infinity}, {infinity, 0}, {nan, 0}, {-infinity, 0}}, f32)).to_host<float>();
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(std::isnan(y[static_cast<std::size_t>(i)])) << i;
  EXPECT_EQ(y[6], 0.0f);
  EXPECT_EQ(y[7], 1.0f);
}

}  // namespace
}  // namespace votive
