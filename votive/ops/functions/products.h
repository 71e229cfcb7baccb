// Sums of products: matmul and what is made of it (CONTRACT.md 4.3, 4.4).
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "votive/core/tensor.h"

namespace votive {

struct MatmulOptions {
  std::optional<DType> out = {};  // of the sums: f32 for f16 and bf16; i64 for 8-bit integers
};
/// Matrix product:  y[…, m, n] = Σₖ a[…, m, k] · b[…, k, n], batch axes broadcast; a vector is a row on the left and a column on the right.
///   a, b  floating: the common dtype, sums in f32 (f64 for f64), one rounding; b may be a quantised weight whose blocks run along k
///         8-bit integers of any sign: i32, exact; wider ones: i64 or u64, exact modulo 2⁶⁴
/// Class E in the canonical order of CONTRACT.md 4.4; an empty k gives zeros; 0·inf is NaN. Gradients of a and b, none of quantised weights.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, and Error{InvalidArgument} where sums of 8-bit products may leave i32: pass out = i64.
/// Example: matmul(tensor({{1, 2}, {3, 4}}), tensor({{5}, {6}}))  // [[17], [39]]
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});
/// A layer's product:  y[…, n] = Σₖ x[…, k] · w[n, k] + bias[n], the bias added before the one rounding.
///   x  floating [..., k] · w  [n, k], floating, quantised or prepacked · bias  [n] of y's dtype, or none
/// Class E (CONTRACT.md 4.4; D15 for quantised weights, which get no gradient). Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: linear(tensor({1, 2}), tensor({{3, 4}}), tensor({10}))  // [21]
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});
/// A weight arranged for this machine's matmul; the weight itself where there is nothing to gain. Class E: no bit of a result changes.
/// Throws Error{DTypeMismatch} unless floating or quantised, Error{ShapeMismatch} for a transposed view of blocks.
/// Example: linear(tensor({1, 2}), prepack(tensor({{3, 4}})))  // [11]
Tensor prepack(const Tensor& w);

/// Products by their usual names, all class E, as matmul of the same operands; vecdot and inner run along the last axis of both.
///   dot  vector · vector · mv  matrix [m, k] · vector [k] · vecdot  [..., k] · [..., k], broadcast · inner  every row of a with every row of b
/// Throw Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: dot(tensor({1, 2}), tensor({3, 4}))  // 11
/// Example: mv(tensor({{1, 2}, {3, 4}}), tensor({1, 10}))  // [21, 43]
/// Example: vecdot(tensor({{1, 2}, {3, 4}}), tensor({1, 10}))  // [21, 43]
/// Example: inner(tensor({1, 2}), tensor({{3, 4}, {5, 6}}))  // [11, 17]
Tensor dot(const Tensor& a, const Tensor& b);
Tensor mv(const Tensor& a, const Tensor& x);
Tensor vecdot(const Tensor& a, const Tensor& b);
Tensor inner(const Tensor& a, const Tensor& b);
/// Every element of a times every element of b: outer of vectors [m, n]; kron in blocks, y[i·p + r, …] = a[i, …] · b[r, …]. Class E, as mul.
/// Throw Error{DTypeMismatch}, Error{ShapeMismatch}, kron also past eight axes.
/// Example: outer(tensor({1, 2}), tensor({3, 4}))  // [[3, 4], [6, 8]]
/// Example: kron(tensor({1, 2}), tensor({1, 10}))  // [1, 10, 2, 20]
Tensor outer(const Tensor& a, const Tensor& b);
Tensor kron(const Tensor& a, const Tensor& b);
/// Sums of products over pairs of axes: the last `axes` of a with the first of b, or those named. One matmul over these axes in their order; class E.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}, Error{InvalidAxis}, Error{InvalidArgument}.
/// Example: tensordot(tensor({{1, 2}, {3, 4}}), tensor({{5, 6}, {7, 8}}), 2)  // 70
/// Example: tensordot(tensor({{1, 2}, {3, 4}}), tensor({5, 6}), {0}, {0})  // [23, 34]
Tensor tensordot(const Tensor& a, const Tensor& b, int axes);
Tensor tensordot(const Tensor& a, const Tensor& b, std::initializer_list<int> axes_a, std::initializer_list<int> axes_b);
Tensor tensordot(const Tensor& a, const Tensor& b, std::span<const int> axes_a, std::span<const int> axes_b);
struct AddMatmulOptions {
  float alpha = 1, beta = 1;
};
/// y = beta·c + alpha·(a·b) of matrices (addmm) or batches of them (baddbmm), c broadcast to the product's shape.
///   c, a, b  floating. Class E: the f32 sum of matmul times alpha, c times beta, their sum, each in f32 (f64 for f64), one rounding to y's dtype.
/// beta = 0 leaves c out, NaN and all. Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: addmm(tensor({1}), tensor({{1, 2}}), tensor({{3}, {4}}), {.alpha = 2, .beta = 10})  // [[32]]
/// Example: baddbmm(tensor({1}), tensor({{{1, 2}}}), tensor({{{3}, {4}}}))  // [[[12]]]
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options = {});
Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, AddMatmulOptions options = {});
/// y[…, o] = Σᵢⱼ x1[…, i] · w[o, i, j] · x2[…, j] + bias[o]: over i first, then over j, sums in f32 (f64 for f64), one rounding.
///   x1, x2  floating, the same leading axes · w  [o, i, j] · bias  [o] or none; all of one dtype
/// Class E. Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: bilinear(tensor({1, 2}), tensor({3, 4}), tensor({{{1, 0}, {0, 1}}}))  // [11]
Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& w, const Tensor& bias = {});
/// The sum of a diagonal of the last two axes, as sum() of it: offset above it, below where negative. Class E.
/// Throws Error{DTypeMismatch}, Error{ShapeMismatch}.
/// Example: trace(tensor({{1, 2}, {3, 4}}))  // 5
Tensor trace(const Tensor& x, Size offset = 0);
/// Einstein's notation: "ij,jk->ik". Repeated labels are diagonals (which come last), labels missing on the right are summed, "..." is any axes, broadcast; without "->" the
/// labels that occur once come out, in the order of the alphabet. Labels are a–z and A–Z; an axis of size 1 goes with any size.
/// Class E by definition: operands left to right, two at a time; of a pair labels that nobody else needs are summed where only one has them, and those of
/// both are one matmul's inner axis in the order of the left one's labels; without any it is mul. The step's dtype rules and roundings are those of these operations.
/// Throws Error{InvalidArgument} for the text, Error{ShapeMismatch}, Error{DTypeMismatch}.
/// Example: einsum("ij,jk->ki", {tensor({{1, 2}, {3, 4}}), tensor({{5}, {6}})})  // [[17, 39]]
/// Example: einsum("ii", {tensor({{1, 2}, {3, 4}})})  // 5
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands);

}  // namespace votive
