// The floating-point environment the contract needs (CONTRACT.md 0.3): round to nearest, subnormals kept, no traps. A caller may have changed it
// (a library linked with -ffast-math does, at load time), so every public entry looks, and repairs it for the length of the call.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace votive {

/// Sets the environment of the calling thread for its own lifetime, when it differs; else costs one read.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & control_mask) != control) _mm_setcsr((saved_ & ~control_mask) | control);
  }
  ~FloatEnvironment() {
    if ((saved_ & control_mask) != control) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned control_mask = 0xffc0;  // FTZ, rounding, exception masks, DAZ
  static constexpr unsigned control = 0x1f80;
  unsigned saved_;
#elif defined(__aarch64__)
  FloatEnvironment() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    if (saved_ != 0) asm volatile("msr fpcr, %0" ::"r"(std::uint64_t{0}));
  }
  ~FloatEnvironment() {
    if (saved_ != 0) asm volatile("msr fpcr, %0" ::"r"(saved_));
  }

 private:
  std::uint64_t saved_;
#endif

 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;
};

}  // namespace votive
