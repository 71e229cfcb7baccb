// Lookups with every index dtype, indices out of range included, and rotary positions in both pairings.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> embeddings(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{embedding(in[0], in[1])}; };
  const bool quantised = is_quantised(d);
  const Size D = quantised ? block_size(d) * 2 : rng.between(1, 70);
  for (const DType index : every_integer) {
    const Size V = rng.between(1, 60);
    all.push_back({{{.dtype = d, .shape = {V, D}, .always_contiguous = quantised},
                    {.dtype = index, .shape = {rng.between(1, 6), rng.between(1, 6)}, .values = Values::index, .high = V}},
                   call,
                   std::string(to_string(index)),
                   true});
    all.push_back({{{.dtype = d, .shape = {V, D}, .always_contiguous = quantised},
                    {.dtype = index, .shape = {3, 4}, .values = Values::index, .low = V - 1, .high = V + 2}},
                   call,
                   std::string(to_string(index)) + ", some beyond",
                   true});
  }
  all.push_back({{{.dtype = d, .shape = {20, D}, .always_contiguous = quantised},
                  {.dtype = DType::i64, .shape = {3}, .values = Values::index, .low = -2, .high = 20}},
                 call,
                 "negative",
                 true});
  all.push_back({{{.dtype = d, .shape = {20, D}, .always_contiguous = quantised},
                  {.dtype = DType::i64, .shape = {}, .values = Values::index, .high = 20}},
                 call,
                 "one id",
                 true});
  all.push_back(
      {{{.dtype = d, .shape = {20, D}, .always_contiguous = quantised}, {.dtype = DType::i64, .shape = {0}}}, call, "none", false});
  all.push_back({{{.dtype = d, .shape = {20, quantised ? 256 : 300}, .always_contiguous = quantised},
                  {.dtype = DType::u16, .shape = {150}, .values = Values::index, .high = 20}},
                 call,
                 "large",
                 false});
  if (quantised) {
    all.push_back({{{.dtype = d, .shape = {33, D}, .always_contiguous = true},
                    {.dtype = DType::i32, .shape = {40}, .values = Values::index, .high = 33}},
                   [](std::span<const Tensor> in, Device device) {
                     return Outputs{embedding(device == Device::cpu ? prepack(in[0]) : in[0], in[1])};
                   },
                   "packed",
                   false});
  }
  return all;
}

std::vector<Case> index_selects(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const int axis : {0, 1, -1}) {
    const auto call = [axis](std::span<const Tensor> in, Device) { return Outputs{index_select(in[0], in[1], axis)}; };
    for (const DType index : every_integer) {
      const Shape shape{rng.between(1, 6), rng.between(1, 6), rng.between(1, 20)};
      const Size n = shape[axis < 0 ? 2 : axis];
      const bool is_signed = is_signed_integer(index);
      all.push_back({{{.dtype = d, .shape = shape},
                      {.dtype = index, .shape = {rng.between(0, 12)}, .values = Values::index, .low = is_signed ? -n : 0, .high = n}},
                     call,
                     std::string(to_string(index)),
                     true});
    }
    all.push_back({{{.dtype = d, .shape = {3, 3, 3}}, {.dtype = DType::i32, .shape = {5}, .values = Values::index, .low = -4, .high = 4}},
                   call,
                   "some beyond",
                   true});
    all.push_back({{{.dtype = d, .shape = {3, 3, 3}}, {.dtype = DType::i64, .shape = {}, .values = Values::index, .low = -3, .high = 3}},
                   call,
                   "one",
                   true});
    all.push_back(
        {{{.dtype = d, .shape = {30, 30, 40}}, {.dtype = DType::i64, .shape = {35}, .values = Values::index, .low = -30, .high = 30}},
         call,
         "large",
         false});
  }
  return all;
}

std::vector<Case> gathers(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const int axis : {0, 1, -1}) {
    const auto call = [axis](std::span<const Tensor> in, Device) { return Outputs{gather(in[0], in[1], axis)}; };
    for (const DType index : every_integer) {
      const Shape shape{rng.between(1, 6), rng.between(1, 6), rng.between(1, 20)};
      Shape taken = shape;
      for (int a = 0; a < 3; ++a) taken[a] = a == (axis < 0 ? 2 : axis) ? rng.between(0, 9) : rng.between(1, shape[a]);
      const Size n = shape[axis < 0 ? 2 : axis];
      all.push_back({{{.dtype = d, .shape = shape},
                      {.dtype = index, .shape = taken, .values = Values::index, .low = is_signed_integer(index) ? -n : 0, .high = n}},
                     call,
                     std::string(to_string(index)),
                     true});
    }
    all.push_back(
        {{{.dtype = d, .shape = {3, 3, 3}}, {.dtype = DType::i32, .shape = {2, 2, 2}, .values = Values::index, .low = -4, .high = 4}},
         call,
         "some beyond",
         true});
    all.push_back({{{.dtype = d, .shape = {30, 30, 30}},
                    {.dtype = DType::i64, .shape = {30, 30, 30}, .values = Values::index, .low = -30, .high = 30}},
                   call,
                   "large",
                   false});
  }
  return all;
}

