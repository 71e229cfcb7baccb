// Matmul, linear with plain, quantised and packed weights: odd sizes, inner sizes around the block of 1024, batches that broadcast.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

std::vector<Case> matmuls(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{matmul(in[0], in[1])}; };
  const auto add = [&](const Shape& a, const Shape& b, Values values, const std::string& note, bool layouts) {
    all.push_back({{{.dtype = d, .shape = a, .values = values}, {.dtype = d, .shape = b, .values = values}}, call, note, layouts});
  };
  for (const Values values : {Values::moderate, Values::any, Values::wide}) {
    for (int i = 0; i < 3; ++i) {
      const Size m = rng.between(1, 19), k = rng.between(1, 40), n = rng.between(1, 37);
      add({m, k}, {k, n}, values, "small", true);
    }
    add({1, 33}, {33, 65}, values, "a row", true);
    add({65, 33}, {33, 1}, values, "a column", true);
    add({3, 4, 5}, {3, 5, 6}, values, "batch", true);
    add({2, 1, 4, 5}, {3, 5, 6}, values, "batches broadcast", true);
    add({4, 5}, {2, 5, 6}, values, "batch on the right", true);
  }
  for (const Size k : {1023, 1024, 1025, 2048, 2049, 3073}) {
    add({rng.between(1, 5), k}, {k, rng.between(1, 9)}, Values::wide, "blocks", k == 1025);
    add({1, k}, {k, rng.between(1, 40)}, Values::moderate, "blocks, a row", false);
  }
  add({61, 129}, {129, 83}, Values::moderate, "tiles", true);
  add({130, 70}, {70, 150}, Values::wide, "many tiles", false);
  add({16, 64}, {64, 32}, Values::moderate, "whole tiles", true);
  add({5}, {5}, Values::moderate, "vectors", true);
  add({5}, {5, 3}, Values::moderate, "a vector on the left", true);
  add({3, 5}, {5}, Values::moderate, "a vector on the right", true);
  add({3, 0}, {0, 4}, Values::moderate, "no inner elements", false);
  add({0, 3}, {3, 4}, Values::moderate, "empty", false);
  add({2, 3, 4}, {0, 4, 5}, Values::moderate, "batches that do not broadcast", false);
  add({3, 4}, {5, 4}, Values::moderate, "sizes that do not fit", false);
  for (const DType other : every_floating) {
    if (other == d) continue;
    all.push_back(
        {{{.dtype = d, .shape = {4, 9}, .values = Values::moderate}, {.dtype = other, .shape = {9, 7}, .values = Values::moderate}},
         call,
         "with " + std::string(to_string(other)),
         true});
  }
  return all;
}

std::vector<Case> integer_matmuls(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto add = [&](const Shape& a, DType other, const Shape& b, std::optional<DType> out, const std::string& note, bool layouts) {
    const auto call = [out](std::span<const Tensor> in, Device) { return Outputs{matmul(in[0], in[1], {.out = out})}; };
    all.push_back({{{.dtype = d, .shape = a}, {.dtype = other, .shape = b}}, call, note, layouts});
  };
  for (const DType other : every_integer) {
    const Size m = rng.between(1, 9), k = rng.between(1, 40), n = rng.between(1, 37);
    add({m, k}, other, {k, n}, {}, "with " + std::string(to_string(other)), true);
    add({2, 1, m, k}, other, {3, k, n}, i64, "out i64, with " + std::string(to_string(other)), true);
  }
  add({5, 300}, d, {300, 270}, {}, "tiles", false);
  add({3}, d, {3}, {}, "vectors", true);
  add({3, 0}, d, {0, 4}, {}, "no inner elements", false);
  add({0, 3}, d, {3, 4}, {}, "empty", false);
  add({1, 33026}, d, {33026, 1}, {}, "long", false);
  add({2, 3}, d, {3, 2}, f32, "float sums", false);
  return all;
}

std::vector<Case> kept_sums(Rng& rng, DType d) {
  std::vector<Case> all;
  const auto call = [](std::span<const Tensor> in, Device) { return Outputs{matmul(in[0], in[1], {.out = f32})}; };
  for (const Values values : {Values::moderate, Values::wide}) {
    const Size m = rng.between(1, 19), k = rng.between(1, 40), n = rng.between(1, 37);
    all.push_back({{{.dtype = d, .shape = {m, k}, .values = values}, {.dtype = d, .shape = {k, n}, .values = values}}, call, "", true});
    all.push_back(
        {{{.dtype = d, .shape = {3, 1025}, .values = values}, {.dtype = d, .shape = {1025, 40}, .values = values}}, call, "", false});
  }
  return all;
}

std::vector<Case> linears(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const bool bias : {false, true}) {
    for (const bool packed : {false, true}) {
      const auto call = [packed](std::span<const Tensor> in, Device device) {
        return Outputs{linear(in[0], packed && device == Device::cpu ? prepack(in[1]) : in[1], in[2])};
      };
      const auto add = [&](const Shape& x, Size n, Values values, bool layouts) {
        const Size k = x.back();
        all.push_back({{{.dtype = d, .shape = x, .values = values},
                        {.dtype = d, .shape = {n, k}, .values = values},
                        {.dtype = d, .shape = {n}, .values = Values::moderate, .present = bias}},
                       call,
                       std::string(packed ? "packed" : "") + (bias ? " bias" : ""),
                       layouts});
      };
      add({rng.between(1, 9), rng.between(1, 70)}, rng.between(1, 50), Values::moderate, true);
      add({2, 3, rng.between(1, 70)}, rng.between(1, 50), Values::any, true);
      add({rng.between(1, 70)}, rng.between(1, 50), Values::moderate, true);
      add({1, 1025}, 33, Values::wide, false);
      add({7, 2049}, 17, Values::wide, false);
      add({37, 64}, 96, Values::moderate, true);
      add({4, 0}, 5, Values::moderate, false);
      add({0, 4}, 5, Values::moderate, false);
    }
  }
  return all;
}

