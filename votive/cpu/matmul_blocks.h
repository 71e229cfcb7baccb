// A product cut into tiles for the caches and the threads. Blocks of 1024 k are one chain per output, as the contract has it; a block may be
// done in pieces whose accumulators are stored and loaded again, which is exact. Work is split over outputs, never over k, so no cut changes a bit.
// Not here: registers (matmul_tile.h), the order of bytes (matmul_pack.h).
#pragma once

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul_pack.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size k_block = numerics::dot_block;

template <class Dot>
class Multiplier {
 public:
  explicit Multiplier(const MatrixProduct& p) : p_(p), pack_a_(pack_function<Dot>(p.a.dtype)), pack_b_(pack_function<Dot>(p.b.dtype)) {}

  void run() const {
    const Size batches = p_.batches();
    if (p_.k == 0) { return finish(nullptr, 0, 0, 0, batches * p_.m, p_.n); }
    if (p_.m <= thin_rows) return run_thin();
    for (Size o = 0; o < batches; ++o) run_wide(o);
  }

 private:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  using Vector = typename Dot::Vector;
  static constexpr int lanes = Vector::lanes;
  static constexpr int row_group = 8;  // tiles of rows whose packed a stays in L2
  static constexpr Size thin_rows = row_group * tile_rows;
  static constexpr int wide_columns = lanes * tile_vectors(tile_rows);
  static constexpr Size slab_bytes = Size{24} << 20;  // of b packed at once

  static Size smaller_size(Size a, Size b) { return a < b ? a : b; }
  static Size up(Size a, Size b) { return (a + b - 1) / b; }

  // ---- outputs -----------------------------------------------------------------------------------------------------------------------------

  bool y_is_acc() const { return p_.y_dtype == (sizeof(Acc) == 8 ? DType::f64 : DType::f32); }
  Acc* y_at(Size row, Size column) const { return reinterpret_cast<Acc*>(p_.y) + row * p_.n + column; }

  /// Adds the bias and rounds once: y[row …][column …] of rows × columns sums; null means that every sum is +0.
  void finish(const Acc* sums, Size step, Size row, Size column, Size rows, Size columns) const {
    const Acc* bias = static_cast<const Acc*>(p_.bias);
    for (Size i = 0; i < rows; ++i) {
      const Size at = (row + i) * p_.n + column;
      const Acc* row_bias = bias != nullptr && p_.bias_rows != 0 ? bias + (row + i) % p_.bias_rows : nullptr;
      const auto value = [&](Size j) {
        const Acc sum = sums != nullptr ? sums[i * step + j] : Acc{0};
        if (row_bias != nullptr) return sum + *row_bias;
        return bias != nullptr ? sum + bias[column + j] : sum;
      };
      if (y_is_acc()) {
        Acc* y = reinterpret_cast<Acc*>(p_.y) + at;
        for (Size j = 0; j < columns; ++j) y[j] = value(j);
      } else {
        u16* y = reinterpret_cast<u16*>(p_.y) + at;
        if (p_.y_dtype == DType::f16) {
          for (Size j = 0; j < columns; ++j) y[j] = numerics::f32_to_f16(static_cast<f32>(value(j)));
        } else {
          for (Size j = 0; j < columns; ++j) y[j] = numerics::f32_to_bf16(static_cast<f32>(value(j)));
        }
      }
    }
  }

  // ---- packing -----------------------------------------------------------------------------------------------------------------------------

  void pack_a(Size offset, Size row, int rows, Size k0, Size k, Packed* to) const {
    const MatrixView& a = p_.a;
    pack_a_({a.data + (offset + row * a.row + k0 * a.column) * block_bytes(a.dtype), a.row, a.column, rows, false}, rows, k, to);
  }
  void pack_b(Size offset, Size column, int columns, int width, Size k0, Size k, Packed* to) const {
    const MatrixView& b = p_.b;
    if (p_.gathered != nullptr) return pack_gathered(offset, column, columns, width, k0, k, to);
    pack_b_({b.data + (offset + k0 * b.row + column * b.column) * block_bytes(b.dtype), b.column, b.row, columns, true}, width, k, to);
  }

  void pack_gathered(Size offset, Size column, int columns, int width, Size k0, Size k, Packed* to) const {
    constexpr bool plain = !Dot::pairs && !Dot::swapped;
    if (plain && p_.b.dtype == (sizeof(Packed) == 8 ? DType::f64 : DType::f32)) {
      p_.gathered->fill(offset, column, columns, width, k0, k, reinterpret_cast<std::byte*>(to));
      return;
    }
    const Scratch<std::byte> rows(k * width * block_bytes(p_.b.dtype));
    p_.gathered->fill(offset, column, columns, width, k0, k, rows.data());
    pack_b_({rows.data(), 1, width, columns, true}, width, k, to);
  }

