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

/// The row after the one in work, to be asked for piece by piece meanwhile: it is in another page as a rule, where the hardware does not look
/// (1.1 to 1.6 times the rate from DRAM, 2-core Zen 4). Rows that do not lie dense have none.
class NextRow {
 public:
  NextRow() = default;
  NextRow(const std::byte* row, Size element_bytes) : row_(row), element_bytes_(element_bytes) {}

  /// The same with its element k as the first.
  NextRow from(Size k) const { return row_ == nullptr ? NextRow() : NextRow(row_ + k * element_bytes_, element_bytes_); }
  /// Elements i … i + m.
  void fetch(Size i, Size m) const {
    if (row_ == nullptr) return;
    for (Size at = i * element_bytes_; at < (i + m) * element_bytes_; at += 64) __builtin_prefetch(row_ + at, 0, 2);
  }

 private:
  const std::byte* row_ = nullptr;
  Size element_bytes_ = 0;
};

/// Elements that a pass takes before it asks for as many of the next row.
inline constexpr Size row_piece = 1024;

/// pass(i, m) for the pieces of a row of n elements.
template <class Pass>
[[gnu::always_inline]] inline void for_each_piece_of_row(Size n, const NextRow& next, Pass pass) {
  for (Size i = 0; i < n; i += row_piece) {
    const Size m = n - i < row_piece ? n - i : row_piece;
    next.fetch(i, m);
    pass(i, m);
  }
}

/// Calls body(x, y, row, next, done): n elements in and n elements out, both read and left as dtype `as`, which is T; the row's number, and the row after it.
/// As soon as elements i … i + m of y are what they shall be, done(i, m) takes them: stores past the caches then go on while the rest is computed.
template <class T, class Body>
void for_each_row(const Tensor& x, Tensor& y, int axis, DType as, Body body) {
  constexpr Size grain = 8192;
  const Size n = x.shape()[axis], rows = x.count() / n, bytes = block_bytes(x.dtype());
  const Layout order = with_axis_last(x.layout(), axis);
  const Reader in(x, order, as);
  const Writer out(y, with_axis_last(y.layout(), axis), as);
  const T* dense = in.dense<T>();
  const std::byte* stored = Reader(x, order, x.dtype()).dense<std::byte>();
  parallel_for(rows, n < grain ? grain / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room(2 * n);
    for (Size row = begin; row < end; ++row) {
      const T* values = dense != nullptr ? dense + row * n : in.read<T>(row * n, n, room.data());
      T* place = out.place<T>(row * n, room.data() + n);
      const NextRow next = stored == nullptr || row + 1 == end ? NextRow() : NextRow(stored + (row + 1) * n * bytes, bytes);
      body(values, place, row, next, [&](Size i, Size m) { out.write(row * n + i, m, place + i); });
    }
    out.finish();
  });
}

}  // namespace votive::cpu::VOTIVE_ISA
