// Lookups and rotary positions: the bits of the reference device, and errors before any write.
#include <algorithm>
#include <cstring>

#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;

constexpr DType index_dtypes[] = {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64};

TEST(CpuIndex, LooksUpLikeTheReference) {
  Draw draw(30);
  for (DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (DType index : index_dtypes) {
      const Size low = is_signed_integer(index) ? -50 : 0;
      const std::vector<Tensor> inputs = {draw.wild({50, 70}, dtype), transpose(draw.wild({70, 50}, dtype)),
                                          draw.integers({4, 300}, index, 0, 50), draw.integers({90}, index, low, 50),
                                          draw.integers({50, 33}, index, low, 50)};
      expect_as_reference(std::string(to_string(dtype)) + " by " + std::string(to_string(index)), inputs, [](Inputs in) {
        std::vector<Tensor> results;
        for (int i : {0, 1}) {
          const Tensor& x = in[static_cast<std::size_t>(i)];
          results.push_back(embedding(x, in[2]));
          results.push_back(index_select(x, in[3], 0));
          results.push_back(index_select(x, in[3], 1));
          results.push_back(index_select(x, select(in[3], 0, 3), 0));
          results.push_back(gather(x, in[4], 0));
          results.push_back(gather(x, in[4], 1));
        }
        return results;
      });
    }
  }
}

TEST(CpuIndex, DequantisesEmbeddingsLikeTheReference) {
  Draw draw(31);
  for (DType dtype : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    Tensor table = Tensor::allocate("test", {.dtype = dtype, .shape = {40, 512}});
    for (std::size_t i = 0; i < table.buffer_bytes(); ++i) table.mutable_buffer()[i] = static_cast<std::byte>(draw.word());
    const Tensor ids = draw.integers({3, 9}, DType::i32, 0, 40);
    expect_as_reference(std::string(to_string(dtype)), {table, ids}, [](Inputs in) {
      return std::vector<Tensor>{embedding(in[0], in[1]), in[0].to(DType::f32), in[0].to(DType::f16),
                                 embedding(narrow(in[0], 0, 3, 37), minimum(in[1], full({}, 36, DType::i32, {.device = in[1].device()})))};
    });
    const Tensor packed = prepack(table);
    const Tensor columns = draw.integers({7}, DType::i32, 0, 512);
    for (const Tensor& weight : {table, packed}) {  // transposed, blocks lie along the first axis
      const Tensor turned = transpose(table.to(DType::f32));
      for_every_machine([&](const std::string& machine) {
        expect_equal_bits(transpose(weight).to(DType::f32), turned, machine);
        expect_equal_bits(transpose(weight).to(DType::f16), turned.to(DType::f16), machine);
        expect_equal_bits(embedding(transpose(weight), columns), embedding(turned, columns), machine);
      });
    }
    const Tensor want = embedding(table, ids), whole = table.to(DType::bf16);
    for_every_machine([&](const std::string& machine) {
      expect_equal_bits(embedding(packed, ids), want, machine);
      expect_equal_bits(packed.to(DType::bf16), whole, machine);
    });
  }
}

TEST(CpuIndex, OutOfRangeSaysWhatTheReferenceSays) {
  const Tensor x = zeros({5, 3});
  for (const Tensor& indices : {tensor({0, 4, 5, 9}, DType::i32), tensor({0, -6, 5}, DType::i64), tensor({1, 255}, DType::u8)}) {
    std::string want;
    try {
      index_select(x.to(Device::reference), indices.to(Device::reference), 0);
    } catch (const Error& error) { want = error.what(); }
    for_every_machine([&](const std::string& machine) {
      try {
        index_select(x, indices, 0);
        ADD_FAILURE() << "no error on " << machine;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::IndexOutOfRange);
        // the device is named where it is not the cpu
        std::string said = error.what();
        const std::size_t at = want.find(" on reference");
        EXPECT_EQ(said, at == std::string::npos ? want : want.substr(0, at) + want.substr(at + 13)) << machine;
      }
    });
  }
  EXPECT_THROW(embedding(x, tensor({-1}, DType::i32)), Error);
  EXPECT_THROW(gather(x, tensor({{7}}, DType::i32), 1), Error);
}

