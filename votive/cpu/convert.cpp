// The loops behind Conversion: one per dtype × compute type, each the scalar text in a loop that the compiler vectorises; f16 and bf16 in registers where
// the machine converts them.
#include "votive/cpu/convert.h"

#include "votive/cpu/element_loops.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

template <class From, class To, auto convert>
void run(const std::byte* from, std::byte* to, Size n) {
  const From* __restrict x = reinterpret_cast<const From*>(from);
  To* __restrict y = reinterpret_cast<To*>(to);
  for (Size i = 0; i < n; ++i) y[i] = convert(x[i]);
}

/// The same past the caches, or with halves at either end.
template <class From, class To, auto convert, bool past_caches>
void run_blocks(const std::byte* from, std::byte* to, Size n) {
  for_elements<past_caches>(
      [](ValueOf<From> x) __attribute__((always_inline)) { return convert(x); }, n, reinterpret_cast<To*>(to),
      reinterpret_cast<const From*>(from));
}
template <class From, class To, auto convert, bool past_caches>
constexpr ConvertRun run_of = []() -> ConvertRun {
  if constexpr (past_caches || is_half_element<From> || is_half_element<To>) {
    return run_blocks<From, To, convert, past_caches>;
  } else {
    return run<From, To, convert>;
  }
}();

constexpr auto same = [](f32 x) { return x; };
constexpr auto same_number = [](f32 x) { return x != x ? nan_f32() : x; };

template <class From, class To>
constexpr ConvertRun widen = run<From, To, [](From x) { return static_cast<To>(x); }>;

template <bool past_caches>
ConvertRun load_f32(DType from) {
  switch (from) {
    case DType::boolean:
    case DType::u8: return run_of<u8, f32, [](u8 x) { return i32_to_f32(x); }, past_caches>;
    case DType::i8: return run_of<i8, f32, [](i8 x) { return i32_to_f32(x); }, past_caches>;
    case DType::u16: return run_of<u16, f32, [](u16 x) { return i32_to_f32(x); }, past_caches>;
    case DType::i16: return run_of<i16, f32, [](i16 x) { return i32_to_f32(x); }, past_caches>;
    case DType::u32: return run_of<u32, f32, [](u32 x) { return u32_to_f32(x); }, past_caches>;
    case DType::i32: return run_of<i32, f32, [](i32 x) { return i32_to_f32(x); }, past_caches>;
    case DType::u64: return run_of<u64, f32, [](u64 x) { return u64_to_f32(x); }, past_caches>;
    case DType::i64: return run_of<i64, f32, [](i64 x) { return i64_to_f32(x); }, past_caches>;
    case DType::f16: return run_of<F16, f32, same_number, past_caches>;
    case DType::bf16: return run_of<Bf16, f32, same_number, past_caches>;
    case DType::f64: return run_of<f64, f32, [](f64 x) { return f64_to_f32(x); }, past_caches>;
    case DType::e4m3: return run_of<u8, f32, [](u8 x) { return e4m3_to_f32(x); }, past_caches>;
    case DType::e5m2: return run_of<u8, f32, [](u8 x) { return e5m2_to_f32(x); }, past_caches>;
    default: return nullptr;
  }
}

ConvertRun load_f64(DType from) {
  switch (from) {
    case DType::boolean:
    case DType::u8: return run<u8, f64, [](u8 x) { return i32_to_f64(x); }>;
    case DType::i8: return run<i8, f64, [](i8 x) { return i32_to_f64(x); }>;
    case DType::u16: return run<u16, f64, [](u16 x) { return i32_to_f64(x); }>;
    case DType::i16: return run<i16, f64, [](i16 x) { return i32_to_f64(x); }>;
    case DType::u32: return run<u32, f64, [](u32 x) { return u32_to_f64(x); }>;
    case DType::i32: return run<i32, f64, [](i32 x) { return i32_to_f64(x); }>;
    case DType::u64: return run<u64, f64, [](u64 x) { return u64_to_f64(x); }>;
    case DType::i64: return run<i64, f64, [](i64 x) { return i64_to_f64(x); }>;
    case DType::f16: return run<u16, f64, [](u16 x) { return f32_to_f64(f16_to_f32(x)); }>;
    case DType::bf16: return run<u16, f64, [](u16 x) { return f32_to_f64(bf16_to_f32(x)); }>;
    case DType::f32: return run<f32, f64, [](f32 x) { return f32_to_f64(x); }>;
    case DType::e4m3: return run<u8, f64, [](u8 x) { return f32_to_f64(e4m3_to_f32(x)); }>;
    case DType::e5m2: return run<u8, f64, [](u8 x) { return f32_to_f64(e5m2_to_f32(x)); }>;
    default: return nullptr;
  }
}

