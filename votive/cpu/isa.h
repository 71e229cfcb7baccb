// The instruction sets the CPU kernels are compiled for, and which of them this machine can run. Not here: kernels (one build of each per set).
#pragma once

#include <span>
#include <string_view>

namespace votive::cpu {

struct IsaDescription {
  std::string_view name;     ///< "baseline", "v3", "v4emulated", "v4", "v4n"
  std::string_view meaning;  ///< "x86-64-v3: AVX2 and FMA"
  bool available;            ///< compiled in, and both the CPU and the operating system have it
  std::string_view missing;  ///< what this machine lacks, empty when available
};

/// All sets, from the least to the most able; the same on every call.
std::span<const IsaDescription> isa_descriptions();

/// The set called `name`. Throws Error{InvalidArgument} for an unknown name and Error{Unsupported} for one that this machine lacks, naming who asked and the choices.
const IsaDescription& find_isa(std::string_view name, std::string_view asker);

/// What VOTIVE_ISA names, else the most able one. Throws as find_isa.
const IsaDescription& default_isa();

}  // namespace votive::cpu
