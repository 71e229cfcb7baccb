// The modes: what they refuse, where they say so, and that they change no value (CONTRACT.md 0.1.6, 2.1, 6). On every device.
#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::nanf("");

class Modes : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Modes, every_device, device_name);

/// Kind, operation and position of the error.
void expect_error(const std::function<void()>& call, ErrorKind kind, const std::string& op, const std::vector<Size>& position) {
  try {
    call();
    ADD_FAILURE() << op << ": no error was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_EQ(error.op(), op) << error.what();
    EXPECT_EQ(error.position(), position) << error.what();
  }
}

TEST_P(Modes, CheckedRefusesWhatWraps) {
  const auto overflow = [](const std::string& op, const std::function<void()>& call) {
    expect_error(call, ErrorKind::IntegerOverflow, op, {1});
  };
  const Tensor low = of({0, -128}, i8), high = of({1, 127}, i8), one = of({1, 1}, i8), unsigned_ = of({1, 0}, u8);
  const CheckedScope checked;
  overflow("add", [&] { high + one; });
  overflow("sub", [&] { low - one; });
  overflow("sub", [&] { unsigned_ - of({1, 1}, u8); });
  overflow("mul", [&] { high* of({2, 2}, i8); });
  overflow("neg", [&] { -low; });
  overflow("neg", [&] { -of({0, 1}, u16); });
  overflow("abs", [&] { abs(low); });
  overflow("square", [&] { square(of({3, 16}, u8)); });
  overflow("pow", [&] { pow(of({2, 2}, i8), of({6, 7}, i8)); });
  overflow("shift_left", [&] { high << of({1, 1}, i8); });
  overflow("shift_left", [&] { one << of({6, 7}, i8); });
  overflow("shift_right", [&] { one >> of({7, 8}, i8); });
  overflow("floor_div", [&] { floor_div(low, of({1, -1}, i8)); });
  overflow("div_trunc", [&] { div_trunc(low, of({1, -1}, i8)); });
  overflow("gcd", [&] { gcd(low, of({0, -128}, i8)); });
  overflow("lcm", [&] { lcm(low, of({0, -128}, i8)); });
  overflow("lcm", [&] { lcm(of({12, 13}, i8), of({10, 11}, i8)); });
  overflow("lcm", [&] { lcm(of({15, 16}, u8), of({17, 17}, u8)); });
  overflow("lcm", [&] { lcm(of({std::int64_t{6}, std::int64_t{1} << 62}, i64), of({4, 3}, i64)); });
  const Tensor twice = tensor({1, 1}, i64, here), once = tensor({1}, i64, here);
  overflow("scatter_add", [&] { scatter_add(high, twice, of({64, 64}, i8)); });
  overflow("index_add", [&] { index_add(high, once, of({1}, i8)); });
  overflow("scatter", [&] { scatter(high, twice, of({2, -2}, i8), {.mode = ScatterMode::mul}); });
  overflow("index_put", [&] { index_put(high, {twice}, of({64, 64}, i8), {.accumulate = true}); });
  overflow("index_add", [&] { index_add(of({std::uint64_t{0}, ~std::uint64_t{0}}, u64), once, of({1}, u64)); });
  overflow("kron", [&] { kron(of({1, 127}, i8), of({2}, i8)); });
  overflow("to", [&] { of({1, 300}, i32).to(u8); });
  overflow("to", [&] { of({1, -1}, i32).to(u64); });
  overflow("add", [&] { of({std::int64_t{1}, std::numeric_limits<std::int64_t>::max()}, i64) + 1; });
  overflow("mul", [&] { of({std::uint64_t{1}, std::uint64_t{1} << 63}, u64) * 2; });
}

TEST_P(Modes, CheckedLetsPassWhatFits) {
  const Tensor a = of({{100, -100}, {7, -128}}, i8), b = of({{27, -28}, {-7, 127}}, i8);
  const Tensor plain[] = {a + b,           a - of({0, 0}, i8), abs(b), -b, floor_div(a, b), pow(b.to(i32), 3), of({-5}, i32).to(i8),
                          of({1.5, 3}) * 2};
  const CheckedScope checked;
  const Tensor again[] = {a + b,           a - of({0, 0}, i8), abs(b), -b, floor_div(a, b), pow(b.to(i32), 3), of({-5}, i32).to(i8),
                          of({1.5, 3}) * 2};
  for (std::size_t i = 0; i < std::size(plain); ++i) EXPECT_TRUE(all(eq(plain[i], again[i])).item<bool>()) << i;
  // what comes back into range is a number of the dtype, as in a sum
  const Tensor returning = scatter_add(of({127}, i8), of({0, 0}, i64), of({1, -1}, i8));
  EXPECT_EQ(returning.to_host<std::int8_t>(), (std::vector<std::int8_t>{127}));
  EXPECT_EQ(lcm(of({-8, 0}, i8), of({12, -128}, i8)).to_host<std::int8_t>(), (std::vector<std::int8_t>{24, 0}));
  EXPECT_EQ(kind_of([&] { pow(of({2}, i32), of({-1}, i32)); }), ErrorKind::Domain) << "not an overflow";
  EXPECT_EQ(kind_of([&] { floor_div(of({2}, i32), of({0}, i32)); }), ErrorKind::DivisionByZero);
}

