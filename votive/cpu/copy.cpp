// Movement of bits: copy from any layout to any layout. A copy whose source and destination run along different axes goes in square blocks, so
// that both sides touch whole cache lines. Not here: conversion (cast.cpp).
#include "votive/cpu/copy.h"

#include <cstring>
#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/tile.h"
#include "votive/ops/pointwise.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 17;

/// The axes of a copy after merging those that both sides step through evenly; strides in elements.
struct Path {
  int rank = 0;
  Size shape[max_rank], from[max_rank], to[max_rank];

  Path(const Layout& x, const Layout& y) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      const Size n = x.shape[axis];
      if (n == 1) continue;
      if (rank > 0 && from[rank - 1] == x.strides[axis] * n && to[rank - 1] == y.strides[axis] * n) {
        shape[rank - 1] *= n;
      } else {
        shape[rank++] = n;
      }
      from[rank - 1] = x.strides[axis];
      to[rank - 1] = y.strides[axis];
    }
  }
  /// The axis along which neighbours are adjacent, or −1.
  int dense_axis(const Size* strides) const {
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (strides[axis] == 1) return axis;
    }
    return -1;
  }
};

// Square blocks are transposed in registers of this many bytes, a cache line where the machine has such registers. Every line on either side is then
// touched once, whatever the strides: lines 16 KiB apart share a set of L1 and would throw each other out.
#if defined(__AVX512F__)
constexpr Size register_bytes = 64;
#elif defined(__AVX2__)
constexpr Size register_bytes = 32;
#else
constexpr Size register_bytes = 16;
#endif

template <class T>
struct Register {
  static constexpr Size bytes = sizeof(T) == 1 ? 16 : register_bytes;  // bytes cross the lanes of wider registers one by one
  static constexpr Size lanes = bytes / sizeof(T);
  typedef T Type __attribute__((vector_size(bytes)));
};

/// Stores that bypass the caches, for whole lines.
template <class T>
inline void store_line([[maybe_unused]] T* y, [[maybe_unused]] const typename Register<T>::Type& value) {
#if defined(__AVX512F__)
  if constexpr (Register<T>::bytes == 64) _mm512_stream_si512(reinterpret_cast<__m512i*>(y), reinterpret_cast<const __m512i&>(value));
#endif
}

/// a₀ b₀ a₁ b₁ … of the lower (upper) halves.
template <class T, Size... i>
inline void zip(const typename Register<T>::Type& a, const typename Register<T>::Type& b, typename Register<T>::Type& low,
                typename Register<T>::Type& high, std::integer_sequence<Size, i...>) {
  constexpr Size lanes = sizeof...(i);
  low = __builtin_shufflevector(a, b, (i / 2 + i % 2 * lanes)...);
  high = __builtin_shufflevector(a, b, (lanes / 2 + i / 2 + i % 2 * lanes)...);
}

/// y[p·to + q] = x[q·from + p] for p, q < lanes: log₂ lanes rounds, each zipping register i with register i + lanes / 2.
template <class T>
inline void transpose_square(const T* x, Size from, T* y, Size to, bool stream) {
  constexpr Size lanes = Register<T>::lanes;
  using Vector = typename Register<T>::Type;
  constexpr auto order = std::make_integer_sequence<Size, lanes>();
  Vector a[lanes], b[lanes];
  for (Size q = 0; q < lanes; ++q) std::memcpy(&a[q], x + q * from, sizeof(Vector));
  for (Size round = 1; round < lanes; round *= 2) {
    for (Size i = 0; i < lanes / 2; ++i) zip<T>(a[i], a[i + lanes / 2], b[2 * i], b[2 * i + 1], order);
    for (Size i = 0; i < lanes; ++i) a[i] = b[i];
  }
  for (Size p = 0; p < lanes; ++p) {
    if (stream) {
      store_line<T>(y + p * to, a[p]);
    } else {
      std::memcpy(y + p * to, &a[p], sizeof(Vector));
    }
  }
}

constexpr Size strip = 256;  // elements along x's dense axis that a thread takes at a time: their lines follow each other

/// x runs densely along axis p, y along axis q.
template <class T>
void copy_transposed(const Path& path, int p, int q, const std::byte* from, std::byte* to, bool stream) {
  constexpr Size lanes = Register<T>::lanes;
  const T* x = reinterpret_cast<const T*>(from);
  T* y = reinterpret_cast<T*>(to);
  const Size strips = (path.shape[p] + strip - 1) / strip, bands = (path.shape[q] + lanes - 1) / lanes;
  const Size step_x = path.from[q], step_y = path.to[p];
  Size outer = 1;
  for (int axis = 0; axis < path.rank; ++axis) {
    if (axis != p && axis != q) outer *= path.shape[axis];
  }
  const Size work = strip * lanes * static_cast<Size>(sizeof(T));
  parallel_for(outer * bands * strips, grain_bytes / work + 1, [&](Size begin, Size end) {
    for (Size unit = begin; unit < end; ++unit) {
      const Size at_p = unit % strips * strip, at_q = unit / strips % bands * lanes;
      Size rest = unit / strips / bands;
      Size x_at = at_q * step_x + at_p, y_at = at_p * step_y + at_q;
      for (int axis = path.rank - 1; axis >= 0; --axis) {
        if (axis == p || axis == q) continue;
        const Size index = rest % path.shape[axis];
        rest /= path.shape[axis];
        x_at += index * path.from[axis];
        y_at += index * path.to[axis];
      }
      const Size n = path.shape[p] - at_p < strip ? path.shape[p] - at_p : strip;
      const Size m = path.shape[q] - at_q < lanes ? path.shape[q] - at_q : lanes;
      Size i = 0;
      if (m == lanes) {
        for (; i + lanes <= n; i += lanes) transpose_square(x + x_at + i, step_x, y + y_at + i * step_y, step_y, stream);
      }
      for (; i < n; ++i) {
        for (Size j = 0; j < m; ++j) y[y_at + i * step_y + j] = x[x_at + j * step_x + i];
      }
    }
    if (stream) stream_fence();
  });
}

/// Bits of `x` to `y`, runs along the last merged axis. For quantised dtypes every run is whole blocks.
void copy_runs(const Tensor& x, Tensor& y) {
  const Walk<2> walk({&x.layout(), &y.layout()});
  const DType dtype = x.dtype();
  const Size block = block_size(dtype), bytes = block_bytes(dtype);
  const Size from_step = walk.step(0), to_step = walk.step(1);
  const bool stream = walk.inner() == walk.count() && walk.count() / block * bytes >= stream_threshold;
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
        gather_run(source, from_step, target, n, bytes);
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
    } else {
      copy_runs(x, y);
    }
    return;
  }
  const Size bytes = block_bytes(x.dtype());
  const std::byte* from = x.buffer() + x.offset() * bytes;
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  const bool lines = register_bytes == 64 && bytes > 1 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0 && path.to[p] * bytes % 64 == 0;
  const bool stream = lines && y.count() * bytes >= stream_threshold;
  switch (bytes) {
    case 1: return copy_transposed<u8>(path, p, q, from, to, stream);
    case 2: return copy_transposed<u16>(path, p, q, from, to, stream);
    case 4: return copy_transposed<u32>(path, p, q, from, to, stream);
    default: return copy_transposed<u64>(path, p, q, from, to, stream);
  }
}

void register_copy(Kernels& kernels) { kernels.add<Copy>(Device::cpu, copy); }

}  // namespace votive::cpu::VOTIVE_ISA
