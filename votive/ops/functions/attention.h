// Attention, and the rotary positions that go before it (CONTRACT.md 4.5).
#pragma once

#include <optional>

#include "votive/core/tensor.h"
#include "votive/ops/functions/create.h"
#include "votive/ops/index.h"

namespace votive {

struct AttentionOptions {
  std::optional<float> scale = {};  // 1/√D when absent
  bool causal = false;
};
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask = {}, AttentionOptions options = {});

struct RopeOptions {
  RopePairing pairing = RopePairing::halves;
};
Tensor rope(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopeOptions options = {});
/// frequency i = base^(−2i/R), i < R/2, correctly rounded but for the last bits of an f64 power; the same on every machine. f32 [R/2].
Tensor rope_frequencies(Size rotated, double base = 10000.0, CreateOptions options = {});

}  // namespace votive
