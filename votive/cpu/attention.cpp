// Attention on the CPU: the bits of the composition in D14 without its S × T scores. A unit of work is one key head and a run of its query rows: their
// scores as a few rows of f32, softmax in place, then probabilities times v. Query heads that share a key head are rows of the same tile, so keys and
// values pass through the caches once for all of them. Not here: the order of additions, which is that of the tiles of matmul_tile.h; and f64.
#include "votive/cpu/attention.h"
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"
#include "votive/numerics/math.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size k_block = numerics::dot_block;
constexpr Size value_piece = 128;              // keys whose values are packed at once; a divisor of the block
constexpr Size score_bytes = Size{512} << 10;  // of scores in flight per thread

Size up(Size a, Size b) { return (a + b - 1) / b; }
Size lesser(Size a, Size b) { return a < b ? a : b; }
Size greater(Size a, Size b) { return a > b ? a : b; }

/// Keys a row attends to: those of [first, last), all of them unless `holes`.
struct RowKeys {
  Size first, last;
  bool holes;
};

/// The largest of n > 0 numbers. With a NaN among them any will do: its exponential is NaN, and so is the sum.
f32 largest(const f32* __restrict x, Size n) {
  constexpr Size lanes = 64;
  f32 m = x[0];
  Size i = 0;
  if (n >= lanes) {
    f32 lane[lanes];
    for (Size l = 0; l < lanes; ++l) lane[l] = x[l];
    for (i = lanes; i + lanes <= n; i += lanes) {
      for (Size l = 0; l < lanes; ++l) lane[l] = lane[l] > x[i + l] ? lane[l] : x[i + l];
    }
    for (Size w = lanes / 2; w > 0; w /= 2) {
      for (Size l = 0; l < w; ++l) lane[l] = lane[l] > lane[l + w] ? lane[l] : lane[l + w];
    }
    m = lane[0];
  }
  for (; i < n; ++i) m = m > x[i] ? m : x[i];
  return m;
}

template <class Dot>
class Attending {
 public:
  Attending(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y)
      : op_(op),
        q_(q),
        k_(k),
        v_(v),
        mask_(mask),
        slopes_(slopes),
        y_(y),
        pack_keys_(pack_function<Dot>(k.dtype())),
        pack_values_(pack_function<DotF32>(v.dtype())) {
    B = q.shape()[0];
    H = q.shape()[1];
    T = q.shape()[2];
    D = q.shape()[3];
    K = k.shape()[1];
    S = k.shape()[2];
    E = v.shape()[3];
    G = H / K;
    const Size rows = G * T;
    Size most = score_bytes / (greater(S, 1) * Size{sizeof(f32)}) / tile_rows;
    most = most < 1 ? 1 : most > 8 ? 8 : most;
    chunk_ = lesser(rows, most * tile_rows);
    chunks_ = up(rows, chunk_);
    const RowTiles tiles(chunk_);
    vectors_ = tile_vectors(tiles.most());
    width_ = vectors_ * Vf32::lanes;
    units_ = D / k_block * Dot::units(k_block) + Dot::units(D % k_block);
    score_step_ = up(S, width_) * width_ + Vf32::lanes;
  }

  void run() {
    const Size work = 2 * chunk_ * S * (D + E);
    parallel_for(B * K * chunks_, work >= 65536 ? 1 : up(65536, greater(work, 1)), [&](Size begin, Size end) {
      Memory memory(*this);
      Size head = -1;
      for (Size unit = begin; unit < end; ++unit) {
        if (unit / chunks_ != head) memory.packed_panels = 0;
        head = unit / chunks_;
        attend(head / K, head % K, unit % chunks_ * chunk_, memory);
      }
    });
  }

 private:
  using Packed = typename Dot::Packed;

  struct RowTiles {
    Size m, tiles;
    explicit RowTiles(Size rows) : m(rows), tiles(up(rows, tile_rows)) {}
    Size start(Size t) const { return m * t / tiles; }
    int rows(Size t) const { return static_cast<int>(start(t + 1) - start(t)); }
    int most() const { return static_cast<int>(up(m, tiles)); }
  };

