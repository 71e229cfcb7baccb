// Gradients of losses: compositions, so what is tested is that nothing in them is lost and that they can be differentiated twice.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

const Tensor& target() {
  static const Tensor t = tensor({2, -100, 1}, i64);
  return t;
}

TEST(LossGradient, OfDistances) {
  const Tensor x = samples({3, 4}, 1), y = samples({3, 4}, 2);
  expect_gradient("mse_loss", [](const Tensors& in) { return mse_loss(in[0], in[1]); }, {x, y});
  expect_gradient("l1_loss", [](const Tensors& in) { return l1_loss(in[0], in[1], {.reduction = Reduction::none}); }, {x, y});
  expect_gradient("smooth_l1_loss", [](const Tensors& in) { return smooth_l1_loss(in[0], in[1], {.beta = 0.7}); }, {x, y});
  expect_gradient("huber_loss", [](const Tensors& in) { return huber_loss(in[0], in[1], {.delta = 0.7}); }, {x, y});
}

TEST(LossGradient, OfClasses) {
  const Tensor x = samples({3, 4}, 3), w = samples({4}, 4, 0.5, 2), p = softmax(samples({3, 4}, 5));
  const auto with = [&](double smoothing, Reduction reduction) {
    expect_gradient("cross_entropy",
                    [=](const Tensors& in) {
                      return cross_entropy(in[0], target(), {.weights = in[1], .label_smoothing = smoothing, .reduction = reduction});
                    },
                    {x, w});
    expect_gradient("cross_entropy",
                    [=](const Tensors& in) { return cross_entropy(in[0], in[1], {.label_smoothing = smoothing, .reduction = reduction}); },
                    {x, p});
  };
  with(0, Reduction::mean);
  with(0.2, Reduction::none);
  expect_gradient("nll_loss", [](const Tensors& in) { return nll_loss(in[0], target(), {.weights = in[1]}); }, {x, w});
  expect_gradient("multi_margin_loss", [](const Tensors& in) { return multi_margin_loss(in[0], tensor({2, 0, 1}, i64), {.p = 2}); }, {x});
}

TEST(LossGradient, OfProbabilities) {
  const Tensor x = samples({3, 4}, 6), y = samples({3, 4}, 7, 0.1, 0.9), p = samples({3, 4}, 8, 0.1, 0.9), w = samples({4}, 9, 0.5, 2);
  expect_gradient("binary_cross_entropy", [](const Tensors& in) { return binary_cross_entropy(in[0], in[1], {.weights = in[2]}); },
                  {p, y, w});
  expect_gradient("binary_cross_entropy_with_logits",
                  [](const Tensors& in) { return binary_cross_entropy_with_logits(in[0], in[1], {.pos_weight = in[2]}); }, {x, y, w});
  expect_gradient("multilabel_soft_margin_loss", [](const Tensors& in) { return multilabel_soft_margin_loss(in[0], in[1]); }, {x, y});
  expect_gradient("kl_div", [](const Tensors& in) { return kl_div(in[0], in[1]); }, {x, y});
  expect_gradient("kl_div", [](const Tensors& in) { return kl_div(in[0], in[1], {.log_target = true}); }, {x, y});
}

TEST(LossGradient, OfCountsAndMeasurements) {
  const Tensor x = samples({3, 4}, 10), y = samples({3, 4}, 11, 0.2, 3), v = samples({3, 4}, 12, 0.3, 2);
  expect_gradient("poisson_nll_loss", [](const Tensors& in) { return poisson_nll_loss(in[0], in[1], {.full = true}); }, {x, y});
  expect_gradient("gaussian_nll_loss", [](const Tensors& in) { return gaussian_nll_loss(in[0], in[1], in[2]); }, {x, y, v});
}

TEST(LossGradient, OfMargins) {
  const Tensor a = samples({3, 4}, 13), b = samples({3, 4}, 14), c = samples({3, 4}, 15);
  const Tensor sign = tensor({{1, -1, 1, 1}, {-1, -1, 1, -1}, {1, 1, -1, 1}}, i32);
  expect_gradient("hinge_embedding_loss", [&](const Tensors& in) { return hinge_embedding_loss(in[0], sign); }, {a});
  expect_gradient("margin_ranking_loss", [&](const Tensors& in) { return margin_ranking_loss(in[0], in[1], sign, {.margin = 0.3}); },
                  {a, b});
  expect_gradient("soft_margin_loss", [&](const Tensors& in) { return soft_margin_loss(in[0], sign); }, {a});
  expect_gradient("cosine_similarity", [](const Tensors& in) { return cosine_similarity(in[0], in[1]); }, {a, b});
  expect_gradient("cosine_embedding_loss",
                  [](const Tensors& in) {
                    return cosine_embedding_loss(in[0], in[1], tensor({1, -1, 1}));
                  },
                  {a, b});
  expect_gradient("triplet_margin_loss", [](const Tensors& in) { return triplet_margin_loss(in[0], in[1], in[2], {.margin = 3}); },
                  {a, b, c});
}

TEST(LossGradient, OfLabelSequences) {
  const Tensor x = samples({5, 2, 4}, 16);
  expect_gradient("ctc_loss",
                  [](const Tensors& in) {
                    return ctc_loss(log_softmax(in[0]), tensor({{1, 2, 2}, {3, 0, 0}}, i64), tensor({5, 4}, i64), tensor({3, 1}, i64));
                  },
                  {x});
}

}  // namespace
}  // namespace votive
