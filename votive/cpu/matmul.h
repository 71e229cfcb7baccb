// Products of float matrices on the CPU in the canonical order (CONTRACT.md 4.4): what matmul.cpp hands to the three accumulators, and what
// attention.cpp builds on. Not here: quantised weights (quantised.h).
#pragma once

#include "votive/core/tensor.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

/// A matrix where it lies: element (i, j) is at data + (i·row + j·column) elements.
struct MatrixView {
  const std::byte* data;
  DType dtype;
  Size row, column;
};

/// Columns of b that are put together when a tile needs them (the windows of a convolution), so that b as a whole never exists.
struct GatheredColumns {
  /// Rows k0 … k0 + k of columns column … column + columns, of the batch's element at `offset`: each row `width` elements of b's dtype, absent ones +0.
  virtual void fill(Size offset, Size column, int columns, int width, Size k0, Size k, std::byte* to) const = 0;

 protected:
  ~GatheredColumns() = default;
};

/// y[o] = a[o]·b[o] + bias for every o of the batch; y is [batch, m, n] row-major. The bias holds n numbers of the accumulator's type, or one for each
/// of `bias_rows` rows of y, which repeat along the batch, or is null.
struct MatrixProduct {
  Size m, n, k;
  MatrixView a, b;
  std::byte* y;
  DType y_dtype;
  const void* bias = nullptr;
  Shape batch;  // batch axes of y, and each operand's step along them, in elements
  Strides a_batch, b_batch;
  Size bias_rows = 0;
  const GatheredColumns* gathered = nullptr;  // instead of b's elements; b says dtype and batch
  bool prepacked = false;                     // b.data is a weight that prepack() arranged: panels of its columns, b.dtype its own

  Size batches() const { return count(batch); }
  /// The operands' offsets of the batch's element o, in elements.
  void offsets(Size o, Size& a_offset, Size& b_offset) const {
    a_offset = b_offset = 0;
    for (int axis = batch.rank() - 1; axis >= 0; --axis) {
      const Size i = o % batch[axis];
      o /= batch[axis];
      a_offset += i * a_batch[axis];
      b_offset += i * b_batch[axis];
    }
  }
};

void multiply_f32(const MatrixProduct& product);   ///< f16, bf16, f32 operands, not both bf16; f32 accumulator
void multiply_bf16(const MatrixProduct& product);  ///< bf16 × bf16 by pairs; f32 accumulator
void multiply_f64(const MatrixProduct& product);   ///< any operands, a prepacked b in f64; f64 accumulator

/// w [n, k] of floats as y, Packing::panels (matmul_weight.cpp).
void prepack_floats(const Tensor& w, Tensor& y);
/// The elements of a weight that prepack_floats arranged, [n, k] or transposed as w is: a new tensor of w's dtype.
Tensor unpacked(const Tensor& w);
/// Row `row` of such a weight [n, k], k elements of its dtype.
void read_packed_floats(const Tensor& w, Size row, std::byte* to);

}  // namespace votive::cpu::VOTIVE_ISA
