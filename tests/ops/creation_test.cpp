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
  const std::vector<double> tenths = arange(0.3, 500.0, 0.1, f64, here).to_host<double>();
  ASSERT_EQ(tenths.size(), 4997u);
  for (std::size_t i = 0; i < tenths.size(); ++i) ASSERT_EQ(tenths[i], std::fma(static_cast<double>(i), 0.1, 0.3)) << i;
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

TEST_P(Creation, OfADiagonalMayBeOffset) {
  EXPECT_EQ(eye(2, 3, 0, i32, here).to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(2, 3, 2, i32, here).to_host<std::int32_t>(), (std::vector<std::int32_t>{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(eye(3, 2, -1, f16, here).to(f32).to_host<float>(), (std::vector<float>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(eye(2, 2, INT64_MIN, u8, here).to_host<std::uint8_t>(), std::vector<std::uint8_t>(4, 0));
  EXPECT_EQ(eye(0, 4, 0, f32, here).shape(), (Shape{0, 4}));
  EXPECT_EQ(eye(1, boolean, here).item<bool>(), true);
}

TEST_P(Creation, LikeAnotherTakesItsDtypeShapeAndDevice) {
  const Tensor x = zeros({2, 3}, bf16, here);
  for (const Tensor& y : {zeros_like(x), ones_like(x), full_like(x, 0.5), empty_like(x)}) {
    EXPECT_EQ(y.shape(), x.shape());
    EXPECT_EQ(y.dtype(), bf16);
    EXPECT_EQ(y.device(), GetParam());
  }
  EXPECT_EQ(full_like(x, 0.5).to(f32).to_host<float>(), std::vector<float>(6, 0.5f));
  EXPECT_EQ(kind_of([&] { full_like(zeros({2}, u8, here), 256); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(empty({5}, boolean, here).to_host<bool>().size(), 5u);
}

// CONTRACT.md 1.3: a float literal is no value of an integer dtype; PyTorch 1.13 truncates arange(0.5, 3, dtype=int32) in silence.
TEST_P(Creation, OfARangeRefusesWhatItWouldLose) {
  EXPECT_EQ(kind_of([&] { arange(0.5, 3.0, 1.0, i32, here); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { arange(0.0, 3.0, 1.0, i64, here); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { arange(0, 70000, 1, f16, here); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(arange(0, 65505, 65504, f16, here).count(), 2);
  EXPECT_EQ(kind_of([&] { arange(0.0, 1e6, 1e5, f16, here); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { linspace(0, 1e6, 3, f16, here); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(arange(3.0, 0.0, 1.0, f32, here).count(), 0);
  EXPECT_EQ(arange(0, 5, 1, f32, here).to_host<float>(), (std::vector<float>{0, 1, 2, 3, 4}));
}

TEST_P(Creation, OfALogspaceIsPowers) {
  EXPECT_EQ(logspace(-1, 3, 5, 10, f32, here).to_host<float>(), (std::vector<float>{0.1f, 1, 10, 100, 1000}));
  EXPECT_EQ(logspace(0, 3, 4, 2, f64, here).to_host<double>(), (std::vector<double>{1, 2, 4, 8}));
  EXPECT_EQ(logspace(2, 5, 1, 10, f32, here).to_host<float>(), (std::vector<float>{100}));
  EXPECT_EQ(kind_of([&] { logspace(0, 5, 2, 10, f16, here); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { logspace(0, 5, 2, -2, f32, here); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { logspace(0, 5, -1, 2, f32, here); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { logspace(0, 5, 2, 2, i32, here); }), ErrorKind::DTypeMismatch);
}

// numpy 2.4.6: np.meshgrid([1, 2], [5, 6, 7], indexing=…)
TEST_P(Creation, OfGridsIsMadeOfViews) {
  const Tensor a = tensor({1, 2}, i32, here), b = tensor({5, 6, 7}, i32, here);
  const std::vector<Tensor> ij = meshgrid({a, b});
  EXPECT_EQ(ij[0].to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(ij[1].to_host<std::int32_t>(), (std::vector<std::int32_t>{5, 6, 7, 5, 6, 7}));
  const std::vector<Tensor> xy = meshgrid({a, b, b}, {.indexing = Indexing::xy});
  EXPECT_EQ(xy[0].shape(), (Shape{3, 2, 3}));
  EXPECT_EQ(select(xy[0], 2, 0).to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(select(xy[1], 2, 0).to_host<std::int32_t>(), (std::vector<std::int32_t>{5, 5, 6, 6, 7, 7}));
  EXPECT_TRUE(ij[0].shares_buffer_with(a));
  EXPECT_TRUE(meshgrid({}).empty());
  EXPECT_EQ(meshgrid({a, zeros({0}, i32, here)})[0].shape(), (Shape{2, 0}));
  EXPECT_EQ(kind_of([&] { meshgrid({a, zeros({2, 2}, i32, here)}); }), ErrorKind::ShapeMismatch);
}

TEST_P(Creation, OfOneHotTakesIdsAndNothingNegative) {
  EXPECT_EQ(one_hot(tensor({{1}, {0}}, u8, here), 2).to_host<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 1, 0}));
  EXPECT_EQ(one_hot(tensor({{1}, {0}}, u8, here), 2).shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(one_hot(tensor(1, i64, here), 3, f16).to(f32).to_host<float>(), (std::vector<float>{0, 1, 0}));
  EXPECT_EQ(kind_of([&] { one_hot(tensor({-1}, i64, here), 2); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { one_hot(tensor({2}, i64, here), 2); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { one_hot(tensor({0}, i64, here), 0); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { one_hot(tensor({0}, i64, here), -1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { one_hot(tensor({0}, f32, here), 2); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(one_hot(zeros({0}, i64, here), 3).shape(), (Shape{0, 3}));
}

TEST(CreationErrors, NameTheCallTheUserMade) {
  const auto starts = [](const std::string& name, const std::function<void()>& call) {
    const std::string text = text_of(call);
    EXPECT_EQ(text.substr(0, name.size() + 1), name + ":") << text;
  };
  // more than any machine has: refused by the allocation itself
  const Shape much{Size{1} << 46};
  starts("zeros", [&] { zeros(much); });
  starts("ones", [&] { ones(much); });
  starts("full", [&] { full(much, 1); });
  starts("empty", [&] { empty(much); });
  starts("rand", [&] { rand(much); });
  starts("randn", [&] { randn(much); });
  starts("randint", [&] { randint(0, 9, much); });
  starts("uniform", [&] { uniform(0, 1, much); });
  starts("linspace", [&] { linspace(0, 1, Size{1} << 46); });
  starts("arange", [&] { arange(0, Size{1} << 46); });
  starts("zeros_like", [] { zeros_like(Tensor()); });
  starts("eye", [] { eye(-1); });
  starts("eye", [] { eye(Size{1} << 40, Size{1} << 40); });
}

// candle accepted any element count (user report #3813).
TEST(CreationErrors, CountElements) {
  const std::vector<float> four{1, 2, 3, 4};
  EXPECT_THROW(from_host(std::span<const float>(four), {2, 2, 2}, f32), Error);
  EXPECT_THROW(from_host(std::span<const float>(four), {2, 1}, f32), Error);
  EXPECT_EQ(from_host(std::span<const float>(), {0, 3}, f32).count(), 0);
}

// CONTRACT.md section 10, row 53, before any allocation.
TEST(CreationErrors, Row53SizesPastAllMemoryAreRefused) {
  const Shape shape{Size{1} << 40, Size{1} << 40};
  for (const auto& call :
       std::vector<std::function<void()>>{[&] { empty(shape); }, [&] { zeros(shape); }, [&] { full(shape, 1, u8); }, [&] { rand(shape); },
                                          [&] { bernoulli(0.5, shape); }, [&] { broadcast_to(zeros({1}), shape); }}) {
    EXPECT_EQ(kind_of(call), ErrorKind::SizeOverflow);
  }
}

// Row 52: −1 beside a size 0 is ambiguous.
TEST(CreationErrors, Row52MinusOneBesideZeroIsAmbiguous) {
  EXPECT_EQ(kind_of([] { reshape(zeros({0, 3}), {0, -1}); }), ErrorKind::InvalidArgument);
}

TEST(CreationErrors, RefuseWhatHasNoMeaning) {
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
