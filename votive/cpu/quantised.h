// Products with quantised weights (CONTRACT.md D15): x in 15-bit blocks of 32, exact integer dots per group, one chain of fma per output.
// The same function for one row and for a thousand. Not here: floats (matmul.cpp), other orders of addition.
#pragma once

#include "votive/ops/matmul.h"
#include "votive/ops/registry.h"

namespace votive::cpu::VOTIVE_ISA {

/// Called by the Matmul kernel when b is quantised (plain or Packing::rows16).
void quantised_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& y);

void register_quantised(Kernels& kernels);  ///< Prepack

}  // namespace votive::cpu::VOTIVE_ISA
