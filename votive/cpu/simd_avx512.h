// simd.h on AVX-512 (F, BW, DQ, VL): 16 lanes. With AVX512_BF16 and VNNI (v4n) the dot products are one instruction; without, they are
// spelled out.
#pragma once

// g++ 12 calls the undefined pass-through operand of its own intrinsics uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include "votive/cpu/simd_flush.h"

namespace votive::cpu::VOTIVE_ISA {

struct Vf32 {
  static constexpr int lanes = 16;
  __m512 v;
  [[gnu::always_inline]] static Vf32 zero() { return {_mm512_setzero_ps()}; }
  [[gnu::always_inline]] static Vf32 broadcast(float x) { return {_mm512_set1_ps(x)}; }
  [[gnu::always_inline]] static Vf32 load(const float* p) { return {_mm512_loadu_ps(p)}; }
  [[gnu::always_inline]] static Vf32 load_f16(const std::uint16_t* p) {
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  [[gnu::always_inline]] static Vf32 load_bf16(const std::uint16_t* p) {
    const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return {_mm512_castsi512_ps(_mm512_slli_epi32(wide, 16))};
  }
  [[gnu::always_inline]] static Vf32 load_odd_bf16(const std::uint32_t* p) {
    return {_mm512_castsi512_ps(_mm512_and_si512(_mm512_loadu_si512(p), _mm512_set1_epi32(-65536)))};
  }
  [[gnu::always_inline]] static Vf32 load_even_bf16(const std::uint32_t* p) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_loadu_si512(p), 16))};
  }
  [[gnu::always_inline]] static Vf32 load_part(const float* p, int n) { return {_mm512_maskz_loadu_ps(first(n), p)}; }
  [[gnu::always_inline]] static __mmask16 first(int n) {
    return n >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1u << n) - 1u);
  }
};

struct Vf64 {
  static constexpr int lanes = 8;
  __m512d v;
  [[gnu::always_inline]] static Vf64 zero() { return {_mm512_setzero_pd()}; }
  [[gnu::always_inline]] static Vf64 broadcast(double x) { return {_mm512_set1_pd(x)}; }
  [[gnu::always_inline]] static Vf64 load(const double* p) { return {_mm512_loadu_pd(p)}; }
  [[gnu::always_inline]] static Vf64 load_part(const double* p, int n) { return {_mm512_maskz_loadu_pd(first(n), p)}; }
  [[gnu::always_inline]] static __mmask8 first(int n) {
    return n >= 8 ? static_cast<__mmask8>(0xff) : static_cast<__mmask8>((1u << n) - 1u);
  }
};

struct Vi32 {
  static constexpr int lanes = 16;
  __m512i v;
  [[gnu::always_inline]] static Vi32 zero() { return {_mm512_setzero_si512()}; }
  [[gnu::always_inline]] static Vi32 broadcast(std::int32_t x) { return {_mm512_set1_epi32(x)}; }
  [[gnu::always_inline]] static Vi32 load(const void* p) { return {_mm512_loadu_si512(p)}; }
};

struct Vi16 {
  static constexpr int lanes = 32;
  __m512i v;
  [[gnu::always_inline]] static Vi16 zero() { return {_mm512_setzero_si512()}; }
  [[gnu::always_inline]] static Vi16 broadcast(std::int16_t x) { return {_mm512_set1_epi16(x)}; }
  /// The two 16-bit numbers at p in every 32-bit lane.
  [[gnu::always_inline]] static Vi16 broadcast2(const void* p) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return {_mm512_set1_epi32(x)};
  }
  [[gnu::always_inline]] static Vi16 load(const void* p) { return {_mm512_loadu_si512(p)}; }
  [[gnu::always_inline]] static Vi16 load_i8(const std::int8_t* p) {
    return {_mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
};

struct Vi8 {
  static constexpr int lanes = 64;
  __m512i v;
  [[gnu::always_inline]] static Vi8 zero() { return {_mm512_setzero_si512()}; }
  [[gnu::always_inline]] static Vi8 broadcast(std::int8_t x) { return {_mm512_set1_epi8(x)}; }
  [[gnu::always_inline]] static Vi8 broadcast4(const void* p) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return {_mm512_set1_epi32(x)};
  }
  [[gnu::always_inline]] static Vi8 load(const void* p) { return {_mm512_loadu_si512(p)}; }
};

