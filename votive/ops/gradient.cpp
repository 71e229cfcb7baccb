// Records of operations: what they save, when they may be read, what they give back. No gradient formula is here; those stand with their operations.
#include "votive/ops/gradient.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/check.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive {

namespace detail {

constinit thread_local bool recording VOTIVE_INITIAL_EXEC = true;

void refuse_no_gradient(std::string_view op) {
  throw Error(ErrorKind::Unsupported, op).detail("it has no gradient").hint("Take it out of the graph, e.g. x.detach()");
}

}  // namespace detail

Node::Node(std::string_view name, Saves saves, std::span<const Tensor* const> in) : name_(name), saves_(saves) {
  inputs_.reserve(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const Tensor& x = *in[i];
    const bool keeps = x.defined() && (saves.inputs >> (i < 31 ? i : 31) & 1) != 0;
    inputs_.push_made([&] {
      return Input{keeps ? x : Tensor(), RecordPtr(x.record()), x.defined() ? x.output() : 0, keeps ? x.version() : 0, x.meta()};
    });
  }
}

Tensor Node::attach(Tensor y, RecordPtr self) {
  const int output = outputs_++;
  // A saved output is fresh: version 0. So a later write into it shows without a version kept beside it.
  if (saves_.outputs) saved_outputs_.push_back(y.version() == 0 ? y : apply(Copy{}, y));
  if (!is_floating(y.dtype())) return y;
  // Over the same memory under a header of its own, so that what this node saved does not keep the node alive.
  return std::move(y).with_record(std::move(self), output);
}

void Node::release() {
  for (Input& input : inputs_) input.saved = {};
  saved_outputs_.clear();
  released_ = true;
}

Tensors Node::saved_outputs(bool live) const {
  Tensors y;
  for (std::size_t i = 0; i < saved_outputs_.size(); ++i) {
    const Tensor& saved = saved_outputs_[i];
    if (saved.version() != 0) {
      throw Error(ErrorKind::InvalidArgument, name_)
          .shape(saved.shape().to_vector())
          .detail("its output was written by copy_into since; the gradient needs the value it had")
          .hint("Write into a copy, or compute the gradient first");
    }
    y.push_back(live && is_floating(saved.dtype()) ? saved.with_record(RecordPtr(const_cast<Node*>(this)), static_cast<int>(i)) : saved);
  }
  return y;
}

int Backward::inputs() const { return static_cast<int>(node_.inputs().size()); }

const Meta& Backward::meta(int i) const { return node_.inputs()[static_cast<std::size_t>(i)].meta; }

const Tensor& Backward::x(int i) const {
  const Node::Input& input = node_.inputs()[static_cast<std::size_t>(i)];
  if (input.saved.defined() && input.saved.version() != input.version) {
    throw Error(ErrorKind::InvalidArgument, node_.name())
        .shape(input.meta.shape.to_vector())
        .detail(text::format("its input {} was written by copy_into after it was used; the gradient needs the value it had", i))
        .hint("Write into a copy, or compute the gradient first");
  }
  if (!input.saved.defined() && input.meta.present)
    throw Error(ErrorKind::Internal, node_.name()).detail(text::format("input {} was not saved", i));
  return input.saved;
}

const Tensor& Backward::y(int i) const {
  if (static_cast<std::size_t>(i) >= y_.size()) throw Error(ErrorKind::Internal, node_.name()).detail("outputs were not saved");
  return y_[static_cast<std::size_t>(i)];
}

Tensor Backward::to_input(const Tensor& gradient, int i) const {
  const Meta& x = meta(i);
  Tensor g = gradient;
  if (g.shape() != x.shape) {
    const int extra = g.rank() - x.shape.rank();
    std::vector<int> axes;
    for (int axis = 0; axis < g.rank(); ++axis)
      if (axis < extra || (x.shape[axis - extra] == 1 && g.shape()[axis] != 1)) axes.push_back(axis);
    if (!axes.empty()) g = reshape(sum(g, {.axis = Axes(axes)}), x.shape);
  }
  return g.to(x.dtype);
}

}  // namespace votive
