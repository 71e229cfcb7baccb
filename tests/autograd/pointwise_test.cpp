// Gradients of the pointwise operations: every row of the tables against central differences where the row says it is sensible, ties and kinks as D16
// settles them, and fused operations against their compositions, to the bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/autograd/central_differences.h"
#include "votive/ops/apply.h"
#include "votive/ops/pointwise.h"

namespace votive {
namespace {

/// Integers and truth values have no gradient.
bool is_discrete(const PointwiseRow& row) {
  return row.gives_bool() || row.group == PointwiseGroup::integer || row.group == PointwiseGroup::bitwise ||
         row.group == PointwiseGroup::shift;
}

TEST(PointwiseGradient, OfEveryUnaryRowAgreesWithCentralDifferences) {
  using Function = Tensor (*)(const Tensor&);
  constexpr Function functions[] = {
#define ROW(group, name, ...) votive::name,
      VOTIVE_UNARY(ROW)
#undef ROW
  };
  for (std::size_t i = 0; i < unary_rows().size(); ++i) {
    const PointwiseRow& row = unary_rows()[i];
    if (is_discrete(row)) continue;
    expect_gradient(std::string(row.name), [&](const Tensors& x) { return functions[i](x[0]); },
                    {samples({3, 4}, 100 + i, row.a.low, row.a.high)});
  }
}

TEST(PointwiseGradient, OfEveryBinaryRowAgreesWithCentralDifferences) {
  using Function = Tensor (*)(const Tensor&, const Tensor&);
  constexpr Function functions[] = {
#define ROW(group, name, ...) votive::name,
      VOTIVE_BINARY(ROW)
#undef ROW
  };
  for (std::size_t i = 0; i < binary_rows().size(); ++i) {
    const PointwiseRow& row = binary_rows()[i];
    if (is_discrete(row)) continue;
    const auto f = [&](const Tensors& x) { return functions[i](x[0], x[1]); };
    expect_gradient(std::string(row.name), f,
                    {samples({2, 3}, 200 + i, row.a.low, row.a.high), samples({2, 3}, 300 + i, row.b.low, row.b.high)});
    expect_gradient(std::string(row.name), f,
                    {samples({2, 1}, 400 + i, row.a.low, row.a.high), samples({3}, 500 + i, row.b.low, row.b.high)});
  }
}

TEST(PointwiseGradient, OfEveryUnaryRowWithNumbersAgreesWithCentralDifferences) {
  for (std::size_t i = 0; i < unary_with_rows().size(); ++i) {
    const UnaryWith op{static_cast<UnaryWithKind>(i), unary_with_rows()[i].attributes};
    const PointwiseRow& row = unary_with_rows()[i];
    expect_gradient(std::string(row.name), [&](const Tensors& x) { return apply(op, x[0]); },
                    {samples({3, 4}, 600 + i, row.a.low, row.a.high)});
  }
}

TEST(PointwiseGradient, OfEveryTernaryRowAgreesWithCentralDifferences) {
  for (std::size_t i = 0; i < ternary_rows().size(); ++i) {
    const Ternary op{static_cast<TernaryKind>(i), 0.7};
    const PointwiseRow& row = ternary_rows()[i];
    const auto f = [&](const Tensors& x) { return apply(op, x[0], x[1], x[2]); };
    const auto at = [&](const Shape& shape, std::uint64_t seed) { return samples(shape, seed + i, row.a.low, row.a.high); };
    expect_gradient(std::string(row.name), f, {at({2, 3}, 700), at({2, 3}, 710), at({2, 3}, 720)});
    expect_gradient(std::string(row.name), f, {at({2, 1}, 730), at({3}, 740), at({}, 750)});
  }
}

TEST(PointwiseGradient, OfCompositionsAgreesWithCentralDifferences) {
  const Tensor x = samples({2, 4}, 800), w = samples({4}, 801);
  expect_gradient("clamp", [](const Tensors& t) { return clamp(t[0], -1, 1); }, {x});
  expect_gradient("clamp", [](const Tensors& t) { return clamp(t[0], t[1], t[2]); },
                  {x, samples({4}, 802, -1.5, -0.5), samples({2, 1}, 803, 0.5, 1.5)});
  expect_gradient("prelu", [](const Tensors& t) { return prelu(t[0], t[1]); }, {x, w});
  expect_gradient("glu", [](const Tensors& t) { return glu(t[0]); }, {x});
  expect_gradient("glu", [](const Tensors& t) { return glu(t[0], 0); }, {x});
  expect_gradient("relu_squared", [](const Tensors& t) { return relu_squared(t[0]); }, {x});
  expect_gradient("nan_to_num", [](const Tensors& t) { return nan_to_num(t[0]); }, {x});
  expect_gradient("round", [](const Tensors& t) { return round(t[0], 1); }, {x});
  expect_gradient("where", [](const Tensors& t) { return where(gt(t[0], t[1]), t[0], t[1]); }, {x, w});
  expect_gradient("lerp", [](const Tensors& t) { return lerp(t[0], t[1], 0.3); }, {x, w});
  expect_gradient("pow", [](const Tensors& t) { return pow(t[0], 3) + pow(2, t[0]) + pow(t[0], 2); }, {x});
  expect_gradient("to", [](const Tensors& t) { return t[0].to(f64) * 2 + 1 / (3 - t[0]) - t[0] % 0.7; }, {x});
}

Tensor gradient_at(const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
  const Tensor x = at.require_grad();
  return grad(std::vector<Tensor>{sum(f(x))}, std::vector<Tensor>{x})[0];
}

std::vector<float> host(const Tensor& x) { return x.to(f32).to_host<float>(); }

TEST(PointwiseGradient, OfReluAndAbsIsZeroAtZero) {
  EXPECT_EQ(host(gradient_at(relu, tensor({-1, 0, -0.0, 2}))), (std::vector<float>{0, 0, 0, 1}));
  EXPECT_EQ(host(gradient_at(abs, tensor({-1, 0, -0.0, 2}))), (std::vector<float>{-1, 0, 0, 1}));
}

TEST(PointwiseGradient, OfMaximumAndMinimumGoesToTheFirstOperandOnTies) {
  for (const auto& f :
       {+[](const Tensor&a, const Tensor&b) { return maximum(a, b); }, +[](const Tensor&a, const Tensor&b) { return minimum(a, b); }}) {
    const Tensor a = tensor({1, 0}).require_grad(), b = tensor({1, -0.0}).require_grad();
    const Tensors g = grad(std::vector<Tensor>{sum(f(a, b))}, std::vector<Tensor>{a, b});
    EXPECT_EQ(host(g[0]), (std::vector<float>{1, 1}));
    EXPECT_EQ(host(g[1]), (std::vector<float>{0, 0}));
  }
}

// D16: 0·∞ is no NaN where the true limit is finite. A loss that looks away from an element sends it a gradient of 0.
TEST(PointwiseGradient, OfAnElementThatTheLossLooksAwayFromIsZeroAndNotNan) {
  const auto masked = [](Tensor (*f)(const Tensor&)) {
    return host(gradient_at([f](const Tensor& x) { return where(gt(x, 0), f(x), 0); }, tensor({0, 4})));
  };
  EXPECT_EQ(masked(sqrt), (std::vector<float>{0, 0.25f}));
  EXPECT_EQ(masked(rsqrt), (std::vector<float>{0, -0.0625f}));
  EXPECT_EQ(masked(recip), (std::vector<float>{0, -0.0625f}));
  EXPECT_EQ(masked(log), (std::vector<float>{0, 0.25f}));
  EXPECT_EQ(masked([](const Tensor& x) { return 1 / x; }), (std::vector<float>{0, -0.0625f}));
  EXPECT_EQ(host(gradient_at(sqrt, tensor({0}))), (std::vector<float>{std::numeric_limits<float>::infinity()}))
      << "the formula, where it is asked for";
}

// D16: far out the gates are shut or open, and their slopes 0 or 1.
TEST(PointwiseGradient, OfGatesAtInfinityIsTheLimit) {
  const float inf = std::numeric_limits<float>::infinity();
  for (Tensor (*gate)(const Tensor&) :
       {+[](const Tensor& x) { return silu(x); }, +[](const Tensor& x) { return gelu(x); }, +[](const Tensor& x) { return gelu_tanh(x); },
        +[](const Tensor& x) { return quick_gelu(x); }, +[](const Tensor& x) { return mish(x); }}) {
    EXPECT_EQ(host(gradient_at(gate, tensor({-inf, inf}))), (std::vector<float>{0, 1}));
  }
  const Tensor a = tensor({-inf, -inf, 0}).require_grad(), b = tensor({-inf, 0, -inf}).require_grad();
  const Tensors g = grad(std::vector<Tensor>{sum(logaddexp(a, b))}, std::vector<Tensor>{a, b});
  EXPECT_EQ(host(g[0]), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(host(g[1]), (std::vector<float>{0, 1, 0}));
}

// D16: x² at 0 has slope 0, and a tensor's exponent at base 0 too. tf.math.pow and torch agree at these points.
TEST(PointwiseGradient, OfPowersAtZeroIsNoNan) {
  const auto both = [](const Nested& base, const Nested& exponent) {
    const Tensor x = tensor(base).require_grad(), p = tensor(exponent).require_grad();
    const Tensors g = grad(std::vector<Tensor>{sum(pow(x, p))}, std::vector<Tensor>{x, p});
    return std::pair(host(g[0]), host(g[1]));
  };
  const auto [base, exponent] = both({0, 0, 0, 0}, {2, 1, 0, 3});
  EXPECT_EQ(base, (std::vector<float>{0, 1, 0, 0}));
  EXPECT_EQ(exponent, (std::vector<float>{0, 0, 0, 0}));
  // 0^-1 is infinite, and a^p ln a goes to -inf with a, from the left of 0 and an odd p to inf.
  EXPECT_EQ(both({0, 0, -0.0}, {-1, -0.5, -1}).second, (std::vector<float>{-INFINITY, -INFINITY, INFINITY}));
  const Tensor pole = tensor({-1}).require_grad();
  EXPECT_EQ(host(grad(pow(tensor({0.0}), pole) * 0.0, pole)), std::vector<float>{0}) << "0 received at a pole is 0 sent";
  EXPECT_EQ(host(gradient_at([](const Tensor& x) { return pow(x, 2); }, tensor({0, 3}))), (std::vector<float>{0, 6}));
  EXPECT_EQ(host(gradient_at([](const Tensor& x) { return pow(x, 3); }, tensor({0, -2}))), (std::vector<float>{0, 12}));
  EXPECT_EQ(host(gradient_at(
                [](const Tensor& x) {
                  return pow(x, tensor({0, 2}, u8));
                },
                tensor({0, 5}))),
            (std::vector<float>{0, 10}))
      << "an unsigned exponent of 0, less one";
  EXPECT_EQ(host(gradient_at([](const Tensor& x) { return xlogy(x, x); }, tensor({1}))), (std::vector<float>{1}));
}

TEST(PointwiseGradient, OfClampIsOneAtItsBoundsAndOfHardtanhZero) {
  EXPECT_EQ(host(gradient_at([](const Tensor& x) { return clamp(x, -1, 1); }, tensor({-2, -1, 0, 1, 2}))),
            (std::vector<float>{0, 1, 1, 1, 0}));
  EXPECT_EQ(host(gradient_at([](const Tensor& x) { return hardtanh(x); }, tensor({-2, -1, 0, 1, 2}))), (std::vector<float>{0, 0, 1, 0, 0}));
}

TEST(PointwiseGradient, OfFusedFunctionsHasTheBitsOfTheirCompositions) {
  const auto same = [](const char* name, const std::function<Tensor(const Tensor&)>& fused,
                       const std::function<Tensor(const Tensor&)>& composed) {
    for (const DType dtype : {f64, f32, f16, bf16}) {
      const Tensor x = samples({1000}, 7, -6, 6).to(dtype);
      const auto p = gradient_at(fused, x).to(f64).to_host<double>(), q = gradient_at(composed, x).to(f64).to_host<double>();
      for (std::size_t i = 0; i < p.size(); ++i) ASSERT_EQ(p[i], q[i]) << name << " of " << to_string(dtype) << ", element " << i;
    }
  };
  same("silu", silu, [](const Tensor& x) { return x * sigmoid(x); });
  same("gelu", gelu, [](const Tensor& x) { return x * (0.5 * erfc(x * -0.7071067811865476)); });
  same("gelu_tanh", gelu_tanh, [](const Tensor& x) { return x * sigmoid(x * (1.5957691216057308 + 0.07135481627260025 * square(x))); });
  same(
      "swiglu of the gate", [](const Tensor& x) { return swiglu(x, x.detach()); }, [](const Tensor& x) { return silu(x) * x.detach(); });
  same(
      "swiglu of the other", [](const Tensor& x) { return swiglu(x.detach(), x); }, [](const Tensor& x) { return silu(x.detach()) * x; });
}

TEST(PointwiseGradient, OfWhereGoesToTheChosenAndOfACastComesBackInTheOldDtype) {
  const Tensor c = tensor({true, false}, boolean);
  const Tensor a = tensor({1, 2}, f32).require_grad(), b = tensor({{3, 4}, {5, 6}}, f16).require_grad();
  const Tensors g = grad(std::vector<Tensor>{sum(where(c, a, b) * tensor({{1, 2}, {3, 4}}))}, std::vector<Tensor>{a, b});
  EXPECT_EQ(host(g[0]), (std::vector<float>{4, 0}));
  EXPECT_EQ(host(g[1]), (std::vector<float>{0, 2, 0, 4}));
  EXPECT_EQ(g[1].dtype(), f16);
}

}  // namespace
}  // namespace votive
