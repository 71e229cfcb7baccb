// Casts between all pairs of dtypes and from blocks, copies of every layout, joining, selecting by condition.
#include "tests/contract/operations.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/pointwise.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> casts_from(Rng& rng, DType from) {
  std::vector<Case> all;
  for (const DType to : every_plain) {
    if (to == from) continue;
    for (const bool saturate : {true, false}) {
      if (!saturate && !is_float8(to)) continue;
      const auto call = [to, saturate](std::span<const Tensor> in, Device) { return Outputs{cast(in[0], to, {.saturate = saturate})}; };
      const std::string note = "to " + std::string(to_string(to)) + (saturate ? "" : " without saturation");
      for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4, 5}, Shape{0, 2}, Shape{2, 1050}})
        all.push_back({{{.dtype = from, .shape = shape}}, call, note, true});
      all.push_back({{{.dtype = from, .shape = {400}, .values = Values::corners}}, call, note + ", corners", false});
      if (from != DType::boolean && block_bytes(from) <= 2) {
        all.push_back({{{.dtype = from, .shape = {Size{1} << (8 * block_bytes(from))}, .values = Values::every}},
                       call,
                       note + ", every value",
                       false});
      } else {
        all.push_back({{{.dtype = from, .shape = {rng.between(19000, 20000)}}}, call, note + ", large", false});
      }
    }
  }
  return all;
}

std::vector<Case> casts_from_blocks(Rng& rng, DType from) {
  std::vector<Case> all;
  const Size block = block_size(from);
  for (const DType to : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::i8, DType::boolean}) {
    const std::string note = "to " + std::string(to_string(to));
    const auto call = [to](std::span<const Tensor> in, Device) { return Outputs{in[0].to(to)}; };
    const Shape shape{rng.between(1, 5), block * rng.between(1, 4)};
    all.push_back({{{.dtype = from, .shape = shape, .always_contiguous = true}}, call, note, false});
    all.push_back({{{.dtype = from, .shape = shape, .always_contiguous = true}},
                   [to](std::span<const Tensor> in, Device) {
                     return Outputs{transpose(in[0]).to(to), select(in[0], 0, -1).to(to)};
                   },
                   note + ", views",
                   false});
    if (to == DType::f32) all.push_back({{{.dtype = from, .shape = {97, 768}, .always_contiguous = true}}, call, note + ", large", false});
  }
  return all;
}

std::vector<Case> copies(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{apply(Copy{}, in[0])}; };
  for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4, 5}, Shape{0, 2}, Shape{2, 3, 1, 4, 2}, Shape{2, 1050},
                             Shape{rng.between(150, 200), rng.between(180, 220)}, Shape{3, rng.between(1000, 2500), rng.between(2, 5)}}) {
    all.push_back({{{.dtype = d, .shape = shape}}, call, "", true});
  }
  return all;
}

// A destination of every layout, made by viewing a fresh tensor as the source lies; then the whole buffer is compared.
std::vector<Case> writes(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) {
    const Tensor whole = apply(Copy{}, in[0]);
    Tensor back = flip(transpose(whole, 0, 1), 0);
    copy_into(back, transpose(in[1], 0, 1));
    Tensor part = narrow(whole, 1, 1, whole.size(1) - 1);
    copy_into(part, narrow(whole, 1, 0, whole.size(1) - 1));  // overlap: as if copied first
    return Outputs{whole};
  };
  for (const Shape& shape : {Shape{3, 4}, Shape{5, 2, 3}, Shape{1, 7}, Shape{rng.between(80, 90), rng.between(80, 90)}}) {
    all.push_back({{{.dtype = d, .shape = shape}, {.dtype = d, .shape = shape}}, call, "", true});
  }
  return all;
}

std::vector<Case> joins(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const int axis : {0, 1, -1}) {
    const auto call = [axis](std::span<const Tensor> in, Device) { return Outputs{concat(in, axis)}; };
    const Size m = rng.between(1, 5), n = rng.between(1, 5), c = rng.between(1, 40);
    std::vector<Input> inputs;
    for (int i = 0; i < 3; ++i) {
      Shape shape{m, n, c};
      shape[axis < 0 ? 2 : axis] = rng.between(0, 4);
      inputs.push_back({.dtype = d, .shape = shape});
    }
    all.push_back({inputs, call, "axis " + std::to_string(axis), true});
    all.push_back({{inputs[0]}, call, "of one", true});
    for (const DType other : {DType::f32, DType::i64, DType::u8}) {
      if (!common_dtype(d, other) || other == d) continue;
      std::vector<Input> mixed = inputs;
      mixed[1].dtype = other;
      all.push_back({mixed, call, "with " + std::string(to_string(other)), true});
    }
    all.push_back({{{.dtype = d, .shape = {m, c}}, {.dtype = d, .shape = {m, c}}},
                   [axis](std::span<const Tensor> in, Device) { return Outputs{stack(in, axis)}; },
                   "stack",
                   true});
  }
  all.push_back({{{.dtype = d, .shape = {60, 300}}, {.dtype = d, .shape = {60, 301}}},
                 [](std::span<const Tensor> in, Device) { return Outputs{concat(in, 1)}; },
                 "large",
                 true});
  return all;
}

std::vector<Case> selections(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{where(in[0], in[1], in[2])}; };
  const auto add = [&](const Shape& c, const Shape& a, const Shape& b, DType other) {
    all.push_back({{{.dtype = DType::boolean, .shape = c}, {.dtype = d, .shape = a}, {.dtype = other, .shape = b}},
                   call,
                   std::string(to_string(other)),
                   true});
  };
  add({3, 4}, {3, 4}, {3, 4}, d);
  add({3, 1}, {4}, {}, d);
  add({}, {2, 3}, {3}, d);
  add({0, 4}, {4}, {1, 4}, d);
  add({rng.between(180, 200), rng.between(180, 200)}, {1}, {}, d);
  for (const DType other : every_plain) {
    if (other != d && common_dtype(d, other)) add({2, 5}, {5}, {2, 1}, other);
  }
  return all;
}

}  // namespace

void add_conversions(std::vector<Operation>& all) {
  all.push_back({"to", every_plain, casts_from});
  all.push_back({"to_from_blocks", every_quantised, casts_from_blocks});
  all.push_back({"copy", every_plain, copies, true});
  all.push_back({"copy_into", every_plain, writes, true});
  all.push_back({"concat", every_plain, joins});
  all.push_back({"where", every_plain, selections});
}

}  // namespace votive::contract
