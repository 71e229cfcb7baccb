// Sums of a product on their way to y: the bias in the accumulator's type, one rounding. Not here: the sums (matmul_tile.h).
#pragma once

#include "votive/cpu/matmul.h"
#include "votive/cpu/simd.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {

/// Whether y holds accumulators, so that a tile can write it.
template <class Acc>
bool y_is_acc(const MatrixProduct& p) {
  return p.y_dtype == (sizeof(Acc) == 8 ? DType::f64 : DType::f32);
}

#if defined(VOTIVE_ISA_v4n)
/// Two vectors rounded to bf16 by the instruction for it, which reads subnormals as zeros and keeps the bits of a NaN; false, and nothing done, where
/// there is one.
[[gnu::always_inline]] inline bool round_normal_pair(u16* y, const f32* from) {
  constexpr int nan_or_subnormal = 0x01 | 0x20 | 0x80;
  const __m512 a = _mm512_loadu_ps(from), b = _mm512_loadu_ps(from + 16);
  if ((_mm512_fpclass_ps_mask(a, nan_or_subnormal) | _mm512_fpclass_ps_mask(b, nan_or_subnormal)) != 0) return false;
  _mm512_storeu_si512(y, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(b, a)));
  return true;
}
#endif

/// n accumulators, rounded once to y's dtype.
template <DType dtype, class Acc>
[[gnu::always_inline]] inline void put_rounded(u16* y, const Acc* from, Size n) {
  Size j = 0;
  if constexpr (sizeof(Acc) == sizeof(f32)) {
#if defined(VOTIVE_ISA_v4n)
    if constexpr (dtype == DType::bf16) {
      while (j + 32 <= n && round_normal_pair(y + j, from + j)) j += 32;
    }
#endif
    for (; j + Vf32::lanes <= n; j += Vf32::lanes) {
      if constexpr (dtype == DType::f16) {
        Vf32 v = Vf32::load(from + j);
#if defined(__AVX2__)
        v = canonical(v);
#endif
        store_f16(y + j, v);
      } else {
        store_bf16(y + j, Vf32::load(from + j));
      }
    }
  }
  for (; j < n; ++j)
    y[j] = dtype == DType::f16 ? numerics::f32_to_f16(static_cast<f32>(from[j])) : numerics::f32_to_bf16(static_cast<f32>(from[j]));
}

/// put(place in y, accumulators, how many) for rows × columns of y[row …][column …]: sums, null for +0, and the bias.
template <class Acc, class Put>
void finish_rows(const MatrixProduct& p, const Acc* sums, Size step, Size row, Size column, Size rows, Size columns, Put put) {
  const Acc* bias = static_cast<const Acc*>(p.bias);
  Size at = row * p.n + column;
  if (bias == nullptr && sums != nullptr) {
    for (Size i = 0; i < rows; ++i, at += p.n) put(at, sums + i * step, columns);
    return;
  }
  constexpr Size most = 64;
  for (Size i = 0; i < rows; ++i, at += p.n) {
    for (Size j0 = 0; j0 < columns; j0 += most) {
      const Size n = columns - j0 < most ? columns - j0 : most;
      Acc with_bias[most];
      const Acc* from = sums != nullptr ? sums + i * step + j0 : with_bias;
      if (sums == nullptr) {
        for (Size j = 0; j < n; ++j) with_bias[j] = 0;
      }
      if (bias != nullptr && p.bias_rows != 0) {
        const Acc b = bias[(row + i) % p.bias_rows];
        for (Size j = 0; j < n; ++j) with_bias[j] = from[j] + b;
      } else if (bias != nullptr) {
        const Acc* b = bias + column + j0;
        for (Size j = 0; j < n; ++j) with_bias[j] = from[j] + b[j];
      }
      put(at + j0, static_cast<const Acc*>(with_bias), n);
    }
  }
}

/// y[row …][column …] of rows × columns from sums; null means that every sum is +0. The sums may be y itself.
template <class Acc>
void finish_sums(const MatrixProduct& p, const Acc* sums, Size step, Size row, Size column, Size rows, Size columns) {
  const auto put = [&](auto put_row) { finish_rows<Acc>(p, sums, step, row, column, rows, columns, put_row); };
  if (y_is_acc<Acc>(p)) {
    return put([&](Size at, const Acc* from, Size n) {
      std::memmove(reinterpret_cast<Acc*>(p.y) + at, from, static_cast<std::size_t>(n) * sizeof(Acc));
    });
  }
  u16* const y = reinterpret_cast<u16*>(p.y);
  if (p.y_dtype == DType::f16) return put([&](Size at, const Acc* from, Size n) { put_rounded<DType::f16>(y + at, from, n); });
  put([&](Size at, const Acc* from, Size n) { put_rounded<DType::bf16>(y + at, from, n); });
}

}  // namespace votive::cpu::VOTIVE_ISA
