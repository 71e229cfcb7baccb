// Gradients of convolutions and of the unfolding they are made of, against central differences.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

TEST(ConvolutionGradients, OfConvolutions) {
  const auto conv = [](auto function, ConvOptions options) {
    return [=](const Tensors& x) { return function(x[0], x[1], x[2], options); };
  };
  expect_gradient("conv1d", conv(conv1d, {.stride = 2, .padding = 1}), {samples({2, 2, 6}, 1), samples({3, 2, 3}, 2), samples({3}, 3)});
  expect_gradient("conv1d", conv(conv1d, {.padding = "same", .dilation = 2}), {samples({2, 5}, 1), samples({1, 2, 2}, 2), Tensor()});
  expect_gradient("conv2d", conv(conv2d, {}), {samples({1, 2, 3, 3}, 1), samples({2, 2, 2, 2}, 2), Tensor()});
  expect_gradient("conv2d", conv(conv2d, {.stride = {2, 1}, .padding = {{1, 0}, {0, 2}}, .dilation = {1, 2}, .groups = 2}),
                  {samples({2, 4, 4, 3}, 1), samples({2, 2, 2, 2}, 2), samples({2}, 3)});
  expect_gradient("conv2d", conv(conv2d, {.stride = 3}), {samples({1, 1, 5, 5}, 1), samples({1, 1, 2, 2}, 2), samples({1}, 3)});
  expect_gradient("conv2d", conv(conv2d, {.padding = 1, .groups = 2}),
                  {samples({1, 2, 3, 3}, 1), samples({2, 1, 3, 3}, 2), samples({2}, 3)});
  expect_gradient("conv3d", conv(conv3d, {.stride = 2, .padding = 1}),
                  {samples({1, 1, 3, 2, 3}, 1), samples({2, 1, 2, 2, 2}, 2), samples({2}, 3)});
}

TEST(ConvolutionGradients, OfTransposedConvolutions) {
  const auto conv = [](auto function, ConvTransposeOptions options) {
    return [=](const Tensors& x) { return function(x[0], x[1], x[2], options); };
  };
  expect_gradient("conv_transpose1d", conv(conv_transpose1d, {.stride = 2, .padding = 1, .output_padding = 1}),
                  {samples({2, 2, 3}, 1), samples({2, 3, 3}, 2), samples({3}, 3)});
  expect_gradient("conv_transpose2d",
                  conv(conv_transpose2d, {.stride = {2, 1}, .padding = {{1, 0}, {0, 1}}, .dilation = {1, 2}, .groups = 2}),
                  {samples({1, 4, 2, 3}, 1), samples({4, 1, 2, 2}, 2), samples({2}, 3)});
  expect_gradient("conv_transpose3d", conv(conv_transpose3d, {.stride = 2}),
                  {samples({1, 1, 2, 1, 2}, 1), samples({1, 2, 2, 1, 2}, 2), samples({2}, 3)});
}

TEST(ConvolutionGradients, OfColumnsAreEachOthers) {
  expect_gradient("im2col",
                  [](const Tensors& x) {
                    return im2col(x[0], {2, 3}, {.stride = {1, 2}, .padding = 1});
                  },
                  {samples({1, 2, 4, 5}, 1)});
  expect_gradient("col2im",
                  [](const Tensors& x) {
                    return col2im(x[0], {4, 3}, 2, {.padding = 1, .dilation = 2});
                  },
                  {samples({1, 8, 12}, 1)});
}

// candle #2337: the gradient of a transposed convolution with stride 2, padding 1 and output padding 1 was wrong. The loss is the sum of squares; its
// gradient is 2·y carried back, so x·dx = w·dw = 2·loss, as y is linear in each.
TEST(ConvolutionGradients, N2337OfATransposedConvolutionWithOutputPadding) {
  const Tensor x = samples({1, 4, 5, 5}, 1).require_grad(), w = samples({4, 2, 3, 3}, 2).require_grad();
  const Tensor y = conv_transpose2d(x, w, {}, {.stride = 2, .padding = 1, .output_padding = 1});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 10, 10}));
  const Tensor loss = sum(y * y);
  const Grads g = backward(loss);
  const double twice = 2 * loss.item<double>();
  EXPECT_NEAR(sum(x * g[x]).item<double>(), twice, 1e-9 * twice);
  EXPECT_NEAR(sum(w * g[w]).item<double>(), twice, 1e-9 * twice);
}

TEST(ConvolutionGradients, AreOfTheInputsDtypeInEveryFloat) {
  for (const DType d : {f16, bf16, f32, f64}) {
    const Tensor x = ones({1, 1, 3, 3}, d).require_grad(), w = ones({1, 1, 2, 2}, d).require_grad(), b = ones({1}, d).require_grad();
    const Grads g = backward(sum(conv2d(x, w, b)));
    EXPECT_EQ(g[x].dtype(), d);
    EXPECT_EQ(g[x].to(f64).to_host<double>(), (std::vector<double>{1, 2, 1, 2, 4, 2, 1, 2, 1}));
    EXPECT_EQ(g[w].to(f64).to_host<double>(), (std::vector<double>{4, 4, 4, 4}));
    EXPECT_EQ(g[b].to(f64).to_host<double>(), (std::vector<double>{4}));
  }
}

}  // namespace
}  // namespace votive
