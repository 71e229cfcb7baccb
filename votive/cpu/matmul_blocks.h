// A product cut into tiles for the caches and the threads. Blocks of 1024 k are one chain per output, as the contract has it; a block may be
// done in pieces whose accumulators are stored and loaded again, which is exact. Work is split over outputs, never over k, so no cut changes a bit.
// Not here: registers (matmul_tile.h), the order of bytes (matmul_pack.h).
#pragma once

#include "votive/cpu/matmul_panels.h"
#include "votive/cpu/matmul_row.h"
#include "votive/cpu/matmul_row_sweep.h"
#include "votive/cpu/matmul_small.h"

namespace votive::cpu::VOTIVE_ISA {

template <class Dot>
class Multiplier {
 public:
  explicit Multiplier(const MatrixProduct& p) : p_(p), pack_a_(pack_function<Dot>(p.a.dtype)), pack_b_(pack_function<Dot>(p.b.dtype)) {}

  void run() const {
    const Size batches = p_.batches();
    if (p_.k == 0) return finish_sums<Acc>(p_, nullptr, 0, 0, 0, batches * p_.m, p_.n);
    // Few rows, or not enough to pay for a b that leaves the caches between its packing and its use.
    if (is_small()) return run_small();
    const Size b_bytes = p_.n * whole_units<Dot>(p_.k) * Size{sizeof(Packed)};
    if (p_.m <= 2 * tile_rows || (p_.m <= 8 * tile_rows && (b_bytes > near_bytes || batches > 1))) return run_thin();
    if (packs_alone(b_bytes)) return run_alone();
    for (Size o = 0; o < batches; ++o) run_wide(o);
  }

 private:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  using Vector = typename Dot::Vector;
  static constexpr int lanes = Vector::lanes;
  static constexpr int panel_width = panel_columns<Acc>;
  static constexpr Size slab_bytes = Size{24} << 20;  // of b packed at once
  static constexpr Size near_bytes = Size{4} << 20;
  static constexpr Size in_place_bytes = Size{256} << 10;
  static constexpr Size alone_bytes = Size{512} << 10;   // of a packed b that each thread packs for itself
  static constexpr Size coming_bytes = Size{512} << 10;  // of the batch's next element

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

  // ---- few rows: a is packed once, b passes through a panel that never leaves the nearest caches -----------------------------------------------

  void run_thin() const {
    if (RowProduct<Dot>::takes(p_)) return run_row(RowProduct<Dot>(p_));
    if (RowSweep<Dot>::takes(p_)) return run_row(RowSweep<Dot>(p_));
    const RowTiles tiles(p_.m, tile_rows);
    // Where b's columns lie along k (a transposed weight) the fewest are read side by side: from DRAM 16 columns stream 1.5 × as fast as 128.
    const bool streams = p_.b.row == 1 && p_.m <= 16 && p_.gathered == nullptr;
    const int vectors = streams ? 1 : tile_vectors(static_cast<int>(up(p_.m, tiles.tiles)));
    const int width = vectors * lanes;
    const Size panels = up(p_.n, width), work = 2 * p_.m * p_.k * width;
    const Size grain = work >= 65536 ? 1 : up(65536, work);
    const Size batches = p_.batches();
    const Size piece = streams ? 128 : tiles.tiles == 1 && vectors > 2 ? thin_piece(width) : k_block;
    if (batches == 1 || (batches < 4 * threads() && panels >= 4 * threads() && grain == 1)) {
      Scratch<Packed> a(whole_units<Dot>(p_.k) * p_.m);
      bool packed = false;  // a step of the batch may be negative: no offset is free to say that there is none
      Size last_a = 0;
      for (Size o = 0; o < batches; ++o) {
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        if (!packed || a_offset != last_a) pack_thin_a(tiles, a_offset, piece, a.data());
        packed = true;
        last_a = a_offset;
        parallel_for(panels, grain,
                     [&](Size begin, Size end) { thin_panels(tiles, a.data(), o * p_.m, b_offset, begin, end, vectors, piece); });
      }
      return;
    }
    parallel_for(batches, up(65536, work * panels), [&](Size begin, Size end) {
      Scratch<Packed> a(whole_units<Dot>(p_.k) * p_.m);
      bool packed = false;
      Size last_a = 0;
      for (Size o = begin; o < end; ++o) {
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        if (!packed || a_offset != last_a) pack_thin_a(tiles, a_offset, piece, a.data());
        packed = true;
        last_a = a_offset;
        thin_panels(tiles, a.data(), o * p_.m, b_offset, 0, panels, vectors, piece);
      }
    });
  }

