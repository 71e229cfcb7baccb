// UTF-8 one step at a time (Unicode 15, table 3-7): how long the next character is, and whether it is one.
// Not here: classes of characters (text/splitter.h) and normal forms (text/normal_form.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace votive::text {

struct Utf8Step {
  enum Kind : std::uint8_t { character, ill_formed, cut_short };
  int bytes;  ///< of the character; of the longest beginning of one where it is ill-formed or cut short by the text's end; 0 at the end
  Kind kind;
};

Utf8Step utf8_step(std::string_view text);

/// The code point of a text that begins with a character.
char32_t utf8_code_point(std::string_view text);

void append_utf8(char32_t code_point, std::string& out);

/// The bytes from the front that are whole characters.
std::size_t well_formed_prefix(std::string_view text);

/// The text with U+FFFD for every ill-formed part, one for each beginning of a character: Unicode's chapter 3.9, as Python's "replace".
std::string replace_ill_formed(std::string_view text);

}  // namespace votive::text