  /// What a thread needs beside the tensors.
  struct Memory {
    explicit Memory(const Attending& a)
        : query_words(a.chunk_ * a.D * block_bytes(a.q_.dtype())),
          queries(a.units_ * a.chunk_),
          keys(a.units_ * a.width_ * (a.chunks_ > 1 ? up(a.S, a.width_) : 1)),
          scores(a.chunk_ * a.score_step_),
          weights(value_piece * a.chunk_),
          values(value_piece * a.width_),
          sums(2 * a.chunk_ * a.width_),
          row_keys(a.chunk_),
          has_sum(a.chunk_) {}
    Scratch<std::byte> query_words;  // rows of q side by side
    Scratch<Packed> queries;         // the same, packed by row tile
    Scratch<Packed> keys;            // panels of k: one in passing, or all of a head that several chunks of rows read
    Size packed_panels = 0;
    Scratch<f32> scores;
    Scratch<f32> weights;  // a piece of a row tile's probabilities, packed
    Scratch<f32> values;   // a piece of a panel of v, packed
    Scratch<f32> sums;     // chain of the block in work, then total of the blocks before it
    Scratch<RowKeys> row_keys;
    Scratch<bool> has_sum;
  };

  /// Row r of a key head's queries is position r / G of query head r % G, so that a tile's rows have nearly the same keys.
  Size position(Size r) const { return r / G; }
  Size query_head(Size key_head, Size r) const { return key_head * G + r % G; }
  KeyRange range(Size r) const { return key_range(op_, position(r), T, S); }

  void attend(Size b, Size key_head, Size row0, Memory& memory) {
    const Size rows = lesser(chunk_, G * T - row0);
    const RowTiles tiles(rows);
    pack_queries(b, key_head, row0, tiles, memory);
    score(b, key_head, row0, tiles, memory);
    for (Size i = 0; i < rows; ++i)
      memory.row_keys[i] = probabilities(b, query_head(key_head, row0 + i), row0 + i, memory.scores.data() + i * score_step_);
    for (Size column = 0; column < E; column += width_) weigh(b, key_head, row0, tiles, column, memory);
  }

  // ---- scores ------------------------------------------------------------------------------------------------------------------------------

  void pack_queries(Size b, Size key_head, Size row0, const RowTiles& tiles, Memory& memory) {
    const Size bytes = block_bytes(q_.dtype());
    const Strides& step = q_.strides();
    for (Size i = 0; i < tiles.m; ++i) {
      const std::byte* from =
          q_.buffer() + (q_.offset() + b * step[0] + query_head(key_head, row0 + i) * step[1] + position(row0 + i) * step[2]) * bytes;
      std::byte* to = memory.query_words.data() + i * D * bytes;
      if (step[3] == 1) {
        std::memcpy(to, from, static_cast<std::size_t>(D * bytes));
      } else {
        for (Size d = 0; d < D; ++d) std::memcpy(to + d * bytes, from + d * step[3] * bytes, static_cast<std::size_t>(bytes));
      }
    }
    for (Size k0 = 0; k0 < D; k0 += k_block) {
      const Size k = lesser(k_block, D - k0);
      for (Size t = 0; t < tiles.tiles; ++t) {
        pack_keys_({memory.query_words.data() + (tiles.start(t) * D + k0) * bytes, D, 1, tiles.rows(t), false}, tiles.rows(t), k,
                   memory.queries.data() + Dot::units(k0) * tiles.m + Dot::units(k) * tiles.start(t));
      }
    }
  }

