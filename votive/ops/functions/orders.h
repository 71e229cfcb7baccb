// What depends on which element is larger: sort and its kin, ranks, searches, and counts of equal or neighbouring values.
// Stable; NaN is last when ascending and first when descending; −0 equals +0 (CONTRACT.md 3.1).
#pragma once

#include <optional>
#include <span>

#include "votive/core/tensor.h"

namespace votive {

struct SortOptions {
  int axis = -1;
  bool descending = false;
};
struct Sorted {
  Tensor values, indices;
};
/// Elements of an axis in order, and where they were:  values = gather(x, indices, axis). Equal elements keep their order.
///   x  bool, integers, f16, bf16, f32, f64  →  values as x; indices i64
/// Class E: bits are moved, a NaN with its payload. NaN is last ascending, first descending.
/// Gradient: to the places the values came from. Throws Error{InvalidAxis}, Error{DTypeMismatch} for 8-bit floats.
/// Example: sort(tensor({3, 1, 2})).values  // [1, 2, 3]
Sorted sort(const Tensor& x, SortOptions options = {});
/// sort(x).indices. Class E.
/// Example: argsort(tensor({3, 1, 2}))  // [1, 2, 0]
Tensor argsort(const Tensor& x, SortOptions options = {});
/// sort along the first axis, values alone. Class E.
/// Example: msort(tensor({{3, 1}, {2, 5}}))  // [[2, 1], [3, 5]]
Tensor msort(const Tensor& x);

struct TopkOptions {
  int axis = -1;
  bool largest = true;
};
/// The first k of the descending order, or with largest = false of the ascending one: in order, and of equal ones the lower index first. Class E.
/// NaN counts as the largest. Throws Error{InvalidArgument} unless 0 ≤ k ≤ size of the axis.
/// Example: topk(tensor({3, 1, 4, 1}), 2).values  // [4, 3]
Sorted topk(const Tensor& x, Size k, TopkOptions options = {});

struct RankOptions {
  int axis = -1;
  bool keep = false;
};
/// The k-th smallest of an axis, k from 1, and its index: element k − 1 of the stable order, so NaN counts as the largest. Class E.
/// Throws Error{InvalidArgument} unless 1 ≤ k ≤ size of the axis.
/// Example: kthvalue(tensor({3, 1, 2}), 2).values  // 2
Sorted kthvalue(const Tensor& x, Size k, RankOptions options = {});
struct MedianOptions {
  std::optional<int> axis = {};  // all elements, taken flat, when absent
  bool keep = false;
};
/// The middle element, the lower of two, and its index: element (n − 1) div 2 of the stable order. Class E: no average is taken.
/// A NaN in the row is the answer, with the index of the first. Throws Error{EmptyReduction} where a result would have no input.
/// Example: median(tensor({4, 1, 3, 2})).values  // 2
Sorted median(const Tensor& x, MedianOptions options = {});
/// median of the elements that are not NaN; of a row of nothing else NaN. Class E.
/// Example: nanmedian(tensor({4, 1, 3, 2})).indices  // 3
Sorted nanmedian(const Tensor& x, MedianOptions options = {});
/// The most frequent value of an axis, of several the least, and the index of its first occurrence. Class E. NaN equals NaN, −0 equals +0.
/// Throws Error{EmptyReduction} where a result would have no input.
/// Example: mode(tensor({3, 1, 3, 1, 2})).values  // 1
Sorted mode(const Tensor& x, RankOptions options = {});

/// Where a quantile lies between two elements: on the line between them, on either, on the nearer (half to the even place), or half way.
enum class QuantileMethod : std::uint8_t { linear, lower, higher, nearest, midpoint };
struct QuantileOptions {
  std::optional<int> axis = {};  // all elements when absent
  bool keep = false;
  QuantileMethod method = QuantileMethod::linear;
};
/// The q-quantile:  p = q·(n − 1) in f64, i = ⌊p⌋, a = sorted[i], b = sorted[i + 1] (a at a whole p), w = p − i rounded to f32 (f64 for f64);
/// linear: a + w·(b − a), midpoint: a/2 + b/2, one rounding at the end; lower a, higher b, nearest: element rint(p).
///   x  floating or integers (f32 then); q  in [0, 1]  →  the axis dropped, or kept with size 1; for a list of q one leading axis more
/// Class E. Equal a and b give a, so infinities stay. A NaN in the row gives NaN. Throws Error{InvalidArgument}, Error{EmptyReduction}.
/// Example: quantile(tensor({1, 2, 3, 4}), 0.5)  // 2.5
Tensor quantile(const Tensor& x, double q, QuantileOptions options = {});
Tensor quantile(const Tensor& x, std::span<const double> q, QuantileOptions options = {});
/// quantile of the elements that are not NaN; of nothing else NaN. Class E.
/// Example: nanquantile(tensor({1, 2, 3, 4}), 0.5)  // 2.5
Tensor nanquantile(const Tensor& x, double q, QuantileOptions options = {});
Tensor nanquantile(const Tensor& x, std::span<const double> q, QuantileOptions options = {});

struct SearchOptions {
  bool right = false;
};
/// Where values belong in sorted rows:  i with sorted[i−1] < v ≤ sorted[i], or with right = true sorted[i−1] ≤ v < sorted[i].
///   sorted  [n], or [..., n] with the leading axes of values; values  any shape  →  values' shape, i64 in 0 … n
/// Class E. NaN comes after all numbers. Compared in the common dtype. A row that is not sorted gives what halving it finds.
/// Example: searchsorted(tensor({1, 3, 5}), tensor({3, 4}))  // [1, 2]
Tensor searchsorted(const Tensor& sorted, const Tensor& values, SearchOptions options = {});
/// searchsorted with the arguments the other way round and one row of boundaries. Class E.
/// Example: bucketize(tensor({3, 4}), tensor({1, 3, 5}), {.right = true})  // [2, 2]
Tensor bucketize(const Tensor& x, const Tensor& boundaries, SearchOptions options = {});

/// Whether each element of x is among `values`; NaN is among none. Class E: compared in the common dtype.
/// Example: isin(tensor({1, 2, 3}), tensor({3, 1}))  // [true, false, true]
Tensor isin(const Tensor& x, const Tensor& values);

struct Unique {
  Tensor values, inverse, counts;
};
/// The different values of x in ascending order, each as its first occurrence; values[inverse[i…]] = x[i…]; counts[j] of value j. NaN equals NaN.
///   x  bool, integers, f16, bf16, f32, f64  →  values [u] as x; inverse i64 in x's shape; counts i64 [u]
/// Class E. Waits for x: the size depends on its values.
/// Example: unique(tensor({3, 1, 3})).values  // [1, 3]
Unique unique(const Tensor& x);

struct BincountOptions {
  Tensor weights = {};
  Size minimum = 0;  // bins at least
};
/// How often each number from 0 occurs:  y[v] = #{i : x[i] = v}, or the sum of weights[i], as index_add (ascending positions, canonical tree).
///   x  integers ≥ 0, any shape; weights  x's shape  →  i64 [max(minimum, max x + 1)]; with weights of their dtype
/// Class E. Throws Error{IndexOutOfRange} for a negative element.
/// Example: bincount(tensor({0, 2, 2}, i64))  // [1, 0, 2]
Tensor bincount(const Tensor& x, const BincountOptions& options = {});

struct HistogramOptions {
  std::optional<double> low = {}, high = {};  // the least and the largest element when absent
};
/// How many elements lie in each of `bins` intervals between low and high:  bin i holds x with e[i] ≤ x < e[i+1], the last one high too, where
/// e[i] = fma(i, (high − low)/bins, low) in f64 and e[bins] = high. Elements are compared as f64; what lies outside, and NaN, is not counted.
///   x  floating or integers  →  i64 [bins]
/// Class E. low = high widens both by 1; no elements and no range: 0 to 1. Throws Error{InvalidArgument} for a range that is not finite or falls.
/// Example: histc(tensor({1, 2, 2, 4}), 3, {.low = 1, .high = 4})  // [1, 2, 1]
Tensor histc(const Tensor& x, Size bins, HistogramOptions options = {});

}  // namespace votive
