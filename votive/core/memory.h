// The caching allocator behind every tensor on the host. Freed blocks are kept by size class and handed out again warm:
// a fresh 64 MB output from the kernel costs 29 ms of page faults, from here nothing (measured, 2-core Zen 4).
// Blocks of 2 MiB and more are aligned to 2 MiB and ask for huge pages. At most max(1 GiB, half of the peak) stays cached; past that the block
// freed longest ago goes back. A block may be freed on any thread, also while threads and the process end. Not here: memory of other devices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace votive {

struct Memory {
  std::byte* address = nullptr;
  std::size_t bytes = 0;  ///< of the block, at least what was asked for; only what was asked for may be touched
};

/// 64-byte aligned. Zero bytes give a valid address. Throws Error{OutOfMemory}, at once for more than the machine has.
Memory allocate_memory(std::size_t bytes);
void free_memory(Memory memory) noexcept;
/// For who knows only what was asked for, at most 32 KiB of it.
void free_small_memory(std::byte* address, std::size_t asked) noexcept;

/// Exact when no other thread allocates meanwhile; with several, the peak may miss up to 2 MiB of each.
struct MemoryStatistics {
  std::uint64_t in_use_bytes = 0;  ///< handed out and not yet freed
  std::uint64_t cached_bytes = 0;  ///< kept for the next call
  std::uint64_t peak_bytes = 0;    ///< largest in_use_bytes so far
  std::uint64_t allocations = 0;   ///< calls that handed out a block
  std::uint64_t system_calls = 0;  ///< how often the operating system was asked for more
};
MemoryStatistics memory_statistics();

/// Returns every cached block to the operating system, but for the small ones (about 2 MiB) in lists of other threads; gives the bytes returned.
std::size_t trim_memory();

}  // namespace votive
