// Gradients of reductions: the formulas against central differences, and by hand where a tie, a zero or an empty axis decides.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

using Over = Tensor (*)(const Tensor&, const ReduceOptions&);

void over_every_axis(const std::string& name, Over reduction) {
  const Tensor x = samples({2, 3, 4}, 5);
  for (const ReduceOptions& options :
       {ReduceOptions{}, ReduceOptions{.axis = 1}, ReduceOptions{.axis = {2, 0}, .keep = true}, ReduceOptions{.axis = Axes{{}}}})
    expect_gradient(name, [&](const Tensors& in) { return reduction(in[0], options); }, {x});
  expect_gradient(name, [&](const Tensors& in) { return reduction(transpose(in[0], 0, 2), {.axis = {0, 2}}); }, {x});
  expect_gradient(name, [&](const Tensors& in) { return reduction(in[0], {}); }, {samples({}, 7)});
}

TEST(ReductionGradient, OfSum) { over_every_axis("sum", sum); }
TEST(ReductionGradient, OfMean) { over_every_axis("mean", mean); }
TEST(ReductionGradient, OfMin) { over_every_axis("min", min); }
TEST(ReductionGradient, OfMax) { over_every_axis("max", max); }

TEST(ReductionGradient, OfProd) {
  over_every_axis("prod", prod);
  // division by x would lose what zeros get
  for (const Tensor& x : {tensor({2, 0, 3}, f64), tensor({0, 5, 0}, f64)})
    expect_gradient("prod", [](const Tensors& in) { return prod(in[0]); }, {x});
}

TEST(ReductionGradient, OfStatistics) {
  const Tensor x = samples({2, 3, 4}, 8);
  for (const Axes& axes : {Axes(), Axes(1), Axes{0, 2}}) {
    expect_gradient("var", [&](const Tensors& in) { return var(in[0], {.axis = axes, .correction = 1}); }, {x});
    expect_gradient("std", [&](const Tensors& in) { return votive::std(in[0], {.axis = axes, .keep = true, .correction = 0}); }, {x});
    expect_gradient("logsumexp", [&](const Tensors& in) { return logsumexp(in[0], {.axis = axes}); }, {x});
    for (const double p : {2.0, 1.0, 3.0, 0.5, std::numeric_limits<double>::infinity()})
      expect_gradient("norm", [&](const Tensors& in) { return norm(in[0], {.p = p, .axis = axes}); }, {x});
  }
  expect_gradient("nansum", [](const Tensors& in) { return nansum(in[0], {.axis = 0}); }, {x});
  expect_gradient("nanmean", [](const Tensors& in) { return nanmean(in[0], {.axis = 0}); }, {x});
}

TEST(ReductionGradient, OfScans) {
  const Tensor x = samples({2, 5, 3}, 9);
  for (const int axis : {0, 1, -1}) {
    expect_gradient("cumsum", [&](const Tensors& in) { return cumsum(in[0], axis); }, {x});
    expect_gradient("cumprod", [&](const Tensors& in) { return cumprod(in[0], axis); }, {x});
    expect_gradient("logcumsumexp", [&](const Tensors& in) { return logcumsumexp(in[0], axis); }, {x});
    expect_gradient("cummax", [&](const Tensors& in) { return cummax(in[0], axis).values; }, {x});
    expect_gradient("cummin", [&](const Tensors& in) { return cummin(in[0], axis).values; }, {x});
    expect_gradient("linear_recurrence", [&](const Tensors& in) { return linear_recurrence(in[0], in[1], axis); },
                    {x, samples({2, 5, 3}, 10)});
    expect_gradient("diff", [&](const Tensors& in) { return diff(in[0], 1, axis); }, {x});
  }
  expect_gradient("cumprod", [](const Tensors& in) { return cumprod(in[0]); }, {tensor({2, 0, 3, 0, 5}, f64)});
}

/// dy/dx of f at x, f32, for dy = 1.
std::vector<float> slope(const std::function<Tensor(const Tensor& x)>& f, const Tensor& x) {
  const Tensor leaf = x.require_grad();
  return grad(sum(f(leaf)), leaf).to(f32).to_host<float>();
}

// CONTRACT.md D16: to the one index that argmax names.
TEST(ReductionGradient, OfTiedExtremesGoesToTheLowestIndexAlone) {
  const Tensor x = tensor({{3, 1, 3}, {1, 3, 1}});
  EXPECT_EQ(slope([](const Tensor& v) { return max(v); }, x), (std::vector<float>{1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(slope([](const Tensor& v) { return max(v, {.axis = 1}); }, x), (std::vector<float>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(slope([](const Tensor& v) { return min(v, {.axis = 0}); }, x), (std::vector<float>{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(slope([](const Tensor& v) { return max(v); }, tensor({-0.0f, 0.0f})), (std::vector<float>{1, 0}));
}

TEST(ReductionGradient, OfAnExtremeWithNanGoesToTheNan) {
  EXPECT_EQ(slope([](const Tensor& v) { return max(v); }, tensor({1.0, std::nan(""), 3.0})), (std::vector<float>{0, 1, 0}));
}

TEST(ReductionGradient, OfTheMeanOfManyHalvesIsNoZero) {
  const std::vector<float> dx = slope([](const Tensor& v) { return mean(v); }, ones({70000}, f16));
  EXPECT_EQ(dx[69999], 1.430511474609375e-05f);  // 1/70000 = 239.67·2⁻²⁴, so 240·2⁻²⁴ of the subnormal f16
}

// D16: where the limit is finite, 0·∞ is no NaN.
TEST(ReductionGradient, OfNormsAndDeviationsOfNothingIsZero) {
  EXPECT_EQ(slope([](const Tensor& v) { return norm(v); }, zeros({2})), (std::vector<float>{0, 0}));
  EXPECT_EQ(slope([](const Tensor& v) { return votive::std(v, {.correction = 0}); }, ones({2})), (std::vector<float>{0, 0}));
}

TEST(ReductionGradient, OfLogsumexpOfMinusInfinityIsZero) {
  const double lowest = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(slope([](const Tensor& v) { return logsumexp(v); }, tensor({lowest, lowest})), (std::vector<float>{0, 0}));
  EXPECT_EQ(slope([](const Tensor& v) { return logsumexp(v); }, tensor({lowest, 1.0})), (std::vector<float>{0, 1}));
  EXPECT_EQ(slope([](const Tensor& v) { return select(logcumsumexp(v), 0, 2); }, tensor({lowest, lowest, 0.0})),
            (std::vector<float>{0, 0, 1}));
}

TEST(ReductionGradient, OfARunningExtremeGoesToItsLowestIndex) {
  EXPECT_EQ(slope([](const Tensor& v) { return cummax(v).values; }, tensor({1, 3, 3, 2})), (std::vector<float>{1, 3, 0, 0}));
}

TEST(ReductionGradient, OfNothingIsEmpty) {
  for (const Over reduction : {Over(sum), Over(mean), Over(max), Over(min)}) {
    const Tensor x = zeros({0, 3}).require_grad();
    const Tensor y = reduction(x, {.axis = 1});
    EXPECT_EQ(grad(sum(y), x).shape(), (Shape{0, 3}));
  }
}

}  // namespace
}  // namespace votive
