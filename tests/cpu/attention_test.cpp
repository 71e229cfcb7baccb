// Attention on the CPU against the executable contract, to the bit, for every instruction set of this machine (CONTRACT.md 4.5, D10, D14).
#include <random>
#include <vector>

#include "on_instruction_sets.h"
#include "votive/numerics/convert.h"
#include "votive/ops/apply.h"
#include "votive/ops/attention.h"
#include "votive/ops/ops.h"

namespace votive {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : generator_(seed) {}
  float number() { return static_cast<float>(static_cast<int>(static_cast<std::uint32_t>(generator_()) >> 8)) / 8388608.0f - 1.0f; }
  Size size(Size low, Size high) { return low + static_cast<Size>(generator_() % static_cast<std::uint64_t>(high - low + 1)); }
  bool coin() { return (generator_() & 1) != 0; }

  Tensor tensor(const Shape& shape, DType dtype, float scale = 1) {
    std::vector<float> values(static_cast<std::size_t>(count(shape)));
    for (float& v : values) v = scale * number();
    return cast(values, shape, dtype);
  }
  static Tensor cast(const std::vector<float>& values, const Shape& shape, DType dtype) {
    if (dtype == DType::f32) return from_host<float>(values, shape, dtype);
    std::vector<std::uint16_t> halves;
    for (float v : values) halves.push_back(dtype == DType::f16 ? numerics::f32_to_f16(v) : numerics::f32_to_bf16(v));
    return from_host<std::uint16_t>(halves, shape, dtype);
  }
  /// True with probability `share`.
  Tensor mask(const Shape& shape, float share) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(count(shape)));
    for (auto& v : values) v = (number() + 1) / 2 < share;
    return boolean_tensor(values, shape);
  }
  static Tensor boolean_tensor(const std::vector<std::uint8_t>& values, const Shape& shape) {
    Tensor x = Tensor::allocate("mask", {.dtype = DType::boolean, .shape = shape});
    for (std::size_t i = 0; i < values.size(); ++i) x.mutable_buffer()[i] = static_cast<std::byte>(values[i]);
    return x;
  }

 private:
  std::mt19937_64 generator_;
};

/// Bits of x as u32, NaN made one.
std::vector<std::uint32_t> bits(const Tensor& x) {
  std::vector<std::uint32_t> result;
  if (x.dtype() == DType::f32) {
    for (float v : x.to_host<float>()) result.push_back(v == v ? numerics::bits_f32(v) : 0x7fc00000u);
  } else {
    for (std::uint16_t v : x.to_host<std::uint16_t>()) result.push_back(v);
  }
  return result;
}

Tensor run(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  return apply(op, q, k, v, mask, Tensor());
}

void expect_equal_to_reference(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  const auto there = [](const Tensor& x) { return x.defined() ? x.to(Device::reference) : x; };
  const Tensor y = run(op, q, k, v, mask), expected = run(op, there(q), there(k), there(v), there(mask)).to(Device::cpu);
  EXPECT_EQ(bits(y), bits(expected)) << to_string(q.dtype()) << " q " << to_string(q.shape()) << ", k " << to_string(k.shape()) << ", v "
                                     << to_string(v.shape()) << (op.causal ? ", causal" : "") << (mask.defined() ? ", masked" : "");
}

constexpr DType dtypes[] = {DType::f32, DType::f16, DType::bf16};

using AttentionOnSets = OnInstructionSets;

TEST_P(AttentionOnSets, HasTheBitsOfTheCompositionForAnySize) {
  Draw draw(21);
  for (int count : {1, 2, 3}) {
    set_threads(count);
    for (DType dtype : dtypes) {
      for (int i = 0; i < 8; ++i) {
        const Size B = draw.size(1, 2), K = draw.size(1, 3), H = K * draw.size(1, 4), T = draw.size(1, 40), S = draw.size(1, 130),
                   D = draw.size(1, 70), E = draw.size(1, 70);
        expect_equal_to_reference({0.125f, draw.coin()}, draw.tensor({B, H, T, D}, dtype), draw.tensor({B, K, S, D}, dtype),
                                  draw.tensor({B, K, S, E}, dtype), Tensor());
      }
    }
  }
}

