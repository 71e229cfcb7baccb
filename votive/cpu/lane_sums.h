// Sums of the canonical tree whose elements are made where they are added: a kernel keeps the 32 lanes of a group in registers and hands them over here, or
// has so few elements that loading them is most of the work. Not here: runs that lie in memory (tree.h).
#pragma once

#include "votive/cpu/element_loops.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

/// How the tree reads elements that loops know as X: f32, or a half as it is stored.
template <class X>
using FromOf =
    std::conditional_t<std::is_same_v<X, F16>, F16Elements, std::conditional_t<std::is_same_v<X, Bf16>, Bf16Elements, Elements<f32>>>;
template <class X>
inline const typename FromOf<X>::Storage* stored(const X* x) {
  return reinterpret_cast<const typename FromOf<X>::Storage*>(x);
}

/// The sums of the groups of one chunk, at most eight, in order. What is absent is −0, so they join in pairs as far as there are any.
class GroupSums {
 public:
  using Lanes = LaneRegisters<Vf32>;

  [[gnu::always_inline]] void push(const Lanes& lanes) { group_[count_++] = lanes; }
  /// Of one group or more; no more groups after this.
  [[gnu::always_inline]] f32 total() {
    for (int apart = 1; apart < count_; apart *= 2) {
      for (int g = 0; g + apart < count_; g += 2 * apart) group_[g] = Lanes::join<Sum<f32>>(group_[g], group_[g + apart]);
    }
    alignas(64) f32 lane[tree_lanes];
    unroll<Lanes::registers>([&](auto i) __attribute__((always_inline)) { store(lane + i * Vf32::lanes, group_[0].r[i]); });
    return tree_fold_lanes<f32, Sum<f32>>(lane);
  }

 private:
  Lanes group_[8];
  int count_ = 0;
};

/// As many ones as a tree has lanes, then minus ones: what makes the zeros of absent lanes −0.
template <class T>
struct LaneSigns {
  alignas(64) T sign[2 * tree_lanes];
};
template <class T>
inline constexpr LaneSigns<T> lane_signs = [] {
  LaneSigns<T> signs{};
  for (Size l = 0; l < tree_lanes; ++l) {
    signs.sign[l] = T{1};
    signs.sign[l + tree_lanes] = T{-1};
  }
  return signs;
}();

/// The sum of 0 < n ≤ 32 elements (11 ns instead of 34, in which the elements are copied behind −0 first; 2-core Zen 4).
template <class T>
inline T sum_of_lanes(const T* x, Size n) {
  using V = decltype(Elements<T>::load(x));
  alignas(64) T lane[tree_lanes];
  unroll<tree_lanes / V::lanes>([&](auto i) __attribute__((always_inline)) {
    const Size left = n - i * V::lanes;
    const V part = V::load_part(x + i * V::lanes, static_cast<int>(left < 0 ? 0 : left < V::lanes ? left : V::lanes));
    store(lane + i * V::lanes, mul(part, V::load(lane_signs<T>.sign + tree_lanes - n + i * V::lanes)));
  });
  return tree_fold_lanes<T, Sum<T>>(lane);
}

}  // namespace votive::cpu::VOTIVE_ISA
