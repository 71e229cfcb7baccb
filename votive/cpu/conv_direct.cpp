// Direct convolutions: how image, weights and sums lie, and how the outputs are cut into strips and tiles. An output's chain runs over taps and, faster, over
// channels in blocks (CONTRACT.md 4.3, 4.4); pieces of a block that leave the registers are exact. Not here: the tile (conv_direct_tile.h).
#include "votive/cpu/conv_direct.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/conv_direct_strip.h"
#include "votive/cpu/conv_direct_tile.h"
#include "votive/cpu/convert.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size up(Size a, Size b) { return (a + b - 1) / b; }

/// Element is what x, w and y hold.
template <class Dot, class Element>
class DirectConvolution {
 public:
  DirectConvolution(const Convolution& c, const DirectWeights& w, const void* bias, std::byte* y)
      : c_(c),
        w_(w),
        bias_(static_cast<const Acc*>(bias)),
        y_(y),
        round_(sizeof(Acc) == 8 ? DType::f64 : DType::f32, c.dtype),
        layout_(c),
        units_(c.taps() * layout_.words),
        vectors_(up(c.rows, lanes)),
        panels_(up(vectors_, direct_vectors)),
        runs_(c.taps() + 2 * up(units_, piece_units) + 2),
        pieces_(2 * up(units_, piece_units) + 2),
        packed_(c.groups * vectors_ * lanes * units_) {
    cut_sum();
  }

  void run() {
    pack_weights();
    const Size rows = c_.groups * c_.images * c_.axes[0].out * c_.axes[1].out * layout_.parts;
    const Size pieces = threads() == 1 ? 1 : 4 * threads();
    // Weights that L2 cannot hold are better read by one thread each than by all.
    Size chunks = c_.rows * c_.k() * Size{sizeof(Element)} > (Size{1} << 20) ? up(pieces, 2) : up(pieces, rows);
    chunks = least(panels_, chunks);
    const Size work = c_.rows * c_.k() * layout_.band_columns / chunks;
    const auto strips = [&](Size begin, Size end) {
      Worker worker(*this);
      while (begin < end) begin = strip(begin, end, rows, chunks, worker);
    };
    if (pieces == 1) return strips(0, rows);
    parallel_for(rows * chunks, up(65536, work + 1), [&](Size begin, Size end) { strips(begin, end); });
  }

 private:
  using Acc = typename Dot::Acc;
  using Packed = typename Dot::Packed;
  using Vector = typename Dot::Vector;
  static constexpr int lanes = Vector::lanes;
  static constexpr Size block_units = Dot::units(numerics::dot_block);
  static constexpr Size piece_units = least(block_units, panel_piece);

  struct Tile {
    Size x[2], first[2];
    int positions, runs;
  };
  /// Part of a block whose accumulators stay in registers.
  struct Piece {
    Size run, run_end, units, unit;
    bool begins, ends, adds;
  };

  struct Worker {
    explicit Worker(const DirectConvolution& d)
        : strip(d.layout_.size() + 16),
          sums(2 * (d.layout_.positions() + 2 * lanes) * direct_vectors * lanes),
          rows(d.round_.is_identity() ? 0 : lanes * (d.layout_.positions() + lanes)),
          bands(d.layout_.bands),
          tiles(d.layout_.bands * d.layout_.band_rows * up(d.layout_.band_columns, run_positions) + 4) {}
    Scratch<Packed> strip;
    Scratch<Acc> sums, rows;
    Scratch<Band> bands;
    Scratch<Tile> tiles;
  };

  // ---- the sum ----------------------------------------------------------------------------------------------------------------------------------

