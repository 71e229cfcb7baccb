// Random tensors depend on seed, stream, offset and index alone; a generator moves on by the blocks it used (CONTRACT.md 7).
#include "tests/ops/on_devices.h"

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

}  // namespace
}  // namespace votive
