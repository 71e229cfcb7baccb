// How entries of a row (order_keys.h) are brought into their order, which is one whatever the way: insertion, comparison or radix by length; long rows are
// dealt into buckets by the leading bits of their keys first, so that each bucket is sorted in L2 and threads share them. The first few alone come from a
// heap, which most elements are kept from by one comparison. Not here: where rows come from (sort.cpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/cpu/order_keys.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {

template <class Entry>
void insertion_sort(Entry* entries, Size n) {
  for (Size i = 1; i < n; ++i) {
    const Entry entry = entries[i];
    Size j = i;
    for (; j > 0 && entry < entries[j - 1]; --j) entries[j] = entries[j - 1];
    entries[j] = entry;
  }
}

/// By the lowest `bits` of the keys less `least`, digit after digit from the lowest, each pass stable; passes in which all digits are equal are left out. The
/// result is in `entries` again.
template <class Entry>
void radix_sort(Entry* entries, Entry* other, Size n, u64 least, int bits) {
  constexpr int widest = 10, most_passes = (8 * Entry::key_bytes + widest - 1) / widest;
  const int passes = (bits + widest - 1) / widest;
  if (passes == 0) return;
  const int width = (bits + passes - 1) / passes;
  const u64 mask = (u64{1} << width) - 1;
  u32 counts[most_passes][1 << widest];
  for (int p = 0; p < passes; ++p) std::fill_n(counts[p], Size{1} << width, 0u);
  for (Size i = 0; i < n; ++i) {
    u64 key = entries[i].order() - least;
    for (int p = 0; p < passes; ++p, key >>= width) ++counts[p][key & mask];
  }
  Entry *from = entries, *to = other;
  for (int p = 0; p < passes; ++p) {
    u32* count = counts[p];
    const int shift = p * width;
    if (count[(from[0].order() - least) >> shift & mask] == static_cast<u64>(n)) continue;
    u32 start = 0;
    for (u64 v = 0; v <= mask; ++v) start += std::exchange(count[v], start);
    for (Size i = 0; i < n; ++i) to[count[(from[i].order() - least) >> shift & mask]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::memcpy(static_cast<void*>(entries), from, sizeof(Entry) * static_cast<std::size_t>(n));
}

inline constexpr Size past_l2 = Size{1} << 15;  // elements of a row that is dealt into buckets first
/// Whether bucket_sort takes rows of n elements.
inline bool has_buckets(Size n) { return n >= past_l2 && n <= Size{0xffffffff}; }

/// A row of n elements whose keys are key(i), dealt into 2048 buckets by the leading bits in which keys differ at all; take(entries, at, m) gets each bucket's
/// entries in their order, which are entries at … at + m of the row's. `dealt` and `room` hold n entries each.
template <class Entry, class Key, class Take>
void bucket_sort(Size n, Key key, Entry* dealt, Entry* room, Take take) {
  constexpr int bucket_bits = 11;
  constexpr Size buckets = Size{1} << bucket_bits, compared = 96;
  using K = std::conditional_t<Entry::key_bytes == 4, u32, u64>;
  const Size parts = std::min<Size>(threads(), n / past_l2), part = (n + parts - 1) / parts;
  const auto for_each_part = [&](auto body) {
    parallel_for(parts, 1, [&](Size begin, Size end) {
      for (Size p = begin; p < end; ++p) body(p, std::min(n, p * part), std::min(n, (p + 1) * part));
    });
  };
  const Scratch<K> low(parts), high(parts);
  for_each_part([&](Size p, Size begin, Size end) {
    K least = static_cast<K>(~K{0}), most = 0;
    for (Size i = begin; i < end; ++i) {
      const K k = static_cast<K>(key(i));
      least = k < least ? k : least;
      most = k > most ? k : most;
    }
    low[p] = least;
    high[p] = most;
  });
  const K least = *std::min_element(low.data(), low.data() + parts), most = *std::max_element(high.data(), high.data() + parts);
  const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<K>(most - least))) - bucket_bits);
  const Scratch<u32> places(parts * buckets), starts(buckets + 1);
  for_each_part([&](Size p, Size begin, Size end) {
    u32* count = places.data() + p * buckets;
    std::fill_n(count, buckets, 0u);
    for (Size i = begin; i < end; ++i) ++count[static_cast<K>(static_cast<K>(key(i)) - least) >> shift];
  });
  u32 start = 0;
  for (Size b = 0; b < buckets; ++b) {
    starts[b] = start;
    for (Size p = 0; p < parts; ++p) start += std::exchange(places[p * buckets + b], start);
  }
  starts[buckets] = start;
  for_each_part([&](Size p, Size begin, Size end) {
    u32* place = places.data() + p * buckets;
    for (Size i = begin; i < end; ++i) {
      const K k = static_cast<K>(key(i));
      dealt[place[static_cast<K>(k - least) >> shift]++] = Entry::of(k, i);
    }
  });
  parallel_for(buckets, 16, [&](Size begin, Size end) {
    for (Size b = begin; b < end; ++b) {
      const Size at = starts[b], m = starts[b + 1] - at;
      Entry* bucket = dealt + at;
      if (m > compared) {
        radix_sort(bucket, room + at, m, least + (static_cast<u64>(b) << shift), shift);
      } else if (m > 32) {
        std::sort(bucket, bucket + m);
      } else {
        insertion_sort(bucket, m);
      }
      take(bucket, at, m);
    }
  });
}

template <class Entry>
void sort_entries(Entry* entries, Entry* other, Size n) {
  if (n <= 32) {
    insertion_sort(entries, n);
  } else if (n <= 768 || n > Size{0xffffffff}) {  // below, the radix sort's tables cost more than comparing
    std::sort(entries, entries + n);
  } else {
    radix_sort(entries, other, n, 0, 8 * Entry::key_bytes);
  }
}

/// Restores the heap (largest first) below place i.
template <class Entry>
void sift_down(Entry* heap, Size n, Size i) {
  const Entry entry = heap[i];
  while (true) {
    Size child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && heap[child] < heap[child + 1]) ++child;
    if (!(entry < heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = entry;
}

/// The first k of n ≥ k elements in their order, which have places from `first` on. An element later in the row needs a smaller key to come in: blocks where
/// none has one are passed over by vectors.
template <class Entry, class T>
void pick(const T* x, Size n, Size k, bool descending, Size first, Entry* heap) {
  constexpr Size block = 64;
  make_entries(x, k, descending, heap, first);
  for (Size i = k / 2; i-- > 0;) sift_down(heap, k, i);
  using Key = std::conditional_t<Entry::key_bytes == 4, u32, u64>;
  for (Size i = k; i < n; i += block) {
    const Size end = std::min(n, i + block);
    const Key last = static_cast<Key>(heap[0].order());
    Key any = 0;
    for (Size j = i; j < end; ++j) any |= static_cast<Key>(key_in_order<Entry>(x[j], descending)) < last ? Key{1} : Key{0};
    for (Size j = i; any != 0 && j < end; ++j) {
      const Entry entry = Entry::of(key_in_order<Entry>(x[j], descending), first + j);
      if (!(entry < heap[0])) continue;
      heap[0] = entry;
      sift_down(heap, k, 0);
    }
  }
  std::sort_heap(heap, heap + k);
}

}  // namespace votive::cpu::VOTIVE_ISA
