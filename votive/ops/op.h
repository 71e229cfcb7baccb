// What an operation says of itself. An operation is a small struct: fields are attributes, result() holds the dtype and shape rules and every
// error a user can make, `Kernel` is the signature its kernels have. It contains no kernel and knows no device.
#pragma once

#include <string_view>

#include "votive/core/stream.h"
#include "votive/core/tensor.h"

/// Of a thread's variable that every operation reads: a load, not a call, in a shared library too.
#define VOTIVE_INITIAL_EXEC __attribute__((tls_model("initial-exec")))

namespace votive {

/// What the contract promises of the bits (CONTRACT.md 0.2).
enum class Class : std::uint8_t {
  exact,     ///< E: fixed by the text
  portable,  ///< P: fixed too, and within a bound of the true value
  bounded,   ///< B: a bound; on the CPU everything is better than this
};

struct OpInfo {
  std::string_view name;
  Class numeric_class;
};

/// What the user called: the operation's own name() where one struct serves several calls ("add", "sum"), else its info's name.
template <class Op>
std::string_view op_name(const Op& op) {
  if constexpr (requires { op.name(); }) {
    return op.name();
  } else {
    return Op::info.name;
  }
}

}  // namespace votive
