// What reductions join with, and how the elements they join are stored. Not here: in which order (tree.h).
#pragma once

#include <limits>
#include <type_traits>

#include "votive/cpu/simd.h"
#include "votive/cpu/types.h"
#include "votive/numerics/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {

// What a tree joins with, and the number that changes nothing.

template <class T>
struct Sum {
  static constexpr bool in_vectors = std::is_floating_point_v<T>;
  static T identity() { return static_cast<T>(-0.0); }
  static T join(T a, T b) { return a + b; }
  template <class V>
  [[gnu::always_inline]] static V join_vectors(V a, V b) {
    return add(a, b);
  }
};
template <class T>
struct Product {
  static constexpr bool in_vectors = std::is_floating_point_v<T>;
  static T identity() { return T{1}; }
  static T join(T a, T b) { return a * b; }
  template <class V>
  [[gnu::always_inline]] static V join_vectors(V a, V b) {
    return mul(a, b);
  }
};
template <class T>
struct Least {
  static constexpr bool in_vectors = false;
  static T identity() { return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max(); }
  static T join(T a, T b) {
    if constexpr (std::is_same_v<T, f32>)
      return numerics::minimum_f32(a, b);
    else if constexpr (std::is_same_v<T, f64>)
      return numerics::minimum_f64(a, b);
    else
      return a < b ? a : b;
  }
};
template <class T>
struct Greatest {
  static constexpr bool in_vectors = false;
  static T identity() { return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest(); }
  static T join(T a, T b) {
    if constexpr (std::is_same_v<T, f32>)
      return numerics::maximum_f32(a, b);
    else if constexpr (std::is_same_v<T, f64>)
      return numerics::maximum_f64(a, b);
    else
      return a > b ? a : b;
  }
};

// How a tree's elements are stored, and what they are in it.

template <class Element>
struct Elements {  // as they are
  using T = Element;
  using Storage = Element;
  static T one(Storage x) { return x; }
  [[gnu::always_inline]] static auto load(const Storage* x) {
    if constexpr (std::is_same_v<T, f32>) return Vf32::load(x);
    if constexpr (std::is_same_v<T, f64>) return Vf64::load(x);
  }
};
struct Bf16Elements {
  using T = f32;
  using Storage = u16;
  static T one(Storage x) { return numerics::bf16_to_f32(x); }
  [[gnu::always_inline]] static Vf32 load(const Storage* x) { return Vf32::load_bf16(x); }
};
struct F16Elements {
  using T = f32;
  using Storage = u16;
  static T one(Storage x) { return numerics::f16_to_f32(x); }
  [[gnu::always_inline]] static Vf32 load(const Storage* x) { return Vf32::load_f16(x); }
};

}  // namespace votive::cpu::VOTIVE_ISA
