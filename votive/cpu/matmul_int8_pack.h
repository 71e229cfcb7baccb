// Operands of an 8-bit product rearranged for a tile: unit after unit of k, in each the words of `width` rows of a (or columns of b) side by side; a unit
// is four bytes or two 16-bit numbers of consecutive k (matmul_int8_tile.h). The same text packs a and b, whatever their strides. What is absent is 0.
#pragma once

#include <algorithm>

#include "votive/cpu/matmul_int8_tile.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {

/// One operand as the packer sees it: `rows` are a's rows or b's columns.
struct Int8Source {
  const u8* data;  // of row 0, k 0
  Size row_step, k_step;
  Size rows;
  bool is_unsigned;
  bool shifted;  // bytes only: ^ 128, which makes i8 + 128 of an i8 and u8 − 128 of a u8
};

/// Panels of `width` rows, `panel_step` words apart.
struct Int8Panels {
  u32* to;
  Size width, panel_step;
  u32* at(Size row, Size unit) const { return to + row / width * panel_step + unit * width + row % width; }
};

inline u32 int8_word(const Int8Source& from, Size row, Size k0, Size k) {
  const u8* p = from.data + row * from.row_step + k0 * from.k_step;
  const int n = static_cast<int>(std::min<Size>(int8_unit, k - k0));
  u32 word = 0;
  for (int i = 0; i < n; ++i) {
    const u8 v = p[i * from.k_step];
    if constexpr (int8_unit == 4) {
      word |= static_cast<u32>(from.shifted ? v ^ 128 : v) << (8 * i);
    } else {
      word |= (from.is_unsigned ? u32{v} : static_cast<u32>(static_cast<i8>(v)) & 0xffff) << (16 * i);
    }
  }
  return word;
}

/// `lanes` words of one row whose k are consecutive.
inline Vi32 int8_words(const Int8Source& from, const u8* p) {
  if constexpr (int8_unit == 4) {
    return bit_xor(Vi32::load(p), Vi32::broadcast(from.shifted ? static_cast<i32>(0x80808080u) : 0));
  } else {
    return bit_and(as_i32(Vi16::load_i8(reinterpret_cast<const i8*>(p))), Vi32::broadcast(from.is_unsigned ? 0x00ff00ff : -1));
  }
}

#if defined(__x86_64__)
/// Words of 16 rows that lie side by side, from int8_unit runs of 16 bytes, one per k.
[[gnu::always_inline]] inline void int8_interleave(const Int8Source& from, const u8* p, Size step, u32* to) {
  const auto run = [&](Size i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * step)); };
  const __m128i low = _mm_unpacklo_epi8(run(0), run(1)), high = _mm_unpackhi_epi8(run(0), run(1));
  auto* out = reinterpret_cast<__m128i*>(to);
  if constexpr (int8_unit == 4) {
    const __m128i low2 = _mm_unpacklo_epi8(run(2), run(3)), high2 = _mm_unpackhi_epi8(run(2), run(3));
    const __m128i flip = _mm_set1_epi8(from.shifted ? -128 : 0);
    _mm_storeu_si128(out, _mm_xor_si128(flip, _mm_unpacklo_epi16(low, low2)));
    _mm_storeu_si128(out + 1, _mm_xor_si128(flip, _mm_unpackhi_epi16(low, low2)));
    _mm_storeu_si128(out + 2, _mm_xor_si128(flip, _mm_unpacklo_epi16(high, high2)));
    _mm_storeu_si128(out + 3, _mm_xor_si128(flip, _mm_unpackhi_epi16(high, high2)));
  } else {
    const __m128i mask = from.is_unsigned ? _mm_set1_epi16(255) : _mm_set1_epi8(-1);
    const auto widened = [&](__m128i pairs, bool upper) {
      const __m128i twice = upper ? _mm_unpackhi_epi8(pairs, pairs) : _mm_unpacklo_epi8(pairs, pairs);
      return _mm_and_si128(mask, _mm_srai_epi16(twice, 8));
    };
    _mm_storeu_si128(out, widened(low, false));
    _mm_storeu_si128(out + 1, widened(low, true));
    _mm_storeu_si128(out + 2, widened(high, false));
    _mm_storeu_si128(out + 3, widened(high, true));
  }
}
#else
inline void int8_interleave(const Int8Source& from, const u8* p, Size step, u32* to) {
  const Int8Source run{p, 1, step, 16, from.is_unsigned, from.shifted};
  for (int r = 0; r < 16; ++r) to[r] = int8_word(run, r, 0, int8_unit);
}
#endif

