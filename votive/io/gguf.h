// GGUF, the file format of quantised language models: metadata by key, tensors by name, read strictly from a mapped file.
// Everything is checked when the file is opened; tensors then point into the mapping. Nothing is copied but what the index needs, so a hostile
// file cannot make the reader allocate more than it is long. Not here: what the keys mean (models/), writing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/base/mapped_file.h"
#include "votive/core/tensor.h"

namespace votive::io {

enum class GgufType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
std::string_view to_string(GgufType type);
/// Bytes of one value; 0 for strings and arrays, whose length the file says.
constexpr std::size_t bytes_of(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean: return 1;
    case GgufType::u16:
    case GgufType::i16: return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32: return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64: return 8;
    case GgufType::string:
    case GgufType::array: return 0;
  }
  return 0;
}

/// One metadata value, read where it lies in the file. Numbers convert to the type asked for only when no value is lost
/// (any integer type to Size; f32, f64 or an integer within ±2⁵³ to double). Every getter throws Error{InvalidFile} naming key and type otherwise,
/// before it allocates. Text is the file's bytes: GGUF says UTF-8, vocabularies hold parts of characters, and nothing here changes them.
class GgufValue {
 public:
  std::string_view key() const { return key_; }
  GgufType type() const { return type_; }
  GgufType element_type() const { return element_type_; }  ///< of an array
  Size count() const { return count_; }                    ///< elements of an array, else 1

  Size integer() const;
  double number() const;
  bool boolean() const;
  std::string_view string() const;
  std::vector<Size> integers() const;  ///< of an array: eight bytes for each element, whatever it takes in the file
  std::vector<double> numbers() const;
  std::vector<std::string_view> strings() const;
  /// As `inspect` shows it; arrays shortened to `limit` elements, strings to 200 bytes, control characters and invalid UTF-8 escaped.
  std::string text(Size limit = 8) const;

 private:
  friend class GgufFile;
  [[noreturn]] void refuse(std::string_view wanted) const;

  std::string_view key_;
  GgufType type_{}, element_type_{};
  Size count_ = 1, at_ = 0;          // at_: of the key, within the file
  const std::byte* data_ = nullptr;  // of the value, or of an array's first element; all lengths behind it have been checked
};

struct GgufTensor {
  std::string_view name;
  std::string_view type_name;  ///< as ggml writes it: "Q4_1", "IQ2_XXS"
  std::optional<DType> dtype;  ///< absent where Votive has no such dtype
  Size sizes[4];               ///< slowest axis first
  int rank;
  std::size_t offset, bytes;  ///< within the file

  Shape shape() const { return Shape(std::span(sizes, static_cast<std::size_t>(rank))); }
};

class GgufFile {
 public:
  /// Throws Error{Io}; Error{InvalidFile} with the byte at which the file contradicts itself; Error{Unsupported} past 4096 keys or 8192 tensors.
  explicit GgufFile(const std::string& path) : GgufFile(MappedFile(path)) {}
  explicit GgufFile(MappedFile file);

  std::uint32_t version() const { return version_; }
  Size alignment() const { return alignment_; }
  const MappedFile& file() const { return file_; }

  std::span<const GgufValue> values() const { return values_; }
  const GgufValue* find(std::string_view key) const;
  const GgufValue& at(std::string_view key) const;  ///< Throws Error{InvalidFile} naming the missing key.

  std::span<const GgufTensor> tensors() const { return tensors_; }
  const GgufTensor* find_tensor(std::string_view name) const;
  /// The tensor over the mapping; copied only where the file did not align it for its dtype. Throws Error{InvalidFile} when absent,
  /// Error{Unsupported} for a type without dtype.
  Tensor tensor(std::string_view name) const;

 private:
  MappedFile file_;
  std::uint32_t version_ = 0;
  Size alignment_ = 32;
  std::vector<GgufValue> values_;
  std::vector<GgufTensor> tensors_;
  std::vector<std::uint32_t> value_order_, tensor_order_;  // by key and by name
};

}  // namespace votive::io
