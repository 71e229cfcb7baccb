// Loops over elements in blocks of whole cache lines, for what a plain loop over memory cannot say: outputs beyond the caches are stored around them
// without a tile on the way, and f16 and bf16 are widened and rounded in registers. Over a block the scalar text runs in a loop of constant length, which
// the compiler vectorises and then keeps in registers (g++ 12). Not here: layouts and threads (tile.h), which loop an operation takes (pointwise_plan.h).
#pragma once

#include <cstring>
#include <type_traits>

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {

/// Halves as they lie in memory; they are computed in f32.
struct F16 {
  u16 bits;
};
struct Bf16 {
  u16 bits;
};
template <class E>
inline constexpr bool is_half_element = std::is_same_v<E, F16> || std::is_same_v<E, Bf16>;
template <class E>
using ValueOf = std::conditional_t<is_half_element<E>, f32, E>;

/// Elements in a block: a line or more, and more than 16, below which g++ unrolls before it vectorises.
template <class Y>
inline constexpr int block_elements = sizeof(Y) == 1 ? 64 : 32;

/// n elements as values: where they lie, or widened into `room`; `paired` bf16 come as those at even and those at odd places of each register.
/// A NaN keeps its payload here: that is for put() to settle.
template <int n, bool paired, class E>
[[gnu::always_inline]] inline const ValueOf<E>* values_of(const E* from, [[maybe_unused]] ValueOf<E>* room) {
  if constexpr (!is_half_element<E>) {
    return from;
  } else {
#if defined(__AVX2__)
    constexpr int lanes = Vf32::lanes;
    const u16* bits = reinterpret_cast<const u16*>(from);
    if constexpr (std::is_same_v<E, F16>) {
      unroll<n / lanes>([&](auto i) __attribute__((always_inline)) { store(room + i * lanes, Vf32::load_f16(bits + i * lanes)); });
    } else if constexpr (!paired) {
      unroll<n / lanes>([&](auto i) __attribute__((always_inline)) { store(room + i * lanes, Vf32::load_bf16(bits + i * lanes)); });
    } else {
      unroll<n / lanes / 2>([&](auto i) __attribute__((always_inline)) {
        const Vi16 v = Vi16::load(bits + 2 * i * lanes);
        store(room + 2 * i * lanes, even_bf16(v));
        store(room + 2 * i * lanes + lanes, odd_bf16(v));
      });
    }
#else
    for (int j = 0; j < n; ++j) room[j] = std::is_same_v<E, F16> ? numerics::f16_to_f32(from[j].bits) : numerics::bf16_to_f32(from[j].bits);
#endif
    return room;
  }
}

/// Whole lines from aligned memory, which the compiler makes registers; past the caches `to` is aligned too.
template <int bytes, bool past_caches>
[[gnu::always_inline]] inline void put_lines(void* to, const void* from) {
  constexpr int width = sizeof(Vi8);
  unroll<bytes / width>([&](auto i) __attribute__((always_inline)) {
    const Vi8 v = Vi8::load(static_cast<const std::byte*>(from) + i * width);
    if constexpr (past_caches) {
      stream(static_cast<std::byte*>(to) + i * width, v);
    } else {
      store(static_cast<std::byte*>(to) + i * width, v);
    }
  });
}

#if defined(__AVX2__)
template <bool past_caches>
[[gnu::always_inline]] inline void put_register(u16* to, Vi16 v) {
  if constexpr (past_caches) {
    stream(to, as_i8(v));
  } else {
    store(to, v);
  }
}
template <bool past_caches>
[[gnu::always_inline]] inline void put_f16(u16* to, Vf32 v) {
  if constexpr (past_caches) {
    stream_f16(to, v);
  } else {
    store_f16(to, v);
  }
}
#endif

/// The inverse of values_of: each value rounded once, NaN the canonical one.
template <int n, bool paired, bool past_caches, class E>
[[gnu::always_inline]] inline void put(E* to, const ValueOf<E>* values) {
  if constexpr (!is_half_element<E>) {
    put_lines<n * sizeof(E), past_caches>(to, values);
  } else {
#if defined(__AVX2__)
    constexpr int lanes = Vf32::lanes;
    u16* bits = reinterpret_cast<u16*>(to);
    unroll<n / lanes / 2>([&](auto i) __attribute__((always_inline)) {
      Vf32 a = Vf32::load(values + 2 * i * lanes), b = Vf32::load(values + 2 * i * lanes + lanes);
      if constexpr (std::is_same_v<E, F16>) {
        settle_nan(a, b);
        put_f16<past_caches>(bits + 2 * i * lanes, a);
        put_f16<past_caches>(bits + 2 * i * lanes + lanes, b);
      } else {
        put_register<past_caches>(bits + 2 * i * lanes, paired ? zip_bf16(a, b) : to_bf16(a, b));
      }
    });
#else
    alignas(64) u16 bits[n];
    for (int j = 0; j < n; ++j) bits[j] = std::is_same_v<E, F16> ? numerics::f32_to_f16(values[j]) : numerics::f32_to_bf16(values[j]);
    put_lines<n * sizeof(E), past_caches>(to, bits);
#endif
  }
}

/// Room for widened elements, of none where they are read in place.
template <class E, int n>
struct Room {
  alignas(64) ValueOf<E> values[is_half_element<E> ? n : 1];
};

/// y = compute(x…) over one block.
template <bool past_caches, class Compute, class Y, class... X>
[[gnu::always_inline]] inline void one_block(Compute compute, Y* y, const X*... x) {
  constexpr int n = block_elements<Y>;
  constexpr bool paired = std::is_same_v<Y, Bf16> && (std::is_same_v<X, Bf16> && ...);
  alignas(64) ValueOf<Y> out[n];
  [&](const auto*... v) __attribute__((always_inline)) {
    for (int j = 0; j < n; ++j) out[j] = static_cast<ValueOf<Y>>(compute(v[j]...));
  }
  (values_of<n, paired>(x, Room<X, n>().values)...);
  put<n, paired, past_caches>(y, out);
}

/// Fewer elements than a block: through one that is padded with zeros.
template <class X, int n>
struct Padded {
  alignas(64) X elements[n] = {};
  Padded(const X* from, Size count) { std::memcpy(elements, from, static_cast<std::size_t>(count) * sizeof(X)); }
};
template <class Compute, class Y, class... X>
[[gnu::noinline]] void part_of_block(Compute compute, Size count, Y* y, const X*... x) {
  constexpr int n = block_elements<Y>;
  alignas(64) Y out[n];
  one_block<false>(compute, out, Padded<X, n>(x, count).elements...);
  std::memcpy(y, out, static_cast<std::size_t>(count) * sizeof(Y));
}

/// y[i] = compute(x[i]…) for i < n. Past the caches whole lines are stored around them, and stream_fence() is the caller's to call.
template <bool past_caches, class Compute, class Y, class... X>
[[gnu::always_inline]] inline void for_elements(Compute compute, Size n, Y* y, const X*... x) {
  constexpr Size block = block_elements<Y>;
  Size i = 0;
  if constexpr (past_caches) {
    const Size head = static_cast<Size>((64 - reinterpret_cast<std::uintptr_t>(y) % 64) % 64 / sizeof(Y));
    i = head < n ? head : n;
    if (i > 0) part_of_block(compute, i, y, x...);
  }
  for (; i + block <= n; i += block) one_block<past_caches>(compute, y + i, (x + i)...);
  if (i < n) part_of_block(compute, n - i, y + i, (x + i)...);
}

}  // namespace votive::cpu::VOTIVE_ISA
