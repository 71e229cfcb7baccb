// The graph itself: what is recorded, in which order it is walked, what it keeps and gives back. Operations here are the test's own, with gradients
// that arithmetic in the test can follow; the gradients of the library's operations are tested by subject.
#include <gtest/gtest.h>

#include <limits>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"
#include "votive/autograd/autograd.h"
#include "votive/core/memory.h"

namespace votive {
namespace {

Tensor scalar(double value) { return full({}, value, f64); }

/// a·b
Tensor times(const Tensor& a, const Tensor& b) {
  static const CustomOperation operation{
      .name = "times",
      .forward = [](const Tensors& x) { return mul(x[0], x[1]); },
      .gradient =
          [](const Tensors& x, const Tensor&, const Tensor& dy) {
            return Tensors{times(dy, x[1]), times(dy, x[0])};
          },
  };
  return custom(operation, {a, b});
}

/// x + c
Tensor shifted(const Tensor& x, double c) {
  return custom({.name = "shifted",
                 .forward = [c](const Tensors& in) { return in[0] + c; },
                 .gradient = [](const Tensors&, const Tensor&, const Tensor& dy) { return Tensors{dy}; }},
                {x});
}

double number(const Tensor& x) { return x.item<double>(); }

TEST(Graph, AProductHasTheOtherFactorAsGradient) {
  const Tensor a = scalar(3).require_grad(), b = scalar(5).require_grad();
  const Grads g = backward(times(a, b));
  EXPECT_EQ(number(g[a]), 5);
  EXPECT_EQ(number(g[b]), 3);
  EXPECT_EQ(g.size(), 2u);
}

TEST(Graph, EveryUseOfATensorAddsItsShare) {
  const Tensor x = scalar(3).require_grad();
  const Tensor cube = times(times(x, x), x);
  EXPECT_EQ(number(backward(cube)[x]), 27);
}

TEST(Graph, NothingIsRecordedWhenNothingAsks) {
  const Tensor x = scalar(3);
  EXPECT_FALSE(times(x, x).requires_grad());
  EXPECT_FALSE((x * x).requires_grad());
  const Tensor w = x.require_grad();
  EXPECT_FALSE(x.requires_grad()) << "require_grad gives a new handle";
  EXPECT_TRUE(times(w, x).requires_grad());
  {
    const NoGrad off;
    EXPECT_FALSE(times(w, x).requires_grad());
  }
  EXPECT_TRUE(times(w, x).requires_grad());
  EXPECT_FALSE(times(w, x).detach().requires_grad());
  EXPECT_FALSE(eq(w, x).requires_grad()) << "a bool has no gradient";
}

TEST(Graph, HigherDerivativesOfAPower) {
  const Tensor x = scalar(2).require_grad();
  const Tensor y = times(times(x, x), times(x, x));
  const Tensor first = grad(y, x, {.create_graph = true});
  const Tensor second = grad(first, x, {.create_graph = true});
  const Tensor third = grad(second, x, {.create_graph = true});
  EXPECT_EQ(number(first), 32);
  EXPECT_EQ(number(second), 48);
  EXPECT_EQ(number(third), 48);
  EXPECT_EQ(number(grad(third, x)), 24);
}

TEST(Graph, GradReachesTensorsInsideTheGraph) {
  const Tensor x = scalar(3).require_grad();
  const Tensor y = times(x, x);
  const Tensor z = times(y, y);
  const Tensors g = grad(z, {x, y});
  EXPECT_EQ(number(g[0]), 4 * 27);
  EXPECT_EQ(number(g[1]), 18);
}

TEST(Graph, AGraphOfAHundredThousandNodesIsWalkedAndFreed) {
  const Tensor x = scalar(1).require_grad();
  Tensor y = x;
  for (int i = 0; i < 100'000; ++i) y = shifted(y, 1);
  EXPECT_EQ(number(y), 100'001);
  EXPECT_EQ(number(backward(y)[x]), 1);
  y = x;
  for (int i = 0; i < 100'000; ++i) y = times(y, x);
  y = {};  // never walked
}

TEST(Graph, AGraphGivenBackCannotBeWalkedAgain) {
  const Tensor x = scalar(3).require_grad();
  const Tensor y = times(x, x);
  EXPECT_EQ(number(backward(y, {.keep_graph = true})[x]), 6);
  EXPECT_EQ(number(backward(y)[x]), 6);
  EXPECT_EQ(
      text_of([&] { backward(y); }),
      "backward: invalid argument: what times saved was given back by an earlier backward. Pass keep_graph = true to the earlier call.");
}

TEST(Graph, WhatBackwardNoLongerNeedsIsFreed) {
  const Tensor x = full({1 << 20}, 2.0, f32).require_grad();
  const std::size_t before = memory_statistics().in_use_bytes;
  const std::size_t one = [&] {
    const Tensor alone = ones_like(x).detach();
    return memory_statistics().in_use_bytes - before;
  }();
  const Tensor y = times(times(times(x, x), x), x);
  const std::size_t held = memory_statistics().in_use_bytes - before;
  EXPECT_GE(held, std::size_t{3} * 4 << 20);
  {
    const Grads g = backward(y, {.seed = ones_like(y).detach()});
    EXPECT_EQ(g[x].to_host<float>()[7], 32.0f);
  }
  EXPECT_LE(memory_statistics().in_use_bytes - before, one + 4096) << "y alone is left, and who made it";
}

TEST(Graph, AResultWithoutItsHistoryKeepsNoneOfIt) {
  const Tensor x = ones({100}).require_grad();
  const std::uint64_t before = memory_statistics().in_use_bytes;
  Tensor sum, view, power;
  {
    Tensor y = x;
    for (int i = 0; i < 100; ++i) y = (y + x) * 0.5;
    sum = y.detach();
    view = reshape(y, {10, 10}).detach();
    power = exp(y).detach();
  }
  EXPECT_LT(memory_statistics().in_use_bytes - before, 8192u) << "two results and three headers are left";
}

TEST(Graph, ASavedTensorThatWasOverwrittenIsAnErrorAndNotAWrongGradient) {
  const Tensor x = scalar(3).require_grad();
  Tensor factor = scalar(5);
  const Tensor y = times(x, factor);
  copy_into(factor, scalar(7));
  EXPECT_EQ(kind_of([&] { backward(y); }), ErrorKind::InvalidArgument);
  Tensor destination = scalar(0).require_grad();
  EXPECT_EQ(kind_of([&] { copy_into(destination, scalar(1)); }), ErrorKind::InvalidArgument);
  Tensor plain = scalar(0);
  EXPECT_EQ(kind_of([&] { copy_into(plain, x); }), ErrorKind::InvalidArgument);
}

TEST(Graph, ASavedResultThatWasOverwrittenIsAnErrorToo) {
  const Tensor x = scalar(2).require_grad();
  const Tensor y = exp(x), total = sum(y);
  Tensor memory = y.detach();
  copy_into(memory, scalar(5));
  EXPECT_EQ(kind_of([&] { (void)grad(total, x); }), ErrorKind::InvalidArgument);
}

TEST(Graph, AGradientOfTheUsersOwnThatDoesNotFitIsTheUsersMistake) {
  const Tensor x = full({3}, 1.0, f64).require_grad();
  const auto with = [&](const Tensor& dx) {
    return custom({.name = "mine",
                   .forward = [](const Tensors& in) { return in[0] * 2.0; },
                   .gradient = [dx](const Tensors&, const Tensor&, const Tensor&) { return Tensors{dx}; }},
                  {x});
  };
  EXPECT_EQ(kind_of([&] { backward(sum(with(ones({2}, f64)))); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { backward(sum(with(ones({3}, f32)))); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { backward(sum(on_gradient(x, [](const Tensor&) { return ones({2}, f64); }))); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { backward(sum(with(ones({3}, f64, {.device = Device::reference})))); }), ErrorKind::DeviceMismatch);
  EXPECT_EQ(
      text_of([&] { backward(sum(with({}))); }),
      "mine: invalid argument: its gradient gave no tensor for input 0, which asks for one. Where it is zero, give zeros_like(x[i]).");
  const auto elsewhere = [](const Tensor& dx) { return dx.to(Device::reference); };
  EXPECT_EQ(kind_of([&] { backward(sum(on_gradient(x, elsewhere))); }), ErrorKind::DeviceMismatch);
  EXPECT_EQ(kind_of([&] { (void)checkpoint({}, {x}); }), ErrorKind::InvalidArgument);
}

TEST(Graph, AnOperationWithoutAGradientNamesItself) {
  const Tensor x = scalar(3).require_grad();
  const Tensor y = custom({.name = "my_rounding", .forward = [](const Tensors& in) { return round(in[0]); }}, {x});
  EXPECT_EQ(text_of([&] { backward(y); }), "my_rounding: unsupported: it has no gradient. Take it out of the graph, e.g. x.detach().");
}

TEST(Graph, WhatCannotBeDifferentiatedIsSaid) {
  const Tensor x = full({3}, 1.0, f64).require_grad(), other = scalar(1).require_grad();
  const Tensor y = times(x, x);
  EXPECT_EQ(kind_of([&] { backward(y); }), ErrorKind::ShapeMismatch) << "three elements and no seed";
  EXPECT_EQ(kind_of([&] { backward(scalar(1)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { backward(Tensor()); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { backward(y, {.seed = full({3}, 1.0, f32)}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { backward(y, {.seed = full({2}, 1.0, f64)}); }), ErrorKind::ShapeMismatch);
  EXPECT_TRUE(text_of([&] { backward(y, {.seed = full({2}, 1.0, f64)}); }).starts_with("backward: shape mismatch: seed f64[2]"))
      << text_of([&] { backward(y, {.seed = full({2}, 1.0, f64)}); });
  EXPECT_EQ(kind_of([&] { grad(y, other, {.seeds = {ones_like(y)}, .keep_graph = true}); }), ErrorKind::InvalidArgument);
  EXPECT_FALSE(grad(y, other, {.seeds = {ones_like(y)}, .allow_unused = true}).defined());
  EXPECT_EQ(kind_of([] { (void)tensor({1, 2}, i32).require_grad(); }), ErrorKind::DTypeMismatch);
  const Grads g = backward(times(other, other));
  EXPECT_EQ(kind_of([&] { (void)g[x]; }), ErrorKind::InvalidArgument);
  EXPECT_FALSE(g.has(x));
}

TEST(Graph, AGradientTravelsBackToTheDeviceOfItsTensor) {
  const Tensor x = scalar(3).require_grad();
  const Tensor there = x.to(Device::reference);
  const Grads g = backward(times(there, there));
  EXPECT_EQ(g[x].device(), Device(Device::cpu));
  EXPECT_EQ(number(g[x]), 6);
  EXPECT_EQ(number(backward(times(x, x).to(f32))[x]), 6) << "and through a cast";
}

// User report #2124: asking twice made another variable, and the first lost its gradient.
TEST(Graph, N2124AskingTwiceIsAskingOnce) {
  const Tensor x = scalar(3).require_grad();
  const Tensor again = x.require_grad();
  const Grads g = backward(times(x, again));
  EXPECT_EQ(g.size(), 1u);
  EXPECT_EQ(number(g[x]), 6);
  const Tensor square = times(x, x);
  EXPECT_EQ(number(backward(square.require_grad())[x]), 6) << "a tensor with a history keeps it";
}

TEST(Graph, AHookSeesTheGradientAndMayReplaceIt) {
  const Tensor x = scalar(3).require_grad();
  double seen = 0;
  const auto look = [&](const Tensor& dx) {
    seen = number(dx);
    return Tensor();
  };
  EXPECT_EQ(number(backward(times(on_gradient(x, look), scalar(5)))[x]), 5);
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(number(backward(times(on_gradient(x, [](const Tensor& dx) { return dx * 10.0; }), scalar(5)))[x]), 50);
}

TEST(Checkpoint, GivesTheSameGradientAndRunsTwice) {
  int runs = 0;
  const auto fourth = [&](const Tensors& in) {
    ++runs;
    return times(times(in[0], in[0]), times(in[0], in[1]));
  };
  const Tensor x = scalar(2).require_grad(), w = scalar(3).require_grad();
  const Tensor y = checkpoint(fourth, {x, w});
  EXPECT_EQ(number(y), 24);
  EXPECT_EQ(runs, 1);
  const Grads g = backward(y);
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(number(g[x]), 36);
  EXPECT_EQ(number(g[w]), 8);
  const Tensor first = grad(checkpoint(fourth, {x, w}), x, {.create_graph = true});
  EXPECT_EQ(number(grad(first, x)), 36);
}

TEST(Checkpoint, AnInputMadeOfAnotherGetsOnlyItsOwnShare) {
  const auto product = [](const Tensors& in) { return times(in[0], in[1]); };
  const Tensor x = scalar(2).require_grad();
  const Tensor square = times(x, x);
  EXPECT_EQ(number(grad(checkpoint(product, {x, square}), x, {.create_graph = true})), 12) << "x·x² is x³";
  EXPECT_EQ(number(backward(checkpoint(product, {x, square}))[x]), 12);
}

TEST(Checkpoint, AFunctionThatGivesAnotherShapeTheSecondTimeIsRefused) {
  const Tensor x = full({3}, 1.0, f64).require_grad();
  int runs = 0;
  const Tensor y = checkpoint([&](const Tensors& in) { return ++runs == 1 ? in[0] * 2.0 : slice(in[0], {.axis = 0, .stop = 2}); }, {x});
  EXPECT_EQ(text_of([&] { backward(sum(y)); }),
            "checkpoint: invalid argument: the function gave f64[2] when it was called again, and f64[3] before. Let it depend on its "
            "inputs alone.");
  runs = 0;
  const Tensor moved = checkpoint([&](const Tensors& in) { return ++runs == 1 ? in[0] * 2.0 : in[0].to(Device::reference); }, {x});
  EXPECT_EQ(
      text_of([&] { backward(sum(moved)); }),
      "checkpoint: invalid argument: the function gave f64[3] on reference when it was called again, and f64[3] on cpu before. Let it "
      "depend on its inputs alone.");
}

TEST(Checkpoint, ACapturedTensorThatAsksForAGradientIsRefused) {
  const Tensor x = scalar(2).require_grad(), w = scalar(3).require_grad();
  const Tensor y = checkpoint([&](const Tensors& in) { return times(in[0], w); }, {x});
  EXPECT_EQ(kind_of([&] { backward(y); }), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace votive
