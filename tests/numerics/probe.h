// The scalar text in plain loops, compiled once per instruction set (probe.cpp), and the few instructions whose meaning the text claims to have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace votive::numerics_probe {

enum class Input { f32, f64, i64, u16, u8, word_pair, f32_pair, f64_pair, i64_pair };

struct Loop {
  const char* name;
  Input input;
  std::size_t output_bytes;  // of one element
  bool floating;             // NaNs are alike
  void (*run)(const void* in, void* out, std::size_t n);
};

/// acc[i] = vdpbf16ps of pair i, for n a multiple of 16.
using DotPairs = void (*)(const float* acc, const std::uint16_t* a, const std::uint16_t* b, float* out, std::size_t n);

namespace baseline {
std::span<const Loop> loops();
std::span<const Loop> more_loops();
}  // namespace baseline
namespace v3 {
std::span<const Loop> loops();
std::span<const Loop> more_loops();
}  // namespace v3
namespace v4emulated {
std::span<const Loop> loops();
std::span<const Loop> more_loops();
}  // namespace v4emulated
namespace v4 {
std::span<const Loop> loops();
std::span<const Loop> more_loops();
}  // namespace v4
namespace v4n {
std::span<const Loop> loops();
std::span<const Loop> more_loops();
void dot_pairs(const float* acc, const std::uint16_t* a, const std::uint16_t* b, float* out, std::size_t n);
}  // namespace v4n

}  // namespace votive::numerics_probe
