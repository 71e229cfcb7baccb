// Attention straight from D14: the composition matmul(softmax(scale·matmul(q, kᵀ) + mask), v), its inner values in f32, for every query by itself.
// A masked key takes no part: not in the maximum, not in a sum, not as a factor 0 beside a NaN.
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"
#include "votive/ops/matmul.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

/// q·k of one query and one key, by the rule of their dtype (CONTRACT.md 4.4), left in f32.
f32 score(DType dtype, const std::vector<u64>& q, const std::vector<u64>& k, const std::vector<f32>& q_wide, const std::vector<f32>& k_wide,
          Size q_row, Size k_row, Size D) {
  if (dtype != DType::bf16) return dot_f32(q_wide.data() + q_row * D, 1, k_wide.data() + k_row * D, 1, D);
  std::vector<u16> a, b;
  for (Size d = 0; d < D; ++d) {
    a.push_back(static_cast<u16>(q[static_cast<std::size_t>(q_row * D + d)]));
    b.push_back(static_cast<u16>(k[static_cast<std::size_t>(k_row * D + d)]));
  }
  return dot_bf16(a.data(), 1, b.data(), 1, D);
}

/// Σ p[s]·v[s] over the allowed keys, each in the block of 1024 its position lies in; a block without one adds nothing.
f32 weighted_sum(const std::vector<f32>& p, const std::vector<u8>& allowed, const f32* v, Size stride) {
  f32 sum = 0.0f;
  bool any_block = false;
  const Size S = static_cast<Size>(p.size());
  for (Size first = 0; first < S; first += dot_block) {
    f32 acc = 0.0f;
    bool any_key = false;
    for (Size s = first; s < S && s < first + dot_block; ++s) {
      if (allowed[static_cast<std::size_t>(s)] == 0) continue;
      acc = fma_f32(p[static_cast<std::size_t>(s)], v[s * stride], acc);
      any_key = true;
    }
    if (!any_key) continue;
    sum = any_block ? sum + acc : acc;
    any_block = true;
  }
  return sum;
}

/// Probabilities of the allowed keys; absent keys are −0 in the canonical tree.
std::vector<f32> probabilities(const std::vector<f32>& scores, const std::vector<u8>& allowed) {
  bool any = false;
  f32 m = 0.0f;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (allowed[s] == 0) continue;
    m = any ? maximum_f32(m, scores[s]) : scores[s];
    any = true;
  }
  std::vector<f32> e(scores.size(), -0.0f);
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (allowed[s] != 0) e[s] = exp_f32(scores[s] - m);
  }
  const f32 sum = tree_sum_f32(e.data(), static_cast<i64>(e.size()), 1);
  for (f32& v : e) v = v / sum;
  return e;
}

}  // namespace

void attention(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, Tensor& y, Stream&) {
  const Size B = q.shape()[0], H = q.shape()[1], T = q.shape()[2], D = q.shape()[3], K = k.shape()[1], S = k.shape()[2], E = v.shape()[3];
  const std::vector<f32> q_wide = read_f32(q), k_wide = read_f32(k), v_wide = read_f32(v);
  const std::vector<u64> q_bits = read_bits(q), k_bits = read_bits(k);
  const bool is_bool = mask.defined() && mask.dtype() == DType::boolean, is_additive = mask.defined() && !is_bool;
  const std::vector<u8> truth = is_bool ? read_truth(mask) : std::vector<u8>{};
  const std::vector<f32> added = is_additive ? read_f32(mask) : std::vector<f32>{};
  std::vector<f32> values;
  for (Size b = 0; b < B; ++b) {
    for (Size h = 0; h < H; ++h) {
      const Size key_head = b * K + h / (H / K);
      for (Size t = 0; t < T; ++t) {
        const Size row = (b * H + h) * T + t;
        std::vector<f32> scores(static_cast<std::size_t>(S));
        std::vector<u8> allowed(static_cast<std::size_t>(S), 1);
        for (Size s = 0; s < S; ++s) {
          const auto at = static_cast<std::size_t>(s), in_mask = static_cast<std::size_t>(row * S + s);
          if (op.causal && s > S - T + t) allowed[at] = 0;
          if (is_bool && truth[in_mask] == 0) allowed[at] = 0;
          if (is_additive && added[in_mask] == -infinity_f32()) allowed[at] = 0;
          if (allowed[at] == 0) continue;
          scores[at] = op.scale * score(q.dtype(), q_bits, k_bits, q_wide, k_wide, row, key_head * S + s, D);
          if (is_additive) scores[at] = scores[at] + added[in_mask];
        }
        const std::vector<f32> p = probabilities(scores, allowed);
        for (Size e = 0; e < E; ++e) values.push_back(weighted_sum(p, allowed, v_wide.data() + key_head * S * E + e, E));
      }
    }
  }
  write_f32(y, values);
}

}  // namespace votive::reference
