// Scans along any axis, softmax of rows with tiny shares, and long sorts: the bits of the reference device across every block size of the kernels.
#include <bit>
#include <limits>
#include <random>

#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;

std::vector<Tensor> scans(const Tensor& x, int axis) {
  std::vector<Tensor> results = {cumsum(x, axis), cumprod(x, axis)};
  if (is_floating(x.dtype())) {
    results.push_back(logcumsumexp(x, axis));
    results.push_back(linear_recurrence(x * Literal(0.25), x, axis));
  }
  for (const ScannedExtreme& extreme : {cummax(x, axis), cummin(x, axis)}) {
    results.push_back(extreme.values);
    results.push_back(extreme.indices);
  }
  return results;
}

// A line is scanned in chunks of 4096, by blocks of 16 in the lanes of a register; columns from 32 on are scanned side by side, 1024 at a time; the chunks of
// a single long line are shared by threads in segments of 64.
TEST(CpuScan, OfEveryLengthHasTheBitsOfTheReference) {
  Draw draw(70);
  for (Size n : {1, 15, 16, 17, 64, 255, 256, 257, 300, 1024, 1100, 4095, 4096, 4097, 8192, 12345}) {
    for (DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32}) {
      const bool floating = is_floating(dtype);
      const Tensor line = floating ? draw.tame({2, n}, dtype) : draw.integers({2, n}, dtype, 0, 100);
      expect_as_reference(std::string(to_string(dtype)) + " n = " + std::to_string(n), {line}, [](Inputs in) {
        return std::vector<Tensor>{cumsum(in[0], 1), cumprod(in[0] * Literal(in[0].dtype() == DType::i32 ? 1 : 0.5), 1)};
      });
    }
  }
  expect_as_reference("one long line", {draw.tame({300000}, DType::f32)}, [](Inputs in) { return std::vector<Tensor>{cumsum(in[0], 0)}; });
}

TEST(CpuScan, AlongAnyAxisHasTheBitsOfTheReference) {
  Draw draw(71);
  for (DType dtype : {DType::f32, DType::bf16, DType::f64, DType::i32, DType::u8}) {
    const Tensor flat = draw.wild({40, 1100}, dtype), deep = draw.wild({3, 50, 40}, dtype), narrow_one = draw.wild({20, 31}, dtype);
    expect_as_reference(std::string(to_string(dtype)), {flat, deep, narrow_one, transpose(flat), flip(deep, 2)}, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (int axis = 0; axis < x.rank(); ++axis) {
          for (const Tensor& y : scans(x, axis)) results.push_back(y);
        }
      }
      return results;
    });
  }
  expect_as_reference("past a chunk", {draw.tame({8200, 33}, DType::f32)}, [](Inputs in) {
    return std::vector<Tensor>{cumsum(in[0], 0), cumprod(in[0] * Literal(0.25), 0)};
  });
}

// Shares below 2^−90 are divided, the others come from a reciprocal and a correction.
TEST(CpuSoftmax, OfSharesOfAnySizeHasTheBitsOfTheReference) {
  Draw draw(72);
  for (double spread : {0.5, 5.0, 40.0, 61.0, 63.0, 80.0, 100.0, 110.0, 1e4}) {
    for (DType dtype : {DType::f32, DType::bf16, DType::f16}) {
      const Tensor x = draw.tame({7, 2100}, dtype) * Literal(spread / 4);
      const Tensor masked = where(gt(x, full({}, 0.0, dtype)), x, full({}, -std::numeric_limits<double>::infinity(), dtype));
      expect_as_reference("spread " + std::to_string(spread), {x, masked, narrow(masked, 1, 0, 37)}, [](Inputs in) {
        std::vector<Tensor> results;
        for (const Tensor& row : in) {
          results.push_back(softmax(row));
          results.push_back(log_softmax(row));
        }
        return results;
      });
    }
  }
}

