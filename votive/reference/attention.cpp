// Attention straight from D14: the composition matmul(softmax(scale·matmul(q, kᵀ) + mask), v), its inner values in f32 (f64 for f64), for every query by
// itself. A masked key takes no part: not in the maximum, not in a sum, not as a factor 0 beside a NaN.
#include "votive/ops/attention.h"

#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

f32 dot(const f32* a, const f32* b, Size n) { return dot_f32(a, 1, b, 1, n); }
f64 dot(const f64* a, const f64* b, Size n) { return dot_f64(a, 1, b, 1, n); }
f32 multiply_add(f32 a, f32 b, f32 c) { return fma_f32(a, b, c); }
f64 multiply_add(f64 a, f64 b, f64 c) { return fma_f64(a, b, c); }
f32 larger(f32 a, f32 b) { return maximum_f32(a, b); }
f64 larger(f64 a, f64 b) { return maximum_f64(a, b); }
f32 exponential(f32 x) { return exp_f32(x); }
f64 exponential(f64 x) { return exp_f64(x); }
f32 hyperbolic_tangent(f32 x) { return tanh_f32(x); }
f64 hyperbolic_tangent(f64 x) { return tanh_f64(x); }
f32 tree(const std::vector<f32>& x) { return tree_sum_f32(x.data(), static_cast<i64>(x.size()), 1); }
f64 tree(const std::vector<f64>& x) { return tree_sum_f64(x.data(), static_cast<i64>(x.size()), 1); }

template <class T>
std::vector<T> read(const Tensor& x) {
  if (!x.defined()) return {};
  if constexpr (std::is_same_v<T, f64>) {
    return read_f64(x);
  } else {
    return read_f32(x);
  }
}

/// Σ p[s]·v[s] over the allowed keys, each in the block of 1024 its position lies in; a block without one adds nothing.
template <class T>
T weighted_sum(const std::vector<T>& p, const std::vector<u8>& allowed, const T* v, Size stride) {
  T sum = 0;
  bool any_block = false;
  const Size S = static_cast<Size>(p.size());
  for (Size first = 0; first < S; first += dot_block) {
    T acc = 0;
    bool any_key = false;
    for (Size s = first; s < S && s < first + dot_block; ++s) {
      if (allowed[static_cast<std::size_t>(s)] == 0) continue;
      acc = multiply_add(p[static_cast<std::size_t>(s)], v[s * stride], acc);
      any_key = true;
    }
    if (!any_key) continue;
    sum = any_block ? sum + acc : acc;
    any_block = true;
  }
  return sum;
}

/// Probabilities of the allowed keys; absent keys are −0 in the canonical tree.
template <class T>
std::vector<T> probabilities(const std::vector<T>& scores, const std::vector<u8>& allowed) {
  bool any = false;
  T m = 0;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (allowed[s] == 0) continue;
    m = any ? larger(m, scores[s]) : scores[s];
    any = true;
  }
  std::vector<T> e(scores.size(), static_cast<T>(-0.0));
  for (std::size_t s = 0; s < scores.size(); ++s) {
    if (allowed[s] != 0) e[s] = exponential(scores[s] - m);
  }
  const T sum = tree(e);
  for (T& v : e) v = v / sum;
  return e;
}

template <class T>
std::vector<T> attend(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes) {
  const Size B = q.shape()[0], H = q.shape()[1], queries = q.shape()[2], D = q.shape()[3], K = k.shape()[1], S = k.shape()[2],
             E = v.shape()[3];
  const std::vector<T> q_wide = read<T>(q), k_wide = read<T>(k), v_wide = read<T>(v), slope = read<T>(slopes);
  std::vector<u16> q_bf16, k_bf16;
  if (q.dtype() == DType::bf16) {
    for (const u64 bits : read_bits(q)) q_bf16.push_back(static_cast<u16>(bits));
    for (const u64 bits : read_bits(k)) k_bf16.push_back(static_cast<u16>(bits));
  }
  const bool is_bool = mask.defined() && mask.dtype() == DType::boolean, is_additive = mask.defined() && !is_bool;
  const std::vector<u8> truth = is_bool ? read_truth(mask) : std::vector<u8>{};
  const std::vector<T> added = is_additive ? read<T>(mask) : std::vector<T>{};
  const T cap = static_cast<T>(op.softcap), lowest = static_cast<T>(-infinity_f32());
  std::vector<T> values;
  for (Size b = 0; b < B; ++b) {
    for (Size h = 0; h < H; ++h) {
      const Size key_head = b * K + h / (H / K);
      for (Size t = 0; t < queries; ++t) {
        const Size row = (b * H + h) * queries + t;
        std::vector<T> scores(static_cast<std::size_t>(S));
        std::vector<u8> allowed(static_cast<std::size_t>(S), 1);
        for (Size s = 0; s < S; ++s) {
          const auto at = static_cast<std::size_t>(s), in_mask = static_cast<std::size_t>(row * S + s);
          const Size ahead = s - (S - queries + t), distance = ahead < 0 ? -ahead : ahead;
          if (op.causal && ahead > 0) allowed[at] = 0;
          if (op.window > 0 && distance >= op.window) allowed[at] = 0;
          if (is_bool && truth[in_mask] == 0) allowed[at] = 0;
          if (is_additive && added[in_mask] == lowest) allowed[at] = 0;
          if (allowed[at] == 0) continue;
          const Size q_at = row * D, k_at = (key_head * S + s) * D;
          T score = q_bf16.empty() ? dot(q_wide.data() + q_at, k_wide.data() + k_at, D)
                                   : static_cast<T>(dot_bf16(q_bf16.data() + q_at, 1, k_bf16.data() + k_at, 1, D));
          score = static_cast<T>(op.scale) * score;
          if (cap != 0) score = cap * hyperbolic_tangent(score / cap);
          if (!slope.empty()) score = score - slope[static_cast<std::size_t>(h)] * static_cast<T>(distance);
          if (is_additive) score = score + added[in_mask];
          scores[at] = score;
        }
        const std::vector<T> p = probabilities(scores, allowed);
        for (Size e = 0; e < E; ++e) values.push_back(weighted_sum(p, allowed, v_wide.data() + key_head * S * E + e, E));
      }
    }
  }
  return values;
}

}  // namespace

void attention(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y,
               Stream&) {
  if (q.dtype() == DType::f64) return write_f64(y, attend<f64>(op, q, k, v, mask, slopes));
  write_f32(y, attend<f32>(op, q, k, v, mask, slopes));
}

}  // namespace votive::reference
