// Weights of floats as prepack() arranges them (Packing::panels): products have the bits of the reference device at every edge of a panel, a tile, a piece
// and a block, on every instruction set; elements come back as they were; what cannot be done with them is refused by name.
#include "same_bits.h"

#include "votive/autograd/autograd.h"
#include "votive/ops/apply.h"
#include "votive/ops/matmul.h"

namespace votive {
namespace {

constexpr DType floats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// linear() of packed weights on every machine against plain ones on the reference device, with and without a bias.
void expect_linear_as_reference(test::Draw& draw, DType dtype, Size m, Size n, Size k) {
  const Tensor x = draw.tame({m, k}, dtype), w = draw.tame({n, k}, dtype), bias = draw.tame({n}, dtype);
  const std::string what =
      std::string(to_string(dtype)) + " m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k);
  test::expect_as_reference(what, {x, w, bias}, [](const std::vector<Tensor>& in) {
    const Tensor weight = prepack(in[1]);
    return std::vector<Tensor>{linear(in[0], weight, in[2]), matmul(in[0], transpose(weight))};
  });
}

TEST(PackedFloats, HaveTheBitsOfTheReferenceAtTheEdgesOfPanelsAndTiles) {
  test::Draw draw(31);
  for (DType dtype : floats) {
    for (Size m : {1, 2, 3, 4, 5, 13, 14, 15, 29, 43}) {
      for (Size n : {2, 15, 16, 17, 31, 32, 33, 47, 65}) expect_linear_as_reference(draw, dtype, m, n, 2 + draw.below(40));
    }
  }
}

TEST(PackedFloats, HaveTheBitsOfTheReferenceAtTheEdgesOfPiecesAndBlocks) {
  test::Draw draw(32);
  for (DType dtype : floats) {
    for (Size k : {2, 3, 15, 16, 17, 127, 255, 256, 257, 258, 1023, 1024, 1025, 1280, 2047, 2049}) {
      expect_linear_as_reference(draw, dtype, 1, 33, k);
      expect_linear_as_reference(draw, dtype, 17, 20, k);
    }
  }
}

// Groups of rows that share a in L2, chunks of panels, a packed by one thread or by all.
TEST(PackedFloats, HaveTheBitsOfTheReferenceHoweverTheWorkIsCut) {
  test::Draw draw(33);
  for (DType dtype : floats) {
    expect_linear_as_reference(draw, dtype, 150, 70, 1100);
    expect_linear_as_reference(draw, dtype, 300, 40, 130);
    expect_linear_as_reference(draw, dtype, 40, 530, 300);
  }
  expect_linear_as_reference(draw, f32, 30, 2200, 1030);  // enough columns that every thread packs a for itself
}

TEST(PackedFloats, TakeNonFiniteNumbersAndSubnormalsAsTheyCome) {
  test::Draw draw(34);
  for (DType dtype : floats) {
    const Tensor x = draw.wild({5, 77}, dtype), w = draw.wild({41, 77}, dtype);
    test::expect_as_reference(std::string(to_string(dtype)), {x, w},
                              [](const std::vector<Tensor>& in) { return std::vector<Tensor>{linear(in[0], prepack(in[1]))}; });
  }
}

TEST(PackedFloats, AndPlainOnesRoundSumsOfEveryKind) {
  test::Draw draw(35);
  for (DType dtype : {DType::f16, DType::bf16}) {
    for (Size m : {3, 20, 120}) {  // a bias of any bits: NaN, infinities and subnormals are what is rounded
      const Tensor bias = draw.wild({97}, dtype);
      const std::vector<Tensor> inputs = {draw.tame({m, 9}, dtype), draw.tame({97, 9}, dtype), bias, draw.wild({97, 9}, dtype)};
      test::expect_as_reference(std::string(to_string(dtype)) + " m=" + std::to_string(m), inputs, [](const std::vector<Tensor>& in) {
        const Tensor nothing = zeros_like(in[0]);
        return std::vector<Tensor>{linear(nothing, in[1], in[2]), linear(nothing, prepack(in[1]), in[2]), linear(in[0], in[1], in[2]),
                                   linear(in[0], in[3]), linear(in[0], prepack(in[3]))};
      });
    }
  }
}

TEST(PackedFloats, MultiplyActivationsOfAnyFloatAsPlainOnesDo) {
  test::Draw draw(35);
  for (DType a : floats) {
    for (DType b : floats) {
      for (Size k : {37, 1026}) {
        const Tensor x = draw.tame({3, 5, k}, a), w = draw.tame({35, k}, b);
        const std::string what = std::string(to_string(a)) + " · " + std::string(to_string(b));
        test::expect_as_reference(what, {x, w}, [](const std::vector<Tensor>& in) {
          const Tensor weight = prepack(in[1]);
          std::vector<Tensor> y{linear(in[0], weight), matmul(in[0], transpose(weight)),
                                matmul(select(select(in[0], 0, 1), 0, 2), transpose(weight))};
          if (block_bytes(y[0].dtype()) == 2) y.push_back(matmul(in[0], transpose(weight), {.out = f32}));
          return y;
        });
      }
    }
  }
}

TEST(PackedFloats, AreMadeOfAnyLayoutAndGiveEveryElementBack) {
  test::Draw draw(36);
  for (DType dtype : floats) {
    for (const Shape& shape : {Shape{2, 2}, Shape{17, 33}, Shape{70, 19}, Shape{33, 1300}}) {
      const Tensor w = draw.wild(shape, dtype), turned = transpose(contiguous(transpose(w))), reversed = flip(w, 0);
      const Tensor ids = tensor({shape[0] - 1, Size{0}, Size{1}}, i64);
      test::for_every_machine([&](const std::string& machine) {
        const std::string where = machine + " " + std::string(to_string(dtype)) + to_string(shape);
        const Tensor packed = prepack(w);
        ASSERT_EQ(packed.packing(), Packing::panels);
        EXPECT_LE(packed.buffer_bytes(), w.buffer_bytes() + static_cast<std::size_t>(shape[0] * block_bytes(dtype)) + 128);
        test::expect_equal_bits(packed.to(dtype), w, where);
        test::expect_equal_bits(transpose(packed).to(dtype), transpose(w), where + " transposed");
        test::expect_equal_bits(packed.to(f64), w.to(f64), where + " to f64");
        test::expect_equal_bits(prepack(turned).to(dtype), w, where + " from columns");
        test::expect_equal_bits(prepack(reversed).to(dtype), reversed, where + " reversed");
        test::expect_equal_bits(embedding(packed, ids), embedding(w, ids), where + " embedding");
        test::expect_equal_bits(embedding(transpose(packed), tensor({1, 0}, i32)), embedding(transpose(w), tensor({1, 0}, i32)), where);
      });
    }
  }
}

TEST(PackedFloats, OfOneRowOrColumnOrNothingStayAsTheyAre) {
  for (const Shape& shape : {Shape{1, 5}, Shape{5, 1}, Shape{0, 4}, Shape{4, 0}, Shape{6}, Shape{2, 3, 4}}) {
    const Tensor w = zeros(shape, f32);
    EXPECT_TRUE(prepack(w).same_as(w)) << to_string(shape);
  }
  const Tensor packed = prepack(ones({3, 4}));
  EXPECT_TRUE(prepack(packed).same_as(packed));
}

template <class Call>
ErrorKind kind_of(Call call) {
  try {
    call();
  } catch (const Error& error) { return error.kind(); }
  return ErrorKind::Internal;
}

TEST(PackedFloats, AreReadByProductsAndCastsAlone) {
  const Tensor packed = prepack(ones({4, 6}, bf16));
  EXPECT_EQ(to_string(packed), "tensor bf16[4, 6] on cpu (packed)");
  EXPECT_EQ(kind_of([&] { packed.to_host<std::uint16_t>(); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { packed + packed; }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { sum(packed); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { select(packed, 0, 1); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { reshape(packed, {24}); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { packed.to(Device::reference); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { packed.require_grad(); }), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of([&] { matmul(ones({2, 4}, bf16), packed); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { linear(ones({2, 6}, bf16).to(Device::reference), packed); }), ErrorKind::DeviceMismatch);
}

TEST(PackedFloats, LetGradientsThroughToTheActivations) {
  test::Draw draw(37);
  for (DType dtype : floats) {
    const Tensor w = draw.tame({9, 21}, dtype), x = draw.tame({4, 21}, dtype).require_grad();
    const Grads plain = backward(sum(linear(x, w))), packed = backward(sum(linear(x, prepack(w))));
    test::expect_equal_bits(packed[x], plain[x], std::string(to_string(dtype)));
  }
}

}  // namespace
}  // namespace votive
