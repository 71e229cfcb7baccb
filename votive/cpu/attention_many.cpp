// Attention of many queries: a unit of work is one key head and a chunk of its rows, which are the lanes of every vector. So q·k needs the keys one at a
// time, v is read where it lies, the softmax runs down the keys, and probabilities come out in the order in which p·v reads them. Keys that no row of a
// panel may see are skipped in both products and in the softmax. Not here: few queries (attention_few.cpp); f64.
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/attention.h"
#include "votive/cpu/attention_lanes.h"
#include "votive/cpu/convert.h"
#include "votive/cpu/direct_tile.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size block = numerics::dot_block;
constexpr Size value_piece = 128;              // keys whose probabilities and values stay near; a divisor of the block
constexpr Size key_piece = 128;                // keys whose scores stay near until their largest is known
constexpr Size chunk_rows = 64;                // of a chunk, where scores allow it
constexpr Size score_bytes = Size{640} << 10;  // of scores in flight per thread

Size up(Size a, Size b) { return (a + b - 1) / b; }
Size lesser(Size a, Size b) { return a < b ? a : b; }
Size greater(Size a, Size b) { return a > b ? a : b; }

/// A panel of rows: lanes 0 … rows of `width` are queries, the others repeat what does no harm.
struct Panel {
  Size row0, rows;
  Size first, last;          // keys that any row sees
  Size all_first, all_last;  // keys that every row sees, and no mask hides
  f32 factor;                // what scores are still to be multiplied by
  bool begun;                // the chain of the block in work
  u32 has_sum;               // rows with a block behind them
};

template <class Dot, int vectors>
class Attending {
  static constexpr Size lanes = Vf32::lanes, width = vectors * lanes;
  static constexpr int key_rows = direct_rows(vectors);
  static constexpr u32 all_lanes = width == 32 ? ~0u : (1u << width % 32) - 1;
  using Packed = typename Dot::Packed;

 public:
  explicit Attending(const AttentionCall& call) : c_(call), pack_(pack_function<Dot>(call.k.dtype())), widen_(call.v.dtype(), DType::f32) {
    units_ = c_.D / block * Dot::units(block) + Dot::units(c_.D % block);
    score_rows_ = c_.S + LaneTrees::keys + key_rows;
    const Size most = score_bytes / (score_rows_ * width * Size{sizeof(f32)});
    panels_ = greater(1, lesser(lesser(most, chunk_rows / width), up(c_.rows(), width)));
    chunk_ = panels_ * width;
    chunks_ = up(c_.rows(), chunk_);
    columns_ = up(c_.E, lanes) * lanes;
    plain_ = c_.op.scale > 0 && c_.op.scale < numerics::infinity_f32() && c_.op.softcap == 0 && !c_.slopes.defined() && !c_.mask.defined();
    direct_values_ = c_.v.dtype() == DType::f32 && c_.v.strides()[3] == 1;
  }

  void run() {
    const Size work = 2 * chunk_ * c_.S * (c_.D + c_.E);
    parallel_for(c_.B * c_.K * chunks_, work >= 65536 ? 1 : up(65536, greater(work, 1)), [&](Size begin, Size end) {
      Memory memory(*this);
      Size head = -1;
      for (Size unit = begin; unit < end; ++unit) {
        if (unit / chunks_ != head) memory.packed_tiles = 0;
        head = unit / chunks_;
        // Under causality the first chunks have few keys and the last ones many: neighbours in this order are a short and a long one.
        const Size i = unit % chunks_, chunk = i % 2 == 0 ? i / 2 : chunks_ - 1 - i / 2;
        attend(head / c_.K, head % c_.K, chunk * chunk_, memory);
      }
    });
  }

 private:
  /// What a thread needs beside the tensors.
  struct Memory {
    explicit Memory(const Attending& a)
        : query_words(width * a.c_.D * block_bytes(a.c_.q.dtype())),
          queries(a.panels_ * a.units_ * width),
          keys(up(a.c_.S, key_rows) * a.units_ * key_rows),
          scores(a.panels_ * a.score_rows_ * width),
          seen(a.panels_ * (a.c_.S + LaneTrees::keys)),
          pattern(a.panels_ * LaneTrees::keys * width),
          largest(a.panels_ * width),
          values(a.direct_values_ ? 0 : value_piece * a.c_.E),
          chain(a.panels_ * a.c_.E * width),
          total(a.panels_ * a.columns_ * width),
          result(a.columns_ * lanes),
          trees(width),
          panels(a.panels_) {}
    Scratch<std::byte> query_words;  // rows of q side by side
    Scratch<Packed> queries;         // [panel][unit][row]
    Scratch<Packed> keys;            // [tile][unit][key]
    Size packed_tiles = 0;
    Scratch<f32> scores;   // [panel][key][row], then exponentials, then probabilities
    Scratch<u32> seen;     // [panel][key]: the rows that see a key, where not all do
    Scratch<f32> pattern;  // [panel]: a number per row, 32 times
    Scratch<f32> largest;
    Scratch<f32> values;        // a piece of v, widened
    Scratch<f32> chain, total;  // [panel][column][row]: of the block in work, and of those before it
    Scratch<f32> result;
    LaneTrees trees;
    Scratch<Panel> panels;
  };

