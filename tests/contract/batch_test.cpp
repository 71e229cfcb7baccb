// Split across a batch: where `reference` gives a part of the result for a part of the inputs, the cpu gives those bits, on every instruction set and
// for whichever cut. Which operations and inputs have a batch is found by asking `reference`, so a new operation of the table is covered by itself;
// one in which no batch is found must be named below with the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include "tests/contract/operations.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"

namespace votive::contract {
namespace {

const std::map<std::string, std::string, std::less<>> without_batch{
    {"full", "has no input"},
    {"arange", "has no input"},
    {"linspace", "has no input"},
    {"eye", "has no input"},
    {"rand", "has no input"},
    {"randn", "has no input"},
    {"randint", "has no input"},
    {"uniform", "has no input"},
    {"truncated", "has no input"},
    {"randperm", "has no input"},
    {"bernoulli", "draws a number per place in the whole tensor"},
    {"multinomial", "draws a number per place in the whole tensor"},
    {"ctc_loss", "has its batch along the second axis"},
    {"added_products", "takes the second of its batch for one of the results"},
    {"place", "writes into a tensor whose shape is an attribute"},
    {"quantile", "has the quantiles along its first axis"},
    {"unique", "joins all elements"},
    {"bincount", "joins all elements"},
    {"histc", "joins all elements"},
};

const std::vector<Operation>& table() {
  static const std::vector<Operation> all = operations();
  return all;
}

using Tensors = std::vector<Tensor>;

std::vector<Tensor> on(const Tensors& inputs, Device device) {
  Tensors there;
  for (const Tensor& x : inputs) there.push_back(moved(x, device));
  return there;
}

/// The inputs with rows first … first + n − 1 of those that have the batch axis.
Tensors cut(const Tensors& inputs, std::uint32_t batched, Size first, Size n) {
  Tensors parts;
  for (std::size_t i = 0; i < inputs.size(); ++i) parts.push_back((batched >> i & 1) != 0 ? narrow(inputs[i], 0, first, n) : inputs[i]);
  return parts;
}

/// What keeps output i of the parts, one after the other, from being output i of the whole; "" when nothing does.
std::string compare(const Tensors& whole, const Tensors& first, const Tensors& second, std::size_t i, bool exact_nan) {
  if (first.size() != whole.size() || second.size() != whole.size()) return "another number of results";
  const Tensor &y = whole[i], &p = first[i], &q = second[i];
  if (y.rank() == 0 || p.rank() != y.rank() || q.rank() != y.rank() || p.size(0) + q.size(0) != y.size(0)) return "a result without batch";
  for (const auto& [part, at] : {std::pair{p, Size{0}}, std::pair{q, p.size(0)}}) {
    const std::string wrong = difference(part, narrow(y, 0, at, part.size(0)), exact_nan);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

/// Which inputs may be cut together: those of one size along axis 0, all of them, those of one rank, or one alone.
std::vector<std::uint32_t> ways_to_cut(const Tensors& inputs) {
  std::vector<std::uint32_t> ways;
  const auto add = [&ways](std::uint32_t way) {
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
  };
  const auto can_be_cut = [](const Tensor& x) { return x.defined() && x.rank() > (is_quantised(x.dtype()) ? 1 : 0) && x.size(0) > 1; };
  for (std::size_t first = 0; first < inputs.size(); ++first) {
    if (!can_be_cut(inputs[first])) continue;
    std::uint32_t of_its_size = 0, of_its_rank = 0;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!can_be_cut(inputs[i]) || inputs[i].size(0) != inputs[first].size(0)) continue;
      of_its_size |= 1u << i;
      if (inputs[i].rank() == inputs[first].rank()) of_its_rank |= 1u << i;
    }
    add(of_its_rank);
    add(of_its_size);
    add(1u << first);
  }
  return ways;
}

class Batch : public ::testing::TestWithParam<std::size_t> {
 protected:
  static inline long long compared = 0;
  static void TearDownTestSuite() { std::printf("batches: %lld results cut in two and compared\n", compared); }
  void TearDown() override { runtime::set_instruction_set(before_); }

 private:
  std::string before_{runtime::instruction_set()};
};

INSTANTIATE_TEST_SUITE_P(EveryOperation, Batch, ::testing::Range(std::size_t{0}, table().size()),
                         [](const auto& index) { return table()[index.param].name; });

Size elements(const Case& c) {
  Size n = 0;
  for (const Input& input : c.inputs) n += input.present ? count(input.shape) : 0;
  return n;
}

/// Whether a batch was found in this case; fails where the cpu's parts are not the whole.
bool check(const Operation& op, const Case& c, const Tensors& inputs, Size at, long long& compared) {
  Tensors whole;
  try {
    whole = c.call(on(inputs, Device::reference), Device::reference);
  } catch (const Error&) { return false; }
  for (const std::uint32_t batched : ways_to_cut(inputs)) {
    const Size n = inputs[static_cast<std::size_t>(std::countr_zero(batched))].size(0);
    const Size first = 1 + at % (n - 1);
    const Tensors left = cut(inputs, batched, 0, first), right = cut(inputs, batched, first, n - first);
    std::vector<std::size_t> split;  // outputs that have the batch
    try {
      const Tensors p = c.call(on(left, Device::reference), Device::reference), q = c.call(on(right, Device::reference), Device::reference);
      for (std::size_t i = 0; i < whole.size(); ++i)
        if (compare(whole, p, q, i, op.exact_nan).empty()) split.push_back(i);
    } catch (const Error&) { continue; }
    if (split.empty()) continue;
    for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
      if (!set.available) continue;
      runtime::set_instruction_set(set.name);
      const Tensors y = c.call(inputs, Device::cpu), p = c.call(left, Device::cpu), q = c.call(right, Device::cpu);
      for (const std::size_t i : split) {
        EXPECT_EQ(compare(y, p, q, i, op.exact_nan), "")
            << op.name << " " << to_string(inputs[0].dtype()) << to_string(inputs[0].shape()) << " " << c.note << ", result " << i
            << ", cut after " << first << " on " << set.name;
        ++compared;
      }
    }
    return true;
  }
  return false;
}

TEST_P(Batch, OfTwoPartsHasTheBitsOfTheWhole) {
  const Operation& op = table()[GetParam()];
  long long found = 0;
  for (const DType dtype : op.dtypes) {
    Rng rng(seed_of("batch of " + op.name + std::string(to_string(dtype))));
    int taken = 0;
    for (const Case& c : op.cases(rng, dtype)) {
      if (elements(c) > 6000 || c.inputs.empty()) continue;
      Tensors inputs;
      for (const Input& input : c.inputs) inputs.push_back(input.present ? make(rng, input, LayoutKind::contiguous) : Tensor());
      if (!check(op, c, inputs, rng.below(1000), compared)) continue;
      ++found;
      if (++taken == (sanitized ? 2 : 12)) break;  // per dtype: kernels choose by shape, and twelve shapes are many
    }
  }
  if (without_batch.contains(op.name)) return;
  EXPECT_GT(found, 0) << op.name << " has no batch in any case: give it one, or name it here with the reason";
}

}  // namespace
}  // namespace votive::contract
