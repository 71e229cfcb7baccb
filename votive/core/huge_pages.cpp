// mmap(2) with an alignment, and a first-fit list of free ranges. Under AddressSanitizer all that is not handed out is poisoned.
#include "votive/core/huge_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>

namespace votive {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{32} << 20;

std::byte* aligned_up(std::byte* address, std::size_t alignment) {
  return address + (-reinterpret_cast<std::uintptr_t>(address) & (alignment - 1));
}

}  // namespace

std::byte* map_pages(std::size_t bytes) noexcept {
  const std::size_t room = bytes + huge_page_bytes - page_bytes;
  void* mapped = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* const start = static_cast<std::byte*>(mapped);
  std::byte* const address = aligned_up(start, huge_page_bytes);
  const auto before = static_cast<std::size_t>(address - start);
  if (before > 0) ::munmap(start, before);
  if (room - before > bytes) ::munmap(address + bytes, room - before - bytes);
#if defined(MADV_HUGEPAGE)
  ::madvise(address, bytes, MADV_HUGEPAGE);
#endif
  return address;
}

void unmap_pages(std::byte* address, std::size_t bytes) noexcept {
  unpoison(address, bytes);
  ::munmap(address, bytes);
}

std::byte* ChunkPages::cut(std::size_t bytes, std::size_t alignment) {
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    std::byte* const address = aligned_up(range->first, alignment);
    const auto before = static_cast<std::size_t>(address - range->first);
    if (range->second < before + bytes) continue;
    const std::size_t after = range->second - before - bytes;
    if (after > 0) free_.emplace_hint(std::next(range), address + bytes, after);
    if (before > 0) {
      range->second = before;
    } else {
      free_.erase(range);
    }
    return address;
  }
  return nullptr;
}

bool ChunkPages::grow(std::size_t bytes) {
  std::size_t size = std::max(chunk_bytes, (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes);
  std::byte* address = map_pages(size);
  if (address == nullptr) {  // under a limit on address space a small chunk may still be had
    size = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    address = map_pages(size);
    if (address == nullptr) return false;
  }
  poison(address, size);
  if constexpr (address_sanitizer) __lsan_register_root_region(address, size);  // headers of tensors lie here and point to the heap
  chunks_.emplace(address, size);
  free_.emplace(address, size);
  return true;
}

void ChunkPages::join(std::byte* address, std::size_t bytes) {
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes && !chunks_.contains(next->first)) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && !chunks_.contains(address)) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == address) {
      previous->second += bytes;
      return;
    }
  }
  free_.emplace_hint(next, address, bytes);
}

void ChunkPages::give_back() {
  for (auto range = free_.begin(); range != free_.end();) {
    const auto chunk = chunks_.find(range->first);
    if (chunk != chunks_.end() && chunk->second == range->second) {
      if constexpr (address_sanitizer) __lsan_unregister_root_region(chunk->first, chunk->second);
      unmap_pages(chunk->first, chunk->second);
      chunks_.erase(chunk);
      range = free_.erase(range);
      continue;
    }
    std::byte* const first = aligned_up(range->first, page_bytes);
    std::byte* const last = range->first + range->second;
    const std::size_t whole = last > first ? static_cast<std::size_t>(last - first) / page_bytes * page_bytes : 0;
    if (whole > 0) ::madvise(first, whole, MADV_DONTNEED);
    ++range;
  }
}

}  // namespace votive
