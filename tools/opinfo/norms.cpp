// Names of compare_opinfo.py for softmax, the normalising layers, attention and losses.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static NormOptions norm_options(const Call& c) { return {.epsilon = c.real32("epsilon", 1e-5), .axes = c.axis("axes", 1)}; }

static void add_layers(Table& table) {
  table["softmax"] = [](const Call& c) { return Tensors{softmax(c.x(), {.axis = c.axis()})}; };
  table["softmin"] = [](const Call& c) { return Tensors{softmin(c.x(), {.axis = c.axis()})}; };
  table["log_softmax"] = [](const Call& c) { return Tensors{log_softmax(c.x(), {.axis = c.axis()})}; };
  table["rms_norm"] = [](const Call& c) { return Tensors{rms_norm(c.x(0), c.x(1), norm_options(c))}; };
  table["layer_norm"] = [](const Call& c) { return Tensors{layer_norm(c.x(0), c.x(1), c.x(2), norm_options(c))}; };
  table["group_norm"] = [](const Call& c) { return Tensors{group_norm(c.x(0), c.integer("groups"), c.x(1), c.x(2), norm_options(c))}; };
  table["instance_norm"] = [](const Call& c) { return Tensors{instance_norm(c.x(0), c.x(1), c.x(2), norm_options(c))}; };
  table["batch_norm"] = [](const Call& c) { return Tensors{batch_norm(c.x(0), c.x(1), c.x(2), c.x(3), c.x(4), norm_options(c))}; };
  table["batch_norm_training"] = [](const Call& c) { return Tensors{batch_norm_training(c.x(0), c.x(1), c.x(2), norm_options(c)).y}; };
  table["local_response_norm"] = [](const Call& c) {
    const LocalResponseOptions o{.alpha = c.real("alpha", 1e-4), .beta = c.real("beta", 0.75), .k = c.real("k", 1)};
    return Tensors{local_response_norm(c.x(), c.integer("size"), o)};
  };
  table["normalize"] = [](const Call& c) {
    return Tensors{normalize(c.x(), {.p = c.real("p", 2), .axis = {c.axis()}, .epsilon = c.real32("epsilon", 1e-12)})};
  };
  table["attention"] = [](const Call& c) {
    AttentionOptions o{.causal = c.flag("causal")};
    if (c.has("scale")) o.scale = c.real32("scale");
    return Tensors{attention(c.x(0), c.x(1), c.x(2), c.x(3), o)};
  };
}

static Reduction reduction(const Call& c) {
  const std::map<std::string, Reduction> names = {
      {"none", Reduction::none}, {"mean", Reduction::mean}, {"sum", Reduction::sum}, {"batchmean", Reduction::batch_mean}};
  return names.at(c.text("reduction", "mean"));
}

static ClassOptions classes(const Call& c) {
  return {.weights = c.x(2),
          .ignore_index = c.integer("ignore_index", -100),
          .label_smoothing = c.real("smoothing"),
          .reduction = reduction(c)};
}

