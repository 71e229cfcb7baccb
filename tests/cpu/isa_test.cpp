// Choosing an instruction set by name.
#include "votive/cpu/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "votive/base/error.h"
#include "votive/cpu/device.h"

namespace votive {
namespace {

TEST(InstructionSet, OfAnUnknownNameIsRefusedWithTheChoices) {
  try {
    cpu::select_isa("v5");
    FAIL() << "v5 was found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
    EXPECT_TRUE(std::string(error.what())
                    .starts_with("set_instruction_set: invalid argument: there is no instruction set 'v5'. Accepted: baseline"))
        << error.what();
    EXPECT_EQ(error.value(), "v5");
  }
}

TEST(InstructionSet, ThatThisMachineLacksIsRefusedWithTheReason) {
  for (const cpu::IsaDescription& isa : cpu::isa_descriptions()) {
    if (isa.available) {
      EXPECT_EQ(&cpu::find_isa(isa.name, "test"), &isa);
      EXPECT_TRUE(isa.missing.empty());
      continue;
    }
    EXPECT_FALSE(isa.missing.empty());
    try {
      cpu::find_isa(isa.name, "test");
      FAIL() << isa.name << " was found";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      EXPECT_NE(std::string(error.what()).find(isa.missing), std::string::npos) << error.what();
    }
  }
}

TEST(InstructionSet, OfTheEmulatedV4MayBeWrittenWithItsHyphen) {
  for (const cpu::IsaDescription& isa : cpu::isa_descriptions()) {
    if (isa.name != "v4emulated" || !isa.available) continue;
    EXPECT_EQ(&cpu::find_isa("v4-emulated", "test"), &isa);
  }
}

TEST(InstructionSet, IsTakenFromTheEnvironmentFirst) {
  const char* before = std::getenv("VOTIVE_ISA");
  const std::string kept = before != nullptr ? before : "";
  setenv("VOTIVE_ISA", "baseline", 1);
  EXPECT_EQ(cpu::default_isa().name, "baseline");
  setenv("VOTIVE_ISA", "fastest", 1);
  EXPECT_THROW(cpu::default_isa(), Error);
  unsetenv("VOTIVE_ISA");
  EXPECT_TRUE(cpu::default_isa().available);
  EXPECT_NE(cpu::default_isa().name, "v4emulated");
  if (before != nullptr) setenv("VOTIVE_ISA", kept.c_str(), 1);
}

}  // namespace
}  // namespace votive
