// Operands in any layout (permuted, backwards, with steps, repeated, batches in reverse) whose buffer begins after or ends before a page that may not be
// touched: every family of kernels against `reference`, to the bit. A kernel that reads or writes one byte beside an operand ends this program.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "same_bits.h"

namespace votive {
namespace {

using test::Draw;

/// `n` elements between two pages that may not be touched; they begin right after the first or end right before the second.
Tensor fenced(const Tensor& values, bool at_end) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<std::size_t>(values.count() / block_size(values.dtype()) * block_bytes(values.dtype()));
  const std::size_t body = std::max(page, (bytes + page - 1) / page * page);
  void* const map = mmap(nullptr, body + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  std::shared_ptr<const void> owner(map, [body, page](const void* p) { munmap(const_cast<void*>(p), body + 2 * page); });
  auto* const first = static_cast<std::byte*>(map);
  std::byte* const at = first + page + (at_end ? body - bytes : 0);
  std::memcpy(at, values.first(), bytes);
  mprotect(first, page, PROT_NONE);
  mprotect(first + page + body, page, PROT_NONE);
  return Tensor::borrow({.dtype = values.dtype(), .shape = values.shape()}, at, bytes, owner);
}

class Layouts : public ::testing::Test {
 protected:
  static constexpr int rounds = 40;

  Size between(Size low, Size high) { return low + draw_.below(high - low + 1); }
  bool one_in(Size n) { return draw_.below(n) == 0; }
  DType floating() { return test::floating_dtypes[draw_.below(4)]; }

  /// A tensor of this shape: axes in any order, each perhaps backwards, repeated, or every second or third of a longer one.
  Tensor any(const Shape& shape, DType dtype) {
    const int rank = shape.rank();
    const bool dense = one_in(4), permuted = one_in(2), mixed = one_in(2);
    std::vector<int> order(static_cast<std::size_t>(rank));
    for (int i = 0; i < rank; ++i) order[static_cast<std::size_t>(i)] = i;
    for (int i = rank - 1; i > 0 && permuted && !dense; --i) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(draw_.below(i + 1))]);
    }
    Strides strides = Strides::filled(rank, 0);
    Size elements = 1, offset = 0;
    for (int i = rank - 1; i >= 0; --i) {
      const int axis = order[static_cast<std::size_t>(i)];
      const Size n = shape[axis];
      if (!dense && mixed && one_in(6)) continue;  // repeated: stride 0
      const Size step = !dense && mixed && one_in(4) ? between(2, 3) : 1, room = !dense && mixed && one_in(4) ? between(1, 5) : 0;
      strides[axis] = elements * step;
      if (!dense && one_in(3)) {
        offset += (n - 1) * strides[axis];
        strides[axis] = -strides[axis];
      }
      elements *= (n - 1) * step + 1 + room;
    }
    const bool wild = one_in(3);
    const Tensor values = wild ? draw_.wild({elements}, dtype) : draw_.tame({elements}, dtype);
    return Tensor::view(fenced(values, one_in(2)), {shape, strides, offset});
  }
  /// The same values without a hole, between the pages.
  Tensor plain(const Shape& shape, DType dtype) { return fenced(draw_.tame(shape, dtype), one_in(2)); }
  Tensor indices(const Shape& shape, Size n) {
    return fenced(draw_.integers(shape, one_in(2) ? DType::i64 : DType::i32, -n, n), one_in(2));
  }

  void expect(const std::string& what, const std::vector<Tensor>& inputs,
              const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& operation) {
    std::string where = what;
    for (const Tensor& x : inputs)
      where += fmt::format(" {}{} strides {}", to_string(x.dtype()), to_string(x.shape()), to_string(x.strides()));
    SCOPED_TRACE(where);
    test::expect_as_reference(what, inputs, operation);
  }

  Draw draw_{20261130};
};