static void add_losses(Table& table) {
  table["mse_loss"] = [](const Call& c) { return Tensors{mse_loss(c.x(0), c.x(1), {.reduction = reduction(c)})}; };
  table["l1_loss"] = [](const Call& c) { return Tensors{l1_loss(c.x(0), c.x(1), {.reduction = reduction(c)})}; };
  table["smooth_l1_loss"] = [](const Call& c) {
    return Tensors{smooth_l1_loss(c.x(0), c.x(1), {.beta = c.real("beta", 1), .reduction = reduction(c)})};
  };
  table["huber_loss"] = [](const Call& c) {
    return Tensors{huber_loss(c.x(0), c.x(1), {.delta = c.real("delta", 1), .reduction = reduction(c)})};
  };
  table["cross_entropy"] = [](const Call& c) { return Tensors{cross_entropy(c.x(0), c.x(1), classes(c))}; };
  table["nll_loss"] = [](const Call& c) { return Tensors{nll_loss(c.x(0), c.x(1), classes(c))}; };
  table["binary_cross_entropy"] = [](const Call& c) {
    return Tensors{binary_cross_entropy(c.x(0), c.x(1), {.weights = c.x(2), .reduction = reduction(c)})};
  };
  table["binary_cross_entropy_with_logits"] = [](const Call& c) {
    const BinaryOptions o{.weights = c.x(2), .pos_weight = c.x(3), .reduction = reduction(c)};
    return Tensors{binary_cross_entropy_with_logits(c.x(0), c.x(1), o)};
  };
  table["kl_div"] = [](const Call& c) {
    return Tensors{kl_div(c.x(0), c.x(1), {.log_target = c.flag("log_target"), .reduction = reduction(c)})};
  };
  table["poisson_nll_loss"] = [](const Call& c) {
    const PoissonOptions o{
        .log_input = c.flag("log_input", true), .full = c.flag("full"), .epsilon = c.real("epsilon", 1e-8), .reduction = reduction(c)};
    return Tensors{poisson_nll_loss(c.x(0), c.x(1), o)};
  };
  table["gaussian_nll_loss"] = [](const Call& c) {
    const GaussianOptions o{.full = c.flag("full"), .epsilon = c.real("epsilon", 1e-6), .reduction = reduction(c)};
    return Tensors{gaussian_nll_loss(c.x(0), c.x(1), c.x(2), o)};
  };
  table["hinge_embedding_loss"] = [](const Call& c) {
    return Tensors{hinge_embedding_loss(c.x(0), c.x(1), {.margin = c.real("margin", 1), .reduction = reduction(c)})};
  };
  table["margin_ranking_loss"] = [](const Call& c) {
    return Tensors{margin_ranking_loss(c.x(0), c.x(1), c.x(2), {.margin = c.real("margin"), .reduction = reduction(c)})};
  };
  table["soft_margin_loss"] = [](const Call& c) { return Tensors{soft_margin_loss(c.x(0), c.x(1), {.reduction = reduction(c)})}; };
  table["cosine_similarity"] = [](const Call& c) {
    return Tensors{cosine_similarity(c.x(0), c.x(1), {.axis = c.axis(), .epsilon = c.real("epsilon", 1e-8)})};
  };
  table["cosine_embedding_loss"] = [](const Call& c) {
    return Tensors{cosine_embedding_loss(c.x(0), c.x(1), c.x(2), {.margin = c.real("margin"), .reduction = reduction(c)})};
  };
  table["triplet_margin_loss"] = [](const Call& c) {
    const TripletOptions o{.margin = c.real("margin", 1),
                           .p = c.real("p", 2),
                           .epsilon = c.real("epsilon", 1e-6),
                           .swap = c.flag("swap"),
                           .reduction = reduction(c)};
    return Tensors{triplet_margin_loss(c.x(0), c.x(1), c.x(2), o)};
  };
  table["multi_margin_loss"] = [](const Call& c) {
    const MultiMarginOptions o{.p = c.axis("p", 1), .margin = c.real("margin", 1), .weights = c.x(2), .reduction = reduction(c)};
    return Tensors{multi_margin_loss(c.x(0), c.x(1), o)};
  };
  table["multilabel_soft_margin_loss"] = [](const Call& c) {
    return Tensors{multilabel_soft_margin_loss(c.x(0), c.x(1), {.weights = c.x(2), .reduction = reduction(c)})};
  };
  table["ctc_loss"] = [](const Call& c) {
    const CtcOptions o{.blank = c.integer("blank"), .zero_infinity = c.flag("zero_infinity"), .reduction = reduction(c)};
    return Tensors{ctc_loss(c.x(0), c.x(1), c.x(2), c.x(3), o)};
  };
}

void add_norms(Table& table) {
  add_layers(table);
  add_losses(table);
}

}  // namespace votive::opinfo
