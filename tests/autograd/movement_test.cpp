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

/// Every movement by its public name, for one input.
struct Named {
  const char* name;
  Shape shape;
  std::function<Tensor(const Tensor& x)> f;
};

TEST(MovementGradients, AgreeWithCentralDifferences) {
  const Tensor i = tensor({1, 0, 1}, i64), mask = tensor({{true, false, true}, {false, true, true}}, boolean);
  const std::vector<Named> all{
      {"reshape",
       {2, 3},
       [](const Tensor& x) {
         return reshape(transpose(x), {2, -1});
       }},
      {"flatten", {2, 3}, [](const Tensor& x) { return flatten(x); }},
      {"ravel", {2, 3}, [](const Tensor& x) { return ravel(transpose(x)); }},
      {"permute",
       {2, 3, 2},
       [](const Tensor& x) {
         return permute(x, {2, 0, 1});
       }},
      {"transpose", {2, 3}, [](const Tensor& x) { return transpose(x); }},
      {"swap_axes", {2, 3, 2}, [](const Tensor& x) { return swap_axes(x, 0, 2); }},
      {"movedim",
       {2, 3, 2},
       [](const Tensor& x) {
         return movedim(x, {0, 1}, {2, 0});
       }},
      {"squeeze", {2, 1, 3}, [](const Tensor& x) { return squeeze(x); }},
      {"unsqueeze", {2, 3}, [](const Tensor& x) { return unsqueeze(x, 1); }},
      {"atleast", {3}, [](const Tensor& x) { return atleast(x, 2); }},
      {"slice", {2, 5}, [](const Tensor& x) { return slice(x, {.axis = 1, .start = -1, .step = -2}); }},
      {"narrow", {2, 5}, [](const Tensor& x) { return narrow(transpose(x), 0, 1, 3); }},
      {"select", {2, 5}, [](const Tensor& x) { return select(x, 1, 3); }},
      {"flip", {2, 3}, [](const Tensor& x) { return flip(x); }},
      {"rot90", {2, 3}, [](const Tensor& x) { return rot90(x, 3); }},
      {"roll",
       {2, 3},
       [](const Tensor& x) {
         return roll(x, {1, -1}, {0, 1});
       }},
      {"broadcast_to",
       {2, 1},
       [](const Tensor& x) {
         return broadcast_to(x, {2, 2, 3});
       }},
      {"expand",
       {2, 1},
       [](const Tensor& x) {
         return expand(x, {-1, 3});
       }},
      {"broadcast_like",
       {2, 1},
       [](const Tensor& x) {
         return broadcast_like(x, zeros({2, 3}));
       }},
      {"tile",
       {2, 2},
       [](const Tensor& x) {
         return tile(x, {2, 1, 3});
       }},
      {"repeat",
       {2, 2},
       [](const Tensor& x) {
         return repeat(x, {1, 2});
       }},
      {"repeat_interleave",
       {2, 2},
       [](const Tensor& x) {
         return repeat_interleave(x, tensor({2, 3}, i64), 1);
       }},
      {"contiguous", {2, 3}, [](const Tensor& x) { return contiguous(transpose(x)); }},
      {"split",
       {5},
       [](const Tensor& x) {
         return split(x, {2, 3})[1];
       }},
      {"chunk", {5}, [](const Tensor& x) { return chunk(x, 2)[0]; }},
      {"diagonal", {3, 4}, [](const Tensor& x) { return diagonal(x, {.offset = -1}); }},
      {"diag_embed", {2, 2}, [](const Tensor& x) { return diag_embed(x, {.offset = 1, .a = 0, .b = 2}); }},
      {"diag", {3}, [](const Tensor& x) { return diag(x, -1); }},
      {"tril", {2, 3, 3}, [](const Tensor& x) { return tril(x, 1); }},
      {"triu", {3, 3}, [](const Tensor& x) { return triu(x); }},
      {"pad",
       {2, 3},
       [](const Tensor& x) {
         return pad(x, {{1, -1}, {2, 0}}, {.value = 3});
       }},
      {"pad",
       {3, 4},
       [](const Tensor& x) {
         return pad(x, {{1, 2}, {2, 3}}, {.mode = PadMode::reflect});
       }},
      {"pad",
       {2, 3},
       [](const Tensor& x) {
         return pad(x, {{1, 2}, {2, 3}}, {.mode = PadMode::edge});
       }},
      {"pad",
       {2, 3},
       [](const Tensor& x) {
         return pad(x, {{1, 2}, {2, 3}}, {.mode = PadMode::circular});
       }},
      {"unfold", {2, 7}, [](const Tensor& x) { return unfold(x, 1, 3, 2); }},
      {"unfold", {7, 2}, [](const Tensor& x) { return unfold(x, 0, 5, 1); }},
      {"index",
       {2, 3},
       [=](const Tensor& x) {
         return index(x, {i, Range{{}, {}, -2}});
       }},
      {"index", {2, 3}, [=](const Tensor& x) { return index(x, {mask}); }},
      {"index",
       {2, 3, 2},
       [=](const Tensor& x) {
         return index(x, {i, newaxis, i, 1});
       }},
      {"dropout", {3, 4}, [](const Tensor& x) { return dropout(x, 0.3, {.seed = 2}); }},
  };
  for (const Named& one : all) expect_gradient(one.name, [&](const Tensors& x) { return one.f(x[0]); }, {samples(one.shape, 5)});
  const Tensors pair{samples({2, 3}, 6), samples({2, 3}, 7)};
  expect_gradient(
      "concat",
      [](const Tensors& x) {
        return concat({x[0], x[1], x[0]}, 1);
      },
      pair);
  expect_gradient(
      "stack",
      [](const Tensors& x) {
        return stack({x[0], x[1]}, 1);
      },
      pair);
  expect_gradient(
      "normal", [](const Tensors& x) { return normal(x[0], x[1], {.seed = 3}); }, pair);
  expect_gradient(
      "slice_scatter", [](const Tensors& x) { return slice_scatter(x[0], narrow(x[1], 1, 0, 1), {.axis = 1, .step = 2}); }, pair);
  expect_gradient(
      "select_scatter", [](const Tensors& x) { return select_scatter(x[0], select(x[1], 0, 0), 0, -1); }, pair);
  expect_gradient(
      "index_put",
      [](const Tensors& x) {
        return index_put(x[0], {Range{}, Range{1}}, narrow(x[1], 1, 0, 2));
      },
      pair);
  expect_gradient(
      "index_put",
      [&](const Tensors& x) {
        return index_put(x[0], {Range{}, tensor({2, 0}, i64)}, narrow(x[1], 1, 0, 2));
      },
      pair);
  expect_gradient("index_put", [&](const Tensors& x) { return index_put(x[0], {mask}, select(x[1], 0, 0).to(f64), {.accumulate = true}); },
                  {samples({2, 3}, 6), samples({2, 4}, 7)});
}

