// Convolutions against numbers of PyTorch 2.15.0 (torch.nn.functional, whole numbers, so exact) and against the sums written out.
#include <algorithm>

#include "tests/ops/on_devices.h"
#include "tests/ops/pattern.h"
#include "votive/core/memory.h"

namespace votive {
namespace {

class Convolution : public OnDevices {
 protected:
  Tensor p(const Shape& shape) const { return pattern(shape, here); }
  Tensor q(const Shape& shape) const { return pattern(shape, here, 5, 2); }
  static std::vector<float> values(const Tensor& x) { return x.to(f32).to_host<float>(); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Convolution, every_device, device_name);

TEST_P(Convolution, WithEveryAttribute) {
  const Tensor y = conv2d(p({1, 4, 5, 6}), q({4, 2, 3, 2}), tensor({1, 2, 3, 4}, f32, here),
                          {.stride = {2, 1}, .padding = {1, 2}, .dilation = {1, 2}, .groups = 2});
  EXPECT_EQ(y.shape(), (Shape{1, 4, 3, 8}));
  EXPECT_EQ(values(y),
            (std::vector<float>{3, 4,  -10, -16, 6,  -7, 7,  0, -4, 10, -2, 20,  -14, -20, 7,  -6, 4,  -4, -3, 14, 3,  13, -9, -5,
                                9, -8, -12, 16,  -5, 16, -1, 9, 7,  4,  18, -21, -11, 20,  1,  14, 1,  -5, 9,  3,  11, -9, -6, 8,
                                9, 2,  12,  -10, -4, 16, 9,  8, 9,  -4, 18, -6,  19,  -12, -6, 11, -7, -3, 17, -4, 17, -4, 10, -1,
                                1, 11, -1,  -11, 14, 4,  7,  1, 3,  16, -4, 9,   -13, -7,  13, 6,  -4, 10, 9,  15, 0,  13, -1, 5}));
}

TEST_P(Convolution, Transposed) {
  const Tensor y = conv_transpose2d(p({1, 4, 3, 2}), q({4, 1, 2, 3}), tensor({1, 2}, f32, here),
                                    {.stride = {2, 3}, .padding = {1, 1}, .output_padding = {1, 0}, .dilation = {2, 1}, .groups = 2});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 6, 4}));
  EXPECT_EQ(values(y), (std::vector<float>{1, 1, 1, 1, -3, 12, -2, 14, 1, 1, 1, 1, 3, -1, 7,  -1, 1, 1, 1, 1, 4, -5, 5, -6,
                                           2, 2, 2, 2, 12, -9, 2,  -3, 2, 2, 2, 2, 3, -2, -4, 2,  2, 2, 2, 2, 4, 9,  2, 10}));
}

TEST_P(Convolution, AlongOneAndThreeAxes) {
  EXPECT_EQ(values(conv1d(p({1, 2, 5}), q({3, 2, 3}), {}, {.padding = "same", .dilation = 2})),
            (std::vector<float>{11, 0, 1, -3, -2, -6, -2, 8, 0, -4, 2, 1, 5, -2, 9}));
  EXPECT_EQ(values(conv3d(p({1, 1, 3, 3, 3}), q({1, 1, 2, 2, 2}), {}, {.stride = 2, .padding = 1})),
            (std::vector<float>{-4, 8, 4, 7, 2, 1, 3, -5}));
}

TEST_P(Convolution, InColumnsAndBack) {
  EXPECT_EQ(values(im2col(p({1, 2, 3, 3}), 2, {.stride = 2, .padding = 1})),
            (std::vector<float>{0, 0, 0, 3, 0, 0, 0, -1, 0, 1, 0, -2, -2, 4, 2, 1, 0, 0, 0, 2, 0, 0, -1, -2, 0, 0, 0, 4, 4, 3, 1, 0}));
  EXPECT_EQ(values(col2im(p({1, 8, 4}), {3, 3}, 2)), (std::vector<float>{-2, 4, -1, 5, 5, 0, 0, 1, 1, 4, 2, -2, 3, 1, 5, -1, 6, 0}));
}

