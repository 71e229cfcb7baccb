// safetensors files that lie: the header's length, its JSON, its fields, and the places of the data. Each must be refused by kind with a text that
// names what is wrong, and may cost no more memory than it is long and 1 MiB. The numbers in comments are reports against other programs.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>

#include "tests/hostile/refusal.h"
#include "tests/io/file_bytes.h"

namespace votive::io {
namespace {

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

struct Case {
  const char* name;
  std::string says;  // part of the error's text
  std::function<std::string()> bytes;
  ErrorKind kind = ErrorKind::InvalidFile;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

std::string with_length(std::uint64_t length, std::string_view rest) { return Bytes().put(length).raw(rest).data; }

/// One tensor "w" of these fields, with 8 bytes of data.
std::string fields(std::string_view text) { return safetensors(R"({"w":{)" + std::string(text) + "}}", "01234567"); }
std::string shape(std::string_view text, std::string_view dtype = "F32") {
  return fields(R"("dtype":")" + std::string(dtype) + R"(","shape":)" + std::string(text) + R"(,"data_offsets":[0,8])");
}
std::string offsets(std::string_view text) { return fields(R"("dtype":"F32","shape":[2],"data_offsets":)" + std::string(text)); }
/// A member that is right by itself: `bytes` elements of U8.
std::string u8_member(std::string_view name, int begin, int end) {
  return '"' + std::string(name) + R"(":{"dtype":"U8","shape":[)" + std::to_string(end - begin) + R"(],"data_offsets":[)" +
         std::to_string(begin) + "," + std::to_string(end) + "]}";
}
std::string metadata(std::string_view text) { return safetensors(R"({"__metadata__":)" + std::string(text) + "}"); }
std::string repeated(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

const Case cases[] = {
    // The header's length.
    {"AnEmptyFile", "the file has 0 bytes", [] { return std::string(); }},
    {"SevenBytes", "the file has 7 bytes", [] { return std::string(7, '\0'); }},
    {"AHeaderOfNoBytes", "does not begin with '{'", [] { return with_length(0, ""); }},
    {"AHeaderLongerThanTheFile", "a header of 3 bytes does not fit into the file of 10", [] { return with_length(3, "{}"); }},
    {"TheLargestHeader", "a header of 18446744073709551615 bytes", [] { return with_length(huge, "{}"); }},
    {"AHeaderWhoseEndWraps", "a header of 18446744073709551608 bytes", [] { return with_length(huge - 7, "{}"); }},
    {"AHeaderPastTheFormatsLimit", "longer than the format's 100000000", [] { return with_length(100'000'001, "{}"); }},

    // What is no JSON, or none of an object.
    {"AList", "does not begin with '{'", [] { return safetensors("[]"); }},
    {"ASpaceFirst", "does not begin with '{'", [] { return safetensors(" {}"); }},
    {"AByteOrderMark", "does not begin with '{'", [] { return safetensors("\xef\xbb\xbf{}"); }},
    {"AnOpeningBraceAlone", "it ends where a name should be", [] { return safetensors("{"); }},
    {"SomethingAfterTheLastBrace", "something follows its last brace (byte 11)", [] { return safetensors("{} x"); }},
    {"ZerosAfterTheLastBrace", "something follows its last brace", [] { return safetensors(std::string_view("{}\0\0", 4)); }},
    {"ACommaBeforeTheLastBrace", "'}' stands where a name", [] { return safetensors("{" + u8_member("a", 0, 1) + ",}", "x"); }},
    {"NoCommaBetweenTensors", "a comma or the header's last brace",
     [] { return safetensors("{" + u8_member("a", 0, 1) + u8_member("b", 1, 2) + "}", "xy"); }},
    {"NoColon", "'w' is not as the format has it: '{' stands where a colon", [] { return safetensors(R"({"w"{}})"); }},
    {"ANameWithoutQuotes", "'w' stands where a name", [] { return safetensors("{w:{}}"); }},
    {"AComment", "'/' stands where a name", [] { return safetensors("{/**/}"); }},
    {"AStringWithoutEnd", "it ends inside a string", [] { return safetensors(R"({"w)"); }},
    {"AStringThatEndsInABackslash", "it ends inside a string", [] { return safetensors(R"({"w\)"); }},
    {"AnEscapeCutShort", "it ends inside a string", [] { return safetensors(R"({"\u00)"); }},
    {"AnEscapeThatJsonDoesNotHave", "an escape that JSON does not have", [] { return safetensors(R"({"\x41":{}})"); }},
    {"AnEscapeThatIsNotHexadecimal", "four hexadecimal digits", [] { return safetensors(R"({"\u00g0":{}})"); }},
    {"HalfOfASurrogatePair", "half of a surrogate pair", [] { return safetensors(R"({"\ud800":{}})"); }},
    {"ASurrogateAfterNone", "half of a surrogate pair", [] { return safetensors(R"({"\udc00":{}})"); }},
    {"TwoFirstSurrogates", "half of a surrogate pair", [] { return safetensors(R"({"\ud800\ud800":{}})"); }},
    {"AControlCharacterInAName", "a control character", [] { return safetensors("{\"a\nb\":{}}"); }},
    {"ANameThatIsNotUtf8", "not UTF-8", [] { return safetensors("{\"\xff\":{}}"); }},
    {"AnOverlongZero", "not UTF-8", [] { return safetensors("{\"\xc0\x80\":{}}"); }},
    {"ASurrogateInUtf8", "not UTF-8", [] { return safetensors("{\"\xed\xa0\x80\":{}}"); }},
    {"ACharacterCutShortByTheHeadersEnd", "not UTF-8", [] { return safetensors("{\"\xe2\x82", "\xac\":{}}"); }},
    {"AMillionLists", "'w' is not as the format has it: '['", [] { return safetensors(R"({"w":)" + std::string(1'000'000, '[')); }},
    {"AHundredThousandObjects", "'a' has the field 'a'", [] { return safetensors(repeated(R"({"a":)", 100'000)); }},
    // A parser that keeps the token it is in, twice and growing by doubling, needs four times as much.
    {"AStringOfEightMegabytesWithoutEnd", "it ends inside a string", [] { return safetensors("{\"" + std::string(8'000'000, 'x')); }},
    {"ANameOfEightMegabytes", "lacks dtype, shape or data_offsets",
     [] { return safetensors("{\"" + std::string(8'000'000, 'x') + "\":{}}"); }},
    {"ANumberOfEightMegabytes", "is 2⁶⁴ or more", [] { return shape("[" + std::string(8'000'000, '1') + "]"); }},

    // Members.
    {"ANumberForATensor", "'w' is not as the format has it: '1'", [] { return safetensors(R"({"w":1})"); }},
    {"NullForATensor", "'w' is not as the format has it: 'n'", [] { return safetensors(R"({"w":null})"); }},
    {"ATensorWithoutFields", "'w' lacks", [] { return safetensors(R"({"w":{}})"); }},
    {"ATensorWithoutDtype", "'w' lacks", [] { return fields(R"("shape":[8],"data_offsets":[0,8])"); }},
    {"ATensorWithoutShape", "'w' lacks", [] { return fields(R"("dtype":"U8","data_offsets":[0,8])"); }},
    {"ATensorWithoutOffsets", "'w' lacks", [] { return fields(R"("dtype":"U8","shape":[8])"); }},
    {"AFieldThatTheFormatDoesNotKnow", "'w' has the field 'offset'", [] { return fields(R"("dtype":"U8","shape":[8],"offset":[0,8])"); }},
    {"AFieldTwice", "'w' has 'dtype' twice", [] { return fields(R"("dtype":"U8","dtype":"U8","shape":[8],"data_offsets":[0,8])"); }},
    {"AFieldTwiceInTwoSpellings", "'w' has 'dtype' twice", [] { return fields(R"("dtype":"U8","d\u0074ype":"U8","shape":[8])"); }},
    {"ANameTwice", "'w' is there twice",
     [] { return safetensors("{" + u8_member("w", 0, 4) + "," + u8_member("w", 4, 8) + "}", "01234567"); }},
    {"ANameTwiceInTwoSpellings", "'w' is there twice",
     [] { return safetensors("{" + u8_member("w", 0, 4) + "," + u8_member(R"(\u0077)", 4, 8) + "}", "01234567"); }},

    // Dtypes.
    // imp#1603: an unknown dtype skipped the other checks
    {"AnUnknownDtype", "'w' has dtype 'X9'", [] { return shape("[2]", "X9"); }},
    {"AnUnknownDtypeWithOffsetsPastTheEnd", "'w' has dtype 'X9'",
     [] { return fields(R"("dtype":"X9","shape":[2],"data_offsets":[0,18446744073709551615])"); }},
    {"ADtypeInSmallLetters", "'w' has dtype 'f32'", [] { return shape("[2]", "f32"); }},
    {"AnEmptyDtype", "'w' has dtype ''", [] { return shape("[2]", ""); }},
    {"ADtypeThatIsANumber", "'3' stands where a dtype", [] { return fields(R"("dtype":32,"shape":[2],"data_offsets":[0,8])"); }},
    {"AComplexDtype", "tensor 'w' is C64. Accepted: BOOL", [] { return shape("[1]", "C64"); }, ErrorKind::Unsupported},
    {"AFourBitDtype", "tensor 'w' is F4", [] { return shape("[16]", "F4"); }, ErrorKind::Unsupported},

    // Shapes.
    {"ANegativeSize", "'w' is not as the format has it: '-' stands where a size", [] { return shape("[-2]"); }},
    {"AMinusZero", "'-' stands where a size", [] { return shape("[2,-0]"); }},
    {"AFraction", "a size is a fraction", [] { return shape("[2.0]"); }},
    {"AnExponent", "a size is a fraction", [] { return shape("[2e0]"); }},
    {"ALeadingZero", "a number begins with 0", [] { return shape("[02]"); }},
    {"ASizeOf2To64", "a size is 2⁶⁴ or more", [] { return shape("[18446744073709551616]"); }},
    {"ASizeOf2To63", "'w' has the size 9223372036854775808", [] { return shape("[9223372036854775808]"); }},
    {"ASizeThatIsText", "stands where a size", [] { return shape(R"(["2"])"); }},
    {"AListOfSizesInAList", "'[' stands where a size", [] { return shape("[[2]]"); }},
    {"AShapeThatIsANumber", "'2' stands where a list", [] { return shape("2"); }},
    {"AShapeWithoutEnd", "stands where a size", [] { return shape("[2"); }},
    {"ACommaAfterTheLastSize", "']' stands where a size", [] { return shape("[2,]"); }},
    {"SeventeenAxes", "'w' has more than 16 axes", [] { return shape("[" + repeated("1,", 16) + "2]"); }},
    {"AHundredThousandAxes", "'w' has more than 16 axes", [] { return shape("[" + repeated("1,", 99'999) + "2]"); }},
    // LiteRT#9255: the product wraps to 0
    {"SizesWhoseProductWrapsToZero", "'w' has sizes that multiply to more", [] { return shape("[4294967296,4294967296]"); }},
    {"SizesWhoseProductWrapsToTwo", "'w' has sizes that multiply to more",
     [] { return shape("[9223372036854775807,18446744073709551,2]"); }},
    // llama.cpp#18674: 2^61 elements are 2^63 bytes
    {"SizesWhoseBytesWrap", "'w' has sizes that multiply to more", [] { return shape("[2305843009213693952]"); }},
    {"AZeroThatHidesAnOverflow", "'w' has sizes that multiply to more",
     [] { return fields(R"("dtype":"U8","shape":[1099511627776,0,1099511627776],"data_offsets":[0,0])"); }},
    {"AShapeOfMoreBytesThanItsPlace", "'w' has 8 bytes where its shape and dtype need 12", [] { return shape("[3]"); }},
    {"AShapeOfFewerBytesThanItsPlace", "'w' has 8 bytes where its shape and dtype need 4", [] { return shape("[1]"); }},
    {"AnEmptyShapeWithBytes", "'w' has 8 bytes where its shape and dtype need 0", [] { return shape("[0]"); }},
    {"AScalarWithoutBytes", "'w' has 0 bytes where its shape and dtype need 4",
     [] { return fields(R"("dtype":"F32","shape":[],"data_offsets":[0,0])"); }},

    // Offsets. audio.cpp#138: negative, and in the wrong order, both of which wrapped past the check
    {"ANegativeOffset", "'w' is not as the format has it: '-' stands where an offset", [] { return offsets("[-1,4]"); }},
    {"OffsetsInTheWrongOrder", "'w' lies at 8..4", [] { return offsets("[8,4]"); }},
    {"AnOffsetPastTheEnd", "'w' lies at 0..12 of 8 bytes", [] { return offsets("[0,12]"); }},
    {"AnOffsetOf2To64LessOne", "'w' lies at 0..18446744073709551615", [] { return offsets("[0,18446744073709551615]"); }},
    {"OffsetsWhosePlacesInTheFileWrap", "'w' lies at 18446744073709551607..18446744073709551615",
     [] { return offsets("[18446744073709551607,18446744073709551615]"); }},
    {"OneOffset", "stands where a comma and the second offset", [] { return offsets("[0]"); }},
    {"NoOffset", "stands where an offset", [] { return offsets("[]"); }},
    {"ThreeOffsets", "stands where the end of two offsets", [] { return offsets("[0,8,8]"); }},
    {"DataThatLackOneByte", "'w' lies at 0..8 of 7 bytes", [] { return safetensors("{" + u8_member("w", 0, 8) + "}", "0123456"); }},
    {"BytesAfterTheLastTensor", "1 bytes after the last tensor belong to none",
     [] { return safetensors("{" + u8_member("w", 0, 8) + "}", "012345678"); }},
    {"BytesWithoutAnyTensor", "4 bytes after the last tensor", [] { return safetensors("{}", "0123"); }},
    {"AGapBeforeTheFirstTensor", "'w' leaves a gap", [] { return safetensors("{" + u8_member("w", 4, 8) + "}", "01234567"); }},
    {"AGapBetweenTensors", "'b' leaves a gap",
     [] { return safetensors("{" + u8_member("b", 6, 8) + "," + u8_member("a", 0, 4) + "}", "01234567"); }},
    {"TensorsThatOverlap", "'b' shares bytes",
     [] { return safetensors("{" + u8_member("b", 3, 8) + "," + u8_member("a", 0, 4) + "}", "01234567"); }},
    {"TwoTensorsAtOnePlace", "shares bytes",
     [] { return safetensors("{" + u8_member("a", 0, 8) + "," + u8_member("b", 0, 8) + "}", "01234567"); }},
    {"AnEmptyTensorInsideAnother", "'e' shares bytes",
     [] { return safetensors("{" + u8_member("a", 0, 8) + "," + u8_member("e", 4, 4) + "}", "01234567"); }},

    // Metadata.
    {"MetadataTwice", "'__metadata__' is there twice", [] { return safetensors(R"({"__metadata__":{},"__metadata__":{}})"); }},
    {"MetadataThatAreAList", "'__metadata__' is not as the format has it: '['", [] { return metadata("[]"); }},
    {"MetadataThatAreNull", "'__metadata__' is not as the format has it: 'n'", [] { return metadata("null"); }},
    {"MetadataWithANumber", "'1' stands where a text of __metadata__", [] { return metadata(R"({"a":1})"); }},
    {"MetadataWithAnObject", "'{' stands where a text of __metadata__", [] { return metadata(R"({"a":{}})"); }},
    {"MetadataWithAKeyTwice", "'a' is there twice in __metadata__", [] { return metadata(R"({"a":"1","b":"2","\u0061":"3"})"); }},
    // Each pair takes six bytes in the file and 96 in memory.
    {"AMillionEmptyMetadata", "more than 4096 texts", [] { return metadata("{" + repeated(R"("":"",)", 1'000'000) + R"("":""})"); },
     ErrorKind::Unsupported},

    // Names that would steer the terminal which shows the error.
    {"ANameWithAnEscapeSequence", R"('\x1b[2J' lacks)", [] { return safetensors(R"({"\u001b[2J":{}})"); }},
    {"ANameWithAC1Control", R"('\xc2\x9b2J' lacks)",
     [] {
       return safetensors(
           "{\"\xc2\x9b"
           "2J\":{}}");
     }},
};

struct HostileSafetensors : testing::TestWithParam<Case> {};

TEST_P(HostileSafetensors, IsRefused) {
  const std::string bytes = GetParam().bytes();
  const TemporaryFile file(bytes);
  const Outcome outcome = outcome_of([&] { SafetensorsFile opened(file.path()); });
  ASSERT_TRUE(outcome.error.has_value()) << "it was opened";
  const std::string text = outcome.error->what();
  EXPECT_EQ(outcome.error->kind(), GetParam().kind) << text;
  EXPECT_NE(text.find(GetParam().says), std::string::npos) << text;
  EXPECT_EQ(outcome.error->position().size(), 1u) << text;
  EXPECT_LT(text.size(), 500u);
  EXPECT_LE(outcome.peak_bytes, bytes.size() + allowance);
  EXPECT_EQ(outcome.tensor_allocations, 0u);
  RecordProperty("peak_bytes", std::to_string(outcome.peak_bytes));
}

INSTANTIATE_TEST_SUITE_P(With, HostileSafetensors, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case>& c) { return std::string(c.param.name); });

/// What an index costs beside its file, for headers that are all index.
void expect_within_the_file(const std::string& bytes, Size tensors, std::size_t metadata) {
  const TemporaryFile file(bytes);
  const Outcome outcome = outcome_of([&] {
    const SafetensorsFile opened(file.path());
    EXPECT_EQ(opened.size(), tensors);
    EXPECT_EQ(opened.metadata().size(), metadata);
  });
  EXPECT_FALSE(outcome.error.has_value()) << outcome.error->what();
  EXPECT_LE(outcome.peak_bytes, bytes.size() + allowance);
  EXPECT_EQ(outcome.tensor_allocations, 0u);
  testing::Test::RecordProperty("peak_bytes", std::to_string(outcome.peak_bytes));
}

TEST(HostileSafetensorsMemory, OfAHundredThousandTensorsIsTheFile) {
  std::string header = "{";
  for (int i = 0; i < 100'000; ++i) header += (i > 0 ? "," : "") + u8_member(std::to_string(i), 0, 0);
  expect_within_the_file(safetensors(header + "}"), 100'000, 0);
}

TEST(HostileSafetensorsMemory, OfManyLongShapesIsTheFile) {
  std::string header = "{";
  for (int i = 0; i < 30'000; ++i) {
    header += (i > 0 ? "," : "") + ('"' + std::to_string(i)) + R"(":{"dtype":"U8","shape":[0)" + repeated(",9", 15) +
              R"(],"data_offsets":[0,0]})";
  }
  expect_within_the_file(safetensors(header + "}"), 30'000, 0);
}

TEST(HostileSafetensorsMemory, OfAMetadataTextOfEightMegabytesIsTheFile) {
  expect_within_the_file(metadata(R"({"workflow":")" + std::string(8'000'000, 'x') + R"("})"), 0, 1);
}

TEST(HostileSafetensorsMemory, OfAllTheMetadataThatAreTakenIsTheFileAndAMebibyte) {
  std::string text = "{";
  for (int i = 0; i < 4096; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(10'000'000'000'000'000 + i) + R"(":"0123456789abcdef")";
  expect_within_the_file(metadata(text + "}"), 0, 4096);
}

// The data are not read when the file is opened: a bool is looked at when its tensor is asked for.
TEST(HostileSafetensorsBool, ThatIsNeitherZeroNorOneIsRefusedByName) {
  const TemporaryFile file(safetensors(R"({"mask":{"dtype":"BOOL","shape":[4],"data_offsets":[0,4]}})", std::string_view("\0\1\2\1", 4)));
  const SafetensorsFile opened(file.path());
  const Outcome outcome = outcome_of([&] { opened.tensor("mask"); });
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_EQ(outcome.error->kind(), ErrorKind::InvalidFile);
  EXPECT_NE(std::string(outcome.error->what()).find("'mask' holds the bool 2 at element 2"), std::string::npos) << outcome.error->what();
  EXPECT_EQ(outcome.tensor_allocations, 0u);
}

}  // namespace
}  // namespace votive::io
