// Eight f32 lanes whatever the width of Vf32, where that is wider: a square of 8 is transposed in three rounds instead of four, on both shuffle ports of
// Zen 4, where squares of 16 have but the width of one. Elsewhere the vectors of simd.h. f16 is turned as 16 bits too, 16 rows at once (load_f16_columns).
// Not here: anything but loads, transposition and dot products.
#pragma once

#include <cstddef>

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(__AVX512F__)

struct Vf32Half {
  static constexpr int lanes = 8;
  __m256 v;
  [[gnu::always_inline]] static Vf32Half zero() { return {_mm256_setzero_ps()}; }
  [[gnu::always_inline]] static Vf32Half load(const float* p) { return {_mm256_loadu_ps(p)}; }
};
[[gnu::always_inline]] inline void store(float* p, Vf32Half a) { _mm256_storeu_ps(p, a.v); }
[[gnu::always_inline]] inline void broadcast_from(const float* p, Vf32Half& r) {
  asm volatile("vbroadcastss %1, %0" : "=v"(r.v) : "m"(*p));
}
[[gnu::always_inline]] inline void accumulate(Vf32Half& acc, Vf32Half a, Vf32Half b) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
}
#if defined(__AVX512BF16__)
/// acc = dpbf16(acc, a, b) of pairs that lie in f32 lanes.
[[gnu::always_inline]] inline void accumulate_bf16(Vf32Half& acc, Vf32Half a, Vf32Half b) {
  asm volatile("vdpbf16ps %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
}
#endif
/// The odd and the even element of bf16 pairs as f32.
[[gnu::always_inline]] inline Vf32Half odd_bf16(Vf32Half a) {
  return {_mm256_castsi256_ps(_mm256_and_si256(_mm256_castps_si256(a.v), _mm256_set1_epi32(-65536)))};
}
[[gnu::always_inline]] inline Vf32Half even_bf16(Vf32Half a) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a.v), 16))};
}

#else

#if defined(VOTIVE_ISA_v4emulated)
using Vf32Half = F32x8;
#else
using Vf32Half = Vf32;
#endif
[[gnu::always_inline]] inline Vf32Half odd_bf16(Vf32Half a) { return as_f32(bit_and(as_i32(a), decltype(as_i32(a))::broadcast(-65536))); }
[[gnu::always_inline]] inline Vf32Half even_bf16(Vf32Half a) { return as_f32(shift_left<16>(as_i32(a))); }

#endif

/// column[i] = number i of each of `lanes` rows, i < 4, the first at p and the others `step` bytes apart: of f32, or f16 widened.
#if defined(__AVX2__)
[[gnu::always_inline]] inline __m256 join_four(const float*, const std::byte* a, const std::byte* b) {
  const __m256 low = _mm256_castps128_ps256(_mm_loadu_ps(reinterpret_cast<const float*>(a)));
  return _mm256_insertf128_ps(low, _mm_loadu_ps(reinterpret_cast<const float*>(b)), 1);
}
[[gnu::always_inline]] inline __m256 join_four(const std::uint16_t*, const std::byte* a, const std::byte* b) {
  const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a)), high = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b));
  return _mm256_cvtph_ps(_mm_unpacklo_epi64(low, high));
}
/// Rows i and i + 4 join as they are loaded, so that only two rounds of shuffles are left.
template <class Word>
[[gnu::always_inline]] inline void load_columns(const std::byte* p, Size step, Vf32Half* column) {
  constexpr const Word* kind = nullptr;
  const Size step3 = 3 * step;
  const std::byte *low = p, *high = p + 4 * step;
  const __m256 r0 = join_four(kind, low, high), r1 = join_four(kind, low + step, high + step),
               r2 = join_four(kind, low + 2 * step, high + 2 * step), r3 = join_four(kind, low + step3, high + step3);
  const __m256d a = _mm256_castps_pd(_mm256_unpacklo_ps(r0, r1)), b = _mm256_castps_pd(_mm256_unpackhi_ps(r0, r1)),
                c = _mm256_castps_pd(_mm256_unpacklo_ps(r2, r3)), d = _mm256_castps_pd(_mm256_unpackhi_ps(r2, r3));
  column[0].v = _mm256_castpd_ps(_mm256_unpacklo_pd(a, c));
  column[1].v = _mm256_castpd_ps(_mm256_unpackhi_pd(a, c));
  column[2].v = _mm256_castpd_ps(_mm256_unpacklo_pd(b, d));
  column[3].v = _mm256_castpd_ps(_mm256_unpackhi_pd(b, d));
}
#if defined(__AVX512F__)
/// column[i] = number i of each of 16 rows of f16, i < 8: turned as 16 bits, so that half as many shuffles are left, and widened then.
[[gnu::always_inline]] inline void load_f16_columns(const std::byte* p, Size step, Vf32* column) {
  __m256i r[8], t[8], u[8];
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    const auto* row = reinterpret_cast<const __m128i*>(p + i * step);
    const auto* later = reinterpret_cast<const __m128i*>(p + (i + 8) * step);
    r[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(row)), _mm_loadu_si128(later), 1);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    t[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
    t[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    constexpr int from = i / 2 * 4 + i % 2;
    u[2 * i] = _mm256_unpacklo_epi32(t[from], t[from + 2]);
    u[2 * i + 1] = _mm256_unpackhi_epi32(t[from], t[from + 2]);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    column[2 * i] = {_mm512_cvtph_ps(_mm256_unpacklo_epi64(u[i], u[i + 4]))};
    column[2 * i + 1] = {_mm512_cvtph_ps(_mm256_unpackhi_epi64(u[i], u[i + 4]))};
  });
}
#endif
#else
template <class Word>
[[gnu::always_inline]] inline void load_columns(const std::byte* p, Size step, Vf32Half* square) {
  static_assert(Vf32Half::lanes == 4);
  for (int i = 0; i < Vf32Half::lanes; ++i, p += step) {
    if constexpr (sizeof(Word) == 2) {
      square[i] = Vf32Half::load_f16(reinterpret_cast<const std::uint16_t*>(p));
    } else {
      square[i] = Vf32Half::load(reinterpret_cast<const float*>(p));
    }
  }
  transpose(square);
}
#endif

}  // namespace votive::cpu::VOTIVE_ISA
