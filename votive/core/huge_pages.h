// Address space from the operating system: mappings aligned to 2 MiB that ask for huge pages, and chunks of them that are cut into pieces and
// joined again. Not here: which block is cached for whom (memory.cpp). Not safe for several threads; the caller holds a lock.
#pragma once

#include <cstddef>
#include <map>

#include "votive/core/address_sanitizer.h"

namespace votive {

inline constexpr std::size_t page_bytes = 4096;
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

/// Zeroed memory at a 2 MiB boundary, or nullptr when the operating system refuses. `bytes` is a multiple of page_bytes.
std::byte* map_pages(std::size_t bytes) noexcept;
void unmap_pages(std::byte* address, std::size_t bytes) noexcept;

/// Chunks of 32 MiB, cut anywhere at multiples of 64 bytes. Small and middle-sized tensors lie side by side in huge pages this way:
/// 4 KiB pages cost 10–38 % of read bandwidth (measured, 2-core Zen 4), and a language model has hundreds of weights of half a megabyte.
class ChunkPages {
 public:
  /// nullptr when no free range holds it. `alignment` is a power of two, at most page_bytes.
  std::byte* cut(std::size_t bytes, std::size_t alignment);
  /// A new chunk of at least `bytes`; false when the operating system refuses.
  bool grow(std::size_t bytes);
  void join(std::byte* address, std::size_t bytes);
  /// Unmaps chunks that are free as a whole and gives back the physical pages of other free ranges.
  void give_back();

 private:
  std::map<std::byte*, std::size_t> chunks_;
  std::map<std::byte*, std::size_t> free_;
};

}  // namespace votive
