// Where functions of one float are tested: every exponent and sign with evenly spread fractions and the edges of each binade; or, asked for by
// VOTIVE_EXHAUSTIVE=1, all 2^32 inputs.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace votive::numerics {

inline bool exhaustive() {
  const char* wish = std::getenv("VOTIVE_EXHAUSTIVE");
  return wish != nullptr && std::strcmp(wish, "1") == 0;
}

/// Calls visit(bits) with the bits of f32 inputs, `fractions` (a power of two) of each exponent and sign.
template <class Visit>
void each_sampled_f32(std::uint32_t fractions, Visit visit) {
  const std::uint32_t step = 0x800000u / fractions;
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
    const std::uint32_t base = exponent << 23;
    // an odd step's worth of offset per exponent, so that low bits vary too
    for (std::uint32_t f = 0; f < 0x800000u; f += step) visit(base + f + (f * 2654435761u + exponent * 40503u) % step);
    for (std::uint32_t edge = 0; edge < 64; ++edge) {
      visit(base + edge);
      visit(base + 0x7fffffu - edge);
    }
  }
}

/// The same, or all 2^32.
template <class Visit>
void each_f32(std::uint32_t fractions, Visit visit) {
  if (!exhaustive()) return each_sampled_f32(fractions, visit);
  std::uint32_t u = 0;
  do visit(u);
  while (++u != 0);
}

/// A generator whose numbers are the same everywhere (Vigna's splitmix64).
struct Random {
  std::uint64_t state;
  std::uint64_t operator()() {
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
};

}  // namespace votive::numerics
