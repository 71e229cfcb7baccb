// Products on the CPU against the scalar dot product of numerics/reduce.h (CONTRACT.md 4.4), to the bit, for every instruction set of this machine.
#include <cstring>
#include <random>
#include <vector>

#include "on_instruction_sets.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/reduce.h"
#include "votive/ops/apply.h"
#include "votive/ops/matmul.h"
#include "votive/ops/ops.h"

namespace votive {
namespace {

using namespace numerics;  // bits_f32, dot_f32, …; dtypes are written DType::f32 here
using votive::Size;

/// Where numbers are drawn from. `corner` has products near 2⁻¹²⁶, where bf16 pairs flush; `any` is every bit pattern, NaN and infinities included.
enum class Range { unit, any, tiny, corner };

class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : generator_(seed) {}
  float operator()(Range range) {
    const auto r = static_cast<std::uint32_t>(generator_());
    switch (range) {
      case Range::unit: return static_cast<float>(static_cast<int>(r >> 8)) / 8388608.0f - 1.0f;
      case Range::any: return f32_from_bits(r);
      case Range::tiny: return f32_from_bits((r & 0x807fffffu) | (50 + (r >> 23) % 20) << 23);
      case Range::corner: return f32_from_bits((r & 0x807fffffu) | (62 + (r >> 23) % 4) << 23);
    }
    return 0;
  }
  Size size(Size low, Size high) { return low + static_cast<Size>(generator_() % static_cast<std::uint64_t>(high - low + 1)); }

