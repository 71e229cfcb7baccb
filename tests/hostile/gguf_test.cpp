// GGUF files that lie. Each is built field by field, must be refused by kind with a text that names what is wrong, and may cost no more memory
// than it is long and 1 MiB. The numbers in comments are reports of the same file against other programs (ours to avoid).
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <ostream>

#include "tests/hostile/refusal.h"
#include "tests/io/file_bytes.h"

namespace votive::io {
namespace {

constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t two_to(int n) { return std::uint64_t{1} << n; }

struct Case {
  const char* name;
  std::string says;  // part of the error's text
  std::function<std::string()> bytes;
  ErrorKind kind = ErrorKind::InvalidFile;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

GgufBytes one_tensor(std::initializer_list<std::uint64_t> sizes, std::uint32_t type, std::uint64_t offset = 0, std::size_t data = 64) {
  GgufBytes file(1, 0);
  file.tensor("blk.0.weight", sizes, type, offset).pad().zeros(data);
  return file;
}
GgufBytes one_key(std::uint32_t type) {
  GgufBytes file(0, 1);
  file.key("some.key", type);
  return file;
}
/// Two tensors of 32 bytes.
GgufBytes two_tensors(std::string_view first, std::uint64_t first_offset, std::string_view second, std::uint64_t second_offset) {
  GgufBytes file(2, 0);
  file.tensor(first, {8}, gguf::F32, first_offset).tensor(second, {8}, gguf::F32, second_offset).pad().zeros(96);
  return file;
}
std::string cut(std::string bytes, std::size_t from_end) { return bytes.substr(0, bytes.size() - from_end); }

const Case cases[] = {
    // The beginning.
    {"AnEmptyFile", "the magic number of 4 bytes", [] { return std::string(); }},
    {"ThreeBytes", "the magic number of 4 bytes does not fit into the 3", [] { return std::string("GGU"); }},
    {"AMagicNumberAlone", "the version of 4 bytes", [] { return std::string("GGUF"); }},
    {"TheMagicNumberOfTheFormatBefore", "does not begin with 'GGUF'", [] { return Bytes().raw("tjgg").put(3u).zeros(64).data; }},
    {"TheMagicNumberReversed", "does not begin with 'GGUF'", [] { return Bytes().raw("FUGG").put(3u).zeros(64).data; }},
    {"Version0", "version 0", [] { return GgufBytes(0, 0, 0).data; }},
    {"Version1WithItsShortLengths", "version 1 is not 2 or 3", [] { return GgufBytes(0, 0, 1).data; }},
    {"Version4", "version 4 is not 2 or 3", [] { return GgufBytes(0, 0, 4).data; }},
    {"BigEndianNumbers", "big-endian", [] { return GgufBytes(0, 0, 0x03000000u).data; }},
    {"ACountCutShort", "the number of keys", [] { return cut(GgufBytes(0, 0).data, 1); }},

    // Counts.
    {"MoreTensorsThanTheFileHolds", "the number of tensors is 3", [] { return GgufBytes(3, 0).zeros(71).data; }},
    {"TheLargestNumberOfTensors", "the number of tensors is 18446744073709551615", [] { return GgufBytes(huge, 0).data; }},
    // llama.cpp#15711: passes a bound on the count, overflows when multiplied by the size of an entry
    {"ANumberOfTensorsThatWrapsTimesTheirSize", "the number of tensors", [] { return GgufBytes(huge / 96 + 1, 0).zeros(4096).data; }},
    {"MoreKeysThanTheFileHolds", "the number of keys is 1,", [] { return GgufBytes(0, 1).zeros(12).data; }},
    {"TheLargestNumberOfKeys", "the number of keys is 9223372036854775808", [] { return GgufBytes(0, two_to(63)).data; }},
    {"TensorsAndKeysThatOnlyFitOneAtATime", "the number of keys", [] { return GgufBytes(4, 8).zeros(4 * 24 + 7 * 13).data; }},
    {"MoreTensorsThanAnyModelHas", "reads up to 8192", [] { return GgufBytes(8193, 0).zeros(8193 * 24).data; }, ErrorKind::Unsupported},
    {"MoreKeysThanAnyModelHas", "reads up to 4096", [] { return GgufBytes(0, 4097).zeros(4097 * 13).data; }, ErrorKind::Unsupported},

    // Keys and values.
    {"AKeyLongerThanTheFile", "a key of 1000 bytes", [] { return GgufBytes(0, 1).put<std::uint64_t>(1000).zeros(40).data; }},
    {"AKeyWhoseLengthWraps", "a key of 18446744073709551608 bytes", [] { return GgufBytes(0, 1).put(huge - 7).zeros(40).data; }},
    {"AnEmptyKey", "a key is empty", [] { return GgufBytes(0, 1).key("", gguf::u8).zeros(8).data; }},
    {"AKeyOf65536Bytes", "longer than 65535", [] { return GgufBytes(0, 1).key(std::string(65536, 'k'), gguf::u8).zeros(8).data; }},
    {"AValueOfTypeThirteen", "'some.key' has type 13", [] { return one_key(13).zeros(8).data; }},
    {"AValueOfTheLargestType", "'some.key' has type 4294967295", [] { return one_key(~0u).zeros(8).data; }},
    {"ANumberCutShort", "a value of 8 bytes does not fit into the 7", [] { return one_key(gguf::f64).zeros(7).data; }},
    {"AStringLongerThanTheFile", "a string of 100 bytes", [] { return one_key(gguf::string).put<std::uint64_t>(100).zeros(99).data; }},
    {"AStringWhoseLengthWraps", "a string of 18446744073709551615", [] { return one_key(gguf::string).put(huge).zeros(99).data; }},
    {"ABoolOfTwo", "'some.key' holds the bool 2", [] { return one_key(gguf::boolean).put<std::uint8_t>(2).data; }},
    {"AKeyThatIsThereTwice", "'some.key' is there twice",
     [] { return GgufBytes(0, 2).key("some.key", gguf::u8, '\1').key("some.key", gguf::u8, '\1').data; }},

    // Arrays.
    {"AnArrayLongerThanTheFile", "'ids' has 3 elements", [] { return GgufBytes(0, 1).array("ids", gguf::i32, 3).zeros(11).data; }},
    // llama.cpp#18674: eight bytes times 2^61 are 0
    {"AnArrayWhoseBytesWrapToZero", "'ids' has 2305843009213693952",
     [] { return GgufBytes(0, 1).array("ids", gguf::f64, two_to(61)).data; }},
    {"AnArrayOfTheLargestLength", "'ids' has 18446744073709551615",
     [] { return GgufBytes(0, 1).array("ids", gguf::u8, huge).zeros(9).data; }},
    {"AnArrayOfMoreStringsThanTheFileHolds", "'ids' has 1152921504606846976",
     [] { return GgufBytes(0, 1).array("ids", gguf::string, two_to(60)).zeros(64).data; }},
    {"AnArrayWhoseLastStringIsCutShort", "a string of 5 bytes does not fit into the 4",
     [] { return cut(GgufBytes(0, 1).array("ids", gguf::string, 2).text("ab").text("abcde").data, 1); }},
    {"AnArrayOfArrays", "'ids' is an array of arrays", [] { return GgufBytes(0, 1).array("ids", gguf::array, 1).zeros(64).data; }},
    {"AnArrayOfUnknownType", "'ids' has type 77", [] { return GgufBytes(0, 1).array("ids", 77, 1).zeros(64).data; }},
    {"AnArrayOfBoolsWithA255", "'ids' holds the bool 255",
     [] { return GgufBytes(0, 1).array("ids", gguf::boolean, 3).raw("\1\0\xff").zeros(1).raw("\xff").data; }},

    // The alignment.
    {"AnAlignmentOfZero", "'general.alignment' is 0", [] { return GgufBytes(0, 1).key("general.alignment", gguf::u32, 0u).data; }},
    {"AnAlignmentOfThree", "'general.alignment' is 3", [] { return GgufBytes(0, 1).key("general.alignment", gguf::u32, 3u).data; }},
    {"ANegativeAlignment", "'general.alignment' is -32", [] { return GgufBytes(0, 1).key("general.alignment", gguf::i32, -32).data; }},
    {"AnAlignmentOf2To62", "'general.alignment' is 4611686018427387904",
     [] { return GgufBytes(0, 1).key("general.alignment", gguf::u64, two_to(62)).data; }},
    {"AnAlignmentOf2To63", "'general.alignment' is u64",
     [] { return GgufBytes(0, 1).key("general.alignment", gguf::u64, two_to(63)).data; }},
    {"AnAlignmentThatIsText", "'general.alignment' is string",
     [] {
       GgufBytes file(0, 1);
       file.key("general.alignment", gguf::string).text("32");
       return file.data;
     }},

    // Sizes of tensors.
    // ggml#709, gguf-tools#25: written past an array of four or eight where the assertion was compiled out
    {"NineAxes", "'blk.0.weight' has 9 axes",
     [] {
       return one_tensor({1, 1, 1, 1, 1, 1, 1, 1, 1}, gguf::F32).data;
     }},
    {"FiveAxes", "'blk.0.weight' has 5 axes",
     [] {
       return one_tensor({1, 1, 1, 1, 1}, gguf::F32).data;
     }},
    {"TheLargestNumberOfAxes", "'t' has 4294967295 axes", [] { return GgufBytes(1, 0).text("t").put(~0u).zeros(64).data; }},
    // llama.cpp#27203
    {"TheLargestSizeTwice", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({two_to(63) - 1, 2, 1, 1}, gguf::I8).data;
     }},
    // zackshen/gguf#15: 4 bytes for 2^65 elements
    {"ASizeThatIsMinusOneWhenSigned", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({huge, 2, 1, 1}, gguf::F32).data;
     }},
    // LiteRT#9255: the product wraps to 0, and "empty" skips the checks
    {"SizesWhoseProductWrapsToZero", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({two_to(32), two_to(32)}, gguf::F32).data;
     }},
    // llama.cpp#18674: the number of elements fits, the number of bytes wraps
    {"SizesWhoseBytesWrapToZero", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({two_to(31), two_to(31)}, gguf::F32).data;
     }},
    {"BlocksWhoseBytesWrap", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({two_to(32), two_to(31) - 1}, gguf::Q8_0).data;
     }},
    {"AZeroThatHidesAnOverflow", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({two_to(32), 0, two_to(32)}, gguf::F32).data;
     }},
    {"AZeroBeforeAnOverflow", "'blk.0.weight' multiply to more",
     [] {
       return one_tensor({0, two_to(40), two_to(40)}, gguf::I8).data;
     }},
    // candle#3585: 4 GiB were allocated first
    {"FourGibibytesWithoutData", "'blk.0.weight' needs bytes 0 + 4294967296",
     [] { return one_tensor({1073741824}, gguf::F32, 0, 0).data; }},
    {"ARowOf33InBlocksOf32", "rows of 33 elements of tensor 'blk.0.weight'",
     [] {
       return one_tensor({33, 2}, gguf::Q4_0).data;
     }},
    {"ARowOf128InBlocksOf256", "rows of 128 elements of tensor 'blk.0.weight'",
     [] {
       return one_tensor({128, 2}, gguf::Q4_K).data;
     }},
    {"AScalarInBlocks", "rows of 1 elements of tensor 'blk.0.weight'", [] { return one_tensor({}, gguf::Q8_0).data; }},
    {"ATensorOfUnknownType", "'blk.0.weight' has type 99", [] { return one_tensor({8}, 99).data; }},
    {"ATensorOfATypeThatGgmlTookBack", "'blk.0.weight' has type 4", [] { return one_tensor({32}, 4).data; }},
    {"ATensorOfTheLargestType", "'blk.0.weight' has type 4294967295", [] { return one_tensor({8}, ~0u).data; }},

    // Names and places of tensors.
    {"ATensorWithoutName", "a tensor's name is empty", [] { return GgufBytes(1, 0).tensor("", {8}, gguf::F32, 0).pad().zeros(32).data; }},
    {"ATensorNameLongerThanTheFile", "a tensor's name of 4096 bytes",
     [] { return GgufBytes(1, 0).put<std::uint64_t>(4096).zeros(64).data; }},
    {"ATensorThatIsThereTwice", "'twin' is there twice", [] { return two_tensors("twin", 0, "twin", 32).data; }},
    {"ATensorCutShortInItsSizes", "a tensor's size of 8 bytes",
     [] {
       GgufBytes file(1, 0);
       file.text("w").put(4u).put<std::uint64_t>(1).put<std::uint32_t>(1);
       return file.data;
     }},
    {"AnOffsetBetweenTwoAlignedPlaces", "'blk.0.weight' has offset 4", [] { return one_tensor({8}, gguf::F32, 4).data; }},
    {"AnOffsetPastTheEnd", "'blk.0.weight' needs bytes 96 + 32", [] { return one_tensor({8}, gguf::F32, 96).data; }},
    {"AnOffsetWhoseEndWraps", "'blk.0.weight' needs bytes 18446744073709551584 + 32",
     [] { return one_tensor({8}, gguf::F32, huge - 31).data; }},
    {"AnOffsetOf2To63", "'blk.0.weight' needs bytes 9223372036854775808", [] { return one_tensor({8}, gguf::F32, two_to(63)).data; }},
    {"DataThatLackOneByte", "'blk.0.weight' needs bytes 32 + 32 of the data, which has 63",
     [] { return one_tensor({8}, gguf::F32, 32, 63).data; }},
    {"AnEmptyTensorPastTheEnd", "'blk.0.weight' needs bytes 96 + 0", [] { return one_tensor({0}, gguf::F32, 96).data; }},
    {"TensorsWithoutTheirPadding", "'t' needs bytes 0 + 0 of the data, which has 0",
     [] { return GgufBytes(1, 0).tensor("t", {0}, gguf::F32, 0).data; }},
    {"TwoTensorsAtOnePlace", "shares bytes", [] { return two_tensors("a", 32, "b", 32).data; }},
    {"TensorsThatOverlap", "'b' shares bytes",
     [] {
       GgufBytes file(2, 0);
       file.tensor("a", {16}, gguf::F32, 0).tensor("b", {8}, gguf::F32, 32).pad().zeros(96);
       return file.data;
     }},

    // Names that would steer the terminal which shows the error, and names that would fill it.
    {"ANameWithAnEscapeSequence", R"('\x1b[2J\x07' has 9 axes)", [] { return GgufBytes(1, 0).text("\x1b[2J\a").put(9u).zeros(64).data; }},
    {"ANameThatIsNotUtf8", R"('\xff\xc0\x80' has 9 axes)", [] { return GgufBytes(1, 0).text("\xff\xc0\x80").put(9u).zeros(64).data; }},
    {"ANameOf60000Bytes", "xxx…' has 9 axes", [] { return GgufBytes(1, 0).text(std::string(60000, 'x')).put(9u).zeros(64).data; }},
};

