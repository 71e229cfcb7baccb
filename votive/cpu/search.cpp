// searchsorted on the CPU: the sorted side becomes keys once (order_keys.h), then every value halves its range. Not here: whether it is sorted.
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/order_keys.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/order.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

/// How many of the n keys come before v: those less than it, or with `right` not greater either. No branch depends on the keys.
template <bool right>
Size keys_before(const u64* keys, Size n, u64 v) {
  Size low = 0;
  while (n > 0) {
    const Size half = n / 2, middle = low + half;
    const bool before = right ? keys[middle] <= v : keys[middle] < v;
    low = before ? middle + 1 : low;
    n = before ? n - half - 1 : half;
  }
  return low;
}

template <class T>
void search_as(const SearchSorted& op, const Tensor& sorted, const Tensor& values, Tensor& y) {
  const DType as = exact_compute(sorted.dtype());
  const Size n = sorted.shape().back(), all = sorted.count();
  const Size per_row = sorted.rank() == 1 ? values.count() : values.shape().back();
  const Scratch<u64> keys(all);
  const Reader in_sorted(sorted, sorted.layout(), as), in_values(values, values.layout(), as);
  const auto read_keys = [](const Reader& in, Size at, Size m, u64* to) {
    Tile room;
    const T* x = in.read<T>(at, m, room.bytes);
    for (Size i = 0; i < m; ++i) to[i] = key_of(x[i]);
  };
  parallel_for((all + tile_size - 1) / tile_size, 16, [&](Size begin, Size end) {
    for (Size at = begin * tile_size; at < end * tile_size && at < all; at += tile_size)
      read_keys(in_sorted, at, all - at < tile_size ? all - at : tile_size, keys.data() + at);
  });
  i64* to = data<i64>(y);
  parallel_for(values.count(), 2048, [&](Size begin, Size end) {
    u64 wanted[tile_size];
    for (Size at = begin; at < end; at += tile_size) {
      const Size m = end - at < tile_size ? end - at : tile_size;
      read_keys(in_values, at, m, wanted);
      for (Size i = 0; i < m; ++i) {
        const u64* row = keys.data() + (sorted.rank() == 1 ? 0 : (at + i) / per_row * n);
        to[at + i] = op.right ? keys_before<true>(row, n, wanted[i]) : keys_before<false>(row, n, wanted[i]);
      }
    }
  });
}

void search_sorted(const SearchSorted& op, const Tensor& sorted, const Tensor& values, Tensor& y, Stream&) {
  switch (exact_compute(sorted.dtype())) {
    case DType::f32: return search_as<f32>(op, sorted, values, y);
    case DType::f64: return search_as<f64>(op, sorted, values, y);
    case DType::i64: return search_as<i64>(op, sorted, values, y);
    default: return search_as<u64>(op, sorted, values, y);
  }
}

}  // namespace

void register_search(Kernels& kernels) { kernels.add<SearchSorted>(Device::cpu, search_sorted); }

}  // namespace votive::cpu::VOTIVE_ISA
