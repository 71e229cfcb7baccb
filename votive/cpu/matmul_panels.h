// Rows of a times panels of b: panel_columns of its columns side by side, unit after unit of k, as prepack() arranges a weight (own width), as
// matmul_blocks.h packs a slab of b, or as they lie in a small b. Work is cut into groups of rows whose packed a stays in L2 times chunks of panels. A panel
// passes by once per group while the next one is fetched, which lets weights stream from memory beside full use of the fma (16 rows of f32: 97 % of
// its rate against 67 %, 2-core Zen 4). A group's a is packed by whoever multiplies it, unless many share it: packed by all, it came back from L3 or from
// the other core at a price of 4 to 20 %.
#pragma once

#include <type_traits>

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul_finish.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size k_block = numerics::dot_block;

constexpr Size smaller_size(Size a, Size b) { return a < b ? a : b; }
constexpr Size larger_size(Size a, Size b) { return a < b ? b : a; }
constexpr Size up(Size a, Size b) { return (a + b - 1) / b; }

/// Units of all k, block by block.
template <class Dot>
Size whole_units(Size k) {
  return k / k_block * Dot::units(k_block) + Dot::units(k % k_block);
}

/// Row tiles of m rows, as even as they come: 64 rows are 5 tiles of 12 or 13, not 4 of 14 and one of 8.
struct RowTiles {
  Size m, tiles;
  RowTiles(Size rows, Size most) : m(rows), tiles(up(rows, most)) {}
  Size start(Size t) const { return m * t / tiles; }
  int rows(Size t) const { return static_cast<int>(start(t + 1) - start(t)); }
};

/// Columns [0, n) of b: panels `panel_step` words apart, their rows of k `row_step`; the last panel may lie elsewhere.
struct Panels {
  const std::byte* words;
  Size n, panel_step, row_step;
  const std::byte* last;
  Size last_step;
};

/// Panels one after the other, `rows` rows of k each, the last as wide as what is left of n.
template <class Dot, class Word>
Panels panels_in_order(const std::byte* words, Size n, Size rows, bool last_is_whole) {
  constexpr Size width = panel_columns<typename Dot::Acc>;
  const Size panels = up(n, width), rest = n - (panels - 1) * width;
  return {words, n, rows * width, width, words + (panels - 1) * rows * width * Size{sizeof(Word)}, last_is_whole ? width : rest};
}

/// What will be read after a product, fetched into L2 line by line while the product runs.
class Coming {
 public:
  /// At most two runs of bytes.
  void add(const std::byte* first, Size bytes) { run_[runs_++] = {first, bytes}; }
  Size lines() const { return up(run_[0].bytes, 64) + up(run_[1].bytes, 64); }
  void fetch(Size lines) {
    for (Size i = 0; i < lines && at_ < runs_; ++i) {
      __builtin_prefetch(run_[at_].first, 0, 2);
      run_[at_].first += 64;
      run_[at_].bytes -= 64;
      if (run_[at_].bytes <= 0) ++at_;
    }
  }

 private:
  struct Run {
    const std::byte* first = nullptr;
    Size bytes = 0;
  };
  Run run_[2];
  int runs_ = 0, at_ = 0;
};

template <class Dot, class Read>
class PanelProduct {
 public:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  static constexpr int width = panel_columns<Acc>;

  /// Rows [row, row + m) of the batch's element whose a is at `offset` and whose y begins at row `y_row`, times panels that are y's columns from `column`,
  /// by that many threads.
  PanelProduct(const MatrixProduct& p, Size offset, Size row, Size m, Size y_row, Size column, const Panels& b, Size workers = threads())
      : p_(p),
        pack_(pack_function<Dot>(p.a.dtype)),
        b_(b),
        offset_(offset),
        row_(row),
        m_(m),
        y_row_(y_row + row),
        column_(column),
        panels_(up(b.n, width)) {
    const Size block = Dot::units(smaller_size(p.k, k_block)) * Size{sizeof(Packed)};
    const Size most_rows = larger_size(group_bytes / block, 2 * panel_rows);
    groups_ = up(m, most_rows);
    if (!p.prepacked && m >= workers * few_rows) groups_ = up(groups_, workers) * workers;
    const bool thin = whole_units<Dot>(p.k) * m * Size{sizeof(Packed)} <= thin_bytes || m <= 2 * panel_rows;
    const Size sums = up(m, groups_) * panels_ * width * Size{sizeof(Acc)};
    Size chunks = larger_size(groups_ % workers == 0 && groups_ >= workers ? 1 : up(4 * workers, groups_), up(sums, sums_bytes));
    if (workers == 1) chunks = up(sums, sums_bytes);
    if (thin) chunks = panels_;
    chunks_ = smaller_size(chunks, panels_);
    shares_a_ =
        thin || (chunks_ > 1 && panels_ * width < 1024 * chunks_ && whole_units<Dot>(p.k) * m * Size{sizeof(Packed)} <= shared_bytes);
  }

