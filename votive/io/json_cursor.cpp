// One character ahead decides everything. Strings are checked once, here, and decoded only by who keeps them.
#include "votive/io/json_cursor.h"

#include <algorithm>

#include "votive/base/error.h"
#include "votive/base/text.h"
#include "votive/base/utf8.h"

namespace votive::io {

namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

constexpr bool is_first_surrogate(unsigned unit) { return unit >= 0xd800 && unit < 0xdc00; }
constexpr bool is_second_surrogate(unsigned unit) { return unit >= 0xdc00 && unit < 0xe000; }

unsigned unit_at(std::string_view raw, std::size_t at) {
  unsigned unit = 0;
  for (std::size_t i = 0; i < 4; ++i) unit = unit * 16 + static_cast<unsigned>(digit_of(raw[at + i]));
  return unit;
}

/// Calls `put` with each run of bytes of the decoded text.
template <class Put>
void decode(std::string_view raw, Put put) {
  std::string character;
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    if (plain > 0) put(raw.substr(0, plain));
    raw.remove_prefix(plain);
    if (raw.empty()) return;
    char32_t c = 0;
    std::size_t length = 2;
    switch (raw[1]) {
      case 'b': c = '\b'; break;
      case 'f': c = '\f'; break;
      case 'n': c = '\n'; break;
      case 'r': c = '\r'; break;
      case 't': c = '\t'; break;
      case 'u':
        c = unit_at(raw, 2);
        length = 6;
        if (is_first_surrogate(static_cast<unsigned>(c))) {
          c = 0x10000 + ((c - 0xd800) << 10) + (unit_at(raw, 8) - 0xdc00);
          length = 12;
        }
        break;
      default: c = static_cast<unsigned char>(raw[1]);
    }
    character.clear();
    text::append_utf8(c, character);
    put(character);
    raw.remove_prefix(length);
  }
}

}  // namespace

void JsonCursor::Text::append_to(std::string& decoded) const {
  decode(raw, [&](std::string_view part) { decoded += part; });
}

std::size_t JsonCursor::Text::decoded_bytes() const {
  std::size_t bytes = 0;
  decode(raw, [&](std::string_view part) { bytes += part.size(); });
  return bytes;
}

bool JsonCursor::Text::is(std::string_view plain) const {
  bool same = true;
  decode(raw, [&](std::string_view part) {
    same = same && plain.substr(0, part.size()) == part;
    plain.remove_prefix(std::min(part.size(), plain.size()));
  });
  return same && plain.empty();
}

void JsonCursor::refuse(const std::string& what) const {
  const std::string where = subject_.empty() ? "the header" : "'" + text::shown(subject_) + "'";
  throw Error(ErrorKind::InvalidFile, format_)
      .value(text::shown(subject_))
      .position({static_cast<Size>(at())})
      .detail(text::format("{} is not as the format has it: {} (byte {})", where, what, at()));
}

void JsonCursor::refuse_instead_of(const char* what) const {
  refuse(at_ == json_.size() ? text::format("it ends where {} should be", what)
                             : text::format("'{}' stands where {} should be", text::shown(json_.substr(at_, 1)), what));
}

void JsonCursor::skip_space() {
  while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\r' || json_[at_] == '\t')) ++at_;
}

bool JsonCursor::take(char c) {
  skip_space();
  if (at_ == json_.size() || json_[at_] != c) return false;
  ++at_;
  return true;
}

void JsonCursor::expect(char c, const char* what) {
  if (!take(c)) refuse_instead_of(what);
}

void JsonCursor::expect_end() {
  skip_space();
  if (at_ != json_.size()) refuse("something follows its last brace");
}

unsigned JsonCursor::hexadecimal() {
  if (json_.size() - at_ < 4) refuse("it ends inside a string");
  for (std::size_t i = 0; i < 4; ++i)
    if (digit_of(json_[at_ + i]) < 0) refuse("\\u is not followed by four hexadecimal digits");
  at_ += 4;
  return unit_at(json_, at_ - 4);
}

JsonCursor::Text JsonCursor::text(const char* what) {
  expect('"', what);
  const std::size_t begin = at_;
  while (at_ < json_.size()) {
    const char c = json_[at_];
    if (c == '"') {
      ++at_;
      return {json_.substr(begin, at_ - 1 - begin)};
    }
    if (c == '\\') {
      if (json_.size() - at_ < 2) break;
      const char escaped = json_[at_ + 1];
      if (std::string_view("\"\\/bfnrtu").find(escaped) == std::string_view::npos) refuse("an escape that JSON does not have");
      at_ += 2;
      if (escaped != 'u') continue;
      const unsigned unit = hexadecimal();
      if (is_second_surrogate(unit)) refuse("half of a surrogate pair");
      if (!is_first_surrogate(unit)) continue;
      if (json_.substr(at_, 2) != "\\u") refuse("half of a surrogate pair");
      at_ += 2;
      if (!is_second_surrogate(hexadecimal())) refuse("half of a surrogate pair");
      continue;
    }
    if (static_cast<unsigned char>(c) < 0x20) refuse("a control character in a string");
    const text::Utf8Step step = text::utf8_step(json_.substr(at_));
    if (step.kind != text::Utf8Step::character) refuse("a string that is not UTF-8");
    at_ += static_cast<std::size_t>(step.bytes);
  }
  refuse("it ends inside a string");
}

std::uint64_t JsonCursor::number(const char* what) {
  skip_space();
  const auto is_digit = [&] { return at_ < json_.size() && json_[at_] >= '0' && json_[at_] <= '9'; };
  if (!is_digit()) refuse_instead_of(what);
  const bool zero = json_[at_] == '0';
  std::uint64_t value = 0;
  const std::size_t begin = at_;
  for (; is_digit(); ++at_) {
    const auto digit = static_cast<std::uint64_t>(json_[at_] - '0');
    if (__builtin_mul_overflow(value, std::uint64_t{10}, &value) || __builtin_add_overflow(value, digit, &value))
      refuse(text::format("{} is 2⁶⁴ or more", what));
  }
  if (zero && at_ > begin + 1) refuse("a number begins with 0");
  if (at_ < json_.size() && (json_[at_] == '.' || json_[at_] == 'e' || json_[at_] == 'E')) refuse(text::format("{} is a fraction", what));
  return value;
}

}  // namespace votive::io
