// Every operation of two tensors with what CONTRACT.md says of its dtypes: which pairs it takes, what it gives, and whom it blames.
#pragma once

#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "tests/contract/numbers.h"
#include "votive/ops/pointwise.h"

namespace votive::contract {

struct BinaryFunction {
  BinaryKind kind;
  Tensor (*call)(const Tensor&, const Tensor&);
  const PointwiseRow& row() const { return votive::row(kind); }
  std::string name() const { return std::string(row().name); }
};
inline void PrintTo(const BinaryFunction& f, std::ostream* out) { *out << f.name(); }
/// One per row of VOTIVE_BINARY.
std::span<const BinaryFunction> binary_functions();

/// What a pair of dtypes must come to: a result of a dtype, or an Error{DTypeMismatch} about one operand or about both.
struct PairRule {
  std::optional<DType> result;
  bool blames_a = false, blames_b = false;
};
PairRule pair_rule(PointwiseGroup group, DType a, DType b);

/// Whether the element is refused as second operand of an operation on integers: a zero that divides, a negative exponent.
bool is_refused(PointwiseGroup group, std::optional<DType> common, DType b, std::uint64_t bits);

}  // namespace votive::contract
