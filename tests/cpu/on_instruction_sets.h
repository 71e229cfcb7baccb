// A fixture whose parameter is an instruction set: its tests run the kernels of that set, and say so when this machine lacks it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "votive/base/thread_pool.h"
#include "votive/runtime/devices.h"

namespace votive {

namespace runtime {
inline void PrintTo(const InstructionSet& set, std::ostream* out) { *out << set.name; }
}  // namespace runtime

class OnInstructionSets : public ::testing::TestWithParam<runtime::InstructionSet> {
 protected:
  void SetUp() override {
    if (!GetParam().available) GTEST_SKIP() << GetParam().name << ": this machine lacks " << GetParam().missing;
    before_ = runtime::instruction_set();
    threads_ = threads();
    runtime::set_instruction_set(GetParam().name);
  }
  void TearDown() override {
    if (!GetParam().available) return;
    runtime::set_instruction_set(before_);
    set_threads(threads_);
  }

 private:
  std::string_view before_;
  int threads_ = 1;
};

inline std::string instruction_set_name(const ::testing::TestParamInfo<runtime::InstructionSet>& parameter) {
  return std::string(parameter.param.name);
}

/// Use as INSTANTIATE_TEST_SUITE_P(Sets, Fixture, every_instruction_set(), instruction_set_name).
inline auto every_instruction_set() { return ::testing::ValuesIn(runtime::instruction_sets()); }

}  // namespace votive
