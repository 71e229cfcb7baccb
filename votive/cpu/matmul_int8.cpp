// An 8-bit product cut into blocks for the caches and the threads: a is packed once by everyone; then ranges of columns of b are packed and multiplied
// block by block of k, a panel of b against all tiles of rows that L2 holds, while the next block of b is fetched.
// Not here: registers (matmul_int8_tile.h), the order of bytes (matmul_int8_pack.h), batches (matmul_integer.cpp).
#include "votive/cpu/matmul_int8.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/matmul_int8_pack.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size k_block = int8_as_bytes ? 1024 : 512;                // its sum fits i32, so a wide y adds up blocks
constexpr Size block_words = k_block / int8_unit * int8_words;      // of one row
constexpr Size panel_step = block_words * int8_columns + 32;        // not a power of two: panels are written side by side
constexpr Size most_panels = (Size{256} << 10) / (panel_step * 4);  // of packed b that stays in L2
constexpr Size group_rows = (Size{256} << 10) / (block_words * 4);  // of packed a, likewise
constexpr Size slab_bytes = Size{24} << 20;                         // of a packed at once
constexpr Size serial_work = Size{1} << 20;                         // multiplications and additions that no second thread would shorten

constexpr Size up(Size a, Size b) { return (a + b - 1) / b; }

/// Row tiles of m rows, as even as they come.
struct RowTiles {
  Size m, tiles;
  explicit RowTiles(Size rows) : m(rows), tiles(up(rows, int8_rows)) {}
  Size start(Size t) const { return m * t / tiles; }
  int rows(Size t) const { return static_cast<int>(start(t + 1) - start(t)); }
};

/// Lines of b that will be packed next, fetched a few at a time between tiles.
class Fetch {
 public:
  Fetch(const Int8Matrix& b, Size k0, Size k, Size column, Size columns, Size calls) : b_(b) {
    if (columns <= 0 || (b.row != 1 && b.column != 1)) return;
    across_ = b.column == 1;
    from_ = b.data + k0 * b.row + column * b.column;
    runs_ = across_ ? k : columns;
    lines_ = up(across_ ? columns : k, 64);
    per_call_ = up(runs_ * lines_, calls);
  }
  void some() {
    for (Size i = 0; i < per_call_ && run_ < runs_; ++i) {
      __builtin_prefetch(from_ + run_ * (across_ ? b_.row : b_.column) + 64 * line_, 0, 2);
      if (++line_ == lines_) line_ = 0, ++run_;
    }
  }

 private:
  const Int8Matrix& b_;
  const u8* from_ = nullptr;
  bool across_ = false;
  Size runs_ = 0, lines_ = 0, per_call_ = 0, run_ = 0, line_ = 0;
};

class Int8Multiplier {
 public:
  explicit Int8Multiplier(const Int8Product& p)
      : p_(p), alpha_(int8_as_bytes && p.a.is_unsigned ? 128 : 0), beta_(int8_as_bytes && !p.b.is_unsigned ? 128 : 0) {}

  void run() const {
    const Size most = std::max<Size>(int8_rows, slab_bytes / (row_words() * 4) / int8_rows * int8_rows);
    for (Size row = 0; row < p_.m; row += most) run_rows(row, std::min(most, p_.m - row));
  }

 private:
  bool row_sums() const { return !int8_as_bytes || beta_ != 0; }
  bool column_sums() const { return !int8_as_bytes || alpha_ != 0; }
  Size row_words() const { return int8_units(p_.k) * int8_words; }
  Size blocks() const { return up(p_.k, k_block); }
  Size k_of(Size block) const { return std::min(k_block, p_.k - block * k_block); }

  /// a of rows [row0, row0 + m), packed: block after block of k, in each tile after tile.
  struct PackedA {
    RowTiles tiles;
    const u32* words;
    const i32* sums;
  };
  Size place_of_tile(const RowTiles& tiles, Size block, Size t) const {
    return block * block_words * tiles.m + int8_units(k_of(block)) * int8_words * tiles.start(t);
  }

