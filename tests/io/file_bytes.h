// Files put together byte by byte, from the descriptions of the formats alone; and a file on disk that goes with its test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>

namespace votive::io {

struct Bytes {
  std::string data;

  template <class T>
  Bytes& put(T value) {
    data.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& raw(std::string_view bytes) {
    data += bytes;
    return *this;
  }
  Bytes& zeros(std::size_t count) {
    data.append(count, '\0');
    return *this;
  }
  /// To the next multiple.
  Bytes& pad(std::size_t alignment = 32) { return zeros((alignment - data.size() % alignment) % alignment); }
};

/// GGUF's numbers of value types and of some tensor types (ggml's docs/gguf.md).
namespace gguf {
enum Value : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
enum Tensor : std::uint32_t { F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q8_0 = 8, Q4_K = 12, IQ2_XXS = 16, I8 = 24, I32 = 26 };
}  // namespace gguf

struct GgufBytes : Bytes {
  GgufBytes(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
    raw("GGUF");
    put(version).put(tensors).put(keys);
  }
  GgufBytes& text(std::string_view s) {
    put<std::uint64_t>(s.size()).raw(s);
    return *this;
  }
  GgufBytes& key(std::string_view name, std::uint32_t type) {
    text(name).put(type);
    return *this;
  }
  template <class T>
  GgufBytes& key(std::string_view name, std::uint32_t type, T value) {
    key(name, type).put(value);
    return *this;
  }
  GgufBytes& array(std::string_view name, std::uint32_t element, std::uint64_t count) {
    key(name, gguf::array).put(element).put(count);
    return *this;
  }
  /// Sizes as the file has them: the fastest axis first.
  GgufBytes& tensor(std::string_view name, std::initializer_list<std::uint64_t> sizes, std::uint32_t type, std::uint64_t offset) {
    text(name).put(static_cast<std::uint32_t>(sizes.size()));
    for (std::uint64_t size : sizes) put(size);
    put(type).put(offset);
    return *this;
  }
  GgufBytes& pad(std::size_t alignment = 32) {
    Bytes::pad(alignment);
    return *this;
  }
};

/// A safetensors file: the header's length, the header, the data.
inline std::string safetensors(std::string_view header, std::string_view data = "") {
  return Bytes().put<std::uint64_t>(header.size()).raw(header).raw(data).data;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) : path_(testing::TempDir() + "votive-XXXXXX") {
    const int file = ::mkstemp(path_.data());
    if (file < 0) std::abort();
    ::close(file);
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace votive::io
