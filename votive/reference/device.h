// The executable contract as a device: every operation as plain loops straight from CONTRACT.md. Every other device must give its bits; speed is no aim.
#pragma once

#include "votive/ops/registry.h"

namespace votive::reference {

void register_kernels(Kernels& kernels);

}  // namespace votive::reference
