// Convolutions of planes one by one (depthwise, and any with one channel in and one row out per group) in f32 sums. A strip of a plane is laid out with its
// padding in L1, columns apart by their residue of the stride; outputs are lanes, several rows of them in registers until all taps are done.
// Not here: f64 and few outputs with many taps (conv_rows.h).
#pragma once

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/conv.h"
#include "votive/cpu/convert.h"
#include "votive/cpu/matmul_tile.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(__AVX2__)
using PlaneFlush = FlushSubnormals;  // also where bf16 has an instruction of its own, since planes are widened
#else
using PlaneFlush = NoEnvironment;
#endif

struct PlainPlane {
  using Environment = NoEnvironment;
  static constexpr bool pairs = false;
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& w, const Vf32& x) { accumulate(acc, w, x); }
};
/// bf16: taps in pairs, the odd one first, subnormals flushed (CONTRACT.md 4.4).
struct PairedPlane {
  using Environment = PlaneFlush;
  static constexpr bool pairs = true;
#if defined(__AVX2__)
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& w, const Vf32& x) { accumulate(acc, w, x); }
#else
  [[gnu::always_inline]] static void step(Vf32& acc, const Vf32& w, const Vf32& x) {
    f32 a[Vf32::lanes], b[Vf32::lanes], c[Vf32::lanes];
    store(a, w);
    store(b, x);
    store(c, acc);
    for (int l = 0; l < Vf32::lanes; ++l) c[l] = numerics::fma_flush_f32(a[l], b[l], c[l]);
    acc = Vf32::load(c);
  }
#endif
};

/// Rows of outputs of one strip: where their first tap reads, their taps in the order of the chain, and where the sums go.
struct PlaneRows {
  const f32* x;
  Size x_step;  // from the first tap of a row of outputs to that of the next
  Size taps;
  const i32* places;   // of the taps, in x
  const f32* weights;  // in the same order
  f32* sums;
  Size columns, rows;
  const std::byte *ahead, *ahead_end;  // input of the next strip, to be touched meanwhile
};

template <int n>
using Constant = std::integral_constant<int, n>;

inline constexpr int plane_rows = 4;  // of outputs in registers at once

[[gnu::always_inline]] inline void store_plane(const PlaneRows& p, Size row, Size column, Vf32 sum) {
  f32* to = p.sums + row * p.columns + column;
  if (p.columns - column >= Vf32::lanes) {
    store(to, sum);
  } else {
    store_part(to, static_cast<int>(p.columns - column), sum);
  }
}

[[gnu::always_inline]] inline void touch_ahead(PlaneRows& p, Size bytes) {
  for (Size i = 0; i < bytes && p.ahead < p.ahead_end; i += 64, p.ahead += 64) __builtin_prefetch(p.ahead, 0, 2);
}

/// Any kernel.
template <class Kind>
[[gnu::noinline]] void sum_plane(PlaneRows p) {
  constexpr int vectors = 2, lanes = Vf32::lanes;
  const Size ahead = (p.ahead_end - p.ahead) * (plane_rows * vectors * lanes) / (p.rows * p.columns + 1) + 64;
  const typename Kind::Environment environment;
  for (Size row = 0; row < p.rows; row += plane_rows) {
    for (Size column = 0; column < p.columns; column += vectors * lanes) {
      touch_ahead(p, ahead);
      const f32* x = p.x + row * p.x_step + column;
      Vf32 acc[plane_rows * vectors];
      unroll<plane_rows * vectors>([&](auto i) __attribute__((always_inline)) { acc[i] = Vf32::zero(); });
      for (Size t = 0; t < p.taps; ++t) {
        const Vf32 w = Vf32::broadcast(p.weights[t]);
        const f32* at = x + p.places[t];
        unroll<plane_rows>([&](auto i) __attribute__((always_inline)) {
          unroll<vectors>([&](auto j) __attribute__((always_inline)) {
            Kind::step(acc[i * vectors + j], w, Vf32::load(at + i * p.x_step + j * lanes));
          });
        });
      }
      const Size left = p.rows - row;
      unroll<plane_rows * vectors>([&](auto i) __attribute__((always_inline)) {
        constexpr int r = i / vectors, j = i % vectors;
        if (r < left && column + j * lanes < p.columns) store_plane(p, row + r, column + j * lanes, acc[i]);
      });
    }
  }
}

