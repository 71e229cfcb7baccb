// Text formatting for the whole library: fmt, behind one header so that no other file names it.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace votive::text {

/// format("row {} of {}", 3, 7) → "row 3 of 7". The format string is checked when compiling.
template <class... Arg>
std::string format(fmt::format_string<Arg...> form, Arg&&... arg) {
  return fmt::format(form, std::forward<Arg>(arg)...);
}

}  // namespace votive::text