/// Consecutive k of a row: squares of words, transposed.
inline void int8_pack_along(const Int8Source& from, const Int8Panels& panels, Size k) {
  constexpr int lanes = Vi32::lanes;
  const Size whole = k / int8_unit / lanes * lanes, units = (k + int8_unit - 1) / int8_unit;
  for (Size panel = 0; panel < from.rows; panel += panels.width) {
    u32* to = panels.at(panel, 0);
    const Size width = panels.width;
    for (Size u = 0; u < whole; u += lanes) {
      for (Size g = 0; g < width; g += lanes) {
        Vf32 r[lanes];  // bits only
        for (int i = 0; i < lanes; ++i) {
          const Size row = panel + g + i;
          r[i] =
              g + i < width && row < from.rows ? as_f32(int8_words(from, from.data + row * from.row_step + u * int8_unit)) : Vf32::zero();
        }
        transpose(r);
        for (int t = 0; t < lanes; ++t) {
          u32* at = to + (u + t) * width + g;
          // In ascending order a full store may spill into the units that are written next.
          if (width - g >= lanes || (g == 0 && (units - u - t) * width >= lanes)) {
            store(at, as_i32(r[t]));
          } else {
            store_part(reinterpret_cast<f32*>(at), static_cast<int>(width - g), r[t]);
          }
        }
      }
    }
  }
  for (Size u = whole; u < units; ++u) {
    for (Size row = 0; row < from.rows; ++row) *panels.at(row, u) = int8_word(from, row, u * int8_unit, k);
  }
}

/// Rows side by side. All panels of a unit before the next unit, so that memory is read in long runs.
inline void int8_pack_across(const Int8Source& from, const Int8Panels& panels, Size k) {
  const Size whole = k / int8_unit, units = (k + int8_unit - 1) / int8_unit;
  for (Size u = 0; u < whole; ++u) {
    const u8* p = from.data + u * int8_unit * from.k_step;
    for (Size row = 0; row < from.rows; row += 16) {
      const Size n = std::min<Size>(16, from.rows - row);
      if (n == 16 && panels.width % 16 == 0) {
        int8_interleave(from, p + row, from.k_step, panels.at(row, u));
        continue;
      }
      u8 runs[int8_unit][16] = {};
      u32 words[16];
      for (int i = 0; i < int8_unit; ++i) std::memcpy(runs[i], p + i * from.k_step + row, static_cast<std::size_t>(n));
      int8_interleave(from, runs[0], 16, words);
      for (Size i = 0; i < n;) {
        const Size run = std::min(n - i, panels.width - (row + i) % panels.width);
        std::memcpy(panels.at(row + i, u), words + i, static_cast<std::size_t>(4 * run));
        i += run;
      }
    }
  }
  for (Size u = whole; u < units; ++u) {
    for (Size row = 0; row < from.rows; ++row) *panels.at(row, u) = int8_word(from, row, u * int8_unit, k);
  }
}

/// Rows 0 … from.rows of k numbers; rows that fill the last panel are 0.
inline void int8_pack(const Int8Source& from, const Int8Panels& panels, Size k) {
  const Size units = (k + int8_unit - 1) / int8_unit, last = from.rows % panels.width;
  if (last != 0) {
    u32* to = panels.at(from.rows - last, 0);
    for (Size u = 0; u < units; ++u) std::fill(to + u * panels.width + last, to + (u + 1) * panels.width, 0u);
  }
  if (from.k_step == 1) return int8_pack_along(from, panels, k);
  if (from.row_step == 1) return int8_pack_across(from, panels, k);
  for (Size row = 0; row < from.rows; ++row) {
    for (Size u = 0; u < units; ++u) *panels.at(row, u) = int8_word(from, row, u * int8_unit, k);
  }
}

/// Σ over k of what `width` packed rows hold, for one panel. Bytes only.
inline void int8_row_sums(const u32* panel, int width, Size units, bool is_signed, i32* sums) {
  for (int r = 0; r < width; ++r) sums[r] = 0;
  const Vi32 ones = Vi32::broadcast(0x01010101);
  for (int r = 0; r < width; r += Vi32::lanes) {
    Vi32 sum = Vi32::zero();
    for (Size u = 0; u < units; ++u) {
      const u32* at = panel + u * width + r;  // a full vector takes words of the next unit too, into lanes that nobody reads
      const bool inside = (units - u) * width - r >= Vi32::lanes;
      const Vi32 words = inside ? Vi32::load(at) : as_i32(Vf32::load_part(reinterpret_cast<const f32*>(at), width - r));
      if (is_signed) {
        accumulate_unit(sum, words, ones);
      } else {
        accumulate_unit(sum, ones, words);
      }
    }
    i32 lanes[Vi32::lanes];
    store(lanes, sum);
    std::copy(lanes, lanes + std::min(width - r, Vi32::lanes), sums + r);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
