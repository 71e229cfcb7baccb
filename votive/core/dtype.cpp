// Names of dtypes and the one promotion rule.
#include "votive/core/dtype.h"

#include <algorithm>

namespace votive {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::boolean: return "bool";
    case DType::u8: return "u8";
    case DType::i8: return "i8";
    case DType::u16: return "u16";
    case DType::i16: return "i16";
    case DType::u32: return "u32";
    case DType::i32: return "i32";
    case DType::u64: return "u64";
    case DType::i64: return "i64";
    case DType::f16: return "f16";
    case DType::bf16: return "bf16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::e4m3: return "e4m3";
    case DType::e5m2: return "e5m2";
    case DType::q4_0: return "q4_0";
    case DType::q4_1: return "q4_1";
    case DType::q5_0: return "q5_0";
    case DType::q5_1: return "q5_1";
    case DType::q8_0: return "q8_0";
    case DType::q4_k: return "q4_k";
    case DType::q5_k: return "q5_k";
    case DType::q6_k: return "q6_k";
  }
  return "unknown";
}

namespace {

std::optional<DType> signed_integer_of(Size bytes) {
  switch (bytes) {
    case 1: return DType::i8;
    case 2: return DType::i16;
    case 4: return DType::i32;
    case 8: return DType::i64;
    default: return std::nullopt;
  }
}

// Integers up to 2ᵇ, b = significand bits, are exact in a float.
int significand_bits(DType d) {
  switch (d) {
    case DType::f16: return 11;
    case DType::bf16: return 8;
    case DType::f32: return 24;
    default: return 53;
  }
}

int value_bits(DType d) { return static_cast<int>(block_bytes(d)) * 8 - (is_signed_integer(d) ? 1 : 0); }

}  // namespace

std::optional<DType> common_dtype(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b) || is_quantised(a) || is_quantised(b)) return std::nullopt;
  if (a == DType::boolean) return b;
  if (b == DType::boolean) return a;
  if (is_floating(a) && is_floating(b)) {
    if (block_bytes(a) == block_bytes(b)) return DType::f32;  // f16 and bf16: neither holds the other
    return block_bytes(a) > block_bytes(b) ? a : b;
  }
  if (is_floating(a) || is_floating(b)) {
    const DType floating = is_floating(a) ? a : b, integer = is_floating(a) ? b : a;
    if (value_bits(integer) <= significand_bits(floating)) return floating;
    return std::nullopt;
  }
  if (is_signed_integer(a) == is_signed_integer(b)) return block_bytes(a) > block_bytes(b) ? a : b;
  const DType with_sign = is_signed_integer(a) ? a : b, without = is_signed_integer(a) ? b : a;
  return signed_integer_of(std::max(block_bytes(with_sign), 2 * block_bytes(without)));
}

}  // namespace votive
