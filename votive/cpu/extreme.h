// Least and greatest elements, and where they are, on integer keys: bits of a float in an order that has NaN at the wanted end, so that one integer comparison
// decides (3 instructions to a vector of any width; minimum() and maximum() of numerics take 12). Order-free, unlike sums (CONTRACT.md 3.4).
// Not here: which elements belong together (reduce.cpp, arg_reduce.cpp).
#pragma once

#include <cstring>
#include <limits>
#include <type_traits>

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"

namespace votive::cpu::VOTIVE_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

/// A register of integers on which + − & ^ >> and comparisons work lane by lane.
template <class T>
struct Wide {
  typedef T Type __attribute__((vector_size(vector_bytes)));
  static constexpr Size lanes = vector_bytes / static_cast<Size>(sizeof(T));
  [[gnu::always_inline]] static Type load(const T* p) {
    Type v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
};

/// `better` of two keys, or of two registers of them.
template <bool largest, class X>
[[gnu::always_inline]] inline X better(X a, X b) {
  return largest ? (a > b ? a : b) : (a < b ? a : b);
}

/// Elements that are their own keys.
template <class T>
struct IntegerKeys {
  using Storage = T;
  using Key = T;

  template <bool largest, class K, class U>
  [[gnu::always_inline]] static K exact(U x) {
    return x;
  }
  template <bool largest, class K, class U>
  [[gnu::always_inline]] static K level(U x) {
    return x;
  }
  template <bool largest>
  static Key settled(Key key) {
    return key;
  }
  template <bool largest>
  static Storage element(Key key) {
    return key;
  }
  template <bool largest>
  static Storage level_element(Key key) {
    return key;
  }
  static bool is_one_of_a_kind(Storage) { return true; }
};

/// Floats as their bits, of which `mantissa` are the mantissa's. Keys are signed.
template <class Bits, int mantissa>
struct FloatKeys {
  using Storage = Bits;
  using Key = std::make_signed_t<Bits>;
  static constexpr int sign_at = 8 * static_cast<int>(sizeof(Bits)) - 1;
  static constexpr Bits magnitude = static_cast<Bits>(static_cast<Bits>(~Bits{0}) >> 1);
  static constexpr Bits one_exponent = static_cast<Bits>(Bits{1} << mantissa);
  static constexpr Bits infinity = static_cast<Bits>(magnitude - one_exponent + 1), nan_shift = static_cast<Bits>(one_exponent - 1);