  f32* scores_of(Size p, Memory& memory) const { return memory.scores.data() + p * score_rows_ * width; }
  u32* seen_of(Size p, Memory& memory) const { return memory.seen.data() + p * (c_.S + LaneTrees::keys); }
  f32* pattern_of(Size p, Memory& memory) const { return memory.pattern.data() + p * LaneTrees::keys * width; }

  void attend(Size b, Size key_head, Size row0, Memory& memory) {
    const Size rows = lesser(chunk_, c_.rows() - row0), count = up(rows, width);
    Size first = c_.S, last = 0;
    for (Size p = 0; p < count; ++p) {
      Panel& panel = memory.panels[p];
      panel.row0 = row0 + p * width;
      panel.rows = lesser(width, rows - p * width);
      const KeyRange low = c_.range(panel.row0), high = c_.range(panel.row0 + panel.rows - 1);
      panel.first = low.first;
      panel.last = high.last;
      panel.all_first = high.first;
      panel.all_last = greater(high.first, low.last);
      panel.factor = plain_ ? c_.op.scale : 1.0f;
      panel.has_sum = 0;
      if (panel.first < panel.last) {
        first = lesser(first, panel.first);
        last = greater(last, panel.last);
      }
      pack_queries(b, key_head, p, memory);
    }
    score(b, key_head, first, last, count, memory);
    for (Size p = 0; p < count; ++p) exponentiate(p, memory);
    weigh(b, key_head, first, last, count, memory);
    for (Size p = 0; p < count; ++p) write(b, key_head, p, memory);
  }

  // ---- scores ------------------------------------------------------------------------------------------------------------------------------

  void pack_queries(Size b, Size key_head, Size p, Memory& memory) const {
    const Panel& panel = memory.panels[p];
    const Size bytes = block_bytes(c_.q.dtype());
    for (Size i = 0; i < panel.rows; ++i) c_.copy_query(b, key_head, panel.row0 + i, memory.query_words.data() + i * c_.D * bytes);
    Packed* to = memory.queries.data() + p * units_ * width;
    for (Size k0 = 0; k0 < c_.D; k0 += block) {
      pack_({memory.query_words.data() + k0 * bytes, c_.D, 1, static_cast<int>(panel.rows), true}, static_cast<int>(width),
            lesser(block, c_.D - k0), to + Dot::units(k0) * width);
    }
  }

  const Packed* key_tile(Size b, Size key_head, Size tile, Memory& memory) const {
    const Size each = units_ * key_rows;
    const Strides& step = c_.k.strides();
    for (; memory.packed_tiles <= tile; ++memory.packed_tiles) {
      const Size key = memory.packed_tiles * key_rows;
      const std::byte* from = c_.at(c_.k, b, key_head, key);
      Packed* to = memory.keys.data() + memory.packed_tiles * each;
      for (Size k0 = 0; k0 < c_.D; k0 += block) {
        pack_({from + k0 * step[3] * block_bytes(c_.k.dtype()), step[2], step[3], smaller(key_rows, c_.S - key), false}, key_rows,
              lesser(block, c_.D - k0), to + Dot::units(k0) * key_rows);
      }
    }
    return memory.keys.data() + tile * each;
  }

