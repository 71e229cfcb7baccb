// The axes of a copy, for the kernels that move bits.
#pragma once

#include <cstddef>
#include <cstring>

#include "votive/core/layout.h"
#include "votive/cpu/types.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {

/// Of the widest registers.
#if defined(__AVX512F__)
inline constexpr Size register_bytes = 64;
#elif defined(__AVX2__)
inline constexpr Size register_bytes = 32;
#else
inline constexpr Size register_bytes = 16;
#endif

/// A register to y, which is aligned to it; past the caches where the machine can.
template <class Vector>
inline void stream_register(void* y, const Vector& value) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vector) == 64) return _mm512_stream_si512(static_cast<__m512i*>(y), reinterpret_cast<const __m512i&>(value));
#endif
#if defined(__AVX__)
  if constexpr (sizeof(Vector) == 32) return _mm256_stream_si256(static_cast<__m256i*>(y), reinterpret_cast<const __m256i&>(value));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(Vector) == 16) return _mm_stream_si128(static_cast<__m128i*>(y), reinterpret_cast<const __m128i&>(value));
#endif
  std::memcpy(y, &value, sizeof(Vector));
}

/// After merging those that both sides step through evenly; strides in elements.
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
  /// Elements of all axes but two (or one, given twice).
  Size others(int p, int q) const {
    Size n = 1;
    for (int axis = 0; axis < rank; ++axis) {
      if (axis != p && axis != q) n *= shape[axis];
    }
    return n;
  }
  /// Adds where the element `index` of those, row-major, lies on either side.
  void step_to(Size index, int p, int q, Size& x_at, Size& y_at) const {
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (axis == p || axis == q) continue;
      x_at += index % shape[axis] * from[axis];
      y_at += index % shape[axis] * to[axis];
      index /= shape[axis];
    }
  }
  /// Whether y, which starts at `to_first`, has cache lines of its own wherever the axis q starts.
  bool writes_lines(const std::byte* to_first, int q, Size bytes) const {
    bool whole = reinterpret_cast<std::uintptr_t>(to_first) % 64 == 0;
    for (int axis = 0; axis < rank; ++axis) whole &= axis == q || to[axis] * bytes % 64 == 0;
    return whole;
  }
};

/// x runs densely along axis p, y along axis q.
void copy_transposed(const Path& path, int p, int q, const std::byte* from, std::byte* to, Size bytes);

}  // namespace votive::cpu::VOTIVE_ISA
