// The index of Python's x[…]: integers, ranges, `ellipsis`, `newaxis`, integer tensors and masks in one list (CONTRACT.md 5).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "votive/core/tensor.h"
#include "votive/ops/functions/indexing.h"

namespace votive {

/// start : stop : step, as Python's: negative from the end, clamped, absent to the end. A step may be negative, not 0.
struct Range {
  std::optional<Size> start = {}, stop = {};
  Size step = 1;
};
/// As many whole axes as the rest of the list leaves.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;
/// A new axis of size 1.
struct NewAxis {};
inline constexpr NewAxis newaxis;

/// One entry of an index: an integer (drops its axis), a Range, `ellipsis`, `newaxis`, a tensor of integers or of bool.
class Index {
 public:
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Index(T at)
      : what_(std::in_range<Size>(at) ? static_cast<Size>(at) : INT64_MAX) {}  // NOLINT(google-explicit-constructor)
  Index(Range range) : what_(range) {}                                         // NOLINT(google-explicit-constructor)
  Index(Ellipsis all) : what_(all) {}                                          // NOLINT(google-explicit-constructor)
  Index(NewAxis axis) : what_(axis) {}                                         // NOLINT(google-explicit-constructor)
  Index(Tensor positions) : what_(std::move(positions)) {}                     // NOLINT(google-explicit-constructor)
  const std::variant<Size, Range, Ellipsis, NewAxis, Tensor>& what() const { return what_; }

 private:
  std::variant<Size, Range, Ellipsis, NewAxis, Tensor> what_;
};

/// x[a, b, …] as NumPy reads it. Integers, ranges, ellipsis and newaxis alone give a view; with a tensor the result is a copy.
/// Integer tensors of any integer dtype, −n … n−1 each, broadcast to one another and choose together; u8 is an index too. A bool tensor stands for
/// nonzero() of itself over as many axes as it has, which must have its sizes; the size of such a result depends on its values, so the call waits for them.
/// The axes of the choice stand where the first tensor stood, or in front when a range, ellipsis or newaxis parts the tensors and integers (NumPy's rule).
/// Class E: bits are moved. Throws Error{IndexOutOfRange}, Error{DTypeMismatch} for other tensors, Error{ShapeMismatch}, Error{InvalidArgument} for more
/// entries than axes or a second ellipsis.
/// Example: index(tensor({{1, 2, 3}, {4, 5, 6}}), {ellipsis, Range{{}, {}, -2}})  // [[3, 1], [6, 4]]
/// Example: index(tensor({{1, 2, 3}, {4, 5, 6}}), {tensor({0, 1}, i64), -1})  // [3, 6]
/// Example: index(tensor({1, 2, 3}), {tensor({true, false, true}, boolean)})  // [1, 3]
Tensor index(const Tensor& x, std::span<const Index> at);
Tensor index(const Tensor& x, std::initializer_list<Index> at);

/// index_put for every list that index() takes: a copy of x with `source` written at x[a, b, …]; source broadcasts to the shape index() gives, and
/// x's dtype has to hold its values.
/// Of several updates to one place the highest row-major position wins; with `accumulate` all are added, in that order, by the canonical tree. Class E.
/// Throws as index.
/// Example: index_put(zeros({2, 2}), {Range{}, 0}, tensor({1, 2}))  // [[1, 0], [2, 0]]
/// Example: index_put(zeros({3}), {tensor({0, 0}, i64)}, tensor({1, 2}), {.accumulate = true})  // [3, 0, 0]
Tensor index_put(const Tensor& x, std::span<const Index> at, const Tensor& source, IndexPutOptions options = {});
Tensor index_put(const Tensor& x, std::initializer_list<Index> at, const Tensor& source, IndexPutOptions options = {});

}  // namespace votive
