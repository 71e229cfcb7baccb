// The caching allocator: alignment, reuse, exact statistics, what goes back to the system. Sizes expected are worked out here.
#include "votive/core/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "votive/base/error.h"
#include "votive/core/huge_pages.h"
#include "votive/core/size_classes.h"

namespace votive {
namespace {

constexpr std::size_t kib = 1024, mib = 1024 * kib;

constexpr bool guarded = address_sanitizer;  // every block is 64 bytes longer then, so that a write past it is found

bool aligned(const Memory& memory, std::size_t to) { return reinterpret_cast<std::uintptr_t>(memory.address) % to == 0; }

TEST(SizeClasses, AreTheSmallestThatHoldEverySize) {
  for (int c = 0; c < class_count; ++c) {
    EXPECT_EQ(class_of(class_bytes(c)), c);
    EXPECT_EQ(class_bytes(c) % 64, 0u);
    EXPECT_TRUE(c + 1 == class_count || class_of(class_bytes(c) + 1) == c + 1) << c;
  }
  EXPECT_EQ(class_of(0), 0);
  EXPECT_EQ(class_bytes(0), 64u);
  EXPECT_EQ(class_bytes(class_of(513)), 640u);
  EXPECT_EQ(class_bytes(class_of(40000)), 40u * 1024);
  EXPECT_EQ(class_bytes(class_of(kib * 1537)), 1792 * kib);
}

TEST(MemoryBlocks, HoldWhatWasAskedForAndAreAlignedTo64Bytes) {
  for (std::size_t bytes = 0; bytes < 9 * mib; bytes = bytes < 3000 ? bytes + 1 : bytes * 17 / 16) {
    const Memory memory = allocate_memory(bytes);
    ASSERT_NE(memory.address, nullptr);
    EXPECT_GE(memory.bytes, bytes);
    EXPECT_TRUE(aligned(memory, 64)) << bytes;
    std::memset(memory.address, 1, bytes);
    free_memory(memory);
  }
}

TEST(MemoryBlocks, WasteAtMostAQuarterOfWhatWasAskedFor) {
  if (guarded) GTEST_SKIP() << "blocks are longer under AddressSanitizer";
  for (std::size_t bytes = 512; bytes < 20 * mib; bytes = bytes * 33 / 32 + 1) {
    const Memory memory = allocate_memory(bytes);
    EXPECT_LE(memory.bytes, bytes + bytes / 4) << bytes;
    free_memory(memory);
  }
}

TEST(MemoryBlocks, DoNotOverlap) {
  std::mt19937 random(4);
  std::vector<std::pair<Memory, std::size_t>> held;
  for (int round = 0; round < 20000; ++round) {
    if (held.size() > 200 || (!held.empty() && random() % 2 == 0)) {
      const std::size_t at = random() % held.size();
      const auto [memory, tag] = held[at];
      for (std::size_t i : {std::size_t{0}, tag % 7, std::size_t{31}})
        ASSERT_EQ(std::to_integer<unsigned>(memory.address[i]), tag & 0xff) << "after " << round;
      held[at] = held.back();
      held.pop_back();
      free_memory(memory);
    } else {
      const std::size_t bytes = 32 + (std::size_t{1} << random() % 16) + random() % 100;
      const Memory memory = allocate_memory(bytes);
      std::memset(memory.address, static_cast<int>(held.size() + 1), bytes);
      held.emplace_back(memory, held.size() + 1);
    }
  }
  for (const auto& [memory, tag] : held) free_memory(memory);
}

TEST(MemoryBlocks, Of2MiBAndMoreStartAHugePage) {
  for (std::size_t bytes : {2 * mib, 2 * mib + 1, 5 * mib, 64 * mib}) {
    const Memory memory = allocate_memory(bytes);
    EXPECT_TRUE(aligned(memory, 2 * mib)) << bytes;
    free_memory(memory);
  }
}

TEST(MemoryBlocks, AreHandedOutAgainWithoutAskingTheSystem) {
  for (std::size_t bytes : {std::size_t{1}, 100 * kib, std::size_t{1} << 21, 64 * mib}) {
    const Memory first = allocate_memory(bytes);
    free_memory(first);
    const auto before = memory_statistics();
    const Memory second = allocate_memory(bytes);
    EXPECT_EQ(second.address, first.address) << bytes;
    EXPECT_EQ(memory_statistics().system_calls, before.system_calls) << bytes;
    free_memory(second);
  }
}

TEST(MemoryBlocks, ThatAreMuchLargerAreNotUsedForSmallerOnes) {
  trim_memory();
  free_memory(allocate_memory(100 * mib));
  const Memory half = allocate_memory(50 * mib);
  EXPECT_LT(half.bytes, 51 * mib);
  const Memory near = allocate_memory(95 * mib);
  EXPECT_GE(near.bytes, 100 * mib);
  free_memory(half);
  free_memory(near);
}

TEST(MemoryStatistics, CountEveryByteAndCall) {
  const auto start = memory_statistics();
  std::vector<Memory> held;
  std::size_t bytes = 0;
  for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{700}, 10 * kib, 40 * kib, mib, 3 * mib}) {
    held.push_back(allocate_memory(size));
    bytes += held.back().bytes;
    EXPECT_EQ(memory_statistics().in_use_bytes, start.in_use_bytes + bytes);
  }
  EXPECT_EQ(memory_statistics().allocations, start.allocations + held.size());
  EXPECT_GE(memory_statistics().peak_bytes, start.in_use_bytes + bytes);
  const auto cached = memory_statistics().cached_bytes;
  for (const Memory& memory : held) free_memory(memory);
  EXPECT_EQ(memory_statistics().in_use_bytes, start.in_use_bytes);
  EXPECT_EQ(memory_statistics().cached_bytes, cached + bytes);
}

