// Operators between tensors and with literals on either side (CONTRACT.md 1.3), comparisons, truth values, bits, and what would not fit. A literal takes the
// tensor's dtype or is refused with Error{LiteralOutOfRange}; a float beside an integer tensor makes both f32. Everything here is class E.
#pragma once

#include "votive/core/tensor.h"
#include "votive/ops/create.h"

namespace votive {

// ---- arithmetic ----

/// add, sub, mul, div, remainder and neg as operators: / is true division and % follows the divisor's sign, as in Python. Class E.
/// Example: tensor({1, 2}) + tensor({3, 4})  // [4, 6]
/// Example: tensor({7, -7}, i32) % 3  // [1, 2]
/// Example: 1 / tensor({2, 4}, i32)  // [0.5, 0.25]
Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator%(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& x);
Tensor operator+(const Tensor& a, Literal b);
Tensor operator-(const Tensor& a, Literal b);
Tensor operator*(const Tensor& a, Literal b);
Tensor operator/(const Tensor& a, Literal b);
Tensor operator%(const Tensor& a, Literal b);
Tensor operator+(Literal a, const Tensor& b);
Tensor operator-(Literal a, const Tensor& b);
Tensor operator*(Literal a, const Tensor& b);
Tensor operator/(Literal a, const Tensor& b);
Tensor operator%(Literal a, const Tensor& b);

// ---- comparisons: bool ----

/// a = b, a bool each. NaN equals nothing, −0 equals +0. Integers of any two dtypes, and integers with any number, compare as mathematics does. Class E.
/// Example: eq(tensor({1, 2}), tensor({1, 3}))  // [true, false]
/// Example: eq(tensor({2, 3}, i32), 2.5)  // [false, false]
Tensor eq(const Tensor& a, const Tensor& b);
Tensor eq(const Tensor& x, Literal value);
/// Not a = b, a bool each; true of NaN. Class E.
/// Example: ne(tensor({1, 2}), 1)  // [false, true]
Tensor ne(const Tensor& a, const Tensor& b);
Tensor ne(const Tensor& x, Literal value);
/// a < b, a bool each. i8[1] < 256 is true. Class E.
/// Example: lt(tensor({1, 2}, i8), 256)  // [true, true]
Tensor lt(const Tensor& a, const Tensor& b);
Tensor lt(const Tensor& x, Literal value);
/// a ≤ b, a bool each. Class E.
/// Example: le(tensor({1, 2}), tensor({1, 1}))  // [true, false]
Tensor le(const Tensor& a, const Tensor& b);
Tensor le(const Tensor& x, Literal value);
/// a > b, a bool each. Class E.
/// Example: gt(tensor({2, 3}, u8), 2.5)  // [false, true]
Tensor gt(const Tensor& a, const Tensor& b);
Tensor gt(const Tensor& x, Literal value);
/// a ≥ b, a bool each. Class E.
/// Example: ge(tensor({1, 2}), tensor({2, 2}))  // [false, true]
Tensor ge(const Tensor& a, const Tensor& b);
Tensor ge(const Tensor& x, Literal value);
/// eq, ne, lt, le, gt and ge as operators. They give tensors: `if (a == b)` does not compile, all(a == b).item<bool>() says whether all are equal. Class E.
/// Example: tensor({1, 2}) == tensor({1, 3})  // [true, false]
/// Example: 1 < tensor({1, 2})  // [false, true]
Tensor operator==(const Tensor& a, const Tensor& b);
Tensor operator!=(const Tensor& a, const Tensor& b);
Tensor operator<(const Tensor& a, const Tensor& b);
Tensor operator<=(const Tensor& a, const Tensor& b);
Tensor operator>(const Tensor& a, const Tensor& b);
Tensor operator>=(const Tensor& a, const Tensor& b);
Tensor operator==(const Tensor& a, Literal b);
Tensor operator!=(const Tensor& a, Literal b);
Tensor operator<(const Tensor& a, Literal b);
Tensor operator<=(const Tensor& a, Literal b);
Tensor operator>(const Tensor& a, Literal b);
Tensor operator>=(const Tensor& a, Literal b);
Tensor operator==(Literal a, const Tensor& b);
Tensor operator!=(Literal a, const Tensor& b);
Tensor operator<(Literal a, const Tensor& b);
Tensor operator<=(Literal a, const Tensor& b);
Tensor operator>(Literal a, const Tensor& b);
Tensor operator>=(Literal a, const Tensor& b);
struct CloseOptions {
  double rtol = 1e-5;
  double atol = 1e-8;
  bool equal_nan = false;
};
/// |a − b| ≤ atol + rtol·|b|, a bool each, computed in f64; an infinity is close to itself alone. Class E.
/// Throws Error{InvalidArgument} for a negative tolerance.
/// Example: isclose(tensor({1, 1}), tensor({1.000001, 1.1}))  // [true, false]
Tensor isclose(const Tensor& a, const Tensor& b, CloseOptions options = {});
/// Whether isclose holds everywhere. Class E.
/// Example: allclose(tensor({1, 2}), tensor({1.000001, 2}))  // true
bool allclose(const Tensor& a, const Tensor& b, CloseOptions options = {});
/// x is NaN, a bool each; false of integers. Class E.
/// Example: isnan(tensor({0, 1}) / 0)  // [true, false]
Tensor isnan(const Tensor& x);
/// x is inf or −inf. Class E.
/// Example: isinf(tensor({0, 1}) / 0)  // [false, true]
Tensor isinf(const Tensor& x);
/// x is neither NaN nor infinite. Class E.
/// Example: isfinite(tensor({0, 1}) / 0)  // [false, false]
Tensor isfinite(const Tensor& x);
/// The sign bit of x, also of −0 and NaN. Class E.
/// Example: signbit(tensor({-1.0, 0.0, -0.0}))  // [true, false, true]
Tensor signbit(const Tensor& x);

// ---- truth: of any dtype, where zero is false and all else, NaN too, is true ----

/// Both are true. Class E.
/// Example: logical_and(tensor({1, 0}), tensor({2, 2}))  // [true, false]
Tensor logical_and(const Tensor& a, const Tensor& b);
/// At least one is true. Class E.
/// Example: logical_or(tensor({1, 0}), tensor({0, 0}))  // [true, false]
Tensor logical_or(const Tensor& a, const Tensor& b);
/// Exactly one is true. Class E.
/// Example: logical_xor(tensor({1, 1}), tensor({0, 2}))  // [true, false]
Tensor logical_xor(const Tensor& a, const Tensor& b);
/// x is zero. Class E.
/// Example: logical_not(tensor({1, 0}))  // [false, true]
Tensor logical_not(const Tensor& x);

// ---- bits: integers and bool ----

/// Bits that both have; of bools their conjunction. Class E.
/// Example: bitwise_and(tensor({6, 3}, u8), tensor({3, 5}, u8))  // [2, 1]
Tensor bitwise_and(const Tensor& a, const Tensor& b);
/// Bits that either has. Class E.
/// Example: bitwise_or(tensor({6, 3}, u8), tensor({3, 5}, u8))  // [7, 7]
Tensor bitwise_or(const Tensor& a, const Tensor& b);
/// Bits that one has and the other has not. Class E.
/// Example: bitwise_xor(tensor({6, 3}, u8), tensor({3, 5}, u8))  // [5, 6]
Tensor bitwise_xor(const Tensor& a, const Tensor& b);
/// Every bit turned; of a bool its negation. Class E.
/// Example: bitwise_not(tensor({0, 5}, i32))  // [-1, -6]
Tensor bitwise_not(const Tensor& x);
/// x << count, integers, in their common dtype or x's where there is none. Bits shifted out are lost; a count below 0 or from the width on leaves 0. Class E.
/// Example: shift_left(tensor({1, 1}, i32), tensor({4, 32}, i32))  // [16, 0]
Tensor shift_left(const Tensor& x, const Tensor& count);
/// x >> count: of signed integers with the sign, so that a count below 0 or from the width on leaves −1 or 0. Class E.
/// Example: shift_right(tensor({-5, 5}, i32), tensor({1, 1}, i32))  // [-3, 2]
Tensor shift_right(const Tensor& x, const Tensor& count);
/// bitwise_and, bitwise_or, bitwise_xor, bitwise_not, shift_left and shift_right as operators. Class E.
/// Example: tensor({6, 3}, u8) & 2  // [2, 2]
/// Example: ~tensor({true, false}, boolean)  // [false, true]
/// Example: tensor({1, 3}, i32) << 4  // [16, 48]
Tensor operator&(const Tensor& a, const Tensor& b);
Tensor operator|(const Tensor& a, const Tensor& b);
Tensor operator^(const Tensor& a, const Tensor& b);
Tensor operator~(const Tensor& x);
Tensor operator<<(const Tensor& a, const Tensor& b);
Tensor operator>>(const Tensor& a, const Tensor& b);
Tensor operator&(const Tensor& a, Literal b);
Tensor operator|(const Tensor& a, Literal b);
Tensor operator^(const Tensor& a, Literal b);
Tensor operator<<(const Tensor& a, Literal b);
Tensor operator>>(const Tensor& a, Literal b);
Tensor operator&(Literal a, const Tensor& b);
Tensor operator|(Literal a, const Tensor& b);
Tensor operator^(Literal a, const Tensor& b);
Tensor operator<<(Literal a, const Tensor& b);
Tensor operator>>(Literal a, const Tensor& b);

// ---- what would not fit: integers, a bool each; CheckedScope asks them of every operation ----

/// Whether a + b is not in their common dtype; likewise sub_overflows, mul_overflows, pow_overflows, and div_overflows for MIN / −1. Class E.
/// Example: add_overflows(tensor({100, 200}, u8), tensor({100, 100}, u8))  // [false, true]
/// Example: sub_overflows(tensor({1, 2}, u8), tensor({2, 1}, u8))  // [true, false]
/// Example: mul_overflows(tensor({16, 15}, u8), tensor({16, 17}, u8))  // [true, false]
/// Example: div_overflows(tensor({-128, 127}, i8), tensor({-1, -1}, i8))  // [true, false]
/// Example: pow_overflows(tensor({2, 2}, u8), tensor({8, 7}, u8))  // [true, false]
Tensor add_overflows(const Tensor& a, const Tensor& b);
Tensor sub_overflows(const Tensor& a, const Tensor& b);
Tensor mul_overflows(const Tensor& a, const Tensor& b);
Tensor div_overflows(const Tensor& a, const Tensor& b);
Tensor pow_overflows(const Tensor& a, const Tensor& b);
/// Whether shift_left loses a bit, or the count is none of x's bits; shift_right_overflows asks the latter alone. Class E.
/// Example: shift_left_overflows(tensor({64, 63}, i8), tensor({1, 1}, i8))  // [true, false]
/// Example: shift_right_overflows(tensor({1, 1}, i8), tensor({8, 7}, i8))  // [true, false]
Tensor shift_left_overflows(const Tensor& x, const Tensor& count);
Tensor shift_right_overflows(const Tensor& x, const Tensor& count);

}  // namespace votive
