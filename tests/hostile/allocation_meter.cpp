// Under a sanitizer its own hooks report every allocation; elsewhere malloc and its kin are replaced by forms that count and hand on to glibc.
#include "tests/hostile/allocation_meter.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VOTIVE_SANITIZER_HOOKS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define VOTIVE_SANITIZER_HOOKS 1
#endif
#endif

namespace {

// Signed: what was taken before the hooks were there may be given back after.
constinit std::atomic<std::ptrdiff_t> live{0}, highest{0};

void took(std::size_t bytes) {
  const auto more = static_cast<std::ptrdiff_t>(bytes);
  const std::ptrdiff_t now = live.fetch_add(more, std::memory_order_relaxed) + more;
  if (now > highest.load(std::memory_order_relaxed)) highest.store(now, std::memory_order_relaxed);
}
void gave(std::size_t bytes) { live.fetch_sub(static_cast<std::ptrdiff_t>(bytes), std::memory_order_relaxed); }

}  // namespace

#ifdef VOTIVE_SANITIZER_HOOKS

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*taken)(const volatile void*, std::size_t),
                                                         void (*given)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*);

namespace {

const int installed = __sanitizer_install_malloc_and_free_hooks([](const volatile void*, std::size_t bytes) { took(bytes); },
                                                                [](const volatile void* p) {
                                                                  if (p != nullptr) gave(__sanitizer_get_allocated_size(p));
                                                                });

}  // namespace

#else

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t bytes) {
  void* const p = __libc_malloc(bytes);
  if (p != nullptr) took(::malloc_usable_size(p));
  return p;
}
void* calloc(std::size_t count, std::size_t bytes) {
  void* const p = __libc_calloc(count, bytes);
  if (p != nullptr) took(::malloc_usable_size(p));
  return p;
}
void* realloc(void* old, std::size_t bytes) {
  const std::size_t before = old != nullptr ? ::malloc_usable_size(old) : 0;
  void* const p = __libc_realloc(old, bytes);
  if (p != nullptr) took(::malloc_usable_size(p));  // both exist while the bytes are copied
  if (p != nullptr || bytes == 0) gave(before);
  return p;
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  void* const p = __libc_memalign(alignment, bytes);
  if (p != nullptr) took(::malloc_usable_size(p));
  return p;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return ::memalign(alignment, bytes); }
int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  *result = ::memalign(alignment, bytes);
  return *result != nullptr ? 0 : ENOMEM;
}
void free(void* p) {
  if (p != nullptr) gave(::malloc_usable_size(p));
  __libc_free(p);
}
}

#endif

namespace votive {

AllocationMeter::AllocationMeter() : start_(live.load()) { highest.store(start_); }

std::size_t AllocationMeter::peak() const { return static_cast<std::size_t>(highest.load() - start_); }

}  // namespace votive
