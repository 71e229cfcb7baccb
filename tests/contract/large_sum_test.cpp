// More than 2³¹ elements: what a 32-bit count or offset would get wrong. 2 GiB of u8, so only `./dev test exhaustive` runs it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/core/memory.h"
#include "votive/ops/ops.h"

namespace votive::contract {
namespace {

TEST(LargeSums, OfMoreThanTwoToThe31BytesAreExact) {
  if (std::getenv("VOTIVE_EXHAUSTIVE") == nullptr) GTEST_SKIP() << "2 GiB and some seconds: ./dev test exhaustive runs it";
  constexpr Size n = (Size{1} << 31) + 4097;
  const long pages = ::sysconf(_SC_AVPHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (static_cast<double>(pages) * static_cast<double>(page) < 3.0 * (1 << 30)) GTEST_SKIP() << "less than 3 GiB of memory are free";
  Tensor x = Tensor::allocate("large", {.dtype = DType::u8, .shape = {n}});
  std::memset(x.mutable_buffer(), 3, static_cast<std::size_t>(n));
  x.mutable_buffer()[n - 1] = std::byte{200};  // past 2³¹
  x.mutable_buffer()[n - 4096] = std::byte{0};
  const std::uint64_t want = std::uint64_t{3} * (n - 2) + 200;
  const int before = threads();
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    EXPECT_EQ(sum(x).item<std::uint64_t>(), want) << count << " threads";
    EXPECT_EQ(argmax(x).item<std::int64_t>(), n - 1) << count << " threads";
    EXPECT_EQ(argmin(x).item<std::int64_t>(), n - 4096) << count << " threads";
    EXPECT_EQ(max(x).item<std::uint8_t>(), 200) << count << " threads";
    EXPECT_EQ(count_nonzero(x).item<std::int64_t>(), n - 1) << count << " threads";
    // The mean is the exact sum as f32 over the count as f32 (CONTRACT.md 3.1).
    EXPECT_EQ(mean(x).item<float>(), static_cast<float>(want) / static_cast<float>(n)) << count << " threads";
  }
  set_threads(before);
  // Offsets past 2³¹: the last elements by a view, and backwards.
  EXPECT_EQ(sum(narrow(x, 0, n - 2, 2)).item<std::uint64_t>(), 203u);
  EXPECT_EQ(sum(narrow(flip(x, 0), 0, 0, 4096)).item<std::uint64_t>(), 200u + 3 * 4094);
  EXPECT_EQ(select(x, 0, -1).item<std::uint8_t>(), 200);
  x = Tensor();
  trim_memory();
}

}  // namespace
}  // namespace votive::contract
