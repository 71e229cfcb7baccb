// Operations element by element: the bits of the reference device for every dtype, layout, instruction set and thread count.
#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/cpu/same_bits.h"
#include "votive/ops/apply.h"
#include "votive/ops/pointwise.h"

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

// Blocks of 32 and 64, and what is left of them, at starts that no vector is aligned to.
TEST(CpuHalves, OfEveryLengthHaveTheBitsOfTheReference) {
  Draw draw(14);
  for (DType dtype : {DType::f16, DType::bf16}) {
    const Tensor a = draw.wild({700}, dtype), b = draw.wild({700}, dtype), c = draw.wild({700}, dtype);
    for (Size n : {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 128, 129, 257, 640}) {
      const Size start = n % 7;
      const std::vector<Tensor> inputs = {narrow(a, 0, start, n), narrow(b, 0, 2, n), narrow(c, 0, 1, n)};
      expect_as_reference(std::string(to_string(dtype)) + " of " + std::to_string(n), inputs, [](Inputs in) {
        std::vector<Tensor> results = {fma(in[0], in[1], in[2]),
                                       lerp(in[0], in[1], in[2]),
                                       affine(in[0], 1.7, -0.3),
                                       leaky_relu(in[1], 0.1),
                                       where(lt(in[0], in[1]), in[2], in[0]),
                                       in[0].to(DType::f32),
                                       gelu_tanh(in[0]),
                                       in[1] * 0.3};
        for (Function1 f : arithmetic) results.push_back(f(in[0]));
        for (Function1 f : float_valued) results.push_back(f(in[1]));
        for (Function2 f : binary) results.push_back(f(in[0], in[1]));
        for (Function2 f : truths) results.push_back(f(in[0], in[1]));
        results.push_back(results[5].to(in[0].dtype()));
        return results;
      });
    }
  }
}

// As many that functions are looked up, by every argument there is, in every layout, at starts and of lengths that are no multiple of eight.
TEST(CpuHalves, LookedUpHaveTheBitsOfTheReference) {
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i * 40503);  // all of them, as neighbours far apart
  for (DType dtype : {DType::f16, DType::bf16}) {
    const Tensor all = from_host(std::span<const std::uint16_t>(bits), {256, 256}, dtype);
    expect_as_reference(std::string(to_string(dtype)), {all}, [](Inputs in) {
      std::vector<Tensor> results;
      for (std::size_t kind = 0; kind < unary_kinds; ++kind) {
        const Unary op{static_cast<UnaryKind>(kind)};
        if (row(op.kind).group == PointwiseGroup::function) results.push_back(apply(op, in[0]));
      }
      return results;
    });
    const std::vector<Tensor> inputs = {transpose(all), flip(all, 1), narrow(reshape(all, {65536}), 0, 3, 32773),
                                        broadcast_to(narrow(all, 0, 7, 1), {133, 256}), broadcast_to(narrow(all, 1, 9, 1), {256, 177})};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (Function1 f : {exp, tanh, gelu}) results.push_back(f(x));
      }
      return results;
    });
  }
}

// Where a function is looked up and where it is computed must be invisible: many small tensors first, then one large.
TEST(CpuHalves, AreTheSameWhetherComputedOrLookedUp) {
  Draw draw(17);
  for (DType dtype : {DType::f16, DType::bf16}) {
    const Tensor x = draw.wild({65536}, dtype);
    for_every_machine([&](const std::string& machine) {
      std::vector<Tensor> pieces;
      for (Size at = 0; at < 65536; at += 32768) pieces.push_back(expm1(narrow(x, 0, at, 32768)));  // the last of these may be looked up
      std::vector<Tensor> small;
      for (Size at = 0; at < 65536; at += 1024) small.push_back(expm1(narrow(x, 0, at, 1024)));
      const Tensor whole = expm1(x);
      expect_equal_bits(concat(pieces, 0), whole, "32768 at a time on " + machine);
      expect_equal_bits(concat(small, 0), whole, "1024 at a time on " + machine);
    });
  }
}