  /// One row, by strips of columns; what is left of those beside whole ones goes through a panel.
  template <class Product>
  void run_row(const Product& product) const {
    const RowTiles tiles(1, tile_rows);
    const Size strips = product.strips(), columns = product.columns(), units = strips + (columns < p_.n ? 1 : 0);
    parallel_for(p_.batches() * units, up(65536, 2 * p_.k * up(columns, strips)), [&](Size begin, Size end) {
      const Scratch<Packed> a(whole_units<Dot>(p_.k));
      Size packed = -1;
      for (Size i = begin; i < end; ++i) {
        const Size o = i / units, strip = i % units;
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        if (o != packed) pack_thin_a(tiles, a_offset, k_block, a.data());
        packed = o;
        if (strip < strips) {
          product.run(a.data(), b_offset, o, strip, pack_b_);
        } else {
          thin_panels(tiles, a.data(), o, b_offset, columns / lanes, up(p_.n, lanes), 1, k_block);
        }
      }
    });
  }

  /// k of a panel of at most 24 KiB; a power of two, so that pieces end where blocks end.
  static Size thin_piece(int width) {
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
      finish_sums(p_, static_cast<const Acc*>(total), width, y_row, column, p_.m, columns);
    }
  }

  // ---- small: both operands where they lie -----------------------------------------------------------------------------------------------------------

  static constexpr bool holds_panels = panel_piece == k_block;  // L1 holds what a tile reads of a whole block of k
  static constexpr Size small_k = 512, small_b_bytes = Size{holds_panels ? 1024 : 512} << 10;
  // Elsewhere rows of b come from L2, and far apart they share its sets: 4 KiB apart a product is slower than with a packed b, 1 KiB apart a fifth faster.
  static constexpr Size small_b_row = holds_panels ? Size{1} << 40 : 2048, tiny_b_bytes = Size{16} << 10;

  bool is_small() const {
    if constexpr (Dot::pairs || Dot::swapped) {
      return false;
    } else {
      constexpr DType plain = sizeof(Acc) == 8 ? DType::f64 : DType::f32;
      if (p_.a.dtype != plain || p_.b.dtype != plain || !y_is_acc<Acc>(p_) || p_.gathered != nullptr || p_.b.column != 1) return false;
      // Rows of a that are pages apart would share a set of L1.
      const Size b_bytes = p_.k * p_.n * Size{sizeof(Acc)};
      if (b_bytes > tiny_b_bytes && p_.b.row * Size{sizeof(Acc)} > small_b_row) return false;
      return p_.k <= small_k && p_.m <= 2 * small_k && b_bytes <= small_b_bytes && p_.a.row * Size{sizeof(Acc)} % 4096 != 0;
    }
  }

  void run_small() const {
    if constexpr (!Dot::pairs && !Dot::swapped) {
      SmallProduct<Dot> s{p_.m, p_.n, p_.k, nullptr, p_.a.row, p_.a.column, nullptr, p_.b.row, nullptr, p_.n};
      const Size tiles = s.row_tiles() * s.column_tiles(), work = 2 * p_.m * p_.n * p_.k / tiles;
      parallel_for(p_.batches() * tiles, up(32768, work + 1), [&](Size begin, Size end) {
        SmallProduct<Dot> part = s;
        for (Size i = begin; i < end;) {
          const Size o = i / tiles, stop = smaller_size(end, (o + 1) * tiles);
          Size a_offset, b_offset;
          p_.offsets(o, a_offset, b_offset);
          part.a = reinterpret_cast<const Acc*>(p_.a.data) + a_offset;
          part.b = reinterpret_cast<const Acc*>(p_.b.data) + b_offset;
          part.y = y_at(o * p_.m, 0);
          part.run(i - o * tiles, stop - o * tiles);
          i = stop;
        }
      });
      if (p_.bias != nullptr) finish_sums<Acc>(p_, y_at(0, 0), p_.n, 0, 0, p_.batches() * p_.m, p_.n);
    }
  }

