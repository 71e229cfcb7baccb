// Elements in other places: views where strides allow, copies where not. The values never change. Every function has a gradient for its floating inputs.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"
#include "votive/ops/functions/reductions.h"

namespace votive {

/// x under another shape, row-major; one −1 is deduced, and ambiguous beside a size 0. A view where strides allow, else a copy. Class E.
/// Throws Error{ShapeMismatch} unless the counts agree, Error{InvalidArgument} for a second −1 or a negative size.
/// Example: reshape(arange(0, 6), {2, -1})  // [[0, 1, 2], [3, 4, 5]]
Tensor reshape(const Tensor& x, const Shape& shape);
/// The axes first … last as one; all of them by default. Rank 0 gives shape [1]. Class E.
/// Example: flatten(ones({2, 2, 2}), 1)  // [[1, 1, 1, 1], [1, 1, 1, 1]]
Tensor flatten(const Tensor& x, int first = 0, int last = -1);
/// flatten(x), as NumPy calls it. Class E.
/// Example: ravel(tensor({{1, 2}, {3, 4}}))  // [1, 2, 3, 4]
Tensor ravel(const Tensor& x);

/// Axis i of the result is axis axes[i] of x; a view. Class E. Throws Error{InvalidArgument} unless every axis is named, Error{InvalidAxis}.
/// Example: permute(tensor({{1, 2, 3}}), {1, 0})  // [[1], [2], [3]]
Tensor permute(const Tensor& x, std::initializer_list<int> axes);
Tensor permute(const Tensor& x, std::span<const int> axes);
/// Two axes exchanged, the last two by default; a view. Class E. Of quantised and packed weights: the last two only.
/// Example: transpose(tensor({{1, 2}, {3, 4}}))  // [[1, 3], [2, 4]]
Tensor transpose(const Tensor& x, int a = -2, int b = -1);
/// transpose(x, a, b) with both axes named. Class E.
/// Example: swap_axes(tensor({{1, 2}, {3, 4}}), 0, 1)  // [[1, 3], [2, 4]]
Tensor swap_axes(const Tensor& x, int a, int b);
/// Axis from[i] moves to place to[i]; the others keep their order. A view. Class E. Throws Error{InvalidAxis} for an axis or a place named twice.
/// Example: movedim(ones({1, 2, 1}), 1, 0)  // [[[1]], [[1]]]
Tensor movedim(const Tensor& x, int from, int to);
Tensor movedim(const Tensor& x, std::initializer_list<int> from, std::initializer_list<int> to);
Tensor movedim(const Tensor& x, std::span<const int> from, std::span<const int> to);

/// Without one axis of size 1, or without all of them; a view. Class E. Throws Error{ShapeMismatch} where the named axis is longer.
/// Example: squeeze(ones({1, 2, 1}), 0)  // [[1], [1]]
/// Example: squeeze(ones({1, 2, 1}))  // [1, 1]
Tensor squeeze(const Tensor& x, int axis);
Tensor squeeze(const Tensor& x);
/// With a new axis of size 1 before `axis` of the result (−rank−1 … rank); a view. Class E.
/// Example: unsqueeze(tensor({1, 2}), 1)  // [[1], [2]]
Tensor unsqueeze(const Tensor& x, int axis);
/// x with axes of size 1 in front until it has `rank` of them; a view, and x itself where it has enough. Class E.
/// Example: atleast(tensor({1, 2}), 2)  // [[1, 2]]
Tensor atleast(const Tensor& x, int rank);

/// Where a slice starts, stops and steps along an axis: as Python's, negative from the end and clamped. A step may be negative, not 0.
struct SliceOptions {
  int axis = 0;
  std::optional<Size> start = {}, stop = {};
  Size step = 1;
};
/// Elements start, start + step, … before stop of one axis; a view. Class E. Throws Error{InvalidArgument} for step 0.
/// Example: slice(arange(0, 6), {.start = -1, .stop = 0, .step = -2})  // [5, 3, 1]
Tensor slice(const Tensor& x, SliceOptions options);
/// n elements from `start` of one axis; a view. Class E. Nothing is clamped: out of range throws Error{IndexOutOfRange}.
/// Example: narrow(arange(0, 6), 0, 2, 3)  // [2, 3, 4]
Tensor narrow(const Tensor& x, int axis, Size start, Size n);
/// Element `index` of one axis, which is dropped; −n … n−1. A view. Class E. Throws Error{IndexOutOfRange}.
/// Example: select(tensor({{1, 2}, {3, 4}}), 0, -1)  // [3, 4]
Tensor select(const Tensor& x, int axis, Size index);
/// Some axes from their end, all of them by default; a view. Class E.
/// Example: flip(tensor({{1, 2}, {3, 4}}), 1)  // [[2, 1], [4, 3]]
Tensor flip(const Tensor& x, const Axes& axes = {});
/// The plane of axes a and b turned k quarter turns from a towards b; a view. Class E.
/// Example: rot90(tensor({{1, 2}, {3, 4}}))  // [[2, 4], [1, 3]]
Tensor rot90(const Tensor& x, Size k = 1, int a = 0, int b = 1);
/// Elements moved on by `shift` places along an axis, or row-major without one; what leaves at the end comes back at the front. Class E.
/// Example: roll(arange(0, 5), 2, 0)  // [3, 4, 0, 1, 2]
/// Example: roll(tensor({{1, 2}, {3, 4}}), {1, 1}, {0, 1})  // [[4, 3], [2, 1]]
Tensor roll(const Tensor& x, Size shift);
Tensor roll(const Tensor& x, Size shift, int axis);
Tensor roll(const Tensor& x, std::initializer_list<Size> shifts, std::initializer_list<int> axes);
Tensor roll(const Tensor& x, std::span<const Size> shifts, std::span<const int> axes);

/// Axes of size 1 repeated without a copy, new ones in front (NumPy's rule; 1 against 0 gives 0). Class E. Throws Error{ShapeMismatch}.
/// Example: broadcast_to(tensor({1, 2}), {2, 2})  // [[1, 2], [1, 2]]
Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// broadcast_to, where −1 keeps a size of x. Class E.
/// Example: expand(tensor({{1}, {2}}), {-1, 2})  // [[1, 1], [2, 2]]
Tensor expand(const Tensor& x, const Shape& shape);
/// broadcast_to the shape of `like`, whose dtype and values play no part. Class E.
/// Example: broadcast_like(tensor(7), zeros({2}))  // [7, 7]
Tensor broadcast_like(const Tensor& x, const Tensor& like);
/// The whole tensor counts[i] times along axis i; the shorter of shape and counts gets ones in front (NumPy's tile). Class E.
/// Example: tile(tensor({1, 2}), {2, 2})  // [[1, 2, 1, 2], [1, 2, 1, 2]]
Tensor tile(const Tensor& x, const Shape& counts);
/// tile, as PyTorch and candle call it; fewer counts than axes are refused, Error{InvalidArgument}. Class E.
/// Example: repeat(tensor({1, 2}), {2})  // [1, 2, 1, 2]
Tensor repeat(const Tensor& x, const Shape& counts);
/// Every element of an axis n times in place, or element i counts[i] times (integers ≥ 0; rank 0, or 1 with one per element). Class E.
/// Counts in a tensor are read by the host: such a call waits for them.
/// Example: repeat_interleave(tensor({1, 2}), 2)  // [1, 1, 2, 2]
/// Example: repeat_interleave(tensor({1, 2}), tensor({0, 3}, i64))  // [2, 2, 2]
Tensor repeat_interleave(const Tensor& x, Size n, int axis = 0);
Tensor repeat_interleave(const Tensor& x, const Tensor& counts, int axis = 0);

/// x row-major: the same tensor when it is so already, else a copy. Class E.
/// Example: contiguous(transpose(tensor({{1, 2}, {3, 4}})))  // [[1, 3], [2, 4]]
Tensor contiguous(const Tensor& x);
/// The bits of x read as another dtype of the same size, in a copy. Class E. Throws Error{DTypeMismatch} for other sizes, and for a target of bool.
/// Integers have no gradient and a float read as another float has none either: backward through it throws.
/// Example: bitcast(tensor({1.0, -2.0}), u32)  // [1065353216, 3221225472]
Tensor bitcast(const Tensor& x, DType dtype);

/// Parts of the given sizes along an axis, one after the other; views. Class E. Throws Error{ShapeMismatch} unless they add up to the axis.
/// Example: split(arange(0, 5), {2, 3})[1]  // [2, 3, 4]
std::vector<Tensor> split(const Tensor& x, std::span<const Size> sizes, int axis = 0);
std::vector<Tensor> split(const Tensor& x, std::initializer_list<Size> sizes, int axis = 0);
/// Parts of `size` elements, the last one smaller where they do not come out even; views. Class E.
/// Example: split(arange(0, 5), 2)[2]  // [4]
std::vector<Tensor> split(const Tensor& x, Size size, int axis = 0);
/// At most `chunks` parts of ⌈n / chunks⌉ elements, the last one smaller: PyTorch's rule, which may give fewer parts than asked. candle balances
/// instead (7 in 3 is 3, 2, 2 there and 3, 3, 1 here). Views. Class E. Throws Error{InvalidArgument} for less than one chunk.
/// Example: chunk(arange(0, 7), 3)[2]  // [6]
std::vector<Tensor> chunk(const Tensor& x, Size chunks, int axis = 0);
/// Tensors one after the other along an axis, in their common dtype; other axes agree. Class E.
/// Throws Error{DTypeMismatch} where no dtype holds all values, Error{ShapeMismatch}, Error{InvalidArgument} for an empty list.
/// Example: concat({tensor({1, 2}), tensor({3})})  // [1, 2, 3]
Tensor concat(std::span<const Tensor> x, int axis = 0);
Tensor concat(std::initializer_list<Tensor> x, int axis = 0);
/// Tensors of one shape along a new axis, in their common dtype. Class E. Throws as concat.
/// Example: stack({tensor({1, 2}), tensor({3, 4})}, 1)  // [[1, 3], [2, 4]]
Tensor stack(std::span<const Tensor> x, int axis = 0);
Tensor stack(std::initializer_list<Tensor> x, int axis = 0);

/// Which diagonal: `offset` > 0 lies above the main one.
struct DiagonalOptions {
  Size offset = 0;
  int a = -2, b = -1;  // rows and columns
};
/// The diagonal of the planes of two axes, its elements along a new last axis; a view. Class E. NumPy and PyTorch take the first two axes by default.
/// Example: diagonal(tensor({{1, 2}, {3, 4}}), {.offset = 1})  // [2]
Tensor diagonal(const Tensor& x, DiagonalOptions options = {});
/// Planes of zeros with the last axis of x on their diagonal; a and b are their axes in the result. Class E. What diagonal() undoes.
/// Example: diag_embed(tensor({1, 2}))  // [[1, 0], [0, 2]]
Tensor diag_embed(const Tensor& x, DiagonalOptions options = {});
/// diag_embed of a vector, diagonal of a matrix (NumPy's diag). Class E. Throws Error{ShapeMismatch} for other ranks.
/// Example: diag(tensor({1, 2}), 1)  // [[0, 1, 0], [0, 0, 2], [0, 0, 0]]
Tensor diag(const Tensor& x, Size offset = 0);
/// The last two axes with zeros above (tril) or below (triu) a diagonal, which itself stays; `offset` > 0 lies above the main one. Class E.
/// Example: tril(ones({2, 2}))  // [[1, 0], [1, 1]]
Tensor tril(const Tensor& x, Size offset = 0);
/// The counterpart of tril: zeros below the diagonal. Class E.
/// Example: triu(ones({2, 2}), 1)  // [[0, 1], [0, 0]]
Tensor triu(const Tensor& x, Size offset = 0);

/// What lies beyond the edge: a value; the edge itself (replicate); the elements before it, mirrored without the edge; the other end (wrap).
enum class PadMode : std::uint8_t { constant, edge, reflect, circular };
/// Elements added to both ends of an axis. Negative: taken away.
struct PadWidth {
  Size before = 0, after = 0;
};
struct PadOptions {
  PadMode mode = PadMode::constant;
  Literal value = 0;  // of PadMode::constant, in x's dtype by the rules of literals
};
/// x with more, or fewer, elements at the ends of its axes: one PadWidth per axis, from the first; or of one axis alone. Class E.
/// Throws Error{InvalidArgument} where more is taken than there is, where reflect would need an element past the other edge (at most n − 1),
/// circular one twice (at most n), and where edge, reflect or circular have nothing to take from.
/// Example: pad(tensor({1, 2, 3}), {{2, 1}}, {.mode = PadMode::reflect})  // [3, 2, 1, 2, 3, 2]
/// Example: pad(tensor({1, 2, 3}), 0, -1, 2)  // [2, 3, 0, 0]
Tensor pad(const Tensor& x, std::span<const PadWidth> widths, PadOptions options = {});
Tensor pad(const Tensor& x, std::initializer_list<PadWidth> widths, PadOptions options = {});
Tensor pad(const Tensor& x, int axis, Size before, Size after, PadOptions options = {});
/// Windows of `size` elements every `step` along an axis, which then counts windows; their elements run along a new last axis. A view. Class E;
/// the gradient adds what overlapping windows send to one element, first window first, by the canonical tree.
/// Example: unfold(arange(0, 5), 0, 3, 2)  // [[0, 1, 2], [2, 3, 4]]
Tensor unfold(const Tensor& x, int axis, Size size, Size step);

/// A copy of x with `source` written over a slice of one axis; source broadcasts to it, and x's dtype has to hold its values. Class E.
/// Example: slice_scatter(zeros({4}), ones({2}), {.start = 1, .stop = 3})  // [0, 1, 1, 0]
Tensor slice_scatter(const Tensor& x, const Tensor& source, SliceOptions options);
/// A copy of x with `source` written over element `index` of one axis. Class E.
/// Example: select_scatter(zeros({2, 2}), tensor({1, 2}), 1, 0)  // [[1, 0], [2, 0]]
Tensor select_scatter(const Tensor& x, const Tensor& source, int axis, Size index);

/// Writes `source` over the elements of `destination`, a view or a whole tensor, whose dtype and shape stay; if they overlap, as if copied first. Class E.
/// The only writer beside KvCache. Throws Error{InvalidArgument} when elements of destination share a place (stride 0, windows) or either asks for a gradient.
/// Example: [] { Tensor y = zeros({3}); copy_into(y, tensor({1, 2, 3})); return y; }()  // [1, 2, 3]
void copy_into(Tensor& destination, const Tensor& source);

}  // namespace votive
