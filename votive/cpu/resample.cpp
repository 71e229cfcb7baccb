// Interpolation on the CPU: rows of neighbours are combined whole where the axis is not the last, single elements gathered where it is; and sampling at points.
// Not here: which elements belong to an output (ops/resample.cpp makes the table).
#include "votive/ops/resample.h"

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/numerics/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }
constexpr Size columns_at_once = 1024;

VOTIVE_SCALAR f32 fused(f32 a, f32 b, f32 c) { return numerics::fma_f32(a, b, c); }
VOTIVE_SCALAR f64 fused(f64 a, f64 b, f64 c) { return numerics::fma_f64(a, b, c); }

struct Sides {
  Size outer = 1, in, out, inner = 1;
  Sides(const Tensor& x, const Tensor& y, int axis) : in(x.shape()[axis]), out(y.shape()[axis]) {
    for (int a = 0; a < axis; ++a) outer *= x.shape()[a];
    for (int a = axis + 1; a < x.rank(); ++a) inner *= x.shape()[a];
  }
};

/// y of n outputs with `taps` each, or as many as `begin` says where taps is 0.
template <int taps, class T>
void combine_elements(const Size* begin, const Size* index, const T* __restrict weight, const T* x, T* __restrict y, Size n) {
  for (Size o = 0; o < n; ++o) {
    T sum = 0;
    if constexpr (taps != 0) {
      for (int k = 0; k < taps; ++k) sum = fused(weight[o * taps + k], x[index[o * taps + k]], sum);
    } else {
      for (Size k = begin[o]; k < begin[o + 1]; ++k) sum = fused(weight[k], x[index[k]], sum);
    }
    y[o] = sum;
  }
}

/// y = Σ weight · rows of x, `inner` apart.
template <class T>
void combine_rows(Size taps, const Size* index, const T* weight, const T* x, Size inner, T* y, Size n) {
  for (Size at = 0; at < n; at += columns_at_once) {
    const Size m = least(columns_at_once, n - at);
    T* __restrict to = y + at;
    Size k = 0;
    if (taps >= 2) {
      const T* __restrict a = x + index[0] * inner + at;
      const T* __restrict b = x + index[1] * inner + at;
      const T wa = weight[0], wb = weight[1];
      for (Size j = 0; j < m; ++j) to[j] = fused(wb, b[j], fused(wa, a[j], T{0}));
      k = 2;
    } else {
      for (Size j = 0; j < m; ++j) to[j] = 0;
    }
    for (; k < taps; ++k) {
      const T* __restrict a = x + index[k] * inner + at;
      const T w = weight[k];
      for (Size j = 0; j < m; ++j) to[j] = fused(w, a[j], to[j]);
    }
  }
}

template <class T>
void interpolate_as(const TapTable& table, const Tensor& x, Tensor& y, const Sides& s) {
  constexpr DType as = sizeof(T) == 8 ? DType::f64 : DType::f32;
  const Reader read(x, x.layout(), as);
  const Writer write(y, y.layout(), as);
  const T* dense = read.template dense<T>();
  const Scratch<T> room(dense != nullptr ? 0 : x.count()), weight(static_cast<Size>(table.weight.size()));
  if (dense == nullptr) dense = read.template read<T>(0, x.count(), room.data());
  for (std::size_t k = 0; k < table.weight.size(); ++k) weight[static_cast<Size>(k)] = static_cast<T>(table.weight[k]);
  const Size* begin = table.begin.data();
  const Size* index = table.index.data();
  Size taps = begin[1];
  for (Size o = 0; o < s.out; ++o) taps = begin[o + 1] - begin[o] == taps ? taps : 0;
  const Size work = static_cast<Size>(table.index.size()) / s.out + 1;
  if (s.inner == 1) {
    const auto combine = taps == 2 ? combine_elements<2, T> : taps == 4 ? combine_elements<4, T> : combine_elements<0, T>;
    parallel_for(s.outer, most(1, 16384 / (s.out * work)), [&](Size first, Size last) {
      const Scratch<T> own(s.out);
      for (Size o = first; o < last; ++o) {
        T* to = write.template place<T>(o * s.out, own.data());
        combine(begin, index, weight.data(), dense + o * s.in, to, s.out);
        write.write(o * s.out, s.out, to);
      }
      write.finish();
    });
    return;
  }
  parallel_for(s.outer * s.out, most(1, 16384 / (s.inner * work)), [&](Size first, Size last) {
    const Scratch<T> own(s.inner);
    for (Size i = first; i < last; ++i) {
      const Size o = i % s.out;
      T* to = write.template place<T>(i * s.inner, own.data());
      combine_rows(begin[o + 1] - begin[o], index + begin[o], weight.data() + begin[o], dense + i / s.out * s.in * s.inner, s.inner, to,
                   s.inner);
      write.write(i * s.inner, s.inner, to);
    }
    write.finish();
  });
}

