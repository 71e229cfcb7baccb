// Orders: rows short and long, along any axis, with ties, NaN and both zeros.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> orders(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
    for (const bool descending : {false, true}) {
      for (const int axis : {0, -1}) {
        const auto call = [=](std::span<const Tensor> in, Device) {
          Sorted s = sort(in[0], {.axis = axis, .descending = descending});
          return Outputs{s.values, s.indices};
        };
        for (const Shape& shape : {Shape{rng.between(1, 40), rng.between(1, 40)}, Shape{1, rng.between(100, 130)}, Shape{0, 3}}) {
          all.push_back({{{.dtype = d, .shape = shape, .values = values}}, call, descending ? "descending" : "ascending", true});
        }
        all.push_back({{{.dtype = d, .shape = {2, 3001}, .values = values}}, call, "long", false});
      }
    }
  }
  return all;
}

std::vector<Case> tops(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
    for (const bool largest : {false, true}) {
      for (const int axis : {0, -1}) {
        const Shape shape{rng.between(1, 40), rng.between(1, 40)};
        const Size n = shape[axis < 0 ? 1 : 0];
        for (const Size k : {Size{0}, Size{1}, rng.between(0, n), n, n + 1}) {
          const auto call = [=](std::span<const Tensor> in, Device) {
            Sorted s = topk(in[0], k, {.axis = axis, .largest = largest});
            return Outputs{s.values, s.indices};
          };
          all.push_back({{{.dtype = d, .shape = shape, .values = values}}, call, "k " + std::to_string(k), true});
        }
      }
    }
  }
  const auto call = [](std::span<const Tensor> in, Device) {
    Sorted s = topk(in[0], 40);
    return Outputs{s.values, s.indices};
  };
  all.push_back({{{.dtype = d, .shape = {3, 4999}, .values = Values::wide}}, call, "of many", false});
  all.push_back({{{.dtype = d, .shape = {2, 4999}, .values = Values::small_integers}}, call, "of many ties", false});
  return all;
}

std::vector<Case> ranks(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
    for (const int axis : {0, 1, -1}) {
      const auto call = [=](std::span<const Tensor> in, Device) {
        Outputs y;
        for (const Sorted& s : {kthvalue(in[0], 1 + in[0].size(axis) / 3, {.axis = axis}), median(in[0], {.axis = axis, .keep = true}),
                                nanmedian(in[0], {.axis = axis}), mode(in[0], {.axis = axis})}) {
          y.push_back(s.values);
          y.push_back(s.indices);
        }
        return y;
      };
      all.push_back(
          {{{.dtype = d, .shape = {rng.between(1, 40), rng.between(1, 5), rng.between(1, 70)}, .values = values}}, call, "", true});
    }
    const auto call = [](std::span<const Tensor> in, Device) {
      const Sorted a = median(in[0], {.axis = 1}), b = mode(in[0]);
      return Outputs{a.values, a.indices, b.values, b.indices};
    };
    all.push_back({{{.dtype = d, .shape = {2, 3001}, .values = values}}, call, "long", false});
    all.push_back({{{.dtype = d, .shape = {2, 0}, .values = values}}, call, "empty", false});
  }
  return all;
}

std::vector<Case> quantiles(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const QuantileMethod how :
       {QuantileMethod::linear, QuantileMethod::lower, QuantileMethod::higher, QuantileMethod::nearest, QuantileMethod::midpoint}) {
    const auto call = [how](std::span<const Tensor> in, Device) {
      const std::vector<double> q{0, 0.1, 0.5, 2.0 / 3, 1};
      return Outputs{quantile(in[0], q, {.axis = 1, .method = how}), quantile(in[0], 0.3, {.method = how}),
                     nanquantile(in[0], q, {.axis = 1, .method = how})};
    };
    for (const Values values : {Values::any, Values::wide})
      all.push_back({{{.dtype = d, .shape = {rng.between(1, 9), rng.between(1, 40), 3}, .values = values}}, call, "", true});
  }
  return all;
}

std::vector<Case> searches(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const bool right : {false, true}) {
    const auto call = [right](std::span<const Tensor> in, Device) {
      return Outputs{searchsorted(sort(in[0]).values, in[1], {.right = right}), searchsorted(in[0], in[1], {.right = right})};
    };
    for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
      const Size n = rng.between(0, 70);
      const auto add = [&](const Shape& sorted, const Shape& wanted, bool layouts) {
        all.push_back(
            {{{.dtype = d, .shape = sorted, .values = values}, {.dtype = d, .shape = wanted, .values = values}}, call, "", layouts});
      };
      add({n}, {rng.between(1, 5), rng.between(0, 30)}, true);
      add({n}, {}, true);
      add({3, 2, n}, {3, 2, rng.between(0, 30)}, true);
      add({3000}, {7000}, false);
    }
  }
  return all;
}

std::vector<Case> uniques(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) {
    const Unique u = unique(in[0]);
    return Outputs{u.values, u.inverse, u.counts};
  };
  for (const Values values : {Values::any, Values::small_integers, Values::corners}) {
    all.push_back({{{.dtype = d, .shape = {rng.between(1, 9), rng.between(1, 40)}, .values = values}}, call, "", true});
    all.push_back({{{.dtype = d, .shape = {5000}, .values = values}}, call, "", false});
  }
  all.push_back({{{.dtype = d, .shape = {0, 3}}}, call, "empty", false});
  return all;
}

std::vector<Case> bincounts(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) {
    return Outputs{bincount(in[0]), bincount(in[0], {.weights = in[1], .minimum = 20}), bincount(in[0], {.weights = in[2]})};
  };
  for (const Size low : {0, 0, -1}) {
    if (low < 0 && is_unsigned_integer(d)) continue;
    for (const Shape& shape : {Shape{rng.between(1, 9), rng.between(1, 70)}, Shape{5000}, Shape{0}})
      all.push_back({{{.dtype = d, .shape = shape, .values = Values::index, .low = low, .high = 100},
                      {.dtype = DType::f32, .shape = shape, .values = Values::wide},
                      {.dtype = DType::i16, .shape = shape, .values = Values::any}},
                     call,
                     "",
                     shape[0] < 1000});
  }
  return all;
}

std::vector<Case> histograms(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{histc(in[0], 7), histc(in[0], 10, {.low = -1.5, .high = 2})}; };
  all.push_back({{{.dtype = d, .shape = {rng.between(1, 9), rng.between(1, 40)}, .values = Values::moderate}}, call, "", true});
  all.push_back({{{.dtype = d, .shape = {5000}, .values = Values::wide}}, call, "", false});
  all.push_back({{{.dtype = d, .shape = {50}, .values = Values::any}}, call, "", false});
  all.push_back({{{.dtype = d, .shape = {0}}}, call, "empty", false});
  return all;
}

}  // namespace

void add_orders(std::vector<Operation>& all) {
  all.push_back({"sort", every_number_and_bool, orders, true});
  all.push_back({"topk", every_number_and_bool, tops, true});
  all.push_back({"ranks", every_number_and_bool, ranks, true});
  all.push_back({"quantile", every_arithmetic, quantiles});
  all.push_back({"searchsorted", every_number_and_bool, searches});
  all.push_back({"unique", every_number_and_bool, uniques, true});
  all.push_back({"bincount", every_integer, bincounts});
  all.push_back({"histc", every_arithmetic, histograms});
}

}  // namespace votive::contract
