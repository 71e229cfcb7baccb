// Softmax and norms: row lengths around the boundaries of the tree, other axes, rows with infinities and NaN.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> softmaxes(Rng& rng, DType d, Tensor (*function)(const Tensor&, SoftmaxOptions)) {
  std::vector<Case> all;
  const auto along = [function](int axis) {
    return [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], {.axis = axis})}; };
  };
  for (const Values values : {Values::moderate, Values::any, Values::corners}) {
    for (const Size n : {1, 2, 31, 32, 33, 511, 513})
      all.push_back({{{.dtype = d, .shape = {3, n}, .values = values}}, along(-1), "rows", n < 40});
    all.push_back(
        {{{.dtype = d, .shape = {rng.between(2, 70), rng.between(2, 9), rng.between(2, 9)}, .values = values}}, along(0), "axis 0", true});
    all.push_back(
        {{{.dtype = d, .shape = {rng.between(2, 9), rng.between(2, 70), rng.between(2, 9)}, .values = values}}, along(1), "axis 1", true});
  }
  if (is_floating(d)) {
    for (const Size n : {4095, 4096, 4097, 8193})
      all.push_back({{{.dtype = d, .shape = {2, n}, .values = Values::moderate}}, along(-1), "long rows", false});
    all.push_back({{{.dtype = d, .shape = {200, 130}, .values = Values::moderate}}, along(-1), "many rows", true});
  }
  all.push_back({{{.dtype = d, .shape = {}}}, along(0), "without an axis", false});
  all.push_back({{{.dtype = d, .shape = {3, 0}}}, along(-1), "empty", false});
  all.push_back({{{.dtype = d, .shape = {0, 3}}}, along(-1), "empty", false});
  return all;
}

std::vector<Case> root_mean_square(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{rms_norm(in[0], in[1], {.epsilon = 1e-6f})}; };
  for (const Values values : {Values::moderate, Values::any, Values::wide}) {
    for (const Size n : {1, 2, 31, 32, 33, 511, 513, 576, 4095, 4096, 4097, 8193}) {
      all.push_back({{{.dtype = d, .shape = {n > 1000 ? 1 : rng.between(1, 4), n}, .values = values},
                      {.dtype = d, .shape = {n}, .values = Values::moderate}},
                     call,
                     "",
                     n < 40});
    }
  }
  all.push_back(
      {{{.dtype = d, .shape = {3, 5, 7, 64}, .values = Values::moderate}, {.dtype = d, .shape = {64}, .values = Values::moderate}},
       call,
       "rank 4",
       true});
  all.push_back({{{.dtype = d, .shape = {150, 200}, .values = Values::moderate}, {.dtype = d, .shape = {200}, .values = Values::moderate}},
                 call,
                 "many rows",
                 false});
  all.push_back({{{.dtype = d, .shape = {0, 5}}, {.dtype = d, .shape = {5}}}, call, "empty", false});
  all.push_back({{{.dtype = d, .shape = {3, 0}}, {.dtype = d, .shape = {0}}}, call, "empty", false});
  return all;
}

std::vector<Case> layer(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{layer_norm(in[0], in[1], in[2])}; };
  const auto add = [&](const Shape& shape, Values values, bool gamma, bool beta, bool layouts) {
    all.push_back({{{.dtype = d, .shape = shape, .values = values},
                    {.dtype = d, .shape = {shape.back()}, .values = Values::moderate, .present = gamma},
                    {.dtype = d, .shape = {shape.back()}, .values = Values::moderate, .present = beta}},
                   call,
                   std::string(gamma ? "gamma " : "") + (beta ? "beta" : ""),
                   layouts});
  };
  for (const Values values : {Values::moderate, Values::any, Values::wide}) {
    for (const Size n : {1, 2, 31, 32, 33, 513, 4097}) {
      for (int weights = 0; weights < 4; ++weights)
        add({n > 1000 ? 1 : rng.between(1, 4), n}, values, (weights & 1) != 0, (weights & 2) != 0, n < 40);
    }
  }
  add({3, 5, 7, 64}, Values::moderate, true, true, true);
  add({150, 200}, Values::moderate, true, true, false);
  add({0, 5}, Values::moderate, true, true, false);
  return all;
}

std::vector<Case> channels(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& shape, Size groups, bool gamma, bool beta, Values values, bool layouts) {
    const Input weight{.dtype = d, .shape = {shape[1]}, .values = Values::moderate};
    Input scale = weight, shift = weight, average = weight, variance = weight;
    scale.present = gamma;
    shift.present = beta;
    average.dtype = d == DType::f64 ? d : DType::f32;
    variance.values = Values::small_integers;
    const auto call = [groups](std::span<const Tensor> in, Device) {
      const BatchNormalised trained = batch_norm_training(in[0], in[1], in[2]);
      return Outputs{group_norm(in[0], groups, in[1], in[2]),
                     instance_norm(in[0], in[1], in[2]),
                     batch_norm(in[0], in[3], in[4], in[1], in[2]),
                     trained.y,
                     trained.mean,
                     trained.variance};
    };
    all.push_back({{{.dtype = d, .shape = shape, .values = values}, scale, shift, average, variance}, call, "", layouts});
  };
  for (const Values values : {Values::moderate, Values::any, Values::wide}) {
    for (int weights = 0; weights < 4; ++weights) {
      add({rng.between(1, 3), 6, rng.between(1, 40)}, 3, (weights & 1) != 0, (weights & 2) != 0, values, true);
      add({rng.between(1, 9), 4}, 2, (weights & 1) != 0, (weights & 2) != 0, values, true);
      add({2, 4, rng.between(1, 9), rng.between(1, 9)}, 1, (weights & 1) != 0, (weights & 2) != 0, values, true);
    }
  }
  add({3, 8, 33, 31}, 4, true, true, Values::moderate, false);
  add({2, 3, 5000}, 3, true, true, Values::wide, false);
  add({0, 4, 3}, 2, true, true, Values::moderate, false);
  add({2, 4, 0}, 2, true, true, Values::moderate, false);
  return all;
}

std::vector<Case> compositions(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) {
    return Outputs{local_response_norm(in[0], 3), normalize(in[0]), softmin(in[0]), layer_norm(in[0], {}, {}, {.axes = 2}),
                   rms_norm(in[0], {}, {.axes = 2})};
  };
  for (const Values values : {Values::moderate, Values::any})
    all.push_back({{{.dtype = d, .shape = {rng.between(1, 4), rng.between(1, 9), rng.between(1, 40)}, .values = values}}, call, "", true});
  return all;
}

}  // namespace

void add_norms(std::vector<Operation>& all) {
  all.push_back({"softmax", every_number_and_bool, [](Rng& rng, DType d) { return softmaxes(rng, d, softmax); }});
  all.push_back({"log_softmax", every_number_and_bool, [](Rng& rng, DType d) { return softmaxes(rng, d, log_softmax); }});
  all.push_back({"rms_norm", every_floating, root_mean_square});
  all.push_back({"layer_norm", every_floating, layer});
  all.push_back({"channel_norms", every_floating, channels});
  all.push_back({"composed_norms", every_floating, compositions});
}

}  // namespace votive::contract
