// What the two attention kernels share: which keys a query may see, and the kernel for f64.
#pragma once

#include "votive/cpu/types.h"
#include "votive/ops/attention.h"

namespace votive::cpu::VOTIVE_ISA {

struct KeyRange {
  Size first, last;
};

/// The keys that causality and the window leave to query t of T; both ends grow with t.
inline KeyRange key_range(const Attention& op, Size t, Size T, Size S) {
  const Size p = S - T + t;
  Size first = 0, last = S;
  if (op.window > 0 && p >= op.window) first = p - op.window + 1;
  if (op.window > 0 && op.window < S - p) last = p + op.window;
  if (op.causal && p < last) last = p + 1;
  if (last < 0) last = 0;
  return {first < last ? first : last, last};
}

void attention_f64(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes,
                   Tensor& y);

}  // namespace votive::cpu::VOTIVE_ISA
