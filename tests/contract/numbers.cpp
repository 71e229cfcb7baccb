// A float is sign · fraction · 2^place. Everything here follows from that and from two's complement; nothing is taken from numerics/.
#include "tests/contract/numbers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tests/contract/values.h"

namespace votive::contract {

FloatFormat float_format(DType dtype) {
  switch (dtype) {
    case DType::f16: return {5, 10, true};
    case DType::bf16: return {8, 7, true};
    case DType::f32: return {8, 23, true};
    case DType::e4m3: return {4, 3, false};
    case DType::e5m2: return {5, 2, true};
    default: return {11, 52, true};
  }
}

double FloatFormat::largest() const {
  // Of e4m3 the exponent's last value has numbers too, all but the fraction that is NaN.
  const double fraction = 2 - std::ldexp(has_infinity ? 1.0 : 2.0, -fraction_bits);
  return std::ldexp(fraction, has_infinity ? bias() : bias() + 1);
}

double value_of(DType dtype, std::uint64_t bits) {
  if (!is_floating(dtype) && !is_float8(dtype)) return static_cast<double>(integer_of(dtype, bits));
  const FloatFormat f = float_format(dtype);
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << f.fraction_bits) - 1));
  const int exponent = static_cast<int>(bits >> f.fraction_bits & ((std::uint64_t{1} << f.exponent_bits) - 1));
  const double sign = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0 ? -1.0 : 1.0;
  const bool last = exponent == (1 << f.exponent_bits) - 1;
  if (last && f.has_infinity) return fraction == 0 ? sign * INFINITY : NAN;
  if (last && fraction == std::ldexp(1.0, f.fraction_bits) - 1) return NAN;
  const double one = std::ldexp(1.0, f.fraction_bits);
  const int place = std::max(exponent, 1) - f.bias() - f.fraction_bits;
  return sign * std::ldexp(exponent == 0 ? fraction : one + fraction, place);
}

Wide integer_of(DType dtype, std::uint64_t bits) {
  const int width = static_cast<int>(block_bytes(dtype)) * 8;
  const Wide range = Wide{1} << width;
  const Wide value = static_cast<Wide>(bits) & (range - 1);
  return is_signed_integer(dtype) && value >= range / 2 ? value - range : value;
}

std::uint64_t rounded_to(DType dtype, double x, bool saturate) {
  const FloatFormat f = float_format(dtype);
  const std::uint64_t sign = std::uint64_t{std::signbit(x)} << (f.exponent_bits + f.fraction_bits);
  const std::uint64_t infinity = ((std::uint64_t{1} << f.exponent_bits) - 1) << f.fraction_bits;
  const std::uint64_t nan = infinity | ((std::uint64_t{1} << f.fraction_bits) - 1);
  if (std::isnan(x)) return nan;
  double magnitude = std::fabs(x);
  if (std::isfinite(magnitude)) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);  // magnitude < 2^exponent
    const int place = std::max(exponent - 1, f.least_exponent()) - f.fraction_bits;
    magnitude = std::ldexp(std::nearbyint(std::ldexp(magnitude, -place)), place);
  }
  if (magnitude > f.largest()) {
    if (!saturate) return f.has_infinity ? sign | infinity : nan;
    magnitude = f.largest();
  }
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int normal = std::max(exponent - 1, f.least_exponent());
  const auto digits = static_cast<std::uint64_t>(std::ldexp(magnitude, f.fraction_bits - normal));  // with the leading one, if it is normal
  const std::uint64_t one = std::uint64_t{1} << f.fraction_bits;
  const std::uint64_t biased = digits < one ? 0 : static_cast<std::uint64_t>(normal + f.bias());
  return sign | biased << f.fraction_bits | (digits & (one - 1));
}

namespace {

bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }

Wide least(DType d) { return is_signed_integer(d) ? -(Wide{1} << (block_bytes(d) * 8 - 1)) : 0; }
Wide greatest(DType d) {
  if (d == DType::boolean) return 1;
  return (Wide{1} << (block_bytes(d) * 8 - (is_signed_integer(d) ? 1 : 0))) - 1;
}

/// Whether every value of `part` is one of `whole`.
bool holds(DType whole, DType part) {
  if (whole == part) return true;
  if (is_whole(whole)) return is_whole(part) && whole != DType::boolean && least(whole) <= least(part) && greatest(part) <= greatest(whole);
  const FloatFormat f = float_format(whole);
  if (is_whole(part)) {
    const Wide exact = Wide{1} << (f.fraction_bits + 1);  // up to here every integer is a float
    return -exact <= least(part) && greatest(part) <= exact;
  }
  const FloatFormat p = float_format(part);
  return p.fraction_bits <= f.fraction_bits && p.largest() <= f.largest() &&
         f.least_exponent() - f.fraction_bits <= p.least_exponent() - p.fraction_bits;
}

}  // namespace

std::optional<DType> smallest_holding(DType a, DType b) {
  if (a == b) return a;
  if (is_float8(a) || is_float8(b) || is_quantised(a) || is_quantised(b)) return std::nullopt;  // storage: they meet nothing but themselves
  constexpr std::array integers{DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64};
  constexpr std::array floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  if (is_whole(a) && is_whole(b)) {
    for (const DType d : integers)
      if (holds(d, a) && holds(d, b)) return d;
    return std::nullopt;
  }
  if (is_whole(a) || is_whole(b)) {  // an integer never widens a float
    const DType floating = is_whole(a) ? b : a, integer = is_whole(a) ? a : b;
    return holds(floating, integer) ? std::optional(floating) : std::nullopt;
  }
  for (const DType d : floats)
    if (holds(d, a) && holds(d, b)) return d;
  return std::nullopt;
}

Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<std::uint64_t>& elements) {
  Tensor x = Tensor::allocate("tensor_of", {.dtype = dtype, .shape = shape});
  const auto width = static_cast<std::size_t>(block_bytes(dtype));
  for (std::size_t i = 0; i < elements.size(); ++i) std::memcpy(x.mutable_buffer() + i * width, &elements[i], width);
  return x;
}

std::vector<std::uint64_t> elements_of(const Tensor& x) {
  const std::vector<std::byte> bytes = bytes_of(x);
  const auto width = static_cast<std::size_t>(block_bytes(x.dtype()));
  std::vector<std::uint64_t> elements(bytes.size() / width);
  for (std::size_t i = 0; i < elements.size(); ++i) std::memcpy(&elements[i], bytes.data() + i * width, width);
  return elements;
}

std::vector<std::uint64_t> telling_values(DType dtype, std::size_t limit) {
  const int width = static_cast<int>(block_bytes(dtype)) * 8;
  std::vector<std::uint64_t> all;
  for (std::uint64_t bits : corners_of(dtype)) {
    if (width < 64) bits &= (std::uint64_t{1} << width) - 1;
    if (std::find(all.begin(), all.end(), bits) == all.end()) all.push_back(bits);
  }
  if (all.size() <= limit) return all;
  // The list opens with zeros, subnormals, infinities and NaN (or small integers) and ends with the largest.
  const std::size_t first = std::min<std::size_t>(22, limit / 2), last = limit / 5, between = limit - first - last;
  std::vector<std::uint64_t> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
  for (std::size_t i = 0; i < between; ++i) chosen.push_back(all[first + i * (all.size() - first - last) / between]);
  chosen.insert(chosen.end(), all.end() - static_cast<std::ptrdiff_t>(last), all.end());
  return chosen;
}

}  // namespace votive::contract
