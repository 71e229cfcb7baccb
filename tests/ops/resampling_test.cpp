// Interpolation, sampling and shuffles against numbers of PyTorch 2.15.0 (f64 where it has it).
#include <cmath>

#include "tests/ops/on_devices.h"
#include "tests/ops/pattern.h"

namespace votive {
namespace {

class Resampling : public OnDevices {
 protected:
  Tensor x = tensor({{{{1, 2, 4}, {3, 5, 8}}}}, f32, here);
  Tensor p(const Shape& shape) const { return pattern(shape, here, 7, 3, f64); }
  static void expect_near(const Tensor& y, const std::vector<double>& expected, double tolerance = 1e-6) {
    const std::vector<double> actual = y.to(f64).to_host<double>();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], tolerance) << i;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Resampling, every_device, device_name);

TEST_P(Resampling, ByEveryMode) {
  const Shape size{3, 5};
  expect_near(interpolate(x, size), {1, 1, 2, 2, 4, 1, 1, 2, 2, 4, 3, 3, 5, 5, 8}, 0);
  expect_near(interpolate(x, size, {.mode = Interpolation::nearest_exact}), {1, 1, 2, 4, 4, 3, 3, 5, 8, 8, 3, 3, 5, 8, 8}, 0);
  expect_near(interpolate(x, size, {.mode = Interpolation::linear}), {1, 1.4, 2, 3.2, 4, 2, 2.6, 3.5, 5, 6, 3, 3.8, 5, 6.8, 8});
  expect_near(interpolate(x, size, {.mode = Interpolation::linear, .align_corners = true}),
              {1, 1.5, 2, 3, 4, 2, 2.75, 3.5, 4.75, 6, 3, 4, 5, 6.5, 8}, 0);
  expect_near(interpolate(x, size, {.mode = Interpolation::cubic}),
              {0.738722222222, 1.04295833333, 1.73958333333, 2.97620833333, 3.83644444444, 1.856, 2.402, 3.5, 5.138, 6.24, 2.97327777778,
               3.76104166667, 5.26041666667, 7.29979166667, 8.64355555556});
  expect_near(interpolate(x, size, {.mode = Interpolation::cubic, .align_corners = true}),
              {1, 1.3125, 2, 3.09375, 4, 2, 2.515625, 3.5, 4.890625, 6, 3, 3.71875, 5, 6.6875, 8});
  expect_near(interpolate(x, size, {.mode = Interpolation::area}), {1, 1.5, 2, 3, 4, 2, 2.75, 3.5, 4.75, 6, 3, 4, 5, 6.5, 8}, 0);
  expect_near(interpolate(p({1, 1, 2, 2, 2}), {3, 3, 1}, {.mode = Interpolation::linear}), {-0.5, 0.75, 2, 0.25, 0.625, 1, 1, 0.5, 0});
}

TEST_P(Resampling, WithAntialias) {
  expect_near(interpolate(p({1, 1, 6, 7}), {3, 4}, {.mode = Interpolation::linear, .antialias = true}),
              {-0.428571429, 2.28, 1.36, 0.761904762, -0.428571429, 2.28, 1.36, 0.761904762, -0.428571429, 2.28, 1.36, 0.761904762}, 1e-8);
  expect_near(interpolate(p({1, 1, 6, 7}), {3, 4}, {.mode = Interpolation::cubic, .antialias = true}),
              {-0.532373298, 2.47365724, 1.29469045, 0.726947979, -0.532373298, 2.47365724, 1.29469045, 0.726947979, -0.532373298,
               2.47365724, 1.29469045, 0.726947979},
              1e-8);
}

// pytorch #178513: nearest by a scale that does not divide.
TEST_P(Resampling, Pytorch178513ByFactors) {
  expect_near(interpolate_by(reshape(arange(1, 11, 1, f32, here), {1, 1, 10}), {1.3}), {1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 9, 10}, 0);
  const Tensor row = tensor({{{1, 2, 4, 8}}}, f64, here);
  expect_near(interpolate_by(row, {1.7}, {.mode = Interpolation::linear}), {1, 1.38235294, 1.97058824, 3.11764706, 4.58823529, 6.94117647},
              1e-8);
  expect_near(interpolate_by(row, {0.6}, {.mode = Interpolation::linear}), {1.33333333, 4}, 1e-8);
}

// mlx #3769: one output with align_corners is the first sample.
TEST_P(Resampling, Mlx3769OfOneOutput) {
  const Tensor square = tensor({{{{1, 2}, {3, 4}}}}, f32, here);
  expect_near(interpolate(square, {1, 1}, {.mode = Interpolation::linear, .align_corners = true}), {1}, 0);
  expect_near(interpolate(square, {1, 4}, {.mode = Interpolation::linear, .align_corners = true}), {1, 4.0 / 3, 5.0 / 3, 2});
  expect_near(interpolate(square, {1, 1}, {.mode = Interpolation::cubic, .align_corners = true}), {1}, 0);
}

TEST_P(Resampling, ToTheSameSizeChangesNothing) {
  const Tensor y = tensor({{{1, INFINITY, -0.0}}}, f32, here);
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::linear, Interpolation::cubic})
    EXPECT_EQ(to_string(interpolate(y, {3}, {.mode = mode})), to_string(y));
}

