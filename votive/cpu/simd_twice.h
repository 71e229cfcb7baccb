// A vector of twice the lanes, as two halves: the width of AVX-512 on AVX2, so that a kernel written for sixteen lanes runs on either.
// Lane i of the low half is lane i of the whole; operations that combine neighbours do so inside 32-bit lanes, and so never across halves.
#pragma once

#include <cstdint>
#include <utility>

namespace votive::cpu::VOTIVE_ISA {

template <class V>
struct Twice {
  static constexpr int lanes = 2 * V::lanes;
  V low, high;
  [[gnu::always_inline]] static Twice zero() { return {V::zero(), V::zero()}; }
  template <class X>
  [[gnu::always_inline]] static Twice broadcast(X x) {
    return {V::broadcast(x), V::broadcast(x)};
  }
  template <class P>
  [[gnu::always_inline]] static Twice broadcast2(const P* p) {
    return {V::broadcast2(p), V::broadcast2(p)};
  }
  template <class P>
  [[gnu::always_inline]] static Twice broadcast4(const P* p) {
    return {V::broadcast4(p), V::broadcast4(p)};
  }
  template <class P>
  [[gnu::always_inline]] static Twice load(const P* p) {
    return {V::load(p), V::load(reinterpret_cast<const char*>(p) + sizeof(V))};
  }
  [[gnu::always_inline]] static Twice load(const float* p) { return {V::load(p), V::load(p + V::lanes)}; }
  [[gnu::always_inline]] static Twice load(const double* p) { return {V::load(p), V::load(p + V::lanes)}; }
  template <class P>
  [[gnu::always_inline]] static Twice load_part(const P* p, int n) {
    if (n <= V::lanes) return {V::load_part(p, n), V::zero()};
    return {V::load(p), V::load_part(p + V::lanes, n - V::lanes)};
  }
  [[gnu::always_inline]] static Twice load_f16(const std::uint16_t* p) { return {V::load_f16(p), V::load_f16(p + V::lanes)}; }
  [[gnu::always_inline]] static Twice load_bf16(const std::uint16_t* p) { return {V::load_bf16(p), V::load_bf16(p + V::lanes)}; }
  [[gnu::always_inline]] static Twice load_odd_bf16(const std::uint32_t* p) {
    return {V::load_odd_bf16(p), V::load_odd_bf16(p + V::lanes)};
  }
  [[gnu::always_inline]] static Twice load_even_bf16(const std::uint32_t* p) {
    return {V::load_even_bf16(p), V::load_even_bf16(p + V::lanes)};
  }
  [[gnu::always_inline]] static Twice load_i8(const std::int8_t* p) { return {V::load_i8(p), V::load_i8(p + V::lanes)}; }
};

template <class V>
[[gnu::always_inline]] inline Twice<V> fma(Twice<V> a, Twice<V> b, Twice<V> c) {
  return {fma(a.low, b.low, c.low), fma(a.high, b.high, c.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> add(Twice<V> a, Twice<V> b) {
  return {add(a.low, b.low), add(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> sub(Twice<V> a, Twice<V> b) {
  return {sub(a.low, b.low), sub(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> mul(Twice<V> a, Twice<V> b) {
  return {mul(a.low, b.low), mul(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> div(Twice<V> a, Twice<V> b) {
  return {div(a.low, b.low), div(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> min(Twice<V> a, Twice<V> b) {
  return {min(a.low, b.low), min(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> max(Twice<V> a, Twice<V> b) {
  return {max(a.low, b.low), max(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> bit_and(Twice<V> a, Twice<V> b) {
  return {bit_and(a.low, b.low), bit_and(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> bit_or(Twice<V> a, Twice<V> b) {
  return {bit_or(a.low, b.low), bit_or(a.high, b.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> bit_xor(Twice<V> a, Twice<V> b) {
  return {bit_xor(a.low, b.low), bit_xor(a.high, b.high)};
}
template <int n, class V>
[[gnu::always_inline]] inline Twice<V> shift_left(Twice<V> a) {
  return {shift_left<n>(a.low), shift_left<n>(a.high)};
}
template <int n, class V>
[[gnu::always_inline]] inline Twice<V> shift_right(Twice<V> a) {
  return {shift_right<n>(a.low), shift_right<n>(a.high)};
}
template <int n, class V>
[[gnu::always_inline]] inline Twice<V> shift_right_signed(Twice<V> a) {
  return {shift_right_signed<n>(a.low), shift_right_signed<n>(a.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> low_nibbles(Twice<V> a) {
  return {low_nibbles(a.low), low_nibbles(a.high)};
}
template <class V>
[[gnu::always_inline]] inline Twice<V> high_nibbles(Twice<V> a) {
  return {high_nibbles(a.low), high_nibbles(a.high)};
}

template <class V>
[[gnu::always_inline]] inline auto as_i8(Twice<V> a) -> Twice<decltype(as_i8(a.low))> {
  return {as_i8(a.low), as_i8(a.high)};
}
template <class V>
[[gnu::always_inline]] inline auto as_i16(Twice<V> a) -> Twice<decltype(as_i16(a.low))> {
  return {as_i16(a.low), as_i16(a.high)};
}
template <class V>
[[gnu::always_inline]] inline auto as_i32(Twice<V> a) -> Twice<decltype(as_i32(a.low))> {
  return {as_i32(a.low), as_i32(a.high)};
}
template <class V>
[[gnu::always_inline]] inline auto as_f32(Twice<V> a) -> Twice<decltype(as_f32(a.low))> {
  return {as_f32(a.low), as_f32(a.high)};
}
template <class V>
[[gnu::always_inline]] inline auto to_f32(Twice<V> a) -> Twice<decltype(to_f32(a.low))> {
  return {to_f32(a.low), to_f32(a.high)};
}
template <class V>
[[gnu::always_inline]] inline auto maddubs(Twice<V> u, Twice<V> s) -> Twice<decltype(maddubs(u.low, s.low))> {
  return {maddubs(u.low, s.low), maddubs(u.high, s.high)};
}
template <class V>
[[gnu::always_inline]] inline auto madd(Twice<V> a, Twice<V> b) -> Twice<decltype(madd(a.low, b.low))> {
  return {madd(a.low, b.low), madd(a.high, b.high)};
}
template <class A, class V>
[[gnu::always_inline]] inline Twice<A> dpwssd(Twice<A> acc, Twice<V> a, Twice<V> b) {
  return {dpwssd(acc.low, a.low, b.low), dpwssd(acc.high, a.high, b.high)};
}
template <class A, class V>
[[gnu::always_inline]] inline Twice<A> dpbusd(Twice<A> acc, Twice<V> u, Twice<V> s) {
  return {dpbusd(acc.low, u.low, s.low), dpbusd(acc.high, u.high, s.high)};
}
template <class A, class V>
[[gnu::always_inline]] inline Twice<A> dpbf16(Twice<A> acc, Twice<V> a, Twice<V> b) {
  return {dpbf16(acc.low, a.low, b.low), dpbf16(acc.high, a.high, b.high)};
}

template <class P, class V>
[[gnu::always_inline]] inline void store(P* p, Twice<V> a) {
  if constexpr (std::is_void_v<P>) {
    store(p, a.low);
    store(static_cast<char*>(p) + sizeof(V), a.high);
  } else {
    store(p, a.low);
    store(reinterpret_cast<P*>(reinterpret_cast<char*>(p) + sizeof(V)), a.high);
  }
}
template <class P, class V>
[[gnu::always_inline]] inline void store_part(P* p, int n, Twice<V> a) {
  if (n <= V::lanes) {
    store_part(p, n, a.low);
  } else {
    store(p, a.low);
    store_part(p + V::lanes, n - V::lanes, a.high);
  }
}
template <class V>
[[gnu::always_inline]] inline void store_f16(std::uint16_t* p, Twice<V> a) {
  store_f16(p, a.low);
  store_f16(p + V::lanes, a.high);
}
template <class V>
[[gnu::always_inline]] inline void store_bf16(std::uint16_t* p, Twice<V> a) {
  store_bf16(p, a.low);
  store_bf16(p + V::lanes, a.high);
}
template <class V>
[[gnu::always_inline]] inline Twice<V> canonical(Twice<V> a) {
  return {canonical(a.low), canonical(a.high)};
}
template <class V>
[[gnu::always_inline]] inline void settle_nan(Twice<V>& a, Twice<V>& b) {
  settle_nan(a.low, a.high);
  settle_nan(b.low, b.high);
}
template <class V>
[[gnu::always_inline]] inline void stream_f16(std::uint16_t* p, Twice<V> a) {
  stream_f16(p, a.low);
  stream_f16(p + V::lanes, a.high);
}
template <class V>
[[gnu::always_inline]] inline auto to_bf16(Twice<V> a, Twice<V> b) -> Twice<decltype(to_bf16(a.low, a.high))> {
  return {to_bf16(a.low, a.high), to_bf16(b.low, b.high)};
}
template <class V>
[[gnu::always_inline]] inline auto even_bf16(Twice<V> v) -> Twice<decltype(even_bf16(v.low))> {
  return {even_bf16(v.low), even_bf16(v.high)};
}
template <class V>
[[gnu::always_inline]] inline auto odd_bf16(Twice<V> v) -> Twice<decltype(odd_bf16(v.low))> {
  return {odd_bf16(v.low), odd_bf16(v.high)};
}
template <class V>
[[gnu::always_inline]] inline auto zip_bf16(Twice<V> even, Twice<V> odd) -> Twice<decltype(zip_bf16(even.low, odd.low))> {
  return {zip_bf16(even.low, odd.low), zip_bf16(even.high, odd.high)};
}
template <class V>
[[gnu::always_inline]] inline void stream(void* p, Twice<V> a) {
  stream(p, a.low);
  stream(static_cast<char*>(p) + sizeof(V), a.high);
}
template <class V>
[[gnu::always_inline]] inline void accumulate(Twice<V>& acc, Twice<V> a, Twice<V> b) {
  accumulate(acc.low, a.low, b.low);
  accumulate(acc.high, a.high, b.high);
}
template <class P, class V>
[[gnu::always_inline]] inline void broadcast_from(const P* p, Twice<V>& r) {
  broadcast_from(p, r.low);
  r.high = r.low;
}

/// Four square quarters, the off-diagonal two exchanged.
template <class V>
[[gnu::always_inline]] inline void transpose(Twice<V>* r) {
  constexpr int n = V::lanes;
  V a[n], b[n], c[n], d[n];
  for (int i = 0; i < n; ++i) {
    a[i] = r[i].low;
    b[i] = r[i].high;
    c[i] = r[i + n].low;
    d[i] = r[i + n].high;
  }
  transpose(a);
  transpose(b);
  transpose(c);
  transpose(d);
  for (int i = 0; i < n; ++i) {
    r[i] = {a[i], c[i]};
    r[i + n] = {b[i], d[i]};
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
