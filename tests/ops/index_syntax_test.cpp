// x[…] against NumPy 2.4.6, whose rules for mixed indices it follows; what it refuses (CONTRACT.md 5, rows 45 to 48 of section 10).
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

using Ints = std::vector<std::int32_t>;

class IndexSyntax : public OnDevices {
 protected:
  Tensor x = reshape(arange(0, 24, 1, i32, here), {2, 3, 4});
  Tensor i = tensor({1, 0}, i64, here), j = tensor({{0}, {2}}, u8, here);
  Tensor mask = tensor({{true, false, true}, {false, false, true}}, boolean, here);

  void expect(std::initializer_list<Index> at, const Shape& shape, const Ints& values) const {
    const Tensor y = index(x, at);
    EXPECT_EQ(y.shape(), shape);
    EXPECT_EQ(y.to_host<std::int32_t>(), values);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, IndexSyntax, every_device, device_name);

TEST_P(IndexSyntax, OfRangesAndIntegersIsAView) {
  expect({Range{1}, ellipsis, Range{{}, {}, -2}}, {1, 3, 2}, {15, 13, 19, 17, 23, 21});
  expect({newaxis, -1, Range{}, newaxis, 2}, {1, 3, 1}, {14, 18, 22});
  expect({ellipsis, 0}, {2, 3}, {0, 4, 8, 12, 16, 20});
  expect({1, 2, 3}, {}, {23});
  expect({Range{5, 9}}, {0, 3, 4}, {});
  EXPECT_TRUE(index(x, {}).same_as(x));
  EXPECT_TRUE(index(x, {ellipsis}).same_as(x));
  EXPECT_TRUE(index(x, {0, Range{0, 2}, newaxis}).shares_buffer_with(x));
}

TEST_P(IndexSyntax, OfTensorsChoosesTogether) {
  expect({Range{}, i}, {2, 2, 4}, {4, 5, 6, 7, 0, 1, 2, 3, 16, 17, 18, 19, 12, 13, 14, 15});
  expect({i, j}, {2, 2, 4}, {12, 13, 14, 15, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11});
  expect({Range{}, j, i}, {2, 2, 2}, {1, 0, 9, 8, 13, 12, 21, 20});
  expect({ellipsis, i, 1}, {2, 2}, {5, 1, 17, 13});
  expect({Range{}, 0, i}, {2, 2}, {1, 0, 13, 12});
  expect({0, i, j}, {2, 2}, {4, 0, 6, 2});
  expect({tensor(1, u16, here)}, {3, 4}, {12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23});
  expect({Range{}, newaxis, i}, {2, 1, 2, 4}, {4, 5, 6, 7, 0, 1, 2, 3, 16, 17, 18, 19, 12, 13, 14, 15});
  expect({tensor({-1, -2}, i8, here), 0, 0}, {2}, {12, 0});
  expect({zeros({0}, i64, here)}, {0, 3, 4}, {});
}

// A range, an ellipsis or a new axis between tensors and integers puts the choice in front.
TEST_P(IndexSyntax, OfPartedTensorsPutsTheChoiceInFront) {
  expect({i, Range{}, j}, {2, 2, 3}, {12, 16, 20, 0, 4, 8, 14, 18, 22, 2, 6, 10});
  expect({i, ellipsis, j}, {2, 2, 3}, {12, 16, 20, 0, 4, 8, 14, 18, 22, 2, 6, 10});
  expect({0, Range{}, i}, {2, 3}, {1, 5, 9, 0, 4, 8});
  expect({i, newaxis, j}, {2, 2, 1, 4}, {12, 13, 14, 15, 0, 1, 2, 3, 20, 21, 22, 23, 8, 9, 10, 11});
  expect({i, Range{1, 2}, j}, {2, 2, 1}, {16, 4, 18, 6});
}

TEST_P(IndexSyntax, OfMasksIsTheirNonzero) {
  expect({mask}, {3, 4}, {0, 1, 2, 3, 8, 9, 10, 11, 20, 21, 22, 23});
  expect({mask, 1}, {3}, {1, 9, 21});
  expect({Range{}, tensor({true, false, true}, boolean, here), i}, {2, 2}, {1, 8, 13, 20});
  expect({ellipsis, tensor({true, false, false, true}, boolean, here)}, {2, 3, 2}, {0, 3, 4, 7, 8, 11, 12, 15, 16, 19, 20, 23});
  expect({zeros({2, 3}, boolean, here)}, {0, 4}, {});
}

TEST_P(IndexSyntax, ReadsViewsOfAnyLayout) {
  const Tensor turned = permute(flip(x, 1), {2, 1, 0});
  const Tensor y = index(turned, {tensor({3, 0}, i64, here), Range{}, tensor({0, 1}, i64, here)});
  EXPECT_EQ(y.to_host<std::int32_t>(), (Ints{11, 7, 3, 20, 16, 12}));
}

// CONTRACT.md section 10, row 45: x[5] of two is an error, on every device, before anything is written.
TEST_P(IndexSyntax, Row45OutOfRangeIsAnError) {
  EXPECT_EQ(kind_of([&] { index(x, {5}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index(x, {-3}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index(x, {UINT64_MAX}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index(x, {tensor({0, 2}, i64, here)}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index(x, {0, tensor({3}, u8, here), i}); }), ErrorKind::IndexOutOfRange);
  const std::string text = text_of([&] { index(x, {i, tensor({0, 7}, i64, here)}); });
  EXPECT_NE(text.find("index: index out of range"), std::string::npos) << text;
  EXPECT_NE(text.find("'at[1]'"), std::string::npos) << text;
  EXPECT_NE(text.find("has 7 at position [1]; valid range for axis 1 of size 3 is -3..2"), std::string::npos) << text;
  EXPECT_EQ(kind_of([&] { index(zeros({0, 3}, f32, here), {0}); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { index(zeros({0, 3}, f32, here), {tensor({0}, i64, here)}); }), ErrorKind::IndexOutOfRange);
}

// Row 46: −1 is the last.   Row 47: no sentinel, u8 255 of 256 rows is row 255.   Row 48: u8 tensors are indices, masks are bool.
TEST_P(IndexSyntax, Row46NegativeCountsFromTheEnd) { expect({tensor({-1}, i64, here), 0, 0}, {1}, {12}); }
TEST_P(IndexSyntax, Row47HasNoSentinel) {
  const Tensor rows = arange(0, 256, 1, i32, here);
  EXPECT_EQ(index(rows, {tensor({255}, u8, here)}).item<std::int32_t>(), 255);
}
TEST_P(IndexSyntax, Row48BytesAreIndices) {
  expect({tensor({1, 0, 1}, u8, here), 0, 0}, {3}, {12, 0, 12});
  EXPECT_EQ(kind_of([&] { index(x, {tensor({1, 0}, f32, here)}); }), ErrorKind::DTypeMismatch);
  EXPECT_NE(text_of([&] { index(x, {tensor({1, 0}, f32, here)}); }).find("ne(at[0], 0)"), std::string::npos);
}

TEST_P(IndexSyntax, RefusesWhatHasNoPlace) {
  EXPECT_EQ(kind_of([&] { index(x, {0, 0, 0, 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { index(x, {mask, i, i}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { index(x, {ellipsis, 0, ellipsis}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { index(x, {Range{.step = 0}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { index(x, {Range{}, mask}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { index(x, {tensor({0, 1, 0}, i64, here), i}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { index(x, {tensor(true, boolean, here)}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { index(x, {Tensor()}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { index(Tensor(), {0}); }), ErrorKind::InvalidArgument);
  const Device other = GetParam() == Device::cpu ? Device::reference : Device::cpu;
  EXPECT_EQ(kind_of([&] { index(x, {i.to(other)}); }), ErrorKind::DeviceMismatch);
  std::vector<Index> many(15, Index(newaxis));
  EXPECT_EQ(kind_of([&] { index(x, many); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(index(x, std::span(many).first(13)).rank(), 16);
}

TEST_P(IndexSyntax, PutWritesIntoACopy) {
  const Tensor zero = zeros({2, 3}, i32, here);
  const auto put = [&](std::initializer_list<Index> at, const Tensor& source, IndexPutOptions options = {}) {
    return index_put(zero, at, source, options).to_host<std::int32_t>();
  };
  EXPECT_EQ(put({Range{}, Range{{}, {}, -2}}, tensor({1, 2}, i32, here)), (Ints{2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(put({1, -1}, full({}, 9, u8, here)), (Ints{0, 0, 0, 0, 0, 9}));
  EXPECT_EQ(put({tensor({0, 0}, i64, here), tensor({1, 1}, i64, here)}, tensor({7, 8}, i32, here)), (Ints{0, 8, 0, 0, 0, 0}));
  EXPECT_EQ(put({tensor({0, 0}, i64, here), 1}, tensor({7, 8}, i32, here), {.accumulate = true}), (Ints{0, 15, 0, 0, 0, 0}));
  EXPECT_EQ(put({Range{}, 0}, tensor({1, 2}, i32, here), {.accumulate = true}), (Ints{1, 0, 0, 2, 0, 0}));
  EXPECT_EQ(put({mask}, tensor({4, 5, 6}, i32, here)), (Ints{4, 0, 5, 0, 0, 6}));
  EXPECT_EQ(put({mask}, full({}, 3, i32, here)), (Ints{3, 0, 3, 0, 0, 3}));
  EXPECT_EQ(put({zeros({0}, i64, here)}, ones({0, 3}, i32, here)), Ints(6, 0));
  EXPECT_EQ(zero.to_host<std::int32_t>(), Ints(6, 0));
  EXPECT_EQ(kind_of([&] { put({mask}, ones({2}, i32, here)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { put({mask}, ones({3}, f32, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { put({0}, ones({3}, i64, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { put({tensor({2}, i64, here)}, ones({3}, i32, here)); }), ErrorKind::IndexOutOfRange);
  EXPECT_NE(text_of([&] { put({tensor({2}, i64, here)}, ones({3}, i32, here)); }).find("index"), std::string::npos);
}

}  // namespace
}  // namespace votive
