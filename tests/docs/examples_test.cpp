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
