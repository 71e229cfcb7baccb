// Text formatting for the whole library: fmt, behind one header so that no other file names it; and how a stranger's bytes are shown.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace votive::text {

/// format("row {} of {}", 3, 7) → "row 3 of 7". The format string is checked when compiling.
template <class... Arg>
std::string format(fmt::format_string<Arg...> form, Arg&&... arg) {
  return fmt::format(form, std::forward<Arg>(arg)...);
}

/// Bytes from a file as a terminal can take them: \n, \x1b, \xff … for controls, invalid UTF-8, quotes and backslashes; the rest as it is.
/// Past `limit` bytes comes "…", so that a hostile name makes no long error.
std::string shown(std::string_view bytes, std::size_t limit = 100);

}  // namespace votive::text
