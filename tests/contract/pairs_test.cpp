// Every operation of two tensors × every pair of dtypes: the dtype that comes out, or the error, is what the rules of CONTRACT.md 1.2 say; and for
// every pair that is taken, corners × corners have the bits of `reference` on every instruction set.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>

#include "tests/contract/binary_rules.h"
#include "tests/contract/values.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"

namespace votive::contract {
namespace {

std::vector<DType> every_dtype() {
  std::vector<DType> all;
  for (int d = 0; d < dtype_count; ++d) all.push_back(static_cast<DType>(d));
  return all;
}

Tensor any_of(DType dtype, Device device) {
  Rng rng(1);
  return moved(make(rng, {.dtype = dtype, .shape = {block_size(dtype)}, .values = Values::truth}, LayoutKind::contiguous), device);
}
Tensor one_of(DType dtype, Device device) { return moved(tensor_of(dtype, {1}, {1}), device); }

/// The casts that an error proposes, done: every `a.to(f32)` in its hint. Empty when it proposes none.
std::string follow_hint(const Error& error, Tensor& a, Tensor& b) {
  std::string done;
  const std::string& hint = error.hint();
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  for (std::size_t at = hint.find(".to("); at != std::string::npos; at = hint.find(".to(", at + 1)) {
    const std::size_t end = hint.find(')', at);
    if (at == 0 || std::string("abx").find(hint[at - 1]) == std::string::npos || (at > 1 && is_word(hint[at - 2]))) continue;
    if (end == std::string::npos) break;
    for (const DType to : every_dtype()) {
      if (hint.substr(at + 4, end - at - 4) != to_string(to)) continue;
      Tensor& operand = hint[at - 1] == 'b' ? b : a;
      EXPECT_TRUE(!is_integer(operand.dtype()) || !is_integer(to) || block_bytes(to) >= block_bytes(operand.dtype()))
          << error.what() << ": that cast loses values";
      operand = operand.to(to);
      done += hint.substr(at - 1, end - at + 2);
    }
  }
  return done;
}

class EveryPair : public ::testing::TestWithParam<BinaryFunction> {};

INSTANTIATE_TEST_SUITE_P(OfDTypes, EveryPair, ::testing::ValuesIn(binary_functions()),
                         [](const auto& parameter) { return parameter.param.name(); });

TEST_P(EveryPair, GivesTheDTypeOfTheRulesOrTheirError) {
  const BinaryFunction& f = GetParam();
  for (const Device device : {Device::cpu, Device::reference}) {
    for (const DType a : every_dtype()) {
      for (const DType b : every_dtype()) {
        if (is_quantised(a) && is_quantised(b) && a != b) continue;
        const PairRule rule = pair_rule(f.row().group, a, b);
        const std::string pair = f.name() + "(" + std::string(to_string(a)) + ", " + std::string(to_string(b)) + ")";
        // Of one element each, the bits of 1: no rule about values refuses that.
        Tensor x = is_quantised(a) ? any_of(a, device) : one_of(a, device), y = is_quantised(b) ? any_of(b, device) : one_of(b, device);
        try {
          const DType given = f.call(x, y).dtype();
          if (rule.result) {
            EXPECT_EQ(to_string(given), to_string(*rule.result)) << pair;
          } else {
            ADD_FAILURE() << pair << " gave " << to_string(given) << " and must be refused";
          }
          continue;
        } catch (const Error& error) {
          if (rule.result) {
            ADD_FAILURE() << pair << " must give " << to_string(*rule.result) << " and said: " << error.what();
            continue;
          }
          EXPECT_EQ(error.kind(), ErrorKind::DTypeMismatch) << pair << ": " << error.what();
          EXPECT_EQ(error.op(), f.name()) << pair << ": " << error.what();
          const std::string text = error.what();
          if (rule.blames_a) { EXPECT_NE(text.find(" " + std::string(to_string(a)) + "["), std::string::npos) << pair << ": " << text; }
          if (rule.blames_b) { EXPECT_NE(text.find(" " + std::string(to_string(b)) + "["), std::string::npos) << pair << ": " << text; }
        }
        // Who does what the errors say, a cast or two of each operand, arrives.
        bool arrived = false;
        std::string way;
        for (int step = 0; step < 6 && !arrived; ++step) {
          try {
            f.call(x, y);
            arrived = true;
          } catch (const Error& error) {
            if (error.kind() != ErrorKind::DTypeMismatch) {
              arrived = true;  // the dtypes are right now; a value or a shape is not
              break;
            }
            const std::string done = follow_hint(error, x, y);
            if (done.empty()) {
              way += " then no cast: " + std::string(error.what());
              break;
            }
            way += " " + done;
          }
        }
        EXPECT_TRUE(arrived) << pair << ": the casts proposed do not help:" << way;
      }
    }
  }
}

struct Tally {
  long long pairs = 0, elements = 0;
  ~Tally() {
    if (pairs > 0)
      std::printf("corners: %lld pairs of dtypes × operation, %lld results of reference compared with every instruction set\n", pairs,
                  elements);
  }
};
Tally tally;

bool is_exhaustive() { return std::getenv("VOTIVE_EXHAUSTIVE") != nullptr; }

TEST_P(EveryPair, GivesTheBitsOfReferenceForCornersTimesCorners) {
  const BinaryFunction& f = GetParam();
  const std::size_t limit = is_exhaustive() ? 400 : sanitized ? 14 : 48;
  const std::string before(runtime::instruction_set());
  for (const DType a : every_dtype()) {
    for (const DType b : every_dtype()) {
      const PairRule rule = pair_rule(f.row().group, a, b);
      if (!rule.result) continue;
      const auto lefts = telling_values(a, limit);
      auto rights = telling_values(b, limit);
      std::erase_if(rights, [&](std::uint64_t bits) { return is_refused(f.row().group, rule.result, b, bits); });
      const Tensor x = tensor_of(a, {static_cast<Size>(lefts.size()), 1}, lefts),
                   y = tensor_of(b, {static_cast<Size>(rights.size())}, rights);
      const Tensor expected = f.call(moved(x, Device::reference), moved(y, Device::reference));
      for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
        if (!set.available) continue;
        runtime::set_instruction_set(set.name);
        const std::string wrong = difference(f.call(x, y), expected, false);
        EXPECT_EQ(wrong, "") << f.name() << "(" << to_string(a) << ", " << to_string(b) << ") of corners on " << set.name;
      }
      ++tally.pairs;
      tally.elements += expected.count();
    }
  }
  runtime::set_instruction_set(before);
}

// Integers refuse a divisor of zero and a negative exponent, before anything is written, and name its place.
std::vector<BinaryFunction> refusing_functions() {
  std::vector<BinaryFunction> all;
  for (const BinaryFunction& f : binary_functions()) {
    if (f.row().group == PointwiseGroup::division || f.row().group == PointwiseGroup::power) all.push_back(f);
  }
  return all;
}

class RefusedElement : public ::testing::TestWithParam<BinaryFunction> {};

INSTANTIATE_TEST_SUITE_P(OfIntegers, RefusedElement, ::testing::ValuesIn(refusing_functions()),
                         [](const auto& parameter) { return parameter.param.name(); });

TEST_P(RefusedElement, IsNamedWithItsPlace) {
  const BinaryFunction& f = GetParam();
  const PointwiseGroup group = f.row().group;
  int refused = 0;
  for (const Device device : {Device::cpu, Device::reference}) {
    for (const DType a : every_dtype()) {
      for (const DType b : every_dtype()) {
        const PairRule rule = pair_rule(group, a, b);
        const std::uint64_t bad = group == PointwiseGroup::division ? 0 : ~std::uint64_t{0};
        if (!rule.result || !is_refused(group, rule.result, b, bad)) continue;
        std::vector<std::uint64_t> elements(300, 1);
        elements[217] = bad;
        const Tensor x = moved(tensor_of(a, {300}, std::vector<std::uint64_t>(300, 1)), device);
        const Tensor y = moved(tensor_of(b, {300}, elements), device);
        try {
          f.call(x, y);
          ADD_FAILURE() << f.name() << "(" << to_string(a) << ", " << to_string(b) << ") was not refused on " << to_string(device);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), group == PointwiseGroup::division ? ErrorKind::DivisionByZero : ErrorKind::Domain) << error.what();
          EXPECT_EQ(error.position(), std::vector<Size>{217}) << error.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_GT(refused, 50);
}

}  // namespace
}  // namespace votive::contract
