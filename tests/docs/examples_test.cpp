// Every example of every docstring, run: it gives what the docstring says, and the same with every dtype on every device.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/docs/examples.h"
#include "tests/docs/trials.h"
#include "votive/ops/ops.h"

namespace votive::docs {

namespace {

const std::vector<Example>& all() {
  static const std::vector<Example> list = examples();
  return list;
}

/// A list of results, one of which is picked, may be shorter for another input.
bool picks(const Example& example) { return std::string_view(example.expression).find(")[") != std::string_view::npos; }

/// The function that the whole expression calls, "" where it is an operator, a method or a picked element, or where it is given a function, whose errors
/// are its own.
std::string call_of(const Example& example) {
  const std::string name = example.function;
  const bool given_a_function = std::string_view(example.expression).find("](") != std::string_view::npos;
  return !picks(example) && !given_a_function && std::string_view(example.expression).starts_with(name + "(") ? name : "";
}

/// Whether the expression calls `op`: the function itself, or one within the call, which is named for its own faults.
bool is_called(const Example& example, const std::string& op) {
  const std::string_view text = example.expression;
  if (text.find(op + "(") != std::string_view::npos) return true;
  return (op == "to" && text.starts_with("cast(")) || (op == "div" && text.find(" / ") != std::string_view::npos);
}

class Docstring : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Example& example() const { return all()[GetParam()]; }
  std::string place() const {
    return std::string(example().header) + ":" + std::to_string(example().line) + ": the example of " + example().function + ", " +
           example().expression;
  }
};

TEST_P(Docstring, GivesWhatItSays) {
  try {
    EXPECT_EQ(example().run().text, example().expected) << place();
  } catch (const Error& error) { FAIL() << place() << " throws: " << error.what(); }
}

TEST_P(Docstring, GivesTheSameOnEveryDeviceWithEveryDtype) {
  for (const DType dtype : every_plain_dtype) {
    const Answer cpu = tried(example(), {.dtype = dtype, .device = Device::cpu});
    const Answer reference = tried(example(), {.dtype = dtype, .device = Device::reference});
    EXPECT_EQ(cpu.accepted, reference.accepted) << place() << " with " << to_string(dtype) << "\n" << cpu.text << "\n" << reference.text;
    if (cpu.accepted) { EXPECT_EQ(cpu.text, reference.text) << place() << " with " << to_string(dtype); }
  }
}

// Each tensor of an example is spoiled in turn: absent, empty, of another rank, length, dtype or device, NaN, the ends of its range; with and without a
// gradient asked for. What comes is a result or an Error that is the caller's, never a broken invariant and never another exception.
TEST_P(Docstring, TakesOrRefusesWhateverItIsGiven) {
  if (picks(example())) GTEST_SKIP() << "the example picks one of a list of results, which may be shorter for another input";
  for (const Device device : {Device(Device::cpu), Device(Device::reference)}) {
    int count = 0;
    {
      const Trying trying({.device = device});
      example().run();
      count = trying.count();
    }
    for (int harmed = 0; harmed < count; ++harmed) {
      for (int harm = 1; harm <= static_cast<int>(Harm::elsewhere); ++harm) {
        for (const bool gradient : {false, true}) {
          const Trying trying({.device = device, .gradient = gradient, .harm = static_cast<Harm>(harm), .harmed = harmed});
          try {
            const Outcome outcome = example().run();
            EXPECT_LT(outcome.text.size(), 100'000u);
          } catch (const Error& error) {
            EXPECT_NE(error.kind(), ErrorKind::Internal) << place() << ", harm " << harm << " of tensor " << harmed << ": " << error.what();
            EXPECT_FALSE(error.op().empty()) << place();
          } catch (const std::exception& other) {
            ADD_FAILURE() << place() << ", harm " << harm << " of tensor " << harmed << " throws no Error but: " << other.what();
          }
        }
      }
    }
  }
}

// Whoever reads an error looks for the call he wrote: also where a mode asked for it, and where a part of the function found it.
TEST_P(Docstring, IsNamedByItsErrors) {
  if (call_of(example()).empty())
    GTEST_SKIP()
        << "an operator, a method, a picked result or a call of the caller's own function, whose errors name the function behind it";
  int count = 0;
  {
    const Trying trying({});
    example().run();
    count = trying.count();
  }
  for (int harmed = 0; harmed < count; ++harmed) {
    for (int harm = 0; harm <= static_cast<int>(Harm::elsewhere); ++harm) {
      for (const DType dtype : {DType::f32, DType::i8, DType::i64, DType::u8}) {
        const Trying trying({.dtype = dtype, .harm = static_cast<Harm>(harm), .harmed = harmed});
        const CheckedScope checked;
        const NonFiniteTrapScope trap;
        try {
          example().run();
        } catch (const Error& error) {
          // of calls within the call, each for its own faults
          EXPECT_TRUE(is_called(example(), error.op())) << place() << ", harm " << harm << " of tensor " << harmed << ": " << error.what();
        } catch (const std::exception&) {}  // TakesOrRefusesWhateverItIsGiven finds these
      }
    }
  }
}

// A part may pass through an infinity; the trap is for results.
TEST_P(Docstring, IsTrappedForItsResultAlone) {
  const Outcome outcome = example().run();
  for (const Tensor& y : outcome.tensors) {
    if (y.defined() && is_floating(y.dtype()) && !votive::all(isfinite(y)).item<bool>()) GTEST_SKIP() << "its result is not finite";
  }
  const NonFiniteTrapScope trap;
  try {
    EXPECT_EQ(example().run().text, outcome.text) << place();
  } catch (const Error& error) {
    const bool by_itself = error.op() == example().function || !is_called(example(), error.op());
    EXPECT_FALSE(by_itself) << place() << ": " << error.what();
    GTEST_SKIP() << "what it is given is not finite";
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, Docstring, ::testing::Range(std::size_t{0}, all().size()), [](const auto& index) {
  std::string name = std::to_string(index.param) + "_";
  for (const char c : std::string_view(all()[index.param].function)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') name += c;
  }
  return name;
});

TEST(Docstrings, HaveExamples) { EXPECT_GT(all().size(), 0u); }

}  // namespace

}  // namespace votive::docs
