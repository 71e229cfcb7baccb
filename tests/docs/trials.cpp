// Runs examples where they were not written to be run. A refusal of the dtype counts as one; any other error says that the dtype was taken.
#include "tests/docs/trials.h"

#include "votive/autograd/autograd.h"
#include "votive/base/error.h"
#include "votive/ops/ops.h"

namespace votive::docs {

namespace {

std::string without_device(std::string text) {
  for (const std::string_view device : {" on reference", " on cpu"}) {
    for (std::size_t at; (at = text.find(device)) != std::string::npos;) text.erase(at, device.size());
  }
  return text;
}

bool any_nonzero(const Tensor& x) { return any(ne(x, 0)).item<bool>(); }

}  // namespace

Answer tried(const Example& example, const Trial& trial) {
  const Trying guard(trial);
  try {
    const Outcome outcome = example.run();
    const bool typed = !outcome.tensors.empty() && outcome.tensors[0].defined();
    return {true, without_device(outcome.text), typed ? std::string(votive::to_string(outcome.tensors[0].dtype())) : std::string()};
  } catch (const Error& error) {
    const bool refused = error.kind() == ErrorKind::DTypeMismatch || error.kind() == ErrorKind::Unsupported;
    return {!refused, without_device(error.what()), {}};
  }
}

std::string_view to_string(Differentiable answer) {
  switch (answer) {
    case Differentiable::yes: return "yes";
    case Differentiable::zero: return "zero";
    case Differentiable::refused: return "refused";
    case Differentiable::not_recorded: return "not recorded";
    case Differentiable::no_result: return "no result";
    case Differentiable::no_input: return "no input";
  }
  return {};
}

Differentiable differentiated(const Example& example, bool& twice) {
  twice = false;
  const Trying guard({.dtype = DType::f64, .gradient = true});
  const Outcome outcome = example.run();
  const Tensors leaves = guard.leaves();
  if (leaves.empty()) return Differentiable::no_input;
  Tensor loss = zeros({}, DType::f64);
  bool floating = false;
  double weight = 0.75;
  for (const Tensor& y : outcome.tensors) {
    if (!y.defined() || !is_floating(y.dtype())) continue;
    floating = true;
    if (!y.requires_grad()) continue;
    // unequal weights: a sum of equal ones hides the gradient of softmax; the square makes the gradient of a linear operation depend on its input
    const Tensor weights = reshape(arange(1, y.count() + 1, 1, DType::f64) * weight, y.shape());
    loss = loss + sum(y.to(DType::f64) * (y.to(DType::f64) + weights * weights));
    weight *= 1.25;
  }
  if (!floating) return Differentiable::no_result;
  if (!loss.requires_grad()) return Differentiable::not_recorded;
  try {
    const Tensors gradients = grad(std::vector<Tensor>{loss}, leaves, {.create_graph = true, .allow_unused = true});
    bool nonzero = false;
    Tensor again = zeros({}, DType::f64);
    for (const Tensor& g : gradients) {
      if (!g.defined()) continue;
      nonzero = nonzero || any_nonzero(g);
      if (g.requires_grad()) again = again + sum(g.to(DType::f64) * g.to(DType::f64));
    }
    if (!nonzero) return Differentiable::zero;
    if (again.requires_grad()) {
      try {
        grad(std::vector<Tensor>{again}, leaves, {.allow_unused = true});
        twice = true;
      } catch (const Error&) { twice = false; }
    }
    return Differentiable::yes;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::Unsupported) return Differentiable::refused;
    throw;
  }
}

}  // namespace votive::docs
