// Pointwise operations: every dtype and every pair the rules allow, all values of 8- and 16-bit inputs, all pairs of corners.
#include "tests/contract/operations.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

const std::vector<Shape> small_shapes{{}, {1}, {7}, {33}, {3, 5, 7}, {1, 9}, {2, 1, 3, 1}, {0}, {3, 0, 2}, {4, 1030}};

template <class Op>
bool accepts(const Op& op, std::initializer_list<DType> dtypes) {
  const Meta a{.dtype = *dtypes.begin()}, b{.dtype = *(dtypes.end() - 1)};
  try {
    if constexpr (std::is_same_v<Op, Binary>) {
      op.result(a, b);
    } else if constexpr (std::is_same_v<Op, Ternary>) {
      op.result(a, b, b);
    } else {
      op.result(a);
    }
    return true;
  } catch (const Error&) { return false; }
}

template <class Op>
std::vector<DType> accepted_by(const Op& op) {
  std::vector<DType> dtypes;
  for (const DType d : every_plain) {
    if (accepts(op, {d})) dtypes.push_back(d);
  }
  return dtypes;
}

using UnaryFunction = Tensor (*)(const Tensor&);
using BinaryFunction = Tensor (*)(const Tensor&, const Tensor&);  // picks the overload of two tensors where there are more

template <class Op, class Function>
Operation unary_operation(const Op& op, Function function) {
  const auto cases = [function](Rng& rng, DType d) {
    const auto call = [function](std::span<const Tensor> in, Device) { return Outputs{function(in[0])}; };
    std::vector<Case> all;
    for (const Shape& shape : small_shapes) all.push_back({{{.dtype = d, .shape = shape}}, call, "", true});
    all.push_back(
        {{{.dtype = d, .shape = {static_cast<Size>(corners_of(d).size()) * 3}, .values = Values::corners}}, call, "corners", true});
    const Size width = block_bytes(d);
    if (d != DType::boolean && width <= 2) {
      all.push_back({{{.dtype = d, .shape = {Size{1} << (8 * width)}, .values = Values::every}}, call, "every value", false});
    }
    all.push_back({{{.dtype = d, .shape = {rng.between(66000, 70000)}}}, call, "large", false});
    all.push_back({{{.dtype = d, .shape = {rng.between(130, 140), rng.between(270, 300)}}}, call, "large views", true});
    return all;
  };
  return {std::string(op.name()), accepted_by(op), cases, op.name() == "neg" || op.name() == "abs"};
}

std::vector<std::pair<Shape, Shape>> broadcasting_shapes(Rng& rng) {
  std::vector<std::pair<Shape, Shape>> shapes{{{}, {}},         {{5}, {}},        {{}, {3, 4}}, {{3, 1, 7}, {5, 1}},
                                              {{4, 5}, {4, 5}}, {{0, 4}, {1, 4}}, {{1}, {0}}};
  Shape a, b;
  for (Size axis = rng.between(1, 4); axis > 0; --axis) {
    const Size n = rng.between(1, 9);
    a.push_back(rng.one_in(4) ? 1 : n);
    b.push_back(rng.one_in(4) ? 1 : n);
  }
  shapes.emplace_back(a, b);
  return shapes;
}

/// Whether the pair (a, b) is worth its cases: every pair for the operations whose rules differ by pair, the telling ones for the rest.
bool is_telling(PointwiseGroup group, DType a, DType b) {
  const bool rules = group == PointwiseGroup::arithmetic || group == PointwiseGroup::compare || group == PointwiseGroup::shift;
  return rules || a == b || b == DType::f32 || b == DType::f16 || b == DType::i8 || b == DType::u32;
}

/// Integer divisors without zeros, exponents without signs: what is refused is tested by hand.
Tensor accepted_operand(PointwiseGroup group, const Tensor& b) {
  if (!is_integer(b.dtype())) return b;
  if (group == PointwiseGroup::division) return where(eq(b, 0), 3, b);
  if (group == PointwiseGroup::power) return b & 31;
  return b;
}

