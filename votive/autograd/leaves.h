// Which leaves a tensor depends on; for the nodes of autograd/ alone.
#pragma once

#include <vector>

#include "votive/core/tensor.h"

namespace votive {

std::vector<const Record*> leaves(const Tensor& y);

}  // namespace votive
