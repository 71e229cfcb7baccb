// Elements chosen by integers or by a mask, and put where integers or a mask say (CONTRACT.md 5). Indices have any integer dtype; masks are bool.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

/// Rows of a table:  y[i…, :] = table[ids[i…], :].
///   table  any dtype, [V, D]; ids  integers in 0 … V−1, any shape  →  ids' shape and D; a quantised table gives f32
/// Class E. A negative id has no meaning here, and −1 is an error.
/// Gradient of table: the canonical sum of dy over the positions of each id.
/// Throws Error{IndexOutOfRange}, Error{DTypeMismatch} for ids that are not integers.
/// Example: embedding(tensor({{1, 2}, {3, 4}}), tensor({1, 1}, i64))  // [[3, 4], [3, 4]]
Tensor embedding(const Tensor& table, const Tensor& ids);

/// Slices of one axis:  y[…, i…, …] = x[…, indices[i…], …].
///   x  any dtype; indices  integers in −n … n−1, any shape: its axes replace x's axis, and with rank 0 the axis is dropped
/// Class E: bits are moved. Throws Error{IndexOutOfRange} before anything is written.
/// Example: index_select(tensor({10, 20, 30}), tensor({-1, 0}, i64))  // [30, 10]
Tensor index_select(const Tensor& x, const Tensor& indices, int axis = 0);

/// Elements of x taken as if it were flat, row-major:  y[i…] = flatten(x)[indices[i…]].
///   x  any dtype and rank; indices  integers in −n … n−1, n = x.count()  →  indices' shape
/// Class E: bits are moved. Throws Error{IndexOutOfRange}.
/// Example: take(tensor({{1, 2}, {3, 4}}), tensor({3, -4}, i64))  // [4, 1]
Tensor take(const Tensor& x, const Tensor& indices);

/// One element per index along an axis:  y[i, j, …] = x[indices[i, j, …], j, …] for axis 0, and so on (NumPy's take_along_axis).
///   indices  integers in −n … n−1, of x's rank; on other axes at most x's size  →  indices' shape
/// Class E: bits are moved. Throws Error{IndexOutOfRange}, Error{ShapeMismatch}.
/// Example: gather(tensor({{1, 2}, {3, 4}}), tensor({{1, 0}}, i64), 0)  // [[3, 2]]
Tensor gather(const Tensor& x, const Tensor& indices, int axis);

/// What happens to an element that updates name: replaced by the one of highest row-major position, or joined with all of them.
enum class ScatterMode : std::uint8_t { assign, add, min, max, mul, mean };
struct ScatterOptions {
  int axis = 0;
  ScatterMode mode = ScatterMode::assign;
};
/// The reverse of gather: y = x, then y[indices[i, j, …], j, …] takes source[i, j, …] for axis 0, and so on.
///   indices  integers in −n … n−1, of x's rank; on other axes at most x's size; source  indices' shape or rank 0, a dtype that x's holds
/// Class E. assign: the highest row-major position wins. add: x + T(updates in ascending position), mul: x · Π, mean: (x + T) / (1 + count), T and Π the
/// canonical tree in f32 (f64), one rounding; integers mod 2ʷ (mean: floating only). min, max: NaN wins, −0 < +0.
/// Gradient of source: assign: the winners alone; min, max: the one that won, x before source, lower positions first; mul: the product of the others.
/// Throws Error{IndexOutOfRange} before anything is written, Error{ShapeMismatch}, Error{DTypeMismatch}.
/// Example: scatter(zeros({3}), tensor({0, 0, 2}, i64), tensor({1, 2, 3}))  // [2, 0, 3]
Tensor scatter(const Tensor& x, const Tensor& indices, const Tensor& source, ScatterOptions options = {});

/// scatter with mode add. Class E; deterministic: no order of additions depends on threads.
/// Example: scatter_add(ones({3}), tensor({0, 0, 2}, i64), tensor({1, 2, 3}))  // [4, 1, 4]
Tensor scatter_add(const Tensor& x, const Tensor& indices, const Tensor& source, int axis = 0);

