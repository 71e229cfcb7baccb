// The walk from outputs to inputs. Nodes are numbered by a depth-first search that follows inputs in their order, and visited backwards: the order, and with
// it the bits of every sum of contributions, is decided by the graph alone. No step recurses: a graph may be any number of operations deep.
#include <algorithm>
#include <cstdint>
#include <new>

#include "votive/autograd/autograd.h"
#include "votive/autograd/leaves.h"
#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

/// A record's output: what a gradient belongs to.
struct Place {
  const Record* record;
  int output;
  bool operator==(const Place&) const = default;
};
struct PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return std::hash<const void*>()(place.record) ^ static_cast<std::size_t>(place.output) * 0x9e3779b97f4a7c15u;
  }
};
using Gradients = std::unordered_map<Place, Tensor, PlaceHash>;

struct Step {
  RecordPtr record;
  Node* node;            // null for a leaf
  std::uint32_t wanted;  // inputs on a way to a target
};

/// Every record that the outputs depend on, inputs first; `is_target` says what gradients are looked for.
template <class IsTarget>
std::vector<Step> order(std::span<const Tensor> outputs, IsTarget is_target) {
  struct Visit {
    Record* record;
    std::size_t next = 0;
  };
  std::vector<Step> steps;
  std::unordered_map<const Record*, bool> leads;  // to a target; present once entered
  std::vector<Visit> path;
  const auto enter = [&](Record* record) {
    if (record != nullptr && leads.emplace(record, false).second) path.push_back({record});
  };
  for (const Tensor& y : outputs) {
    enter(y.record());
    while (!path.empty()) {
      Visit& top = path.back();
      Node* const node = dynamic_cast<Node*>(top.record);
      if (node != nullptr && top.next < node->inputs().size()) {
        Record* const next = node->inputs()[top.next++].record.get();
        enter(next);
        continue;
      }
      Record* const record = top.record;
      path.pop_back();
      std::uint32_t wanted = 0;
      if (node != nullptr) {
        for (std::size_t i = 0; i < node->inputs().size(); ++i) {
          const Node::Input& input = node->inputs()[i];
          if (input.record && (leads[input.record.get()] || is_target(input.record.get(), input.output)))
            wanted |= 1u << std::min<std::size_t>(i, 31);
        }
      }
      leads[record] = wanted != 0 || (node == nullptr && is_target(record, 0));
      steps.push_back({RecordPtr(record), node, wanted});
    }
  }
  return steps;
}

void accumulate(Gradients& gradients, Place place, Tensor gradient) {
  Tensor& sum = gradients[place];
  sum = sum.defined() ? add(sum, gradient) : std::move(gradient);
}

[[noreturn]] void refuse_released(const Node& node) {
  throw Error(ErrorKind::InvalidArgument, "backward")
      .detail(text::format("what {} saved was given back by an earlier backward", node.name()))
      .hint("Pass keep_graph = true to the earlier call");
}

/// The gradient of one node's inputs, checked.
Tensors step_back(const Node& node, Tensors dy, std::uint32_t wanted, bool live) {
  if (node.is_released()) refuse_released(node);
  Tensors dx = node.gradient(Backward(node, node.saved_outputs(live), std::move(dy), wanted));
  if (dx.size() != node.inputs().size()) {
    throw Error(ErrorKind::Internal, node.name()).detail(text::format("gave {} gradients for {} inputs", dx.size(), node.inputs().size()));
  }
  for (std::size_t i = 0; i < dx.size(); ++i) {
    if ((wanted >> std::min<std::size_t>(i, 31) & 1) == 0) continue;
    const Meta& x = node.inputs()[i].meta;
    if (!node.inputs()[i].record) continue;
    if (!dx[i].defined() || dx[i].shape() != x.shape || dx[i].dtype() != x.dtype || dx[i].device() != x.device) {
      const Meta given = dx[i].meta();
      throw Error(ErrorKind::Internal, node.name())
          .detail(text::format("its gradient of input {} is {}, not {}", i, dx[i].defined() ? describe(given) : "absent", describe(x)));
    }
  }
  return dx;
}

template <class IsTarget>
Gradients walk(std::span<const Tensor> outputs, std::span<const Tensor> seeds, bool keep_graph, bool create_graph, IsTarget is_target) {
  const bool before = std::exchange(detail::recording, create_graph);
  struct Restore {
    bool before;
    ~Restore() { detail::recording = before; }
  } restore{before};
  std::vector<Step> steps = order(outputs, is_target);
  Gradients pending, found;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].requires_grad()) accumulate(pending, {outputs[i].record(), outputs[i].output()}, seeds[i]);
  }
  for (; !steps.empty(); steps.pop_back()) {
    const Step& step = steps.back();
    const int count = step.node == nullptr ? 1 : step.node->outputs();
    Tensors dy(static_cast<std::size_t>(count));
    bool reached = false;
    for (int output = 0; output < count; ++output) {
      const auto at = pending.find({step.record.get(), output});
      if (at == pending.end()) continue;
      if (is_target(step.record.get(), output)) found.emplace(at->first, at->second);
      dy[static_cast<std::size_t>(output)] = std::move(at->second);
      pending.erase(at);
      reached = true;
    }
    if (!reached || step.node == nullptr || step.wanted == 0) continue;
    Tensors dx = step_back(*step.node, std::move(dy), step.wanted, create_graph);
    for (std::size_t i = 0; i < dx.size(); ++i) {
      const Node::Input& input = step.node->inputs()[i];
      if ((step.wanted >> std::min<std::size_t>(i, 31) & 1) == 0 || !input.record) continue;
      accumulate(pending, {input.record.get(), input.output}, std::move(dx[i]));
    }
    if (!keep_graph && !create_graph) step.node->release();
  }
  return found;
}

