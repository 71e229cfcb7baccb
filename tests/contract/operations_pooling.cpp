// Pooling in one to three dimensions with every attribute, windows that are not alike, and elements put back.
#include <cmath>

#include "tests/contract/operations.h"
#include "votive/autograd/autograd.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

Shape shape_of(Rng& rng, int axes, Size low, Size high) {
  Shape s{rng.between(1, 2), rng.between(1, 3)};
  for (int i = 0; i < axes; ++i) s.push_back(rng.between(low, high));
  return s;
}

std::vector<Case> largest(Rng& rng, DType d, int axes) {
  std::vector<Case> all;
  const auto function = axes == 1 ? max_pool1d_with_indices : axes == 2 ? max_pool2d_with_indices : max_pool3d_with_indices;
  const auto add = [&](const Shape& x, const PerAxis& kernel, const MaxPoolOptions& options, Values values, const std::string& note,
                       bool layouts) {
    all.push_back({{{.dtype = d, .shape = x, .values = values}},
                   [=](std::span<const Tensor> in, Device) {
                     auto [y, indices] = function(in[0], kernel, options);
                     return Outputs{y, indices};
                   },
                   note,
                   layouts});
  };
  for (const Values values : {Values::moderate, Values::any, Values::corners}) {
    const Size high = axes == 1 ? 40 : axes == 2 ? 14 : 7;
    add(shape_of(rng, axes, 4, high), 2, {}, values, "plain", true);
    add(shape_of(rng, axes, 4, high), 3, {.stride = 1, .padding = 1}, values, "stride 1", true);
    add(shape_of(rng, axes, 4, high), 3, {.stride = 2, .padding = 1, .ceil = true}, values, "ceil", true);
    add(shape_of(rng, axes, 5, high), 2, {.stride = 3, .dilation = 2}, values, "dilation", true);
    add(shape_of(rng, axes, 4, high), 2, {.stride = 1, .padding = "same"}, values, "same", true);
  }
  add(shape_of(rng, axes, 2, 2), 3, {}, Values::moderate, "too large a kernel", false);
  add(shape_of(rng, axes, 4, 5), 2, {.padding = 2}, Values::moderate, "too much padding", false);
  add(shape_of(rng, axes, 2, 2), 2, {.padding = 3, .dilation = 5}, Values::moderate, "padding alone", false);
  Shape empty = shape_of(rng, axes, 3, 3);
  empty[1] = 0;
  add(empty, 2, {}, Values::moderate, "empty", false);
  return all;
}

std::vector<Case> averages(Rng& rng, DType d, int axes) {
  std::vector<Case> all;
  const auto function = axes == 1 ? avg_pool1d : axes == 2 ? avg_pool2d : avg_pool3d;
  const auto add = [&](const Shape& x, const PerAxis& kernel, const AveragePoolOptions& options, Values values, const std::string& note,
                       bool layouts) {
    all.push_back({{{.dtype = d, .shape = x, .values = values}},
                   [=](std::span<const Tensor> in, Device) {
                     if (!is_floating(in[0].dtype())) return Outputs{function(in[0], kernel, options)};
                     const Tensor leaf = in[0].require_grad(), y = function(leaf, kernel, options);
                     return Outputs{y.detach(), grad(sum(square(y)), leaf)};  // the gradient has a kernel of its own
                   },
                   note,
                   layouts});
  };
  for (const Values values : {Values::moderate, Values::any, Values::wide}) {
    const Size high = axes == 1 ? 300 : axes == 2 ? 30 : 12;
    add(shape_of(rng, axes, 4, high), 2, {}, values, "plain", true);
    add(shape_of(rng, axes, 4, high), 3, {.stride = 1, .padding = 1}, values, "padding counts", true);
    add(shape_of(rng, axes, 4, high), 3, {.stride = 2, .padding = 1, .ceil = true, .count_padding = false}, values, "padding does not",
        true);
    add(shape_of(rng, axes, 4, high), 3, {.stride = 2, .padding = 1, .ceil = true}, values, "ceil", true);
    add(shape_of(rng, axes, 4, high), 2, {.stride = 1, .padding = "same", .divisor = 7}, values, "divisor", true);
  }
  if (axes == 1) add({2, 1, 5000}, 4200, {.stride = 50}, Values::wide, "chunks", false);
  if (axes == 2) add({1, 2, 80, 90}, {70, 65}, {.stride = 3}, Values::wide, "large windows", false);
  if (axes == 2) add({1, 2, 40, 45}, {17, 40}, {.stride = 1, .padding = {8, 5}}, Values::wide, "groups", false);
  if (axes == 2) add({2, 24, 28}, 3, {.padding = 1}, Values::wide, "without images", true);
  return all;
}

