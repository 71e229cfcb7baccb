// Softmax and log_softmax: four short passes over a row that is in L1 after the first. The sum is the canonical tree, and the last pass gives the quotients
// that a division gives, as CONTRACT.md 4.1 says. Not here: masks (attention.cpp).
#include <cstring>

#include "votive/cpu/each_row.h"
#include "votive/cpu/element_loops.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/lane_sums.h"
#include "votive/cpu/largest.h"
#include "votive/numerics/math.h"
#include "votive/ops/few.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

// How far below m the numbers of a row lie says which text its exponentials take. What lies at most 62 below has exponentials of 2^−90 and more: scaling them
// is one addition to an exponent, and their quotients and the remainders of those stay normal. What lies more than 104 below, masked elements mostly, has 0.
// The text of a row that proves too short is that of the next one too.
enum class Depth { near, near_or_zero, any };

constexpr f32 near = 62.0f, zero = 104.0f;

/// exp(x − m); and the most bits of m − x, which are in the order of numbers from 0 on, and of NaN beyond all of them.
template <Depth depth>
VOTIVE_SCALAR f32 exponential_below(f32 x, f32 m, u32& most) {
  const f32 below = m - x;
  const u32 bits = numerics::bits_f32(below);
  if constexpr (depth == Depth::near) {
    most = bits > most ? bits : most;
    return numerics::exp_moderate_f32(-below);
  } else if constexpr (depth == Depth::near_or_zero) {
    const u32 is_zero = below > zero ? 0xffffffffu : 0u;
    const u32 counted = bits & ~is_zero;
    most = counted > most ? counted : most;
    const f32 e = numerics::exp_moderate_f32(below > near ? -near : -below);
    return numerics::f32_from_bits(numerics::bits_f32(e) & ~is_zero);
  } else {
    return numerics::exp_f32(-below);
  }
}

using Lanes = LaneRegisters<Vf32>;

/// e = exp(x − m) of n elements, a constant; and their sums, lane by lane. The compiler keeps a block in registers.
template <Depth depth, int n, class X>
[[gnu::always_inline]] inline u32 block_of_exponentials(const X* x, f32 m, f32* e, Lanes& sums) {
  Room<X, n> room;
  alignas(64) f32 y[n];
  u32 most = 0;
  const f32* v = values_of<n, false>(x, room.values);
  for (int j = 0; j < n; ++j) y[j] = exponential_below<depth>(v[j], m, most);
  unroll<n / tree_lanes>([&](auto s) __attribute__((always_inline)) {
    const Lanes step = Lanes::load<Elements<f32>>(y + s * tree_lanes);
    unroll<Lanes::registers>([&](auto i) __attribute__((always_inline)) { store(e + s * tree_lanes + i * Vf32::lanes, step.r[i]); });
    sums = Lanes::join<Sum<f32>>(sums, step);
  });
  return most;
}

/// The same of fewer than 32 elements, as the last step of a row.
template <Depth depth, class X>
[[gnu::noinline]] u32 last_exponentials(const X* x, f32 m, f32* e, Size n, Lanes& sums) {
  constexpr int whole = tree_lanes;
  Padded<X, whole> padded(x, n);
  Room<X, whole> room;
  alignas(64) f32 y[whole];
  u32 most = 0;
  const f32* v = values_of<whole, false>(padded.elements, room.values);
  for (int j = 0; j < whole; ++j) {
    const f32 e_j = exponential_below<depth>(j < n ? v[j] : m, m, most);
    y[j] = j < n ? e_j : -0.0f;
  }
  std::memcpy(e, y, static_cast<std::size_t>(n) * sizeof(f32));
  sums = Lanes::join<Sum<f32>>(sums, Lanes::load<Elements<f32>>(y));
  return most;
}

/// e = exp(x − m) of up to one group of the tree.
template <Depth depth, class X>
u32 group_of_exponentials(const X* x, f32 m, f32* e, Size n, Lanes& sums) {
  constexpr int block = 4 * tree_lanes;
  unroll<Lanes::registers>([&](auto i) __attribute__((always_inline)) { sums.r[i] = Vf32::broadcast(-0.0f); });
  u32 most = 0;
  Size i = 0;
  const auto join = [&](u32 here) { most = here > most ? here : most; };
  for (; i + block <= n; i += block) join(block_of_exponentials<depth, block>(x + i, m, e + i, sums));
  for (; i + tree_lanes <= n; i += tree_lanes) join(block_of_exponentials<depth, tree_lanes>(x + i, m, e + i, sums));
  if (i < n) join(last_exponentials<depth>(x + i, m, e + i, n - i, sums));
  return most;
}

