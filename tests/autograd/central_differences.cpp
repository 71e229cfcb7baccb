// Central differences: every element of every input moved both ways, the function run again.
#include "tests/autograd/central_differences.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace votive {

namespace {

std::set<std::string>& checked_once() {
  static std::set<std::string> names;
  return names;
}
std::set<std::string>& checked_twice() {
  static std::set<std::string> names;
  return names;
}

class Count : public ::testing::Environment {
 public:
  void TearDown() override {
    if (checked_once().empty()) return;
    std::printf("gradients against central differences in this run: %zu operations, %zu of them twice\n", checked_once().size(),
                checked_twice().size());
  }
};
[[maybe_unused]] const auto* const count = ::testing::AddGlobalTestEnvironment(new Count);

Tensor weights(const Tensor& y, std::uint64_t seed) { return samples(y.shape(), seed, 0.5, 1.5); }

/// A scalar function of tensors and, by autograd, its gradient at the differentiated inputs.
using Scalar = std::function<Tensor(const Tensors& x)>;

std::vector<std::size_t> differentiated(const Tensors& inputs, const DifferenceOptions& options) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined() || inputs[i].dtype() != DType::f64) continue;
    if (std::find(options.fixed.begin(), options.fixed.end(), static_cast<int>(i)) == options.fixed.end()) places.push_back(i);
  }
  return places;
}

void compare(const std::string& what, const std::function<double(const Tensors& x)>& f, const Tensors& inputs, const Tensors& gradients,
             const std::vector<std::size_t>& places, const DifferenceOptions& options) {
  for (std::size_t p = 0; p < places.size(); ++p) {
    const std::size_t i = places[p];
    ASSERT_TRUE(gradients[p].defined()) << what << ": no gradient of input " << i;
    const std::vector<double> analytic = gradients[p].to_host<double>();
    const std::vector<double> x = inputs[i].to_host<double>();
    for (std::size_t e = 0; e < x.size(); ++e) {
      const double h = options.step * std::max(1.0, std::fabs(x[e]));
      const auto at = [&](double moved) {
        std::vector<double> values = x;
        values[e] = moved;
        Tensors all = inputs;
        all[i] = from_host<double>(values, inputs[i].shape(), f64);
        return f(all);
      };
      const double numeric = (at(x[e] + h) - at(x[e] - h)) / ((x[e] + h) - (x[e] - h));
      const double scale = std::max({1.0, std::fabs(analytic[e]), std::fabs(numeric)});
      ASSERT_LE(std::fabs(analytic[e] - numeric), options.tolerance * scale)
          << what << ": input " << i << ", element " << e << " = " << x[e] << ": gradient " << analytic[e] << ", central difference "
          << numeric;
    }
  }
}

}  // namespace

Tensor samples(const Shape& shape, std::uint64_t seed, double low, double high) {
  return rand(shape, {.seed = seed, .dtype = f64}) * (high - low) + low;
}

void expect_gradient(const std::string& name, const std::function<Tensor(const Tensors& x)>& f, const Tensors& inputs,
                     const DifferenceOptions& options) {
  const std::vector<std::size_t> places = differentiated(inputs, options);
  ASSERT_FALSE(places.empty()) << name << ": nothing to differentiate";
  const auto with_leaves = [&](const Tensors& x, Tensors& leaves) {
    Tensors all = x;
    for (const std::size_t i : places) leaves.push_back(all[i] = x[i].detach().require_grad());
    return all;
  };
  const Scalar first = [&](const Tensors& x) {
    const Tensor y = f(x);
    return sum(y * weights(y, 11));
  };
  Tensors leaves;
  const Tensors all = with_leaves(inputs, leaves);
  const Tensors gradients = grad(std::vector<Tensor>{first(all)}, leaves, {.allow_unused = false});
  const auto plain = [&](const Tensors& x) {
    const NoGrad off;
    return first(x).item<double>();
  };
  compare(name, plain, inputs, gradients, places, options);
  if (::testing::Test::HasFatalFailure()) return;
  checked_once().insert(name);
  if (!options.twice) return;
  // v·gradient as a function of the inputs, whose value grad() gives and whose gradient grad() of grad() gives
  const auto directional = [&](const Tensors& x, bool create_graph, Tensors& at) {
    const Tensors moved = with_leaves(x, at);
    const Tensors g = grad(std::vector<Tensor>{first(moved)}, at, {.create_graph = create_graph});
    Tensor total;
    for (std::size_t p = 0; p < g.size(); ++p) {
      const Tensor part = sum(g[p] * weights(g[p], 23 + p));
      total = total.defined() ? total + part : part;
    }
    return total;
  };
  Tensors at;
  const Tensor total = directional(inputs, true, at);
  Tensors second(places.size());
  if (total.requires_grad()) second = grad(std::vector<Tensor>{total}, at, {.allow_unused = true});
  for (std::size_t p = 0; p < second.size(); ++p)
    if (!second[p].defined()) second[p] = zeros_like(inputs[places[p]]);
  const auto slope = [&](const Tensors& x) {
    Tensors ignored;
    return directional(x, false, ignored).item<double>();
  };
  DifferenceOptions looser = options;
  looser.tolerance *= 10;
  compare(name + ", second derivative", slope, inputs, second, places, looser);
  if (::testing::Test::HasFatalFailure()) return;
  checked_twice().insert(name);
}

}  // namespace votive
