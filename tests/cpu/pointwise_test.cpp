// Unary and binary operations: the bits of the reference device for every dtype, layout, instruction set and thread count.
#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;
using Function1 = Tensor (*)(const Tensor&);
using Function2 = Tensor (*)(const Tensor&, const Tensor&);

constexpr Function1 arithmetic[] = {neg, abs, sign, relu, square, floor, ceil, trunc, round};
constexpr Function1 float_valued[] = {sqrt, rsqrt, recip};
constexpr Function1 functions[] = {exp, log, sin, cos, tanh, erf, sigmoid, silu, gelu, gelu_tanh};
constexpr Function2 binary[] = {add, sub, mul, minimum, maximum, div};
constexpr Function2 truths[] = {eq, ne, lt, le, gt, ge, logical_and, logical_or, logical_xor};

TEST(CpuUnary, HasTheBitsOfTheReferenceForEveryDType) {
  Draw draw(10);
  for (DType dtype : plain_dtypes) {
    if (is_float8(dtype) || dtype == DType::boolean) continue;
    expect_as_reference(std::string(to_string(dtype)), {draw.wild({3, 1111}, dtype), draw.wild({17}, dtype)}, [&](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (Function1 f : arithmetic) results.push_back(f(x));
        for (Function1 f : float_valued) results.push_back(f(x));
        for (Function1 f : functions) {
          if (dtype != DType::f64) results.push_back(f(x));
        }
      }
      return results;
    });
  }
}

TEST(CpuUnary, KeepsTheBitsOfANaNInNegAndAbs) {
  const std::uint16_t halves[] = {0x7e55, 0xfd01};
  const Tensor x = from_host(std::span<const std::uint16_t>(halves), {2}, DType::f16);
  for_every_machine([&](const std::string& machine) {
    EXPECT_EQ(neg(x).to_host<std::uint16_t>(), (std::vector<std::uint16_t>{0xfe55, 0x7d01})) << machine;
    EXPECT_EQ(abs(x).to_host<std::uint16_t>(), (std::vector<std::uint16_t>{0x7e55, 0x7d01})) << machine;
  });
}

TEST(CpuBinary, HasTheBitsOfTheReferenceForEveryPairOfDTypes) {
  Draw draw(11);
  for (DType left : plain_dtypes) {
    for (DType right : plain_dtypes) {
      const bool whole = !is_floating(left) && !is_float8(left) && !is_floating(right) && !is_float8(right);
      const bool common = common_dtype(left, right).has_value();
      const bool numbers = common && !is_float8(left) && !(left == DType::boolean && right == DType::boolean);
      expect_as_reference(std::string(to_string(left)) + " and " + std::string(to_string(right)),
                          {draw.wild({1300}, left), draw.wild({1300}, right)}, [&](Inputs in) {
                            std::vector<Tensor> results;
                            for (Function2 f : binary) {
                              if (numbers) results.push_back(f(in[0], in[1]));
                            }
                            for (Function2 f : truths) {
                              if (common || whole) results.push_back(f(in[0], in[1]));
                            }
                            if (numbers && is_floating(left) && is_floating(right) && left != DType::f64 && right != DType::f64)
                              results.push_back(swiglu(in[0], in[1]));
                            return results;
                          });
    }
  }
}

TEST(CpuBinary, OfEveryLayoutHasTheBitsOfTheReference) {
  Draw draw(12);
  for (const auto& [rows, columns] : {std::pair<Size, Size>{3, 5}, {61, 1030}}) {
    for (const Tensor& a : layouts(draw, DType::f32, rows, columns)) {
      for (const Tensor& b : layouts(draw, DType::bf16, rows, columns)) {
        expect_as_reference("add", {a, b}, [](Inputs in) { return std::vector<Tensor>{in[0] + in[1], lt(in[1], in[0])}; });
      }
    }
  }
}

