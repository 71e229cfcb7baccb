// Gradients of resampling against central differences.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

TEST(ResamplingGradients, OfInterpolation) {
  const auto to = [](Shape size, InterpolateOptions options) { return [=](const Tensors& x) { return interpolate(x[0], size, options); }; };
  expect_gradient("interpolate", to({5}, {}), {samples({2, 2, 3}, 1)});
  expect_gradient("interpolate", to({2, 7}, {.mode = Interpolation::nearest_exact}), {samples({1, 2, 3, 4}, 1)});
  expect_gradient("interpolate", to({5, 3}, {.mode = Interpolation::linear}), {samples({1, 2, 3, 4}, 1)});
  expect_gradient("interpolate", to({5, 3}, {.mode = Interpolation::linear, .align_corners = true}), {samples({1, 2, 3, 4}, 1)});
  expect_gradient("interpolate", to({2, 3, 2}, {.mode = Interpolation::linear}), {samples({1, 1, 3, 2, 3}, 1)});
  expect_gradient("interpolate", to({5, 2}, {.mode = Interpolation::cubic}), {samples({1, 2, 3, 4}, 1)});
  expect_gradient("interpolate", to({2, 6}, {.mode = Interpolation::cubic, .antialias = true}), {samples({1, 1, 5, 4}, 1)});
  expect_gradient("interpolate", to({2, 3}, {.mode = Interpolation::area}), {samples({1, 2, 3, 4}, 1)});
  expect_gradient("interpolate_by",
                  [](const Tensors& x) {
                    return interpolate_by(x[0], {1.7, 0.6}, {.mode = Interpolation::linear});
                  },
                  {samples({1, 2, 3, 4}, 1)});
}

TEST(ResamplingGradients, OfSampling) {
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::linear, Interpolation::cubic}) {
    for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
      const GridSampleOptions options{.mode = mode, .padding = padding};
      // steps of 1e-6: a point that crosses an element's edge within a step has no derivative there
      expect_gradient("grid_sample", [=](const Tensors& x) { return grid_sample(x[0], x[1], options); },
                      {samples({1, 2, 3, 4}, 1), samples({1, 2, 3, 2}, 2, -1.2, 1.2)}, {.step = 1e-6});
    }
  }
  expect_gradient("grid_sample", [](const Tensors& x) { return grid_sample(x[0], x[1]); },
                  {samples({1, 1, 2, 3, 2}, 1), samples({1, 2, 1, 2, 3}, 2, -1.2, 1.2)}, {.step = 1e-6});
  expect_gradient("affine_grid", [](const Tensors& x) { return affine_grid(x[0], {2, 1, 2, 3}); }, {samples({2, 2, 3}, 1)});
}

TEST(ResamplingGradients, OfShuffles) {
  expect_gradient("pixel_shuffle", [](const Tensors& x) { return pixel_shuffle(x[0], 2); }, {samples({1, 4, 2, 3}, 1)});
  expect_gradient("pixel_unshuffle", [](const Tensors& x) { return pixel_unshuffle(x[0], 2); }, {samples({1, 1, 2, 4}, 1)});
  expect_gradient("channel_shuffle", [](const Tensors& x) { return channel_shuffle(x[0], 2); }, {samples({1, 4, 3}, 1)});
}

// candle #3507: the gradient of nearest overwrote what was there. Each element is read twice by the upsampling and once by the sum.
TEST(ResamplingGradients, N3507AddToOtherUses) {
  const Tensor x = tensor({{{1, 2}}}).require_grad();
  const Tensor up = interpolate(x, {4});
  EXPECT_EQ(backward(sum(up) + sum(x))[x].to_host<float>(), (std::vector<float>{3, 3}));
}

}  // namespace
}  // namespace votive