  void score(Size b, Size key_head, Size first, Size last, Size count, Memory& memory) const {
    for (Size i = 0; i < count * width; ++i) memory.largest[i] = -numerics::infinity_f32();
    const auto tile = direct_function<Dot, Steps::even>(key_rows, vectors);
    constexpr Size tiles_at_once = key_piece / key_rows;
    const Size tiles = up(last, key_rows);
    for (Size tile0 = first / key_rows; tile0 < tiles; tile0 += tiles_at_once) {
      const Size tile1 = lesser(tiles, tile0 + tiles_at_once);
      for (Size j = tile0; j < tile1; ++j) {
        const Packed* keys = key_tile(b, key_head, j, memory);
        for (Size p = 0; p < count; ++p) {
          const Panel& panel = memory.panels[p];
          if (j * key_rows >= panel.last || (j + 1) * key_rows <= panel.first) continue;
          const Packed* queries = memory.queries.data() + p * units_ * width;
          f32* to = scores_of(p, memory) + j * key_rows * width;
          Size k0 = 0;
          do {
            const Size units = Dot::units(lesser(block, c_.D - k0));
            tile({units, keys + Dot::units(k0) * key_rows, key_rows, queries + Dot::units(k0) * width, width, nullptr},
                 {nullptr, 0, to, width, k0 > 0});
            k0 += block;
          } while (k0 < c_.D);
        }
      }
      for (Size p = 0; p < count; ++p) {
        const Panel& panel = memory.panels[p];
        const Size s0 = greater(panel.first, tile0 * key_rows), s1 = lesser(panel.last, tile1 * key_rows);
        if (s0 < s1) see(b, key_head, p, s0, s1, memory);
      }
    }
    if (c_.mask.defined()) {
      for (Size p = 0; p < count; ++p) find_unmasked(p, memory);
    }
  }

  /// Which rows see keys [s0, s1), the final scores of those that are not plain, −∞ where a row does not see a key, and the largest so far.
  void see(Size b, Size key_head, Size p, Size s0, Size s1, Memory& memory) const {
    const Panel& panel = memory.panels[p];
    f32* x = scores_of(p, memory);
    u32* seen = seen_of(p, memory);
    if (!plain_) change_scores(key_head, panel, s0, s1, x);
    const auto partly = [&](Size begin, Size end) {
      for (Size s = begin; s < end; ++s) {
        u32 bits = 0;
        for (Size i = 0; i < width; ++i) {
          const KeyRange range = c_.range(panel.row0 + lesser(i, panel.rows - 1));
          if (range.first <= s && s < range.last) {
            bits |= 1u << i;
          } else {
            x[s * width + i] = -numerics::infinity_f32();
          }
        }
        seen[s] = bits;
      }
    };
    if (c_.mask.defined()) {
      for (Size s = s0; s < s1; ++s) seen[s] = all_lanes;
    }
    const Size all_first = greater(s0, lesser(s1, panel.all_first)), all_last = greater(all_first, lesser(s1, panel.all_last));
    partly(s0, all_first);
    partly(all_last, s1);
    if (c_.mask.defined()) apply_mask(b, key_head, panel, s0, s1, x, seen);
    largest_of_rows<vectors>(x + s0 * width, s1 - s0, memory.largest.data() + p * width);
  }

  void change_scores(Size key_head, const Panel& panel, Size s0, Size s1, f32* __restrict x) const {
    const f32 scale = c_.op.scale, cap = c_.op.softcap;
    for (Size i = s0 * width; i < s1 * width; ++i) x[i] = scale * x[i];
    if (cap != 0) {
      for (Size i = s0 * width; i < s1 * width; ++i) x[i] = cap * numerics::tanh_f32(x[i] / cap);
    }
    if (!c_.slopes.defined()) return;
    f32 slope[width], place[width];
    for (Size i = 0; i < width; ++i) {
      const Size row = panel.row0 + lesser(i, panel.rows - 1);
      slope[i] = c_.slope(c_.query_head(key_head, row));
    }
    for (Size s = s0; s < s1; ++s) {
      for (Size i = 0; i < width; ++i) {
        const Size d = c_.S - c_.T + c_.position(panel.row0 + lesser(i, panel.rows - 1)) - s;
        place[i] = static_cast<f32>(d < 0 ? -d : d);
      }
      for (Size i = 0; i < width; ++i) x[s * width + i] = x[s * width + i] - slope[i] * place[i];
    }
  }

  void apply_mask(Size b, Size key_head, const Panel& panel, Size s0, Size s1, f32* x, u32* seen) const {
    const f32 lowest = -numerics::infinity_f32();
    const Strides& step = c_.mask.strides();
    const bool additive = c_.mask.dtype() != DType::boolean;
    for (Size i = 0; i < panel.rows; ++i) {
      const Size row = panel.row0 + i;
      const Size at = c_.mask.offset() + b * step[0] + c_.query_head(key_head, row) * step[1] + c_.position(row) * step[2];
      const u32 bit = 1u << i;
      for (Size s = s0; s < s1; ++s) {
        f32& score = x[s * width + i];
        if (additive) {
          const f32 added = reinterpret_cast<const f32*>(c_.mask.buffer())[at + s * step[3]];
          const bool hidden = added == lowest || (seen[s] & bit) == 0;
          score = hidden ? lowest : score + added;
          if (hidden) seen[s] &= ~bit;
        } else if (static_cast<u8>(c_.mask.buffer()[at + s * step[3]]) == 0) {
          score = lowest;
          seen[s] &= ~bit;
        }
      }
    }
  }

