// Convolutions and pooling on the CPU against the executable contract, to the bit, for every instruction set of this machine and 1, 2 and 3 threads: shapes
// that cross the widths of vectors, tiles and strips which the kernels cut a convolution into (CONTRACT.md 4.3, 4.4).
#include "same_bits.h"

namespace votive::test {
namespace {

struct Case {
  Shape x, w;
  ConvOptions options;
};

std::string described(const Case& c, DType dtype) {
  return "conv of " + std::string(to_string(dtype)) + " x " + to_string(c.x) + ", w " + to_string(c.w);
}

void expect_conv(Draw& draw, const Case& c, DType dtype, bool wild = false) {
  const Tensor x = wild ? draw.wild(c.x, dtype) : draw.tame(c.x, dtype), w = wild ? draw.wild(c.w, dtype) : draw.tame(c.w, dtype),
               bias = draw.tame({c.w[0]}, dtype);
  expect_as_reference(described(c, dtype), {x, w, bias}, [&](const std::vector<Tensor>& in) {
    return std::vector<Tensor>{conv2d(in[0], in[1], {}, c.options), conv2d(in[0], in[1], in[2], c.options)};
  });
}

// A plane's strips are 4 rows or more; 61 columns are no multiple of any vector.
TEST(Convolution, OfPlanesOneByOneHasTheBitsOfTheContract) {
  Draw draw(1);
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const Case cases[] = {
        {{2, 3, 9, 61}, {3, 1, 3, 3}, {.padding = 1, .groups = 3}},
        {{1, 2, 90, 33}, {2, 1, 3, 3}, {.padding = 1, .groups = 2}},
        {{1, 2, 41, 35}, {2, 1, 3, 3}, {.stride = 2, .padding = 1, .groups = 2}},
        {{1, 2, 20, 40}, {2, 1, 3, 3}, {.padding = 2, .dilation = 2, .groups = 2}},
        {{1, 2, 20, 40}, {2, 1, 3, 3}, {.stride = 3, .dilation = 2, .groups = 2}},
        {{1, 2, 19, 47}, {2, 1, 5, 5}, {.stride = 2, .padding = 2, .groups = 2}},
        {{1, 3, 7, 7}, {3, 1, 3, 3}, {.padding = 1, .groups = 3}},
        {{1, 2, 6, 6}, {2, 1, 4, 3}, {.padding = 3, .groups = 2}},
        {{1, 1, 5, 1000}, {1, 1, 2, 2}, {}},
        {{1, 2, 3, 18}, {2, 1, 1, 1}, {.groups = 2}},
        // 3 × 3 where they lie: several strips, vectors that reach past a row's ends, planes of one row, rows of padding alone
        {{1, 2, 130, 70}, {2, 1, 3, 3}, {.padding = 1, .groups = 2}},
        {{2, 2, 7, 50}, {2, 1, 3, 3}, {.groups = 2}},
        {{1, 2, 6, 64}, {2, 1, 3, 3}, {.padding = 2, .groups = 2}},
        {{1, 2, 6, 33}, {2, 1, 3, 3}, {.padding = Padding{{0, 4}, {2, 0}}, .groups = 2}},
        {{1, 2, 1, 34}, {2, 1, 3, 3}, {.padding = Padding{{3, 1}, {0, 2}}, .groups = 2}}};
    for (const Case& c : cases) expect_conv(draw, c, dtype);
    const Tensor solid = draw.tame({2, 3, 5, 6, 40}, dtype), weight = draw.tame({3, 1, 1, 3, 3}, dtype);
    expect_as_reference("planes of conv3d", {solid, weight}, [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv3d(in[0], in[1], {}, {.stride = {2, 1, 1}, .padding = 1, .groups = 3})};
    });
    expect_conv(draw, {{1, 4, 10, 37}, {4, 1, 3, 3}, {.padding = 1, .groups = 4}}, dtype, true);
    expect_conv(draw, {{1, 4, 10, 37}, {4, 1, 2, 3}, {.stride = 2, .padding = 1, .groups = 4}}, dtype, true);
  }
}

