// Compares an operation on the CPU, for every instruction set of this machine and 1, 2 and 3 threads, with the reference device, bit by bit (any NaN
// equals any NaN). Inputs are drawn from the corners of each dtype and from random bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "votive/base/thread_pool.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"

namespace votive::test {

/// One element as an unsigned number; every NaN is the same one.
inline std::uint64_t canonical(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f16: return (bits & 0x7fff) > 0x7c00 ? 0x7e00 : bits;
    case DType::bf16: return (bits & 0x7fff) > 0x7f80 ? 0x7fc0 : bits;
    case DType::f32: return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
    case DType::f64: return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000 ? 0x7ff8000000000000 : bits;
    default: return bits;
  }
}

/// Elements in row-major order, read without the library's kernels.
inline std::vector<std::uint64_t> elements(const Tensor& x) {
  std::vector<std::uint64_t> result;
  const Size bytes = block_bytes(x.dtype());
  const Strides row_major = contiguous_strides(x.shape());
  for (Size i = 0; i < x.count(); ++i) {
    Size at = x.offset();
    for (int axis = 0; axis < x.rank(); ++axis) at += i / row_major[axis] % x.shape()[axis] * x.strides()[axis];
    std::uint64_t bits = 0;
    std::memcpy(&bits, x.buffer() + at * bytes, static_cast<std::size_t>(bytes));
    result.push_back(canonical(x.dtype(), bits));
  }
  return result;
}

inline void expect_equal_bits(const Tensor& got, const Tensor& want, const std::string& where) {
  ASSERT_EQ(got.dtype(), want.dtype()) << where;
  ASSERT_EQ(got.shape(), want.shape()) << where;
  const auto a = elements(got), b = elements(want);
  std::size_t different = 0, first = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && different++ == 0) first = i;
  }
  EXPECT_EQ(different, 0u) << where << ": " << different << " of " << a.size() << " differ, first at " << first << ": " << std::hex
                           << a[first] << " instead of " << b[first];
}

/// Runs body(where) for every instruction set of this machine and 1, 2, 3 threads; restores both.
template <class Body>
void for_every_machine(Body body) {
  const std::string set(runtime::instruction_set());
  const int count = threads();
  for (const runtime::InstructionSet& isa : runtime::instruction_sets()) {
    if (!isa.available) continue;
    runtime::set_instruction_set(isa.name);
    for (int t = 1; t <= 3; ++t) {
      set_threads(t);
      body(std::string(isa.name) + ", " + std::to_string(t) + " threads");
    }
  }
  runtime::set_instruction_set(set);
  set_threads(count);
}

