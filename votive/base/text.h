// Text formatting for the whole library: fmt, behind one header so that no other file names it; and how a stranger's bytes are shown.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace votive::text {

namespace detail {
/// A NaN's sign has no meaning, and no device keeps it for another (CONTRACT.md 0.2): texts show none, or they would differ.
template <class T>
decltype(auto) without_sign_of_nan(const T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value != value ? std::numeric_limits<T>::quiet_NaN() : value;
  } else {
    return (value);
  }
}
template <class... Arg>
std::string format(fmt::string_view form, const Arg&... arg) {
  return fmt::vformat(form, fmt::make_format_args(arg...));
}
}  // namespace detail

/// format("row {} of {}", 3, 7) → "row 3 of 7". The format string is checked when compiling. NaN is "nan", whatever its sign.
template <class... Arg>
std::string format(fmt::format_string<Arg...> form, Arg&&... arg) {
  return detail::format(form, detail::without_sign_of_nan(arg)...);
}

/// Bytes from a file as a terminal can take them: \n, \x1b, \xff … for controls, invalid UTF-8, quotes and backslashes; the rest as it is.
/// Past `limit` bytes comes "…", so that a hostile name makes no long error.
std::string shown(std::string_view bytes, std::size_t limit = 100);

}  // namespace votive::text
