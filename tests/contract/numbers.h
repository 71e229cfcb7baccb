// Numbers of every plain dtype, read and rounded by arithmetic of the tests' own: what the suite compares with where both devices share one text.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "votive/core/tensor.h"

namespace votive::contract {

__extension__ typedef __int128 Wide;

/// How a float dtype is built: bits of its exponent and of its fraction.
struct FloatFormat {
  int exponent_bits, fraction_bits;
  bool has_infinity;  // e4m3 has none, and a single NaN
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int least_exponent() const { return 1 - bias(); }  // of normal numbers
  double largest() const;
};
FloatFormat float_format(DType dtype);

/// The number that bits of a dtype mean; integers past 2⁵³ are not for this one.
double value_of(DType dtype, std::uint64_t bits);
Wide integer_of(DType dtype, std::uint64_t bits);
/// x in a float dtype: to nearest, ties to even. What is too large becomes infinite, or with `saturate` the largest number; a NaN stays one.
std::uint64_t rounded_to(DType dtype, double x, bool saturate = false);

/// Which dtype holds every value of both (CONTRACT.md 1.2), found by looking at the values each dtype has; nullopt where none does.
std::optional<DType> smallest_holding(DType a, DType b);

/// A row-major tensor of these elements.
Tensor tensor_of(DType dtype, const Shape& shape, const std::vector<std::uint64_t>& elements);
/// The elements in row-major order.
std::vector<std::uint64_t> elements_of(const Tensor& x);

/// At most about `limit` of corners_of(dtype), without repetitions: the special values, the extremes, and others spread between.
std::vector<std::uint64_t> telling_values(DType dtype, std::size_t limit);

}  // namespace votive::contract
