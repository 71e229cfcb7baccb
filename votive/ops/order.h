// Operations that ask which element is larger: sort, topk, ranks and searches (CONTRACT.md 3.1). NaN is larger than every number, −0 equals +0.
#pragma once

#include <utility>

#include "votive/ops/check.h"
#include "votive/ops/op.h"

namespace votive {

/// Stable order along an axis: values and their i64 indices. NaN is last ascending and first descending; −0 equals +0.
/// k < 0: the whole axis (sort), else its first k (topk).
struct Sort {
  int axis;
  bool descending;
  Size k = -1;

  static constexpr OpInfo info{"sort", Class::exact};
  using Kernel = void(const Sort&, const Tensor& x, Tensor& values, Tensor& indices, Stream&);
  std::string_view name() const { return k < 0 ? "sort" : "topk"; }
  std::pair<Meta, Meta> result(const Meta& x) const;
};

enum class RankKind : std::uint8_t { kth, median, nanmedian, mode };

/// Which element of each row along an axis, i64 with that axis of size 1: the k-th (from 1) of the stable ascending order; the lower of the two in the
/// middle, or the first NaN where there is one (median), or of the numbers alone (nanmedian); the first of the most frequent value, of several the least.
struct Rank {
  RankKind kind;
  int axis;
  Size k = 1;

  static constexpr OpInfo info{"rank", Class::exact};
  using Kernel = void(const Rank&, const Tensor& x, Tensor& y, Stream&);
  std::string_view name() const;
  Meta result(const Meta& x) const;
};

/// How many elements of the sorted row come before each value, by halving: those less than it, or with `right` those not greater. Both of one dtype;
/// one row for all values, or one row for each along the leading axes.
struct SearchSorted {
  std::string_view call;
  bool right;

  static constexpr OpInfo info{"searchsorted", Class::exact};
  using Kernel = void(const SearchSorted&, const Tensor& sorted, const Tensor& values, Tensor& y, Stream&);
  std::string_view name() const { return call; }
  Meta result(const Meta& sorted, const Meta& values) const;
};

}  // namespace votive