// Outputs past the caches are written around them.
TEST(Convolution, OfManyPlanesHasTheBitsOfTheContract) {
  Draw draw(2);
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Shape shape{8, 160, 57, 60 * (4 / block_bytes(dtype))};
    const Tensor x = draw.tame(shape, dtype), w = draw.tame({160, 1, 3, 3}, dtype);
    const ConvOptions options{.padding = 1, .groups = 160};
    const Tensor want = conv2d(x.to(Device::reference), w.to(Device::reference), {}, options);
    expect_equal_bits(conv2d(x, w, {}, options), want, "many planes");
  }
}

TEST(Convolution, OfPlanesReadsAnyLayout) {
  Draw draw(3);
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Tensor wide = draw.tame({2, 12, 30, 5}, dtype), w = draw.tame({5, 1, 3, 3}, dtype);
    for (const Tensor& x : {permute(wide, {0, 3, 1, 2}), slice(draw.tame({2, 5, 12, 64}, dtype), {.axis = 3, .start = 3, .stop = 40}),
                            flip(draw.tame({2, 5, 12, 20}, dtype), 3)}) {
      expect_as_reference("planes of another layout", {x, w}, [](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{conv2d(in[0], in[1], {}, {.padding = 1, .groups = 5})};
      });
    }
  }
}

TEST(Convolution, OfPlanesWhoseRowsShareMemory) {
  Draw draw(8);
  for (DType dtype : {DType::f32, DType::bf16}) {
    const Tensor row = draw.tame({1, 3, 1, 40}, dtype);
    expect_as_reference(
        "rows that are one", {broadcast_to(row, {2, 3, 7, 40}), draw.tame({3, 1, 3, 3}, dtype)},
        [](const std::vector<Tensor>& in) { return std::vector<Tensor>{conv2d(in[0], in[1], {}, {.padding = 1, .groups = 3})}; });
  }
}

// Direct convolutions: channels are lanes (4, 8 or 16; half of that in f64), positions are broadcast in runs of up to 2, 3 or 7, sums end blocks of 1024
// inside a tap and between taps, channels are odd, few, or a multiple of half a page, strips hold part of an image or several.
TEST(Convolution, OfManyChannelsHasTheBitsOfTheContract) {
  Draw draw(4);
  const Case cases[] = {{{1, 6, 9, 31}, {16, 6, 3, 3}, {.padding = 1}},
                        {{3, 16, 7, 7}, {24, 16, 3, 3}, {.padding = 1}},
                        {{1, 17, 5, 13}, {12, 17, 3, 3}, {.padding = Padding{{0, 2}, {3, 1}}}},
                        {{1, 34, 6, 16}, {47, 34, 2, 3}, {.padding = 2, .dilation = 2}},
                        {{2, 128, 4, 6}, {8, 128, 3, 3}, {.padding = 1}},
                        {{1, 114, 4, 5}, {13, 114, 3, 3}, {.padding = 1}},
                        {{1, 1026, 3, 9}, {15, 1026, 1, 1}, {}},
                        {{1, 512, 3, 5}, {16, 512, 3, 2}, {.padding = 1}},
                        {{2, 24, 14, 17}, {36, 12, 3, 3}, {.stride = 2, .padding = 1, .groups = 2}},
                        {{1, 48, 15, 22}, {48, 16, 3, 3}, {.stride = 3, .dilation = 2, .groups = 3}},
                        {{1, 3, 30, 43}, {16, 3, 7, 7}, {.stride = 2, .padding = 3}},
                        {{1, 10, 11, 20}, {16, 10, 1, 1}, {.stride = 3}},
                        {{1, 20, 2, 4}, {16, 20, 2, 1}, {}},
                        {{1, 1, 12, 19}, {32, 1, 3, 5}, {.padding = 2}},
                        {{1, 2, 3, 1100}, {16, 2, 3, 3}, {.padding = 1}}};
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    for (const Case& c : cases) expect_conv(draw, c, dtype);
    expect_conv(draw, {{2, 18, 6, 15}, {16, 18, 3, 3}, {.padding = 1}}, dtype, true);
    expect_conv(draw, {{1, 8, 7, 12}, {33, 8, 2, 3}, {.stride = 2, .padding = 1}}, dtype, true);
  }
}

