// Gradients of products against central differences, and what a gradient may not do: copy a transposed operand, reach a quantised weight.
#include <gtest/gtest.h>

#include "tests/autograd/central_differences.h"
#include "tests/ops/on_devices.h"

namespace votive {
namespace {

Tensor two(const Tensors& x) { return matmul(x[0], x[1]); }

TEST(ProductGradients, OfMatricesBatchesAndVectors) {
  expect_gradient("matmul", two, {samples({3, 4}, 1), samples({4, 5}, 2)});
  expect_gradient("matmul", two, {samples({2, 3, 4}, 1), samples({2, 4, 2}, 2)});
  expect_gradient("matmul", two, {samples({2, 1, 3, 2}, 1), samples({3, 2, 2}, 2)});
  expect_gradient("matmul", two, {samples({3, 2}, 1), samples({2, 2, 4}, 2)});
  expect_gradient("matmul", two, {samples({2, 3, 4}, 1), samples({4, 2}, 2)});
  expect_gradient("matmul", two, {samples({4}, 1), samples({4}, 2)});
  expect_gradient("matmul", two, {samples({4}, 1), samples({2, 4, 3}, 2)});
  expect_gradient("matmul", two, {samples({2, 3, 4}, 1), samples({4}, 2)});
  expect_gradient("matmul", [](const Tensors& x) { return matmul(transpose(x[0]), flip(x[1], 0)); },
                  {samples({4, 3}, 1), samples({4, 2}, 2)});
  expect_gradient("matmul", [](const Tensors& x) { return matmul(x[0], x[0]); }, {samples({3, 3}, 1)});
}

TEST(ProductGradients, OfLinear) {
  const auto call = [](const Tensors& x) { return linear(x[0], x[1], x[2]); };
  expect_gradient("linear", call, {samples({2, 3, 4}, 1), samples({5, 4}, 2), samples({5}, 3)});
  expect_gradient("linear", call, {samples({3, 4}, 1), samples({2, 4}, 2), Tensor()});
  expect_gradient("linear", call, {samples({4}, 1), samples({2, 4}, 2), samples({2}, 3)});
}

TEST(ProductGradients, OfProductsByTheirNames) {
  const auto two_of = [](auto function) { return [=](const Tensors& x) { return function(x[0], x[1]); }; };
  expect_gradient("dot", two_of(dot), {samples({4}, 1), samples({4}, 2)});
  expect_gradient("mv", two_of(mv), {samples({3, 4}, 1), samples({4}, 2)});
  expect_gradient("vecdot", two_of(vecdot), {samples({2, 3}, 1), samples({3}, 2)});
  expect_gradient("inner", two_of(inner), {samples({2, 3}, 1), samples({4, 3}, 2)});
  expect_gradient("outer", two_of(outer), {samples({3}, 1), samples({4}, 2)});
  expect_gradient("kron", two_of(kron), {samples({2, 3}, 1), samples({2, 2}, 2)});
  expect_gradient("tensordot",
                  [](const Tensors& x) {
                    return tensordot(x[0], x[1], {2, 0}, {0, 1});
                  },
                  {samples({2, 3, 4}, 1), samples({4, 2, 2}, 2)});
  expect_gradient("trace", [](const Tensors& x) { return trace(x[0], -1); }, {samples({2, 4, 3}, 1)});
  expect_gradient("bilinear", [](const Tensors& x) { return bilinear(x[0], x[1], x[2], x[3]); },
                  {samples({2, 3}, 1), samples({2, 2}, 2), samples({2, 3, 2}, 3), samples({2}, 4)});
  const AddMatmulOptions options{.alpha = 0.5f, .beta = 2};
  expect_gradient("addmm", [=](const Tensors& x) { return addmm(x[0], x[1], x[2], options); },
                  {samples({4}, 1), samples({2, 3}, 2), samples({3, 4}, 3)});
  expect_gradient("baddbmm", [=](const Tensors& x) { return baddbmm(x[0], x[1], x[2], options); },
                  {samples({2, 2, 4}, 1), samples({2, 2, 3}, 2), samples({2, 3, 4}, 3)});
}

TEST(ProductGradients, OfEinsteinsNotation) {
  const auto call = [](const char* text) { return [=](const Tensors& x) { return einsum(text, x); }; };
  expect_gradient("einsum", call("ij,jk->ki"), {samples({2, 3}, 1), samples({3, 4}, 2)});
  expect_gradient("einsum", call("iij->ji"), {samples({3, 3, 2}, 1)});
  expect_gradient("einsum", call("...ij,kj,k->...i"), {samples({2, 3, 2}, 1), samples({4, 2}, 2), samples({4}, 3)});
  expect_gradient("einsum", call("ij,ij->i"), {samples({2, 1}, 1), samples({2, 3}, 2)});
}

// y = a·b with a = [1 2; 3 4], b = [5; 6]: da = dy·bᵀ, db = aᵀ·dy.
TEST(ProductGradients, AreOfTheInputsDtypeInEveryFloat) {
  for (const DType d : {f16, bf16, f32, f64}) {
    const Tensor a = tensor({{1, 2}, {3, 4}}, d).require_grad(), b = tensor({{5}, {6}}, d).require_grad();
    const Grads g = backward(sum(matmul(a, b)));
    EXPECT_EQ(g[a].dtype(), d);
    EXPECT_EQ(g[a].to(f64).to_host<double>(), (std::vector<double>{5, 6, 5, 6}));
    EXPECT_EQ(g[b].to(f64).to_host<double>(), (std::vector<double>{4, 6}));
  }
}

TEST(ProductGradients, OfHalvesWhoseSumIsKeptInF32) {
  const Tensor a = tensor({{1, 2}}, bf16).require_grad(), b = tensor({{5}, {6}}, bf16).require_grad();
  const Tensor y = matmul(a, b, {.out = f32});
  EXPECT_EQ(y.dtype(), f32);
  const Grads g = backward(sum(y * y));
  EXPECT_EQ(g[a].dtype(), bf16);
  EXPECT_EQ(g[a].to(f64).to_host<double>(), (std::vector<double>{170, 204}));
}

TEST(ProductGradients, OfMixedDtypesReachEachInItsOwn) {
  const Tensor a = tensor({{1, 2}}, f16).require_grad(), b = tensor({{5}, {6}}, f32).require_grad();
  const Grads g = backward(sum(matmul(a, b)));
  EXPECT_EQ(g[a].dtype(), f16);
  EXPECT_EQ(g[b].dtype(), f32);
}

TEST(ProductGradients, OfQuantisedWeightsReachTheActivationsAlone) {
  // q8_0: one row of 32 weights, d = 0.5 as f16 and 32 bytes: weight i is 0.5·(i − 16)
  std::vector<std::byte> block(34);
  block[0] = std::byte{0x00};
  block[1] = std::byte{0x38};
  for (int i = 0; i < 32; ++i) block[static_cast<std::size_t>(2 + i)] = static_cast<std::byte>(static_cast<std::int8_t>(i - 16));
  const Tensor w = Tensor::borrow({.dtype = DType::q8_0, .shape = {1, 32}}, block.data(), block.size(), nullptr);
  for (const Tensor& weight : {w, prepack(w)}) {
    const Tensor x = ones({2, 32}).require_grad();
    const Grads g = backward(sum(linear(x, weight)));
    for (int i = 0; i < 64; ++i) EXPECT_EQ(g[x].to_host<float>()[static_cast<std::size_t>(i)], 0.5f * static_cast<float>(i % 32 - 16));
  }
}

TEST(ProductGradients, OfEmptyProductsAreZeros) {
  const Tensor a = zeros({3, 0}).require_grad(), b = zeros({0, 2}).require_grad();
  const Grads g = backward(sum(matmul(a, b)));
  EXPECT_EQ(g[a].shape(), (Shape{3, 0}));
  EXPECT_EQ(g[b].shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace votive