  /// −0 < +0, and a NaN of either sign beyond every number: the keys of NaN on the wrong side go round to the other by the shift. K and U are Key and Bits, or
  /// registers of them.
  template <bool largest, class K, class U>
  [[gnu::always_inline]] static K exact(U x) {
    const U sign = (U)((K)x >> sign_at);
    const U key = static_cast<U>(x ^ (sign & magnitude));
    return largest ? (K) static_cast<U>(key - nan_shift) : (K) static_cast<U>(key + nan_shift);
  }
  /// The same with −0 = +0. NaNs still differ: settled() makes them one.
  template <bool largest, class K, class U>
  [[gnu::always_inline]] static K level(U x) {
    const U sign = (U)((K)x >> sign_at);
    const U key = static_cast<U>(((x & magnitude) ^ sign) - sign);
    return largest ? (K) static_cast<U>(key - one_exponent) : (K) static_cast<U>(key + nan_shift);
  }
  template <bool largest>
  static constexpr Key any_nan = largest ? static_cast<Key>(infinity - one_exponent + 1)
                                         : static_cast<Key>(static_cast<Bits>(Bits{0} - infinity + nan_shift - 1));
  template <bool largest, class X>
  [[gnu::always_inline]] static X settled(X key) {
    if constexpr (std::is_same_v<X, Key>) {
      return better<!largest>(key, any_nan<largest>);
    } else {
      return better<!largest>(key, X{} + any_nan<largest>);
    }
  }
  /// What has that exact key; of NaN a quiet one.
  template <bool largest>
  static Storage element(Key key) {
    const Bits k = static_cast<Bits>(largest ? static_cast<Bits>(key) + nan_shift : static_cast<Bits>(key) - nan_shift);
    const Bits x = static_cast<Bits>((k >> sign_at) != 0 ? k ^ magnitude : k);
    return static_cast<Bits>((x & magnitude) > infinity ? x | one_exponent >> 1 : x);
  }
  /// What has that level key; of the zeros +0, of the NaNs one of them.
  template <bool largest>
  static Storage level_element(Key key) {
    const Bits k = static_cast<Bits>(largest ? static_cast<Bits>(key) + one_exponent : static_cast<Bits>(key) - nan_shift);
    return static_cast<Bits>((k >> sign_at) != 0 ? (Bits{0} - k) | ~magnitude : k);
  }
  /// Whether no other bits have the key of these.
  static bool is_one_of_a_kind(Storage x) { return (x & magnitude) != 0 && (x & magnitude) <= infinity; }
};

using F32Keys = FloatKeys<u32, 23>;
using F64Keys = FloatKeys<u64, 52>;
using F16Keys = FloatKeys<u16, 10>;
using Bf16Keys = FloatKeys<u16, 7>;

/// The extreme exact keys of n >= 4 registers of dense elements, lane by lane, and how many elements were read: four registers to an iteration, since a window
/// of few instructions to a line reads ahead further.
template <class Keys, bool largest, class K = typename Wide<typename Keys::Key>::Type>
[[gnu::always_inline]] inline K extreme_lanes(const typename Keys::Storage* x, Size n, Size& read) {
  using Storage = typename Keys::Storage;
  constexpr Size lanes = Wide<Storage>::lanes;
  K most[4];
  unroll<4>([&](auto j) __attribute__((always_inline)) { most[j] = Keys::template exact<largest, K>(Wide<Storage>::load(x + j * lanes)); });
  for (read = 4 * lanes; read + 4 * lanes <= n; read += 4 * lanes) {
    unroll<4>([&](auto j) __attribute__((always_inline)) {
      most[j] = better<largest>(most[j], Keys::template exact<largest, K>(Wide<Storage>::load(x + read + j * lanes)));
    });
  }
  return better<largest>(better<largest>(most[0], most[1]), better<largest>(most[2], most[3]));
}

/// The extreme lane: halves are joined as registers, sixteen bytes one by one.
template <class Key, bool largest, class K>
inline Key best_lane(K keys) {
  if constexpr (sizeof keys > 16) {
    typedef Key Half __attribute__((vector_size(sizeof keys / 2)));
    Half half[2];
    std::memcpy(half, &keys, sizeof half);
    return best_lane<Key, largest>(better<largest>(half[0], half[1]));
  } else {
    Key lane[sizeof keys / sizeof(Key)];
    std::memcpy(lane, &keys, sizeof lane);
    Key best = lane[0];
    for (const Key key : lane) best = better<largest>(best, key);
    return best;
  }
}

/// Whether a lane of a comparison holds. Cheaper than to fold the register.
template <class Lanes>
inline bool any_lane(Lanes holds) {
  u64 part[vector_bytes / 8];
  std::memcpy(part, &holds, sizeof part);
  u64 any = 0;
  for (const u64 p : part) any |= p;
  return any != 0;
}

/// The extreme exact key of n > 0 dense elements.
template <class Keys, bool largest>
inline typename Keys::Key extreme_key(const typename Keys::Storage* x, Size n) {
  using Key = typename Keys::Key;
  Key best = Keys::template exact<largest, Key>(x[0]);
  Size i = 0;
  if (n >= 4 * Wide<Key>::lanes) best = best_lane<Key, largest>(extreme_lanes<Keys, largest>(x, n, i));
  for (; i < n; ++i) best = better<largest>(best, Keys::template exact<largest, Key>(x[i]));
  return best;
}

/// The first of n elements that has these bits, or a place less than a register before it, or less than four before the end.
template <class T>
inline Size near_bits(const T* x, Size n, T bits) {
  constexpr Size lanes = Wide<T>::lanes;
  const auto at_register = [&](Size at) __attribute__((always_inline)) { return Wide<T>::load(x + at) == bits; };
  Size at = 0;
  for (; at + 4 * lanes <= n; at += 4 * lanes) {
    if (any_lane(at_register(at) | at_register(at + lanes) | at_register(at + 2 * lanes) | at_register(at + 3 * lanes))) break;
  }
  while (at + 4 * lanes <= n && !any_lane(at_register(at))) at += lanes;
  return at;
}

/// The first of n > 0 elements that has this level key, settled. There is one.
template <class Keys, bool largest>
inline Size place_of_key(const typename Keys::Storage* x, Size n, typename Keys::Key key) {
  using Key = typename Keys::Key;
  const auto bits = Keys::template level_element<largest>(key);
  const auto is_it = [&](Size i) { return Keys::template settled<largest>(Keys::template level<largest, Key>(x[i])) == key; };
  Size at = 0;
  if (Keys::is_one_of_a_kind(bits)) {
    at = near_bits(x, n, bits);
  } else {
    constexpr Size block = 64;
    for (; at + block < n; at += block) {
      Key found = 0;
      for (Size i = at; i < at + block; ++i) found = static_cast<Key>(found | static_cast<Key>(is_it(i)));
      if (found != 0) break;
    }
  }
  while (at + 1 < n && !is_it(at)) ++at;
  return at;
}

/// best[c] = the better of it and of `rows` rows in column c; with `begin`, of the rows alone.
template <class Keys, bool largest, int rows>
inline void join_extremes(const typename Keys::Storage* __restrict x, Size step, Size n, typename Keys::Key* __restrict best, bool begin) {
  using Key = typename Keys::Key;
  const auto at = [&](Size i) __attribute__((always_inline)) { return Keys::template exact<largest, Key>(x[i]); };
  if (begin) {
    for (Size c = 0; c < n; ++c) best[c] = at(c);
  }
  for (Size c = 0; c < n; ++c) {
    Key most = best[c];
    unroll<rows>([&](auto r) __attribute__((always_inline)) { most = better<largest>(most, at(r * step + c)); });
    best[c] = most;
  }
}

/// The same with the number of the first row that has it: `first` and the next ones.
template <class Keys, bool largest, int rows>
inline void join_places(const typename Keys::Storage* __restrict x, Size step, Size n, std::make_signed_t<typename Keys::Key> first,
                        typename Keys::Key* __restrict best, std::make_signed_t<typename Keys::Key>* __restrict place, bool begin) {
  using Key = typename Keys::Key;
  using Place = std::make_signed_t<Key>;
  const auto at = [&](Size i) __attribute__((always_inline)) {
    return Keys::template settled<largest>(Keys::template level<largest, Key>(x[i]));
  };
  if (begin) {
    for (Size c = 0; c < n; ++c) {
      best[c] = at(c);
      place[c] = first;
    }
  }
  for (Size c = 0; c < n; ++c) {
    Key most = best[c];
    Place where = place[c];
    unroll<rows>([&](auto r) __attribute__((always_inline)) {
      const Key key = at(r * step + c);
      where = (largest ? key > most : key < most) ? static_cast<Place>(first + r) : where;
      most = better<largest>(most, key);
    });
    best[c] = most;
    place[c] = where;
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
