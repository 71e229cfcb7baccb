// The rules of CONTRACT.md 1.2, 1.4 and 2 for two operands, said again without looking at ops/.
#include "tests/contract/binary_rules.h"

#include "votive/ops/ops.h"

namespace votive::contract {

std::span<const BinaryFunction> binary_functions() {
  static const BinaryFunction all[] = {
#define ROW(group, name, ...) {BinaryKind::name, votive::name},
      VOTIVE_BINARY(ROW)
#undef ROW
  };
  return all;
}

namespace {

bool is_whole(DType d) { return d == DType::boolean || is_integer(d); }
bool is_number(DType d) { return is_whole(d) || is_floating(d); }

/// What a single operand of the group may be.
bool is_accepted(PointwiseGroup group, DType d) {
  switch (group) {
    case PointwiseGroup::compare:
    case PointwiseGroup::logical: return !is_quantised(d);  // 8-bit floats too: their order needs no arithmetic
    case PointwiseGroup::bitwise: return is_whole(d);
    case PointwiseGroup::integer:
    case PointwiseGroup::shift:
    case PointwiseGroup::overflows:
    case PointwiseGroup::lost_bits: return is_integer(d);
    default: return is_number(d);
  }
}

}  // namespace

PairRule pair_rule(PointwiseGroup group, DType a, DType b) {
  if (!is_accepted(group, a)) return {{}, true, false};
  if (!is_accepted(group, b)) return {{}, false, true};
  const bool counts = group == PointwiseGroup::shift || group == PointwiseGroup::lost_bits;
  const std::optional<DType> common = counts ? smallest_holding(a, b).value_or(a) : smallest_holding(a, b);
  switch (group) {
    case PointwiseGroup::logical: return {DType::boolean};
    case PointwiseGroup::compare:
      if ((is_whole(a) && is_whole(b)) || common) return {DType::boolean};
      return {{}, true, true};
    default: break;
  }
  if (!common) return {{}, true, true};
  switch (group) {
    case PointwiseGroup::overflows:
    case PointwiseGroup::lost_bits: return {DType::boolean};
    case PointwiseGroup::bitwise: return {common};
    case PointwiseGroup::floating:
    case PointwiseGroup::function:
      if (is_integer(*common)) return {DType::f32};
      break;
    default: break;
  }
  if (*common == DType::boolean) return {{}, true, true};  // D6: bool has no arithmetic
  return {common};
}

bool is_refused(PointwiseGroup group, std::optional<DType> common, DType b, std::uint64_t bits) {
  if (!common || !is_integer(*common)) return false;
  if (group == PointwiseGroup::division) return integer_of(b, bits) == 0;
  if (group == PointwiseGroup::power) return integer_of(b, bits) < 0;
  return false;
}

}  // namespace votive::contract