TEST(CpuHalves, AreRoundedToTheCanonicalNaN) {
  for (Size n : {3, 40, 200}) {
    const std::uint32_t some[] = {0xff812345u, 0x7fffffffu, 0x3f800000u, 0x00000001u, 0xffc00000u};
    std::vector<std::uint32_t> bits;
    for (Size i = 0; i < n; ++i) bits.push_back(some[i % 5]);
    const Tensor x = bitcast(from_host(std::span<const std::uint32_t>(bits), {n}, DType::u32), DType::f32);
    for_every_machine([&](const std::string& machine) {
      for (DType dtype : {DType::f16, DType::bf16}) {
        const bool wide = dtype == DType::bf16;
        const std::uint16_t nan = wide ? 0x7fc0 : 0x7e00, one = wide ? 0x3f80 : 0x3c00;
        const std::uint16_t want[] = {nan, nan, one, 0, nan};
        const auto narrow = x.to(dtype).to_host<std::uint16_t>();
        const auto back = x.to(dtype).to(DType::f32).to_host<float>();
        for (Size i = 0; i < n; ++i) {
          EXPECT_EQ(narrow[static_cast<std::size_t>(i)], want[i % 5]) << machine << " " << i;
          const float f = back[static_cast<std::size_t>(i)];
          if (std::isnan(f)) { EXPECT_EQ(std::bit_cast<std::uint32_t>(f), 0x7fc00000u) << machine << " " << i; }
        }
      }
    });
  }
}

// Blocks of 256: all of them moderate, one number beyond, nothing but such numbers, and moderate again.
TEST(CpuUnary, HasTheBitsOfTheReferenceWhereBlocksAreNotModerate) {
  Draw draw(15);
  std::vector<float> values;
  for (Size i = 0; i < 2000; ++i) values.push_back(static_cast<float>(i % 41) * 0.19f + 0.001f);
  const float beyond[] = {-88.5f, 89.0f, 1e-40f, -1e-40f, 0.0f, -0.0f, INFINITY, -INFINITY, NAN, -120.0f, 3e38f, -100.25f, -1.5f};
  for (std::size_t i = 0; i < std::size(beyond); ++i) values[300 + 19 * i] = beyond[i];
  for (std::size_t i = 768; i < 1300; ++i) values[i] = beyond[i % std::size(beyond)];
  const Tensor whole = from_host(std::span<const float>(values), {2000}, DType::f32);
  for (Size n : {1, 255, 256, 257, 300, 512, 1027, 1999}) {
    for (Size start : {Size{0}, Size{2000} - n}) {
      expect_as_reference("functions of " + std::to_string(n), {narrow(whole, 0, start, n)}, [](Inputs in) {
        std::vector<Tensor> results;
        for (Function1 f : functions) {
          results.push_back(f(in[0]));
          results.push_back(f(-in[0]));
        }
        return results;
      });
    }
  }
}

// One number at the edge of what is moderate, or past it, in blocks of 256 or 512 that are otherwise moderate.
TEST(CpuUnary, HasTheBitsOfTheReferenceAtTheEdgeOfModerate) {
  for (float limit : {9.5f, 12.0f, 80.0f, 87.0f, 0x1p-126f, 0x1.fffffep127f}) {
    for (float v : {std::nextafter(limit, 0.0f), limit, std::nextafter(limit, INFINITY)}) {
      std::vector<float> values(1200, 0.75f);
      values[7] = values[600] = v;
      values[300] = values[1190] = -v;
      const Tensor x = from_host(std::span<const float>(values), {1200}, DType::f32);
      expect_as_reference("functions of " + std::to_string(v), {x}, [](Inputs in) {
        std::vector<Tensor> results;
        for (Function1 f : functions) results.push_back(f(in[0]));
        return results;
      });
    }
  }
}

