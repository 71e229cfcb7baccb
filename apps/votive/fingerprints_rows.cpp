// Fingerprints of what goes along an axis: reductions, scans, orders, softmax and norms. Rows cross the blocks and chunks of the canonical tree; columns and
// whole tensors are other paths through the same kernels.
#include <cmath>

#include "fingerprint_list.h"

namespace votive::app {

namespace {

struct Reduction {
  const char* name;
  Tensor (*function)(const Tensor&, const ReduceOptions&);
};

Outputs both(const Sorted& s) { return {s.values, s.indices}; }

void add_statistics(Collector& c) {
  const Device d = c.device();
  const auto rows = [d](DType t) { return numbers({3, 4100}, t, 201, d); };
  const auto columns = [d](DType t) { return numbers({519, 5}, t, 202, d); };
  for (const double correction : {0.0, 1.0}) {
    const std::string kind = correction == 0 ? " of all" : " of a sample";
    c.all("var" + kind, [=](DType t) {
      return Outputs{var(rows(t), {.axis = -1, .correction = correction}), var(columns(t), {.axis = 0, .correction = correction}),
                     var(rows(t), {.correction = correction})};
    });
    c.all("std" + kind, [=](DType t) {
      return Outputs{std(rows(t), {.axis = -1, .correction = correction}), std(columns(t), {.axis = 0, .correction = correction})};
    });
  }
  c.all("norm", [=](DType t) {
    Outputs all{norm(rows(t), {.axis = -1})};
    for (const double p : {2.0, 1.0, 0.0, 3.0, HUGE_VAL, -HUGE_VAL}) all.push_back(norm(columns(t), {.p = p, .axis = 0}));
    return all;
  });
  c.all("aminmax", [=](DType t) {
    const MinMax a = aminmax(rows(t), {.axis = -1}), b = aminmax(random_bits({41, 7}, t, 203, d), {.axis = 0});
    return Outputs{a.min, a.max, b.min, b.max};
  });
  for (const auto& [name, function] : {std::pair{"argmax", &argmax}, {"argmin", &argmin}}) {
    c.all(name, [=, f = function](DType t) {
      const Tensor x = random_bits({41, 67}, t, 204, d), ties = small({41, 67}, t, 205, d);
      return Outputs{f(x, {}), f(x, {.axis = 0}), f(ties, {}), f(ties, {.axis = std::nullopt})};
    });
  }
}

void add_scans(Collector& c) {
  const Device d = c.device();
  const auto rows = [d](DType t) { return numbers({2, 4131}, t, 211, d); };
  const auto columns = [d](DType t) { return numbers({67, 9}, t, 212, d); };
  c.all("cumsum", [=](DType t) { return Outputs{cumsum(rows(t)), cumsum(columns(t), 0)}; });
  c.all("cumprod", [=](DType t) { return Outputs{cumprod(rows(t)), cumprod(columns(t), 0)}; });
  c.all("logcumsumexp", [=](DType t) { return Outputs{logcumsumexp(rows(t)), logcumsumexp(columns(t), 0)}; });
  for (const auto& [name, function] : {std::pair{"cummax", &cummax}, {"cummin", &cummin}}) {
    c.all(name, [=, f = function](DType t) {
      const ScannedExtreme a = f(random_bits({3, 701}, t, 213, d), -1), b = f(small({67, 9}, t, 214, d), 0);
      return Outputs{a.values, a.indices, b.values, b.indices};
    });
  }
  c.all("linear_recurrence", [=](DType t) {
    return Outputs{linear_recurrence(normal({3, 1031}, t, 215, d), normal({3, 1031}, t, 216, d)),
                   linear_recurrence(normal({67, 9}, t, 217, d), normal({67, 9}, t, 218, d), 0)};
  });
  c.all("diff", [=](DType t) { return Outputs{diff(rows(t)), diff(columns(t), 2, 0)}; });
}

}  // namespace

void add_reductions(Collector& c) {
  const Device d = c.device();
  const Reduction reductions[] = {{"sum", sum},
                                  {"mean", mean},
                                  {"prod", prod},
                                  {"min", min},
                                  {"max", max},
                                  {"any", any},
                                  {"all", all},
                                  {"nansum", nansum},
                                  {"nanmean", nanmean},
                                  {"logsumexp", logsumexp},
                                  {"count_nonzero", count_nonzero}};
  for (const auto& [name, function] : reductions) {
    c.all(name, [=, f = function](DType t) {
      return Outputs{f(numbers({3, 4100}, t, 221, d), {.axis = -1}), f(random_bits({7, 67}, t, 222, d), {.axis = -1, .keep = true})};
    });
    c.all(name + std::string(" columns"), [=, f = function](DType t) { return Outputs{f(numbers({519, 5}, t, 223, d), {.axis = 0})}; });
    c.all(name + std::string(" of two axes"), [=, f = function](DType t) {
      return Outputs{f(numbers({5, 9, 131}, t, 224, d), {.axis = {0, 2}}), f(numbers({5, 9, 131}, t, 224, d), {})};
    });
  }
  c.all("sum as f64", [=](DType t) { return Outputs{sum(numbers({3, 700}, t, 225, d), {.axis = -1, .dtype = f64})}; });
  add_statistics(c);
  add_scans(c);
}

void add_orders(Collector& c) {
  const Device d = c.device();
  const auto any_bits = [d](DType t) { return random_bits({5, 131}, t, 231, d); };
  const auto ties = [d](DType t) { return small({5, 131}, t, 232, d); };
  c.all(
      "sort values",
      [=](DType t) {
        Outputs y = both(sort(any_bits(t)));
        for (const Sorted& s : {sort(ties(t), {.axis = 0}), sort(any_bits(t), {.descending = true})})
          y.insert(y.end(), {s.values, s.indices});
        return y;
      },
      NanBits::exact);
  c.all("argsort", [=](DType t) { return Outputs{argsort(any_bits(t)), argsort(ties(t), {.axis = 0, .descending = true})}; });
  c.all(
      "msort", [=](DType t) { return Outputs{msort(any_bits(t))}; }, NanBits::exact);
  c.all("topk", [=](DType t) { return both(topk(any_bits(t), 17)); });
  c.all("topk of ties", [=](DType t) { return both(topk(ties(t), 3, {.axis = 0, .largest = false})); });
  c.all("kthvalue", [=](DType t) { return both(kthvalue(any_bits(t), 44)); });
  c.all("median", [=](DType t) { return both(median(any_bits(t), {.axis = -1})); });
  c.all("median of all", [=](DType t) { return both(median(ties(t))); });
  c.all("nanmedian", [=](DType t) { return both(nanmedian(any_bits(t), {.axis = -1})); });
  c.all("mode", [=](DType t) { return both(mode(ties(t))); });
  for (const auto& [name, method] : {std::pair{"linear", QuantileMethod::linear},
                                     {"lower", QuantileMethod::lower},
                                     {"higher", QuantileMethod::higher},
                                     {"nearest", QuantileMethod::nearest},
                                     {"midpoint", QuantileMethod::midpoint}}) {
    const QuantileOptions options{.axis = -1, .method = method};
    const std::vector<double> q{0, 0.1, 0.5, 2.0 / 3, 1};
    c.all(std::string("quantile ") + name, [=](DType t) { return Outputs{quantile(numbers({5, 131}, t, 233, d), q, options)}; });
    c.all(std::string("nanquantile ") + name, [=](DType t) { return Outputs{nanquantile(any_bits(t), q, options)}; });
  }
  c.all("searchsorted", [=](DType t) {
    const Tensor row = sort(random_bits({257}, t, 234, d)).values, wanted = any_bits(t);
    return Outputs{searchsorted(row, wanted), searchsorted(row, wanted, {.right = true})};
  });
  c.all("bucketize", [=](DType t) { return Outputs{bucketize(any_bits(t), sort(small({9}, t, 235, d)).values)}; });
  c.all("isin", [=](DType t) { return Outputs{isin(any_bits(t), ties(t)), isin(ties(t), small({4}, t, 236, d))}; });
  for (const bool of_ties : {false, true}) {
    c.all(of_ties ? "unique of ties" : "unique", [=](DType t) {
      const Unique u = unique(of_ties ? ties(t) : any_bits(t));
      return Outputs{u.values, u.inverse, u.counts};
    });
  }
  c.all("bincount", [=](DType t) {
    const Tensor x = positions({5000}, 100, t, 237, d);
    return Outputs{bincount(x), bincount(x, {.weights = normal({5000}, f32, 238, d), .minimum = 120})};
  });
  c.all("histc", [=](DType t) {
    return Outputs{histc(small({5000}, t, 239, d), 7), histc(numbers({5000}, t, 239, d), 10, {.low = -1.5, .high = 2})};
  });
}

void add_norms(Collector& c) {
  const Device d = c.device();
  const auto image = [d](DType t) { return numbers({3, 6, 5, 13}, t, 241, d); };
  const auto per_channel = [d](DType t, std::uint64_t seed) { return normal({6}, t, seed, d); };
  const auto average = [d](DType t, std::uint64_t seed) { return abs(normal({6}, t == f64 ? f64 : f32, seed, d)) + 0.25; };
  c.all("softmax", [=](DType t) { return Outputs{softmax(numbers({3, 1237}, t, 242, d))}; });
  c.all("softmax columns", [=](DType t) {
    return Outputs{softmax(numbers({131, 7}, t, 243, d), {.axis = 0}), softmax(random_bits({9, 67}, t, 244, d))};
  });
  c.all("log_softmax", [=](DType t) { return Outputs{log_softmax(numbers({3, 1237}, t, 242, d))}; });
  c.all("log_softmax columns", [=](DType t) { return Outputs{log_softmax(numbers({131, 7}, t, 243, d), {.axis = 0})}; });
  c.all("softmin", [=](DType t) {
    return Outputs{softmin(numbers({5, 67}, t, 245, d)), softmin(numbers({5, 67}, t, 245, d), {.axis = 0})};
  });
  c.all("rms_norm", [=](DType t) { return Outputs{rms_norm(normal({9, 577}, t, 26, d), normal({577}, t, 27, d))}; });
  c.all("rms_norm of two axes", [=](DType t) { return Outputs{rms_norm(image(t), {}, {.epsilon = 1e-6f, .axes = 2})}; });
  c.all("layer_norm", [=](DType t) {
    return Outputs{layer_norm(normal({9, 577}, t, 28, d), normal({577}, t, 29, d), normal({577}, t, 30, d))};
  });
  c.all("layer_norm of two axes", [=](DType t) { return Outputs{layer_norm(image(t), {}, {}, {.axes = 2})}; });
  c.all("group_norm", [=](DType t) {
    return Outputs{group_norm(image(t), 3, per_channel(t, 246), per_channel(t, 247)), group_norm(image(t), 2)};
  });
  c.all("instance_norm", [=](DType t) { return Outputs{instance_norm(image(t), per_channel(t, 246), per_channel(t, 247))}; });
  c.all("batch_norm",
        [=](DType t) { return Outputs{batch_norm(image(t), average(t, 248), average(t, 249), per_channel(t, 246), per_channel(t, 247))}; });
  c.all("batch_norm_training", [=](DType t) {
    const BatchNormalised n = batch_norm_training(image(t), per_channel(t, 246), per_channel(t, 247));
    return Outputs{n.y, n.mean, n.variance};
  });
  c.all("local_response_norm", [=](DType t) { return Outputs{local_response_norm(image(t), 3)}; });
  c.all("normalize", [=](DType t) { return Outputs{normalize(image(t)), normalize(image(t), {.p = 1, .axis = {-1}})}; });
}

}  // namespace votive::app
