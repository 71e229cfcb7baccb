// Reductions, softmax, norms and orders: the bits of the reference device, whose sums are the canonical tree element by element.
#include <array>
#include <cmath>
#include <limits>

#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;

std::vector<Tensor> all_reductions(const Tensor& x, const ReduceOptions& o) {
  return {sum(x, o), mean(x, o), prod(x, o), min(x, o), max(x, o), any(x, o), all(x, o)};
}

TEST(CpuReduce, OfEveryDTypeHasTheBitsOfTheReference) {
  Draw draw(20);
  for (DType dtype : plain_dtypes) {
    if (is_float8(dtype)) continue;
    const bool floating = is_floating(dtype);
    const std::vector<Tensor> inputs = {floating ? draw.tame({6, 700}, dtype) : draw.wild({6, 700}, dtype), draw.wild({40, 9}, dtype)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (const ReduceOptions& o : {ReduceOptions{}, {.axis = 0}, {.axis = 1, .keep = true}}) {
          for (Tensor& y : all_reductions(x, o)) results.push_back(y);
        }
        for (int axis : {0, 1}) {
          results.push_back(argmax(x, {.axis = axis}));
          results.push_back(argmin(x, {.axis = axis, .keep = true}));
        }
      }
      return results;
    });
  }
}

TEST(CpuReduce, OfEveryLengthHasTheBitsOfTheReference) {
  Draw draw(21);
  for (Size n : {1, 2, 31, 32, 33, 63, 100, 511, 512, 513, 544, 1025, 2000, 4095, 4096, 4097, 8192, 12289, 40961}) {
    expect_as_reference("n = " + std::to_string(n),
                        {draw.tame({n}, DType::f32), draw.tame({n, 5}, DType::f32), draw.tame({2, n, 3}, DType::bf16)}, [](Inputs in) {
                          return std::vector<Tensor>{sum(in[0]),
                                                     mean(in[0]),
                                                     prod(in[0] * Literal(1e-3) + Literal(1)),
                                                     sum(in[1], {.axis = 0}),
                                                     sum(in[2], {.axis = 1}),
                                                     sum(in[2], {.axis = {0, 1}}),
                                                     max(in[1], {.axis = 0}),
                                                     argmax(in[0], {})};
                        });
  }
}

// Up to 2 KiB of floats that become one number are not planned; up to 32 of them are one step of the tree.
TEST(CpuReduce, OfFewNumbersHasTheBitsOfTheReference) {
  Draw draw(26);
  const auto to_one = [](Inputs in) {
    std::vector<Tensor> results;
    for (const Tensor& x : in) {
      for (const ReduceOptions& o : {ReduceOptions{}, {.keep = true}}) {
        for (Tensor& y : all_reductions(x, o)) results.push_back(y);
      }
    }
    return results;
  };
  for (DType dtype : floating_dtypes) {
    for (Size n : {1, 2, 7, 15, 16, 17, 31, 32, 33, 40, 63, 64, 100, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4096}) {
      expect_as_reference(std::string(to_string(dtype)) + " n = " + std::to_string(n),
                          {draw.tame({n}, dtype), draw.wild({n}, dtype), draw.tame({1, n, 1}, dtype), flip(draw.tame({n}, dtype), 0),
                           full({n}, -0.0, dtype)},
                          to_one);
    }
    expect_as_reference("matrices",
                        {draw.tame({4, 8}, dtype), draw.tame({3, 11}, dtype), transpose(draw.tame({5, 6}, dtype)), draw.wild({}, dtype)},
                        to_one);
  }
}

TEST(CpuReduce, OverAnyAxesOfAnyLayoutHasTheBitsOfTheReference) {
  Draw draw(22);
  const Tensor x = draw.tame({7, 40, 5, 130}, DType::f32);
  for (const Tensor& view :
       {x, permute(x, {3, 1, 2, 0}), permute(x, {2, 0, 3, 1}), flip(slice(x, {.axis = 3, .start = 3, .stop = 130, .step = 2}), 1)}) {
    expect_as_reference("axes", {view}, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{3}, Axes{0, 2}, Axes{1, 3}, Axes{0, 1, 3}, Axes{}}) {
        results.push_back(sum(in[0], {.axis = axes}));
        results.push_back(min(in[0], {.axis = axes, .keep = true}));
      }
      return results;
    });
  }
}

