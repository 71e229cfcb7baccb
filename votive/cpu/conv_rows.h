// Convolutions that are no product worth the name: one row of outputs for each group. A row's outputs are lanes of one chain: many of them with few taps
// (one channel in, one out), or few with very many (the gradient of such weights).
#pragma once

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/conv.h"
#include "votive/cpu/convert.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/simd.h"
#include "votive/numerics/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

inline constexpr Size longest_plane_kernel = 1024;  // taps of one block

inline bool is_plane_by_plane(const Convolution& c) {
  return c.rows == 1 && c.channels == 1 && c.taps() > 0 && c.taps() <= longest_plane_kernel && c.axes[2].x_stride == 1;
}

VOTIVE_SCALAR f32 fused(f32 a, f32 b, f32 c) { return numerics::fma_f32(a, b, c); }
VOTIVE_SCALAR f64 fused(f64 a, f64 b, f64 c) { return numerics::fma_f64(a, b, c); }

/// The taps of a kernel's row, 1, 2 or 3 at a time: each output is read and written once for all of them.
template <Size stride, class Acc>
void add_row(const Acc* __restrict x, Size step, const Acc* w, Size taps, Acc* __restrict sum, Size n) {
  for (; taps >= 3; taps -= 3, x += 3 * step, w += 3) {
    const Acc a = w[0], b = w[1], c = w[2];
    for (Size j = 0; j < n; ++j)
      sum[j] = fused(c, x[j * stride + 2 * step], fused(b, x[j * stride + step], fused(a, x[j * stride], sum[j])));
  }
  for (; taps > 0; --taps, x += step, ++w) {
    const Acc a = *w;
    for (Size j = 0; j < n; ++j) sum[j] = fused(a, x[j * stride], sum[j]);
  }
}

/// weights: [groups, taps] in the accumulator's type; y [images, groups, positions].
template <class Acc>
void convolve_planes(const Convolution& c, const Acc* weights, const Acc* bias, std::byte* y) {
  const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
  constexpr DType as = sizeof(Acc) == 8 ? DType::f64 : DType::f32;
  const Size bytes = block_bytes(c.dtype), n = a2.out, reach = (a2.out - 1) * a2.stride + (a2.taps - 1) * a2.step + 1;
  const Conversion load(c.dtype, as), store(as, c.dtype);
  // the input's elements that a row of outputs reads: padding, from … to, padding
  const Size from = a2.origin < 0 ? least(-a2.origin, reach) : 0;
  const Size to = most(from, least(reach, a2.in - a2.origin));
  const Size rows_of_plane = a0.out * a1.out;
  parallel_for(c.images * c.groups * rows_of_plane, most(1, 32768 / (n * c.taps() + 1)), [&](Size begin, Size end) {
    const Scratch<Acc> padded(reach), sum(n);
    for (Size i = 0; i < reach; ++i) padded[i] = 0;
    for (Size i = begin; i < end; ++i) {
      const Size plane = i / rows_of_plane, group = plane % c.groups, o0 = i % rows_of_plane / a1.out, o1 = i % a1.out;
      const std::byte* x = c.x + (plane / c.groups * c.x_image + group * c.x_channel) * bytes;
      const Acc* w = weights + group * c.taps();
      for (Size j = 0; j < n; ++j) sum[j] = 0;
      for (Size t0 = 0; t0 < a0.taps; ++t0) {
        const Size i0 = o0 * a0.stride + t0 * a0.step + a0.origin;
        for (Size t1 = 0; t1 < a1.taps; ++t1) {
          const Size i1 = o1 * a1.stride + t1 * a1.step + a1.origin;
          const bool inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in && to > from;
          if (inside) {
            const std::byte* row = x + (i0 * a0.x_stride + i1 * a1.x_stride + a2.origin + from) * bytes;
            if (load.is_identity()) {
              std::memcpy(padded.data() + from, row, static_cast<std::size_t>((to - from) * bytes));
            } else {
              load(row, reinterpret_cast<std::byte*>(padded.data() + from), to - from);
            }
          } else {
            for (Size j = from; j < to; ++j) padded[j] = 0;
          }
          if (a2.stride == 1) {
            add_row<1>(padded.data(), a2.step, w, a2.taps, sum.data(), n);
          } else if (a2.stride == 2) {
            add_row<2>(padded.data(), a2.step, w, a2.taps, sum.data(), n);
          } else {
            for (Size t2 = 0; t2 < a2.taps; ++t2) {
              for (Size j = 0; j < n; ++j) sum[j] = fused(w[t2], padded[t2 * a2.step + j * a2.stride], sum[j]);
            }
          }
          w += a2.taps;
        }
      }
      if (bias != nullptr) {
        for (Size j = 0; j < n; ++j) sum[j] += bias[group];
      }
      std::byte* at = y + i * n * bytes;
      if (store.is_identity()) {
        std::memcpy(at, sum.data(), static_cast<std::size_t>(n * bytes));
      } else {
        store(reinterpret_cast<const std::byte*>(sum.data()), at, n);
      }
    }
  });
}

