// The f32 accumulator's instances of the packed product, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_f32(const MatrixProduct& product) { Multiplier<DotF32>(product).run(); }

}  // namespace votive::cpu::VOTIVE_ISA
