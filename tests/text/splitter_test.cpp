// Words as each family of models cuts them. Expected pieces are worked out by hand from the published patterns.
#include "votive/text/splitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "votive/base/error.h"
#include "votive/base/utf8.h"

namespace votive::text {
namespace {

using Pieces = std::vector<std::string_view>;

std::string utf8(char32_t c) {
  std::string out;
  append_utf8(c, out);
  return out;
}

TEST(Splitter, CutsEnglishAsGpt2Does) {
  EXPECT_EQ(Splitter("gpt-2").split("It's  2024, we'LL go!\n\n x"),
            (Pieces{"It", "'s", " ", " 2024", ",", " we", "'", "LL", " go", "!", "\n\n", " x"}));
}
TEST(Splitter, TakesDigitsOneByOneForSmolLm) {
  EXPECT_EQ(Splitter("smollm").split("in 2024  5"), (Pieces{"in", " ", "2", "0", "2", "4", "  ", "5"}));
}
TEST(Splitter, TakesDigitsInThreesForLlama3AndOneByOneForQwen) {
  EXPECT_EQ(Splitter("llama-bpe").split("in 20245\n"), (Pieces{"in", " ", "202", "45", "\n"}));
  EXPECT_EQ(Splitter("qwen2").split("in 20245\n"), (Pieces{"in", " ", "2", "0", "2", "4", "5", "\n"}));
}
TEST(Splitter, GivesLineEndsToThePunctuationBeforeThemForLlama3) {
  EXPECT_EQ(Splitter("llama-bpe").split("{\n\n  a;\r\n \n  "), (Pieces{"{\n\n", " ", " a", ";\r\n", " \n", "  "}));
}
TEST(Splitter, FoldsTheCaseOfContractionsAsUnicodeDoes) {
  EXPECT_EQ(Splitter("llama-bpe").split("I'LL he'\u017F"), (Pieces{"I", "'LL", " he", "'\u017F"}));  // U+017F is s, long
  EXPECT_EQ(Splitter("gpt-2").split("I'LL"), (Pieces{"I", "'", "LL"}));
}

TEST(Splitter, KnowsWhiteSpaceAsUnicodeListsIt) {
  // Unicode 16, PropList.txt, White_Space: all of it. U+180E left it in 6.3.
  std::u32string white = U"\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000";
  for (char32_t c = 0x2000; c <= 0x200A; ++c) white += c;
  const Splitter splitter("gpt-2");
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    // White space joins the space before it (` +(?!\S)`); anything else is a word of its own, which takes that space to its front.
    const std::string text = "!  " + utf8(c);
    const bool is_white = splitter.split(text).size() == 2;
    ASSERT_EQ(is_white, white.find(c) != white.npos) << "U+" << std::hex << static_cast<unsigned>(c);
  }
}

TEST(Splitter, CountsLettersAndNumbersAsUnicode16Does) {
  // Unicode 16.0's DerivedGeneralCategory.txt: 141 028 code points of L, 1 911 of N. One PCRE2 knows Unicode 14, another 16: the same here.
  const Splitter splitter("gpt-2");
  int letters = 0, numbers = 0;
  for (char32_t c = 1; c < 0x110000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    letters += splitter.split("a" + utf8(c)).size() == 1;
    numbers += splitter.split("1" + utf8(c)).size() == 1;
  }
  EXPECT_EQ(letters, 141'028);
  EXPECT_EQ(numbers, 1'911);
}

std::string random_text(std::mt19937& random) {
  static const char* const parts[] = {"a", "é", "'s", "'", "1", "Ⅷ", " ", "  ", "\n", "\t", "!", "中", "\u00a0", "😀", "\u180e", "\xff"};
  std::string text;
  for (auto count = random() % 20; count > 0; --count) text += parts[random() % std::size(parts)];
  return text;
}

TEST(Splitter, LosesNoByteOfAnyText) {
  std::mt19937 random(2);
  for (const char* pre : {"smollm", "llama-bpe", "gpt-2", "qwen2", "default"}) {
    const Splitter splitter(pre);
    for (int round = 0; round < 500; ++round) {
      const std::string text = random_text(random);
      std::string together;
      for (const std::string_view piece : splitter.split(text)) {
        ASSERT_FALSE(piece.empty());
        together += piece;
      }
      ASSERT_EQ(together, text);
    }
  }
}

TEST(Splitter, IsForSmolLmTheTwoStepsThatItsTokenizerJsonNames) {
  const Splitter one_step("smollm"), gpt2("gpt-2"), digits("qwen2");
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    std::string text = random_text(random);
    text.erase(std::remove(text.begin(), text.end(), '\xff'), text.end());
    Pieces expected;
    std::string_view rest = text;
    while (!rest.empty()) {  // first step: every number by itself; second: gpt2 on what stands between
      const std::size_t number = std::min({rest.find('1'), rest.find("Ⅷ"), rest.size()});
      for (const std::string_view piece : gpt2.split(rest.substr(0, number))) expected.push_back(piece);
      rest.remove_prefix(number);
      if (rest.empty()) break;
      expected.push_back(rest.substr(0, rest[0] == '1' ? 1 : 3));
      rest.remove_prefix(expected.back().size());
    }
    ASSERT_EQ(one_step.split(text), expected) << text;
  }
}

TEST(Splitter, CutsAroundBrokenBytesAsAroundTheReplacementCharacter) {
  for (const char* pre : {"smollm", "llama-bpe", "gpt-2", "qwen2", "default"}) {
    const Splitter splitter(pre);
    const Pieces broken = splitter.split(
                     "ab \xff\xfe"
                     "c\x80 1"),
                 replaced = splitter.split(
                     "ab \uFFFD\uFFFD"
                     "c\uFFFD 1");
    ASSERT_EQ(broken.size(), replaced.size()) << pre;
    for (std::size_t i = 0; i < broken.size(); ++i) EXPECT_EQ(replace_ill_formed(broken[i]), replaced[i]) << pre;
  }
}

TEST(Splitter, EndsOnLongRunsOfOneThing) {
  // Runs that a backtracking pattern could go back over; every family must end in time that a test has.
  for (const char* pre : {"smollm", "llama-bpe", "gpt-2", "qwen2", "default"}) {
    const Splitter splitter(pre);
    for (const char* unit : {"a", " ", "\n", " \n", "1", "!", "!\n", "'", "\u00a0", "é", "\xff", "  a", "\r "}) {
      std::string text;
      while (text.size() < 300'000) text += unit;
      std::size_t bytes = 0;
      for (const std::string_view piece : splitter.split(text)) bytes += piece.size();
      EXPECT_EQ(bytes, text.size()) << pre << " " << unit;
      text += "x";
      EXPECT_GE(splitter.split(text).size(), 1u);
    }
  }
}

TEST(Splitter, NamesWhatItKnowsWhenItDoesNotKnowAName) {
  try {
    Splitter("tekken");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("smollm"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'tekken'"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace votive::text