template <class Word>
void copy_as(const TapTable& table, const Tensor& x, Tensor& y, const Sides& s) {
  const Reader read(x, x.layout(), x.dtype());
  const Word* dense = read.template dense<Word>();
  const Scratch<Word> room(dense != nullptr ? 0 : x.count());
  if (dense == nullptr) dense = read.template read<Word>(0, x.count(), room.data());
  Word* to = data<Word>(y);
  const Size* index = table.index.data();
  if (s.inner == 1) {
    parallel_for(s.outer, most(1, 16384 / s.out), [&](Size first, Size last) {
      for (Size o = first; o < last; ++o) {
        const Word* row = dense + o * s.in;
        Word* __restrict at = to + o * s.out;
        for (Size i = 0; i < s.out; ++i) at[i] = row[index[i]];
      }
    });
    return;
  }
  parallel_for(s.outer * s.out, most(1, 16384 / s.inner), [&](Size first, Size last) {
    for (Size i = first; i < last; ++i) {
      const Word* row = dense + (i / s.out * s.in + index[i % s.out]) * s.inner;
      std::memcpy(to + i * s.inner, row, static_cast<std::size_t>(s.inner) * sizeof(Word));
    }
  });
}

void interpolate(const Interpolate& op, const Tensor& x, Tensor& y, Stream&) {
  const TapTable table = op.table();
  const Sides s(x, y, op.axis);
  if (table.copies) {
    switch (block_bytes(x.dtype())) {
      case 1: return copy_as<u8>(table, x, y, s);
      case 2: return copy_as<u16>(table, x, y, s);
      case 4: return copy_as<u32>(table, x, y, s);
      default: return copy_as<u64>(table, x, y, s);
    }
  }
  if (x.dtype() == DType::f64) return interpolate_as<f64>(table, x, y, s);
  interpolate_as<f32>(table, x, y, s);
}

// ---- sampling: what a point reads is worked out once for all channels ----

constexpr Size points_at_once = 256;

VOTIVE_SCALAR f32 least_of(f32 a, f32 b) { return numerics::minimum_f32(a, b); }
VOTIVE_SCALAR f64 least_of(f64 a, f64 b) { return numerics::minimum_f64(a, b); }
VOTIVE_SCALAR f32 most_of(f32 a, f32 b) { return numerics::maximum_f32(a, b); }
VOTIVE_SCALAR f64 most_of(f64 a, f64 b) { return numerics::maximum_f64(a, b); }
VOTIVE_SCALAR f32 absolute(f32 x) { return numerics::abs_f32(x); }
VOTIVE_SCALAR f64 absolute(f64 x) { return numerics::abs_f64(x); }
VOTIVE_SCALAR f32 floor_of(f32 x) { return numerics::floor_f32(x); }
VOTIVE_SCALAR f64 floor_of(f64 x) { return numerics::floor_f64(x); }
VOTIVE_SCALAR f32 rounded(f32 x) { return numerics::rint_f32(x); }
VOTIVE_SCALAR f64 rounded(f64 x) { return numerics::rint_f64(x); }

/// The coordinates of grid_sample, operation for operation as grid_sample_in_parts composes them.
template <class T>
class Places {
 public:
  Places(const GridSampleOptions& options, const Shape& x) : options_(options), axes_(x.rank() - 2) {
    for (int i = 0; i < axes_; ++i) size_[i] = x[2 + i];
  }
  int axes() const { return axes_; }

