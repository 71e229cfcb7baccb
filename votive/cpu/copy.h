// The copy of any layout to any layout, for kernels that move whole pieces.
#pragma once

#include "votive/core/tensor.h"

namespace votive::cpu::VOTIVE_ISA {

/// The same bits to another place: shapes and dtypes are equal, layouts need not be.
void copy_elements(const Tensor& x, Tensor& y);

}  // namespace votive::cpu::VOTIVE_ISA
