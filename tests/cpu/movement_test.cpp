// Casts, copies, where, creation: the bits of the reference device on every instruction set and thread count.
#include <algorithm>
#include <limits>

#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;

TEST(CpuCast, BetweenAllPairsOfDTypesHasTheBitsOfTheReference) {
  Draw draw(1);
  for (DType from : plain_dtypes) {
    const Tensor x = draw.wild({2100}, from);
    expect_as_reference("cast from " + std::string(to_string(from)), {x}, [](Inputs in) {
      std::vector<Tensor> results;
      for (DType to : plain_dtypes) results.push_back(in[0].to(to));
      for (DType to : {DType::e4m3, DType::e5m2}) results.push_back(cast(in[0], to, {.saturate = false}));
      return results;
    });
  }
}

TEST(CpuCast, OfEveryLayoutHasTheBitsOfTheReference) {
  Draw draw(2);
  for (const Tensor& x : layouts(draw, DType::f32, 37, 71)) {
    expect_as_reference("cast", {x}, [](Inputs in) {
      return std::vector<Tensor>{in[0].to(DType::f16), in[0].to(DType::i16), in[0].to(DType::f64)};
    });
  }
}

TEST(CpuCopy, OfEveryLayoutAndWidthKeepsTheBits) {
  Draw draw(3);
  for (DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const auto& [rows, columns] : {std::pair<Size, Size>{1, 1}, {7, 300}, {100, 130}, {33, 64}, {701, 61}}) {
      for (const Tensor& x : layouts(draw, dtype, rows, columns)) {
        const auto want = elements(x);
        for_every_machine([&](const std::string& machine) {
          const Tensor y = contiguous(x);
          EXPECT_TRUE(y.is_contiguous());
          EXPECT_EQ(elements(y), want) << to_string(dtype) << to_string(x.shape()) << " on " << machine;
          Tensor z = transpose(zeros({x.shape()[1], x.shape()[0]}, dtype));
          copy_into(z, x);
          EXPECT_EQ(elements(z), want) << "into a transposed " << to_string(dtype) << " on " << machine;
        });
      }
    }
  }
}

TEST(CpuCopy, OfPermutedAxesKeepsTheBits) {
  Draw draw(4);
  const Tensor x = draw.wild({5, 33, 3, 40}, DType::f32);
  for (const Tensor& view : {permute(x, {3, 1, 2, 0}), permute(x, {2, 0, 3, 1}), permute(x, {1, 3, 0, 2}), permute(x, {0, 2, 1, 3})}) {
    const auto want = elements(view);
    for_every_machine([&](const std::string& machine) { EXPECT_EQ(elements(contiguous(view)), want) << machine; });
  }
}