 private:
  std::mt19937_64 generator_;
};

/// A tensor of random numbers and the same numbers as the dot products of the test read them.
struct Operand {
  Tensor tensor;
  std::vector<float> narrow;
  std::vector<double> wide;
  std::vector<std::uint16_t> half;
  DType dtype;
};

Operand random_operand(Numbers& numbers, const Shape& shape, DType dtype, Range range) {
  const auto n = static_cast<std::size_t>(count(shape));
  Operand x{
      .tensor = {}, .narrow = std::vector<float>(n), .wide = std::vector<double>(n), .half = std::vector<std::uint16_t>(n), .dtype = dtype};
  for (std::size_t i = 0; i < n; ++i) {
    const float value = numbers(range);
    x.half[i] = dtype == DType::f16 ? f32_to_f16(range == Range::unit ? value : value * 0x1p48f) : f32_to_bf16(value);
    x.narrow[i] = dtype == DType::f16 ? f16_to_f32(x.half[i]) : dtype == DType::bf16 ? bf16_to_f32(x.half[i]) : value;
    x.wide[i] = x.narrow[i];
  }
  switch (dtype) {
    case DType::f64: x.tensor = from_host<double>(x.wide, shape, dtype); break;
    case DType::f32: x.tensor = from_host<float>(x.narrow, shape, dtype); break;
    default: x.tensor = from_host<std::uint16_t>(x.half, shape, dtype); break;
  }
  return x;
}

bool same(double x, double y) { return std::memcmp(&x, &y, sizeof x) == 0 || (x != x && y != y); }
bool same(float x, float y) { return bits_f32(x) == bits_f32(y) || (x != x && y != y); }

std::string describe(const Tensor& y) { return std::string(to_string(y.dtype())) + to_string(y.shape()); }

/// Elements of y [m, n] that differ from the scalar dot of row i of a (rows × k) and column j of b; a_step and b_step are steps along k.
int differing(const Tensor& y, const Operand& a, Size a_row, Size a_step, const Operand& b, Size b_column, Size b_step, Size k,
              const std::vector<float>& bias) {
  const Size m = y.size(0), n = y.size(1);
  const bool pairs = a.dtype == DType::bf16 && b.dtype == DType::bf16;
  int wrong = 0;
  const std::vector<double> y64 = y.dtype() == DType::f64 ? y.to_host<double>() : std::vector<double>{};
  const std::vector<float> y32 = y.dtype() == DType::f32 ? y.to_host<float>() : std::vector<float>{};
  const std::vector<std::uint16_t> y16 =
      y.dtype() == DType::f16 || y.dtype() == DType::bf16 ? y.to_host<std::uint16_t>() : std::vector<std::uint16_t>{};
  for (Size i = 0; i < m; ++i) {
    for (Size j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      const float addend = bias.empty() ? 0.0f : bias[static_cast<std::size_t>(j)];
      if (y.dtype() == DType::f64) {
        double sum = dot_f64(a.wide.data() + i * a_row, a_step, b.wide.data() + j * b_column, b_step, k);
        if (!bias.empty()) sum += addend;
        wrong += !same(sum, y64[at]);
        continue;
      }
      float sum = pairs ? dot_bf16(a.half.data() + i * a_row, a_step, b.half.data() + j * b_column, b_step, k)
                        : dot_f32(a.narrow.data() + i * a_row, a_step, b.narrow.data() + j * b_column, b_step, k);
      if (!bias.empty()) sum += addend;
      if (y.dtype() == DType::f32) {
        wrong += !same(sum, y32[at]);
      } else {
        wrong += y16[at] != (y.dtype() == DType::f16 ? f32_to_f16(sum) : f32_to_bf16(sum));
      }
    }
  }
  return wrong;
}

/// One product with each operand row-major or transposed.
int differing_product(Numbers& numbers, DType dtype_a, DType dtype_b, Size m, Size n, Size k, bool a_turned, bool b_turned, Range range,
                      bool with_bias) {
  const Operand a = random_operand(numbers, a_turned ? Shape{k, m} : Shape{m, k}, dtype_a, range);
  const Operand b = random_operand(numbers, b_turned ? Shape{n, k} : Shape{k, n}, dtype_b, range);
  std::vector<float> bias;
  Tensor bias_tensor;
  if (with_bias) {
    const Operand c = random_operand(numbers, {n}, *common_dtype(dtype_a, dtype_b), Range::unit);
    bias = c.narrow;
    bias_tensor = c.tensor;
  }
  const Tensor y = apply(Matmul{}, a_turned ? transpose(a.tensor) : a.tensor, b_turned ? transpose(b.tensor) : b.tensor, bias_tensor);
  return differing(y, a, a_turned ? 1 : k, a_turned ? m : 1, b, b_turned ? k : 1, b_turned ? 1 : n, k, bias);
}

/// Bits of x, NaN made one.
std::vector<std::uint32_t> bits(const Tensor& x) {
  std::vector<std::uint32_t> result;
  for (float v : x.to(DType::f32).to_host<float>()) result.push_back(v == v ? bits_f32(v) : 0x7fc00000u);
  return result;
}

/// matmul of a and b on the CPU and on `reference`.
void expect_equal_to_reference(const Tensor& a, const Tensor& b) {
  const Tensor y = apply(Matmul{}, a, b, Tensor());
  const Tensor expected = apply(Matmul{}, a.to(Device::reference), b.to(Device::reference), Tensor());
  ASSERT_EQ(y.shape(), expected.shape());
  EXPECT_EQ(bits(y), bits(expected.to(Device::cpu))) << describe(a) << " · " << describe(b);
}

using Products = OnInstructionSets;

TEST_P(Products, HaveTheBitsOfTheScalarDotProductForAnySizeLayoutDtypeAndThreadCount) {
  Numbers numbers(11);
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      for (Range range : {Range::unit, Range::any, Range::tiny, Range::corner}) {
        for (int layout = 0; layout < 4; ++layout) {
          const Size m = numbers.size(1, 33), n = numbers.size(1, 150), k = numbers.size(1, 75);
          EXPECT_EQ(differing_product(numbers, dtype, dtype, m, n, k, (layout & 1) != 0, (layout & 2) != 0, range, numbers.size(0, 1) == 1),
                    0)
              << to_string(dtype) << " " << m << "×" << k << "×" << n << ", layout " << layout << ", " << count << " threads";
        }
      }
    }
  }
}

TEST_P(Products, AddBlocksOf1024InOrder) {
  Numbers numbers(12);
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (Size k : {1022, 1023, 1024, 1025, 1026, 2047, 2048, 2049, 3100}) {
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 3, 40, k, false, true, Range::unit, true), 0) << to_string(dtype) << ", k " << k;
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 1, 17, k, false, false, Range::unit, false), 0) << to_string(dtype) << ", k " << k;
    }
  }
}

TEST_P(Products, OfManyRowsAreCutWithoutChangingABit) {
  Numbers numbers(13);
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 131, 70, 129, false, false, Range::unit, true), 0) << to_string(dtype);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 113, 32, 1100, true, true, Range::corner, false), 0) << to_string(dtype);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 230, 33, 7, false, true, Range::any, true), 0) << to_string(dtype);
    }
  }
}

