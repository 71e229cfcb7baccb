// Attention of few queries per key head, as one token of a text has: bound by reading k and v, each of which passes once. For q·k lanes are keys, so that keys
// are transposed in registers, a square at a time; for p·v lanes are columns and v streams. Heads go to the threads; where there are not enough of them,
// runs of keys do for the scores and blocks of 1024 keys for p·v, whose sums are then added in order. Not here: many queries (attention_many.cpp).
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/attention.h"
#include "votive/cpu/attention_few.h"
#include "votive/cpu/largest.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"
#include "votive/numerics/math.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size block = numerics::dot_block;
constexpr Size value_piece = 8192;  // bytes of values that stay near while several groups of columns pass over them
constexpr Size key_run = 256;       // keys of a unit of work, where heads are few

Size up(Size a, Size b) { return (a + b - 1) / b; }
Size lesser(Size a, Size b) { return a < b ? a : b; }
Size greater(Size a, Size b) { return a > b ? a : b; }

/// Keys a row attends to: those of [first, last), all of them unless `holes`.
struct RowKeys {
  Size first, last;
  bool holes;
};

template <class Keys, class Values>
class Attending {
 public:
  explicit Attending(const AttentionCall& call)
      : c_(call),
        rows_(call.rows()),
        heads_(call.B * call.K),
        units_(call.D / Keys::each),
        score_step_(up(call.S + most_keys_at_once, 16) * 16),
        blocks_(up(call.S, block)),
        queries_(heads_ * rows_ * units_ * Keys::parts),
        scores_(heads_ * rows_ * score_step_),
        row_keys_(heads_ * rows_),
        sums_(heads_ * blocks_ * rows_ * call.E),
        has_sum_(heads_ * blocks_ * rows_) {}

