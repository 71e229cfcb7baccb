// searchsorted on the CPU: the sorted side becomes keys once (order_keys.h), then every value halves its range. Not here: whether it is sorted.
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/order_keys.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/order.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

/// For several values at once, so that the loads of one do not wait for those of another: how many of the n keys from keys[low[i]] on come before
/// wanted[i]: those less than it, or with `right` not greater either. low[i] moves there. No branch depends on the keys.
template <bool right, class Key>
void halve(const Key* keys, Size n, const Key* wanted, Size* low, Size values) {
  const auto before = [&](Size at, Key v) { return right ? keys[at] <= v : keys[at] < v; };
  for (Size left = n; left > 1; left -= left / 2) {
    const Size half = left / 2;
    for (Size i = 0; i < values; ++i) low[i] += before(low[i] + half - 1, wanted[i]) ? half : 0;
  }
  for (Size i = 0; n != 0 && i < values; ++i) low[i] += before(low[i], wanted[i]) ? 1 : 0;
}

/// Key is u32 where 32 bits order the elements, which halves what the caches have to hold.
template <class T, class Key>
void search_as(const SearchSorted& op, const Tensor& sorted, const Tensor& values, Tensor& y) {
  constexpr Size together = 16;
  const DType as = exact_compute(sorted.dtype());
  const bool one_row = sorted.rank() == 1;
  const Size n = sorted.shape().back(), all = sorted.count(), per_row = one_row ? values.count() : values.shape().back();
  const Scratch<Key> keys(all);
  const Reader in_sorted(sorted, sorted.layout(), as), in_values(values, values.layout(), as);
  const auto read_keys = [](const Reader& in, Size at, Size m, Key* to) {
    Tile room;
    const T* x = in.read<T>(at, m, room.bytes);
    for (Size i = 0; i < m; ++i) to[i] = static_cast<Key>(sizeof(Key) == 4 ? narrow_key_of(x[i]) : key_of(x[i]));
  };
  parallel_for((all + tile_size - 1) / tile_size, 16, [&](Size begin, Size end) {
    for (Size at = begin * tile_size; at < end * tile_size && at < all; at += tile_size)
      read_keys(in_sorted, at, all - at < tile_size ? all - at : tile_size, keys.data() + at);
  });
  i64* to = data<i64>(y);
  parallel_for(values.count(), 2048, [&](Size begin, Size end) {
    Key wanted[tile_size];
    for (Size at = begin; at < end; at += tile_size) {
      const Size m = end - at < tile_size ? end - at : tile_size;
      read_keys(in_values, at, m, wanted);
      for (Size i = 0; i < m; i += together) {
        const Size some = m - i < together ? m - i : together;
        Size low[together], start[together];
        for (Size j = 0; j < some; ++j) low[j] = start[j] = one_row ? 0 : (at + i + j) / per_row * n;
        op.right ? halve<true>(keys.data(), n, wanted + i, low, some) : halve<false>(keys.data(), n, wanted + i, low, some);
        for (Size j = 0; j < some; ++j) to[at + i + j] = low[j] - start[j];
      }
    }
  });
}

void search_sorted(const SearchSorted& op, const Tensor& sorted, const Tensor& values, Tensor& y, Stream&) {
  const auto of = [&]<class T>(T) {
    has_narrow_keys(sorted.dtype()) ? search_as<T, u32>(op, sorted, values, y) : search_as<T, u64>(op, sorted, values, y);
  };
  switch (exact_compute(sorted.dtype())) {
    case DType::f32: return of(f32{});
    case DType::f64: return search_as<f64, u64>(op, sorted, values, y);
    case DType::i64: return of(i64{});
    default: return of(u64{});
  }
}

}  // namespace

void register_search(Kernels& kernels) { kernels.add<SearchSorted>(Device::cpu, search_sorted); }

}  // namespace votive::cpu::VOTIVE_ISA
