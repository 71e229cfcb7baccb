// Gradients of lookups and of scatter in every mode, against central differences.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

Tensor ids(const Nested& values) { return tensor(values, i64); }

TEST(IndexingGradients, OfLookups) {
  const Tensor x = samples({4, 3}, 1);
  expect_gradient("embedding", [](const Tensors& in) { return embedding(in[0], ids({{1, 3}, {1, 0}})); }, {x});
  expect_gradient("index_select", [](const Tensors& in) { return index_select(in[0], ids({-1, 0, -1}), 1); }, {x});
  expect_gradient("index_select", [](const Tensors& in) { return index_select(in[0], ids({{2, 2}, {0, -4}}), 0); }, {x});
  expect_gradient("index_select", [](const Tensors& in) { return index_select(in[0], ids(1), 0); }, {x});
  expect_gradient("gather", [](const Tensors& in) { return gather(in[0], ids({{1, -1}, {1, 0}}), 0); }, {x});
}

TEST(IndexingGradients, OfAQuadraticAreRightTwice) {
  const Tensor x = samples({5}, 2);
  expect_gradient("index_select",
                  [](const Tensors& in) {
                    const Tensor y = index_select(in[0], ids({1, 1, 4}));
                    return y * y;
                  },
                  {x});
}

TEST(IndexingGradients, OfScatter) {
  const Tensor x = samples({3, 4}, 3), source = samples({5, 2}, 4);
  const Tensor where_to = ids({{0, 1}, {0, -1}, {2, 1}, {0, 0}, {2, 1}});
  for (const auto& [name, mode] : {std::pair{"scatter", ScatterMode::assign}, std::pair{"scatter, add", ScatterMode::add},
                                   std::pair{"scatter, min", ScatterMode::min}, std::pair{"scatter, max", ScatterMode::max},
                                   std::pair{"scatter, mean", ScatterMode::mean}, std::pair{"scatter, mul", ScatterMode::mul}}) {
    expect_gradient(name, [&, mode = mode](const Tensors& in) { return scatter(in[0] * in[0], where_to, in[1] * in[1], {.mode = mode}); },
                    {x, source});
  }
  expect_gradient("scatter_add", [&](const Tensors& in) { return scatter_add(in[0], where_to, in[1]); }, {x, source});
}

TEST(IndexingGradients, OfSlices) {
  const Tensor x = samples({2, 3}, 5), source = samples({2, 2, 2}, 6);
  expect_gradient("index_add", [](const Tensors& in) { return index_add(in[0], ids({{0, 2}, {2, 2}}), in[1], 1); }, {x, source});
  expect_gradient("index_copy", [](const Tensors& in) { return index_copy(in[0], ids({{0, 2}, {2, 2}}), in[1], 1); }, {x, source});
}

TEST(IndexingGradients, OfIndexPut) {
  const Tensor x = samples({2, 3, 2}, 10), values = samples({3, 2}, 11);
  const Tensors at{ids({0, 1, 0}), ids({2, 0, 2})};
  for (const bool accumulate : {false, true})
    expect_gradient("index_put", [&](const Tensors& in) { return index_put(in[0] * in[0], at, in[1] * in[1], {accumulate}); }, {x, values});
}

TEST(IndexingGradients, OfMasks) {
  const Tensor x = samples({2, 3}, 7), source = samples({4}, 8);
  const Tensor mask = tensor({{1, 0, 1}, {0, 1, 0}}, boolean), rows = tensor({0, 1}, boolean);
  expect_gradient("take", [](const Tensors& in) { return take(in[0], ids({{0, -1}, {0, 3}})); }, {x});
  expect_gradient("masked_select", [&](const Tensors& in) { return masked_select(in[0] * in[0], mask); }, {x});
  expect_gradient("masked_select", [&](const Tensors& in) { return masked_select(in[0], rows); }, {x});
  expect_gradient("masked_fill", [&](const Tensors& in) { return masked_fill(in[0] * in[0], mask, 3); }, {x});
  expect_gradient("masked_fill", [&](const Tensors& in) { return masked_fill(in[0], mask, in[1]); }, {x, samples({}, 9)});
  expect_gradient("masked_scatter", [&](const Tensors& in) { return masked_scatter(in[0], mask, in[1] * in[1]); }, {x, source});
}

TEST(IndexingGradients, OfAProductHoldWhereFactorsAreZero) {
  const Tensor x = tensor({2, 3}, f64), source = tensor({0, 5, 0, 7, 0, 11, 13}, f64);
  const Tensor to = ids({0, 0, 0, 1, 1, 1, 1});
  expect_gradient("scatter, mul", [&](const Tensors& in) { return scatter(in[0], to, in[1], {.mode = ScatterMode::mul}); }, {x, source});
  const Tensor leaf = source.require_grad();
  const Tensor g = grad(sum(scatter(x, to, leaf, {.mode = ScatterMode::mul})), leaf);
  EXPECT_EQ(g.to_host<double>(), (std::vector<double>{0, 0, 0, 0, 3 * 7 * 11 * 13, 0, 0}));
}

TEST(IndexingGradients, GoToTheWinnersAlone) {
  const Tensor x = zeros({3}).require_grad(), source = tensor({1, 2, 3, 3}).require_grad();
  const Tensor to = ids({0, 0, 2, 2});
  const auto shares = [&](ScatterMode mode) {
    const Tensors g = grad(sum(scatter(x, to, source, {.mode = mode})), {x, source});
    return std::pair{g[0].to_host<float>(), g[1].to_host<float>()};
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(shares(ScatterMode::assign), (std::pair{Floats{0, 1, 0}, Floats{0, 1, 0, 1}}));
  EXPECT_EQ(shares(ScatterMode::max), (std::pair{Floats{0, 1, 0}, Floats{0, 1, 1, 0}})) << "of equal ones the first";
  EXPECT_EQ(shares(ScatterMode::min), (std::pair{Floats{1, 1, 1}, Floats{0, 0, 0, 0}}));
}

}  // namespace
}  // namespace votive