std::vector<Case> quantised_linears(Rng& rng, DType w) {
  std::vector<Case> all;
  const Size block = block_size(w);
  for (const DType d : {DType::f32, DType::f16, DType::bf16}) {
    for (const bool packed : {false, true}) {
      for (const bool bias : {false, true}) {
        const auto call = [packed](std::span<const Tensor> in, Device device) {
          return Outputs{linear(in[0], packed && device == Device::cpu ? prepack(in[1]) : in[1], in[2])};
        };
        const auto add = [&](const Shape& x, Size n, Values values) {
          all.push_back({{{.dtype = d, .shape = x, .values = values},
                          {.dtype = w, .shape = {n, x.back()}, .always_contiguous = true},
                          {.dtype = d, .shape = {n}, .values = Values::moderate, .present = bias}},
                         call,
                         std::string(to_string(d)) + (packed ? " packed" : "") + (bias ? " bias" : ""),
                         x.back() <= 2 * block});
        };
        add({1, block * rng.between(1, 3)}, rng.between(1, 40), Values::moderate);
        add({rng.between(2, 9), block * rng.between(1, 3)}, rng.between(1, 40), Values::any);
        add({rng.between(10, 37), block}, rng.between(1, 40), Values::wide);
        add({2, 2, block}, 16, Values::corners);
        add({1, 1024}, 48, Values::wide);
        add({block}, 5, Values::moderate);
        add({0, block}, 5, Values::moderate);
      }
    }
  }
  all.push_back({{{.dtype = DType::f32, .shape = {3, block}, .values = Values::moderate},
                  {.dtype = w, .shape = {6, block}, .always_contiguous = true}},
                 [](std::span<const Tensor> in, Device) {
                   return Outputs{matmul(in[0], transpose(in[1])), linear(in[0], narrow(in[1], 0, 2, 3))};
                 },
                 "a view of rows",
                 true});
  all.push_back({{{.dtype = DType::f32, .shape = {3, block}}, {.dtype = w, .shape = {block, block}, .always_contiguous = true}},
                 [](std::span<const Tensor> in, Device) { return Outputs{matmul(in[0], in[1])}; },
                 "not transposed",
                 false});
  return all;
}

std::vector<Case> named_products(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Values values : {Values::moderate, Values::any}) {
    const Size m = rng.between(1, 9), k = rng.between(1, 9), n = rng.between(1, 9);
    all.push_back({{{.dtype = d, .shape = {m, k}, .values = values},
                    {.dtype = d, .shape = {k, n}, .values = values},
                    {.dtype = d, .shape = {k}, .values = values},
                    {.dtype = d, .shape = {3, k, k}, .values = values}},
                   [](std::span<const Tensor> in, Device) {
                     return Outputs{dot(in[2], in[2]),
                                    mv(in[0], in[2]),
                                    vecdot(in[0], in[2]),
                                    inner(in[0], in[2]),
                                    outer(in[2], in[2]),
                                    kron(in[0], in[1]),
                                    tensordot(in[0], in[1], 1),
                                    tensordot(in[3], in[1], {2}, {0}),
                                    trace(in[3], 1),
                                    einsum("ij,jk->ki", {in[0], in[1]}),
                                    einsum("...ii->...i", {in[3]}),
                                    einsum("bij,bjk,k->bi", {in[3], in[3], in[2]}),
                                    einsum("i,j,jk->ik", {in[2], in[2], in[1]})};
                   },
                   "",
                   true});
  }
  return all;
}

std::vector<Case> added_products(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Values values : {Values::moderate, Values::any}) {
    const Size m = rng.between(1, 9), k = rng.between(1, 9), n = rng.between(1, 9);
    all.push_back({{{.dtype = d, .shape = {n}, .values = values},
                    {.dtype = d, .shape = {2, m, k}, .values = values},
                    {.dtype = d, .shape = {2, k, n}, .values = values},
                    {.dtype = d, .shape = {n, k, k}, .values = values},
                    {.dtype = d, .shape = {2, m, k}, .values = values}},
                   [](std::span<const Tensor> in, Device) {
                     return Outputs{addmm(in[0], select(in[1], 0, 1), select(in[2], 0, 1), {.alpha = 0.3f, .beta = 0.7f}),
                                    baddbmm(in[0], in[1], in[2]), bilinear(in[1], in[4], in[3], in[0])};
                   },
                   "",
                   true});
  }
  return all;
}

}  // namespace

void add_products(std::vector<Operation>& all) {
  all.push_back({"matmul", every_floating, matmuls});
  all.push_back({"matmul_of_integers", every_integer, integer_matmuls});
  all.push_back({"matmul_keeping_sums", {DType::f16, DType::bf16, DType::f32}, kept_sums});
  all.push_back({"linear", every_floating, linears});
  all.push_back({"linear_of_blocks", every_quantised, quantised_linears});
  all.push_back({"named_products", every_arithmetic, named_products});
  all.push_back({"added_products", every_floating, added_products});
}

}  // namespace votive::contract
