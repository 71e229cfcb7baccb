// Fingerprints of losses and of gradients. A gradient is made of the operations above in an order that the graph decides, so it has one hash too; the
// networks here are small and touch the gradients of most subjects.
#include "fingerprint_list.h"

namespace votive::app {

namespace {

void add_class_losses(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return normal({9, 7}, t, 611, d); };
  const auto weights = [d](DType t) { return abs(normal({7}, t, 612, d)); };
  const auto target = [d] { return positions({9}, 7, i32, 613, d); };
  c.all("cross_entropy", [=](DType t) {
    const Tensor w = weights(t);
    return Outputs{cross_entropy(x(t), target()), cross_entropy(x(t), target(), {.weights = w, .ignore_index = 1, .label_smoothing = 0.1}),
                   cross_entropy(x(t), softmax(normal({9, 7}, t, 614, d)), {.reduction = Reduction::none})};
  });
  c.all("nll_loss", [=](DType t) {
    const Tensor w = weights(t);
    return Outputs{nll_loss(log_softmax(x(t)), target(), {.weights = w}), nll_loss(x(t), target(), {.reduction = Reduction::none})};
  });
  c.all("multi_margin_loss", [=](DType t) {
    const Tensor w = weights(t);
    return Outputs{multi_margin_loss(x(t), target()), multi_margin_loss(x(t), target(), {.p = 2, .margin = 0.5, .weights = w})};
  });
  c.all("multilabel_soft_margin_loss", [=](DType t) {
    return Outputs{multilabel_soft_margin_loss(x(t), random_bits({9, 7}, boolean, 615, d).to(t))};
  });
  c.all("ctc_loss", [=](DType t) {
    const Tensor lengths = full({3}, 8, i64, {.device = d}), sizes = full({3}, 2, i64, {.device = d});
    return Outputs{ctc_loss(log_softmax(normal({8, 3, 5}, t, 616, d)), positions({3, 2}, 4, i64, 617, d) + 1, lengths, sizes,
                            {.reduction = Reduction::none})};
  });
}

/// A loss and the gradients of its leaves.
Outputs with_gradients(const Tensor& loss, const std::vector<Tensor>& leaves) {
  const Grads g = backward(loss);
  Outputs all{loss.detach()};
  for (const Tensor& leaf : leaves) all.push_back(g[leaf]);
  return all;
}

}  // namespace

void add_losses(Collector& c) {
  const Device d = c.device();
  const auto x = [d](DType t) { return normal({5, 67}, t, 601, d); };
  const auto y = [d](DType t) { return normal({5, 67}, t, 602, d); };
  const auto p = [=](DType t) { return sigmoid(y(t)); };
  const auto none = Reduction::none;
  c.all("mse_loss", [=](DType t) { return Outputs{mse_loss(x(t), y(t)), mse_loss(x(t), y(t), {none})}; });
  c.all("l1_loss", [=](DType t) { return Outputs{l1_loss(x(t), y(t)), l1_loss(x(t), y(t), {Reduction::sum})}; });
  c.all("smooth_l1_loss", [=](DType t) { return Outputs{smooth_l1_loss(x(t), y(t), {.beta = 0.5, .reduction = none})}; });
  c.all("huber_loss", [=](DType t) { return Outputs{huber_loss(x(t), y(t), {.delta = 0.5, .reduction = none})}; });
  c.all("binary_cross_entropy", [=](DType t) {
    return Outputs{binary_cross_entropy(sigmoid(x(t)), p(t)), binary_cross_entropy(sigmoid(x(t)), p(t), {.reduction = none})};
  });
  c.all("binary_cross_entropy_with_logits",
        [=](DType t) { return Outputs{binary_cross_entropy_with_logits(x(t), p(t), {.reduction = none})}; });
  c.all("kl_div", [=](DType t) {
    return Outputs{kl_div(log_softmax(x(t)), softmax(y(t)), {.reduction = Reduction::batch_mean}),
                   kl_div(x(t), y(t), {.log_target = true, .reduction = none})};
  });
  c.all("poisson_nll_loss", [=](DType t) {
    return Outputs{poisson_nll_loss(x(t), abs(y(t)), {.full = true, .reduction = none}),
                   poisson_nll_loss(p(t), p(t), {.log_input = false})};
  });
  c.all("gaussian_nll_loss", [=](DType t) { return Outputs{gaussian_nll_loss(x(t), y(t), p(t), {.full = true, .reduction = none})}; });
  c.all("hinge_embedding_loss", [=](DType t) { return Outputs{hinge_embedding_loss(x(t), sign(y(t)), {.margin = 1, .reduction = none})}; });
  c.all("margin_ranking_loss",
        [=](DType t) { return Outputs{margin_ranking_loss(x(t), y(t), sign(y(t)), {.margin = 0.5, .reduction = none})}; });
  c.all("soft_margin_loss", [=](DType t) { return Outputs{soft_margin_loss(x(t), sign(y(t)), {none})}; });
  c.all("cosine_similarity", [=](DType t) { return Outputs{cosine_similarity(x(t), y(t)), cosine_similarity(x(t), y(t), {.axis = 0})}; });
  c.all("cosine_embedding_loss", [=](DType t) { return Outputs{cosine_embedding_loss(x(t), y(t), sign(normal({5}, t, 603, d)))}; });
  c.all("triplet_margin_loss", [=](DType t) {
    return Outputs{triplet_margin_loss(x(t), y(t), p(t), {.reduction = none}), triplet_margin_loss(x(t), y(t), p(t), {.swap = true})};
  });
  add_class_losses(c);
}

