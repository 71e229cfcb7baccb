// An 8-bit product cut into blocks for the caches and the threads: a is packed once by everyone, then ranges of columns of b are packed and multiplied
// block by block of k, a tile of a in L1 against panels of b in L2 (93 % of the rate of vpdpbusd, 2-core Zen 4).
//
// As bytes, a' = a − α is signed and b' = b + β unsigned (α is 128 for u8, β is 128 for i8, else 0), and for a block of k
//   Σ a·b = Σ a'·b' − β·Σ a' + α·Σ b' − k·α·β.
// A block's sum fits i32, so a wide y adds up blocks. Not here: registers (matmul_int8_tile.h), the order of bytes (matmul_int8_pack.h).
#include "votive/cpu/matmul_int8.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul_int8_pack.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size k_block = 1024;
constexpr Size block_units = k_block / int8_unit;
constexpr Size panel_step = block_units * int8_columns + 32;  // not a power of two: eight panels are written side by side
constexpr Size most_panels = (Size{256} << 10) / (panel_step * 4);
constexpr Size slab_bytes = Size{24} << 20;  // of a packed at once
constexpr bool shifts = int8_unit == 4;

constexpr Size up(Size a, Size b) { return (a + b - 1) / b; }

/// Row tiles of m rows, as even as they come.
struct RowTiles {
  Size m, tiles;
  explicit RowTiles(Size rows) : m(rows), tiles(up(rows, int8_rows)) {}
  Size start(Size t) const { return m * t / tiles; }
  int rows(Size t) const { return static_cast<int>(start(t + 1) - start(t)); }
};

class Int8Multiplier {
 public:
  explicit Int8Multiplier(const Int8Product& p)
      : p_(p), alpha_(shifts && p.a.is_unsigned ? 128 : 0), beta_(shifts && !p.b.is_unsigned ? 128 : 0), k_units_(up(p.k, int8_unit)) {}

  void run() const {
    const Size most = std::max<Size>(int8_rows, slab_bytes / (k_units_ * 4) / int8_rows * int8_rows);
    for (Size row = 0; row < p_.m; row += most) run_rows(row, std::min(most, p_.m - row));
  }

 private:
  Size blocks() const { return up(p_.k, k_block); }
  Size k_of(Size block) const { return std::min(k_block, p_.k - block * k_block); }

  void run_rows(Size row0, Size m) const {
    const RowTiles tiles(m);
    const Scratch<u32> a(k_units_ * m);  // block after block of k, in each tile after tile
    const Scratch<i32> a_sums(beta_ != 0 ? blocks() * m : 0);
    const Size work = 2 * m * p_.n * p_.k;
    const bool serial = work < (Size{1} << 20);
    parallel_for(blocks() * tiles.tiles, serial ? blocks() * tiles.tiles : up(Size{1} << 15, k_of(0) * int8_rows),
                 [&](Size begin, Size end) {
                   for (Size i = begin; i < end; ++i) pack_a(row0, tiles, i / tiles.tiles, i % tiles.tiles, a.data(), a_sums.data());
                 });
    // Enough pieces for every thread, by columns first, since a piece packs its own columns of b.
    const Size panels = up(p_.n, int8_columns), pieces = serial ? 1 : 4 * threads();
    Size wide = std::min(most_panels, std::max<Size>(1, panels / pieces));
    if (wide % 2 != 0 && wide < most_panels && panels > 1) ++wide;  // 64 columns are a line of b
    const Size column_pieces = up(panels, wide);
    const Size row_pieces = std::min(up(tiles.tiles, 4), up(pieces, column_pieces));
    parallel_for(column_pieces * row_pieces, serial ? column_pieces * row_pieces : 1, [&](Size begin, Size end) {
      const Scratch<u32> b(std::min(wide, panels) * panel_step);
      const Scratch<i32> b_sums(alpha_ != 0 ? wide * int8_columns : 0);
      for (Size i = begin; i < end; ++i) {
        const Size c = i / row_pieces, r = i % row_pieces;
        multiply(row0, tiles, tiles.tiles * r / row_pieces, tiles.tiles * (r + 1) / row_pieces, c * wide, std::min(panels, (c + 1) * wide),
                 a.data(), a_sums.data(), b.data(), b_sums.data());
      }
    });
  }