template <class To>  // i64 or u64; a signed number keeps its two's complement
ConvertRun load_integer(DType from) {
  switch (from) {
    case DType::boolean:
    case DType::u8: return widen<u8, To>;
    case DType::i8: return widen<i8, To>;
    case DType::u16: return widen<u16, To>;
    case DType::i16: return widen<i16, To>;
    case DType::u32: return widen<u32, To>;
    case DType::i32: return widen<i32, To>;
    case DType::u64: return widen<u64, To>;
    case DType::i64: return widen<i64, To>;
    default: return nullptr;
  }
}

template <bool past_caches>
ConvertRun store_f32(DType to, bool saturate) {
  switch (to) {
    case DType::boolean: return run_of<f32, u8, [](f32 x) { return f32_to_bool(x); }, past_caches>;
    case DType::u8: return run_of<f32, u8, [](f32 x) { return f32_to_u8(x); }, past_caches>;
    case DType::i8: return run_of<f32, i8, [](f32 x) { return f32_to_i8(x); }, past_caches>;
    case DType::u16: return run_of<f32, u16, [](f32 x) { return f32_to_u16(x); }, past_caches>;
    case DType::i16: return run_of<f32, i16, [](f32 x) { return f32_to_i16(x); }, past_caches>;
    case DType::u32: return run_of<f32, u32, [](f32 x) { return f32_to_u32(x); }, past_caches>;
    case DType::i32: return run_of<f32, i32, [](f32 x) { return f32_to_i32(x); }, past_caches>;
    case DType::u64: return run_of<f32, u64, [](f32 x) { return f32_to_u64(x); }, past_caches>;
    case DType::i64: return run_of<f32, i64, [](f32 x) { return f32_to_i64(x); }, past_caches>;
    case DType::f16: return run_of<f32, F16, same, past_caches>;
    case DType::bf16: return run_of<f32, Bf16, same, past_caches>;
    case DType::f64: return run_of<f32, f64, [](f32 x) { return f32_to_f64(x); }, past_caches>;
    case DType::e4m3:
      return saturate ? run_of<f32, u8, [](f32 x) { return f32_to_e4m3(x); }, past_caches>
                      : run_of<f32, u8, [](f32 x) { return f32_to_e4m3_nonsaturating(x); }, past_caches>;
    case DType::e5m2:
      return saturate ? run_of<f32, u8, [](f32 x) { return f32_to_e5m2(x); }, past_caches>
                      : run_of<f32, u8, [](f32 x) { return f32_to_e5m2_nonsaturating(x); }, past_caches>;
    default: return nullptr;
  }
}

ConvertRun store_f64(DType to, bool saturate) {
  switch (to) {
    case DType::boolean: return run<f64, u8, [](f64 x) { return f64_to_bool(x); }>;
    case DType::u8: return run<f64, u8, [](f64 x) { return f64_to_u8(x); }>;
    case DType::i8: return run<f64, i8, [](f64 x) { return f64_to_i8(x); }>;
    case DType::u16: return run<f64, u16, [](f64 x) { return f64_to_u16(x); }>;
    case DType::i16: return run<f64, i16, [](f64 x) { return f64_to_i16(x); }>;
    case DType::u32: return run<f64, u32, [](f64 x) { return f64_to_u32(x); }>;
    case DType::i32: return run<f64, i32, [](f64 x) { return f64_to_i32(x); }>;
    case DType::u64: return run<f64, u64, [](f64 x) { return f64_to_u64(x); }>;
    case DType::i64: return run<f64, i64, [](f64 x) { return f64_to_i64(x); }>;
    case DType::f16: return run<f64, u16, [](f64 x) { return f64_to_f16(x); }>;
    case DType::bf16: return run<f64, u16, [](f64 x) { return f64_to_bf16(x); }>;
    case DType::f32: return run<f64, f32, [](f64 x) { return f64_to_f32(x); }>;
    case DType::e4m3:
      return saturate ? run<f64, u8, [](f64 x) { return f64_to_e4m3(x); }>
                      : run<f64, u8, [](f64 x) { return f64_to_e4m3_nonsaturating(x); }>;
    case DType::e5m2:
      return saturate ? run<f64, u8, [](f64 x) { return f64_to_e5m2(x); }>
                      : run<f64, u8, [](f64 x) { return f64_to_e5m2_nonsaturating(x); }>;
    default: return nullptr;
  }
}

