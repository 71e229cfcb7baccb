// Operations that look elements up or place them: embedding, index_select, gather, concat (CONTRACT.md section 5).
#pragma once

#include <span>

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

/// What a kernel throws when element `flat` (row-major) of `indices` is `value` and not in low..high; u64 values come as their 64 bits.
[[noreturn]] void refuse_index(std::string_view op, std::string_view argument, int number, const Tensor& indices, Size flat,
                               std::int64_t value, Size low, Size high);

/// y[…, :] = table[ids[…], :]; table [V, D], plain (copied) or quantised (dequantised to f32). Ids of any integer dtype in [0, V).
struct Embedding {
  static constexpr OpInfo info{"embedding", Class::exact};
  using Kernel = void(const Embedding&, const Tensor& table, const Tensor& ids, Tensor& y, Stream&);
  Meta result(const Meta& table, const Meta& ids) const;
};

/// y[…, i, …] = x[…, indices[i], …] along one axis; indices of rank 0 (the axis is dropped) or 1, any integer
/// dtype, negative ones count from the end.
struct IndexSelect {
  int axis;

  static constexpr OpInfo info{"index_select", Class::exact};
  using Kernel = void(const IndexSelect&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& indices) const;
};

/// y[i…] = x[i… with indices[i…] at `axis`]; indices have x's rank and, on other axes, at most its size (take_along_axis).
struct Gather {
  int axis;

  static constexpr OpInfo info{"gather", Class::exact};
  using Kernel = void(const Gather&, const Tensor& x, const Tensor& indices, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& indices) const;
};

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
