// The f64 accumulator's instances of the packed product, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_f64(const MatrixProduct& product) {
  if (!product.prepacked || product.k == 0) return Multiplier<DotF64>(product).run();
  multiply_prepacked<DotF64, ReadPacked<DotF64>>(product);
}

}  // namespace votive::cpu::VOTIVE_ISA
