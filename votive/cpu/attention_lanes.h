// The softmax of many rows at once, each row a lane: scores lie key by key, `width` rows side by side. Sums are the canonical tree of every row
// (CONTRACT.md 3.2), whose 32 lanes are 32 keys here. Not here: where scores come from and which keys a row has (attention_many.cpp).
#pragma once

#include <cstring>

#include "votive/cpu/scratch.h"
#include "votive/cpu/simd.h"
#include "votive/numerics/math.h"

namespace votive::cpu::VOTIVE_ISA {

/// The trees of `width` rows, fed 32 keys at a time. Keys before the first one fed are absent.
class LaneTrees {
 public:
  static constexpr Size keys = numerics::tree_lanes;

  explicit LaneTrees(Size width)
      : width_(width), size_(keys * width), memory_(5 * size_ + upper_levels * width), upper_(memory_.data() + 5 * size_) {}

  void start(Size first_key) {
    step_ = first_key / keys;
    present_ = upper_present_ = 0;
    std::memset(memory_.data(), 0, static_cast<std::size_t>(size_) * sizeof(f32));
  }
  /// What the numbers of the next 32 keys are to be added to, then advance().
  f32* lanes() { return memory_.data(); }
  void advance() {
    if (++step_ % numerics::tree_group_steps == 0) close_group(step_ / numerics::tree_group_steps - 1);
  }
  void finish(f32* sums) {
    if (step_ % numerics::tree_group_steps != 0) close_group(step_ / numerics::tree_group_steps);
    if (present_ != 0) close_chunk((step_ - 1) / (numerics::tree_group_steps * groups));
    const f32* total = nullptr;
    for (int level = 0; level < upper_levels; ++level) {
      if ((upper_present_ >> level & 1) == 0) continue;
      if (total != nullptr) add_to(upper(level), total, width_);
      total = upper(level);
    }
    std::memcpy(sums, total, static_cast<std::size_t>(width_) * sizeof(f32));
  }

 private:
  static constexpr Size groups = numerics::tree_chunk / (numerics::tree_lanes * numerics::tree_group_steps);
  static constexpr int upper_levels = 40;

  f32* level(int i) { return memory_.data() + (1 + i) * size_; }
  f32* upper(int i) { return upper_ + i * width_; }
  static void add_to(f32* __restrict a, const f32* __restrict b, Size n) {
    for (Size i = 0; i < n; ++i) a[i] = a[i] + b[i];
  }

  void close_group(Size number) {
    const Size g = number % groups;
    const f32* value = lanes();
    int at = 0;
    for (; (g >> at & 1) != 0; ++at) {
      if ((present_ >> at & 1) == 0) continue;
      add_to(level(at), value, size_);
      value = level(at);
      present_ &= ~(1u << at);
    }
    std::memcpy(level(at), value, static_cast<std::size_t>(size_) * sizeof(f32));
    present_ |= 1u << at;
    std::memset(lanes(), 0, static_cast<std::size_t>(size_) * sizeof(f32));
    if (g == groups - 1) close_chunk(number / groups);
  }

  void close_chunk(Size number) {
    f32* total = nullptr;
    for (int i = 0; i < 4; ++i) {
      if ((present_ >> i & 1) == 0) continue;
      if (total != nullptr) add_to(level(i), total, size_);
      total = level(i);
    }
    present_ = 0;
    for (Size w = keys / 2; w > 0; w /= 2) add_to(total, total + w * width_, w * width_);
    const f32* value = total;
    int at = 0;
    for (; (number >> at & 1) != 0; ++at) {
      if ((upper_present_ >> at & 1) == 0) continue;
      add_to(upper(at), value, width_);
      value = upper(at);
      upper_present_ &= ~(u64{1} << at);
    }
    std::memcpy(upper(at), value, static_cast<std::size_t>(width_) * sizeof(f32));
    upper_present_ |= u64{1} << at;
  }

  Size width_, size_;  // of 32 keys
  Scratch<f32> memory_;
  f32* upper_;
  Size step_ = 0;
  u32 present_ = 0;  // levels that hold a sum of 2^level groups
  u64 upper_present_ = 0;
};

/// The largest number of every row over n keys. With a NaN among them any will do: its exponential is NaN, and so is the sum.
template <int vectors>
void largest_of_rows(const f32* x, Size n, f32* largest) {
  constexpr int lanes = Vf32::lanes, width = vectors * lanes, together = 4;
  Vf32 m[together * vectors];
  for (int i = 0; i < together * vectors; ++i) m[i] = Vf32::broadcast(-numerics::infinity_f32());
  Size s = 0;
  for (; s + together <= n; s += together) {
    unroll<together * vectors>([&](auto i) __attribute__((always_inline)) { m[i] = max(Vf32::load(x + s * width + i * lanes), m[i]); });
  }
  for (; s < n; ++s) {
    unroll<vectors>([&](auto i) __attribute__((always_inline)) { m[i] = max(Vf32::load(x + s * width + i * lanes), m[i]); });
  }
  unroll<vectors>([&](auto i) __attribute__((always_inline)) {
    const Vf32 a = max(m[i], m[vectors + i]), b = max(m[2 * vectors + i], m[3 * vectors + i]);
    store(largest + i * lanes, max(max(a, b), Vf32::load(largest + i * lanes)));
  });
}

/// x = exp(factor·x − m), and sums + x, over n numbers.
inline void exponentials(f32* __restrict x, const f32* __restrict m, f32 factor, f32* __restrict sums, Size n) {
  for (Size i = 0; i < n; ++i) {
    const f32 e = numerics::exp_f32(factor * x[i] - m[i]);
    x[i] = e;
    sums[i] = sums[i] + e;
  }
}

inline void divide(f32* __restrict x, const f32* __restrict by, Size n) {
  for (Size i = 0; i < n; ++i) x[i] = x[i] / by[i];
}

}  // namespace votive::cpu::VOTIVE_ISA
