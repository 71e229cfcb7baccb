// Reductions: sizes around the boundaries of the canonical tree, every combination of axes, ties, NaN and both zeros.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;
using Reduction = Tensor (*)(const Tensor&, const ReduceOptions&);

const std::vector<Size> tree_boundaries{1, 2, 31, 32, 33, 63, 64, 65, 511, 512, 513, 4095, 4096, 4097, 8192, 8193};

Axes axes_of(std::uint32_t mask) {
  switch (mask) {
    case 0: return Axes(std::initializer_list<int>{});
    case 1: return {0};
    case 2: return {1};
    case 3: return {1, 0};
    case 4: return {-1};
    case 5: return {2, 0};
    case 6: return {1, -1};
    default: return {};
  }
}

std::vector<Case> reductions(Rng& rng, DType d, Reduction reduction) {
  std::vector<Case> all;
  const auto over = [reduction](const Axes& axes, bool keep) {
    return [=](std::span<const Tensor> in, Device) { return Outputs{reduction(in[0], {.axis = axes, .keep = keep})}; };
  };
  const bool telling = d == DType::f32 || d == DType::f16 || d == DType::bf16 || d == DType::f64;
  for (const Size n : tree_boundaries) {
    if (!telling && n > 33 && n != 4097) continue;
    all.push_back({{{.dtype = d, .shape = {n}, .values = Values::wide}}, over({}, false), "row", n <= 513});
    all.push_back({{{.dtype = d, .shape = {2, n}, .values = Values::wide}}, over({-1}, false), "rows", n <= 65});
    all.push_back({{{.dtype = d, .shape = {n, 3}, .values = Values::wide}}, over({0}, true), "columns", n <= 65});
    if (n <= 513) all.push_back({{{.dtype = d, .shape = {2, n, 5}}}, over({1}, false), "the middle, with specials", n <= 65});
  }
  for (std::uint32_t mask = 0; mask < 8; ++mask) {
    const Shape shape{rng.between(1, 5), rng.between(1, 40), rng.between(1, 9)};
    all.push_back(
        {{{.dtype = d, .shape = shape, .values = Values::wide}}, over(axes_of(mask), mask % 2 == 0), "axes " + std::to_string(mask), true});
    all.push_back(
        {{{.dtype = d, .shape = shape}}, over(axes_of(mask), mask % 2 == 1), "axes " + std::to_string(mask) + ", specials", true});
  }
  all.push_back({{{.dtype = d, .shape = {}}}, over({}, false), "of one", true});
  for (const Shape& shape : {Shape{0}, Shape{3, 0}, Shape{0, 3}}) {
    all.push_back({{{.dtype = d, .shape = shape}}, over({-1}, false), "empty", false});
    all.push_back({{{.dtype = d, .shape = shape}}, over({0}, false), "empty", false});
    all.push_back({{{.dtype = d, .shape = shape}}, over({}, false), "empty", false});
  }
  if (telling) {
    all.push_back({{{.dtype = d, .shape = {70001}, .values = Values::wide}}, over({}, false), "large", false});
    all.push_back({{{.dtype = d, .shape = {129, 513}, .values = Values::wide}}, over({1}, false), "many rows", false});
    all.push_back({{{.dtype = d, .shape = {513, 131}, .values = Values::wide}}, over({0}, false), "many columns", true});
    all.push_back({{{.dtype = d, .shape = {8200, 5}, .values = Values::wide}}, over({0}, false), "chunks of columns", false});
    all.push_back({{{.dtype = d, .shape = {2, 4100, 6}, .values = Values::wide}}, over({1}, false), "chunks of columns, twice", false});
    all.push_back({{{.dtype = d, .shape = {3, 1200, 7, 2}, .values = Values::wide}}, over({1, 3}, false), "two axes apart", false});
  }
  return all;
}

std::vector<Case> positions(Rng& rng, DType d, Tensor (*function)(const Tensor&, AxisOptions)) {
  std::vector<Case> all;
  all.push_back({{{.dtype = d, .shape = {3, 4, 5}, .values = Values::small_integers}},
                 [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], {.axis = {}})}; },
                 "over all",
                 true});
  for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
    for (const int axis : {0, 1, -1}) {
      const auto call = [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], {.axis = axis, .keep = axis == 1})}; };
      all.push_back(
          {{{.dtype = d, .shape = {rng.between(1, 5), rng.between(1, 70), rng.between(1, 5)}, .values = values}}, call, "", true});
      all.push_back({{{.dtype = d, .shape = {1, 1, rng.between(1000, 1100)}, .values = values}}, call, "", axis < 0});
    }
  }
  const auto last = [=](std::span<const Tensor> in, Device) { return Outputs{function(in[0], {})}; };
  all.push_back({{{.dtype = d, .shape = {257, 131}, .values = Values::small_integers}}, last, "large", true});
  all.push_back({{{.dtype = d, .shape = {3, 0}}}, last, "empty", false});
  all.push_back({{{.dtype = d, .shape = {0, 3}}}, last, "empty", false});
  return all;
}

}  // namespace

void add_reductions(std::vector<Operation>& all) {
  const auto add = [&](const char* name, Reduction reduction) {
    all.push_back({name, every_number_and_bool, [reduction](Rng& rng, DType d) { return reductions(rng, d, reduction); }});
  };
  add("sum", sum);
  add("mean", mean);
  add("prod", prod);
  add("min", min);
  add("max", max);
  add("any", any);
  add("all", votive::all);
  add("count_nonzero", count_nonzero);
  add("nansum", nansum);
  add("nanmean", nanmean);
  all.push_back({"var", every_number_and_bool, [](Rng& rng, DType d) {
                   return reductions(rng, d, [](const Tensor& x, const ReduceOptions& o) {
                     return var(x, {.axis = o.axis, .keep = o.keep, .correction = 1});
                   });
                 }});
  all.push_back({"std", every_number_and_bool, [](Rng& rng, DType d) {
                   return reductions(rng, d, [](const Tensor& x, const ReduceOptions& o) {
                     return votive::std(x, {.axis = o.axis, .keep = o.keep, .correction = 0});
                   });
                 }});
  all.push_back({"norm", every_number_and_bool, [](Rng& rng, DType d) {
                   return reductions(rng, d,
                                     [](const Tensor& x, const ReduceOptions& o) { return norm(x, {.axis = o.axis, .keep = o.keep}); });
                 }});
  add("logsumexp", logsumexp);
  all.push_back({"argmax", every_number_and_bool, [](Rng& rng, DType d) { return positions(rng, d, argmax); }});
  all.push_back({"argmin", every_number_and_bool, [](Rng& rng, DType d) { return positions(rng, d, argmin); }});
}

}  // namespace votive::contract
