// 3 × 3 convolutions of planes one by one, stride 1, read where they lie: a column of vectors goes down the rows of a plane, each of which is loaded once and
// takes part in three rows of outputs. Only vectors at the edges are masked, and only the first and last row of a plane are copied, since a vector may reach
// two elements past a row's ends. Not here: other kernels, strides and f16 (conv_planes.h).
#pragma once

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/conv.h"
#include "votive/cpu/matmul_tile.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/simd_half.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {

[[gnu::always_inline]] inline Vf32 masked(Vf32 a, Vf32 mask) { return as_f32(bit_and(as_i32(a), as_i32(mask))); }
[[gnu::always_inline]] inline Vi32 masked(Vi32 a, Vi32 mask) { return bit_and(a, mask); }
template <class Vector>
[[gnu::always_inline]] inline Vector everywhere(f32 x) {
  return Vector::broadcast(x);
}
#if defined(__AVX512F__)
template <>
[[gnu::always_inline]] inline Vf32Half everywhere<Vf32Half>(f32 x) {
  return {_mm256_set1_ps(x)};
}
[[gnu::always_inline]] inline Vf32Half masked(Vf32Half a, Vf32Half mask) { return {_mm256_and_ps(a.v, mask.v)}; }
[[gnu::always_inline]] inline Vf32Half add(Vf32Half a, Vf32Half b) { return {_mm256_add_ps(a.v, b.v)}; }
#endif

/// One output per lane; an input row is three vectors, a column apart.
template <class Vector>
struct PlaneOf {
  using Element = f32;
  using Environment = NoEnvironment;
  using Input = Vector;
#if defined(__AVX512F__)
  using Half = PlaneOf<Vf32Half>;  // for the last columns where half a vector is enough
#else
  using Half = PlaneOf;
#endif
  static constexpr int columns = Vector::lanes;
  static constexpr bool takes_bias = true;
  struct Sums {
    Vector sum = Vector::zero();
  };
  struct Before {};
  struct Weights {
    Vector w[9];
    explicit Weights(const f32* kernel) {
      unroll<9>([&](auto i) __attribute__((always_inline)) { w[i] = everywhere<Vector>(kernel[i]); });
    }
  };
  /// Row r of the input for the outputs of rows r, r − 1 and r − 2.
  [[gnu::always_inline]] static void step(const Weights& k, const Vector* x, Before&, Sums& first, Sums& second, Sums& third) {
    unroll<3>([&](auto t) __attribute__((always_inline)) {
      accumulate(third.sum, k.w[6 + t], x[t]);
      accumulate(second.sum, k.w[3 + t], x[t]);
      accumulate(first.sum, k.w[t], x[t]);
    });
  }
  [[gnu::always_inline]] static void put(f32* y, const Sums& s, const f32* bias) {
    if (bias == nullptr) return store(y, s.sum);
    store(y, add(s.sum, everywhere<Vector>(*bias)));
  }
};
using PlaneF32 = PlaneOf<Vf32>;

