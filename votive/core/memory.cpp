// Three sizes of block: small ones (≤ 32 KiB) in lists of each thread, middle ones in lists behind a lock, large ones (> 1.75 MiB) as mappings
// of their own. Freed blocks stay cached, at most max(1 GiB, half the peak) behind the lock and about 2 MiB per thread; past that the oldest
// large blocks go back first, then all free chunks.
#include "votive/core/memory.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

#include "votive/base/error.h"
#include "votive/base/text.h"
#include "votive/core/huge_pages.h"
#include "votive/core/new_memory.h"
#include "votive/core/size_classes.h"

namespace votive {

namespace {

constexpr std::size_t guard_bytes = address_sanitizer ? 64 : 0;  // poisoned bytes after every block

struct Block {
  Block* next;
};

std::atomic<int> filling{-1};  // what new blocks are filled with, or −1

// The first bytes of a cached block hold the link; the rest stays poisoned for AddressSanitizer, so that a use after the free is found.
void hand_out(void* block, std::size_t asked) {
  unpoison(block, asked);
  if (const int byte = filling.load(std::memory_order_relaxed); byte >= 0) [[unlikely]]
    std::memset(block, byte, asked);
}
void take_back(void* block, [[maybe_unused]] std::size_t bytes) { poison(block, bytes); }
__attribute__((no_sanitize_address)) Block* link_of(Block* block) { return block->next; }
__attribute__((no_sanitize_address)) void link(Block* block, Block* next) { block->next = next; }

struct List {
  Block* head = nullptr;
  std::atomic<std::uint32_t> count{0};  // written under the owner's rule, read by statistics

  Block* pop() {
    Block* block = head;
    if (block != nullptr) {
      head = link_of(block);
      count.store(count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
    }
    return block;
  }
  void push(Block* block) {
    link(block, head);
    head = block;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

constexpr std::uint32_t list_limit(int size_class) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(4, (std::size_t{64} << 10) / class_bytes(size_class)));
}

// Blocks and counters of one thread. Only the thread itself writes; statistics read.
struct ThreadCache {
  List lists[small_classes];
  std::atomic<std::int64_t> in_use{0};  // not yet added to the counters of all
  std::atomic<std::int64_t> high{0};    // largest in_use since then
  std::atomic<std::uint64_t> allocations{0};
  ThreadCache* next = nullptr;
  ThreadCache* previous = nullptr;

