// Orders by hand, on every device. Expectations from NumPy 2.4.6 where a test says so, from the definition elsewhere.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

const float nan = std::nanf("");
constexpr float infinity = std::numeric_limits<float>::infinity();

class Orders : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Orders, every_device, device_name);

using Floats = std::vector<float>;
using Longs = std::vector<std::int64_t>;

Longs longs(const Tensor& x) { return x.to_host<std::int64_t>(); }

TEST_P(Orders, Row41ArgmaxOfNanIsWhereItIs) { EXPECT_EQ(argmax(of({1, nan, 3})).item<std::int64_t>(), 1); }

TEST_P(Orders, Pytorch1810NanIsTheLargestWithAValidIndex) {
  const Sorted top = topk(of({-1, nan, 2, 1}), 1);
  EXPECT_TRUE(std::isnan(top.values.item<float>()));
  EXPECT_EQ(top.indices.item<std::int64_t>(), 1);
}

TEST_P(Orders, Pytorch190781NanIsLastWhateverItsSign) {
  for (const Size n : {20, 33, 128, 129, 1000}) {
    std::vector<float> row(static_cast<std::size_t>(n));
    for (Size i = 0; i < n; ++i) row[static_cast<std::size_t>(i)] = i < 6 ? -nan : static_cast<float>(n - i);
    const Tensor order = argsort(from_host<float>(row, {n}, f32, here));
    EXPECT_EQ(longs(narrow(order, 0, n - 6, 6)), (Longs{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(narrow(order, 0, 0, 1).item<std::int64_t>(), n - 1);
  }
}

TEST_P(Orders, Pytorch15764ALongArgsortGoesTheSameWay) {
  const Tensor x = arange(0, 32768, 1, i64, here);
  EXPECT_EQ(longs(argsort(x, {.descending = true})), longs(sub(full({32768}, 32767, i64, here), x)));
}

TEST_P(Orders, Mlx4252SortOfARowReversedView) {
  const Tensor x = flip(reshape(arange(0, 3 * 4000, 1, i32, here), {3, 4000}), 0);
  EXPECT_EQ(longs(sort(x, {.axis = 0}).indices), longs(broadcast_to(of({{2}, {1}, {0}}, i64), {3, 4000})));
  EXPECT_EQ(sort(x, {.axis = 1}).values.to_host<std::int32_t>(), contiguous(x).to_host<std::int32_t>());
}

TEST_P(Orders, ZerosOfBothSignsKeepTheirOrder) {
  EXPECT_EQ(longs(argsort(of({0.0, -0.0, 0.0, -1}))), (Longs{3, 0, 1, 2}));
  EXPECT_EQ(longs(argsort(of({0.0, -0.0, 0.0, -1}), {.descending = true})), (Longs{0, 1, 2, 3}));
}

TEST_P(Orders, MsortGoesDownTheFirstAxis) { EXPECT_EQ(msort(of({{3, 1}, {2, 5}, {-1, 0}})).to_host<float>(), (Floats{-1, 0, 2, 1, 3, 5})); }

TEST_P(Orders, RanksNameTheirElement) {
  const Tensor x = of({{5, 1, 3, 1}, {nan, 2, nan, 7}});
  const Sorted second = kthvalue(x, 2);
  EXPECT_EQ(second.values.to_host<float>(), (Floats{1, 7}));
  EXPECT_EQ(longs(second.indices), (Longs{3, 3}));
  const Sorted middle = median(x, {.axis = -1});
  EXPECT_EQ(middle.values.to_host<float>()[0], 1);
  EXPECT_TRUE(std::isnan(middle.values.to_host<float>()[1]));
  EXPECT_EQ(longs(middle.indices), (Longs{3, 0}));
  const Sorted numbers = nanmedian(x, {.axis = -1, .keep = true});
  EXPECT_EQ(numbers.values.shape(), (Shape{2, 1}));
  EXPECT_EQ(numbers.values.to_host<float>(), (Floats{1, 2}));
  EXPECT_EQ(longs(numbers.indices), (Longs{3, 1}));
  EXPECT_EQ(longs(nanmedian(of({nan, nan})).indices), Longs{0});
  const Sorted often = mode(of({{3, 1, 3, 1, 2}, {4, 2, 9, 2, 2}}, i32));
  EXPECT_EQ(often.values.to_host<std::int32_t>(), (std::vector<std::int32_t>{1, 2})) << "of equal counts the least";
  EXPECT_EQ(longs(often.indices), (Longs{1, 1})) << "where it comes first";
  EXPECT_EQ(longs(mode(of({nan, 1, nan})).indices), Longs{0});
  EXPECT_EQ(kind_of([&] { kthvalue(x, 5); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { kthvalue(x, 0); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { median(zeros({2, 0}, f32, here), {.axis = 1}); }), ErrorKind::EmptyReduction);
  EXPECT_EQ(median(zeros({0, 2}, f32, here), {.axis = 1}).values.shape(), Shape{0});
}

// numpy.quantile 2.4.6 with each method.
TEST_P(Orders, QuantilesLieBetweenElements) {
  const Tensor x = of({7, 1, 4, 2, 9}, f64);
  const std::vector<double> q{0, 0.1, 0.5, 0.625, 1};
  const auto at = [&](QuantileMethod how) { return quantile(x, q, {.method = how}).to_host<double>(); };
  EXPECT_EQ(at(QuantileMethod::linear), (std::vector<double>{1, 1.4, 4, 5.5, 9}));
  EXPECT_EQ(at(QuantileMethod::lower), (std::vector<double>{1, 1, 4, 4, 9}));
  EXPECT_EQ(at(QuantileMethod::higher), (std::vector<double>{1, 2, 4, 7, 9}));
  EXPECT_EQ(at(QuantileMethod::nearest), (std::vector<double>{1, 1, 4, 4, 9}));
  EXPECT_EQ(at(QuantileMethod::midpoint), (std::vector<double>{1, 1.5, 4, 5.5, 9}));
}

TEST_P(Orders, QuantilesHaveShapesNanAndInfinities) {
  const Tensor x = of({{1, 2, 3, 4}, {nan, 2, 3, 4}, {-infinity, -infinity, infinity, infinity}});
  const std::vector<double> q{0.25, 0.5, 1.0 / 3};
  EXPECT_EQ(quantile(x, q).shape(), Shape{3});
  EXPECT_EQ(quantile(x, q, {.keep = true}).shape(), (Shape{3, 1, 1}));
  EXPECT_EQ(quantile(x, 0.5, {.keep = true}).shape(), (Shape{1, 1}));
  EXPECT_EQ(quantile(x, 0.5).shape(), Shape{});
  EXPECT_EQ(quantile(x, q, {.axis = -1}).shape(), (Shape{3, 3}));
  EXPECT_EQ(nanquantile(x, 0.5, {.axis = 1}).to_host<float>()[1], 3);
  EXPECT_TRUE(std::isnan(nanquantile(of({nan, nan}), 0.5).item<float>()));
  EXPECT_EQ(quantile(x, q, {.axis = 0, .keep = true}).shape(), (Shape{3, 1, 4}));
  EXPECT_EQ(quantile(x, 0.5, {.axis = 0}).shape(), Shape{4});
  const Floats low = quantile(x, 0.2, {.axis = -1}).to_host<float>();
  EXPECT_EQ(low[0], 1 + 0.6f) << "p = 0.6 of the way from 1 to 2";
  EXPECT_TRUE(std::isnan(low[1]));
  EXPECT_EQ(low[2], -infinity);
  EXPECT_EQ(quantile(of({1, 2}, i32), 0.5).item<float>(), 1.5f);
  EXPECT_EQ(kind_of([&] { quantile(x, 1.5); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { quantile(x, nan); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { quantile(zeros({0}, f32, here), 0.5); }), ErrorKind::EmptyReduction);
}

// numpy.searchsorted 2.4.6.
TEST_P(Orders, SearchesFindBothSides) {
  const Tensor row = of({1, 3, 3, 5, nan}), v = of({0, 1, 3, 4, 6, nan});
  EXPECT_EQ(longs(searchsorted(row, v)), (Longs{0, 0, 1, 3, 4, 4}));
  EXPECT_EQ(longs(searchsorted(row, v, {.right = true})), (Longs{0, 1, 3, 3, 4, 5}));
  EXPECT_EQ(longs(bucketize(v, row)), longs(searchsorted(row, v)));
  EXPECT_EQ(longs(searchsorted(of({{1, 2}, {3, 4}}), of({{2, 9, 0}, {2, 9, 4}}))), (Longs{1, 2, 0, 0, 2, 1}));
  EXPECT_EQ(longs(searchsorted(of({-0.0}), of({0.0}))), Longs{0});
  EXPECT_EQ(longs(searchsorted(zeros({0}, f32, here), of({1}))), Longs{0});
  EXPECT_EQ(searchsorted(row, of(2)).shape(), Shape{});
  EXPECT_EQ(kind_of([&] { searchsorted(of({{1, 2}}), of({{1}, {2}})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { searchsorted(row, of({1}, i64)); }), ErrorKind::DTypeMismatch);
}

// numpy.unique 2.4.6 with return_inverse and return_counts.
TEST_P(Orders, UniqueValuesWithTheirPlacesAndCounts) {
  const Unique u = unique(of({{3, nan, 1}, {3, -0.0, nan}, {0.0, 1, 3}}));
  EXPECT_EQ(longs(u.counts), (Longs{2, 2, 3, 2}));
  EXPECT_EQ(longs(u.inverse), (Longs{2, 3, 1, 2, 0, 3, 0, 1, 2}));
  EXPECT_EQ(u.inverse.shape(), (Shape{3, 3}));
  const Floats values = u.values.to_host<float>();
  ASSERT_EQ(values.size(), 4u);
  EXPECT_TRUE(values[0] == 0 && std::signbit(values[0])) << "its first occurrence";
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_EQ(unique(zeros({0, 3}, i8, here)).inverse.shape(), (Shape{0, 3}));
  EXPECT_EQ(unique(of({1, 0, 1}, boolean)).values.to_host<bool>(), (std::vector<bool>{false, true}));
}

TEST_P(Orders, MedianOfEverything) {
  const Sorted middle = median(of({{9, 2}, {5, 7}}));
  EXPECT_EQ(middle.values.item<float>(), 5);
  EXPECT_EQ(middle.indices.item<std::int64_t>(), 2) << "of the flat tensor";
  EXPECT_EQ(median(of({{9, 2}, {5, 7}}), {.keep = true}).values.shape(), (Shape{1, 1}));
}

TEST_P(Orders, IsinFindsNoNan) {
  EXPECT_EQ(isin(of({{1, nan}, {-0.0, 5}}), of({nan, 5, 0})).to_host<bool>(), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(isin(of({1, 2}, i64), zeros({0}, i64, here)).to_host<bool>(), (std::vector<bool>{false, false}));
}

TEST_P(Orders, BincountCountsAndWeighs) {
  const Tensor x = of({1, 4, 1, 0}, u8);
  EXPECT_EQ(longs(bincount(x)), (Longs{1, 2, 0, 0, 1}));
  EXPECT_EQ(longs(bincount(x, {.minimum = 7})), (Longs{1, 2, 0, 0, 1, 0, 0}));
  EXPECT_EQ(bincount(x, {.weights = of({0.5, 2, 0.25, 1})}).to_host<float>(), (Floats{1, 0.75, 0, 0, 2}));
  EXPECT_EQ(longs(bincount(zeros({0}, i32, here), {.minimum = 2})), (Longs{0, 0}));
  const std::string device = GetParam() == Device::cpu ? "" : " on reference";
  EXPECT_EQ(text_of([&] {
              bincount(of({3, -1}, i32));
            }),
            "bincount: index out of range: argument 'x' (#1, i32[2]" + device +
                ") has -1 at position [1]; valid range for a count is 0 and more.");
  EXPECT_EQ(kind_of([&] { bincount(of({INT64_MAX}, i64)); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { bincount(of({INT64_MAX / 2}, i64)); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { bincount(of({1.0})); }), ErrorKind::DTypeMismatch);
}

// numpy.histogram 2.4.6.
TEST_P(Orders, HistogramsIncludeTheirLastEdge) {
  const Tensor x = of({0, 1, 1, 2.5, 4, -1, 5, nan});
  EXPECT_EQ(longs(histc(x, 4, {.low = 0, .high = 4})), (Longs{1, 2, 1, 1}));
  EXPECT_EQ(longs(histc(of({1, 2, 3, 4}), 3)), (Longs{1, 1, 2}));
  EXPECT_EQ(longs(histc(of({2, 2}), 2)), (Longs{0, 2})) << "from 1 to 3";
  EXPECT_EQ(longs(histc(zeros({0}, f32, here), 2)), (Longs{0, 0}));
  // edges are f64: 0.1f and 0.3f lie above 0.1 and 0.3, 0.7f below 0.7; the bf16 next to 0.3 above; and edges beyond what f32 holds
  EXPECT_EQ(longs(histc(of({0.1, 0.3, 0.7}), 10, {.low = 0, .high = 1})), (Longs{0, 1, 0, 1, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(longs(histc(of({0.3}, bf16), 10, {.low = 0, .high = 1})), (Longs{0, 0, 0, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(longs(histc(of({0, 3.4e38, infinity}), 2, {.low = 0, .high = 1e39})), (Longs{2, 0}));
  EXPECT_EQ(longs(histc(of({1e-45, 1e-40}), 2, {.low = 0, .high = 1e-40})), (Longs{1, 1}));
  EXPECT_EQ(kind_of([&] { histc(x, 2); }), ErrorKind::InvalidArgument) << "the range would be NaN";
  EXPECT_EQ(kind_of([&] { histc(x, 0, {.low = 0, .high = 1}); }), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace votive