TEST_P(Products, OfOneRowOrOneColumnAreTheSame) {
  Numbers numbers(14);
  for (DType dtype : {DType::f32, DType::bf16}) {
    for (Size n : {1, 2, 15, 16, 17, 127, 128, 129, 700}) {
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 1, n, 300, false, true, Range::unit, false), 0) << n;
      EXPECT_EQ(differing_product(numbers, dtype, dtype, n, 1, 300, false, false, Range::unit, true), 0) << n;
    }
  }
}

// A row times columns that lie along k, and a matrix times a column, which is the same turned over: squares of columns in registers, groups of them, what is
// left of either, and blocks of 1024 k.
TEST_P(Products, WithAVectorHaveTheSameBits) {
  Numbers numbers(21);
  const DType dtypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  for (Size k : {31, 32, 33, 63, 64, 65, 127, 1024, 1025, 1057, 2111}) {
    for (Size n : {15, 16, 31, 32, 33, 64, 101}) {
      const DType dtype = dtypes[numbers.size(0, 3)];
      const auto range = static_cast<Range>(numbers.size(0, 3));
      set_threads(static_cast<int>(numbers.size(1, 3)));
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 1, n, k, false, true, range, numbers.size(0, 1) == 1), 0)
          << to_string(dtype) << " row, n " << n << ", k " << k;
      EXPECT_EQ(differing_product(numbers, dtype, dtype, n, 1, k, false, numbers.size(0, 1) == 1, range, numbers.size(0, 1) == 1), 0)
          << to_string(dtype) << " column, n " << n << ", k " << k;
      EXPECT_EQ(differing_product(numbers, dtype, dtype, n, 1, k, true, true, range, false), 0) << to_string(dtype) << " turned, n " << n;
    }
  }
  for (const auto& [of_a, of_b] :
       {std::pair{DType::f16, DType::f32}, {DType::f32, DType::bf16}, {DType::f64, DType::f32}, {DType::bf16, DType::f16}}) {
    EXPECT_EQ(differing_product(numbers, of_a, of_b, 1, 70, 333, false, true, Range::unit, true), 0) << to_string(of_a) << to_string(of_b);
    EXPECT_EQ(differing_product(numbers, of_a, of_b, 70, 1, 333, false, false, Range::unit, false), 0)
        << to_string(of_a) << to_string(of_b);
  }
  const auto random = [&](const Shape& shape, DType dtype) { return random_operand(numbers, shape, dtype, Range::any).tensor; };
  for (DType dtype : dtypes) {
    expect_equal_to_reference(random({3, 2, 45, 150}, dtype), random({2, 150, 1}, dtype));
    expect_equal_to_reference(random({3, 1, 1, 150}, dtype), transpose(random({2, 45, 150}, dtype)));
    expect_equal_to_reference(narrow(random({45, 170}, dtype), 1, 7, 150), random({150, 1}, dtype));
  }
}

// A row passes a matrix whose rows lie dense in strips of columns; so does, turned over, a matrix whose columns do, times a vector.
TEST_P(Products, OfARowWithDenseRowsHaveTheSameBits) {
  Numbers numbers(22);
  for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    for (const auto& [k, n] :
         {std::pair<Size, Size>{257, 256}, {1024, 257}, {1025, 300}, {2111, 130}, {2050, 333}, {33, 4100}, {18, 9001}}) {
      set_threads(static_cast<int>(numbers.size(1, 3)));
      const auto range = static_cast<Range>(numbers.size(0, 3));
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 1, n, k, false, false, range, numbers.size(0, 1) == 1), 0)
          << to_string(dtype) << ", n " << n << ", k " << k;
      EXPECT_EQ(differing_product(numbers, dtype, dtype, n, 1, k, true, false, range, numbers.size(0, 1) == 1), 0)
          << to_string(dtype) << " turned, n " << n << ", k " << k;
    }
    const auto random = [&](const Shape& shape) { return random_operand(numbers, shape, dtype, Range::any).tensor; };
    expect_equal_to_reference(random({3, 2, 1, 260}), random({2, 260, 280}));
    expect_equal_to_reference(random({1, 260}), flip(narrow(random({260, 300}), 1, 7, 280), 0));
  }
  for (const auto& [of_a, of_b] : {std::pair{DType::f16, DType::f32}, {DType::f32, DType::bf16}, {DType::bf16, DType::f16}})
    EXPECT_EQ(differing_product(numbers, of_a, of_b, 1, 300, 333, false, false, Range::unit, true), 0)
        << to_string(of_a) << to_string(of_b);
  set_threads(2);
}