/// All about one reduction: along rows, along columns and of all.
std::vector<Tensor> sums_and_extremes(const Tensor& x) {
  std::vector<Tensor> results;
  for (const Axes& axes : {Axes{0}, Axes{1}, Axes{}}) {
    for (const Tensor& y : {sum(x, {.axis = axes}), mean(x, {.axis = axes}), min(x, {.axis = axes}), max(x, {.axis = axes})})
      results.push_back(y);
  }
  for (int axis : {0, 1}) {
    results.push_back(argmax(x, {.axis = axis}));
    results.push_back(argmin(x, {.axis = axis}));
  }
  return results;
}

// Columns are streamed 128 rows at once, 4096 columns at most; threads share the groups of a chunk (512 rows), or slabs of rows where the order is free.
TEST(CpuReduce, OfColumnsHasTheBitsOfTheReferenceAcrossEveryBlockOfThem) {
  Draw draw(60);
  for (const Shape& shape :
       {Shape{127, 40}, {128, 33}, {129, 64}, {511, 6}, {513, 40}, {640, 16}, {1025, 70}, {2050, 5}, {4097, 36}, {9000, 4}, {3, 4100}}) {
    for (DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
      const Tensor x = draw.tame(shape, dtype);
      expect_as_reference(std::string(to_string(dtype)) + " rows " + std::to_string(shape[0]), {x},
                          [](Inputs in) { return sums_and_extremes(in[0]); });
    }
  }
  const Tensor wide = draw.tame({700, 90}, DType::bf16);  // rows that do not follow each other, and products
  expect_as_reference(
      "apart", {slice(wide, {.axis = 1, .start = 3, .stop = 83, .step = 1}), slice(wide, {.axis = 0, .start = 1, .stop = 700, .step = 2})},
      [](Inputs in) {
        std::vector<Tensor> results = sums_and_extremes(in[0]);
        for (const Tensor& y : sums_and_extremes(in[1])) results.push_back(y);
        results.push_back(prod(in[0] * Literal(1e-3) + Literal(1), {.axis = 0}));
        return results;
      });
}

// Wild floats hold NaN of both signs, infinities and zeros of both signs, early and late; integers reach the ends of their partial sums (256 rows of bytes,
// pieces of 65536 elements, row numbers that start again after 128).
TEST(CpuReduce, OfTheCornersOfEveryDTypeHasTheBitsOfTheReference) {
  Draw draw(61);
  for (DType dtype : plain_dtypes) {
    if (dtype == DType::e4m3 || dtype == DType::e5m2) continue;  // they have no arithmetic
    for (const Shape& shape : {Shape{300, 70}, {5, 1300}, {2, 40}}) {
      expect_as_reference(std::string(to_string(dtype)) + " columns " + std::to_string(shape[1]), {draw.wild(shape, dtype)},
                          [](Inputs in) { return sums_and_extremes(in[0]); });
    }
  }
  for (DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::i32, DType::u32}) {
    const Size low = is_signed_integer(dtype) ? -128 : 255;
    expect_as_reference(std::string(to_string(dtype)) + " of one number", {full({70000, 8}, low, dtype), full({3, 140001}, low, dtype)},
                        [](Inputs in) {
                          std::vector<Tensor> results = {sum(in[0], {.axis = 0}), mean(in[0], {.axis = 0}), sum(in[1], {.axis = 1}),
                                                         sum(in[1]), argmax(in[0], {.axis = 0})};
                          return results;
                        });
  }
}

