// Reductions: the rows of CONTRACT.md section 10, its table 3.1, user reports, and numbers made by PyTorch 2.15.0 in f64.
#include "tests/ops/expected.h"
#include "votive/ops/modes.h"

namespace votive {
namespace {

class Reductions : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f64) const { return tensor(values, dtype, here); }
  Tensor x = pattern({2, 4, 3}, 7, GetParam());
};
INSTANTIATE_TEST_SUITE_P(Devices, Reductions, every_device, device_name);

constexpr std::int64_t least_i64 = std::numeric_limits<std::int64_t>::min(), greatest_i64 = std::numeric_limits<std::int64_t>::max();

TEST_P(Reductions, Row33SumOfBf16OnesIs4096) { EXPECT_EQ(sum(ones({4096}, bf16, here)).to(f32).item<float>(), 4096); }
// Also user report #3765.
TEST_P(Reductions, Row34MeanOfLargeHalvesIsOneOfThem) {
  EXPECT_EQ(mean(of({6e4, 6e4}, f16)).to(f32).item<float>(), 6e4f);
  EXPECT_EQ(mean(ones({65520}, f16, here)).to(f32).item<float>(), 1);
}
TEST_P(Reductions, Row38MeanOfIntegersIsF32) {
  const Tensor y = mean(of({1, 2}, i32));
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(y.item<float>(), 1.5f);
}
TEST_P(Reductions, Row39MaxOfNothingIsAnError) {
  for (const auto reduction : {max, min}) EXPECT_EQ(kind_of([&] { reduction(zeros({0}, f32, here), {}); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(kind_of([&] { argmax(zeros({0}, f32, here)); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(kind_of([&] { argmax(zeros({3, 0}, f32, here), {.axis = {}}); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(kind_of([&] { aminmax(zeros({0}, f32, here)); }), ErrorKind::EmptyReduction);
}
TEST_P(Reductions, Row40MaxWithoutOutputsIsEmpty) {
  EXPECT_EQ(max(zeros({0, 3}, f32, here), {.axis = 1}).shape(), (Shape{0}));
  EXPECT_EQ(argmin(zeros({0, 3}, f32, here), {.axis = 1}).shape(), (Shape{0}));
}
TEST_P(Reductions, Row41ArgmaxFindsTheNan) { EXPECT_EQ(argmax(of({1, std::nan(""), 3}, f32)).item<std::int64_t>(), 1); }
TEST_P(Reductions, Row42LogsumexpOfNothingButMinusInfinityIsMinusInfinity) {
  expect_near(logsumexp(of({-infinity, -infinity}, f32)), {-infinity});
  expect_near(logsumexp(of({infinity, 0}, f32)), {infinity});
  expect_near(logsumexp(of({std::nan(""), infinity}, f32)), {std::nan("")});
  expect_near(logsumexp(zeros({0}, f32, here)), {-infinity});
}
TEST_P(Reductions, Row43NormDoesNotOverflowEarly) {
  EXPECT_EQ(norm(of({1e20, 1e20}, f32)).item<float>(), 1.4142136e20f);
  EXPECT_EQ(norm(of({3e-30, 4e-30}, f32)).item<float>(), 5e-30f);
  EXPECT_EQ(norm(of({3e-45}, f32)).item<float>(), 3e-45f);
  expect_near(norm(of({1, infinity}, f32)), {infinity});
  expect_near(norm(of({std::nan(""), infinity}, f32)), {std::nan("")});
  expect_near(norm(zeros({0}, f32, here)), {0});
}

// A sum of 2⁶³ has no i64; the mean is exact all the same.
TEST_P(Reductions, MeanOfHugeIntegersDoesNotWrap) {
  EXPECT_EQ(mean(of({greatest_i64, greatest_i64}, i64)).item<float>(), 0x1p63f);
  EXPECT_EQ(mean(of({least_i64, least_i64, least_i64}, i64)).item<float>(), -0x1p63f);
  EXPECT_EQ(mean(of({least_i64, greatest_i64}, i64)).item<float>(), -0.5f);
  EXPECT_EQ(mean(full({3}, std::numeric_limits<std::uint64_t>::max(), u64, here)).item<float>(), 0x1p64f);
  EXPECT_EQ(mean(full({5000}, greatest_i64, i64, here)).item<float>(), 0x1p63f);
}

// CONTRACT.md 3.1: only the checked mode looks.
TEST_P(Reductions, OfIntegersRaiseOnOverflowInTheCheckedMode) {
  const Tensor large = of({greatest_i64, std::int64_t{1}}, i64), cancel = of({greatest_i64, std::int64_t{1}, std::int64_t{-5}}, i64);
  EXPECT_EQ(sum(large).item<std::int64_t>(), least_i64);
  const CheckedScope checked;
  EXPECT_EQ(kind_of([&] { sum(large); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { prod(of({greatest_i64, std::int64_t{2}}, i64)); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { cumsum(cancel); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(sum(cancel).item<std::int64_t>(), greatest_i64 - 4);
  EXPECT_EQ(prod(of({greatest_i64, std::int64_t{2}, std::int64_t{0}}, i64)).item<std::int64_t>(), 0);
  EXPECT_EQ(prod(of({least_i64, std::int64_t{-1}, std::int64_t{-1}}, i64)).item<std::int64_t>(), least_i64);
  EXPECT_EQ(sum(of({200, 100}, u8)).item<std::uint64_t>(), 300u);
  EXPECT_EQ(sum(of({1, 0, 1}, boolean)).item<std::int64_t>(), 2);
}

// User report s3: mean as sum · (1/n) in the tensor's dtype gave 0.
TEST_P(Reductions, S3MeanOfU32) { EXPECT_EQ(mean(of({2, 4}, u32)).item<float>(), 3); }

TEST_P(Reductions, VarianceNeedsItsCorrection) {
  EXPECT_EQ(kind_of([&] { var(x, {}); }), ErrorKind::InvalidArgument);
  expect_near(var(x, {.axis = 1, .correction = 0}), {0.9804687500000001, 0.078125, 0.078125, 0.078125, 0.078125, 0.078125});
  expect_near(var(x, {.axis = 1, .correction = 1}), {1.3072916666666667, 0.10416666666666667, 0.10416666666666667, 0.10416666666666667,
                                                     0.10416666666666667, 0.10416666666666667});
  expect_near(votive::std(x, {.axis = {0, 2}, .correction = 0}),
              {0.82915619758885, 0.7694243880258078, 0.7694243880258078, 0.7694243880258078});
  expect_near(votive::std(x, {.axis = {0, 2}, .correction = 1}),
              {0.9082951062292475, 0.8428621872326855, 0.8428621872326855, 0.8428621872326855});
  expect_near(var(of({1}), {.correction = 1}), {std::nan("")});
  expect_near(var(zeros({0}, f32, here), {.correction = 0}), {std::nan("")});
  expect_near(var(of({1, 2, 3, 4}, i32), {.correction = 1}), {5.0 / 3}, 1e-7);
  EXPECT_EQ(kind_of([&] { var(of({1, 0}, boolean), {.correction = 0}); }), ErrorKind::DTypeMismatch);
}

// E[x²] − E[x]² would be 0 or negative here.
TEST_P(Reductions, VarianceFarFromZeroKeepsItsDigits) {
  expect_near(var(of({1e7, 1e7 + 1, 1e7 + 2}, f32), {.correction = 0}), {2.0 / 3}, 1e-7);
}

TEST_P(Reductions, NormsOfOtherOrders) {
  expect_near(norm(x, {.p = 3, .axis = 1}),
              {1.7465920069545264, 0.538608672507971, 1.5182944859378311, 0.538608672507971, 1.5182944859378311, 1.5182944859378311});
  expect_near(norm(x, {.p = 0.5, .axis = 2}), {6.412277660168379, 6.1705510656380405, 4.0, 6.1705510656380405, 6.412277660168379,
                                               5.598076211353314, 3.482050807568877, 5.406279600020632});
  expect_near(norm(abs(x) + 1, {.p = -1, .axis = 2}),
              {0.5625, 0.5506993006993007, 0.5, 0.5506993006993007, 0.5625, 0.5343511450381679, 0.48275862068965525, 0.5232558139534884});
  expect_near(norm(of({3, -4, 0}), {.p = 1}), {7});
  expect_near(norm(of({3, -4, 0}), {.p = 0}), {2});
  expect_near(norm(of({3, -4, 0}), {.p = infinity}), {4});
  expect_near(norm(of({3, -4, 1}), {.p = -infinity}), {1});
  expect_near(norm(of({3, 4}, i32)), {5});
  EXPECT_EQ(kind_of([&] { norm(of({1, 0}, boolean)); }), ErrorKind::DTypeMismatch);
}

TEST_P(Reductions, Logsumexp) {
  expect_near(logsumexp(x, {.axis = {0, 2}}), {2.1147304506937785, 2.2743305385036896, 2.0243305385036896, 1.7743305385036898});
}

TEST_P(Reductions, CastFirstWhereADtypeIsGiven) {
  EXPECT_EQ(sum(of({200, 100}, u8), {.dtype = f32}).dtype(), f32);
  EXPECT_EQ(sum(ones({70000}, f16, here), {.dtype = f32}).item<float>(), 70000);
  EXPECT_EQ(prod(of({1.5, 2.5}, f32), {.dtype = i32}).item<std::int64_t>(), 2);
  EXPECT_EQ(mean(of({1, 2}, i64), {.dtype = f64}).dtype(), f64);
  EXPECT_EQ(cumsum(of({1, 1}, i32), 0, {.dtype = f16}).dtype(), f16);
  EXPECT_EQ(kind_of([&] { max(x, {.dtype = f32}); }), ErrorKind::InvalidArgument);
}

TEST_P(Reductions, CountAndSkipWhatIsNotThere) {
  const double nan = std::nan("");
  EXPECT_EQ(count_nonzero(of({{0, 1}, {nan, -0.0}})).item<std::int64_t>(), 2);
  EXPECT_EQ(count_nonzero(of({0, 5, 0}, u8)).dtype(), i64);
  expect_near(nansum(of({1, nan, 4}, f32)), {5});
  expect_near(nanmean(of({1, nan, 4}, f32)), {2.5});
  expect_near(nanmean(of({nan, nan}, f32)), {nan});
  expect_near(nansum(of({1, nan, 4.5}, f32), {.dtype = DType::i64}), {5});
  expect_near(nanmean(of({1, nan, 4.5}, f32), {.dtype = DType::i64}), {2.5});  // of 1 and 4, not of 0 too
  expect_near(nanmean(of({1, 4.5}, f32), {.dtype = DType::i64}), {2.5});
  const MinMax both = aminmax(of({{3, 1}, {2, 5}}), {.axis = 0});
  expect_near(both.min, {2, 1});
  expect_near(both.max, {3, 5});
}

TEST_P(Reductions, ArgmaxOverAll) {
  const Tensor m = of({{1, 3, 3}, {2, 0, 3}});
  EXPECT_EQ(argmax(m, {.axis = {}}).item<std::int64_t>(), 1);
  EXPECT_EQ(argmin(m, {.axis = {}}).item<std::int64_t>(), 4);
  EXPECT_EQ(argmax(transpose(m), {.axis = {}}).item<std::int64_t>(), 2);
  EXPECT_EQ(argmax(m, {.axis = {}, .keep = true}).shape(), (Shape{1, 1}));
  EXPECT_EQ(argmax(of(7), {.axis = {}}).item<std::int64_t>(), 0);
}

TEST_P(Reductions, OfNothing) {
  const Tensor nothing = zeros({2, 0}, f32, here);
  expect_near(sum(nothing, {.axis = 1}), {0, 0});
  expect_near(prod(nothing, {.axis = 1}), {1, 1});
  expect_near(mean(nothing, {.axis = 1}), {std::nan(""), std::nan("")});
  expect_near(any(nothing, {.axis = 1}).to(f32), {0, 0});
  expect_near(all(nothing, {.axis = 1}).to(f32), {1, 1});
  expect_near(count_nonzero(nothing, {.axis = 1}), {0, 0});
  expect_near(mean(zeros({0}, i64, here)), {std::nan("")});
}

// User report #3765: the fix for halves covered only the last axis of a contiguous tensor.
TEST_P(Reductions, N3765HalvesSumInAnyLayout) {
  const Tensor y = ones({4096, 2}, f16, here);
  expect_near(sum(y, {.axis = 0}), {4096, 4096});
  expect_near(sum(transpose(y), {.axis = 1}), {4096, 4096});
}

TEST_P(Reductions, RefuseAxesThatAreNone) {
  EXPECT_EQ(kind_of([&] { sum(x, {.axis = 3}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { sum(x, {.axis = {0, -3}}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { logsumexp(x, {.axis = -4}); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] { norm(x, {.p = 3, .axis = 9}); }), ErrorKind::InvalidAxis);
}

}  // namespace
}  // namespace votive