Operation binary_operation(BinaryKind kind, BinaryFunction function) {
  const Binary op{kind};
  const PointwiseGroup group = row(kind).group;
  std::vector<DType> firsts;
  for (const DType a : every_plain) {
    for (const DType b : every_plain) {
      if (accepts(op, {a, b}) && (firsts.empty() || firsts.back() != a)) firsts.push_back(a);
    }
  }
  const auto cases = [op, group, function](Rng& rng, DType a) {
    const auto call = [group, function](std::span<const Tensor> in, Device) {
      return Outputs{function(in[0], accepted_operand(group, in[1]))};
    };
    std::vector<Case> all;
    for (const DType b : every_plain) {
      if (!accepts(op, {a, b}) || !is_telling(group, a, b)) continue;
      const std::string note(to_string(b));
      for (const auto& [p, q] : broadcasting_shapes(rng))
        all.push_back({{{.dtype = a, .shape = p}, {.dtype = b, .shape = q}}, call, note, true});
      const Size m = 48, n = 64;
      all.push_back({{{.dtype = a, .shape = {m, 1}, .values = Values::corners}, {.dtype = b, .shape = {n}, .values = Values::corners}},
                     call,
                     note + ", corners",
                     false});
      if (a == b && a != DType::boolean) {
        all.push_back({{{.dtype = a, .shape = {40000}}, {.dtype = b, .shape = {40000}}}, call, note + ", large", false});
        all.push_back({{{.dtype = a, .shape = {150, 230}}, {.dtype = b, .shape = {150, 230}}}, call, note + ", large views", true});
        if (block_bytes(a) == 1) {
          all.push_back({{{.dtype = a, .shape = {256, 1}, .values = Values::every}, {.dtype = b, .shape = {256}, .values = Values::every}},
                         call,
                         note + ", every pair",
                         false});
        }
      }
    }
    return all;
  };
  return {std::string(row(kind).name), firsts, cases};
}

Operation ternary_operation(const Ternary& op) {
  const auto cases = [op](Rng& rng, DType a) {
    const auto call = [op](std::span<const Tensor> in, Device) { return Outputs{apply(op, in[0], in[1], in[2])}; };
    std::vector<Case> all;
    for (const DType b : every_floating) {
      const std::string note(to_string(b));
      for (const auto& [p, q] : broadcasting_shapes(rng))
        all.push_back({{{.dtype = a, .shape = p}, {.dtype = b, .shape = q}, {.dtype = b, .shape = p}}, call, note, true});
      all.push_back({{{.dtype = a, .shape = {24, 1, 1}, .values = Values::corners},
                      {.dtype = b, .shape = {24, 1}, .values = Values::corners},
                      {.dtype = b, .shape = {24}, .values = Values::corners}},
                     call,
                     note + ", corners",
                     false});
      if (a == b) {
        all.push_back({{{.dtype = a, .shape = {150, 230}}, {.dtype = a, .shape = {230}}, {.dtype = a, .shape = {150, 230}}},
                       call,
                       note + ", large views",
                       true});
      }
    }
    return all;
  };
  return {std::string(op.name()), every_floating, cases};
}

}  // namespace

void add_pointwise(std::vector<Operation>& all) {
#define ROW(group, name, ...) all.push_back(unary_operation(Unary{UnaryKind::name}, static_cast<UnaryFunction>(votive::name)));
  VOTIVE_UNARY(ROW)
#undef ROW
#define ROW(group, name, ...)                                                           \
  {                                                                                     \
    const UnaryWith op{UnaryWithKind::name, row(UnaryWithKind::name).attributes};       \
    all.push_back(unary_operation(op, [op](const Tensor& x) { return apply(op, x); })); \
  }
  VOTIVE_UNARY_WITH(ROW)
#undef ROW
#define ROW(group, name, ...) all.push_back(binary_operation(BinaryKind::name, votive::name));
  VOTIVE_BINARY(ROW)
#undef ROW
#define ROW(name, ...) all.push_back(ternary_operation({TernaryKind::name, 0.7}));
  VOTIVE_TERNARY(ROW)
#undef ROW
}

}  // namespace votive::contract
