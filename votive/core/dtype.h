// The element types of tensors: bool, eight integers, four floats, two 8-bit storage floats and the quantised blocks of GGUF (CONTRACT.md 1.1).
// Not here: arithmetic on them (numerics/) and conversion between them (the cast operation).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "votive/base/error.h"

namespace votive {

enum class DType : std::uint8_t {
  boolean,
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  e4m3,
  e5m2,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
};
inline constexpr int dtype_count = 23;

inline constexpr DType boolean = DType::boolean;
inline constexpr DType u8 = DType::u8, i8 = DType::i8, u16 = DType::u16, i16 = DType::i16;
inline constexpr DType u32 = DType::u32, i32 = DType::i32, u64 = DType::u64, i64 = DType::i64;
inline constexpr DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32, f64 = DType::f64;
inline constexpr DType e4m3 = DType::e4m3, e5m2 = DType::e5m2;

std::string_view to_string(DType dtype);  ///< "bool", "u8", "f32", "q4_1", …

constexpr bool is_signed_integer(DType d) { return d == DType::i8 || d == DType::i16 || d == DType::i32 || d == DType::i64; }
constexpr bool is_unsigned_integer(DType d) { return d == DType::u8 || d == DType::u16 || d == DType::u32 || d == DType::u64; }
constexpr bool is_integer(DType d) { return d >= DType::u8 && d <= DType::i64; }
/// f16, bf16, f32, f64: the floats that have arithmetic. The 8-bit floats are storage.
constexpr bool is_floating(DType d) { return d >= DType::f16 && d <= DType::f64; }
constexpr bool is_float8(DType d) { return d == DType::e4m3 || d == DType::e5m2; }
constexpr bool is_quantised(DType d) { return d >= DType::q4_0; }

/// Elements per block: 1 for plain dtypes, 32 or 256 for quantised ones.
constexpr Size block_size(DType d) {
  if (!is_quantised(d)) return 1;
  return d >= DType::q4_k ? 256 : 32;
}
/// Bytes per block; for plain dtypes the bytes of one element.
constexpr Size block_bytes(DType d) {
  switch (d) {
    case DType::boolean:
    case DType::u8:
    case DType::i8:
    case DType::e4m3:
    case DType::e5m2: return 1;
    case DType::u16:
    case DType::i16:
    case DType::f16:
    case DType::bf16: return 2;
    case DType::u32:
    case DType::i32:
    case DType::f32: return 4;
    case DType::u64:
    case DType::i64:
    case DType::f64: return 8;
    case DType::q4_0: return 18;
    case DType::q4_1: return 20;
    case DType::q5_0: return 22;
    case DType::q5_1: return 24;
    case DType::q8_0: return 34;
    case DType::q4_k: return 144;
    case DType::q5_k: return 176;
    case DType::q6_k: return 210;
  }
  return 0;
}

/// Bytes of a block of one row under Packing::rows16 (cpu/packed_weight.h), where the 6-bit scales of q4_k and q5_k stand unpacked.
constexpr Size packed_block_bytes(DType d) { return d == DType::q4_k ? 148 : d == DType::q5_k ? 180 : block_bytes(d); }

/// The smallest dtype that holds every value of both, where the table of CONTRACT.md 1.2 has one; bool with bool is bool (no arithmetic).
std::optional<DType> common_dtype(DType a, DType b);

}  // namespace votive