/// Update k goes to target t of as many as counts[t], in an order that mixes them.
Tensor targets_with_counts(const std::vector<Size>& counts, DType index) {
  std::vector<std::int64_t> ids;
  for (std::size_t t = 0; t < counts.size(); ++t) ids.insert(ids.end(), static_cast<std::size_t>(counts[t]), static_cast<std::int64_t>(t));
  std::mt19937 random(34);
  std::shuffle(ids.begin(), ids.end(), random);
  return from_host<std::int64_t>(ids, {static_cast<Size>(ids.size())}, DType::i64).to(index);
}

TEST(CpuScatter, OfRowsHasTheBitsOfTheReferenceForAnyNumberOfUpdates) {
  Draw draw(35);
  const std::vector<Size> counts = {0, 1, 2, 3, 5, 8, 9, 16, 17, 31, 32, 33, 48, 63, 64, 65, 0, 511, 512, 513, 700, 4096, 4100};
  const Tensor ids = targets_with_counts(counts, DType::i32);
  const Size n = static_cast<Size>(counts.size());
  for (DType dtype : {DType::bf16, DType::f32, DType::f64, DType::i32}) {
    for (Size columns : {1, 3, 16, 31, 64, 77, 515}) {
      if (columns == 515 && dtype != DType::f32) continue;
      const std::vector<Tensor> inputs = {draw.tame({n, columns}, dtype), draw.tame({ids.count(), columns}, dtype), ids};
      expect_as_reference(std::string(to_string(dtype)) + " rows of " + std::to_string(columns), inputs, [&](Inputs in) {
        std::vector<Tensor> results = {index_add(in[0], in[2], in[1])};
        if (columns > 77 || columns == 1) return results;
        const Tensor places = broadcast_to(reshape(in[2], {in[2].count(), 1}), in[1].shape());
        results.push_back(scatter_add(in[0], places, in[1]));
        return results;
      });
    }
  }
}

// Rows along the last axis are joined a block at once, by threads that share no row; fewer than the targets, as many, and more; wild numbers, all modes.
TEST(CpuScatter, OfElementsOfManyRowsHasTheBitsOfTheReference) {
  Draw draw(36);
  for (DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64, DType::i8, DType::i64}) {
    for (Size width : {3, 40, 300}) {
      const std::vector<Tensor> inputs = {draw.wild({70, 9, 40}, dtype), draw.wild({70, 9, width}, dtype),
                                          draw.integers({70, 9, width}, width == 40 ? DType::i32 : DType::i64, width == 3 ? -40 : 0, 40)};
      expect_as_reference(std::string(to_string(dtype)) + " rows of " + std::to_string(width), inputs, [&](Inputs in) {
        std::vector<Tensor> results;
        for (ScatterMode mode :
             {ScatterMode::assign, ScatterMode::add, ScatterMode::min, ScatterMode::max, ScatterMode::mul, ScatterMode::mean})
          if (is_floating(dtype) || mode != ScatterMode::mean) results.push_back(scatter(in[0], in[2], in[1], {.axis = 2, .mode = mode}));
        const auto part = [&](const Tensor& t) { return narrow(narrow(t, 0, 0, 60), 2, 0, width < 40 ? width : 30); };
        results.push_back(scatter_add(in[0], part(in[2] % 9), part(in[1]), 1));
        return results;
      });
    }
  }
}