/// 3 × 3 taps in rows `pitch` apart, a row of outputs `stride` of them: an input row is loaded once for all rows of outputs that it reaches.
template <class Kind, int stride>
[[gnu::noinline]] void sum_plane_3x3(PlaneRows p, const f32* kernel, Size pitch, const Size* shift) {
  constexpr int lanes = Vf32::lanes, rows = plane_rows;
  const Size ahead = (p.ahead_end - p.ahead) * (rows * lanes) / (p.rows * p.columns + 1) + 64;
  const typename Kind::Environment environment;
  Vf32 w[9];
  unroll<9>([&](auto i) __attribute__((always_inline)) { w[i] = Vf32::broadcast(kernel[i]); });
  for (Size row = 0; row < p.rows; row += rows) {
    for (Size column = 0; column < p.columns; column += lanes) {
      touch_ahead(p, ahead);
      const f32 *x0 = p.x + row * p.x_step + column + shift[0], *x1 = p.x + row * p.x_step + column + shift[1],
                *x2 = p.x + row * p.x_step + column + shift[2];
      Vf32 acc[rows], before = Vf32::zero();
      unroll<rows>([&](auto i) __attribute__((always_inline)) { acc[i] = Vf32::zero(); });
      unroll<(rows - 1) * stride + 3>([&](auto r) __attribute__((always_inline)) {
        const Vf32 a = Vf32::load(x0), b = Vf32::load(x1), c = Vf32::load(x2);
        // A tap of every row of outputs after the other, so that their chains overlap.
        const auto tap = [&](auto reached, auto number, const Vf32& x) __attribute__((always_inline)) {
          unroll<rows>([&](auto i) __attribute__((always_inline)) {
            if constexpr (r - i * stride == reached) Kind::step(acc[i], w[number], x);
          });
        };
        const auto taps = [&](auto number, const Vf32& x) __attribute__((always_inline)) {
          unroll<rows>([&](auto i) __attribute__((always_inline)) {
            constexpr int t = r - i * stride;
            if constexpr (t >= 0 && t < 3) Kind::step(acc[i], w[3 * t + number], x);
          });
        };
        if constexpr (!Kind::pairs) {
          taps(Constant<0>{}, a);
          taps(Constant<1>{}, b);
          taps(Constant<2>{}, c);
        } else {
          tap(Constant<0>{}, Constant<1>{}, b);
          tap(Constant<1>{}, Constant<3>{}, a);
          tap(Constant<2>{}, Constant<7>{}, b);
          tap(Constant<0>{}, Constant<0>{}, a);
          tap(Constant<1>{}, Constant<2>{}, before);
          tap(Constant<2>{}, Constant<6>{}, a);
          tap(Constant<1>{}, Constant<5>{}, c);
          tap(Constant<2>{}, Constant<8>{}, c);
          tap(Constant<1>{}, Constant<4>{}, b);
        }
        before = c;
        x0 += pitch;
        x1 += pitch;
        x2 += pitch;
      });
      const Size left = p.rows - row;
      unroll<rows>([&](auto i) __attribute__((always_inline)) {
        if (i < left) store_plane(p, row + i, column, acc[i]);
      });
    }
  }
}

/// y [images, groups, positions] of planes in f32 sums; weights [groups, taps] widened.
class Planes {
 public:
  Planes(const Convolution& c, const f32* weights, const f32* bias, std::byte* y)
      : c_(c), weights_(weights), bias_(bias), y_(y), round_(DType::f32, c.dtype), places_(c.taps()) {
    const Axis &a1 = c.axes[1], &a2 = c.axes[2];
    reach_ = (a2.out - 1) * a2.stride + (a2.taps - 1) * a2.step + 1;
    phase_ = (a2.out + (a2.taps - 1) * a2.step / a2.stride + 2 * Vf32::lanes + 15) / 16 * 16;
    pitch_ = a2.stride * phase_;
    const Size over = (a1.taps - 1) * a1.step;
    const Size fits = (strip_floats / (pitch_ * c.axes[0].taps) - over) / a1.stride / plane_rows * plane_rows;
    strip_ = least(a1.out, most(plane_rows, fits));
    strips_ = (a1.out + strip_ - 1) / strip_;
    depth_ = ((strip_ + plane_rows - 1) * a1.stride + over + 1) * pitch_;
    order_taps();
    from_ = a2.origin < 0 ? least(-a2.origin, reach_) : 0;
    to_ = most(from_, least(reach_, a2.in - a2.origin));
    streams_ = c.images * c.groups * c.positions() * block_bytes(c.dtype) >= stream_threshold;
  }