#if defined(__AVX512BF16__)
/// Pairs of taps as they lie: an unaligned load at an even or odd column has the first two or the last two taps of a row for every other output. The third
/// tap of a row pairs with the first of the next.
struct PlaneBf16 {
  using Element = u16;
  using Environment = NoEnvironment;
  using Input = Vi32;
  using Half = PlaneBf16;
  static constexpr int columns = 2 * Vf32::lanes;
  static constexpr bool takes_bias = true;
  struct Sums {
    Vf32 even = Vf32::zero(), odd = Vf32::zero();
  };
  struct Before {
    Vi32 even = Vi32::zero(), odd = Vi32::zero();  // the third taps of the row before
  };
  struct Weights {
    Vi32 w[5];
    explicit Weights(const f32* kernel) {
      for (int i = 0; i < 5; ++i) {
        // Beside the last tap a product of −0, which changes no sum.
        const u32 low = numerics::bits_f32(kernel[2 * i]) >> 16, high = i < 4 ? numerics::bits_f32(kernel[2 * i + 1]) : 0x80000000u;
        w[i] = Vi32::broadcast(static_cast<i32>(low | (high & 0xffff0000u)));
      }
    }
  };
  [[gnu::always_inline]] static void step(const Weights& k, const Vi32* x, Before& before, Sums& first, Sums& second, Sums& third) {
    const Vi32 even_third = shift_right<16>(x[1]), odd_third = shift_right<16>(x[2]);
    const Vi32 even_across = bit_or(before.even, shift_left<16>(x[0])), odd_across = bit_or(before.odd, shift_left<16>(x[1]));
    accumulate_bf16(third.even, k.w[3], x[0]);
    accumulate_bf16(third.odd, k.w[3], x[1]);
    accumulate_bf16(second.even, k.w[1], even_across);
    accumulate_bf16(second.odd, k.w[1], odd_across);
    accumulate_bf16(first.even, k.w[0], x[0]);
    accumulate_bf16(first.odd, k.w[0], x[1]);
    accumulate_bf16(third.even, k.w[4], even_third);
    accumulate_bf16(third.odd, k.w[4], odd_third);
    accumulate_bf16(second.even, k.w[2], x[1]);
    accumulate_bf16(second.odd, k.w[2], x[2]);
    before.even = even_third;
    before.odd = odd_third;
  }
  [[gnu::always_inline]] static void put(u16* y, const Sums& s, const f32* bias) {
    if (bias == nullptr) return store(y, zip_bf16(s.even, s.odd));
    const Vf32 b = Vf32::broadcast(*bias);
    store(y, zip_bf16(add(s.even, b), add(s.odd, b)));
  }
};
#elif defined(__AVX2__)
/// The same widened, outputs of even and odd columns apart, the odd tap of a pair first, subnormals flushed.
struct PlaneBf16 {
  using Element = u16;
  using Environment = FlushSubnormals;
  using Input = Vi32;
  using Half = PlaneBf16;
  static constexpr int columns = 2 * Vf32::lanes;
  static constexpr bool takes_bias = false;  // whose addition is an ordinary one
  struct Sums {
    Vf32 even = Vf32::zero(), odd = Vf32::zero();
  };
  struct Before {
    Vf32 even = Vf32::zero(), odd = Vf32::zero();
  };
  using Weights = PlaneF32::Weights;
  [[gnu::always_inline]] static void step(const Weights& k, const Vi32* x, Before& before, Sums& first, Sums& second, Sums& third) {
    const Vf32 a = even_bf16(as_i16(x[0])), b = even_bf16(as_i16(x[1])), c = odd_bf16(as_i16(x[1])), d = odd_bf16(as_i16(x[2]));
    const auto tap = [&](Sums & s, auto number, const Vf32& even, const Vf32& odd) __attribute__((always_inline)) {
      accumulate(s.even, k.w[number], even);
      accumulate(s.odd, k.w[number], odd);
    };
    tap(third, std::integral_constant<int, 7>{}, b, c);
    tap(second, std::integral_constant<int, 3>{}, a, b);
    tap(first, std::integral_constant<int, 1>{}, b, c);
    tap(third, std::integral_constant<int, 6>{}, a, b);
    tap(second, std::integral_constant<int, 2>{}, before.even, before.odd);
    tap(first, std::integral_constant<int, 0>{}, a, b);
    tap(third, std::integral_constant<int, 8>{}, c, d);
    tap(second, std::integral_constant<int, 5>{}, c, d);
    tap(second, std::integral_constant<int, 4>{}, b, c);
    before.even = c;
    before.odd = d;
  }
  [[gnu::always_inline]] static void put(u16* y, const Sums& s, const f32*) { store(y, zip_bf16(s.even, s.odd)); }
};
#endif

/// Outputs of a strip on their way around the caches: a vector at a step, so that memory takes them while the next strip is summed.
struct LeavingStrip {
  const std::byte* from = nullptr;
  std::byte *to = nullptr, *end = nullptr;
  LeavingStrip() = default;
  LeavingStrip(const void* strip, void* y, Size bytes)
      : from(static_cast<const std::byte*>(strip)), to(static_cast<std::byte*>(y)), end(to + bytes) {
    const Size head = least(bytes, static_cast<Size>(-reinterpret_cast<std::uintptr_t>(to) & (sizeof(Vi8) - 1)));
    std::memcpy(to, from, static_cast<std::size_t>(head));
    to += head;
    from += head;
  }
  [[gnu::always_inline]] void advance() {
    if (end - to < static_cast<Size>(sizeof(Vi8))) return;
    stream(to, Vi8::load(from));
    to += sizeof(Vi8);
    from += sizeof(Vi8);
  }
  void finish() {
    stream_bytes(to, from, end - to);
    to = end;
  }
};

/// Rows of outputs of one plane.
template <class Element>
struct PlaneRows3x3 {
  const Element* const* rows;  // of the input, where the first tap of the first column reads
  Size count;                  // rows of outputs
  const f32 *kernel, *bias;
  Element* y;
  Size pitch;
  const std::byte *ahead, *ahead_end;  // what comes next, to be touched meanwhile
  LeavingStrip* leaving;
};

