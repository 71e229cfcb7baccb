// Operands of an 8-bit product rearranged for a tile: unit after unit of four k, in each the words of `width` rows of a (or columns of b) side by side
// (matmul_int8_tile.h). The same text packs a and b, whatever their strides, and sums what depends on a row or a column alone. What is absent is 0.
#pragma once

#include <algorithm>

#include "votive/cpu/matmul_int8_tile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {

constexpr Size int8_units(Size k) { return (k + int8_unit - 1) / int8_unit; }

/// One operand as the packer sees it: `rows` are a's rows or b's columns.
struct Int8Source {
  const u8* data;  // of row 0, k 0
  Size row_step, k_step;
  Size rows;
  bool is_unsigned;
  bool shifted;  // bytes only: ^ 128, which makes i8 + 128 of an i8 and u8 − 128 of a u8
};

/// Panels of `width` rows, `step` words apart.
struct Int8Panels {
  u32* to;
  Size width, step;
  u32* at(Size panel, Size unit) const { return to + panel * step + unit * width * int8_words; }
};

/// The four bytes of one row from k0 on.
inline u32 int8_quad(const Int8Source& from, Size row, Size k0, Size k) {
  const u8* p = from.data + row * from.row_step + k0 * from.k_step;
  const int n = static_cast<int>(std::min<Size>(int8_unit, k - k0));
  u32 quad = 0;
  for (int i = 0; i < n; ++i) quad |= static_cast<u32>(from.shifted ? p[i * from.k_step] ^ 128 : p[i * from.k_step]) << (8 * i);
  return quad;
}

/// The even or the odd bytes of quads, widened.
[[gnu::always_inline]] inline Vi32 int8_half(Vi32 quads, bool odd, bool is_unsigned) {
  const Vi16 v = odd ? as_i16(quads) : shift_left<8>(as_i16(quads));
  return as_i32(is_unsigned ? shift_right<8>(v) : shift_right_signed<8>(v));
}

/// A row's quad to its place among `width` others.
inline void int8_put(const Int8Source& from, u32 quad, u32* at, Size width) {
  if constexpr (int8_as_bytes) {
    *at = quad;
  } else {
    const auto half = [&](u32 low, u32 high) {
      return from.is_unsigned ? low | high << 16
                              : (static_cast<u32>(static_cast<i8>(low)) & 0xffff) | static_cast<u32>(static_cast<i8>(high)) << 16;
    };
    at[0] = half(quad & 255, quad >> 16 & 255);
    at[width] = half(quad >> 8 & 255, quad >> 24);
  }
}

/// Consecutive k of a row: squares of quads, transposed.
inline void int8_pack_along(const Int8Source& from, const Int8Panels& panels, Size k) {
  constexpr int lanes = Vi32::lanes;
  const Size whole = k / int8_unit / lanes * lanes, units = int8_units(k), width = panels.width;
  const Vi32 flip = Vi32::broadcast(from.shifted ? static_cast<i32>(0x80808080u) : 0);
  for (Size first = 0, panel = 0; first < from.rows; first += width, ++panel) {
    const Size rows = std::min(width, from.rows - first);
    const u8* p = from.data + first * from.row_step;
    const u32* end = panels.at(panel, units);
    for (Size u = 0; u < whole; u += lanes) {
      for (Size g = 0; g < width; g += lanes) {
        Vf32 r[lanes];  // bits only
        for (int i = 0; i < lanes; ++i) {
          r[i] = g + i < rows ? as_f32(bit_xor(flip, Vi32::load(p + (g + i) * from.row_step + u * int8_unit))) : Vf32::zero();
        }
        transpose(r);
        for (int t = 0; t < lanes; ++t) {
          u32* at = panels.at(panel, u + t) + g;
          const auto put = [&](u32* word, Vi32 v) {
            // In ascending order a full store may spill into words that are written next.
            if (width - g >= lanes || (g == 0 && end - word >= lanes)) {
              store(word, v);
            } else {
              store_part(reinterpret_cast<f32*>(word), static_cast<int>(width - g), as_f32(v));
            }
          };
          if constexpr (int8_as_bytes) {
            put(at, as_i32(r[t]));
          } else {
            put(at, int8_half(as_i32(r[t]), false, from.is_unsigned));
            put(at + width, int8_half(as_i32(r[t]), true, from.is_unsigned));
          }
        }
      }
    }
    for (Size u = whole; u < units; ++u) {
      for (Size r = 0; r < rows; ++r) int8_put(from, int8_quad(from, first + r, u * int8_unit, k), panels.at(panel, u) + r, width);
    }
  }
}