inline constexpr Size longest_short_row = 4;

/// A weight's gradient has this shape when each channel is a group of its own: few outputs, very many taps.
inline bool has_short_rows(const Convolution& c) {
  return c.rows == 1 && c.dtype != DType::bf16 && c.axes[2].x_stride == 1 && c.axes[2].out <= longest_short_row && c.axes[2].taps >= 8 &&
         c.channels <= 64;
}

/// The common case of the next: f32 sums, one channel, stride 1. Four rows of outputs at a time, so that four chains of fma are under way.
inline void convolve_short_rows_together(const Convolution& c, const f32* weights, const f32* bias, std::byte* y) {
  const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
  constexpr Size together = 4;
  const Size bytes = block_bytes(c.dtype), n = a2.out, reach = Vf32::lanes + (a2.taps - 1) * a2.step;
  const Conversion load(c.dtype, DType::f32), round(DType::f32, c.dtype);
  const Size from = a2.origin < 0 ? least(-a2.origin, reach) : 0;
  const Size to = most(from, least(reach, a2.in - a2.origin));
  const Size rows_of_plane = a0.out * a1.out;
  parallel_for(c.images * c.groups, most(1, 8192 / (c.k() * rows_of_plane + 1)), [&](Size begin, Size end) {
    const Scratch<f32> padded(together * reach);
    for (Size i = 0; i < together * reach; ++i) padded[i] = 0;
    f32 lanes[Vf32::lanes];
    for (Size plane = begin; plane < end; ++plane) {
      const Size group = plane % c.groups;
      const std::byte* x = c.x + (plane / c.groups * c.x_image + group * c.x_channel) * bytes;
      for (Size first = 0; first < rows_of_plane; first += together) {
        const Size rows = least(together, rows_of_plane - first);
        const f32* w = weights + group * c.k();
        Vf32 sum[together], total[together];
        for (Size r = 0; r < together; ++r) sum[r] = total[r] = Vf32::zero();
        Size done = 0;  // of the chain in work
        bool any = false;
        const auto close = [&] {
          for (Size r = 0; r < together; ++r) {
            total[r] = any ? add(total[r], sum[r]) : sum[r];
            sum[r] = Vf32::zero();
          }
          any = true;
          done = 0;
        };
        for (Size t0 = 0; t0 < a0.taps; ++t0) {
          for (Size t1 = 0; t1 < a1.taps; ++t1) {
            for (Size r = 0; r < rows; ++r) {
              const Size i0 = (first + r) / a1.out * a0.stride + t0 * a0.step + a0.origin;
              const Size i1 = (first + r) % a1.out * a1.stride + t1 * a1.step + a1.origin;
              f32* row = padded.data() + r * reach;
              if (i0 < 0 || i0 >= a0.in || i1 < 0 || i1 >= a1.in || to == from) {
                for (Size j = from; j < to; ++j) row[j] = 0;
                continue;
              }
              const std::byte* source = x + (i0 * a0.x_stride + i1 * a1.x_stride + a2.origin + from) * bytes;
              if (load.is_identity()) {
                std::memcpy(row + from, source, static_cast<std::size_t>((to - from) * bytes));
              } else {
                load(source, reinterpret_cast<std::byte*>(row + from), to - from);
              }
            }
            for (Size t2 = 0; t2 < a2.taps;) {
              const Size m = least(a2.taps - t2, numerics::dot_block - done);
              const f32* at = padded.data() + t2 * a2.step;
              for (Size t = 0; t < m; ++t, at += a2.step) {
                const Vf32 weight = Vf32::broadcast(*w++);
                accumulate(sum[0], weight, Vf32::load(at));
                accumulate(sum[1], weight, Vf32::load(at + reach));
                accumulate(sum[2], weight, Vf32::load(at + 2 * reach));
                accumulate(sum[3], weight, Vf32::load(at + 3 * reach));
              }
              t2 += m;
              done += m;
              if (done == numerics::dot_block) close();
            }
          }
        }
        if (done != 0) close();
        for (Size r = 0; r < rows; ++r) {
          store(lanes, total[r]);
          if (bias != nullptr) {
            for (Size j = 0; j < n; ++j) lanes[j] += bias[group];
          }
          std::byte* at = y + (plane * rows_of_plane + first + r) * n * bytes;
          if (round.is_identity()) {
            std::memcpy(at, lanes, static_cast<std::size_t>(n * bytes));
          } else {
            round(reinterpret_cast<const std::byte*>(lanes), at, n);
          }
        }
      }
    }
  });
}

