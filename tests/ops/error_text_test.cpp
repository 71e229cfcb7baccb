// Texts of errors, written down: the call, the arguments by name with dtype and shape, what is wrong in numbers, the cure (CONTRACT.md section 9).
#include <cmath>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

TEST(ErrorText, OfAnAddition) {
  EXPECT_EQ(
      text_of([] {
        zeros({8, 128}, i64) + zeros({8, 128}, bf16);
      }),
      "add: dtype mismatch: no common dtype: a i64[8, 128], b bf16[8, 128]. bf16 cannot hold every i64. Cast one side, e.g. a.to(f32).");
  EXPECT_EQ(text_of([] { zeros({2}, u64) + zeros({2}, i64); }),
            "add: dtype mismatch: no common dtype: a u64[2], b i64[2]. No integer holds every u64 and i64. Cast one side, e.g. a.to(i64).");
  EXPECT_EQ(
      text_of([] { zeros({2}, boolean) + zeros({2}, boolean); }),
      "add: dtype mismatch: a bool[2] and b bool[2]: bool has no arithmetic. Use logical_or or logical_and, or cast, e.g. a.to(i64).");
  EXPECT_EQ(text_of([] {
              zeros({2, 3}) + zeros({4, 3});
            }),
            "add: shape mismatch: a f32[2, 3] and b f32[4, 3] do not broadcast: axis -2 has 2 and 4.");
  EXPECT_EQ(text_of([] { zeros({2}) + zeros({2}, f32, {.device = Device::reference}); }),
            "add: device mismatch: a f32[2] on cpu and b f32[2] on reference. Move one, e.g. b.to(Device::cpu).");
}

TEST(ErrorText, OfALiteral) {
  EXPECT_EQ(text_of([] { zeros({2}, u8) + 300; }),
            "add: literal out of range: 300 is not in u8 (0..255). Cast the tensor, e.g. x.to(i32) + 300.");
  EXPECT_EQ(text_of([] { 300 - zeros({2}, i8); }),
            "sub: literal out of range: 300 is not in i8 (-128..127). Cast the tensor, e.g. 300 - x.to(i32).");
  EXPECT_EQ(text_of([] { maximum(zeros({2}, u8), -1); }),
            "maximum: literal out of range: -1 is not in u8 (0..255). Cast the tensor, e.g. maximum(x.to(i32), -1).");
  EXPECT_EQ(text_of([] { zeros({2}, f16) * 1e6; }),
            "mul: literal out of range: 1000000 is beyond the largest f16. Cast the tensor, e.g. x.to(f64).");
  EXPECT_EQ(text_of([] { zeros({2}, boolean) * 2; }), "mul: dtype mismatch: x bool[2] and the literal 2. Cast the tensor, e.g. x.to(i64).");
  EXPECT_EQ(text_of([] { zeros({2}) + true; }), "add: dtype mismatch: x f32[2] and the literal true. Write the number, 0 or 1.");
}

// A NaN's sign is the machine's: it is not shown.
TEST(ErrorText, OfANanHasNoSign) {
  const double minus_nan = std::copysign(std::nan(""), -1.0);
  for (const Device device : {Device::cpu, Device::reference}) {
    const CreateOptions there{.device = device};
    const Tensor x = from_host<double>(std::vector<double>{minus_nan, 1.0}, {2}, f64, there);
    EXPECT_NE(text_of([&] { histc(x, 4); }).find("the range from nan to nan"), std::string::npos) << text_of([&] { histc(x, 4); });
    EXPECT_NE(text_of([&] { quantile(x, minus_nan); }).find("q = nan"), std::string::npos) << text_of([&] { quantile(x, minus_nan); });
    EXPECT_NE(text_of([&] { full({2}, minus_nan, i32, there); }).find("nan is a float"), std::string::npos);
  }
  EXPECT_NE(text_of([&] { arange(0, 1, minus_nan); }).find("step is nan"), std::string::npos);
  EXPECT_NE(text_of([&] { linspace(minus_nan, 1, 3); }).find("from nan to 1"), std::string::npos);
  EXPECT_NE(text_of([&] { dropout(ones({2}), minus_nan, {}); }).find("p = nan"), std::string::npos);
}

TEST(ErrorText, OfAProduct) {
  EXPECT_EQ(text_of([] {
              matmul(zeros({8, 576}), zeros({1536, 560}));
            }),
            "matmul: shape mismatch: a f32[8, 576] and b f32[1536, 560] share no inner size (576, 1536).");
  EXPECT_EQ(text_of([] {
              matmul(zeros({8, 576}), zeros({1536, 576}));
            }),
            "matmul: shape mismatch: a f32[8, 576] and b f32[1536, 576] share no inner size (576, 1536). Did you mean transpose(b)?");
  EXPECT_EQ(text_of([] {
              linear(zeros({8, 576}), zeros({576, 1536}));
            }),
            "linear: shape mismatch: x f32[8, 576] and w f32[576, 1536] share no inner size (576, 1536). Did you mean transpose(w)?");
  EXPECT_EQ(text_of([] {
              matmul(zeros({2, 2}, boolean), zeros({2, 2}, boolean));
            }),
            "matmul: dtype mismatch: a bool[2, 2]. Accepted: f16, bf16, f32, f64. Cast it, e.g. a.to(f32).");
}