TEST(CpuReduce, FindsTheFirstOfEqualExtremes) {
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (Size at : {0, 1, 63, 64, 129, 1023, 1024, 1500, 2999}) {
      const Tensor zeros_row = full({3000}, -0.0, dtype);
      const Tensor row = concat({narrow(zeros_row, 0, 0, at), full({1}, 0.0, dtype), narrow(zeros_row, 0, at, 3000 - at)}, 0);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      const Tensor with_nan =
          concat({narrow(zeros_row, 0, 0, at), full({2}, nan, dtype), full({1}, -nan, dtype), narrow(zeros_row, 0, at, 3000 - at)}, 0);
      for (const Tensor& x : {row, with_nan}) {
        const Tensor column = contiguous(broadcast_to(reshape(x, {x.count(), 1}), {x.count(), 5}));
        expect_as_reference(std::string(to_string(dtype)) + " at " + std::to_string(at), {x, column}, [](Inputs in) {
          return std::vector<Tensor>{argmax(in[0]),
                                     argmin(in[0]),
                                     max(in[0]),
                                     min(in[0]),
                                     argmax(in[1], {.axis = 0}),
                                     argmin(in[1], {.axis = 0}),
                                     max(in[1], {.axis = 0}),
                                     min(in[1], {.axis = 0})};
        });
      }
    }
  }
}

