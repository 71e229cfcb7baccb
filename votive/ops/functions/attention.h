// Attention, and the rotary positions that go before it (CONTRACT.md 4.5).
#pragma once

#include <optional>

#include "votive/core/tensor.h"
#include "votive/ops/functions/create.h"
#include "votive/ops/attention.h"

namespace votive {

struct AttentionOptions {
  std::optional<float> scale = {};  // 1/√D when absent
  bool causal = false;              // query t of T sees keys up to S − T + t
  float softcap = 0;                // > 0: scores become cap·tanh(score/cap)
  Size window = 0;                  // > 0: only keys nearer than this, the query's own position among them
  Tensor slopes = {};               // ALiBi: [H], score − slope·distance
};
/// softmax(scale·q·kᵀ + mask)·v, every query head h reading key head h / (H/K).
///   q [B, H, T, D], k [B, K, S, D], v [B, K, S, E] of one floating dtype, H a multiple of K; mask bool (true = attend) or additive, broadcast to
///   [B, H, T, S]  →  [B, H, T, E]
/// Class E: the bits of the composition, inner values in f32 (f64 for f64), one rounding (D14). A query without keys gives zeros; what a mask hides,
/// NaN included, takes no part. Throws Error{ShapeMismatch, DTypeMismatch, InvalidArgument}.
/// Sources: Vaswani et al. 2017; Press et al. 2022 (ALiBi); Beltagy et al. 2020 (window); Gemma 2, 2024 (softcap).
/// Example: attention(zeros({1, 1, 1, 2}), zeros({1, 1, 2, 2}), reshape(arange(0, 4, 1, f32), {1, 1, 2, 2}))  // [[[[1, 2]]]]
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}, const AttentionOptions& options = {});

struct RopeOptions {
  RopePairing pairing = RopePairing::halves;
};
/// Rotary positions: pair i of a head turns by θ = position·frequency[i]; (x₀, x₁) → (x₀·cos θ − x₁·sin θ, x₀·sin θ + x₁·cos θ).
///   x floating [B, H, T, D], positions integer [T] or [B, T], frequencies f32 [R/2] (f64 too for f64), R ≤ D  →  as x; elements from R on are copied
/// Class P: f32 inside (f64 for f64), a rounding per operation, one at the end. Throws Error{ShapeMismatch, DTypeMismatch}.
/// Source: Su et al. 2021.
/// Example: rope(ones({1, 1, 1, 2}), tensor({0}, i64), ones({1}))  // [[[[1, 1]]]]
Tensor rope(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopeOptions options = {});
/// frequency i = base^(−2i/R), i < R/2, correctly rounded but for the last bits of an f64 power; the same on every machine. f32 [R/2]. Class P.
/// Example: rope_frequencies(4)  // [1, 0.01]
Tensor rope_frequencies(Size rotated, double base = 10000.0, CreateOptions options = {});

}  // namespace votive
