// Positions of up to three spatial axes, in the order in which convolutions and pools of the reference device visit them.
#pragma once

#include "votive/ops/conv.h"

namespace votive::reference {

/// Indices 0 … n−1 of three axes in row-major order.
template <class Body>
void for_each(const Spatial& n, Body body) {
  for (Size i = 0; i < n[0]; ++i) {
    for (Size j = 0; j < n[1]; ++j) {
      for (Size k = 0; k < n[2]; ++k) body(Spatial{i, j, k});
    }
  }
}

}  // namespace votive::reference
