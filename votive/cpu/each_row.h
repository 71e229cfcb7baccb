// Rows along any axis of any layout, one after another where an operation's passes want them: dense, in L1 or L2, in the type it computes in. Where they are
// dense f32 or f64 already they are read and written in place. Not here: what the passes are (softmax.cpp, norm.cpp).
#pragma once

#include "votive/cpu/path.h"
#include "votive/cpu/rows.h"

namespace votive::cpu::VOTIVE_ISA {

/// Rows whose elements lie apart while the rows themselves lie side by side, as those along the first axis of a matrix do: some are turned at once into rows
/// that lie dense, or back, so that every line of memory is touched once (softmax of 2048 x 4096 f32 along axis 0 in a tenth of the time, 2-core Zen 4).
class RowsSideBySide {
 public:
  /// The rows along the last axis of `order`, a layout of a buffer of `dtype`.
  RowsSideBySide(const Layout& order, DType dtype) : order_(order), bytes_(block_bytes(dtype)) {}

  bool lie_so() const {
    constexpr Size worth_turning = 8;
    const int last = order_.rank() - 1;
    return last >= 1 && bytes_ <= 8 && order_.strides[last - 1] == 1 && order_.strides[last] != 1 && order_.shape[last] >= worth_turning &&
           order_.shape[last - 1] >= worth_turning;
  }
  /// `count` rows from `row` on, which share all axes but the last two, to `dense`; and back.
  void read(const std::byte* buffer, Size row, Size count, std::byte* dense) const {
    const Size n = order_.shape.back();
    turn(buffer + first(row) * bytes_, 1, order_.strides.back(), dense, n, 1, count);
  }
  void write(std::byte* buffer, Size row, Size count, const std::byte* dense) const {
    const Size n = order_.shape.back();
    turn(dense, n, 1, buffer + first(row) * bytes_, 1, order_.strides.back(), count);
  }

 private:
  Size first(Size row) const {
    Size at = order_.offset;
    for (int axis = order_.rank() - 2; axis >= 0; --axis) {
      at += row % order_.shape[axis] * order_.strides[axis];
      row /= order_.shape[axis];
    }
    return at;
  }
  void turn(const std::byte* from, Size from_row, Size from_step, std::byte* to, Size to_row, Size to_step, Size rows) const {
    const Shape shape{rows, order_.shape.back()};
    const Path path({shape, {from_row, from_step}, 0}, {shape, {to_row, to_step}, 0});
    if (path.rank == 2) return copy_transposed(path, path.dense_axis(path.from), path.dense_axis(path.to), from, to, bytes_);
    for (Size row = 0; row < rows; ++row) {  // one row, and so one axis
      if (to_step == 1) {
        gather_run(from + row * from_row * bytes_, from_step, to + row * to_row * bytes_, order_.shape.back(), bytes_);
      } else {
        scatter_run(from + row * from_row * bytes_, to + row * to_row * bytes_, to_step, order_.shape.back(), bytes_);
      }
    }
  }

  const Layout& order_;
  Size bytes_;
};

/// Calls body(x, y, row, next, done): n elements in and n elements out, both read and left as dtype `as`, which is T; the row's number, and the row after it.
/// As soon as elements i … i + m of y are what they shall be, done(i, m) takes them: stores past the caches then go on while the rest is computed.
template <class T, class Body>
void for_each_row(const Tensor& x, Tensor& y, int axis, DType as, Body body) {
  constexpr Size grain = 8192;
  const Size n = x.shape()[axis], rows = x.count() / n, bytes = block_bytes(x.dtype());
  const Layout order = with_axis_last(x.layout(), axis), order_y = with_axis_last(y.layout(), axis);
  const Reader in(x, order, as);
  const Writer out(y, order_y, as);
  const RowsSideBySide beside_x(order, x.dtype()), beside_y(order_y, y.dtype());
  // A bundle is for the caches, at least the squares that halves are turned in, and never much memory: longer rows are read one by one.
  constexpr Size room_bytes = Size{256} << 10, most_bytes = Size{16} << 20, least_width = 32;
  const bool fits = n <= most_bytes / (least_width * Size{sizeof(T)});
  const bool turned_x = fits && beside_x.lie_so(), turned_y = fits && beside_y.lie_so();
  if (turned_x || turned_y) {
    const Size beside = order.shape[order.rank() - 2];
    const Size wide = room_bytes / (n * Size{sizeof(T)}) < least_width ? least_width : 2 * least_width;
    const Size width = wide < beside ? wide : beside, bundles = (beside + width - 1) / width;
    const Conversion read(x.dtype(), as), written(as, y.dtype());
    parallel_for(rows / beside * bundles, n * width < grain ? grain / (n * width) : 1, [&](Size begin, Size end) {
      const Scratch<T> values(width * n), results(width * n);
      const Scratch<std::byte> bits(read.is_identity() && written.is_identity() ? 0 : width * n * Size{sizeof(T)});
      for (Size unit = begin; unit < end; ++unit) {
        const Size row = unit / bundles * beside + unit % bundles * width, left = beside - unit % bundles * width;
        const Size count = left < width ? left : width;
        auto* const as_bytes = reinterpret_cast<std::byte*>(values.data());
        if (turned_x) beside_x.read(x.buffer(), row, count, read.is_identity() ? as_bytes : bits.data());
        if (turned_x && !read.is_identity()) read(bits.data(), as_bytes, count * n);
        for (Size i = 0; i < count; ++i) {
          const T* const from = turned_x ? values.data() + i * n : in.read<T>((row + i) * n, n, values.data());
          T* const place = turned_y ? results.data() + i * n : out.place<T>((row + i) * n, results.data());
          body(from, place, row + i, NextRow(), [&](Size at, Size m) {
            if (!turned_y) out.write((row + i) * n + at, m, place + at);
          });
        }
        if (!turned_y) continue;
        if (!written.is_identity()) written(reinterpret_cast<const std::byte*>(results.data()), bits.data(), count * n);
        beside_y.write(y.mutable_buffer(), row, count,
                       written.is_identity() ? reinterpret_cast<const std::byte*>(results.data()) : bits.data());
      }
      out.finish();
    });
    return;
  }
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
