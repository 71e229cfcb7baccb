// Quantised blocks as f32 by the GGUF formulas, as the file has them or as prepack() arranged them. Not here: products with them (quantised.cpp).
#pragma once

#include "votive/core/tensor.h"
#include "votive/cpu/convert.h"

namespace votive::cpu::VOTIVE_ISA {

/// Row `row` of a quantised matrix [n, k], k elements, of any packing.
void dequantise_row(const Tensor& w, Size row, f32* y);

}  // namespace votive::cpu::VOTIVE_ISA
