// Instances of the packed product for pairs of bf16, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_bf16(const MatrixProduct& product) {
  if (!product.prepacked || product.k == 0) return Multiplier<DotBf16>(product).run();
  multiply_prepacked<DotBf16, std::conditional_t<DotBf16::pairs, ReadPacked<DotBf16>, ReadPairs<true>>>(product);
}

}  // namespace votive::cpu::VOTIVE_ISA