/// e = exp(x − m) of a row; false where the text was too short, and then the sum is none. meanwhile(i, count) is called for each group.
template <Depth depth, class X, class Meanwhile>
bool exponentials(const X* x, f32 m, f32* e, Size n, Meanwhile meanwhile, f32& sum) {
  constexpr Size group = tree_lanes * numerics::tree_group_steps;
  UpperTree<f32, Sum<f32>> chunks;
  u32 most = 0;
  for (Size k = 0; k < n; k += tree_chunk) {
    const Size end = n - k < tree_chunk ? n : k + tree_chunk;
    GroupSums groups;
    for (Size i = k; i < end; i += group) {
      const Size count = end - i < group ? end - i : group;
      meanwhile(i, count);
      Lanes sums;
      const u32 here = group_of_exponentials<depth>(x + i, m, e + i, count, sums);
      most = here > most ? here : most;
      groups.push(sums);
    }
    sum = groups.total();
    if (n > tree_chunk) chunks.push(sum);
  }
  if (n > tree_chunk) sum = chunks.total();
  return most <= numerics::bits_f32(near);
}

/// As deep as the row before, or deeper.
template <class X, class Meanwhile>
f32 exponentials(const X* x, f32 m, f32* e, Size n, Meanwhile meanwhile, Depth& depth) {
  const auto nothing = [](Size, Size) {};
  f32 sum;
  switch (depth) {
    case Depth::near:
      if (exponentials<Depth::near>(x, m, e, n, meanwhile, sum)) return sum;
      if (exponentials<Depth::near_or_zero>(x, m, e, n, nothing, sum)) return depth = Depth::near_or_zero, sum;
      break;
    case Depth::near_or_zero:
      if (exponentials<Depth::near_or_zero>(x, m, e, n, meanwhile, sum)) return sum;
      break;
    default: exponentials<Depth::any>(x, m, e, n, meanwhile, sum); return sum;
  }
  depth = Depth::any;
  exponentials<Depth::any>(x, m, e, n, nothing, sum);
  return sum;
}

/// y = e/s for 0 ≤ e ≤ 1 ≤ s < 2³¹, or NaN. With an fma and 1/s rounded to nearest, q = e·(1/s) and one correction of q by its remainder are the quotient to
/// the bit, as long as nothing underflows (Markstein 1990; Brisebarre, Muller and Raina 2004): 3 cycles for 16 elements instead of 10 (Zen 4).
template <bool past_caches, class X>
void divide(const f32* e, f32 s, Depth depth, X* y, Size n) {
  if (has_fma && depth != Depth::any) {
    for_elements<past_caches>(
        [ s, inverse = 1.0f / s ](f32 v) __attribute__((always_inline)) {
          const f32 q = v * inverse;
          return numerics::fma_f32(numerics::fma_f32(-q, s, v), inverse, q);
        },
        n, y, e);
  } else {
    for_elements<past_caches>(
        [s](f32 v) __attribute__((always_inline)) { return v / s; }, n, y, e);
  }
}

/// The largest of n > 0 elements, by the rules of largest(). The last registers overlap those before, which changes no maximum.
template <class X>
f32 largest_element(const X* elements, Size n) {
  using From = FromOf<X>;
  constexpr Size lanes = Vf32::lanes, together = 4;
  const auto* x = stored(elements);
  if (n < lanes) {
    f32 m = From::one(x[0]);
    for (Size i = 1; i < n; ++i) m = m > From::one(x[i]) ? m : From::one(x[i]);
    return m;
  }
  Vf32 m[together];
  unroll<together>([&](auto k) __attribute__((always_inline)) { m[k] = From::load(x); });
  Size i = lanes;
  for (; i + together * lanes <= n; i += together * lanes) {
    unroll<together>([&](auto k) __attribute__((always_inline)) { m[k] = max(m[k], From::load(x + i + k * lanes)); });
  }
  for (; i + lanes <= n; i += lanes) m[0] = max(m[0], From::load(x + i));
  if (i < n) m[0] = max(m[0], From::load(x + n - lanes));
  alignas(64) f32 lane[lanes];
  store(lane, max(max(m[0], m[1]), max(m[2], m[3])));
  for (Size w = lanes / 2; w > 0; w /= 2) {
    for (Size l = 0; l < w; ++l) lane[l] = lane[l] > lane[l + w] ? lane[l] : lane[l + w];
  }
  return lane[0];
}

/// y from the exponentials of a row, or with `logarithm` from the row itself: what is left once its sum is known.
template <bool logarithm, bool past_caches, class X>
struct Quotients {
  const X* x;
  const f32* e;
  X* y;
  f32 m, sum, log_sum;
  Depth depth;

  void operator()(Size i, Size n) const {
    if constexpr (logarithm) {
      for_elements<past_caches>(
          [*this](f32 v) __attribute__((always_inline)) { return (v - m) - log_sum; }, n, y + i, x + i);
    } else {
      divide<past_caches>(e + i, sum, depth, y + i, n);
    }
  }
};

