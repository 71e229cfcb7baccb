// simd.h on AVX2, FMA and F16C: 8 lanes for v3, and for v4emulated the 16 lanes of AVX-512 as two halves.
#pragma once

#include <immintrin.h>

#include "votive/cpu/simd_flush.h"
#include "votive/cpu/simd_twice.h"

namespace votive::cpu::VOTIVE_ISA {

struct F32x8 {
  static constexpr int lanes = 8;
  __m256 v;
  [[gnu::always_inline]] static F32x8 zero() { return {_mm256_setzero_ps()}; }
  [[gnu::always_inline]] static F32x8 broadcast(float x) { return {_mm256_set1_ps(x)}; }
  [[gnu::always_inline]] static F32x8 load(const float* p) { return {_mm256_loadu_ps(p)}; }
  [[gnu::always_inline]] static F32x8 load_f16(const std::uint16_t* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static F32x8 load_bf16(const std::uint16_t* p) {
    const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16))};
  }
  /// In asm, the mask in memory: g++ 12 takes more registers than there are beside the accumulators, and spills some of those.
  [[gnu::always_inline]] static F32x8 load_odd_bf16(const std::uint32_t* p) {
    alignas(32) static constexpr std::uint32_t high[8] = {0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u,
                                                          0xffff0000u, 0xffff0000u, 0xffff0000u, 0xffff0000u};
    F32x8 r;
    asm volatile("vmovups %1, %0\n\tvandps %2, %0, %0"
                 : "=x"(r.v)
                 : "m"(*reinterpret_cast<const __m256_u*>(p)), "m"(*reinterpret_cast<const __m256*>(high)));
    return r;
  }
  [[gnu::always_inline]] static F32x8 load_even_bf16(const std::uint32_t* p) {
    F32x8 r;
    asm volatile("vmovups %1, %0\n\tvpslld $16, %0, %0" : "=x"(r.v) : "m"(*reinterpret_cast<const __m256_u*>(p)));
    return r;
  }
  [[gnu::always_inline]] static F32x8 load_part(const float* p, int n) { return {_mm256_maskload_ps(p, first(n))}; }
  /// All ones in the first n 32-bit lanes.
  [[gnu::always_inline]] static __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
};

struct F64x4 {
  static constexpr int lanes = 4;
  __m256d v;
  [[gnu::always_inline]] static F64x4 zero() { return {_mm256_setzero_pd()}; }
  [[gnu::always_inline]] static F64x4 broadcast(double x) { return {_mm256_set1_pd(x)}; }
  [[gnu::always_inline]] static F64x4 load(const double* p) { return {_mm256_loadu_pd(p)}; }
  [[gnu::always_inline]] static F64x4 load_part(const double* p, int n) { return {_mm256_maskload_pd(p, first(n))}; }
  [[gnu::always_inline]] static __m256i first(int n) { return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3)); }
};

struct I32x8 {
  static constexpr int lanes = 8;
  __m256i v;
  [[gnu::always_inline]] static I32x8 zero() { return {_mm256_setzero_si256()}; }
  [[gnu::always_inline]] static I32x8 broadcast(std::int32_t x) { return {_mm256_set1_epi32(x)}; }
  [[gnu::always_inline]] static I32x8 load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
};