/// weights: [groups, k]; y [images, groups, positions]. The outputs of a row are the lanes of one chain.
template <class Acc>
void convolve_short_rows(const Convolution& c, const Acc* weights, const Acc* bias, std::byte* y) {
  const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
  constexpr DType as = sizeof(Acc) == 8 ? DType::f64 : DType::f32;
  constexpr Size lanes = longest_short_row;
  const Size bytes = block_bytes(c.dtype), n = a2.out, reach = (lanes - 1) * a2.stride + (a2.taps - 1) * a2.step + 1;
  const Conversion load(c.dtype, as), store(as, c.dtype);
  const Size from = a2.origin < 0 ? least(-a2.origin, reach) : 0;
  const Size to = most(from, least(reach, a2.in - a2.origin));
  const Size rows_of_plane = a0.out * a1.out;
  parallel_for(c.images * c.groups * rows_of_plane, most(1, 8192 / (c.k() + 1)), [&](Size begin, Size end) {
    const Scratch<Acc> padded(c.channels * reach);
    for (Size i = 0; i < c.channels * reach; ++i) padded[i] = 0;
    for (Size i = begin; i < end; ++i) {
      const Size plane = i / rows_of_plane, group = plane % c.groups, o0 = i % rows_of_plane / a1.out, o1 = i % a1.out;
      const std::byte* x = c.x + (plane / c.groups * c.x_image + group * c.channels * c.x_channel) * bytes;
      const Acc* w = weights + group * c.k();
      Acc total[lanes] = {}, sum[lanes] = {};
      Size done = 0;  // of the chain in work
      bool first = true;
      const auto close = [&] {
        for (Size j = 0; j < lanes; ++j) {
          total[j] = first ? sum[j] : total[j] + sum[j];
          sum[j] = 0;
        }
        first = false;
        done = 0;
      };
      for (Size t0 = 0; t0 < a0.taps; ++t0) {
        const Size i0 = o0 * a0.stride + t0 * a0.step + a0.origin;
        for (Size t1 = 0; t1 < a1.taps; ++t1) {
          const Size i1 = o1 * a1.stride + t1 * a1.step + a1.origin;
          const bool inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in && to > from;
          for (Size channel = 0; channel < c.channels; ++channel) {
            Acc* row = padded.data() + channel * reach;
            if (!inside) {
              for (Size j = from; j < to; ++j) row[j] = 0;
              continue;
            }
            const std::byte* source = x + (channel * c.x_channel + i0 * a0.x_stride + i1 * a1.x_stride + a2.origin + from) * bytes;
            if (load.is_identity()) {
              std::memcpy(row + from, source, static_cast<std::size_t>((to - from) * bytes));
            } else {
              load(source, reinterpret_cast<std::byte*>(row + from), to - from);
            }
          }
          for (Size t2 = 0; t2 < a2.taps; ++t2) {
            for (Size channel = 0; channel < c.channels; ++channel) {
              const Acc* at = padded.data() + channel * reach + t2 * a2.step;
              const Acc weight = *w++;
              if (a2.stride == 1) {
                for (Size j = 0; j < lanes; ++j) sum[j] = fused(weight, at[j], sum[j]);
              } else {
                for (Size j = 0; j < lanes; ++j) sum[j] = fused(weight, at[j * a2.stride], sum[j]);
              }
              if (++done == numerics::dot_block) close();
            }
          }
        }
      }
      if (done != 0) close();
      if (bias != nullptr) {
        for (Size j = 0; j < lanes; ++j) total[j] += bias[group];
      }
      std::byte* at = y + i * n * bytes;
      if (store.is_identity()) {
        std::memcpy(at, total, static_cast<std::size_t>(n * bytes));
      } else {
        store(reinterpret_cast<const std::byte*>(total), at, n);
      }
    }
  });
}

}  // namespace votive::cpu::VOTIVE_ISA
