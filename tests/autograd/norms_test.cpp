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
  expect_gradient("rms_norm", [](const Tensors& x) { return rms_norm(x[0], x[1]); }, {samples({2, 3, 5}, 3), samples({5}, 4)},
                  {.twice = false});
}

TEST(NormGradient, OfLayerNorm) {
  const Tensor x = samples({2, 3, 5}, 5), gamma = samples({5}, 6), beta = samples({5}, 7);
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); }, {x, gamma, beta}, {.twice = false});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0]); }, {x}, {.twice = false});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], in[1]); }, {x, gamma}, {.twice = false});
  expect_gradient("layer_norm", [](const Tensors& in) { return layer_norm(in[0], {}, in[1]); }, {x, beta}, {.twice = false});
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
