// The sizes of blocks that memory.cpp keeps: arithmetic only, so that a block's class follows from its size and needs no header.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace votive {

/// Multiples of 64 up to 512, then four sizes per power of two up to 1.75 MiB: from 256 bytes on, a block is at most 25 % longer than what was asked for.
inline constexpr int class_count = 55, small_classes = 32;

constexpr int class_of(std::size_t bytes) {
  if (bytes <= 512) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  const int shift = std::bit_width(bytes - 1) - 3;
  return 8 + (shift - 7) * 4 + static_cast<int>((bytes - 1) >> shift) - 4;
}
constexpr std::size_t class_bytes(int size_class) {
  if (size_class < 8) return static_cast<std::size_t>(size_class + 1) * 64;
  return static_cast<std::size_t>((size_class - 8) % 4 + 5) << (7 + (size_class - 8) / 4);
}
inline constexpr auto small_class_bytes = [] {
  std::array<std::uint32_t, small_classes> bytes{};
  for (int c = 0; c < small_classes; ++c) bytes[static_cast<std::size_t>(c)] = static_cast<std::uint32_t>(class_bytes(c));
  return bytes;
}();

inline constexpr std::size_t small_limit = class_bytes(small_classes - 1), middle_limit = class_bytes(class_count - 1);
static_assert(small_limit == std::size_t{32} << 10 && middle_limit == std::size_t{7} << 18);

/// Larger blocks are multiples of 64 KiB.
constexpr std::size_t large_bytes(std::size_t bytes) {
  constexpr std::size_t step = std::size_t{64} << 10;
  return (bytes + step - 1) / step * step;
}

}  // namespace votive
