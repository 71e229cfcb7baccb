// What creation gives: constants, ranges, nested lists, the same on both devices (CONTRACT.md 8).
#include <cmath>
#include <limits>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

class Creation : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, Creation, every_device, device_name);

TEST_P(Creation, OfNestedBracesIsRowMajor) {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, f32, here);
  EXPECT_EQ(x.shape(), (Shape{2, 3}));
  EXPECT_EQ(x.to_host<float>(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(tensor(7, i32, here).item<std::int32_t>(), 7);
  EXPECT_EQ(tensor({{true, false}}, boolean, here).to_host<bool>(), (std::vector<bool>{true, false}));
}

TEST_P(Creation, ThenAdditionGivesSums) {
  const Tensor y = zeros({2, 2}, f32, here) + tensor({{1, 2}, {3, 4}}, f32, here) + ones({2, 2}, f32, here);
  EXPECT_EQ(y.to_host<float>(), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(y.device(), GetParam());
}

TEST_P(Creation, OfEyeIsOneOnTheDiagonal) {
  EXPECT_EQ(eye(3, i32, here).to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
}

// candle accumulates, so that bf16 stops at 256 (CONTRACT.md section 8); MLX infers i32 and wraps (user reports mlx#4324, mlx#4255).
TEST_P(Creation, OfARangeNeverAccumulates) {
  const Tensor x = arange(0, 300, 1, bf16, here);
  EXPECT_EQ(x.size(0), 300);
  EXPECT_EQ(select(x, 0, 299).to(f32).item<float>(), 300.0f);  // 299 is halfway between 298 and 300, whose last bit is even
  EXPECT_EQ(arange((std::int64_t{1} << 31) - 2, (std::int64_t{1} << 31) + 2, 1, {}, here).to_host<std::int64_t>(),
            (std::vector<std::int64_t>{2147483646, 2147483647, 2147483648, 2147483649}));
  EXPECT_EQ(arange(std::int64_t{1} << 40, (std::int64_t{1} << 40) + 3, 1, {}, here).to_host<std::int64_t>(),
            (std::vector<std::int64_t>{1099511627776, 1099511627777, 1099511627778}));
  EXPECT_EQ(arange(5, 0, -2, {}, here).to_host<std::int64_t>(), (std::vector<std::int64_t>{5, 3, 1}));
  EXPECT_EQ(arange(0.0, 1.0, 0.25, {}, here).to_host<float>(), (std::vector<float>{0, 0.25f, 0.5f, 0.75f}));
  EXPECT_EQ(arange(5, 5, 1, {}, here).size(0), 0);
}

// candle divides by zero for one step and refuses none (user report #1358, mlx#602).
TEST_P(Creation, OfALinspaceHitsBothEnds) {
  EXPECT_EQ(linspace(1, 10, 1, f32, here).to_host<float>(), (std::vector<float>{1}));
  EXPECT_EQ(linspace(1, 10, 0, f32, here).size(0), 0);
  const std::vector<float> x = linspace(0, 1, 4, f32, here).to_host<float>();
  EXPECT_EQ(x.front(), 0.0f);
  EXPECT_EQ(x.back(), 1.0f);
  EXPECT_EQ(x[1], static_cast<float>(1.0 / 3));
}

TEST_P(Creation, NormalisesBytesOfBool) {
  const std::vector<std::uint8_t> bytes{0, 1, 255};
  EXPECT_EQ(from_host(std::span<const std::uint8_t>(bytes), {3}, boolean, here).to_host<bool>(), (std::vector<bool>{false, true, true}));
}

// candle accepted any element count (user report #3813).
TEST(CreationErrors, CountElements) {
  const std::vector<float> four{1, 2, 3, 4};
  EXPECT_THROW(from_host(std::span<const float>(four), {2, 2, 2}, f32), Error);
  EXPECT_THROW(from_host(std::span<const float>(four), {2, 1}, f32), Error);
  EXPECT_EQ(from_host(std::span<const float>(), {0, 3}, f32).count(), 0);
}

TEST(CreationErrors, RefuseWhatHasNoMeaning) {
  EXPECT_EQ(kind_of([] { zeros({Size{1} << 40, Size{1} << 40}); }), ErrorKind::SizeOverflow);  // CONTRACT.md 10, row 53
  EXPECT_EQ(kind_of([] { zeros({-1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { arange(0, 5, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { arange(0.0, 5.0, std::nan("")); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { arange(0.0, std::numeric_limits<double>::infinity(), 1.0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { arange(0, 300, 1, u8); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([] { full({2}, 300, u8); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([] { full({2}, 1e39, f32); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([] { full({2}, 0.5, i32); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([] { tensor({{1, 2}, {3}}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([] { zeros({32}, DType::q4_0); }), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace votive