// Rows are read in blocks of 4 KiB, of which the best is searched: by its bits, and by keys where zeros or NaNs of several kinds are equal.
TEST(CpuReduce, FindsAnExtremeAtEveryPlaceOfSeveralBlocks) {
  for (DType dtype : plain_dtypes) {
    if (dtype == DType::e4m3 || dtype == DType::e5m2 || dtype == DType::boolean) continue;
    for (Size n : {Size{129}, 10001 / block_bytes(dtype)}) {
      for (Size at = 0; at + 2 < n; at += 1 + n / 97) {
        const Size again = at + 1 + (n - at - 2) / 2;
        const auto row = [&](Literal everywhere, Literal first, Literal second) {
          return concat({full({at}, everywhere, dtype), full({1}, first, dtype), full({again - at - 1}, everywhere, dtype),
                         full({1}, second, dtype), full({n - again - 1}, everywhere, dtype)},
                        0);
        };
        EXPECT_EQ(argmax(row(1, 2, 2)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
        EXPECT_EQ(argmin(row(2, 1, 1)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
        if (!is_floating(dtype)) continue;
        const double nan = std::numeric_limits<double>::quiet_NaN();
        EXPECT_EQ(argmax(row(-1, -0.0, 0.0)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
        EXPECT_EQ(argmin(row(1, 0.0, -0.0)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
        EXPECT_EQ(argmax(row(INFINITY, -nan, nan)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
        EXPECT_EQ(argmin(row(-INFINITY, nan, -nan)).item<std::int64_t>(), at) << to_string(dtype) << ' ' << n;
      }
    }
  }
}

// Places of 8- and 16-bit columns are counted in as few bits, block of rows by block: the extreme stands on both sides of every limit of that.
TEST(CpuReduce, FindsAnExtremeOfNarrowColumnsInEveryBlockOfRows) {
  for (DType dtype : {DType::boolean, DType::u8, DType::i8, DType::i16, DType::f16, DType::bf16}) {
    const bool wide = block_bytes(dtype) == 2;
    std::vector<Size> places = {0, 1, 126, 127, 128, 129, 254, 255, 256, 257, 383, 384, 385, 639};
    if (wide) places = {127, 128, 255, 256, 32766, 32767, 32768, 32769, 65534, 65535, 65536, 65537};
    for (const Size rows : wide ? std::vector<Size>{300, 32769, 65540} : std::vector<Size>{128, 129, 130, 257, 640}) {
      for (const Size place : places) {
        if (place >= rows) continue;
        const auto standing_out = [&](double value) {
          const Tensor others = full({rows, 7}, 1 - value, DType::f32).to(dtype);
          return index_copy(others, tensor({place}, DType::i64), full({1, 7}, value, DType::f32).to(dtype));
        };
        const Tensor largest = standing_out(1), least = standing_out(0), want = full({7}, place, DType::i64);
        for_every_machine([&](const std::string& machine) {
          const std::string where =
              machine + " " + std::string(to_string(dtype)) + " row " + std::to_string(place) + " of " + std::to_string(rows);
          expect_equal_bits(argmax(largest, {.axis = 0}), want, where);
          expect_equal_bits(argmin(least, {.axis = 0}), want, where);
        });
      }
    }
  }
}

TEST(CpuReduce, OfNothingGivesTheIdentity) {
  expect_as_reference("empty", {zeros({0, 3}), zeros({3, 0}, DType::i32), zeros({0}, DType::boolean)}, [](Inputs in) {
    std::vector<Tensor> results;
    for (const Tensor& x : in) {
      for (const Tensor& y : {sum(x), mean(x), prod(x), any(x), all(x), sum(x, {.axis = 0})}) results.push_back(y);
    }
    return results;
  });
}

TEST(CpuSoftmax, AlongAnyAxisHasTheBitsOfTheReference) {
  Draw draw(23);
  for (DType dtype : floating_dtypes) {
    const std::vector<Tensor> inputs = {draw.tame({9, 200}, dtype), draw.wild({30, 7}, dtype), transpose(draw.tame({65, 33}, dtype)),
                                        draw.tame({2, 5000}, dtype), draw.wild({4, 1}, dtype)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (int axis : {0, 1}) {
          results.push_back(softmax(x, {.axis = axis}));
          results.push_back(log_softmax(x, {.axis = axis}));
        }
      }
      return results;
    });
  }
}

// Rows side by side are turned some at once: fewer and more of them than a bundle, ends of squares, halves through f32, one side turned or both.
TEST(CpuSoftmax, OfRowsSideBySideHasTheBitsOfTheReference) {
  Draw draw(27);
  for (DType dtype : floating_dtypes) {
    const std::vector<Tensor> inputs = {draw.tame({75, 140}, dtype),
                                        draw.tame({3, 70, 40}, dtype),
                                        draw.wild({8, 65}, dtype),
                                        transpose(draw.tame({300, 45}, dtype)),
                                        permute(draw.tame({37, 5, 70}, dtype), {1, 2, 0}),
                                        narrow(draw.tame({33, 80}, dtype), 1, 3, 70),
                                        draw.tame({2100, 9}, dtype)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (int axis = 0; axis < x.rank(); ++axis) {
          results.push_back(softmax(x, {.axis = axis}));
          results.push_back(log_softmax(x, {.axis = axis}));
        }
        results.push_back(layer_norm(x));
        results.push_back(rms_norm(x));
        results.push_back(layer_norm(transpose(x, -1, -2)));
      }
      return results;
    });
  }
}

// A bundle of such rows would take too much memory.
TEST(CpuSoftmax, OfLongRowsSideBySideHasTheBitsOfTheReference) {
  Draw draw(28);
  expect_as_reference("f32", {draw.tame({131073, 8}, DType::f32)},
                      [](Inputs in) { return std::vector<Tensor>{softmax(in[0], {.axis = 0})}; });
}

TEST(CpuNorm, HasTheBitsOfTheReference) {
  Draw draw(24);
  for (DType dtype : floating_dtypes) {
    for (Size n : {1, 7, 64, 576, 4500}) {
      const std::vector<Tensor> inputs = {draw.tame({5, n}, dtype), transpose(draw.wild({n, 4}, dtype)), draw.tame({n}, dtype),
                                          draw.tame({n}, dtype)};
      expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
        std::vector<Tensor> results;
        for (int i : {0, 1}) {
          const Tensor& x = in[static_cast<std::size_t>(i)];
          results.push_back(rms_norm(x, in[2], {.epsilon = 1e-6f}));
          results.push_back(layer_norm(x, in[2], in[3]));
          results.push_back(layer_norm(x));
          results.push_back(layer_norm(x, in[2]));
        }
        return results;
      });
    }
  }
}

// Norms take squares as they are where scaling them would change exponents alone; the exponents here lie on both sides of every limit of that.
TEST(CpuNorm, OfEveryMagnitudeHasTheBitsOfTheReference) {
  Draw draw(29);
  const auto between = [&](const Shape& shape, int low, int high) {
    std::vector<double> values(static_cast<std::size_t>(count(shape)));
    for (double& v : values)
      v = draw.below(9) == 0
              ? 0.0
              : std::ldexp(1 + static_cast<double>(draw.below(1 << 20)) * 0x1p-20, low + static_cast<int>(draw.below(high - low + 1)));
    return from_host<double>(values, shape, DType::f64);
  };
  constexpr std::array<int, 2> exponents[] = {{-2, 2},     {-63, 0},     {-64, 0},       {-63, -60}, {-64, -63}, {-70, -66},
                                              {0, 62},     {0, 64},      {38, 40},       {41, 42},   {-23, 40},  {-24, 40},
                                              {100, 127},  {-149, -120}, {-30, 15},      {-511, -1}, {-512, 0},  {-111, 400},
                                              {-112, 400}, {380, 401},   {-1074, -1000}, {900, 1023}};
  for (const auto& [low, high] : exponents) {
    std::vector<Tensor> inputs;
    for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const Tensor x = between({40, 150}, low, high).to(dtype);
      inputs.insert(inputs.end(), {x, transpose(x), narrow(x, 1, 3, 37), between({5000}, low, high).to(dtype)});
    }
    expect_as_reference("2^" + std::to_string(low) + " to 2^" + std::to_string(high), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        results.push_back(norm(x));
        for (int axis = 0; axis < x.rank(); ++axis) results.push_back(norm(x, {.axis = axis, .keep = true}));
      }
      return results;
    });
  }
  // Ties all along one lane of the tree hang on the least square, which loses its last bits where it is scaled: 1, or 1 + 2^-23 without a scale; (11/64)^2
  // beside it makes that a difference of the root.
  std::vector<float> ties(224, 0.0f);
  ties[0] = std::ldexp(1 + 0x1p-8f, -72 + 20);
  for (int i = 1; i < 7; ++i) ties[static_cast<std::size_t>(32 * i)] = std::ldexp(1.0f, -72 + 12 * i + 20);
  ties[16] = 11 * 0x1p14f;
  expect_as_reference("ties", {from_host<float>(ties, {224}, DType::f32)}, [](Inputs in) { return std::vector<Tensor>{norm(in[0])}; });
  EXPECT_EQ(norm(from_host<float>(ties, {224}, DType::f32)).item<float>(), 0x1p20f * 1.0146629810333252f);
  for (const double special : {0.0, -0.0, std::numeric_limits<double>::infinity(), std::nan("")}) {
    const Tensor x = concat({full({3, 70}, special, DType::f64), draw.tame({2, 70}, DType::f64)});
    expect_as_reference("with " + std::to_string(special), {x.to(DType::f16), x.to(DType::bf16), x.to(DType::f32), x}, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& y : in) results.insert(results.end(), {norm(y), norm(y, {.axis = 0}), norm(y, {.axis = 1})});
      return results;
    });
  }
}

