// Orders along one axis: sort and topk. Elements become unsigned keys whose order is the contract's (NaN last, −0 equal to +0, complemented when descending),
// each with its index; equal keys keep their order. A whole axis is sorted by radix, a few largest are picked by a heap: both give the one stable order.
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/ops/reduce.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

struct Entry {
  u64 key;
  i64 index;
};

bool before(const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; }

u64 key_of(u64 x) { return x; }
u64 key_of(i64 x) { return static_cast<u64>(x) ^ 0x8000000000000000u; }
u64 key_of(f32 x) {
  if (x != x) return 0xffffffffu;
  const u32 bits = x == 0.0f ? 0u : numerics::bits_f32(x);
  return (bits >> 31) != 0 ? ~bits & 0xffffffffu : bits | 0x80000000u;
}
u64 key_of(f64 x) {
  if (x != x) return ~u64{0};
  const u64 bits = x == 0.0 ? 0u : numerics::bits_f64(x);
  return (bits >> 63) != 0 ? ~bits : bits | 0x8000000000000000u;
}

template <class T>
void make_entries(const T* x, Size n, bool descending, Entry* entries) {
  const u64 flip = descending ? ~u64{0} : 0;
  for (Size i = 0; i < n; ++i) entries[i] = {key_of(x[i]) ^ flip, i};
}

/// By bytes from the lowest, each pass stable; passes in which all bytes are equal are left out. The result is in `entries` again.
void radix_sort(Entry* entries, Entry* other, Size n) {
  Size counts[8][256] = {};
  for (Size i = 0; i < n; ++i) {
    for (int b = 0; b < 8; ++b) ++counts[b][entries[i].key >> (8 * b) & 255];
  }
  Entry* from = entries;
  Entry* to = other;
  for (int b = 0; b < 8; ++b) {
    Size* count = counts[b];
    if (count[from[0].key >> (8 * b) & 255] == n) continue;
    Size start = 0;
    for (int v = 0; v < 256; ++v) {
      const Size here = count[v];
      count[v] = start;
      start += here;
    }
    for (Size i = 0; i < n; ++i) to[count[from[i].key >> (8 * b) & 255]++] = from[i];
    Entry* swap = from;
    from = to;
    to = swap;
  }
  if (from != entries) std::memcpy(entries, from, sizeof(Entry) * static_cast<std::size_t>(n));
}

void insertion_sort(Entry* entries, Size n) {
  for (Size i = 1; i < n; ++i) {
    const Entry entry = entries[i];
    Size j = i;
    for (; j > 0 && before(entry, entries[j - 1]); --j) entries[j] = entries[j - 1];
    entries[j] = entry;
  }
}

/// Restores the heap (largest first) below place i.
void sift_down(Entry* heap, Size n, Size i) {
  const Entry entry = heap[i];
  while (true) {
    Size child = 2 * i + 1;
    if (child >= n) break;
    if (child + 1 < n && before(heap[child], heap[child + 1])) ++child;
    if (!before(entry, heap[child])) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = entry;
}

/// Brings the first k of the order to the front, sorted.
void pick(Entry* entries, Size n, Size k) {
  for (Size i = k / 2; i-- > 0;) sift_down(entries, k, i);
  for (Size i = k; i < n; ++i) {
    if (!before(entries[i], entries[0])) continue;
    entries[0] = entries[i];
    sift_down(entries, k, 0);
  }
  for (Size last = k - 1; last > 0; --last) {
    const Entry largest = entries[0];
    entries[0] = entries[last];
    entries[last] = largest;
    sift_down(entries, last, 0);
  }
}

void order(Entry* entries, Entry* other, Size n, Size k) {
  if (n <= 32) {
    insertion_sort(entries, n);
  } else if (k <= n / 16) {
    pick(entries, n, k);
  } else {
    radix_sort(entries, other, n);
  }
}

template <class T>
void sort_as(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices, DType as) {
  const Size n = x.shape()[op.axis], k = values.shape()[op.axis], rows = x.count() / n;
  const Size bytes = block_bytes(x.dtype());
  const Layout order_x = with_axis_last(x.layout(), op.axis);
  const Reader in(x, order_x, as), bits(x, order_x, x.dtype());
  const Writer out(values, with_axis_last(values.layout(), op.axis), values.dtype());
  const Writer places(indices, with_axis_last(indices.layout(), op.axis), DType::i64);
  parallel_for(rows, 1 + 4096 / n, [&](Size begin, Size end) {
    const Scratch<Entry> entries(2 * n);
    const Scratch<u64> room(n), raw_room(n), sorted(k);
    const Scratch<i64> index(k);
    for (Size row = begin; row < end; ++row) {
      make_entries(in.read<T>(row * n, n, room.data()), n, op.descending, entries.data());
      order(entries.data(), entries.data() + n, n, k);
      const std::byte* raw = bits.read_bytes(row * n, n, reinterpret_cast<std::byte*>(raw_room.data()));
      std::byte* to = reinterpret_cast<std::byte*>(sorted.data());
      for (Size i = 0; i < k; ++i) {
        index[i] = entries[i].index;
        std::memcpy(to + i * bytes, raw + index[i] * bytes, static_cast<std::size_t>(bytes));
      }
      out.write(row * k, k, to);
      places.write(row * k, k, index.data());
    }
    out.finish();
    places.finish();
  });
}

void sort(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  const DType as = exact_compute(x.dtype());
  switch (as) {
    case DType::f32: return sort_as<f32>(op, x, values, indices, as);
    case DType::f64: return sort_as<f64>(op, x, values, indices, as);
    case DType::i64: return sort_as<i64>(op, x, values, indices, as);
    default: return sort_as<u64>(op, x, values, indices, as);
  }
}

}  // namespace

void register_sort(Kernels& kernels) { kernels.add<Sort>(Device::cpu, sort); }

}  // namespace votive::cpu::VOTIVE_ISA