TEST(ErrorText, OfAReduction) {
  EXPECT_EQ(text_of([] {
              max(zeros({2, 0}), {.axis = 1});
            }),
            "max: empty reduction: x f32[2, 0] over axis 1 has no elements and no identity.");
  EXPECT_EQ(text_of([] { sum(zeros({2, 2}), {.axis = {0, 0}}); }), "sum: invalid axis: axis 0 is named twice.");
}

TEST(ErrorText, OfAnIndex) {
  const auto select_wrong = [](Device device) {
    return text_of([device] { index_select(zeros({5}, f32, {.device = device}), tensor({1, 2, 7, 9}, i32, {.device = device})); });
  };
  EXPECT_EQ(select_wrong(Device::reference),
            "index_select: index out of range: argument 'indices' (#2, i32[4] on reference) has 7 at position [2]; valid range for axis 0 "
            "of size 5 is -5..4.");
  EXPECT_EQ(text_of([] {
              select(zeros({2, 3}), 1, 3);
            }),
            "select: index out of range: index 3 of axis 1 of f32[2, 3]; valid range is -3..2.");
  EXPECT_EQ(text_of([] { narrow(zeros({4}), 0, 2, 3); }),
            "narrow: index out of range: 3 elements from 2 of axis 0 of f32[4], which has 4.");
}

TEST(ErrorText, OfAMask) {
  EXPECT_EQ(text_of([] { where(zeros({2}, u8), zeros({2}), zeros({2})); }),
            "where: dtype mismatch: condition u8[2]. Accepted: bool. Compare it, e.g. ne(condition, 0).");
}

TEST(ErrorText, OfAMissingTensor) {
  EXPECT_EQ(text_of([] { add(Tensor(), zeros({2})); }), "add: invalid argument: argument 'a' (#1) is no tensor.");
  EXPECT_EQ(text_of([] { reshape(Tensor(), {2}); }), "reshape: invalid argument: argument 'x' (#1) is no tensor.");
}

TEST(ErrorText, OfBlocks) {
  const Tensor w = Tensor::allocate("test", {.dtype = DType::q4_1, .shape = {4, 64}});
  EXPECT_EQ(text_of([&] { w + w; }),
            "add: dtype mismatch: a q4_1[4, 64]. Accepted: dtypes of single elements. Dequantise it, e.g. a.to(f32).");
  EXPECT_EQ(text_of([&] { slice(w, {.axis = 1, .start = 3}); }),
            "slice: unsupported: x q4_1[4, 64] lies in blocks. Accepted: transpose of the last two axes, select and narrow of axes before "
            "the last. "
            "Dequantise it, e.g. x.to(f32).");
  EXPECT_EQ(text_of([&] {
              matmul(zeros({4, 4}), w);
            }),
            "matmul: shape mismatch: b q4_1[4, 64] runs its blocks along its last axis, and the inner size is axis 0. Did you mean "
            "transpose(b)?");
}

TEST(ErrorText, ComesWithFieldsThatAProgramCanRead) {
  try {
    add(zeros({2, 3}, i64), zeros({3}, bf16));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::DTypeMismatch);
    EXPECT_EQ(error.op(), "add");
    EXPECT_EQ(error.dtypes(), (std::vector<std::string>{"i64", "bf16"}));
    EXPECT_EQ(error.shapes(), (std::vector<std::vector<Size>>{{2, 3}, {3}}));
    EXPECT_EQ(error.devices(), (std::vector<std::string>{"cpu", "cpu"}));
    EXPECT_EQ(error.hint(), "Cast one side, e.g. a.to(f32)");
  }
}

// Checks run dtype → device → shape → values, so an error of dtype is reported even where shapes do not fit either.
TEST(ErrorText, ReportsTheDtypeBeforeTheDeviceAndTheDeviceBeforeTheShape) {
  const Tensor here = zeros({2}), there = zeros({3}, f32, {.device = Device::reference}),
               other = zeros({3}, i64, {.device = Device::reference});
  EXPECT_EQ(kind_of([&] { add(here, other); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { add(here, there); }), ErrorKind::DeviceMismatch);
  EXPECT_EQ(kind_of([&] { add(here, zeros({3})); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { add(zeros({0, 2}), zeros({0, 3}, i64)); }), ErrorKind::DTypeMismatch) << "also of empty tensors";
}

TEST(ErrorText, OfACompositionNamesTheCallAndTheNumberOfItsArgument) {
  const Tensor m = ones({2, 3});
  EXPECT_EQ(text_of([&] { (void)allclose(m, ones({5})); }).substr(0, 9), "allclose:");
  EXPECT_NE(text_of([&] { (void)triplet_margin_loss(m, m, Tensor()); }).find("'negative' (#3"), std::string::npos);
}

}  // namespace
}  // namespace votive