  const Packed* key_panel(Size b, Size key_head, Size j, Memory& memory) {
    const bool kept = chunks_ > 1;
    Packed* panel = memory.keys.data() + (kept ? j * units_ * width_ : 0);
    if (kept && j < memory.packed_panels) return panel;
    const Strides& step = k_.strides();
    const int columns = smaller(static_cast<int>(width_), S - j * width_);
    for (Size k0 = 0; k0 < D; k0 += k_block) {
      const std::byte* from =
          k_.buffer() + (k_.offset() + b * step[0] + key_head * step[1] + j * width_ * step[2] + k0 * step[3]) * block_bytes(k_.dtype());
      pack_keys_({from, step[2], step[3], columns, true}, static_cast<int>(width_), lesser(k_block, D - k0),
                 panel + Dot::units(k0) * width_);
    }
    if (kept) memory.packed_panels = j + 1;
    return panel;
  }

  void score(Size b, Size key_head, Size row0, const RowTiles& tiles, Memory& memory) {
    const Size keys = range(row0 + tiles.m - 1).last;
    for (Size j = 0; j * width_ < keys; ++j) {
      const Packed* panel = key_panel(b, key_head, j, memory);
      for (Size t = 0; t < tiles.tiles; ++t) {
        if (range(row0 + tiles.start(t + 1) - 1).last <= j * width_) continue;
        if (range(row0 + tiles.start(t)).first >= (j + 1) * width_) continue;
        f32* to = memory.scores.data() + tiles.start(t) * score_step_ + j * width_;
        if (D == 0) {
          for (int i = 0; i < tiles.rows(t); ++i) std::memset(to + i * score_step_, 0, static_cast<std::size_t>(width_) * sizeof(f32));
        }
        for (Size k0 = 0; k0 < D; k0 += k_block) {
          const Size units = Dot::units(lesser(k_block, D - k0));
          tile_function<Dot>(tiles.rows(t), static_cast<int>(vectors_))(
              units, memory.queries.data() + Dot::units(k0) * tiles.m + units * tiles.start(t), panel + Dot::units(k0) * width_, width_,
              {nullptr, 0, to, score_step_, k0 > 0});
        }
      }
    }
  }

  // ---- softmax -----------------------------------------------------------------------------------------------------------------------------

  /// Scores of one row to probabilities, in place. A masked key scores −∞: its exponential is the +0 that changes no sum.
  RowKeys probabilities(Size b, Size h, Size r, f32* __restrict x) const {
    const auto [first, last] = range(r);
    RowKeys keys{first, last, false};
    const f32 scale = op_.scale, cap = op_.softcap;
    for (Size s = 0; s < first; ++s) x[s] = -numerics::infinity_f32();
    for (Size s = first; s < last; ++s) x[s] = scale * x[s];
    if (cap != 0) {
      for (Size s = first; s < last; ++s) x[s] = cap * numerics::tanh_f32(x[s] / cap);
    }
    if (slopes_.defined()) {
      const f32 slope = data<f32>(slopes_)[h * slopes_.strides()[0]];
      const Size p = S - T + position(r);
      for (Size s = first; s < last; ++s) x[s] = x[s] - slope * static_cast<f32>(s < p ? p - s : s - p);
    }
    if (mask_.defined()) keys = apply_mask(b, h, position(r), first, last, x);
    const Size n = keys.last;
    if (keys.first >= n) return {0, 0, false};
    const f32 m = largest(x, n);
    for (Size s = 0; s < n; ++s) x[s] = numerics::exp_f32(x[s] - m);
    const f32 sum = tree_sum(x, n);
    for (Size s = 0; s < n; ++s) x[s] = x[s] / sum;
    return keys;
  }

  RowKeys apply_mask(Size b, Size h, Size t, Size first, Size n, f32* x) const {
    const f32 lowest = -numerics::infinity_f32();
    const Strides& step = mask_.strides();
    const Size at = mask_.offset() + b * step[0] + h * step[1] + t * step[2];
    const bool additive = mask_.dtype() != DType::boolean;
    RowKeys keys{n, 0, false};
    Size allowed = 0;
    for (Size s = first; s < n; ++s) {
      const Size i = at + s * step[3];
      const f32 added = additive                                  ? reinterpret_cast<const f32*>(mask_.buffer())[i]
                        : static_cast<u8>(mask_.buffer()[i]) != 0 ? 0.0f
                                                                  : lowest;
      if (added == lowest) {
        x[s] = lowest;
        continue;
      }
      if (additive) x[s] = x[s] + added;
      if (allowed++ == 0) keys.first = s;
      keys.last = s + 1;
    }
    keys.holes = allowed != keys.last - keys.first && allowed != 0;
    return keys;
  }

