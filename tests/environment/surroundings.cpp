// The C library sets rounding and traps in both of x86's units; flushing it does not know, so the control word is written.
#include "tests/environment/surroundings.h"

#include "votive/base/float_environment.h"

namespace votive::environment {

std::string_view to_string(Surroundings kind) {
  constexpr std::string_view names[] = {"plain", "flushing", "upward", "downward", "toward_zero", "trapping"};
  return names[static_cast<int>(kind)];
}

std::optional<Surroundings> surroundings_of(std::string_view name) {
  for (const Surroundings kind : every_surroundings)
    if (name == to_string(kind)) return kind;
  return std::nullopt;
}

Within::Within(Surroundings kind) {
  std::fegetenv(&before_);
  switch (kind) {
    case Surroundings::plain: break;
#if defined(__x86_64__)
    case Surroundings::flushing: detail::set_float_control(0x9fc2); break;
    case Surroundings::trapping:
      ::feenableexcept(FE_ALL_EXCEPT);
      detail::set_float_control(0x0000);  // the sixth too: a subnormal operand
      break;
#else
    case Surroundings::flushing: detail::set_float_control(detail::FloatControl{1} << 24); break;
    case Surroundings::trapping: ::feenableexcept(FE_ALL_EXCEPT); break;
#endif
    case Surroundings::upward: std::fesetround(FE_UPWARD); break;
    case Surroundings::downward: std::fesetround(FE_DOWNWARD); break;
    case Surroundings::toward_zero: std::fesetround(FE_TOWARDZERO); break;
  }
}

Within::~Within() { std::fesetenv(&before_); }

bool is_flushing() {
  volatile float tiny = 1e-40f;
  volatile float product = tiny * 1.0f;
  return product == 0;
}

}  // namespace votive::environment
