// Gradients of softmax and the norms, against central differences and, to the bit, against what their compositions give.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

TEST(NormGradient, OfSoftmax) {
  for (const int axis : {0, 1, -1}) {
    expect_gradient("softmax", [&](const Tensors& x) { return softmax(x[0], {.axis = axis}); }, {samples({3, 4, 2}, 1)});
    expect_gradient("log_softmax", [&](const Tensors& x) { return log_softmax(x[0], {.axis = axis}); }, {samples({3, 4, 2}, 2)});
  }
}

TEST(NormGradient, OfRmsNorm) {
  expect_gradient("rms_norm", [](const Tensors& x) { return rms_norm(x[0], x[1]); }, {samples({2, 3, 5}, 3), samples({5}, 4)});
}

TEST(NormGradient, OfLayerNorm) {
  const Tensor x = samples({2, 3, 5}, 5), gamma = samples({5}, 6), beta = samples({5}, 7);
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }, {x, gamma, beta});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0]); }, {x});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], in[1]); }, {x, gamma});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {x, beta});
}

TEST(NormGradient, OverSeveralAxes) {
  const Tensor x = samples({2, 3, 4}, 10), gamma = samples({3, 4}, 11), beta = samples({3, 4}, 12);
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], in[1], in[2], {.axes = 2}); }, {x, gamma, beta});
  expect_gradient("rms_norm", [](const Tensors& in) { return rms_norm(in[0], in[1], {.axes = 2}); }, {x, gamma});
  expect_gradient("rms_norm", [](const Tensors& in) { return rms_norm(in[0]); }, {x});
}

TEST(NormGradient, OfChannels) {
  const Tensor x = samples({2, 4, 3}, 13), gamma = samples({4}, 14), beta = samples({4}, 15), average = samples({4}, 16),
               variance = samples({4}, 17, 0.5, 2);
  expect_gradient("group_norm", [](const Tensors& in) { return group_norm(in[0], 2, in[1], in[2]); }, {x, gamma, beta});
  expect_gradient("instance_norm", [](const Tensors& in) { return instance_norm(in[0], in[1], in[2]); }, {x, gamma, beta});
  expect_gradient("batch_norm", [](const Tensors& in) { return batch_norm(in[0], in[1], in[2], in[3], in[4]); },
                  {x, average, variance, gamma, beta});
  expect_gradient("batch_norm_training", [](const Tensors& in) { return batch_norm_training(in[0], in[1], in[2]).y; }, {x, gamma, beta});
  expect_gradient("local_response_norm", [](const Tensors& in) { return local_response_norm(in[0], 3, {.alpha = 0.5}); }, {x});
  expect_gradient("normalize", [](const Tensors& in) { return normalize(in[0]); }, {x});
  expect_gradient("softmin", [](const Tensors& in) { return softmin(in[0]); }, {x});
}

/// Bits of the gradients of sum(w·f) at f32 inputs.
std::vector<std::vector<float>> bits(const std::function<Tensor(const Tensors& x)>& f, const Tensors& inputs, const Tensor& w) {
  Tensors leaves;
  for (const Tensor& x : inputs) leaves.push_back(x.to(f32).detach().require_grad());
  std::vector<std::vector<float>> result;
  for (const Tensor& g : grad(std::vector<Tensor>{sum(f(leaves) * w.to(f32))}, leaves)) result.push_back(g.to_host<float>());
  return result;
}

TEST(NormGradient, HasTheBitsOfItsComposition) {
  const Tensor x = samples({7, 33}, 18), gamma = samples({33}, 19), beta = samples({33}, 20), w = samples({7, 33}, 21);
  const ReduceOptions row{.axis = -1, .keep = true};
  EXPECT_EQ(bits([](const Tensors& in) { return rms_norm(in[0], in[1]); }, {x, gamma}, w),
            bits([&](const Tensors& in) { return in[0] * rsqrt(mean(square(in[0]), row) + 1e-5f) * in[1]; }, {x, gamma}, w));
  const auto composed = [&](const Tensors& in) {
    const Tensor c = in[0] - mean(in[0], row);
    return c * rsqrt(var(in[0], {.axis = -1, .keep = true, .correction = 0}) + 1e-5f) * in[1] + in[2];
  };
  EXPECT_EQ(bits([](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }, {x, gamma, beta}, w),
            bits(composed, {x, gamma, beta}, w));
}

// User reports #3011, #2168: fused norms cut the graph in two, so what came before them learned nothing.
TEST(NormGradient, N3011WhatComesBeforeANormHasAGradient) {
  const Tensor x = samples({3, 4}, 22);
  const Tensor first = samples({4, 4}, 23).require_grad(), last = samples({4, 4}, 24).require_grad(), gamma = ones({4}, f64).require_grad();
  for (const bool layer : {true, false}) {
    const Tensor h = linear(x, first);
    const Grads grads = backward(sum(linear(layer ? layer_norm(h, gamma) : rms_norm(h, gamma), last)));
    EXPECT_EQ(grads.size(), 3u);
    EXPECT_GT(sum(abs(grads[first])).item<double>(), 1e-3);
  }
}

/// A half operation is the f32 one between two casts, and so is its gradient.
TEST(NormGradient, OfHalvesIsThatOfF32RoundedOnce) {
  const Tensor x = samples({4, 33}, 8).to(f16), w = samples({4, 33}, 9).to(f16);
  const auto gradient = [&](const std::function<Tensor(const Tensor&)>& f) {
    const Tensor leaf = x.detach().require_grad();
    return grad(sum(f(leaf).to(f32) * w.to(f32)), leaf).to(f32).to_host<float>();
  };
  EXPECT_EQ(gradient([](const Tensor& v) { return softmax(v); }), gradient([](const Tensor& v) { return softmax(v.to(f32)).to(f16); }));
  EXPECT_EQ(gradient([](const Tensor& v) { return log_softmax(v); }),
            gradient([](const Tensor& v) { return log_softmax(v.to(f32)).to(f16); }));
  EXPECT_EQ(gradient([](const Tensor& v) { return layer_norm(v); }),
            gradient([](const Tensor& v) { return layer_norm(v.to(f32)).to(f16); }));
}

}  // namespace
}  // namespace votive
