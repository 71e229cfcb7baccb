// Products by all their names against sums written out, numbers of PyTorch 2.15.0 and NumPy's rules for einsum.
#include <cmath>

#include "tests/ops/on_devices.h"
#include "tests/ops/pattern.h"

namespace votive {
namespace {

class Products : public OnDevices {
 protected:
  Tensor p(const Shape& shape) const { return pattern(shape, here); }
  Tensor q(const Shape& shape) const { return pattern(shape, here, 5, 2); }
  Tensor of(const Nested& values, DType dtype = f32) const { return tensor(values, dtype, here); }
  static std::vector<float> values(const Tensor& x) { return x.to(f32).to_host<float>(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Products, every_device, device_name);

TEST_P(Products, Row37MatmulOfBytesGivesI32) {
  const Tensor a = of({{200, 200}}, u8), y = matmul(a, transpose(a));
  EXPECT_EQ(y.dtype(), i32);
  EXPECT_EQ(y.to_host<std::int32_t>(), std::vector<std::int32_t>{80000});
}

TEST_P(Products, WhoseInnerSizesDifferAreRefusedWhicheverIsLarger) {
  for (const auto& [rows, columns] : {std::pair<Size, Size>{2, 3}, {3, 2}, {1, 4}, {4, 1}, {0, 1}, {1, 0}}) {
    const Size k = rows, inner = columns;  // what a lambda may capture
    SCOPED_TRACE(std::to_string(k) + " and " + std::to_string(inner));
    for (const DType dtype : {f32, bf16, f64, u8, i64}) {
      const auto of_ones = [&](const Shape& shape) { return ones(shape, dtype, here); };
      EXPECT_EQ(kind_of([&] { matmul(of_ones({5, k}), of_ones({inner, 4})); }), ErrorKind::ShapeMismatch);
      EXPECT_EQ(kind_of([&] { matmul(of_ones({3, 5, k}), of_ones({inner, 4})); }), ErrorKind::ShapeMismatch);
      EXPECT_EQ(kind_of([&] { matmul(of_ones({k}), of_ones({inner})); }), ErrorKind::ShapeMismatch);
      EXPECT_EQ(kind_of([&] { matmul(of_ones({k}), of_ones({inner, 4})); }), ErrorKind::ShapeMismatch);
    }
    EXPECT_EQ(kind_of([&] { linear(ones({5, k}, f32, here), ones({4, inner}, f32, here)); }), ErrorKind::ShapeMismatch);
  }
  const Tensor blocks = Tensor::allocate("test", {.dtype = DType::q8_0, .shape = {4, 64}, .device = GetParam()});
  for (const Size k : {32, 96}) {
    EXPECT_EQ(kind_of([&] { matmul(ones({5, k}, f32, here), transpose(blocks)); }), ErrorKind::ShapeMismatch) << k;
    EXPECT_EQ(kind_of([&] { linear(ones({5, k}, f32, here), blocks); }), ErrorKind::ShapeMismatch) << k;
  }
}

TEST_P(Products, OfIntegersKnowTheirLimits) {
  const Tensor bytes = full({1, 33026}, 255, u8, here), column = transpose(bytes);
  EXPECT_EQ(kind_of([&] { matmul(bytes, column); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(matmul(bytes, column, {.out = i64}).to_host<std::int64_t>(), std::vector<std::int64_t>{33026LL * 255 * 255});
  const Tensor fewer = narrow(bytes, 1, 0, 33025);
  EXPECT_EQ(matmul(fewer, transpose(fewer)).to_host<std::int32_t>(), std::vector<std::int32_t>{33025 * 255 * 255});
  const Tensor small = full({1, 131071}, -128, i8, here), long_one = full({1, 131072}, -128, i8, here);
  EXPECT_EQ(matmul(small, transpose(small)).to_host<std::int32_t>(), std::vector<std::int32_t>{131071 * 16384});
  EXPECT_EQ(kind_of([&] { matmul(long_one, transpose(long_one)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(matmul(of({{-3}}, i8), of({{200}}, u8)).to_host<std::int32_t>(), std::vector<std::int32_t>{-600});
  EXPECT_EQ(matmul(of({{-3}}, i16), of({{200}}, u8)).dtype(), i64);
  EXPECT_EQ(matmul(of({{3}}, u16), of({{200}}, u8)).dtype(), u64);
  // modulo 2⁶⁴, as the sum is
  EXPECT_EQ(matmul(of({{INT64_MAX, 1}}, i64), of({{2}, {1}}, i64)).to_host<std::int64_t>(), std::vector<std::int64_t>{-1});
  EXPECT_EQ(kind_of([&] { matmul(of({{1}}, u64), of({{1}}, i64)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { matmul(of({{1}}, i32), of({{1}}, f32)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { matmul(of({{1}}, boolean), of({{1}}, boolean)); }), ErrorKind::DTypeMismatch);
}

// candle compared the product of batch sizes alone, and gave (2, 3) × (3, 2) the left one's shape.
TEST_P(Products, OfBatchesThatDoNotBroadcastAreRefused) {
  EXPECT_EQ(kind_of([&] { matmul(zeros({2, 3, 4, 5}, f32, here), zeros({3, 2, 5, 6}, f32, here)); }), ErrorKind::ShapeMismatch);
}

// candle #1948, #2737, #1905, #2090, #2373, #1992, #1716, #3138: views that a backend's matmul refused.
TEST_P(Products, N1948OfAnyView) {
  const Tensor x = rand({1, 8, 64}, {.seed = 1, .device = GetParam()}), w = rand({32, 64}, {.seed = 2, .device = GetParam()});
  const Tensor last = select(x, 1, 7);  // [1, 64] with the stride of all eight
  EXPECT_EQ(values(matmul(last, transpose(w))), values(matmul(contiguous(last), contiguous(transpose(w)))));
  const Tensor heads = permute(reshape(rand({1, 13, 8, 5}, {.seed = 3, .device = GetParam()}), {1, 13, 8, 5}), {0, 2, 1, 3});
  EXPECT_EQ(values(matmul(heads, transpose(heads))), values(matmul(contiguous(heads), contiguous(transpose(heads)))));
}

TEST_P(Products, ByTheirNames) {
  EXPECT_EQ(values(dot(of({1, 2, 3}), of({4, 5, 6}))), std::vector<float>{32});
  EXPECT_EQ(values(mv(of({{1, 2}, {3, 4}}), of({5, 6}))), (std::vector<float>{17, 39}));
  EXPECT_EQ(values(outer(of({1, 2}), of({3, 4, 5}))), (std::vector<float>{3, 4, 5, 6, 8, 10}));
  EXPECT_EQ(values(vecdot(of({{1, 2}, {3, 4}}), of({{5, 6}, {7, 8}}))), (std::vector<float>{17, 53}));
  EXPECT_EQ(values(inner(of({{1, 2}, {3, 4}}), of({{5, 6}}))), (std::vector<float>{17, 39}));
  EXPECT_EQ(values(kron(of({{1, 2}}), of({{1}, {10}}))), (std::vector<float>{1, 2, 10, 20}));
  EXPECT_EQ(values(kron(of({{1, 2}, {3, 4}}), of({1, 10}))), (std::vector<float>{1, 10, 2, 20, 3, 30, 4, 40}));
  EXPECT_EQ(values(tensordot(of({{1, 2}, {3, 4}}), of({{5, 6}, {7, 8}}), 1)), values(matmul(of({{1, 2}, {3, 4}}), of({{5, 6}, {7, 8}}))));
  EXPECT_EQ(tensordot(p({2, 3, 4}), q({4, 5, 3}), {1, 2}, {2, 0}).shape(), (Shape{2, 5}));
  EXPECT_EQ(tensordot(p({2, 3}), q({4}), 0).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(values(bilinear(p({2, 3}), q({2, 2}), p({2, 3, 2}), of({1, 2}))), (std::vector<float>{-39, 8, 18, -1}));
  EXPECT_EQ(values(trace(of({{1, 2, 3}, {4, 5, 6}}))), std::vector<float>{6});
  EXPECT_EQ(values(trace(of({{1, 2, 3}, {4, 5, 6}}), 1)), std::vector<float>{8});
  EXPECT_EQ(values(trace(of({{1, 2, 3}, {4, 5, 6}}), -1)), std::vector<float>{4});
  EXPECT_EQ(values(trace(of({{1, 2, 3}, {4, 5, 6}}), 9)), std::vector<float>{0});
  EXPECT_EQ(kind_of([&] { dot(of({1, 2}), of({{1, 2}})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { tensordot(p({2, 3}), q({4}), 1); }), ErrorKind::ShapeMismatch);
}

// 2049 + 1 in f16: the product and c alone would round to 2048 and lose the 1; one rounding at the end gives 2050.
TEST_P(Products, AddedToAMatrixRoundOnce) {
  const Tensor a = of({{2049.0 / 3, 2049.0 / 3, 2049.0 / 3}}, f16), b = of({{1}, {1}, {1}}, f16), c = of({{1}}, f16);
  EXPECT_EQ(values(addmm(c, a, b)), std::vector<float>{2050});
  EXPECT_EQ(values(addmm(of({{NAN}}), of({{1, 2}}), of({{3}, {4}}), {.alpha = 2, .beta = 0})), std::vector<float>{22});
  EXPECT_EQ(values(baddbmm(of({1, 2}), of({{{1, 2}}, {{3, 4}}}), of({{{1, 0}, {0, 1}}, {{1, 0}, {0, 1}}}), {.beta = 10})),
            (std::vector<float>{11, 22, 13, 24}));
  EXPECT_EQ(kind_of([&] { addmm(zeros({3}, f32, here), of({{1, 2}}), of({{3}, {4}})); }), ErrorKind::ShapeMismatch);
}

TEST_P(Products, InEinsteinsNotation) {
  const Tensor a = p({2, 3}), b = q({3, 4});
  EXPECT_EQ(values(einsum("ij,jk->ik", {a, b})), values(matmul(a, b)));
  EXPECT_EQ(values(einsum("ij,jk", {a, b})), values(matmul(a, b)));
  EXPECT_EQ(values(einsum("ba", {a})), values(transpose(a))) << "implicit results are in alphabetical order";
  EXPECT_EQ(values(einsum("ij->", {a})), values(sum(a)));
  EXPECT_EQ(values(einsum("ij->j", {a})), values(sum(a, {.axis = 0})));
  EXPECT_EQ(values(einsum("ij, ij -> ij", {a, a})), values(a * a));
  EXPECT_EQ(values(einsum("i,j->ji", {of({1, 2}), of({3, 4})})), (std::vector<float>{3, 6, 4, 8}));
  EXPECT_EQ(values(einsum("ii->i", {of({{1, 2}, {3, 4}})})), (std::vector<float>{1, 4}));
  EXPECT_EQ(values(einsum("ii", {of({{1, 2}, {3, 4}})})), std::vector<float>{5});
  EXPECT_EQ(values(einsum("bij,jik->bk", {p({2, 3, 4}), q({4, 3, 2})})), (std::vector<float>{24, -15, 24, -9}));
  EXPECT_EQ(values(einsum("iij->j", {p({3, 3, 2})})), (std::vector<float>{3, 5}));
  EXPECT_EQ(values(einsum("i,i,i->", {of({1, 2}), of({3, 4}), of({5, 6})})), std::vector<float>{15 + 48});
  EXPECT_EQ(values(einsum("ab,bc,cd->ad", {p({2, 3}), q({3, 4}), p({4, 2})})), values(matmul(matmul(p({2, 3}), q({3, 4})), p({4, 2}))));
  EXPECT_EQ(values(einsum("...i->...", {a})), values(sum(a, {.axis = 1})));
  EXPECT_EQ(einsum("i...j,j->...i", {p({2, 5, 4, 3}), of({1, 2, 3})}).shape(), (Shape{5, 4, 2}));
  EXPECT_EQ(einsum("aB->Ba", {a}).shape(), (Shape{3, 2}));
  EXPECT_EQ(values(einsum(",ij->ij", {of(2), a})), values(a * 2));
  // an axis of size 1 goes with any, also inside a sum
  EXPECT_EQ(values(einsum("ij,jk->ik", {of({{2}, {3}}), of({{1, 2}, {3, 4}})})), (std::vector<float>{8, 12, 12, 18}));
}

// mlx #4125
TEST_P(Products, Mlx4125EinsumBroadcastsABatchOfOne) {
  const Tensor y = einsum("...ij,...jk->...ik", {ones({1, 3, 4}, f32, here), reshape(arange(0, 40, 1, f32, here), {2, 4, 5})});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 5}));
  EXPECT_EQ(values(select(select(y, 0, 0), 0, 0)), (std::vector<float>{30, 34, 38, 42, 46}));
  EXPECT_EQ(values(select(select(y, 0, 1), 0, 2)), (std::vector<float>{110, 114, 118, 122, 126}));
}

TEST_P(Products, InEinsteinsNotationRefuseWhatIsNone) {
  const Tensor a = p({2, 3});
  for (const char* text : {"ij,jk->ik", "i", "ijk", "ij->ik", "ij->ii", "i1", "ij->i->j", ".ij", "....ij", "ij->i..", "", "ij-i"})
    EXPECT_EQ(kind_of([&] { einsum(text, {a}); }), ErrorKind::InvalidArgument) << text;
  EXPECT_EQ(kind_of([&] { einsum("ij,jk", {a, p({4, 2})}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { einsum("ii", {a}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { einsum("", {}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { einsum("i", {zeros({2}, boolean, here)}); }), ErrorKind::DTypeMismatch);
}

}  // namespace
}  // namespace votive
