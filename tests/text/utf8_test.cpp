// Steps of UTF-8 against the definition: what the encoding of some code point begins with.
#include "votive/base/utf8.h"

#include <gtest/gtest.h>

#include <set>

namespace votive::text {
namespace {

TEST(Utf8, StepsOverEveryCodePointAndReadsItBack) {
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string one;
    append_utf8(c, one);
    const Utf8Step step = utf8_step(one + "\x80");
    ASSERT_EQ(step.kind, Utf8Step::character);
    ASSERT_EQ(static_cast<std::size_t>(step.bytes), one.size());
    ASSERT_EQ(utf8_code_point(one), c);
    for (std::size_t cut = 1; cut < one.size(); ++cut) {
      ASSERT_EQ(utf8_step(one.substr(0, cut)).kind, Utf8Step::cut_short);
      ASSERT_EQ(static_cast<std::size_t>(utf8_step(one.substr(0, cut)).bytes), cut);
    }
  }
}

TEST(Utf8, RefusesWhatNoCodePointBeginsWith) {
  // All beginnings there are, from the code points themselves.
  std::set<std::string> beginnings;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string one;
    append_utf8(c, one);
    for (std::size_t n = 1; n <= std::min<std::size_t>(one.size(), 2); ++n) beginnings.insert(one.substr(0, n));
  }
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string two{static_cast<char>(a), static_cast<char>(b)};
      const Utf8Step step = utf8_step(two);
      if (!beginnings.contains(two.substr(0, 1))) {
        ASSERT_EQ(step.kind, Utf8Step::ill_formed);
        ASSERT_EQ(step.bytes, 1);
      } else if (a >= 0x80 && !beginnings.contains(two)) {
        ASSERT_EQ(step.kind, Utf8Step::ill_formed) << a << " " << b;
        ASSERT_EQ(step.bytes, 1);
      }
    }
}

TEST(Utf8, ReplacesAsTheStandardsExampleDoes) {
  // Unicode 15, table 3-8 and 3-11: the ranges in brackets become one U+FFFD each.
  EXPECT_EQ(replace_ill_formed("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"), "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(replace_ill_formed("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"
            "A");
  EXPECT_EQ(replace_ill_formed("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(replace_ill_formed("plain"), "plain");
}

}  // namespace
}  // namespace votive::text
