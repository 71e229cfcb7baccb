// Elements chosen by integers or by a mask (CONTRACT.md 5).
#pragma once

#include "votive/core/tensor.h"

namespace votive {

Tensor embedding(const Tensor& table, const Tensor& ids);
Tensor index_select(const Tensor& x, const Tensor& indices, int axis = 0);
Tensor gather(const Tensor& x, const Tensor& indices, int axis);

}  // namespace votive
