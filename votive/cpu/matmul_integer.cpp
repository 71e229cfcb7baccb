// Products of integers on the CPU, exact modulo 2³² or 2⁶⁴, so that any order of additions will do (CONTRACT.md 4.6). Operands are widened once to the
// result's width; four rows share each row of b. Not here: floats, whose order is fixed (matmul_blocks.h).
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
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

void integer_matmul(const IntegerMatmul& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  if (a.shape().back() == 0) {
    std::memset(data<std::byte>(y), 0, static_cast<std::size_t>(y.count() * block_bytes(y.dtype())));
    return;
  }
  if (op.dtype == DType::i32) return multiply<u32>(a, b, y, DType::i32);
  multiply<u64>(a, b, y, op.dtype);
}

}  // namespace

void register_matmul_integer(Kernels& kernels) { kernels.add<IntegerMatmul>(Device::cpu, integer_matmul); }

}  // namespace votive::cpu::VOTIVE_ISA
