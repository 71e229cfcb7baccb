// The one setting of MXCSR that kernels need beside the contract's environment, for both widths of x86 vectors.
#pragma once

#include <xmmintrin.h>

namespace votive::cpu::VOTIVE_ISA {

/// Subnormals are zeros between construction and destruction, as CONTRACT.md 4.4 says of bf16 pairs. Arithmetic whose operands are loaded
/// after the one and stored before the other stays between them.
class FlushSubnormals {
 public:
  [[gnu::always_inline]] FlushSubnormals() : saved_(_mm_getcsr()) {
    _mm_setcsr(saved_ | 0x8040u);
    asm volatile("" ::: "memory");
  }
  [[gnu::always_inline]] ~FlushSubnormals() {
    asm volatile("" ::: "memory");
    _mm_setcsr(saved_);
  }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
};

}  // namespace votive::cpu::VOTIVE_ISA
