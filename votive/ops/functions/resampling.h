// Images at other sizes and places: interpolation along the last axes, sampling at given points, and channels moved into space and back.
#pragma once

#include <span>
#include <vector>

#include "votive/core/tensor.h"

namespace votive {

enum class Interpolation : std::uint8_t {
  nearest,        ///< element ⌊o·n/size⌋, PyTorch's "nearest"
  nearest_exact,  ///< element ⌊(o + ½)·n/size⌋
  linear,         ///< linear, bilinear, trilinear: an axis at a time
  cubic,          ///< the cubic with a = −0.75 (−0.5 with antialias), PyTorch's "bicubic"
  area,           ///< adaptive_avg_pool
};
struct InterpolateOptions {
  Interpolation mode = Interpolation::nearest;
  bool align_corners = false;  // linear and cubic: first and last elements keep their places
  bool antialias = false;      // linear and cubic: the filter widens when the size shrinks
};
/// The last axes of x at new sizes.
///   x  any dtype for nearest modes, else floating; axes before the last size.rank() are left alone  →  the same dtype
/// Class E: coordinates and weights in f64, weights rounded to f32 (f64 for f64); per axis, the last first, a chain fma(w, x, acc) over ascending taps from
/// +0; between axes f32, one rounding at the end. nearest moves bits. An axis that keeps its size is left alone. Gradients gather, in ascending order.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{EmptyReduction} for an empty axis, Error{InvalidArgument}, also for an option another mode has.
/// Example: interpolate(tensor({{1, 2}}), {4}, {.mode = Interpolation::linear})  // [[1, 1.25, 1.75, 2]]
Tensor interpolate(const Tensor& x, const Shape& size, InterpolateOptions options = {});
/// The same by factors, one per axis:  size ⌊n·scale⌋, and steps of 1/scale between coordinates instead of n/size (not with align_corners, area). Class E.
/// Example: interpolate_by(tensor({{1, 2, 3}}), {2})  // [[1, 1, 2, 2, 3, 3]]
Tensor interpolate_by(const Tensor& x, const std::vector<double>& scale, InterpolateOptions options = {});

enum class GridPadding : std::uint8_t {
  zeros,       ///< outside is 0
  border,      ///< outside is the nearest element
  reflection,  ///< outside mirrors inside
};
struct GridSampleOptions {
  Interpolation mode = Interpolation::linear;  // nearest, linear; cubic for images
  GridPadding padding = GridPadding::zeros;
  bool align_corners = false;  // whether −1 and 1 are the centres of the outermost elements, or their outer edges
};
/// x at the points of a grid:  y[n, c, …] = x[n, c] at grid[n, …], whose last axis holds (x, y) or (x, y, z) in [−1, 1].
///   x  floating [N, C, H, W] or [N, C, D, H, W] · grid  x's dtype [N, …, 2 or 3]  →  [N, C, …]
/// Class E: coordinates and sums in f32 (f64 for f64), one rounding; corners are added in ascending order, nearest is half to even. Gradients of both.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{InvalidArgument}.
/// Example: grid_sample(tensor({{{{1, 2}, {3, 4}}}}), tensor({{{{0, 0}}}}))  // [[[[2.5]]]]
Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions options = {});
struct AffineGridOptions {
  bool align_corners = false;
};
/// The grid that an affine map of the output's coordinates gives:  grid[n, …] = theta[n] · (x, y, 1).
///   theta  floating [N, 2, 3] or [N, 3, 4] · size  {N, C, H, W} or {N, C, D, H, W}  →  [N, H, W, 2] or [N, D, H, W, 3]
/// Class E, as matmul. Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: affine_grid(tensor({{{1, 0, 0}, {0, 1, 0}}}), {1, 1, 1, 2})  // [[[[-0.5, 0], [0.5, 0]]]]
Tensor affine_grid(const Tensor& theta, const Shape& size, AffineGridOptions options = {});

/// Channels as space:  […, C·r², H, W] → […, C, H·r, W·r]; pixel_unshuffle is its inverse. Class E: bits move, of any dtype of single elements.
/// Throws Error{ShapeMismatch} where the factor does not divide, Error{InvalidArgument} for a factor below 1.
/// Example: pixel_shuffle(tensor({{{1}}, {{2}}, {{3}}, {{4}}}), 2)  // [[[1, 2], [3, 4]]]
/// Example: pixel_unshuffle(tensor({{{1, 2}, {3, 4}}}), 2)  // [[[1]], [[2]], [[3]], [[4]]]
Tensor pixel_shuffle(const Tensor& x, Size factor);
Tensor pixel_unshuffle(const Tensor& x, Size factor);
/// Channels dealt out anew:  channel g·(C/groups) + i of [N, C, …] becomes channel i·groups + g. Class E: bits move. Throws as pixel_shuffle.
/// Example: channel_shuffle(tensor({{{1}, {2}, {3}, {4}}}), 2)  // [[[1], [3], [2], [4]]]
Tensor channel_shuffle(const Tensor& x, Size groups);

}  // namespace votive
