// Random tensors depend on seed, stream, offset and index alone; a generator moves on by the blocks it used (CONTRACT.md 7).
#include <algorithm>
#include <cmath>

#include "tests/ops/on_devices.h"
#include "votive/numerics/random.h"

namespace votive {
namespace {

class Randomness : public OnDevices {
 protected:
  RandomOptions at(std::uint64_t seed, std::uint64_t offset = 0, DType dtype = f32) const {
    return {.seed = seed, .offset = offset, .dtype = dtype, .device = GetParam()};
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Randomness, every_device, device_name);

TEST_P(Randomness, DoesNotDependOnTheShape) {
  EXPECT_EQ(rand({6, 7}, at(9)).to_host<float>(), rand({42}, at(9)).to_host<float>());
  const std::vector<float> longer = randn({101}, at(9)).to_host<float>();
  const std::vector<float> shorter = randn({50}, at(9)).to_host<float>();
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST_P(Randomness, GoesOnWhereAGeneratorStopped) {
  Generator generator{.seed = 4};
  const Tensor first = rand({5}, generator, {.device = GetParam()});
  EXPECT_EQ(generator.offset, 2u);  // five words, four to a block
  const Tensor second = rand({4}, generator, {.device = GetParam()});
  EXPECT_EQ(generator.offset, 3u);
  EXPECT_EQ(second.to_host<float>(), rand({4}, at(4, 2)).to_host<float>());
  randint(0, 10, {3}, generator, {.dtype = i64, .device = GetParam()});
  EXPECT_EQ(generator.offset, 5u);  // six words
}

TEST_P(Randomness, OfAForkIsAnotherStream) {
  const Generator parent{.seed = 4};
  const Generator a = parent.fork(0), b = parent.fork(1);
  EXPECT_NE(a.stream, b.stream);
  EXPECT_EQ(a.stream, parent.fork(0).stream);
  EXPECT_EQ(a.seed, parent.seed);
}

TEST_P(Randomness, HasTheMomentsOfItsDistribution) {
  const Size n = 20000;
  EXPECT_NEAR(mean(rand({n}, at(1))).item<float>(), 0.5f, 4 * 0.2887f / 141);
  const Tensor z = randn({n}, at(2));
  EXPECT_NEAR(mean(z).item<float>(), 0.0f, 4.0f / 141);
  EXPECT_NEAR(mean(square(z)).item<float>(), 1.0f, 4 * 1.4142f / 141);
  EXPECT_LT(max(rand({n}, at(3, 0, bf16))).to(f32).item<float>(), 1.0f);
}

TEST_P(Randomness, OfIntegersStaysInItsRange) {
  const Tensor x = randint(-3, 4, {5000}, {.seed = 5, .dtype = i8, .device = GetParam()});
  EXPECT_EQ(min(x).item<std::int8_t>(), -3);
  EXPECT_EQ(max(x).item<std::int8_t>(), 3);
  EXPECT_EQ(kind_of([&] { randint(3, 3, {1}, at(0, 0, i64)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { randint(0, 300, {1}, at(0, 0, u8)); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { rand({1}, at(0, 0, i32)); }), ErrorKind::DTypeMismatch);
}

/// Words of the stream, from the definition: block i div 4, word i mod 4.
std::uint32_t word(std::uint64_t seed, std::uint64_t i) { return numerics::random_word32(seed, 0, 0, i); }

TEST_P(Randomness, OfAProbabilityIsAWordBelowItsThreshold) {
  const std::vector<bool> x = bernoulli(0.3, {1000}, {.seed = 7, .dtype = boolean, .device = GetParam()}).to_host<bool>();
  const std::uint64_t threshold = 1288490188;  // ⌊0.3·2³²⌋, 0.3·2³² = 1288490188.8
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], word(7, i) < threshold);
  const Tensor p = full({1000}, 0.3, f64, here);
  EXPECT_EQ(bernoulli(p, {.seed = 7, .dtype = boolean}).to_host<bool>(), x);
  EXPECT_TRUE(all(bernoulli(1, {5000}, {.dtype = boolean, .device = GetParam()})).item<bool>());
  EXPECT_FALSE(any(bernoulli(0, {5000}, {.dtype = boolean, .device = GetParam()})).item<bool>());
  EXPECT_TRUE(all(bernoulli(ones({5000}, f16, here))).item<bool>());
  EXPECT_EQ(bernoulli(0.5, {4}, {.dtype = f32, .device = GetParam()}).dtype(), f32);
  for (const double wrong : {-0.1, 1.1, std::nan("")}) {
    EXPECT_EQ(kind_of([&] { bernoulli(wrong, {1}); }), ErrorKind::InvalidArgument);
    EXPECT_EQ(kind_of([&] { bernoulli(full({2}, wrong, f32, here)); }), ErrorKind::InvalidArgument);
  }
}

TEST_P(Randomness, OfARangeStaysBelowItsEnd) {
  const std::vector<float> u = rand({1000}, at(11)).to_host<float>();
  const std::vector<float> x = uniform(-3, 7, {1000}, at(11)).to_host<float>();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], -3.0f + u[i] * 10.0f);
  // 8 bits of a bf16 draw leave values between 255 and 256, which would round to 256
  const Tensor y = uniform(0, 256, {200000}, at(12, 0, bf16)).to(f32);
  EXPECT_LT(max(y).item<float>(), 256.0f);
  EXPECT_GE(min(y).item<float>(), 0.0f);
  const Tensor z = uniform(1, 1.0009765625, {5000}, at(13, 0, f16));  // neighbours in f16: only the lower one is in the range
  EXPECT_EQ(max(z).item<float>(), 1.0f);
  EXPECT_EQ(kind_of([&] { uniform(1, 1.0001, {1}, at(0, 0, f16)); }), ErrorKind::InvalidArgument);  // the same in f16
  EXPECT_EQ(kind_of([&] { uniform(2, 1, {1}, at(0)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { uniform(-3e38, 3e38, {1}, at(0)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { uniform(0, 1e39, {1}, at(0)); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { uniform(0, std::nan(""), {1}, at(0)); }), ErrorKind::InvalidArgument);
}

TEST_P(Randomness, OfAPermutationIsTheOrderOfItsWords) {
  const std::vector<std::int64_t> p = randperm(100, at(3, 0, i64)).to_host<std::int64_t>();
  std::vector<std::int64_t> expected(100);
  for (std::size_t i = 0; i < 100; ++i) expected[i] = static_cast<std::int64_t>(i);
  std::stable_sort(expected.begin(), expected.end(), [](std::int64_t a, std::int64_t b) {
    return numerics::random_word64(3, 0, 0, static_cast<std::uint64_t>(a)) <
           numerics::random_word64(3, 0, 0, static_cast<std::uint64_t>(b));
  });
  EXPECT_EQ(p, expected);
  EXPECT_EQ(randperm(0, at(3, 0, i64)).count(), 0);
  EXPECT_EQ(randperm(256, at(3, 0, u8)).count(), 256);
  EXPECT_EQ(kind_of([&] { randperm(257, at(3, 0, u8)); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { randperm(-1, at(3, 0, i64)); }), ErrorKind::InvalidArgument);
}

TEST_P(Randomness, OfDropoutKeepsTheMean) {
  const Tensor x = ones({40000}, f32, here);
  const Tensor y = dropout(x, 0.25, {.seed = 5});
  const float kept = 1 / 0.75f;
  EXPECT_EQ(max(y).item<float>(), kept);
  EXPECT_EQ(min(y).item<float>(), 0.0f);
  EXPECT_NEAR(mean(y).item<float>(), 1.0f, 4 * 0.577f / 200);  // deviation of one: √(p/(1−p))
  const Tensor mask = dropout_mask(0.25, {40000}, {.seed = 5, .device = GetParam()});
  EXPECT_TRUE(all(eq(mask, ne(y, 0))).item<bool>());
  EXPECT_TRUE(all(eq(dropout(x, 0), 1)).item<bool>());
  EXPECT_FALSE(any(dropout(x, 1)).item<bool>());
  EXPECT_EQ(kind_of([&] { dropout(x, 1.5); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { dropout(zeros({1}, i32, here), 0.5); }), ErrorKind::DTypeMismatch);
}

TEST_P(Randomness, OfANormalIsScaledAndMoved) {
  const std::vector<float> z = randn({101}, at(8)).to_host<float>();
  const std::vector<float> x = normal(3, 2, {101}, at(8)).to_host<float>();
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], z[i] * 2.0f + 3.0f);
  const Tensor y = normal(tensor({{0}, {100}}, f32, here), tensor({1, 0, 2}, f32, here), {.seed = 8});
  EXPECT_EQ(y.shape(), (Shape{2, 3}));
  EXPECT_EQ(y.to_host<float>()[4], 100.0f);
  EXPECT_EQ(kind_of([&] { normal(0, -1, {1}, at(0)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(randn_like(zeros({3, 2}, f16, here), {.seed = 8}).dtype(), f16);
}

// The ends of the uniform draw are erf of the ends; z = √2·erfinv(v). Checked against the distribution's own quantities, in the C library's f64.
TEST_P(Randomness, OfATruncatedNormalTakesOneWordEach) {
  const Size n = 20000;
  const Tensor y = truncated_normal({n}, {.seed = 6, .device = GetParam()});
  EXPECT_GE(min(y).item<float>(), -2.0f);
  EXPECT_LE(max(y).item<float>(), 2.0f);
  EXPECT_NEAR(mean(y).item<float>(), 0.0f, 4 * 0.88f / 141);
  EXPECT_NEAR(mean(square(y)).item<float>(), 0.7737f, 0.03f);  // 1 − 4φ(2) / (2Φ(2) − 1), φ(2) = 0.05399, Φ(2) = 0.97725
  const std::vector<double> u = rand({50}, at(6, 0, f64)).to_host<double>();
  const std::vector<double> z =
      truncated_normal({50}, {.mean = 5, .deviation = 3, .low = 4, .high = 20, .seed = 6, .dtype = f64, .device = GetParam()})
          .to_host<double>();
  for (std::size_t i = 0; i < z.size(); ++i) {
    const auto phi = [](double x) { return std::erf(x / std::sqrt(2.0)); };
    const double low = phi((4.0 - 5) / 3), high = phi((20.0 - 5) / 3);
    EXPECT_NEAR(phi((z[i] - 5) / 3), low + u[i] * (high - low), 1e-14);
  }
  EXPECT_EQ(truncated_normal({3}, {.dtype = bf16, .device = GetParam()}).dtype(), bf16);
  EXPECT_EQ(kind_of([] { truncated_normal({1}, {.low = 1, .high = 1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { truncated_normal({1}, {.deviation = 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([] { truncated_normal({1}, {.low = 8, .high = 9}); }), ErrorKind::InvalidArgument);  // both erf are 1 in f32
  Generator generator{.seed = 1};
  truncated_normal({5}, generator, {.dtype = f64, .device = GetParam()});
  EXPECT_EQ(generator.offset, 3u);
}

// CONTRACT.md 7: u·total against the canonical cumsum; here all sums are exact, so any order gives them.
TEST_P(Randomness, OfWeightsFollowsTheirCumsum) {
  const Tensor weights = tensor({{0, 1, 0, 2, 5, 0}, {4, 0, 0, 0, 0, 4}}, f32, here);
  const std::vector<std::int64_t> drawn = multinomial(weights, 500, {.replacement = true, .seed = 9}).to_host<std::int64_t>();
  const std::vector<float> u = rand({2, 500}, at(9)).to_host<float>();
  for (std::size_t i = 0; i < 500; ++i) {
    const float t = u[i] * 8;
    EXPECT_EQ(drawn[i], t < 1 ? 1 : t < 3 ? 3 : 4);
    EXPECT_EQ(drawn[500 + i], u[500 + i] * 8 < 4 ? 0 : 5);
  }
}

TEST_P(Randomness, OfWeightsWithoutReplacementRepeatsNothing) {
  const Tensor weights = tensor({5, 0, 1, 3}, f64, here);
  const std::vector<std::int64_t> order = multinomial(weights, 3, {.seed = 2}).to_host<std::int64_t>();
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<std::int64_t>{0, 2, 3}));
  // the first of many draws falls in proportion to the weights: 5/9, 1/9, 3/9
  const Tensor rows = broadcast_to(weights, {9000, 4});
  const std::vector<std::int64_t> first = multinomial(rows, 1, {.seed = 3}).to_host<std::int64_t>();
  const auto share = [&](std::int64_t i) { return static_cast<double>(std::count(first.begin(), first.end(), i)) / 9000; };
  EXPECT_NEAR(share(0), 5.0 / 9, 0.021);  // four deviations, √(p(1−p)/9000)
  EXPECT_NEAR(share(2), 1.0 / 9, 0.014);
  EXPECT_NEAR(share(3), 3.0 / 9, 0.020);
  EXPECT_EQ(share(1), 0);
}

TEST_P(Randomness, OfWeightsRefusesWhatIsNoDistribution) {
  const auto kind = [&](const Nested& w, Size n, bool replacement) {
    return kind_of([&] { multinomial(tensor(w, f32, here), n, {.replacement = replacement}); });
  };
  EXPECT_EQ(kind({1, -1}, 1, true), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({0, 0}, 1, true), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({1, 0}, 2, false), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({1, std::nan("")}, 1, false), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({3e38, 3e38}, 1, true), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind({1, 1}, -1, true), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { multinomial(ones({}, f32, here), 1); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(multinomial(ones({3, 2}, i32, here), 0).shape(), (Shape{3, 0}));
  Generator generator{.seed = 1};
  multinomial(ones({6}, f32, here), 2, generator);
  EXPECT_EQ(generator.offset, 2u);  // a word per weight
  multinomial(ones({6}, f32, here), 2, generator, {.replacement = true});
  EXPECT_EQ(generator.offset, 3u);  // a word per sample
}

// Every form with a generator draws what the other form draws from its place, and moves it past ⌈words / 4⌉ blocks.
TEST_P(Randomness, MovesItsGeneratorByTheWordsUsed) {
  const auto moved = [&](const std::function<void(Generator&)>& draw) {
    Generator generator{.seed = 1, .offset = 10};
    draw(generator);
    return generator.offset - 10;
  };
  const Device d = GetParam();
  const Tensor x = zeros({6}, f32, here), wide = zeros({6}, f64, here);
  EXPECT_EQ(moved([&](Generator& g) { rand_like(x, g); }), 2u);
  EXPECT_EQ(moved([&](Generator& g) { randn_like(wide, g); }), 3u);
  EXPECT_EQ(moved([&](Generator& g) { uniform(0, 2, {9}, g, {.device = d}); }), 3u);
  EXPECT_EQ(moved([&](Generator& g) { normal(0, 2, {1}, g, {.device = d}); }), 1u);
  EXPECT_EQ(moved([&](Generator& g) { normal(x, ones({6}, f32, here), g); }), 2u);
  EXPECT_EQ(moved([&](Generator& g) { randperm(5, g, {.dtype = i64, .device = d}); }), 3u);
  EXPECT_EQ(moved([&](Generator& g) { bernoulli(0.5, {5}, g, {.dtype = boolean, .device = d}); }), 2u);
  EXPECT_EQ(moved([&](Generator& g) { bernoulli(full({5}, 0.5, f32, here), g); }), 2u);
  EXPECT_EQ(moved([&](Generator& g) { dropout(x, 0.5, g); }), 2u);
  EXPECT_EQ(moved([&](Generator& g) { dropout_mask(0.5, {0}, g, {.device = d}); }), 0u);
  Generator generator{.seed = 1, .offset = 10};
  EXPECT_EQ(rand_like(x, generator).to_host<float>(), rand({6}, at(1, 10)).to_host<float>());
}

TEST(Generators, OfEntropyDiffer) { EXPECT_NE(Generator::from_entropy().seed, Generator::from_entropy().seed); }

}  // namespace
}  // namespace votive