// CONTRACT.md 4.3: padding is zeros that take part, k runs over kernel positions and inside them over channels. So a convolution is the matmul of the
// weights, channels last, with the padded input's columns in that order: the same bits in every dtype.
TEST_P(Convolution, IsTheMatmulOfItsColumns) {
  const Shape shape{2, 37, 6, 7}, kernel{11, 37, 3, 3};
  for (const DType d : {f16, bf16, f32, f64}) {
    const Tensor x = (rand(shape, {.seed = 1, .device = GetParam()}) - 0.5).to(d),
                 w = (rand(kernel, {.seed = 2, .device = GetParam()}) - 0.5).to(d);
    const Tensor y = conv2d(x, w, {}, {.stride = 2, .padding = 1});
    const Tensor columns = reshape(im2col(x, 3, {.stride = 2, .padding = 1}), {2, 37, 9, 12});
    const Tensor rows = reshape(permute(w, {0, 2, 3, 1}), {11, 9 * 37});
    const Tensor expected = matmul(rows, reshape(permute(columns, {0, 2, 1, 3}), {2, 9 * 37, 12}));
    EXPECT_EQ(reshape(y, expected.shape()).to(f64).to_host<double>(), expected.to(f64).to_host<double>()) << to_string(d);
  }
}

TEST_P(Convolution, OfStrideOneTransposedIsTheConvolutionWithTheFlippedKernel) {
  const Tensor x = p({2, 3, 4, 5}), w = q({3, 4, 3, 2});
  EXPECT_EQ(values(conv_transpose2d(x, w)), values(conv2d(x, contiguous(flip(flip(transpose(w, 0, 1), 2), 3)), {}, {.padding = {2, 1}})));
}

TEST_P(Convolution, OfViewsReadsWhatTheyShow) {
  const Tensor x = p({5, 4, 3, 2}), w = q({2, 3, 4, 3});
  const Tensor turned = permute(x, {3, 2, 1, 0}), back = flip(w, 2);
  EXPECT_EQ(values(conv2d(turned, back, {}, {.padding = 1})), values(conv2d(contiguous(turned), contiguous(back), {}, {.padding = 1})));
}

TEST_P(Convolution, WithoutImagesHasNone) {
  const Tensor x = p({4, 5, 6}), w = q({2, 4, 3, 3});
  EXPECT_EQ(values(conv2d(x, w)), values(conv2d(unsqueeze(x, 0), w)));
  EXPECT_EQ(conv2d(x, w).shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(conv_transpose2d(x, q({4, 2, 3, 3})).shape(), (Shape{2, 7, 8}));
}

// candle #3405, #3404: channels, height and width of the same size were taken for another layout.
TEST_P(Convolution, N3405OfThreeChannelsAndThreeByThree) {
  const Tensor x = reshape(arange(0, 27, 1, f32, here), {1, 3, 3, 3});
  Tensor w = zeros({1, 3, 3, 3}, f32, here);
  Tensor centre = select(select(select(w, 3, 1), 2, 1), 1, 2);  // of the last channel
  copy_into(centre, ones({1}, f32, here));
  EXPECT_EQ(values(conv2d(x, w, {}, {.padding = 1})), (std::vector<float>{18, 19, 20, 21, 22, 23, 24, 25, 26}));
}

// candle #659: dilation 2. Each output is x[i, j] + x[i, j + 2] + x[i + 2, j] + x[i + 2, j + 2] of 0 … 15.
TEST_P(Convolution, N659Dilated) {
  const Tensor x = reshape(arange(0, 16, 1, f32, here), {1, 1, 4, 4});
  EXPECT_EQ(values(conv2d(x, ones({1, 1, 2, 2}, f32, here), {}, {.dilation = 2})), (std::vector<float>{20, 24, 36, 40}));
}

// pytorch #105941, #55381: one tap, stride 2: 1·1 + 2·5.
TEST_P(Convolution, Pytorch105941OneTapWithAStride) {
  const Tensor x = tensor({{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}}, f32, here), w = tensor({{{{1}}, {{2}}}}, f32, here);
  EXPECT_EQ(values(conv2d(x, w, {}, {.stride = 2})), (std::vector<float>{11}));
}

// mlx #3938, #4258, #3611: shapes that no integer holds.
TEST_P(Convolution, Mlx3938RefusesShapesThatOverflow) {
  const Tensor x = zeros({1, 1, 8, 8}, f32, here), w = zeros({1, 1, 3, 3}, f32, here);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.dilation = INT64_MAX}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.dilation = Size{1} << 61}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.padding = INT64_MAX}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.padding = Size{1} << 61}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.padding = INT64_MIN}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x, w, {}, {.stride = 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv_transpose2d(x, w, {}, {.stride = Size{1} << 61}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { im2col(x, Size{1} << 61, {.padding = Size{1} << 61}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([&] { col2im(zeros({1, 1, 1}, f32, here), {Size{1} << 62, 4}, 1); }), ErrorKind::SizeOverflow);
}

TEST_P(Convolution, RefusesWhatDoesNotFit) {
  const Tensor x = zeros({1, 4, 5, 5}, f32, here);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 6, 1}, f32, here)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 3, 1, 1}, f32, here)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({3, 2, 1, 1}, f32, here), {}, {.groups = 2}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 1, 1}, f32, here), {}, {.groups = 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 1, 1}, f32, here), zeros({3}, f32, here)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 1, 1}, f32, here), zeros({2}, f16, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 0, 1}, f32, here)); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x.to(i32), zeros({2, 4, 1, 1}, i32, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 1, 1}, f32, here), {}, {.stride = {1, 2, 3}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv2d(x, zeros({2, 4, 1, 1}, f32, here), {}, {.padding = "round"}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv_transpose2d(x, zeros({4, 1, 1, 1}, f32, here), {}, {.padding = "same"}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { conv_transpose2d(x, zeros({4, 1, 1, 1}, f32, here), {}, {.output_padding = 1}); }), ErrorKind::InvalidArgument);
}

