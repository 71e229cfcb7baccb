// Small whole numbers in a fixed order, as the scripts that made the golden numbers wrote them:  ((i·k) mod m) − 2.
#pragma once

#include <vector>

#include "votive/ops/ops.h"

namespace votive {

inline Tensor pattern(const Shape& shape, CreateOptions options = {}, Size m = 7, Size k = 3, DType dtype = f32) {
  std::vector<float> values(static_cast<std::size_t>(count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<Size>(i) * k % m - 2);
  return from_host<float>(values, shape, f32, options).to(dtype);
}

}  // namespace votive