  /// Taps whose channels lie side by side are one run; blocks, and pieces of them, end runs.
  void cut_sum() {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1], &a2 = c_.axes[2];
    Size run = -1, unit = 0;
    pieces_count_ = 0;
    Piece piece{0, 0, 0, 0, true, false, false};
    const auto close = [&] {
      piece.run_end = run + 1;
      piece.ends = unit % block_units == 0 || unit == units_;
      piece.adds = piece.ends && unit > block_units;
      pieces_[pieces_count_++] = piece;
      piece = {run + 1, 0, 0, unit, piece.ends, false, false};
    };
    for (Size t0 = 0; t0 < a0.taps; ++t0) {
      for (Size t1 = 0; t1 < a1.taps; ++t1) {
        for (Size t2 = 0; t2 < a2.taps; ++t2) {
          Size at = t0 * layout_.plane + t1 * a1.step * layout_.pitch + t2 * a2.step * layout_.position;
          for (Size left = layout_.words; left > 0;) {
            const Size n = least(left, block_units - unit % block_units);
            // A piece rather ends with a tap than inside one.
            if (piece.units + n > piece_units && piece.units >= piece_units / 2) close();
            const Size m = least(n, piece_units - piece.units);
            if (piece.units > 0 && runs_[run].at + runs_[run].units == at) {
              runs_[run].units += m;
            } else {
              runs_[++run] = {at, m};
            }
            piece.units += m;
            unit += m;
            at += m;
            left -= m;
            if (piece.units == piece_units || unit % block_units == 0 || unit == units_) close();
          }
        }
      }
    }
  }

  // ---- weights: per group, panels of vectors of rows by unit ---------------------------------------------------------------------------------------

  int panel_vectors_of(Size panel) const { return static_cast<int>(least(direct_vectors, vectors_ - panel * direct_vectors)); }
  Packed* panel_at(Size group, Size panel) const { return packed_.data() + (group * vectors_ + panel * direct_vectors) * lanes * units_; }

  void pack_weights() const {
    parallel_for(c_.groups * vectors_, up(8192, c_.k() * lanes), [&](Size begin, Size end) {
      const Scratch<Acc> halves(Dot::pairs ? c_.k() * lanes : 0);
      for (Size i = begin; i < end; ++i) {
        const Size group = i / vectors_, vector = i % vectors_, panel = vector / direct_vectors;
        const Size width = panel_vectors_of(panel) * lanes;
        Packed* to = panel_at(group, panel) + vector % direct_vectors * lanes;
        if constexpr (Dot::pairs) {
          pack_vector(group, vector, halves.data(), lanes);
          for (Size u = 0; u < units_; ++u) {
            const Acc* pair = halves.data() + 2 * u * lanes;
            store(to + u * width, bit_or(shift_right<16>(as_i32(Vector::load(pair))), as_i32(Vector::load(pair + lanes))));
          }
        } else {
          pack_vector(group, vector, to, width);
        }
      }
    });
  }

  /// Elements of one vector of rows in the order of the sum, vectors `width` apart.
  void pack_vector(Size group, Size vector, Acc* to, Size width) const {
    using Plain = std::conditional_t<sizeof(Acc) == 8, DotF64, DotF32>;
    const Size first = vector * lanes, taps = c_.taps(), channels = c_.channels;
    const Element* from = reinterpret_cast<const Element*>(w_.data) + group * w_.group + first * w_.row;
    const auto row = [&](Size i) { return from + i * w_.row; };
    const auto place = [&](Size k) { return to + (Dot::swapped ? k ^ 1 : k) * width; };
    const bool f16 = c_.dtype == DType::f16;
    if (!w_.channels_first) {
      rows_to_lanes<Plain, Element>(c_.rows - first, c_.k(), f16, false, 0, row, [&](Size k, Vector v) { store(place(k), v); });
      return;
    }
    Size next = 0, tap = 0, channel = 0;
    rows_to_lanes<Plain, Element>(c_.rows - first, c_.k(), f16, false, 0, row, [&](Size i, Vector v) {
      if (i != next) {
        tap = i % taps;
        channel = i / taps;
      }
      store(place(tap * channels + channel), v);
      next = i + 1;
      if (++tap == taps) {
        tap = 0;
        ++channel;
      }
    });
  }

  // ---- strips -----------------------------------------------------------------------------------------------------------------------------------

  /// Computes as many rows of outputs from `begin` on as a strip holds; gives where the next one begins. Rows, or their parts, are counted by chunk of
  /// panels, group, image and place.
  Size strip(Size begin, Size end, Size rows, Size chunks, Worker& worker) const {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1], &a2 = c_.axes[2];
    const Size parts = layout_.parts, per_plane = a1.out * parts, per_group = c_.images * a0.out * per_plane;
    const Size chunk = begin / rows, group = begin % rows / per_group;
    end = least(end, begin - begin % per_group + per_group);
    Size bands = 0, first = 0;
    while (begin < end && bands < layout_.bands) {
      Band& band = worker.bands[bands];
      band.image = begin % per_group / (a0.out * per_plane);
      band.o0 = begin / per_plane % a0.out;
      band.o1 = begin % per_plane / parts;
      band.o2 = begin % parts * layout_.band_columns;
      band.rows = least(least(layout_.band_rows, a1.out - band.o1), end - begin);
      band.columns = least(layout_.band_columns, a2.out - band.o2);
      band.at = bands * a0.taps * layout_.plane;
      band.first = first;
      layout_.fill(band, group, worker.strip.data());
      begin += band.rows;
      first += band.rows * band.columns;
      ++bands;
    }
    const Size tiles = cut_into_tiles(bands, worker);
    const Size first_panel = panels_ * chunk / chunks, last_panel = panels_ * (chunk + 1) / chunks;
    for (Size panel = first_panel; panel < last_panel; ++panel) {
      multiply_panel(panel_at(group, panel), panel_vectors_of(panel), first, tiles, worker);
      write_panel(group, panel, bands, worker);
    }
    return begin;
  }

  /// Rows of outputs in runs of nearly one length; runs of equal length in pairs.
  Size cut_into_tiles(Size bands, const Worker& worker) const {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    Size tiles = 0;
    Tile alone[2];
    alone[0].runs = alone[1].runs = 0;
    for (Size b = 0; b < bands; ++b) {
      const Band& band = worker.bands[b];
      const Size runs = up(band.columns, run_positions), longer = up(band.columns, runs), of_longer = band.columns - runs * (longer - 1);
      for (Size o1 = 0; o1 < band.rows; ++o1) {
        Size o2 = 0;
        for (Size r = 0; r < runs; ++r) {
          const bool shorter = r >= of_longer;
          Tile& tile = alone[shorter ? 1 : 0];
          tile.positions = static_cast<int>(shorter ? longer - 1 : longer);
          tile.x[tile.runs] = band.at + o1 * a1.stride * layout_.pitch + o2 * a2.stride * layout_.position;
          tile.first[tile.runs] = band.first + o1 * band.columns + o2;
          o2 += tile.positions;
          if (++tile.runs == 2) {
            worker.tiles[tiles++] = tile;
            tile.runs = 0;
          }
        }
      }
    }
    for (const Tile& tile : alone) {
      if (tile.runs != 0) worker.tiles[tiles++] = tile;
    }
    return tiles;
  }

  /// Sums of the strip's positions, `vectors` vectors each.
  void multiply_panel(const Packed* weights, int vectors, Size count, Size tiles, const Worker& worker) const {
    const Size width = vectors * lanes;
    Acc *total = worker.sums.data(), *chain = total + (count + lanes) * width;
    const Size step = c_.axes[2].stride * layout_.position;
    for (Size i = 0; i < pieces_count_; ++i) {
      const Piece& piece = pieces_[i];
      Acc* c = piece.ends && !piece.adds ? total : chain;
      {
        const typename Dot::Environment environment;
        for (Size t = 0; t < tiles; ++t) {
          const Tile& tile = worker.tiles[t];
          const Size other = tile.runs - 1;
          const Packed* strip = worker.strip.data();
          WindowEnds<Acc> ends{{nullptr, nullptr}, {c + tile.first[0] * width, c + tile.first[other] * width}};
          if (!piece.begins) {
            ends.resume[0] = chain + tile.first[0] * width;
            ends.resume[1] = chain + tile.first[other] * width;
          }
          window_function<Dot>(tile.positions, tile.runs, vectors)({runs_.data() + piece.run,
                                                                    runs_.data() + piece.run_end,
                                                                    {strip + tile.x[0], strip + tile.x[other]},
                                                                    step,
                                                                    weights + piece.unit * width},
                                                                   ends);
        }
      }
      if (piece.adds) {
        for (Size at = 0; at < count * width; at += lanes) store(total + at, add(Vector::load(total + at), Vector::load(chain + at)));
      }
    }
  }

  /// Sums to rows of y, with the bias and one rounding.
  void write_panel(Size group, Size panel, Size bands, const Worker& worker) const {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    const int vectors = panel_vectors_of(panel);
    const Size width = vectors * lanes, bytes = block_bytes(c_.dtype);
    for (int vector = 0; vector < vectors; ++vector) {
      const Size row = (panel * direct_vectors + vector) * lanes, rows = least(lanes, c_.rows - row);
      for (Size b = 0; b < bands; ++b) {
        const Band& band = worker.bands[b];
        const Size n = band.rows * band.columns, at = (band.o0 * a1.out + band.o1) * a2.out + band.o2;
        const Size y_row = ((band.image * c_.groups + group) * c_.rows + row) * c_.positions() + at;
        const Acc* bias = bias_ != nullptr ? bias_ + group * c_.rows + row : nullptr;
        const Acc* sums = worker.sums.data() + band.first * width + vector * lanes;
        if (round_.is_identity()) {
          write_rows(sums, width, rows, n, bias, reinterpret_cast<Acc*>(y_) + y_row, c_.positions());
          continue;
        }
#if defined(__AVX2__)
        if constexpr (sizeof(Element) == 2) {
          if (c_.dtype == DType::bf16) {
            write_bf16(sums, width, rows, n, bias, reinterpret_cast<Element*>(y_) + y_row, c_.positions());
            continue;
          }
        }
#endif
        const Size step = up(n, lanes) * lanes;
        write_rows(sums, width, rows, n, bias, worker.rows.data(), step);
        for (Size i = 0; i < rows; ++i)
          round_(reinterpret_cast<const std::byte*>(worker.rows.data() + i * step), y_ + (y_row + i * c_.positions()) * bytes, n);
      }
    }
  }

  static void write_rows(const Acc* sums, Size width, Size rows, Size n, const Acc* bias, Acc* to, Size step) {
    for (Size at = 0; at < n; at += lanes) {
      Vector v[lanes];
      unroll<lanes>([&](auto i) __attribute__((always_inline)) { v[i] = Vector::load(sums + (at + i) * width); });
      transpose(v);
      const int count = static_cast<int>(least(lanes, n - at));
      for (Size i = 0; i < rows; ++i) {
        if (bias != nullptr) v[i] = add(v[i], Vector::broadcast(bias[i]));
        if (count == lanes) {
          store(to + i * step + at, v[i]);
        } else {
          store_part(to + i * step + at, count, v[i]);
        }
      }
    }
  }

