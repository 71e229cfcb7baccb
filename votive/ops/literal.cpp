// Literals to elements. Rounded to the tensor's dtype before the operation, so no device can fuse the rounding away (CONTRACT.md 1.3).
#include "votive/ops/literal.h"

#include <bit>
#include <cmath>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/numerics/convert.h"

namespace votive {

namespace {

struct Range {
  std::int64_t low;
  std::uint64_t high;
};

Range range_of(DType dtype) {
  switch (dtype) {
    case DType::boolean: return {0, 1};
    case DType::u8: return {0, 255};
    case DType::i8: return {-128, 127};
    case DType::u16: return {0, 65535};
    case DType::i16: return {-32768, 32767};
    case DType::u32: return {0, 4294967295u};
    case DType::i32: return {-2147483648, 2147483647};
    case DType::u64: return {0, ~std::uint64_t{0}};
    default: return {INT64_MIN, INT64_MAX};
  }
}

std::uint64_t float_bits(double value, DType dtype) {
  switch (dtype) {
    case DType::f16: return numerics::f64_to_f16(value);
    case DType::bf16: return numerics::f64_to_bf16(value);
    case DType::f32: return std::bit_cast<std::uint32_t>(numerics::f64_to_f32(value));
    case DType::e4m3: return numerics::f64_to_e4m3_nonsaturating(value);
    case DType::e5m2: return numerics::f64_to_e5m2_nonsaturating(value);
    default: return std::bit_cast<std::uint64_t>(value);
  }
}

std::uint64_t integer_bits(Literal value, DType dtype) {
  const bool is_signed = value.kind() == Literal::Kind::signed_integer;
  const std::int64_t i = value.as_signed();
  const std::uint64_t u = value.as_unsigned();
  switch (dtype) {
    case DType::f16: return is_signed ? numerics::i64_to_f16(i) : numerics::u64_to_f16(u);
    case DType::bf16: return is_signed ? numerics::i64_to_bf16(i) : numerics::u64_to_bf16(u);
    case DType::f32: return std::bit_cast<std::uint32_t>(is_signed ? numerics::i64_to_f32(i) : numerics::u64_to_f32(u));
    case DType::f64: return std::bit_cast<std::uint64_t>(is_signed ? numerics::i64_to_f64(i) : numerics::u64_to_f64(u));
    case DType::e4m3: return is_signed ? numerics::i64_to_e4m3_nonsaturating(i) : numerics::u64_to_e4m3_nonsaturating(u);
    case DType::e5m2: return is_signed ? numerics::i64_to_e5m2_nonsaturating(i) : numerics::u64_to_e5m2_nonsaturating(u);
    default: return u;  // two's complement: the low bytes are the element
  }
}

bool is_finite_element(std::uint64_t bits, DType dtype) {
  switch (dtype) {
    case DType::f16: return (bits & 0x7c00u) != 0x7c00u;
    case DType::bf16: return (bits & 0x7f80u) != 0x7f80u;
    case DType::f32: return (bits & 0x7f800000u) != 0x7f800000u;
    case DType::e4m3: return (bits & 0x7fu) != 0x7fu;
    case DType::e5m2: return (bits & 0x7cu) != 0x7cu;
    default: return (bits & 0x7ff0000000000000u) != 0x7ff0000000000000u;
  }
}

Error about(ErrorKind kind, std::string_view op, Literal value, DType dtype, std::string detail, std::string_view hint) {
  Error error(kind, op);
  error.dtype(to_string(dtype)).value(to_string(value)).detail(std::move(detail));
  if (!hint.empty()) error.hint(std::string(hint));
  return error;
}

}  // namespace

std::string to_string(Literal value) {
  switch (value.kind()) {
    case Literal::Kind::boolean: return value.as_unsigned() != 0 ? "true" : "false";
    case Literal::Kind::signed_integer: return text::format("{}", value.as_signed());
    case Literal::Kind::unsigned_integer: return text::format("{}", value.as_unsigned());
    case Literal::Kind::floating: break;
  }
  return text::format("{}", value.as_floating());
}

bool fits(Literal value, DType dtype) {
  const Range range = range_of(dtype);
  if (value.kind() == Literal::Kind::signed_integer && value.as_signed() < 0) return value.as_signed() >= range.low;
  return value.as_unsigned() <= range.high;
}

std::uint64_t literal_bits(std::string_view op, Literal value, DType dtype, std::string_view hint) {
  const FloatEnvironment environment;
  if (is_quantised(dtype)) {
    throw about(ErrorKind::Unsupported, op, value, dtype, text::format("{} blocks have no single elements", to_string(dtype)), hint);
  }
  if (value.kind() == Literal::Kind::boolean) {
    if (dtype == DType::boolean) return value.as_unsigned();
    throw about(ErrorKind::DTypeMismatch, op, value, dtype,
                text::format("{} is a bool and not a number of {}", to_string(value), to_string(dtype)), hint);
  }
  const bool to_float = is_floating(dtype) || is_float8(dtype);
  if (value.kind() == Literal::Kind::floating) {
    if (!to_float) {
      throw about(ErrorKind::DTypeMismatch, op, value, dtype,
                  text::format("{} is a float and {} is not", to_string(value), to_string(dtype)), hint);
    }
    const std::uint64_t bits = float_bits(value.as_floating(), dtype);
    if (std::isfinite(value.as_floating()) && !is_finite_element(bits, dtype)) {
      throw about(ErrorKind::LiteralOutOfRange, op, value, dtype,
                  text::format("{} is beyond the largest {}", to_string(value), to_string(dtype)), hint);
    }
    return bits;
  }
  if (to_float) {
    const std::uint64_t bits = integer_bits(value, dtype);
    if (!is_finite_element(bits, dtype)) {
      throw about(ErrorKind::LiteralOutOfRange, op, value, dtype,
                  text::format("{} is beyond the largest {}", to_string(value), to_string(dtype)), hint);
    }
    return bits;
  }
  if (!fits(value, dtype)) {
    const Range range = range_of(dtype);
    throw about(ErrorKind::LiteralOutOfRange, op, value, dtype,
                text::format("{} is not in {} ({}..{})", to_string(value), to_string(dtype), range.low, range.high), hint);
  }
  return integer_bits(value, dtype);
}

}  // namespace votive