  /// `grid` counts its axes from the last.
  T position(const T* grid, int i) const {
    const T g = grid[axes_ - 1 - i];
    const auto n = static_cast<f64>(size_[i]);
    if (options_.align_corners) return (g + T{1}) * static_cast<T>((n - 1) / 2);
    return ((g + T{1}) * static_cast<T>(n) - T{1}) / T{2};
  }

  T padded(T at, int i) const {
    if (options_.padding == GridPadding::zeros) return at;
    const f64 last = static_cast<f64>(size_[i] - 1);
    T inside = at;
    if (options_.padding == GridPadding::reflection) {
      const f64 low = options_.align_corners ? 0 : -0.5, span = options_.align_corners ? last : static_cast<f64>(size_[i]);
      if (span == 0) return at * T{0};
      const T wide = static_cast<T>(span), distance = absolute(at - static_cast<T>(low)), flips = floor_of(distance / wide);
      const T extra = distance - flips * wide;
      const bool even = flips - floor_of(flips / T{2}) * T{2} == T{0};
      inside = even ? extra + static_cast<T>(low) : static_cast<T>(span + low) - extra;
    }
    return least_of(most_of(inside, T{0}), static_cast<T>(last));
  }

  /// The element at whole coordinates in a plane, −1 outside.
  Size place(const T* at) const {
    Size place = 0;
    for (int i = 0; i < axes_; ++i) {
      const T last = static_cast<T>(size_[i] - 1);
      if (!(at[i] >= T{0}) || !(at[i] <= last)) return -1;
      place = place * size_[i] + static_cast<Size>(at[i]);
    }
    return place;
  }

 private:
  GridSampleOptions options_;
  int axes_;
  Size size_[3] = {};
};

/// Taps of a tile of points: elements and weights, tap after tap.
template <class T>
struct Taps {
  static constexpr int most = 16;
  Size place[most][points_at_once];
  T weight[most][points_at_once];
};

template <class T>
void nearest_taps(const Places<T>& places, const T* grid, Size j, Taps<T>& taps) {
  T at[3];
  for (int i = 0; i < places.axes(); ++i) at[i] = rounded(places.padded(places.position(grid, i), i));
  taps.place[0][j] = places.place(at);
}

template <class T>
void linear_taps(const Places<T>& places, const T* grid, Size j, Taps<T>& taps) {
  const int axes = places.axes();
  T low[3], share[3], at[3];
  for (int i = 0; i < axes; ++i) {
    const T p = places.padded(places.position(grid, i), i);
    low[i] = floor_of(p);
    share[i] = p - low[i];
  }
  for (int corner = 0; corner < 1 << axes; ++corner) {
    T weight = 0;
    for (int i = 0; i < axes; ++i) {
      const bool high = (corner >> (axes - 1 - i) & 1) != 0;
      at[i] = high ? low[i] + T{1} : low[i];
      const T own = high ? share[i] : T{1} - share[i];
      weight = i == 0 ? own : weight * own;
    }
    taps.place[corner][j] = places.place(at);
    taps.weight[corner][j] = weight;
  }
}

/// Weights of the rows go to weight[0 … 3] of `rows`, those of the columns to the taps.
template <class T>
void cubic_taps(const Places<T>& places, const T* grid, Size j, Taps<T>& taps, Taps<T>& rows) {
  T low[2], weight[2][4];
  for (int i = 0; i < 2; ++i) {
    const T p = places.position(grid, i);
    low[i] = floor_of(p);
    const T t = p - low[i], rest = T{1} - t;
    const auto near = [](T x) { return ((x * T{1.25} - T{2.25}) * x) * x + T{1}; };
    const auto far = [](T x) { return ((x * T{-0.75} + T{3.75}) * x - T{6}) * x + T{3}; };
    weight[i][0] = far(t + T{1});
    weight[i][1] = near(t);
    weight[i][2] = near(rest);
    weight[i][3] = far(rest + T{1});
  }
  for (int row = 0; row < 4; ++row) {
    rows.weight[row][j] = weight[0][row];
    for (int column = 0; column < 4; ++column) {
      const T at[2] = {places.padded(low[0] + static_cast<T>(row - 1), 0), places.padded(low[1] + static_cast<T>(column - 1), 1)};
      taps.place[4 * row + column][j] = places.place(at);
      taps.weight[4 * row + column][j] = weight[1][column];
    }
  }
}

