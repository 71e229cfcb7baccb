// Reductions, softmax, norms and orders: the bits of the reference device, whose sums are the canonical tree element by element.
#include "tests/cpu/same_bits.h"

namespace votive::test {
namespace {

using Inputs = const std::vector<Tensor>&;

std::vector<Tensor> all_reductions(const Tensor& x, const ReduceOptions& o) {
  return {sum(x, o), mean(x, o), prod(x, o), min(x, o), max(x, o), any(x, o), all(x, o)};
}

TEST(CpuReduce, OfEveryDTypeHasTheBitsOfTheReference) {
  Draw draw(20);
  for (DType dtype : plain_dtypes) {
    if (is_float8(dtype)) continue;
    const bool floating = is_floating(dtype);
    const std::vector<Tensor> inputs = {floating ? draw.tame({6, 700}, dtype) : draw.wild({6, 700}, dtype), draw.wild({40, 9}, dtype)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (const ReduceOptions& o : {ReduceOptions{}, {.axis = 0}, {.axis = 1, .keep = true}}) {
          for (Tensor& y : all_reductions(x, o)) results.push_back(y);
        }
        for (int axis : {0, 1}) {
          results.push_back(argmax(x, {.axis = axis}));
          results.push_back(argmin(x, {.axis = axis, .keep = true}));
        }
      }
      return results;
    });
  }
}

TEST(CpuReduce, OfEveryLengthHasTheBitsOfTheReference) {
  Draw draw(21);
  for (Size n : {1, 2, 31, 32, 33, 63, 100, 511, 512, 513, 544, 1025, 2000, 4095, 4096, 4097, 8192, 12289, 40961}) {
    expect_as_reference("n = " + std::to_string(n),
                        {draw.tame({n}, DType::f32), draw.tame({n, 5}, DType::f32), draw.tame({2, n, 3}, DType::bf16)}, [](Inputs in) {
                          return std::vector<Tensor>{sum(in[0]),
                                                     mean(in[0]),
                                                     prod(in[0] * Literal(1e-3) + Literal(1)),
                                                     sum(in[1], {.axis = 0}),
                                                     sum(in[2], {.axis = 1}),
                                                     sum(in[2], {.axis = {0, 1}}),
                                                     max(in[1], {.axis = 0}),
                                                     argmax(in[0], {})};
                        });
  }
}

TEST(CpuReduce, OverAnyAxesOfAnyLayoutHasTheBitsOfTheReference) {
  Draw draw(22);
  const Tensor x = draw.tame({7, 40, 5, 130}, DType::f32);
  for (const Tensor& view :
       {x, permute(x, {3, 1, 2, 0}), permute(x, {2, 0, 3, 1}), flip(slice(x, {.axis = 3, .start = 3, .stop = 130, .step = 2}), 1)}) {
    expect_as_reference("axes", {view}, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Axes& axes : {Axes{0}, Axes{1}, Axes{2}, Axes{3}, Axes{0, 2}, Axes{1, 3}, Axes{0, 1, 3}, Axes{}}) {
        results.push_back(sum(in[0], {.axis = axes}));
        results.push_back(min(in[0], {.axis = axes, .keep = true}));
      }
      return results;
    });
  }
}

TEST(CpuReduce, OfNothingGivesTheIdentity) {
  expect_as_reference("empty", {zeros({0, 3}), zeros({3, 0}, DType::i32), zeros({0}, DType::boolean)}, [](Inputs in) {
    std::vector<Tensor> results;
    for (const Tensor& x : in) {
      for (const Tensor& y : {sum(x), mean(x), prod(x), any(x), all(x), sum(x, {.axis = 0})}) results.push_back(y);
    }
    return results;
  });
}

TEST(CpuSoftmax, AlongAnyAxisHasTheBitsOfTheReference) {
  Draw draw(23);
  for (DType dtype : floating_dtypes) {
    const std::vector<Tensor> inputs = {draw.tame({9, 200}, dtype), draw.wild({30, 7}, dtype), transpose(draw.tame({65, 33}, dtype)),
                                        draw.tame({2, 5000}, dtype), draw.wild({4, 1}, dtype)};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      for (const Tensor& x : in) {
        for (int axis : {0, 1}) {
          results.push_back(softmax(x, {.axis = axis}));
          results.push_back(log_softmax(x, {.axis = axis}));
        }
      }
      return results;
    });
  }
}

TEST(CpuNorm, HasTheBitsOfTheReference) {
  Draw draw(24);
  for (DType dtype : floating_dtypes) {
    for (Size n : {1, 7, 64, 576, 4500}) {
      const std::vector<Tensor> inputs = {draw.tame({5, n}, dtype), transpose(draw.wild({n, 4}, dtype)), draw.tame({n}, dtype),
                                          draw.tame({n}, dtype)};
      expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
        std::vector<Tensor> results;
        for (int i : {0, 1}) {
          const Tensor& x = in[static_cast<std::size_t>(i)];
          results.push_back(rms_norm(x, in[2], {.epsilon = 1e-6f}));
          results.push_back(layer_norm(x, in[2], in[3]));
          results.push_back(layer_norm(x));
          results.push_back(layer_norm(x, in[2]));
        }
        return results;
      });
    }
  }
}

TEST(CpuSort, IsTheStableOrderOfTheReference) {
  Draw draw(25);
  for (DType dtype : plain_dtypes) {
    if (is_float8(dtype)) continue;
    const std::vector<Tensor> inputs = {draw.wild({3, 20}, dtype), draw.wild({2, 700}, dtype), transpose(draw.wild({50, 6}, dtype))};
    expect_as_reference(std::string(to_string(dtype)), inputs, [](Inputs in) {
      std::vector<Tensor> results;
      const auto keep = [&](const Sorted& sorted) {
        results.push_back(sorted.values);
        results.push_back(sorted.indices);
      };
      for (const Tensor& x : in) {
        for (bool down : {false, true}) {
          keep(sort(x, {.axis = 1, .descending = down}));
          keep(sort(x, {.axis = 0, .descending = down}));
          for (Size k : {1, 3, 20}) keep(topk(x, k, {.axis = 1, .largest = down}));
        }
      }
      return results;
    });
  }
}

}  // namespace
}  // namespace votive::test