// What sums the elements that are there is a plain sum where all are; an infinity of each sign is none.
TEST(CpuReduce, WithoutNaNHasTheBitsOfTheReference) {
  Draw draw(28);
  for (DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i32}) {
    const Tensor whole = draw.tame({70, 90}, dtype), wild = draw.wild({70, 90}, dtype);
    expect_as_reference(std::string(to_string(dtype)), {whole, wild, transpose(wild)}, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        results.insert(results.end(),
                       {nansum(x), nansum(x, {.axis = 0}), nansum(x, {.axis = 1, .keep = true}), nanmean(x), nanmean(x, {.axis = 1})});
      }
      return results;
    });
  }
}

TEST(CpuSort, IsTheStableOrderOfTheReference) {
  Draw draw(25);
  for (DType dtype : plain_dtypes) {
    if (is_float8(dtype)) continue;
    const std::vector<Tensor> inputs = {draw.wild({3, 20}, dtype), draw.wild({2, 700}, dtype), transpose(draw.wild({50, 6}, dtype))};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      const auto keep = [&](const Sorted& sorted) {
        results.push_back(sorted.values);
        results.push_back(sorted.indices);
      };
      for (const Tensor& x : in) {
        for (bool down : {false, true}) {
          keep(sort(x, {.axis = 1, .descending = down}));
          keep(sort(x, {.axis = 0, .descending = down}));
          for (Size k : {1, 3, 20}) keep(topk(x, k, {.axis = 1, .largest = down}));
        }
      }
      return results;
    });
  }
}

}  // namespace
}  // namespace votive::test