TEST_P(AttentionOnSets, AddsBlocksOf1024Keys) {
  Draw draw(22);
  for (DType dtype : dtypes) {
    for (Size S : {1023, 1024, 1025, 2048, 2050}) {
      expect_equal_to_reference({0.25f, false}, draw.tensor({1, 2, 1, 8}, dtype), draw.tensor({1, 1, S, 8}, dtype),
                                draw.tensor({1, 1, S, 20}, dtype), Tensor());
    }
    expect_equal_to_reference({0.25f, true}, draw.tensor({1, 1, 30, 8}, dtype), draw.tensor({1, 1, 1040, 8}, dtype),
                              draw.tensor({1, 1, 1040, 5}, dtype), Tensor());
  }
  expect_equal_to_reference({0.01f, false}, draw.tensor({1, 1, 3, 1030}, DType::bf16), draw.tensor({1, 1, 40, 1030}, DType::bf16),
                            draw.tensor({1, 1, 40, 4}, DType::bf16), Tensor());
}

TEST_P(AttentionOnSets, TakesMasksOfEitherKindWithAnyHoles) {
  Draw draw(23);
  for (DType dtype : dtypes) {
    for (float share : {0.0f, 0.1f, 0.7f, 1.0f}) {
      const Size T = 17, S = 90;
      const Tensor q = draw.tensor({2, 4, T, 16}, dtype), k = draw.tensor({2, 2, S, 16}, dtype), v = draw.tensor({2, 2, S, 24}, dtype);
      const Tensor mask = draw.mask({2, 4, T, S}, share);
      expect_equal_to_reference({0.25f, false}, q, k, v, mask);
      expect_equal_to_reference({0.25f, true}, q, k, v, mask);
      std::vector<float> added;
      for (Size i = 0; i < T * S; ++i) added.push_back(draw.number() < share ? draw.number() : -numerics::infinity_f32());
      expect_equal_to_reference({0.25f, false}, q, k, v, broadcast_to(from_host<float>(added, {1, 1, T, S}, DType::f32), {2, 4, T, S}));
    }
    // padding on both sides: every row has the same run of keys
    std::vector<std::uint8_t> run(90);
    for (std::size_t s = 0; s < run.size(); ++s) run[s] = s >= 21 && s < 77;
    const Tensor padding = broadcast_to(Draw::boolean_tensor(run, {1, 1, 1, 90}), {1, 2, 20, 90});
    expect_equal_to_reference({0.25f, true}, draw.tensor({1, 2, 20, 16}, dtype), draw.tensor({1, 2, 90, 16}, dtype),
                              draw.tensor({1, 2, 90, 24}, dtype), padding);
  }
}

// D10, and CONTRACT.md 4.5: masked-out positions must not leak.
TEST_P(AttentionOnSets, GivesZerosWhereNoKeyIsAllowedAndLetsNoMaskedNaNThrough) {
  const float nan = numerics::nan_f32(), inf = numerics::infinity_f32();
  Draw draw(24);
  const Tensor q = draw.tensor({1, 1, 2, 4}, DType::f32);
  std::vector<float> keys(12, 0.5f), values(12, 2.0f);
  for (std::size_t d = 0; d < 4; ++d) {
    keys[4 + d] = nan;
    values[4 + d] = d % 2 == 0 ? inf : nan;
  }
  const Tensor k = from_host<float>(keys, {1, 1, 3, 4}, DType::f32), v = from_host<float>(values, {1, 1, 3, 4}, DType::f32);
  const Tensor y = run({1.0f, false}, q, k, v, Draw::boolean_tensor({1, 0, 1, 0, 0, 0}, {1, 1, 2, 3}));
  EXPECT_EQ(y.to_host<float>(), (std::vector<float>{2, 2, 2, 2, 0, 0, 0, 0}));
}

TEST_P(AttentionOnSets, ReadsCachesWithSpareCapacityAndTransposedHeads) {
  Draw draw(25);
  for (DType dtype : dtypes) {
    const Tensor q = permute(draw.tensor({2, 7, 6, 16}, dtype), {0, 2, 1, 3});
    const Tensor k = narrow(draw.tensor({2, 3, 64, 16}, dtype), 2, 0, 41), v = narrow(draw.tensor({2, 3, 64, 20}, dtype), 2, 0, 41);
    expect_equal_to_reference({0.25f, true}, q, k, v, Tensor());
    expect_equal_to_reference({0.25f, false}, q, transpose(transpose(k)), flip(v, 3), Tensor());
    expect_equal_to_reference({0.25f, false}, q, permute(draw.tensor({2, 3, 16, 41}, dtype), {0, 1, 3, 2}), v, Tensor());
  }
}

