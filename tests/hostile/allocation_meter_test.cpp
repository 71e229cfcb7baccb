// A meter that sees nothing would let every hostile file pass.
#include "tests/hostile/allocation_meter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace votive {
namespace {

// Through a pointer that the compiler does not know, so that no allocation is left out.
void* (*volatile take)(std::size_t) = std::malloc;
void* (*volatile take_again)(void*, std::size_t) = std::realloc;
void (*volatile give)(void*) = std::free;

TEST(AllocationMeter, SeesMallocAndFree) {
  const AllocationMeter meter;
  void* const p = take(100'000);
  EXPECT_GE(meter.peak(), 100'000u);
  give(p);
  give(take(50'000));
  EXPECT_LT(meter.peak(), 150'000u);
}

TEST(AllocationMeter, SeesVectorsGrow) {
  const AllocationMeter meter;
  std::vector<char> bytes;
  for (int i = 0; i < 1'000'000; ++i) bytes.push_back('x');
  EXPECT_GE(meter.peak(), 1'500'000u);  // the last growth holds old and new
  EXPECT_LT(meter.peak(), 2'000'000u);
}

TEST(AllocationMeter, SeesRealloc) {
  const AllocationMeter meter;
  void* const p = take_again(take(1000), 300'000);
  EXPECT_GE(meter.peak(), 300'000u);
  EXPECT_LT(meter.peak(), 330'000u);
  give(p);
}

TEST(AllocationMeter, BeginsAgainWithEachMeter) {
  give(take(1'000'000));
  const AllocationMeter meter;
  EXPECT_EQ(meter.peak(), 0u);
}

}  // namespace
}  // namespace votive
