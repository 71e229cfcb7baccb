// The part of JSON (RFC 8259) that a file's header needs, read where it lies: no tree, no token buffer, no recursion, so that no header costs
// more memory than it is long. A library was here before: nlohmann-json's events took 4.2 times the size of one long string, measured.
// Not here: fractions, exponents, true, false, null, which no header that we read may hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace votive::io {

/// Throws Error{InvalidFile, format} with the byte of the file where the text stops being what was asked for.
class JsonCursor {
 public:
  /// A string where it lies: without its quotes, escapes as they stand, and known to be valid. So no reading of it can fail.
  struct Text {
    std::string_view raw;

    void append_to(std::string& decoded) const;
    std::size_t decoded_bytes() const;
    bool is(std::string_view plain) const;
  };

  /// `start`: where `json` begins in the file.
  JsonCursor(const char* format, std::string_view json, std::size_t start) : format_(format), json_(json), start_(start) {}

  /// What errors name from here on; it must outlive the cursor, as a part of `json` does.
  void speak_of(std::string_view subject) { subject_ = subject; }
  std::size_t at() const { return start_ + at_; }
  /// Skips white space, then `c` if it is next.
  bool take(char c);
  void expect(char c, const char* what);
  Text text(const char* what);
  /// Digits alone, below 2⁶⁴.
  std::uint64_t number(const char* what);
  /// Only white space is left.
  void expect_end();

 private:
  [[noreturn]] void refuse(const std::string& what) const;
  [[noreturn]] void refuse_instead_of(const char* what) const;
  void skip_space();
  unsigned hexadecimal();

  const char* format_;
  std::string_view json_, subject_;
  std::size_t start_, at_ = 0;
};

}  // namespace votive::io
