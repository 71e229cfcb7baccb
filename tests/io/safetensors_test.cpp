// safetensors as others write it (tests/golden/files, made by the library `safetensors`) and as the format allows it: every dtype, values compared.
#include "votive/io/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/io/file_bytes.h"
#include "votive/core/memory.h"

namespace votive::io {
namespace {

const std::string golden = VOTIVE_SOURCE_DIR "/tests/golden/files/all_dtypes.safetensors";

/// The tensor's elements, after its dtype, shape and place have been looked at.
template <class T>
std::vector<T> values(const SafetensorsFile& file, std::string_view name, DType dtype) {
  const Tensor tensor = file.tensor(name);
  EXPECT_EQ(tensor.dtype(), dtype) << name;
  EXPECT_EQ(tensor.shape(), (Shape{2, 3})) << name;
  EXPECT_EQ(tensor.buffer_bytes(), file.bytes(file.find(name))) << name;
  return tensor.to_host<T>();
}

// tools/oracle/files.py has the same numbers.
TEST(Safetensors, HoldsTheIntegersThatAnotherProgramWrote) {
  const SafetensorsFile file(golden);
  EXPECT_EQ(values<std::uint8_t>(file, "u8", u8), (std::vector<std::uint8_t>{0, 1, 127, 128, 200, 255}));
  EXPECT_EQ(values<std::int8_t>(file, "i8", i8), (std::vector<std::int8_t>{0, 1, -1, 127, -127, -128}));  // candle#3042 made them i64
  EXPECT_EQ(values<std::uint16_t>(file, "u16", u16), (std::vector<std::uint16_t>{0, 1, 255, 256, 32768, 65535}));
  EXPECT_EQ(values<std::int16_t>(file, "i16", i16), (std::vector<std::int16_t>{0, 1, -1, 300, 32767, -32768}));
  EXPECT_EQ(values<std::uint32_t>(file, "u32", u32), (std::vector<std::uint32_t>{0, 1, 65536, 0x7fffffff, 0x80000000, 0xffffffff}));
  EXPECT_EQ(values<std::int32_t>(file, "i32", i32),
            (std::vector<std::int32_t>{0, 1, -1, 65536, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}));
  EXPECT_EQ(values<std::uint64_t>(file, "u64", u64),
            (std::vector<std::uint64_t>{0, 1, std::uint64_t{1} << 32, 0x7fffffffffffffff, std::uint64_t{1} << 63, ~std::uint64_t{0}}));
  EXPECT_EQ(values<std::int64_t>(file, "i64", i64),
            (std::vector<std::int64_t>{0, 1, -1, (std::int64_t{1} << 53) + 1, std::numeric_limits<std::int64_t>::max(),
                                       std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(values<bool>(file, "bool", boolean), (std::vector<bool>{false, true, true, false, true, false}));
}

TEST(Safetensors, HoldsTheFloatsThatAnotherProgramWrote) {
  const SafetensorsFile file(golden);
  const auto expect_floats = [](const auto& got) {
    using T = typename std::decay_t<decltype(got)>::value_type;
    const T infinity = std::numeric_limits<T>::infinity();
    EXPECT_EQ(got, (std::vector<T>{0, 0, 1.5, -2, infinity, -infinity}));
    EXPECT_TRUE(std::signbit(got[1]));
  };
  expect_floats(values<float>(file, "f32", f32));
  expect_floats(values<double>(file, "f64", f64));
  EXPECT_EQ(values<std::uint16_t>(file, "f16", f16), (std::vector<std::uint16_t>{0x0000, 0x8000, 0x3c00, 0x7bff, 0x0001, 0xc000}));
  EXPECT_EQ(values<std::uint16_t>(file, "bf16", bf16), (std::vector<std::uint16_t>{0x0000, 0x8000, 0x3f80, 0x7f7f, 0x0001, 0xc000}));
  EXPECT_EQ(values<std::uint8_t>(file, "e4m3", e4m3), (std::vector<std::uint8_t>{0x00, 0x80, 0x38, 0x7e, 0x01, 0xc0}));
  EXPECT_EQ(values<std::uint8_t>(file, "e5m2", e5m2), (std::vector<std::uint8_t>{0x00, 0x80, 0x3c, 0x7b, 0x01, 0xc0}));
}

TEST(Safetensors, HoldsTheOddShapesAndNamesThatAnotherProgramWrote) {
  const SafetensorsFile file(golden);
  EXPECT_EQ(file.size(), 18);
  EXPECT_EQ(file.tensor("scalar").shape(), Shape{});
  EXPECT_EQ(file.tensor("scalar").item<float>(), 42.0f);
  EXPECT_EQ(file.tensor("empty").shape(), (Shape{0, 4}));  // mlx#4080 could not
  EXPECT_EQ(file.tensor("empty").dtype(), f16);
  const Tensor named = file.tensor("grüße \"quoted\" \\ 漢字");
  EXPECT_EQ(named.shape(), (Shape{1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(named.item<std::uint8_t>(), 7);
  EXPECT_EQ(file.find("scalar "), -1);
  EXPECT_EQ(file.find(""), -1);
  for (Size i = 0; i < file.size(); ++i) EXPECT_EQ(file.find(file.name(i)), i);
}

TEST(Safetensors, HoldsTheMetadataThatAnotherProgramWrote) {
  const SafetensorsFile file(golden);
  ASSERT_EQ(file.metadata().size(), 2u);
  EXPECT_EQ(file.metadata()[0], (std::pair<std::string, std::string>("format", "pt")));
  EXPECT_EQ(file.metadata()[1], (std::pair<std::string, std::string>("text", "two\nlines, a \"quote\", 😀")));
}

TEST(Safetensors, OfNothingIsAFile) {
  const TemporaryFile bare(safetensors("{}")), spaced(safetensors("{ \"__metadata__\" : { } } \n\t ")), eight(safetensors("{}      "));
  for (const TemporaryFile* made : {&bare, &spaced, &eight}) {
    const SafetensorsFile file(made->path());
    EXPECT_EQ(file.size(), 0);
    EXPECT_TRUE(file.metadata().empty());
  }
}

// The data begin right after a header of any length, so tensors may lie where their dtype cannot be read in place.
TEST(Safetensors, PointsIntoTheFileWhereAlignedAndCopiesElsewhere) {
  const std::string start = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  for (std::size_t spaces = 0; spaces < 8; ++spaces) {
    const std::string header = start + std::string(spaces, ' ');
    const float values[] = {1.25f, -3.0f};
    const TemporaryFile made(safetensors(header, {reinterpret_cast<const char*>(values), 8}));
    const MappedFile mapped(made.path());
    const SafetensorsFile file(mapped);
    const Tensor w = file.tensor("w");
    EXPECT_EQ(w.to_host<float>(), (std::vector<float>{1.25f, -3.0f}));
    const bool in_place = w.buffer() == mapped.bytes().data() + 8 + header.size();
    EXPECT_EQ(in_place, (8 + header.size()) % 4 == 0) << header.size();
  }
}

TEST(Safetensors, OutlivesItsFileThroughATensor) {
  Tensor w;
  {
    const SafetensorsFile file(golden);
    w = file.tensor("u64");
  }
  EXPECT_EQ(w.to_host<std::uint64_t>().back(), ~std::uint64_t{0});
}

TEST(Safetensors, TakesTensorsInAnyOrderOfNamesAndPlaces) {
  const TemporaryFile made(
      safetensors(R"({"b":{"data_offsets":[1,3],"shape":[2],"dtype":"U8"},"e":{"dtype":"F64","shape":[0],"data_offsets":[1,1]},)"
                  R"("a":{"shape":[1,3],"dtype":"I8","data_offsets":[3,6]},"c":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}})",
                  std::string_view("\1\x10\x20\xff\xfe\xfd", 6)));
  const SafetensorsFile file(made.path());
  ASSERT_EQ(file.size(), 4);
  EXPECT_EQ(file.name(0), "a");  // sorted
  EXPECT_EQ(file.tensor("a").to_host<std::int8_t>(), (std::vector<std::int8_t>{-1, -2, -3}));
  EXPECT_EQ(file.tensor("b").to_host<std::uint8_t>(), (std::vector<std::uint8_t>{16, 32}));
  EXPECT_TRUE(file.tensor("c").item<bool>());
  EXPECT_EQ(file.tensor("e").count(), 0);
}

TEST(Safetensors, TakesSixteenAxesAndSizesOfZero) {
  const TemporaryFile made(safetensors(R"({"w":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2],"data_offsets":[0,2]},)"
                                       R"("z":{"dtype":"F64","shape":[4294967296,0,134217728],"data_offsets":[2,2]}})",
                                       "ab"));
  const SafetensorsFile file(made.path());
  EXPECT_EQ(file.tensor("w").rank(), 16);
  EXPECT_EQ(file.tensor("w").to_host<std::uint8_t>(), (std::vector<std::uint8_t>{'a', 'b'}));
  EXPECT_EQ(file.tensor("z").shape(), (Shape{4294967296, 0, 134217728}));
}

TEST(Safetensors, SaysWhichTensorIsNotThere) {
  try {
    SafetensorsFile(golden).tensor("nobody\n");
    FAIL() << "there is one";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::InvalidFile);
    EXPECT_STREQ(error.what(), "safetensors: invalid file: 'nobody\\n' is not in the file.");
  }
}

}  // namespace
}  // namespace votive::io
