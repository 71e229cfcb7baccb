// Faults that users of other libraries met, as values that must hold here. The name of a test carries the id of the report; tests/ops/user_reports.txt lists them all.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tests/ops/on_devices.h"
#include "votive/ops/ops.h"

namespace votive {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class ReportedValues : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype) const { return tensor(values, dtype, here); }
  Tensor range(Size n, DType dtype = f32) const { return arange(0, n, 1, i64, here).to(dtype); }
};
INSTANTIATE_TEST_SUITE_P(Devices, ReportedValues, every_device, device_name);

std::vector<double> numbers(const Tensor& x) { return x.to(f64).to_host<double>(); }

TEST_P(ReportedValues, N3727SoftmaxOfALongRowOfHalvesSumsToOne) {
  const Tensor y = softmax(zeros({1, 4096}, f16, here));
  EXPECT_EQ(sum(y.to(f32)).item<float>(), 1.0f);
  for (const double p : numbers(y)) ASSERT_EQ(p, 1.0 / 4096);
}

TEST_P(ReportedValues, N3765SumsOfHalvesAlongAnyAxisAndLayout) {
  EXPECT_EQ(numbers(sum(ones({4096, 2}, f16, here), {.axis = 0})), (std::vector<double>{4096, 4096}));
  EXPECT_EQ(numbers(sum(transpose(ones({2, 4096}, bf16, here)), {.axis = 0})), (std::vector<double>{4096, 4096}));
  EXPECT_EQ(numbers(sum(slice(ones({8192, 2}, f16, here), {.step = 2}), {.axis = 0})), (std::vector<double>{4096, 4096}));
}

TEST_P(ReportedValues, N3765TheMeanOfManyHalvesIsFinite) { EXPECT_EQ(numbers(mean(ones({65520}, f16, here))), std::vector<double>{1}); }

TEST_P(ReportedValues, S3TheMeanOfIntegersIsNotZero) {
  EXPECT_EQ(mean(of({2, 4}, u32)).item<float>(), 3.0f);
  EXPECT_EQ(mean(of({1, 2}, i32)).item<float>(), 1.5f);
}

TEST_P(ReportedValues, N3813ATensorHasAsManyValuesAsItsShape) {
  const std::vector<float> four{1, 2, 3, 4};
  EXPECT_NE(kind_of([&] { (void)from_host<float>(four, {2, 2, 2}, f32, here); }), ErrorKind::Internal);
  EXPECT_NE(kind_of([&] { (void)from_host<float>(four, {2, 1}, f32, here); }), ErrorKind::Internal);
  EXPECT_EQ(from_host<float>(std::vector<float>{}, {0, 3}, f32, here).shape(), (Shape{0, 3}));
}

