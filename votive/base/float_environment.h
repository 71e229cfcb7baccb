// The floating-point environment that every result of Votive assumes: round to nearest even, subnormals kept, no traps (CONTRACT.md 0.3).
// Not here: exception flags; they are neither read nor promised.
#pragma once

#include <cstdint>

namespace votive {

#if defined(__x86_64__)
namespace detail {
using FloatControl = unsigned;
// MXCSR without its six sticky flags: all exceptions masked, RNE, neither FTZ (bit 15) nor DAZ (bit 6).
// Not the intrinsics: g++ takes two reads for one, also across a call that changes the word.
inline FloatControl float_control() {
  FloatControl word;
  __asm__ volatile("stmxcsr %0" : "=m"(word));
  return word;
}
inline void set_float_control(FloatControl word) { __asm__ volatile("ldmxcsr %0" : : "m"(word) : "memory"); }
inline constexpr FloatControl float_control_mask = 0xffc0, float_control_wanted = 0x1f80;
}  // namespace detail
#elif defined(__aarch64__)
namespace detail {
using FloatControl = std::uint64_t;
inline FloatControl float_control() {
  FloatControl word;
  __asm__ volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
inline void set_float_control(FloatControl word) { __asm__ volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
inline constexpr FloatControl float_control_mask = ~FloatControl{0}, float_control_wanted = 0;
}  // namespace detail
#else
#error "Votive knows the floating-point control word of x86-64 and AArch64 only"
#endif

/// Sets the calling thread's environment for good: what each worker does when it starts.
inline void set_float_environment() { detail::set_float_control(detail::float_control_wanted); }

/// Sets the calling thread's environment for a scope and restores the caller's. When nothing differs it only reads one register
/// (nothing beside other work, 3.4 ns back to back; Zen 5).
/// Needed because a library linked with -ffast-math turns on FTZ and DAZ in the whole thread when it is loaded.
class FloatEnvironment {
 public:
  FloatEnvironment() : saved_(detail::float_control()), differs_((saved_ & detail::float_control_mask) != detail::float_control_wanted) {
    if (differs_) [[unlikely]]
      set_float_environment();
  }
  ~FloatEnvironment() {
    if (differs_) [[unlikely]]
      detail::set_float_control(saved_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  detail::FloatControl saved_;
  bool differs_;
};

}  // namespace votive
