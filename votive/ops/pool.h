// Pooling: which elements each window holds, and the operations on windows. What a user may ask for is functions/pooling.h.
#pragma once

#include "votive/ops/conv.h"

namespace votive {

/// The elements of each window along up to three axes: those of a sliding kernel, or an even share of the axis each (`adaptive`).
struct Bins {
  Windows windows;  // of an adaptive one only axes and size
  bool adaptive = false;

  /// Elements first, first + step, … (count of them) of window o along axis i of three; a sliding kernel's may lie outside [0, in).
  struct Range {
    Size first, step, count;
  };
  Range range(const Windows& in_three, std::size_t i, Size o, Size in) const;
};

/// x [N, C, in…] → values and the positions of the largest elements in their planes, i64.
struct MaxPool {
  Bins bins;

  static constexpr OpInfo info{"max_pool", Class::exact};
  using Kernel = void(const MaxPool&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
  std::pair<Meta, Meta> result(const Meta& x) const;
  Saves saves() const { return {0, true}; }
  Tensors gradient(const Backward& b) const;
};

/// y[n, c, indices[n, c, o]] = x[n, c, o], the last where several meet; or their sum, in the order of o. Zeros elsewhere.
struct MaxUnpool {
  int axes;
  Spatial size;  // the first `axes` of it
  bool sums = false;

  static constexpr OpInfo info{"max_unpool", Class::exact};
  using Kernel = void(const MaxUnpool&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& indices) const;
  Saves saves() const { return {0b10, false}; }
  Tensors gradient(const Backward& b) const;
};

/// What the kernels of MaxUnpool throw for `value` at row-major place `at` of indices.
Error unpool_index_error(const Tensor& indices, Size at, Size value, Size plane);

/// x [N, C, in…] → the windows' sums over their divisors.
struct AveragePool {
  Bins bins;
  Spatial padded_end{};  // of each axis: elements and padding end here
  bool count_padding = true;
  Size divisor = 0;  // 0: the count

  static constexpr OpInfo info{"avg_pool", Class::exact};
  using Kernel = void(const AveragePool&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;

  /// How many elements of a window count along axis i of three (`i` counts from the last `axes`).
  Size counted(const Bins::Range& range, std::size_t i, Size in) const;
};

/// Its transpose: y[n, c, i] = Σ x[n, c, o] / divisor(o) over the windows o that hold element i, ascending.
struct AverageSpread {
  AveragePool pool;
  Spatial in;  // the first axes of it

  static constexpr OpInfo info{"avg_pool_gradient", Class::exact};
  using Kernel = void(const AverageSpread&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
