// Gradients of attention and of rotary positions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const AttentionOptions& options, const Tensor& mask, Size T = 3, Size S = 4) {
  const Tensor q = samples({1, 4, T, 3}, 1), k = samples({1, 2, S, 3}, 2), v = samples({1, 2, S, 2}, 3), slopes = samples({4}, 4, 0.1, 0.5);
  expect_gradient("attention",
                  [&](const Tensors& x) {
                    AttentionOptions given = options;
                    if (x[4].defined()) given.slopes = x[4];
                    return attention(x[0], x[1], x[2], x[3], given);
                  },
                  {q, k, v, mask, options.slopes.defined() ? slopes : Tensor()});
}

TEST(AttentionGradient, WithGroupedHeads) { check({}, {}); }
TEST(AttentionGradient, Causal) { check({.causal = true}, {}); }
TEST(AttentionGradient, WithABoolMask) { check({}, ne(tensor({{1, 0, 1, 1}, {0, 1, 0, 0}, {1, 1, 0, 1}}), 0)); }
TEST(AttentionGradient, WithAnAdditiveMask) { check({}, samples({3, 4}, 6)); }
TEST(AttentionGradient, WithAnAdditiveMaskForEveryHead) { check({.causal = true}, samples({1, 4, 1, 4}, 7)); }
TEST(AttentionGradient, WithASoftCap) { check({.softcap = 2}, {}); }
TEST(AttentionGradient, WithSlopes) { check({.slopes = ones({4}, f64)}, {}); }
TEST(AttentionGradient, WithEverything) {
  check({.scale = 0.7f, .causal = true, .softcap = 3, .window = 2, .slopes = ones({4}, f64)}, samples({3, 4}, 8));
}
TEST(AttentionGradient, OfRowsWithoutKeys) { check({.causal = true}, {}, 4, 2); }

TEST(AttentionGradient, DoesNotLetNanThroughAMask) {
  const Tensor q = samples({1, 1, 2, 2}, 1), mask = ne(tensor({1, 0, 1}), 0);
  Tensor k = samples({1, 1, 3, 2}, 2), v = samples({1, 1, 3, 2}, 3);
  const auto gradients = [&] {
    const Tensor a = q.detach().require_grad(), b = k.detach().require_grad(), c = v.detach().require_grad();
    return grad(sum(attention(a, b, c, mask)), {a, b, c});
  };
  const Tensors clean = gradients();
  k = where(ne(tensor({{0}, {1}, {0}}), 0), full({}, std::nan(""), f64), k);
  v = where(ne(tensor({{0}, {1}, {0}}), 0), full({}, infinity, f64), v);
  const Tensors dirty = gradients();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(clean[i].to_host<double>(), dirty[i].to_host<double>());
}

// D14: attention is a composition, and so is its gradient.
TEST(AttentionGradient, HasTheBitsOfTheComposition) {
  const Tensor q = samples({2, 3, 5, 8}, 1).to(f32), k = samples({2, 3, 7, 8}, 2).to(f32), v = samples({2, 3, 7, 4}, 3).to(f32);
  const Tensor mask = samples({5, 7}, 4).to(f32), w = samples({2, 3, 5, 4}, 5).to(f32);
  const auto gradients = [&](const std::function<Tensor(const Tensors& x)>& f) {
    Tensors leaves;
    for (const Tensor& x : {q, k, v, mask}) leaves.push_back(x.detach().require_grad());
    std::vector<std::vector<float>> bits;
    for (const Tensor& g : grad(std::vector<Tensor>{sum(f(leaves) * w)}, leaves)) bits.push_back(g.to_host<float>());
    return bits;
  };
  EXPECT_EQ(gradients([](const Tensors& x) { return attention(x[0], x[1], x[2], x[3], {.scale = 0.25f}); }),
            gradients([](const Tensors& x) { return matmul(softmax(matmul(x[0], transpose(x[1])) * 0.25 + x[3]), x[2]); }));
}

// User report #3568: a fused rope cut the graph.
TEST(RopeGradient, N3568WhatComesBeforeARotationHasAGradient) {
  const Tensor w = samples({4, 4}, 1).require_grad();
  const Tensor x = reshape(linear(samples({3, 4}, 2), w), {1, 1, 3, 4});
  const Grads grads = backward(sum(square(narrow(rope(x, tensor({0, 1, 2}, i64), tensor({1, 0.1}, f64)), 3, 0, 2))));
  EXPECT_GT(sum(abs(grads[w])).item<double>(), 1e-3);
}

TEST(RopeGradient, OfBothPairings) {
  for (const RopePairing pairing : {RopePairing::halves, RopePairing::interleaved}) {
    const auto call = [=](const Tensors& x) { return rope(x[0], x[1], x[2], {.pairing = pairing}); };
    expect_gradient("rope", call, {samples({2, 2, 3, 5}, 1), tensor({0, 1, 5}, i64), samples({2}, 2, 0.1, 1)});
    expect_gradient("rope", call, {samples({2, 1, 3, 4}, 1), tensor({{0, 1, 5}, {2, 3, 4}}, i64), samples({2}, 2, 0.1, 1)});
  }
}

}  // namespace
}  // namespace votive
