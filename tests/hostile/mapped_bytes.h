// A file that lives in memory and can be changed byte by byte, mapped so that AddressSanitizer sees a read past its end: the rest of its last
// page, which a mapping leaves readable, is poisoned while the file is open.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "votive/base/mapped_file.h"

#if defined(__SANITIZE_ADDRESS__)
#define VOTIVE_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define VOTIVE_POISONS 1
#endif
#endif
#ifdef VOTIVE_POISONS
#include <sanitizer/asan_interface.h>
#endif

namespace votive {

class MappedBytes {
 public:
  explicit MappedBytes(std::string_view bytes)
      : file_(::memfd_create("votive", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {
    set(bytes);
  }
  ~MappedBytes() { ::close(file_); }
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  void set(std::string_view bytes) {
    cut(bytes.size());
    if (::pwrite(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  }
  void cut(std::size_t size) {
    if (::ftruncate(file_, static_cast<off_t>(size)) != 0) std::abort();
  }
  void change(std::size_t at, char byte) {
    if (::pwrite(file_, &byte, 1, static_cast<off_t>(at)) != 1) std::abort();
  }

  /// Calls `work` with the file mapped; nothing of the mapping may outlive the call.
  template <class Work>
  void with_mapping(Work work) const {
    const MappedFile mapped(path_);
#ifdef VOTIVE_POISONS
    struct Poison {
      const std::byte* begin;
      std::size_t bytes;
      Poison(std::span<const std::byte> file) : begin(file.data() + file.size()), bytes((4096 - file.size() % 4096) % 4096) {
        if (!file.empty()) __asan_poison_memory_region(begin, bytes);
      }
      ~Poison() { __asan_unpoison_memory_region(begin, bytes); }
    } const poison(mapped.bytes());
#endif
    work(mapped);
  }

 private:
  int file_;
  std::string path_;
};

}  // namespace votive