std::vector<Case> adaptive(Rng& rng, DType d, int axes) {
  std::vector<Case> all;
  const auto mean_of = axes == 1 ? adaptive_avg_pool1d : axes == 2 ? adaptive_avg_pool2d : adaptive_avg_pool3d;
  const auto add = [&](const Shape& x, const Shape& size, Values values) {
    all.push_back(
        {{{.dtype = d, .shape = x, .values = values}},
         [=](std::span<const Tensor> in, Device) {
           auto [y, indices] = adaptive_max_pool_with_indices(in[0], size);
           const PerAxis sizes = axes == 1 ? PerAxis{size[0]} : axes == 2 ? PerAxis{size[0], size[1]} : PerAxis{size[0], size[1], size[2]};
           return Outputs{y, indices, mean_of(in[0], sizes)};
         },
         "",
         true});
  };
  for (const Values values : {Values::moderate, Values::any}) {
    for (int i = 0; i < 3; ++i) {
      Shape size;
      for (int a = 0; a < axes; ++a) size.push_back(rng.between(1, 7));
      add(shape_of(rng, axes, 1, 11), size, values);
    }
  }
  return all;
}

std::vector<Case> unpooled(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& x, const Shape& size, Size high, bool layouts) {
    all.push_back(
        {{{.dtype = d, .shape = x}, {.dtype = rng.one_in(2) ? DType::i64 : DType::i32, .shape = x, .values = Values::index, .high = high}},
         [=](std::span<const Tensor> in, Device) { return Outputs{max_unpool(in[0], in[1], size)}; },
         "",
         layouts});
  };
  add({2, 3, 5}, {17}, 17, true);
  add({2, 3, 4}, {5, 4}, 20, false);
  add({2, 2, 3, 4}, {5, 4}, 20, true);
  add({1, 2, 2, 3, 4}, {3, 4, 5}, 60, true);
  add({1, 2, 3, 4}, {5, 4}, 40, false);
  return all;
}

std::vector<Case> norms(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const double p : {1.0, 2.0, static_cast<double>(INFINITY)}) {
    all.push_back({{{.dtype = d, .shape = shape_of(rng, 2, 4, 12)}},
                   [=](std::span<const Tensor> in, Device) {
                     return Outputs{lp_pool2d(in[0], p, {2, 3}, {.stride = {1, 2}}), global_avg_pool(in[0]), global_max_pool(in[0])};
                   },
                   "",
                   true});
  }
  return all;
}

}  // namespace

void add_pooling(std::vector<Operation>& all) {
  for (int axes = 1; axes <= 3; ++axes) {
    const std::string number = std::to_string(axes) + "d";
    all.push_back({"max_pool" + number, every_arithmetic, [axes](Rng& rng, DType d) { return largest(rng, d, axes); }});
    all.push_back({"avg_pool" + number, every_arithmetic, [axes](Rng& rng, DType d) { return averages(rng, d, axes); }});
    all.push_back({"adaptive_pool" + number, every_arithmetic, [axes](Rng& rng, DType d) { return adaptive(rng, d, axes); }});
  }
  all.push_back({"max_unpool", every_arithmetic, unpooled, true});
  all.push_back({"lp_pool", every_floating, norms});
}

}  // namespace votive::contract
