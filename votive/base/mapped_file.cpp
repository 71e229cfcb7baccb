// Mapping by mmap(2); the descriptor is closed at once, the mapping goes with its last owner.
#include "votive/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "votive/base/error.h"

namespace votive {

namespace {

[[noreturn]] void refuse(const std::string& path, const char* what, int code) {
  throw Error(ErrorKind::Io, "open").value(std::strerror(code)).detail(std::string(what) + " '" + path + "': " + std::strerror(code));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  // Without O_NONBLOCK a pipe that nobody writes to would hold the call for ever, before one sees that it is a pipe.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) refuse(path, "cannot open", errno);
  struct stat status {};
  if (::fstat(file, &status) != 0) {
    const int code = errno;
    ::close(file);
    refuse(path, "cannot read the size of", code);
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(file);
    refuse(path, "not a regular file:", S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) {
    ::close(file);
    return;
  }
  void* start = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
  const int code = errno;
  ::close(file);
  if (start == MAP_FAILED) refuse(path, "cannot map", code);
  const std::size_t size = size_;
  data_ = std::shared_ptr<const std::byte>(static_cast<const std::byte*>(start),
                                           [size](const std::byte* p) { ::munmap(const_cast<std::byte*>(p), size); });
}

}  // namespace votive
