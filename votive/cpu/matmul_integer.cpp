// Products of integers on the CPU, exact modulo 2³² or 2⁶⁴, so that any order of additions will do (CONTRACT.md 4.6): batch axes, and which kernel.
// Two 8-bit operands go to matmul_int8.h. Wider ones are widened once to the result's width; four rows share each row of b.
// Not here: floats, whose order is fixed (matmul_blocks.h).
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul_int8.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/matmul.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size rows_at_once = 4, columns_at_once = 256;
constexpr Size least(Size a, Size b) { return a < b ? a : b; }

/// Up to four rows of a by `width` columns of b.
template <class T>
void multiply_tile(const T* __restrict a, Size a_row, Size rows, const T* __restrict b, Size b_row, Size k, T* y, Size y_row, Size width) {
  alignas(64) T sum[rows_at_once][columns_at_once] = {};
  for (Size i = 0; i < k; ++i) {
    const T* __restrict row = b + i * b_row;
    if (rows == rows_at_once) {
      const T a0 = a[i], a1 = a[a_row + i], a2 = a[2 * a_row + i], a3 = a[3 * a_row + i];
      for (Size j = 0; j < width; ++j) {
        sum[0][j] += a0 * row[j];
        sum[1][j] += a1 * row[j];
        sum[2][j] += a2 * row[j];
        sum[3][j] += a3 * row[j];
      }
    } else {
      for (Size r = 0; r < rows; ++r) {
        for (Size j = 0; j < width; ++j) sum[r][j] += a[r * a_row + i] * row[j];
      }
    }
  }
  for (Size r = 0; r < rows; ++r) {
    for (Size j = 0; j < width; ++j) y[r * y_row + j] = sum[r][j];
  }
}

/// Element o of x's batch, broadcast to `batch`, as a layout of its matrix.
Layout matrix_of(const Tensor& x, const Shape& batch, Size o) {
  Layout layout = x.layout();
  const int extra = batch.rank() - (x.rank() - 2);
  for (int axis = batch.rank() - 1; axis >= extra; --axis) {
    const Size i = o % batch[axis];
    o /= batch[axis];
    if (layout.shape[axis - extra] != 1) layout.offset += i * layout.strides[axis - extra];
  }
  while (layout.shape.rank() > 2) {
    layout.shape.erase(0);
    layout.strides.erase(0);
  }
  return layout;
}

template <class T>
void multiply(const Tensor& a, const Tensor& b, Tensor& y, DType as) {
  const int rank = y.rank();
  const Size m = y.shape()[rank - 2], n = y.shape()[rank - 1], k = a.shape().back(), batches = y.count() / (m * n);
  Shape batch = y.shape();
  batch.erase(rank - 1);
  batch.erase(rank - 2);
  const Scratch<T> wide_a(m * k), wide_b(k * n);
  const Size row_tiles = (m + rows_at_once - 1) / rows_at_once, column_tiles = (n + columns_at_once - 1) / columns_at_once;
  for (Size o = 0; o < batches; ++o) {
    const Layout layout_a = matrix_of(a, batch, o), layout_b = matrix_of(b, batch, o);
    const T* left = Reader(a, layout_a, as).template read<T>(0, m * k, wide_a.data());
    const T* right = Reader(b, layout_b, as).template read<T>(0, k * n, wide_b.data());
    T* to = data<T>(y) + o * m * n;
    const Size work = k * rows_at_once * least(n, columns_at_once);
    parallel_for(row_tiles * column_tiles, work >= 65536 ? 1 : 65536 / (work + 1) + 1, [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) {
        const Size row = i / column_tiles * rows_at_once, column = i % column_tiles * columns_at_once;
        multiply_tile(left + row * k, k, least(rows_at_once, m - row), right + column, n, k, to + row * n + column, n,
                      least(columns_at_once, n - column));
      }
    });
  }
}

/// Whether every element of the batch uses the same b, and their rows of a lie evenly one after the other: [B, T, k]·[k, n] is [B·T, k]·[k, n].
bool folds(const Tensor& a, const Tensor& b) {
  for (int axis = 0; axis < b.rank() - 2; ++axis) {
    if (b.shape()[axis] != 1) return false;
  }
  Size rows = a.shape()[a.rank() - 2], step = a.strides()[a.rank() - 2];
  for (int axis = a.rank() - 3; axis >= 0; --axis) {
    const Size size = a.shape()[axis];
    if (size == 1) continue;
    if (rows == 1) {
      step = a.strides()[axis];
    } else if (a.strides()[axis] != rows * step) {
      return false;
    }
    rows *= size;
  }
  return true;
}

/// The step between rows once the batch is folded into them.
Size row_step(const Tensor& a) {
  int axis = a.rank() - 2;
  while (axis > 0 && a.shape()[axis] == 1) --axis;
  return a.strides()[axis];
}

void multiply_bytes(const Tensor& a, const Tensor& b, Tensor& y) {
  const int rank = y.rank();
  const Size m = y.shape()[rank - 2], n = y.shape()[rank - 1], k = a.shape().back(), batches = y.count() / (m * n);
  const bool wide = y.dtype() != DType::i32;
  const auto matrix = [](const Tensor& x, const Layout& layout) {
    return Int8Matrix{reinterpret_cast<const u8*>(x.buffer()) + layout.offset, layout.strides[0], layout.strides[1],
                      x.dtype() == DType::u8};
  };
  std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(y.dtype());
  Shape batch = y.shape();
  batch.erase(rank - 1);
  batch.erase(rank - 2);
  if (batches == 1 || folds(a, b)) {
    Int8Matrix left = matrix(a, matrix_of(a, batch, 0));
    if (batches != 1) left.row = row_step(a);
    return multiply_int8({batches * m, n, k, left, matrix(b, matrix_of(b, batch, 0)), to, wide});
  }
  const auto one = [&](Size o) {
    multiply_int8(
        {m, n, k, matrix(a, matrix_of(a, batch, o)), matrix(b, matrix_of(b, batch, o)), to + o * m * n * block_bytes(y.dtype()), wide});
  };
  // Each product is cut for the threads itself, unless there are enough of them.
  if (batches < 4 * threads()) {
    for (Size o = 0; o < batches; ++o) one(o);
  } else {
    parallel_for(batches, (Size{1} << 20) / (2 * m * n * k) + 1, [&](Size begin, Size end) {
      for (Size o = begin; o < end; ++o) one(o);
    });
  }
}

void integer_matmul(const IntegerMatmul& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  if (a.shape().back() == 0) {
    std::memset(data<std::byte>(y), 0, static_cast<std::size_t>(y.count() * block_bytes(y.dtype())));
    return;
  }
  if (block_bytes(a.dtype()) == 1 && block_bytes(b.dtype()) == 1) return multiply_bytes(a, b, y);
  multiply<u64>(a, b, y, op.dtype);
}

}  // namespace

void register_matmul_integer(Kernels& kernels) { kernels.add<IntegerMatmul>(Device::cpu, integer_matmul); }

}  // namespace votive::cpu::VOTIVE_ISA