/// op(inputs) must be the same on the CPU as on the reference device. Inputs are on the CPU, of any layout.
template <class Op>
void expect_as_reference(const std::string& what, const std::vector<Tensor>& inputs, Op op) {
  std::vector<Tensor> moved;
  for (const Tensor& x : inputs) moved.push_back(x.to(Device::reference));
  const std::vector<Tensor> want = op(moved);
  for_every_machine([&](const std::string& machine) {
    const std::vector<Tensor> got = op(inputs);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) expect_equal_bits(got[i], want[i], what + " on " + machine);
  });
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::uint64_t word() { return random_(); }
  Size below(Size n) { return static_cast<Size>(random_() % static_cast<std::uint64_t>(n)); }

  /// Corners and random bits of a dtype.
  Tensor wild(const Shape& shape, DType dtype) {
    return make(shape, dtype, [&] {
      static constexpr double corners[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 255.0, 65504.0, 1e-40, -1e-7, 1e38, 3.0, 88.7, -103.9};
      const std::uint64_t choice = random_();
      if (is_floating(dtype) && choice % 4 != 0) {
        if (choice % 64 == 1) return special(dtype, choice >> 8);
        const double value = choice % 2 == 0 ? corners[(choice >> 8) % std::size(corners)]
                                             : static_cast<double>(static_cast<std::int64_t>(choice)) * 0x1p-60;
        return bits_of(value, dtype);
      }
      if (choice % 5 == 1) return choice >> 8 & 3;
      return random_();
    });
  }
  /// Floats of moderate size.
  Tensor tame(const Shape& shape, DType dtype) {
    return make(shape, dtype, [&] { return bits_of(static_cast<double>(static_cast<std::int64_t>(random_())) * 0x1p-61, dtype); });
  }
  /// Integers in [low, high).
  Tensor integers(const Shape& shape, DType dtype, Size low, Size high) {
    return make(shape, dtype, [&] { return static_cast<std::uint64_t>(low + below(high - low)); });
  }

 private:
  static std::uint64_t special(DType dtype, std::uint64_t which) {
    static constexpr std::uint64_t f16s[] = {0x7c00, 0xfc00, 0x7e01}, f32s[] = {0x7f800000, 0xff800000, 0x7fc12345},
                                   f64s[] = {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001},
                                   bf16s[] = {0x7f80, 0xff80, 0x7fc1};
    const std::uint64_t* list = dtype == DType::f16 ? f16s : dtype == DType::bf16 ? bf16s : dtype == DType::f32 ? f32s : f64s;
    return list[which % 3];
  }
  static std::uint64_t bits_of(double value, DType dtype) {
    if (dtype == DType::f64) return std::bit_cast<std::uint64_t>(value);
    const float f = static_cast<float>(value);
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(f);
    if (dtype == DType::bf16) return bits >> 16;
    if (dtype == DType::f16) {  // truncated: any value will do
      const int exponent = static_cast<int>(bits >> 23 & 255) - 112;
      if (exponent <= 0) return bits >> 16 & 0x8000;
      if (exponent >= 31) return (bits >> 16 & 0x8000) | 0x7bff;
      return (bits >> 16 & 0x8000) | static_cast<std::uint64_t>(exponent) << 10 | (bits >> 13 & 0x3ff);
    }
    return bits;
  }
  template <class Element>
  Tensor make(const Shape& shape, DType dtype, Element element) {
    Tensor x = Tensor::allocate("test", {.dtype = dtype, .shape = shape});
    const Size bytes = block_bytes(dtype), count = x.count();
    for (Size i = 0; i < count; ++i) {
      std::uint64_t bits = element();
      if (dtype == DType::boolean) bits &= 1;
      std::memcpy(x.mutable_buffer() + (x.offset() + i) * bytes, &bits, static_cast<std::size_t>(bytes));
    }
    return x;
  }

  std::mt19937_64 random_;
};

inline constexpr DType plain_dtypes[] = {DType::boolean, DType::u8,  DType::i8,  DType::u16,  DType::i16,
                                         DType::u32,     DType::i32, DType::u64, DType::i64,  DType::f16,
                                         DType::bf16,    DType::f32, DType::f64, DType::e4m3, DType::e5m2};
inline constexpr DType floating_dtypes[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// The same elements under other layouts: as they are, transposed, every second with an offset, flipped, and broadcast along a new first axis.
inline std::vector<Tensor> layouts(Draw& draw, DType dtype, Size rows, Size columns) {
  const Tensor big = draw.wild({2 * rows + 3, 2 * columns + 5}, dtype);
  return {draw.wild({rows, columns}, dtype),
          transpose(draw.wild({columns, rows}, dtype)),
          slice(slice(big, {.axis = 0, .start = 3, .stop = 3 + 2 * rows, .step = 2}),
                {.axis = 1, .start = 5, .stop = 5 + 2 * columns, .step = 2}),
          flip(draw.wild({rows, columns}, dtype), 1),
          broadcast_to(draw.wild({1, columns}, dtype), {rows, columns}),
          broadcast_to(draw.wild({rows, 1}, dtype), {rows, columns})};
}

}  // namespace votive::test
