// Packed weights of floats, whose dtype is that of ordinary tensors: every operation of the table either refuses one by an Error or gives the bits it
// gives for the weight that was packed. None may read its bytes as if they were rows.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {
namespace {

const std::vector<Operation>& table() {
  static const std::vector<Operation> all = operations();
  return all;
}

class Packed : public ::testing::TestWithParam<std::size_t> {
 protected:
  static inline long long refused = 0, taken = 0;
  static void TearDownTestSuite() { std::printf("packed weights: %lld calls refused, %lld taken\n", refused, taken); }
};

INSTANTIATE_TEST_SUITE_P(EveryOperation, Packed, ::testing::Range(std::size_t{0}, table().size()),
                         [](const auto& index) { return table()[index.param].name; });

TEST_P(Packed, WeightsAreRefusedOrReadRight) {
  const Operation& op = table()[GetParam()];
  for (const DType dtype : op.dtypes) {
    if (!is_floating(dtype)) continue;
    Rng rng(seed_of("packed " + op.name + std::string(to_string(dtype))));
    for (const Case& c : op.cases(rng, dtype)) {
      std::vector<Tensor> plain;
      Size elements = 0;
      for (const Input& input : c.inputs) elements += input.present ? count(input.shape) : 0;
      if (elements > 6000) continue;
      for (const Input& input : c.inputs) plain.push_back(input.present ? make(rng, input, LayoutKind::contiguous) : Tensor());
      for (std::size_t i = 0; i < plain.size(); ++i) {
        if (!plain[i].defined() || !is_floating(plain[i].dtype()) || plain[i].rank() != 2 || plain[i].size(0) < 2 || plain[i].size(1) < 2)
          continue;
        std::vector<Tensor> inputs = plain;
        inputs[i] = prepack(plain[i]);
        ASSERT_EQ(inputs[i].packing(), Packing::panels);
        std::vector<Tensor> y;
        try {
          y = c.call(inputs, Device::cpu);
        } catch (const Error&) {
          ++refused;
          continue;
        }
        const std::vector<Tensor> want = c.call(plain, Device::cpu);
        ASSERT_EQ(y.size(), want.size());
        for (std::size_t o = 0; o < y.size(); ++o) {
          if (y[o].defined() && y[o].packing() != Packing::none) y[o] = y[o].to(y[o].dtype());
          EXPECT_EQ(difference(y[o], want[o], op.exact_nan), "") << op.name << " " << to_string(dtype) << " " << c.note << ", input " << i;
        }
        ++taken;
      }
    }
  }
}

}  // namespace
}  // namespace votive::contract
