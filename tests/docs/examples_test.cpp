// Every example of every docstring, run: it gives what the docstring says, and the same with every dtype on every device.
#include <gtest/gtest.h>

#include <cctype>

#include "tests/docs/examples.h"
#include "tests/docs/trials.h"

namespace votive::docs {

namespace {

const std::vector<Example>& all() {
  static const std::vector<Example> list = examples();
  return list;
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
  if (std::string_view(example().expression).find(")[") != std::string_view::npos) {
    GTEST_SKIP() << "the example picks one of a list of results, which may be shorter for another input";
  }
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
