// Arranging quantised weights as Packing::rows16 (packed_weight.h): a lane of a packed unit is whole 32-bit words, and each is a few shifts of words as the
// file's block has them, so that a model is arranged about as fast as it is read. Not here: the way back (packed_weight.h), arithmetic (numerics/blocks.h).
#pragma once

#include <cstring>

#include "votive/core/dtype.h"
#include "votive/cpu/packed_weight.h"
#include "votive/numerics/blocks.h"

namespace votive::cpu::VOTIVE_ISA {

inline u32 word_of_bytes(const u8* p) {
  u32 w;
  std::memcpy(&w, p, 4);
  return w;
}

/// The fifth bits of 32 weights in order, as the packed unit has them: bit j of byte i is that of k = 4j + i.
inline u32 fifth_bits(const u8* p) {
  const auto to_bytes = [](u32 four) { return four * 0x00204081u & 0x01010101u; };  // bit i to byte i
  const auto spread = [&](u32 eight) { return to_bytes(eight & 15) | to_bytes(eight >> 4) << 1; };
  return spread(p[0]) | spread(p[1]) << 2 | spread(p[2]) << 4 | spread(p[3]) << 6;
}

/// Nibbles of 32 weights from two halves of a row of 32 bytes: of the even unit those below, of the odd one those above.
inline void nibble_words(const u8* p, int odd, u32* words) {
  constexpr u32 low = 0x0f0f0f0fu;
  for (int j = 0; j < 4; ++j) {
    const u32 first = word_of_bytes(p + 4 * j) >> (4 * odd) & low, second = word_of_bytes(p + 16 + 4 * j) >> (4 * odd) & low;
    words[j] = first | second << 4;
  }
}

/// The words of one lane of unit `unit`, from the block as the file has it (ggml's formats).
template <DType type>
inline void words_of_unit(const u8* block, int unit, u32* words) {
  constexpr bool offset = quantised_format(type).offset;
  if constexpr (type == DType::q8_0) {
    for (int j = 0; j < 8; ++j) words[j] = word_of_bytes(block + 2 + 4 * j) ^ 0x80808080u;
  } else if constexpr (type == DType::q4_0 || type == DType::q4_1) {
    for (int j = 0; j < 4; ++j) words[j] = word_of_bytes(block + (offset ? 4 : 2) + 4 * j);
  } else if constexpr (type == DType::q5_0 || type == DType::q5_1) {
    const u8* fifth = block + (offset ? 4 : 2);
    for (int j = 0; j < 4; ++j) words[j] = word_of_bytes(fifth + 4 + 4 * j);
    words[4] = fifth_bits(fifth);
  } else if constexpr (type == DType::q4_k) {
    nibble_words(block + 16 + 32 * (unit / 2), unit % 2, words);
  } else if constexpr (type == DType::q5_k) {
    nibble_words(block + 48 + 32 * (unit / 2), unit % 2, words);
    words[4] = 0;
    for (int j = 0; j < 8; ++j) words[4] |= (word_of_bytes(block + 16 + 4 * j) >> unit & 0x01010101u) << j;
  } else {
    static_assert(type == DType::q6_k);
    const int half = unit / 4, row = unit % 4;  // of 128 weights, in four rows of 32
    nibble_words(block + 64 * half + 32 * (row % 2), row / 2, words);
    words[4] = words[5] = 0;
    for (int j = 0; j < 8; ++j)
      words[4 + j / 4] |= (word_of_bytes(block + 128 + 32 * half + 4 * j) >> (2 * row) & 0x03030303u) << (2 * (j % 4));
  }
}

/// Writes lane `lane` of a packed block.
template <DType type>
inline void pack_lane(const u8* block, Size lane, u8* packed) {
  constexpr QuantisedFormat format = quantised_format(type);
  constexpr int words = format.unit_weights() / 64;
  std::memcpy(packed + 2 * lane, block + (type == DType::q6_k ? 208 : 0), 2);
  if constexpr (format.offset) std::memcpy(packed + 32 + 2 * lane, block + 2, 2);
  u8* to = packed + format.header;
  for (int unit = 0; unit < format.units; ++unit, to += format.unit_bytes()) {
    if constexpr (type == DType::q6_k) {
      to[lane] = block[192 + 2 * unit];
      to[16 + lane] = block[192 + 2 * unit + 1];
    } else if constexpr (format.unit_header != 0) {
      to[lane] = static_cast<u8>(numerics::k_scale(block + 4, unit));
      to[16 + lane] = static_cast<u8>(numerics::k_minimum(block + 4, unit));
    }
    u32 word[words];
    words_of_unit<type>(block, unit, word);
    for (int j = 0; j < words; ++j) std::memcpy(to + format.unit_header + 64 * j + 4 * lane, word + j, 4);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
