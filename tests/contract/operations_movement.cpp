// What moves elements and leaves or writes something beside them: padding, windows, diagonals, triangles, slices written, repetitions.
#include "tests/contract/operations.h"
#include "votive/ops/apply.h"
#include "votive/ops/movement.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;
using Function = std::function<Tensor(const Tensor&)>;

Case of_one(DType d, const Shape& shape, const Function& f, std::string note, bool every_layout = true) {
  return {
      {{.dtype = d, .shape = shape}}, [f](std::span<const Tensor> in, Device) { return Outputs{f(in[0])}; }, std::move(note), every_layout};
}

std::vector<Case> places(Rng& rng, DType d) {
  std::vector<Case> all;
  // views of every kind, put back into a row-major tensor
  for (int i = 0; i < 6; ++i) {
    const Shape whole{rng.between(1, 6), rng.between(1, 6), rng.between(1, 40)};
    Layout at = Layout::contiguous(whole);
    for (int axis = 0; axis < 3; ++axis) {
      const Size n = whole[axis], start = rng.below(n), step = i < 3 ? 1 : rng.between(1, 3);
      const Size kept = i == 5 ? 0 : rng.between(1, (n - start - 1) / step + 1);
      at = sliced(at, axis, i == 4 ? n - 1 - start : start, i == 4 ? -1 : step, i == 4 ? std::min<Size>(kept, n - start) : kept);
    }
    const std::uint64_t bits = element_bits(rng, {.dtype = d}, 0);
    all.push_back(of_one(
        d, at.shape, [=](const Tensor& x) { return apply(Place{.shape = whole, .at = at, .bits = bits}, x); }, "into " + to_string(whole)));
  }
  return all;
}

std::vector<Case> paddings(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect, PadMode::circular}) {
    const auto widths = [&rng](Size limit) { return PadWidth{rng.between(-1, limit), rng.between(-1, limit)}; };
    for (const Shape& shape : {Shape{6}, Shape{5, 7}, Shape{2, 5, 6}, Shape{6, 5, 2, 4}, Shape{200, 190}}) {
      std::vector<PadWidth> each;
      for (const Size n : shape) each.push_back(widths(n < 5 ? 0 : 3));
      for (PadWidth& w : each)
        if (shape.rank() > 2) w = {std::max<Size>(w.before, 0), std::max<Size>(w.after, 0)};
      all.push_back(of_one(
          d, shape, [=](const Tensor& x) { return pad(x, each, {.mode = mode, .value = 1}); },
          "mode " + std::to_string(static_cast<int>(mode)), shape[0] != 200 || mode == PadMode::constant));
    }
  }
  return all;
}

std::vector<Case> windows(Rng& rng, DType d) {
  std::vector<Case> all;
  for (int i = 0; i < 4; ++i) {
    const Shape shape{rng.between(4, 9), rng.between(4, 9), rng.between(4, 9)};
    const int axis = i % 3;
    const Size size = rng.between(1, 4), step = rng.between(1, 4);
    all.push_back(of_one(
        d, shape, [=](const Tensor& x) { return contiguous(unfold(x, axis, size, step)); },
        std::to_string(size) + " every " + std::to_string(step)));
  }
  return all;
}

std::vector<Case> diagonals(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Size offset : {Size{0}, Size{2}, Size{-1}, Size{-9}, rng.between(-4, 4)}) {
    const Shape shape{rng.between(1, 5), rng.between(1, 5), rng.between(1, 5)};
    const DiagonalOptions options{.offset = offset, .a = static_cast<int>(rng.below(2)), .b = 2};
    const std::string note = "offset " + std::to_string(offset);
    all.push_back(of_one(
        d, shape, [=](const Tensor& x) { return contiguous(diagonal(x, options)); }, note));
    all.push_back(of_one(
        d, shape, [=](const Tensor& x) { return diag_embed(x, options); }, note + ", embedded"));
  }
  return all;
}

std::vector<Case> triangles(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const bool lower : {true, false}) {
    for (const Size offset : {Size{0}, Size{1}, rng.between(-30, 30), Size{1} << 40}) {
      for (const Shape& shape : {Shape{5, 5}, Shape{3, 2, 7}, Shape{0, 3, 3}, Shape{1, 1}, Shape{3, 120, 130}}) {
        all.push_back(of_one(
            d, shape, [=](const Tensor& x) { return lower ? tril(x, offset) : triu(x, offset); },
            (lower ? "lower " : "upper ") + std::to_string(offset), shape.rank() != 3 || shape[0] != 3));
      }
    }
  }
  return all;
}

std::vector<Case> writes(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& shape, const Shape& source, DType other, const SliceOptions& options) {
    all.push_back({{{.dtype = d, .shape = shape}, {.dtype = other, .shape = source}},
                   [=](std::span<const Tensor> in, Device) { return Outputs{slice_scatter(in[0], in[1], options)}; },
                   "slice of axis " + std::to_string(options.axis),
                   true});
  };
  add({6, 5}, {3, 5}, d, {.axis = 0, .start = 1, .stop = 4});
  add({6, 5}, {6, 3}, d, {.axis = 1, .step = -2});
  add({6, 5, 2}, {}, d, {.axis = 1, .start = -2});
  add({6, 5}, {0, 5}, d, {.axis = 0, .start = 6});
  add({rng.between(150, 160), 200}, {1, 100}, d, {.axis = 1, .step = 2});
  if (d != DType::boolean && !is_float8(d)) add({6, 5}, {6, 5}, DType::boolean, {});
  all.push_back({{{.dtype = d, .shape = {4, 5}}, {.dtype = d, .shape = {4}}},
                 [](std::span<const Tensor> in, Device) { return Outputs{select_scatter(in[0], in[1], 1, -2)}; },
                 "select",
                 true});
  return all;
}

