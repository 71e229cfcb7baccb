// Pooling along one to three spatial axes: the largest, the mean or the p-norm of each window (CONTRACT.md 4.3). x is [N, C, …] or [C, …].
#pragma once

#include <optional>
#include <utility>

#include "votive/ops/functions/convolution.h"

namespace votive {

struct MaxPoolOptions {
  PerAxis stride = 0;  // 0: the kernel's size
  Padding padding = 0;
  PerAxis dilation = 1;
  bool ceil = false;  // a last window may reach past the end
};
/// The largest element of each window:  y[n, c, o] = max over t of x[n, c, o·stride + t·dilation − padding].
///   x  any integer or floating dtype  →  the same. Padding takes no part.
/// Class E: NaN wins, −0 < +0. The gradient goes to the one element that argmax names: the first, NaN counting as the largest.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, also for a kernel larger than the padded input, and Error{InvalidArgument}, also for a padding of
/// more than half the kernel and for a window without elements.
/// Example: max_pool1d(tensor({{{1, 3, 2, 4}}}), 2)  // [[[3, 4]]]
/// Example: max_pool2d(tensor({{{{1, 3}, {2, 4}}}}), 2, {.padding = 1})  // [[[[1, 3], [2, 4]]]]
/// Example: max_pool3d(tensor({{{{{1, 3}, {2, 4}}}}}), {1, 2, 1})  // [[[[[2, 4]]]]]
Tensor max_pool1d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
Tensor max_pool2d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
Tensor max_pool3d(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// The same with the place of each largest element: its row-major position among the spatial axes of x, i64. Class E.
/// Example: max_pool1d_with_indices(tensor({{{1, 3, 2, 4}}}), 2).second  // [[[1, 3]]]
/// Example: max_pool2d_with_indices(tensor({{{{1, 3}, {2, 4}}}}), 2).second  // [[[[3]]]]
/// Example: max_pool3d_with_indices(tensor({{{{{1, 3}, {2, 4}}}}}), {1, 2, 1}).second  // [[[[[2, 3]]]]]
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const PerAxis& kernel, const MaxPoolOptions& options = {});
/// Elements put back where max pooling found them:  y[n, c, indices[n, c, o]] = x[n, c, o], zeros elsewhere.
///   x  any integer or floating dtype [N, C, …] · indices  any integer dtype, of x's shape · size  the spatial axes of y, as many as x's
/// Class E; of several for one place the last wins, and it gets the gradient.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{IndexOutOfRange}.
/// Example: max_unpool(tensor({{{3, 4}}}), tensor({{{1, 3}}}, i64), {4})  // [[[0, 3, 0, 4]]]
Tensor max_unpool(const Tensor& x, const Tensor& indices, const Shape& size);

struct AveragePoolOptions {
  PerAxis stride = 0;  // 0: the kernel's size
  Padding padding = 0;
  bool ceil = false;
  bool count_padding = true;         // in the divisor
  std::optional<Size> divisor = {};  // instead of the count
};
/// The mean of each window:  the sum of its elements, divided by how many there are: padding counts unless count_padding is false.
///   x  floating  →  the same dtype; integers and bool  →  f32
/// Class E: the canonical tree (CONTRACT.md 3.2) over the kernel's positions in row-major order, padding absent, in f32 (f64 for f64); one division, one rounding.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, also for a kernel larger than the padded input, and Error{InvalidArgument}.
/// Example: avg_pool1d(tensor({{{1, 3, 2, 4}}}), 2)  // [[[2, 3]]]
/// Example: avg_pool2d(tensor({{{{1, 3}, {2, 4}}}}), 2, {.stride = 1, .padding = {0, 1}})  // [[[[0.75, 2.5, 1.75]]]]
/// Example: avg_pool3d(tensor({{{{{1, 3}, {2, 4}}}}}), {1, 2, 2}, {.divisor = 1})  // [[[[[10]]]]]
Tensor avg_pool1d(const Tensor& x, const PerAxis& kernel, const AveragePoolOptions& options = {});
Tensor avg_pool2d(const Tensor& x, const PerAxis& kernel, const AveragePoolOptions& options = {});
Tensor avg_pool3d(const Tensor& x, const PerAxis& kernel, const AveragePoolOptions& options = {});

/// As many windows as asked for: window o of an axis holds elements ⌊o·n/size⌋ … ⌈(o + 1)·n/size⌉ − 1. Class E, as avg_pool and max_pool of each window.
///   x  floating or integer, whose mean is f32 · size  of each spatial axis, positive
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{EmptyReduction} for an empty spatial axis, Error{InvalidArgument}.
/// Example: adaptive_avg_pool1d(tensor({{{1, 2, 3}}}), 2)  // [[[1.5, 2.5]]]
/// Example: adaptive_avg_pool2d(tensor({{{{1, 3}, {2, 4}}}}), 1)  // [[[[2.5]]]]
/// Example: adaptive_avg_pool3d(tensor({{{{{1, 3}, {2, 4}}}}}), {1, 2, 1})  // [[[[[2], [3]]]]]
/// Example: adaptive_max_pool1d(tensor({{{1, 2, 3}}}), 2)  // [[[2, 3]]]
/// Example: adaptive_max_pool2d(tensor({{{{1, 3}, {2, 4}}}}), 1)  // [[[[4]]]]
/// Example: adaptive_max_pool3d(tensor({{{{{1, 3}, {2, 4}}}}}), {1, 2, 1})  // [[[[[3], [4]]]]]
Tensor adaptive_avg_pool1d(const Tensor& x, const PerAxis& size);
Tensor adaptive_avg_pool2d(const Tensor& x, const PerAxis& size);
Tensor adaptive_avg_pool3d(const Tensor& x, const PerAxis& size);
Tensor adaptive_max_pool1d(const Tensor& x, const PerAxis& size);
Tensor adaptive_max_pool2d(const Tensor& x, const PerAxis& size);
Tensor adaptive_max_pool3d(const Tensor& x, const PerAxis& size);
/// adaptive_max_pool with the places of the largest elements, i64. Class E.
/// Example: adaptive_max_pool_with_indices(tensor({{{1, 2, 3}}}), {2}).second  // [[[1, 2]]]
std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x, const Shape& size);

