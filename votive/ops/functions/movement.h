// Elements in other places: views where strides allow, copies where not. The values never change.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/ops/functions/reductions.h"

namespace votive {

Tensor reshape(const Tensor& x, const Shape& shape);  ///< one −1 is deduced; copies only when no view can give it
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
Tensor permute(const Tensor& x, std::initializer_list<int> axes);
Tensor permute(const Tensor& x, std::span<const int> axes);
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
Tensor squeeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x);  ///< drops every axis of size 1
Tensor unsqueeze(const Tensor& x, int axis);
struct SliceOptions {
  int axis = 0;
  std::optional<Size> start = {}, stop = {};  // as Python's: negative from the end, clamped
  Size step = 1;                              // not 0
};
Tensor slice(const Tensor& x, SliceOptions options);
Tensor narrow(const Tensor& x, int axis, Size start, Size n);  ///< exact: out of range is an error
Tensor select(const Tensor& x, int axis, Size index);          ///< drops the axis
Tensor flip(const Tensor& x, const Axes& axes = {});
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor contiguous(const Tensor& x);  ///< the same tensor when it is row-major already
std::vector<Tensor> split(const Tensor& x, std::span<const Size> sizes, int axis = 0);
std::vector<Tensor> chunk(const Tensor& x, Size chunks, int axis = 0);
Tensor concat(std::span<const Tensor> x, int axis = 0);
Tensor concat(std::initializer_list<Tensor> x, int axis = 0);
Tensor stack(std::span<const Tensor> x, int axis = 0);
Tensor stack(std::initializer_list<Tensor> x, int axis = 0);
/// Writes `source` over the elements of `destination`, a view or a whole tensor, without changing its dtype or shape. The only writer beside KvCache.
/// Throws Error{InvalidArgument} when destination overlaps itself (stride 0). Overlap of the two gives the result as if copied first.
void copy_into(Tensor& destination, const Tensor& source);

}  // namespace votive
