// Scans: by hand, the canonical order of CONTRACT.md 3.4 spelled out, and numbers made by PyTorch 2.15.0 in f64.
#include "tests/ops/expected.h"

namespace votive {
namespace {

class Scans : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f64) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Scans, every_device, device_name);

TEST_P(Scans, AddAndMultiplyAlongAnyAxis) {
  const Tensor m = of({{1, 2, 3}, {4, 5, 6}});
  expect_near(cumsum(m, 0), {1, 2, 3, 5, 7, 9});
  expect_near(cumsum(m, 1), {1, 3, 6, 4, 9, 15});
  expect_near(cumprod(transpose(m), -2), {1, 4, 2, 20, 6, 120});
  EXPECT_EQ(cumsum(of({200, 100}, u8)).dtype(), u64);
  expect_near(cumsum(of({200, 100}, u8)), {200, 300});
  expect_near(cumsum(of({1, 0, 1}, boolean)), {1, 1, 2});
  EXPECT_EQ(cumsum(of({-1, -2}, i8)).dtype(), i64);
  expect_near(cumprod(of({-1, 5}, i8)), {-1, -5});
  EXPECT_EQ(cumsum(zeros({2, 0}, f32, here)).shape(), (Shape{2, 0}));
}

TEST_P(Scans, OfIntegersWrapModulo2To64) {
  const Tensor y = cumsum(of({std::numeric_limits<std::int64_t>::max(), std::int64_t{1}}, i64));
  EXPECT_EQ(y.to_host<std::int64_t>()[1], std::numeric_limits<std::int64_t>::min());
}

/// y = (chunk + block) + local with offsets by Blelloch's down-sweep, for less than one chunk of three blocks: the offset of block 2 is block 0 + block 1.
TEST_P(Scans, FollowTheCanonicalOrder) {
  std::vector<float> x(48);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(3 + i * i % 7) * (i % 5 == 0 ? 1e4f : 1.0f);
  std::vector<float> expected(x.size()), totals;
  for (std::size_t block = 0; block < 3; ++block) {
    float local = 0;
    const float offset = block == 0 ? 0 : block == 1 ? totals[0] : totals[0] + totals[1];
    for (std::size_t i = 16 * block; i < 16 * block + 16; ++i) {
      local = i == 16 * block ? x[i] : local + x[i];
      expected[i] = block == 0 ? local : offset + local;
    }
    totals.push_back(local);
  }
  EXPECT_EQ(cumsum(from_host(std::span<const float>(x), {48}, f32, here)).to_host<float>(), expected);
}

// candle's cumsum is a product with a triangle of ones, in which 0 · NaN reaches everything (candle inventory 1.6).
TEST_P(Scans, LetNanReachOnlyWhatFollows) {
  const std::vector<float> y = cumsum(of({1, 2, std::nan(""), 3}, f32)).to_host<float>();
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 3);
  EXPECT_TRUE(std::isnan(y[2]) && std::isnan(y[3]));
}

TEST_P(Scans, RoundHalvesOncePerOutput) {
  const std::vector<float> y = cumsum(ones({4096}, bf16, here)).to(f32).to_host<float>();
  EXPECT_EQ(y[4095], 4096);
  EXPECT_EQ(y[257], 258);
}

TEST_P(Scans, KeepAZeroOfEitherSign) { EXPECT_TRUE(std::signbit(cumsum(of({-0.0, -0.0}, f32)).to_host<float>()[1])); }

TEST_P(Scans, FindExtremesAndTheirLowestIndex) {
  const ScannedExtreme most = cummax(of({1, 3, 3, 2, std::nan(""), 9}, f32)), least = cummin(of({{2, 3}, {1, 3}}), 0);
  expect_near(most.values, {1, 3, 3, 3, std::nan(""), std::nan("")});
  EXPECT_EQ(most.indices.to_host<std::int64_t>(), (std::vector<std::int64_t>{0, 1, 1, 1, 4, 4}));
  expect_near(least.values, {2, 3, 1, 3});
  EXPECT_EQ(least.indices.to_host<std::int64_t>(), (std::vector<std::int64_t>{0, 0, 1, 0}));
  EXPECT_EQ(cummax(of({200, 3}, u8)).values.dtype(), u8);
}

