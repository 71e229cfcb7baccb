// Nodes that no operation of the library makes: hooks, checkpoints, the user's own operations. And the switch that turns recording off.
#include <memory>
#include <utility>

#include "votive/autograd/autograd.h"
#include "votive/autograd/leaves.h"
#include "votive/base/text.h"
#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

template <class N, class... Parts>
Tensor attach_new(Tensor y, Parts&&... parts) {
  return detail::NodePtr(new N(std::forward<Parts>(parts)...))->attach(std::move(y));
}

std::vector<const Tensor*> pointers(const Tensors& tensors) {
  std::vector<const Tensor*> result;
  for (const Tensor& x : tensors) result.push_back(&x);
  return result;
}

bool any_asks(const Tensors& tensors) {
  for (const Tensor& x : tensors)
    if (x.requires_grad()) return detail::recording;
  return false;
}

/// A gradient that the user's own code gave must fit what it is the gradient of.
void require_like(std::string_view op, std::string_view what, const Tensor& dx, const Meta& x) {
  const Meta given = dx.meta();
  const Argument argument{what, 1, given};
  if (given.device != x.device) {
    throw error_about(ErrorKind::DeviceMismatch, op, {argument})
        .detail(text::format("{} on {} is the gradient of {} on {}", describe(argument), to_string(given.device), describe(x),
                             to_string(x.device)));
  }
  if (given.dtype != x.dtype) {
    throw error_about(ErrorKind::DTypeMismatch, op, {argument})
        .detail(text::format("{} is the gradient of {}", describe(argument), describe(x)));
  }
  if (given.shape != x.shape) {
    throw error_about(ErrorKind::ShapeMismatch, op, {argument})
        .detail(text::format("{} is the gradient of {}", describe(argument), describe(x)));
  }
}

/// The identity; with a hook, one that looks at the gradient.
class HookNode final : public Node {
 public:
  HookNode(const Tensor& x, std::function<Tensor(const Tensor&)> hook)
      : Node("on_gradient", {0, false}, pointers({x})), hook_(std::move(hook)) {}
  Tensors gradient(const Backward& step) const override {
    Tensor dx = hook_ ? hook_(step.dy()) : Tensor();
    if (!dx.defined()) return {step.dy()};
    require_like(name(), "what the hook gave", dx, step.meta());
    return {dx};
  }

 private:
  std::function<Tensor(const Tensor&)> hook_;
};

/// Runs the function again and differentiates that run.
class CheckpointNode final : public Node {
 public:
  CheckpointNode(std::function<Tensor(const Tensors&)> function, const Tensors& inputs)
      : Node("checkpoint", {~0u, false}, pointers(inputs)), function_(std::move(function)) {}

  Tensors gradient(const Backward& step) const override {
    // Each input stands at a record of its own: an input that another one was computed from gets only its own share. Under create_graph that record leads
    // on to the input's history, so that the gradient can be differentiated; otherwise it is a leaf.
    const bool live = std::exchange(detail::recording, true);
    struct Restore {
      bool before;
      ~Restore() { detail::recording = before; }
    } restore{live};
    Tensors x, asked;
    for (int i = 0; i < step.inputs(); ++i) {
      const Tensor& input = step.x(i);
      const bool asks = step.wants(i) && input.requires_grad();
      x.push_back(!asks ? input : live ? attach_new<HookNode>(input.detach(), input, nullptr) : input.detach().require_grad());
      if (asks) asked.push_back(x.back());
    }
    const Tensor y = function_(x);
    const Meta again = y.meta(), first = step.dy().meta();
    require_present("checkpoint", {"the function's result", 1, again});
    if (again.shape != first.shape || again.dtype != first.dtype || again.device != first.device) {
      const std::string place = again.device == first.device ? "" : text::format(" on {}", to_string(first.device));
      throw error_about(ErrorKind::InvalidArgument, "checkpoint", {{"the function's result", 1, again}})
          .detail(text::format("the function gave {} when it was called again, and {}{} before", describe(again), describe(first), place))
          .hint("Let it depend on its inputs alone");
    }
    Tensors found(asked.size());
    if (y.requires_grad()) {
      if (!live) refuse_captured(y, asked);
      found = grad(std::span(&y, 1), asked, {.seeds = {step.dy()}, .create_graph = live, .allow_unused = true});
    }
    Tensors dx(x.size());
    for (std::size_t i = 0, next = 0; i < x.size(); ++i) {
      if (!step.wants(static_cast<int>(i)) || !step.x(static_cast<int>(i)).requires_grad()) continue;
      dx[i] = found[next].defined() ? found[next] : zeros_like(x[i]);
      ++next;
    }
    return dx;
  }