  /// By one worker, with a share of what is coming fetched at each tile.
  void run_and_fetch(Coming coming) {
    coming_ = &coming;
    lines_at_tile_ = up(coming.lines(), up(m_, panel_rows) * panels_ * up(Dot::units(p_.k), panel_piece));
    run();
    coming_ = nullptr;
  }

  void run() const {
    const Size units = whole_units<Dot>(p_.k), rows = up(m_, groups_), tiles = up(rows, panel_rows), blocks = up(p_.k, k_block);
    const Scratch<Packed> shared(shares_a_ ? units * m_ : 0);
    if (shares_a_) {
      parallel_for(groups_ * blocks * tiles, up(32768, panel_rows * smaller_size(p_.k, k_block)), [&](Size begin, Size end) {
        for (Size i = begin; i < end; ++i) {
          const Size g = i / tiles / blocks, k0 = i / tiles % blocks * k_block;
          const Group group(*this, g);
          if (i % tiles < group.tiles.tiles)
            pack(group, i % tiles, k0, shared.data() + units * group.first + Dot::units(k0) * group.tiles.m);
        }
      });
    }
    const Size chunk = up(panels_, chunks_), work = 2 * rows * p_.k * width * chunk;
    parallel_for(groups_ * chunks_, work >= 65536 ? 1 : up(65536, work), [&](Size begin, Size end) {
      const Scratch<Packed> own(shares_a_ ? 0 : Dot::units(smaller_size(p_.k, k_block)) * rows);
      const bool needs_sums = !y_is_acc<Acc>(p_) || b_.n % lanes != 0;
      const Scratch<Packed> wide(widens && rows >= widened_rows ? panel_piece * width : 0);
      const Scratch<Acc> sums(needs_sums ? rows * width * (p_.k > k_block ? chunk : 1) : 0),
          chain(panel_piece < k_block ? rows * width : 0);
      for (Size i = begin; i < end; ++i) {
        const Group group(*this, i / chunks_);
        const Size c = i % chunks_;
        multiply(group, panels_ * c / chunks_, panels_ * (c + 1) / chunks_, shares_a_ ? shared.data() + units * group.first : nullptr,
                 own.data(), sums.data(), chain.data(), wide.data());
      }
    });
  }

 private:
  static constexpr int lanes = Dot::Vector::lanes;
  static constexpr Size group_bytes = Size{576} << 10;  // of a beside two panels of b in L2
  static constexpr Size thin_bytes = Size{256} << 10;   // of a that stays in L2 while whole panels pass by
  static constexpr Size shared_bytes = Size{64} << 20;
  static constexpr Size sums_bytes = Size{2} << 20;  // that are added to once per block of k
  static constexpr Size few_rows = 4 * panel_rows;   // worth a thread of their own

  // Tiles of few rows have no registers left to widen b in: a piece of it is widened into L1 for all of them.
  static constexpr bool widens = !std::is_same_v<Read, ReadPacked<Dot>> && panel_piece < k_block;
  static constexpr Size widened_rows = 3 * panel_rows;

  struct Group {
    Size first;
    RowTiles tiles;
    Group(const PanelProduct& p, Size g) : first(p.m_ * g / p.groups_), tiles(p.m_ * (g + 1) / p.groups_ - first, panel_rows) {}
  };

  const typename Read::Word* b_at(Size panel, Size k) const {
    const Size row = Dot::units(k) / Read::units;
    const bool last = panel + 1 == panels_;
    const auto* words = reinterpret_cast<const typename Read::Word*>(last ? b_.last : b_.words);
    return words + (last ? row * b_.last_step : panel * b_.panel_step + row * b_.row_step);
  }

  void pack(const Group& group, Size t, Size k0, Packed* block) const {
    const Size k = smaller_size(k_block, p_.k - k0), first = row_ + group.first + group.tiles.start(t);
    const MatrixView& a = p_.a;
    const int rows = group.tiles.rows(t);
    pack_({a.data + (offset_ + first * a.row + k0 * a.column) * block_bytes(a.dtype), a.row, a.column, rows, false}, rows, k,
          block + Dot::units(k) * group.tiles.start(t));
  }

  /// A group times panels [j0, j1).
  void multiply(const Group& group, Size j0, Size j1, const Packed* shared, Packed* own, Acc* sums, Acc* chain, Packed* wide) const {
    const Size rows = group.tiles.m;
    for (Size k0 = 0; k0 < p_.k; k0 += k_block) {
      const Size k = smaller_size(k_block, p_.k - k0);
      if (shared == nullptr) {
        for (Size t = 0; t < group.tiles.tiles; ++t) pack(group, t, k0, own);
      }
      const Packed* a = shared != nullptr ? shared + Dot::units(k0) * rows : own;
      for (Size j = j0; j < j1; ++j) {
        const void* ahead = j + 1 < j1 ? b_at(j + 1, k0) : k0 + k < p_.k ? b_at(j0, k0 + k) : j1 < panels_ ? b_at(j1, 0) : b_at(j, k0);
        multiply_block(group, k0, Dot::units(k), a, j, sums + (p_.k > k_block ? (j - j0) * rows * width : 0), chain, wide,
                       static_cast<const std::byte*>(ahead));
      }
    }
  }

