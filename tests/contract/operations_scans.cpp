// Scans: lengths around the blocks of 16 and the chunks of 4096, every axis, ties, NaN and both zeros.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> scans(Rng& rng, DType d, const std::function<Outputs(const Tensor& x, int axis)>& scan, bool two_inputs = false) {
  std::vector<Case> all;
  const auto add = [&](const Shape& shape, int axis, Values values, const std::string& note, bool layouts) {
    std::vector<Input> inputs{{.dtype = d, .shape = shape, .values = values}};
    if (two_inputs) inputs.push_back({.dtype = d, .shape = shape, .values = Values::moderate});
    const auto call = [=](std::span<const Tensor> in, Device) {
      return two_inputs ? Outputs{linear_recurrence(in[1], in[0], axis)} : scan(in[0], axis);
    };
    all.push_back({inputs, call, note, layouts});
  };
  const bool floating = is_floating(d);
  for (const Size n : {1, 2, 15, 16, 17, 33, 255, 257, 4095, 4096, 4097, 8193, 12289}) {
    if (n > 257 && !floating) continue;
    add({n}, 0, Values::wide, "line", n < 40);
    add({2, n}, -1, Values::moderate, "lines", n < 40);
    add({n, 3}, 0, Values::wide, "columns", n < 40);
  }
  for (const Values values : {Values::any, Values::corners, Values::small_integers}) {
    for (const int axis : {0, 1, 2}) add({rng.between(1, 9), rng.between(1, 40), rng.between(1, 9)}, axis, values, "specials", true);
  }
  add({300, 70}, 0, Values::moderate, "many columns", true);
  add({3, 0}, 1, Values::any, "empty", false);
  add({0, 3}, 1, Values::any, "empty", false);
  add({}, 0, Values::any, "without an axis", false);
  return all;
}

}  // namespace

void add_scans(std::vector<Operation>& all) {
  const auto add = [&](const char* name, const std::function<Outputs(const Tensor&, int)>& scan) {
    all.push_back({name, every_number_and_bool, [scan](Rng& rng, DType d) { return scans(rng, d, scan); }});
  };
  const auto both = [](ScannedExtreme found) { return Outputs{found.values, found.indices}; };
  add("cumsum", [](const Tensor& x, int axis) { return Outputs{cumsum(x, axis)}; });
  add("cumprod", [](const Tensor& x, int axis) { return Outputs{cumprod(x, axis)}; });
  add("logcumsumexp", [](const Tensor& x, int axis) { return Outputs{logcumsumexp(x, axis)}; });
  add("cummax", [both](const Tensor& x, int axis) { return both(cummax(x, axis)); });
  add("cummin", [both](const Tensor& x, int axis) { return both(cummin(x, axis)); });
  add("diff", [](const Tensor& x, int axis) { return Outputs{diff(x, 1, axis)}; });
  all.push_back({"linear_recurrence", every_floating, [](Rng& rng, DType d) { return scans(rng, d, {}, true); }});
}

}  // namespace votive::contract
