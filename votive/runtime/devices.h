// What this build of Votive can compute on, and with which instructions. The one floor that knows every device; nothing here computes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "votive/core/device.h"

namespace votive::runtime {

/// Devices that operations run on, the cpu first.
std::vector<Device> devices();

struct InstructionSet {
  std::string_view name;     ///< "baseline", "v3", …
  std::string_view meaning;  ///< "x86-64-v3: AVX2 and FMA"
  bool available;            ///< this machine can run it
  std::string_view missing;  ///< what it lacks where it cannot
};

/// Instruction sets the CPU kernels were built for, from the least to the most able. All give the same bits.
std::vector<InstructionSet> instruction_sets();

/// The set in use.
std::string_view instruction_set();

/// Uses another set from the next operation on. Not while another thread computes.
/// Throws Error{InvalidArgument} for an unknown name, here or in VOTIVE_ISA, and Error{Unsupported} for one this machine cannot run, naming the choices.
void set_instruction_set(std::string_view name);

}  // namespace votive::runtime