TEST(MemoryStatistics, RememberThePeakOfSmallBlocksToo) {
  std::vector<Memory> held;
  const auto highest = memory_statistics().peak_bytes;
  while (memory_statistics().in_use_bytes < highest) held.push_back(allocate_memory(mib));
  const auto start = memory_statistics().in_use_bytes;
  std::size_t bytes = 0;
  std::vector<Memory> small;
  for (int i = 0; i < 50; ++i) {
    small.push_back(allocate_memory(100));
    bytes += small.back().bytes;
  }
  for (const Memory& memory : small) free_memory(memory);
  EXPECT_EQ(memory_statistics().peak_bytes, start + bytes);
  for (const Memory& memory : held) free_memory(memory);
  EXPECT_EQ(memory_statistics().peak_bytes, start + bytes);
}

TEST(TrimMemory, GivesBackAllThatIsCachedAndSaysHowMuch) {
  const auto in_use = memory_statistics().in_use_bytes;
  const Memory kept = allocate_memory(1000);
  std::memset(kept.address, 7, 1000);
  for (std::size_t size : {10 * kib, 100 * kib, 30 * mib}) free_memory(allocate_memory(size));
  const auto cached = memory_statistics().cached_bytes;
  EXPECT_GE(cached, 30 * mib);
  EXPECT_EQ(trim_memory(), cached);
  EXPECT_EQ(memory_statistics().cached_bytes, 0u);
  EXPECT_EQ(trim_memory(), 0u);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(std::to_integer<int>(kept.address[i]), 7);
  EXPECT_EQ(memory_statistics().in_use_bytes, in_use + kept.bytes);
  free_memory(kept);
}

TEST(TrimMemory, LeavesBlocksInUseAloneAmongManyThatGo) {
  std::vector<Memory> all, kept;
  for (int i = 0; i < 3000; ++i) all.push_back(allocate_memory(100 + static_cast<std::size_t>(i) * 37 % 60000));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::memset(all[i].address, static_cast<int>(i % 251), 100);
    if (i % 5 == 0) {
      kept.push_back(all[i]);
    } else {
      free_memory(all[i]);
    }
  }
  trim_memory();
  std::vector<Memory> again;
  for (int i = 0; i < 3000; ++i) {
    again.push_back(allocate_memory(100 + static_cast<std::size_t>(i) * 53 % 60000));
    std::memset(again.back().address, 0xff, 100);
  }
  for (std::size_t i = 0; i < kept.size(); ++i)
    for (int byte = 0; byte < 100; ++byte) ASSERT_EQ(std::to_integer<std::size_t>(kept[i].address[byte]), i * 5 % 251);
  for (const Memory& memory : kept) free_memory(memory);
  for (const Memory& memory : again) free_memory(memory);
}

TEST(MemoryCache, KeepsAtMostAGibibyteOrHalfThePeak) {
  std::vector<Memory> held;
  for (int i = 0; i < 30; ++i) held.push_back(allocate_memory(100 * mib));  // never touched, so only addresses are taken
  for (const Memory& memory : held) free_memory(memory);
  const auto after = memory_statistics();
  EXPECT_LE(after.cached_bytes, std::max<std::uint64_t>(1024 * mib, after.peak_bytes / 2) + 3 * mib);
  EXPECT_GE(after.cached_bytes, 900 * mib);
  trim_memory();
}

TEST(OutOfMemory, IsAnErrorBeforeTheSystemIsAsked) {
  const auto before = memory_statistics();
  for (std::size_t bytes : {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, std::size_t{1} << 50}) {
    try {
      free_memory(allocate_memory(bytes));
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::OutOfMemory);
      EXPECT_EQ(error.value(), std::to_string(bytes));
    }
  }
  EXPECT_EQ(memory_statistics().system_calls, before.system_calls);
  EXPECT_EQ(memory_statistics().in_use_bytes, before.in_use_bytes);
}

