// Every input of every f32 function of one tensor, and every f16 and bf16 input: what `votive verify --all` compares.
//
// The 2^32 inputs are taken in blocks of 2^20 (CONTRACT.md 11.3). A block's outputs have a 64-bit hash, NaNs made alike; the hashes of the 256 blocks of a
// slice of 2^28 inputs are folded into one, and sixteen slices are committed per function (golden_every_input.cpp): 4096 block hashes of each would be 3 MB
// of text. So a difference is known to a slice, and found to the input by computing that slice on the reference device too.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "votive/votive.h"

namespace votive::app {

inline constexpr int slices = 16, blocks_per_slice = 256;
inline constexpr Size inputs_per_block = Size{1} << 20;

struct InputFunction {
  std::string name;  ///< "exp f32"
  DType dtype;
  std::function<Tensor(const Tensor&)> call;
  int slice_count() const { return dtype == f32 ? slices : 1; }
};
std::vector<InputFunction> functions_of_every_input();

struct GoldenSlices {
  const char* name;
  std::array<std::uint64_t, slices> hashes;  // one for f16 and bf16
};
extern const std::span<const GoldenSlices> golden_every_input;

/// Block `block` of 4096: its inputs' bits count up from block * 2^20. Of f16 and bf16 there is one, of 65 536 inputs.
std::uint64_t hash_of_block(const InputFunction& function, Device device, int block);
/// A slice by so many threads, each with its own blocks.
std::uint64_t hash_of_slice(const InputFunction& function, Device device, int slice, int threads);

/// Where two devices differ first within a slice, or nothing: "exp f32(0x3f800001): cpu 0x402df855, reference 0x402df854".
std::string first_difference(const InputFunction& function, int slice);

}  // namespace votive::app