/// The reverse of index_select: y = x, and y[…, indices[i…], …] + T(the slices of source with that index, ascending).
///   source  x's shape with `axis` replaced by the indices' axes, or rank 0. Class E, as scatter with mode add.
/// Example: index_add(zeros({3}), tensor({2, 2}, i64), tensor({1, 2}))  // [0, 0, 3]
Tensor index_add(const Tensor& x, const Tensor& indices, const Tensor& source, int axis = 0);

/// As index_add, but slices replace what was there: of several with one index the highest position wins. Class E.
/// Example: index_copy(zeros({3}), tensor({2, 2}, i64), tensor({1, 2}))  // [0, 0, 2]
Tensor index_copy(const Tensor& x, const Tensor& indices, const Tensor& source, int axis = 0);

/// The same with any mode of scatter. Class E.
/// Example: index_reduce(ones({3}), tensor({2, 2}, i64), tensor({5, 4}), {.mode = ScatterMode::max})  // [1, 1, 5]
Tensor index_reduce(const Tensor& x, const Tensor& indices, const Tensor& source, ScatterOptions options = {});

/// y = x with `value` in the slices that indices name; a literal must fit x's dtype. Class E.
/// Example: index_fill(zeros({3}), tensor({0, -1}, i64), 7)  // [7, 0, 7]
Tensor index_fill(const Tensor& x, const Tensor& indices, Literal value, int axis = 0);

struct IndexPutOptions {
  bool accumulate = false;
};
/// Writes where one index tensor per leading axis points:  y = x, and y[i₀[b…], i₁[b…], …, :] takes values[b…, :].
///   indices  integers in −n … n−1 of their axis, broadcast together to b…; a bool tensor stands for as many as it has axes, its nonzero coordinates
///   values   broadcast to b… and the axes that are not indexed, a dtype that x's holds
/// Class E. Of duplicates the highest position wins; with accumulate they are added as by index_add.
/// Throws Error{IndexOutOfRange} before anything is written, Error{ShapeMismatch}, Error{DTypeMismatch}.
/// Example: index_put(zeros({2, 2}), {tensor({0, 1}, i64), tensor({1, 0}, i64)}, tensor({5, 6}))  // [[0, 5], [6, 0]]
Tensor index_put(const Tensor& x, std::span<const Tensor> indices, const Tensor& values, IndexPutOptions options = {});
Tensor index_put(const Tensor& x, std::initializer_list<Tensor> indices, const Tensor& values, IndexPutOptions options = {});

/// Coordinates of the elements that are not zero (NaN is not), in row-major order: i64 [found, rank]. Class E. Waits for x: the size depends on its values.
/// Example: nonzero(tensor({{0, 5}, {6, 0}}))  // [[0, 1], [1, 0]]
Tensor nonzero(const Tensor& x);

/// Elements where the mask holds, in row-major order; with a mask of fewer axes, the slices behind its leading axes.
///   x  any dtype; mask  bool, the shape of x's leading axes  →  [chosen, the other axes…]
/// Class E: bits are moved. Waits for the mask. Throws Error{DTypeMismatch} for a mask that is not bool, Error{ShapeMismatch}.
/// Example: masked_select(tensor({1, 2, 3}), tensor({true, false, true}, boolean))  // [1, 3]
Tensor masked_select(const Tensor& x, const Tensor& mask);

/// `value` where the mask holds, x elsewhere; the mask broadcasts to x. Class E: bits are moved.
/// A literal must fit x's dtype (a float is rounded once); a tensor has rank 0 and a dtype that x's holds.
/// Throws Error{DTypeMismatch}, Error{LiteralOutOfRange}, Error{ShapeMismatch}.
/// Example: masked_fill(tensor({1, 2, 3}), tensor({true, false, true}, boolean), 0)  // [0, 2, 0]
Tensor masked_fill(const Tensor& x, const Tensor& mask, Literal value);
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value);

/// The elements of source one after the other where the mask holds, x elsewhere; the mask broadcasts to x. Class E: bits are moved.
/// Throws Error{ShapeMismatch} when source has fewer elements than the mask has places.
/// Example: masked_scatter(zeros({3}), tensor({true, false, true}, boolean), tensor({7, 8}))  // [7, 0, 8]
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);

}  // namespace votive
