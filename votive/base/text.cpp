// Showing bytes that somebody else wrote, without letting them steer a terminal.
#include "votive/base/text.h"

#include "votive/base/utf8.h"

namespace votive::text {

std::string shown(std::string_view bytes, std::size_t limit) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const Utf8Step step = utf8_step(bytes.substr(at));
    const bool whole = step.kind == Utf8Step::character;
    const std::string_view part = bytes.substr(at, whole ? static_cast<std::size_t>(step.bytes) : 1);
    at += part.size();
    if (at > limit) return text + "…";
    const char32_t c = whole ? utf8_code_point(part) : 0;
    if (c == '\n') {
      text += "\\n";
    } else if (c == '"' || c == '\\') {
      text += '\\';
      text += part;
    } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
      for (char byte : part) text += text::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      text += part;
    }
  }
  return text;
}

}  // namespace votive::text
