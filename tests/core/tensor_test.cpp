// Tensors as values: sharing, views that keep their root, refusal of layouts outside the buffer, and reading elements.
#include "votive/core/tensor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "votive/core/memory.h"

namespace votive {
namespace {

Tensor iota(const Shape& shape) {
  Tensor x = Tensor::allocate("iota", {f32, shape});
  float* data = reinterpret_cast<float*>(x.mutable_buffer());
  for (Size i = 0; i < x.count(); ++i) data[i] = static_cast<float>(i);
  return x;
}

template <class T>
Tensor scalar(DType dtype, T value) {
  Tensor x = Tensor::allocate("scalar", {dtype, {}});
  std::memcpy(x.mutable_buffer(), &value, sizeof value);
  return x;
}

template <class Call>
ErrorKind kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) { return error.kind(); }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::Internal;
}

TEST(Tensor, IsAlignedTo64BytesAndRowMajorAtEverySize) {
  for (Size n : {0, 1, 2, 15, 16, 100, 511, 512, 513, 5000, 100000, 1000000}) {
    const Tensor x = Tensor::allocate("test", {f32, {n}});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.buffer()) % 64, 0u) << n;
    EXPECT_EQ(x.buffer_bytes(), static_cast<std::size_t>(n) * 4);
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_EQ(x.count(), n);
  }
}

TEST(Tensor, OfUpTo2048BytesIsOneAllocationAndALargerOneTwo) {
  const auto allocations_of = [](Size n) {
    const auto before = memory_statistics().allocations;
    const Tensor x = Tensor::allocate("test", {u8, {n}});
    return memory_statistics().allocations - before;
  };
  EXPECT_EQ(allocations_of(0), 1u);
  EXPECT_EQ(allocations_of(2048), 1u);
  EXPECT_EQ(allocations_of(2049), 2u);
}

TEST(Tensor, GivesAllItsMemoryBack) {
  const auto before = memory_statistics().in_use_bytes;
  {
    const Tensor small = iota({4}), large = iota({1000, 1000});
    const Tensor copy = large, view = Tensor::view(small, {{2}, {2}, 0}), of_view = Tensor::view(view, {{2}, {1}, 1});
    EXPECT_GT(memory_statistics().in_use_bytes, before + 4000000);
  }
  EXPECT_EQ(memory_statistics().in_use_bytes, before);
}

