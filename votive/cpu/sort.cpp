// Orders along one axis: sort, topk, and which element of a row is the k-th, its median or its most frequent. Elements become keys with their places
// (order_keys.h), so equal ones keep their order. A long row is sorted by radix, a short one by comparison, a few largest are picked by a heap, a rank by
// selection: all give the one stable order.
#include <algorithm>
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/order_keys.h"
#include "votive/cpu/rows.h"
#include "votive/ops/order.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

/// By bytes from the lowest, each pass stable; passes in which all bytes are equal are left out. The result is in `entries` again.
template <class Entry>
void radix_sort(Entry* entries, Entry* other, Size n) {
  constexpr int bytes = Entry::key_bytes;
  Size counts[bytes][256] = {};
  for (Size i = 0; i < n; ++i) {
    for (int b = 0; b < bytes; ++b) ++counts[b][entries[i].digit(b)];
  }
  Entry* from = entries;
  Entry* to = other;
  for (int b = 0; b < bytes; ++b) {
    Size* count = counts[b];
    if (count[from[0].digit(b)] == n) continue;
    Size start = 0;
    for (int v = 0; v < 256; ++v) {
      const Size here = count[v];
      count[v] = start;
      start += here;
    }
    for (Size i = 0; i < n; ++i) to[count[from[i].digit(b)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::memcpy(entries, from, sizeof(Entry) * static_cast<std::size_t>(n));
}

template <class Entry>
void insertion_sort(Entry* entries, Size n) {
  for (Size i = 1; i < n; ++i) {
    const Entry entry = entries[i];
    Size j = i;
    for (; j > 0 && entry < entries[j - 1]; --j) entries[j] = entries[j - 1];
    entries[j] = entry;
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

/// Brings the first k of the order to the front, sorted.
template <class Entry>
void pick(Entry* entries, Size n, Size k) {
  for (Size i = k / 2; i-- > 0;) sift_down(entries, k, i);
  for (Size i = k; i < n; ++i) {
    if (!(entries[i] < entries[0])) continue;
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

template <class Entry>
void sort_entries(Entry* entries, Entry* other, Size n) {
  if (n <= 32) {
    insertion_sort(entries, n);
  } else if (n <= 768) {  // below, the radix sort's tables cost more than comparing
    std::sort(entries, entries + n);
  } else {
    radix_sort(entries, other, n);
  }
}

template <class Entry>
void order(Entry* entries, Entry* other, Size n, Size k) {
  if (n > 32 && k <= n / 16) {
    pick(entries, n, k);
  } else {
    sort_entries(entries, other, n);
  }
}

/// Calls body(entries of the row, as many more to work in, row) for every row along the axis.
template <class Entry, class T, class Body>
void for_each_row_of_entries(const Tensor& x, int axis, bool descending, Body body) {
  const Size n = x.shape()[axis], rows = x.count() / n;
  const Reader in(x, with_axis_last(x.layout(), axis), exact_compute(x.dtype()));
  parallel_for(rows, 1 + 4096 / n, [&](Size begin, Size end) {
    const Scratch<Entry> entries(2 * n);
    const Scratch<T> room(n);
    body(begin, end, [&](Size row) {
      make_entries<Entry>(in.read<T>(row * n, n, room.data()), n, descending, entries.data());
      return entries.data();
    });
  });
}

/// Elements of one width, by their places.
template <class T>
void fetch(const std::byte* row, const i64* places, Size k, std::byte* to) {
  const T* from = reinterpret_cast<const T*>(row);
  for (Size i = 0; i < k; ++i) reinterpret_cast<T*>(to)[i] = from[places[i]];
}

template <class Entry, class T>
void sort_as(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices) {
  const Size n = x.shape()[op.axis], k = values.shape()[op.axis], bytes = block_bytes(x.dtype());
  const auto fetch_elements = bytes == 1 ? fetch<u8> : bytes == 2 ? fetch<u16> : bytes == 4 ? fetch<u32> : fetch<u64>;
  const Reader bits(x, with_axis_last(x.layout(), op.axis), x.dtype());
  const Writer out(values, with_axis_last(values.layout(), op.axis), values.dtype());
  const Writer places(indices, with_axis_last(indices.layout(), op.axis), DType::i64);
  for_each_row_of_entries<Entry, T>(x, op.axis, op.descending, [&](Size begin, Size end, auto entries_of) {
    const Scratch<u64> raw_room(n), sorted(k);
    const Scratch<i64> room(k);
    for (Size row = begin; row < end; ++row) {
      Entry* entries = entries_of(row);
      order(entries, entries + n, n, k);
      const std::byte* raw = bits.read_bytes(row * n, n, reinterpret_cast<std::byte*>(raw_room.data()));
      i64* index = places.place<i64>(row * k, room.data());
      for (Size i = 0; i < k; ++i) index[i] = entries[i].at();
      std::byte* to = out.place<std::byte>(row * k, sorted.data());
      fetch_elements(raw, index, k, to);
      out.write(row * k, k, to);
      places.write(row * k, k, index);
    }
    out.finish();
    places.finish();
  });
}

/// Elements of a row that are NaN, as f32, f64 or none at all.
template <class T>
Size count_nan(const T* x, Size n) {
  Size found = 0;
  if constexpr (std::is_floating_point_v<T>) {
    for (Size i = 0; i < n; ++i) found += x[i] != x[i];
  }
  return found;
}

template <class Entry>
Size rank_in(Entry* entries, Size n, Size rank) {
  std::nth_element(entries, entries + rank, entries + n);
  return entries[rank].at();
}

/// The first of the longest run of equal keys; of several such runs that of the least key.
template <class Entry>
Size most_frequent(Entry* entries, Entry* other, Size n) {
  sort_entries(entries, other, n);
  Size best = 0, longest = 0;
  for (Size i = 0; i < n;) {
    Size end = i + 1;
    while (end < n && entries[end].same_key(entries[i])) ++end;
    if (end - i > longest) {
      longest = end - i;
      best = i;
    }
    i = end;
  }
  return entries[best].at();
}

template <class Entry, class T>
void rank_as(const Rank& op, const Tensor& x, Tensor& y) {
  const Size n = x.shape()[op.axis];
  const Layout layout = with_axis_last(x.layout(), op.axis);
  const Reader in(x, layout, exact_compute(x.dtype()));
  i64* to = data<i64>(y);
  for_each_row_of_entries<Entry, T>(x, op.axis, false, [&](Size begin, Size end, auto entries_of) {
    const Scratch<T> room(n);
    for (Size row = begin; row < end; ++row) {
      Entry* entries = entries_of(row);
      if (op.kind == RankKind::kth) {
        to[row] = rank_in(entries, n, op.k - 1);
      } else if (op.kind == RankKind::mode) {
        to[row] = most_frequent(entries, entries + n, n);
      } else {
        const Size numbers = n - count_nan(in.read<T>(row * n, n, room.data()), n);
        const bool first_nan = op.kind == RankKind::median ? numbers < n : numbers == 0;
        to[row] = rank_in(entries, n, first_nan ? numbers : (numbers - 1) / 2);
      }
    }
  });
}

/// Calls body with an entry and a compute type for this dtype and length of rows.
template <class Body>
void with_entry(const Tensor& x, int axis, Body body) {
  const bool narrow = has_narrow_keys(x.dtype()) && x.shape()[axis] <= Size{0xffffffff};
  const auto of = [&]<class T>(T) { narrow ? body(NarrowEntry{}, T{}) : body(WideEntry{}, T{}); };
  switch (exact_compute(x.dtype())) {
    case DType::f32: return of(f32{});
    case DType::f64: return body(WideEntry{}, f64{});
    case DType::i64: return of(i64{});
    default: return of(u64{});
  }
}

void sort(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  with_entry(x, op.axis, [&]<class Entry, class T>(Entry, T) { sort_as<Entry, T>(op, x, values, indices); });
}

void rank(const Rank& op, const Tensor& x, Tensor& y, Stream&) {
  with_entry(x, op.axis, [&]<class Entry, class T>(Entry, T) { rank_as<Entry, T>(op, x, y); });
}

}  // namespace

void register_sort(Kernels& kernels) {
  kernels.add<Sort>(Device::cpu, sort);
  kernels.add<Rank>(Device::cpu, rank);
}

}  // namespace votive::cpu::VOTIVE_ISA
