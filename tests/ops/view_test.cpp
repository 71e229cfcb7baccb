// Views: new layouts over the same buffer, Python's slices, and the verb that writes through them.
#include <numeric>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

class Views : public OnDevices {
 protected:
  Tensor count(Size n) const { return arange(0, n, 1, i32, here); }
  static std::vector<std::int32_t> values(const Tensor& x) { return x.to_host<std::int32_t>(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Views, every_device, device_name);

TEST_P(Views, ShareTheirBuffer) {
  const Tensor x = reshape(count(24), {2, 3, 4});
  EXPECT_TRUE(reshape(x, {6, 4}).shares_buffer_with(x));
  EXPECT_TRUE(permute(x, {2, 0, 1}).shares_buffer_with(x));
  EXPECT_TRUE(flip(x, 1).shares_buffer_with(x));
  EXPECT_TRUE(broadcast_to(unsqueeze(x, 0), {5, 2, 3, 4}).shares_buffer_with(x));
  EXPECT_TRUE(contiguous(x).same_as(x));
  EXPECT_FALSE(contiguous(transpose(x)).shares_buffer_with(x));
}

TEST_P(Views, ReshapeCopiesOnlyWhenNoViewCanGiveIt) {
  const Tensor x = reshape(count(6), {2, 3});
  EXPECT_EQ(values(reshape(transpose(x), {6})), (std::vector<std::int32_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_FALSE(reshape(transpose(x), {6}).shares_buffer_with(x));
  EXPECT_TRUE(reshape(transpose(x), {3, 1, 2}).shares_buffer_with(x));
  EXPECT_EQ(reshape(x, {-1, 2}).shape(), (Shape{3, 2}));
  EXPECT_EQ(flatten(reshape(count(24), {2, 3, 4}), 1).shape(), (Shape{2, 12}));
  EXPECT_EQ(flatten(reshape(count(1), {})).shape(), (Shape{1}));
}

TEST_P(Views, ReshapeRefusesWhatDoesNotFit) {
  const Tensor x = count(6);
  EXPECT_EQ(kind_of([&] { reshape(x, {4}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { reshape(x, {-1, 4}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { reshape(x, {-1, -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { reshape(x, {-2, -3}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { reshape(x, {Size{1} << 62, 6}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { reshape(x, {Size{1} << 62, Size{1} << 62, -1}); }), ErrorKind::SizeOverflow);
}

TEST_P(Views, SliceIsPythons) {
  const Tensor x = count(10);
  EXPECT_EQ(values(slice(x, {.start = 2, .stop = 5})), (std::vector<std::int32_t>{2, 3, 4}));
  EXPECT_EQ(values(slice(x, {.start = -3})), (std::vector<std::int32_t>{7, 8, 9}));
  EXPECT_EQ(values(slice(x, {.stop = -8})), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(values(slice(x, {.start = 1, .step = 4})), (std::vector<std::int32_t>{1, 5, 9}));
  EXPECT_EQ(values(slice(x, {.step = -3})), (std::vector<std::int32_t>{9, 6, 3, 0}));
  EXPECT_EQ(values(slice(x, {.start = 100, .stop = -100, .step = -1})).size(), 10u);
  EXPECT_EQ(slice(x, {.start = 5, .stop = 2}).count(), 0);
  EXPECT_EQ(slice(x, {.start = 100, .stop = 200}).count(), 0);
  EXPECT_EQ(values(slice(x, {.start = 3, .step = INT64_MAX})), (std::vector<std::int32_t>{3}));
  EXPECT_EQ(values(slice(x, {.step = INT64_MIN})), (std::vector<std::int32_t>{9}));
  EXPECT_EQ(values(slice(x, {.start = INT64_MIN, .stop = INT64_MAX, .step = 9})), (std::vector<std::int32_t>{0, 9}));
  EXPECT_EQ(kind_of([&] { slice(x, {.step = 0}); }), ErrorKind::InvalidArgument);
}

TEST_P(Views, SplitAndChunkCoverTheAxis) {
  const Tensor x = count(7);
  const std::vector<Size> sizes{3, 0, 4};
  const std::vector<Tensor> parts = split(x, sizes);
  EXPECT_EQ(values(parts[0]), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(parts[1].count(), 0);
  EXPECT_EQ(values(parts[2]), (std::vector<std::int32_t>{3, 4, 5, 6}));
  EXPECT_EQ(values(concat(parts)), values(x));
  EXPECT_EQ(chunk(x, 3).size(), 3u);
  EXPECT_EQ(values(chunk(x, 3)[2]), (std::vector<std::int32_t>{6}));
  const std::vector<Size> wrong{3, 3};
  EXPECT_EQ(kind_of([&] { split(x, wrong); }), ErrorKind::ShapeMismatch);
}

TEST_P(Views, StackAddsAnAxis) {
  const Tensor x = count(2), y = x + 10;
  EXPECT_EQ(values(stack({x, y})), (std::vector<std::int32_t>{0, 1, 10, 11}));
  EXPECT_EQ(values(stack({x, y}, -1)), (std::vector<std::int32_t>{0, 10, 1, 11}));
  EXPECT_EQ(kind_of([&] { stack({x, count(3)}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { concat({x, zeros({2}, f16, here)}); }), ErrorKind::DTypeMismatch);
}

TEST_P(Views, WritingReachesTheBufferAndNothingElse) {
  const Tensor x = zeros({3, 3}, i32, here);
  Tensor column = select(x, 1, 1);
  copy_into(column, count(3));
  EXPECT_EQ(values(x), (std::vector<std::int32_t>{0, 0, 0, 0, 1, 0, 0, 2, 0}));
  Tensor row = select(x, 0, 0);
  copy_into(row, full({}, 7, i32, here));
  EXPECT_EQ(values(select(x, 0, 0)), (std::vector<std::int32_t>{7, 7, 7}));
}

TEST_P(Views, WritingOverItselfIsAsIfCopiedFirst) {
  const Tensor x = count(6);
  Tensor to = narrow(x, 0, 1, 5);
  copy_into(to, narrow(x, 0, 0, 5));
  EXPECT_EQ(values(x), (std::vector<std::int32_t>{0, 0, 1, 2, 3, 4}));
  // Far more than one block of bytes or one thread moves at a time.
  constexpr Size n = 300;
  std::vector<std::int32_t> numbers(n * n);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto written = [&](const std::function<std::pair<Tensor, Tensor>(const Tensor&)>& sides) {
    const Tensor all = contiguous(from_host<std::int32_t>(numbers, {n, n}, i32, here));
    auto [destination, source] = sides(all);
    copy_into(destination, source);
    return values(all);
  };
  std::vector<std::int32_t> up = numbers, down = numbers, reversed = numbers, turned = numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t row = i / n, column = i % n;
    if (row > 0) down[i] = numbers[i - n];
    if (row + 1 < n) up[i] = numbers[i + n];
    reversed[i] = numbers[numbers.size() - 1 - i];
    turned[i] = numbers[column * n + row];
  }
  EXPECT_EQ(written([](const Tensor& all) { return std::pair(narrow(all, 0, 1, n - 1), narrow(all, 0, 0, n - 1)); }), down);
  EXPECT_EQ(written([](const Tensor& all) { return std::pair(narrow(all, 0, 0, n - 1), narrow(all, 0, 1, n - 1)); }), up);
  EXPECT_EQ(written([](const Tensor& all) { return std::pair(all, flip(flip(all, 0), 1)); }), reversed);
  EXPECT_EQ(written([](const Tensor& all) { return std::pair(all, transpose(all)); }), turned);
}

TEST_P(Views, WritingRefusesWhatItWouldLose) {
  Tensor x = zeros({2, 3}, i32, here);
  Tensor wide = broadcast_to(zeros({1, 3}, i32, here), {2, 3});
  EXPECT_EQ(kind_of([&] { copy_into(wide, x); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { copy_into(x, zeros({2, 3}, i64, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { copy_into(x, zeros({3, 2, 3}, i32, here)); }), ErrorKind::ShapeMismatch);
  copy_into(x, ones({2, 3}, u8, here));
  EXPECT_EQ(x.dtype(), i32);
  EXPECT_EQ(values(x), std::vector<std::int32_t>(6, 1));
}

TEST_P(Views, OfAnEmptyTensorWork) {
  const Tensor x = zeros({0, 3}, f32, here);
  EXPECT_EQ(transpose(x).shape(), (Shape{3, 0}));
  EXPECT_EQ(reshape(x, {5, 0}).shape(), (Shape{5, 0}));
  EXPECT_EQ(flip(x, 0).shape(), (Shape{0, 3}));
  EXPECT_EQ(concat({x, ones({2, 3}, f32, here)}).to_host<float>(), std::vector<float>(6, 1.0f));
}

TEST_P(Views, MoveBetweenDevicesAndBack) {
  const Tensor x = flip(transpose(reshape(count(6), {2, 3})), 0);
  const Device other = GetParam() == Device::cpu ? Device::reference : Device::cpu;
  const Tensor y = x.to(other);
  EXPECT_EQ(y.device(), other);
  EXPECT_EQ(values(y), values(x));
  EXPECT_EQ(values(y.to(GetParam())), values(x));
  EXPECT_TRUE(x.to(GetParam()).same_as(x));
}

TEST(Text, OfATensorIsWhatOneWantsToSee) {
  EXPECT_EQ(to_string(tensor({{1, 2, 3}, {4, 5, 6}}, f32)), "tensor f32[2, 3] on cpu: [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(to_string(tensor({0.1, 0.5}, f16, {.device = Device::reference})), "tensor f16[2] on reference: [0.1, 0.5]");
  EXPECT_EQ(to_string(tensor({true, false}, boolean)), "tensor bool[2] on cpu: [true, false]");
  EXPECT_EQ(to_string(tensor(-7, i8)), "tensor i8[] on cpu: -7");
  EXPECT_EQ(to_string(zeros({0, 2})), "tensor f32[0, 2] on cpu: []");
  EXPECT_EQ(to_string(arange(0, 2000)), "tensor i64[2000] on cpu: [0, 1, 2, ..., 1997, 1998, 1999]");
}

TEST(Print, OfEmptyRowsIsShortenedToo) {
  EXPECT_LT(to_string(broadcast_to(zeros({1, 0}), {Size{1} << 40, 0})).size(), 1000u);
  EXPECT_EQ(to_string(tensor({4096, -256.0, 0.1, -0.0}, bf16)), "tensor bf16[4] on cpu: [4096, -256, 0.1, -0]");
  EXPECT_EQ(to_string(tensor({65504, 0.33325195}, f16)), "tensor f16[2] on cpu: [65504, 0.3333]");
  EXPECT_EQ(to_string(zeros({2, 0})), "tensor f32[2, 0] on cpu: [[], []]");
}

TEST(ToHost, OfMoreElementsThanMemoryIsAnError) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's operator new ends the program where others throw";
#endif
  try {
    broadcast_to(tensor(1.0), {Size{1} << 46}).to_host<float>();
    FAIL() << "2^46 floats were read";
  } catch (const Error& error) { EXPECT_EQ(error.kind(), ErrorKind::OutOfMemory); }
}

TEST(CopyInto, RefusesMemoryThatSomeoneElseOwns) {
  const auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  Tensor borrowed = Tensor::borrow({f32, {4}}, reinterpret_cast<const std::byte*>(owner->data()), 16, owner);
  Tensor part = narrow(borrowed, 0, 1, 2);
  for (Tensor* destination : {&borrowed, &part}) {
    try {
      copy_into(*destination, zeros(destination->shape()));
      FAIL() << "written";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      EXPECT_EQ(error.op(), "copy_into");
    }
  }
  EXPECT_EQ((*owner)[1], 2.0f);
}

TEST(Linspace, ReachesBothEndsAlsoWhereTheirDistanceOverflows) {
  EXPECT_EQ(linspace(-1e308, 1e308, 3, f64).to_host<double>(), (std::vector<double>{-1e308, 0, 1e308}));
  EXPECT_THROW(linspace(0, std::numeric_limits<double>::infinity(), 3), Error);
  EXPECT_THROW(linspace(std::numeric_limits<double>::quiet_NaN(), 1, 3), Error);
}

}  // namespace
}  // namespace votive
