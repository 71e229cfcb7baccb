// Elements as unsigned keys whose order is the contract's (CONTRACT.md 3.1): NaN last, −0 equal to +0; and an element of a row as its key and its place,
// which makes every order a stable one. Keys of 32 bits and their place are one u64. Not here: how anything is sorted.
#pragma once

#include "votive/cpu/types.h"
#include "votive/numerics/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {

inline u64 key_of(u64 x) { return x; }
inline u64 key_of(i64 x) { return static_cast<u64>(x) ^ 0x8000000000000000u; }
inline u64 key_of(f32 x) {
  const u32 bits = x == 0.0f ? 0u : numerics::bits_f32(x);
  const u32 key = (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  return x != x ? 0xffffffffu : key;
}
inline u64 key_of(f64 x) {
  const u64 bits = x == 0.0 ? 0u : numerics::bits_f64(x);
  const u64 key = (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000u;
  return x != x ? ~u64{0} : key;
}

/// A 64-bit key and a place.
struct WideEntry {
  static constexpr int key_bytes = 8;
  u64 key;
  i64 place;

  static WideEntry of(u64 key, Size place) { return {key, place}; }
  Size at() const { return place; }
  u64 order() const { return key; }
  bool same_key(const WideEntry& other) const { return key == other.key; }
  unsigned digit(int byte) const { return key >> (8 * byte) & 255; }
  friend bool operator<(const WideEntry& a, const WideEntry& b) { return a.key != b.key ? a.key < b.key : a.place < b.place; }
};

/// A 32-bit key above a 32-bit place: rows of fewer than 2³² elements of at most 32 bits.
struct NarrowEntry {
  static constexpr int key_bytes = 4;
  u64 both;

  static NarrowEntry of(u64 key, Size place) { return {key << 32 | static_cast<u64>(place)}; }
  Size at() const { return static_cast<Size>(both & 0xffffffffu); }
  u64 order() const { return both >> 32; }
  bool same_key(const NarrowEntry& other) const { return both >> 32 == other.both >> 32; }
  unsigned digit(int byte) const { return both >> (32 + 8 * byte) & 255; }
  friend bool operator<(const NarrowEntry& a, const NarrowEntry& b) { return a.both < b.both; }
};

/// Whether elements of this dtype have keys of 32 bits: their compute type may be wider, then its low half orders them as well.
inline bool has_narrow_keys(DType dtype) { return block_bytes(dtype) <= 4; }

/// The low half of a 64-bit integer's key, the sign in its place.
template <class T>
inline u64 narrow_key_of(T x) {
  if constexpr (std::is_same_v<T, i64>) {
    return static_cast<u32>(x) ^ 0x80000000u;
  } else {
    return key_of(x) & 0xffffffffu;
  }
}

/// Keys of one row as entries have them, ascending or descending.
template <class Entry, class T>
[[gnu::always_inline]] inline u64 key_in_order(T x, bool descending) {
  if constexpr (Entry::key_bytes == 4) {
    return narrow_key_of(x) ^ (descending ? 0xffffffffu : 0);
  } else {
    return key_of(x) ^ (descending ? ~u64{0} : 0);
  }
}

/// Entries of n elements of a row, the first of which has place `first`.
template <class Entry, class T>
inline void make_entries(const T* x, Size n, bool descending, Entry* entries, Size first = 0) {
  for (Size i = 0; i < n; ++i) entries[i] = Entry::of(key_in_order<Entry>(x[i], descending), first + i);
}

}  // namespace votive::cpu::VOTIVE_ISA