  /// Where a block's tile lies in packed a.
  Size packed_a(const RowTiles& tiles, Size block, Size t) const {
    return block * block_units * tiles.m + up(k_of(block), int8_unit) * tiles.start(t);
  }

  void pack_a(Size row0, const RowTiles& tiles, Size block, Size t, u32* a, i32* a_sums) const {
    const Size row = row0 + tiles.start(t), k = k_of(block);
    u32* to = a + packed_a(tiles, block, t);
    int8_pack(
        {p_.a.data + row * p_.a.row + block * k_block * p_.a.column, p_.a.row, p_.a.column, tiles.rows(t), p_.a.is_unsigned, alpha_ != 0},
        {to, tiles.rows(t), 0}, k);
    if (beta_ == 0) return;
    i32* sums = a_sums + block * tiles.m + tiles.start(t);
    int8_row_sums(to, tiles.rows(t), up(k, int8_unit), true, sums);
    for (int i = 0; i < tiles.rows(t); ++i) sums[i] *= -beta_;
  }

  /// Tiles [tile0, tile1) of rows by panels [panel0, panel1) of columns.
  void multiply(Size row0, const RowTiles& tiles, Size tile0, Size tile1, Size panel0, Size panel1, const u32* a, const i32* a_sums, u32* b,
                i32* b_sums) const {
    alignas(64) i32 sums[int8_rows * int8_columns];
    const Size column0 = panel0 * int8_columns, columns = std::min(p_.n, panel1 * int8_columns) - column0;
    for (Size block = 0; block < blocks(); ++block) {
      const Size k = k_of(block), units = up(k, int8_unit);
      int8_pack(
          {p_.b.data + block * k_block * p_.b.row + column0 * p_.b.column, p_.b.column, p_.b.row, columns, p_.b.is_unsigned, beta_ != 0},
          {b, int8_columns, panel_step}, k);
      if (alpha_ != 0) {
        for (Size j = 0; j < panel1 - panel0; ++j) int8_row_sums(b + j * panel_step, int8_columns, units, false, b_sums + j * int8_columns);
        for (Size j = 0; j < (panel1 - panel0) * int8_columns; ++j) b_sums[j] = alpha_ * (b_sums[j] - static_cast<i32>(k) * beta_);
      }
      for (Size t = tile0; t < tile1; ++t) {
        const Int8TileFunction tile = int8_tile_function(tiles.rows(t));
        const Size row = row0 + tiles.start(t);
        for (Size j = 0; j < panel1 - panel0; ++j) {
          const Size column = column0 + j * int8_columns, width = std::min<Size>(int8_columns, p_.n - column);
          const bool direct = !p_.wide && width == int8_columns;
          i32* c = direct ? static_cast<i32*>(p_.y) + row * p_.n + column : sums;
          tile(units, a + packed_a(tiles, block, t), b + j * panel_step,
               {beta_ != 0 ? a_sums + block * tiles.m + tiles.start(t) : nullptr, alpha_ != 0 ? b_sums + j * int8_columns : nullptr, c,
                direct ? p_.n : int8_columns, direct && block != 0});
          if (!direct) add_to_y(sums, row, tiles.rows(t), column, width, block != 0);
        }
      }
    }
  }

  void add_to_y(const i32* sums, Size row, int rows, Size column, Size width, bool add) const {
    const auto each = [&](auto* y) {
      for (int i = 0; i < rows; ++i) {
        auto* to = y + (row + i) * p_.n + column;
        const i32* from = sums + i * int8_columns;
        for (Size j = 0; j < width; ++j) to[j] = add ? to[j] + from[j] : from[j];
      }
    };
    if (p_.wide) {
      each(static_cast<i64*>(p_.y));
    } else {
      each(static_cast<i32*>(p_.y));
    }
  }

  const Int8Product& p_;
  const i32 alpha_, beta_;
  const Size k_units_;
};

}  // namespace

void multiply_int8(const Int8Product& product) { Int8Multiplier(product).run(); }

}  // namespace votive::cpu::VOTIVE_ISA
