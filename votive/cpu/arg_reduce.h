// argmax and argmin on the CPU. Registered by reduce.cpp.
#pragma once

#include "votive/core/tensor.h"
#include "votive/ops/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

void arg_reduce(const ArgReduce& op, const Tensor& x, Tensor& y, Stream&);

}  // namespace votive::cpu::VOTIVE_ISA
