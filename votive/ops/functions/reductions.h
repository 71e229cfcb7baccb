// Many elements to one, along any axes (CONTRACT.md 3).
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "votive/core/tensor.h"

namespace votive {

/// Axes of a reduction: all of them, one, or a list.
class Axes {
 public:
  Axes() = default;
  Axes(int axis) : axes_{axis}, all_(false) {}  // NOLINT(google-explicit-constructor)
  Axes(std::initializer_list<int> axes) : axes_(axes), all_(false) {}
  explicit Axes(std::vector<int> axes) : axes_(std::move(axes)), all_(false) {}
  std::uint32_t mask(std::string_view op, int rank) const;  ///< Throws Error{InvalidAxis}, also for an axis named twice.

 private:
  std::vector<int> axes_;
  bool all_ = true;
};
struct ReduceOptions {
  Axes axis = {};
  bool keep = false;                // leave reduced axes with size 1
  std::optional<DType> dtype = {};  // of sum, prod, mean and their nan forms: cast to it first
};
/// Σ x over any axes. Floats keep their dtype: f32 accumulator (f64 for f64), the canonical tree, one rounding; bool and signed integers give i64, unsigned
/// u64, modulo 2⁶⁴. Class E. Of nothing 0. Throws Error{InvalidAxis, DTypeMismatch}.
/// Example: sum(tensor({{1, 2}, {3, 4}}), {.axis = 0})  // [4, 6]
Tensor sum(const Tensor& x, const ReduceOptions& options = {});
/// Σ x / n in f32 (f64 for f64) before it is rounded to x's dtype, so f16 [6e4, 6e4] has mean 6e4. Integers and bool: their exact sum and n, each to f32, one
/// division. Class E. Of nothing NaN.
/// Example: mean(tensor({1, 2}, i32))  // 1.5
Tensor mean(const Tensor& x, const ReduceOptions& options = {});
/// Π x, by the rules of sum. Class E. Of nothing 1. Its gradient divides by nothing, so that zeros have theirs.
/// Example: prod(tensor({2, 3, 4}, i32))  // 24
Tensor prod(const Tensor& x, const ReduceOptions& options = {});
/// The least element: NaN wins, −0 < +0. Class E, x's dtype. Throws Error{EmptyReduction} where an output would have no input.
/// Example: min(tensor({3, 1, 2}))  // 1
Tensor min(const Tensor& x, const ReduceOptions& options = {});
/// The greatest element: NaN wins, −0 < +0. Class E, x's dtype. Throws Error{EmptyReduction} where an output would have no input.
/// Example: max(tensor({{3, 1}, {2, 5}}), {.axis = 1})  // [3, 5]
Tensor max(const Tensor& x, const ReduceOptions& options = {});
struct MinMax {
  Tensor min, max;
};
/// min and max together. Class E.
/// Example: aminmax(tensor({3, 1, 2})).max  // 3
MinMax aminmax(const Tensor& x, const ReduceOptions& options = {});
/// Whether any element is not 0 (NaN is not), as bool. Class E. Of nothing false.
/// Example: any(tensor({0, 2, 0}))  // true
Tensor any(const Tensor& x, const ReduceOptions& options = {});
/// Whether no element is 0, as bool. Class E. Of nothing true.
/// Example: all(tensor({0, 2, 0}))  // false
Tensor all(const Tensor& x, const ReduceOptions& options = {});
/// How many elements are not 0 (NaN is not), i64. Class E.
/// Example: count_nonzero(tensor({0, 2, -1}))  // 2
Tensor count_nonzero(const Tensor& x, const ReduceOptions& options = {});

/// Σ and mean of the elements that are not NaN. Class E. Of none of them 0 and NaN.
/// Example: nansum(tensor({1, 2}))  // 3
Tensor nansum(const Tensor& x, const ReduceOptions& options = {});
/// Example: nanmean(tensor({1, 2}))  // 1.5
Tensor nanmean(const Tensor& x, const ReduceOptions& options = {});

struct VarianceOptions {
  Axes axis = {};
  bool keep = false;
  std::optional<double> correction = {};  // must be given: 0 divides by n (NumPy's default), 1 by n − 1 (PyTorch's)
};
/// Σ (x − m)² / (n − correction), m = mean x; two passes, corrected (CONTRACT.md 3.4). The correction has no default (D9).
/// Class E, f32 inside (f64 for f64); integers give f32; bool is refused. NaN where n ≤ correction.
/// Example: var(tensor({1, 2, 3, 4}), {.correction = 0})  // 1.25
Tensor var(const Tensor& x, const VarianceOptions& options);
/// √var; its gradient at 0 is 0. Class E.
/// Example: votive::std(tensor({1, 3}), {.correction = 0})  // 1
Tensor std(const Tensor& x, const VarianceOptions& options);
struct NormOf {
  double p = 2;
  Axes axis = {};
  bool keep = false;
};
/// (Σ |x|ᵖ)^(1/p). p = 2: scaled, so that [1e20, 1e20] has norm 1.4142e20; p = 0: how many are not 0; p = ±∞: the greatest, the least |x|.
/// Class E (P for other p), f32 inside (f64 for f64); integers give f32; bool is refused. Of nothing 0. Throws Error{EmptyReduction} for p < 0 of nothing.
/// Example: norm(tensor({3, 4}))  // 5
Tensor norm(const Tensor& x, const NormOf& options = {});
/// log Σ exp x = m + log Σ exp(x − m), m = max x. Class P, f32 inside (f64 for f64); integers give f32. Of nothing −∞, of −∞ alone −∞.
/// Example: logsumexp(tensor({0, 0}))  // 0.6931472
Tensor logsumexp(const Tensor& x, const ReduceOptions& options = {});

struct AxisOptions {
  std::optional<int> axis = -1;  // of argmax and argmin {}: over all elements in row-major order
  bool keep = false;
};
/// Lowest index of the greatest element, i64: NaN is the greatest, −0 and +0 are equal. Class E. Throws Error{EmptyReduction}.
/// Example: argmax(tensor({{1, 3}, {5, 2}}), {.axis = {}})  // 2
Tensor argmax(const Tensor& x, AxisOptions options = {});
/// Lowest index of the least element, i64: NaN is the least, −0 and +0 are equal. Class E. Throws Error{EmptyReduction}.
/// Example: argmin(tensor({{1, 3}, {5, 2}}))  // [0, 1]
Tensor argmin(const Tensor& x, AxisOptions options = {});

struct ScanOptions {
  std::optional<DType> dtype = {};  // cast to it first
};
/// y[k] = x[0] + … + x[k] along an axis, by the canonical scan (CONTRACT.md 3.4); dtypes as for sum, halves rounded once per output. Class E.
/// Example: cumsum(tensor({1, 2, 3}))  // [1, 3, 6]
Tensor cumsum(const Tensor& x, int axis = -1, const ScanOptions& options = {});
/// y[k] = x[0]·…·x[k], as cumsum. Class E. Its gradient divides by nothing.
/// Example: cumprod(tensor({2, 3, 4}))  // [2, 6, 24]
Tensor cumprod(const Tensor& x, int axis = -1, const ScanOptions& options = {});
/// y[k] = log Σ exp x[0…k], the chain y[k] = logaddexp(y[k − 1], x[k]) in f32 (f64 for f64). Class P; integers give f32.
/// Example: logcumsumexp(tensor({0, 0}))  // [0, 0.6931472]
Tensor logcumsumexp(const Tensor& x, int axis = -1);
struct ScannedExtreme {
  Tensor values, indices;
};
/// Greatest element of x[0…k] and its lowest index, i64; NaN is the greatest. Class E.
/// Example: cummax(tensor({1, 3, 2})).values  // [1, 3, 3]
ScannedExtreme cummax(const Tensor& x, int axis = -1);
/// Least element of x[0…k] and its lowest index, i64; NaN is the least. Class E.
/// Example: cummin(tensor({2, 3, 1})).indices  // [0, 0, 2]
ScannedExtreme cummin(const Tensor& x, int axis = -1);
/// y[0] = b[0], y[k] = fma(a[k], y[k − 1], b[k]) along an axis: exponential averages, state space models. a and b floating, alike. Class E, f32 inside (f64
/// for f64), one rounding per output.
/// Example: linear_recurrence(tensor({0, 2, 2}), tensor({1, 1, 1}))  // [1, 3, 7]
Tensor linear_recurrence(const Tensor& a, const Tensor& b, int axis = -1);
/// n times x[k + 1] − x[k] along an axis; of bool whether they differ. Class E.
/// Example: diff(tensor({1, 4, 9}))  // [3, 5]
Tensor diff(const Tensor& x, int n = 1, int axis = -1);

}  // namespace votive
