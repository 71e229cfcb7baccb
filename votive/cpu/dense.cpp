// The loops of pointwise operations over row-major floats by themselves: what apply() runs for small tensors without asking a kernel.
#include "votive/cpu/kernels.h"
#include "votive/cpu/pointwise_plan.h"

namespace votive::cpu::VOTIVE_ISA {

void register_dense(Kernels& kernels) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (std::size_t i = 0; i < unary_kinds; ++i) {
      const auto kind = static_cast<UnaryKind>(i);
      if (!keeps_floats(kind)) continue;
      const Plan1 p = plan(kind, dtype);
      kernels.add_dense<Unary>(kind, dtype, p.as == dtype && p.result == dtype ? p.loop : nullptr);
    }
    for (std::size_t i = 0; i < binary_kinds; ++i) {
      const auto kind = static_cast<BinaryKind>(i);
      if (!keeps_floats(kind)) continue;
      const Plan2 p = plan(kind, dtype, dtype);
      kernels.add_dense<Binary>(kind, dtype, p.a == dtype && p.b == dtype && p.result == dtype ? p.loop : nullptr);
    }
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
