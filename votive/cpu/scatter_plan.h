// A scatter as the CPU's kernel sees it: which run of the source goes to which run of the target, and the updates of each target together.
// Not here: what is done with them (scatter.cpp).
#pragma once

#include <algorithm>
#include <cstring>

#include "votive/cpu/positions.h"
#include "votive/cpu/rows.h"
#include "votive/cpu/scratch.h"
#include "votive/ops/scatter.h"

namespace votive::cpu::VOTIVE_ISA {

/// y as [outer, n, inner]: update (o, k) of the source, a run of `inner` elements, goes to run (o, target[k]). An index per element makes outer and inner 1.
struct ScatterPlan {
  Size outer = 1, n = 1, inner = 1, updates = 1;
  Size blocks = 1;  // equal parts of n targets and of the updates: those of one part stay in it, as rows do along the last axis
  Positions target;

  ScatterPlan(const Scatter& op, const Tensor& indices, const Tensor& y)
      : updates(indices.count()), target(op.range(y.shape()[op.axis]), indices, !op.slices && y.rank() > 1) {
    if (op.slices) {
      for (int axis = 0; axis < op.axis; ++axis) outer *= y.shape()[axis];
      n = y.shape()[op.axis];
      for (int axis = op.axis + 1; axis < y.rank(); ++axis) inner *= y.shape()[axis];
      return;
    }
    n = y.count();
    if (y.rank() == 1) return;
    for (int axis = 0; axis < op.axis && indices.shape()[axis] == y.shape()[axis]; ++axis) blocks *= y.shape()[axis];
    Layout other = Layout::contiguous(y.shape());  // every coordinate but the one along the axis
    const Size axis_step = other.strides[op.axis];
    other.shape = indices.shape();
    other.strides[op.axis] = 0;
    const Walk<1> walk({&other});
    const Size step = walk.step(0);
    parallel_for(updates, 1 << 14, [&](Size begin, Size end) {
      Size i = begin;
      walk.for_each_run(begin, end, [&](const std::array<Size, 1>& at, Size m) {
        target.replace(i, i + m, [&](Size j, i64 position) { return at[0] + (j - i) * step + position * axis_step; });
        i += m;
      });
    });
  }
  bool of_elements() const { return outer == 1 && inner == 1; }
  /// Fewer targets than updates by so much, or hardly more, that every target can be looked at.
  bool is_dense() const {
    constexpr Size sparse = 32;
    return n / sparse <= updates;
  }
};

/// All elements of a tensor as one dense run of another dtype; where they lie already, if they do.
class Dense {
 public:
  Dense(const Tensor& x, DType as)
      : in_(x, x.layout(), as), given_(in_.dense<std::byte>()), memory_(given_ == nullptr ? x.count() * block_bytes(as) : 0) {
    if (given_ != nullptr) return;
    const Size bytes = block_bytes(as), count = x.count();
    parallel_for((count + tile_size - 1) / tile_size, 16, [&](Size begin, Size end) {
      for (Size at = begin * tile_size; at < end * tile_size && at < count; at += tile_size) {
        const Size m = count - at < tile_size ? count - at : tile_size;
        std::byte* place = memory_.data() + at * bytes;
        const std::byte* values = in_.read_bytes(at, m, place);
        if (values != place) std::memcpy(place, values, static_cast<std::size_t>(m * bytes));
      }
    });
  }
  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(given_ != nullptr ? given_ : memory_.data());
  }

 private:
  Reader in_;
  const std::byte* given_;
  Scratch<std::byte> memory_;
};

/// The updates' numbers ordered by (target, number); group g has those from begin[g] to begin[g + 1], all of one target.
struct Groups {
  Scratch<i64> order, target, begin;
  Size count = 0;

  explicit Groups(const ScatterPlan& plan) : order(plan.updates), target(plan.updates), begin(plan.updates + 1) {
    if (plan.is_dense()) {
      by_counting(plan);
    } else {
      by_sorting(plan);
    }
    begin[count] = plan.updates;
  }

 private:
  void by_counting(const ScatterPlan& plan) {
    const Scratch<i64> place(plan.n);
    std::fill_n(place.data(), plan.n, 0);
    for (Size k = 0; k < plan.updates; ++k) ++place[plan.target[k]];
    i64 at = 0;
    for (Size t = 0; t < plan.n; ++t) {
      const i64 m = place[t];
      place[t] = at;
      if (m == 0) continue;
      target[count] = t;
      begin[count++] = at;
      at += m;
    }
    for (Size k = 0; k < plan.updates; ++k) order[place[plan.target[k]]++] = k;
  }
  void by_sorting(const ScatterPlan& plan) {
    for (Size k = 0; k < plan.updates; ++k) order[k] = k;
    std::sort(order.data(), order.data() + plan.updates,
              [&](i64 a, i64 b) { return plan.target[a] != plan.target[b] ? plan.target[a] < plan.target[b] : a < b; });
    for (Size i = 0; i < plan.updates; ++i) {
      const i64 t = plan.target[order[i]];
      if (count != 0 && target[count - 1] == t) continue;
      target[count] = t;
      begin[count++] = i;
    }
  }
};

}  // namespace votive::cpu::VOTIVE_ISA