struct LpPoolOptions {
  PerAxis stride = 0;  // 0: the kernel's size
  bool ceil = false;
};
/// The p-norm of each window:  y = (Σ |x|ᵖ)^(1/p), in f32 (f64 for f64), the sum by the canonical tree, one rounding.
///   x  floating · p  positive; infinity gives the largest |x|
/// Class E for p of 1, 2 and infinity, else P as pow is. Throws as avg_pool, and Error{InvalidArgument} for another p.
/// Example: lp_pool1d(tensor({{{3, -4}}}), 2, 2)  // [[[5]]]
/// Example: lp_pool2d(tensor({{{{3, -4}, {1, 2}}}}), 1, 2)  // [[[[10]]]]
/// Example: lp_pool3d(tensor({{{{{3, -4}, {1, 2}}}}}), 2, {1, 1, 2}, {.stride = 1})  // [[[[[5], [2.236068]]]]]
Tensor lp_pool1d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options = {});
Tensor lp_pool2d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options = {});
Tensor lp_pool3d(const Tensor& x, double p, const PerAxis& kernel, const LpPoolOptions& options = {});

/// The mean and the largest element over all axes after the second, which stay with size 1; class E, as mean() and max() of these axes.
/// Throws Error{ShapeMismatch} for less than three axes, and what mean and max throw.
/// Example: global_avg_pool(tensor({{{1, 2, 6}}}))  // [[[3]]]
/// Example: global_max_pool(tensor({{{1, 2, 6}}}))  // [[[6]]]
Tensor global_avg_pool(const Tensor& x);
Tensor global_max_pool(const Tensor& x);

}  // namespace votive
