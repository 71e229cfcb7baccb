// What a C++ number means beside a tensor or as the content of one (CONTRACT.md 1.3): it takes the dtype or is refused, never the reverse.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "votive/ops/create.h"

namespace votive {

std::string to_string(Literal value);

/// The bits of `value` as one element of `dtype`, low bytes first: an integer must fit, a float is rounded once and must stay finite if it was.
/// Throws Error{DTypeMismatch} for a float in an integer or bool, Error{LiteralOutOfRange}, both naming `op` and ending with `hint`.
std::uint64_t literal_bits(std::string_view op, Literal value, DType dtype, std::string_view hint = {});

/// Whether an integer literal is a value of an integer dtype (or of bool, where 0 and 1 are).
bool fits(Literal value, DType dtype);

}  // namespace votive