TEST_P(Modes, CheckedIsAScopeOfOneThread) {
  const Tensor most = of({255}, u8);
  {
    const CheckedScope outer;
    {
      const CheckedScope inner;
      EXPECT_EQ(kind_of([&] { most + most; }), ErrorKind::IntegerOverflow);
    }
    EXPECT_EQ(kind_of([&] { most + most; }), ErrorKind::IntegerOverflow);
    std::thread([&] { EXPECT_EQ((most + most).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{254})); }).join();
  }
  EXPECT_EQ((most + most).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{254}));
}

TEST_P(Modes, TheTrapNamesTheOperationAndThePlace) {
  const Tensor x = of({{1, 0}, {4, 9}});
  const NonFiniteTrapScope trap;
  expect_error([&] { log(x); }, ErrorKind::NonFinite, "log", {0, 1});
  expect_error([&] { x / of({1, 0}); }, ErrorKind::NonFinite, "div", {0, 1});
  expect_error([&] { of({1, 6e4}, f16) * 2; }, ErrorKind::NonFinite, "mul", {1});
  expect_error([&] { of({1, 1e30}).to(f16); }, ErrorKind::NonFinite, "to", {1});
  expect_error([&] { sum(of({3e38, 3e38})); }, ErrorKind::NonFinite, "sum", {});
  EXPECT_EQ(sqrt(x).to_host<float>(), (std::vector<float>{1, 0, 2, 3}));
}

TEST_P(Modes, TheTrapLetsMasksBeMadeAndMoved) {
  const NonFiniteTrapScope trap;
  const Tensor mask = full({2, 2}, -infinity, f32, here);
  EXPECT_NO_THROW(where(of({true, false}, boolean), mask, 0));
  EXPECT_NO_THROW(contiguous(transpose(mask)));
  EXPECT_NO_THROW(eq(mask, mask));
  EXPECT_EQ(kind_of([&] { mask + 1; }), ErrorKind::NonFinite);
}

TEST_P(Modes, CastCheckedRefusesWhatChangesByMoreThanRounding) {
  const auto refuses = [](ErrorKind kind, const Tensor& x, DType dtype) {
    expect_error([&] { cast_checked(x, dtype); }, kind, "cast_checked", {1});
  };
  refuses(ErrorKind::Domain, of({1, nan}), i32);
  refuses(ErrorKind::IntegerOverflow, of({1, 3e9}), i32);
  refuses(ErrorKind::IntegerOverflow, of({1, -1}), u8);
  refuses(ErrorKind::IntegerOverflow, of({1, 256}), u8);
  refuses(ErrorKind::IntegerOverflow, of({1, infinity}), i64);
  refuses(ErrorKind::IntegerOverflow, of({1.0, 0x1p63}, f64), i64);
  refuses(ErrorKind::IntegerOverflow, of({1.0, 0x1p64}, f64), u64);
  refuses(ErrorKind::IntegerOverflow, of({1, 300}, i64), u8);
  refuses(ErrorKind::IntegerOverflow, of({1, -1}, i8), u64);
  refuses(ErrorKind::IntegerOverflow, of({std::uint64_t{1}, std::uint64_t{1} << 63}, u64), i64);
  refuses(ErrorKind::IntegerOverflow, of({1, 70000}, i32), f16);
  refuses(ErrorKind::Domain, of({1, 70000}), f16);
  refuses(ErrorKind::Domain, of({1.0, 1e300}, f64), f32);
  refuses(ErrorKind::Domain, of({1, 500}), e4m3);
  refuses(ErrorKind::Domain, of({1, infinity}), e5m2);
  refuses(ErrorKind::Domain, of({1, 2}), boolean);
  refuses(ErrorKind::Domain, of({1, nan}), boolean);
}

TEST_P(Modes, CastCheckedLetsRoundingPass) {
  EXPECT_EQ(cast_checked(of({255.9, -0.9, 3.7}), u8).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{255, 0, 3}));
  EXPECT_EQ(cast_checked(of({0x1p63 - 1024, -0x1p63}, f64), i64).to_host<std::int64_t>(),
            (std::vector<std::int64_t>{9223372036854774784, std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(cast_checked(of({0.1, 65519}, f64), f16).to(f32).to_host<float>()[1], 65504.0f);
  EXPECT_EQ(cast_checked(of({infinity, -infinity}), f16).to(f32).to_host<float>(), (std::vector<float>{infinity, -infinity}));
  EXPECT_TRUE(std::isnan(cast_checked(of({nan}), f16).to(f32).to_host<float>()[0]));
  EXPECT_EQ(cast_checked(of({1, 0}), boolean).to_host<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(cast_checked(of({464}), e4m3).to(f32).to_host<float>()[0], 448.0f);
  EXPECT_EQ(cast_checked(of({16777217}, i32), f32).to_host<float>()[0], 16777216.0f);
}

// CONTRACT.md 9: the text of an error is the same on every device, whatever sign the machine gives a NaN.
TEST(Modes, ATrappedNaNHasNoSign) {
  for (const Device device : {Device::cpu, Device::reference}) {
    const NonFiniteTrapScope trap;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double value : {nan, -nan}) {
      const Tensor x = from_host<double>(std::vector<double>{value, 1}, {2}, DType::f64, {.device = device});
      try {
        mean(x);
        FAIL() << "not trapped";
      } catch (const Error& error) { EXPECT_NE(std::string(error.what()).find(" has nan at"), std::string::npos) << error.what(); }
    }
  }
}

}  // namespace
}  // namespace votive