TEST_P(ReportedValues, SoftmaxOfARowLongerThanAnyThreadgroup4eeaf205) {
  const Tensor y = softmax(range(200'000) * 1e-4);
  EXPECT_NEAR(sum(y.to(f64)).item<double>(), 1, 1e-6);
  EXPECT_NEAR(numbers(y).back() / numbers(y).front(), std::exp(19.9999), std::exp(19.9999) * 1e-5);
}

TEST_P(ReportedValues, N3309FunctionsAtTheEndsOfTheirRange) {
  const std::vector<double> e = numbers(exp(of({88.0, 89.0, -103.0, -110.0, inf, -inf, nan}, f32)));
  EXPECT_TRUE(std::isfinite(e[0]));
  EXPECT_EQ(e[1], inf);
  EXPECT_GT(e[2], 0) << "a subnormal";
  EXPECT_EQ(e[3], 0);
  EXPECT_EQ(e[4], inf);
  EXPECT_EQ(e[5], 0);
  EXPECT_TRUE(std::isnan(e[6]));
  const std::vector<double> l = numbers(log(of({0.0, -1.0, inf, 1e-45}, f32)));
  EXPECT_EQ(l[0], -inf);
  EXPECT_TRUE(std::isnan(l[1]));
  EXPECT_EQ(l[2], inf);
  EXPECT_NEAR(l[3], std::log(std::ldexp(1.0, -149)), 1e-4);
  EXPECT_EQ(numbers(of({1.0, -1.0}, f32) / of({0.0, 0.0}, f32)), (std::vector<double>{inf, -inf}));
}

TEST_P(ReportedValues, N1408Llama5243GeluOfLargeNumbersIsThem) {
  EXPECT_EQ(numbers(gelu_tanh(of({20.0, 20.6015625, 1e30, -20.0}, f32))),
            (std::vector<double>{20, 20.6015625, numbers(of({1e30}, f32))[0], 0}));
  EXPECT_EQ(numbers(gelu(of({20.0, 1e30}, f32)))[0], 20);
}

TEST_P(ReportedValues, N2475TanhOfLargeNumbersIsOne) { EXPECT_EQ(numbers(tanh(of({100.0, -100.0}, f32))), (std::vector<double>{1, -1})); }

TEST_P(ReportedValues, N1358Mlx602LinspaceOfOneAndOfNone) {
  EXPECT_EQ(numbers(linspace(1, 10, 1, f32, here)), std::vector<double>{1});
  EXPECT_EQ(linspace(1, 10, 0, f32, here).shape(), Shape{0});
}

TEST_P(ReportedValues, N2651ASeedDecidesTheNumbersOnEveryDevice) {
  const Tensor a = randn({1000}, {.seed = 9, .device = GetParam()}), b = randn({1000}, {.seed = 9});
  EXPECT_EQ(a.to_host<float>(), b.to_host<float>());
}

TEST_P(ReportedValues, N3069All64BitsOfASeedCount) {
  const auto draw = [&](std::uint64_t seed) { return rand({8}, {.seed = seed, .device = GetParam()}).to_host<float>(); };
  EXPECT_NE(draw(0), draw(std::uint64_t{1} << 40));
  EXPECT_NE(draw(7), draw(7 + (std::uint64_t{1} << 63)));
  EXPECT_EQ(draw(std::uint64_t{1} << 40), draw(std::uint64_t{1} << 40));
}

TEST_P(ReportedValues, N3394EverySizeHasRoomForItsElements) {
  for (Size n = 1; n <= 1025; ++n) {
    ASSERT_GE(full({n}, 1, f16, here).buffer_bytes(), static_cast<std::size_t>(2 * n)) << n;
    ASSERT_GE(full({n}, 1, u8, here).buffer_bytes(), static_cast<std::size_t>(n)) << n;
  }
}

TEST_P(ReportedValues, N351AByteIsOneByte) { EXPECT_EQ(block_bytes(u8), 1); }

TEST_P(ReportedValues, Mlx4108FloorDivisionFloors) {
  const Tensor a = of({-7, 7, 7, -7}, i32), b = of({2, -2, 2, -2}, i32);
  EXPECT_EQ(numbers(floor_div(a, b)), (std::vector<double>{-4, -4, 3, 3}));
  EXPECT_EQ(numbers(floor_div(a, b) * b + remainder(a, b)), numbers(a));
  EXPECT_EQ(numbers(floor_div(of({-7.5, 7.5}, f32), of({2.0, -2.0}, f32))), (std::vector<double>{-4, -4}));
}

TEST_P(ReportedValues, CubeclN1036Pytorch1164RemainderFollowsTheDivisor) {
  EXPECT_EQ(numbers(remainder(of({-2, -2}, i32), of({3, 3}, i32))), (std::vector<double>{1, 1}));
}

TEST_P(ReportedValues, Tinygrad10321IntegerDivisionIsExact) {
  EXPECT_EQ(numbers(floor_div(of({110}, i32), of({55}, i32))), std::vector<double>{2});
  EXPECT_EQ(numbers(remainder(of({110}, i32), of({55}, i32))), std::vector<double>{0});
}

TEST_P(ReportedValues, Pytorch327DivisionOfIntegersByZeroIsAnError) {
  for (const DType dtype : {i8, u8, i16, u16, i32, u32, i64, u64}) {
    EXPECT_EQ(kind_of([&] { (void)div_trunc(of({1, 1}, dtype), of({1, 0}, dtype)); }), ErrorKind::DivisionByZero);
    EXPECT_EQ(kind_of([&] { (void)fmod(of({1, 0}, dtype), of({1, 0}, dtype)); }), ErrorKind::DivisionByZero);
  }
}

TEST_P(ReportedValues, Mlx4324ArangeOfLargeIntegersDoesNotWrap) {
  const Size a = (Size{1} << 31) - 2, b = Size{1} << 40;
  EXPECT_EQ(arange(a, a + 4, 1, {}, here).to_host<std::int64_t>(), (std::vector<std::int64_t>{a, a + 1, a + 2, a + 3}));
  EXPECT_EQ(arange(b, b + 3, 1, {}, here).to_host<std::int64_t>(), (std::vector<std::int64_t>{b, b + 1, b + 2}));
}

TEST_P(ReportedValues, Mlx579NanWinsInMinAndMaxFromEitherSide) {
  const Tensor a = of({nan, 0.0}, f32), b = of({0.0, nan}, f32);
  for (const Tensor& y : {minimum(a, b), maximum(a, b)})
    for (const double v : numbers(y)) EXPECT_TRUE(std::isnan(v));
  for (const Tensor& x : {a, b}) {
    EXPECT_TRUE(std::isnan(min(x).item<float>()));
    EXPECT_TRUE(std::isnan(max(x).item<float>()));
  }
}

TEST_P(ReportedValues, Mlx539InfinitiesAreCloseToThemselves) {
  EXPECT_EQ(isclose(of({inf, inf, -inf}, f32), of({inf, -inf, -inf}, f32)).to(u8).to_host<std::uint8_t>(),
            (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST_P(ReportedValues, Mlx494NoIntegerIsInfinite) {
  const Tensor x = of({std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), 0}, i32);
  EXPECT_EQ(numbers(isinf(x)), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(numbers(isfinite(x)), (std::vector<double>{1, 1, 1}));
}

TEST_P(ReportedValues, Mlx482RoundGoesToTheEvenNeighbour) {
  for (const DType dtype : {f16, bf16, f32, f64}) {
    const Tensor y = round(of({0.5, -0.5, 1.5, -4.5}, dtype));
    EXPECT_EQ(numbers(y), (std::vector<double>{0, 0, 2, -4}));
    EXPECT_TRUE(std::signbit(numbers(y)[1]));
  }
}

TEST_P(ReportedValues, Mlx1278Expm1NearItsEnds) {
  const std::vector<double> y = numbers(expm1(of({-88.0, 88.0, 89.0, 90.0}, f32)));
  EXPECT_EQ(y[0], -1);
  EXPECT_NEAR(y[1] / std::expm1(88.0), 1, 1e-6);
  EXPECT_EQ(y[2], inf);
  EXPECT_EQ(y[3], inf);
}

TEST_P(ReportedValues, Mlx3292ClampKeepsAnInteger) {
  const Tensor y = clamp(of({-5, 3, 9}, i16), 0, 5);
  EXPECT_EQ(y.dtype(), i16);
  EXPECT_EQ(numbers(y), (std::vector<double>{0, 3, 5}));
  EXPECT_EQ(floor_div(of({7}, i32), of({2}, i32)).dtype(), i32);
}

TEST_P(ReportedValues, Pytorch76795ANanBoundOfClampIsNan) {
  for (const double v : numbers(clamp(of({1.0, 2.0}, f32), of({nan, 0.0}, f32), of({3.0, nan}, f32)))) EXPECT_TRUE(std::isnan(v));
}

TEST_P(ReportedValues, Pytorch153187ABoundThatIsNoF16IsAnError) {
  EXPECT_EQ(kind_of([&] { (void)clamp(of({1.0}, f16), 4.35e26, {}); }), ErrorKind::LiteralOutOfRange);
}

TEST_P(ReportedValues, Mlx4223PaddingByReflectionOfNothingEnds) {
  EXPECT_EQ(kind_of([&] { (void)pad(zeros({0}, f32, here), 0, 2, 2, {.mode = PadMode::reflect}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { (void)pad(zeros({0, 3}, f32, here), 0, 1, 0, {.mode = PadMode::reflect}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(pad(zeros({0, 3}, f32, here), 0, 0, 0, {.mode = PadMode::reflect}).shape(), (Shape{0, 3}));
}

TEST_P(ReportedValues, Mlx3604SizesThatOverflowAreErrors) {
  const Size most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const Tensor x = range(4);
  EXPECT_EQ(kind_of([&] { (void)tile(x, {2, most}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { (void)repeat_interleave(x, most); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(numbers(roll(x, least, 0)), numbers(x)) << "a multiple of four";
  const Tensor wide = broadcast_to(zeros({1}, u8, here), {Size{1} << 62});
  EXPECT_EQ(kind_of([&] { (void)concat({wide, wide, wide, wide}); }), ErrorKind::SizeOverflow);
}

TEST_P(ReportedValues, Mlx3483AddingToACornerTouchesOnlyIt) {
  const Tensor x = zeros({32, 32}, f32, here);
  Tensor y = contiguous(x + 0.0);
  Tensor corner = narrow(narrow(y, 0, 16, 16), 1, 16, 16);
  copy_into(corner, corner + 1.0);
  const std::vector<double> v = numbers(y);
  for (Size i = 0; i < 32; ++i)
    for (Size j = 0; j < 32; ++j) ASSERT_EQ(v[static_cast<std::size_t>(i * 32 + j)], i >= 16 && j >= 16 ? 1 : 0);
}

TEST_P(ReportedValues, Mlx3475CopiesFollowStrides) {
  const Tensor x = reshape(range(24), {2, 3, 4});
  const Tensor y = contiguous(permute(x, {2, 0, 1}));
  std::vector<double> expected;
  for (int c = 0; c < 4; ++c)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 3; ++b) expected.push_back(a * 12 + b * 4 + c);
  EXPECT_EQ(numbers(y), expected);
}

TEST_P(ReportedValues, Mlx3432RandomBytesOfAnyCountAreAPrefix) {
  const std::vector<std::uint8_t> nine = randint(0, 256, {9}, {.seed = 3, .dtype = u8, .device = GetParam()}).to_host<std::uint8_t>();
  for (Size n = 1; n <= 9; ++n) {
    const auto some = randint(0, 256, {n}, {.seed = 3, .dtype = u8, .device = GetParam()}).to_host<std::uint8_t>();
    EXPECT_EQ(some, std::vector<std::uint8_t>(nine.begin(), nine.begin() + n));
  }
}

TEST_P(ReportedValues, Burn4814TheLowestNanIsTheExtreme) {
  std::vector<float> v(300, 1.0f);
  v[0] = v[5] = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = from_host<float>(v, {300}, f32, here);
  EXPECT_EQ(argmax(x).item<std::int64_t>(), 0);
  EXPECT_EQ(argmin(x).item<std::int64_t>(), 0);
  EXPECT_TRUE(std::isnan(max(x).item<float>()));
}

TEST_P(ReportedValues, Burn3266ReductionsOfAPermutedView) {
  const Tensor x = permute(reshape(range(1024), {2, 2, 256}), {1, 2, 0});
  std::vector<double> expected(2 * 256);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 256; ++j) expected[static_cast<std::size_t>(i * 256 + j)] = (i * 256 + j) + (512 + i * 256 + j);
  EXPECT_EQ(numbers(reshape(sum(x, {.axis = 2}), {512})), expected);
}

TEST_P(ReportedValues, Burn4697Mlx2406ARowMaskedByTwoMasksIsZero) {
  const Tensor q = ones({1, 1, 2, 4}, f32, here), k = ones({1, 1, 2, 4}, f32, here);
  const Tensor mask = of({{false, true}, {true, true}}, boolean);
  const std::vector<double> y = numbers(attention(q, k, k, mask, {.causal = true}));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 0) << "the first query may see only the first key, which is masked";
  for (int i = 4; i < 8; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], 1);
}

TEST_P(ReportedValues, Pytorch36832NegativeFloatsBecomeZeroInBytes) {
  EXPECT_EQ(numbers(of({-1.0, -300.0}, f32).to(u8)), (std::vector<double>{0, 0}));
}

TEST_P(ReportedValues, Pytorch107693FloatsOutOfRangeSaturate) {
  EXPECT_EQ(numbers(of({1e20, -1e20}, f32).to(i8)), (std::vector<double>{127, -128}));
  EXPECT_EQ(numbers(of({1e20, -1e20}, f32).to(i16)), (std::vector<double>{32767, -32768}));
  EXPECT_EQ(numbers(of({1e20, -1e20}, f64).to(u8)), (std::vector<double>{255, 0}));
}

TEST_P(ReportedValues, Pytorch87944TheLogOfAnExpIsTheSameEverywhere) {
  const Tensor x = log(exp(of({-1.0}, f32)));
  EXPECT_EQ(x.to_host<float>(), log(exp(tensor({-1.0}, f32))).to_host<float>());
  EXPECT_NEAR(x.item<float>(), -1, 1e-6);
}

TEST_P(ReportedValues, Pytorch62645SortOfAStridedView) {
  const Tensor x = slice(flip(range(12), 0), {.step = 2});
  EXPECT_EQ(numbers(sort(x).values), (std::vector<double>{1, 3, 5, 7, 9, 11}));
}

TEST_P(ReportedValues, Pytorch12230MaskedFillOfATransposedView) {
  const Tensor x = transpose(reshape(range(6), {2, 3}));
  const Tensor y = masked_fill(x, gt(x, 2), -1);
  EXPECT_EQ(numbers(y), (std::vector<double>{0, -1, 1, -1, 2, -1}));
}

TEST_P(ReportedValues, Pytorch571AnIdPastTheTableIsAnError) {
  EXPECT_EQ(kind_of([&] { (void)index_select(range(4), of({4}, i64)); }), ErrorKind::IndexOutOfRange);
}

TEST_P(ReportedValues, Pytorch114679ALiteralOutsideTheDTypeComparesOrIsRefused) {
  EXPECT_EQ(numbers(lt(of({1}, i8), 256)), std::vector<double>{1});
  EXPECT_EQ(kind_of([&] { (void)floor_div(of({1}, i16), 32768); }), ErrorKind::LiteralOutOfRange);
}

TEST_P(ReportedValues, Llama25928RollOfAPermutedView) {
  const Tensor x = permute(reshape(range(24), {2, 3, 4}), {0, 2, 1});  // [2, 4, 3]
  const std::vector<double> v = numbers(x), y = numbers(roll(x, {3, -2}, {1, 2}));
  for (Size a = 0; a < 2; ++a)
    for (Size b = 0; b < 4; ++b)
      for (Size c = 0; c < 3; ++c)
        ASSERT_EQ(y[static_cast<std::size_t>((a * 4 + (b + 3) % 4) * 3 + (c + 1) % 3)], v[static_cast<std::size_t>((a * 4 + b) * 3 + c)]);
}

TEST_P(ReportedValues, Mlx4139AScanOverAnAxisOfOneIsTheIdentity) {
  const Tensor x = reshape(arange(1, 11, 1, i64, here).to(f32), {1, 10});
  for (Size k = 1; k <= 3; ++k) {
    const Tensor rest = narrow(x, 1, k, 10 - k);
    EXPECT_EQ(numbers(cumsum(rest, 0)), numbers(rest));
  }
}

TEST_P(ReportedValues, Mlx4047NanSticksInRunningExtremes) {
  const Tensor x = of({1.0, 3.0, nan, 5.0, 4.0}, f32);
  for (const Tensor& y : {cummax(x, 0).values, cummin(x, 0).values})
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(std::isnan(numbers(y)[i]), i >= 2) << i;
}

TEST_P(ReportedValues, Pytorch180150Tensorflow115731RunningSumsOfHalvesAreThoseOfF32) {
  const Tensor x = randn({10'000}, {.seed = 5, .dtype = f16, .device = GetParam()});
  EXPECT_EQ(numbers(cumsum(x, 0)), numbers(cumsum(x.to(f32), 0).to(f16)));
  EXPECT_EQ(numbers(cumsum(x.to(bf16), 0)), numbers(cumsum(x.to(bf16).to(f32), 0).to(bf16)));
}

TEST_P(ReportedValues, Pytorch141802LogcumsumexpOfBf16IsRoundedOnce) {
  EXPECT_EQ(numbers(logcumsumexp(of({2.4375, -0.333984375, -0.37109375}, bf16), 0)).back(), 2.546875);
}

TEST_P(ReportedValues, Mlx3817ARunningVarianceIsUnbiasedAndTheBatchsOwnIsNot) {
  const Tensor x = of({{1.0}, {3.0}, {5.0}}, f32);
  const BatchNormalised batch = batch_norm_training(x, {}, {}, {.epsilon = 0});
  EXPECT_EQ(numbers(batch.mean), std::vector<double>{3});
  EXPECT_NEAR(numbers(batch.variance)[0], 8.0 / 3, 1e-6) << "divides by n; a running one takes n/(n − 1) of it, which is 4";
  EXPECT_NEAR(numbers(var(x, {.axis = {0}, .correction = 1}))[0], 4, 1e-6);
  EXPECT_NEAR(numbers(batch.y)[2], 2 / std::sqrt(8.0 / 3), 1e-6);
}

TEST_P(ReportedValues, Mlx3827NormsAlongNegativeAxesKeepThem) {
  const Tensor x = reshape(range(24), {2, 3, 4});
  const Tensor y = norm(x, {.axis = {-1, -2}, .keep = true});
  EXPECT_EQ(y.shape(), (Shape{2, 1, 1}));
  EXPECT_NEAR(numbers(y)[0], std::sqrt(506.0), 1e-4) << "0² + … + 11²";
  EXPECT_EQ(numbers(norm(x, {.p = inf, .axis = {-2, -1}})), (std::vector<double>{11, 23}));
  EXPECT_EQ(numbers(norm(x, {.p = -inf, .axis = {-2, -1}})), (std::vector<double>{0, 12}));
  EXPECT_EQ(numbers(norm(x, {.p = 1, .axis = {-1, -2}})), (std::vector<double>{66, 210}));
}

TEST_P(ReportedValues, Pytorch20406AnIgnoredTargetCostsNothing) {
  const Tensor x = log_softmax(of({{1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}}, f32)), ignored = of({-1, -1}, i64), one = of({-1, 0}, i64);
  EXPECT_EQ(numbers(nll_loss(x, ignored, {.ignore_index = -1, .reduction = Reduction::none})), (std::vector<double>{0, 0}));
  EXPECT_TRUE(std::isnan(numbers(nll_loss(x, ignored, {.ignore_index = -1}))[0])) << "a mean of nothing";
  EXPECT_NEAR(numbers(nll_loss(x, one, {.ignore_index = -1}))[0], std::log(1 + std::exp(-1.0) + std::exp(-2.0)), 1e-6);
}

TEST_P(ReportedValues, Llama10683SlopesBelongToHeadsInEveryBatch) {
  const Tensor q = randn({3, 4, 2, 8}, {.seed = 1, .device = GetParam()}), k = randn({3, 4, 5, 8}, {.seed = 2, .device = GetParam()}),
               v = randn({3, 4, 5, 8}, {.seed = 3, .device = GetParam()}), slopes = of({0.5, 0.25, 0.125, 0.0625}, f32);
  const Tensor all = attention(q, k, v, {}, {.slopes = slopes});
  for (Size b = 0; b < 3; ++b) {
    const Tensor alone = attention(narrow(q, 0, b, 1), narrow(k, 0, b, 1), narrow(v, 0, b, 1), {}, {.slopes = slopes});
    EXPECT_EQ(numbers(narrow(all, 0, b, 1)), numbers(alone)) << "batch " << b;
  }
}

TEST(ReportedSizes, N3604OffsetsPast32BitsAreCounted) {
  const Size n = (Size{1} << 32) + 5;
  EXPECT_EQ(sum(broadcast_to(full({}, true, boolean), {n})).item<std::int64_t>(), n);
}

}  // namespace
}  // namespace votive
