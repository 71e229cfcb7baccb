// The f32 accumulator's instances of the packed product, in a file of their own for the length of a compilation.
#include "votive/cpu/matmul_blocks.h"

namespace votive::cpu::VOTIVE_ISA {

void multiply_f32(const MatrixProduct& product) {
  if (!product.prepacked || product.k == 0) return Multiplier<DotF32>(product).run();
  switch (product.b.dtype) {
    case DType::f16: return multiply_prepacked<DotF32, ReadF16>(product);
    case DType::bf16: return multiply_prepacked<DotF32, ReadPairs<false>>(product);
    default: return multiply_prepacked<DotF32, ReadPacked<DotF32>>(product);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