// Both operands are read where they lie: from 4 × 4, which goes without any set-up, to what fits L2.
TEST_P(Products, OfSmallMatricesHaveTheSameBits) {
  Numbers numbers(18);
  for (DType dtype : {DType::f32, DType::f64}) {
    for (Size n : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
      const Size m = numbers.size(1, 66), k = numbers.size(1, 66);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, m, n, k, n % 2 != 0, false, Range::unit, n % 3 == 0), 0)
          << to_string(dtype) << " " << m << "×" << k << "×" << n;
    }
    for (Size m = 1; m <= 16; ++m) EXPECT_EQ(differing_product(numbers, dtype, dtype, m, 4, 4, false, false, Range::any, false), 0) << m;
    // operands of at most 2 KiB, and products of at most that or of more
    for (const auto& [m, n, k] :
         {std::array<Size, 3>{1, 1, 512}, {256, 1, 1}, {300, 2, 1}, {100, 100, 1}, {2, 2, 200}, {64, 8, 8}, {22, 22, 23}})
      EXPECT_EQ(differing_product(numbers, dtype, dtype, m, n, k, false, false, Range::any, false), 0) << m << "×" << k << "×" << n;
  }
}

TEST_P(Products, OfMatricesThatFitTheCachesHaveTheSameBits) {
  Numbers numbers(19);
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 90, 37, 511, false, false, Range::unit, true), 0) << to_string(dtype);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 61, 64, 512, true, false, Range::unit, false), 0) << to_string(dtype);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 75, 40, 513, false, false, Range::unit, true), 0) << to_string(dtype);
      EXPECT_EQ(differing_product(numbers, dtype, dtype, 66, 33, 1100, false, false, Range::unit, false), 0) << to_string(dtype);
    }
  }
  set_threads(2);
  // a's rows whole pages apart, and batches of small products
  const auto make = [&](const Shape& shape, DType dtype) { return random_operand(numbers, shape, dtype, Range::unit).tensor; };
  expect_equal_to_reference(narrow(make({70, 1024}, DType::f32), 1, 5, 200), make({200, 50}, DType::f32));
  expect_equal_to_reference(make({5, 40, 30}, DType::f32), make({5, 30, 34}, DType::f32));
  expect_equal_to_reference(make({3, 1, 20, 30}, DType::f64), make({4, 30, 9}, DType::f64));
  // a batch whose step is −1, so that its second element is at offset −1
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (DType dtype : {DType::f32, DType::bf16}) {
      expect_equal_to_reference(permute(flip(make({8, 600, 2}, dtype), 2), {2, 0, 1}), make({2, 600, 64}, dtype));
    }
  }
  set_threads(2);
}

// A b that each thread packs for itself: rows that do not share out evenly, batches that do and do not, one b for all of a batch, steps of -1.
TEST_P(Products, WhoseThreadsPackForThemselvesHaveTheSameBits) {
  Numbers numbers(20);
  const auto make = [&](const Shape& shape, DType dtype) { return random_operand(numbers, shape, dtype, Range::unit).tensor; };
  for (int count : {2, 3}) {
    set_threads(count);
    for (DType dtype : {DType::f16, DType::bf16, DType::f64}) {
      expect_equal_to_reference(make({101, 70}, dtype), transpose(make({37, 70}, dtype)));
      expect_equal_to_reference(make({2, 90, 33}, dtype), make({33, 21}, dtype));
      expect_equal_to_reference(make({13, 1, 85, 5}, dtype), make({2, 5, 66}, dtype));
      expect_equal_to_reference(make({90, 31}, dtype), permute(flip(make({31, 20, 2}, dtype), 2), {2, 0, 1}));
    }
    expect_equal_to_reference(make({90, 1100}, DType::bf16), make({1100, 40}, DType::bf16));
    expect_equal_to_reference(make({90, 1100}, DType::f16), transpose(make({40, 1100}, DType::f16)));
  }
  set_threads(2);
}

TEST_P(Products, OfMixedDtypesAreThoseOfTheirCommonDtype) {
  Numbers numbers(15);
  for (DType a : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (DType b : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      EXPECT_EQ(differing_product(numbers, a, b, 9, 21, 37, false, true, Range::unit, true), 0) << to_string(a) << " · " << to_string(b);
    }
  }
}

