// Quantised products (CONTRACT.md D15) of every format on every instruction set, packed or as the file has them, against the reference device.
#include "votive/cpu/packed_weight.h"

#include <limits>

#include "same_bits.h"

namespace votive {
namespace {

constexpr DType formats[] = {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k};

/// Blocks of random bits, their f16 scales of ordinary size.
Tensor random_weight(Size n, Size k, DType dtype, unsigned seed) {
  std::mt19937 random(seed);
  Tensor w = Tensor::allocate("test", {dtype, {n, k}});
  std::byte* bytes = w.mutable_buffer();
  for (std::size_t i = 0; i < w.buffer_bytes(); ++i) bytes[i] = static_cast<std::byte>(random() & 255);
  const bool two = dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q4_k || dtype == DType::q5_k;
  for (Size block = 0; block < n * k / block_size(dtype); ++block) {
    for (int i = 0; i < (two ? 2 : 1); ++i) {
      std::byte& high = bytes[block * block_bytes(dtype) + (dtype == DType::q6_k ? 208 : 0) + 2 * i + 1];
      high = (high & std::byte{0x83}) | std::byte{0x18};
    }
  }
  return w;
}

Tensor random_rows(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<std::size_t>(count(shape)));
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 20001) - 10000) * 0.0003f;
  return from_host<float>(values, shape, f32);
}

TEST(QuantisedMatmul, HasTheBitsOfTheReferenceForEveryFormat) {
  for (DType dtype : formats) {
    for (Size m : {1, 7, 8, 23}) {
      const Tensor x = random_rows({m, 512}, static_cast<unsigned>(m)), w = random_weight(37, 512, dtype, 5), bias = random_rows({37}, 6);
      test::expect_as_reference("linear " + std::string(to_string(dtype)) + " m=" + std::to_string(m), {x, w, bias},
                                [](const std::vector<Tensor>& in) {
                                  return std::vector<Tensor>{linear(in[0], in[1], in[2]), linear(in[0].to(bf16), in[1])};
                                });
    }
  }
}

TEST(QuantisedMatmul, HasTheSameBitsWithPackedWeights) {
  for (DType dtype : formats) {
    const Tensor x = random_rows({2, 11, 256}, 7), w = random_weight(50, 256, dtype, 8);
    const Tensor plain = linear(x, w);
    test::for_every_machine([&](const std::string& machine) {
      const std::string where = machine + " " + std::string(to_string(dtype));
      test::expect_equal_bits(linear(x, prepack(w)), plain, where);
      test::expect_equal_bits(embedding(prepack(w), tensor({49, 0, 17}, i32)), embedding(w, tensor({49, 0, 17}, i32)),
                              where + " embedding");
    });
  }
}

// One row of x passes packed weights in four streams of groups; what four do not divide is done group by group, and threads take ranges of their own.
TEST(QuantisedMatmul, OfOneRowHasTheSameBitsForEveryNumberOfGroups) {
  for (DType dtype : formats) {
    const Tensor x = random_rows({1, 512}, 12);
    for (Size n : {5, 16, 64, 70, 113, 700}) {
      const Tensor w = random_weight(n, 512, dtype, 13), bias = random_rows({n}, 14);
      const Tensor plain = linear(x, w, bias);
      test::for_every_machine([&](const std::string& machine) {
        test::expect_equal_bits(linear(x, prepack(w), bias), plain,
                                machine + " " + std::string(to_string(dtype)) + " n=" + std::to_string(n));
      });
    }
  }
}

// Weights and activations at their ends, where sums of 16 bits would saturate or wrap if too many were added.
TEST(QuantisedMatmul, IsExactAtTheEndsOfWeightsAndActivations) {
  for (DType dtype : formats) {
    for (int byte : {0x00, 0x7f, 0x80, 0xff}) {
      Tensor w = random_weight(20, 256, dtype, 15);
      const Size scales = dtype == DType::q6_k ? 0 : dtype == DType::q4_k || dtype == DType::q5_k ? 16 : 4;
      for (Size block = 0; block < 20 * 256 / block_size(dtype); ++block) {
        std::memset(w.mutable_buffer() + block * block_bytes(dtype) + scales, byte,
                    static_cast<std::size_t>((dtype == DType::q6_k ? 192 : block_bytes(dtype)) - scales));
      }
      for (float value : {0.9999999f, -0.9999999f, -0.5078125f, 0.49609375f}) {
        for (Size m : {1, 15}) {
          const Tensor x = full({m, 256}, value);
          test::expect_as_reference("ends " + std::string(to_string(dtype)), {x, w}, [](const std::vector<Tensor>& in) {
            return std::vector<Tensor>{linear(in[0], in[1]), linear(in[0], in[1].device() == Device::cpu ? prepack(in[1]) : in[1])};
          });
        }
      }
    }
  }
}

TEST(QuantisedMatmul, GivesNanInEveryOutputOfARowWithANonFiniteActivation) {
  Tensor x = random_rows({2, 64}, 9);
  for (float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    std::memcpy(x.mutable_buffer() + 4 * 40, &bad, 4);
    const Tensor w = random_weight(33, 64, DType::q4_0, 10);
    test::for_every_machine([&](const std::string& machine) {
      const std::vector<float> y = linear(x, prepack(w)).to_host<float>();
      for (std::size_t i = 0; i < 33; ++i) EXPECT_TRUE(y[i] != y[i]) << machine << " output " << i;
      for (std::size_t i = 33; i < 66; ++i) EXPECT_TRUE(y[i] == y[i]) << machine << " output " << i;
    });
  }
}

// One row of ones times weights whose integers are known: T and the scale can be worked out by hand. Q8_0: d = 0.5, w = k − 16.
TEST(QuantisedMatmul, OfOnesIsTheSumOfTheWeights) {
  Tensor w = Tensor::allocate("test", {DType::q8_0, {1, 32}});
  const std::uint16_t half = 0x3800;
  std::memcpy(w.mutable_buffer(), &half, 2);
  for (int k = 0; k < 32; ++k) w.mutable_buffer()[2 + k] = static_cast<std::byte>(k - 16);
  test::for_every_machine([&](const std::string& machine) { EXPECT_EQ(linear(ones({1, 32}), w).item<float>(), -8.0f) << machine; });
}

TEST(PackedWeight, GivesBackEveryBlockAsTheFileHadIt) {
  for (DType dtype : formats) {
    const Tensor w = random_weight(21, 512, dtype, 11);
    const Tensor packed = prepack(w);
    ASSERT_EQ(packed.packing(), Packing::rows16);
    const Size row_bytes = 512 / block_size(dtype) * block_bytes(dtype);
    std::vector<unsigned char> row(static_cast<std::size_t>(row_bytes));
    for (Size r = 0; r < 21; ++r) {
      cpu::read_packed_row(dtype, reinterpret_cast<const unsigned char*>(packed.buffer()), 512, r, row.data());
      EXPECT_EQ(std::memcmp(row.data(), w.buffer() + r * row_bytes, row.size()), 0) << to_string(dtype) << " row " << r;
    }
  }
}

}  // namespace
}  // namespace votive
