// Convolutions without unfolded windows: output channels are lanes, and a number of the input is broadcast from where it lies in a strip of the image, laid
// out with its padding and with the channels of a position side by side. The strip is as much larger than the input as its padding; nothing is read nine times.
// Not here: planes one by one (conv_planes.h), products of windows (conv_windows.h), for the shapes that direct_convolution_fits() refuses.
#pragma once

#include "votive/cpu/conv.h"

namespace votive::cpu::VOTIVE_ISA {

/// A weight as rows: row r of group g starts at data + (g·group + r·row) elements; inside, either taps by channel as the contract sums them, or, as weights
/// come, channels by tap.
struct DirectWeights {
  const std::byte* data;
  Size group, row;
  bool channels_first;
};

bool direct_convolution_fits(const Convolution& c);

/// y [images, groups·rows, positions]; bias: groups·rows numbers of the accumulator's type, or null.
void convolve_directly(const Convolution& c, const DirectWeights& w, const void* bias, std::byte* y);

}  // namespace votive::cpu::VOTIVE_ISA