struct I16x16 {
  static constexpr int lanes = 16;
  __m256i v;
  [[gnu::always_inline]] static I16x16 zero() { return {_mm256_setzero_si256()}; }
  [[gnu::always_inline]] static I16x16 broadcast(std::int16_t x) { return {_mm256_set1_epi16(x)}; }
  /// The two 16-bit numbers at p in every 32-bit lane.
  [[gnu::always_inline]] static I16x16 broadcast2(const void* p) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return {_mm256_set1_epi32(x)};
  }
  [[gnu::always_inline]] static I16x16 load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
  [[gnu::always_inline]] static I16x16 load_i8(const std::int8_t* p) {
    return {_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
};

struct I8x32 {
  static constexpr int lanes = 32;
  __m256i v;
  [[gnu::always_inline]] static I8x32 zero() { return {_mm256_setzero_si256()}; }
  [[gnu::always_inline]] static I8x32 broadcast(std::int8_t x) { return {_mm256_set1_epi8(x)}; }
  [[gnu::always_inline]] static I8x32 broadcast4(const void* p) {
    std::int32_t x;
    std::memcpy(&x, p, 4);
    return {_mm256_set1_epi32(x)};
  }
  [[gnu::always_inline]] static I8x32 load(const void* p) { return {_mm256_loadu_si256(static_cast<const __m256i*>(p))}; }
};

[[gnu::always_inline]] inline F32x8 fma(F32x8 a, F32x8 b, F32x8 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
[[gnu::always_inline]] inline F32x8 add(F32x8 a, F32x8 b) { return {_mm256_add_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F32x8 sub(F32x8 a, F32x8 b) { return {_mm256_sub_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F32x8 mul(F32x8 a, F32x8 b) { return {_mm256_mul_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F32x8 div(F32x8 a, F32x8 b) { return {_mm256_div_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F32x8 min(F32x8 a, F32x8 b) { return {_mm256_min_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F32x8 max(F32x8 a, F32x8 b) { return {_mm256_max_ps(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 fma(F64x4 a, F64x4 b, F64x4 c) { return {_mm256_fmadd_pd(a.v, b.v, c.v)}; }
[[gnu::always_inline]] inline F64x4 add(F64x4 a, F64x4 b) { return {_mm256_add_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 sub(F64x4 a, F64x4 b) { return {_mm256_sub_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 mul(F64x4 a, F64x4 b) { return {_mm256_mul_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 div(F64x4 a, F64x4 b) { return {_mm256_div_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 min(F64x4 a, F64x4 b) { return {_mm256_min_pd(a.v, b.v)}; }
[[gnu::always_inline]] inline F64x4 max(F64x4 a, F64x4 b) { return {_mm256_max_pd(a.v, b.v)}; }

[[gnu::always_inline]] inline void store(float* p, F32x8 a) { _mm256_storeu_ps(p, a.v); }
[[gnu::always_inline]] inline void store(double* p, F64x4 a) { _mm256_storeu_pd(p, a.v); }
[[gnu::always_inline]] inline void store_part(float* p, int n, F32x8 a) { _mm256_maskstore_ps(p, F32x8::first(n), a.v); }
[[gnu::always_inline]] inline void store_part(double* p, int n, F64x4 a) { _mm256_maskstore_pd(p, F64x4::first(n), a.v); }
[[gnu::always_inline]] inline void store(void* p, I32x8 a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a.v); }
[[gnu::always_inline]] inline void store(void* p, I16x16 a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a.v); }
[[gnu::always_inline]] inline void store(void* p, I8x32 a) { _mm256_storeu_si256(static_cast<__m256i*>(p), a.v); }
[[gnu::always_inline]] inline void store_f16(std::uint16_t* p, F32x8 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
[[gnu::always_inline]] inline void store_bf16(std::uint16_t* p, F32x8 a) {
  const __m256i u = _mm256_castps_si256(a.v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_srli_epi32(_mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))), 16);
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q));
  const __m256i r = _mm256_blendv_epi8(rounded, _mm256_set1_epi32(0x7fc0), is_nan);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(r, r), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
}

/// NaN as numerics/convert.h has it: positive and without payload.
[[gnu::always_inline]] inline F32x8 canonical(F32x8 a) {
  return {_mm256_blendv_ps(a.v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), _mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q))};
}
[[gnu::always_inline]] inline bool any_nan(F32x8 a, F32x8 b) { return _mm256_movemask_ps(_mm256_cmp_ps(a.v, b.v, _CMP_UNORD_Q)) != 0; }

/// Makes every NaN the canonical one; a branch, since they are rare.
[[gnu::always_inline]] inline void settle_nan(F32x8& a, F32x8& b) {
  if (any_nan(a, b)) [[unlikely]] {
    a = canonical(a);
    b = canonical(b);
  }
}
/// What bf16 keeps is in the upper half of each lane.
[[gnu::always_inline]] inline __m256i rounded_to_bf16(F32x8 a) {
  const __m256i u = _mm256_castps_si256(a.v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
}
/// a's lanes, then b's, as numerics rounds them.
[[gnu::always_inline]] inline I16x16 to_bf16(F32x8 a, F32x8 b) {
  settle_nan(a, b);
  const __m256i packed = _mm256_packus_epi32(_mm256_srli_epi32(rounded_to_bf16(a), 16), _mm256_srli_epi32(rounded_to_bf16(b), 16));
  return {_mm256_permute4x64_epi64(packed, 0xd8)};
}
/// The bf16 at even and at odd places, and both back in one register: elements that need not be in order are cheaper to take apart so.
[[gnu::always_inline]] inline F32x8 even_bf16(I16x16 v) { return {_mm256_castsi256_ps(_mm256_slli_epi32(v.v, 16))}; }
[[gnu::always_inline]] inline F32x8 odd_bf16(I16x16 v) { return {_mm256_castsi256_ps(_mm256_and_si256(v.v, _mm256_set1_epi32(-65536)))}; }
[[gnu::always_inline]] inline I16x16 zip_bf16(F32x8 even, F32x8 odd) {
  settle_nan(even, odd);
  return {_mm256_blend_epi16(_mm256_srli_epi32(rounded_to_bf16(even), 16), rounded_to_bf16(odd), 0xaa)};
}
/// Stores that bypass the caches; p is a multiple of what they write.
[[gnu::always_inline]] inline void stream(void* p, I8x32 a) { _mm256_stream_si256(static_cast<__m256i*>(p), a.v); }
[[gnu::always_inline]] inline void stream_f16(void* p, F32x8 a) {
  _mm_stream_si128(static_cast<__m128i*>(p), _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

[[gnu::always_inline]] inline I8x32 as_i8(I32x8 a) { return {a.v}; }
[[gnu::always_inline]] inline I8x32 as_i8(I16x16 a) { return {a.v}; }
[[gnu::always_inline]] inline I16x16 as_i16(I8x32 a) { return {a.v}; }
[[gnu::always_inline]] inline I16x16 as_i16(I32x8 a) { return {a.v}; }
[[gnu::always_inline]] inline I32x8 as_i32(I8x32 a) { return {a.v}; }
[[gnu::always_inline]] inline I32x8 as_i32(I16x16 a) { return {a.v}; }
[[gnu::always_inline]] inline I32x8 as_i32(F32x8 a) { return {_mm256_castps_si256(a.v)}; }
[[gnu::always_inline]] inline F32x8 as_f32(I32x8 a) { return {_mm256_castsi256_ps(a.v)}; }
[[gnu::always_inline]] inline F32x8 to_f32(I32x8 a) { return {_mm256_cvtepi32_ps(a.v)}; }

[[gnu::always_inline]] inline I32x8 add(I32x8 a, I32x8 b) { return {_mm256_add_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline I32x8 sub(I32x8 a, I32x8 b) { return {_mm256_sub_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline I32x8 mul(I32x8 a, I32x8 b) { return {_mm256_mullo_epi32(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 add(I16x16 a, I16x16 b) { return {_mm256_add_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 sub(I16x16 a, I16x16 b) { return {_mm256_sub_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 mul(I16x16 a, I16x16 b) { return {_mm256_mullo_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline I8x32 add(I8x32 a, I8x32 b) { return {_mm256_add_epi8(a.v, b.v)}; }
[[gnu::always_inline]] inline I8x32 sub(I8x32 a, I8x32 b) { return {_mm256_sub_epi8(a.v, b.v)}; }

[[gnu::always_inline]] inline I32x8 bit_and(I32x8 a, I32x8 b) { return {_mm256_and_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I32x8 bit_or(I32x8 a, I32x8 b) { return {_mm256_or_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I32x8 bit_xor(I32x8 a, I32x8 b) { return {_mm256_xor_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 bit_and(I16x16 a, I16x16 b) { return {_mm256_and_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 bit_or(I16x16 a, I16x16 b) { return {_mm256_or_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I16x16 bit_xor(I16x16 a, I16x16 b) { return {_mm256_xor_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I8x32 bit_and(I8x32 a, I8x32 b) { return {_mm256_and_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I8x32 bit_or(I8x32 a, I8x32 b) { return {_mm256_or_si256(a.v, b.v)}; }
[[gnu::always_inline]] inline I8x32 bit_xor(I8x32 a, I8x32 b) { return {_mm256_xor_si256(a.v, b.v)}; }

template <int n>
[[gnu::always_inline]] inline I32x8 shift_left(I32x8 a) {
  return {_mm256_slli_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline I32x8 shift_right(I32x8 a) {
  return {_mm256_srli_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline I32x8 shift_right_signed(I32x8 a) {
  return {_mm256_srai_epi32(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline I16x16 shift_left(I16x16 a) {
  return {_mm256_slli_epi16(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline I16x16 shift_right(I16x16 a) {
  return {_mm256_srli_epi16(a.v, n)};
}
template <int n>
[[gnu::always_inline]] inline I16x16 shift_right_signed(I16x16 a) {
  return {_mm256_srai_epi16(a.v, n)};
}
[[gnu::always_inline]] inline I8x32 low_nibbles(I8x32 a) { return {_mm256_and_si256(a.v, _mm256_set1_epi8(15))}; }
[[gnu::always_inline]] inline I8x32 high_nibbles(I8x32 a) { return {_mm256_and_si256(_mm256_srli_epi16(a.v, 4), _mm256_set1_epi8(15))}; }

[[gnu::always_inline]] inline I16x16 maddubs(I8x32 u, I8x32 s) { return {_mm256_maddubs_epi16(u.v, s.v)}; }
[[gnu::always_inline]] inline I32x8 madd(I16x16 a, I16x16 b) { return {_mm256_madd_epi16(a.v, b.v)}; }
[[gnu::always_inline]] inline I32x8 dpwssd(I32x8 acc, I16x16 a, I16x16 b) { return add(acc, madd(a, b)); }
/// Even and odd bytes apart, since vpmaddubsw saturates at 2·255·128.
[[gnu::always_inline]] inline I32x8 dpbusd(I32x8 acc, I8x32 u, I8x32 s) {
  const __m256i even = _mm256_madd_epi16(_mm256_and_si256(u.v, _mm256_set1_epi16(255)), _mm256_srai_epi16(_mm256_slli_epi16(s.v, 8), 8));
  const __m256i odd = _mm256_madd_epi16(_mm256_srli_epi16(u.v, 8), _mm256_srai_epi16(s.v, 8));
  return {_mm256_add_epi32(acc.v, _mm256_add_epi32(even, odd))};
}
[[gnu::always_inline]] inline F32x8 dpbf16(F32x8 acc, I32x8 a, I32x8 b) {
  const I32x8 high = I32x8::broadcast(-65536);
  acc = fma(as_f32(bit_and(a, high)), as_f32(bit_and(b, high)), acc);
  return fma(as_f32(shift_left<16>(a)), as_f32(shift_left<16>(b)), acc);
}

/// acc = fma(a, b, acc) that g++ 12 neither moves nor spills for: with 12 accumulators its own order reaches 60 % of peak.
[[gnu::always_inline]] inline void accumulate(F32x8& acc, F32x8 a, F32x8 b) {
  asm volatile("vfmadd231ps %2, %1, %0" : "+x"(acc.v) : "x"(a.v), "x"(b.v));
}
[[gnu::always_inline]] inline void accumulate(F64x4& acc, F64x4 a, F64x4 b) {
  asm volatile("vfmadd231pd %2, %1, %0" : "+x"(acc.v) : "x"(a.v), "x"(b.v));
}
[[gnu::always_inline]] inline void broadcast_from(const float* p, F32x8& r) { asm volatile("vbroadcastss %1, %0" : "=x"(r.v) : "m"(*p)); }
[[gnu::always_inline]] inline void broadcast_from(const double* p, F64x4& r) { asm volatile("vbroadcastsd %1, %0" : "=x"(r.v) : "m"(*p)); }

[[gnu::always_inline]] inline void transpose(F32x8* r) {
  __m256 a[8], b[8];
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    a[2 * i] = _mm256_unpacklo_ps(r[2 * i].v, r[2 * i + 1].v);
    a[2 * i + 1] = _mm256_unpackhi_ps(r[2 * i].v, r[2 * i + 1].v);
  });
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    b[4 * i] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0x44);
    b[4 * i + 1] = _mm256_shuffle_ps(a[4 * i], a[4 * i + 2], 0xee);
    b[4 * i + 2] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0x44);
    b[4 * i + 3] = _mm256_shuffle_ps(a[4 * i + 1], a[4 * i + 3], 0xee);
  });
  unroll<4>([&](auto i) __attribute__((always_inline)) {
    r[i].v = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
    r[i + 4].v = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
  });
}
[[gnu::always_inline]] inline void transpose(F64x4* r) {
  __m256d a[4];
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    a[2 * i] = _mm256_unpacklo_pd(r[2 * i].v, r[2 * i + 1].v);
    a[2 * i + 1] = _mm256_unpackhi_pd(r[2 * i].v, r[2 * i + 1].v);
  });
  unroll<2>([&](auto i) __attribute__((always_inline)) {
    r[i].v = _mm256_permute2f128_pd(a[i], a[i + 2], 0x20);
    r[i + 2].v = _mm256_permute2f128_pd(a[i], a[i + 2], 0x31);
  });
}

using FlushToZero = FlushSubnormals;

#if defined(VOTIVE_ISA_v4emulated)
using Vf32 = Twice<F32x8>;
using Vf64 = Twice<F64x4>;
using Vi32 = Twice<I32x8>;
using Vi16 = Twice<I16x16>;
using Vi8 = Twice<I8x32>;
#else
using Vf32 = F32x8;
using Vf64 = F64x4;
using Vi32 = I32x8;
using Vi16 = I16x16;
using Vi8 = I8x32;
#endif

}  // namespace votive::cpu::VOTIVE_ISA
