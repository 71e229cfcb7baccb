// Movement of bits: copy from any layout to any layout. Not here: copies whose sides run along different axes (transposed.cpp), conversion (cast.cpp).
#include "votive/cpu/copy.h"

#include <cstdlib>
#include <cstring>
#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/path.h"
#include "votive/cpu/tile.h"
#include "votive/ops/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 17;

/// n elements from every other place of x.
template <class T>
void take_every_other(const std::byte* from, std::byte* to, Size n, bool stream) {
  constexpr Size lanes = register_bytes / static_cast<Size>(sizeof(T));
  typedef T Vector __attribute__((vector_size(register_bytes)));
  const T* const x = reinterpret_cast<const T*>(from);
  T* const y = reinterpret_cast<T*>(to);
  Size i = 0;
  for (; stream && i < n && reinterpret_cast<std::uintptr_t>(y + i) % register_bytes != 0; ++i) y[i] = x[2 * i];
  for (; i + lanes < n; i += lanes) {  // never the place after the last element, which may not be there
    Vector a, b, even;
    std::memcpy(&a, x + 2 * i, sizeof(a));
    std::memcpy(&b, x + 2 * i + lanes, sizeof(b));
    [&]<Size... k>(std::integer_sequence<Size, k...>) { even = __builtin_shufflevector(a, b, (2 * k)...); }
    (std::make_integer_sequence<Size, lanes>());
    if (stream) {
      stream_register(y + i, even);
    } else {
      std::memcpy(y + i, &even, sizeof(even));
    }
  }
  for (; i < n; ++i) y[i] = x[2 * i];
}

/// gather_run; past the caches, the most frequent step in registers.
void collect_run(const std::byte* from, Size step, std::byte* to, Size n, Size bytes, bool stream) {
  if (step == 2 && bytes == 4) return take_every_other<u32>(from, to, n, stream);
  if (step == 2 && bytes == 8) return take_every_other<u64>(from, to, n, stream);
  if (!stream) return gather_run(from, step, to, n, bytes);
  alignas(64) std::byte tile[tile_size * 8];
  for (Size at = 0; at < n; at += tile_size) {
    const Size m = n - at < tile_size ? n - at : tile_size;
    gather_run(from + at * step * bytes, step, tile, m, bytes);
    stream_bytes(to + at * bytes, tile, m * bytes);
  }
}

/// Bits of `x` to `y`, runs along the last merged axis; past the caches with `whole_lines`, which is where y's runs are. For quantised dtypes every run is
/// whole blocks.
void copy_runs(const Tensor& x, Tensor& y, bool whole_lines) {
  const Walk<2> walk({&x.layout(), &y.layout()});
  const DType dtype = x.dtype();
  const Size block = block_size(dtype), bytes = block_bytes(dtype);
  const Size from_step = walk.step(0), to_step = walk.step(1);
  const bool stream = (whole_lines || walk.inner() == walk.count()) && to_step == 1 && walk.count() / block * bytes >= stream_threshold;
  const std::byte* from = x.buffer();
  std::byte* to = y.mutable_buffer();
  parallel_for(walk.count(), grain_bytes / bytes * block, [&](Size begin, Size end) {
    walk.for_each_run(begin, end, [&](const std::array<Size, 2>& offsets, Size n) {
      const std::byte* source = from + offsets[0] / block * bytes;
      std::byte* target = to + offsets[1] / block * bytes;
      if (n == 1 || (from_step == 1 && to_step == 1)) {
        if (stream) {
          stream_bytes(target, source, n / block * bytes);
        } else {
          std::memcpy(target, source, static_cast<std::size_t>(n / block * bytes));
        }
      } else if (to_step == 1) {
        collect_run(source, from_step, target, n, bytes, stream);
      } else if (from_step == 1) {
        scatter_run(source, target, to_step, n, bytes);
      } else {
        alignas(64) std::byte tile[tile_size * 8];
        for (Size at = 0; at < n; at += tile_size) {
          const Size m = n - at < tile_size ? n - at : tile_size;
          gather_run(source + at * from_step * bytes, from_step, tile, m, bytes);
          scatter_run(tile, target + at * to_step * bytes, to_step, m, bytes);
        }
      }
    });
    if (stream) stream_fence();
  });
}