  /// Row tiles of m rows, as even as they come: 64 rows are 5 tiles of 12 or 13, not 4 of 14 and one of 8.
  struct RowTiles {
    Size m, tiles;
    explicit RowTiles(Size rows) : m(rows), tiles(up(rows, tile_rows)) {}
    Size start(Size t) const { return m * t / tiles; }
    int rows(Size t) const { return static_cast<int>(start(t + 1) - start(t)); }
  };

  // ---- few rows: a is packed once, b passes through a panel that never leaves the nearest caches -----------------------------------------------

  void run_thin() const {
    const RowTiles tiles(p_.m);
    // Where b's columns lie along k (a transposed weight) the fewest are read side by side: from DRAM 16 columns stream 1.5 × as fast as 128.
    const bool streams = p_.b.row == 1 && p_.m <= 16 && p_.gathered == nullptr;
    const int vectors = streams ? 1 : tile_vectors(static_cast<int>(up(p_.m, tiles.tiles)));
    const int width = vectors * lanes;
    const Size panels = up(p_.n, width), work = 2 * p_.m * p_.k * width;
    const Size grain = work >= 65536 ? 1 : up(65536, work);
    const Size batches = p_.batches();
    const Size piece = streams ? 128 : tiles.tiles == 1 && vectors > 2 ? panel_piece(width) : k_block;
    if (batches == 1 || (batches < 4 * threads() && panels >= 4 * threads() && grain == 1)) {
      Scratch<Packed> a(whole_units(p_.k) * p_.m);
      Size last_a = -1;
      for (Size o = 0; o < batches; ++o) {
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        if (a_offset != last_a) pack_thin_a(tiles, a_offset, piece, a.data());
        last_a = a_offset;
        parallel_for(panels, grain,
                     [&](Size begin, Size end) { thin_panels(tiles, a.data(), o * p_.m, b_offset, begin, end, vectors, piece); });
      }
      return;
    }
    parallel_for(batches, up(65536, work * panels), [&](Size begin, Size end) {
      Scratch<Packed> a(whole_units(p_.k) * p_.m);
      Size last_a = -1;
      for (Size o = begin; o < end; ++o) {
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        if (a_offset != last_a) pack_thin_a(tiles, a_offset, piece, a.data());
        last_a = a_offset;
        thin_panels(tiles, a.data(), o * p_.m, b_offset, 0, panels, vectors, piece);
      }
    });
  }

  /// k of a panel of at most 24 KiB; a power of two, so that pieces end where blocks end.
  static Size panel_piece(int width) {
    Size piece = k_block;
    while (piece * width * Size{sizeof(Acc)} > 24576) piece /= 2;
    return piece;
  }

  void pack_thin_a(const RowTiles& tiles, Size offset, Size piece, Packed* to) const {
    for (Size k0 = 0; k0 < p_.k; k0 += piece) {
      const Size k = smaller_size(piece, p_.k - k0);
      for (Size t = 0; t < tiles.tiles; ++t) { pack_a(offset, tiles.start(t), tiles.rows(t), k0, k, to + Dot::units(k) * tiles.start(t)); }
      to += Dot::units(k) * p_.m;
    }
  }

  void thin_panels(const RowTiles& tiles, const Packed* a, Size y_row, Size b_offset, Size begin, Size end, int full_vectors,
                   Size piece) const {
    const Size most = full_vectors * lanes;
    Scratch<Packed> panel(Dot::units(smaller_size(piece, p_.k)) * most);
    Scratch<Acc> sums(2 * p_.m * most);  // of the chain in progress, and of the blocks before it
    for (Size at = begin; at < end; ++at) {
      const Size column = at * most;
      const int columns = smaller(static_cast<int>(most), p_.n - column);
      const int vectors = static_cast<int>(up(columns, lanes));
      const int width = vectors * lanes;
      const Packed* a_piece = a;
      Acc* chain = sums.data();
      Acc* total = chain + p_.m * most;
      for (Size k0 = 0; k0 < p_.k; k0 += piece) {
        const Size k = smaller_size(piece, p_.k - k0), units = Dot::units(k);
        const bool begins = k0 % k_block == 0, ends = (k0 + k) % k_block == 0 || k0 + k == p_.k;
        pack_b(b_offset, column, columns, width, k0, k, panel.data());
        for (Size t = 0; t < tiles.tiles; ++t) {
          const Size first = tiles.start(t) * width;
          tile_function<Dot>(tiles.rows(t), vectors)(
              units, a_piece + units * tiles.start(t), panel.data(), width,
              {begins ? nullptr : chain + first, width, (ends ? total : chain) + first, width, ends && k0 >= k_block});
        }
        a_piece += units * p_.m;
      }
      finish(total, width, y_row, column, p_.m, columns);
    }
  }

