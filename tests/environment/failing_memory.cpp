// Replaces operator new, mmap and pthread_create of the whole program: what the library asks of the system goes through here.
#include "tests/environment/failing_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace votive::environment {
namespace {

std::atomic<long> left{0};  // requests until the one that fails; 0: none does
std::atomic<bool> came{false}, threads_refused{false};

bool fails() {
  long n = left.load(std::memory_order_relaxed);
  while (n > 0)
    if (left.compare_exchange_weak(n, n - 1)) {
      if (n == 1) came = true;
      return n == 1;
    }
  return false;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (fails()) return nullptr;
  if (bytes == 0) bytes = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes);
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  if (void* const address = allocate(bytes, alignment)) return address;
  throw std::bad_alloc();
}

}  // namespace

void arm(long n) {
  came = false;
  left = n;
}
bool disarm() {
  left = 0;
  return came;
}
void refuse_threads(bool refuse) { threads_refused = refuse; }

}  // namespace votive::environment

using votive::environment::allocate;
using votive::environment::allocate_or_throw;

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, 1); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) { return allocate_or_throw(bytes, static_cast<std::size_t>(alignment)); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, 1); }
void operator delete(void* address) noexcept { std::free(address); }
void operator delete[](void* address) noexcept { std::free(address); }
void operator delete(void* address, std::size_t) noexcept { std::free(address); }
void operator delete[](void* address, std::size_t) noexcept { std::free(address); }
void operator delete(void* address, std::align_val_t) noexcept { std::free(address); }
void operator delete[](void* address, std::align_val_t) noexcept { std::free(address); }
void operator delete(void* address, std::size_t, std::align_val_t) noexcept { std::free(address); }
void operator delete[](void* address, std::size_t, std::align_val_t) noexcept { std::free(address); }

extern "C" void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  if ((flags & MAP_ANONYMOUS) != 0 && votive::environment::fails()) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
  return votive::environment::threads_refused ? EAGAIN : create(thread, attributes, body, argument);
}