/// sum = Σ over count taps from `first` of element · weight, in order.
template <class T>
void sum_taps(const Taps<T>& taps, int first, int count, const T* plane, Size n, T* __restrict sum) {
  for (int k = first; k < first + count; ++k) {
    const Size* place = taps.place[k];
    const T* weight = taps.weight[k];
    if (k == first) {
      for (Size j = 0; j < n; ++j) sum[j] = (place[j] >= 0 ? plane[place[j]] : T{0}) * weight[j];
    } else {
      for (Size j = 0; j < n; ++j) sum[j] = sum[j] + (place[j] >= 0 ? plane[place[j]] : T{0}) * weight[j];
    }
  }
}

template <class T>
void grid_sample_as(const GridSample& op, const Tensor& x, const Tensor& grid, Tensor& y) {
  constexpr DType as = sizeof(T) == 8 ? DType::f64 : DType::f32;
  const Places<T> places(op.options, x.shape());
  const int axes = places.axes();
  const Size images = x.shape()[0], channels = x.shape()[1], plane = x.count() / (images * channels),
             points = grid.count() / (images * axes);
  const Scratch<T> x_room(x.count()), grid_room(grid.count());
  const T* values = Reader(x, x.layout(), as).template read<T>(0, x.count(), x_room.data());
  const T* at = Reader(grid, grid.layout(), as).template read<T>(0, grid.count(), grid_room.data());
  T* to = data<T>(y);
  const Size tiles = (points + points_at_once - 1) / points_at_once;
  parallel_for(images * tiles, most(1, 8192 / (channels * points_at_once)), [&](Size begin, Size end) {
    const Scratch<Taps<T>> room(2);
    Taps<T>&taps = room[0], &rows = room[1];
    T line[points_at_once];
    for (Size i = begin; i < end; ++i) {
      const Size image = i / tiles, first = i % tiles * points_at_once, n = least(points_at_once, points - first);
      for (Size j = 0; j < n; ++j) {
        const T* point = at + (image * points + first + j) * axes;
        switch (op.options.mode) {
          case Interpolation::nearest: nearest_taps(places, point, j, taps); break;
          case Interpolation::linear: linear_taps(places, point, j, taps); break;
          default: cubic_taps(places, point, j, taps, rows); break;
        }
      }
      for (Size c = 0; c < channels; ++c) {
        const T* from = values + (image * channels + c) * plane;
        T* result = to + (image * channels + c) * points + first;
        if (op.options.mode == Interpolation::nearest) {
          for (Size j = 0; j < n; ++j) result[j] = taps.place[0][j] >= 0 ? from[taps.place[0][j]] : T{0};
        } else if (op.options.mode == Interpolation::linear) {
          sum_taps(taps, 0, 1 << axes, from, n, result);
        } else {
          for (int row = 0; row < 4; ++row) {
            sum_taps(taps, 4 * row, 4, from, n, line);
            const T* weight = rows.weight[row];
            for (Size j = 0; j < n; ++j) result[j] = row == 0 ? line[j] * weight[j] : result[j] + line[j] * weight[j];
          }
        }
      }
    }
  });
}

void grid_sample(const GridSample& op, const Tensor& x, const Tensor& grid, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return grid_sample_as<f64>(op, x, grid, y);
  grid_sample_as<f32>(op, x, grid, y);
}

}  // namespace

void register_resample(Kernels& kernels) {
  kernels.add<Interpolate>(Device::cpu, interpolate);
  kernels.add<GridSample>(Device::cpu, grid_sample);
}

}  // namespace votive::cpu::VOTIVE_ISA