struct HostileGguf : testing::TestWithParam<Case> {};

TEST_P(HostileGguf, IsRefused) {
  const std::string bytes = GetParam().bytes();
  const TemporaryFile file(bytes);
  const Outcome outcome = outcome_of([&] { GgufFile opened(file.path()); });
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

INSTANTIATE_TEST_SUITE_P(With, HostileGguf, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case>& c) { return std::string(c.param.name); });

// The largest index that is taken: as many keys and tensors as the limits let in, all as short as can be.
TEST(HostileGgufMemory, OfTheLargestIndexIsTheFileAndAMebibyte) {
  GgufBytes bytes(8192, 4096);
  for (unsigned i = 0; i < 4096; ++i) bytes.key(std::to_string(i), gguf::u8, '\0');
  for (unsigned i = 0; i < 8192; ++i) bytes.tensor(std::to_string(i), {}, gguf::I8, i * std::uint64_t{32});
  bytes.pad().zeros(8192 * 32);
  const TemporaryFile file(bytes.data);
  const Outcome outcome = outcome_of([&] {
    const GgufFile opened(file.path());
    EXPECT_EQ(opened.tensors().size(), 8192u);
  });
  EXPECT_FALSE(outcome.error.has_value()) << outcome.error->what();
  EXPECT_LE(outcome.peak_bytes, allowance + bytes.data.size());
  EXPECT_EQ(outcome.tensor_allocations, 0u);
  RecordProperty("peak_bytes", std::to_string(outcome.peak_bytes));
}

