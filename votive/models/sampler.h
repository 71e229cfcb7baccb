// From logits to the next token: penalty, temperature, top-k, top-p, min-p, then a draw from Philox. A function of logits, options and the
// number of draws made; nothing is hidden. Not here: beams, grammars.
#pragma once

#include <cstdint>
#include <span>

#include "votive/core/tensor.h"

namespace votive::models {

struct SamplingOptions {
  double temperature = 0.0;  ///< 0: greedy, the likeliest token (lowest id on ties)
  Size top_k = 0;            ///< only the k likeliest; 0: all
  double top_p = 1.0;        ///< only the likeliest whose probabilities, added from the top, first reach p
  double min_p = 0.0;        ///< only tokens at least this fraction as likely as the likeliest
  double repetition_penalty =
      1.0;  ///< logits of tokens in the last `repetition_window` are divided (positive) or multiplied (negative) by it
  Size repetition_window = 64;
  std::uint64_t seed = 0;
};

class Sampler {
 public:
  /// Throws Error{InvalidArgument} for a temperature, probability or penalty out of range or NaN.
  explicit Sampler(const SamplingOptions& options);

  /// logits f32 [V]; `recent` are the ids so far, latest last. Throws Error{NonFinite} when a logit is NaN.
  int operator()(const Tensor& logits, std::span<const int> recent);

 private:
  SamplingOptions options_;
  std::uint64_t draws_ = 0;
};

}  // namespace votive::models