/// f of large tensors, whose output is stored around the caches, must be what f gives a piece at a time.
void expect_as_in_pieces(const std::vector<Tensor>& inputs, const std::function<Tensor(Inputs)>& f, const std::string& what) {
  constexpr Size piece = 16'000;
  const Size n = inputs[0].shape()[0];
  const Tensor whole = f(inputs);
  const Size bytes = block_bytes(whole.dtype());
  for (Size start = 0; start < n; start += piece) {
    const Size m = std::min(piece, n - start);
    std::vector<Tensor> parts;
    for (const Tensor& x : inputs) parts.push_back(x.shape()[0] == n ? narrow(x, 0, start, m) : x);
    const Tensor part = f(parts);
    const Size row = whole.count() / n * bytes;
    const std::byte *got = whole.buffer() + whole.offset() * bytes + start * row, *want = part.buffer() + part.offset() * bytes;
    if (std::equal(want, want + m * row, got)) continue;
    expect_equal_bits(narrow(whole, 0, start, m), part, what + ", from " + std::to_string(start));  // any NaN is as good as any other
  }
}

TEST(CpuStreams, OfOutputsPastTheCachesHaveTheSameBits) {
  constexpr Size bytes = (Size{16} << 20) + 4096;  // just beyond the threshold, and no multiple of what a thread takes
  for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::i64, DType::u8, DType::f64}) {
    const Size n = bytes / block_bytes(dtype) + 5;
    Draw draw(16);
    const Tensor piece_a = draw.wild({5000}, dtype), piece_b = draw.wild({4999}, dtype);
    const auto filled = [&](const Tensor& piece) { return narrow(repeat(piece, {n / piece.count() + 1}), 0, 0, n); };
    const std::vector<Tensor> inputs = {contiguous(filled(piece_a)), contiguous(filled(piece_b))};
    const std::string name(to_string(dtype));
    for_every_machine([&](const std::string& machine) {
      if (threads() == 2 || testing::Test::HasFailure()) return;
      const auto check = [&](const char* op, auto f) { expect_as_in_pieces(inputs, f, name + " " + op + " on " + machine); };
      check("add", [](Inputs in) { return in[0] + in[1]; });
      check("literal", [](Inputs in) { return in[0] * Literal(3); });
      check("minimum", [](Inputs in) { return minimum(in[0], in[1]); });
      check("neg", [](Inputs in) { return neg(in[0]); });
      if (dtype == DType::u8) {
        check("lt", [](Inputs in) { return lt(in[0], in[1]); });
        check("to f32", [](Inputs in) { return in[0].to(DType::f32); });
      }
      if (!is_floating(dtype)) return;
      check("where", [](Inputs in) { return where(lt(in[0], in[1]), in[0], in[1]); });
      check("fma", [](Inputs in) { return fma(in[0], in[1], in[0]); });
      check("affine", [](Inputs in) { return affine(in[0], 1.25, -3.0); });
      check("to f32", [](Inputs in) { return in[0].to(DType::f32); });
      if (dtype == DType::f32) {
        check("exp", [](Inputs in) { return exp(in[0]); });
        check("to f64", [](Inputs in) { return in[0].to(DType::f64); });
        check("to f16 and back", [](Inputs in) { return in[0].to(DType::f16).to(DType::f32); });
      }
    });
  }
}