  Acc* y_at(Size row, Size column) const { return reinterpret_cast<Acc*>(p_.y) + row * p_.n + column; }

  // ---- many rows: slabs of b packed by everyone, then panels times groups of rows -------------------------------------------------------------------

  /// A small b of numbers that need no widening, its rows where they are: there is less to gain by packing it than a second fork and join costs.
  bool runs_in_place() const {
    constexpr bool plain = !Dot::pairs && !Dot::swapped && panel_piece == k_block;
    return plain && p_.gathered == nullptr && p_.b.column == 1 && p_.b.dtype == (sizeof(Acc) == 8 ? DType::f64 : DType::f32) &&
           p_.k * p_.n * Size{sizeof(Acc)} <= in_place_bytes;
  }

  void run_in_place(Size o) const {
    Size a_offset, b_offset;
    p_.offsets(o, a_offset, b_offset);
    const Size whole = p_.n / panel_width * panel_width, rest = p_.n - whole;
    const Scratch<Packed> last(rest != 0 ? p_.k * panel_width : 0);
    const std::byte* const words = p_.b.data + b_offset * Size{sizeof(Packed)};
    Panels b{words, p_.n, panel_width, p_.b.row, words + (whole - panel_width) * Size{sizeof(Packed)}, p_.b.row};
    if (rest != 0) {
      pack_b(b_offset, whole, static_cast<int>(rest), panel_width, 0, p_.k, last.data());
      b.last = reinterpret_cast<const std::byte*>(last.data());
      b.last_step = panel_width;
    }
    PanelProduct<Dot, ReadPacked<Dot>>(p_, a_offset, 0, p_.m, o * p_.m, 0, b).run();
  }

  static constexpr Size bundle_bytes = 256;  // of a row of b that are packed together
  static constexpr Size bundle_piece = 16;   // rows at a time: 64 lines on their way halve the time, 256 lines gain nothing (2-core Zen 4)

  /// One block of k of `count` panels from `panel`, which lie units_all apart: a piece of k of all of them, then the next, so that rows of b, which are
  /// pages apart and seldom in a cache, are fetched a piece ahead.
  void pack_bundle(Size offset, Size panel, Size count, Size k0, Packed* to) const {
    const MatrixView& b = p_.b;
    const Size units_all = whole_units<Dot>(p_.k), end = smaller_size(p_.k, k0 + k_block), column = panel * panel_width;
    const bool in_rows = b.column == 1 && p_.gathered == nullptr;
    const Size piece = in_rows ? bundle_piece : k_block, bytes = block_bytes(b.dtype);
    const auto fetch = [&](Size from) {
      const Size row_bytes = smaller_size(count * panel_width, p_.n - column) * bytes;
      for (Size k = from; in_rows && k < smaller_size(end, from + piece); ++k) {
        const std::byte* row = b.data + (offset + k * b.row + column) * bytes;
        for (Size at = 0; at < row_bytes; at += 64) __builtin_prefetch(row + at, 0, 2);
      }
    };
    fetch(k0);
    for (Size k = k0; k < end; k += piece) {
      fetch(k + piece);
      for (Size j = 0; j < count; ++j) {
        const Size at = column + j * panel_width;
        pack_b(offset, at, smaller(panel_width, p_.n - at), panel_width, k, smaller_size(piece, end - k),
               to + (j * units_all + Dot::units(k)) * panel_width);
      }
    }
  }

  /// A small b that has to be packed, and rows enough for every thread; with one thread, elements of a batch.
  bool packs_alone(Size b_bytes) const {
    const Size workers = threads();
    return (workers > 1 || p_.batches() > 1) && p_.m >= 2 * tile_rows * workers && b_bytes <= alone_bytes && p_.gathered == nullptr &&
           !runs_in_place();
  }