ConvertRun store_i64(DType to, bool saturate) {
  switch (to) {
    case DType::boolean: return run<i64, u8, [](i64 x) { return i64_to_bool(x); }>;
    case DType::u8:
    case DType::i8: return widen<u64, u8>;  // integers to narrower ones keep the low bits
    case DType::u16:
    case DType::i16: return widen<u64, u16>;
    case DType::u32:
    case DType::i32: return widen<u64, u32>;
    case DType::u64:
    case DType::i64: return widen<u64, u64>;
    case DType::f16: return run<i64, u16, [](i64 x) { return i64_to_f16(x); }>;
    case DType::bf16: return run<i64, u16, [](i64 x) { return i64_to_bf16(x); }>;
    case DType::f32: return run<i64, f32, [](i64 x) { return i64_to_f32(x); }>;
    case DType::f64: return run<i64, f64, [](i64 x) { return i64_to_f64(x); }>;
    case DType::e4m3:
      return saturate ? run<i64, u8, [](i64 x) { return i64_to_e4m3(x); }>
                      : run<i64, u8, [](i64 x) { return i64_to_e4m3_nonsaturating(x); }>;
    case DType::e5m2:
      return saturate ? run<i64, u8, [](i64 x) { return i64_to_e5m2(x); }>
                      : run<i64, u8, [](i64 x) { return i64_to_e5m2_nonsaturating(x); }>;
    default: return nullptr;
  }
}

ConvertRun store_u64(DType to, bool saturate) {
  switch (to) {
    case DType::f16: return run<u64, u16, [](u64 x) { return u64_to_f16(x); }>;
    case DType::bf16: return run<u64, u16, [](u64 x) { return u64_to_bf16(x); }>;
    case DType::f32: return run<u64, f32, [](u64 x) { return u64_to_f32(x); }>;
    case DType::f64: return run<u64, f64, [](u64 x) { return u64_to_f64(x); }>;
    case DType::e4m3:
      return saturate ? run<u64, u8, [](u64 x) { return u64_to_e4m3(x); }>
                      : run<u64, u8, [](u64 x) { return u64_to_e4m3_nonsaturating(x); }>;
    case DType::e5m2:
      return saturate ? run<u64, u8, [](u64 x) { return u64_to_e5m2(x); }>
                      : run<u64, u8, [](u64 x) { return u64_to_e5m2_nonsaturating(x); }>;
    default: return store_i64(to, saturate);
  }
}

bool is_compute(DType dtype) { return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::i64 || dtype == DType::u64; }

}  // namespace

ConvertRun load_run(DType from, DType compute) {
  switch (compute) {
    case DType::f32: return load_f32<false>(from);
    case DType::f64: return load_f64(from);
    case DType::i64: return load_integer<i64>(from);
    case DType::u64: return load_integer<u64>(from);
    default: return nullptr;
  }
}

ConvertRun store_run(DType compute, DType to, bool saturate) {
  switch (compute) {
    case DType::f32: return store_f32<false>(to, saturate);
    case DType::f64: return store_f64(to, saturate);
    case DType::i64: return store_i64(to, saturate);
    case DType::u64: return store_u64(to, saturate);
    default: return nullptr;
  }
}

ConvertRun streamed_run(DType from, DType to, bool saturate) {
  if (to == DType::f32) return load_f32<true>(from);
  return from == DType::f32 ? store_f32<true>(to, saturate) : nullptr;
}

DType exact_compute(DType dtype) {
  if (is_signed_integer(dtype)) return DType::i64;
  if (is_integer(dtype) || dtype == DType::boolean) return DType::u64;
  return dtype == DType::f64 ? DType::f64 : DType::f32;
}

Conversion::Conversion(DType from, DType to, bool saturate) : from_(from), to_(to) {
  if (from == to) return;
  const DType compute = exact_compute(from);
  if (is_quantised(from)) {
    first_ = dequantise_run(from);
    if (to != DType::f32) second_ = store_run(DType::f32, to, saturate);
    return;
  }
  if (is_compute(to)) first_ = load_run(from, to);  // one step, where the source is not a float that becomes an integer
  if (first_ != nullptr) return;
  if (from == compute) {
    first_ = store_run(compute, to, saturate);
    return;
  }
  first_ = load_run(from, compute);
  second_ = store_run(compute, to, saturate);
}

void Conversion::through_tile(const std::byte* from, std::byte* to, Size n) const {
  alignas(64) std::byte tile[tile_size * sizeof(f64)];
  for (Size at = 0; at < n; at += tile_size) {
    const Size m = n - at < tile_size ? n - at : tile_size;
    first_(from + at / block_size(from_) * block_bytes(from_), tile, m);
    second_(tile, to + at * block_bytes(to_), m);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
