// Pointwise operations against arithmetic done here in wider integers, and against tables of CONTRACT.md, C99 and Python. On every device.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/ops/on_devices.h"
#include "votive/ops/pointwise.h"

namespace votive {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");
constexpr DType integers[] = {u8, i8, u16, i16, u32, i32, u64, i64};

class Pointwise : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
  template <class T>
  Tensor from(const std::vector<T>& values, DType dtype) const {
    return from_host<T>(values, {static_cast<Size>(values.size())}, dtype, here);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Pointwise, every_device, device_name);

std::vector<float> host(const Tensor& x) { return x.to(f32).to_host<float>(); }
std::vector<bool> truth(const Tensor& x) { return x.to_host<bool>(); }

/// Equal numbers with equal signs, or both NaN.
void expect_same(const Tensor& x, const std::vector<double>& expected) {
  const std::vector<double> y = x.to(f64).to_host<double>();
  ASSERT_EQ(y.size(), expected.size());
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(y[i])) << i << ": " << y[i];
    } else {
      EXPECT_EQ(y[i], expected[i]) << i;
      EXPECT_EQ(std::signbit(y[i]), std::signbit(expected[i])) << i;
    }
  }
}

int floored(int a, int b) {
  const int q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

TEST_P(Pointwise, DivisionOfEveryPairOfBytesIsThatOfWiderIntegers) {
  std::vector<std::int8_t> a, b, trunc_q, floor_q, rest, c_rest;
  for (int p = -128; p < 128; ++p) {
    for (int q = -128; q < 128; ++q) {
      if (q == 0) continue;
      a.push_back(static_cast<std::int8_t>(p));
      b.push_back(static_cast<std::int8_t>(q));
      trunc_q.push_back(static_cast<std::int8_t>(p / q));
      floor_q.push_back(static_cast<std::int8_t>(floored(p, q)));
      rest.push_back(static_cast<std::int8_t>(p - q * floored(p, q)));
      c_rest.push_back(static_cast<std::int8_t>(p % q));
    }
  }
  const Tensor x = from(a, i8), y = from(b, i8);
  EXPECT_EQ(div_trunc(x, y).to_host<std::int8_t>(), trunc_q);
  EXPECT_EQ(floor_div(x, y).to_host<std::int8_t>(), floor_q);
  EXPECT_EQ((x % y).to_host<std::int8_t>(), rest);
  EXPECT_EQ(fmod(x, y).to_host<std::int8_t>(), c_rest);
}

TEST_P(Pointwise, DivisionOfWideUnsignedIntegersSeesAllBits) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  const Tensor x = of({most, most}, u64), y = of({std::uint64_t{2}, most - 1}, u64);
  EXPECT_EQ(floor_div(x, y).to_host<std::uint64_t>(), (std::vector<std::uint64_t>{most / 2, 1}));
  EXPECT_EQ((x % y).to_host<std::uint64_t>(), (std::vector<std::uint64_t>{1, 1}));
}

TEST_P(Pointwise, PowersOfEveryByteAreExactModulo256) {
  std::vector<std::uint8_t> a, n, expected;
  for (int p = 0; p < 256; ++p) {
    unsigned power = 1;
    for (int k = 0; k < 20; ++k) {
      a.push_back(static_cast<std::uint8_t>(p));
      n.push_back(static_cast<std::uint8_t>(k));
      expected.push_back(static_cast<std::uint8_t>(power));
      power = power * static_cast<unsigned>(p) % 256;
    }
  }
  EXPECT_EQ(pow(from(a, u8), from(n, u8)).to_host<std::uint8_t>(), expected);
  EXPECT_EQ(pow(of({3, -3}, i64), 39).to_host<std::int64_t>(), (std::vector<std::int64_t>{4052555153018976267, -4052555153018976267}));
}

