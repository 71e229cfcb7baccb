// Shapes and views against index arithmetic done here, element by element.
#include "votive/core/layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>
#include <random>

namespace votive {
namespace {

template <class Call>
ErrorKind kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) { return error.kind(); }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::Internal;
}

/// Offsets of all elements in row-major order, by the definition: offset + Σ iₐ·strideₐ.
std::vector<Size> offsets_of(const Layout& layout) {
  std::vector<Size> offsets;
  const std::function<void(int, Size)> visit = [&](int axis, Size offset) {
    if (axis == layout.rank()) return offsets.push_back(offset);
    for (Size i = 0; i < layout.shape[axis]; ++i) visit(axis + 1, offset + i * layout.strides[axis]);
  };
  visit(0, layout.offset);
  return offsets;
}

std::string describe(const Layout& layout) {
  return to_string(layout.shape) + " strides " + to_string(layout.strides) + " offset " + std::to_string(layout.offset);
}

TEST(Shape, CountsElementsAndRefusesWhatDoesNotFit) {
  EXPECT_EQ(checked_count("test", {}), 1);
  EXPECT_EQ(checked_count("test", {2, 3, 4}, 8), 24);
  EXPECT_EQ(checked_count("test", {5, 0, 7}), 0);
  EXPECT_EQ(checked_count("test", {3, 64}, 20, 32), 192);
  constexpr Size most = std::numeric_limits<Size>::max();
  EXPECT_EQ(checked_count("test", {most}), most);
  EXPECT_EQ(checked_count("test", {most / 4}, 4), most / 4);
  EXPECT_EQ(kind_of([] { checked_count("test", {most / 4 + 1}, 4); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { checked_count("test", {Size{1} << 32, Size{1} << 31}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { checked_count("test", {0, Size{1} << 40, Size{1} << 40}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { checked_count("test", {-1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { checked_count("test", {0, -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(checked_count("test", {most}, 20, 32), most);  // 20 bytes per 32 elements fit
}

TEST(Shape, HasAtMost16Axes) {
  EXPECT_EQ(Shape::filled(16, 1).rank(), 16);
  EXPECT_EQ(kind_of([] { Shape::filled(17, 1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { Shape(std::vector<Size>(17, 1)); }), ErrorKind::InvalidArgument);
  Shape full = Shape::filled(16, 2);
  EXPECT_EQ(kind_of([&] { full.push_back(1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { full.insert(3, 1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(full, Shape::filled(16, 2));
}

TEST(Shape, InsertsAndErasesAxes) {
  Shape shape{2, 3};
  shape.insert(0, 7);
  shape.insert(3, 9);
  shape.insert(2, 8);
  EXPECT_EQ(shape, (Shape{7, 2, 8, 3, 9}));
  shape.erase(4);
  shape.erase(0);
  shape.erase(1);
  EXPECT_EQ(shape, (Shape{2, 3}));
  EXPECT_EQ(to_string(shape), "[2, 3]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Axis, CountsFromBothEnds) {
  EXPECT_EQ(normalise_axis("test", -1, 3), 2);
  EXPECT_EQ(normalise_axis("test", 0, 3), 0);
  EXPECT_EQ(normalise_axis("test", -3, 3), 0);
  for (int axis : {3, -4, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()})
    EXPECT_EQ(kind_of([=] { normalise_axis("test", axis, 3); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([] { normalise_axis("test", 0, 0); }), ErrorKind::InvalidAxis);
}

TEST(Broadcast, FollowsNumPyAlsoForEmptyShapes) {
  EXPECT_EQ(broadcast_shape("test", {4, 1, 3}, {2, 1}), (Shape{4, 2, 3}));
  EXPECT_EQ(broadcast_shape("test", {}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast_shape("test", {1}, {0}), (Shape{0}));
  EXPECT_EQ(broadcast_shape("test", {0, 1}, {1, 5}), (Shape{0, 5}));
  EXPECT_EQ(kind_of([] { broadcast_shape("test", {2}, {0}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([] { broadcast_shape("test", {2, 3}, {2}); }), ErrorKind::ShapeMismatch);
}

TEST(Layout, IsContiguousExactlyWhenOffsetsCountUp) {
  std::mt19937 random(1);
  const auto pick = [&](Size low, Size high) { return std::uniform_int_distribution<Size>(low, high)(random); };
  int contiguous = 0;
  for (int round = 0; round < 20000; ++round) {
    const int rank = static_cast<int>(pick(0, 4));
    Layout layout;
    for (int axis = 0; axis < rank; ++axis) layout.shape.push_back(pick(0, 9) == 0 ? 0 : pick(1, 3));
    layout.strides = contiguous_strides(layout.shape);
    for (int axis = 0; axis < rank; ++axis)
      if (pick(0, 3) == 0) layout.strides[axis] = pick(-4, 9);
    bool expected = true;
    const std::vector<Size> offsets = offsets_of(layout);
    for (std::size_t i = 0; i < offsets.size(); ++i) expected &= offsets[i] == static_cast<Size>(i);
    EXPECT_EQ(layout.is_contiguous(), expected) << describe(layout);
    contiguous += expected;
  }
  EXPECT_GT(contiguous, 4000);
  EXPECT_LT(contiguous, 18000);
}

TEST(Layout, BroadcastRepeatsAxesOfSizeOne) {
  const Layout column{{3, 1}, {2, 5}, 7};
  EXPECT_EQ(offsets_of(broadcast_layout(column, {2, 3, 2})), (std::vector<Size>{7, 7, 9, 9, 11, 11, 7, 7, 9, 9, 11, 11}));
  EXPECT_EQ(offsets_of(broadcast_layout(Layout{{}, {}, 4}, {3})), (std::vector<Size>{4, 4, 4}));
  EXPECT_TRUE(offsets_of(broadcast_layout(column, {3, 0})).empty());
}

TEST(Layout, PermutedReadsAxesInAnotherOrder) {
  const Layout x = Layout::contiguous({2, 3, 4});
  const int axes[] = {2, 0, 1};
  const Layout y = permuted(x, axes);
  EXPECT_EQ(y.shape, (Shape{4, 2, 3}));
  std::vector<Size> expected;
  for (Size k = 0; k < 4; ++k)
    for (Size i = 0; i < 2; ++i)
      for (Size j = 0; j < 3; ++j) expected.push_back(i * 12 + j * 4 + k);
  EXPECT_EQ(offsets_of(y), expected);
}

TEST(Layout, SlicedTakesEveryStepThElementInBothDirections) {
  const Layout x = Layout::contiguous({2, 10});
  EXPECT_EQ(offsets_of(sliced(x, 1, 1, 3, 3)), (std::vector<Size>{1, 4, 7, 11, 14, 17}));
  EXPECT_EQ(offsets_of(sliced(x, 1, 9, -4, 3)), (std::vector<Size>{9, 5, 1, 19, 15, 11}));
  EXPECT_EQ(offsets_of(sliced(sliced(x, 1, 9, -4, 3), 1, 2, -2, 2)), (std::vector<Size>{1, 9, 11, 19}));
  EXPECT_TRUE(offsets_of(sliced(x, 0, 2, 1, 0)).empty());
  EXPECT_EQ(sliced(x, 0, 2, 1, 0).offset, 0);
  EXPECT_EQ(offsets_of(sliced(x, 1, 5, std::numeric_limits<Size>::max(), 1)), (std::vector<Size>{5, 15}));
}

// Whether a view exists is decided by brute force: a layout of the new shape that gives the same offsets has the strides that its unit steps show.
bool view_exists(const Layout& layout, const Shape& shape) {
  const std::vector<Size> offsets = offsets_of(layout);
  if (offsets.empty()) return true;
  Layout view{shape, Strides::filled(shape.rank(), 0), layout.offset};
  Size unit = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] > 1) view.strides[axis] = offsets[static_cast<std::size_t>(unit)] - offsets[0];
    unit *= shape[axis];
  }
  return offsets_of(view) == offsets;
}

TEST(Layout, ReshapedIsAViewExactlyWhenOneExists) {
  std::mt19937 random(2);
  const auto pick = [&](Size low, Size high) { return std::uniform_int_distribution<Size>(low, high)(random); };
  int views = 0, copies = 0;
  for (int round = 0; round < 30000; ++round) {
    // Factors grouped into axes in two ways, so that both shapes have the same count.
    std::vector<Size> factors;
    for (Size i = pick(0, 5); i > 0; --i) factors.push_back(pick(0, 30) == 0 ? 0 : pick(1, 3));
    const auto grouped = [&] {
      Shape shape;
      for (Size factor : factors) {
        if (shape.empty() || pick(0, 1) == 0) {
          shape.push_back(factor);
        } else {
          shape.back() *= factor;
        }
        if (pick(0, 4) == 0) shape.push_back(1);
      }
      return shape;
    };
    Layout layout{grouped(), {}, pick(0, 5)};
    const Shape shape = grouped();
    // Strides of a permuted or sliced or broadcast layout, or arbitrary ones.
    layout.strides = contiguous_strides(layout.shape);
    for (int axis = 0; axis < layout.rank(); ++axis) {
      const Size what = pick(0, 12);
      if (what == 0) layout.strides[axis] = pick(-6, 6);
      if (what == 1) layout.strides[axis] = 0;
      if (what == 2) layout.strides[axis] *= -1;
    }
    if (layout.rank() > 1 && pick(0, 3) == 0) std::swap(layout.strides[0], layout.strides[1]);
    const std::string name = describe(layout) + " as " + to_string(shape);
    Layout view;
    const bool made = reshaped(layout, shape, view);
    ASSERT_EQ(made, view_exists(layout, shape)) << name;
    (made ? views : copies) += 1;
    if (!made) continue;
    ASSERT_EQ(view.shape, shape) << name;
    ASSERT_EQ(offsets_of(view), offsets_of(layout)) << name;
  }
  EXPECT_GT(views, 5000);
  EXPECT_GT(copies, 1000);
}

TEST(Layout, ReshapedOfEmptyTensorsIsAlwaysAView) {
  Layout view;
  EXPECT_TRUE(reshaped({{0, 3}, {-5, 2}, 3}, {7, 0, 2}, view));
  EXPECT_EQ(view.shape, (Shape{7, 0, 2}));
  EXPECT_EQ(view.offset, 3);
}

}  // namespace
}  // namespace votive
