// Operations that look elements up or place them: embedding, index_select, gather, nonzero, concat (CONTRACT.md section 5).
#pragma once

#include <span>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

/// What indices mean: places 0 … n−1 along an axis (−1: of a tensor taken flat); where `from_end`, −n … −1 of signed dtypes too.
struct IndexRange {
  std::string_view call, argument;  // as the user wrote them
  int number;                       // of the argument, from 1
  int axis;
  Size n;  // INT64_MAX: no end
  bool from_end = true;

  Size low(DType indices) const { return from_end && is_signed_integer(indices) ? -n : 0; }
};

/// What a kernel throws when element `flat` (row-major) of `indices` is `value` and out of range; u64 values come as their 64 bits.
[[noreturn]] void refuse_index(const IndexRange& range, const Tensor& indices, Size flat, std::int64_t value);

/// The shape of a lookup along `axis`: x's with that axis replaced by all axes of the indices.
Shape looked_up_shape(std::string_view op, const Argument& x, const Argument& indices, int axis);

/// y[…, :] = table[ids[…], :]; table [V, D], plain (copied) or quantised (dequantised to f32). Ids of any integer dtype in [0, V).
struct Embedding {
  static constexpr OpInfo info{"embedding", Class::exact};
  using Kernel = void(const Embedding&, const Tensor& table, const Tensor& ids, Tensor& y, Stream&);
  Meta result(const Meta& table, const Meta& ids) const;
  Saves saves() const { return {0b10, false}; }
  Tensors gradient(const Backward& b) const;
};

/// y[…, i…, …] = x[…, indices[i…], …] along one axis, which the axes of the indices replace (rank 0: the axis is dropped); any integer dtype,
/// negative ones count from the end. `flat`: x has one axis, made by take().
struct IndexSelect {
  int axis;
  bool flat = false;

  static constexpr OpInfo info{"index_select", Class::exact};
  using Kernel = void(const IndexSelect&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
  std::string_view name() const { return flat ? "take" : info.name; }
  IndexRange range(Size n) const { return {name(), "indices", 2, flat ? -1 : axis, n}; }
  Meta result(const Meta& x, const Meta& indices) const;
  Saves saves() const { return {0b10, false}; }
  Tensors gradient(const Backward& b) const;
};

/// y[i…] = x[i… with indices[i…] at `axis`]; indices have x's rank and, on other axes, at most its size (take_along_axis).
struct Gather {
  int axis;

  static constexpr OpInfo info{"gather", Class::exact};
  using Kernel = void(const Gather&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
  IndexRange range(Size n) const { return {info.name, "indices", 2, axis, n}; }
  Meta result(const Meta& x, const Meta& indices) const;
  Saves saves() const { return {0b10, false}; }
  Tensors gradient(const Backward& b) const;
};

/// Indices of any integer dtype as i64 places 0 … n−1, all of them checked.
struct IndexPlaces {
  IndexRange range;

  static constexpr OpInfo info{"places", Class::exact};
  using Kernel = void(const IndexPlaces&, const Tensor& indices, Tensor& y, Stream&);
  std::string_view name() const { return range.call; }
  Meta result(const Meta& indices) const { return {.dtype = DType::i64, .shape = indices.shape, .device = indices.device}; }
};

/// The row-major positions of the true elements, i64: [found], or with `coordinates` [found, rank]. The caller has counted them.
struct Nonzero {
  Size found;
  bool coordinates;

  static constexpr OpInfo info{"nonzero", Class::exact};
  using Kernel = void(const Nonzero&, const Tensor& mask, Tensor& y, Stream&);
  Meta result(const Meta& mask) const;
};

/// Row-major positions of the true elements of a mask, i64 [found]. Waits for the mask.
Tensor true_places(const Tensor& mask);

/// Tensors one after the other along an axis in [0, rank), of their common dtype. Kernels meet them in y's dtype (concat() has cast them).
struct Concat {
  int axis;
  std::string_view called = "concat";

  static constexpr OpInfo info{"concat", Class::exact};
  using Kernel = void(const Concat&, std::span<const Tensor> x, Tensor& y, Stream&);
  std::string_view name() const { return called; }
  Meta result(std::span<const Tensor> x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
