// Operations on rows: every row along one axis is brought into L1 as floats, computed there by the operation's few passes, rounded and stored. Where rows are
// dense f32 or f64 already, they are read and written in place. Not here: what the passes are (softmax.cpp, norm.cpp).
#pragma once

#include "votive/base/thread_pool.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

/// The layout with `axis` as its last one, the others in order.
inline Layout with_axis_last(const Layout& layout, int axis) {
  Layout result = layout;
  result.shape.erase(axis);
  result.strides.erase(axis);
  result.shape.push_back(layout.shape[axis]);
  result.strides.push_back(layout.strides[axis]);
  return result;
}

/// Calls body(x, y, room), or body(x, y, room, row): n elements in, n elements out, and `rooms` times n elements to work in.
template <class T, class Body>
void for_each_row(const Tensor& x, Tensor& y, int axis, Size rooms, Body body) {
  constexpr DType as = std::is_same_v<T, f64> ? DType::f64 : DType::f32;
  constexpr Size grain = 8192;
  const Size n = x.shape()[axis], rows = x.count() / n;
  const Reader in(x, with_axis_last(x.layout(), axis), as);
  const Writer out(y, with_axis_last(y.layout(), axis), as);
  const T* dense = in.dense<T>();
  parallel_for(rows, n < grain ? grain / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room((rooms + 2) * n);
    for (Size row = begin; row < end; ++row) {
      const T* values = dense != nullptr ? dense + row * n : in.read<T>(row * n, n, room.data());
      T* place = out.place<T>(row * n, room.data() + n);
      if constexpr (requires { body(values, place, room.data(), row); }) {
        body(values, place, room.data() + 2 * n, row);
      } else {
        body(values, place, room.data() + 2 * n);
      }
      out.write(row * n, n, place);
    }
    out.finish();
  });
}

}  // namespace votive::cpu::VOTIVE_ISA
