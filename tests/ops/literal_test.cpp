// Literals beside tensors (CONTRACT.md 1.3), on either side of every operator, and comparisons as operators. On every device.
#include <cmath>
#include <cstdint>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

class Literals : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Literals, every_device, device_name);

std::vector<float> host(const Tensor& x) { return x.to(f32).to_host<float>(); }
std::vector<bool> truth(const Tensor& x) { return x.to_host<bool>(); }

TEST_P(Literals, StandOnEitherSideOfEveryOperator) {
  const Tensor x = of({6, 4});
  EXPECT_EQ(host(x + 1), (std::vector<float>{7, 5}));
  EXPECT_EQ(host(1 + x), (std::vector<float>{7, 5}));
  EXPECT_EQ(host(x - 1), (std::vector<float>{5, 3}));
  EXPECT_EQ(host(1 - x), (std::vector<float>{-5, -3}));
  EXPECT_EQ(host(x * 2), (std::vector<float>{12, 8}));
  EXPECT_EQ(host(2 * x), (std::vector<float>{12, 8}));
  EXPECT_EQ(host(x / 2), (std::vector<float>{3, 2}));
  EXPECT_EQ(host(12 / x), (std::vector<float>{2, 3}));
  EXPECT_EQ(host(x % 4), (std::vector<float>{2, 0}));
  EXPECT_EQ(host(-7 % x), (std::vector<float>{5, 1}));
  EXPECT_EQ(host(pow(2, x)), (std::vector<float>{64, 16}));
  EXPECT_EQ(host(pow(x, 0.5)), (std::vector<float>{std::sqrt(6.0f), 2}));
  const Tensor n = of({6, 3}, i32);
  EXPECT_EQ(host(n & 2), (std::vector<float>{2, 2}));
  EXPECT_EQ(host(1 | n), (std::vector<float>{7, 3}));
  EXPECT_EQ(host(n ^ 1), (std::vector<float>{7, 2}));
  EXPECT_EQ(host(n << 2), (std::vector<float>{24, 12}));
  EXPECT_EQ(host(1 << n), (std::vector<float>{64, 8}));
  EXPECT_EQ(host(n >> 1), (std::vector<float>{3, 1}));
  EXPECT_EQ((n << 2).dtype(), i32);
  EXPECT_EQ((of({1, 2}, i8) << 2).dtype(), i8);
}

TEST_P(Literals, CompareOnEitherSide) {
  const Tensor x = of({1, 2, 3}, u8);
  EXPECT_EQ(truth(x == 2), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(truth(2 == x), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(truth(x != 2), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(truth(x < 2), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(truth(2 < x), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(truth(x <= 2.5), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(truth(2.5 >= x), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(truth(x > -1), (std::vector<bool>{true, true, true}));
  EXPECT_EQ(truth(x == of({1, 0, 3}, i64)), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(truth(x >= of({2, 2, 2}, u8)), (std::vector<bool>{false, true, true}));
  EXPECT_EQ(truth(x != x), (std::vector<bool>{false, false, false}));
}

TEST_P(Literals, TakeTheDtypeOfTheTensor) {
  EXPECT_EQ((of({1, 2}, i8) + 1).dtype(), i8);
  EXPECT_EQ((of({1, 2}, f16) * 0.1).dtype(), f16);
  EXPECT_EQ((of({1, 2}, f64) * 0.1).dtype(), f64);
  EXPECT_EQ((of({1, 2}, u64) % 2).dtype(), u64);
  EXPECT_EQ((of({1, 2}, i32) * 0.5).dtype(), f32);
  EXPECT_EQ(floor_div(of({7, 9}, i32), 2.0).dtype(), f32);
  EXPECT_EQ(host(of({3}, bf16) * 0.1), host(of({3}, bf16) * of({0.1}, bf16))) << "rounded first";
}

TEST_P(Literals, ThatDoNotFitAreRefusedWithTheCast) {
  EXPECT_EQ(kind_of([&] { of({1}, u8) % 300; }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { of({1}, u8) & -1; }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { of({1}, f16) * 1e6; }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { of({1}, i32) + true; }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { of({true}, boolean) + 1; }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(text_of([&] { of({1}, u8) + 300; }),
            "add: literal out of range: 300 is not in u8 (0..255). Cast the tensor, e.g. x.to(i32) + 300.");
  EXPECT_EQ(text_of([&] { 300 - of({1}, u8); }),
            "sub: literal out of range: 300 is not in u8 (0..255). Cast the tensor, e.g. 300 - x.to(i32).");
}

TEST_P(Literals, StandForEitherChoiceOfWhere) {
  const Tensor c = of({true, false}, boolean);
  EXPECT_EQ(host(where(c, of({1, 2}), 0)), (std::vector<float>{1, 0}));
  EXPECT_EQ(host(where(c, -1.5, of({1, 2}))), (std::vector<float>{-1.5, 2}));
  EXPECT_EQ(where(c, of({1, 2}, i8), 0).dtype(), i8);
  EXPECT_EQ(where(c, of({1, 2}, i8), 0.5).dtype(), f32);
  EXPECT_EQ(truth(where(c, of({true, true}, boolean), false)), (std::vector<bool>{true, false}));
  EXPECT_EQ(kind_of([&] { where(c, of({1, 2}, i8), 300); }), ErrorKind::LiteralOutOfRange);
}

}  // namespace
}  // namespace votive