TEST_P(Scans, AddExponentials) {
  expect_near(select(logcumsumexp(pattern({2, 4, 3}, 7, GetParam()), 1), 0, 0),
              {-1.25, 0.5, -0.5, 1.3288897342925496, 1.0759394198788437, 0.07593941987884356, 1.8710526010830604, 1.3693380844056784,
               0.36933808440567817, 2.15317162808765, 1.5500164040589504, 0.5500164040589502});
  expect_near(logcumsumexp(of({-infinity, -infinity, 0}, f32)), {-infinity, -infinity, 0});
  expect_near(logcumsumexp(of({0, 0}, i32)), {0, std::log(2.0)}, 1e-7);
}

// User report mlx#4139: a scan along an axis of size 1 trusted its stride.
TEST_P(Scans, Mlx4139AlongAnAxisOfSizeOneChangesNothing) {
  const Tensor row = reshape(arange(1, 11, 1, f32, here), {1, 10});
  for (Size k = 1; k <= 3; ++k) {
    const Tensor rest = narrow(row, 1, k, 10 - k);
    EXPECT_EQ(cumsum(rest, 0).to_host<float>(), rest.to_host<float>());
  }
}

// User report burn#4814: NaN in extremes and running extremes differed across six backends.
TEST_P(Scans, Burn4814NanIsFoundWhereItFirstStands) {
  const double nan = std::nan("");
  const Tensor row = of({nan, 1, 2, 3, 4, nan, 6}, f32);
  EXPECT_EQ(argmax(row).item<std::int64_t>(), 0);
  EXPECT_EQ(argmin(row).item<std::int64_t>(), 0);
  EXPECT_TRUE(std::isnan(max(row).item<float>()) && std::isnan(min(row).item<float>()));
  for (const ScannedExtreme& found : {cummax(row), cummin(row)}) {
    for (const float v : found.values.to_host<float>()) EXPECT_TRUE(std::isnan(v));
    for (const std::int64_t i : found.indices.to_host<std::int64_t>()) EXPECT_EQ(i, 0);
  }
}

// User report pytorch#141802: 2.55338 is 2.546875 when it is rounded to bf16 once.
TEST_P(Scans, Pytorch141802LogcumsumexpOfBf16RoundsOnce) {
  EXPECT_EQ(logcumsumexp(of({2.4375, -0.334, -0.3711}, bf16)).to(f32).to_host<float>()[2], 2.546875f);
}

// User report pytorch#180150: f16 sums accumulate in f32, so the worst error is that of one rounding.
TEST_P(Scans, Pytorch180150CumsumOfHalvesAccumulatesInF32) {
  const Tensor x = randn({20000}, {.seed = 3, .dtype = f16, .device = GetParam()});
  const std::vector<float> y = cumsum(x).to(f32).to_host<float>();
  const std::vector<double> exact = cumsum(x.to(f64)).to_host<double>();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], exact[i], std::max(1e-3, std::fabs(exact[i])) * 0x1p-10);
}

TEST_P(Scans, Recur) {
  expect_near(linear_recurrence(of({9, 2, 3}), of({1, 1, 1})), {1, 3, 10});
  expect_near(linear_recurrence(of({{9, 2}, {2, 3}}), of({{1, 1}, {1, 1}}), 0), {1, 1, 3, 4});
  EXPECT_EQ(kind_of([&] { linear_recurrence(of({1, 2}), of({1, 2, 3})); }), ErrorKind::ShapeMismatch);
}

TEST_P(Scans, Differ) {
  expect_near(diff(of({1, 4, 9, 16})), {3, 5, 7});
  expect_near(diff(of({1, 4, 9, 16}), 2), {2, 2});
  expect_near(diff(of({{1, 4}, {9, 16}}), 1, 0), {8, 12});
  EXPECT_EQ(diff(of({1, 2}), 5).shape(), (Shape{0}));
  expect_near(diff(of({1, 1, 0}, boolean)).to(f32), {0, 1});
  EXPECT_EQ(kind_of([&] { diff(of({1, 2}), -1); }), ErrorKind::InvalidArgument);
}

TEST_P(Scans, NeedAnAxis) {
  EXPECT_EQ(kind_of([&] { cumsum(of(1)); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { cummax(of({1, 2}), 1); }), ErrorKind::InvalidAxis);
}

}  // namespace
}  // namespace votive
