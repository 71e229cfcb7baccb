// Filling tables of functions of halves, and reading them eight elements at a time.
#include "votive/cpu/half_table.h"

#include <atomic>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include "votive/base/thread_pool.h"
#include "votive/cpu/pointwise_plan.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size entries = Size{1} << 16;

/// For fewer, the lines of the table that must come from memory would cost more than looking saves: ordinary bf16 lie in some 80 lines, f16 in 600.
constexpr Size worth_a_look(DType x) { return x == DType::bf16 ? 4096 : 32768; }

struct HalfTable {
  std::atomic<const u16*> values{nullptr};  // never freed: another thread may be reading
  std::atomic<Size> asked{0};               // elements computed without it
};

bool is_worth_a_table(UnaryKind kind) {
#if defined(__AVX512F__)
  switch (kind) {  // about as fast as a look
    case UnaryKind::exp:
    case UnaryKind::log:
    case UnaryKind::hardswish:
    case UnaryKind::softsign:
    case UnaryKind::rad2deg:
    case UnaryKind::deg2rad: return false;
    default: break;
  }
#endif
  return row(kind).group == PointwiseGroup::function;
}

/// p[0] … p[7] = a … h by one store.
[[gnu::always_inline]] inline void store_eight(u16* p, int a, int b, int c, int d, int e, int f, int g, int h) {
#if defined(__SSE2__)
  __m128i v = _mm_cvtsi32_si128(a);
  v = _mm_insert_epi16(v, b, 1);
  v = _mm_insert_epi16(v, c, 2);
  v = _mm_insert_epi16(v, d, 3);
  v = _mm_insert_epi16(v, e, 4);
  v = _mm_insert_epi16(v, f, 5);
  v = _mm_insert_epi16(v, g, 6);
  v = _mm_insert_epi16(v, h, 7);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v);
#else
  const int all[] = {a, b, c, d, e, f, g, h};
  for (int i = 0; i < 8; ++i) p[i] = static_cast<u16>(all[i]);
#endif
}

/// Every argument once through the way that any tensor takes: widened, computed, rounded.
[[gnu::noinline]] std::unique_ptr<u16[]> filled(UnaryKind kind, DType x) {
  std::unique_ptr<u16[]> table(new (std::nothrow) u16[static_cast<std::size_t>(entries)]);
  if (table == nullptr) return table;
  const Plan1 p = plan(kind, x);
  const Conversion widen(x, p.as), round(p.result, x);
  parallel_for(entries, p.grain, [&](Size begin, Size end) {
    Tile in, out;
    u16 bits[tile_size];
    for (Size at = begin, n = 0; at < end; at += n) {
      n = end - at < tile_size ? end - at : tile_size;
      for (Size i = 0; i < n; ++i) bits[i] = static_cast<u16>(at + i);
      widen(reinterpret_cast<const std::byte*>(bits), in.bytes, n);
      p.loop(in.bytes, out.bytes, n);
      round(out.bytes, reinterpret_cast<std::byte*>(&table[static_cast<std::size_t>(at)]), n);
    }
  });
  return table;
}

}  // namespace

const u16* half_table(UnaryKind kind, DType x, Size count) {
  static HalfTable tables[unary_kinds][2];
  if (!is_half(x) || count < worth_a_look(x) || !is_worth_a_table(kind)) return nullptr;
  HalfTable& table = tables[static_cast<std::size_t>(kind)][x == DType::bf16];
  if (const u16* const values = table.values.load(std::memory_order_acquire)) return values;
  if (count < entries && table.asked.fetch_add(count, std::memory_order_relaxed) + count < entries) return nullptr;
  std::unique_ptr<u16[]> made = filled(kind, x);
  const u16* values = nullptr;
  if (made == nullptr) return nullptr;
  // of two threads that made one, the later takes the earlier's
  if (table.values.compare_exchange_strong(values, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) return made.release();
  return values;
}

void look_up(const u16* __restrict table, const u16* __restrict x, u16* __restrict y, Size n) {
  Size i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    // Eight arguments in two loads, eight results in one store: one by one they take 0.54 ns each.
    for (; i + 8 <= n; i += 8) {
      u64 first, second;
      std::memcpy(&first, x + i, sizeof first);
      std::memcpy(&second, x + i + 4, sizeof second);
      store_eight(y + i, table[first & 0xffff], table[first >> 16 & 0xffff], table[first >> 32 & 0xffff], table[first >> 48],
                  table[second & 0xffff], table[second >> 16 & 0xffff], table[second >> 32 & 0xffff], table[second >> 48]);
    }
  }
  for (; i < n; ++i) y[i] = table[x[i]];
}

}  // namespace votive::cpu::VOTIVE_ISA
