// The vector type that CPU kernels are written on: f32, f64 and integer lanes with loads, stores, arithmetic and dot products, one header per
// instruction set. A kernel says Vf32 and reads its width from Vf32::lanes. Not here: algorithms, masks of comparison, loops over memory.
//
//   baseline     simd_generic.h    plain arrays of 4 lanes and the fma of numerics; also AArch64
//   v3           simd_avx2.h       8 lanes
//   v4emulated   simd_avx2.h       16 lanes as two halves: the text of v4 on a machine that lacks it
//   v4, v4n      simd_avx512.h     16 lanes; v4n has vdpbf16ps and vpdpbusd, v4 does their work in other instructions
//
// Names are alike everywhere. Vi8, Vi16, Vi32 have the same number of bytes as Vf32; signedness belongs to the operation.
//   V::zero() V::broadcast(x) V::load(p) V::load_part(p, n) store(p, v) store_part(p, n, v): any alignment; absent lanes are zero
//   add sub mul div, min max (x86's: the second operand where either is NaN), fma(a, b, c) = a·b + c
//   Vf32::load_f16 load_bf16, store_f16 store_bf16: one rounding, to nearest even; load_odd_bf16 load_even_bf16: of pairs in 32 bits
//   stream(p, Vi8): a store past the caches, p aligned to it
//   with AVX2 also: canonical(v), settle_nan(a, b): NaN as numerics' conversions give it; stream_f16(p, v); to_bf16(a, b) → Vi16; even_bf16(v), odd_bf16(v)
//   and back zip_bf16(even, odd), for elements that need not be in order
//   to_f32(Vi32), as_i8 as_i16 as_i32 as_f32, bit_and bit_or bit_xor, shift_left<n> shift_right<n> shift_right_signed<n>
//   Vi8::broadcast4(p): the four bytes at p in every 32-bit lane; Vi16::load_i8(p): bytes sign-extended; low_nibbles(v), high_nibbles(v)
//   maddubs(u8, i8) → i16 pairs, saturating; madd(i16, i16) → i32 pairs; dpbusd(acc, u8, i8), dpwssd(acc, i16, i16): exact, wrapping
//   dpbf16(acc, a, b): bf16 pairs, odd element first (CONTRACT.md 4.4), between FlushToZero's constructor and destructor
//   accumulate(acc, a, b): acc = a·b + acc in place and in order; broadcast_from(p, v); transpose(v[lanes]); unroll<n>(f): f(0) … f(n − 1)
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "votive/numerics/convert.h"
#include "votive/numerics/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

/// f(0), …, f(n − 1) with constants, so that arrays indexed by them become registers before anything else is decided.
template <int n, class F>
[[gnu::always_inline]] inline void unroll(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) { (f(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, n>{});
}
template <int n, class F>
constexpr void unroll_constant(F f) {
  [&]<int... i>(std::integer_sequence<int, i...>) { (f(std::integral_constant<int, i>{}), ...); }
  (std::make_integer_sequence<int, n>{});
}

}  // namespace votive::cpu::VOTIVE_ISA

#if defined(__AVX512F__)
#include "votive/cpu/simd_avx512.h"
#elif defined(__AVX2__)
#include "votive/cpu/simd_avx2.h"
#else
#include "votive/cpu/simd_generic.h"
#endif
