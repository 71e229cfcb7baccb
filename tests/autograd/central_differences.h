// Gradients against central differences in f64: for one call, the gradient of w·f(x) and, from it, the gradient of v·gradient. The weights w and v
// come from a seed, so an error in any element shows. What was checked is counted and printed at the end of the program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "votive/autograd/autograd.h"
#include "votive/ops/ops.h"

namespace votive {

struct DifferenceOptions {
  double step = 1e-5;           // relative to max(1, |x|)
  double tolerance = 1e-6;      // of |analytic − numeric| against max(1, |analytic|, |numeric|)
  bool twice = true;            // the gradient's own gradient too
  std::vector<int> fixed = {};  // floating inputs that are not differentiated
};

/// Fails the test where grad() of f at `inputs` (f64 where differentiated; integers and bool are left alone) and central differences disagree.
/// `name` is the operation's public name; it counts once in the coverage of gradients, whatever the number of calls.
void expect_gradient(const std::string& name, const std::function<Tensor(const Tensors& x)>& f, const Tensors& inputs,
                     const DifferenceOptions& options = {});

/// f64 in [low, high) from a seed.
Tensor samples(const Shape& shape, std::uint64_t seed, double low = -2, double high = 2);

}  // namespace votive
