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
  Meta a{.dtype = *dtypes.begin()}, b{.dtype = *(dtypes.end() - 1)};
  try {
    if constexpr (std::is_same_v<Op, Unary>) {
      op.result(a);
    } else {
      op.result(a, b);
    }
    return true;
  } catch (const Error&) { return false; }
}

std::vector<DType> accepted_by(const Unary& op) {
  std::vector<DType> dtypes;
  for (const DType d : every_plain) {
    if (accepts(op, {d})) dtypes.push_back(d);
  }
  return dtypes;
}

using UnaryFunction = Tensor (*)(const Tensor&);
using BinaryFunction = Tensor (*)(const Tensor&, const Tensor&);  // picks the overload of two tensors where there are more

Operation unary_operation(UnaryKind kind, UnaryFunction function) {
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
  return {std::string(row(kind).name), accepted_by({kind}), cases, kind == UnaryKind::neg || kind == UnaryKind::abs};
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

Operation binary_operation(BinaryKind kind, BinaryFunction function) {
  const Binary op{kind};
  std::vector<DType> firsts;
  for (const DType a : every_plain) {
    for (const DType b : every_plain) {
      if (accepts(op, {a, b}) && (firsts.empty() || firsts.back() != a)) firsts.push_back(a);
    }
  }
  const auto cases = [op, function](Rng& rng, DType a) {
    const auto call = [function](std::span<const Tensor> in, Device) { return Outputs{function(in[0], in[1])}; };
    std::vector<Case> all;
    for (const DType b : every_plain) {
      if (!accepts(op, {a, b})) continue;
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

}  // namespace

void add_pointwise(std::vector<Operation>& all) {
#define ROW(group, name, ...) all.push_back(unary_operation(UnaryKind::name, votive::name));
  VOTIVE_UNARY(ROW)
#undef ROW
#define ROW(group, name, ...) all.push_back(binary_operation(BinaryKind::name, votive::name));
  VOTIVE_BINARY(ROW)
#undef ROW
}

}  // namespace votive::contract