TEST(CpuBinary, BroadcastsLikeTheReference) {
  Draw draw(13);
  const std::vector<Tensor> inputs = {draw.wild({70, 1, 33}, DType::f32), draw.wild({9, 1}, DType::f32), draw.wild({}, DType::f32),
                                      draw.wild({33}, DType::i8)};
  expect_as_reference("broadcast", inputs, [](Inputs in) {
    return std::vector<Tensor>{in[0] * in[1], in[0] - in[2], in[2] - in[1], in[0] + in[3], in[2] / in[2]};
  });
}

// Up to 2 KiB of floats of one dtype and shape take a path of their own, a literal beside them too.
TEST(CpuPointwise, OfSmallTensorsHasTheBitsOfTheReference) {
  Draw draw(21);
  const std::vector<Shape> shapes = {{},
                                     {0},
                                     {1},
                                     {16},
                                     {4, 4},
                                     {3, 0, 2},
                                     {31},
                                     {255},
                                     {256},
                                     {257},
                                     {511},
                                     {512},
                                     {513},
                                     {1024},
                                     {1, 5, 1},
                                     {2, 3, 2, 2, 3},
                                     {1, 2, 1, 2, 1, 2, 1, 2}};
  for (const DType dtype : floating_dtypes) {
    for (const Shape& shape : shapes) {
      const Tensor a = draw.wild(shape, dtype), b = draw.wild(shape, dtype);
      expect_as_reference(to_string(shape), {a, b}, [](Inputs in) {
        const Tensor &p = in[0], &q = in[1];
        return std::vector<Tensor>{p + q, p * p, maximum(p, q), p / q, neg(p),   exp(p),   floor(p),      p + 0.1, 0.1 - q,
                                   p * 3, 2 / p, pow(p, 2.5),   q - 1, lt(p, q), isnan(p), p * (q + 0.5), -(-p),   fmod(p, 0.3)};
      });
    }
  }
}

TEST(CpuPointwise, OfSmallViewsHasTheBitsOfTheReference) {
  Draw draw(22);
  const Tensor big = draw.wild({6, 5, 8}, DType::f32);
  const Tensor same = draw.wild({5, 8}, DType::f32);
  const std::vector<Tensor> views = {select(big, 0, 3),
                                     narrow(draw.wild({12, 8}, DType::f32), 0, 7, 5),
                                     transpose(draw.wild({8, 5}, DType::f32)),
                                     slice(draw.wild({5, 16}, DType::f32), {.axis = 1, .step = 2}),
                                     flip(same, 0),
                                     broadcast_to(draw.wild({1, 8}, DType::f32), {5, 8}),
                                     squeeze(narrow(big, 0, 2, 1), 0)};
  for (const Tensor& x : views) {
    expect_as_reference("view", {x, same}, [](Inputs in) {
      return std::vector<Tensor>{in[0] + in[1], in[1] - in[0], in[0] * in[0], exp(in[0]), in[0] * 0.5, 1 - in[0]};
    });
  }
  // One column: row-major with any stride along the axis of one.
  const Tensor column = narrow(draw.wild({7, 9}, DType::f32), 1, 4, 1), row = narrow(draw.wild({7, 9}, DType::f32), 0, 4, 1);
  expect_as_reference("a column and a row", {column, row}, [](Inputs in) {
    return std::vector<Tensor>{in[0] + in[0], in[1] + in[1], in[0] + in[1], exp(in[1]), in[0] * 2, in[1] * 2};
  });
  EXPECT_EQ((row + row).strides(), contiguous_strides({1, 9}));
  EXPECT_EQ((column * 2).strides(), contiguous_strides({7, 1}));
}

TEST(CpuBinary, OfOutputsPastTheCachesHasTheSameBits) {  // such outputs are streamed
  const Tensor a = rand({5 << 20}, {.seed = 1}), b = rand({5 << 20}, {.seed = 2});
  const Tensor whole = a * b;
  const auto bits = elements(whole);
  for (Size start = 0; start < a.count(); start += 1 << 20) {
    const auto part = elements(narrow(a, 0, start, 1000) * narrow(b, 0, start, 1000));
    EXPECT_TRUE(std::equal(part.begin(), part.end(), bits.begin() + start));
  }
}

}  // namespace
}  // namespace votive::test
