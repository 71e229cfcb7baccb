// Gradients of orders go to the places the values came from.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"

namespace votive {
namespace {

TEST(OrderGradients, GoWhereTheValuesCameFrom) {
  const Tensor x = samples({3, 5}, 1);
  const auto squared = [](const Tensor& y) { return y * y; };
  expect_gradient("sort", [&](const Tensors& in) { return squared(sort(in[0]).values); }, {x});
  expect_gradient("sort", [&](const Tensors& in) { return squared(sort(in[0], {.axis = 0, .descending = true}).values); }, {x});
  expect_gradient("msort", [&](const Tensors& in) { return squared(msort(in[0])); }, {x});
  expect_gradient("topk", [&](const Tensors& in) { return squared(topk(in[0], 2).values); }, {x});
  expect_gradient("kthvalue", [&](const Tensors& in) { return squared(kthvalue(in[0], 3).values); }, {x});
  expect_gradient("median", [&](const Tensors& in) { return squared(median(in[0], {.axis = 0}).values); }, {x});
  expect_gradient("nanmedian", [&](const Tensors& in) { return squared(nanmedian(in[0], {.axis = 1, .keep = true}).values); }, {x});
  expect_gradient("mode", [&](const Tensors& in) { return squared(mode(in[0]).values); }, {x});
}

TEST(OrderGradients, OfQuantilesAreSharedByTheirNeighbours) {
  const Tensor x = samples({3, 5}, 2);
  const std::vector<double> q{0, 0.3, 0.9};
  for (const QuantileMethod how :
       {QuantileMethod::linear, QuantileMethod::lower, QuantileMethod::higher, QuantileMethod::nearest, QuantileMethod::midpoint})
    expect_gradient("quantile", [&](const Tensors& in) { return quantile(in[0], q, {.axis = 1, .method = how}); }, {x});
  expect_gradient("nanquantile", [&](const Tensors& in) { return nanquantile(in[0], q, {.axis = 1}); }, {x});
  expect_gradient("quantile", [](const Tensors& in) { return quantile(in[0] * in[0], 0.4, {.axis = 0}); }, {x});
}

TEST(OrderGradients, OfUniqueGoToTheFirstOccurrence) {
  const Tensor x = tensor({2, 1, 2}, f64).require_grad();
  EXPECT_EQ(grad(sum(unique(x).values), x).to_host<double>(), (std::vector<double>{1, 1, 0}));
}

TEST(OrderGradients, OfWeightsInBincount) {
  const Tensor bins = tensor({2, 0, 2}, i64);
  expect_gradient("bincount", [&](const Tensors& in) { return bincount(bins, {.weights = in[0] * in[0]}); }, {samples({3}, 3)});
}

}  // namespace
}  // namespace votive