TEST(MovementGradients, OfAnIndexLeadBack) {
  using V = std::vector<double>;
  const Tensor i = tensor({1, 0, 1}, i64);
  EXPECT_EQ(traced([&](const Tensor& x) { return index(x, {Range{{}, {}, -1}, 1}); }, {2, 2}), (V{0, 2, 0, 1}));
  EXPECT_EQ(traced([&](const Tensor& x) { return index(x, {i}); }, {2}), (V{2, 1 + 3}));
  EXPECT_EQ(traced([&](const Tensor& x) { return index(x, {i, i}); }, {2, 2}), (V{2, 0, 0, 1 + 3}));
  EXPECT_EQ(traced([&](const Tensor& x) { return index(x, {i, newaxis, 0}); }, {2, 2}), (V{2, 0, 1 + 3, 0}));
  EXPECT_EQ(traced([&](const Tensor& x) { return index(x, {tensor({{true, false}, {true, true}}, boolean)}); }, {2, 2}), (V{1, 0, 2, 3}));
  EXPECT_EQ(traced([&](const Tensor& x) { return index_put(x, {i}, zeros({}, f64)); }, {3}), (V{0, 0, 3}));
  EXPECT_EQ(traced([&](const Tensor& s) { return index_put(zeros({3}, f64), {i}, s); }, {3}), (V{0, 1, 2}));
  EXPECT_EQ(traced([&](const Tensor& s) { return index_put(zeros({3}, f64), {i}, s, {.accumulate = true}); }, {3}), (V{2, 1, 2}));
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