TEST_F(Layouts, Matmul) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = floating();
    const Size m = between(1, 40), k = one_in(6) ? between(1000, 1100) : between(1, 70), n = between(1, 70), batch = between(2, 4);
    expect("matmul", {any({m, k}, t), any({k, n}, t)}, [](auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect("matmul of batches", {any({batch, m, k}, t), any({one_in(2) ? batch : 1, k, n}, t)},
           [](auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect("matmul of integers", {any({m, k}, DType::i8), any({k, n}, DType::i8)}, [](auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect("linear", {any({m, k}, t), any({n, k}, t), any({n}, t)}, [](auto& x) { return std::vector{linear(x[0], x[1], x[2])}; });
  }
}

TEST_F(Layouts, MatmulOfManyRowsAndThreads) {
  for (const DType t : test::floating_dtypes) {
    expect("matmul of reversed batches", {flip(plain({6, 70, 96}, t), 0), flip(plain({6, 96, 66}, t), 0)},
           [](auto& x) { return std::vector{matmul(x[0], x[1])}; });
    expect("matmul of one matrix backwards", {flip(plain({200, 130}, t), 1), flip(plain({130, 90}, t), 0)},
           [](auto& x) { return std::vector{matmul(x[0], x[1])}; });
  }
}

TEST_F(Layouts, QuantisedWeights) {
  for (const DType q : {DType::q4_0, DType::q4_1, DType::q5_0, DType::q5_1, DType::q8_0, DType::q4_k, DType::q5_k, DType::q6_k}) {
    for (int round = 0; round < 6; ++round) {
      const Size k = block_size(q) * between(1, block_size(q) == 32 ? 20 : 4), n = between(1, 40), m = one_in(2) ? 1 : between(2, 20);
      // Small scales: what is between them is arbitrary.
      Tensor values = Tensor::allocate("test", {.dtype = q, .shape = {n, k}});
      const Size width = block_bytes(q), blocks = n * k / block_size(q);
      for (Size i = 0; i < blocks * width; ++i) values.mutable_buffer()[i] = static_cast<std::byte>(draw_.word());
      const bool two = q == DType::q4_1 || q == DType::q5_1 || q == DType::q4_k || q == DType::q5_k;
      for (Size b = 0; b < blocks; ++b) {
        std::byte* const scale = values.mutable_buffer() + b * width + (q == DType::q6_k ? 208 : 0);
        for (Size i = 0; i < (two ? 2 : 1); ++i) scale[2 * i + 1] = (scale[2 * i + 1] & std::byte{0x83}) | std::byte{0x18};
      }
      const DType t = one_in(2) ? DType::f32 : DType::bf16;
      expect("quantised", {any({m, k}, t), fenced(values, one_in(2))}, [](auto& x) { return std::vector{linear(x[0], x[1])}; });
    }
  }
}

TEST_F(Layouts, Convolutions) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = floating();
    const Size groups = one_in(3) ? between(2, 5) : 1, in = groups * between(1, 9), out = groups * between(1, 18);
    const Size height = between(3, 9), width = between(3, 40), kernel = one_in(2) ? 3 : between(1, 3);
    const ConvOptions options{.stride = one_in(3) ? 2 : 1, .padding = between(0, 2), .groups = groups};
    expect("conv2d", {any({2, in, height, width}, t), any({out, in / groups, kernel, kernel}, t), any({out}, t)},
           [&](auto& x) { return std::vector{conv2d(x[0], x[1], x[2], options)}; });
    expect("depthwise", {any({2, 5, height, width}, t), plain({5, 1, 3, 3}, t)},
           [&](auto& x) { return std::vector{conv2d(x[0], x[1], {}, {.padding = 1, .groups = 5})}; });
    expect("conv1d", {any({2, in, width}, t), any({out, in / groups, kernel}, t)},
           [&](auto& x) { return std::vector{conv1d(x[0], x[1], {}, {.padding = 1, .groups = groups})}; });
    expect("max_pool2d", {any({2, in, height, width}, t)}, [&](auto& x) {
      return std::vector{max_pool2d(x[0], 3, {.stride = 2, .padding = 1}), avg_pool2d(x[0], 2)};
    });
  }
}

TEST_F(Layouts, Attention) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = floating();
    const Size heads = between(1, 3), group = between(1, 3), tokens = one_in(2) ? 1 : between(2, 20), keys = between(1, 90);
    const Size size = one_in(2) ? 32 : between(1, 40), wide = one_in(2) ? 64 : between(1, 40);
    const AttentionOptions options{.causal = one_in(2)};
    expect("attention", {any({2, heads * group, tokens, size}, t), any({2, heads, keys, size}, t), any({2, heads, keys, wide}, t)},
           [&](auto& x) { return std::vector{attention(x[0], x[1], x[2], {}, options)}; });
    expect("attention of interleaved heads",
           {transpose(plain({1, tokens, heads * group, size}, t), 1, 2), transpose(plain({1, keys, heads, size}, t), 1, 2),
            transpose(plain({1, keys, heads, wide}, t), 1, 2), any({tokens, keys}, DType::boolean)},
           [&](auto& x) { return std::vector{attention(x[0], x[1], x[2], x[3])}; });
  }
}

