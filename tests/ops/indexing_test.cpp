// Lookups, masks and scatter by hand, on every device: CONTRACT.md 5 with its rows 45 to 49, and what users of other frameworks report.
#include <cmath>
#include <cstdint>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

const float nan = std::nanf("");

class Indexing : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
  Tensor ids(const Nested& values, DType dtype = i64) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Indexing, every_device, device_name);

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

TEST_P(Indexing, Row45AnIndexBeyondTheAxisIsAnErrorThatSaysWhere) {
  const std::string device = GetParam() == Device::cpu ? "" : " on reference";
  EXPECT_EQ(text_of([&] {
              index_select(of({1, 2}), ids({0, 5}));
            }),
            "index_select: index out of range: argument 'indices' (#2, i64[2]" + device +
                ") has 5 at position [1]; valid range for axis 0 of size 2 is -2..1.");
  EXPECT_EQ(text_of([&] {
              take(of({{1, 2}, {3, 4}}), ids({{0}, {-5}}));
            }),
            "take: index out of range: argument 'indices' (#2, i64[2, 1]" + device +
                ") has -5 at position [1, 0]; valid range for 4 elements is -4..3.");
  EXPECT_EQ(text_of([&] {
              scatter_add(of({1, 2}), ids({2}, u8), of({1}));
            }),
            "scatter_add: index out of range: argument 'indices' (#2, u8[1]" + device +
                ") has 2 at position [0]; valid range for axis 0 of size 2 is 0..1.");
  EXPECT_EQ(kind_of([&] { index_add(zeros({0}, f32, here), ids({0}), of({1})); }), ErrorKind::IndexOutOfRange);
}

