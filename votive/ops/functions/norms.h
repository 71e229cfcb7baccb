// Softmax and the normalising layers: rows scaled by what is in them (CONTRACT.md 4.1, 4.2).
#pragma once

#include "votive/core/tensor.h"

namespace votive {

struct SoftmaxOptions {
  int axis = -1;
};
Tensor softmax(const Tensor& x, SoftmaxOptions options = {});
Tensor log_softmax(const Tensor& x, SoftmaxOptions options = {});
struct NormOptions {
  float epsilon = 1e-5f;
};
Tensor rms_norm(const Tensor& x, const Tensor& gamma, NormOptions options = {});
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, NormOptions options = {});

}  // namespace votive