#if defined(__x86_64__)
/// 16-bit numbers of eight bytes.
[[gnu::always_inline]] inline void int8_store_wide(const Int8Source& from, u32* to, __m128i low, __m128i high) {
#if defined(__AVX2__)
  const auto put = [&](u32* at, __m128i x) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), from.is_unsigned ? _mm256_cvtepu8_epi16(x) : _mm256_cvtepi8_epi16(x));
  };
  put(to, low);
  put(to + 8, high);
#else
  const auto put = [&](u32* at, __m128i x) {  // each byte twice
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), from.is_unsigned ? _mm_srli_epi16(x, 8) : _mm_srai_epi16(x, 8));
  };
  put(to, _mm_unpacklo_epi8(low, low));
  put(to + 4, _mm_unpackhi_epi8(low, low));
  put(to + 8, _mm_unpacklo_epi8(high, high));
  put(to + 12, _mm_unpackhi_epi8(high, high));
#endif
}

/// The words of 16 rows that lie side by side, from four runs of 16 bytes, one per k.
[[gnu::always_inline]] inline void int8_interleave(const Int8Source& from, const u8* p, Size step, u32* to, Size width) {
  const auto run = [&](Size i) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + i * step)); };
  const __m128i r0 = run(0), r1 = run(1), r2 = run(2), r3 = run(3);
  if constexpr (int8_as_bytes) {
    const __m128i low01 = _mm_unpacklo_epi8(r0, r1), high01 = _mm_unpackhi_epi8(r0, r1);
    const __m128i low23 = _mm_unpacklo_epi8(r2, r3), high23 = _mm_unpackhi_epi8(r2, r3);
    const auto put = [&](u32* at, __m128i x) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(at), _mm_xor_si128(x, _mm_set1_epi8(from.shifted ? -128 : 0)));
    };
    put(to, _mm_unpacklo_epi16(low01, low23));
    put(to + 4, _mm_unpackhi_epi16(low01, low23));
    put(to + 8, _mm_unpacklo_epi16(high01, high23));
    put(to + 12, _mm_unpackhi_epi16(high01, high23));
  } else {
    int8_store_wide(from, to, _mm_unpacklo_epi8(r0, r2), _mm_unpackhi_epi8(r0, r2));
    int8_store_wide(from, to + width, _mm_unpacklo_epi8(r1, r3), _mm_unpackhi_epi8(r1, r3));
  }
}

#if defined(__AVX2__)
/// The same of 32 rows, as bytes.
[[gnu::always_inline]] inline void int8_interleave_32(const Int8Source& from, const u8* p, Size step, u32* to) {
  const __m256i flip = _mm256_set1_epi8(from.shifted ? -128 : 0);
  const auto run = [&](Size i) { return _mm256_xor_si256(flip, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i * step))); };
  const __m256i r0 = run(0), r1 = run(1), r2 = run(2), r3 = run(3);
  const __m256i low01 = _mm256_unpacklo_epi8(r0, r1), high01 = _mm256_unpackhi_epi8(r0, r1);
  const __m256i low23 = _mm256_unpacklo_epi8(r2, r3), high23 = _mm256_unpackhi_epi8(r2, r3);
  // Each holds four rows of either half.
  const __m256i q0 = _mm256_unpacklo_epi16(low01, low23), q4 = _mm256_unpackhi_epi16(low01, low23);
  const __m256i q8 = _mm256_unpacklo_epi16(high01, high23), q12 = _mm256_unpackhi_epi16(high01, high23);
  auto* out = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(out, _mm256_permute2x128_si256(q0, q4, 0x20));
  _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(q8, q12, 0x20));
  _mm256_storeu_si256(out + 2, _mm256_permute2x128_si256(q0, q4, 0x31));
  _mm256_storeu_si256(out + 3, _mm256_permute2x128_si256(q8, q12, 0x31));
}
#endif
#else
inline void int8_interleave(const Int8Source& from, const u8* p, Size step, u32* to, Size width) {
  const Int8Source run{p, 1, step, 16, from.is_unsigned, from.shifted};
  for (int r = 0; r < 16; ++r) int8_put(from, int8_quad(run, r, 0, int8_unit), to + r, width);
}
#endif