/// As copy_runs, of rows that are whole cache lines on y's side and lie apart on x's, past the caches. Rows are taken in blocks: along the axis whose rows
/// follow each other in x a page of them, along the one whose rows do in y half a page, so that both sides see runs longer than a row, and what is soon
/// asked for is fetched meanwhile, since the machine does not see it coming (permute 0 2 1 3 of rows of 256 bytes: 0.88 of a copy, row by row 0.50,
/// 2-core Zen 4).
void copy_lines(const Path& path, const Tensor& x, Tensor& y) {
  const int last = path.rank - 1, along = last - 1;
  int beside = along;  // of the other axes the one with the smallest step in x
  for (int axis = 0; axis < along; ++axis) {
    if (beside == along || std::abs(path.from[axis]) < std::abs(path.from[beside])) beside = axis;
  }
  if (std::abs(path.from[along]) < std::abs(path.from[beside])) beside = along;
  const Size bytes = block_bytes(x.dtype()), run = path.shape[last] * bytes;
  const Size rows = path.shape[along], columns = beside == along ? 1 : path.shape[beside];
  const Size most_rows = (2047 + run) / run, most_columns = 4096 / run;
  const Size from_row = path.from[along] * bytes, to_row = path.to[along] * bytes;
  const Size from_column = path.from[beside] * bytes, to_column = path.to[beside] * bytes;
  const Size tiles_r = (rows + most_rows - 1) / most_rows, tiles_c = (columns + most_columns - 1) / most_columns;
  const std::byte* const from = x.buffer() + x.offset() * bytes;
  std::byte* const to = y.mutable_buffer() + y.offset() * bytes;
  Size outer = 1;
  for (int axis = 0; axis < along; ++axis) outer *= axis == beside ? 1 : path.shape[axis];
  parallel_for(outer * tiles_c * tiles_r, grain_bytes / (run * most_rows * most_columns) + 1, [&](Size begin, Size end) {
    for (Size unit = begin; unit < end; ++unit) {
      const Size row = unit % tiles_r * most_rows, column = unit / tiles_r % tiles_c * most_columns;
      Size rest = unit / tiles_r / tiles_c, x_at = 0, y_at = 0;
      for (int axis = along - 1; axis >= 0; --axis) {
        if (axis == beside) continue;
        x_at += rest % path.shape[axis] * path.from[axis];
        y_at += rest % path.shape[axis] * path.to[axis];
        rest /= path.shape[axis];
      }
      const std::byte* const source = from + x_at * bytes + row * from_row + column * from_column;
      std::byte* const target = to + y_at * bytes + row * to_row + column * to_column;
      const Size n = rows - row < most_rows ? rows - row : most_rows, m = columns - column < most_columns ? columns - column : most_columns;
      const std::byte* const next = row + most_rows < rows ? source + most_rows * from_row : source;  // of the next block
      for (Size c = 0; c < m; ++c) {
        for (Size r = 0; r < n; ++r) {
          const std::byte* const here = source + r * from_row + c * from_column;
          const std::byte* const soon = c + 1 < m ? here + from_column : next + r * from_row;
          for (Size at = 0; at < run; at += 64) __builtin_prefetch(soon + at, 0, 2);
          stream_bytes(target + r * to_row + c * to_column, here, run);
        }
      }
    }
    stream_fence();
  });
}