// Small tensors take a short way: f32 rows of at most 16 and of at most 32 in one step, and every row ends in part of a block of 128 or of 32.
TEST(CpuSoftmax, OfFewNumbersHasTheBitsOfTheReference) {
  Draw draw(76);
  for (DType dtype : floating_dtypes) {
    for (Size n : {1, 2, 7, 8, 10, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 100, 127, 128, 129, 160, 161, 255, 300, 500, 512, 600}) {
      std::vector<Tensor> inputs = {draw.wild({n}, dtype), draw.wild({3, n}, dtype), transpose(draw.tame({n, 2}, dtype))};
      for (double spread : {1.0, 62.0, 90.0, 1e4}) inputs.push_back(draw.tame({2, n}, dtype) * Literal(spread / 4));
      expect_as_reference(std::string(to_string(dtype)) + " n = " + std::to_string(n), inputs, [](Inputs in) {
        std::vector<Tensor> results;
        for (const Tensor& x : in) {
          results.push_back(softmax(x));
          results.push_back(log_softmax(x));
          results.push_back(softmax(x, {.axis = 0}));
        }
        return results;
      });
    }
  }
}

// Past 16 MiB the quotients of a row of whole lines are stored while the next row is read; rows differ in how deep they reach.
TEST(CpuSoftmax, OfManyRowsHasTheBitsOfTheReference) {
  Draw draw(77);
  const auto scaled = [&](Size rows, Size n, DType dtype) {
    return draw.tame({rows, n}, dtype) * exp(draw.tame({rows, 1}, DType::f32) * Literal(2)).to(dtype);
  };
  const auto softmax_of = [](Inputs in) { return std::vector<Tensor>{softmax(in[0])}; };
  const auto log_softmax_of = [](Inputs in) { return std::vector<Tensor>{log_softmax(in[0])}; };
  expect_as_reference("f32, whole lines", {scaled(4100, 1040, DType::f32)}, softmax_of);
  expect_as_reference("f32, lines in parts", {scaled(4200, 1001, DType::f32)}, log_softmax_of);
  expect_as_reference("bf16, whole lines", {scaled(1950, 4416, DType::bf16)}, softmax_of);
  expect_as_reference("f16, whole lines, logarithm", {scaled(8200, 1024, DType::f16)}, log_softmax_of);
}

// What softmax divides with where there is an fma: y·(1/s) corrected once is y/s to the bit, here for many divisors and mantissas drawn close to every edge.
TEST(CpuSoftmax, QuotientFromACorrectedReciprocalIsTheQuotient) {
  std::mt19937 random(73);
  for (int k = 0; k < 2000; ++k) {
    const std::uint32_t near = random() % 4096, any = random() & 0x7fffff;
    const float s = std::bit_cast<float>(0x3f800000u | (k % 4 == 0 ? near : k % 4 == 1 ? 0x7fffff - near : any)), inverse = 1.0f / s;
    int different = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
      const std::uint32_t mantissa = i % 3 == 0 ? i : i % 3 == 1 ? 0x7fffff - i : random() & 0x7fffff;
      const float y = std::bit_cast<float>(0x3f000000u | mantissa), q = y * inverse;
      different +=
          std::bit_cast<std::uint32_t>(__builtin_fmaf(__builtin_fmaf(-q, s, y), inverse, q)) != std::bit_cast<std::uint32_t>(y / s);
    }
    ASSERT_EQ(different, 0) << "divisor " << s;
  }
}

// Rows from 2^15 on are dealt into buckets, from 2^16 on by several threads; few of many come from a heap.
TEST(CpuSort, OfLongRowsIsTheStableOrderOfTheReference) {
  Draw draw(74);
  for (Size n : {800, 32767, 32768, 70001, 140000}) {
    const std::vector<Tensor> inputs = {draw.tame({n}, DType::f32), draw.wild({n}, DType::f32),  draw.integers({n}, DType::i64, -40, 40),
                                        draw.wild({n}, DType::f64), draw.tame({n}, DType::bf16), zeros({n}, DType::f32)};
    expect_as_reference("n = " + std::to_string(n), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      const auto keep = [&](const Sorted& sorted) {
        results.push_back(sorted.values);
        results.push_back(sorted.indices);
      };
      for (const Tensor& x : in) {
        keep(sort(x));
        keep(sort(x, {.axis = 0, .descending = true}));
        for (bool down : {false, true}) {
          for (Size k : {1, 50, 2000}) {
            if (k <= x.count()) keep(topk(x, k, {.axis = 0, .largest = down}));
          }
        }
      }
      return results;
    });
  }
}

}  // namespace
}  // namespace votive::test
