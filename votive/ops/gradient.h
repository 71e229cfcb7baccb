// What an operation says of its gradient and what it may read for it, and the record that apply() leaves when a gradient is asked for.
// Gradients are written with Votive's own operations, so they have gradients themselves. The walk over a graph of records is autograd/.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "votive/base/small_vector.h"
#include "votive/ops/op.h"

namespace votive {

using Tensors = std::vector<Tensor>;

/// What an operation keeps for its gradient: bit i for input i, and whether its outputs. `Saves saves() const` of an operation; everything when it has none.
struct Saves {
  std::uint32_t inputs = ~0u;
  bool outputs = true;
};

class Node;

/// One step of the chain rule, as an operation's `Tensors gradient(const Backward& b) const` sees it. The result has one tensor per input, of that
/// input's dtype and shape; Tensor() for inputs that do not want one.
class Backward {
 public:
  Backward(const Node& node, Tensors y, Tensors dy, std::uint32_t wanted)
      : node_(node), y_(std::move(y)), dy_(std::move(dy)), wanted_(wanted) {}

  int inputs() const;
  /// Input i, if saves() names it.
  const Tensor& x(int i = 0) const;
  /// dtype and shape of input i, saved or not.
  const Meta& meta(int i = 0) const;
  /// Output i, if saves() names outputs.
  const Tensor& y(int i = 0) const;
  /// Gradient of the loss with respect to output i; of an operation with several outputs it is absent where the loss does not use that one.
  const Tensor& dy(int i = 0) const { return dy_[static_cast<std::size_t>(i)]; }
  bool wants(int i) const { return (wanted_ >> (i < 31 ? i : 31) & 1) != 0; }
  /// `gradient` summed over the axes along which input i was broadcast, in input i's dtype.
  Tensor to_input(const Tensor& gradient, int i) const;

 private:
  const Node& node_;
  Tensors y_, dy_;
  std::uint32_t wanted_;
};

/// An operation that ran: its inputs as edges to their own records, what it saved, and its gradient.
class Node : public Record {
 public:
  struct Input {
    Tensor saved;      // Tensor() when not saved, or released
    RecordPtr record;  // null when nobody asks for this input's gradient
    int output = 0;
    std::uint32_t version = 0;
    Meta meta;
  };

  Node(std::string_view name, Saves saves, std::span<const Tensor* const> in);

  std::string_view name() const { return name_; }
  std::span<const Input> inputs() const { return {inputs_.data(), inputs_.size()}; }
  int outputs() const { return outputs_; }
  /// The saved outputs with their history (`live`) or without.
  Tensors saved_outputs(bool live) const;
  virtual Tensors gradient(const Backward& step) const = 0;
  /// Gives back what was saved. A second walk through this node is an error that says so.
  void release();
  bool is_released() const { return released_; }
  /// y as output of this node; called once per output, in order. `self` holds this node.
  Tensor attach(Tensor y) { return attach(std::move(y), RecordPtr(this)); }
  Tensor attach(Tensor y, RecordPtr self);

 private:
  std::string_view name_;
  Saves saves_;
  SmallVector<Input, 2> inputs_;
  SmallVector<Tensor, 1> saved_outputs_;
  int outputs_ = 0;
  bool released_ = false;
};

namespace detail {
/// Whether this thread records; NoGrad clears it.
extern constinit thread_local bool recording VOTIVE_INITIAL_EXEC;
[[noreturn]] void refuse_no_gradient(std::string_view op);
}  // namespace detail

template <class Op>
class OpNode final : public Node {
 public:
  OpNode(const Op& op, std::span<const Tensor* const> in) : Node(op_name(op), saves_of(op), in), op_(op) {}

  Tensors gradient(const Backward& step) const override {
    if constexpr (requires { op_.gradient(step); }) {
      return op_.gradient(step);
    } else {
      detail::refuse_no_gradient(name());
    }
  }

 private:
  static Saves saves_of(const Op& op) {
    if constexpr (requires { op.saves(); }) {
      return op.saves();
    } else if constexpr (requires(const Backward& b) { op.gradient(b); }) {
      return {};
    } else {
      return {0, false};
    }
  }
  Op op_;
};

namespace detail {

/// A node under construction, kept alive until its outputs hold it.
class NodePtr {
 public:
  explicit NodePtr(Node* node) : node_(node), keep_(RecordPtr::of_new(node)) {}
  Node* operator->() const { return node_; }
  /// The only output, or the last.
  Tensor attach_last(Tensor y) && { return node_->attach(std::move(y), std::move(keep_)); }

 private:
  Node* node_;
  RecordPtr keep_;
};

template <class Op>
[[gnu::noinline]] NodePtr new_node(const Op& op, std::initializer_list<const Tensor*> in) {
  return NodePtr(new OpNode<Op>(op, std::span(in.begin(), in.size())));
}

}  // namespace detail

template <class... In>
bool asks_for_gradient(const In&... in) {
  return (in.requires_grad() || ...) && detail::recording;
}

/// y = op(in…) as part of the graph, when an input asks for its gradient and y is floating; y itself otherwise. Views call it, apply() does for all others.
template <class Op, class... In>
Tensor record(const Op& op, Tensor y, const In&... in) {
  if constexpr (sizeof...(In) > 0) {
    if (asks_for_gradient(in...) && is_floating(y.dtype())) [[unlikely]]
      return detail::new_node(op, {&in...}).attach_last(std::move(y));
  }
  return y;
}

template <class Op, class... In>
std::pair<Tensor, Tensor> record_pair(const Op& op, Tensor y, Tensor z, const In&... in) {
  if (!asks_for_gradient(in...)) [[likely]]
    return {std::move(y), std::move(z)};
  auto node = detail::new_node(op, {&in...});
  Tensor first = node->attach(std::move(y));
  return {std::move(first), std::move(node).attach_last(std::move(z))};
}

template <class Op>
Tensor record_list(const Op& op, Tensor y, std::span<const Tensor> in) {
  bool asked = false;
  for (const Tensor& x : in) asked = asked || x.requires_grad();
  if (!asked || !detail::recording || !is_floating(y.dtype())) return y;
  std::vector<const Tensor*> inputs;
  for (const Tensor& x : in) inputs.push_back(&x);
  return detail::NodePtr(new OpNode<Op>(op, inputs)).attach_last(std::move(y));
}

}  // namespace votive