  bool is_allowed(Size b, Size h, Size t, Size s) const {
    const Strides& step = mask_.strides();
    const Size i = mask_.offset() + b * step[0] + h * step[1] + t * step[2] + s * step[3];
    if (mask_.dtype() == DType::boolean) return static_cast<u8>(mask_.buffer()[i]) != 0;
    return reinterpret_cast<const f32*>(mask_.buffer())[i] != -numerics::infinity_f32();
  }

  // ---- probabilities times values ------------------------------------------------------------------------------------------------------------

  /// Columns [column, column + width) of y for the rows of a chunk.
  void weigh(Size b, Size key_head, Size row0, const RowTiles& tiles, Size column, Memory& memory) {
    const int columns = smaller(static_cast<int>(width_), E - column);
    const int vectors = static_cast<int>(up(columns, Vf32::lanes));
    const Size width = vectors * Vf32::lanes;
    f32* chain = memory.sums.data();
    f32* total = chain + tiles.m * width;
    Size first = S, keys = 0;
    for (Size i = 0; i < tiles.m; ++i) {
      memory.has_sum[i] = false;
      first = lesser(first, memory.row_keys[i].first);
      keys = greater(keys, memory.row_keys[i].last);
    }
    const Strides& step = v_.strides();
    const bool direct = v_.dtype() == DType::f32 && step[3] == 1 && columns == width;
    for (Size block = 0; block < keys; block += k_block) {
      const Size block_end = lesser(keys, block + k_block);
      std::memset(chain, 0, static_cast<std::size_t>(tiles.m * width) * sizeof(f32));
      for (Size s0 = block; s0 < block_end; s0 += value_piece) {
        const Size s1 = lesser(block_end, s0 + value_piece);
        if (s1 <= first) continue;
        const std::byte* from =
            v_.buffer() + (v_.offset() + b * step[0] + key_head * step[1] + s0 * step[2] + column * step[3]) * block_bytes(v_.dtype());
        const f32* values = reinterpret_cast<const f32*>(from);
        Size value_step = step[2];
        if (!direct) {
          pack_values_({from, step[3], step[2], columns, true}, static_cast<int>(width), s1 - s0, memory.values.data());
          values = memory.values.data();
          value_step = width;
        }
        for (Size t = 0; t < tiles.tiles; ++t) weigh_piece(b, key_head, row0, tiles, t, s0, s1, values, value_step, vectors, chain, memory);
      }
      for (Size i = 0; i < tiles.m; ++i) {
        if (!any_key(b, key_head, row0 + i, memory.row_keys[i], block, block_end)) continue;
        f32* sum = total + i * width;
        const f32* add = chain + i * width;
        for (Size e = 0; e < width; ++e) sum[e] = memory.has_sum[i] ? sum[e] + add[e] : add[e];
        memory.has_sum[i] = true;
      }
    }
    for (Size i = 0; i < tiles.m; ++i) {
      if (!memory.has_sum[i]) std::memset(total + i * width, 0, static_cast<std::size_t>(width) * sizeof(f32));
      write(((b * H + query_head(key_head, row0 + i)) * T + position(row0 + i)) * E + column, total + i * width, columns);
    }
  }

  bool any_key(Size b, Size key_head, Size r, const RowKeys& keys, Size begin, Size end) const {
    const Size first = greater(begin, keys.first), last = lesser(end, keys.last);
    if (first >= last || !keys.holes) return first < last;
    for (Size s = first; s < last; ++s) {
      if (is_allowed(b, query_head(key_head, r), position(r), s)) return true;
    }
    return false;
  }