  void run() {
    const Size units = c_.images * c_.groups * c_.axes[0].out * strips_;
    parallel_for(units, most(1, 32768 / (strip_ * c_.axes[2].out * c_.taps() + 1)), [&](Size begin, Size end) {
      const Scratch<f32> padded(c_.axes[0].taps * depth_), sums(strip_ * c_.axes[2].out), weights(c_.taps());
      const Scratch<std::byte> rounded(strip_ * c_.axes[2].out * block_bytes(c_.dtype)), row(reach_ * Size{sizeof(f32)});
      std::memset(padded.data(), 0, static_cast<std::size_t>(c_.axes[0].taps * depth_) * sizeof(f32));
      for (Size i = begin; i < end; ++i)
        strip(i, i + 1 < end, padded.data(), sums.data(), weights.data(), rounded.data(), reinterpret_cast<f32*>(row.data()));
      if (streams_) stream_fence();
    });
  }

 private:
  static constexpr Size strip_floats = 3072;  // of padded input, which stays in L1 beside its sums

  /// Places of the taps in the order of the chain: ascending, or in pairs with the odd one first.
  void order_taps() {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    const Size n = c_.taps();
    for (Size i = 0; i < n; ++i) {
      const Size t = tap_of(i), t2 = t % a2.taps * a2.step, t1 = t / a2.taps % a1.taps, t0 = t / (a2.taps * a1.taps);
      places_[i] = static_cast<i32>(t0 * depth_ + t1 * a1.step * pitch_ + t2 % a2.stride * phase_ + t2 / a2.stride);
    }
  }
  Size tap_of(Size i) const { return c_.dtype == DType::bf16 && (i | 1) < c_.taps() ? i ^ 1 : i; }

  const std::byte* plane(Size number) const {
    return c_.x + (number / c_.groups * c_.x_image + number % c_.groups * c_.x_channel) * block_bytes(c_.dtype);
  }