/// Columns from `column` on. masks: of the three vectors of a row; bit t of `at_edge` says that vector t needs its own.
template <class Kind, int at_edge>
[[gnu::noinline]] const std::byte* sum_columns_3x3(const PlaneRows3x3<typename Kind::Element>& p, Size column,
                                                   const typename Kind::Element* masks) {
  using Input = typename Kind::Input;
  using Element = typename Kind::Element;
  const typename Kind::Environment environment;
  const typename Kind::Weights weights(p.kernel);
  typename Kind::Sums second, third;
  typename Kind::Before before;
  Element* y = p.y + column;
  const Element* const* rows = p.rows;
  const std::byte* ahead = p.ahead;
  LeavingStrip leaving = *p.leaving;
  for (Size r = 0; r < p.count + 2; ++r) {
    const Element* row = *rows++ + column;
    Input x[3];
    unroll<3>([&](auto t) __attribute__((always_inline)) {
      x[t] = Input::load(reinterpret_cast<const f32*>(row + t));
      if constexpr ((at_edge >> t & 1) != 0) x[t] = masked(x[t], Input::load(reinterpret_cast<const f32*>(masks + t * Kind::columns)));
    });
    if (ahead < p.ahead_end) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += 64;
    }
    leaving.advance();
    typename Kind::Sums first;
    Kind::step(weights, x, before, first, second, third);
    if (r >= 2) {
      Kind::put(y, third, p.bias);
      y += p.pitch;
    }
    third = second;
    second = first;
  }
  *p.leaving = leaving;
  return ahead;
}

/// y [images, groups, positions]; weights [groups, 9] widened.
template <class Kind>
class Planes3x3 {
 public:
  using Element = typename Kind::Element;
  static bool fits(const Convolution& c, const f32* bias) {
    const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
    for (const Axis* a : {&a1, &a2}) {
      if (a->taps != 3 || a->stride != 1 || a->step != 1) return false;
    }
    // A row between the first and the last is read where it lies, two elements more on either side: its neighbours' memory, unless they share it.
    const Size apart = a1.x_stride < 0 ? -a1.x_stride : a1.x_stride;
    if (a1.in > 2 && apart < most(a2.in, 2)) return false;
    return a0.taps == 1 && a2.x_stride == 1 && a2.out >= Kind::Half::columns && a2.origin <= 0 && a2.origin >= -2 &&
           a2.out + a2.origin <= a2.in && (Kind::takes_bias || bias == nullptr);
  }

  Planes3x3(const Convolution& c, const f32* weights, const f32* bias, std::byte* y)
      : c_(c),
        weights_(weights),
        bias_(bias),
        y_(reinterpret_cast<Element*>(y)),
        blocks_(c.axes[2].out / Kind::Half::columns + 1),
        masks_(3 * Kind::columns * (c.axes[2].out / Kind::Half::columns + 1)) {
    const Axis &a1 = c.axes[1], &a2 = c.axes[2];
    strips_ = (a1.out * a2.out + strip_outputs - 1) / strip_outputs;
    strip_ = (a1.out + strips_ - 1) / strips_;
    strips_ = (a1.out + strip_ - 1) / strip_;
    reach_ = a2.out + 2;
    from_ = least(reach_, -a2.origin);
    to_ = least(reach_, a2.in - a2.origin);
    for (Size column = 0; column < a2.out;) column = add_block(column);
    streams_ = c.images * c.groups * c.positions() * Size{sizeof(Element)} >= stream_threshold;
  }

  void run() const {
    const Size units = c_.images * c_.groups * c_.axes[0].out * strips_;
    parallel_for(units, most(1, 32768 / (strip_ * c_.axes[2].out * 9 + 1)), [&](Size begin, Size end) {
      const Scratch<const Element*> rows(strip_ + 2);
      const Scratch<Element> copies(3 * reach_), strips(streams_ ? 2 * strip_ * c_.axes[2].out : 0);
      LeavingStrip leaving;
      std::memset(copies.data(), 0, static_cast<std::size_t>(3 * reach_) * sizeof(Element));
      for (Size unit = begin; unit < end; ++unit) {
        Element* strip = strips.data() + (unit - begin) % 2 * strip_ * c_.axes[2].out;
        sum_strip(unit, unit + 1 < end, rows.data(), copies.data(), strip, leaving);
      }
      if (!streams_) return;
      leaving.finish();
      stream_fence();
    });
  }

 private:
  static constexpr Size strip_outputs = 4096;  // at once: input and outputs stay in L1 until they leave