void add_gradients(Collector& c) {
  const Device d = c.device();
  const auto leaf = [d](const Shape& shape, DType t, std::uint64_t seed) { return normal(shape, t, seed, d).require_grad(); };
  c.all("backward of a perceptron", [=](DType t) {
    const Tensor x = leaf({9, 33}, t, 621), w = leaf({33, 17}, t, 622), b = leaf({17}, t, 623), v = leaf({17, 5}, t, 624);
    const Tensor y = matmul(layer_norm(gelu(matmul(x, w) + b), {}, {}), v);
    return with_gradients(cross_entropy(y, positions({9}, 5, i64, 625, d)), {x, w, b, v});
  });
  c.all("backward of a convolution", [=](DType t) {
    const Tensor x = leaf({2, 4, 9, 8}, t, 626), w = leaf({6, 4, 3, 3}, t, 627), u = leaf({6, 3, 2, 2}, t, 628);
    const Tensor y = conv_transpose2d(max_pool2d(silu(conv2d(x, w, {}, {.padding = 1})), 2), u, {}, {.stride = 2});
    return with_gradients(mean(y * y), {x, w, u});
  });
  c.all("backward of attention", [=](DType t) {
    const Tensor q = leaf({1, 4, 9, 16}, t, 629), k = leaf({1, 2, 13, 16}, t, 630), v = leaf({1, 2, 13, 16}, t, 631);
    return with_gradients(sum(square(attention(q, k, v, {}, {.causal = true}))), {q, k, v});
  });
  c.all("backward of lookups", [=](DType t) {
    const Tensor table = leaf({7, 5}, t, 632), x = leaf({4, 9}, t, 633);
    const Tensor y = embedding(table, positions({40}, 7, i64, 634, d)), z = gather(x, positions({4, 20}, 9, i64, 635, d), 1);
    return with_gradients(sum(square(y)) + mean(exp(cumsum(z))) + logsumexp(sort(x).values), {table, x});
  });
  c.all("grad", [=](DType t) {
    const Tensor x = leaf({67}, t, 636);
    const Tensor once = grad(sum(tanh(x) * sin(x)), x, {.create_graph = true});
    return Outputs{once.detach(), grad(sum(once * once), x)};
  });
  c.all("on_gradient", [=](DType t) {
    const Tensor x = leaf({67}, t, 637);
    return with_gradients(sum(square(on_gradient(x, [](const Tensor& dx) { return dx * 2; }))), {x});
  });
  c.all("checkpoint", [=](DType t) {
    const Tensor x = leaf({5, 67}, t, 638);
    return with_gradients(sum(checkpoint([](const Tensors& in) { return softmax(sigmoid(in[0]) * in[0]); }, {x}) * x), {x});
  });
  c.all("custom", [=](DType t) {
    const Tensor x = leaf({67}, t, 639);
    const CustomOperation cube{
        .name = "cube",
        .forward = [](const Tensors& in) { return in[0] * in[0] * in[0]; },
        .gradient = [](const Tensors& in, const Tensor&, const Tensor& dy) { return Tensors{dy * (3 * in[0] * in[0])}; }};
    return with_gradients(sum(custom(cube, {x})), {x});
  });
}

}  // namespace votive::app
