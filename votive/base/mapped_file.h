// A file mapped read-only into memory. Shared by value: the mapping lives as long as its last copy.
// Not here: reading formats. A file that shrinks while mapped is the operating system's business.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace votive {

class MappedFile {
 public:
  /// Throws Error{Io} naming path and cause. An empty file gives an empty span.
  explicit MappedFile(const std::string& path);

  std::span<const std::byte> bytes() const { return {data_.get(), data_ == nullptr ? 0 : size_}; }  // of one that was moved from, nothing
  const std::string& path() const { return path_; }
  /// Keeps the mapping alive when handed to a buffer that points into it.
  std::shared_ptr<const std::byte> owner() const { return data_; }

 private:
  std::string path_;
  std::shared_ptr<const std::byte> data_;
  std::size_t size_ = 0;
};

}  // namespace votive
