// Integer products (CONTRACT.md 4.6) on every instruction set against the reference device: every pair of 8-bit dtypes over the sizes at which the packed
// kernel changes its ways, any strides, batch axes; wider integers.
#include <initializer_list>

#include "same_bits.h"

namespace votive {
namespace {

using test::Draw;

std::string name(const char* what, DType a, DType b, Size m, Size n, Size k) {
  return std::string(what) + " " + std::string(to_string(a)) + "·" + std::string(to_string(b)) + " " + std::to_string(m) + "x" +
         std::to_string(n) + "x" + std::to_string(k);
}

void expect_product(const std::string& what, const Tensor& a, const Tensor& b, DType out = DType::i32) {
  test::expect_as_reference(what, {a, b},
                            [out](const std::vector<Tensor>& in) { return std::vector<Tensor>{matmul(in[0], in[1], {.out = out})}; });
}

constexpr DType bytes[] = {DType::u8, DType::i8};

struct Sizes {
  Size m, n, k;
};

// Tiles have 4, 12 or 14 rows and 8, 16 or 32 columns; units 4 k, squares of them 16 to 64 k; runs 16 or 32 columns; blocks 512 or 1024 k.
constexpr Sizes every_edge[] = {{1, 1, 1},   {1, 33, 5},   {2, 16, 63}, {3, 31, 64},  {5, 8, 66},   {7, 65, 127},    {13, 15, 31},
                                {14, 32, 4}, {15, 64, 17}, {28, 7, 2},  {29, 48, 65}, {43, 100, 9}, {17, 130, 1030}, {4, 3, 2051}};

TEST(IntegerMatmul, OfBytesHasTheBitsOfTheReferenceForEverySize) {
  Draw draw(1);
  for (DType a : bytes) {
    for (DType b : bytes) {
      for (const Sizes& s : every_edge) {
        expect_product(name("matmul", a, b, s.m, s.n, s.k), draw.wild({s.m, s.k}, a), draw.wild({s.k, s.n}, b));
      }
    }
  }
}

// The largest sums that fit i32, every number at its end of the range, at the largest k that the contract allows.
TEST(IntegerMatmul, OfBytesAtTheEndsOfTheirRange) {
  struct Case {
    DType a, b;
    std::int64_t most_a, most_b;
    Size k;
  };
  for (const Case& c : {Case{DType::i8, DType::i8, -128, -128, 131071}, Case{DType::u8, DType::u8, 255, 255, 33025},
                        Case{DType::u8, DType::i8, 255, -128, 65793}, Case{DType::i8, DType::u8, -128, 255, 65793}}) {
    expect_product(name("ends", c.a, c.b, 2, 3, c.k), full({2, c.k}, c.most_a, c.a), full({c.k, 3}, c.most_b, c.b));
    // One more k may leave i32 and goes to i64.
    expect_product(name("ends i64", c.a, c.b, 2, 3, c.k + 1), full({2, c.k + 1}, c.most_a, c.a), full({c.k + 1, 3}, c.most_b, c.b),
                   DType::i64);
  }
}

TEST(IntegerMatmul, OfBytesReadsAnyLayout) {
  Draw draw(2);
  for (DType a : bytes) {
    for (DType b : bytes) {
      const auto lefts = test::layouts(draw, a, 19, 70), rights = test::layouts(draw, b, 70, 37);
      for (std::size_t i = 0; i < lefts.size(); ++i) {
        for (std::size_t j = 0; j < rights.size(); ++j) {
          expect_product(name("layouts", a, b, static_cast<Size>(i), static_cast<Size>(j), 70), lefts[i], rights[j],
                         i == j ? DType::i64 : DType::i32);
        }
      }
    }
  }
}

TEST(IntegerMatmul, OfBytesTakesBatches) {
  Draw draw(3);
  const auto both = [&](const char* what, const Tensor& a, const Tensor& b) {
    expect_product(what, a, b);
    expect_product(what, a, b, DType::i64);
  };
  both("batch folded into rows", draw.wild({3, 5, 9, 21}, DType::i8), draw.wild({21, 18}, DType::u8));
  both("batch of one row each, folded", draw.wild({4, 1, 21}, DType::u8), draw.wild({1, 21, 18}, DType::i8));
  both("batch that does not fold", transpose(draw.wild({3, 21, 9}, DType::i8)), draw.wild({21, 18}, DType::i8));
  both("rows that lie apart", slice(draw.wild({6, 9, 21}, DType::i8), {.axis = 0, .start = 0, .stop = 6, .step = 2}),
       draw.wild({21, 18}, DType::u8));
  both("batches of both", draw.wild({2, 3, 9, 21}, DType::u8), draw.wild({2, 3, 21, 18}, DType::u8));
  both("more batches than pieces", draw.wild({17, 4, 21}, DType::u8), draw.wild({17, 21, 5}, DType::i8));
  both("a broadcast", draw.wild({1, 9, 21}, DType::i8), draw.wild({5, 21, 18}, DType::u8));
  both("crossed", draw.wild({2, 1, 9, 21}, DType::i8), draw.wild({3, 21, 18}, DType::i8));
  both("a vector", draw.wild({21}, DType::i8), draw.wild({5, 21, 18}, DType::i8));
  both("nothing to add", draw.wild({3, 0}, DType::i8), draw.wild({0, 4}, DType::u8));
  both("no rows", draw.wild({0, 3}, DType::i8), draw.wild({3, 4}, DType::u8));
}

// Large enough to be cut among threads, by columns and by rows.
TEST(IntegerMatmul, OfBytesIsTheSameForEveryCut) {
  Draw draw(4);
  for (const Sizes& s : {Sizes{150, 600, 140}, Sizes{700, 33, 130}, Sizes{1, 5000, 300}, Sizes{60, 70, 2100}}) {
    const Tensor a = draw.wild({s.m, s.k}, DType::i8), b = draw.wild({s.k, s.n}, DType::u8);
    expect_product(name("cut", DType::i8, DType::u8, s.m, s.n, s.k), a, b);
    expect_product(name("cut transposed", DType::i8, DType::u8, s.m, s.n, s.k), a, transpose(draw.wild({s.n, s.k}, DType::i8)));
  }
}

// More than 24 MiB of packed a, which are multiplied one slab of rows after the other.
TEST(IntegerMatmul, OfBytesInSlabs) {
  constexpr Size m = 195, k = 131000;
  Draw draw(6);
  const Tensor a = draw.wild({m, k}, DType::i8), b = draw.wild({k, 1}, DType::i8);
  std::vector<std::int32_t> want(m, 0);
  const auto* x = reinterpret_cast<const std::int8_t*>(a.buffer()) + a.offset();
  const auto* w = reinterpret_cast<const std::int8_t*>(b.buffer()) + b.offset();
  for (Size i = 0; i < m * k; ++i) want[static_cast<std::size_t>(i / k)] += x[i] * w[i % k];
  test::for_every_machine([&](const std::string& machine) { EXPECT_EQ(matmul(a, b).to_host<std::int32_t>(), want) << machine; });
}

TEST(IntegerMatmul, OfWiderIntegersIsExactModuloTheirWidth) {
  Draw draw(5);
  for (DType dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64}) {
    for (DType other : {DType::i16, DType::u32, DType::i32, DType::u64, DType::i64}) {
      if (!common_dtype(dtype, other)) continue;
      for (const Sizes& s : {Sizes{1, 1, 1}, Sizes{3, 5, 7}, Sizes{9, 33, 20}, Sizes{21, 300, 40}, Sizes{70, 9, 150}}) {
        const Tensor a = draw.wild({s.m, s.k}, dtype), b = draw.wild({s.k, s.n}, other);
        test::expect_as_reference(name("matmul", dtype, other, s.m, s.n, s.k), {a, b}, [](const std::vector<Tensor>& in) {
          return std::vector<Tensor>{matmul(in[0], in[1]), matmul(transpose(in[1]), transpose(in[0]))};
        });
      }
    }
  }
}

}  // namespace
}  // namespace votive
