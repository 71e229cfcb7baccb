// Faults of gradients that users of other libraries met. The name of a test carries the id of the report; tests/ops/user_reports.txt lists them all.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"
#include "votive/core/memory.h"

namespace votive {
namespace {

std::vector<double> numbers(const Tensor& x) { return x.to(f64).to_host<double>(); }
Tensor of(const Nested& values) { return tensor(values, f64); }
/// d sum(f(x)) / dx
std::vector<double> slope(const std::function<Tensor(const Tensor&)>& f, const Tensor& at) {
  const Tensor x = at.require_grad();
  return numbers(backward(sum(f(x)))[x]);
}

TEST(ReportedGradients, N2083OfSiluAtZeroIsAHalf) {
  EXPECT_EQ(slope([](const Tensor& x) { return silu(x); }, of({0.0})), std::vector<double>{0.5});
}

TEST(ReportedGradients, N2328OfEluOfALargeNumberIsOne) {
  EXPECT_EQ(slope([](const Tensor& x) { return elu(x); }, of({1000.0, 1e300})), (std::vector<double>{1, 1}));
}

TEST(ReportedGradients, OfGeluTanhFarOutIsItsLimit) {
  EXPECT_EQ(slope([](const Tensor& x) { return gelu_tanh(x); }, of({1e20, -1e20, 1e200, -1e200})), (std::vector<double>{1, 0, 1, 0}));
}

TEST(ReportedGradients, N534OfMaximumAndMinimum) {
  const Tensor x = of({3.0, 1.0, -4.0, -1.0});
  EXPECT_EQ(slope([](const Tensor& t) { return maximum(t, t * 0.1); }, x), (std::vector<double>{1, 1, 0.1, 0.1}));
  EXPECT_EQ(slope([](const Tensor& t) { return minimum(t, t * 0.1); }, x), (std::vector<double>{0.1, 0.1, 1, 1}));
}

TEST(ReportedGradients, Mlx505OfASquareAtZeroIsZero) {
  EXPECT_EQ(slope([](const Tensor& x) { return pow(x, 2.0); }, of({0.0})), std::vector<double>{0});
  EXPECT_EQ(slope([](const Tensor& x) { return pow(x, 1.5); }, of({0.0})), std::vector<double>{0});
}

TEST(ReportedGradients, N2168OfRmsNormReachesEverything) {
  const Tensor x = samples({3, 8}, 1), gamma = samples({8}, 2);
  expect_gradient("rms_norm", [](const Tensors& in) { return rms_norm(in[0], in[1]); }, {x, gamma});
}

TEST(ReportedGradients, N3011GoThroughLayerNormToEveryParameter) {
  const Tensor x = samples({4, 6}, 1);
  const Tensor w1 = samples({5, 6}, 2).require_grad(), b1 = samples({5}, 3).require_grad(), gamma = samples({5}, 4).require_grad(),
               beta = samples({5}, 5).require_grad(), w2 = samples({3, 5}, 6).require_grad(), b2 = samples({3}, 7).require_grad();
  const Tensor y = linear(layer_norm(linear(x, w1, b1), gamma, beta), w2, b2);
  const Grads g = backward(sum(y * samples({4, 3}, 8)));
  for (const Tensor& w : {w1, b1, gamma, beta, w2, b2}) {
    ASSERT_TRUE(g.has(w));
    double total = 0;
    for (const double v : numbers(g[w])) total += std::fabs(v);
    // a shift of all of a row's features is what layer_norm takes away, not what any of these is
    EXPECT_GT(total, 1e-3);
  }
}

TEST(ReportedGradients, N3568OfRopeTurnsBack) {
  const Tensor x = samples({1, 2, 3, 4}, 1), positions = arange(0, 3), frequencies = rope_frequencies(4);
  expect_gradient("rope", [&](const Tensors& in) { return rope(in[0], positions, frequencies); }, {x});
}

TEST(ReportedGradients, N2337OfATransposedConvolution) {
  const Tensor x = samples({1, 4, 7, 5}, 1), w = samples({4, 2, 3, 5}, 2);
  expect_gradient("conv_transpose2d",
                  [](const Tensors& in) {
                    const Tensor y = conv_transpose2d(in[0], in[1], {}, {.stride = 2, .padding = 1, .output_padding = 1});
                    return y * y;
                  },
                  {x, w}, {.step = 1e-6, .tolerance = 1e-5, .twice = false});
}

TEST(ReportedGradients, N1593OfOverlappingMaximaAddUp) {
  const Tensor x = of({{{{1, 2, 3, 4}, {5, 16, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 6}}}});
  const Tensor y = x.require_grad();
  const std::vector<double> g = numbers(backward(sum(max_pool2d(y, 3, {.stride = 1})))[y]);
  std::vector<double> expected(16, 0);
  expected[5] = 4;
  EXPECT_EQ(g, expected) << "16 is inside all four windows";
}

TEST(ReportedGradients, N3507OfTwoUsesOneOfThemEnlarged) {
  const Tensor x = samples({1, 1, 2, 2}, 1).require_grad();
  const Tensor up = interpolate(x, {4, 4}, {.mode = Interpolation::nearest});
  const std::vector<double> g = numbers(backward(sum(up) + sum(x))[x]);
  EXPECT_EQ(g, (std::vector<double>{5, 5, 5, 5}));
}

TEST(ReportedGradients, Burn702Pytorch13669OfABroadcastOperandAreSummed) {
  const Tensor a = of({{1.0}, {2.0}}).require_grad(), b = of({{3.0, 4.0}}).require_grad();
  const Grads g = backward(sum(a * b));
  EXPECT_EQ(numbers(g[a]), (std::vector<double>{7, 7}));
  EXPECT_EQ(numbers(g[b]), (std::vector<double>{3, 3}));
  EXPECT_EQ(slope([](const Tensor& z) { return exp(z) - zeros({1000}, f64); }, of({0.0})), std::vector<double>{1000});
}

TEST(ReportedGradients, Burn1225OfAPowerWhoseExponentAloneAsks) {
  const Tensor x = of({2.0, 3.0}), y = of({3.0, 2.0}).require_grad();
  const std::vector<double> g = numbers(backward(sum(pow(x, y)))[y]);
  EXPECT_NEAR(g[0], 8 * std::log(2.0), 1e-14);
  EXPECT_NEAR(g[1], 9 * std::log(3.0), 1e-14);
}

TEST(ReportedGradients, Mlx3630OfALayerNormsBiasAreTheSameEveryTime) {
  const Tensor x = randn({64, 96}, {.seed = 1}), gamma = ones({96}).require_grad(), beta = zeros({96}).require_grad();
  const Tensor weights = randn({64, 96}, {.seed = 2});
  std::vector<float> first;
  for (int i = 0; i < 1000; ++i) {
    const Grads g = backward(sum(layer_norm(x, gamma, beta) * weights));
    const std::vector<float> now = g[beta].to_host<float>();
    if (first.empty()) first = now;
    ASSERT_EQ(now, first) << "run " << i;
  }
}

TEST(ReportedGradients, Mlx3638GraphsOfManyThreadsDoNotMeet) {
  const Tensor shared = randn({32, 32}, {.seed = 1}).require_grad();
  std::vector<std::vector<float>> results(8);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const Tensor x = randn({32, 32}, {.seed = 2}).require_grad();
        results[t] = backward(sum(tanh(matmul(x, shared)) * x))[shared].to_host<float>();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results.front());
}

TEST(ReportedGradients, Mlx3290ALoopOfGradientsHoldsNoMemory) {
  const Tensor w = randn({64, 64}, {.seed = 1}).require_grad();
  const auto step = [&] {
    const Tensor y = softmax(matmul(matmul(w, w), w));
    const Tensor first = grad(sum(y * y), w, {.create_graph = true});
    return backward(sum(first * first))[w];
  };
  (void)step();
  const std::uint64_t before = memory_statistics().in_use_bytes;
  for (int i = 0; i < 50; ++i) (void)step();
  EXPECT_EQ(memory_statistics().in_use_bytes, before);
}

/// A small network trained on each device: the same weights, to the bit, after every step.
TEST(ReportedGradients, Burn3565TrainingIsTheSameOnEveryDevice) {
  const auto train = [](Device device) {
    const Tensor x = randn({48, 2}, {.seed = 1, .device = device});
    const Tensor labels = gt(select(x, 1, 0) * select(x, 1, 1), 0.0).to(i64);
    Tensor w1 = randn({16, 2}, {.seed = 2, .device = device}), b1 = zeros({16}, f32, {.device = device});
    Tensor w2 = randn({2, 16}, {.seed = 3, .device = device}) * 0.3, b2 = zeros({2}, f32, {.device = device});
    double first = 0, last = 0;
    for (int epoch = 0; epoch < 60; ++epoch) {
      w1 = w1.detach().require_grad(), b1 = b1.detach().require_grad(), w2 = w2.detach().require_grad(), b2 = b2.detach().require_grad();
      const Tensor logits = linear(gelu(linear(x, w1, b1)), w2, b2);
      const Tensor loss = -mean(gather(log_softmax(logits), reshape(labels, {48, 1}), 1));
      const Grads g = backward(loss);
      last = loss.item<float>();
      if (epoch == 0) first = last;
      const NoGrad off;
      w1 = w1 - g[w1] * 0.5, b1 = b1 - g[b1] * 0.5, w2 = w2 - g[w2] * 0.5, b2 = b2 - g[b2] * 0.5;
    }
    EXPECT_LT(last, first / 2) << "it learns";
    std::vector<float> weights = w1.to_host<float>();
    for (const Tensor& w : {b1, w2, b2})
      for (const float v : w.to_host<float>()) weights.push_back(v);
    return weights;
  };
  const std::vector<float> expected = train(Device::reference);
  EXPECT_EQ(train(Device::cpu), expected);
}

}  // namespace
}  // namespace votive
