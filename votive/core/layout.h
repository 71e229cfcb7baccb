// How the elements of a tensor lie in its buffer: element (i, j, …) is at offset + i·stride₀ + j·stride₁ + …
// Views (slice, permute, broadcast …) are new layouts over the same buffer. For quantised dtypes the last axis has stride 1 and whole blocks.
#pragma once

#include "votive/core/shape.h"

namespace votive {

struct Layout {
  Shape shape;
  Strides strides;
  Size offset = 0;

  static Layout contiguous(const Shape& shape) { return {shape, contiguous_strides(shape), 0}; }
  int rank() const { return shape.rank(); }
  Size count() const { return votive::count(shape); }
  /// Row-major without gaps; axes of size 1 may have any stride, and an empty layout is contiguous.
  bool is_contiguous() const;
};

/// The layout of `layout` read as `shape` by repeating axes of size 1 (stride 0). The caller has checked that it broadcasts.
Layout broadcast_layout(const Layout& layout, const Shape& shape);
Layout permuted(const Layout& layout, std::span<const int> axes);
/// Elements start, start + step, … (n of them) of one axis; step may be negative.
Layout sliced(const Layout& layout, int axis, Size start, Size step, Size n);
/// The same elements in row-major order under another shape, when strides allow it without a copy.
bool reshaped(const Layout& layout, const Shape& shape, Layout& result);

}  // namespace votive