TEST_P(Resampling, RefusesWhatMakesNoSense) {
  EXPECT_EQ(kind_of([&] { interpolate(x, {3, 5}, {.align_corners = true}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { interpolate(x, {3, -5}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { interpolate(zeros({1, 0}, f32, here), {3}); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(kind_of([&] { interpolate(x, {Size{1} << 40, Size{1} << 40}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { interpolate(x.to(i32), {3}, {.mode = Interpolation::linear}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { interpolate_by(x, {0.0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(interpolate(x.to(u8), {4}).dtype(), u8);
}

TEST_P(Resampling, AtThePointsOfAGrid) {
  const Tensor image = p({1, 1, 6, 7}), grid = tensor({{{{-0.9, -0.7}, {0.3, 0.1}}, {{1.3, -0.2}, {-1.6, 2.5}}}}, f32, here).to(f64);
  const auto expect = [&](Interpolation mode, GridPadding padding, const std::vector<double>& edges, const std::vector<double>& centres) {
    expect_near(grid_sample(image, grid, {.mode = mode, .padding = padding}), edges, 1e-7);
    expect_near(grid_sample(image, grid, {.mode = mode, .padding = padding, .align_corners = true}), centres, 1e-7);
  };
  expect(Interpolation::nearest, GridPadding::zeros, {-2, 3, 0, 0}, {-2, 3, 0, 0});
  expect(Interpolation::nearest, GridPadding::border, {-2, 3, 2, -2}, {-2, 3, 2, -2});
  expect(Interpolation::nearest, GridPadding::reflection, {-2, 3, -1, 4}, {-2, 3, -1, 4});
  expect(Interpolation::linear, GridPadding::zeros, {-1.70000017, 2.79999983, 0, 0}, {-1.09999979, 2.70000011, 0.200000286, 0});
  expect(Interpolation::linear, GridPadding::border, {-2, 2.79999983, 2, -2}, {-1.09999979, 2.70000011, 2, -2});
  expect(Interpolation::linear, GridPadding::reflection, {-2, 2.79999983, 0.350000501, 2.80000025},
         {-1.09999979, 2.70000011, -0.699999571, 3.40000021});
  expect(Interpolation::cubic, GridPadding::zeros, {-2.20322345, 2.93893743, -0.167062573, 0}, {-1.57887189, 2.97000005, 0.184250308, 0});
  expect(Interpolation::cubic, GridPadding::border, {-2.24384366, 2.93893743, 2, -2}, {-1.30474982, 2.97000005, 2.02025005, -2});
  expect(Interpolation::cubic, GridPadding::reflection, {-2.28687487, 2.93893743, -0.0769368422, 3.48400025},
         {-1.63549984, 2.97000005, -0.976749836, 3.9280001});
}

TEST_P(Resampling, OfAffineGrids) {
  const Tensor theta = tensor({{{1, 0.5, 0.25}, {-0.5, 2, 0}}}, f32, here);
  expect_near(affine_grid(theta, {1, 1, 2, 3}),
              {-0.666666687, -0.666666627, 0, -1, 0.666666687, -1.33333337, -0.166666687, 1.33333337, 0.5, 1, 1.16666675, 0.666666627});
  expect_near(affine_grid(theta, {1, 1, 2, 3}, {.align_corners = true}),
              {-1.25, -1.5, -0.25, -2, 0.75, -2.5, -0.25, 2.5, 0.75, 2, 1.75, 1.5});
}

TEST_P(Resampling, ShufflesAreInverse) {
  const Tensor y = reshape(arange(0, 2 * 8 * 2 * 3, 1, i32, here), {2, 8, 2, 3});
  EXPECT_EQ(pixel_shuffle(y, 2).shape(), (Shape{2, 2, 4, 6}));
  EXPECT_EQ(pixel_unshuffle(pixel_shuffle(y, 2), 2).to_host<std::int32_t>(), y.to_host<std::int32_t>());
  EXPECT_EQ(channel_shuffle(channel_shuffle(y, 2), 4).to_host<std::int32_t>(), y.to_host<std::int32_t>());
  EXPECT_EQ(kind_of([&] { pixel_shuffle(y, 3); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { pixel_shuffle(y, 0); }), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace votive