/// Rows side by side. All panels of a unit before the next unit, so that memory is read in long runs. Rows of b lie far apart, often by a power of two
/// that few sets of a cache share, so they are fetched only a little ahead, into L2.
inline void int8_pack_across(const Int8Source& from, const Int8Panels& panels, Size k) {
  const Size whole = k / int8_unit, units = int8_units(k), width = panels.width;
  constexpr Size ahead = 4;  // units
  for (Size u = 0; u < units; ++u) {
    const u8* p = from.data + u * int8_unit * from.k_step;
    u32* to = panels.at(0, u);
    if (u + ahead < whole) {
      for (int i = 0; i < int8_unit; ++i) {
        for (Size at = 0; at < from.rows; at += 64) __builtin_prefetch(p + (ahead * int8_unit + i) * from.k_step + at, 0, 2);
      }
    }
    for (Size first = 0; first < from.rows; first += width, to += panels.step) {
      const Size rows = std::min(width, from.rows - first);
      Size row = 0;
      if (u < whole) {
#if defined(__AVX2__)
        if constexpr (int8_as_bytes) {
          for (; row + 32 <= rows; row += 32) int8_interleave_32(from, p + first + row, from.k_step, to + row);
        }
#endif
        for (; row + 16 <= rows; row += 16) int8_interleave(from, p + first + row, from.k_step, to + row, width);
        if (row < rows) {
          const auto n = static_cast<std::size_t>(rows - row);
          u8 runs[int8_unit][16] = {};
          u32 words[16 * int8_words];
          for (int i = 0; i < int8_unit; ++i) std::memcpy(runs[i], p + i * from.k_step + first + row, n);
          int8_interleave(from, runs[0], 16, words, 16);
          for (int w = 0; w < int8_words; ++w) std::memcpy(to + w * width + row, words + 16 * w, 4 * n);
          row = rows;
        }
      }
      for (; row < rows; ++row) int8_put(from, int8_quad(from, first + row, u * int8_unit, k), to + row, width);
    }
  }
}

/// Rows 0 … from.rows of k numbers; rows that fill the last panel are 0.
inline void int8_pack(const Int8Source& from, const Int8Panels& panels, Size k) {
  const Size units = int8_units(k), width = panels.width, last = from.rows % width;
  if (last != 0) {
    u32* to = panels.at(from.rows / width, 0);
    for (Size u = 0; u < units * int8_words; ++u) std::fill(to + u * width + last, to + (u + 1) * width, 0u);
  }
  if (from.k_step == 1) return int8_pack_along(from, panels, k);
  if (from.row_step == 1) return int8_pack_across(from, panels, k);
  for (Size row = 0; row < from.rows; ++row) {
    for (Size u = 0; u < units; ++u) int8_put(from, int8_quad(from, row, u * int8_unit, k), panels.at(row / width, u) + row % width, width);
  }
}

enum class Int8Sum { signed_bytes, unsigned_bytes, pair_products };

/// For each of `width` packed rows of one panel the sum over its units of its bytes, or of its even times its odd numbers.
inline void int8_row_sums(const u32* panel, Size width, Size units, Int8Sum what, i32* sums) {
  constexpr int lanes = Vi32::lanes;
  const Vi32 ones = Vi32::broadcast(0x01010101);
  const u32* end = panel + units * width * int8_words;
  for (Size r = 0; r < width; r += lanes) {
    const int n = static_cast<int>(std::min<Size>(lanes, width - r));
    // A full vector takes words of the next unit too, into lanes that nobody reads.
    const auto words = [&](const u32* p) {
      return end - p >= lanes ? Vi32::load(p) : as_i32(Vf32::load_part(reinterpret_cast<const f32*>(p), n));
    };
    Vi32 sum = Vi32::zero();
    for (Size u = 0; u < units; ++u) {
      const u32* at = panel + u * width * int8_words + r;
      if constexpr (int8_as_bytes) {
        if (what == Int8Sum::signed_bytes) {
          accumulate_bytes(sum, words(at), ones);
        } else {
          accumulate_bytes(sum, ones, words(at));
        }
      } else {
        sum = dpwssd(sum, as_i16(words(at)), as_i16(words(at + width)));
      }
    }
    i32 all[lanes];
    store(all, sum);
    std::copy(all, all + n, sums + r);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