  /// Each thread packs b for itself and takes rows of its own, or elements of the batch: forks once, and reads no line that another core has just written,
  /// which costs more than packing it (64 to 320 squared at two threads: f16 1.8 to 1.1 ×, bf16 1.7 to 1.2 ×; 2-core Zen 4).
  void run_alone() const {
    const Size batches = p_.batches(), parts = batches < 4 * threads() ? threads() : 1;
    const Size units_all = whole_units<Dot>(p_.k), panels = up(p_.n, panel_width), blocks = up(p_.k, k_block);
    const Size bundle = bundle_bytes / (panel_width * block_bytes(p_.b.dtype));
    parallel_for(batches * parts, up(65536, 2 * p_.m * p_.n * p_.k / parts), [&](Size begin, Size end) {
      const Scratch<Packed> b(panels * units_all * panel_width);
      const Panels all = panels_in_order<Dot, Packed>(reinterpret_cast<const std::byte*>(b.data()), p_.n, units_all, true);
      bool packed = false;  // a step of the batch may be negative: no offset is free to say that there is none
      Size last_b = 0;
      for (Size i = begin; i < end; ++i) {
        const Size o = i / parts, part = i % parts, row = p_.m * part / parts;
        Size a_offset, b_offset;
        p_.offsets(o, a_offset, b_offset);
        for (Size j = 0; (!packed || b_offset != last_b) && j < panels; j += bundle) {
          for (Size k = 0; k < blocks; ++k)
            pack_bundle(b_offset, j, smaller_size(bundle, panels - j), k * k_block, b.data() + j * units_all * panel_width);
        }
        packed = true;
        last_b = b_offset;
        PanelProduct<Dot, ReadPacked<Dot>>(p_, a_offset, row, p_.m * (part + 1) / parts - row, o * p_.m, 0, all, 1)
            .run_and_fetch(i + 1 < end && parts == 1 ? coming(o + 1) : Coming());
      }
    });
  }

  /// a and b of the batch's element o, where they lie dense, and little enough to stay in L2 beside what the element before it needs (64 products of 256
  /// squared in bf16 160 -> 188 GFLOP/s with one thread, 2-core Zen 4).
  Coming coming(Size o) const {
    const Size a_bytes = p_.m * p_.k * block_bytes(p_.a.dtype), b_bytes = p_.k * p_.n * block_bytes(p_.b.dtype);
    Coming result;
    if (a_bytes + b_bytes > coming_bytes) return result;
    Size a_offset, b_offset;
    p_.offsets(o, a_offset, b_offset);
    const auto is_dense = [](const MatrixView& x, Size rows, Size columns) {
      return (x.column == 1 && x.row == columns) || (x.row == 1 && x.column == rows);
    };
    if (is_dense(p_.b, p_.k, p_.n)) result.add(p_.b.data + b_offset * block_bytes(p_.b.dtype), b_bytes);
    if (is_dense(p_.a, p_.m, p_.k)) result.add(p_.a.data + a_offset * block_bytes(p_.a.dtype), a_bytes);
    return result;
  }

  void run_wide(Size o) const {
    if (runs_in_place()) return run_in_place(o);
    Size a_offset, b_offset;
    p_.offsets(o, a_offset, b_offset);
    const Size units_all = whole_units<Dot>(p_.k);
    const Size panels = up(p_.n, panel_width);
    const Size slab_most = slab_bytes / (units_all * panel_width * Size{sizeof(Packed)});
    const Size slab = smaller_size(panels, slab_most < 8 ? 8 : slab_most);
    const Scratch<Packed> b(slab * units_all * panel_width);
    const Size blocks = up(p_.k, k_block);
    for (Size first = 0; first < panels; first += slab) {
      const Size count = smaller_size(slab, panels - first);
      const Size bundle = bundle_bytes / (panel_width * block_bytes(p_.b.dtype)), bundles = up(count, bundle);
      parallel_for(bundles * blocks, up(32768, smaller_size(p_.k, k_block) * panel_width * bundle), [&](Size begin, Size end) {
        for (Size i = begin; i < end; ++i) {
          const Size j = i / blocks * bundle;
          pack_bundle(b_offset, first + j, smaller_size(bundle, count - j), i % blocks * k_block, b.data() + j * units_all * panel_width);
        }
      });
      const Size columns = smaller_size(count * panel_width, p_.n - first * panel_width);
      const Panels slab_of_b = panels_in_order<Dot, Packed>(reinterpret_cast<const std::byte*>(b.data()), columns, units_all, true);
      PanelProduct<Dot, ReadPacked<Dot>>(p_, a_offset, 0, p_.m, o * p_.m, first * panel_width, slab_of_b).run();
    }
  }

  const MatrixProduct& p_;
  const PackFunction<Dot> pack_a_, pack_b_;
};

}  // namespace votive::cpu::VOTIVE_ISA