TEST_F(Layouts, Rows) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = floating();
    const Size rows = between(1, 9), n = one_in(3) ? between(500, 1100) : between(1, 70);
    const int axis = static_cast<int>(draw_.below(2));
    expect("softmax", {any({rows, n}, t)}, [&](auto& x) {
      return std::vector{softmax(x[0], {axis}), log_softmax(x[0], {axis}), cumsum(x[0], axis)};
    });
    expect("norms", {any({rows, n}, t), any({n}, t), any({n}, t)}, [](auto& x) {
      return std::vector{rms_norm(x[0], x[1]), layer_norm(x[0], x[1], x[2])};
    });
    expect("reductions", {any({rows, n, between(1, 9)}, t)}, [&](auto& x) {
      return std::vector{sum(x[0], {.axis = axis}), mean(x[0], {.axis = axis}), max(x[0], {.axis = axis}), argmax(x[0], {axis}),
                         var(x[0], {.axis = axis, .correction = 1})};
    });
    expect("orders", {any({rows, n}, test::plain_dtypes[draw_.below(13)])}, [&](auto& x) {
      return std::vector{sort(x[0], {axis}).values, sort(x[0], {axis}).indices};
    });
  }
}

TEST_F(Layouts, Elements) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = floating(), u = test::plain_dtypes[draw_.below(15)], to = test::plain_dtypes[draw_.below(15)];
    const Shape shape{between(1, 4), between(1, 70), between(1, 70)};
    expect("pointwise of two", {any(shape, t), any({shape[1], shape[2]}, t)}, [](auto& x) {
      return std::vector{x[0] + x[1], x[0] * x[1], maximum(x[0], x[1]), x[0] < x[1]};
    });
    expect("pointwise of one", {any(shape, t)}, [](auto& x) { return std::vector{exp(x[0]), gelu(x[0]), sqrt(x[0])}; });
    expect("where", {any(shape, DType::boolean), any(shape, t), any(shape, t)}, [](auto& x) {
      return std::vector{where(x[0], x[1], x[2]), clamp(x[1], x[2], x[1])};
    });
    expect("copies", {any(shape, u)}, [&](auto& x) {
      return std::vector{x[0].to(to), contiguous(x[0]), contiguous(transpose(x[0])), concat({x[0], x[0]}, 1), flip(x[0], 2)};
    });
  }
}

TEST_F(Layouts, Lookups) {
  for (int round = 0; round < rounds; ++round) {
    const DType t = one_in(2) ? floating() : test::plain_dtypes[draw_.below(9)];
    const Size n = between(1, 40), wide = one_in(4) ? between(500, 700) : between(1, 40),
               many = one_in(3) ? between(300, 500) : between(1, 40);
    expect(
        "index_add",
        {any({n, wide}, t == DType::boolean ? DType::f32 : t), indices({many}, n), any({many, wide}, t == DType::boolean ? DType::f32 : t)},
        [](auto& x) {
          return std::vector{index_add(x[0], x[1], x[2], 0), index_copy(x[0], x[1], x[2], 0)};
        });
    expect("index_select", {any({n, wide}, t), indices({many}, n)}, [](auto& x) {
      return std::vector{index_select(x[0], x[1], 0), index_select(transpose(x[0]), x[1], 1)};
    });
    expect("gather", {any({n, wide}, t), indices({many, wide}, n)}, [](auto& x) { return std::vector{gather(x[0], x[1], 0)}; });
    expect("scatter", {any({n, wide}, t), indices({many, wide}, n), any({many, wide}, t)},
           [](auto& x) { return std::vector{scatter(x[0], x[1], x[2], {0})}; });
  }
}

}  // namespace
}  // namespace votive