  void run() {
    const Size work = 2 * rows_ * c_.S * (c_.D + c_.E);
    for (Size head = 0; head < heads_; ++head) take_queries(head);
    const Size count = threads();
    if (work * heads_ < 262144 || heads_ % count == 0 || heads_ >= 4 * count) {
      return parallel_for(heads_, work >= 65536 ? 1 : up(65536, greater(work, 1)), [&](Size begin, Size end) {
        for (Size head = begin; head < end; ++head) {
          score(head, 0, c_.S);
          for (Size row = 0; row < rows_; ++row) softmax(head, row);
          for (Size i = 0; i < blocks_; ++i) weigh(head, i);
          finish(head);
        }
      });
    }
    const Size runs = greater(1, c_.S / key_run);  // the last one takes the rest
    parallel_for(heads_ * runs, 1, [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) {
        const Size run = i % runs;
        score(i / runs, run * key_run, run + 1 == runs ? c_.S : (run + 1) * key_run);
      }
    });
    parallel_for(heads_ * rows_, 1, [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) softmax(i / rows_, i % rows_);
    });
    parallel_for(heads_ * blocks_, 1, [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) weigh(i / blocks_, i % blocks_);
    });
    for (Size head = 0; head < heads_; ++head) finish(head);
  }

 private:
  void take_queries(Size head) {
    const Size bytes = block_bytes(c_.q.dtype());
    const Scratch<std::byte> words(c_.D * bytes);
    auto* to = queries_.data() + head * rows_ * units_ * Keys::parts;
    for (Size row = 0; row < rows_; ++row) {
      c_.copy_query(head / c_.K, head % c_.K, row, words.data());
      for (Size u = 0; u < units_; ++u) Keys::take(words.data() + u * Keys::each * bytes, to + (u * rows_ + row) * Keys::parts);
    }
  }

  f32* scores(Size head, Size row) const { return scores_.data() + (head * rows_ + row) * score_step_; }

  /// Products of the rows with keys [s0, s1): those that some row sees, and others where that makes a whole step.
  void score(Size head, Size s0, Size s1) const {
    Size first = greater(s0, c_.range(0).first), last = lesser(s1, c_.range(rows_ - 1).last);
    if (first >= last) return;
    const Size at_once = keys_at_once<Keys>(static_cast<int>(rows_));
    if (last - first < at_once) {
      first = greater(s0, lesser(first, s1 - at_once));
      last = lesser(s1, greater(last, first + at_once));
    }
    const Size bytes = block_bytes(c_.k.dtype()), step = c_.k.strides()[2] * bytes;
    const auto dot = dot_keys_function<Keys>(static_cast<int>(rows_));
    const auto* query = queries_.data() + head * rows_ * units_ * Keys::parts;
    const std::byte* keys = c_.at(c_.k, head / c_.K, head % c_.K, first);
    if (last - first >= at_once) return dot({keys, step, last - first, units_, query}, scores(head, 0) + first, score_step_);
    const Scratch<std::byte> few(at_once * c_.D * bytes);  // fewer than a step in all
    std::memset(few.data(), 0, static_cast<std::size_t>(at_once * c_.D * bytes));
    for (Size s = first; s < last; ++s)
      std::memcpy(few.data() + (s - first) * c_.D * bytes, keys + (s - first) * step, static_cast<std::size_t>(c_.D * bytes));
    dot({few.data(), c_.D * bytes, at_once, units_, query}, scores(head, 0) + first, score_step_);
  }

  // ---- softmax of one row ------------------------------------------------------------------------------------------------------------------

  /// Scores to probabilities, in place. A masked key scores −∞: its exponential is the +0 that changes no sum.
  void softmax(Size head, Size row) const {
    const Size h = c_.query_head(head % c_.K, row);
    f32* __restrict x = scores(head, row);
    const auto [first, last] = c_.range(row);
    RowKeys keys{first, last, false};
    const f32 scale = c_.op.scale, cap = c_.op.softcap;
    for (Size s = 0; s < first; ++s) x[s] = -numerics::infinity_f32();
    for (Size s = first; s < last; ++s) x[s] = scale * x[s];
    if (cap != 0) {
      for (Size s = first; s < last; ++s) x[s] = cap * numerics::tanh_f32(x[s] / cap);
    }
    if (c_.slopes.defined()) {
      const f32 slope = c_.slope(h);
      const Size p = c_.S - c_.T + c_.position(row);
      for (Size s = first; s < last; ++s) x[s] = x[s] - slope * static_cast<f32>(s < p ? p - s : s - p);
    }
    if (c_.mask.defined()) keys = apply_mask(mask_at(head, row), first, last, x);
    const Size n = keys.last;
    if (keys.first >= n) {
      row_keys_[head * rows_ + row] = {0, 0, false};
      return;
    }
    const f32 m = largest(x, n);
    for (Size s = 0; s < n; ++s) x[s] = numerics::exp_f32(x[s] - m);
    const f32 sum = tree_sum(x, n);
    for (Size s = 0; s < n; ++s) x[s] = x[s] / sum;
    row_keys_[head * rows_ + row] = keys;
  }

  Size mask_at(Size head, Size row) const {
    const Strides& step = c_.mask.strides();
    return c_.mask.offset() + head / c_.K * step[0] + c_.query_head(head % c_.K, row) * step[1] + c_.position(row) * step[2];
  }

  RowKeys apply_mask(Size at, Size first, Size n, f32* x) const {
    const f32 lowest = -numerics::infinity_f32();
    const bool additive = c_.mask.dtype() != DType::boolean;
    RowKeys keys{n, 0, false};
    Size allowed = 0;
    for (Size s = first; s < n; ++s) {
      if (!is_allowed(at, s)) {
        x[s] = lowest;
        continue;
      }
      if (additive) x[s] = x[s] + reinterpret_cast<const f32*>(c_.mask.buffer())[at + s * c_.mask.strides()[3]];
      if (allowed++ == 0) keys.first = s;
      keys.last = s + 1;
    }
    keys.holes = allowed != keys.last - keys.first && allowed != 0;
    return keys;
  }

  bool is_allowed(Size at, Size s) const {
    const Size i = at + s * c_.mask.strides()[3];
    if (c_.mask.dtype() == DType::boolean) return static_cast<u8>(c_.mask.buffer()[i]) != 0;
    return reinterpret_cast<const f32*>(c_.mask.buffer())[i] != -numerics::infinity_f32();
  }

  // ---- probabilities times values ------------------------------------------------------------------------------------------------------------

  /// The chains of one block of keys: of all rows together over the keys that they share, then, and before, row by row.
  void weigh(Size head, Size number) const {
    const Size begin = number * block, end = lesser(c_.S, begin + block);
    const RowKeys* keys = row_keys_.data() + head * rows_;
    f32* sums = sums_.data() + (head * blocks_ + number) * rows_ * c_.E;
    bool* has_sum = has_sum_.data() + (head * blocks_ + number) * rows_;
    std::memset(sums, 0, static_cast<std::size_t>(rows_ * c_.E) * sizeof(f32));
    Size first = begin, last = end;  // of the keys in common
    bool holes = false;
    for (Size row = 0; row < rows_; ++row) {
      has_sum[row] = false;
      first = greater(first, keys[row].first);
      last = lesser(last, keys[row].last);
      holes = holes || keys[row].holes;
    }
    if (holes || first >= last) first = last = end;
    for (Size row = 0; row < rows_; ++row) {
      const Size low = greater(begin, keys[row].first), high = lesser(end, keys[row].last);
      if (keys[row].holes) {
        const Size at = mask_at(head, row);
        for (Size s = low; s < high;) {
          Size e = s;
          while (e < high && is_allowed(at, e)) ++e;
          weigh_run(head, row, 1, s, e, sums, has_sum);
          s = e + 1;
        }
      } else {
        weigh_run(head, row, 1, low, lesser(high, first), sums, has_sum);
      }
    }
    weigh_run(head, 0, rows_, first, last, sums, has_sum);
    for (Size row = 0; row < rows_; ++row) {
      if (!keys[row].holes) weigh_run(head, row, 1, greater(last, keys[row].first), lesser(end, keys[row].last), sums, has_sum);
    }
  }

  /// Rows row … row + rows over keys [s0, s1).
  void weigh_run(Size head, Size row, Size rows, Size s0, Size s1, f32* sums, bool* has_sum) const {
    if (s0 >= s1) return;
    for (Size i = row; i < row + rows; ++i) has_sum[i] = true;
    const Size vectors = c_.E / Vf32::lanes, columns = up(vectors, weigh_vectors(1));  // groups of columns
    const Size most = up(vectors, columns);
    // Of rows too many for the registers some pass over a piece of the values and then others, each time along whole lines; columns are cut only where a row
    // is wide.
    Size at_once = rows;
    while (at_once > 1 && weigh_vectors(static_cast<int>(at_once)) < most) --at_once;
    const Size passes = up(rows, at_once), groups = columns * passes;
    const Size row_bytes = c_.E * block_bytes(c_.v.dtype()), row_step = c_.v.strides()[2] * block_bytes(c_.v.dtype());
    const Size piece = groups == 1 ? block : greater(1, value_piece / row_bytes);
    // f32 of one group of columns streams by itself; the arithmetic on halves takes longer than the next piece needs.
    const Size lines = groups == 1 || (columns == 1 && sizeof(typename Values::Word) == 4) ? 0 : row_bytes / (64 * groups);
    for (Size s = s0; s < s1; s += piece) {
      const Size n = lesser(piece, s1 - s);
      const std::byte* values = c_.at(c_.v, head / c_.K, head % c_.K, s);
      const std::byte* ahead = row_step == row_bytes && s + 2 * piece <= c_.S ? values + piece * row_step : values;
      for (Size g = 0; g < groups; ++g, ahead += n * lines * 64) {
        const Size from = vectors * (g / passes) / columns, to = vectors * (g / passes + 1) / columns;
        const Size first = rows * (g % passes) / passes, last = rows * (g % passes + 1) / passes;
        weigh_keys_function<Values>(static_cast<int>(last - first), static_cast<int>(to - from))(
            n, scores(head, row + first) + s, score_step_, reinterpret_cast<const typename Values::Word*>(values) + from * Vf32::lanes,
            c_.v.strides()[2], sums + (row + first) * c_.E + from * Vf32::lanes, c_.E, ahead, lines);
      }
    }
  }

  /// Adds the blocks' sums in order.
  void finish(Size head) const {
    const Scratch<f32> total(c_.E);
    for (Size row = 0; row < rows_; ++row) {
      bool any = false;
      for (Size e = 0; e < c_.E; ++e) total[e] = 0;
      for (Size i = 0; i < blocks_; ++i) {
        if (!has_sum_[(head * blocks_ + i) * rows_ + row]) continue;
        const f32* sum = sums_.data() + ((head * blocks_ + i) * rows_ + row) * c_.E;
        for (Size e = 0; e < c_.E; ++e) total[e] = any ? total[e] + sum[e] : sum[e];
        any = true;
      }
      c_.write(head / c_.K, head % c_.K, row, total.data());
    }
  }

  const AttentionCall& c_;
  const Size rows_, heads_;  // rows of a key head; key heads of the batch
  const Size units_;         // of D
  const Size score_step_, blocks_;
  const Scratch<typename Keys::Query> queries_;  // [head][row][unit]
  const Scratch<f32> scores_;                    // [head][row][key]
  const Scratch<RowKeys> row_keys_;              // [head][row]
  const Scratch<f32> sums_;                      // [head][block][row][column]
  const Scratch<bool> has_sum_;                  // [head][block][row]
};

}  // namespace

bool are_few(const AttentionCall& c) {
  if (c.rows() > most_few_rows || c.S == 0 || c.E == 0 || c.E % Vf32::lanes != 0 || c.D == 0 || c.D > block) return false;
  if (c.k.strides()[3] != 1 || c.v.strides()[3] != 1) return false;
  return c.q.dtype() != DType::bf16 || c.D % 2 == 0;
}

void attend_few(const AttentionCall& call) {
  switch (call.q.dtype()) {
    case DType::f32: return Attending<KeysF32, StoredF32>(call).run();
    case DType::f16: return Attending<KeysF16, StoredF16>(call).run();
    default: return Attending<KeysBf16, StoredBf16>(call).run();
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
