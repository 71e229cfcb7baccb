// What depends on which element is larger: sort, topk and their kin. Stable; NaN is last when ascending.
#pragma once

#include "votive/core/tensor.h"

namespace votive {

struct SortOptions {
  int axis = -1;
  bool descending = false;
};
struct Sorted {
  Tensor values, indices;
};
Sorted sort(const Tensor& x, SortOptions options = {});
struct TopkOptions {
  int axis = -1;
  bool largest = true;
};
Sorted topk(const Tensor& x, Size k, TopkOptions options = {});

}  // namespace votive
