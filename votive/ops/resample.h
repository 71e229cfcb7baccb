// Interpolation along one axis as a table: which elements an output reads and by how much. The table is the operation's meaning; kernels only apply it.
#pragma once

#include <vector>

#include "votive/ops/functions/resampling.h"
#include "votive/ops/gradient.h"

namespace votive {

/// Outputs' taps: output o reads index[k] with weight[k] for begin[o] ≤ k < begin[o + 1]. `copies`: one tap each, of weight 1.
struct TapTable {
  std::vector<Size> begin, index;
  std::vector<double> weight;
  bool copies = false;
};

/// y = x with `axis` at another size; `transposed`: the gradient, which goes from `size` elements to `in`.
struct Interpolate {
  int axis;
  Size in, size;
  Interpolation mode;
  double step = 0;  // between coordinates; 0: in/size
  bool align_corners = false, antialias = false, transposed = false;

  static constexpr OpInfo info{"interpolate", Class::exact};
  using Kernel = void(const Interpolate&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
  TapTable table() const;
};

/// grid_sample of an x and a grid in f32 or f64, where no gradient is asked for: the bits of its parts. Which modes go with which ranks has been checked.
struct GridSample {
  GridSampleOptions options;

  static constexpr OpInfo info{"grid_sample", Class::exact};
  using Kernel = void(const GridSample&, const Tensor& x, const Tensor& grid, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& grid) const;
};

/// What defines it: the composition of public operations that gradients go through, as [N, C, points].
Tensor grid_sample_in_parts(const Tensor& x, const Tensor& grid, GridSampleOptions options);

}  // namespace votive
