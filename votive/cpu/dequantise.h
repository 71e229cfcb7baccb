// Quantised blocks as f32 by the GGUF formulas, as the file has them or as prepack() arranged them. Not here: products with them (quantised.cpp).
#pragma once

#include "votive/core/tensor.h"
#include "votive/cpu/convert.h"

namespace votive::cpu::VOTIVE_ISA {

/// Whether each row along the last axis is a run of whole blocks; else the blocks lie along the axis before it (a transposed weight).
bool has_rows_of_blocks(const Tensor& w);

/// Row `row` of a quantised matrix [n, k] with rows of blocks, k elements, of any packing.
void dequantise_row(const Tensor& w, Size row, f32* y);

/// All of `w` as f32, of w's shape; its strides follow the blocks.
Tensor dequantised(const Tensor& w);

}  // namespace votive::cpu::VOTIVE_ISA
