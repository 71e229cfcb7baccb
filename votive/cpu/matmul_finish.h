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

/// y[row …][column …] of rows × columns from sums; null means that every sum is +0. The sums may be y itself.
template <class Acc>
void finish_sums(const MatrixProduct& p, const Acc* sums, Size step, Size row, Size column, Size rows, Size columns) {
  const Acc* bias = static_cast<const Acc*>(p.bias);
  constexpr Size most = 64;
  for (Size i = 0; i < rows; ++i) {
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
        from = with_bias;
      } else if (bias != nullptr) {
        const Acc* b = bias + column + j0;
        for (Size j = 0; j < n; ++j) with_bias[j] = from[j] + b[j];
        from = with_bias;
      }
      const Size at = (row + i) * p.n + column + j0;
      if (y_is_acc<Acc>(p)) {
        std::memmove(reinterpret_cast<Acc*>(p.y) + at, from, static_cast<std::size_t>(n) * sizeof(Acc));
      } else if (p.y_dtype == DType::f16) {
        u16* y = reinterpret_cast<u16*>(p.y) + at;
        for (Size j = 0; j < n; ++j) y[j] = numerics::f32_to_f16(static_cast<f32>(from[j]));
      } else {
        u16* y = reinterpret_cast<u16*>(p.y) + at;
        Size j = 0;
        if constexpr (sizeof(Acc) == sizeof(f32)) {
          for (; j + Vf32::lanes <= n; j += Vf32::lanes) store_bf16(y + j, Vf32::load(from + j));
        }
        for (; j < n; ++j) y[j] = numerics::f32_to_bf16(static_cast<f32>(from[j]));
      }
    }
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