std::vector<Case> takes(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{take(in[0], in[1]), index_select(in[0], in[1], 1)}; };
  for (const DType index : every_integer) {
    const Shape shape{rng.between(1, 6), rng.between(1, 6), rng.between(1, 5)};
    all.push_back({{{.dtype = d, .shape = shape},
                    {.dtype = index,
                     .shape = {rng.between(0, 4), 3},
                     .values = Values::index,
                     .low = is_signed_integer(index) ? -1 : 0,
                     .high = shape[1]}},
                   call,
                   std::string(to_string(index)),
                   true});
  }
  all.push_back({{{.dtype = d, .shape = {2, 2}}, {.dtype = DType::i32, .shape = {2, 2}, .values = Values::index, .low = 2, .high = 6}},
                 call,
                 "some beyond",
                 true});
  return all;
}

std::vector<Case> masks(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto choose = [](std::span<const Tensor> in, Device) { return Outputs{masked_select(in[0], in[1])}; };
  const auto put = [](std::span<const Tensor> in, Device) {
    return Outputs{masked_scatter(in[0], in[1], in[2]), masked_fill(in[0], in[1], 1)};
  };
  const auto find = [](std::span<const Tensor> in, Device) { return Outputs{nonzero(in[0])}; };
  for (int i = 0; i < 4; ++i) {
    const Shape shape{rng.between(1, 6), rng.between(1, 7), rng.between(0, 9)};
    for (const Shape& mask : {Shape{shape[0]}, Shape{shape[0], shape[1]}, shape, Shape{shape[0], shape[2]}})
      all.push_back({{{.dtype = d, .shape = shape}, {.dtype = DType::boolean, .shape = mask, .values = Values::truth}}, choose, "", true});
    all.push_back({{{.dtype = d, .shape = shape, .values = Values::small_integers}}, find, "nonzero", true});
    for (const Shape& mask : {shape, Shape{shape[1], 1}})
      all.push_back(
          {{{.dtype = d, .shape = shape}, {.dtype = DType::boolean, .shape = mask, .values = Values::truth}, {.dtype = d, .shape = shape}},
           put,
           "",
           true});
  }
  all.push_back(
      {{{.dtype = d, .shape = {70000}}, {.dtype = DType::boolean, .shape = {70000}, .values = Values::truth}}, choose, "large", false});
  all.push_back({{{.dtype = d, .shape = {300, 170}, .values = Values::small_integers}}, find, "large", true});
  return all;
}

std::vector<Case> ropes(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const RopePairing pairing : {RopePairing::halves, RopePairing::interleaved}) {
    const auto call = [pairing](std::span<const Tensor> in, Device) { return Outputs{rope(in[0], in[1], in[2], {.pairing = pairing})}; };
    const auto add = [&](const Shape& x, bool batched, Size pairs, DType index, Values values, bool layouts) {
      all.push_back({{{.dtype = d, .shape = x, .values = values},
                      {.dtype = index, .shape = batched ? Shape{x[0], x[2]} : Shape{x[2]}, .values = Values::position},
                      {.dtype = DType::f32, .shape = {pairs}, .values = Values::moderate}},
                     call,
                     pairing == RopePairing::halves ? "halves" : "interleaved",
                     layouts});
    };
    for (const DType index : every_integer) {
      const Size pairs = rng.between(1, 20);
      add({rng.between(1, 3), rng.between(1, 3), rng.between(1, 5), 2 * pairs + rng.between(0, 5)}, rng.one_in(2), pairs, index,
          Values::moderate, true);
    }
    for (const Size D : {2, 16, 32, 64, 128}) add({1, 3, 2, D}, false, D / 2, DType::i64, Values::any, D < 64);
    add({2, 9, 33, 64}, true, 32, DType::i64, Values::moderate, false);
    add({1, 1, 0, 8}, false, 4, DType::i64, Values::moderate, false);
    add({1, 1, 2, 7}, false, 3, DType::i64, Values::any, true);
    add({1, 1, 2, 7}, false, 0, DType::i64, Values::any, false);
    add({1, 1, 2, 7}, false, 4, DType::i64, Values::any, false);
  }
  return all;
}

}  // namespace

void add_lookups(std::vector<Operation>& all) {
  std::vector<DType> tables = every_plain;
  tables.insert(tables.end(), every_quantised.begin(), every_quantised.end());
  all.push_back({"embedding", tables, embeddings, true});
  all.push_back({"index_select", every_plain, index_selects, true});
  all.push_back({"gather", every_plain, gathers, true});
  all.push_back({"take", every_plain, takes, true});
  all.push_back({"masks", every_plain, masks, true});
  all.push_back({"rope", every_floating, ropes});
}

}  // namespace votive::contract