/// The first two passes over a row; `room` is for n numbers, and may be y.
template <bool logarithm, bool past_caches, class X, class Meanwhile>
Quotients<logarithm, past_caches, X> quotients(const X* x, X* y, Size n, f32* room, Meanwhile meanwhile, Depth& depth) {
  const f32 m = largest_element(x, n);
  Depth own = depth;
  const f32 sum = exponentials(x, m, room, n, meanwhile, own);
  if (sum == sum) depth = own;  // a row with a NaN says nothing of the next
  return {x, room, y, m, sum, logarithm ? numerics::log_f32(sum) : 0.0f, own};
}

template <bool logarithm, class X>
void dense_row(const X* x, X* y, Size n, f32* room, const NextRow& next, Depth& depth) {
  quotients<logarithm, false>(
      x, y, n, room, [&](Size i, Size count) { next.fetch(i, count); }, depth)(0, n);
}

/// One row of at most `lanes` elements, 16 or 32, from memory to memory.
template <bool logarithm, int lanes>
bool short_row(const f32* x, f32* y, int n) {
  alignas(64) f32 v[lanes], e[tree_lanes];
  constexpr int width = Vf32::lanes;
  const auto part = [n](int i) { return n < i * width ? 0 : n - i * width < width ? n - i * width : width; };
  unroll<lanes / width>([&](auto i) __attribute__((always_inline)) { store(v + i * width, Vf32::load_part(x + i * width, part(i))); });
  const f32 first = x[0];
  alignas(64) f32 most[lanes];
  for (int j = 0; j < lanes; ++j) most[j] = j < n ? v[j] : first;
  for (int w = lanes / 2; w > 0; w /= 2) {
    for (int j = 0; j < w; ++j) most[j] = most[j] > most[j + w] ? most[j] : most[j + w];
  }
  const f32 m = most[0];
  u32 deepest = 0;
  for (int j = 0; j < lanes; ++j) {
    const f32 e_j = exponential_below<Depth::near>(j < n ? v[j] : m, m, deepest);
    e[j] = j < n ? e_j : -0.0f;
  }
  if (deepest > numerics::bits_f32(near)) return false;
  alignas(64) f32 lane[tree_lanes];
  for (int j = 0; j < lanes; ++j) lane[j] = e[j];
  for (int j = lanes; j < tree_lanes; ++j) lane[j] = -0.0f;
  const f32 sum = tree_fold_lanes<f32, Sum<f32>>(lane);
  if constexpr (logarithm) {
    const f32 log_sum = numerics::log_f32(sum);
    for (int j = 0; j < lanes; ++j) e[j] = (v[j] - m) - log_sum;
  } else {
    for (int j = 0; j < lanes; ++j) e[j] = e[j] / sum;
  }
  unroll<lanes / width>([&](auto i) __attribute__((always_inline)) { store_part(y + i * width, part(i), Vf32::load(e + i * width)); });
  return true;
}

/// What apply() runs for few rows.
template <bool logarithm, class X>
void few_rows(const void* x, void* y, Size rows, Size n) {
  const X* from = static_cast<const X*>(x);
  X* to = static_cast<X*>(y);
  alignas(64) f32 room[is_half_element<X> ? small_and_dense_bytes / sizeof(X) : 1];
  Depth depth = Depth::near;
  for (Size row = 0; row < rows; ++row, from += n, to += n) {
    if constexpr (std::is_same_v<X, f32>) {
      if (n <= 16 && short_row<logarithm, 16>(from, to, static_cast<int>(n))) continue;
      if (n > 16 && n <= 32 && short_row<logarithm, 32>(from, to, static_cast<int>(n))) continue;
      dense_row<logarithm>(from, to, n, to, NextRow(), depth);
    } else {
      dense_row<logarithm>(from, to, n, room, NextRow(), depth);
    }
  }
}