std::vector<Case> repetitions(Rng& rng, DType d) {
  std::vector<Case> all;
  const Shape shape{rng.between(1, 5), rng.between(1, 5), rng.between(1, 60)};
  const Shape counts{rng.between(0, 3), rng.between(1, 3), rng.between(1, 3), rng.between(1, 3)};
  all.push_back(of_one(
      d, shape, [=](const Tensor& x) { return tile(x, counts); }, "tile"));
  // rows of a few elements: windows, repetitions, channels
  all.push_back(of_one(
      d, {2, 1300}, [](const Tensor& x) { return repeat_interleave(x, 3, 1); }, "short rows"));
  all.push_back(of_one(
      d, {2, 1300}, [](const Tensor& x) { return contiguous(unfold(x, 1, 3, 1)); }, "short windows"));
  all.push_back(of_one(
      d, {2, 3, 20, 70}, [](const Tensor& x) { return contiguous(movedim(x, 1, -1)); }, "channels last"));
  for (int axis = 0; axis < 3; ++axis) {
    const Size n = rng.between(0, 4);
    all.push_back(of_one(
        d, shape, [=](const Tensor& x) { return repeat_interleave(x, n, axis); }, "in place"));
    all.push_back({{{.dtype = d, .shape = shape}, {.dtype = DType::u8, .shape = {shape[axis]}, .values = Values::index, .high = 4}},
                   [axis](std::span<const Tensor> in, Device) { return Outputs{repeat_interleave(in[0], in[1], axis)}; },
                   "by counts",
                   true});
    const Size shift = rng.between(-100, 100);
    all.push_back(of_one(
        d, shape, [=](const Tensor& x) { return roll(x, shift, axis); }, "roll"));
  }
  return all;
}

std::vector<Case> bits(Rng&, DType d) {
  std::vector<Case> all;
  for (const DType to : every_plain) {
    if (block_bytes(to) != block_bytes(d) || to == DType::boolean || to == d) continue;
    for (const Shape& shape : {Shape{}, Shape{3, 5}, Shape{0, 2}, Shape{300, 70}})
      all.push_back(of_one(
          d, shape, [to](const Tensor& x) { return bitcast(x, to); }, "to " + std::string(to_string(to))));
  }
  return all;
}

std::vector<Case> indices(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const DType index_dtype : {DType::i64, DType::u8, DType::i32}) {
    const bool is_signed = index_dtype != DType::u8;
    for (const Size beyond : {Size{0}, Size{1}}) {
      const auto chosen = [&](const Shape& shape, Size n) {
        return Input{.dtype = index_dtype, .shape = shape, .values = Values::index, .low = is_signed ? -n : 0, .high = n + beyond};
      };
      const Shape shape{rng.between(2, 5), rng.between(2, 5), rng.between(2, 30)};
      const std::string note = std::string(to_string(index_dtype)) + (beyond == 1 ? ", some beyond" : "");
      all.push_back({{{.dtype = d, .shape = shape}, chosen({2, 3}, shape[0]), chosen({3}, shape[1])},
                     [](std::span<const Tensor> in, Device) {
                       return Outputs{index(in[0], {in[1], in[2], Range{{}, {}, -1}})};
                     },
                     note,
                     true});
      all.push_back({{{.dtype = d, .shape = shape}, chosen({4}, shape[0]), chosen({}, shape[2])},
                     [](std::span<const Tensor> in, Device) {
                       return Outputs{index(in[0], {in[1], newaxis, Range{1}, in[2]})};
                     },
                     note + ", parted",
                     true});
      all.push_back({{{.dtype = d, .shape = shape}, chosen({4}, shape[0]), chosen({4}, shape[1]), {.dtype = d, .shape = {4, 1}}},
                     [](std::span<const Tensor> in, Device) {
                       return Outputs{index_put(in[0], {in[1], in[2]}, in[3])};
                     },
                     note + ", put",
                     true});
    }
  }
  all.push_back({{{.dtype = d, .shape = {4, 5, 6}}, {.dtype = DType::boolean, .shape = {4, 5}}},
                 [](std::span<const Tensor> in, Device) {
                   return Outputs{index(in[0], {in[1], Range{1, 4}}), index_put(in[0], {in[1]}, index(in[0], {0, 0}))};
                 },
                 "mask",
                 true});
  all.push_back({{{.dtype = d, .shape = {40, 50}},
                  {.dtype = DType::i64, .shape = {9000}, .values = Values::index, .low = -40, .high = 40},
                  {.dtype = DType::i64, .shape = {9000}, .values = Values::index, .low = -50, .high = 50}},
                 [](std::span<const Tensor> in, Device) {
                   return Outputs{index(in[0], {in[1], in[2]})};
                 },
                 "large",
                 false});
  return all;
}

}  // namespace

void add_movement(std::vector<Operation>& all) {
  all.push_back({"place", every_plain, places, true});
  all.push_back({"pad", every_plain, paddings, true});
  all.push_back({"unfold", every_plain, windows, true});
  all.push_back({"diagonal", every_plain, diagonals, true});
  all.push_back({"triangle", every_plain, triangles, true});
  all.push_back({"overlay", every_plain, writes});
  all.push_back({"repeat", every_plain, repetitions, true});
  all.push_back({"bitcast", every_plain, bits, true});
  all.push_back({"index", every_plain, indices, true});
}

}  // namespace votive::contract