// A key of the greatest length, in an error: neither the text nor the making of it grows with the key.
TEST(HostileGgufMemory, OfAnErrorDoesNotGrowWithTheName) {
  const TemporaryFile file(GgufBytes(0, 1).key(std::string(65535, 'k'), 13).zeros(8).data);
  const Outcome outcome = outcome_of([&] { GgufFile opened(file.path()); });
  ASSERT_TRUE(outcome.error.has_value());
  EXPECT_LT(outcome.peak_bytes, 20'000u);
}

// Asking for what a value is not is refused before anything is made for it.
TEST(HostileGgufMemory, OfAWrongQuestionIsNothing) {
  GgufBytes bytes(0, 2);
  bytes.array("flags", gguf::boolean, 4'000'000).zeros(4'000'000);
  bytes.array("words", gguf::string, 500'000).zeros(4'000'000);
  const TemporaryFile file(bytes.data);
  const GgufFile opened(file.path());
  for (const char* key : {"flags", "words"}) {
    for (const Outcome& outcome : {outcome_of([&] { opened.at(key).integers(); }), outcome_of([&] { opened.at(key).numbers(); })}) {
      ASSERT_TRUE(outcome.error.has_value());
      EXPECT_EQ(outcome.error->kind(), ErrorKind::InvalidFile);
      EXPECT_NE(std::string(outcome.error->what()).find(key), std::string::npos);
      EXPECT_LT(outcome.peak_bytes, 20'000u);
    }
  }
}

}  // namespace
}  // namespace votive::io
