// What movements give back: the gradient of a view puts elements where they came from.
#include "votive/ops/movement.h"

#include "votive/ops/index.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

Tensor laid_out(std::string_view op, const Tensor& x, Layout at) {
  const Tensor dense = contiguous(x);
  Layout layout = at;
  layout.offset += dense.offset();
  return record(View{op, std::move(at)}, Tensor::view(dense, layout), dense);
}

}  // namespace

Tensors Reshape::gradient(const Backward& b) const { return {reshape(b.dy(), b.meta().shape)}; }

Tensors Permute::gradient(const Backward& b) const {
  const int rank = b.meta().shape.rank();
  std::vector<int> inverse(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i) inverse[static_cast<std::size_t>(axes[static_cast<std::size_t>(i)])] = i;
  return {permute(b.dy(), inverse)};
}

Tensors Flip::gradient(const Backward& b) const {
  std::vector<int> list;
  for (int axis = 0; axis < b.meta().shape.rank(); ++axis) {
    if ((axes >> axis & 1) != 0) list.push_back(axis);
  }
  return {flip(b.dy(), Axes(list))};
}

Tensors Broadcast::gradient(const Backward& b) const { return {b.to_input(b.dy(), 0)}; }

Tensors View::gradient(const Backward& b) const { return {apply(Place{called, b.meta().shape, at}, b.dy())}; }

Tensors Place::gradient(const Backward& b) const { return {laid_out(called, b.dy(), at)}; }

Tensors Concat::gradient(const Backward& b) const {
  Tensors gradients;
  Size start = 0;
  for (int i = 0; i < b.inputs(); ++i) {
    const Size n = b.meta(i).shape[axis];
    gradients.push_back(b.wants(i) ? narrow(b.dy(), axis, start, n) : Tensor());
    start += n;
  }
  return gradients;
}

}  // namespace votive