  void run_rows(Size row0, Size m) const {
    const RowTiles tiles(m);
    const Scratch<u32> words(row_words() * m);
    const Scratch<i32> sums(row_sums() ? blocks() * m : 0);
    const bool serial = 2 * m * p_.n * p_.k < serial_work;
    const Size packs = blocks() * tiles.tiles;
    parallel_for(packs, serial ? packs : up(Size{1} << 15, k_of(0) * int8_rows), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) pack_a(row0, tiles, i / tiles.tiles, i % tiles.tiles, words.data(), sums.data());
    });
    // Enough pieces for every thread, by columns first, since a piece packs its own columns of b; 64 columns are a line of a row-major b.
    const Size panels = up(p_.n, int8_columns), pieces = serial ? 1 : 4 * threads();
    const Size wide = std::min(most_panels, up(std::max<Size>(1, panels / pieces), 64 / int8_columns) * (64 / int8_columns));
    const Size column_pieces = up(panels, wide), row_pieces = std::min(up(tiles.tiles, 4), up(pieces, column_pieces));
    parallel_for(column_pieces * row_pieces, serial ? column_pieces * row_pieces : 1, [&](Size begin, Size end) {
      const Scratch<u32> b(std::min(wide, panels) * panel_step);
      const Scratch<i32> b_sums(column_sums() ? wide * int8_columns : 0);
      for (Size i = begin; i < end; ++i) {
        const Size r = i % row_pieces, panel0 = i / row_pieces * wide;
        // The next piece's first columns are worth fetching when they are not these.
        const Size next = i + 1 < end && row_pieces == 1 ? panel0 + wide : panels;
        multiply({tiles, words.data(), sums.data()}, row0, tiles.tiles * r / row_pieces, tiles.tiles * (r + 1) / row_pieces, panel0,
                 std::min(panels, panel0 + wide), next, b.data(), b_sums.data());
      }
    });
  }

  void pack_a(Size row0, const RowTiles& tiles, Size block, Size t, u32* words, i32* all_sums) const {
    const Size row = row0 + tiles.start(t), k = k_of(block);
    u32* to = words + place_of_tile(tiles, block, t);
    int8_pack(
        {p_.a.data + row * p_.a.row + block * k_block * p_.a.column, p_.a.row, p_.a.column, tiles.rows(t), p_.a.is_unsigned, alpha_ != 0},
        {to, tiles.rows(t), 0}, k);
    if (!row_sums()) return;
    i32* sums = all_sums + block * tiles.m + tiles.start(t);
    int8_row_sums(to, tiles.rows(t), int8_units(k), int8_as_bytes ? Int8Sum::signed_bytes : Int8Sum::pair_products, sums);
    for (int i = 0; i < tiles.rows(t); ++i) sums[i] *= int8_as_bytes ? -beta_ : -1;
  }

  void pack_b(Size block, Size panel0, Size panel1, u32* b, i32* sums) const {
    const Size column = panel0 * int8_columns, k = k_of(block);
    int8_pack({p_.b.data + block * k_block * p_.b.row + column * p_.b.column, p_.b.column, p_.b.row,
               std::min(p_.n, panel1 * int8_columns) - column, p_.b.is_unsigned, beta_ != 0},
              {b, int8_columns, panel_step}, k);
    if (!column_sums()) return;
    for (Size j = 0; j < panel1 - panel0; ++j) {
      i32* to = sums + j * int8_columns;
      int8_row_sums(b + j * panel_step, int8_columns, int8_units(k), int8_as_bytes ? Int8Sum::unsigned_bytes : Int8Sum::pair_products, to);
      for (int i = 0; i < int8_columns; ++i) to[i] = int8_as_bytes ? alpha_ * (to[i] - static_cast<i32>(k) * beta_) : -to[i];
    }
  }

  /// Tiles [tile0, tile1) of rows by panels [panel0, panel1) of columns; `next` is the first panel after them.
  void multiply(const PackedA& a, Size row0, Size tile0, Size tile1, Size panel0, Size panel1, Size next, u32* b, i32* b_sums) const {
    const Size group = std::max<Size>(1, group_rows / int8_rows);
    for (Size block = 0; block < blocks(); ++block) {
      pack_b(block, panel0, panel1, b, b_sums);
      const bool last = block + 1 == blocks();
      const Size next_column = (last ? next : panel0) * int8_columns, next_block = last ? 0 : block + 1;
      Fetch fetch(p_.b, next_block * k_block, k_of(next_block), next_column, std::min((panel1 - panel0) * int8_columns, p_.n - next_column),
                  (tile1 - tile0) * (panel1 - panel0));
      for (Size t0 = tile0; t0 < tile1; t0 += group) {
        for (Size j = panel0; j < panel1; ++j) {
          for (Size t = t0; t < std::min(tile1, t0 + group); ++t) {
            multiply_tile(a, row0, block, t, j, b + (j - panel0) * panel_step, b_sums + (j - panel0) * int8_columns);
            fetch.some();
          }
        }
      }
    }
  }

  void multiply_tile(const PackedA& a, Size row0, Size block, Size t, Size panel, const u32* b, const i32* b_sums) const {
    alignas(64) i32 sums[int8_rows * int8_columns];
    const Size row = row0 + a.tiles.start(t), column = panel * int8_columns, width = std::min<Size>(int8_columns, p_.n - column);
    const int rows = a.tiles.rows(t);
    const bool direct = !p_.wide && width == int8_columns;
    int8_tile_function(rows)(
        int8_units(k_of(block)), a.words + place_of_tile(a.tiles, block, t), b,
        {row_sums() ? a.sums + block * a.tiles.m + a.tiles.start(t) : nullptr, column_sums() ? b_sums : nullptr,
         direct ? static_cast<i32*>(p_.y) + row * p_.n + column : sums, direct ? p_.n : int8_columns, direct && block != 0});
    if (direct) return;
    const auto add_to = [&](auto* y) {
      for (int i = 0; i < rows; ++i) {
        auto* to = y + (row + i) * p_.n + column;
        const i32* from = sums + i * int8_columns;
        for (Size j = 0; j < width; ++j) to[j] = block != 0 ? to[j] + from[j] : from[j];
      }
    };
    if (p_.wide) {
      add_to(static_cast<i64*>(p_.y));
    } else {
      add_to(static_cast<i32*>(p_.y));
    }
  }

  const Int8Product& p_;
  const i32 alpha_, beta_;
};

}  // namespace

void multiply_int8(const Int8Product& product) { Int8Multiplier(product).run(); }

}  // namespace votive::cpu::VOTIVE_ISA