TEST(ConvolutionErrors, SayWhatToDo) {
  EXPECT_EQ(text_of([] {
              conv2d(zeros({1, 4, 5, 5}), zeros({8, 1, 3, 3}));
            }),
            "conv2d: shape mismatch: x f32[1, 4, 5, 5] with 4 channels and w f32[8, 1, 3, 3], groups 1: w holds 1 channels per group for 8 "
            "outputs. Did "
            "you mean groups = 4?");
  EXPECT_EQ(
      text_of([] {
        conv1d(zeros({1, 1, 2}), zeros({1, 1, 3}));
      }),
      "conv1d: shape mismatch: a kernel that spans 3 does not fit the 2 elements of spatial axis 0 of x f32[1, 1, 2], padding included.");
}

// The columns of this input are 144 MiB. What a call takes beside its result is a slab of them (24 MiB at most), the weights and little more.
TEST(ConvolutionMemory, NeverHoldsTheUnfoldedInput) {
  const Tensor x = zeros({1, 64, 256, 256}), w = zeros({8, 64, 3, 3});
  const MemoryStatistics before = memory_statistics();
  const Tensor y = conv2d(x, w, {}, {.padding = 1});
  const std::uint64_t allowed = before.in_use_bytes + static_cast<std::uint64_t>(y.count()) * 4 + (std::uint64_t{32} << 20);
  EXPECT_LE(memory_statistics().peak_bytes, std::max(before.peak_bytes, allowed));
}

// The odd element of the padding stands behind, as PyTorch's does.
TEST_P(Convolution, WithSamePaddingPadsLessInFront) {
  const auto signal = [&](const Nested& values, Size n) { return reshape(tensor(values, f32, here), {1, 1, n}); };
  EXPECT_EQ(values(conv1d(signal({1, 2, 3}, 3), signal({1, 10}, 2), {}, {.padding = "same"})), (std::vector<float>{21, 32, 3}));
  EXPECT_EQ(values(conv1d(signal({1, 2, 3, 4}, 4), signal({1, 1, 1, 1}, 4), {}, {.padding = "same"})), (std::vector<float>{6, 10, 9, 7}));
  EXPECT_EQ(values(conv1d(signal({1, 2, 3, 4}, 4), signal({1, 10}, 2), {}, {.padding = "same", .dilation = 3})),
            (std::vector<float>{30, 41, 2, 3}));
}

TEST_P(Convolution, OfStridesWithSamePaddingGivesOneOutputPerStride) {
  const Tensor x = ones({1, 1, 5}, f32, here), w = ones({1, 1, 3}, f32, here);
  // two windows more than the three that fit: one zero before, one after
  EXPECT_EQ(values(conv1d(x, w, {}, {.stride = 2, .padding = "same"})), (std::vector<float>{2, 3, 2}));
  EXPECT_EQ(values(conv1d(x, w, {}, {.stride = 4, .padding = "same"})), (std::vector<float>{2, 2}));
}

}  // namespace
}  // namespace votive