/// As copy_runs, with short rows: runs along the axis before the last, one for each place in a row.
void copy_columns(const Path& path, const Tensor& x, Tensor& y) {
  constexpr Size tile_rows = 2048;
  const int last = path.rank - 1, along = last - 1;
  const Size bytes = block_bytes(x.dtype()), rows = path.shape[along], width = path.shape[last];
  const Size from_step = path.from[along], to_step = path.to[along], tiles = (rows + tile_rows - 1) / tile_rows;
  Size outer = 1;
  for (int axis = 0; axis < along; ++axis) outer *= path.shape[axis];
  const std::byte* const from = x.buffer() + x.offset() * bytes;
  std::byte* const to = y.mutable_buffer() + y.offset() * bytes;
  parallel_for(outer * tiles, grain_bytes / (tile_rows * width * bytes) + 1, [&](Size begin, Size end) {
    alignas(64) std::byte tile[tile_size * 8];
    for (Size unit = begin; unit < end; ++unit) {
      const Size first = unit % tiles * tile_rows, n = rows - first < tile_rows ? rows - first : tile_rows;
      Size rest = unit / tiles, x_at = first * from_step, y_at = first * to_step;
      for (int axis = along - 1; axis >= 0; --axis) {
        x_at += rest % path.shape[axis] * path.from[axis];
        y_at += rest % path.shape[axis] * path.to[axis];
        rest /= path.shape[axis];
      }
      for (Size at = 0; at < n; at += tile_size) {
        const Size m = n - at < tile_size ? n - at : tile_size;
        for (Size j = 0; j < width; ++j) {
          const std::byte* source = from + (x_at + at * from_step + j * path.from[last]) * bytes;
          std::byte* const target = to + (y_at + at * to_step + j * path.to[last]) * bytes;
          if (from_step != 1) {
            gather_run(source, from_step, tile, m, bytes);
            source = tile;
          }
          if (to_step == 1) {
            std::memcpy(target, source, static_cast<std::size_t>(m * bytes));
          } else {
            scatter_run(source, target, to_step, m, bytes);
          }
        }
      }
    }
  });
}

/// Whether rows are whole lines on y's side, and too many for the caches.
bool is_in_lines(const Path& path, const Tensor& x, const Tensor& y) {
  const int last = path.rank - 1;
  if (is_quantised(x.dtype()) || last < 1 || path.from[last] != 1 || path.to[last] != 1) return false;
  const Size bytes = block_bytes(x.dtype());
  return path.shape[last] * bytes % 64 == 0 && y.count() * bytes >= stream_threshold &&
         path.writes_lines(y.buffer() + y.offset() * bytes, last, bytes);
}

void copy(const Copy&, const Tensor& x, Tensor& y, Stream&) { copy_elements(x, y); }

}  // namespace

void copy_elements(const Tensor& x, Tensor& y) {
  const Path path(x.layout(), y.layout());
  const int p = path.dense_axis(path.from), q = path.dense_axis(path.to);
  constexpr Size worth_blocks = 8;
  if (is_quantised(x.dtype()) || p < 0 || q < 0 || p == q || path.shape[p] < worth_blocks || path.shape[q] < worth_blocks) {
    // Rows of a few elements (windows, repetitions, channels) cost more to begin than to copy: the axis before them makes the runs.
    constexpr Size short_row = 8;
    const int last = path.rank - 1;
    const bool short_rows = !is_quantised(x.dtype()) && last > 0 && path.shape[last] < short_row && path.shape[last - 1] > 4 * short_row;
    if (short_rows && (path.from[last] != 1 || path.to[last] != 1 || path.from[last - 1] == 1 || path.to[last - 1] == 1)) {
      copy_columns(path, x, y);
    } else if (is_in_lines(path, x, y) && path.shape[last] * block_bytes(x.dtype()) <= 4096) {  // pages the machine fetches ahead by itself
      copy_lines(path, x, y);
    } else {
      copy_runs(x, y, is_in_lines(path, x, y));
    }
    return;
  }
  const Size bytes = block_bytes(x.dtype());
  copy_transposed(path, p, q, x.buffer() + x.offset() * bytes, y.mutable_buffer() + y.offset() * bytes, bytes);
}

void register_copy(Kernels& kernels) { kernels.add<Copy>(Device::cpu, copy); }

}  // namespace votive::cpu::VOTIVE_ISA
