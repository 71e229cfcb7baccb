// Convolutions, their transposes, and the unfolding they are made of (CONTRACT.md 4.3). Layouts are PyTorch's: x [N, C, …], w [C_out, C/groups, …].
#pragma once

#include <array>
#include <concepts>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "votive/core/tensor.h"

namespace votive {

/// A number per spatial axis, or one for all of them: 2 or {2, 1}.
class PerAxis {
 public:
  PerAxis(Size all) : values_{all, all, all} {}  // NOLINT(google-explicit-constructor)
  PerAxis(std::initializer_list<Size> values);   ///< Throws Error{InvalidArgument} past three.
  /// The numbers of `axes` axes. Throws Error{InvalidArgument} when so many were not given, naming `op` and `what`.
  std::array<Size, 3> of(std::string_view op, std::string_view what, int axes) const;

 private:
  std::array<Size, 3> values_;
  int given_ = 1;
};

/// Zeros around the spatial axes: 1, {1, 2} per axis, {{0, 1}, {2, 2}} before and after each axis, "valid" (none), or "same": as many positions come out
/// as there are strides in the input, the odd zero after it.
class Padding {
 public:
  using Pair = std::pair<Size, Size>;
  template <std::integral T>
  Padding(T all) : Padding(PerAxis(static_cast<Size>(all))) {}               // NOLINT(google-explicit-constructor)
  Padding(std::initializer_list<Size> values) : Padding(PerAxis(values)) {}  // NOLINT(google-explicit-constructor)
  Padding(std::initializer_list<Pair> values);                               // NOLINT(google-explicit-constructor)
  Padding(std::string_view name);                                            // NOLINT(google-explicit-constructor)
  Padding(const char* name) : Padding(std::string_view(name)) {}             // NOLINT(google-explicit-constructor)
  bool is_same() const { return same_; }
  std::array<Pair, 3> of(std::string_view op, int axes) const;

 private:
  Padding(PerAxis both) : both_(both) {}
  PerAxis both_ = 0;
  std::array<Pair, 3> pairs_{};
  int given_ = 0;  // pairs
  bool same_ = false;
};

struct ConvOptions {
  PerAxis stride = 1;
  Padding padding = 0;
  PerAxis dilation = 1;
  Size groups = 1;
};
/// Convolution along one, two or three axes:  y[n, m, o] = Σ over t, c of x[n, c, o·stride + t·dilation − padding] · w[m, c, t] + bias[m].
///   x  floating [N, C, …] or [C, …] · w  [M, C/groups, …], the common dtype is computed in · bias  [M] of y's dtype, or none
/// Class E: the canonical dot product (CONTRACT.md 4.4) over kernel positions in row-major order, inside each over channels; padding is zeros that take
/// part; the bias is added before the one rounding. Gradients of all three.
/// Throws Error{DTypeMismatch} unless floating, Error{ShapeMismatch}, also for a kernel larger than the padded input, Error{InvalidArgument}.
/// Example: conv1d(tensor({{{1, 2, 3, 4}}}), tensor({{{1, 10}}}))  // [[[21, 32, 43]]]
/// Example: conv2d(tensor({{{{1, 2}, {3, 4}}}}), tensor({{{{1, 10}}}}), {}, {.padding = "same"})  // [[[[21, 2], [43, 4]]]]
/// Example: conv3d(ones({1, 1, 2, 2, 2}), ones({1, 1, 2, 2, 2}), tensor({1}))  // [[[[[9]]]]]
Tensor conv1d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvOptions& options = {});
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvOptions& options = {});
Tensor conv3d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvOptions& options = {});

struct ConvTransposeOptions {
  PerAxis stride = 1;
  Padding padding = 0;
  PerAxis output_padding = 0;
  PerAxis dilation = 1;
  Size groups = 1;
};
/// Transposed convolution, the gradient of a convolution:  y[n, m, o] = Σ x[n, c, i] · w[c, m, t] + bias[m] over i·stride + t·dilation − padding = o.
///   x  floating [N, C, …] or [C, …] · w  [C, M/groups, …] · bias  [M] of y's dtype, or none
/// An axis of size n comes out with (n − 1)·stride − padding + (kernel − 1)·dilation + 1 + output_padding, padding of both ends.
/// Class E: per output the canonical dot product (CONTRACT.md 4.4) over the kernel positions that reach it, from the last to the first in row-major order,
/// inside each over channels; positions before or behind x are zeros that take part. Gradients of all three.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{InvalidArgument}, also for "same" and an output_padding not below stride or dilation.
/// Example: conv_transpose1d(tensor({{{1, 2}}}), tensor({{{1, 10}}}))  // [[[1, 12, 20]]]
/// Example: conv_transpose2d(tensor({{{{1, 2}}}}), tensor({{{{1, 10}}}}), {}, {.stride = {1, 2}})  // [[[[1, 10, 2, 20]]]]
/// Example: conv_transpose3d(ones({1, 1, 1, 1, 2}), ones({1, 1, 1, 1, 2}), tensor({1}))  // [[[[[2, 3, 2]]]]]
Tensor conv_transpose1d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvTransposeOptions& options = {});
Tensor conv_transpose2d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvTransposeOptions& options = {});
Tensor conv_transpose3d(const Tensor& x, const Tensor& w, const Tensor& bias = {}, const ConvTransposeOptions& options = {});

struct UnfoldOptions {
  PerAxis stride = 1;
  Padding padding = 0;
  PerAxis dilation = 1;
};
/// Windows as columns:  y[n, c·T + t, o] = x[n, c, o·stride + t·dilation − padding], T kernel positions t and windows o in row-major order.
///   x  [N, C, …] with one to three spatial axes, of any dtype of single elements · kernel  a size per spatial axis  →  [N, C·T, windows]
/// Class E: bits move. Padding is zeros. The gradient is col2im. PyTorch's unfold.
/// Throws Error{ShapeMismatch}, also for a kernel larger than the padded input, Error{InvalidArgument}.
/// Example: im2col(tensor({{{1, 2, 3}}}), 2)  // [[[1, 2], [2, 3]]]
Tensor im2col(const Tensor& x, const PerAxis& kernel, const UnfoldOptions& options = {});
/// Columns added back into place:  y[n, c, i] = Σ x[n, c·T + t, o] over o·stride + t·dilation − padding = i, t ascending.
///   x  floating [N, C·T, windows] · size  the spatial axes of y, one to three  →  [N, C, …size]
/// Class E: a chain of additions in f32 (f64 for f64) from +0, rounded once. The gradient is im2col. PyTorch's fold.
/// Throws Error{DTypeMismatch} unless floating, Error{ShapeMismatch}, Error{InvalidArgument}.
/// Example: col2im(tensor({{{1, 2}, {2, 3}}}), {3}, 2)  // [[[1, 4, 3]]]
Tensor col2im(const Tensor& x, const Shape& size, const PerAxis& kernel, const UnfoldOptions& options = {});

}  // namespace votive
