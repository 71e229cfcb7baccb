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
};

using F32Keys = FloatKeys<u32, 23>;
using F64Keys = FloatKeys<u64, 52>;
using F16Keys = FloatKeys<u16, 10>;
using Bf16Keys = FloatKeys<u16, 7>;

enum class KeyOrder { exact, level };

template <class Keys, KeyOrder order, bool largest, class K, class U>
[[gnu::always_inline]] inline K key_in(U x) {
  if constexpr (order == KeyOrder::exact) {
    return Keys::template exact<largest, K>(x);
  } else {
    return Keys::template level<largest, K>(x);
  }
}

/// The extreme key of n > 0 dense elements. Four registers to an iteration: a window of few instructions to a line reads ahead further.
template <class Keys, KeyOrder order, bool largest>
inline typename Keys::Key extreme_key(const typename Keys::Storage* x, Size n) {
  using Storage = typename Keys::Storage;
  using Key = typename Keys::Key;
  using K = typename Wide<Key>::Type;
  using U = typename Wide<Storage>::Type;
  constexpr Size lanes = Wide<Key>::lanes;
  Key best = key_in<Keys, order, largest, Key>(x[0]);
  Size i = 0;
  if (n >= 4 * lanes) {
    K most[4];
    unroll<4>([&](auto j)
                  __attribute__((always_inline)) { most[j] = key_in<Keys, order, largest, K>(Wide<Storage>::load(x + j * lanes)); });
    for (i = 4 * lanes; i + 4 * lanes <= n; i += 4 * lanes) {
      unroll<4>([&](auto j) __attribute__((always_inline)) {
        const U v = Wide<Storage>::load(x + i + j * lanes);
        most[j] = better<largest>(most[j], key_in<Keys, order, largest, K>(v));
      });
    }
    const K all = better<largest>(better<largest>(most[0], most[1]), better<largest>(most[2], most[3]));
    Key lane[lanes];
    std::memcpy(lane, &all, sizeof lane);
    for (Size w = lanes / 2; w > 0; w /= 2) {
      for (Size l = 0; l < w; ++l) lane[l] = better<largest>(lane[l], lane[l + w]);
    }
    best = lane[0];
  }
  for (; i < n; ++i) best = better<largest>(best, key_in<Keys, order, largest, Key>(x[i]));
  return best;
}

/// The first of n > 0 elements that has this level key, settled. There is one.
template <class Keys, bool largest>
inline Size place_of_key(const typename Keys::Storage* x, Size n, typename Keys::Key key) {
  using Key = typename Keys::Key;
  constexpr Size block = 64;
  const auto is_it = [&](Size i) { return Keys::template settled<largest>(Keys::template level<largest, Key>(x[i])) == key; };
  Size at = 0;
  for (; at + block < n; at += block) {
    Key found = 0;
    for (Size i = at; i < at + block; ++i) found = static_cast<Key>(found | static_cast<Key>(is_it(i)));
    if (found != 0) break;
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
