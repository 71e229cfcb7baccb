// The strided walk: N operands of one shape, visited in runs along the innermost axis after merging every pair of axes that all operands
// step through evenly. A kernel written for a run works for any layout. Order of visit is row-major in the logical index.
#pragma once

#include <array>

#include "votive/core/layout.h"

namespace votive {

template <int N>
class Walk {
 public:
  /// All layouts have the same shape (broadcast them first).
  explicit Walk(const std::array<const Layout*, N>& layouts);

  Size count() const { return count_; }
  /// Elements in the innermost axis, and each operand's step along it.
  Size inner() const { return rank_ == 0 ? count_ : shape_[rank_ - 1]; }
  Size step(int operand) const { return rank_ == 0 ? 1 : strides_[operand][rank_ - 1]; }

  /// Calls run(offsets, n) for elements [begin, end) in row-major order; offsets[o] is the element offset of operand o's first element.
  template <class Run>
  void for_each_run(Size begin, Size end, Run run) const {
    if (begin >= end) return;
    std::array<Size, N> offsets = start_;
    if (rank_ <= 1) {
      for (int o = 0; o < N; ++o) offsets[o] += begin * step(o);
      run(offsets, end - begin);
      return;
    }
    const Size inner_size = inner();
    Size index[max_rank];
    std::fill_n(index, rank_, 0);
    Size rest = begin;
    for (int axis = rank_ - 1; axis >= 0 && rest > 0; --axis) {
      index[axis] = rest % shape_[axis];
      rest /= shape_[axis];
      for (int o = 0; o < N; ++o) offsets[o] += index[axis] * strides_[o][axis];
    }
    Size at = begin;
    while (true) {
      const Size n = std::min(inner_size - index[rank_ - 1], end - at);
      run(offsets, n);
      at += n;
      if (at >= end) return;
      for (int o = 0; o < N; ++o) offsets[o] += n * strides_[o][rank_ - 1];
      index[rank_ - 1] += n;
      for (int axis = rank_ - 1; axis > 0 && index[axis] == shape_[axis]; --axis) {
        for (int o = 0; o < N; ++o) offsets[o] += strides_[o][axis - 1] - shape_[axis] * strides_[o][axis];
        index[axis] = 0;
        ++index[axis - 1];
      }
    }
  }

 private:
  int rank_ = 0;
  Size count_ = 0;
  Size shape_[max_rank];
  Size strides_[N][max_rank];
  std::array<Size, N> start_{};
};

template <int N>
Walk<N>::Walk(const std::array<const Layout*, N>& layouts) {
  const Shape& shape = layouts[0]->shape;
  count_ = votive::count(shape);
  for (int o = 0; o < N; ++o) start_[o] = layouts[o]->offset;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis] == 1) continue;
    bool merges = rank_ > 0;
    for (int o = 0; o < N && merges; ++o) merges = strides_[o][rank_ - 1] == layouts[o]->strides[axis] * shape[axis];
    if (merges) {
      shape_[rank_ - 1] *= shape[axis];
    } else {
      shape_[rank_++] = shape[axis];
    }
    for (int o = 0; o < N; ++o) strides_[o][rank_ - 1] = layouts[o]->strides[axis];
  }
}

}  // namespace votive