/// The bytes of the elements in row-major order, read without the library's kernels.
std::vector<std::byte> bytes_of(const Tensor& x) {
  const Size bytes = block_bytes(x.dtype()), inner = x.size(-1), step = x.strides().back() * bytes;
  std::vector<std::byte> result(static_cast<std::size_t>(x.count() * bytes));
  std::byte* to = result.data();
  for (Size row = 0; row < x.count() / inner; ++row) {
    Size at = x.offset(), rest = row;
    for (int axis = x.rank() - 2; axis >= 0; --axis) {
      at += rest % x.shape()[axis] * x.strides()[axis];
      rest /= x.shape()[axis];
    }
    const std::byte* from = x.buffer() + at * bytes;
    for (Size i = 0; i < inner; ++i, to += bytes, from += step) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  return result;
}

void expect_copied(const Tensor& view, const std::string& what) {
  const std::vector<std::byte> want = bytes_of(view);
  for_every_machine([&](const std::string& machine) {
    const Tensor y = contiguous(view);
    ASSERT_EQ(y.shape(), view.shape());
    EXPECT_EQ(std::memcmp(y.first(), want.data(), want.size()), 0) << what << " on " << machine;
  });
}

// Outputs of 16 MiB and more are streamed where their rows are whole cache lines: squares in registers, tiles that end early on either side, lines.
TEST(CpuCopy, PastTheCachesKeepsTheBits) {
  Draw draw(14);
  const auto random = [&](const Shape& shape, DType dtype) {  // any bits
    const Size width = block_bytes(dtype);
    const DType words = width == 1 ? DType::u8 : width == 2 ? DType::u16 : width == 4 ? DType::u32 : DType::u64;
    const std::int64_t end = width < 8 ? std::int64_t{1} << 8 * width : std::numeric_limits<std::int64_t>::max();
    return bitcast(randint(0, end, shape, {.seed = draw.word(), .dtype = words}), dtype);
  };
  expect_copied(transpose(random({4160, 4099}, DType::u8)), "u8 transposed");
  expect_copied(transpose(random({3104, 2777}, DType::bf16)), "bf16 transposed");
  expect_copied(transpose(random({2064, 2085}, DType::f32)), "f32 transposed");
  expect_copied(transpose(random({1032, 2051}, DType::f64)), "f64 transposed");
  expect_copied(transpose(random({2051, 1032}, DType::f64)), "f64 transposed to the longer rows");
  expect_copied(transpose(random({2085, 2064}, DType::f32)), "f32 transposed to rows that begin within lines");
  expect_copied(permute(random({16, 300, 976}, DType::f32), {2, 0, 1}), "f32 2 0 1");
  expect_copied(permute(random({2, 8, 270000}, DType::f32), {2, 0, 1}), "f32 2 0 1 to rows of half a line");
  expect_copied(permute(random({6, 64, 90, 128}, DType::f32), {0, 2, 1, 3}), "f32 0 2 1 3 in rows of 512 bytes");
  expect_copied(permute(random({6, 64, 360, 64}, DType::bf16), {0, 2, 1, 3}), "bf16 0 2 1 3 in rows of 128 bytes");
  expect_copied(permute(random({6, 64, 480, 24}, DType::f32), {0, 2, 1, 3}), "f32 0 2 1 3 in rows of a line and a half");
  const Tensor wide = random({2100, 4300}, DType::f32);
  expect_copied(narrow(wide, 1, 37, 2064), "f32 in rows of 129 lines");
  expect_copied(narrow(wide, 1, 3, 2065), "f32 in rows of 129 lines and a number");
  for_every_machine([&](const std::string& machine) {
    const Tensor y = concat({narrow(wide, 1, 37, 2064), narrow(wide, 1, 0, 2080)}, 1);
    EXPECT_EQ(bytes_of(narrow(y, 1, 0, 2064)), bytes_of(narrow(wide, 1, 37, 2064))) << machine;
    EXPECT_EQ(bytes_of(narrow(y, 1, 2064, 2080)), bytes_of(narrow(wide, 1, 0, 2080))) << machine;
  });
  expect_copied(slice(random({2100, 4201}, DType::f32), {.axis = 1, .step = 2}), "every other f32");
  expect_copied(slice(random({1, 4400001}, DType::f64), {.axis = 1, .step = 2}), "every other f64 of a row");
  expect_copied(slice(random({1, 9000001}, DType::f32), {.axis = 1, .step = 2}), "every other f32 of a row");
  expect_copied(slice(random({1, 18000001}, DType::bf16), {.axis = 1, .step = 2}), "every other bf16 of a row");
  expect_copied(slice(random({1, 13200001}, DType::f32), {.axis = 1, .start = 1, .step = 3}), "every third f32 of a row");
}

TEST(CpuCopy, OfEveryOtherElementKeepsTheBits) {
  Draw draw(15);
  for (const DType dtype : {DType::bf16, DType::f32, DType::f64}) {
    for (const Size n : {2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 300}) {
      expect_copied(slice(draw.wild({2 * n - 1}, dtype), {.axis = 0, .step = 2}), "every other " + std::string(to_string(dtype)));
      expect_copied(slice(draw.wild({3, 2 * n}, dtype), {.axis = 1, .start = 1, .step = 2}),
                    "every other " + std::string(to_string(dtype)));
    }
  }
}

TEST(CpuCopy, OfFlippedRowsGoesFromTheLastElementToTheFirst) {
  for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64}) {
    const auto width = static_cast<std::size_t>(block_bytes(dtype));
    for (const Size n : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 1025, 5003}) {
      const Tensor x = arange(0, 3 * n, 1, DType::i64).to(DType::u64).to(dtype);
      const auto forward = bytes_of(reshape(x, {3, n}));
      auto backward = forward;
      for (std::size_t row = 0; row < 3; ++row) {
        for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
          const std::size_t from = row * static_cast<std::size_t>(n) + i, to = (row + 1) * static_cast<std::size_t>(n) - 1 - i;
          std::copy_n(forward.begin() + static_cast<std::ptrdiff_t>(from * width), width,
                      backward.begin() + static_cast<std::ptrdiff_t>(to * width));
        }
      }
      for_every_machine([&](const std::string& machine) {
        EXPECT_EQ(bytes_of(contiguous(flip(reshape(x, {3, n}), 1))), backward) << to_string(dtype) << " " << n << " " << machine;
      });
    }
  }
}

TEST(CpuWhere, BroadcastsAndPromotesLikeTheReference) {
  Draw draw(5);
  const Tensor condition = draw.wild({40, 1, 90}, DType::boolean);
  expect_as_reference("where", {condition, draw.wild({3, 90}, DType::f16), draw.wild({40, 3, 1}, DType::f32), draw.wild({90}, DType::i8)},
                      [](Inputs in) {
                        return std::vector<Tensor>{where(in[0], in[1], in[2]), where(in[0], in[3], in[1]), where(in[0], in[3], in[3])};
                      });
}

TEST(CpuCreation, HasTheBitsOfTheReference) {
  expect_as_reference("creation", {zeros({1})}, [](Inputs in) {
    const Device device = in[0].device();
    std::vector<Tensor> results;
    for (DType dtype : plain_dtypes) {
      results.push_back(full({3, 700}, 1, dtype, {.device = device}));
      if (dtype == DType::boolean) continue;
      results.push_back(eye(50, dtype, {.device = device}));
      results.push_back(arange(3, 100, 7, dtype, {.device = device}));
    }
    results.push_back(arange(-3.5, 4000.0, 0.37, DType::bf16, {.device = device}));
    results.push_back(arange(-3.5, 4000.0, 0.37, DType::f64, {.device = device}));
    results.push_back(linspace(0.1, 9.7, 5001, DType::f32, {.device = device}));
    for (DType dtype : floating_dtypes) {
      results.push_back(rand({5003}, {.seed = 7, .stream = 3, .offset = 11, .dtype = dtype, .device = device}));
      results.push_back(randn({5003}, {.seed = 7, .stream = 1ull << 40, .offset = 1ull << 35, .dtype = dtype, .device = device}));
    }
    results.push_back(randint(-17, 100, {40000}, {.seed = 5, .dtype = DType::i8, .device = device}));
    results.push_back(randint(INT64_MIN, INT64_MAX, {4001}, {.seed = 5, .dtype = DType::i64, .device = device}));
    return results;
  });
}

}  // namespace
}  // namespace votive::test