#if defined(__AVX2__)
  static void write_bf16(const f32* sums, Size width, Size rows, Size n, const f32* bias, u16* to, Size step) {
    for (Size at = 0; at < n; at += 2 * lanes) {
      Vf32 low[lanes], high[lanes];
      unroll<lanes>([&](auto i) __attribute__((always_inline)) { low[i] = Vf32::load(sums + (at + i) * width); });
      transpose(low);
      unroll<lanes>([&](auto i) __attribute__((always_inline)) { high[i] = Vf32::load(sums + (at + lanes + i) * width); });
      transpose(high);
      for (Size i = 0; i < rows; ++i) {
        if (bias != nullptr) {
          low[i] = add(low[i], Vf32::broadcast(bias[i]));
          high[i] = add(high[i], Vf32::broadcast(bias[i]));
        }
        const Vi16 rounded = to_bf16(low[i], high[i]);
        if (n - at >= 2 * lanes) {
          store(to + i * step + at, rounded);
        } else {
          u16 part[2 * lanes];
          store(part, rounded);
          std::memcpy(to + i * step + at, part, static_cast<std::size_t>(n - at) * sizeof(u16));
        }
      }
    }
  }
#endif

  const Convolution& c_;
  const DirectWeights w_;
  const Acc* bias_;
  std::byte* y_;
  const Conversion round_;
  const StripLayout<Dot, Element> layout_;
  const Size units_;             // of a sum
  const Size vectors_, panels_;  // of rows of a group
  Scratch<WindowRun> runs_;
  Scratch<Piece> pieces_;
  Size pieces_count_ = 0;
  const Scratch<Packed> packed_;
};

}  // namespace

bool direct_convolution_fits(const Convolution& c) {
  const Axis& last = c.axes[2];
  if (c.k() == 0 || c.positions() == 0 || c.images == 0 || (c.dtype == DType::bf16 && c.channels % 2 != 0)) return false;
  // Lanes without a row, runs of two or three positions and windows as long as the image are better off as products.
  const Size lanes = c.dtype == DType::f64 ? Vf64::lanes : Vf32::lanes;
  if (4 * c.rows < 3 * lanes * up(c.rows, lanes) || last.out < 4 || (last.out <= 8 && last.taps >= 8)) return false;
  return true;
}

void convolve_directly(const Convolution& c, const DirectWeights& w, const void* bias, std::byte* y) {
  switch (c.dtype) {
    case DType::f64: return DirectConvolution<DotF64, f64>(c, w, bias, y).run();
    case DType::f16: return DirectConvolution<DotF32, u16>(c, w, bias, y).run();
    case DType::bf16: return DirectConvolution<DotBf16, u16>(c, w, bias, y).run();
    default: return DirectConvolution<DotF32, f32>(c, w, bias, y).run();
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
