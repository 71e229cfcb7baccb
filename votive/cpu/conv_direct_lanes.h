// Rows of elements turned into vectors across the rows: channels of an image as neighbours at each position, rows of a weight as lanes at each step of the sum,
// and sums of output channels as rows of the output again. Not here: where the vectors go (conv_direct.h).
#pragma once

#include <cstring>

#include "votive/cpu/matmul_tile.h"

namespace votive::cpu::VOTIVE_ISA {

/// How elements of storage become the words that a dot product multiplies.
template <class Dot, class Element>
struct LoadLanes {
  using Vector = typename Dot::Vector;
  static constexpr int lanes = Vector::lanes;
  static constexpr int elements = Dot::pairs ? 2 : 1;  // of each lane
  static Vector load(const Element* p, [[maybe_unused]] bool f16) {
    if constexpr (sizeof(Element) != 2) {
      return Vector::load(p);
    } else {
      return f16 ? Vector::load_f16(p) : Vector::load_bf16(p);
    }
  }
};

/// put(at, v) for every 0 ≤ at < n and perhaps twice for some: lane i of v is row i's element `at`, 0 from `rows` on. row(i) gives the address of a row's
/// first element; where a lane holds a pair of bf16, rows 2i and 2i + 1 are its halves. `swapped`: lane i is row i ^ 1. Elements `ahead` of these are fetched
/// meanwhile, unless it is 0.
template <class Dot, class Element, class Row, class Put>
[[gnu::always_inline]] inline void rows_to_lanes(Size rows, Size n, bool f16, bool swapped, Size ahead, Row row, Put put) {
  using Load = LoadLanes<Dot, Element>;
  using Vector = typename Dot::Vector;
  constexpr int lanes = Vector::lanes, taken = lanes * Load::elements;
  const Element* first[taken];
  Element absent[lanes] = {}, part[taken][lanes];
  for (int i = 0; i < taken; ++i) first[i] = i < rows ? row(swapped ? i ^ 1 : i) : nullptr;
  if (n < lanes) {
    for (int i = 0; i < taken && i < rows; ++i) {
      std::memset(part[i], 0, sizeof part[i]);
      std::memcpy(part[i], first[i], static_cast<std::size_t>(n) * sizeof(Element));
      first[i] = part[i];
    }
  }
  for (Size at = 0; at < n; at += lanes) {
    if (at + lanes > n) at = n < lanes ? 0 : n - lanes;
    if (ahead != 0) {
      for (int i = 0; i < taken && i < rows; ++i) __builtin_prefetch(first[i] + at + ahead, 0, 2);
    }
    const auto load = [&](int i) __attribute__((always_inline)) { return Load::load(first[i] != nullptr ? first[i] + at : absent, f16); };
    Vector v[lanes];
    unroll<lanes>([&](auto i) __attribute__((always_inline)) {
      if constexpr (Dot::pairs) {
        v[i] = as_f32(bit_or(shift_right<16>(as_i32(load(2 * i))), as_i32(load(2 * i + 1))));
      } else {
        v[i] = load(i);
      }
    });
    transpose(v);
    const int count = n < lanes ? static_cast<int>(n) : lanes;
    for (int i = 0; i < count; ++i) put(at + i, v[i]);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
