// Elements of any layout and dtype as a plain vector in row-major order, and back. Every kernel of this device is: read, compute on vectors, write.
// Slow on purpose: other devices are compared with this, so it may only be obvious.
#pragma once

#include <span>
#include <vector>

#include "votive/core/tensor.h"
#include "votive/numerics/portable.h"

namespace votive::reference {

using numerics::f32;
using numerics::f64;
using numerics::i16;
using numerics::i32;
using numerics::i64;
using numerics::i8;
using numerics::u16;
using numerics::u32;
using numerics::u64;
using numerics::u8;

/// Where each element lies in the buffer, in row-major order of the logical index.
std::vector<Size> element_offsets(const Layout& layout);

/// The tensor read as `shape`: its layout broadcast.
Tensor broadcast(const Tensor& x, const Shape& shape);

/// Bits of each element, low bytes first; of plain dtypes.
std::vector<u64> read_bits(const Tensor& x);
void write_bits(Tensor& y, std::span<const u64> bits);

/// Elements converted to a compute type: f32 from f16, bf16, f8, f32, bool, integers (RNE) and quantised blocks; f64 from these and f64;
/// i64 and u64 from bool and integers (a u64 keeps its bits as i64).
std::vector<f32> read_f32(const Tensor& x);
std::vector<f64> read_f64(const Tensor& x);
std::vector<i64> read_i64(const Tensor& x);
std::vector<u64> read_u64(const Tensor& x);
/// 1 where the element is not zero; NaN is not zero.
std::vector<u8> read_truth(const Tensor& x);

/// Converted to y's dtype by the rules of casts (CONTRACT.md 6).
void write_f32(Tensor& y, std::span<const f32> values, bool saturate = true);
void write_f64(Tensor& y, std::span<const f64> values, bool saturate = true);
void write_i64(Tensor& y, std::span<const i64> values, bool saturate = true);
void write_u64(Tensor& y, std::span<const u64> values, bool saturate = true);
void write_truth(Tensor& y, std::span<const u8> values);

/// A shape around one axis: element (o, i, j) of [outer, n, inner] is at (o·n + i)·inner + j.
struct Around {
  Size outer = 1, n = 1, inner = 1;
  Around(const Shape& shape, int axis) : n(shape[axis]) {
    for (int a = 0; a < axis; ++a) outer *= shape[a];
    for (int a = axis + 1; a < shape.rank(); ++a) inner *= shape[a];
  }
  Size at(Size o, Size i, Size j) const { return (o * n + i) * inner + j; }
};

}  // namespace votive::reference
