// Gradients of pooling against central differences. Elements of random tensors differ, so the largest stays the largest under a small step.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

TEST(PoolingGradients, OfTheLargest) {
  expect_gradient("max_pool1d", [](const Tensors& x) { return max_pool1d(x[0], 3, {.stride = 1, .padding = 1}); }, {samples({2, 2, 6}, 1)});
  expect_gradient("max_pool2d",
                  [](const Tensors& x) {
                    return max_pool2d(x[0], 2, {.stride = 1, .dilation = {1, 2}, .ceil = true});
                  },
                  {samples({1, 2, 4, 5}, 1)});
  expect_gradient("max_pool3d", [](const Tensors& x) { return max_pool3d(x[0], 2, {.stride = 1}); }, {samples({1, 1, 3, 2, 3}, 1)});
  expect_gradient("adaptive_max_pool2d", [](const Tensors& x) { return adaptive_max_pool2d(x[0], {3, 2}); }, {samples({2, 4, 5}, 1)});
  expect_gradient("global_max_pool", [](const Tensors& x) { return global_max_pool(x[0]); }, {samples({2, 2, 3, 2}, 1)});
  const Tensor places = tensor({{{5, 0, 5}}}, i64);
  expect_gradient("max_unpool", [=](const Tensors& x) { return max_unpool(x[0], places, {6}); }, {samples({1, 1, 3}, 1)});
}

TEST(PoolingGradients, OfMeans) {
  expect_gradient("avg_pool1d", [](const Tensors& x) { return avg_pool1d(x[0], 3, {.stride = 2, .padding = 1, .count_padding = false}); },
                  {samples({2, 2, 6}, 1)});
  expect_gradient("avg_pool2d",
                  [](const Tensors& x) {
                    return avg_pool2d(x[0], {2, 3}, {.stride = 1, .padding = {1, 1}, .ceil = true});
                  },
                  {samples({1, 2, 4, 5}, 1)});
  expect_gradient("avg_pool3d", [](const Tensors& x) { return avg_pool3d(x[0], 2, {.stride = 1, .divisor = 5}); },
                  {samples({1, 1, 3, 2, 3}, 1)});
  expect_gradient("adaptive_avg_pool2d", [](const Tensors& x) { return adaptive_avg_pool2d(x[0], {3, 2}); }, {samples({2, 4, 5}, 1)});
  expect_gradient("global_avg_pool", [](const Tensors& x) { return global_avg_pool(x[0]); }, {samples({2, 2, 3, 2}, 1)});
}

TEST(PoolingGradients, OfNorms) {
  expect_gradient("lp_pool1d", [](const Tensors& x) { return lp_pool1d(x[0], 2, 2, {.stride = 1}); }, {samples({2, 2, 5}, 1)});
  expect_gradient("lp_pool2d", [](const Tensors& x) { return lp_pool2d(x[0], 1, 2); }, {samples({1, 4, 4}, 1)});
  expect_gradient("lp_pool2d", [](const Tensors& x) { return lp_pool2d(x[0], 3, 2); }, {samples({1, 4, 4}, 1, 0.5, 2)});
}

// candle #1593: only kernel == stride had a gradient. The one in the middle is the largest of all four windows.
TEST(PoolingGradients, N1593OverlappingWindowsAdd) {
  const Tensor x = tensor({{{{1, 2, 3}, {4, 9, 6}, {7, 8, 5}}}}).require_grad();
  const Grads g = backward(sum(max_pool2d(x, 2, {.stride = 1})));
  EXPECT_EQ(g[x].to_host<float>(), (std::vector<float>{0, 0, 0, 0, 4, 0, 0, 0, 0}));
}

// CONTRACT.md D16: the one element that argmax names, the first of equals, NaN being the largest.
TEST(PoolingGradients, GoToTheFirstOfEquals) {
  const float nan = std::nanf("");
  const Tensor x = tensor({{{3, 3, 1, 1, nan, 5, nan, 7}}}).require_grad();
  const Grads g = backward(sum(max_pool1d(x, 4)));
  EXPECT_EQ(g[x].to_host<float>(), (std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0}));
}

}  // namespace
}  // namespace votive
