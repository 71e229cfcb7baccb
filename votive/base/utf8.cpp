// Table 3-7 of the Unicode standard as code: overlong forms, surrogates and numbers above U+10FFFF are ill-formed.
#include "votive/base/utf8.h"

#include <algorithm>

namespace votive::text {

Utf8Step utf8_step(std::string_view text) {
  if (text.empty()) return {0, Utf8Step::cut_short};
  const auto byte = [&](int i) { return static_cast<unsigned char>(text[static_cast<std::size_t>(i)]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, Utf8Step::character};
  if (lead < 0xC2 || lead > 0xF4) return {1, Utf8Step::ill_formed};
  const int length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;  // of the second byte; all later ones are 80..BF
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  for (int i = 1; i < length; ++i) {
    if (i == static_cast<int>(std::min<std::size_t>(text.size(), 4))) return {i, Utf8Step::cut_short};
    if (byte(i) < (i == 1 ? least : 0x80) || byte(i) > (i == 1 ? most : 0xBF)) return {i, Utf8Step::ill_formed};
  }
  return {length, Utf8Step::character};
}

char32_t utf8_code_point(std::string_view text) {
  const auto bits = [&](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i]) & 0x3F); };
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead;
  if (lead < 0xE0) return (lead & 0x1Fu) << 6 | bits(1);
  if (lead < 0xF0) return (lead & 0x0Fu) << 12 | bits(1) << 6 | bits(2);
  return (lead & 0x07u) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3);
}

void append_utf8(char32_t c, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

std::size_t well_formed_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Step step = utf8_step(text.substr(at));
    if (step.kind != Utf8Step::character) break;
    at += static_cast<std::size_t>(step.bytes);
  }
  return at;
}

std::string replace_ill_formed(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t good = well_formed_prefix(text);
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(static_cast<std::size_t>(utf8_step(text).bytes));
  }
  return out;
}

}  // namespace votive::text
