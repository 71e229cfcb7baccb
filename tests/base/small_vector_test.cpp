// A small vector behaves like std::vector, and asks for no memory up to N.
#include "votive/base/small_vector.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace votive {
namespace {

using Shared = std::shared_ptr<int>;

TEST(SmallVector, StaysInPlaceUpToItsSizeAndKeepsOrderPastIt) {
  SmallVector<int, 4> small;
  std::vector<int> like;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(small.in_place(), i <= 4);
    small.push_back(i * i);
    like.push_back(i * i);
    ASSERT_EQ(std::vector<int>(small.begin(), small.end()), like);
  }
}

TEST(SmallVector, MayBePushedOneOfItsOwnElements) {
  SmallVector<Shared, 2> small{std::make_shared<int>(1), std::make_shared<int>(2)};
  for (int i = 0; i < 10; ++i) small.push_back(small[0]);
  EXPECT_EQ(small.size(), 12u);
  EXPECT_EQ(small[0].use_count(), 11);
}

TEST(SmallVector, CopiesMovesAndEndsEveryElementOnce) {
  for (int n : {0, 1, 3, 4, 9}) {
    const auto value = std::make_shared<int>(7);
    {
      SmallVector<Shared, 3> a;
      for (int i = 0; i < n; ++i) a.push_back(value);
      SmallVector<Shared, 3> copy = a;
      EXPECT_EQ(value.use_count(), 1 + 2 * n);
      SmallVector<Shared, 3> moved = std::move(a);
      EXPECT_EQ(value.use_count(), 1 + 2 * n);
      EXPECT_EQ(moved.size(), static_cast<std::size_t>(n));
      EXPECT_TRUE(a.empty());  // NOLINT: what a moved-from vector is, is the point
      a.push_back(value);
      a = copy;
      EXPECT_EQ(value.use_count(), 1 + 3 * n);
      moved = std::move(copy);
      EXPECT_EQ(value.use_count(), 1 + 2 * n);
      moved.clear();
      EXPECT_EQ(value.use_count(), 1 + n);
    }
    EXPECT_EQ(value.use_count(), 1);
  }
}

TEST(SmallVector, AssignedToItselfKeepsItsElements) {
  SmallVector<int, 2> small{1, 2, 3};
  const auto& same = small;
  small = same;
  EXPECT_EQ(std::vector<int>(small.begin(), small.end()), (std::vector<int>{1, 2, 3}));
}

}  // namespace
}  // namespace votive
