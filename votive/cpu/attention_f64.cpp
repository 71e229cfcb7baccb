// Attention in f64, a few queries at a time: their scores a panel of keys at once, softmax in place, then probabilities times values. Plain loops that the
// compiler vectorises over keys and over columns, never over what is summed.
// Not here: f32 and the 16-bit dtypes, whose speed matters more (attention_few.cpp, attention_many.cpp).
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/attention.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"
#include "votive/numerics/math.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size block = numerics::dot_block, panel = 32, together = 8;

Size least(Size a, Size b) { return a < b ? a : b; }

/// score[s] = q·k of `panel` keys that lie packed, key fastest.
void score_panel(const f64* q, const f64* __restrict keys, f64* __restrict score, Size D) {
  f64 total[panel] = {};
  for (Size first = 0; first < D; first += block) {
    f64 acc[panel] = {};
    const Size end = least(D, first + block);
    for (Size d = first; d < end; ++d) {
      for (Size s = 0; s < panel; ++s) acc[s] = numerics::fma_f64(q[d], keys[d * panel + s], acc[s]);
    }
    for (Size s = 0; s < panel; ++s) total[s] = first == 0 ? acc[s] : total[s] + acc[s];
  }
  std::memcpy(score, total, sizeof total);
}

class Attending {
 public:
  explicit Attending(const AttentionCall& c)
      : op_(c.op),
        q_(c.q),
        k_(c.k),
        v_(c.v),
        mask_(c.mask),
        slopes_(c.slopes),
        y_(c.y),
        B(c.B),
        H(c.H),
        T(c.T),
        D(c.D),
        K(c.K),
        S(c.S),
        E(c.E) {}

  void run() {
    const Size parts = (T + together - 1) / together, step = (S / panel + 1) * panel;
    parallel_for(B * H * parts, 1, [&](Size begin, Size end) {
      const Scratch<f64> scores(together * step), keys(panel * D), query(together * D), sums(2 * E);
      const Scratch<bool> allowed(together * step);
      for (Size unit = begin; unit < end; ++unit) {
        const Size t0 = unit % parts * together, h = unit / parts % H, b = unit / parts / H;
        const Size rows = least(together, T - t0);
        for (Size i = 0; i < rows; ++i) {
          for (Size d = 0; d < D; ++d) query[i * D + d] = at(q_, b, h, t0 + i, d);
        }
        const Size first = key_range(op_, t0, T, S).first, last = key_range(op_, t0 + rows - 1, T, S).last;
        for (Size s0 = first / panel * panel; s0 < last; s0 += panel) {
          for (Size s = 0; s < panel; ++s) {
            for (Size d = 0; d < D; ++d) keys[d * panel + s] = s0 + s < S ? at(k_, b, h / (H / K), s0 + s, d) : 0.0;
          }
          for (Size i = 0; i < rows; ++i) score_panel(query.data() + i * D, keys.data(), scores.data() + i * step + s0, D);
        }
        for (Size i = 0; i < rows; ++i) {
          f64* score = scores.data() + i * step;
          bool* part = allowed.data() + i * step;
          const KeyRange range = probabilities(b, h, t0 + i, score, part);
          weigh(b, h, range, score, part, sums.data());
          std::memcpy(data<f64>(y_) + ((b * H + h) * T + t0 + i) * E, sums.data(), static_cast<std::size_t>(E) * sizeof(f64));
        }
      }
    });
  }

 private:
  static f64 at(const Tensor& x, Size b, Size h, Size t, Size d) {
    const Strides& step = x.strides();
    return data<f64>(x)[b * step[0] + h * step[1] + t * step[2] + d * step[3]];
  }

  /// Scores to probabilities; part[s] says whether key s takes part. Returns the keys outside which none does.
  KeyRange probabilities(Size b, Size h, Size t, f64* x, bool* part) const {
    auto [first, last] = key_range(op_, t, T, S);
    const f64 scale = static_cast<f64>(op_.scale), cap = static_cast<f64>(op_.softcap), lowest = -numerics::infinity_f64();
    for (Size s = 0; s < first; ++s) x[s] = lowest;
    for (Size s = first; s < last; ++s) {
      x[s] = scale * x[s];
      part[s] = true;
    }
    if (cap != 0) {
      for (Size s = first; s < last; ++s) x[s] = cap * numerics::tanh_f64(x[s] / cap);
    }
    if (slopes_.defined()) {
      const f64 slope = data<f64>(slopes_)[h * slopes_.strides()[0]];
      const Size p = S - T + t;
      for (Size s = first; s < last; ++s) x[s] = x[s] - slope * static_cast<f64>(s < p ? p - s : s - p);
    }
    if (mask_.defined()) {
      const bool additive = mask_.dtype() != DType::boolean;
      const Strides& step = mask_.strides();
      const Size row = mask_.offset() + b * step[0] + h * step[1] + t * step[2];
      for (Size s = first; s < last; ++s) {
        const Size i = row + s * step[3];
        const f64 added = additive ? reinterpret_cast<const f64*>(mask_.buffer())[i] : 0.0;
        part[s] = additive ? added != lowest : static_cast<u8>(mask_.buffer()[i]) != 0;
        x[s] = part[s] ? additive ? x[s] + added : x[s] : lowest;
      }
    }
    while (last > first && !part[last - 1]) --last;
    while (last > first && !part[first]) ++first;
    if (first == last) return {0, 0};
    f64 m = x[first];
    for (Size s = first; s < last; ++s) m = m > x[s] ? m : x[s];
    for (Size s = 0; s < last; ++s) x[s] = numerics::exp_f64(x[s] - m);
    const f64 sum = tree_sum(x, last);
    for (Size s = first; s < last; ++s) x[s] = x[s] / sum;
    return {first, last};
  }

  /// sums[e] = Σ p[s]·v[s, e] over the keys that take part, block by block.
  void weigh(Size b, Size h, KeyRange keys, const f64* p, const bool* part, f64* __restrict sums) const {
    f64* __restrict acc = sums + E;
    bool any_block = false;
    const Strides& step = v_.strides();
    for (Size e = 0; e < E; ++e) sums[e] = 0.0;
    for (Size first = keys.first / block * block; first < keys.last; first += block) {
      bool any_key = false;
      for (Size e = 0; e < E; ++e) acc[e] = 0.0;
      for (Size s = first < keys.first ? keys.first : first; s < least(keys.last, first + block); ++s) {
        if (!part[s]) continue;
        const f64* v = data<f64>(v_) + b * step[0] + h / (H / K) * step[1] + s * step[2];
        if (step[3] == 1) {
          for (Size e = 0; e < E; ++e) acc[e] = numerics::fma_f64(p[s], v[e], acc[e]);
        } else {
          for (Size e = 0; e < E; ++e) acc[e] = numerics::fma_f64(p[s], v[e * step[3]], acc[e]);
        }
        any_key = true;
      }
      if (!any_key) continue;
      for (Size e = 0; e < E; ++e) sums[e] = any_block ? sums[e] + acc[e] : acc[e];
      any_block = true;
    }
  }

  const Attention& op_;
  const Tensor &q_, &k_, &v_, &mask_, &slopes_;
  Tensor& y_;
  Size B, H, T, D, K, S, E;  // batch, query heads, queries, head size, key heads, keys, value size
};

}  // namespace

void attention_f64(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes,
                   Tensor& y) {
  Attending(AttentionCall(op, q, k, v, mask, slopes, y)).run();
}

}  // namespace votive::cpu::VOTIVE_ISA