TEST(Tensor, HandlesShareAndMoveLikeValues) {
  Tensor x = iota({3});
  Tensor y = x;
  EXPECT_TRUE(y.same_as(x));
  const Tensor z = std::move(x);
  EXPECT_FALSE(x.defined());
  EXPECT_TRUE(z.same_as(y));
  const Tensor& itself = y;
  y = itself;
  EXPECT_EQ(y.to_host<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_FALSE(Tensor().defined());
  EXPECT_FALSE(Tensor().meta().present);
  EXPECT_TRUE(y.meta().present);
}

TEST(Tensor, ViewsKeepTheRootAlive) {
  Tensor view;
  for (Size n : {6, 6000}) {
    {
      const Tensor x = iota({n});
      const Tensor half = Tensor::view(x, {{n / 2}, {2}, 1});
      view = Tensor::view(half, {{3}, {-2}, 5});
      EXPECT_TRUE(view.shares_buffer_with(x));
      EXPECT_FALSE(view.same_as(x));
    }
    EXPECT_EQ(view.to_host<float>(), (std::vector<float>{5, 3, 1}));
  }
}

TEST(Tensor, ViewsOutsideTheBufferAreRefused) {
  const Tensor x = iota({4, 6});
  constexpr Size huge = Size{1} << 62;
  const Layout outside[] = {
      {{25}, {1}, 0},   {{24}, {1}, 1},      {{2}, {24}, 0},
      {{2}, {-1}, 0},   {{1}, {1}, 24},      {{1}, {1}, -1},
      {{}, {}, 24},     {{4, 6}, {6, 1}, 1}, {{3, huge / 24}, {0, 1}, 0},
      {{3}, {huge}, 0}, {{3}, {-huge}, 0},   {{5}, {huge / 2}, huge},
      {{2}, {1, 1}, 0},
  };
  for (const Layout& layout : outside)
    EXPECT_EQ(kind_of([&] { Tensor::view(x, layout); }), ErrorKind::InvalidArgument)
        << to_string(layout.shape) << to_string(layout.strides) << layout.offset;
  EXPECT_EQ(kind_of([&] { Tensor::view(x, {{-1}, {1}, 0}); }), ErrorKind::InvalidArgument);
  const Layout inside[] = {{{24}, {1}, 0},    {{24}, {-1}, 23}, {{1000000, 24}, {0, 1}, 0},  {{}, {}, 23}, {{2}, {23}, 0},
                           {{1}, {huge}, 23}, {{0}, {1}, 24},   {{0, 5}, {huge, huge}, huge}};
  for (const Layout& layout : inside)
    EXPECT_NO_THROW(Tensor::view(x, layout)) << to_string(layout.shape) << to_string(layout.strides) << layout.offset;
}

TEST(Tensor, ShapesPast63BitsOfBytesAreRefusedBeforeAllocation) {
  const auto before = memory_statistics().allocations;
  constexpr Size two40 = Size{1} << 40;
  EXPECT_EQ(kind_of([] { Tensor::allocate("zeros", {u8, {two40, two40}}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { Tensor::allocate("zeros", {f64, {Size{1} << 60}}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { Tensor::allocate("zeros", {u8, {two40, two40, 0}}); }), ErrorKind::SizeOverflow);
  EXPECT_EQ(kind_of([] { Tensor::allocate("zeros", {u8, {-1}}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(memory_statistics().allocations, before);
  try {
    Tensor::allocate("zeros", {u8, {two40, two40}});
  } catch (const Error& error) {
    EXPECT_EQ(error.op(), "zeros");
    EXPECT_EQ(error.shapes(), (std::vector<std::vector<Size>>{{two40, two40}}));
  }
}

TEST(Tensor, MemoryThatTheMachineDoesNotHaveIsRefusedInTheNameOfTheCall) {
  try {
    Tensor::allocate("ones", {u8, {Size{1} << 50}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::OutOfMemory);
    EXPECT_EQ(error.op(), "ones");
    EXPECT_EQ(error.value(), std::to_string(Size{1} << 50));
  }
}

TEST(Tensor, QuantisedRowsAreWholeBlocks) {
  const Tensor w = Tensor::allocate("test", {DType::q4_1, {3, 64}});
  EXPECT_EQ(w.buffer_bytes(), 3u * 2 * 20);
  EXPECT_EQ(Tensor::allocate("test", {DType::q6_k, {5, 512}}).buffer_bytes(), 5u * 2 * 210);
  EXPECT_EQ(kind_of([] { Tensor::allocate("test", {DType::q4_1, {64, 3}}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([] { Tensor::allocate("test", {DType::q4_k, {32}}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([] { Tensor::allocate("test", {DType::q8_0, {}}); }), ErrorKind::ShapeMismatch);
  EXPECT_NO_THROW(Tensor::view(w, {{2, 32}, {64, 1}, 32}));
  EXPECT_EQ(kind_of([&] { Tensor::view(w, {{2, 32}, {64, 1}, 16}); }), ErrorKind::InvalidArgument);
  EXPECT_NO_THROW(Tensor::view(w, {{64, 3}, {1, 64}, 0}));  // transposed: the blocks lie along the axis before the last
  EXPECT_EQ(kind_of([&] { Tensor::view(w, {{48, 3}, {1, 64}, 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { Tensor::view(w, {{4, 64}, {64, 1}, 0}); }), ErrorKind::InvalidArgument);
}

TEST(Tensor, PackedWeightsRoundTheirRowsUpToSixteen) {
  const Tensor w = Tensor::allocate("test", {DType::q4_1, {17, 64}, Device::cpu, Packing::rows16});
  EXPECT_EQ(w.buffer_bytes(), 32u * 2 * 20);
  EXPECT_EQ(Tensor::allocate("test", {DType::q4_k, {16, 256}, Device::cpu, Packing::rows16}).buffer_bytes(), 16u * 148);
  EXPECT_NO_THROW(Tensor::view(w, {{64, 17}, {1, 64}, 0}));
  EXPECT_EQ(kind_of([&] { Tensor::view(w, {{1, 64}, {64, 1}, 64}); }), ErrorKind::Unsupported);
}

TEST(Tensor, BorrowedMemoryIsKeptAliveByItsOwner) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4});
  const std::weak_ptr<std::vector<float>> watch = owner;
  const auto* address = reinterpret_cast<const std::byte*>(owner->data());
  {
    Tensor view;
    {
      const Tensor x = Tensor::borrow({f32, {2, 2}}, address, 16, std::move(owner));
      EXPECT_EQ(x.buffer(), address);
      view = Tensor::view(x, {{2}, {1}, 2});
    }
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(view.to_host<float>(), (std::vector<float>{3, 4}));
  }
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, BorrowedMemoryThatIsTooShortOrOutOfStepIsRefused) {
  alignas(8) const std::byte bytes[16] = {};
  EXPECT_EQ(kind_of([&] { Tensor::borrow({f32, {2, 2}}, bytes, 15, nullptr); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { Tensor::borrow({f32, {3}}, bytes + 2, 12, nullptr); }), ErrorKind::InvalidArgument);
  EXPECT_NO_THROW(Tensor::borrow({u8, {15}}, bytes + 1, 15, nullptr));
}

TEST(Tensor, ElementsComeInRowMajorOrderForAnyLayout) {
  const Tensor x = iota({2, 3});
  EXPECT_EQ(x.to_host<float>(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(Tensor::view(x, {{3, 2}, {1, 3}, 0}).to_host<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(Tensor::view(x, {{2, 2}, {0, -2}, 5}).to_host<float>(), (std::vector<float>{5, 3, 5, 3}));
  EXPECT_EQ(Tensor::view(x, {{}, {}, 4}).to_host<float>(), (std::vector<float>{4}));
  EXPECT_TRUE(Tensor::view(x, {{0, 3}, {3, 1}, 0}).to_host<float>().empty());
  EXPECT_EQ(scalar<std::uint8_t>(boolean, 1).to_host<bool>(), (std::vector<bool>{true}));
  EXPECT_EQ(scalar<std::uint16_t>(bf16, 0x3f80).to_host<std::uint16_t>(), (std::vector<std::uint16_t>{0x3f80}));
  EXPECT_EQ(scalar<std::uint8_t>(e4m3, 0x38).to_host<std::uint8_t>(), (std::vector<std::uint8_t>{0x38}));
  EXPECT_EQ(kind_of([&] { static_cast<void>(x.to_host<double>()); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { static_cast<void>(scalar<std::uint8_t>(boolean, 1).to_host<std::uint8_t>()); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] {
              static_cast<void>(Tensor::allocate("test", {DType::q8_0, {32}}).to_host<std::uint8_t>());
            }),
            ErrorKind::DTypeMismatch);
}

TEST(Item, ConvertsExactlyOrRefuses) {
  EXPECT_EQ(scalar<std::int32_t>(i32, -7).item<std::int8_t>(), -7);
  EXPECT_EQ(scalar<std::int32_t>(i32, 16777216).item<float>(), 16777216.0f);
  EXPECT_EQ(scalar<std::uint64_t>(u64, std::uint64_t{1} << 63).item<double>(), 9223372036854775808.0);
  EXPECT_EQ(scalar<std::int64_t>(i64, std::numeric_limits<std::int64_t>::min()).item<float>(), -9223372036854775808.0f);
  EXPECT_EQ(scalar<double>(f64, 255.0).item<std::uint8_t>(), 255);
  EXPECT_EQ(scalar<double>(f64, 0.5).item<float>(), 0.5f);
  EXPECT_TRUE(std::isnan(scalar<float>(f32, NAN).item<double>()));
  EXPECT_TRUE(std::isinf(scalar<double>(f64, -INFINITY).item<float>()));
  EXPECT_TRUE(scalar<std::uint8_t>(boolean, 1).item<bool>());
  EXPECT_EQ(scalar<std::uint8_t>(boolean, 1).item<int>(), 1);
  const auto refused = [](auto x, auto as) { return kind_of([&] { static_cast<void>(x.template item<decltype(as)>()); }); };
  EXPECT_EQ(refused(scalar<std::int32_t>(i32, 16777217), float{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<std::int32_t>(i32, -1), std::uint8_t{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<std::int32_t>(i32, 2), bool{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<std::uint64_t>(u64, ~std::uint64_t{0}), double{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<double>(f64, 0.1), float{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<double>(f64, 1e300), float{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<double>(f64, 18446744073709551616.0), std::uint64_t{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<float>(f32, 1.5f), int{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(scalar<float>(f32, NAN), int{}), ErrorKind::DTypeMismatch);
  EXPECT_EQ(refused(iota({2}), float{}), ErrorKind::ShapeMismatch);
  EXPECT_EQ(refused(iota({0}), float{}), ErrorKind::ShapeMismatch);
  EXPECT_EQ(refused(Tensor(), float{}), ErrorKind::InvalidArgument);
}

// Values from the formats' definitions: IEEE 754 binary16, bfloat16, OCP FP8 (e4m3fn, e5m2).
TEST(Item, ReadsTheSmallFloatsAtTheirCorners) {
  const auto half = [](DType d, std::uint16_t bits) { return scalar<std::uint16_t>(d, bits).item<float>(); };
  EXPECT_EQ(half(f16, 0x3c00), 1.0f);
  EXPECT_EQ(half(f16, 0xc000), -2.0f);
  EXPECT_EQ(half(f16, 0x7bff), 65504.0f);
  EXPECT_EQ(half(f16, 0x0001), std::ldexp(1.0f, -24));
  EXPECT_EQ(half(f16, 0xfc00), -INFINITY);
  EXPECT_TRUE(std::isnan(half(f16, 0x7e00)));
  EXPECT_TRUE(std::signbit(half(f16, 0x8000)));
  EXPECT_EQ(half(bf16, 0x3f81), 1.0078125f);
  EXPECT_EQ(half(bf16, 0x0001), std::ldexp(1.0f, -133));
  EXPECT_EQ(half(bf16, 0x7f80), INFINITY);
  const auto eighth = [](DType d, std::uint8_t bits) { return scalar<std::uint8_t>(d, bits).item<float>(); };
  EXPECT_EQ(eighth(e4m3, 0x7e), 448.0f);
  EXPECT_EQ(eighth(e4m3, 0x01), std::ldexp(1.0f, -9));
  EXPECT_TRUE(std::isnan(eighth(e4m3, 0xff)));
  EXPECT_EQ(eighth(e5m2, 0x7b), 57344.0f);
  EXPECT_EQ(eighth(e5m2, 0x01), std::ldexp(1.0f, -16));
  EXPECT_EQ(eighth(e5m2, 0xfc), -INFINITY);
}

TEST(Tensor, IsMadeOfNothingOnlyWhereNothingIsAskedFor) {
  EXPECT_EQ(kind_of([&] { Tensor::view(Tensor(), {{8}, {1}, 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { Tensor::borrow({f32, {4, 4}}, nullptr, 64, nullptr); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(Tensor::borrow({f32, {0}}, nullptr, 0, nullptr).count(), 0);
}

TEST(Tensor, ThatIsNoneNamesTheCallThatAskedItForSomething) {
  const Tensor given = Tensor::allocate("test", {f32, {2, 3}});
  for (const bool moved : {false, true}) {
    Tensor none = moved ? given : Tensor();
    if (moved) const Tensor taken = std::move(none);  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
    const auto refuses = [&](const char* call, const auto& ask) {
      try {
        ask();
        ADD_FAILURE() << call << " answered";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << call;
        EXPECT_EQ(error.op(), call);
        EXPECT_NE(std::string(error.what()).find("no tensor was given"), std::string::npos) << error.what();
      }
    };
    refuses("dtype", [&] { (void)none.dtype(); });
    refuses("device", [&] { (void)none.device(); });
    refuses("packing", [&] { (void)none.packing(); });
    refuses("layout", [&] { (void)none.layout(); });
    refuses("shape", [&] { (void)none.shape(); });
    refuses("shape", [&] { (void)none.rank(); });
    refuses("shape", [&] { (void)none.size(0); });
    refuses("strides", [&] { (void)none.strides(); });
    refuses("offset", [&] { (void)none.offset(); });
    refuses("count", [&] { (void)none.count(); });
    refuses("is_row_major", [&] { (void)none.is_row_major(); });
    refuses("is_contiguous", [&] { (void)none.is_contiguous(); });
    refuses("buffer", [&] { (void)none.buffer(); });
    refuses("mutable_buffer", [&] { (void)none.mutable_buffer(); });
    refuses("buffer_bytes", [&] { (void)none.buffer_bytes(); });
    refuses("first", [&] { (void)none.first(); });
    refuses("first", [&] { (void)none.mutable_first(); });
    refuses("shares_buffer_with", [&] { (void)none.shares_buffer_with(given); });
    refuses("shares_buffer_with", [&] { (void)given.shares_buffer_with(none); });
    refuses("output", [&] { (void)none.output(); });
    refuses("version", [&] { (void)none.version(); });
    refuses("count_write", [&] { none.count_write(); });
    refuses("is_borrowed", [&] { (void)none.is_borrowed(); });
    refuses("view", [&] { Tensor::view(none, {{6}, {1}, 0}); });
    refuses("view_row_major", [&] { Tensor::view_row_major(none, {6}); });
    refuses("require_grad", [&] { (void)none.require_grad(); });
    refuses("with_record", [&] { (void)none.with_record({}, 0); });
    refuses("item", [&] { (void)none.item<float>(); });
    refuses("to_host", [&] { (void)none.to_host<float>(); });
    EXPECT_FALSE(none.defined());
    EXPECT_FALSE(none.meta().present);
    EXPECT_FALSE(none.requires_grad());
    EXPECT_FALSE(none.is_small_and_dense());
    EXPECT_FALSE(none.detach().defined());
    EXPECT_TRUE(none.same_as(Tensor()));  // NOLINTEND(bugprone-use-after-move)
  }
}

}  // namespace
}  // namespace votive
