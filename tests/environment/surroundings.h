// What a caller may have done to its thread's floating-point environment before it calls: each kind, and back.
#pragma once

#include <cfenv>
#include <optional>
#include <string_view>

namespace votive::environment {

enum class Surroundings {
  plain,
  flushing,  ///< FTZ and DAZ, as a library linked with fast-math start-up code leaves them
  upward,
  downward,
  toward_zero,
  trapping,  ///< every exception unmasked: 0/0, overflow, and what is merely inexact
};
inline constexpr Surroundings every_surroundings[] = {Surroundings::plain,    Surroundings::flushing,    Surroundings::upward,
                                                      Surroundings::downward, Surroundings::toward_zero, Surroundings::trapping};
std::string_view to_string(Surroundings kind);
std::optional<Surroundings> surroundings_of(std::string_view name);

/// Puts the calling thread into `kind` for a scope, then back into what it had.
class Within {
 public:
  explicit Within(Surroundings kind);
  ~Within();
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;

 private:
  std::fenv_t before_;
};

/// Whether the calling thread flushes subnormals now.
bool is_flushing();

}  // namespace votive::environment
