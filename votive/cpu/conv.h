// A convolution as the CPU's kernels see it: along three axes, each with its own way of reading the input. Not here: how it is computed.
#pragma once

#include <array>

#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }

/// One axis: tap t of output o reads input o·stride + t·step + origin, which may lie outside [0, in).
struct Axis {
  Size in, out, taps, stride, step, origin;
  Size x_stride;                   // elements
  Size kernel_first, kernel_step;  // tap t is w's kernel index kernel_first + t·kernel_step
};

struct Convolution {
  std::array<Axis, 3> axes;
  Size images, groups, channels, rows;  // channels and rows of y per group
  Size x_image, x_channel;
  DType dtype;
  const std::byte* x;

  Size taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  Size positions() const { return axes[0].out * axes[1].out * axes[2].out; }
  Size k() const { return taps() * channels; }
};

}  // namespace votive::cpu::VOTIVE_ISA
