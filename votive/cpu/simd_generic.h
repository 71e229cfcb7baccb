// simd.h in plain C++: 4 lanes in arrays, the fma of numerics. What x86-64 without AVX2 and, for now, AArch64 run. Compilers vectorise most
// of it.
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {

template <class V, class T, int n>
struct Lanes {
  static constexpr int lanes = n;
  T v[n];
  [[gnu::always_inline]] static V zero() { return broadcast(T{0}); }
  [[gnu::always_inline]] static V broadcast(T x) {
    V r;
    for (T& l : r.v) l = x;
    return r;
  }
  [[gnu::always_inline]] static V load(const void* p) {
    V r;
    std::memcpy(r.v, p, sizeof r.v);
    return r;
  }
  [[gnu::always_inline]] static V load_part(const T* p, int count) {
    V r = zero();
    for (int i = 0; i < n && i < count; ++i) r.v[i] = p[i];
    return r;
  }
};

struct Vf32 : Lanes<Vf32, float, 4> {
  [[gnu::always_inline]] static Vf32 load_f16(const std::uint16_t* p) {
    Vf32 r;
    for (int i = 0; i < 4; ++i) r.v[i] = numerics::f16_to_f32(p[i]);
    return r;
  }
  [[gnu::always_inline]] static Vf32 load_bf16(const std::uint16_t* p) {
    Vf32 r;
    for (int i = 0; i < 4; ++i) r.v[i] = numerics::bf16_to_f32(p[i]);
    return r;
  }
  [[gnu::always_inline]] static Vf32 load_odd_bf16(const std::uint32_t* p) {
    Vf32 r;
    for (int i = 0; i < 4; ++i) r.v[i] = numerics::f32_from_bits(p[i] & 0xffff0000u);
    return r;
  }
  [[gnu::always_inline]] static Vf32 load_even_bf16(const std::uint32_t* p) {
    Vf32 r;
    for (int i = 0; i < 4; ++i) r.v[i] = numerics::f32_from_bits(p[i] << 16);
    return r;
  }
};
struct Vf64 : Lanes<Vf64, double, 2> {};
struct Vi32 : Lanes<Vi32, std::int32_t, 4> {};
struct Vi16 : Lanes<Vi16, std::int16_t, 8> {
  /// The two 16-bit numbers at p in every 32-bit lane.
  [[gnu::always_inline]] static Vi16 broadcast2(const void* p) {
    Vi16 r;
    for (int i = 0; i < 8; i += 2) std::memcpy(r.v + i, p, 4);
    return r;
  }
  [[gnu::always_inline]] static Vi16 load_i8(const std::int8_t* p) {
    Vi16 r;
    for (int i = 0; i < 8; ++i) r.v[i] = p[i];
    return r;
  }
};
struct Vi8 : Lanes<Vi8, std::int8_t, 16> {
  [[gnu::always_inline]] static Vi8 broadcast4(const void* p) {
    Vi8 r;
    for (int i = 0; i < 16; i += 4) std::memcpy(r.v + i, p, 4);
    return r;
  }
};

// Without the instruction an fma is a hundred others: called then, since inlined a thousand times it takes compilers minutes.
#if defined(__x86_64__) && !defined(__FMA__)
#define VOTIVE_FMA [[gnu::noinline]]
#else
#define VOTIVE_FMA [[gnu::always_inline]]
#endif
VOTIVE_FMA inline Vf32 fma(Vf32 a, Vf32 b, Vf32 c) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = numerics::fma_f32(a.v[i], b.v[i], c.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vf32 add(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] + b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf32 sub(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] - b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf32 mul(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] * b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf32 div(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] / b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf32 min(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf32 max(Vf32 a, Vf32 b) {
  Vf32 r;
  for (int i = 0; i < Vf32::lanes; ++i) r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return r;
}
VOTIVE_FMA inline Vf64 fma(Vf64 a, Vf64 b, Vf64 c) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = numerics::fma_f64(a.v[i], b.v[i], c.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vf64 add(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] + b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf64 sub(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] - b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf64 mul(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] * b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf64 div(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] / b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf64 min(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] < b.v[i] ? a.v[i] : b.v[i];
  return r;
}
[[gnu::always_inline]] inline Vf64 max(Vf64 a, Vf64 b) {
  Vf64 r;
  for (int i = 0; i < Vf64::lanes; ++i) r.v[i] = a.v[i] > b.v[i] ? a.v[i] : b.v[i];
  return r;
}

// Integers wrap: arithmetic in the unsigned type.
[[gnu::always_inline]] inline Vi32 add(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i)
    r.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) + static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi32 sub(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i)
    r.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) - static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi32 mul(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i)
    r.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) * static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi32 bit_and(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(a.v[i] & b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi32 bit_or(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(a.v[i] | b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi32 bit_xor(Vi32 a, Vi32 b) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(a.v[i] ^ b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi16 add(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i)
    r.v[i] = static_cast<std::int16_t>(static_cast<std::uint32_t>(a.v[i]) + static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi16 sub(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i)
    r.v[i] = static_cast<std::int16_t>(static_cast<std::uint32_t>(a.v[i]) - static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi16 mul(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i)
    r.v[i] = static_cast<std::int16_t>(static_cast<std::uint32_t>(a.v[i]) * static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi16 bit_and(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(a.v[i] & b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi16 bit_or(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(a.v[i] | b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi16 bit_xor(Vi16 a, Vi16 b) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(a.v[i] ^ b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi8 add(Vi8 a, Vi8 b) {
  Vi8 r;
  for (int i = 0; i < Vi8::lanes; ++i)
    r.v[i] = static_cast<std::int8_t>(static_cast<std::uint32_t>(a.v[i]) + static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi8 sub(Vi8 a, Vi8 b) {
  Vi8 r;
  for (int i = 0; i < Vi8::lanes; ++i)
    r.v[i] = static_cast<std::int8_t>(static_cast<std::uint32_t>(a.v[i]) - static_cast<std::uint32_t>(b.v[i]));
  return r;
}
[[gnu::always_inline]] inline Vi8 bit_and(Vi8 a, Vi8 b) {
  Vi8 r;
  for (int i = 0; i < Vi8::lanes; ++i) r.v[i] = static_cast<std::int8_t>(a.v[i] & b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi8 bit_or(Vi8 a, Vi8 b) {
  Vi8 r;
  for (int i = 0; i < Vi8::lanes; ++i) r.v[i] = static_cast<std::int8_t>(a.v[i] | b.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi8 bit_xor(Vi8 a, Vi8 b) {
  Vi8 r;
  for (int i = 0; i < Vi8::lanes; ++i) r.v[i] = static_cast<std::int8_t>(a.v[i] ^ b.v[i]);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi32 shift_left(Vi32 a) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) << n);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi32 shift_right(Vi32 a) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(a.v[i]) >> n);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi32 shift_right_signed(Vi32 a) {
  Vi32 r;
  for (int i = 0; i < Vi32::lanes; ++i) r.v[i] = static_cast<std::int32_t>(a.v[i] >> n);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_left(Vi16 a) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(static_cast<std::uint32_t>(a.v[i]) << n);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_right(Vi16 a) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(static_cast<std::uint16_t>(a.v[i]) >> n);
  return r;
}
template <int n>
[[gnu::always_inline]] inline Vi16 shift_right_signed(Vi16 a) {
  Vi16 r;
  for (int i = 0; i < Vi16::lanes; ++i) r.v[i] = static_cast<std::int16_t>(a.v[i] >> n);
  return r;
}

template <class To, class From>
[[gnu::always_inline]] inline To same_bytes(From a) {
  static_assert(sizeof(To) == sizeof(From));
  To r;
  std::memcpy(r.v, a.v, sizeof r.v);
  return r;
}
template <class V>
[[gnu::always_inline]] inline Vi8 as_i8(V a) {
  return same_bytes<Vi8>(a);
}
template <class V>
[[gnu::always_inline]] inline Vi16 as_i16(V a) {
  return same_bytes<Vi16>(a);
}
template <class V>
[[gnu::always_inline]] inline Vi32 as_i32(V a) {
  return same_bytes<Vi32>(a);
}
[[gnu::always_inline]] inline Vf32 as_f32(Vi32 a) { return same_bytes<Vf32>(a); }
[[gnu::always_inline]] inline Vf32 to_f32(Vi32 a) {
  Vf32 r;
  for (int i = 0; i < 4; ++i) r.v[i] = static_cast<float>(a.v[i]);
  return r;
}
[[gnu::always_inline]] inline Vi8 low_nibbles(Vi8 a) { return bit_and(a, Vi8::broadcast(15)); }
[[gnu::always_inline]] inline Vi8 high_nibbles(Vi8 a) { return low_nibbles(as_i8(shift_right<4>(as_i16(a)))); }

[[gnu::always_inline]] inline void store(float* p, Vf32 a) { std::memcpy(p, a.v, sizeof a.v); }
[[gnu::always_inline]] inline void store(double* p, Vf64 a) { std::memcpy(p, a.v, sizeof a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi32 a) { std::memcpy(p, a.v, sizeof a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi16 a) { std::memcpy(p, a.v, sizeof a.v); }
[[gnu::always_inline]] inline void store(void* p, Vi8 a) { std::memcpy(p, a.v, sizeof a.v); }
/// A store that bypasses the caches where the machine has one; p is a multiple of 16 bytes.
[[gnu::always_inline]] inline void stream(void* p, Vi8 a) {
#if defined(__SSE2__)
  __m128i v;
  std::memcpy(&v, a.v, sizeof v);
  _mm_stream_si128(static_cast<__m128i*>(p), v);
#else
  store(p, a);
#endif
}
[[gnu::always_inline]] inline void store_part(float* p, int n, Vf32 a) {
  for (int i = 0; i < 4 && i < n; ++i) p[i] = a.v[i];
}
[[gnu::always_inline]] inline void store_part(double* p, int n, Vf64 a) {
  for (int i = 0; i < 2 && i < n; ++i) p[i] = a.v[i];
}
[[gnu::always_inline]] inline void store_f16(std::uint16_t* p, Vf32 a) {
  for (int i = 0; i < 4; ++i) p[i] = numerics::f32_to_f16(a.v[i]);
}
[[gnu::always_inline]] inline void store_bf16(std::uint16_t* p, Vf32 a) {
  for (int i = 0; i < 4; ++i) p[i] = numerics::f32_to_bf16(a.v[i]);
}

[[gnu::always_inline]] inline Vi16 maddubs(Vi8 u, Vi8 s) {
  Vi16 r;
  for (int i = 0; i < 8; ++i) {
    const int x = static_cast<std::uint8_t>(u.v[2 * i]) * s.v[2 * i] + static_cast<std::uint8_t>(u.v[2 * i + 1]) * s.v[2 * i + 1];
    r.v[i] = static_cast<std::int16_t>(x > 32767 ? 32767 : x < -32768 ? -32768 : x);
  }
  return r;
}
[[gnu::always_inline]] inline Vi32 madd(Vi16 a, Vi16 b) {
  Vi32 r;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t even = static_cast<std::uint32_t>(a.v[2 * i] * b.v[2 * i]);
    r.v[i] = static_cast<std::int32_t>(even + static_cast<std::uint32_t>(a.v[2 * i + 1] * b.v[2 * i + 1]));
  }
  return r;
}
[[gnu::always_inline]] inline Vi32 dpwssd(Vi32 acc, Vi16 a, Vi16 b) { return add(acc, madd(a, b)); }
[[gnu::always_inline]] inline Vi32 dpbusd(Vi32 acc, Vi8 u, Vi8 s) {
  for (int i = 0; i < 4; ++i) {
    int sum = 0;
    for (int j = 4 * i; j < 4 * i + 4; ++j) sum += static_cast<std::uint8_t>(u.v[j]) * s.v[j];
    acc.v[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(acc.v[i]) + static_cast<std::uint32_t>(sum));
  }
  return acc;
}
[[gnu::always_inline]] inline void accumulate(Vf32& acc, Vf32 a, Vf32 b) { acc = fma(a, b, acc); }
[[gnu::always_inline]] inline void accumulate(Vf64& acc, Vf64 a, Vf64 b) { acc = fma(a, b, acc); }
[[gnu::always_inline]] inline void broadcast_from(const float* p, Vf32& r) { r = Vf32::broadcast(*p); }
[[gnu::always_inline]] inline void broadcast_from(const double* p, Vf64& r) { r = Vf64::broadcast(*p); }

template <class V>
[[gnu::always_inline]] inline void transpose(V* r) {
  for (int i = 0; i < V::lanes; ++i) {
    for (int j = 0; j < i; ++j) {
      const auto x = r[i].v[j];
      r[i].v[j] = r[j].v[i];
      r[j].v[i] = x;
    }
  }
}
/// One element of a bf16 chain: fma that flushes (CONTRACT.md 4.4).
VOTIVE_FMA inline void accumulate_flushed(Vf32& acc, Vf32 a, Vf32 b) {
  for (int i = 0; i < 4; ++i) acc.v[i] = numerics::fma_flush_f32(a.v[i], b.v[i], acc.v[i]);
}
[[gnu::always_inline]] inline Vf32 dpbf16(Vf32 acc, Vi32 a, Vi32 b) {
  const Vi32 high = Vi32::broadcast(-65536);
  accumulate_flushed(acc, as_f32(bit_and(a, high)), as_f32(bit_and(b, high)));
  accumulate_flushed(acc, as_f32(shift_left<16>(a)), as_f32(shift_left<16>(b)));
  return acc;
}

/// Nothing to set: dpbf16 flushes in the text.
class FlushToZero {
 public:
  FlushToZero() {}
  ~FlushToZero() {}
};

}  // namespace votive::cpu::VOTIVE_ISA
