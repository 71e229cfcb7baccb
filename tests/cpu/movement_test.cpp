// Casts, copies, where, creation: the bits of the reference device on every instruction set and thread count.
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
    for (const auto& [rows, columns] : {std::pair<Size, Size>{1, 1}, {7, 300}, {100, 130}, {33, 64}}) {
      for (const Tensor& x : layouts(draw, dtype, rows, columns)) {
        const auto want = elements(x);
        for_every_machine([&](const std::string& machine) {
          const Tensor y = contiguous(x);
          EXPECT_TRUE(y.is_contiguous());
          EXPECT_EQ(elements(y), want) << to_string(dtype) << " " << rows << "x" << columns << " on " << machine;
          Tensor z = transpose(zeros({columns, rows}, dtype));
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
