// What the files of losses share: pairs of predictions and targets checked in words of the call, and the reduction at the end.
#pragma once

#include "votive/ops/check.h"
#include "votive/ops/functions/losses.h"

namespace votive {

/// x and y in the type they are computed in, and the dtype of the result.
struct Compared {
  Tensor x, y;
  DType dtype;
};
/// Two floating tensors of one shape, on one device.
Compared compared(std::string_view op, const Tensor& x, const Tensor& y, std::string_view x_name = "x", std::string_view y_name = "y",
                  int y_number = 2);
/// An argument of factors in dtype `inner`; absent stays absent. It must broadcast to `shape`.
Tensor factors(std::string_view op, std::string_view name, int number, const Tensor& w, const Tensor& x, const Shape& shape, DType inner);
Tensor reduced(std::string_view op, const Tensor& loss, Reduction reduction);
/// Class indices in 0 … C − 1, i64; where a target is `ignored`, 0. Throws Error{IndexOutOfRange}.
Tensor checked_classes(std::string_view op, const Tensor& target, Size C, const std::int64_t* ignored = nullptr);

}  // namespace votive
