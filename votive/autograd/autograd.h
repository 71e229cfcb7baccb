// Gradients: backward from a loss to every leaf, grad from some tensors to others, and what steers them. A gradient is computed with the same
// operations as everything else, in an order that the graph alone decides, so it has the same bits on every device and can be differentiated again.
// Not here: the formulas (they stand with their operations in ops/) and optimisers.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "votive/core/tensor.h"

namespace votive {

using Tensors = std::vector<Tensor>;

/// What backward() found: a gradient per leaf.
class Grads {
 public:
  /// The gradient of a leaf, of its dtype and shape. Throws Error{InvalidArgument} when x is no leaf or had no part in the loss.
  const Tensor& operator[](const Tensor& x) const;
  bool has(const Tensor& x) const { return x.requires_grad() && gradients_.contains(x.record()); }
  std::size_t size() const { return gradients_.size(); }

 private:
  friend Grads backward(const Tensor& loss, const struct BackwardOptions& options);
  struct Entry {
    RecordPtr leaf;  // keeps the key alive
    Tensor gradient;
  };
  std::unordered_map<const Record*, Entry> gradients_;
};

struct BackwardOptions {
  Tensor seed = {};           // the gradient of the loss itself; 1 when absent, which needs a loss of one element
  bool keep_graph = false;    // keep what operations saved, to walk the graph again
  bool create_graph = false;  // record the gradients' own operations, for higher derivatives; keeps the graph too
};
/// ∂loss/∂w for every leaf w (Tensor::require_grad) that the loss depends on. Contributions of several uses are added in the order of the walk, last use first.
/// Throws Error{InvalidArgument} when nothing asks for a gradient, the loss has more than one element and no seed, or the graph was given back;
/// Error{Unsupported} naming the operation that has no gradient.
/// Example: [] { Tensor w = tensor(3).require_grad(); return backward(w * w)[w]; }()  // 6
Grads backward(const Tensor& loss, const BackwardOptions& options = {});

struct GradOptions {
  Tensors seeds = {};  // one per output; see BackwardOptions::seed
  bool keep_graph = false;
  bool create_graph = false;
  bool allow_unused = false;  // an input without part in the outputs gives Tensor() instead of an error
};
/// Σ ∂outputs/∂inputs for tensors anywhere in the graph, leaves or not.
/// Throws as backward() does, and Error{InvalidArgument} for an input without part in the outputs.
/// Example: [] { Tensor x = tensor(2).require_grad(); return grad(x * x * x, x); }()  // 12
Tensors grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const GradOptions& options = {});
Tensors grad(const Tensor& output, std::initializer_list<Tensor> inputs, const GradOptions& options = {});
Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options = {});

/// While one lives, this thread records nothing.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};

/// x, whose gradient is shown to `hook` on its way; what the hook returns goes on in its place (Tensor() leaves it as it is).
/// Example: [] { Tensor x = tensor(2).require_grad(); return grad(on_gradient(x, [](const Tensor& dx) { return dx * 10; }), x); }()  // 10
Tensor on_gradient(const Tensor& x, std::function<Tensor(const Tensor& dx)> hook);

/// function(inputs) without keeping what it computes in between: backward runs it again. The function must give the same result for the same inputs.
/// Tensors that it captures instead of taking as inputs get no gradient; if they ask for one, that is Error{InvalidArgument}.
/// Example: checkpoint([](const Tensors& in) { return in[0] * in[0]; }, {tensor({1, 2, 3})})  // [1, 4, 9]
Tensor checkpoint(std::function<Tensor(const Tensors& inputs)> function, const Tensors& inputs);

struct CustomOperation {
  std::string name;
  std::function<Tensor(const Tensors& x)> forward;
  std::function<Tensors(const Tensors& x, const Tensor& y, const Tensor& dy)> gradient = {};
};
/// An operation of the user's own: forward computes y from the inputs, gradient gives one tensor per input (Tensor() for none) from inputs, y and dy.
/// Gradients written with Votive's operations can be differentiated again. Without `gradient`, backward throws and names the operation.
/// Example: custom({.name = "double", .forward = [](const Tensors& x) { return x[0] * 2; }}, {tensor({1, 2})})  // [2, 4]
Tensor custom(const CustomOperation& operation, const Tensors& inputs);

}  // namespace votive