  /// Columns at once; they may have been summed before.
  struct Block {
    Size column;
    int at_edge;
    bool half;
  };

  /// The block for columns from here on; gives where it ends.
  Size add_block(Size column) {
    const Size out = c_.axes[2].out, left = out - column;
    const bool half = left <= Kind::Half::columns || out < Kind::columns;
    const Size columns = half ? Kind::Half::columns : Kind::columns;
    Block& block = blocks_[count_];
    block = {least(column, out - columns), 0, half};
    for (Size t = 0; t < 3; ++t) {
      const Size at = block.column + t;
      if (at < from_ || at + columns > to_) block.at_edge |= 1 << t;
      for (Size i = 0; i < columns; ++i)
        std::memset(masks_.data() + (count_ * 3) * Kind::columns + t * columns + i, at + i >= from_ && at + i < to_ ? 255 : 0,
                    sizeof(Element));
    }
    ++count_;
    return column + columns;
  }

  void sum_strip(Size unit, bool another, const Element** rows, Element* copies, Element* strip, LeavingStrip& leaving) const {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1], &a2 = c_.axes[2];
    const Size first = unit % strips_ * strip_, o0 = unit / strips_ % a0.out, plane = unit / (strips_ * a0.out), group = plane % c_.groups;
    const Size count = least(strip_, a1.out - first), i0 = o0 * a0.stride + a0.origin;
    const Element* x = reinterpret_cast<const Element*>(c_.x) + plane / c_.groups * c_.x_image + group * c_.x_channel + i0 * a0.x_stride;
    const Size i1 = first + a1.origin;  // of the first row
    const bool any = i0 >= 0 && i0 < a0.in;
    const Size begin = any ? least(count + 2, most(0, -i1)) : count + 2;
    const Size end = any ? most(begin, least(count + 2, a1.in - i1)) : count + 2;
    for (Size r = 0; r < begin; ++r) rows[r] = copies;  // of zeros
    for (Size r = begin; r < end; ++r) rows[r] = x + (i1 + r) * a1.x_stride + a2.origin;
    for (Size r = end; r < count + 2; ++r) rows[r] = copies;
    for (Size at : {Size{0}, a1.in - 1}) {
      const Size r = at - i1;
      if (r < begin || r >= end) continue;
      Element* copy = copies + (at == 0 ? 1 : 2) * reach_;
      std::memcpy(copy + from_, x + at * a1.x_stride + a2.origin + from_, static_cast<std::size_t>(to_ - from_) * sizeof(Element));
      rows[r] = copy;
    }
    Element* y = y_ + ((plane * a0.out + o0) * a1.out + first) * a2.out;
    const std::byte* ahead = reinterpret_cast<const std::byte*>(x + (first + count + 1 + a1.origin) * a1.x_stride);
    const bool dense = another && a1.x_stride == a2.in;  // then what comes next lies behind
    PlaneRows3x3<Element> p{rows,
                            count,
                            weights_ + group * 9,
                            bias_ != nullptr ? bias_ + group : nullptr,
                            streams_ ? strip : y,
                            a2.out,
                            ahead,
                            dense ? ahead + count * a2.in * Size{sizeof(Element)} : ahead,
                            &leaving};
    for (Size b = 0; b < count_; ++b) {
      const Element* masks = masks_.data() + b * 3 * Kind::columns;
      p.ahead = blocks_[b].half ? sum_block<typename Kind::Half>(p, blocks_[b], masks) : sum_block<Kind>(p, blocks_[b], masks);
    }
    if (!streams_) return;
    leaving.finish();
    leaving = LeavingStrip(strip, y, count * a2.out * Size{sizeof(Element)});
  }

  template <class Some>
  static const std::byte* sum_block(const PlaneRows3x3<Element>& p, const Block& block, const Element* masks) {
    switch (block.at_edge) {
      case 0: return sum_columns_3x3<Some, 0>(p, block.column, masks);
      case 1: return sum_columns_3x3<Some, 1>(p, block.column, masks);
      case 4: return sum_columns_3x3<Some, 4>(p, block.column, masks);
      default: return sum_columns_3x3<Some, 7>(p, block.column, masks);
    }
  }

  const Convolution& c_;
  const f32 *weights_, *bias_;
  Element* y_;
  Scratch<Block> blocks_;
  Scratch<Element> masks_;
  Size count_ = 0;          // of blocks
  Size reach_, from_, to_;  // columns that a row of outputs reads; those of them that exist
  Size strip_, strips_;     // rows of outputs at once, and how often
  bool streams_;
};

}  // namespace votive::cpu::VOTIVE_ISA