[[gnu::always_inline]] inline Vf32 fma(Vf32 a, Vf32 b, Vf32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
[[gnu::always_inline]] inline Vf32 add(Vf32 a, Vf32 b) { return {_mm512_add_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf32 sub(Vf32 a, Vf32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf32 mul(Vf32 a, Vf32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf32 div(Vf32 a, Vf32 b) { return {_mm512_div_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf32 min(Vf32 a, Vf32 b) { return {_mm512_min_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf32 max(Vf32 a, Vf32 b) { return {_mm512_max_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 fma(Vf64 a, Vf64 b, Vf64 c) { return {_mm512_fmadd_pd(a.v, b.v, c.v)}; }
[[gnu::always_inline]] inline Vf64 add(Vf64 a, Vf64 b) { return {_mm512_add_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 sub(Vf64 a, Vf64 b) { return {_mm512_sub_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 mul(Vf64 a, Vf64 b) { return {_mm512_mul_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 div(Vf64 a, Vf64 b) { return {_mm512_div_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 min(Vf64 a, Vf64 b) { return {_mm512_min_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline Vf64 max(Vf64 a, Vf64 b) { return {_mm512_max_pd(a.v, b.v)}; }

[[gnu::always_inline]] inline void store(float* p, Vf32 a) { _mm512_storeu_ps(p, a.v); }
[[gnu::always_inline]] inline void store(double* p, Vf64 a) { _mm512_storeu_pd(p, a.v); }
[[gnu::always_inline]] inline void store_part(float* p, int n, Vf32 a) { _mm512_mask_storeu_ps(p, Vf32::first(n), a.v); }
[[gnu::always_inline]] inline void store_part(double* p, int n, Vf64 a) { _mm512_mask_storeu_pd(p, Vf64::first(n), a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi32 a) { _mm512_storeu_si512(p, a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi16 a) { _mm512_storeu_si512(p, a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi8 a) { _mm512_storeu_si512(p, a.v); }
[[gnu::always_inline]] inline void store_f16(std::uint16_t* p, Vf32 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/// In integers: vcvtneps2bf16 would flush subnormals.
[[gnu::always_inline]] inline void store_bf16(std::uint16_t* p, Vf32 a) {
  const __m512i u = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))), 16);
  const __m512i r = _mm512_mask_mov_epi32(rounded, _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), _mm512_set1_epi32(0x7fc0));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(r));
}

/// NaN as numerics/convert.h has it: positive and without payload.
[[gnu::always_inline]] inline Vf32 canonical(Vf32 a) {
  return {_mm512_mask_mov_ps(a.v, _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q), _mm512_castsi512_ps(_mm512_set1_epi32(0x7fc00000)))};
}
[[gnu::always_inline]] inline bool any_nan(Vf32 a, Vf32 b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_UNORD_Q) != 0; }

/// Makes every NaN the canonical one; a branch, since they are rare.
[[gnu::always_inline]] inline void settle_nan(Vf32& a, Vf32& b) {
  if (any_nan(a, b)) [[unlikely]] {
    a = canonical(a);
    b = canonical(b);
  }
}
/// What bf16 keeps is in the upper half of each lane.
[[gnu::always_inline]] inline __m512i rounded_to_bf16(Vf32 a) {
  const __m512i u = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  return _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
}
[[gnu::always_inline]] inline __m512i zipped_bf16(Vf32 even, Vf32 odd) {
  return _mm512_mask_blend_epi16(0xaaaaaaaau, _mm512_srli_epi32(rounded_to_bf16(even), 16), rounded_to_bf16(odd));
}
[[gnu::always_inline]] inline __m512i joined_bf16(Vf32 a, Vf32 b) {
  const __m512i upper = _mm512_set_epi16(63, 61, 59, 57, 55, 53, 51, 49, 47, 45, 43, 41, 39, 37, 35, 33, 31, 29, 27, 25, 23, 21, 19, 17, 15,
                                         13, 11, 9, 7, 5, 3, 1);
  return _mm512_permutex2var_epi16(rounded_to_bf16(a), upper, rounded_to_bf16(b));
}
#if defined(__AVX512BF16__)
/// NaN and subnormals, which vcvtne2ps2bf16 does not treat as numerics does.
[[gnu::always_inline]] inline bool any_special(Vf32 a, Vf32 b) {
  return _kortestz_mask16_u8(_mm512_fpclass_ps_mask(a.v, 0xa1), _mm512_fpclass_ps_mask(b.v, 0xa1)) == 0;
}
#endif
/// a's lanes, then b's, as numerics rounds them.
[[gnu::always_inline]] inline Vi16 to_bf16(Vf32 a, Vf32 b) {
#if defined(__AVX512BF16__)
  if (!any_special(a, b)) [[likely]]
    return {(__m512i)_mm512_cvtne2ps_pbh(b.v, a.v)};
  return {joined_bf16(canonical(a), canonical(b))};
#else
  if (any_nan(a, b)) [[unlikely]]
    return {joined_bf16(canonical(a), canonical(b))};
  return {joined_bf16(a, b)};
#endif
}
/// The bf16 at even and at odd places, and both back in one register: elements that need not be in order are cheaper to take apart so.
[[gnu::always_inline]] inline Vf32 even_bf16(Vi16 v) { return {_mm512_castsi512_ps(_mm512_slli_epi32(v.v, 16))}; }
[[gnu::always_inline]] inline Vf32 odd_bf16(Vi16 v) { return {_mm512_castsi512_ps(_mm512_and_si512(v.v, _mm512_set1_epi32(-65536)))}; }
[[gnu::always_inline]] inline Vi16 zip_bf16(Vf32 even, Vf32 odd) {
#if defined(__AVX512BF16__)
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3,
                                         18, 2, 17, 1, 16, 0);
  if (!any_special(even, odd)) [[likely]]
    return {_mm512_permutexvar_epi16(order, (__m512i)_mm512_cvtne2ps_pbh(odd.v, even.v))};
  return {zipped_bf16(canonical(even), canonical(odd))};
#else
  if (any_nan(even, odd)) [[unlikely]]
    return {zipped_bf16(canonical(even), canonical(odd))};
  return {zipped_bf16(even, odd)};
#endif
}
/// Stores that bypass the caches; p is a multiple of what they write.
[[gnu::always_inline]] inline void stream(void* p, Vi8 a) { _mm512_stream_si512(static_cast<__m512i*>(p), a.v); }
[[gnu::always_inline]] inline void stream_f16(void* p, Vf32 a) {
  _mm256_stream_si256(static_cast<__m256i*>(p), _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

[[gnu::always_inline]] inline Vi8 as_i8(Vi32 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi8 as_i8(Vi16 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi16 as_i16(Vi8 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi16 as_i16(Vi32 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi32 as_i32(Vi8 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi32 as_i32(Vi16 a) { return {a.v}; }
[[gnu::always_inline]] inline Vi32 as_i32(Vf32 a) { return {_mm512_castps_si512(a.v)}; }
[[gnu::always_inline]] inline Vf32 as_f32(Vi32 a) { return {_mm512_castsi512_ps(a.v)}; }
[[gnu::always_inline]] inline Vf32 to_f32(Vi32 a) { return {_mm512_cvtepi32_ps(a.v)}; }

[[gnu::always_inline]] inline Vi32 add(Vi32 a, Vi32 b) { return {_mm512_add_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 sub(Vi32 a, Vi32 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 mul(Vi32 a, Vi32 b) { return {_mm512_mullo_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 bit_and(Vi32 a, Vi32 b) { return {_mm512_and_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 bit_or(Vi32 a, Vi32 b) { return {_mm512_or_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 bit_xor(Vi32 a, Vi32 b) { return {_mm512_xor_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 add(Vi16 a, Vi16 b) { return {_mm512_add_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 sub(Vi16 a, Vi16 b) { return {_mm512_sub_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 mul(Vi16 a, Vi16 b) { return {_mm512_mullo_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 bit_and(Vi16 a, Vi16 b) { return {_mm512_and_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 bit_or(Vi16 a, Vi16 b) { return {_mm512_or_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi16 bit_xor(Vi16 a, Vi16 b) { return {_mm512_xor_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi8 add(Vi8 a, Vi8 b) { return {_mm512_add_epi8(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi8 sub(Vi8 a, Vi8 b) { return {_mm512_sub_epi8(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi8 bit_and(Vi8 a, Vi8 b) { return {_mm512_and_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi8 bit_or(Vi8 a, Vi8 b) { return {_mm512_or_si512(a.v, b.v)}; }
[[gnu::always_inline]] inline Vi8 bit_xor(Vi8 a, Vi8 b) { return {_mm512_xor_si512(a.v, b.v)}; }

template <int n>
[[gnu::always_inline]] inline Vi32 shift_left(Vi32 a) {
  return {_mm512_slli_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline Vi32 shift_right(Vi32 a) {
  return {_mm512_srli_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline Vi32 shift_right_signed(Vi32 a) {
  return {_mm512_srai_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_left(Vi16 a) {
  return {_mm512_slli_epi16(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_right(Vi16 a) {
  return {_mm512_srli_epi16(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_right_signed(Vi16 a) {
  return {_mm512_srai_epi16(a.v, n)};
}
[[gnu::always_inline]] inline Vi8 low_nibbles(Vi8 a) { return {_mm512_and_si512(a.v, _mm512_set1_epi8(15))}; }
[[gnu::always_inline]] inline Vi8 high_nibbles(Vi8 a) { return {_mm512_and_si512(_mm512_srli_epi16(a.v, 4), _mm512_set1_epi8(15))}; }

[[gnu::always_inline]] inline Vi16 maddubs(Vi8 u, Vi8 s) { return {_mm512_maddubs_epi16(u.v, s.v)}; }
[[gnu::always_inline]] inline Vi32 madd(Vi16 a, Vi16 b) { return {_mm512_madd_epi16(a.v, b.v)}; }

#if defined(__AVX512VNNI__)
[[gnu::always_inline]] inline Vi32 dpwssd(Vi32 acc, Vi16 a, Vi16 b) { return {_mm512_dpwssd_epi32(acc.v, a.v, b.v)}; }
[[gnu::always_inline]] inline Vi32 dpbusd(Vi32 acc, Vi8 u, Vi8 s) { return {_mm512_dpbusd_epi32(acc.v, u.v, s.v)}; }
#else
[[gnu::always_inline]] inline Vi32 dpwssd(Vi32 acc, Vi16 a, Vi16 b) { return add(acc, madd(a, b)); }
/// Even and odd bytes apart, since vpmaddubsw saturates at 2·255·128.
[[gnu::always_inline]] inline Vi32 dpbusd(Vi32 acc, Vi8 u, Vi8 s) {
  const __m512i even = _mm512_madd_epi16(_mm512_and_si512(u.v, _mm512_set1_epi16(255)), _mm512_srai_epi16(_mm512_slli_epi16(s.v, 8), 8));
  const __m512i odd = _mm512_madd_epi16(_mm512_srli_epi16(u.v, 8), _mm512_srai_epi16(s.v, 8));
  return {_mm512_add_epi32(acc.v, _mm512_add_epi32(even, odd))};
}
#endif

/// acc = fma(a, b, acc) that g++ 12 neither moves nor spills for.
[[gnu::always_inline]] inline void accumulate(Vf32& acc, Vf32 a, Vf32 b) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
}
[[gnu::always_inline]] inline void accumulate(Vf64& acc, Vf64 a, Vf64 b) {
  asm volatile("vfmadd231pd %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
}
[[gnu::always_inline]] inline void broadcast_from(const float* p, Vf32& r) { asm volatile("vbroadcastss %1, %0" : "=v"(r.v) : "m"(*p)); }
[[gnu::always_inline]] inline void broadcast_from(const double* p, Vf64& r) { asm volatile("vbroadcastsd %1, %0" : "=v"(r.v) : "m"(*p)); }

[[gnu::always_inline]] inline void broadcast_from(const std::uint32_t* p, Vi32& r) {
  asm volatile("vpbroadcastd %1, %0" : "=v"(r.v) : "m"(*p));
}

[[gnu::always_inline]] inline void transpose(Vf32* r) {
  __m512i a[16], b[16];
  unroll<16>([&](auto i) __attribute__((always_inline)) { a[i] = _mm512_castps_si512(r[i].v); });
  unroll<8>([&](auto i) __attribute__((always_inline)) {
    b[2 * i] = _mm512_unpacklo_epi32(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm512_unpackhi_epi32(a[2 * i], a[2 * i + 1]);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    a[4 * i] = _mm512_unpacklo_epi64(b[4 * i], b[4 * i + 2]);
    a[4 * i + 1] = _mm512_unpackhi_epi64(b[4 * i], b[4 * i + 2]);
    a[4 * i + 2] = _mm512_unpacklo_epi64(b[4 * i + 1], b[4 * i + 3]);
    a[4 * i + 3] = _mm512_unpackhi_epi64(b[4 * i + 1], b[4 * i + 3]);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    b[i] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0x88);
    b[i + 4] = _mm512_shuffle_i32x4(a[i], a[i + 4], 0xdd);
    b[i + 8] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0x88);
    b[i + 12] = _mm512_shuffle_i32x4(a[i + 8], a[i + 12], 0xdd);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    r[i].v = _mm512_castsi512_ps(_mm512_shuffle_i32x4(b[i], b[i + 8], 0x88));
    r[i + 8].v = _mm512_castsi512_ps(_mm512_shuffle_i32x4(b[i], b[i + 8], 0xdd));
    r[i + 4].v = _mm512_castsi512_ps(_mm512_shuffle_i32x4(b[i + 4], b[i + 12], 0x88));
    r[i + 12].v = _mm512_castsi512_ps(_mm512_shuffle_i32x4(b[i + 4], b[i + 12], 0xdd));
  });
}
[[gnu::always_inline]] inline void transpose(Vf64* r) {
  __m512d a[8], b[8];
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    a[2 * i] = _mm512_unpacklo_pd(r[2 * i].v, r[2 * i + 1].v);
    a[2 * i + 1] = _mm512_unpackhi_pd(r[2 * i].v, r[2 * i + 1].v);
  });
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    b[i] = _mm512_shuffle_f64x2(a[i], a[i + 2], 0x88);
    b[i + 2] = _mm512_shuffle_f64x2(a[i], a[i + 2], 0xdd);
    b[i + 4] = _mm512_shuffle_f64x2(a[i + 4], a[i + 6], 0x88);
    b[i + 6] = _mm512_shuffle_f64x2(a[i + 4], a[i + 6], 0xdd);
  });
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    r[i].v = _mm512_shuffle_f64x2(b[i], b[i + 4], 0x88);
    r[i + 4].v = _mm512_shuffle_f64x2(b[i], b[i + 4], 0xdd);
    r[i + 2].v = _mm512_shuffle_f64x2(b[i + 2], b[i + 6], 0x88);
    r[i + 6].v = _mm512_shuffle_f64x2(b[i + 2], b[i + 6], 0xdd);
  });
}

#if defined(__AVX512BF16__)
/// acc = dpbf16(acc, a, b) in place and in order.
[[gnu::always_inline]] inline void accumulate_bf16(Vf32& acc, Vi32 a, Vi32 b) {
  asm volatile("vdpbf16ps %2, %1, %0" : "+v"(acc.v) : "v"(a.v), "v"(b.v));
}
[[gnu::always_inline]] inline Vf32 dpbf16(Vf32 acc, Vi32 a, Vi32 b) { return {_mm512_dpbf16_ps(acc.v, (__m512bh)a.v, (__m512bh)b.v)}; }

/// vdpbf16ps takes subnormals as zeros whatever MXCSR says.
class FlushToZero {
 public:
  FlushToZero() {}
  ~FlushToZero() {}
};
#else
[[gnu::always_inline]] inline Vf32 dpbf16(Vf32 acc, Vi32 a, Vi32 b) {
  const Vi32 high = Vi32::broadcast(-65536);
  acc = fma(as_f32(bit_and(a, high)), as_f32(bit_and(b, high)), acc);
  return fma(as_f32(shift_left<16>(a)), as_f32(shift_left<16>(b)), acc);
}

using FlushToZero = FlushSubnormals;
#endif

}  // namespace votive::cpu::VOTIVE_ISA
