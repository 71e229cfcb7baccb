// Integer dot products over lanes of 32 bits, one text per instruction set: each lane holds four bytes of one weight row, `dot` multiplies them
// with four signed bytes of x and adds the exact sum to the lane. v4emulated is the 16-lane text on two halves of AVX2.
#pragma once

#include "votive/cpu/packed_weight.h"
#include "votive/numerics/convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {

using numerics::f32;
using numerics::i32;

#if VOTIVE_ISA_v4 || VOTIVE_ISA_v4n

struct Lanes {
  static constexpr int count = 16;
#if VOTIVE_ISA_v4n
  static constexpr bool has_dot = true;  // vpdpbusd; otherwise sums of 16 bits are widened once per unit
#else
  static constexpr bool has_dot = false;
#endif
  using I = __m512i;
  using F = __m512;

  static I load(const u8* p) { return _mm512_loadu_si512(p); }
  static I zero() { return _mm512_setzero_si512(); }
  static I all(i32 v) { return _mm512_set1_epi32(v); }
  static I four(const i8* p) {
    i32 v;
    std::memcpy(&v, p, 4);
    return _mm512_set1_epi32(v);
  }
  static I both(I a, I b) { return _mm512_and_si512(a, b); }
  static I either(I a, I b) { return _mm512_or_si512(a, b); }
  template <int n>
  static I right(I v) {
    return _mm512_srli_epi32(v, n);
  }
  template <int n>
  static I left(I v) {
    return _mm512_slli_epi32(v, n);
  }
  template <int n>
  static I right16(I v) {
    return _mm512_srli_epi16(v, n);
  }
  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I add16(I a, I b) { return _mm512_add_epi16(a, b); }
  static I pairs(I unsigned_bytes, I signed_bytes) { return _mm512_maddubs_epi16(unsigned_bytes, signed_bytes); }
  static I widen(I a16, I b16) { return _mm512_madd_epi16(a16, b16); }
  static void keep_order(I& sum) { asm("" : "+v"(sum)); }  // g++ adds integers in trees, whose parts it then spills
#if VOTIVE_ISA_v4n
  static I dot(I sum, I w, I x) { return _mm512_dpbusd_epi32(sum, w, x); }
#endif
  static F to_float(I v) { return _mm512_cvtepi32_ps(v); }
  static F half(const u8* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static F bytes(const u8* p) { return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))); }
  static F signed_bytes(const u8* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static F all(f32 v) { return _mm512_set1_ps(v); }
  static F nothing() { return _mm512_setzero_ps(); }
  static F times(F a, F b) { return _mm512_mul_ps(a, b); }
  static F negative(F a) { return _mm512_xor_ps(a, _mm512_set1_ps(-0.0f)); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static void store(f32* p, F v) { _mm512_storeu_ps(p, v); }
};

#elif VOTIVE_ISA_v3 || VOTIVE_ISA_v4emulated

struct EightLanes {
  static constexpr int count = 8;
  static constexpr bool has_dot = false;
  using I = __m256i;
  using F = __m256;

  static I load(const u8* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static I zero() { return _mm256_setzero_si256(); }
  static I all(i32 v) { return _mm256_set1_epi32(v); }
  static I four(const i8* p) {
    i32 v;
    std::memcpy(&v, p, 4);
    return _mm256_set1_epi32(v);
  }
  static I both(I a, I b) { return _mm256_and_si256(a, b); }
  static I either(I a, I b) { return _mm256_or_si256(a, b); }
  template <int n>
  static I right(I v) {
    return _mm256_srli_epi32(v, n);
  }
  template <int n>
  static I left(I v) {
    return _mm256_slli_epi32(v, n);
  }
  template <int n>
  static I right16(I v) {
    return _mm256_srli_epi16(v, n);
  }
  static I add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I add16(I a, I b) { return _mm256_add_epi16(a, b); }
  static I pairs(I unsigned_bytes, I signed_bytes) { return _mm256_maddubs_epi16(unsigned_bytes, signed_bytes); }
  static I widen(I a16, I b16) { return _mm256_madd_epi16(a16, b16); }
  static void keep_order(I& sum) { asm("" : "+x"(sum)); }  // g++ adds integers in trees, whose parts it then spills
  static F to_float(I v) { return _mm256_cvtepi32_ps(v); }
  static F half(const u8* p) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }
  static F bytes(const u8* p) { return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))); }
  static F signed_bytes(const u8* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static F all(f32 v) { return _mm256_set1_ps(v); }
  static F nothing() { return _mm256_setzero_ps(); }
  static F times(F a, F b) { return _mm256_mul_ps(a, b); }
  static F negative(F a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static void store(f32* p, F v) { _mm256_storeu_ps(p, v); }
};

#if VOTIVE_ISA_v3
using Lanes = EightLanes;
#else
/// Two halves that behave as one vector of 16 lanes; `dot` is vpdpbusd spelled with what AVX2 has.
struct Lanes {
  using H = EightLanes;
  static constexpr int count = 16;
  static constexpr bool has_dot = true;
  struct I {
    H::I low, high;
  };
  struct F {
    H::F low, high;
  };

  static I load(const u8* p) { return {H::load(p), H::load(p + 32)}; }
  static I zero() { return {H::zero(), H::zero()}; }
  static I all(i32 v) { return {H::all(v), H::all(v)}; }
  static I four(const i8* p) { return {H::four(p), H::four(p)}; }
  static I both(I a, I b) { return {H::both(a.low, b.low), H::both(a.high, b.high)}; }
  static I either(I a, I b) { return {H::either(a.low, b.low), H::either(a.high, b.high)}; }
  template <int n>
  static I right(I v) {
    return {H::right<n>(v.low), H::right<n>(v.high)};
  }
  template <int n>
  static I left(I v) {
    return {H::left<n>(v.low), H::left<n>(v.high)};
  }
  static I add(I a, I b) { return {H::add(a.low, b.low), H::add(a.high, b.high)}; }
  static I add16(I a, I b) { return {H::add16(a.low, b.low), H::add16(a.high, b.high)}; }
  static I pairs(I a, I b) { return {H::pairs(a.low, b.low), H::pairs(a.high, b.high)}; }
  static I widen(I a, I b) { return {H::widen(a.low, b.low), H::widen(a.high, b.high)}; }
  static I dot(I sum, I w, I x) { return {dot_half(sum.low, w.low, x.low), dot_half(sum.high, w.high, x.high)}; }
  static F to_float(I v) { return {H::to_float(v.low), H::to_float(v.high)}; }
  static F half(const u8* p) { return {H::half(p), H::half(p + 16)}; }
  static F bytes(const u8* p) { return {H::bytes(p), H::bytes(p + 8)}; }
  static F signed_bytes(const u8* p) { return {H::signed_bytes(p), H::signed_bytes(p + 8)}; }
  static F all(f32 v) { return {H::all(v), H::all(v)}; }
  static F nothing() { return {H::nothing(), H::nothing()}; }
  static F times(F a, F b) { return {H::times(a.low, b.low), H::times(a.high, b.high)}; }
  static F negative(F a) { return {H::negative(a.low), H::negative(a.high)}; }
  static F fma(F a, F b, F c) { return {H::fma(a.low, b.low, c.low), H::fma(a.high, b.high, c.high)}; }
  static void store(f32* p, F v) {
    H::store(p, v.low);
    H::store(p + 8, v.high);
  }

 private:
  // vpmaddubsw saturates where two products of a full byte meet; the seven low bits and the eighth apart do not: 2·127·128 and 2·128·128 = 2¹⁵ (negative only).
  static H::I dot_half(H::I sum, H::I w, H::I x) {
    const H::I ones = _mm256_set1_epi16(1);
    const H::I low = H::widen(H::pairs(H::both(w, _mm256_set1_epi8(127)), x), ones);
    const H::I top = H::widen(H::pairs(H::both(w, _mm256_set1_epi8(-128)), x), ones);
    return H::add(sum, H::add(low, top));
  }
};
#endif

#else

/// Four lanes as arrays, for the baseline and for AArch64: the meaning, without a claim to speed.
struct Lanes {
  static constexpr int count = 4;
  static constexpr bool has_dot = true;
  struct I {
    i32 lane[4];
  };
  struct F {
    f32 lane[4];
  };

  static I load(const u8* p) {
    I v;
    std::memcpy(v.lane, p, 16);
    return v;
  }
  static I zero() { return {}; }
  static I all(i32 v) { return {{v, v, v, v}}; }
  static I four(const i8* p) {
    i32 v;
    std::memcpy(&v, p, 4);
    return all(v);
  }
  static I both(I a, I b) {
    for (int r = 0; r < 4; ++r) a.lane[r] &= b.lane[r];
    return a;
  }
  static I either(I a, I b) {
    for (int r = 0; r < 4; ++r) a.lane[r] |= b.lane[r];
    return a;
  }
  template <int n>
  static I right(I v) {
    for (i32& lane : v.lane) lane = static_cast<i32>(static_cast<u32>(lane) >> n);
    return v;
  }
  template <int n>
  static I left(I v) {
    for (i32& lane : v.lane) lane = static_cast<i32>(static_cast<u32>(lane) << n);
    return v;
  }
  static I add(I a, I b) {
    for (int r = 0; r < 4; ++r) a.lane[r] += b.lane[r];
    return a;
  }
  static I dot(I sum, I w, I x) {
    for (int r = 0; r < 4; ++r) {
      u8 a[4];
      i8 b[4];
      std::memcpy(a, &w.lane[r], 4);
      std::memcpy(b, &x.lane[r], 4);
      sum.lane[r] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    }
    return sum;
  }
  static F to_float(I v) {
    F f;
    for (int r = 0; r < 4; ++r) f.lane[r] = static_cast<f32>(v.lane[r]);
    return f;
  }
  static F half(const u8* p) {
    F f;
    for (int r = 0; r < 4; ++r) f.lane[r] = numerics::f16_to_f32(detail::word_at(p + 2 * r));
    return f;
  }
  static F bytes(const u8* p) {
    F f;
    for (int r = 0; r < 4; ++r) f.lane[r] = static_cast<f32>(p[r]);
    return f;
  }
  static F signed_bytes(const u8* p) {
    F f;
    for (int r = 0; r < 4; ++r) f.lane[r] = static_cast<f32>(static_cast<i8>(p[r]));
    return f;
  }
  static F all(f32 v) { return {{v, v, v, v}}; }
  static F nothing() { return {}; }
  static F times(F a, F b) {
    for (int r = 0; r < 4; ++r) a.lane[r] *= b.lane[r];
    return a;
  }
  static F negative(F a) {
    for (f32& lane : a.lane) lane = -lane;
    return a;
  }
  static F fma(F a, F b, F c) {
    for (int r = 0; r < 4; ++r) c.lane[r] = numerics::fma_f32(a.lane[r], b.lane[r], c.lane[r]);
    return c;
  }
  static void store(f32* p, F v) { std::memcpy(p, v.lane, 16); }
};

#endif

}  // namespace votive::cpu::VOTIVE_ISA
