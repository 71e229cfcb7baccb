// The number that softmax takes from every other, so that no exponential overflows: what softmax.cpp and attention share. Not here: max as an operation, whose
// NaN and zeros have rules of their own (extreme.h).
#pragma once

#include "votive/base/error.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

/// The largest of n > 0 numbers. With a NaN in the row any number will do, since the sum becomes NaN; and of equal zeros either, since exp(±0) = 1.
template <class T>
inline T largest(const T* __restrict x, Size n) {
  constexpr Size lanes = 64;
  T m = x[0];
  Size i = 0;
  if (n >= lanes) {
    T lane[lanes];
    for (Size l = 0; l < lanes; ++l) lane[l] = x[l];
    for (i = lanes; i + lanes <= n; i += lanes) {
      for (Size l = 0; l < lanes; ++l) lane[l] = lane[l] > x[i + l] ? lane[l] : x[i + l];
    }
    for (Size w = lanes / 2; w > 0; w /= 2) {
      for (Size l = 0; l < w; ++l) lane[l] = lane[l] > lane[l + w] ? lane[l] : lane[l + w];
    }
    m = lane[0];
  }
  for (; i < n; ++i) m = m > x[i] ? m : x[i];
  return m;
}

}  // namespace votive::cpu::VOTIVE_ISA
