// Pooling against numbers of PyTorch 2.15.0 and against arithmetic written out.
#include <cmath>

#include "tests/ops/on_devices.h"
#include "tests/ops/pattern.h"

namespace votive {
namespace {

class Pooling : public OnDevices {
 protected:
  Tensor p(const Shape& shape) const { return pattern(shape, here); }
  static std::vector<float> values(const Tensor& x) { return x.to(f32).to_host<float>(); }
  static void expect_near(const Tensor& y, const std::vector<float>& expected) {
    const std::vector<float> actual = values(y);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_FLOAT_EQ(actual[i], expected[i]) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Pooling, every_device, device_name);

TEST_P(Pooling, OfTheLargestWithPlaces) {
  const auto [y, places] = max_pool2d_with_indices(p({1, 1, 5, 6}), 3, {.stride = 2, .padding = 1, .ceil = true});
  EXPECT_EQ(values(y), (std::vector<float>{2, 4, 4, 3, 3, 4, 4, 4, 3, 3, 4, 4}));
  EXPECT_EQ(places.to_host<std::int64_t>(), (std::vector<std::int64_t>{6, 2, 9, 11, 18, 9, 9, 23, 18, 25, 23, 23}));
}

TEST_P(Pooling, OfMeansCountsAsAsked) {
  const Tensor x = p({1, 1, 5, 6});
  expect_near(avg_pool2d(x, 3, {.stride = 2, .padding = 1, .ceil = true}),
              {-0.111111112f, 0.888888896f, 1, 0.333333343f, 0.333333343f, 0.333333343f, 1.66666663f, 1.16666663f, 0.555555582f,
               0.333333343f, 0.444444448f, 0.833333313f});
  expect_near(avg_pool2d(x, 3, {.stride = 2, .padding = 1, .ceil = true, .count_padding = false}),
              {-0.25f, 1.33333337f, 1.5f, 1, 0.5f, 0.333333343f, 1.66666663f, 2.33333325f, 1.25f, 0.5f, 0.666666687f, 2.5f});
  expect_near(avg_pool2d(x, 3, {.stride = 2, .padding = 1, .divisor = 4}), {-0.25f, 2, 2.25f, 0.75f, 0.75f, 3.75f, 1.25f, 0.75f, 1});
}

TEST_P(Pooling, AdaptiveAndNorms) {
  const Tensor x = p({1, 1, 5, 6});
  expect_near(adaptive_avg_pool2d(x, {3, 4}), {-0.25f, 1, 1.75f, 1.25f, 0.5f, 0, 1.33333337f, 2, 1.25f, 0.75f, -0.25f, 1});
  EXPECT_EQ(values(adaptive_max_pool2d(x, {3, 4})), (std::vector<float>{2, 4, 4, 3, 3, 2, 4, 4, 3, 3, 2, 4}));
  expect_near(lp_pool2d(x, 2, 2), {3.60555124f, 5.74456263f, 4.35889864f, 3.87298346f, 3.60555124f, 5.74456263f});
  const Tensor row = tensor({{{3, -4, -1, 0}}}, f32, here);
  EXPECT_EQ(values(lp_pool1d(row, 1, 2)), (std::vector<float>{7, 1}));
  EXPECT_EQ(values(lp_pool1d(row, INFINITY, 2)), (std::vector<float>{4, 1}));
  EXPECT_NEAR(values(lp_pool1d(row, 3, 2))[0], std::cbrt(27.0 + 64), 1e-6);
  // squares past the halves' range
  EXPECT_EQ(values(lp_pool1d(tensor({{{300, 400}}}, f16, here), 2, 2)), (std::vector<float>{500}));
}

TEST_P(Pooling, LetsNanWinAndOrdersZeros) {
  const float nan = std::nanf("");
  const Tensor x = tensor({{{1, nan, 3, -0.0, 0.0, -1}}}, f32, here);
  const auto [y, places] = max_pool1d_with_indices(x, 3);
  EXPECT_TRUE(std::isnan(values(y)[0]));
  EXPECT_FALSE(std::signbit(values(y)[1])) << "+0 is the larger zero";
  EXPECT_EQ(places.to_host<std::int64_t>(), (std::vector<std::int64_t>{1, 3})) << "argmax takes the first of equals, and zeros are equal";
}

TEST_P(Pooling, OfIntegersIsExact) {
  const Tensor x = tensor({{{INT64_MAX, INT64_MAX - 1, INT64_MIN, INT64_MIN + 1}}}, i64, here);
  EXPECT_EQ(max_pool1d(x, 2).to_host<std::int64_t>(), (std::vector<std::int64_t>{INT64_MAX, INT64_MIN + 1}));
}

TEST_P(Pooling, MeansOfIntegersAreF32) {
  const Tensor y = avg_pool1d(tensor({{{1, 2, 3, 4}}}, u8, here), 2);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(values(y), (std::vector<float>{1.5f, 3.5f}));
}

TEST_P(Pooling, PutsElementsBack) {
  const Tensor x = tensor({{{{1, 5, 2}, {4, 3, 6}}}}, f32, here);
  const auto [y, places] = max_pool2d_with_indices(x, {2, 1});
  EXPECT_EQ(values(max_unpool(y, places, {2, 3})), (std::vector<float>{0, 5, 0, 4, 0, 6}));
  EXPECT_EQ(values(max_unpool(tensor({{{7, 8}}}, f32, here), tensor({{{1, 1}}}, u8, here), {3})), (std::vector<float>{0, 8, 0}));
  EXPECT_EQ(kind_of([&] { max_unpool(tensor({{{7, 8}}}, f32, here), tensor({{{1, 3}}}, i64, here), {3}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { max_unpool(tensor({{{7, 8}}}, f32, here), tensor({{{1, -1}}}, i64, here), {3}); }), ErrorKind::IndexOutOfRange);
}

// candle #3717: a half's sum of 4096 ones.
TEST_P(Pooling, N3717MeanOfAHalfPlaneOfOnes) {
  for (const DType d : {f16, bf16}) {
    const Tensor x = ones({1, 1, 64, 64}, d, here);
    EXPECT_EQ(values(avg_pool2d(x, 64)), std::vector<float>{1});
    EXPECT_EQ(values(global_avg_pool(x)), std::vector<float>{1});
    EXPECT_EQ(values(adaptive_avg_pool2d(x, 1)), std::vector<float>{1});
  }
}

TEST_P(Pooling, GlobalMeansHaveTheBitsOfMean) {
  const Tensor x = rand({2, 3, 70, 90}, {.seed = 4, .device = GetParam()});
  const std::vector<float> expected = values(mean(x, {.axis = {2, 3}}));
  EXPECT_EQ(values(avg_pool2d(x, {70, 90})), expected);
  EXPECT_EQ(values(adaptive_avg_pool2d(x, 1)), expected);
}

// candle's max_pool2d subtracted the kernel from the size and wrapped; also burn #3634, candle #2255, #2497 (padding, ceil mode).
TEST_P(Pooling, RefusesKernelsLargerThanTheInput) {
  const Tensor x = zeros({1, 1, 3, 3}, f32, here);
  EXPECT_EQ(kind_of([&] { max_pool2d(x, 4); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { avg_pool2d(x, {1, 4}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { max_pool2d(x, 2, {.padding = 2}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { max_pool2d(x, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { max_pool2d(x, 2, {.stride = -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { max_pool2d(zeros({1, 1, 0, 3}, f32, here), 2); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { max_pool2d(x.to(boolean), 2); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { avg_pool2d(x.to(e4m3), 2); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { adaptive_avg_pool2d(x, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { adaptive_avg_pool2d(zeros({1, 1, 0, 3}, f32, here), 1); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(max_pool2d(zeros({0, 3, 4, 4}, f32, here), 2).shape(), (Shape{0, 3, 2, 2}));
}

}  // namespace
}  // namespace votive