  void multiply_block(const Group& group, Size k0, Size units, const Packed* a, Size j, Acc* sums, Acc* chain, Packed* wide,
                      const std::byte* ahead) const {
    const bool last = k0 + k_block >= p_.k;
    const int columns = smaller(width, b_.n - j * width);
    const Size step = j + 1 < panels_ ? b_.row_step : b_.last_step, column = column_ + j * width;
    const bool direct = y_is_acc<Acc>(p_) && columns % lanes == 0;
    const bool in_l1 = widens && group.tiles.m >= widened_rows;
    const Size rows_per_unit = in_l1 ? 1 : Read::units;  // of what a tile reads
    const Size ahead_step =
        up(smaller_size(b_.row_step, width) * Size{sizeof(typename Read::Word)} * rows_per_unit, Read::units * group.tiles.tiles);
    const typename Read::Word* b = b_at(j, k0);
    if (last && !direct && !y_is_acc<Acc>(p_)) fetch_outputs(group, column, columns);
    // One tile reads b once, a plain stream that the machine fetches by itself: asking for the next panel cost f16 a quarter (2-core Zen 4).
    if (group.tiles.tiles == 1) ahead = reinterpret_cast<const std::byte*>(b);
    for (Size q = 0; q < units; q += panel_piece) {
      const Size n = smaller_size(panel_piece, units - q);
      const bool begins = q == 0, ends = q + n == units;
      if constexpr (widens) {
        if (in_l1) widen(b + q / Read::units * step, step, n, static_cast<int>(up(columns, lanes)), wide);
      }
      for (Size t = 0; t < group.tiles.tiles; ++t) {
        const Size at = group.tiles.start(t), row = y_row_ + group.first + at;
        const int rows = group.tiles.rows(t);
        Acc* const c = direct ? reinterpret_cast<Acc*>(p_.y) + row * p_.n + column : sums + at * width;
        const Size c_step = direct ? p_.n : width;
        Acc* const so_far = chain + at * width;
        for (int v = 0; v < columns; v += panel_vectors * lanes) {
          const int vectors = smaller(panel_vectors, up(columns - v, lanes));
          const TileEnds<Acc> tile_ends{
              begins ? nullptr : so_far + v, width, ends ? c + v : so_far + v, ends ? c_step : width, ends && k0 > 0, ahead, ahead_step};
          if (in_l1) {
            panel_tile_function<Dot, ReadPacked<Dot>>(rows, vectors)(n, a + units * at + q * rows, wide + v, width, tile_ends);
          } else {
            panel_tile_function<Dot, Read>(rows, vectors)(n, a + units * at + q * rows, b + q / Read::units * step + v, step, tile_ends);
          }
        }
        ahead += n / rows_per_unit * ahead_step;
        if (coming_ != nullptr) coming_->fetch(lines_at_tile_);
        if (ends && last && (!direct || p_.bias != nullptr))
          finish_sums(p_, static_cast<const Acc*>(c), c_step, row, column, rows, columns);
      }
    }
  }

  /// Lines of y that the block's rounded sums will be written to.
  void fetch_outputs(const Group& group, Size column, Size columns) const {
    const Size bytes = block_bytes(p_.y_dtype);
    const std::byte* row = p_.y + ((y_row_ + group.first) * p_.n + column) * bytes;
    for (Size i = 0; i < group.tiles.m; ++i, row += p_.n * bytes) {
      for (Size at = 0; at < columns * bytes; at += 64) __builtin_prefetch(row + at, 1, 2);
    }
  }

  /// n units of b as the dot product multiplies them, `width` apart.
  static void widen(const typename Read::Word* b, Size step, Size n, int vectors, Packed* to) {
    Size u = 0;
    for (; u + Read::units <= n; u += Read::units, b += step) {
      unroll<Read::units>([&](auto part) {
        for (int v = 0; v < vectors; ++v) store(to + (u + part) * width + v * lanes, Read::template load<part>(b + v * lanes));
      });
    }
    if constexpr (Read::units == 2) {
      if (u < n) {
        for (int v = 0; v < vectors; ++v) store(to + u * width + v * lanes, Read::template load<Read::even>(b + v * lanes));
      }
    }
  }

  const MatrixProduct& p_;
  const PackFunction<Dot> pack_;
  const Panels b_;
  const Size offset_, row_, m_, y_row_, column_, panels_;
  Size groups_, chunks_;
  bool shares_a_;
  Coming* coming_ = nullptr;
  Size lines_at_tile_ = 0;
};

/// The whole product with a b that prepack() arranged.
template <class Dot, class Read>
void multiply_prepacked(const MatrixProduct& p) {
  const Panels panels = panels_in_order<Dot, typename Read::Word>(p.b.data, p.n, up(whole_units<Dot>(p.k), Read::units), false);
  const Size batches = p.batches();
  for (Size o = 0; o < batches; ++o) {
    Size a_offset, b_offset;
    p.offsets(o, a_offset, b_offset);
    PanelProduct<Dot, Read>(p, a_offset, 0, p.m, o * p.m, 0, panels).run();
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