  void count_allocation(std::size_t bytes) {
    const std::int64_t now = in_use.load(std::memory_order_relaxed) + static_cast<std::int64_t>(bytes);
    in_use.store(now, std::memory_order_relaxed);
    if (now > high.load(std::memory_order_relaxed)) high.store(now, std::memory_order_relaxed);
    allocations.store(allocations.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  void count_free(std::size_t bytes) {
    in_use.store(in_use.load(std::memory_order_relaxed) - static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
  }
};

struct LargeBlock {
  std::size_t bytes;
  std::byte* address;
  std::uint64_t freed;  // when, counted in frees
};

// All behind `lock`. Never destroyed: tensors with static storage are freed after everything else.
struct Shared {
  std::mutex lock;
  ChunkPages chunks;
  List lists[class_count];
  std::size_t listed_bytes = 0;
  std::vector<LargeBlock> large;  // sorted by size
  std::size_t large_cached = 0;
  std::uint64_t frees = 0;
  ThreadCache* caches = nullptr;
  std::int64_t in_use = 0, peak = 0;
  std::uint64_t allocations = 0, system_calls = 0;

  void add_counters(ThreadCache& cache) {
    peak = std::max(peak, in_use + cache.high.load(std::memory_order_relaxed));
    in_use += cache.in_use.load(std::memory_order_relaxed);
    allocations += cache.allocations.load(std::memory_order_relaxed);
    cache.in_use.store(0, std::memory_order_relaxed);
    cache.high.store(0, std::memory_order_relaxed);
    cache.allocations.store(0, std::memory_order_relaxed);
  }
  void count_allocation(std::size_t bytes) {
    in_use += static_cast<std::int64_t>(bytes);
    peak = std::max(peak, in_use);
    ++allocations;
  }
  std::size_t cache_limit() const { return std::max(std::size_t{1} << 30, static_cast<std::size_t>(peak / 2)); }

  /// Joins every listed block with its chunk again.
  void join_lists() {
    for (int c = 0; c < class_count; ++c)
      while (lists[c].head != nullptr) {
        std::byte* const address = reinterpret_cast<std::byte*>(lists[c].head);
        const Block* const next = link_of(lists[c].head);
        chunks.join(address, class_bytes(c));  // may throw: the block leaves the list only afterwards
        lists[c].head = const_cast<Block*>(next);
        lists[c].count.store(lists[c].count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
        listed_bytes -= class_bytes(c);
      }
  }
  void unmap_large(std::size_t index) {
    const LargeBlock block = large[index];
    large.erase(large.begin() + static_cast<std::ptrdiff_t>(index));
    large_cached -= block.bytes;
    unmap_pages(block.address, block.bytes);
  }
  void keep_limit() noexcept {
    while (!large.empty() && large_cached + listed_bytes > cache_limit()) {
      const auto oldest =
          std::min_element(large.begin(), large.end(), [](const LargeBlock& a, const LargeBlock& b) { return a.freed < b.freed; });
      unmap_large(static_cast<std::size_t>(oldest - large.begin()));
    }
    if (listed_bytes > cache_limit()) try {
        join_lists();
        chunks.give_back();
      } catch (const std::bad_alloc&) {  // the list of free ranges could not grow: what is left stays cached
      }
  }
  std::size_t trim() {
    const std::size_t bytes = large_cached + listed_bytes;
    while (!large.empty()) unmap_large(large.size() - 1);
    join_lists();
    chunks.give_back();
    return bytes;
  }

  /// A block of a class from its list, or cut from a chunk.
  Block* block(int size_class) {
    if (Block* block = lists[size_class].pop()) {
      listed_bytes -= class_bytes(size_class);
      return block;
    }
    const std::size_t bytes = class_bytes(size_class), alignment = size_class < small_classes ? 64 : page_bytes;
    if (std::byte* cut = chunks.cut(bytes, alignment)) return reinterpret_cast<Block*>(cut);
    // Rather than grow, join what other classes have cached when that is a good part of all there is.
    if (listed_bytes > (std::size_t{64} << 20) && listed_bytes > static_cast<std::size_t>(std::max<std::int64_t>(in_use, 0)) / 4) {
      join_lists();
      if (std::byte* cut = chunks.cut(bytes, alignment)) return reinterpret_cast<Block*>(cut);
    }
    ++system_calls;
    if (!chunks.grow(bytes)) {
      trim();
      if (!chunks.grow(bytes)) return nullptr;
    }
    return reinterpret_cast<Block*>(chunks.cut(bytes, alignment));
  }
  void list(int size_class, Block* block) {
    lists[size_class].push(block);
    listed_bytes += class_bytes(size_class);
  }
};

Shared& shared() {
  static Shared* const instance = [] {
    // Through shared() again: a thread that forks sees what another one made only by its guard.
    ::pthread_atfork([] { shared().lock.lock(); }, [] { shared().lock.unlock(); }, [] { shared().lock.unlock(); });
    return new Shared;
  }();
  return *instance;
}

constinit thread_local ThreadCache* thread_cache __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local bool thread_ending __attribute__((tls_model("initial-exec"))) = false;

void end_thread_cache() noexcept {
  ThreadCache* const cache = thread_cache;
  thread_cache = nullptr;
  thread_ending = true;
  {
    Shared& all = shared();
    const std::lock_guard guard(all.lock);
    for (int c = 0; c < small_classes; ++c)
      while (Block* block = cache->lists[c].pop()) all.list(c, block);
    all.add_counters(*cache);
    (cache->previous != nullptr ? cache->previous->next : all.caches) = cache->next;
    if (cache->next != nullptr) cache->next->previous = cache->previous;
  }
  delete cache;
}

/// The calling thread's cache; nullptr while the thread ends, when what is left goes to the shared lists.
ThreadCache* make_thread_cache() {
  if (thread_ending) return nullptr;
  struct Ending {
    ~Ending() { end_thread_cache(); }
  };
  auto* const cache = new ThreadCache;
  Shared& all = shared();
  {
    const std::lock_guard guard(all.lock);
    cache->next = all.caches;
    if (all.caches != nullptr) all.caches->previous = cache;
    all.caches = cache;
  }
  thread_cache = cache;
  thread_local const Ending ending;
  static_cast<void>(&ending);
  return cache;
}

[[noreturn]] void refuse(std::size_t bytes, std::size_t limit = 0) {
  Error error(ErrorKind::OutOfMemory, "allocate");
  error.value(std::to_string(bytes));
  if (limit == 0) throw error.detail(text::format("the operating system refused {} bytes", bytes));
  throw error.limit(std::to_string(limit)).detail(text::format("{} bytes are more than the {} of this machine", bytes, limit));
}

/// Physical memory: a tensor past it could be mapped but never filled.
std::size_t machine_bytes() {
  static const std::size_t bytes = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return std::size_t{1} << 46;
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
  }();
  return bytes;
}

Memory allocate_large(std::size_t asked) {
  if (asked > machine_bytes()) refuse(asked, machine_bytes());
  const std::size_t bytes = large_bytes(asked + guard_bytes);
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  if (thread_cache != nullptr) all.add_counters(*thread_cache);
  const auto fit =
      std::lower_bound(all.large.begin(), all.large.end(), bytes, [](const LargeBlock& block, std::size_t b) { return block.bytes < b; });
  if (fit != all.large.end() && fit->bytes <= bytes + bytes / 8) {
    const Memory memory{fit->address, fit->bytes};
    all.large_cached -= fit->bytes;
    all.large.erase(fit);
    all.count_allocation(memory.bytes);
    hand_out(memory.address, asked);
    return memory;
  }
  ++all.system_calls;
  std::byte* address = map_pages(bytes);
  if (address == nullptr) {
    all.trim();
    address = map_pages(bytes);
    if (address == nullptr) refuse(asked);
  }
  all.count_allocation(bytes);
  take_back(address, bytes);
  hand_out(address, asked);
  return {address, bytes};
}

[[gnu::noinline]] Memory allocate_slowly(std::size_t asked) try {
  if (asked + guard_bytes > middle_limit || asked > middle_limit) return allocate_large(asked);
  const int size_class = class_of(asked + guard_bytes);
  const std::size_t bytes = class_bytes(size_class);
  ThreadCache* const cache = thread_cache != nullptr ? thread_cache : make_thread_cache();
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  if (cache != nullptr) all.add_counters(*cache);
  Block* const block = all.block(size_class);
  if (block == nullptr) refuse(asked);
  all.count_allocation(bytes);
  if (size_class < small_classes && cache != nullptr) {
    // The next ones come without the lock.
    for (std::uint32_t more = std::max(1u, list_limit(size_class) / 4); more > 0; --more) {
      Block* const spare =
          all.lists[size_class].head != nullptr ? all.block(size_class) : reinterpret_cast<Block*>(all.chunks.cut(bytes, 64));
      if (spare == nullptr) break;
      cache->lists[size_class].push(spare);
    }
  }
  hand_out(block, asked);
  return {reinterpret_cast<std::byte*>(block), bytes};
} catch (const std::bad_alloc&) { refuse(asked); }

[[gnu::noinline]] void free_slowly(Memory memory) noexcept {
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  if (thread_cache != nullptr) all.add_counters(*thread_cache);
  all.in_use -= static_cast<std::int64_t>(memory.bytes);
  if (memory.bytes <= middle_limit) {
    all.list(class_of(memory.bytes), reinterpret_cast<Block*>(memory.address));
  } else {
    const auto at = std::lower_bound(all.large.begin(), all.large.end(), memory.bytes,
                                     [](const LargeBlock& block, std::size_t b) { return block.bytes < b; });
    try {
      all.large.insert(at, {memory.bytes, memory.address, ++all.frees});
      all.large_cached += memory.bytes;
    } catch (const std::bad_alloc&) { unmap_pages(memory.address, memory.bytes); }
  }
  all.keep_limit();
}

/// Half of a list that has grown past its limit goes to the other threads.
[[gnu::noinline]] void shorten(ThreadCache& cache, int size_class) noexcept {
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  all.add_counters(cache);
  for (std::uint32_t half = list_limit(size_class) / 2; half > 0; --half) all.list(size_class, cache.lists[size_class].pop());
  all.keep_limit();
}

}  // namespace

Memory allocate_memory(std::size_t asked) {
  if (asked <= small_limit - guard_bytes) {
    if (ThreadCache* const cache = thread_cache) {
      const int size_class = class_of(asked + guard_bytes);
      if (Block* const block = cache->lists[size_class].pop()) {
        const std::size_t bytes = small_class_bytes[static_cast<std::size_t>(size_class)];
        cache->count_allocation(bytes);
        hand_out(block, asked);
        return {reinterpret_cast<std::byte*>(block), bytes};
      }
    }
  }
  return allocate_slowly(asked);
}

void free_memory(Memory memory) noexcept {
  if (memory.address == nullptr) return;
  take_back(memory.address, memory.bytes);
  ThreadCache* const cache = thread_cache;
  if (memory.bytes > small_limit || cache == nullptr) return free_slowly(memory);
  const int size_class = class_of(memory.bytes);
  List& list = cache->lists[size_class];
  list.push(reinterpret_cast<Block*>(memory.address));
  cache->count_free(memory.bytes);
  if (list.count.load(std::memory_order_relaxed) > list_limit(size_class)) [[unlikely]]
    shorten(*cache, size_class);
}

void free_small_memory(std::byte* address, std::size_t asked) noexcept {
  free_memory({address, small_class_bytes[static_cast<std::size_t>(class_of(asked + guard_bytes))]});
}

void fill_new_memory(int byte) { filling.store(byte < 0 ? -1 : byte & 0xff, std::memory_order_relaxed); }

MemoryStatistics memory_statistics() {
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  if (thread_cache != nullptr) all.add_counters(*thread_cache);
  std::int64_t in_use = all.in_use;
  MemoryStatistics statistics;
  statistics.allocations = all.allocations;
  statistics.system_calls = all.system_calls;
  statistics.cached_bytes = all.listed_bytes + all.large_cached;
  for (const ThreadCache* cache = all.caches; cache != nullptr; cache = cache->next) {
    in_use += cache->in_use.load(std::memory_order_relaxed);
    statistics.allocations += cache->allocations.load(std::memory_order_relaxed);
    for (int c = 0; c < small_classes; ++c)
      statistics.cached_bytes += cache->lists[c].count.load(std::memory_order_relaxed) * class_bytes(c);
  }
  all.peak = std::max(all.peak, in_use);
  statistics.in_use_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(in_use, 0));
  statistics.peak_bytes = static_cast<std::uint64_t>(all.peak);
  return statistics;
}

std::size_t trim_memory() {
  Shared& all = shared();
  const std::lock_guard guard(all.lock);
  if (ThreadCache* const cache = thread_cache)
    for (int c = 0; c < small_classes; ++c)
      while (Block* block = cache->lists[c].pop()) all.list(c, block);
  return all.trim();
}

}  // namespace votive
