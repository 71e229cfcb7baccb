// safetensors: a JSON header of names, dtypes, shapes and offsets, then the bytes. Read strictly from a mapped file; tensors point into it.
// Not here: writing, and files split over several parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "votive/base/mapped_file.h"
#include "votive/core/tensor.h"

namespace votive::io {

class SafetensorsFile {
 public:
  /// Throws Error{Io} or Error{InvalidFile}: offsets must tile the data without gap or overlap, shapes and dtypes agree with them, no name is
  /// there twice. Error{Unsupported} for the format's dtypes that Votive has not (C64, F4 …) and past 4096 strings of metadata.
  explicit SafetensorsFile(const std::string& path) : SafetensorsFile(MappedFile(path)) {}
  explicit SafetensorsFile(MappedFile file);

  Size size() const { return static_cast<Size>(entries_.size()); }
  std::string_view name(Size i) const;
  Meta meta(Size i) const;
  std::size_t bytes(Size i) const;
  /// Index of a name, or −1.
  Size find(std::string_view name) const;
  /// Tensor over the mapping; copied only where misaligned for its dtype. Throws Error{InvalidFile} when absent, or for a bool that is neither 0
  /// nor 1.
  Tensor tensor(std::string_view name) const;
  /// The strings of "__metadata__", sorted by key.
  std::span<const std::pair<std::string, std::string>> metadata() const { return metadata_; }

 private:
  struct Entry {
    std::uint32_t header_at;  // of its name, within the file
    std::uint32_t name_at, name_bytes, sizes_at;
    std::uint8_t rank;
    DType dtype;
    std::uint64_t begin, end;  // within the file
  };
  [[noreturn]] void refuse_entry(Size i, const std::string& detail) const;
  friend class SafetensorsHeader;
  MappedFile file_;
  std::vector<Entry> entries_;
  std::string names_;
  std::vector<std::uint8_t> sizes_;  // each size as a variable-length integer, so that the index is never longer than the header
  std::vector<std::pair<std::string, std::string>> metadata_;
};

}  // namespace votive::io