// D14: decoding one token with a cache gives the bits of the whole-sequence pass.
TEST_P(AttentionOnSets, GivesOneQueryTheBitsItHasAmongMany) {
  Draw draw(26);
  for (DType dtype : dtypes) {
    const Size T = 70;
    const Tensor q = draw.tensor({2, 6, T, 32}, dtype), k = draw.tensor({2, 2, T, 32}, dtype), v = draw.tensor({2, 2, T, 32}, dtype);
    const Tensor whole = run({0.2f, true}, q, k, v, Tensor());
    for (Size t = 0; t < T; ++t) {
      const Tensor one = run({0.2f, true}, narrow(q, 2, t, 1), narrow(k, 2, 0, t + 1), narrow(v, 2, 0, t + 1), Tensor());
      ASSERT_EQ(bits(one), bits(narrow(whole, 2, t, 1))) << to_string(dtype) << ", query " << t;
    }
    const Tensor piece = run({0.2f, true}, narrow(q, 2, 20, 7), narrow(k, 2, 0, 27), narrow(v, 2, 0, 27), Tensor());
    EXPECT_EQ(bits(piece), bits(narrow(whole, 2, 20, 7)));
    const Tensor alone = run({0.2f, true}, narrow(q, 0, 1, 1), narrow(k, 0, 1, 1), narrow(v, 0, 1, 1), Tensor());
    EXPECT_EQ(bits(alone), bits(narrow(whole, 0, 1, 1)));
  }
}

// Few rows per key head take a path of their own where k and v lie row by row: every number of rows, squares with and without a rest, several groups of
// columns, heads fewer than threads (large enough to be split), keys that only some rows see.
TEST_P(AttentionOnSets, OfFewQueriesHasTheBitsOfTheComposition) {
  Draw draw(28);
  for (DType dtype : dtypes) {
    for (Size rows = 1; rows <= 9; ++rows) {
      set_threads(static_cast<int>(rows % 3 + 1));
      const Size G = rows % 2 == 0 ? rows / 2 : rows, T = rows / G, S = draw.size(1, 100);
      const Size D = rows % 3 == 0 ? 64 : 16 * draw.size(1, 5), E = rows % 4 == 0 ? 144 : 16 * draw.size(1, 8);
      const Tensor q = draw.tensor({2, 2 * G, T, D}, dtype), k = draw.tensor({2, 2, S, D}, dtype), v = draw.tensor({2, 2, S, E}, dtype);
      expect_equal_to_reference({0.125f, false}, q, k, v, Tensor());
      expect_equal_to_reference({0.125f, true}, q, k, v, Tensor());
      expect_equal_to_reference({0.125f, true, 2.0f, 3}, q, k, v, Tensor());
      expect_equal_to_reference({0.125f, false}, q, k, v, draw.mask({2, 2 * G, T, S}, 0.8f));
    }
    for (Size D : {2, 6, 18, 34, 70}) {
      const Size S = 33;
      expect_equal_to_reference({0.5f, false}, draw.tensor({1, 3, 2, D}, dtype), draw.tensor({1, 1, S, D}, dtype),
                                draw.tensor({1, 1, S, 16}, dtype), Tensor());
      for (Size keys : {1, 15, 16, 17, 33})  // of one row, whose keys may come by other squares
        expect_equal_to_reference({0.5f, false}, draw.tensor({1, 1, 1, D}, dtype), draw.tensor({1, 1, keys, D}, dtype),
                                  draw.tensor({1, 1, keys, 16}, dtype), Tensor());
    }
    set_threads(3);
    for (Size S : {1030, 2048, 2500}) {
      const Tensor q = draw.tensor({1, 4, 1, 64}, dtype), k = draw.tensor({1, 2, S, 64}, dtype), v = draw.tensor({1, 2, S, 64}, dtype);
      expect_equal_to_reference({0.125f, false}, q, k, v, Tensor());
      expect_equal_to_reference({0.125f, true, 0.0f, 1100}, q, k, v, draw.mask({1, 4, 1, S}, 0.99f));
      std::vector<std::uint8_t> late(static_cast<std::size_t>(S));
      for (std::size_t s = 1026; s < late.size(); ++s) late[s] = 1;
      expect_equal_to_reference({0.125f, false}, q, k, v, broadcast_to(Draw::boolean_tensor(late, {1, 1, 1, S}), {1, 4, 1, S}));
    }
  }
}