// Strips that hold part of an image or of a row, weights past L2.
TEST(Convolution, OfLargeImagesAndWeightsHasTheBitsOfTheContract) {
  Draw draw(5);
  for (DType dtype : {DType::f32, DType::bf16}) {
    expect_conv(draw, {{2, 8, 40, 57}, {12, 8, 3, 3}, {.padding = 1}}, dtype);
    expect_conv(draw, {{1, 200, 3, 4}, {300, 200, 3, 3}, {.padding = 1}}, dtype);
    expect_conv(draw, {{2, 3, 2, 2500}, {12, 3, 3, 3}, {.padding = Padding{{1, 1}, {2, 0}}}}, dtype);
    expect_conv(draw, {{1, 66, 3, 1201}, {12, 66, 1, 9}, {.stride = 2, .padding = Padding{{0, 0}, {4, 3}}}}, dtype);
    expect_conv(draw, {{1, 600, 2, 121}, {12, 600, 2, 2}, {}}, dtype);
  }
}

TEST(Convolution, OfManyChannelsReadsAnyLayout) {
  Draw draw(6);
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const Tensor x = draw.tame({2, 18, 9, 21}, dtype), w = draw.tame({32, 18, 3, 3}, dtype);
    const Tensor channels_last = permute(draw.tame({2, 9, 21, 18}, dtype), {0, 3, 1, 2});
    const Tensor columns = slice(draw.tame({2, 18, 9, 40}, dtype), {.axis = 3, .start = 3, .stop = 24});
    const Tensor weights[] = {w, permute(draw.tame({18, 32, 3, 3}, dtype), {1, 0, 2, 3}),
                              permute(draw.tame({32, 3, 3, 18}, dtype), {0, 3, 1, 2})};
    for (const Tensor& image : {x, channels_last, columns, flip(x, 3), flip(x, 2), transpose(draw.tame({2, 18, 21, 9}, dtype), 2, 3)}) {
      for (const Tensor& weight : weights) {
        expect_as_reference("conv of another layout", {image, weight},
                            [](const std::vector<Tensor>& in) { return std::vector<Tensor>{conv2d(in[0], in[1], {}, {.padding = 1})}; });
      }
    }
  }
}

TEST(Convolution, AlongOneAndThreeAxesAndTransposedHasTheBitsOfTheContract) {
  Draw draw(7);
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const Tensor line = draw.tame({2, 20, 70}, dtype), solid = draw.tame({2, 10, 4, 6, 9}, dtype), image = draw.tame({2, 18, 6, 11}, dtype);
    expect_as_reference("conv1d", {line, draw.tame({30, 20, 5}, dtype)}, [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv1d(in[0], in[1], {}, {.padding = 2}), conv1d(in[0], in[1], {}, {.stride = 4, .dilation = 3})};
    });
    expect_as_reference("conv3d", {solid, draw.tame({16, 10, 2, 3, 3}, dtype)}, [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv3d(in[0], in[1], {}, {.padding = 1}), conv3d(in[0], in[1], {}, {.stride = 2, .padding = {1, 0, 2}})};
    });
    expect_as_reference("transposed", {image, draw.tame({18, 16, 3, 4}, dtype)}, [](const std::vector<Tensor>& in) {
      return std::vector<Tensor>{conv_transpose2d(in[0], in[1], {}, {.padding = 1}), conv_transpose2d(in[0], in[1], {}, {.stride = 2}),
                                 conv_transpose2d(in[0], in[1], {}, {.stride = 3, .padding = 2, .dilation = 2})};
    });
  }
}

}  // namespace
}  // namespace votive::test