  /// The longest run of keys that a mask hides from no row.
  void find_unmasked(Size p, Memory& memory) const {
    Panel& panel = memory.panels[p];
    const u32* seen = seen_of(p, memory);
    Size begin = panel.first;
    panel.all_first = panel.all_last = panel.first;
    for (Size s = panel.first; s < panel.last; ++s) {
      if (seen[s] != all_lanes) begin = s + 1;
      if (s + 1 - begin > panel.all_last - panel.all_first) {
        panel.all_first = begin;
        panel.all_last = s + 1;
      }
    }
  }

  // ---- softmax -----------------------------------------------------------------------------------------------------------------------------

  /// Scores to exponentials, and the pattern of their sums. Unseen keys become the +0 that changes no sum.
  void exponentiate(Size p, Memory& memory) const {
    const Panel& panel = memory.panels[p];
    if (panel.first >= panel.last) return;
    f32* x = scores_of(p, memory);
    f32* pattern = pattern_of(p, memory);
    constexpr Size keys = LaneTrees::keys;
    const Size first = panel.first / keys * keys, last = up(panel.last, keys) * keys;
    for (Size i = first * width; i < panel.first * width; ++i) x[i] = -numerics::infinity_f32();
    for (Size i = panel.last * width; i < last * width; ++i) x[i] = -numerics::infinity_f32();
    f32 row[width];
    for (Size i = 0; i < width; ++i) row[i] = panel.factor * memory.largest[p * width + i];
    for (Size i = 0; i < keys * width; ++i) pattern[i] = row[i % width];
    memory.trees.start(first);
    for (Size s = first; s < last; s += keys) {
      exponentials(x + s * width, pattern, panel.factor, memory.trees.lanes(), keys * width);
      memory.trees.advance();
    }
    memory.trees.finish(row);
    for (Size i = 0; i < keys * width; ++i) pattern[i] = row[i % width];
  }

  // ---- probabilities times values ------------------------------------------------------------------------------------------------------------

  void weigh(Size b, Size key_head, Size first, Size last, Size count, Memory& memory) const {
    for (Size block0 = first / block * block; block0 < last; block0 += block) {
      for (Size p = 0; p < count; ++p) memory.panels[p].begun = false;
      const Size block1 = lesser(last, block0 + block);
      for (Size s0 = block0; s0 < block1; s0 += value_piece) {
        const Size s1 = lesser(block1, s0 + value_piece);
        if (s1 <= first) continue;
        const f32* values = nullptr;
        Size step = 0;
        for (Size p = 0; p < count; ++p) {
          const Panel& panel = memory.panels[p];
          const Size begin = greater(s0, panel.first), end = lesser(s1, panel.last);
          if (begin >= end) continue;
          if (values == nullptr) values = values_at(b, key_head, s0, s1 - s0, step, memory);
          weigh_piece(p, begin, end, values + (begin - s0) * step, step, memory);
        }
      }
      for (Size p = 0; p < count; ++p) {
        if (memory.panels[p].begun) close_block(p, block0, block1, memory);
      }
    }
  }

  const f32* values_at(Size b, Size key_head, Size s0, Size n, Size& step, Memory& memory) const {
    const std::byte* from = c_.at(c_.v, b, key_head, s0);
    const Strides& strides = c_.v.strides();
    if (direct_values_) {
      step = strides[2];
      return reinterpret_cast<const f32*>(from);
    }
    step = c_.E;
    const Size bytes = block_bytes(c_.v.dtype());
    for (Size s = 0; s < n; ++s, from += strides[2] * bytes) {
      f32* to = memory.values.data() + s * c_.E;
      if (strides[3] == 1) {
        widen_(from, reinterpret_cast<std::byte*>(to), c_.E);
        continue;
      }
      for (Size e = 0; e < c_.E; ++e) {
        const std::byte* word = from + e * strides[3] * bytes;
        if (widen_.is_identity()) {
          std::memcpy(to + e, word, sizeof(f32));
        } else {
          widen_(word, reinterpret_cast<std::byte*>(to + e), 1);
        }
      }
    }
    return memory.values.data();
  }