// Far more rows than a thread joins at once.
TEST(CpuScatter, UpdatesOfManyRowsHaveTheBitsOfTheReference) {
  Draw draw(37);
  const std::vector<Tensor> inputs = {draw.tame({3000, 20}, DType::f32), draw.tame({3000, 30}, DType::f32),
                                      draw.integers({3000, 30}, DType::i64, 0, 20)};
  expect_as_reference("3000 rows", inputs, [](Inputs in) { return std::vector<Tensor>{scatter_add(in[0], in[2], in[1], 1)}; });
  const std::vector<Tensor> counts = {draw.integers({200000}, DType::i64, 0, 1000), draw.integers({200000}, DType::i64, -1000, 1000)};
  expect_as_reference("one row", counts, [](Inputs in) {
    const Tensor narrow_sums = full({1000}, 7, DType::u8, {.device = in[0].device()});
    return std::vector<Tensor>{bincount(in[0]), index_add(zeros({1000}, DType::i64, {.device = in[0].device()}), in[1], in[0]),
                               index_add(narrow_sums, in[1], (in[0] % 251).to(DType::u8))};
  });
}

TEST(CpuConcat, JoinsAlongAnyAxisLikeTheReference) {
  Draw draw(32);
  const std::vector<Tensor> inputs = {draw.wild({6, 20}, DType::f16), transpose(draw.wild({20, 6}, DType::f16)),
                                      draw.wild({6, 20}, DType::bf16), draw.wild({0, 20}, DType::f16)};
  expect_as_reference("concat", inputs, [](Inputs in) {
    return std::vector<Tensor>{concat({in[0], in[3], in[1]}, 0), concat({in[1], in[0]}, 1), concat({in[0], in[2]}, 1),
                               stack({in[0], in[1]}, 1), stack({in[0], in[1]}, -1)};
  });
}

TEST(CpuRope, TurnsLikeTheReference) {
  Draw draw(33);
  for (DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const Tensor x = draw.wild({2, 3, 5, 64}, dtype);
    const std::vector<Tensor> inputs = {x, permute(draw.tame({2, 5, 3, 64}, dtype), {0, 2, 1, 3}), draw.integers({5}, DType::i32, 0, 5000),
                                        draw.integers({2, 5}, DType::u16, 0, 5000)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (Size rotated : {64, 32, 0}) {
        const Tensor frequencies = rope_frequencies(rotated, 10000.0, {.device = in[0].device()});
        for (RopePairing pairing : {RopePairing::halves, RopePairing::interleaved}) {
          for (std::size_t i : {0, 1}) {
            for (std::size_t p : {2, 3}) results.push_back(rope(in[i], in[p], frequencies, {.pairing = pairing}));
          }
        }
      }
      return results;
    });
  }
}

// Slices of outputs of 16 MiB and more bypass the caches where they are whole lines; those to come are fetched. What comes out is compared with the table.
TEST(CpuIndex, OfSlicesPastTheCachesAreThoseOfTheTable) {
  for (const auto& of :
       {std::pair<Size, DType>{64, DType::f32}, {1072, DType::f32}, {1080, DType::bf16}, {65, DType::f64}, {16, DType::u8}}) {
    const Size width = of.first;
    const DType dtype = of.second;
    const Size bytes = width * block_bytes(dtype), rows = 900, taken = (Size{17} << 20) / bytes;
    const Tensor table = randint(0, 100, {rows, width}, {.seed = 5, .dtype = DType::i64}).to(dtype);
    const Tensor ids = randint(0, rows, {taken}, {.seed = 6, .dtype = DType::i64});
    const std::vector<std::int64_t> id = ids.to_host<std::int64_t>();
    for_every_machine([&](const std::string& machine) {
      for (const Tensor& y : {embedding(table, ids), index_select(table, ids, 0), index_select(unsqueeze(table, 0), ids, 1)}) {
        Size wrong = 0;
        for (Size i = 0; i < taken; ++i) {
          const std::byte* const row = static_cast<const std::byte*>(table.first()) + id[static_cast<std::size_t>(i)] * bytes;
          wrong += std::memcmp(static_cast<const std::byte*>(y.first()) + i * bytes, row, static_cast<std::size_t>(bytes)) != 0;
        }
        EXPECT_EQ(wrong, 0) << to_string(dtype) << ' ' << width << " on " << machine;
      }
    });
  }
}

}  // namespace
}  // namespace votive::test
