// Indices as checked positions, for every kernel of this device that has an index among its inputs.
#pragma once

#include "votive/ops/index.h"
#include "votive/reference/element.h"

namespace votive::reference {

/// Indices as positions in [0, n), row-major; negative ones count from the end where the range says so. Throws before anything is written.
std::vector<Size> checked_positions(const IndexRange& range, const Tensor& indices);

}  // namespace votive::reference
