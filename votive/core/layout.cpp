// Views as arithmetic on strides. Nothing here touches an element.
#include "votive/core/layout.h"

namespace votive {

bool Layout::is_contiguous() const {
  Size stride = 1;
  bool dense = true;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] == 0) return true;
    if (shape[axis] == 1) continue;
    dense &= strides[axis] == stride;
    stride *= shape[axis];
  }
  return dense;
}

Layout broadcast_layout(const Layout& layout, const Shape& shape) {
  Layout result{shape, Strides::filled(shape.rank(), 0), layout.offset};
  const int ahead = shape.rank() - layout.rank();
  for (int axis = 0; axis < layout.rank(); ++axis)
    if (layout.shape[axis] == shape[axis + ahead]) result.strides[axis + ahead] = layout.strides[axis];
  return result;
}

Layout permuted(const Layout& layout, std::span<const int> axes) {
  Layout result = layout;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    result.shape[axis] = layout.shape[axes[static_cast<std::size_t>(axis)]];
    result.strides[axis] = layout.strides[axes[static_cast<std::size_t>(axis)]];
  }
  return result;
}

Layout sliced(const Layout& layout, int axis, Size start, Size step, Size n) {
  Layout result = layout;
  result.shape[axis] = n;
  // An empty slice may start past the end, and a single element may come with any step: neither may leave the buffer or overflow.
  if (n > 0) result.offset += start * layout.strides[axis];
  if (n > 1) result.strides[axis] *= step;
  return result;
}

bool reshaped(const Layout& layout, const Shape& shape, Layout& result) {
  result = Layout::contiguous(shape);
  result.offset = layout.offset;
  if (layout.count() == 0) return true;

  // Groups of old axes and of new axes with equal products, from the front; within a group the old axes must merge into one stride.
  Shape old_shape;
  Strides old_strides;
  for (int axis = 0; axis < layout.rank(); ++axis) {
    if (layout.shape[axis] == 1) continue;
    old_shape.push_back(layout.shape[axis]);
    old_strides.push_back(layout.strides[axis]);
  }
  int old_axis = 0, axis = 0;
  while (old_axis < old_shape.rank()) {
    int old_end = old_axis + 1, end = axis;
    Size old_size = old_shape[old_axis], size = 1;
    while (size != old_size) {
      if (size < old_size) {
        size *= shape[end++];
      } else {
        old_size *= old_shape[old_end++];
      }
    }
    for (int i = old_axis; i + 1 < old_end; ++i)
      if (old_strides[i] != old_strides[i + 1] * old_shape[i + 1]) return false;
    Size stride = old_strides[old_end - 1];
    for (int i = end - 1; i >= axis; --i) {
      result.strides[i] = stride;
      stride *= shape[i];
    }
    old_axis = old_end;
    axis = end;
  }
  return true;
}

}  // namespace votive