Tensor seed_of(std::string_view op, const Tensor& y, const Tensor& seed) {
  const Meta meta = y.meta();
  require_present(op, {"output", 1, meta});
  if (!y.requires_grad()) {
    throw error_about(ErrorKind::InvalidArgument, op, {{"output", 1, meta}})
        .detail(text::format("{} depends on nothing that asks for a gradient", describe(meta)))
        .hint("Ask with x = x.require_grad() before computing");
  }
  if (!seed.defined()) {
    if (y.count() != 1) {
      throw error_about(ErrorKind::ShapeMismatch, op, {{"output", 1, meta}})
          .detail(text::format("{} has {} elements", describe(meta), y.count()))
          .accepted("one element, or a seed of its shape")
          .hint("Reduce it, e.g. sum(y), or pass a seed");
    }
    return full(y.shape(), 1.0, y.dtype(), {.device = y.device()});
  }
  const Meta given = seed.meta();
  require_same_dtype(op, {"output", 1, meta}, {"seed", 2, given});
  require_same_device(op, {"output", 1, meta}, {"seed", 2, given});
  require_shape(op, {"seed", 2, given}, meta.shape);
  return seed;
}

}  // namespace

const Tensor& Grads::operator[](const Tensor& x) const {
  const Meta meta = x.meta();
  const auto at = gradients_.find(x.record());
  if (!x.requires_grad() || at == gradients_.end()) {
    throw error_about(ErrorKind::InvalidArgument, "grads", {{"x", 1, meta}})
        .detail(!x.requires_grad() ? "the tensor asks for no gradient" : "the loss does not depend on the tensor, or the tensor is no leaf")
        .hint("Ask for the gradients of tensors inside the graph with grad(loss, {x})");
  }
  return at->second.gradient;
}

std::vector<const Record*> leaves(const Tensor& y) {
  std::vector<const Record*> found;
  for (const Step& step : order(std::span(&y, 1), [](const Record*, int) { return true; }))
    if (step.node == nullptr) found.push_back(step.record.get());
  return found;
}

Grads backward(const Tensor& loss, const BackwardOptions& options) try {
  const FloatEnvironment environment;  // gradients compute on the host too
  const Tensor outputs[] = {loss}, seeds[] = {seed_of("backward", loss, options.seed)};
  Grads grads;
  // Leaves are found by what they are, so no list of them is needed.
  const auto is_leaf = [](const Record* record, int) { return dynamic_cast<const Leaf*>(record) != nullptr; };
  for (auto& [place, gradient] : walk(outputs, seeds, options.keep_graph, options.create_graph, is_leaf)) {
    grads.gradients_.emplace(place.record, Grads::Entry{RecordPtr(const_cast<Record*>(place.record)), std::move(gradient)});
  }
  return grads;
} catch (const std::bad_alloc&) { detail::refuse_memory("backward"); }

Tensors grad(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const GradOptions& options) try {
  const FloatEnvironment environment;
  if (!options.seeds.empty() && options.seeds.size() != outputs.size()) {
    throw Error(ErrorKind::InvalidArgument, "grad").detail(text::format("{} seeds for {} outputs", options.seeds.size(), outputs.size()));
  }
  Tensors seeds;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    seeds.push_back(seed_of("grad", outputs[i], options.seeds.empty() ? Tensor() : options.seeds[i]));
  std::unordered_map<Place, bool, PlaceHash> targets;
  for (const Tensor& x : inputs) {
    const Meta meta = x.meta();
    require_present("grad", {"input", 2, meta});
    if (!x.requires_grad()) {
      throw error_about(ErrorKind::InvalidArgument, "grad", {{"input", 2, meta}})
          .detail(text::format("{} asks for no gradient", describe(meta)))
          .hint("Ask with x = x.require_grad() before computing");
    }
    targets.emplace(Place{x.record(), x.output()}, true);
  }
  const Gradients found = walk(outputs, seeds, options.keep_graph, options.create_graph, [&](const Record* record, int output) {
    return targets.contains({record, output});
  });
  Tensors result;
  for (const Tensor& x : inputs) {
    const auto at = found.find({x.record(), x.output()});
    if (at == found.end() && !options.allow_unused) {
      const Meta meta = x.meta();
      throw error_about(ErrorKind::InvalidArgument, "grad", {{"input", 2, meta}})
          .detail(text::format("the outputs do not depend on {}", describe(meta)))
          .hint("Pass allow_unused = true to get an absent tensor instead");
    }
    result.push_back(at == found.end() ? Tensor() : at->second);
  }
  return result;
} catch (const std::bad_alloc&) { detail::refuse_memory("grad"); }

Tensors grad(const Tensor& output, std::initializer_list<Tensor> inputs, const GradOptions& options) {
  return grad(std::span(&output, 1), std::span(inputs.begin(), inputs.size()), options);
}

Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options) {
  return grad(std::span(&output, 1), std::span(&input, 1), options)[0];
}

}  // namespace votive
