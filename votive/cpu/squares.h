// Sums of squares in one pass, for norms. CONTRACT.md 3.4 scales every element by a power of two so that no square leaves the range. Where no square would,
// scaling is exact and changes nothing but exponents: then the tree takes the elements as they are, and what keeps that true is looked at on the way.
// Not here: what is done with the sums, and those that need their scale (statistics.cpp).
#pragma once

#include <atomic>

#include "votive/cpu/reduce.h"

namespace votive::cpu::VOTIVE_ISA {

namespace reducing {

/// Squares of elements as From reads them.
template <class From>
struct SquaresOf {
  using T = typename From::T;
  using Storage = typename From::Storage;
  static T one(Storage x) {
    const T v = From::one(x);
    return v * v;
  }
  [[gnu::always_inline]] static auto load(const Storage* x) {
    const auto v = From::load(x);
    return mul(v, v);
  }
};

/// Bits of a magnitude, which are in the order of magnitudes, and the exponents that squares may have.
/// With e the exponent of the largest: 2·e and 40 bits of carries stay below infinity, and the least, as it is or times 2⁻ᵉ, has a normal square.
template <class From>
struct Magnitudes;
template <>
struct Magnitudes<Elements<f32>> {
  using Bits = u32;
  static constexpr int fraction = 23, lowest = 127 - 63, highest = 127 + 40, span = 63;
};
template <>
struct Magnitudes<Elements<f64>> {
  using Bits = u64;
  static constexpr int fraction = 52, lowest = 1023 - 511, highest = 1023 + 400, span = 511;
};
template <>
struct Magnitudes<Bf16Elements> {
  using Bits = u16;
  static constexpr int fraction = 7, lowest = 127 - 63, highest = 127 + 40, span = 63;
};
template <>
struct Magnitudes<F16Elements> {  // whatever is finite
  using Bits = u16;
  static constexpr int fraction = 10, lowest = 0, highest = 30, span = 31;
};

/// The least magnitude that is not 0 and the largest one, of all that threads have seen.
template <class From>
class Range {
 public:
  using Bits = typename Magnitudes<From>::Bits;

  void see(const typename From::Storage* x, Size n) {
    constexpr Bits mask = static_cast<Bits>(~Bits{0}) >> 1;
    Bits below_least = static_cast<Bits>(~Bits{0}), most = 0;  // one below the least: 0 is none
    for (Size i = 0; i < n; ++i) {
      Bits bits;
      std::memcpy(&bits, x + i, sizeof bits);
      bits &= mask;
      const Bits below = static_cast<Bits>(bits - 1);
      most = bits > most ? bits : most;
      below_least = below < below_least ? below : below_least;
    }
    for (Bits so_far = most_.load(); most > so_far && !most_.compare_exchange_weak(so_far, most);) {}
    for (Bits so_far = below_least_.load(); below_least < so_far && !below_least_.compare_exchange_weak(so_far, below_least);) {}
  }
  /// Whether the squares of all, and their sums, need no scale.
  bool suits() const {
    using M = Magnitudes<From>;
    const int most = static_cast<int>(most_.load() >> M::fraction),
              least = static_cast<int>(static_cast<Bits>(below_least_.load() + 1) >> M::fraction);
    return most <= M::highest && (most_.load() == 0 || (least >= M::lowest && most - least <= M::span));
  }

 private:
  std::atomic<Bits> most_{0}, below_least_{static_cast<Bits>(~Bits{0})};
};

/// What reduce_rows joins: squares of elements as they are stored, each chunk looked at first.
template <class From>
struct Squares {
  static constexpr bool identity = true;
  Range<From>* range;

  template <class, class Join>
  auto leaf(const typename From::Storage* x, Size n, typename From::T*, Size) const {
    range->see(x, n);
    return tree_of_registers<SquaresOf<From>, Join>(x, n);
  }
};

/// results[o] = T(x²) of elements as they are stored; false where that says nothing of T((x·2⁻ᵉ)²).
template <class From>
bool sum_squares(const Tensor& x, const Plan& plan, typename From::T* results) {
  using T = typename From::T;
  using Join = Sum<T>;
  using Storage = typename From::Storage;
  if (plan.n == 0) return false;
  const bool columns = plan.runs_across();
  Range<From> range;
  if (columns) {
    const Storage* elements = Reader(x, x.layout(), x.dtype()).template dense<Storage>();
    if (elements == nullptr) return false;
    parallel_for(x.count(), grain, [&](Size begin, Size end) { range.see(elements + begin, end - begin); });
    if (!range.suits()) return false;
  }
  const Scratch<T> memory(plan.chunks > 1 ? plan.outputs * plan.chunks : 0);
  T* partial = plan.chunks > 1 ? memory.data() : results;
  if (columns) {
    reduce_columns<T, Join, SquaresOf<From>>(x, plan, partial);
  } else {
    reduce_rows<T, Join, From>(x, plan, x.dtype(), partial, Squares<From>{&range});
    if (!range.suits()) return false;
  }
  if (plan.chunks > 1) join_chunks<T, Join>(plan, columns, partial, results);
  return true;
}

}  // namespace reducing

}  // namespace votive::cpu::VOTIVE_ISA