  /// Continues the chains of one row tile over keys [s0, s1). Keys that all its rows have go through the tile, the others row by row.
  void weigh_piece(Size b, Size key_head, Size row0, const RowTiles& tiles, Size t, Size s0, Size s1, const f32* values, Size value_step,
                   int vectors, f32* chain, Memory& memory) {
    const Size width = vectors * Vf32::lanes, start = tiles.start(t);
    const int rows = tiles.rows(t);
    Size first = s0, last = s1;  // of the keys in common
    bool holes = false;
    for (int i = 0; i < rows; ++i) {
      const RowKeys& keys = memory.row_keys[start + i];
      first = greater(first, keys.first);
      last = lesser(last, keys.last);
      holes = holes || keys.holes;
    }
    if (holes || first >= last) first = last = s1;
    const auto row_range = [&](int i, Size begin, Size end) {
      if (begin >= end) return;
      f32* c = chain + (start + i) * width;
      tile_function<DotF32>(1, vectors)(end - begin, memory.scores.data() + (start + i) * score_step_ + begin,
                                        values + (begin - s0) * value_step, value_step, {c, width, c, width, false});
    };
    for (int i = 0; i < rows; ++i) {
      const RowKeys& keys = memory.row_keys[start + i];
      if (!keys.holes) {
        row_range(i, greater(s0, keys.first), lesser(first, keys.last));
        continue;
      }
      const Size r = row0 + start + i;
      for (Size s = greater(s0, keys.first); s < lesser(s1, keys.last);) {
        Size e = s;
        while (e < lesser(s1, keys.last) && is_allowed(b, query_head(key_head, r), position(r), e)) ++e;
        row_range(i, s, e);
        s = e + 1;
      }
    }
    if (first >= last) return;
    pack_numbers<DotF32, StoredF32>(
        {reinterpret_cast<const std::byte*>(memory.scores.data() + start * score_step_ + first), score_step_, 1, rows, false}, rows,
        last - first, memory.weights.data());
    f32* c = chain + start * width;
    tile_function<DotF32>(rows, vectors)(last - first, memory.weights.data(), values + (first - s0) * value_step, value_step,
                                         {c, width, c, width, false});
    for (int i = 0; i < rows; ++i) row_range(i, last, lesser(s1, memory.row_keys[start + i].last));
  }

  void write(Size at, const f32* from, int n) {
    std::byte* to = y_.mutable_buffer() + (y_.offset() + at) * block_bytes(y_.dtype());
    switch (y_.dtype()) {
      case DType::f32: std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(f32)); break;
      case DType::f16:
        for (int e = 0; e < n; ++e) reinterpret_cast<u16*>(to)[e] = numerics::f32_to_f16(from[e]);
        break;
      default:
        for (int e = 0; e < n; ++e) reinterpret_cast<u16*>(to)[e] = numerics::f32_to_bf16(from[e]);
        break;
    }
  }

  const Attention& op_;
  const Tensor &q_, &k_, &v_, &mask_, &slopes_;
  Tensor& y_;
  const PackFunction<Dot> pack_keys_;
  const PackFunction<DotF32> pack_values_;
  Size B, H, T, D, K, S, E, G;  // batch, query heads, queries, head size, key heads, keys, value size, query heads per key head
  Size chunk_, chunks_;         // query rows of a key head at once, and how often
  Size vectors_, width_;        // of a panel of keys or values
  Size units_;                  // of packed D
  Size score_step_;
};

void attention(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y,
               Stream&) {
  if (q.dtype() == DType::f64) {
    attention_f64(op, q, k, v, mask, slopes, y);
  } else if (q.dtype() == DType::bf16) {
    Attending<DotBf16>(op, q, k, v, mask, slopes, y).run();
  } else {
    Attending<DotF32>(op, q, k, v, mask, slopes, y).run();
  }
}

}  // namespace

void register_attention(Kernels& kernels) { kernels.add<Attention>(Device::cpu, attention); }

}  // namespace votive::cpu::VOTIVE_ISA
