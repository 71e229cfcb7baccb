// The canonical tree of CONTRACT.md 3.2 as it stands there, in vectors: absent elements written out, the upper split recursive. What every other text of it,
// the library's own included, is compared with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace votive::literal {

struct Sum {
  static constexpr float absent = -0.0f;
  static constexpr float empty = 0.0f;
  template <class T>
  static T of(T a, T b) {
    return a + b;
  }
};
struct Product {
  static constexpr float absent = 1;
  static constexpr float empty = 1;
  template <class T>
  static T of(T a, T b) {
    return a * b;
  }
};

/// 3.2, steps 1 to 4: one chunk of 4096, what is missing filled in.
template <class Op, class T>
inline T chunk(std::vector<T> x) {
  x.resize(4096, T(Op::absent));
  std::vector<T> lanes(32);
  for (int lane = 0; lane < 32; ++lane) {
    T groups[8];
    for (int group = 0; group < 8; ++group) {
      T total = x[std::size_t(group * 16 * 32 + lane)];
      for (int step = 1; step < 16; ++step) total = Op::of(total, x[std::size_t((group * 16 + step) * 32 + lane)]);
      groups[group] = total;
    }
    const T left = Op::of(Op::of(groups[0], groups[1]), Op::of(groups[2], groups[3]));
    const T right = Op::of(Op::of(groups[4], groups[5]), Op::of(groups[6], groups[7]));
    lanes[std::size_t(lane)] = Op::of(left, right);
  }
  for (std::size_t w : {16u, 8u, 4u, 2u, 1u}) {
    for (std::size_t l = 0; l < w; ++l) lanes[l] = Op::of(lanes[l], lanes[l + w]);
  }
  return lanes[0];
}

/// Step 5.
template <class Op, class T>
inline T split(const std::vector<T>& chunks, std::size_t first, std::size_t count) {
  if (count == 1) return chunks[first];
  std::size_t left = 1;
  while (left * 2 < count) left *= 2;
  return Op::of(split<Op>(chunks, first, left), split<Op>(chunks, first + left, count - left));
}

template <class Op, class T>
inline T tree(const std::vector<T>& x) {
  if (x.empty()) return T(Op::empty);
  std::vector<T> chunks;
  for (std::size_t at = 0; at < x.size(); at += 4096) {
    chunks.push_back(chunk<Op>(std::vector<T>(x.begin() + long(at), x.begin() + long(std::min(x.size(), at + 4096)))));
  }
  return split<Op>(chunks, 0, chunks.size());
}

}  // namespace votive::literal