  /// Continues a panel's chains over keys [s0, s1) of one piece.
  void weigh_piece(Size p, Size s0, Size s1, const f32* values, Size step, Memory& memory) const {
    Panel& panel = memory.panels[p];
    f32* x = scores_of(p, memory);
    for (Size s = s0; s < s1; s += LaneTrees::keys) divide(x + s * width, pattern_of(p, memory), lesser(LaneTrees::keys, s1 - s) * width);
    const Size all_first = greater(s0, lesser(s1, panel.all_first)), all_last = greater(all_first, lesser(s1, panel.all_last));
    const Size ends[4] = {s0, all_first, all_last, s1};
    const Size tiles = up(c_.E, direct_rows(vectors));
    f32* chain = memory.chain.data() + p * c_.E * width;
    for (int part = 0; part < 3; ++part) {
      const Size begin = ends[part], n = ends[part + 1] - begin;
      if (n == 0) continue;
      const bool masked = part != 1;
      for (Size t = 0; t < tiles; ++t) {
        const Size column = c_.E * t / tiles;
        const int rows = static_cast<int>(c_.E * (t + 1) / tiles - column);
        f32* c = chain + column * width;
        const DirectOperands<DotF32> operands = {n,     values + (begin - s0) * step + column,        step, x + begin * width,
                                                 width, masked ? seen_of(p, memory) + begin : nullptr};
        const auto tile =
            masked ? direct_function<DotF32, Steps::masked>(rows, vectors) : direct_function<DotF32, Steps::even>(rows, vectors);
        tile(operands, {panel.begun ? c : nullptr, width, c, width, false});
      }
      panel.begun = true;
    }
  }

  /// Adds the block's chains to the sums of the rows that have a key in it.
  void close_block(Size p, Size block0, Size block1, Memory& memory) const {
    Panel& panel = memory.panels[p];
    u32 any = 0;
    if (greater(block0, panel.all_first) < lesser(block1, panel.all_last)) {
      any = all_lanes;
    } else {
      const u32* seen = seen_of(p, memory);
      for (Size s = greater(block0, panel.first); s < lesser(block1, panel.last); ++s) any |= seen[s];
    }
    const f32* chain = memory.chain.data() + p * c_.E * width;
    f32* total = memory.total.data() + p * columns_ * width;
    if (any == all_lanes && panel.has_sum == 0) {
      std::memcpy(total, chain, static_cast<std::size_t>(c_.E * width) * sizeof(f32));
    } else if (any == all_lanes && panel.has_sum == all_lanes) {
      for (Size i = 0; i < c_.E * width; ++i) total[i] = total[i] + chain[i];
    } else {
      for (Size i = 0; i < c_.E * width; ++i) {
        const u32 bit = 1u << i % width;
        if ((any & bit) != 0) total[i] = (panel.has_sum & bit) != 0 ? total[i] + chain[i] : chain[i];
      }
    }
    panel.has_sum |= any;
  }

  void write(Size b, Size key_head, Size p, Memory& memory) const {
    const Panel& panel = memory.panels[p];
    const f32* total = memory.total.data() + p * columns_ * width;
    for (Size i0 = 0; i0 < panel.rows; i0 += lanes) {
      for (Size e = 0; e < columns_; e += lanes) {
        Vf32 square[lanes];
        for (Size j = 0; j < lanes; ++j) square[j] = Vf32::load(total + (e + j) * width + i0);
        transpose(square);
        for (Size j = 0; j < lanes; ++j) store(memory.result.data() + j * columns_ + e, square[j]);
      }
      for (Size i = i0; i < lesser(panel.rows, i0 + lanes); ++i) {
        f32* sums = memory.result.data() + (i - i0) * columns_;
        if ((panel.has_sum >> i & 1) == 0) std::memset(sums, 0, static_cast<std::size_t>(c_.E) * sizeof(f32));
        c_.write(b, key_head, panel.row0 + i, sums);
      }
    }
  }

  const AttentionCall& c_;
  const PackFunction<Dot> pack_;
  const Conversion widen_;        // of v
  Size units_;                    // of packed D
  Size score_rows_;               // keys of a panel's scores, and room for whole tiles and steps
  Size panels_, chunk_, chunks_;  // panels and rows at once, and how often
  Size columns_;                  // E in whole vectors
  bool plain_;                    // scores are scale·q·k with a positive scale, which the exponentials multiply by
  bool direct_values_;
};

template <class Dot>
void attend(const AttentionCall& call) {
  if (call.rows() <= Vf32::lanes) return Attending<Dot, 1>(call).run();
  Attending<Dot, 2>(call).run();
}

}  // namespace

void attend_many(const AttentionCall& call) {
  if (call.q.dtype() == DType::bf16) return attend<DotBf16>(call);
  attend<DotF32>(call);
}

}  // namespace votive::cpu::VOTIVE_ISA
