// What operations along one axis share: the layout with that axis last, the row after the one in work, pieces of a row. Not here: how rows of any layout are
// brought together (each_row.h).
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

}  // namespace votive::cpu::VOTIVE_ISA
