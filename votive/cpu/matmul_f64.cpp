// The f64 accumulator's instances of the packed product, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_f64(const MatrixProduct& product) { Multiplier<DotF64>(product).run(); }

}  // namespace votive::cpu::VOTIVE_ISA
