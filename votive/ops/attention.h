// Attention, and the rotary positions that go before it (CONTRACT.md 4.5, D14).
#pragma once

#include "votive/ops/check.h"
#include "votive/ops/gradient.h"
#include "votive/ops/op.h"

namespace votive {

/// y[b, h, t, :] = softmax(scores + mask)·v with grouped heads: q [B, H, T, D], k [B, K, S, D], v [B, K, S, E], H a multiple of K, query head h reads key
/// head h / (H/K). Query t stands at p = S − T + t, |s − p| is its distance to key s. Scores: x = scale·q·kᵀ; with softcap x = cap·tanh(x/cap); with
/// slopes x − slope[h]·distance; with an additive mask x + mask, in this order. A key takes part unless causal and s > p, or distance ≥ window > 0, or
/// its bool mask is false, or its additive mask is −inf: not in the maximum, not in a sum, and a block of 1024 keys without one adds nothing; a row
/// without keys gives zeros. D14: the bits of the composition. q, k, v of one floating dtype; inner work in f32, f64 for f64.
/// Kernels meet a mask of bool or the inner dtype, broadcast to rank 4 (stride 0), and slopes [H] of the inner dtype; both may be absent.
struct Attention {
  float scale;
  bool causal;
  float softcap = 0;  // 0: none
  Size window = 0;    // 0: none

  static constexpr OpInfo info{"attention", Class::exact};
  using Kernel = void(const Attention&, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes,
                      Tensor& y, Stream&);
  Meta result(const Meta& q, const Meta& k, const Meta& v, const Meta& mask, const Meta& slopes) const;
  Saves saves() const { return {~0u, false}; }
  Tensors gradient(const Backward& b) const;
};

/// Which elements of a head form a pair: (2i, 2i+1), or (i, i + R/2) where R elements rotate.
enum class RopePairing : std::uint8_t { interleaved, halves };

/// Rotary positions: θ = position·frequency, (x₀, x₁) → (x₀·cos θ − x₁·sin θ, x₀·sin θ + x₁·cos θ), f32 inside (f64 for f64) with a rounding per
/// operation, one rounding at the end. x [B, H, T, D], positions [T] or [B, T] of any integer dtype, frequencies f32 [R/2] (for f64 also f64), R ≤ D; the
/// rest is copied.
struct Rope {
  RopePairing pairing;

  static constexpr OpInfo info{"rope", Class::portable};
  using Kernel = void(const Rope&, const Tensor& x, const Tensor& positions, const Tensor& frequencies, Tensor& y, Stream&);
  Meta result(const Meta& x, const Meta& positions, const Meta& frequencies) const;
  Saves saves() const { return {7u, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
