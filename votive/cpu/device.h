// The CPU as a device: its kernels for the instruction set in use. Not here: which devices were built (runtime/devices.cpp).
#pragma once

#include <string_view>

#include "votive/ops/registry.h"

namespace votive::cpu {

/// Registers every CPU kernel for the chosen instruction set: VOTIVE_ISA, else the most able. Throws Error where VOTIVE_ISA names none that runs here.
void register_kernels(Kernels& kernels);

/// Registers the kernels of another set from now on; results do not change by a bit. Throws as find_isa. Not while another thread computes.
void select_isa(std::string_view name);

/// The set in use, the default one before the first operation.
std::string_view selected_isa();

}  // namespace votive::cpu