  // ---- many rows: slabs of b packed by everyone, then groups of row tiles --------------------------------------------------------------------------

  void run_wide(Size o) const {
    Size a_offset, b_offset;
    p_.offsets(o, a_offset, b_offset);
    const Size units_all = whole_units(p_.k);
    const Size panels = up(p_.n, wide_columns);
    const Size slab_most = slab_bytes / (units_all * wide_columns * Size{sizeof(Packed)});
    const Size slab = smaller_size(panels, slab_most < 8 ? 8 : slab_most);
    Scratch<Packed> b(slab * units_all * wide_columns);
    const RowTiles tiles(p_.m);
    const Size blocks = up(p_.k, k_block);
    for (Size first = 0; first < panels; first += slab) {
      const Size count = smaller_size(slab, panels - first);
      parallel_for(count * blocks, up(32768, smaller_size(p_.k, k_block) * wide_columns), [&](Size begin, Size end) {
        for (Size i = begin; i < end; ++i) {
          const Size j = i / blocks, k0 = i % blocks * k_block, column = (first + j) * wide_columns;
          pack_b(b_offset, column, smaller(wide_columns, p_.n - column), wide_columns, k0, smaller_size(k_block, p_.k - k0),
                 b.data() + (j * units_all + Dot::units(k0)) * wide_columns);
        }
      });
      const Size row_groups = up(tiles.tiles, row_group);
      const Size parallelism = 2 * threads();
      const Size column_groups = row_groups >= parallelism ? 1 : smaller_size(up(parallelism, row_groups), up(count, 8));
      parallel_for(row_groups * column_groups, 1, [&](Size begin, Size end) {
        const Size most_rows = tile_rows * row_group;
        Scratch<Packed> a(Dot::units(smaller_size(p_.k, k_block)) * most_rows);
        const bool needs_sums = !y_is_acc() || p_.n % wide_columns != 0;
        Scratch<Acc> sums(needs_sums ? up(count, column_groups) * wide_columns * most_rows : 0);
        for (Size i = begin; i < end; ++i) {
          const Size g = i / column_groups, c = i % column_groups;
          wide_group(tiles, tiles.tiles * g / row_groups, tiles.tiles * (g + 1) / row_groups, a_offset, o * p_.m, b.data(), units_all,
                     first, count * c / column_groups, count * (c + 1) / column_groups, a.data(), sums.data());
        }
      });
    }
  }

  static Size whole_units(Size k) { return k / k_block * Dot::units(k_block) + Dot::units(k % k_block); }

  void wide_group(const RowTiles& tiles, Size tile0, Size tile1, Size a_offset, Size y_row, const Packed* b, Size units_all, Size first,
                  Size panel0, Size panel1, Packed* a, Acc* sums) const {
    const Size row0 = tiles.start(tile0);
    for (Size k0 = 0; k0 < p_.k; k0 += k_block) {
      const Size k = smaller_size(k_block, p_.k - k0), units = Dot::units(k);
      const bool last = k0 + k == p_.k;
      for (Size t = tile0; t < tile1; ++t) pack_a(a_offset, tiles.start(t), tiles.rows(t), k0, k, a + units * (tiles.start(t) - row0));
      for (Size j = panel0; j < panel1; ++j) {
        const Packed* b_panel = b + (j * units_all + Dot::units(k0)) * wide_columns;
        const Size column = (first + j) * wide_columns;
        const int columns = smaller(wide_columns, p_.n - column);
        for (Size t = tile0; t < tile1; ++t) {
          const Size row = y_row + tiles.start(t);
          const bool direct = y_is_acc() && columns == wide_columns;
          Acc* c = direct ? y_at(row, column) : sums + ((j - panel0) * (tile1 - tile0) + t - tile0) * tile_rows * wide_columns;
          const Size c_step = direct ? p_.n : wide_columns;
          tile_function<Dot>(tiles.rows(t), wide_columns / lanes)(units, a + units * (tiles.start(t) - row0), b_panel, wide_columns,
                                                                  {nullptr, 0, c, c_step, k0 > 0});
          if (last && (!direct || p_.bias != nullptr)) finish(c, c_step, row, column, tiles.rows(t), columns);
        }
      }
    }
  }

  const MatrixProduct& p_;
  const PackFunction<Dot> pack_a_, pack_b_;
};

}  // namespace votive::cpu::VOTIVE_ISA
