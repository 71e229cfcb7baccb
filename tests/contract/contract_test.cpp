// The contract as a test: for every operation of the table, every dtype, layout, instruction set and thread count, the cpu gives the bits of `reference`.
// Prints op × dtype × device with the number of results compared, also to the file VOTIVE_COVERAGE_TABLE names, where processes add up.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include "tests/contract/coverage.h"
#include "tests/contract/operations.h"
#include "votive/base/thread_pool.h"
#include "votive/runtime/devices.h"

namespace votive::contract {

namespace {

const std::vector<Operation>& table() {
  static const std::vector<Operation> all = operations();
  return all;
}

// Under a sanitizer everything takes some thirty times as long, and it looks at accesses, not at values: a seventh of the cases there, on three threads.
constexpr int one_case_in = sanitized ? 7 : 1;
const std::vector<int> thread_counts = sanitized ? std::vector<int>{3} : std::vector<int>{1, 2, 3};

/// A case with its inputs made and what `reference` says to it.
struct Prepared {
  const Case* source;
  LayoutKind layout;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
  bool refused = false;
  std::string refusal;
};

std::string describe(const Operation& op, const Prepared& p) {
  std::string text = op.name + "(";
  for (std::size_t i = 0; i < p.inputs.size(); ++i) {
    if (i != 0) text += ", ";
    const Tensor& x = p.inputs[i];
    text += x.defined() ? std::string(to_string(x.dtype())) + to_string(x.shape()) + " strides " + to_string(x.strides()) : "none";
  }
  return text + ") " + p.source->note + ", " + std::string(to_string(p.layout));
}

/// Errors of both devices must read the same; only the name of the device may differ.
std::string without_device(std::string text) {
  for (std::size_t at; (at = text.find(" on reference")) != std::string::npos;) text.erase(at, 13);
  return text;
}

std::vector<Prepared> prepare(const std::vector<Case>& cases, Rng& rng) {
  std::vector<Prepared> all;
  for (const Case& c : cases) {
    for (const LayoutKind layout : every_layout) {
      if (!c.every_layout && layout != LayoutKind::contiguous) continue;
      if (one_case_in > 1 && !rng.one_in(one_case_in)) continue;
      Prepared p{&c, layout, {}, {}, false, {}};
      std::vector<Tensor> on_reference;
      for (const Input& input : c.inputs) {
        // one input in four lies otherwise than the rest
        const LayoutKind own = rng.one_in(4) && c.every_layout ? every_layout[rng.below(6)] : layout;
        p.inputs.push_back(input.present ? make(rng, input, own) : Tensor());
        on_reference.push_back(moved(p.inputs.back(), Device::reference));
      }
      try {
        p.expected = c.call(on_reference, Device::reference);
      } catch (const Error& error) {
        p.refused = true;
        p.refusal = without_device(error.what());
      }
      all.push_back(std::move(p));
    }
  }
  return all;
}

std::string compare(const Operation& op, const Prepared& p) {
  std::vector<Tensor> actual;
  try {
    actual = p.source->call(p.inputs, Device::cpu);
  } catch (const Error& error) {
    if (p.refused) return without_device(error.what()) == p.refusal ? "" : std::string(error.what()) + " instead of " + p.refusal;
    return error.what();
  }
  if (p.refused) return "no error instead of " + p.refusal;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string d = difference(actual[i], p.expected[i], op.exact_nan);
    if (!d.empty()) return d;
  }
  return {};
}

class Contract : public ::testing::TestWithParam<std::size_t> {
 protected:
  /// Every case runs on every instruction set; on every number of threads only on the set that the machine would choose, on the others it takes turns.
  /// `./dev test exhaustive` leaves none out.
  bool takes(const runtime::InstructionSet& set, int n, std::size_t i) const {
    static const bool exhaustive = std::getenv("VOTIVE_EXHAUSTIVE") != nullptr;
    return exhaustive || sanitized || set.name == set_before_ || i % 3 == static_cast<std::size_t>(n - 1);
  }
  void TearDown() override {
    set_threads(threads_before_);
    runtime::set_instruction_set(set_before_);
  }

 private:
  int threads_before_ = threads();
  std::string set_before_{runtime::instruction_set()};
};

TEST_P(Contract, GivesTheBitsOfReference) {
  const Operation& op = table()[GetParam()];
  int failures = 0;
  for (const DType dtype : op.dtypes) {
    Rng rng(seed_of(op.name + std::string(to_string(dtype))));
    const std::vector<Case> cases = op.cases(rng, dtype);
    const std::vector<Prepared> all = prepare(cases, rng);
    count_cases(op.name, dtype, Device::reference, static_cast<Size>(all.size()));
    for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
      if (!set.available) continue;
      runtime::set_instruction_set(set.name);
      for (const int n : thread_counts) {
        set_threads(n);
        Size compared = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (!takes(set, n, i)) continue;
          const Prepared& p = all[i];
          ++compared;
          const std::string wrong = compare(op, p);
          if (wrong.empty()) continue;
          ADD_FAILURE() << describe(op, p) << "\n  on " << set.name << " with " << n << " threads: " << wrong;
          if (++failures == 5) GTEST_FAIL() << "and perhaps more; VOTIVE_SEED decides the inputs";
        }
        count_cases(op.name, dtype, Device::cpu, compared);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, Contract, ::testing::Range(std::size_t{0}, table().size()),
                         [](const auto& index) { return table()[index.param].name; });

const auto* const report = ::testing::AddGlobalTestEnvironment(new CoverageReport);

}  // namespace
}  // namespace votive::contract