// Rows that end inside a line, so that loops past the caches begin and end there; a row and a column that are added to all.
TEST(CpuStreams, OfBroadcastOperandsHaveTheSameBits) {
  Draw draw(17);
  for (const auto& [rows, columns] : {std::pair<Size, Size>{7300, 577}, {60'000, 71}, {4100, 1024}}) {
    const Tensor a = rand({rows, columns}, {.seed = 3}), row = draw.tame({columns}, DType::f32), column = rand({rows, 1}, {.seed = 4});
    const Tensor half = a.to(DType::bf16);
    for_every_machine([&](const std::string& machine) {
      if (threads() == 2 || testing::Test::HasFailure()) return;
      const std::string what = std::to_string(row.count()) + " columns on " + machine;
      expect_as_in_pieces(
          {a, row}, [](Inputs in) { return in[0] + in[1]; }, "row, " + what);
      expect_as_in_pieces(
          {a, row}, [](Inputs in) { return lt(in[1], in[0]).to(DType::f32) - in[1]; }, "truths of a row, " + what);
      expect_as_in_pieces(
          {a, column}, [](Inputs in) { return in[1] - in[0]; }, "column, " + what);
      expect_as_in_pieces(
          {a, half}, [](Inputs in) { return in[0] * in[1]; }, "of two dtypes, " + what);
    });
  }
}

// Up to 2 KiB of floats of one dtype and shape take a path of their own, a literal beside them too.
// Between two numbers in one pass, which is what two passes give: NaN and the zeros of either sign too, and bounds in the wrong order.
TEST(CpuPointwise, ClampedOnceIsClampedTwice) {
  Draw draw(87);
  for (DType dtype : floating_dtypes) {
    for (const auto& [low, high] : {std::pair{-0.7, 1.3}, {0.0, 0.1}, {-0.0, 2.0}, {1.5, -1.5}, {-INFINITY, 0.5}}) {
      const Tensor x = draw.wild({3000}, dtype), a = full({}, low, dtype), b = full({}, high, dtype);
      expect_equal_bits(clamp(x, Literal(low), Literal(high)), minimum(maximum(x, a), b), std::string(to_string(dtype)) + " of numbers");
      expect_as_reference(std::string(to_string(dtype)), {x},
                          [low = low, high = high](Inputs in) { return std::vector<Tensor>{clamp(in[0], Literal(low), Literal(high))}; });
    }
  }
}

// Operands that run across the output are turned in blocks of 64 rows and 512 columns, from one such block on.
TEST(CpuPointwise, OfTransposedOperandsHasTheBitsOfTheReference) {
  Draw draw(86);
  const auto combine = [](Inputs in) {
    std::vector<Tensor> results = {add(in[0], in[1]), add(in[1], in[0]), add(in[1], in[1]), neg(in[1]), gt(in[0], in[1])};
    if (is_floating(in[0].dtype())) {
      results.push_back(exp(in[1]));
      results.push_back(where(gt(in[0], in[1]), in[1], in[0]));
      results.push_back(addcmul(in[0], in[1], in[0]));
    }
    return results;
  };
  const auto sum = [](Inputs in) { return std::vector<Tensor>{add(in[0], in[1])}; };
  for (DType dtype : {DType::f32, DType::bf16, DType::f64, DType::u8}) {
    const std::string name(to_string(dtype));
    expect_as_reference(name, {draw.wild({65, 513}, dtype), transpose(draw.wild({513, 65}, dtype))}, combine);
    for (const auto& [rows, columns] :
         {std::pair{Size{64}, Size{512}}, {Size{63}, Size{600}}, {Size{129}, Size{1025}}, {Size{16}, Size{2100}}, {Size{2600}, Size{17}}}) {
      const std::string what = name + " " + std::to_string(rows) + " x " + std::to_string(columns);
      expect_as_reference(what, {draw.wild({rows, columns}, dtype), transpose(draw.wild({columns, rows}, dtype))}, sum);
    }
    const Tensor across = transpose(draw.wild({600, 70}, dtype));
    expect_as_reference(name + ", a row for all", {draw.wild({1, 600}, dtype), across}, sum);
    expect_as_reference(name + ", flipped", {flip(draw.wild({70, 600}, dtype), 1), flip(across, 1)}, sum);
    expect_as_reference(name + ", batches", {draw.wild({2, 3, 70, 130}, dtype), permute(draw.wild({3, 130, 2, 70}, dtype), {2, 0, 3, 1})},
                        sum);
  }
  expect_as_reference("of another dtype", {draw.wild({130, 600}, DType::f32), transpose(draw.wild({600, 130}, DType::f16))}, combine);
  expect_as_reference("past the caches", {draw.tame({2100, 2056}, DType::f32), transpose(draw.tame({2056, 2100}, DType::f32))}, sum);
}

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

}  // namespace
}  // namespace votive::test