// Many rows are lanes: panels that are not full, several chunks of rows, sums over more than one group, chunk and block of keys, windows that leave whole
// groups out, and everything that changes scores.
TEST_P(AttentionOnSets, OfManyQueriesHasTheBitsOfTheComposition) {
  Draw draw(29);
  for (DType dtype : dtypes) {
    for (Size T : {9, 15, 16, 17, 31, 33, 65, 100}) {
      set_threads(static_cast<int>(T % 3 + 1));
      const Size S = T + draw.size(0, 40);
      const Tensor q = draw.tensor({1, 2, T, 20}, dtype), k = draw.tensor({1, 1, S, 20}, dtype), v = draw.tensor({1, 1, S, 30}, dtype);
      expect_equal_to_reference({0.3f, true}, q, k, v, Tensor());
      expect_equal_to_reference({-0.3f, true}, q, k, v, Tensor());
      expect_equal_to_reference({0.0f, true, 0.0f, 5}, q, k, v, Tensor());
      expect_equal_to_reference({0.3f, true, 1.5f, 11}, q, k, v, draw.mask({1, 2, T, S}, 0.9f));
      const Tensor slopes = draw.tensor({2}, DType::f32);
      const Attention op{0.3f, false};
      const Tensor y = apply(op, q, k, v, Tensor(), slopes);
      const auto there = [](const Tensor& x) { return x.to(Device::reference); };
      EXPECT_EQ(bits(y), bits(apply(op, there(q), there(k), there(v), Tensor(), there(slopes)).to(Device::cpu)));
    }
    const Size T = 40;
    for (Size S : {511, 512, 513, 1025, 4097, 5200}) {
      const Tensor q = draw.tensor({1, 1, T, 8}, dtype), k = draw.tensor({1, 1, S, 8}, dtype), v = draw.tensor({1, 1, S, 6}, dtype);
      expect_equal_to_reference({0.3f, true}, q, k, v, Tensor());
      expect_equal_to_reference({0.3f, true, 0.0f, 600}, q, k, v, Tensor());
    }
  }
}

// A row of scores of −∞ or with a NaN is NaN in its own lane alone; −0 comes out where the composition has it.
TEST_P(AttentionOnSets, KeepsRowsApartWhateverTheirNumbersAre) {
  const float nan = numerics::nan_f32(), inf = numerics::infinity_f32();
  Draw draw(30);
  for (Size T : {1, 20}) {
    for (float wild : {nan, inf, -inf}) {
      std::vector<float> queries(static_cast<std::size_t>(T * 4), 0.5f), keys(50 * 4, 0.25f), values(50 * 16, -1e-38f);
      queries[queries.size() - 4] = wild;
      keys[4 * 7] = wild;
      for (std::size_t e = 0; e < 16; ++e) values[16 * 49 + e] = wild;
      const auto four = [](const std::vector<float>& x, Size n, Size m) { return from_host<float>(x, {1, 1, n, m}, DType::f32); };
      expect_equal_to_reference({1.0f, true}, four(queries, T, 4), four(keys, 50, 4), four(values, 50, 16), Tensor());
      expect_equal_to_reference({200.0f, true}, four(queries, T, 4), draw.tensor({1, 1, 50, 4}, DType::f32), four(values, 50, 16),
                                Tensor());
    }
  }
}

// Nothing is read beside keys and values, wherever their rows lie: 13 MB whose neighbours are nobody's.
TEST_P(AttentionOnSets, ReadsOnlyValuesWhoseRowsRunBackwardsOrAreOne) {
  const CreateOptions here{.device = Device::cpu};
  const Tensor q = ones({1, 1, 1, 2}, DType::f32, here), k = ones({1, 1, 22755, 2}, DType::f32, here);
  for (const Tensor& v :
       {flip(ones({1, 1, 22755, 144}, DType::f32, here), 2), broadcast_to(ones({1, 1, 1, 144}, DType::f32, here), {1, 1, 22755, 144})}) {
    for (const float y : attention(q, k, v).to_host<float>()) ASSERT_NEAR(y, 1.0f, 1e-3f);
  }
}

TEST_P(AttentionOnSets, OverNoKeysIsZero) {
  const auto empty = [](const Shape& shape) { return from_host<float>({}, shape, DType::f32); };
  Draw draw(27);
  EXPECT_EQ(run({1.0f, false}, draw.tensor({1, 2, 3, 4}, DType::f32), empty({1, 1, 0, 4}), empty({1, 1, 0, 5}), Tensor()).to_host<float>(),
            std::vector<float>(30, 0.0f));
  // more queries than keys: the first ones see none
  expect_equal_to_reference({1.0f, true}, draw.tensor({1, 2, 9, 4}, DType::f32), draw.tensor({1, 1, 3, 4}, DType::f32),
                            draw.tensor({1, 1, 3, 5}, DType::f32), Tensor());
}

INSTANTIATE_TEST_SUITE_P(Sets, AttentionOnSets, every_instruction_set(), instruction_set_name);

}  // namespace
}  // namespace votive
