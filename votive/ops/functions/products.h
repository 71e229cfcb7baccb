// Sums of products: matmul and what is made of it (CONTRACT.md 4.3, 4.4).
#pragma once

#include "votive/core/tensor.h"

namespace votive {

Tensor matmul(const Tensor& a, const Tensor& b);
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias = {});  ///< x [..., k], w [n, k] → [..., n]
/// A weight arranged for this machine's matmul; the weight itself where there is nothing to gain.
Tensor prepack(const Tensor& w);

}  // namespace votive