TEST(OutOfMemory, IsAnErrorWhenTheSystemRefusesAndLeavesTheRestUsable) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(VOTIVE_EMULATED)
  GTEST_SKIP() << "sanitizers and emulators need more address space than this test leaves";
#else
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    const rlimit limit{std::size_t{1} << 30, std::size_t{1} << 30};
    ::setrlimit(RLIMIT_AS, &limit);
    int refused = 0;
    std::vector<Memory> held;
    try {
      while (held.size() < 100) held.push_back(allocate_memory(100 * mib));
    } catch (const Error& error) { refused = error.kind() == ErrorKind::OutOfMemory && !held.empty(); }
    for (const Memory& memory : held) free_memory(memory);
    // What was freed is cached in pieces of 100 MiB: a request for 300 must get them back first.
    free_memory(allocate_memory(300 * mib));
    ::_exit(refused == 1 ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
#endif
}

TEST(MemoryOfThreads, MayBeFreedOnAnotherOne) {
  const auto start = memory_statistics();
  std::vector<Memory> held;
  std::thread([&] {
    for (int i = 0; i < 5000; ++i) {
      held.push_back(allocate_memory(1 + static_cast<std::size_t>(i) * 13 % 5000));
      *held.back().address = std::byte{1};
    }
  }).join();
  std::thread([&] {
    for (const Memory& memory : held) free_memory(memory);
  }).join();
  const auto end = memory_statistics();
  EXPECT_EQ(end.in_use_bytes, start.in_use_bytes);
  EXPECT_EQ(end.allocations, start.allocations + 5000);
}

TEST(MemoryOfThreads, GoesToTheOthersWhenAThreadEnds) {
  trim_memory();
  const auto fill = [] {
    std::vector<Memory> held;
    for (int i = 0; i < 10000; ++i) held.push_back(allocate_memory(1000));
    for (const Memory& memory : held) free_memory(memory);
  };
  std::thread(fill).join();
  const auto calls = memory_statistics().system_calls;
  for (int i = 0; i < 10; ++i) std::thread(fill).join();
  EXPECT_EQ(memory_statistics().system_calls, calls);
}

TEST(MemoryOfThreads, IsNeverHandedOutTwiceAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<Memory> held;
      for (int round = 0; round < 5000; ++round) {
        if (held.size() < 50) {
          held.push_back(allocate_memory(8 + random() % 100000));
          std::memcpy(held.back().address, &t, sizeof t);
        }
        if (random() % 2 == 0) {
          const std::size_t at = random() % held.size();
          wrong[t] += std::memcmp(held[at].address, &t, sizeof t) != 0;
          free_memory(held[at]);
          held[at] = held.back();
          held.pop_back();
        }
        if (round % 1000 == 0) trim_memory();
      }
      for (const Memory& memory : held) free_memory(memory);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::vector<int>{0, 0, 0, 0}));
}

struct FreesWhenTheThreadHasEnded {
  Memory memory{};
  ~FreesWhenTheThreadHasEnded() {
    free_memory(memory);
    free_memory(allocate_memory(500));
  }
};
thread_local FreesWhenTheThreadHasEnded last;

TEST(MemoryOfThreads, MayBeUsedByDestructorsThatRunAfterTheCacheHasGone) {
  const auto start = memory_statistics().in_use_bytes;
  std::thread([] {
    last.memory = {};  // registers its destructor before the cache's, so it runs after it
    last.memory = allocate_memory(100);
  }).join();
  EXPECT_EQ(memory_statistics().in_use_bytes, start);
}

TEST(MemoryOfThreads, WorksInAChildForkedWhileOthersAllocate) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) free_memory(allocate_memory(100 * kib));
  });
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      free_memory(allocate_memory(100 * kib));
      free_memory(allocate_memory(100));
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = true;
  other.join();
}

#if defined(__SANITIZE_ADDRESS__)
TEST(MemoryDeathTest, AReadAfterTheFreeIsFound) {
  EXPECT_DEATH(
      {
        const Memory memory = allocate_memory(1000);
        free_memory(memory);
        static_cast<void>(*const_cast<volatile std::byte*>(memory.address + 500));
      },
      "use-after-poison");
}

TEST(MemoryDeathTest, AWritePastTheBlockIsFound) {
  for (std::size_t bytes : {std::size_t{64}, std::size_t{100}, 48 * kib, 4 * mib})
    EXPECT_DEATH(
        {
          const Memory memory = allocate_memory(bytes);
          *const_cast<volatile std::byte*>(memory.address + bytes) = std::byte{1};
        },
        "use-after-poison")
        << bytes;
}
#endif

}  // namespace
}  // namespace votive
