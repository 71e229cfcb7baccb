// Losses: compositions, so one telling case of each per dtype.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> pairs(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) {
    const Tensor &x = in[0], &y = in[1];
    const Tensor p = sigmoid(y);
    return Outputs{mse_loss(x, y),
                   l1_loss(x, y, {.reduction = Reduction::sum}),
                   smooth_l1_loss(x, y, {.beta = 0.5}),
                   huber_loss(x, y, {.delta = 0.5, .reduction = Reduction::none}),
                   binary_cross_entropy(sigmoid(x), p),
                   binary_cross_entropy_with_logits(x, p, {.reduction = Reduction::none}),
                   kl_div(x, p, {.reduction = Reduction::batch_mean}),
                   poisson_nll_loss(x, p, {.full = true}),
                   gaussian_nll_loss(x, y, p),
                   hinge_embedding_loss(x, sign(y), {.margin = 1, .reduction = Reduction::none}),
                   margin_ranking_loss(x, y, sign(y)),
                   soft_margin_loss(x, sign(y)),
                   cosine_similarity(x, y, {.axis = 0}),
                   triplet_margin_loss(x, y, p, {.reduction = Reduction::none}),
                   multilabel_soft_margin_loss(x, p)};
  };
  for (int i = 0; i < 3; ++i) {
    const Shape shape{rng.between(1, 9), rng.between(1, 40)};
    all.push_back({{{.dtype = d, .shape = shape, .values = Values::moderate}, {.dtype = d, .shape = shape, .values = Values::moderate}},
                   call,
                   "",
                   true});
  }
  return all;
}

std::vector<Case> classes(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& shape, const Shape& target) {
    const auto call = [](std::span<const Tensor> in, Device) {
      return Outputs{cross_entropy(in[0], in[1]),
                     cross_entropy(in[0], in[1], {.weights = in[2], .ignore_index = 1, .label_smoothing = 0.1}),
                     cross_entropy(in[0], softmax(in[0], {.axis = 1}), {.reduction = Reduction::none}),
                     nll_loss(in[0], in[1], {.weights = in[2], .reduction = Reduction::none})};
    };
    all.push_back({{{.dtype = d, .shape = shape, .values = Values::moderate},
                    {.dtype = DType::i32, .shape = target, .values = Values::index, .high = shape[1]},
                    {.dtype = d, .shape = {shape[1]}, .values = Values::moderate}},
                   call,
                   "",
                   true});
  };
  add({rng.between(1, 9), 7}, {});
  const Size N = rng.between(1, 9);
  add({N, 7}, {N});
  add({N, 130}, {N});
  add({N, 3, 4, 5}, {N, 4, 5});
  return all;
}

std::vector<Case> sequences(Rng& rng, DType d) {
  const Size T = rng.between(5, 9);
  return {{{{.dtype = d, .shape = {T, 3, 5}, .values = Values::moderate},
            {.dtype = DType::i64, .shape = {3, 2}, .values = Values::index, .high = 5}},
           [T](std::span<const Tensor> in, Device device) {
             const Tensor lengths = full({3}, T, DType::i64, {.device = device}), sizes = full({3}, 2, DType::i64, {.device = device});
             return Outputs{ctc_loss(log_softmax(in[0]), in[1], lengths, sizes, {.reduction = Reduction::none})};
           },
           "",
           true}};
}

}  // namespace

void add_losses(std::vector<Operation>& all) {
  all.push_back({"losses_of_pairs", every_floating, pairs});
  all.push_back({"losses_of_classes", every_floating, classes});
  all.push_back({"ctc_loss", every_floating, sequences});
}

}  // namespace votive::contract
