// Attention, and the rotary positions that go before it (CONTRACT.md 4.5).
#pragma once

#include <optional>

#include "votive/core/tensor.h"
#include "votive/ops/attention.h"
#include "votive/ops/functions/create.h"

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
/// Example: attention(zeros({1, 1, 1, 2}), zeros({1, 1, 2, 2}), tensor({{{{0, 1}, {2, 3}}}}))  // [[[[1, 2]]]]
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
/// Position interpolation: frequencies divided by `factor`. Computed in f64, rounded once to f32 [R/2], as all below; class P.
/// Source: Chen et al. 2023, arXiv 2306.15595.
/// Example: rope_frequencies_linear(4, 2)  // [0.5, 0.005]
Tensor rope_frequencies_linear(Size rotated, double factor, double base = 10000.0, CreateOptions options = {});
/// NTK-aware scaling: base·factor^(R/(R − 2)), so the slowest pair turns `factor` times slower and the fastest as before. Class P.
/// Source: bloc97 2023, as cited by Peng et al. 2023, arXiv 2309.00071, section 3.1.
/// Example: rope_frequencies_ntk(4, 2)  // [1, 0.005]
Tensor rope_frequencies_ntk(Size rotated, double factor, double base = 10000.0, CreateOptions options = {});
struct DynamicRope {
  double factor = 1;
  Size trained = 2048;  // the length of sequences it was trained on
  Size length = 2048;   // the length now
};
/// NTK-aware scaling that grows with the sequence: by factor·length/trained − (factor − 1) once it is longer than `trained`. Class P.
/// Source: emozilla 2023, as cited by Peng et al. 2023, section 3.3; the formula of Hugging Face's `dynamic`.
/// Example: rope_frequencies_dynamic(4, {.factor = 1, .trained = 10, .length = 20})  // [1, 0.005]
Tensor rope_frequencies_dynamic(Size rotated, DynamicRope scaling, double base = 10000.0, CreateOptions options = {});
struct Llama3Rope {
  double factor = 8, low = 1, high = 4;
  Size trained = 8192;
};
/// Pairs that turn more than `high` times within the trained length stay, those below `low` turns are slowed by `factor`, between them linearly. Class P.
/// Source: Llama 3.1 (Dubey et al. 2024, arXiv 2407.21783) as published with its weights.
/// Example: rope_frequencies_llama3(4, {.factor = 8, .trained = 64}, 10000)  // [1, 0.00125]
Tensor rope_frequencies_llama3(Size rotated, Llama3Rope scaling, double base = 500000.0, CreateOptions options = {});
struct YarnRope {
  double factor = 1;
  Size trained = 2048;
  double fast = 32, slow = 1;  // turns within the trained length: at least `fast` stay, at most `slow` are divided by `factor`
};
/// YaRN: between whole pairs that turn `fast` and `slow` times the frequencies go linearly over to those divided by `factor`. Class P.
/// Source: Peng et al. 2023, arXiv 2309.00071, section 3.2, with its code's rounding to whole pairs.
/// Example: rope_frequencies_yarn(4, {.factor = 2, .trained = 64})  // [1, 0.005]
Tensor rope_frequencies_yarn(Size rotated, YarnRope scaling, double base = 10000.0, CreateOptions options = {});
/// What YaRN multiplies cosines and sines with, squared in the scores: 0.1·ln factor + 1. Class P.
/// Example: full({}, yarn_attention_factor(1))  // 1
double yarn_attention_factor(double factor);

}  // namespace votive
