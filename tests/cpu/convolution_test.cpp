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
    const Case cases[] = {{{2, 3, 9, 61}, {3, 1, 3, 3}, {.padding = 1, .groups = 3}},
                          {{1, 2, 90, 33}, {2, 1, 3, 3}, {.padding = 1, .groups = 2}},
                          {{1, 2, 41, 35}, {2, 1, 3, 3}, {.stride = 2, .padding = 1, .groups = 2}},
                          {{1, 2, 20, 40}, {2, 1, 3, 3}, {.padding = 2, .dilation = 2, .groups = 2}},
                          {{1, 2, 20, 40}, {2, 1, 3, 3}, {.stride = 3, .dilation = 2, .groups = 2}},
                          {{1, 2, 19, 47}, {2, 1, 5, 5}, {.stride = 2, .padding = 2, .groups = 2}},
                          {{1, 3, 7, 7}, {3, 1, 3, 3}, {.padding = 1, .groups = 3}},
                          {{1, 2, 6, 6}, {2, 1, 4, 3}, {.padding = 3, .groups = 2}},
                          {{1, 1, 5, 1000}, {1, 1, 2, 2}, {}},
                          {{1, 2, 3, 18}, {2, 1, 1, 1}, {.groups = 2}}};
    for (const Case& c : cases) expect_conv(draw, c, dtype);
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

}  // namespace
}  // namespace votive::test
