// Scatter in every mode: targets named never, once and often, past the chunk of the canonical tree, indices of every dtype, some out of range.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> scatters(Rng& rng, DType d, ScatterMode mode) {
  std::vector<Case> all;
  const Values values = mode == ScatterMode::mul && is_floating(d) ? Values::moderate : Values::wide;
  for (const int axis : {0, 1, -1}) {
    const auto call = [=](std::span<const Tensor> in, Device) {
      return Outputs{scatter(in[0], in[1], in[2], {.axis = axis, .mode = mode})};
    };
    const auto add = [&](const Shape& x, const Shape& given, DType index, Values kind, Size reach, const char* note, bool layouts) {
      const Size n = x[axis < 0 ? x.rank() - 1 : axis];
      all.push_back(
          {{{.dtype = d, .shape = x, .values = kind},
            {.dtype = index, .shape = given, .values = Values::index, .low = is_signed_integer(index) ? -n : 0, .high = n + reach},
            {.dtype = d, .shape = given, .values = kind}},
           call,
           note,
           layouts});
    };
    for (const DType index : every_integer) {
      const Shape x{rng.between(1, 6), rng.between(1, 6), rng.between(1, 20)};
      Shape given = x;
      for (int a = 0; a < 3; ++a) given[a] = a == (axis < 0 ? 2 : axis) ? rng.between(0, 40) : rng.between(1, x[a]);
      add(x, given, index, rng.one_in(3) ? Values::any : values, 0, "", true);
    }
    add({3, 3, 3}, {2, 2, 2}, DType::i32, values, 1, "some beyond", true);
    add({3, 3, 3}, {2, 0, 2}, DType::i32, values, 0, "none", false);
    add({9, 30, 30}, {9, 30, 30}, DType::i64, values, 0, "large", false);
  }
  const auto call = [=](std::span<const Tensor> in, Device) { return Outputs{scatter(in[0], in[1], in[2], {.mode = mode})}; };
  for (const Size n : {1, 70, 20000}) {  // 9000 updates: two chunks and more for one target, or most targets without any
    all.push_back({{{.dtype = d, .shape = {n}, .values = values},
                    {.dtype = DType::i32, .shape = {9000}, .values = Values::index, .high = n},
                    {.dtype = d, .shape = {9000}, .values = values}},
                   call,
                   "a row",
                   false});
  }
  all.push_back({{{.dtype = d, .shape = {30000}, .values = values},
                  {.dtype = DType::i32, .shape = {300}, .values = Values::index, .high = 40},
                  {.dtype = d, .shape = {300}, .values = values}},
                 call,
                 "few of many",
                 false});
  return all;
}

std::vector<Case> slices(Rng& rng, DType d, ScatterMode mode) {
  std::vector<Case> all;
  const auto call = [mode](int axis) {
    return [=](std::span<const Tensor> in, Device) {
      return Outputs{mode == ScatterMode::add ? index_add(in[0], in[1], in[2], axis) : index_copy(in[0], in[1], in[2], axis)};
    };
  };
  for (const int axis : {0, 1, -1}) {
    for (const DType index : every_integer) {
      const Shape x{rng.between(1, 6), rng.between(1, 6), rng.between(1, 20)};
      const int at = axis < 0 ? 2 : axis;
      const Shape named = rng.one_in(4) ? Shape{} : rng.one_in(3) ? Shape{2, 5} : Shape{rng.between(0, 40)};
      Shape given;
      for (int a = 0; a < at; ++a) given.push_back(x[a]);
      for (const Size n : named) given.push_back(n);
      for (int a = at + 1; a < 3; ++a) given.push_back(x[a]);
      all.push_back(
          {{{.dtype = d, .shape = x, .values = Values::wide},
            {.dtype = index, .shape = named, .values = Values::index, .low = is_signed_integer(index) ? -x[at] : 0, .high = x[at]},
            {.dtype = d, .shape = given, .values = rng.one_in(3) ? Values::any : Values::wide}},
           call(axis),
           std::string(to_string(index)),
           true});
    }
  }
  const auto rows = [&](Size n, Size width, Size k, Size reach, const char* note) {
    all.push_back({{{.dtype = d, .shape = {n, width}, .values = Values::wide},
                    {.dtype = DType::i32, .shape = {k}, .values = Values::index, .high = n + reach},
                    {.dtype = d, .shape = {k, width}, .values = Values::wide}},
                   call(0),
                   note,
                   false});
  };
  rows(2, 3, 9000, 0, "past a chunk");
  rows(7, 1100, 90, 0, "wide");
  rows(3000, 40, 20, 0, "few of many");
  rows(3, 3, 7, 2, "some beyond");
  rows(0, 3, 7, 2, "to nowhere");
  return all;
}

std::vector<Case> puts(Rng& rng, DType d) {
  std::vector<Case> all;
  const bool number = d != DType::boolean && !is_float8(d);
  const auto call = [number](std::span<const Tensor> in, Device) {
    return Outputs{index_put(in[0], {in[1], in[2]}, in[3]), index_put(in[0], {in[1], in[2]}, in[3], {.accumulate = number})};
  };
  for (const DType index : every_integer) {
    const Shape x{rng.between(1, 6), rng.between(1, 6), rng.between(1, 9)};
    const bool is_signed = is_signed_integer(index);
    const Size beyond = rng.one_in(4) ? 1 : 0, m = rng.between(1, 20);
    all.push_back({{{.dtype = d, .shape = x, .values = Values::wide},
                    {.dtype = index, .shape = {2, 1}, .values = Values::index, .low = is_signed ? -x[0] : 0, .high = x[0]},
                    {.dtype = index, .shape = {m}, .values = Values::index, .low = is_signed ? -x[1] : 0, .high = x[1] + beyond},
                    {.dtype = d, .shape = {m, 1}, .values = Values::wide}},
                   call,
                   std::string(to_string(index)),
                   true});
  }
  return all;
}

}  // namespace

void add_scatters(std::vector<Operation>& all) {
  const auto add = [&](const char* name, const std::vector<DType>& dtypes, ScatterMode mode, bool exact_nan) {
    all.push_back({name, dtypes, [mode](Rng& rng, DType d) { return scatters(rng, d, mode); }, exact_nan});
  };
  add("scatter", every_plain, ScatterMode::assign, true);
  add("scatter_add", every_arithmetic, ScatterMode::add, false);
  add("scatter_mul", every_arithmetic, ScatterMode::mul, false);
  add("scatter_min", every_number_and_bool, ScatterMode::min, false);
  add("scatter_max", every_number_and_bool, ScatterMode::max, false);
  add("scatter_mean", every_floating, ScatterMode::mean, false);
  all.push_back({"index_add", every_arithmetic, [](Rng& rng, DType d) { return slices(rng, d, ScatterMode::add); }});
  all.push_back({"index_put", every_plain, puts});
  all.push_back({"index_copy", every_plain, [](Rng& rng, DType d) { return slices(rng, d, ScatterMode::assign); }, true});
}

}  // namespace votive::contract
