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

/// One metadata value, read where it lies in the file. Numbers convert to the type asked for only when no value is lost
/// (any integer type to Size, f32 or f64 or an integer to double). Every getter throws Error{InvalidFile} naming key and type otherwise.
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
  std::vector<Size> integers() const;  ///< of an array
  std::vector<double> numbers() const;
  std::vector<std::string_view> strings() const;
  /// As `inspect` shows it; arrays shortened to `limit` elements.
  std::string text(Size limit = 8) const;

 private:
  friend class GgufFile;
  std::string_view key_;
  GgufType type_{}, element_type_{};
  Size count_ = 1;
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
  /// Throws Error{Io} or Error{InvalidFile} with the byte offset at which the file contradicts itself.
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
