// Matmul on the CPU: which dot product a pair of dtypes takes, batch axes folded into rows where b is one matrix, bias widened.
// The work is done in matmul_blocks.h; quantised weights go to quantised.cpp.
#include "votive/ops/few.h"

#include <utility>

#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/matmul_small.h"
#include "votive/cpu/quantised.h"
#include "votive/cpu/scratch.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

MatrixView matrix_view(const Tensor& x) {
  const int rank = x.rank();
  return {x.buffer() + x.offset() * block_bytes(x.dtype()), x.dtype(), x.strides()[rank - 2], x.strides()[rank - 1]};
}

/// Steps of x's batch axes along those of y; 0 where x repeats.
Strides batch_steps(const Tensor& x, const Shape& batch) {
  const int missing = batch.rank() - (x.rank() - 2);
  Strides steps = Strides::filled(batch.rank(), 0);
  for (int axis = missing; axis < batch.rank(); ++axis) {
    if (x.shape()[axis - missing] != 1) steps[axis] = x.strides()[axis - missing];
  }
  return steps;
}

/// Leading axes of a become rows of one product where b stays and a steps evenly: [B, T, k]·[k, n] is [B·T, k]·[k, n].
void fold_batch(MatrixProduct& p) {
  for (int axis = 0; axis < p.batch.rank(); ++axis) {
    if (p.b_batch[axis] != 0 && p.batch[axis] != 1) return;
  }
  while (!p.batch.empty()) {
    const Size size = p.batch.back();
    if (size != 1 && p.m != 1 && p.a_batch.back() != p.m * p.a.row) return;
    if (size != 1 && p.m == 1) p.a.row = p.a_batch.back();
    p.m *= size;
    const int last = p.batch.rank() - 1;
    p.batch.erase(last);
    p.a_batch.erase(last);
    p.b_batch.erase(last);
  }
}

/// A matrix by a column is a row by the matrix turned over: the same chains of the same products, with lanes for the elements of y.
void turn_over(MatrixProduct& p) {
  std::swap(p.m, p.n);
  std::swap(p.a, p.b);
  std::swap(p.a.row, p.a.column);
  std::swap(p.b.row, p.b.column);
  std::swap(p.a_batch, p.b_batch);
}

template <class Acc>
void widen(const Tensor& x, Acc* to) {
  const Size step = x.strides()[0];
  for (Size i = 0; i < x.count(); ++i) {
    const Size at = x.offset() + i * step;
    switch (x.dtype()) {
      case DType::f64: to[i] = static_cast<Acc>(reinterpret_cast<const f64*>(x.buffer())[at]); break;
      case DType::f32: to[i] = static_cast<Acc>(reinterpret_cast<const f32*>(x.buffer())[at]); break;
      case DType::f16: to[i] = static_cast<Acc>(numerics::f16_to_f32(reinterpret_cast<const u16*>(x.buffer())[at])); break;
      default: to[i] = static_cast<Acc>(numerics::bf16_to_f32(reinterpret_cast<const u16*>(x.buffer())[at])); break;
    }
  }
}

/// A tiny product of two dense matrices without what a large one prepares; false where it is another. The chains are the same.
template <class Dot>
bool multiply_tiny(const Tensor& a, const Tensor& b, Tensor& y) {
  using Acc = typename Dot::Acc;
  const Size m = y.shape()[0], n = y.shape()[1], k = a.shape()[1];
  if (k == 0 || k > 64 || m > 64 || n > 64 || m * n * k > 16384 || (b.strides()[1] != 1 && n != 1)) return false;
  const SmallProduct<Dot> product{m,
                                  n,
                                  k,
                                  reinterpret_cast<const Acc*>(a.buffer()) + a.offset(),
                                  a.strides()[0],
                                  a.strides()[1],
                                  reinterpret_cast<const Acc*>(b.buffer()) + b.offset(),
                                  b.strides()[0],
                                  reinterpret_cast<Acc*>(y.mutable_buffer()) + y.offset(),
                                  n};
  product.run(0, product.row_tiles() * product.column_tiles());
  return true;
}

/// What apply() runs for few numbers.
template <class Dot>
void multiply_dense(const void* a, const void* b, void* y, Size m, Size n, Size k) {
  using Acc = typename Dot::Acc;
  const SmallProduct<Dot> product{m, n, k, static_cast<const Acc*>(a), k, 1, static_cast<const Acc*>(b), n, static_cast<Acc*>(y), n};
  product.run(0, product.row_tiles() * product.column_tiles());
}

void matmul(const Matmul& op, const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& y, Stream& stream) {
  if (is_quantised(b.dtype())) return quantised_matmul(a, b, bias, y);
  if (y.rank() == 2 && a.rank() == 2 && b.rank() == 2 && !bias.defined() && b.packing() == Packing::none && a.dtype() == y.dtype() &&
      b.dtype() == y.dtype()) {
    if (y.dtype() == DType::f32 && multiply_tiny<DotF32>(a, b, y)) return;
    if (y.dtype() == DType::f64 && multiply_tiny<DotF64>(a, b, y)) return;
  }
  const bool prepacked = b.packing() != Packing::none;
  // f64 panels alone have an f64 product's width.
  if (prepacked && y.dtype() == DType::f64 && b.dtype() != DType::f64) return matmul(op, a, unpacked(b), bias, y, stream);
  const int rank = y.rank();
  MatrixProduct p{y.shape()[rank - 2],
                  y.shape()[rank - 1],
                  a.shape().back(),
                  matrix_view(a),
                  matrix_view(b),
                  y.mutable_buffer() + y.offset() * block_bytes(y.dtype()),
                  y.dtype(),
                  nullptr,
                  y.shape(),
                  {},
                  {}};
  p.prepacked = prepacked;
  p.batch.erase(rank - 1);
  p.batch.erase(rank - 2);
  p.a_batch = batch_steps(a, p.batch);
  p.b_batch = batch_steps(b, p.batch);
  fold_batch(p);
  if (p.n == 1 && p.m > 1 && !bias.defined() && !prepacked) turn_over(p);
  const bool wide = y.dtype() == DType::f64;
  Scratch<f64> values(bias.defined() ? p.n : 0);  // enough for either accumulator
  if (bias.defined()) {
    p.bias = values.data();
    if (wide) {
      widen(bias, values.data());
    } else {
      widen(bias, reinterpret_cast<f32*>(values.data()));
    }
  }
  if (wide) return multiply_f64(p);
  if (a.dtype() == DType::bf16 && b.dtype() == DType::bf16) return multiply_bf16(p);
  multiply_f32(p);
}

}  // namespace

void register_matmul(Kernels& kernels) {
  kernels.add<Matmul>(Device::cpu, matmul);
  add_few<Matmul>(0, DType::f32, multiply_dense<DotF32>);
  add_few<Matmul>(0, DType::f64, multiply_dense<DotF64>);
}

}  // namespace votive::cpu::VOTIVE_ISA
