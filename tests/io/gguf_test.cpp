// GGUF as another program writes it (tests/golden/files, made by llama.cpp's `gguf`), as the format allows it, and a real model.
#include "votive/io/gguf.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "tests/io/file_bytes.h"
#include "tests/models/cache.h"

namespace votive::io {
namespace {

const std::string golden = VOTIVE_SOURCE_DIR "/tests/golden/files/all_types.gguf";

/// The text of the error that `work` throws.
template <class Work>
std::string refusal(Work work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::InvalidFile) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

// tools/oracle/files.py has the same values.
TEST(Gguf, HoldsTheValuesThatAnotherProgramWrote) {
  const GgufFile file(golden);
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.alignment(), 32);
  EXPECT_EQ(file.at("general.architecture").string(), "test");
  EXPECT_EQ(file.at("value.u8").integer(), 200);
  EXPECT_EQ(file.at("value.i8").integer(), -100);
  EXPECT_EQ(file.at("value.u16").integer(), 60000);
  EXPECT_EQ(file.at("value.i16").integer(), -30000);
  EXPECT_EQ(file.at("value.u32").integer(), 4000000000);
  EXPECT_EQ(file.at("value.i32").integer(), -2000000000);
  EXPECT_EQ(file.at("value.u64").integer(), std::numeric_limits<Size>::max());
  EXPECT_EQ(file.at("value.i64").integer(), std::numeric_limits<Size>::min());
  EXPECT_EQ(file.at("value.f32").number(), static_cast<double>(1e-5f));  // candle#1912 refused a float that was not f64
  EXPECT_EQ(file.at("value.f64").number(), 0.1);
  EXPECT_EQ(file.at("value.i8").number(), -100.0);
  EXPECT_TRUE(file.at("value.true").boolean());
  EXPECT_FALSE(file.at("value.false").boolean());
  EXPECT_EQ(file.at("value.string").string(), "Grüße, 漢字 😀\nnew line");
  EXPECT_EQ(file.at("value.u16").type(), GgufType::u16);
  EXPECT_EQ(file.find("value"), nullptr);
}

TEST(Gguf, HoldsTheArraysThatAnotherProgramWrote) {
  const GgufFile file(golden);
  EXPECT_EQ(file.at("array.i32").integers(), (std::vector<Size>{1, -1, 2147483647, -2147483648}));  // mlx#3823 read −1 as 2³²−1
  EXPECT_EQ(file.at("array.i32").numbers(), (std::vector<double>{1, -1, 2147483647, -2147483648}));
  EXPECT_EQ(file.at("array.f32").numbers(), (std::vector<double>{0.5, -0.25, static_cast<double>(1e30f)}));
  EXPECT_EQ(file.at("array.string").strings(), (std::vector<std::string_view>{"a", "", "ß",
                                                                              "long long long long long long long long long long "
                                                                              "long long long long long long long long long long "}));
  EXPECT_EQ(file.at("array.bool").text(), "[true, false, true]");
  EXPECT_EQ(file.at("array.i32").element_type(), GgufType::i32);
  EXPECT_EQ(file.at("array.i32").count(), 4);
}

TEST(Gguf, ShowsEveryValueAsText) {
  const GgufFile file(golden);
  EXPECT_EQ(file.at("value.u64.largest").text(), "18446744073709551615");
  EXPECT_EQ(file.at("value.i64").text(), "-9223372036854775808");
  EXPECT_EQ(file.at("value.f32").text(), "1e-05");
  EXPECT_EQ(file.at("value.f64").text(), "0.1");
  EXPECT_EQ(file.at("value.true").text(), "true");
  EXPECT_EQ(file.at("value.string").text(), "\"Grüße, 漢字 😀\\nnew line\"");
  EXPECT_EQ(file.at("array.i32").text(2), "[1, -1, … 4 in all]");
  EXPECT_EQ(file.at("array.string").text(3), "[\"a\", \"\", \"ß\", … 4 in all]");
}

// Every number comes as what was asked for, or not at all.
TEST(Gguf, ConvertsNoValueThatWouldChange) {
  GgufBytes bytes(0, 6);
  bytes.key("exact", gguf::i64, std::int64_t{1} << 53).key("inexact", gguf::i64, (std::int64_t{1} << 53) + 1);
  bytes.key("wide", gguf::u64, std::uint64_t{1} << 63).key("half", gguf::f32, 0.5f).key("yes", gguf::boolean, std::uint8_t{1});
  bytes.array("words", gguf::string, 1).text("7");
  const TemporaryFile made(bytes.data);
  const GgufFile file(made.path());
  EXPECT_EQ(file.at("exact").number(), 9007199254740992.0);
  EXPECT_EQ(refusal([&] { file.at("inexact").number(); }),
            "GGUF: invalid file: 'inexact' is i64, not a number that a double holds (byte 57).");
  for (const char* key : {"wide", "half", "yes", "words"}) EXPECT_NE(refusal([&] { file.at(key).integer(); }).find(key), std::string::npos);
  for (const char* key : {"wide", "yes", "words"}) EXPECT_NE(refusal([&] { file.at(key).number(); }).find(key), std::string::npos);
  for (const char* key : {"exact", "half", "words"}) {
    EXPECT_NE(refusal([&] { file.at(key).boolean(); }).find("not a bool"), std::string::npos);
    EXPECT_NE(refusal([&] { file.at(key).string(); }).find("not a string"), std::string::npos);
    EXPECT_NE(refusal([&] { file.at(key).numbers(); }).find("not an array of numbers"), std::string::npos);
    EXPECT_NE(refusal([&] { file.at(key).integers(); }).find("not an array of integers"), std::string::npos);
  }
  EXPECT_NE(refusal([&] { file.at("exact").strings(); }).find("not an array of strings"), std::string::npos);
  EXPECT_EQ(refusal([&] { file.at("absent"); }), "GGUF: invalid file: 'absent' is missing from the metadata.");
  EXPECT_EQ(refusal([&] { file.tensor("absent"); }), "GGUF: invalid file: 'absent' is missing from the tensors.");
}

TEST(Gguf, HoldsEveryArrayOfNumbers) {
  GgufBytes bytes(0, 10);
  bytes.array("u8", gguf::u8, 2).put<std::uint8_t>(0).put<std::uint8_t>(255);
  bytes.array("i8", gguf::i8, 2).put<std::int8_t>(-128).put<std::int8_t>(127);
  bytes.array("u16", gguf::u16, 2).put<std::uint16_t>(1).put<std::uint16_t>(65535);
  bytes.array("i16", gguf::i16, 2).put<std::int16_t>(-32768).put<std::int16_t>(32767);
  bytes.array("u32", gguf::u32, 2).put<std::uint32_t>(1).put(~std::uint32_t{0});
  bytes.array("u64", gguf::u64, 2).put<std::uint64_t>(1).put<std::uint64_t>(1ull << 62);
  bytes.array("i64", gguf::i64, 2).put<std::int64_t>(-1).put(std::numeric_limits<std::int64_t>::min());
  bytes.array("f64", gguf::f64, 3).put(0.1).put(-0.0).put(std::nan(""));
  bytes.array("none", gguf::f32, 0);
  bytes.array("wide", gguf::u64, 2).put<std::uint64_t>(1).put(~std::uint64_t{0});
  const TemporaryFile made(bytes.data);
  const GgufFile file(made.path());
  EXPECT_EQ(file.at("u8").integers(), (std::vector<Size>{0, 255}));
  EXPECT_EQ(file.at("i8").integers(), (std::vector<Size>{-128, 127}));
  EXPECT_EQ(file.at("u16").integers(), (std::vector<Size>{1, 65535}));
  EXPECT_EQ(file.at("i16").integers(), (std::vector<Size>{-32768, 32767}));
  EXPECT_EQ(file.at("u32").integers(), (std::vector<Size>{1, 4294967295}));
  EXPECT_EQ(file.at("u64").integers(), (std::vector<Size>{1, Size{1} << 62}));
  EXPECT_EQ(file.at("i64").integers(), (std::vector<Size>{-1, std::numeric_limits<Size>::min()}));
  EXPECT_EQ(file.at("f64").numbers()[0], 0.1);
  EXPECT_TRUE(std::signbit(file.at("f64").numbers()[1]));
  EXPECT_TRUE(std::isnan(file.at("f64").numbers()[2]));
  EXPECT_TRUE(file.at("none").numbers().empty());
  EXPECT_EQ(file.at("none").text(), "[]");
  EXPECT_NE(refusal([&] { file.at("wide").integers(); }).find("'wide'"), std::string::npos);
}

template <class T>
std::vector<T> values(const GgufFile& file, std::string_view name, DType dtype) {
  const Tensor tensor = file.tensor(name);
  EXPECT_EQ(tensor.dtype(), dtype) << name;
  EXPECT_EQ(tensor.shape(), (Shape{2, 3})) << name;
  EXPECT_EQ(tensor.buffer(), file.file().bytes().data() + file.find_tensor(name)->offset) << name << " was copied";
  return tensor.to_host<T>();
}

TEST(Gguf, HoldsTheTensorsThatAnotherProgramWrote) {
  const GgufFile file(golden);
  EXPECT_EQ(values<std::int8_t>(file, "i8", i8), (std::vector<std::int8_t>{0, 1, -1, 127, -127, -128}));
  EXPECT_EQ(values<std::int16_t>(file, "i16", i16), (std::vector<std::int16_t>{0, 1, -1, 300, 32767, -32768}));
  EXPECT_EQ(values<std::int32_t>(file, "i32", i32),
            (std::vector<std::int32_t>{0, 1, -1, 65536, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}));
  EXPECT_EQ(values<std::int64_t>(file, "i64", i64),
            (std::vector<std::int64_t>{0, 1, -1, (std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(values<std::uint16_t>(file, "f16", f16), (std::vector<std::uint16_t>{0x0000, 0x8000, 0x3c00, 0x7bff, 0x0001, 0xc000}));
  EXPECT_EQ(values<std::uint16_t>(file, "bf16", bf16), (std::vector<std::uint16_t>{0x0000, 0x8000, 0x3f80, 0x7f7f, 0x0001, 0xc000}));
  EXPECT_EQ(values<float>(file, "f32", f32), (std::vector<float>{0, 0, 1.5f, -2, INFINITY, -INFINITY}));
  EXPECT_EQ(values<double>(file, "f64", f64), (std::vector<double>{0, 0, 1.5, -2, INFINITY, -INFINITY}));
  EXPECT_TRUE(std::signbit(values<float>(file, "f32", f32)[1]));
}

// NumPy wrote arange(120) as [2, 3, 4, 5]; the file says 5, 4, 3, 2.
TEST(Gguf, PutsTheSlowestAxisFirst) {
  const GgufFile file(golden);
  const Tensor t = file.tensor("four.axes");
  EXPECT_EQ(t.shape(), (Shape{2, 3, 4, 5}));
  const std::vector<float> elements = t.to_host<float>();
  for (std::size_t i = 0; i < 120; ++i) EXPECT_EQ(elements[i], static_cast<float>(i));
  EXPECT_EQ(file.find_tensor("scalar.in.one.axis")->shape(), (Shape{1}));
}

// Beside each quantised tensor lie its values by the formulas of another program; two rows of two blocks.
TEST(Gguf, HoldsQuantisedTensorsOfTheValuesThatAnotherProgramGivesThem) {
  const GgufFile file(golden);
  for (const DType dtype : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    const std::string name(to_string(dtype));
    const GgufTensor* const entry = file.find_tensor(name);
    ASSERT_NE(entry, nullptr) << name;
    const Tensor blocks = file.tensor(name);
    EXPECT_EQ(blocks.dtype(), dtype);
    EXPECT_EQ(blocks.shape(), (Shape{2, 2 * block_size(dtype)})) << name;
    EXPECT_EQ(blocks.buffer(), file.file().bytes().data() + entry->offset) << name << " was copied";
    EXPECT_EQ(entry->bytes, static_cast<std::size_t>(4 * block_bytes(dtype))) << name;
    EXPECT_EQ(blocks.to(f32).to_host<float>(), file.tensor(name + ".values").to_host<float>()) << name;
  }
}

TEST(Gguf, KnowsTensorsThatItHasNoDtypeFor) {
  const TemporaryFile made(GgufBytes(1, 0).tensor("w", {256, 2}, gguf::IQ2_XXS, 0).pad().zeros(132).data);
  const GgufFile file(made.path());
  EXPECT_EQ(file.tensors()[0].type_name, "IQ2_XXS");
  EXPECT_EQ(file.tensors()[0].bytes, 132u);
  EXPECT_FALSE(file.tensors()[0].dtype.has_value());
  try {
    file.tensor("w");
    FAIL() << "there is a dtype";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("tensor 'w' is IQ2_XXS. Accepted: F32, F16"), std::string::npos) << error.what();
  }
}

// With an alignment of 1, 2 or 4 the writer may put 8-byte elements anywhere: those are copied, all others lie in the file.
TEST(Gguf, CopiesOnlyWhatItsAlignmentMisplaces) {
  for (const std::uint32_t alignment : {1u, 2u, 4u, 8u, 16u, 64u, 4096u, 1u << 20}) {
    GgufBytes bytes(2, 1);
    bytes.key("general.alignment", gguf::u32, alignment);
    bytes.tensor("pad", {1}, gguf::I8, 0).tensor("w", {2}, 28, alignment).pad(alignment);  // 28: F64
    const std::size_t start = bytes.data.size();
    bytes.put('x').pad(alignment).put(1.25).put(-2.0);
    const TemporaryFile made(bytes.data);
    const GgufFile file(made.path());
    const Tensor w = file.tensor("w");
    EXPECT_EQ(file.alignment(), static_cast<Size>(alignment));
    EXPECT_EQ(w.to_host<double>(), (std::vector<double>{1.25, -2.0}));
    EXPECT_EQ(w.buffer() == file.file().bytes().data() + start + alignment, (start + alignment) % 8 == 0) << alignment;
  }
}

TEST(Gguf, TakesVersionTwoScalarsEmptyTensorsAndGaps) {
  GgufBytes bytes(3, 0, 2);
  bytes.tensor("scalar", {}, gguf::F32, 64).tensor("empty", {4, 0}, gguf::F16, 96).tensor("w", {2}, gguf::I8, 0).pad();
  bytes.raw("ab").zeros(62).put(42.0f).zeros(28);
  const TemporaryFile made(bytes.data);
  const GgufFile file(made.path());
  EXPECT_EQ(file.version(), 2u);
  EXPECT_EQ(file.tensor("scalar").item<float>(), 42.0f);
  EXPECT_EQ(file.tensor("empty").shape(), (Shape{0, 4}));
  EXPECT_EQ(file.tensor("w").to_host<std::int8_t>(), (std::vector<std::int8_t>{'a', 'b'}));
}

// Tokens of byte-level vocabularies are parts of characters.
TEST(Gguf, KeepsTextThatIsNotUtf8AndEscapesItOnlyToShowIt) {
  GgufBytes bytes(0, 2);
  bytes.key("token", gguf::string);
  bytes.text(std::string_view("\xe6\xbc\0\x1b", 4));
  bytes.key("k\xffy", gguf::string);
  bytes.text(std::string(300, 'x'));
  const TemporaryFile made(bytes.data);
  const GgufFile file(made.path());
  EXPECT_EQ(file.at("token").string(), std::string_view("\xe6\xbc\0\x1b", 4));
  EXPECT_EQ(file.at("token").text(), R"("\xe6\xbc\x00\x1b")");
  EXPECT_EQ(file.at("k\xffy").string().size(), 300u);
  EXPECT_EQ(file.at("k\xffy").text(), '"' + std::string(200, 'x') + "…\"");
}

TEST(Gguf, OutlivesItsFileThroughATensor) {
  Tensor t;
  {
    const GgufFile file(golden);
    t = file.tensor("i64");
  }
  EXPECT_EQ(t.to_host<std::int64_t>().back(), std::numeric_limits<std::int64_t>::min());
}

// The model of the demo, by the facts that llama.cpp's `gguf` reads in it.
TEST(Gguf, ReadsARealModelInPlace) {
  const std::optional<std::string> path = cached("SmolLM2-135M-Instruct.Q4_1.gguf");
  if (!path) GTEST_SKIP() << "no SmolLM2-135M-Instruct.Q4_1.gguf in " << cache_folder() << " (./dev model gets it)";
  const GgufFile file(*path);
  EXPECT_EQ(file.at("general.architecture").string(), "llama");
  EXPECT_EQ(file.at("llama.block_count").integer(), 30);
  EXPECT_EQ(file.at("llama.embedding_length").integer(), 576);
  EXPECT_EQ(file.at("llama.attention.layer_norm_rms_epsilon").number(), static_cast<double>(1e-5f));
  EXPECT_EQ(file.at("tokenizer.ggml.tokens").count(), 49152);
  EXPECT_EQ(file.at("tokenizer.ggml.tokens").strings()[1], "<|im_start|>");
  EXPECT_EQ(file.tensors().size(), 272u);
  EXPECT_EQ(file.find_tensor("token_embd.weight")->shape(), (Shape{49152, 576}));
  EXPECT_EQ(file.find_tensor("blk.29.ffn_down.weight")->shape(), (Shape{576, 1536}));
  std::size_t bytes = 0;
  for (const GgufTensor& entry : file.tensors()) {
    const Tensor tensor = file.tensor(entry.name);
    EXPECT_EQ(tensor.buffer(), file.file().bytes().data() + entry.offset) << entry.name << " was copied";
    bytes += entry.bytes;
  }
  EXPECT_LT(file.file().bytes().size() - bytes, 2'000'000u);
}

}  // namespace
}  // namespace votive::io
