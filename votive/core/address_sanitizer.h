// What AddressSanitizer is told of memory that Votive deals out itself; nothing in other builds. Its functions are declared here, since compilers come
// without its headers: clang's are a package of their own.
#pragma once

#include <cstddef>

extern "C" {
void __asan_poison_memory_region(const volatile void* address, std::size_t bytes);    // NOLINT(bugprone-reserved-identifier)
void __asan_unpoison_memory_region(const volatile void* address, std::size_t bytes);  // NOLINT(bugprone-reserved-identifier)
void __lsan_register_root_region(const void* address, std::size_t bytes);             // NOLINT(bugprone-reserved-identifier)
void __lsan_unregister_root_region(const void* address, std::size_t bytes);           // NOLINT(bugprone-reserved-identifier)
}

namespace votive {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
inline constexpr bool address_sanitizer = false;
#endif

inline void poison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes) {
  if constexpr (address_sanitizer) __asan_poison_memory_region(address, bytes);
}
inline void unpoison([[maybe_unused]] const void* address, [[maybe_unused]] std::size_t bytes) {
  if constexpr (address_sanitizer) __asan_unpoison_memory_region(address, bytes);
}

}  // namespace votive