 private:
  static void refuse_captured(const Tensor& y, const Tensors& asked) {
    for (const Record* leaf : leaves(y)) {
      bool known = false;
      for (const Tensor& x : asked) known = known || x.record() == leaf;
      if (known) continue;
      throw Error(ErrorKind::InvalidArgument, "checkpoint")
          .detail("the function uses a tensor that asks for a gradient and is not among its inputs")
          .hint("Pass it as an input");
    }
  }

  std::function<Tensor(const Tensors&)> function_;
};

class CustomNode final : public Node {
 public:
  CustomNode(std::shared_ptr<const CustomOperation> operation, const Tensors& inputs)
      : Node(operation->name, {}, pointers(inputs)), operation_(std::move(operation)) {}
  Tensors gradient(const Backward& step) const override {
    if (!operation_->gradient) detail::refuse_no_gradient(operation_->name);
    Tensors x;
    for (int i = 0; i < step.inputs(); ++i) x.push_back(step.x(i));
    Tensors dx = operation_->gradient(x, step.y(), step.dy());
    if (dx.size() != x.size()) {
      throw Error(ErrorKind::InvalidArgument, operation_->name)
          .detail(text::format("its gradient gave {} tensors for {} inputs", dx.size(), x.size()));
    }
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const int input = static_cast<int>(i);
      if (!step.wants(input)) continue;
      if (!dx[i].defined()) {
        throw Error(ErrorKind::InvalidArgument, operation_->name)
            .detail(text::format("its gradient gave no tensor for input {}, which asks for one", i))
            .hint("Where it is zero, give zeros_like(x[i])");
      }
      require_like(operation_->name, text::format("gradient {}", i), dx[i], step.meta(input));
    }
    return dx;
  }

 private:
  std::shared_ptr<const CustomOperation> operation_;
};

}  // namespace

NoGrad::NoGrad() : before_(std::exchange(detail::recording, false)) {}
NoGrad::~NoGrad() { detail::recording = before_; }

Tensor on_gradient(const Tensor& x, std::function<Tensor(const Tensor& dx)> hook) {
  const Meta meta = x.meta();
  require_present("on_gradient", {"x", 1, meta});
  if (!hook) throw error_about(ErrorKind::InvalidArgument, "on_gradient", {{"x", 1, meta}}).detail("no hook was given");
  if (!x.requires_grad() || !detail::recording) return x;
  return attach_new<HookNode>(x.detach(), x, std::move(hook));
}

Tensor checkpoint(std::function<Tensor(const Tensors& inputs)> function, const Tensors& inputs) {
  if (!function) throw Error(ErrorKind::InvalidArgument, "checkpoint").detail("no function was given");
  Tensor y;
  {
    const NoGrad off;
    y = function(inputs);
  }
  const Meta meta = y.meta();
  require_present("checkpoint", {"the function's result", 1, meta});
  if (!any_asks(inputs) || !is_floating(y.dtype())) return y;
  return attach_new<CheckpointNode>(y.detach(), std::move(function), inputs);
}

Tensor custom(const CustomOperation& operation, const Tensors& inputs) {
  if (!operation.forward) throw Error(ErrorKind::InvalidArgument, operation.name).detail("it has no forward");
  Tensor y;
  {
    const NoGrad off;
    y = operation.forward(inputs);
  }
  const Meta meta = y.meta();
  require_present(operation.name, {"the result of forward", 1, meta});
  if (!any_asks(inputs) || !is_floating(y.dtype())) return y;
  return attach_new<CustomNode>(y.detach(), std::make_shared<const CustomOperation>(operation), inputs);
}

}  // namespace votive