/// Rows that lie dense on both sides, each along the last axis. Past the caches a row's quotients are stored, piece by piece, while the exponentials of the
/// next one are computed, so that reading, computing and storing overlap (0.6 of copy bandwidth, 2-core Zen 4).
template <bool logarithm, bool past_caches, class X>
void dense_rows(const Tensor& x, Tensor& y) {
  constexpr Size grain = 8192;
  constexpr bool in_place = std::is_same_v<X, f32> && !past_caches;
  const Size n = x.shape().back(), rows = x.count() / n;
  const X* from = data<X>(x);
  X* to = data<X>(y);
  parallel_for(rows, n < grain ? grain / n : 1, [&](Size begin, Size end) {
    const auto after = [&](Size row) {
      return row + 1 == end ? NextRow() : NextRow(reinterpret_cast<const std::byte*>(from + (row + 1) * n), sizeof(X));
    };
    const Scratch<f32> room(in_place ? 0 : past_caches ? 2 * n : n);
    Depth depth = Depth::near;
    if constexpr (past_caches) {
      Quotients<logarithm, true, X> before{};
      for (Size row = begin; row < end; ++row) {
        const NextRow next = after(row);
        const auto meanwhile = [&](Size i, Size count) {
          next.fetch(i, count);
          if (row > begin) before(i, count);
        };
        before = quotients<logarithm, true>(from + row * n, to + row * n, n, room.data() + row % 2 * n, meanwhile, depth);
      }
      before(0, n);
      stream_fence();
    } else {
      for (Size row = begin; row < end; ++row) {
        if constexpr (in_place) {
          dense_row<logarithm>(from + row * n, to + row * n, n, to + row * n, after(row), depth);
        } else {
          dense_row<logarithm>(from + row * n, to + row * n, n, room.data(), after(row), depth);
        }
      }
    }
  });
}

template <class X>
void dense_rows(const Softmax& op, const Tensor& x, Tensor& y) {
  const Size row_bytes = x.shape().back() * Size{sizeof(X)};
  const bool whole_lines = row_bytes % 64 == 0 && reinterpret_cast<std::uintptr_t>(data<X>(y)) % 64 == 0;
  const bool past_caches = whole_lines && y.count() * Size{sizeof(X)} >= stream_threshold;
  if (op.logarithm) {
    past_caches ? dense_rows<true, true, X>(x, y) : dense_rows<true, false, X>(x, y);
  } else {
    past_caches ? dense_rows<false, true, X>(x, y) : dense_rows<false, false, X>(x, y);
  }
}

template <class Done>
void softmax_row(const f32* x, f32* y, Size n, const NextRow& next, Done done) {
  Depth depth = Depth::near;
  dense_row<false>(x, y, n, y, next, depth);
  done(0, n);
}

template <class Done>
void log_softmax_row(const f32* x, f32* y, Size n, const NextRow& next, Done done) {
  Depth depth = Depth::near;
  dense_row<true>(x, y, n, y, next, depth);
  done(0, n);
}

template <class Done>
void softmax_row(const f64* __restrict x, f64* __restrict y, Size n, const NextRow& next, Done done) {
  const f64 m = largest(x, n);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = numerics::exp_f64(x[i] - m);
  });
  const f64 sum = tree_sum(y, n);
  for (Size i = 0; i < n; ++i) y[i] = y[i] / sum;
  done(0, n);
}

template <class Done>
void log_softmax_row(const f64* __restrict x, f64* __restrict y, Size n, const NextRow& next, Done done) {
  const f64 m = largest(x, n);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = numerics::exp_f64(x[i] - m);
  });
  const f64 log_sum = numerics::log_f64(tree_sum(y, n));
  for_each_piece_of_row(n, NextRow(), [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = (x[i] - m) - log_sum;
    done(first, count);
  });
}

template <class T>
void softmax_as(const Softmax& op, const Tensor& x, Tensor& y) {
  const Size n = x.shape()[op.axis];
  for_each_row<T>(x, y, op.axis, std::is_same_v<T, f64> ? DType::f64 : DType::f32,
                  [&](const T* values, T* place, Size, const NextRow& next, auto done) {
                    op.logarithm ? log_softmax_row(values, place, n, next, done) : softmax_row(values, place, n, next, done);
                  });
}

void softmax(const Softmax& op, const Tensor& x, Tensor& y, Stream&) {
  if (op.axis + 1 == x.rank() && x.is_contiguous()) {
    if (x.dtype() == DType::f32) return dense_rows<f32>(op, x, y);
    if (x.dtype() == DType::bf16) return dense_rows<Bf16>(op, x, y);
    if (x.dtype() == DType::f16) return dense_rows<F16>(op, x, y);
  }
  if (x.dtype() == DType::f64) return softmax_as<f64>(op, x, y);
  softmax_as<f32>(op, x, y);
}

}  // namespace

void register_softmax(Kernels& kernels) {
  kernels.add<Softmax>(Device::cpu, softmax);
  add_few<Softmax>(0, DType::f32, few_rows<false, f32>);
  add_few<Softmax>(1, DType::f32, few_rows<true, f32>);
  add_few<Softmax>(0, DType::bf16, few_rows<false, Bf16>);
  add_few<Softmax>(1, DType::bf16, few_rows<true, Bf16>);
  add_few<Softmax>(0, DType::f16, few_rows<false, F16>);
  add_few<Softmax>(1, DType::f16, few_rows<true, F16>);
}

}  // namespace votive::cpu::VOTIVE_ISA
