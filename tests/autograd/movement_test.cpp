// Gradients of movements: every view, and what joins and takes apart, lead back to the elements they moved.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

std::vector<double> values(const Tensor& x) { return x.to_host<double>(); }

/// The gradient of the sum of weights 1, 2, 3, … times `y`: where each element of y came from.
std::vector<double> traced(const std::function<Tensor(const Tensor&)>& f, const Shape& shape) {
  const Tensor x = zeros(shape, f64).require_grad();
  const Tensor y = f(x);
  return values(backward(y, {.seed = reshape(arange(1.0, static_cast<double>(y.count()) + 0.5, 1.0, f64), y.shape())})[x]);
}

TEST(MovementGradients, LeadBackToWhereElementsCameFrom) {
  using V = std::vector<double>;
  EXPECT_EQ(traced([](const Tensor& x) { return reshape(x, {3, 2}); }, {2, 3}), (V{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return transpose(x); }, {2, 3}), (V{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return reshape(transpose(x), {6}); }, {2, 3}), (V{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return flatten(transpose(x)); }, {2, 3}), (V{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return permute(x, {2, 0, 1}); }, {1, 2, 3}), (V{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return narrow(x, 1, 1, 2); }, {2, 3}), (V{0, 1, 2, 0, 3, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return slice(x, {.axis = 1, .step = 2}); }, {2, 3}), (V{1, 0, 2, 3, 0, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return slice(x, {.axis = 1, .step = -2}); }, {2, 3}), (V{2, 0, 1, 4, 0, 3}));
  EXPECT_EQ(traced([](const Tensor& x) { return slice(transpose(x), {.start = 1, .stop = 2}); }, {2, 3}), (V{0, 1, 0, 0, 2, 0}));
  EXPECT_EQ(traced([](const Tensor& x) { return slice(x, {.start = 2, .stop = 2}); }, {2, 3}), (V{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(traced([](const Tensor& x) { return select(x, 1, -1); }, {2, 3}), (V{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(traced([](const Tensor& x) { return flip(x, 1); }, {2, 3}), (V{3, 2, 1, 6, 5, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return flip(x); }, {2, 3}), (V{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(traced([](const Tensor& x) { return squeeze(unsqueeze(x, 1), 1); }, {2, 3}), (V{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return broadcast_to(x, {2, 2, 1}); }, {2, 1}), (V{4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return contiguous(transpose(x)); }, {2, 3}), (V{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return concat({x, x}, 1); }, {2, 2}), (V{4, 6, 12, 14}));
  EXPECT_EQ(traced([](const Tensor& x) { return stack({x, x}, -1); }, {2}), (V{3, 7}));
  EXPECT_EQ(traced([](const Tensor& x) { return split(x, std::vector<Size>{1, 2}, 1)[1]; }, {2, 3}), (V{0, 1, 2, 0, 3, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return chunk(x, 2, 1)[1]; }, {2, 3}), (V{0, 0, 1, 0, 0, 2}));
}

// No view loses its history, and one of no elements has a gradient all the same.
TEST(MovementGradients, AreRecordedByEveryView) {
  const Tensor x = zeros({2, 1, 3}, f32).require_grad();
  for (const Tensor& y : {reshape(x, {6}), flatten(x), permute(x, {2, 1, 0}), transpose(x), squeeze(x, 1), squeeze(x), unsqueeze(x, 0),
                          slice(x, {.step = -1}), narrow(x, 0, 0, 1), select(x, 0, 0), flip(x, 2), broadcast_to(x, {2, 4, 3}),
                          contiguous(transpose(x)), concat({x, x}), stack({x, x}), chunk(x, 2)[0], narrow(x, 2, 1, 0)}) {
    EXPECT_TRUE(y.requires_grad()) << to_string(y.shape());
  }
}

// A gradient in half precision sums in f32 and is rounded once.
TEST(MovementGradients, OfABroadcastRoundOnce) {
  const Tensor x = zeros({1}, bf16).require_grad();
  const Tensor y = broadcast_to(x, {4096});
  EXPECT_EQ(backward(y, {.seed = ones({4096}, bf16)})[x].to(f32).item<float>(), 4096.0f);
}

// The gradient of an overlap adds what each window sends.
TEST(MovementGradients, OfRepetitionsAndWindowsAdd) {
  using V = std::vector<double>;
  EXPECT_EQ(traced([](const Tensor& x) { return unfold(x, 0, 3, 1); }, {4}), (V{1, 2 + 4, 3 + 5, 6}));
  EXPECT_EQ(traced([](const Tensor& x) { return unfold(x, 0, 2, 3); }, {6}), (V{1, 2, 0, 3, 4, 0}));
  EXPECT_EQ(traced([](const Tensor& x) { return unfold(x, 0, 5, 2); }, {7}), (V{1, 2, 3 + 6, 4 + 7, 5 + 8, 9, 10}));
  EXPECT_EQ(traced([](const Tensor& x) { return tile(x, {2, 2}); }, {2}), (V{1 + 3 + 5 + 7, 2 + 4 + 6 + 8}));
  EXPECT_EQ(traced([](const Tensor& x) { return repeat_interleave(x, 2); }, {2}), (V{3, 7}));
  EXPECT_EQ(traced([](const Tensor& x) { return pad(x, {{2, 1}}, {.mode = PadMode::edge}); }, {2}), (V{1 + 2 + 3, 4 + 5}));
  EXPECT_EQ(traced([](const Tensor& x) { return pad(x, {{2, 1}}, {.mode = PadMode::reflect}); }, {3}), (V{3, 2 + 4 + 6, 1 + 5}));
  EXPECT_EQ(traced([](const Tensor& x) { return pad(x, {{1, 1}}, {.mode = PadMode::circular}); }, {3}), (V{2 + 5, 3, 1 + 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return pad(x, {{1, -1}}, {.value = 3}); }, {3}), (V{2, 3, 0}));
  EXPECT_EQ(traced([](const Tensor& x) { return roll(x, 1); }, {3}), (V{2, 3, 1}));
  EXPECT_EQ(traced([](const Tensor& x) { return diagonal(x, {.offset = 1}); }, {2, 3}), (V{0, 1, 0, 0, 0, 2}));
  EXPECT_EQ(traced([](const Tensor& x) { return diag_embed(x); }, {2}), (V{1, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return tril(x); }, {2, 2}), (V{1, 0, 3, 4}));
  EXPECT_EQ(traced([](const Tensor& x) { return rot90(x); }, {2, 2}), (V{3, 1, 4, 2}));
  EXPECT_EQ(traced([](const Tensor& x) { return movedim(x, 0, 1); }, {2, 2}), (V{1, 3, 2, 4}));
}

TEST(MovementGradients, OfAWrittenSliceGoToBothSides) {
  using V = std::vector<double>;
  const Tensor x = zeros({4}, f64).require_grad(), s = zeros({1}, f64).require_grad();
  const Tensor y = slice_scatter(x, s, {.start = 1, .stop = 3});
  const Grads g = backward(y, {.seed = tensor({1, 2, 3, 4}, f64)});
  EXPECT_EQ(values(g[x]), (V{1, 0, 0, 4}));
  EXPECT_EQ(values(g[s]), (V{5}));
}

TEST(MovementGradients, RefuseBitsReadAsAnotherFloat) {
  const Tensor x = ones({2}, f16).require_grad();
  EXPECT_EQ(kind_of([&] { backward(bitcast(x, bf16), {.seed = ones({2}, bf16)}); }), ErrorKind::Unsupported);
}

}  // namespace
}  // namespace votive