TEST_P(Pointwise, ShiftsKnowTheWidthOfEveryDtype) {
  for (const DType dtype : integers) {
    const int width = static_cast<int>(8 * block_bytes(dtype));
    const Tensor one = of(1, dtype), counts = of({0, 1, width - 1, width, width + 1, 64, 100}, i8);
    const Tensor left = shift_left(one, counts.to(dtype)), right = shift_right(left.to(dtype), counts.to(dtype));
    const std::vector<float> back = host(right.to(f64));
    EXPECT_EQ(left.dtype(), dtype);
    EXPECT_EQ(std::fabs(back[0]), 1.0f);
    EXPECT_EQ(back[1], 1.0f);
    EXPECT_EQ(back[2], is_signed_integer(dtype) ? -1.0f : 1.0f) << to_string(dtype);
    for (std::size_t i = 3; i < 7; ++i) EXPECT_EQ(back[i], 0.0f) << to_string(dtype);
  }
}

TEST_P(Pointwise, ShiftsTakeCountsOfAnyIntegerDtype) {
  for (const DType number : integers) {
    for (const DType count : integers) {
      const Tensor y = shift_left(of({3, 5}, number), of({1, 2}, count));
      EXPECT_EQ(y.dtype(), common_dtype(number, count).value_or(number));
      EXPECT_EQ(host(y.to(f64)), (std::vector<float>{6, 20}));
    }
  }
  EXPECT_EQ(kind_of([&] { shift_left(of(1.0), of(1, i32)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { shift_left(of(1, i32), of(true, boolean)); }), ErrorKind::DTypeMismatch);
}

TEST_P(Pointwise, BitsOfIntegersAndBoolsAndNothingElse) {
  EXPECT_EQ((of({12, 10}, u8) & of({10, 6}, u8)).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{8, 2}));
  EXPECT_EQ((of({-1, 8}, i16) ^ of({1, 1}, i8)).to_host<std::int16_t>(), (std::vector<std::int16_t>{-2, 9}));
  EXPECT_EQ((~of({0, 255}, u8)).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{255, 0}));
  EXPECT_EQ((~of({0, -1}, i64)).to_host<std::int64_t>(), (std::vector<std::int64_t>{-1, 0}));
  const Tensor p = of({true, true, false}, boolean), q = of({true, false, false}, boolean);
  EXPECT_EQ(truth(p & q), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(truth(p | q), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(truth(p ^ true), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(truth(~p), (std::vector<bool>{false, false, true}));
  EXPECT_EQ((p & of({3, 2, 1}, i32)).dtype(), i32);
  EXPECT_EQ(kind_of([&] { of(1.0) & of(1.0); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { ~of(1.0); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { of(1, i32) & 1.5; }), ErrorKind::DTypeMismatch);
}

TEST_P(Pointwise, TruthIsWhatIsNotZero) {
  EXPECT_EQ(truth(logical_not(of({0.0, -0.0, 2.0, nan}))), (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(truth(logical_not(of({0, 3}, i8))), (std::vector<bool>{true, false}));
  EXPECT_EQ(truth(isnan(of({nan, infinity, 1}))), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(truth(isinf(of({nan, infinity, -infinity}))), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(truth(isfinite(of({nan, infinity, 65504}, f16))), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(truth(isnan(of({1, 2}, i64))), (std::vector<bool>{false, false}));
  EXPECT_EQ(truth(isnan(of({nan, 1}).to(e4m3))), (std::vector<bool>{true, false}));
}

// Python 3.11: a // b, a % b and math.fmod(a, b) of doubles.
TEST_P(Pointwise, DivisionOfFloatsIsPythons) {
  const Tensor a = of({7.5, -7.5, 7.5, -7.5, 1.0, -1e-30, 5.3, 6.0}, f64), b = of({2.0, 2.0, -2.0, -2.0, 0.1, 1.0, 0.1, -3.0}, f64);
  expect_same(floor_div(a, b), {3, -4, -4, 3, 9, -1, 52, -2});
  expect_same(remainder(a, b), {1.5, 0.5, -0.5, -1.5, 0.09999999999999995, 1.0, 0.09999999999999953, -0.0});
  expect_same(fmod(a, b), {1.5, -1.5, 1.5, -1.5, 0.09999999999999995, -1e-30, 0.09999999999999953, 0.0});
  expect_same(div_trunc(a, b), {3, -3, -3, 3, 10, -0.0, 52, -2});
  // by zero and of infinities
  const Tensor p = of({1, -1, 0, infinity, 5, -5}), q = of({0, 0, 0, 2, infinity, infinity});
  expect_same(floor_div(p, q), {infinity, -infinity, nan, nan, 0, -1});
  expect_same(remainder(p, q), {nan, nan, nan, nan, 5, infinity});
  expect_same(fmod(p, q), {nan, nan, nan, nan, 5, -5});
}

// C99 Annex F.9.4.4 and F.9.1.4
TEST_P(Pointwise, PowAndAtan2FollowC99) {
  expect_same(pow(of({0.0, -0.0, -0.0, -1.0, -infinity, -infinity, 0.5, 2.0, -2.0}, f64),
                  of({-1.0, -3.0, -2.0, infinity, 3.0, -3.0, -infinity, -infinity, 0.5}, f64)),
              {infinity, -infinity, infinity, 1, -infinity, -0.0, infinity, 0, nan});
  const double pi = 3.141592653589793;
  expect_same(atan2(of({0.0, -0.0, 0.0, -0.0, 1.0, infinity, infinity}, f64), of({-0.0, -0.0, 1.0, 1.0, -infinity, -infinity, 0.0}, f64)),
              {pi, -pi, 0.0, -0.0, pi, 2.356194490192345, 1.5707963267948966});
}

TEST_P(Pointwise, MinimaWithMissingDataSkipNan) {
  expect_same(fmin(of({nan, 1, nan, -0.0f, 0}), of({2, nan, nan, 0, -0.0f})), {2, 1, nan, -0.0, -0.0});
  expect_same(fmax(of({nan, 1, nan, -0.0f, 0}), of({2, nan, nan, 0, -0.0f})), {2, 1, nan, 0, 0});
  EXPECT_EQ(fmin(of({5, -5}, i8), of({3, 3}, i8)).to_host<std::int8_t>(), (std::vector<std::int8_t>{3, -5}));
}

TEST_P(Pointwise, ClampTakesLiteralsTensorsOrOneOfThem) {
  const Tensor x = of({-3, 0.5, 7});
  EXPECT_EQ(host(clamp(x, -1, 1)), (std::vector<float>{-1, 0.5, 1}));
  EXPECT_EQ(host(clamp(x, {}, 1)), (std::vector<float>{-3, 0.5, 1}));
  EXPECT_EQ(host(clamp(x, 0, {})), (std::vector<float>{0, 0.5, 7}));
  EXPECT_EQ(host(clamp(x, 2, 1)), (std::vector<float>{1, 1, 1})) << "low > high gives high";
  EXPECT_EQ(host(clamp(x, of({{0}, {1}}), of({1, 2, 3}))), (std::vector<float>{0, 0.5, 3, 1, 1, 3}));
  EXPECT_EQ(host(clamp(x, Tensor(), of(0.0))), (std::vector<float>{-3, 0, 0}));
  expect_same(clamp(of({nan, 1}), 0, 2), {nan, 1});
  EXPECT_EQ(clamp(of({-5, 5}, i8), -2, 2).to_host<std::int8_t>(), (std::vector<std::int8_t>{-2, 2}));
  EXPECT_EQ(clamp(of({-5, 5}, i8), -2.5, 2.5).dtype(), f32);
  EXPECT_EQ(kind_of([&] { clamp(of({-5, 5}, u8), -2, 2); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { clamp(x, std::nullopt, std::nullopt); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(text_of([&] { clamp(of(true, boolean), 0, 1); }).substr(0, 6), "clamp:");
}

TEST_P(Pointwise, CopysignReadsEverySignBit) {
  expect_same(copysign(of({1, -2, 0, infinity}), neg(of({0.0f, -0.0f, 1, nan}))), {-1, 2, -0.0, -infinity});
  EXPECT_EQ(copysign(of({0x1p-24}, f16), of({-1}, f16)).to_host<std::uint16_t>()[0], 0x8001);
}

TEST_P(Pointwise, FusedMultiplicationsRoundOnce) {
  // (1 + 2⁻¹²)² − (1 + 2⁻¹¹) = 2⁻²⁴, which two roundings lose
  const Tensor x = of(1 + 0x1p-12), minus = of(-(1 + 0x1p-11));
  EXPECT_EQ(fma(x, x, minus).item<float>(), 0x1p-24f);
  EXPECT_EQ(addcmul(minus, x, x).item<float>(), 0x1p-24f);
  EXPECT_EQ((x * x + minus).item<float>(), 0.0f);
  EXPECT_EQ(affine(x, 1 + 0x1p-12, -(1 + 0x1p-11)).item<float>(), 0x1p-24f);
  // f32 numbers beside bf16: 0.1 is not rounded to bf16 first
  EXPECT_EQ(affine(of(3.0, bf16), 0.1, 0).to(f32).item<float>(), full({}, 3.0f * 0.1f, f32).to(bf16).to(f32).item<float>());
  EXPECT_EQ(host(addcdiv(of({1, 1}), of({2, 3}), of({4, 6}), 2)), (std::vector<float>{2, 2}));
  EXPECT_EQ(kind_of([&] { fma(of(1, i32), of(1, i32), of(1, i32)); }), ErrorKind::DTypeMismatch);
}

TEST_P(Pointwise, LerpReachesBothEnds) {
  const Tensor a = of({0.1f, 1e30f, -7}), b = of({0.7f, -1.0f, 3});
  EXPECT_EQ(host(lerp(a, b, 0.0)), host(a));
  EXPECT_EQ(host(lerp(a, b, 1.0)), host(b));
  EXPECT_EQ(host(lerp(of({0, 10}), of({4, 20}), of({0.25, 0.75}))), (std::vector<float>{1, 17.5}));
}

// numpy.isclose 1.24 gives the same.
TEST_P(Pointwise, IscloseFollowsItsFormula) {
  EXPECT_EQ(truth(isclose(of({1, 1, infinity, infinity, nan, 0}), of({1.000009, 1.001, infinity, -infinity, nan, 1e-9}))),
            (std::vector<bool>{true, false, true, false, false, true}));
  EXPECT_EQ(truth(isclose(of({nan, 1}), of({nan, nan}), {.equal_nan = true})), (std::vector<bool>{true, false}));
  EXPECT_EQ(truth(isclose(of({1, infinity}), of({infinity, 1}))), (std::vector<bool>{false, false}));
  EXPECT_EQ(truth(isclose(of({10, 11}, i64), of({10, 10}, u8), {.rtol = 0, .atol = 1})), (std::vector<bool>{true, true}));
  EXPECT_TRUE(allclose(of({1, 2}), of({1, 2})));
  EXPECT_FALSE(allclose(of({1, 2}), of({1, 2.1})));
  EXPECT_TRUE(allclose(zeros({0}, f32, here), zeros({0}, f32, here)));
  EXPECT_EQ(kind_of([&] { isclose(of(1.0), of(1.0), {.rtol = -1}); }), ErrorKind::InvalidArgument);
}

TEST_P(Pointwise, NanToNumKnowsTheLargestOfEachDtype) {
  expect_same(nan_to_num(of({nan, infinity, -infinity, 2}, f16)), {0, 65504, -65504, 2});
  expect_same(nan_to_num(of({nan, infinity, -infinity, 2}, bf16)), {0, 0x1.fep127, -0x1.fep127, 2});
  expect_same(nan_to_num(of({nan, infinity, -infinity, 2})), {0, std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(), 2});
  expect_same(nan_to_num(of({nan, infinity}, f64)), {0, std::numeric_limits<double>::max()});
  expect_same(nan_to_num(of({nan, infinity, -infinity}), {.nan = 1, .posinf = 2, .neginf = 3}), {1, 2, 3});
  EXPECT_EQ(nan_to_num(of({1, 2}, i16)).dtype(), i16);
}

TEST_P(Pointwise, RoundTakesDecimals) {
  EXPECT_EQ(host(round(of({1.25, 1.375, -2.625}), 2)), (std::vector<float>{1.25f, 1.38f, -2.62f}));
  EXPECT_EQ(host(round(of({1250, 1350, 49}), -2)), (std::vector<float>{1200, 1400, 0}));
  EXPECT_EQ(round(of({7}, i32), 3).dtype(), i32);
}

TEST_P(Pointwise, RoundingLeavesIntegersAlone) {
  const Tensor x = of({3, -4}, i16);
  for (const auto& f : {floor, ceil, trunc, +[](const Tensor& t) { return round(t); }}) EXPECT_TRUE(f(x).same_as(x));
  EXPECT_EQ(kind_of([&] { floor(of(true, boolean)); }), ErrorKind::DTypeMismatch);
}

TEST_P(Pointwise, FunctionsOfIntegersAreF32AndOfF64F64) {
  EXPECT_EQ(exp(of({0, 1}, i64)).dtype(), f32);
  EXPECT_EQ(swiglu(of({0, 1}, i8), of({1, 1}, u8)).dtype(), f32);
  for (const PointwiseRow& row : unary_rows()) {
    if (row.group == PointwiseGroup::function) {
      const Unary op{static_cast<UnaryKind>(&row - unary_rows().data())};
      EXPECT_EQ(op.result({.dtype = f64}).dtype, f64) << row.name;
      EXPECT_GT(row.ulp, 0) << row.name;
    }
  }
  // e to 17 digits
  EXPECT_EQ(exp(of(1.0, f64)).item<double>(), 2.718281828459045);
  EXPECT_EQ(swiglu(of(0.0, f64), of(1.0, f64)).dtype(), f64);
}

TEST_P(Pointwise, ActivationsGiveTheirFormulas) {
  const Tensor x = of({-4, -2, -0.5, 0, 0.5, 2, 4, 8});
  EXPECT_EQ(host(relu6(x)), (std::vector<float>{0, 0, 0, 0, 0.5, 2, 4, 6}));
  EXPECT_EQ(host(relu_squared(x)), (std::vector<float>{0, 0, 0, 0, 0.25, 4, 16, 64}));
  EXPECT_EQ(host(leaky_relu(x, 0.25)), (std::vector<float>{-1, -0.5, -0.125, 0, 0.5, 2, 4, 8}));
  EXPECT_EQ(host(hardtanh(x)), (std::vector<float>{-1, -1, -0.5, 0, 0.5, 1, 1, 1}));
  EXPECT_EQ(host(hardshrink(x)), (std::vector<float>{-4, -2, 0, 0, 0, 2, 4, 8}));
  EXPECT_EQ(host(softshrink(x)), (std::vector<float>{-3.5, -1.5, 0, 0, 0, 1.5, 3.5, 7.5}));
  EXPECT_EQ(host(threshold(x, 1, -7)), (std::vector<float>{-7, -7, -7, -7, -7, 2, 4, 8}));
  EXPECT_EQ(host(hardsigmoid(of({-4, 0, 4}))), (std::vector<float>{0, 0.5, 1}));
  EXPECT_EQ(host(hardswish(of({-4, 0, 4}))), (std::vector<float>{0, 0, 4}));
  EXPECT_EQ(host(softsign(of({-1, 0, 3}))), (std::vector<float>{-0.5, 0, 0.75}));
  EXPECT_EQ(host(glu(of({{4, 6, 0, 0}}))), (std::vector<float>{2, 3}));
  EXPECT_EQ(host(prelu(of({{-2, -2}, {4, -4}}), of({0.25, 0.5}))), (std::vector<float>{-0.5, -1, 4, -2}));
  EXPECT_EQ(host(prelu(of({-2, 2}), of(0.25))), (std::vector<float>{-0.5, 2}));
  // double precision of the formulas, in f64: Python's math
  EXPECT_NEAR(elu(of(-1.0, f64), 0.5).item<double>(), 0.5 * std::expm1(-1.0), 1e-15);
  EXPECT_NEAR(celu(of(-1.0, f64), 0.5).item<double>(), 0.5 * std::expm1(-2.0), 1e-15);
  EXPECT_NEAR(selu(of(-1.0, f64)).item<double>(), 1.0507009873554804934 * 1.6732632423543772848 * std::expm1(-1.0), 1e-15);
  EXPECT_NEAR(mish(of(1.0, f64)).item<double>(), std::tanh(std::log1p(std::exp(1.0))), 1e-15);
  EXPECT_NEAR(quick_gelu(of(1.0, f64)).item<double>(), 1 / (1 + std::exp(-1.702)), 1e-15);
  EXPECT_NEAR(geglu(of(1.0, f64), of(3.0, f64)).item<double>(), 3 * 0.8413447460685429, 1e-14);
  EXPECT_EQ(kind_of([&] { celu(x, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { softshrink(x, -1); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { elu(x, 1e300); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { glu(of({1, 2, 3})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { prelu(of({{1, 2, 3}}), of({1, 2})); }), ErrorKind::ShapeMismatch);
}

TEST_P(Pointwise, GreatestCommonDivisors) {
  EXPECT_EQ(gcd(of({12, -18, 0, 7}, i32), of({18, 12, 0, 0}, i32)).to_host<std::int32_t>(), (std::vector<std::int32_t>{6, 6, 0, 7}));
  EXPECT_EQ(lcm(of({4, -6, 0}, i32), of({6, 4, 5}, i32)).to_host<std::int32_t>(), (std::vector<std::int32_t>{12, 12, 0}));
}

TEST(PointwiseErrors, NameTheArgumentThePositionAndTheCure) {
  EXPECT_EQ(text_of([] {
              div_trunc(tensor({1, 2, 3}, i32), tensor({1, 0, 3}, i32));
            }),
            "div_trunc: division by zero: argument 'b' (#2, i32[3]) is 0 at position [1]. Use div() for inf, or where() to replace zeros.");
  EXPECT_EQ(
      text_of([] {
        pow(tensor({2, 2}, i32), tensor({1, -3}, i32));
      }),
      "pow: outside the domain: argument 'b' (#2, i32[2]) has the negative exponent -3 at position [1]. Cast the base, e.g. a.to(f32).");
  EXPECT_EQ(text_of([] {
              tensor({1, 2}, i32) % 0;
            }),
            "remainder: division by zero: x i32[2] is divided by the literal 0. Use x.to(f32) for inf and NaN.");
  EXPECT_EQ(text_of([] { bitwise_and(tensor({1.0}), tensor({1.0})); }),
            "bitwise_and: dtype mismatch: a f32[1]. Accepted: bool, u8, i8, u16, i16, u32, i32, u64, i64. Cast it, e.g. a.to(i64).");
}

// Kernels look at divisors and exponents tile by tile: neither the first tile nor the first bad one is the only one that counts.
TEST_P(Pointwise, OfManyWrongOperandsTheFirstIsNamedWhereverItStands) {
  std::vector<std::int32_t> values(5000, 7);
  values[4321] = values[4700] = 0;
  const Tensor b = from_host<std::int32_t>(values, {50, 100}, i32, here), a = ones({50, 100}, i32, here);
  const auto position_of = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) { return error.position(); }
    return std::vector<Size>{};
  };
  EXPECT_EQ(position_of([&] { div_trunc(a, b); }), (std::vector<Size>{43, 21}));
  EXPECT_EQ(position_of([&] { floor_div(a, transpose(reshape(b, {100, 50}))); }), (std::vector<Size>{0, 94})) << "row-major in the view";
  EXPECT_EQ(position_of([&] { a % b.to(i64); }), (std::vector<Size>{43, 21}));
  EXPECT_EQ(position_of([&] { pow(a, b - 1); }), (std::vector<Size>{43, 21}));
}

TEST(PointwiseErrors, ADivisorThatNobodyReadsIsNoError) {
  EXPECT_EQ(floor_div(zeros({0, 2}, i32), zeros({2}, i32)).shape(), (Shape{0, 2}));
}

// The row is the one source: what a gradient mentions is what is saved.
TEST(PointwiseRows, SaveWhatTheirGradientsMention) {
  EXPECT_EQ(Unary{UnaryKind::tanh}.saves().inputs, 0u);
  EXPECT_TRUE(Unary{UnaryKind::tanh}.saves().outputs);
  EXPECT_EQ(Unary{UnaryKind::sin}.saves().inputs, 1u);
  EXPECT_FALSE(Unary{UnaryKind::sin}.saves().outputs);
  EXPECT_EQ(Unary{UnaryKind::neg}.saves().inputs, 0u);
  EXPECT_EQ(Binary{BinaryKind::div}.saves().inputs, 2u);
  EXPECT_EQ(Binary{BinaryKind::add}.saves().inputs, 0u);
  EXPECT_EQ(Ternary{TernaryKind::addcmul}.saves().inputs, 6u);
}

}  // namespace
}  // namespace votive
