// Gradients of reductions: the formulas against central differences, and by hand where a tie, a zero or an empty axis decides.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

using Reduction = Tensor (*)(const Tensor&, const ReduceOptions&);

void over_every_axis(const std::string& name, Reduction reduction) {
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

TEST(ReductionGradient, OfNothingIsEmpty) {
  for (const Reduction reduction : {Reduction(sum), Reduction(mean), Reduction(max), Reduction(min)}) {
    const Tensor x = zeros({0, 3}).require_grad();
    const Tensor y = reduction(x, {.axis = 1});
    EXPECT_EQ(grad(sum(y), x).shape(), (Shape{0, 3}));
  }
}

}  // namespace
}  // namespace votive
