// Instances of the packed product for pairs of bf16, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_bf16(const MatrixProduct& product) { Multiplier<DotBf16>(product).run(); }

}  // namespace votive::cpu::VOTIVE_ISA
