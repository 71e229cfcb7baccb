// Orders along one axis: sort, topk, and which element of a row is the k-th, its median or its most frequent. Elements become keys with their places
// (order_keys.h), so equal ones keep their order; how they are ordered is in sort_entries.h. Threads share rows, or what there is to do to a long one.
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/cpu/sort_entries.h"
#include "votive/ops/order.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size shared_elements = Size{1} << 16;  // of a row, at least, that several threads work on

/// Calls body(entries of the row, as many more to work in, row) for every row along the axis.
template <class Entry, class T, class Body>
void for_each_row_of_entries(const Tensor& x, int axis, bool descending, Body body) {
  const Size n = x.shape()[axis], rows = x.count() / n;
  const Reader in(x, with_axis_last(x.layout(), axis), exact_compute(x.dtype()));
  parallel_for(rows, 1 + 4096 / n, [&](Size begin, Size end) {
    const Scratch<Entry> entries(2 * n);
    const Scratch<T> room(n);
    body(begin, end, [&](Size row) {
      make_entries(in.read<T>(row * n, n, room.data()), n, descending, entries.data());
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

/// Elements of f32 by their entries: a key says which one it is, but for zeros, which share one, and NaN.
inline void elements_of(const NarrowEntry* entries, Size m, bool descending, const f32* row, f32* to) {
  const u32 flip = descending ? 0xffffffffu : 0u;
  for (Size i = 0; i < m; ++i) {
    const u32 key = static_cast<u32>(entries[i].order()) ^ flip;
    const f32 x = numerics::f32_from_bits((key >> 31) != 0 ? key ^ 0x80000000u : ~key);
    to[i] = x == 0.0f || key == 0xffffffffu ? row[entries[i].at()] : x;
  }
}

/// The first k entries of a row in their order.
template <class Entry, class T>
void pick_entries(const T* x, Size n, Size k, bool descending, Entry* entries) {
  const Size parts = std::min<Size>(threads(), n / std::max(shared_elements, 16 * k));
  if (parts < 2) return pick(x, n, k, descending, 0, entries);
  const Size part = (n + parts - 1) / parts;
  const Scratch<Entry> found(parts * k);
  parallel_for(parts, 1, [&](Size begin, Size end) {
    for (Size p = begin; p < end; ++p) pick(x + p * part, std::min(part, n - p * part), k, descending, p * part, found.data() + p * k);
  });
  std::partial_sort_copy(found.data(), found.data() + parts * k, entries, entries + k);
}

template <class Entry, class T>
void sort_as(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices) {
  const Size n = x.shape()[op.axis], k = values.shape()[op.axis], bytes = block_bytes(x.dtype()), rows = x.count() / n;
  const auto fetch_elements = bytes == 1 ? fetch<u8> : bytes == 2 ? fetch<u16> : bytes == 4 ? fetch<u32> : fetch<u64>;
  const Layout order = with_axis_last(x.layout(), op.axis);
  const Reader in(x, order, exact_compute(x.dtype())), bits(x, order, x.dtype());
  const Writer out(values, with_axis_last(values.layout(), op.axis), values.dtype());
  const Writer places(indices, with_axis_last(indices.layout(), op.axis), DType::i64);
  const bool few = n > 32 && k <= n / 16;
  parallel_for(rows, 1 + 4096 / n, [&](Size begin, Size end) {
    const Scratch<Entry> entries(few ? k : 2 * n);
    const Scratch<T> room(n);
    const Scratch<u64> raw_room(n), sorted(k);
    const Scratch<i64> index_room(k);
    for (Size row = begin; row < end; ++row) {
      const T* x_row = in.read<T>(row * n, n, room.data());
      const std::byte* raw = bits.read_bytes(row * n, n, reinterpret_cast<std::byte*>(raw_room.data()));
      i64* index = places.place<i64>(row * k, index_room.data());
      std::byte* to = out.place<std::byte>(row * k, sorted.data());
      const auto take = [&](const Entry* ordered, Size at, Size m) {
        for (Size i = 0; i < m; ++i) index[at + i] = ordered[i].at();
        if constexpr (std::is_same_v<Entry, NarrowEntry> && std::is_same_v<T, f32>) {
          if (x.dtype() == DType::f32) return elements_of(ordered, m, op.descending, x_row, reinterpret_cast<f32*>(to) + at);
        }
        fetch_elements(raw, index + at, m, to + at * bytes);
      };
      if (few) {
        pick_entries(x_row, n, k, op.descending, entries.data());
        take(entries.data(), 0, k);
      } else if (k == n && has_buckets(n)) {
        const auto key = [&](Size i) { return key_in_order<Entry>(x_row[i], op.descending); };
        bucket_sort(n, key, entries.data(), entries.data() + n, take);
      } else {
        make_entries(x_row, n, op.descending, entries.data());
        sort_entries(entries.data(), entries.data() + n, n);
        take(entries.data(), 0, k);
      }
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
