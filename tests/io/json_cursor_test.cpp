// The JSON of headers, piece by piece: what is text, what it decodes to, what numbers are.
#include "votive/io/json_cursor.h"

#include <gtest/gtest.h>

#include "votive/base/error.h"

namespace votive::io {
namespace {

std::string decoded(std::string_view json) {
  JsonCursor cursor("test", json, 0);
  const JsonCursor::Text text = cursor.text("a text");
  cursor.expect_end();
  std::string plain;
  text.append_to(plain);
  EXPECT_EQ(text.decoded_bytes(), plain.size());
  EXPECT_TRUE(text.is(plain));
  EXPECT_FALSE(text.is(plain + "x"));
  EXPECT_FALSE(!plain.empty() && text.is(plain.substr(1)));
  return plain;
}

TEST(JsonCursor, DecodesEveryEscape) {
  EXPECT_EQ(decoded(R"("")"), "");
  EXPECT_EQ(decoded(R"("plain")"), "plain");
  EXPECT_EQ(decoded(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(decoded(R"("\u0041\u00e9\u20AC")"), "A\u00e9\u20ac");
  EXPECT_EQ(decoded(R"("a\u0000b")"), std::string("a\0b", 3));
  EXPECT_EQ(decoded(R"("\ud83d\uDE00!")"), "\U0001F600!");
  EXPECT_EQ(decoded(R"("\ud800\udc00\udbff\udfff")"), "\U00010000\U0010FFFF");
  EXPECT_EQ(decoded("\"\u00e9\u20ac\U0001F600\x7f\""), "\u00e9\u20ac\U0001F600\x7f");
}

TEST(JsonCursor, ReadsNumbersToTheLastBit) {
  const auto number = [](std::string_view json) {
    JsonCursor cursor("test", json, 0);
    const std::uint64_t value = cursor.number("a number");
    cursor.expect_end();
    return value;
  };
  EXPECT_EQ(number(" 0 "), 0u);
  EXPECT_EQ(number("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(number("\t9007199254740993\n"), 9007199254740993u);  // 2^53 + 1, which a double rounds
  for (const char* wrong :
       {"", "-1", "+1", "00", "01", "1.0", "1e2", "18446744073709551616", "99999999999999999999999", "1 2", "0x10", "NaN"})
    EXPECT_THROW(number(wrong), Error) << wrong;
}

TEST(JsonCursor, NamesTheByteOfTheFileAndWhatItSpeaksOf) {
  JsonCursor cursor("safetensors", R"({"name" ;)", 8);
  cursor.expect('{', "a brace");
  cursor.speak_of(cursor.text("a name").raw);
  try {
    cursor.expect(':', "a colon");
    FAIL() << "took a semicolon";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::InvalidFile);
    EXPECT_EQ(error.position(), std::vector<Size>{16});
    EXPECT_EQ(error.value(), "name");
    EXPECT_STREQ(error.what(),
                 "safetensors: invalid file: 'name' is not as the format has it: ';' stands where a colon should be (byte 16).");
  }
}

}  // namespace
}  // namespace votive::io
