// The rows of CONTRACT.md section 10 whose operations exist, on every device. A test is named by its row; what others give is in the table.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

class TellingInputs : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype) const { return tensor(values, dtype, here); }
  static float number(const Tensor& x) { return x.to(f32).item<float>(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, TellingInputs, every_device, device_name);

TEST_P(TellingInputs, Row1And2IntegerTimesAFloatLiteralIsF32) {
  EXPECT_EQ((of(3, i32) * 0.5).dtype(), f32);
  EXPECT_EQ(number(of(3, i32) * 0.5), 1.5f);
  EXPECT_EQ(number(of(16777217, i32) * 0.5), 8388608.0f);
}

TEST_P(TellingInputs, Row3UnsignedLessAFloatLiteralIsF32) { EXPECT_EQ(number(of(5, u32) - 1.0), 4.0f); }

TEST_P(TellingInputs, UnsignedLessAnIntegerLiteralWraps) { EXPECT_EQ((of(0, u32) - 1).item<std::uint32_t>(), 4294967295u); }

TEST_P(TellingInputs, Row4SumsOfU8Wrap) { EXPECT_EQ((of(200, u8) + of(100, u8)).item<std::uint8_t>(), 44); }

TEST_P(TellingInputs, Row4SumsOfU8AreRefusedWhereSomebodyChecks) {
  const CheckedScope checked;
  EXPECT_EQ(kind_of([&] { of(200, u8) + of(100, u8); }), ErrorKind::IntegerOverflow);
}

TEST_P(TellingInputs, Row5AReductionOfU8DoesNot) {
  const Tensor y = sum(of({200, 100}, u8));
  EXPECT_EQ(y.dtype(), u64);
  EXPECT_EQ(y.item<std::uint64_t>(), 300u);
}

TEST_P(TellingInputs, Row6ALiteralThatDoesNotFitIsRefused) {
  EXPECT_EQ(kind_of([&] { of(1, u8) + 300; }), ErrorKind::LiteralOutOfRange);
}

// Also pytorch#114679 and pytorch#178716.
TEST_P(TellingInputs, Row7AComparisonWithAnyLiteralIsMathematical) {
  EXPECT_TRUE(lt(of(1, i8), 256).item<bool>());
  EXPECT_EQ(le(of({1, 2, 3, 4}, u8), -19).to_host<bool>(), (std::vector<bool>{false, false, false, false}));
  EXPECT_EQ(gt(of({2, 3}, u8), 2.5).to_host<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ(eq(of({2, 3}, i32), 2.5).to_host<bool>(), (std::vector<bool>{false, false}));
  EXPECT_EQ(ge(of({-3, -2}, i32), -2.5).to_host<bool>(), (std::vector<bool>{false, true}));
  EXPECT_TRUE(lt(of(5, u64), 1e30).item<bool>());
  EXPECT_FALSE(eq(of(5, i64), std::nan("")).item<bool>());
  EXPECT_TRUE(ne(of(5, i64), std::nan("")).item<bool>());
}

TEST_P(TellingInputs, Row8DivisionOfIntegersIsTrueDivision) {
  const Tensor y = of(7, i32) / of(2, i32);
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(number(y), 3.5f);
  EXPECT_EQ(number(of(1, i32) / of(0, i32)), infinity);
  EXPECT_TRUE(std::isnan(number(of(0, i32) / of(0, i32))));
}

TEST_P(TellingInputs, Row8DivTruncGoesTowardZero) {
  const Tensor y = div_trunc(of(7, i32), of(2, i32));
  EXPECT_EQ(y.dtype(), i32);
  EXPECT_EQ(y.item<std::int32_t>(), 3);
}

// −7 // 2 = −4 and −7 % 2 = 1 in Python; C's −7 % 2 is −1.
TEST_P(TellingInputs, Row9FloorDivisionAndItsRemainderFollowPython) {
  EXPECT_EQ(floor_div(of(-7, i32), of(2, i32)).item<std::int32_t>(), -4);
  EXPECT_EQ((of(-7, i32) % of(2, i32)).item<std::int32_t>(), 1);
  EXPECT_EQ(fmod(of(-7, i32), of(2, i32)).item<std::int32_t>(), -1);
  EXPECT_EQ((of(-7, i32) % 2).item<std::int32_t>(), 1);
  EXPECT_EQ((7 % of(-2, i32)).item<std::int32_t>(), -1);
}

TEST_P(TellingInputs, Row10And11AnIntegerDividedByZeroIsAnErrorThatNamesThePlace) {
  for (const DType dtype : {u8, i8, u16, i16, u32, i32, u64, i64}) {
    const Tensor a = of({{1, 2}, {3, 4}}, dtype), b = of({{1, 2}, {3, 0}}, dtype);
    EXPECT_EQ(kind_of([&] { floor_div(a, b); }), ErrorKind::DivisionByZero);
    EXPECT_EQ(kind_of([&] { a % b; }), ErrorKind::DivisionByZero);
    EXPECT_EQ(kind_of([&] { fmod(a, b); }), ErrorKind::DivisionByZero);
    EXPECT_EQ(kind_of([&] { floor_div(a, 0); }), ErrorKind::DivisionByZero);
    try {
      div_trunc(a, b);
      ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::DivisionByZero);
      EXPECT_EQ(error.op(), "div_trunc");
      EXPECT_EQ(error.arg_name(), "b");
      EXPECT_EQ(error.position(), (std::vector<Size>{1, 1}));
    }
  }
  EXPECT_TRUE(std::isnan(number(of(5.0, f32) % of(0.0, f32)))) << "floats have NaN for it";
}

TEST_P(TellingInputs, Row12TheSmallestDividedByMinusOneIsItself) {
  const Tensor least = of(std::numeric_limits<std::int32_t>::min(), i32), minus = of(-1, i32);
  EXPECT_EQ(floor_div(least, minus).item<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(div_trunc(least, minus).item<std::int32_t>(), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((least % minus).item<std::int32_t>(), 0);
  EXPECT_EQ(fmod(least, minus).item<std::int32_t>(), 0);
  const Tensor widest = of(std::numeric_limits<std::int64_t>::min(), i64);
  EXPECT_EQ(floor_div(widest, of(-1, i64)).item<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  const CheckedScope checked;
  EXPECT_EQ(kind_of([&] { floor_div(least, minus); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { div_trunc(least, minus); }), ErrorKind::IntegerOverflow);
}

TEST_P(TellingInputs, Row13AbsOfTheSmallestIsRefusedWhereSomebodyChecks) {
  const CheckedScope checked;
  EXPECT_EQ(kind_of([&] { abs(of({1, -128}, i8)); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(abs(of({1, -127}, i8)).to_host<std::int8_t>(), (std::vector<std::int8_t>{1, 127}));
}

TEST_P(TellingInputs, Row13AbsOfTheSmallestIsItself) { EXPECT_EQ(abs(of(-128, i8)).item<std::int8_t>(), -128); }

TEST_P(TellingInputs, Row14BoolHasNoSum) {
  EXPECT_EQ(kind_of([&] { of(true, boolean) + of(true, boolean); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ((of({true, false}, boolean) * of({7, 7}, i32)).to_host<std::int32_t>(), (std::vector<std::int32_t>{7, 0}));
}

TEST_P(TellingInputs, Row15WideIntegersDoNotMeetHalves) {
  EXPECT_EQ(kind_of([&] { of(257, i64) + of(0, bf16); }), ErrorKind::DTypeMismatch);
}

TEST_P(TellingInputs, Row16And17U64AndI64HaveNoSumButCompare) {
  const Tensor most = of(std::numeric_limits<std::uint64_t>::max(), u64), minus = of(-1, i64);
  EXPECT_EQ(kind_of([&] { most + minus; }), ErrorKind::DTypeMismatch);
  EXPECT_FALSE(eq(most, minus).item<bool>());
  EXPECT_TRUE(gt(most, minus).item<bool>());
  EXPECT_TRUE(lt(minus, most).item<bool>());
}

// NumPy gives 0 and 0; PyTorch 1.13 gave 1 and MIN.
TEST_P(TellingInputs, Row18ShiftsPastTheWidthLeaveNothing) {
  const Tensor one = of({1, 1}, i32);
  EXPECT_EQ((one << of({32, -1}, i32)).to_host<std::int32_t>(), (std::vector<std::int32_t>{0, 0}));
  EXPECT_EQ((of({-5, 5}, i32) >> 32).to_host<std::int32_t>(), (std::vector<std::int32_t>{-1, 0}));
  EXPECT_EQ((of({-5, 5}, i32) >> -1).to_host<std::int32_t>(), (std::vector<std::int32_t>{-1, 0}));
  EXPECT_EQ((one << 300).to_host<std::int32_t>(), (std::vector<std::int32_t>{0, 0}));
  const CheckedScope checked;
  EXPECT_EQ(kind_of([&] { one << of({1, 32}, i32); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { one << of({-1, 1}, i32); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { one >> of({-1, 1}, i32); }), ErrorKind::IntegerOverflow);
  EXPECT_EQ(kind_of([&] { of(1 << 30, i32) << 1; }), ErrorKind::IntegerOverflow) << "the sign is lost";
}

TEST_P(TellingInputs, Row19ANegativeExponentOfAnIntegerIsOutsideTheDomain) {
  EXPECT_EQ(kind_of([&] { pow(of(2, i32), of(-1, i32)); }), ErrorKind::Domain);
  EXPECT_EQ(kind_of([&] { pow(of(2, i32), -1); }), ErrorKind::Domain);
  EXPECT_EQ(pow(of({2, -3, 0}, i32), of({10, 3, 0}, i32)).to_host<std::int32_t>(), (std::vector<std::int32_t>{1024, -27, 1}));
  EXPECT_EQ(number(pow(of(2, i32).to(f32), -1)), 0.5f);
}

TEST_P(TellingInputs, Row20APowerOfANegativeNumberHasItsSign) {
  for (const DType dtype : {f16, bf16, f32, f64}) {
    EXPECT_EQ(number(pow(of(-2.0, dtype), of(3.0, dtype))), -8.0f);
    EXPECT_TRUE(std::isnan(number(pow(of(-8.0, dtype), of(1.0 / 3, dtype)))));
    EXPECT_EQ(number(pow(of(nan, dtype), of(0.0, dtype))), 1.0f);
    EXPECT_EQ(number(pow(of(1.0, dtype), of(nan, dtype))), 1.0f);
  }
}

TEST_P(TellingInputs, Row21DivisionByALiteralIsADivision) {
  EXPECT_EQ(number(of(5, f32) / 3.0), 5.0f / 3.0f);
  const Tensor x = arange(1, 100001, 1, f32, here);
  const std::vector<float> y = (x / 3.0).to_host<float>();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], static_cast<float>(i + 1) / 3.0f) << i;
}

TEST_P(TellingInputs, Row22And23NanWinsAndMinusZeroIsLessInMinimumAndMaximum) {
  EXPECT_TRUE(std::isnan(number(maximum(of(nan, f32), of(1, f32)))));
  EXPECT_TRUE(std::isnan(number(maximum(of(1, f32), of(nan, f32)))));
  EXPECT_TRUE(std::isnan(number(minimum(of(0, f32), of(nan, f32)))));  // mlx#579
  EXPECT_FALSE(std::signbit(number(maximum(of(-0.0f, f32), of(0.0f, f32)))));
  EXPECT_FALSE(std::signbit(number(maximum(of(0.0f, f32), of(-0.0f, f32)))));
  EXPECT_TRUE(std::signbit(number(minimum(of(0.0f, f32), of(-0.0f, f32)))));
}

// Also mlx#482 in the halves.
TEST_P(TellingInputs, Row24RoundGoesToEven) {
  for (const DType dtype : {f16, bf16, f32, f64}) {
    const std::vector<float> y = round(of({0.5, 1.5, 2.5, -0.5, -4.5}, dtype)).to(f32).to_host<float>();
    EXPECT_EQ(y, (std::vector<float>{0, 2, 2, -0.0f, -4}));
    EXPECT_TRUE(std::signbit(y[3]));
  }
}

TEST_P(TellingInputs, Row25SignOfNanIsNan) { EXPECT_TRUE(std::isnan(number(sign(of(nan, f32))))); }

// 0.1 is more than a tenth: it fits nine times into 1, and 1.0 / 0.1 rounds to 10.
TEST_P(TellingInputs, Row26FloorDivisionOfFloatsIsExact) {
  EXPECT_EQ(floor_div(of(1.0, f64), of(0.1, f64)).item<double>(), 9.0);
  EXPECT_EQ(floor_div(of(1.0, f64), 0.1).item<double>(), 9.0);
}

TEST_P(TellingInputs, Row27MinusOneByInfinity) {
  EXPECT_EQ(number(floor_div(of(-1.0, f32), of(infinity, f32))), -1.0f);
  EXPECT_EQ(number(of(-1.0, f32) % of(infinity, f32)), infinity);
  EXPECT_EQ(number(floor_div(of(1.0, f32), of(infinity, f32))), 0.0f);
  EXPECT_TRUE(std::isnan(number(floor_div(of(infinity, f32), of(1.0, f32)))));
}

TEST_P(TellingInputs, Row28ARemainderOfZeroHasTheSignOfTheDivisor) {
  EXPECT_FALSE(std::signbit(number(of(-0.0, f32) % of(1.0, f32))));
  EXPECT_TRUE(std::signbit(number(of(0.0, f32) % of(-1.0, f32))));
  EXPECT_EQ(number(of(-1e-30, f32) % of(1.0, f32)), 1.0f) << "rounds up to the divisor";
}

// Also pytorch#36832 (−1.0 to u8), pytorch#107693 (1e20), pytorch#180159.
TEST_P(TellingInputs, Row29And30FloatsBecomeTheNearestInteger) {
  EXPECT_EQ(of({300.0, -1.0, 1e20, nan}, f32).to(u8).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{255, 0, 255, 0}));
  EXPECT_EQ(of({nan, 3e9f, -3e9f}, f32).to(i32).to_host<std::int32_t>(), (std::vector<std::int32_t>{0, 2147483647, -2147483647 - 1}));
  EXPECT_EQ(of({1e20, -1e20, -1.9}, f64).to(i16).to_host<std::int16_t>(), (std::vector<std::int16_t>{32767, -32768, -1}));
}

TEST_P(TellingInputs, Row31F64ToF16RoundsOnce) {
  EXPECT_EQ(of(1 + 0x1p-11 + 0x1p-30, f64).to(f16).to_host<std::uint16_t>()[0], 0x3c01);  // 1.0009766
}

TEST_P(TellingInputs, Row32EightBitFloatsSaturate) {
  EXPECT_EQ(number(of(500.0, f32).to(e4m3)), 448.0f);
  EXPECT_TRUE(std::isnan(number(cast(of(500.0, f32), e4m3, {.saturate = false}))));
  EXPECT_EQ(number(of(infinity, f32).to(e5m2)), 57344.0f);
  EXPECT_EQ(number(cast(of(1e6, f32), e5m2, {.saturate = false})), infinity);
}

// Also #3765: any axis, any layout.
TEST_P(TellingInputs, Row33SumsOfHalvesAccumulateInF32) {
  EXPECT_EQ(number(sum(ones({4096}, bf16, here))), 4096.0f);
  const Tensor columns = ones({4096, 2}, f16, here);
  EXPECT_EQ(sum(columns, {.axis = 0}).to(f32).to_host<float>(), (std::vector<float>{4096, 4096}));
  EXPECT_EQ(sum(transpose(columns), {.axis = 1}).to(f32).to_host<float>(), (std::vector<float>{4096, 4096})) << "a transposed view";
}

TEST_P(TellingInputs, Row34MeanDividesBeforeItNarrows) {
  EXPECT_EQ(number(mean(of({6e4, 6e4}, f16))), 60000.0f);
  EXPECT_EQ(number(mean(full({65520}, 1.0, f16, here))), 1.0f);  // #3765
}

// Also #3727, #3717, #3718.
TEST_P(TellingInputs, Row35SoftmaxOfHalfZerosIsOneOver4096) {
  const Tensor y = softmax(zeros({1, 4096}, f16, here));
  EXPECT_EQ(number(select(select(y, 0, 0), 0, 4095)), 1.0f / 4096);
  EXPECT_EQ(number(sum(y.to(f32))), 1.0f);
}

TEST_P(TellingInputs, Row36MatmulOfHalvesAccumulatesInF32) {
  EXPECT_EQ(number(matmul(ones({1, 4096}, bf16, here), ones({4096, 1}, bf16, here))), 4096.0f);
}

TEST_P(TellingInputs, Row38MeanOfIntegersIsAFloat) {
  const Tensor y = mean(of({1, 2}, i32));
  EXPECT_EQ(y.dtype(), f32);
  EXPECT_EQ(number(y), 1.5f);
  EXPECT_EQ(number(mean(of({2, 4}, u32))), 3.0f);  // user report s3
}

TEST_P(TellingInputs, Row39And40TheMaximumOfNothingIsRefusedWhereSomebodyAsksForIt) {
  EXPECT_EQ(kind_of([&] { max(zeros({0}, f32, here)); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(kind_of([&] { argmax(zeros({2, 0}, f32, here)); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(max(zeros({0, 3}, f32, here), {.axis = 1}).shape(), (Shape{0}));
  EXPECT_EQ(number(sum(zeros({0}, f32, here))), 0.0f);
  EXPECT_EQ(number(prod(zeros({0}, f32, here))), 1.0f);
  EXPECT_TRUE(std::isnan(number(mean(zeros({0}, f32, here)))));
}

// Also burn#4814, burn#4859: the lowest index of NaN.
TEST_P(TellingInputs, Row41ArgmaxNamesTheFirstNan) {
  EXPECT_EQ(argmax(of({1, nan, 3}, f32)).item<std::int64_t>(), 1);
  EXPECT_EQ(argmax(of({nan, 1, 2, 3, 4, nan}, f32)).item<std::int64_t>(), 0);
  EXPECT_EQ(argmin(of({1, nan, 3}, f32)).item<std::int64_t>(), 1);
  EXPECT_EQ(argmax(of({-0.0, 0.0}, f32)).item<std::int64_t>(), 0);
  EXPECT_EQ(argmax(of({2, 5, 5}, i32)).item<std::int64_t>(), 1);
}

// −1.4333e-6 from 0.5·x·erfc(−x/√2) in 50 digits: −1.43325786…e-6
TEST_P(TellingInputs, Row44GeluOfMinusFiveKeepsItsDigits) {
  EXPECT_NEAR(number(gelu(of(-5.0, f32))), -1.4332579e-6f, 6 * 1.2e-13f);
  EXPECT_EQ(number(gelu_tanh(of(20.0, f32))), 20.0f);  // #1408, llama.cpp#5243
  EXPECT_EQ(number(tanh(of(100.0, f32))), 1.0f);       // #2475
  EXPECT_EQ(number(tanh(of(-100.0, f32))), -1.0f);
}

TEST_P(TellingInputs, Row45And46IndicesAreCheckedAndCountFromTheEnd) {
  const Tensor x = of({10, 20}, i32);
  EXPECT_EQ(kind_of([&] { select(x, 0, 5); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index_select(x, of({5}, i64)); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(index_select(x, of({-1}, i32)).item<std::int32_t>(), 20);
  EXPECT_EQ(kind_of([&] { embedding(of({{1, 2}, {3, 4}}, f32), of({-1}, i64)); }), ErrorKind::IndexOutOfRange);
}

// Also #2940: no index is a sentinel.
TEST_P(TellingInputs, Row47TheLargestIndexOfADTypeIsAnIndex) {
  const Tensor table = arange(0, 256, 1, i32, here);
  EXPECT_EQ(index_select(table, of({255}, u8)).item<std::int32_t>(), 255);
  EXPECT_EQ(kind_of([&] { index_select(table, of({4294967295u}, u32)); }), ErrorKind::IndexOutOfRange);
}

TEST_P(TellingInputs, Row48MasksAreBoolOnly) {
  EXPECT_EQ(index_select(of({7, 8}, i32), of({1, 0, 1}, u8)).to_host<std::int32_t>(), (std::vector<std::int32_t>{8, 7, 8}));
  EXPECT_EQ(kind_of([&] { where(of({1, 0}, u8), of({1, 2}, i32), of({3, 4}, i32)); }), ErrorKind::DTypeMismatch);
}

// Also burn#4697, mlx#2406.
TEST_P(TellingInputs, Row50AFullyMaskedRowOfAttentionIsZero) {
  const Tensor q = ones({1, 1, 2, 4}, f32, here), k = full({1, 1, 3, 4}, nan, f32, here), v = full({1, 1, 3, 4}, infinity, f32, here);
  const Tensor y = attention(q, k, v, zeros({2, 3}, boolean, here));
  EXPECT_EQ(y.to_host<float>(), std::vector<float>(8, 0.0f));
  const Tensor added = attention(q, k, v, full({2, 3}, -infinity, f32, here));
  EXPECT_EQ(added.to_host<float>(), std::vector<float>(8, 0.0f));
}

// The first words of Philox under key 0 and counter 0 are 6627e8d5 e169c58d bc57ac4c 9b00dbd8 (Random123's known answers).
TEST_P(TellingInputs, Row51RandomNumbersAreThoseOfPhilox) {
  const std::vector<float> y = rand({4}, {.device = GetParam()}).to_host<float>();
  const std::uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y[static_cast<std::size_t>(i)], static_cast<float>(words[i] >> 8) * 0x1p-24f);
}

// Also #3069: all 64 bits of a seed count, and the same seed gives the same numbers.
TEST_P(TellingInputs, SeedsHave64Bits) {
  const auto draw = [&](std::uint64_t seed) { return rand({8}, {.seed = seed, .device = GetParam()}).to_host<float>(); };
  EXPECT_EQ(draw(std::uint64_t{1} << 40), draw(std::uint64_t{1} << 40));
  EXPECT_NE(draw(std::uint64_t{1} << 40), draw(0));
}

TEST_P(TellingInputs, Row52MinusOneBesideZeroIsAmbiguous) {
  EXPECT_EQ(kind_of([&] { reshape(zeros({0, 3}, f32, here), {0, -1}); }), ErrorKind::InvalidArgument);
}

TEST_P(TellingInputs, Row53TooManyElementsAreRefusedBeforeAllocation) {
  EXPECT_EQ(kind_of([&] { zeros({Size{1} << 40, Size{1} << 40}, f32, here); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { broadcast_to(zeros({1}, f32, here), {Size{1} << 40, Size{1} << 40}); }), ErrorKind::SizeOverflow);
}

}  // namespace
}  // namespace votive