TEST_P(Products, BroadcastTheirBatchAxes) {
  Numbers numbers(16);
  const auto make = [&](const Shape& shape, DType dtype) { return random_operand(numbers, shape, dtype, Range::unit).tensor; };
  for (DType dtype : {DType::f32, DType::bf16}) {
    expect_equal_to_reference(make({2, 1, 5, 19}, dtype), make({3, 19, 23}, dtype));
    expect_equal_to_reference(make({4, 3, 19}, dtype), make({19, 23}, dtype));
    expect_equal_to_reference(make({5, 1, 19}, dtype), make({19, 23}, dtype));
    expect_equal_to_reference(make({1, 19}, dtype), make({2, 3, 19, 4}, dtype));
    expect_equal_to_reference(permute(make({3, 6, 4, 19}, dtype), {0, 2, 1, 3}), make({4, 19, 23}, dtype));
    expect_equal_to_reference(transpose(make({7, 19, 3}, dtype)), transpose(make({1, 8, 19}, dtype)));
    expect_equal_to_reference(make({40, 3, 3}, dtype), make({40, 3, 3}, dtype));
  }
}

TEST_P(Products, ReadViewsWithAnyStride) {
  Numbers numbers(17);
  for (DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor a = random_operand(numbers, {40, 70}, dtype, Range::unit).tensor,
                 b = random_operand(numbers, {70, 50}, dtype, Range::unit).tensor;
    expect_equal_to_reference(flip(a, 1), flip(b, 0));
    expect_equal_to_reference(flip(a, 0), flip(b, 1));
    expect_equal_to_reference(slice(a, {.axis = 1, .start = 3, .stop = 67, .step = 2}),
                              slice(b, {.axis = 0, .start = 5, .stop = 69, .step = 2}));
    expect_equal_to_reference(slice(a, {.axis = 0, .start = 1, .stop = 40, .step = 3}),
                              slice(b, {.axis = 1, .start = 2, .stop = 50, .step = 5}));
    expect_equal_to_reference(broadcast_to(select(a, 0, 3), {9, 70}), b);
    expect_equal_to_reference(a, broadcast_to(unsqueeze(select(b, 1, 4), 1), {70, 33}));
  }
}

TEST_P(Products, OverAnEmptyInnerAxisAreZerosPlusBias) {
  const auto empty = [](const Shape& shape) { return from_host<float>({}, shape, DType::f32); };
  const Tensor a = empty({3, 0}), b = empty({0, 4}), bias = tensor({1, 2, 3, -0.0});
  EXPECT_EQ(apply(Matmul{}, a, b, Tensor()).to_host<float>(), std::vector<float>(12, 0.0f));
  const std::vector<float> expected{1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0};
  EXPECT_EQ(apply(Matmul{}, a, b, bias).to_host<float>(), expected);
  EXPECT_EQ(apply(Matmul{}, empty({0, 5}), from_host<float>(std::vector<float>(20), {5, 4}, DType::f32), Tensor()).shape(), (Shape{0, 4}));
}

// CONTRACT.md 4.3: zero operands are not skipped.
TEST_P(Products, OfZeroAndInfinityAreNaN) {
  const float inf = infinity_f32();
  const Tensor y = matmul(tensor({{0, 1}, {1, 1}}), from_host<float>(std::vector<float>{inf, 1, 2, 3}, {2, 2}, DType::f32));
  const std::vector<float> values = y.to_host<float>();
  EXPECT_NE(values[0], values[0]);
  EXPECT_EQ(values[1], 3);
  EXPECT_EQ(values[2], inf);
  EXPECT_EQ(values[3], 4);
}

// CONTRACT.md 4.4: a sum of bf16 products is flushed by its exact value. 2^-126 - 2^-150 would round to 2^-126 and is less; 2^-126 - 2^-151 is halfway, to even.
TEST_P(Products, OfBf16NextToTheLeastNormalNumberAreFlushedByTheirExactValue) {
  for (const Size rows : {1, 3, 64, 200}) {
    const auto product = [&](float factor) {
      const Tensor a = tensor({{1, 0, 0x1p-75f, 0}}).to(DType::bf16), b = tensor({{0x1p-126f, 0, factor, 0}}).to(DType::bf16);
      return matmul(broadcast_to(a, {rows, 4}), transpose(broadcast_to(b, {rows, 4}))).to(DType::f32).to_host<float>();
    };
    const auto n = static_cast<std::size_t>(rows * rows);
    EXPECT_EQ(product(-0x1p-75f), std::vector<float>(n, 0.0f));
    EXPECT_EQ(product(-0x1p-76f), std::vector<float>(n, 0x1p-126f));
    EXPECT_EQ(product(0x1p-76f), std::vector<float>(n, 0x1p-126f));
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Products, every_instruction_set(), instruction_set_name);

}  // namespace
}  // namespace votive