TEST_P(Indexing, Row46MinusOneIsTheLastButNoId) {
  EXPECT_EQ(take(of({1, 2, 3}), ids({-1})).to_host<float>(), Floats{3});
  EXPECT_EQ(gather(of({1, 2, 3}), ids({-1}), 0).to_host<float>(), Floats{3});
  EXPECT_EQ(kind_of([&] { embedding(of({{1}, {2}}), ids({-1})); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(kind_of([&] { take(of({1, 2, 3}), ids({18446744073709551615u}, u64)); }), ErrorKind::IndexOutOfRange);
}

TEST_P(Indexing, Row47AU8IndexOf255IsARow) {
  const Tensor x = arange(0, 256, 1, f32, here);
  EXPECT_EQ(index_select(x, ids({255}, u8)).item<float>(), 255);
  EXPECT_EQ(embedding(reshape(x, {256, 1}), ids({255}, u8)).item<float>(), 255);
  EXPECT_EQ(scatter(zeros({256}, f32, here), ids({255}, u8), of({7})).to_host<float>()[255], 7);
}

TEST_P(Indexing, Row48U8IndexesAndOnlyBoolIsAMask) {
  const Tensor x = of({10, 20, 30});
  EXPECT_EQ(index_select(x, ids({1, 0, 1}, u8)).to_host<float>(), (Floats{20, 10, 20}));
  EXPECT_EQ(masked_select(x, ids({1, 0, 1}, boolean)).to_host<float>(), (Floats{10, 30}));
  const std::string device = GetParam() == Device::cpu ? "" : " on reference";
  EXPECT_EQ(text_of([&] {
              masked_select(x, ids({1, 0, 1}, u8));
            }),
            "masked_select: dtype mismatch: mask u8[3]" + device + ". Accepted: bool. Compare it, e.g. ne(mask, 0).");
  EXPECT_EQ(kind_of([&] { masked_fill(x, of({1, 0, 1}), 0); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { index_select(x, of({1, 0, 1})); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { index_select(x, ids({1, 0, 1}, boolean)); }), ErrorKind::DTypeMismatch);
}

TEST_P(Indexing, Row49OfDuplicatesTheHighestPositionWins) {
  EXPECT_EQ(scatter(zeros({1}, f32, here), ids({0, 0}), of({1, 2})).to_host<float>(), Floats{2});
  EXPECT_EQ(scatter(zeros({2, 2}, f32, here), ids({{0, 1}, {0, 0}, {0, 1}}), of({{1, 2}, {3, 4}, {5, 6}})).to_host<float>(),
            (Floats{5, 4, 0, 6}));
  EXPECT_EQ(index_copy(zeros({2, 2}, f32, here), ids({1, 1}), of({{1, 2}, {3, 4}})).to_host<float>(), (Floats{0, 0, 3, 4}));
}

TEST_P(Indexing, N1444DuplicatesReplaceOrAddAsAsked) {
  EXPECT_EQ(scatter(zeros({2}, f32, here), ids({0, 0}), of({5, 7})).to_host<float>(), (Floats{7, 0}));
  EXPECT_EQ(scatter_add(zeros({2}, f32, here), ids({0, 0}), of({5, 7})).to_host<float>(), (Floats{12, 0}));
}

TEST_P(Indexing, N2940NoIndexIsASentinel) {
  for (const auto& [dtype, largest] : {std::pair<DType, std::uint64_t>{u8, 255}, {u32, 4294967295u}, {i64, INT64_MAX}, {u64, UINT64_MAX}}) {
    const Tensor beyond = ids({largest}, dtype);
    EXPECT_EQ(kind_of([&] { index_select(of({1, 2}), beyond); }), ErrorKind::IndexOutOfRange);
    EXPECT_EQ(kind_of([&] { scatter_add(of({1, 2}), beyond, of({1})); }), ErrorKind::IndexOutOfRange);
  }
}

TEST_P(Indexing, N703AnIdOutsideTheTableIsNamed) {
  const std::string text = text_of([&] { embedding(zeros({384, 2}, f32, here), ids({{1, 50259}})); });
  EXPECT_NE(text.find("50259"), std::string::npos) << text;
  EXPECT_NE(text.find("[0, 1]"), std::string::npos) << text;
  EXPECT_NE(text.find("axis 0 of size 384 is 0..383"), std::string::npos) << text;
}

TEST_P(Indexing, N2440NegativeIndicesCountFromTheEnd) {
  EXPECT_EQ(index_select(of({{1, 2, 3}, {4, 5, 6}}), ids({-1, -3}, i8), 1).to_host<float>(), (Floats{3, 1, 6, 4}));
}

TEST_P(Indexing, Mlx4021AnAxisOutOfRangeIsAnError) {
  EXPECT_EQ(kind_of([&] { gather(zeros({2, 2}, f32, here), zeros({2, 2}, i64, here), -9); }), ErrorKind::InvalidAxis);
  EXPECT_EQ(kind_of([&] {
              scatter(zeros({2, 2}, f32, here), zeros({2, 2}, i64, here), zeros({}, f32, here), {.axis = 2});
            }),
            ErrorKind::InvalidAxis);
}

TEST_P(Indexing, Mlx3492AProductWithNanEnds) {
  const Tensor y = scatter(ones({1}, f32, here), ids({0, 0}), of({nan, 2}), {.mode = ScatterMode::mul});
  EXPECT_TRUE(std::isnan(y.item<float>()));
}

TEST_P(Indexing, Mlx3046TakeOfNothing) {
  EXPECT_EQ(take(zeros({0}, f32, here), zeros({0}, i64, here)).shape(), Shape{0});
  EXPECT_EQ(take(of({1, 2}), zeros({3, 0, 0}, i64, here)).shape(), (Shape{3, 0, 0}));
  EXPECT_EQ(kind_of([&] { take(zeros({0}, f32, here), ids({0})); }), ErrorKind::IndexOutOfRange);
}

// 2²⁴ + 1 + 1 and 1 + 1 + 2²⁴ differ in f32 when added one by one; the updates are joined first, so both are exact.
TEST_P(Indexing, UpdatesAreJoinedBeforeTheyMeetTheDestination) {
  EXPECT_EQ(scatter_add(of({16777216}), ids({0, 0}), of({1, 1})).item<float>(), 16777218.0f);
  EXPECT_EQ(scatter(of({1}), ids({0, 0, 0}), of({2, 4, 5}), {.mode = ScatterMode::mean}).item<float>(), 3.0f);
  EXPECT_EQ(scatter_add(of({200}, u8), ids({0, 0}), of({100, 1}, u8)).item<std::uint8_t>(), 45) << "mod 2⁸";
  const Tensor halves = scatter_add(zeros({1}, f16, here), zeros({4096}, i64, here), ones({4096}, f16, here));
  EXPECT_EQ(halves.to(f32).item<float>(), 4096.0f) << "f32 inside: one by one it would stop at 2048";
}

TEST_P(Indexing, ExtremesFollowMinimumAndMaximum) {
  const auto joined = [&](const Nested& x, const Nested& u, ScatterMode mode) {
    return scatter(of(x), ids({0}), of(u), {.mode = mode}).item<float>();
  };
  EXPECT_TRUE(std::isnan(joined({nan}, {1}, ScatterMode::max)));
  EXPECT_TRUE(std::isnan(joined({1}, {nan}, ScatterMode::min)));
  EXPECT_TRUE(std::signbit(joined({0.0}, {-0.0}, ScatterMode::min)));
  EXPECT_FALSE(std::signbit(joined({-0.0}, {0.0}, ScatterMode::max)));
}

TEST_P(Indexing, IndicesOfSeveralAxesTakeThePlaceOfOne) {
  const Tensor x = reshape(arange(0, 6, 1, f32, here), {2, 3});
  const Tensor y = index_select(x, ids({{0, 2}, {1, 1}}), 1);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(y.to_host<float>(), (Floats{0, 2, 1, 1, 3, 5, 4, 4}));
  EXPECT_EQ(index_select(x, ids(1)).shape(), Shape{3});
}

TEST_P(Indexing, MasksChooseInRowMajorOrder) {
  const Tensor x = of({{1, 2}, {3, 4}, {5, 6}});
  EXPECT_EQ(masked_select(x, ids({{0, 1}, {1, 0}, {1, 1}}, boolean)).to_host<float>(), (Floats{2, 3, 5, 6}));
  const Tensor rows = masked_select(x, ids({1, 0, 1}, boolean));
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.to_host<float>(), (Floats{1, 2, 5, 6}));
  EXPECT_EQ(kind_of([&] { masked_select(x, ids({1, 0}, boolean)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(nonzero(of({{0, nan}, {-0.0, 2}})).to_host<std::int64_t>(), (Longs{0, 1, 1, 1}));
  EXPECT_EQ(nonzero(of({0, 0})).shape(), (Shape{0, 1}));
  EXPECT_EQ(nonzero(of(3)).shape(), (Shape{1, 0}));
}

TEST_P(Indexing, MasksFill) {
  const Tensor x = of({{1, 2}, {3, 4}}), column = ids({{1}, {0}}, boolean);
  EXPECT_EQ(masked_fill(x, column, -INFINITY).to_host<float>(), (Floats{-INFINITY, -INFINITY, 3, 4}));
  EXPECT_EQ(masked_fill(x, column, of(9)).to_host<float>(), (Floats{9, 9, 3, 4}));
  EXPECT_EQ(kind_of([&] { masked_fill(x, zeros({2, 2, 2}, boolean, here), 0); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { masked_fill(ids({1, 2}), ids({1, 0}, boolean), 0.5); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { masked_fill(ids({1, 2}, u8), ids({1, 0}, boolean), 256); }), ErrorKind::LiteralOutOfRange);
  EXPECT_EQ(kind_of([&] { masked_fill(x, column, of(1, f64)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { masked_fill(x, column, of({1})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(masked_scatter(x, ids({{0, 1}, {1, 0}}, boolean), of({7, 8, 9})).to_host<float>(), (Floats{1, 7, 8, 4}));
  EXPECT_EQ(kind_of([&] { masked_scatter(x, ids({{1, 1}, {1, 0}}, boolean), of({7, 8})); }), ErrorKind::ShapeMismatch);
}

TEST_P(Indexing, WhatIsWrittenTakesTheDestinationsDtype) {
  EXPECT_EQ(scatter(of({1, 2}), ids({0}), of({3}, f16)).dtype(), f32);
  EXPECT_EQ(kind_of([&] { scatter(of({1, 2}, f16), ids({0}), of({3}, f32)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { index_add(ids({1, 2}), ids({0}), of({3})); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { scatter_add(ids({1}, boolean), ids({0}), ids({1}, boolean)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { scatter(ids({1}), ids({0}), ids({1}), {.mode = ScatterMode::mean}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { scatter(of({1, 2}), ids({0}), of({3, 4})); }), ErrorKind::ShapeMismatch);
}

TEST_P(Indexing, NothingIsWrittenWhenOneIndexIsWrong) {
  const Tensor x = of({1, 2});
  EXPECT_EQ(kind_of([&] { scatter(x, ids({0, 9}), of({7, 8})); }), ErrorKind::IndexOutOfRange);
  EXPECT_EQ(x.to_host<float>(), (Floats{1, 2}));
}

// The lowest position, whichever part of the indices a kernel or a thread looks at last.
TEST_P(Indexing, OfManyWrongIndicesTheFirstIsNamed) {
  std::vector<std::int64_t> values(40000, 1);
  values[5001] = 3, values[5100] = 4, values[30000] = -4, values[39999] = 5;
  const Tensor wrong = from_host<std::int64_t>(values, {200, 200}, i64, here), x = of({1, 2, 3});
  const auto where = [](const std::function<void()>& call) {
    try {
      call();
    } catch (const Error& error) { return std::pair(error.position(), error.value()); }
    return std::pair(std::vector<Size>{}, std::string("no error"));
  };
  EXPECT_EQ(where([&] { take(x, wrong); }), std::pair(std::vector<Size>{25, 1}, std::string("3")));
  EXPECT_EQ(where([&] { take(x, flip(reshape(wrong, {40000}), 0)); }), std::pair(std::vector<Size>{0}, std::string("5")));
  EXPECT_EQ(where([&] { embedding(reshape(x, {3, 1}), wrong); }), std::pair(std::vector<Size>{25, 1}, std::string("3")));
  EXPECT_EQ(where([&] { scatter_add(x, reshape(wrong, {40000}), ones({40000}, f32, here)); }),
            std::pair(std::vector<Size>{5001}, std::string("3")));
}

// numpy 2.4.6: x[i, j] = v, x[i] = v, x[mask] = v, numpy.add.at(x, (i, j), v).
TEST_P(Indexing, IndexPutTakesAnIndexPerAxis) {
  const Tensor x = reshape(arange(0, 6, 1, f32, here), {2, 3});
  const Tensor i = ids({0, -1, 0}), j = ids({2, 0, 2}, u8);
  EXPECT_EQ(index_put(x, {i, j}, of({7, 8, 9})).to_host<float>(), (Floats{0, 1, 9, 8, 4, 5}));
  EXPECT_EQ(index_put(x, {i, j}, of({7, 8, 9}), {.accumulate = true}).to_host<float>(), (Floats{0, 1, 18, 11, 4, 5}));
  EXPECT_EQ(index_put(x, {ids({1})}, of({7, 8, 9})).to_host<float>(), (Floats{0, 1, 2, 7, 8, 9}));
  EXPECT_EQ(index_put(x, {ids({{0}, {1}}), ids({0, 2})}, of({{7, 8}, {9, 10}})).to_host<float>(), (Floats{7, 1, 8, 9, 4, 10}));
  EXPECT_EQ(index_put(x, {ids({{1, 0, 0}, {0, 1, 1}}, boolean)}, of({7, 8, 9})).to_host<float>(), (Floats{7, 1, 2, 3, 8, 9}));
  EXPECT_EQ(index_put(x, {ids({0, 1}, boolean), ids({1})}, of(7)).to_host<float>(), (Floats{0, 1, 2, 3, 7, 5}));
  const std::string device = GetParam() == Device::cpu ? "" : " on reference";
  EXPECT_EQ(text_of([&] {
              index_put(x, {i, ids({0, 3, 0})}, of(7));
            }),
            "index_put: index out of range: argument 'indices[1]' (#2, i64[3]" + device +
                ") has 3 at position [1]; valid range for axis 1 of size 3 is -3..2.");
  EXPECT_EQ(kind_of([&] { index_put(x, {i}, of({1, 2})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { index_put(x, {i, i, i}, of(1)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { index_put(x, {of({1})}, of(1)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { index_put(x, {ids({1, 0, 1}, boolean)}, of(1)); }), ErrorKind::ShapeMismatch);
}

TEST_P(Indexing, SaysADTypeBeforeAnAxis) {
  const Tensor x = ones({2, 3}, f32, here), wrong = ones({2}, f32, here);
  EXPECT_EQ(kind_of([&] { (void)gather(x, wrong, 9); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { (void)index_select(x, wrong, 9); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { (void)scatter(x, wrong, x, {.axis = 9}); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { (void)index_add(x, wrong, x, 9); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { (void)index_fill(x, wrong, 1, 9); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { (void)gather(x, ones({2, 3}, i64, here), 9); }), ErrorKind::InvalidAxis);
}

}  // namespace
}  // namespace votive
