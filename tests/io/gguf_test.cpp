// Files are built byte by byte here, from the description of the format, and read back.
#include "votive/io/gguf.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <fstream>

namespace votive::io {
namespace {

/// Writes the pieces of a GGUF file as the format's description has them.
struct Bytes {
  std::string data;

  template <class T>
  Bytes& put(T value) {
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& text(std::string_view s) {
    put<std::uint64_t>(s.size());
    data += s;
    return *this;
  }
  std::string save(const char* name) const {
    const std::string path = testing::TempDir() + "/" + name;
    std::ofstream(path, std::ios::binary).write(data.data(), static_cast<std::streamsize>(data.size()));
    return path;
  }
};

Bytes header(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
  Bytes bytes;
  bytes.data = "GGUF";
  bytes.put(version).put(tensors).put(values);
  return bytes;
}

TEST(Gguf, ReadsMetadataAndATensorInPlace) {
  Bytes bytes = header(1, 3);
  bytes.text("general.name").put<std::uint32_t>(8).text("small");
  bytes.text("rms").put<std::uint32_t>(6).put(1e-5f);
  bytes.text("ids").put<std::uint32_t>(9).put<std::uint32_t>(5).put<std::uint64_t>(2).put<std::int32_t>(-1).put<std::int32_t>(7);
  bytes.text("w").put<std::uint32_t>(2).put<std::uint64_t>(3).put<std::uint64_t>(2).put<std::uint32_t>(0).put<std::uint64_t>(0);
  bytes.data.resize((bytes.data.size() + 31) / 32 * 32);
  for (int i = 0; i < 6; ++i) bytes.put(static_cast<float>(i));
  const GgufFile file(bytes.save("good.gguf"));
  EXPECT_EQ(file.at("general.name").string(), "small");
  EXPECT_EQ(file.at("rms").number(), static_cast<double>(1e-5f));  // candle #1912 refused a float that was not f64
  EXPECT_EQ(file.at("ids").integers(), (std::vector<Size>{-1, 7}));
  const Tensor w = file.tensor("w");
  EXPECT_EQ(w.shape(), (Shape{2, 3}));  // the file has the fastest axis first
  EXPECT_EQ(w.to_host<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(w.buffer(), file.file().bytes().data() + file.find_tensor("w")->offset);
}

}  // namespace
}  // namespace votive::io
