// Normal form C: "é" is one character however it was typed. Linear time on any text.
// Not here: other normal forms; no tokenizer we read asks for them.
#pragma once

#include <string>
#include <string_view>

namespace votive::text {

/// False where the text is surely in normal form C and well-formed work can be saved: it has no byte of a character from U+0300 on.
bool may_change_in_nfc(std::string_view text);

/// The text in normal form C (the Unicode version is utf8proc's). Bytes that are not UTF-8 stay as they are and separate what stands around them.
std::string nfc(std::string_view text);

}  // namespace votive::text