  void strip(Size unit, bool another, f32* padded, f32* sums, f32* weights, std::byte* rounded, f32* row) const {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1], &a2 = c_.axes[2];
    const Size bytes = block_bytes(c_.dtype);
    const Size first = unit % strips_ * strip_, o0 = unit / strips_ % a0.out, number = unit / (strips_ * a0.out),
               group = number % c_.groups;
    const Size rows = least(strip_, a1.out - first), in_rows = (rows - 1) * a1.stride + (a1.taps - 1) * a1.step + 1;
    const std::byte* x = plane(number);
    for (Size t0 = 0; t0 < a0.taps; ++t0) {
      const Size i0 = o0 * a0.stride + t0 * a0.step + a0.origin;
      for (Size r = 0; r < in_rows; ++r) {
        const Size i1 = first * a1.stride + a1.origin + r;
        f32* to = padded + t0 * depth_ + r * pitch_;
        const bool inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in && to_ > from_;
        take_row(inside ? x + (i0 * a0.x_stride + i1 * a1.x_stride + a2.origin + from_) * bytes : nullptr, to, row);
      }
    }
    const std::byte *ahead = x, *ahead_end = x;
    if (another && a1.x_stride == a2.in) {  // in a dense plane what comes next lies behind; it has to be on its way a strip early
      const Size next = rows * a1.stride * a2.in * bytes;
      ahead = x + most(0, first * a1.stride + a1.origin + in_rows) * a1.x_stride * bytes + next;
      ahead_end = ahead + next;
    }
    for (Size i = 0; i < c_.taps(); ++i) weights[i] = weights_[group * c_.taps() + tap_of(i)];
    const Size count = rows * a2.out;
    std::byte* y = y_ + ((number * a0.out + o0) * a1.out + first) * a2.out * bytes;
    const bool in_place = round_.is_identity() && !streams_;
    f32* to = in_place ? reinterpret_cast<f32*>(y) : sums;
    const PlaneRows p{padded, a1.stride * pitch_, c_.taps(), places_.data(), weights, to, a2.out, rows, ahead, ahead_end};
    if (c_.dtype == DType::bf16) {
      sum<PairedPlane>(p, weights_ + group * c_.taps());
    } else {
      sum<PlainPlane>(p, weights_ + group * c_.taps());
    }
    if (bias_ != nullptr) {
      const f32 bias = bias_[group];
      for (Size i = 0; i < count; ++i) to[i] += bias;
    }
    if (in_place) return;
    const std::byte* from = reinterpret_cast<const std::byte*>(sums);
    if (!round_.is_identity()) {
      round_(from, streams_ ? rounded : y, count);
      from = rounded;
    }
    if (streams_) stream_bytes(y, from, count * bytes);
  }

  template <class Kind>
  void sum(const PlaneRows& p, const f32* kernel) const {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    if (c_.axes[0].taps == 1 && a1.taps == 3 && a2.taps == 3 && a1.step == 1 && a1.stride <= 2) {
      Size shift[3];
      for (Size t = 0; t < 3; ++t) shift[t] = t * a2.step % a2.stride * phase_ + t * a2.step / a2.stride;
      if (a1.stride == 1) return sum_plane_3x3<Kind, 1>(p, kernel, pitch_, shift);
      return sum_plane_3x3<Kind, 2>(p, kernel, pitch_, shift);
    }
    sum_plane<Kind>(p);
  }

  /// One row of the input with its padding, null for one outside; columns of one residue of the stride lie together.
  void take_row(const std::byte* from, f32* to, f32* room) const {
    const Size stride = c_.axes[2].stride, n = to_ - from_;
    if (from == nullptr) {
      for (Size i = 0; i < pitch_; ++i) to[i] = 0;
      return;
    }
    const f32* dense = reinterpret_cast<const f32*>(from);
    if (stride == 1 || c_.dtype != DType::f32) {
      widen_row(from, stride == 1 ? to + from_ : room, n);
      if (stride == 1) return;
      dense = room;
    }
    for (Size phase = 0; phase < least(stride, n); ++phase) {
      const Size column = from_ + phase, count = (n - phase + stride - 1) / stride;
      f32* at = to + column % stride * phase_ + column / stride;
      const f32* source = dense + phase;
      if (stride == 2) {
        for (Size i = 0; i < count; ++i) at[i] = source[2 * i];
      } else {
        for (Size i = 0; i < count; ++i) at[i] = source[i * stride];
      }
    }
  }

  void widen_row(const std::byte* from, f32* to, Size n) const {
    constexpr Size lanes = Vf32::lanes;
    const u16* halves = reinterpret_cast<const u16*>(from);
    Size i = 0;
    switch (c_.dtype) {
      case DType::f16:
        for (; i + lanes <= n; i += lanes) store(to + i, Vf32::load_f16(halves + i));
        break;
      case DType::bf16:
        for (; i + lanes <= n; i += lanes) store(to + i, Vf32::load_bf16(halves + i));
        break;
      default:
        for (; i + lanes <= n; i += lanes) store(to + i, Vf32::load(reinterpret_cast<const f32*>(from) + i));
        break;
    }
    for (; i < n; ++i) {
      to[i] = c_.dtype == DType::f16    ? numerics::f16_to_f32(halves[i])
              : c_.dtype == DType::bf16 ? numerics::bf16_to_f32(halves[i])
                                        : reinterpret_cast<const f32*>(from)[i];
    }
  }

  const Convolution& c_;
  const f32 *weights_, *bias_;
  std::byte* y_;
  const Conversion round_;
  Scratch<i32> places_;
  Size reach_, from_, to_;      // columns that a row of outputs reads; those of them that exist
  Size phase_, pitch_, depth_;  // floats from residue to residue, row to row, and plane to plane of a strip
  Size strip_, strips_;         // rows of outputs at once, and how often
  bool streams_;
};

}  // namespace votive::cpu::VOTIVE_ISA
