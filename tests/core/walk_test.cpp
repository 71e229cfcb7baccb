// The walk visits every element of every operand once, in row-major order, whatever it merged; expectations are index arithmetic done here.
#include "votive/core/walk.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace votive {
namespace {

std::vector<Size> offsets_of(const Layout& layout) {
  std::vector<Size> offsets;
  const std::function<void(int, Size)> visit = [&](int axis, Size offset) {
    if (axis == layout.rank()) return offsets.push_back(offset);
    for (Size i = 0; i < layout.shape[axis]; ++i) visit(axis + 1, offset + i * layout.strides[axis]);
  };
  visit(0, layout.offset);
  return offsets;
}

/// What a walk visits in [begin, end), operand by operand, and in how many runs.
template <int N>
std::array<std::vector<Size>, N> visited(const Walk<N>& walk, Size begin, Size end, int* runs = nullptr) {
  std::array<std::vector<Size>, N> offsets;
  walk.for_each_run(begin, end, [&](const std::array<Size, N>& first, Size n) {
    EXPECT_GT(n, 0);
    EXPECT_LE(n, walk.inner());
    for (std::size_t o = 0; o < N; ++o)
      for (Size i = 0; i < n; ++i) offsets[o].push_back(first[o] + i * walk.step(static_cast<int>(o)));
    if (runs != nullptr) ++*runs;
  });
  return offsets;
}

int runs_of(const std::vector<Layout>& layouts) {
  int runs = 0;
  if (layouts.size() == 1) {
    const Walk<1> walk({&layouts[0]});
    visited(walk, 0, walk.count(), &runs);
  } else {
    const Walk<2> walk({&layouts[0], &layouts[1]});
    visited(walk, 0, walk.count(), &runs);
  }
  return runs;
}

TEST(Walk, OfContiguousOperandsIsOneRun) {
  EXPECT_EQ(runs_of({Layout::contiguous({2, 3, 4, 5})}), 1);
  EXPECT_EQ(runs_of({Layout::contiguous({2, 3, 4}), Layout::contiguous({2, 3, 4})}), 1);
  EXPECT_EQ(runs_of({Layout::contiguous({})}), 1);
}

TEST(Walk, MergesWhatAllOperandsStepThroughEvenly) {
  EXPECT_EQ(runs_of({{{2, 3, 4}, {-12, -4, -1}, 23}}), 1);                              // reversed as a whole
  EXPECT_EQ(runs_of({{{2, 3, 4}, {0, 0, 0}, 5}}), 1);                                   // one element repeated
  EXPECT_EQ(runs_of({{{2, 3, 4}, {24, 8, 2}, 0}, Layout::contiguous({2, 3, 4})}), 1);   // every second element
  EXPECT_EQ(runs_of({Layout::contiguous({6, 4}), {{6, 4}, {0, 1}, 0}}), 6);             // a row repeated
  EXPECT_EQ(runs_of({Layout::contiguous({2, 3, 4}), {{2, 3, 4}, {8, 0, 1}, 0}}), 6);    // only the middle repeated
  EXPECT_EQ(runs_of({Layout::contiguous({2, 3, 4}), {{2, 3, 4}, {100, 4, 1}, 0}}), 2);  // a gap before the first axis
}

TEST(Walk, IgnoresStridesOfAxesOfSizeOne) {
  EXPECT_EQ(runs_of({{{2, 1, 4}, {4, 999, 1}, 0}, {{2, 1, 4}, {4, -7, 1}, 3}}), 1);
  EXPECT_EQ(runs_of({{{1, 1}, {123, 456}, 7}}), 1);
}

TEST(Walk, OfNothingVisitsNothing) {
  for (const Shape& shape : {Shape{0}, Shape{3, 0, 2}, Shape{0, 1}}) {
    const Layout layout = Layout::contiguous(shape);
    const Walk<1> walk({&layout});
    EXPECT_EQ(walk.count(), 0);
    walk.for_each_run(0, walk.count(), [](const std::array<Size, 1>&, Size) { FAIL(); });
  }
}

TEST(Walk, VisitsRandomLayoutsLikeIndexArithmeticWhereverItIsCut) {
  std::mt19937 random(3);
  const auto pick = [&](Size low, Size high) { return std::uniform_int_distribution<Size>(low, high)(random); };
  for (int round = 0; round < 20000; ++round) {
    Shape shape;
    for (Size axes = pick(0, 5); axes > 0; --axes) shape.push_back(pick(0, 40) == 0 ? 0 : pick(1, 4));
    std::array<Layout, 3> layouts;
    for (Layout& layout : layouts) {
      layout = Layout::contiguous(shape);
      layout.offset = pick(-20, 20);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const Size what = pick(0, 9);
        if (what == 0) layout.strides[axis] = 0;
        if (what == 1) layout.strides[axis] *= -1;
        if (what == 2) layout.strides[axis] = pick(-9, 9);
        if (what == 3 && axis > 0) std::swap(layout.strides[axis], layout.strides[axis - 1]);
      }
    }
    const Walk<3> walk({&layouts[0], &layouts[1], &layouts[2]});
    ASSERT_EQ(walk.count(), count(shape));
    const Size first = pick(0, walk.count()), second = pick(first, walk.count());
    std::array<std::vector<Size>, 3> all;
    for (const auto& [begin, end] : {std::pair{Size{0}, first}, {first, second}, {second, walk.count()}}) {
      const auto part = visited(walk, begin, end);
      for (std::size_t o = 0; o < 3; ++o) all[o].insert(all[o].end(), part[o].begin(), part[o].end());
    }
    for (std::size_t o = 0; o < 3; ++o) ASSERT_EQ(all[o], offsets_of(layouts[o])) << to_string(shape) << to_string(layouts[o].strides);
  }
}

// No element is touched: the buffer would have 2⁶² of them.
TEST(Walk, CountsOffsetsPast32Bits) {
  const Layout layout{{3, 4, 5}, {Size{1} << 60, -(Size{1} << 33) - 9, (Size{1} << 31) + 7}, Size{1} << 40};
  const std::vector<Size> expected = offsets_of(layout);
  const Walk<1> walk({&layout});
  for (Size begin = 0; begin <= walk.count(); ++begin) {
    for (Size end = begin; end <= walk.count(); ++end) {
      const std::vector<Size> part(expected.begin() + begin, expected.begin() + end);
      ASSERT_EQ(visited(walk, begin, end)[0], part) << begin << " to " << end;
    }
  }
}

TEST(Walk, OfSixteenAxesWorks) {
  Layout layout = Layout::contiguous(Shape::filled(16, 2));
  for (int axis = 0; axis < 16; ++axis) layout.strides[axis] = Size{1} << axis;  // all axes reversed: nothing merges
  const Walk<1> walk({&layout});
  EXPECT_EQ(visited(walk, 0, walk.count())[0], offsets_of(layout));
}

}  // namespace
}  // namespace votive
