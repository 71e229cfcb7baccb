// Attention and rotary positions: CONTRACT.md 4.5, row 50 of its section 10, and numbers made by PyTorch 2.15.0 in f64.
#include "tests/ops/expected.h"

namespace votive {
namespace {

class AttentionOn : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f64) const { return tensor(values, dtype, here); }
  Tensor q = pattern({1, 2, 3, 4}, 7, GetParam()), k = pattern({1, 1, 4, 4}, 5, GetParam()), v = pattern({1, 1, 4, 2}, 3, GetParam());
};
INSTANTIATE_TEST_SUITE_P(Devices, AttentionOn, every_device, device_name);

TEST_P(AttentionOn, GroupedHeads) {
  expect_near(attention(q, k, v),
              {-0.11654073181535557, 0.6334592681846444, -0.5054662614179198, 0.24453373858208033, -0.6162494341470934, 0.1337505658529063,
               -0.4300612683817601, 0.31993873161824, -0.5237084945605015, 0.22629150543949855, -0.10861787141076443, 0.6413821285892356},
              1e-7);  // the scale is an f32
  expect_near(attention(q.to(f32), k.to(f32), v.to(f32)),
              {-0.11654073181535557, 0.6334592681846444, -0.5054662614179198, 0.24453373858208033, -0.6162494341470934, 0.1337505658529063,
               -0.4300612683817601, 0.31993873161824, -0.5237084945605015, 0.22629150543949855, -0.10861787141076443, 0.6413821285892356},
              1e-6);
}

TEST_P(AttentionOn, WindowsSlopesAndSoftCaps) {
  const AttentionOptions options{.scale = 0.5f, .causal = true, .softcap = 2, .window = 2, .slopes = of({0.5, 0.25})};
  expect_near(attention(q, k, v, {}, options), {-0.8532404745099978, -0.10324047450999774, -0.4942940896190987, 0.2557059103809013,
                                                -0.15661525592857034, 0.5933847440714296, -0.3036561630141549, 0.4463438369858451,
                                                -0.5091993460426499, 0.24080065395735006, -0.012917406419685362, 0.7370825935803147});
  expect_near(
      attention(q, k, v, {}, {.scale = 0.5f, .window = 2}),
      {-1.0190547076493521, -0.26905470764935235, -0.22852278344747962, 0.5214772165525203, -0.34326475132869716, 0.40673524867130284,
       -0.5588515739705586, 0.19114842602944143, -0.06247492315434744, 0.6875250768456524, -0.09971746110969254, 0.6502825388903074});
  AttentionOptions wide = options;
  wide.slopes = options.slopes.to(f32);
  expect_near(
      attention(q.to(f32), k.to(f32), v.to(f32), {}, wide),
      {-0.8532404745099978, -0.10324047450999774, -0.4942940896190987, 0.2557059103809013, -0.15661525592857034, 0.5933847440714296,
       -0.3036561630141549, 0.4463438369858451, -0.5091993460426499, 0.24080065395735006, -0.012917406419685362, 0.7370825935803147},
      1e-6);
}

TEST_P(AttentionOn, Row50ARowWithoutKeysIsZero) {
  const Tensor nobody = zeros({3, 4}, boolean, here);
  for (const double y : attention(q, k, v, nobody).to_host<double>()) EXPECT_EQ(y, 0);
  for (const double y : attention(q, k, v, full({3, 4}, -infinity, f64, here)).to_host<double>()) EXPECT_EQ(y, 0);
}

// User report burn#4697: mask and causality together cover a row.
TEST_P(AttentionOn, Burn4697ARowThatMaskAndCausalityCoverIsZero) {
  const Tensor late = ne(of({0, 0, 0, 1}), 0);  // the only key that queries 0 and 1 may not see yet
  const std::vector<double> y = attention(q, k, v, late, {.causal = true}).to_host<double>();
  for (const std::size_t i : {0u, 1u, 2u, 3u}) EXPECT_EQ(y[i], 0);
  EXPECT_NE(y[4], 0);
}

// User report llama.cpp#14580: a partial rotation of what is not contiguous.
TEST_P(AttentionOn, Llama14580RotatesPartOfAView) {
  const Tensor x = pattern({1, 3, 2, 8}, 7, GetParam()), positions = of({3, 4, 5}, i64), frequencies = of({1, 0.1});
  const Tensor view = transpose(x, 1, 2);
  EXPECT_EQ(rope(view, positions, frequencies).to_host<double>(), rope(contiguous(view), positions, frequencies).to_host<double>());
}

TEST_P(AttentionOn, DoesNotReadBehindAMask) {
  const Tensor mask = ne(of({1, 0, 1, 1}), 0), hole = ne(of({{0}, {1}, {0}, {0}}), 0);
  const Tensor bad = full({}, std::nan(""), f64, here);
  expect_near(attention(q, where(hole, bad, k), where(hole, bad, v), mask), attention(q, k, v, mask).to_host<double>(), 0);
}

// User report #3568: a fused rope severed the graph; #3005: its angles were computed in half precision.
TEST_P(AttentionOn, N3005RotatesByAnglesInF32) {
  const Tensor x = of({{{{1, 0}}}}, bf16);
  const Tensor y = rope(x, of({2000}, i64), of({1}, f32));
  expect_near(y, {std::cos(2000.0), std::sin(2000.0)}, 0x1p-8);
}

TEST_P(AttentionOn, RotatesPartOfAHead) {
  const Tensor x = of({{{{1, 2, 3, 4, 5}}}});
  const double c = std::cos(0.5), s = std::sin(0.5), c2 = std::cos(0.25), s2 = std::sin(0.25);
  const Tensor position = of({1}, i32), frequencies = of({0.5, 0.25});
  expect_near(rope(x, position, frequencies), {c - 3 * s, 2 * c2 - 4 * s2, s + 3 * c, 2 * s2 + 4 * c2, 5});
  expect_near(rope(x, position, frequencies, {.pairing = RopePairing::interleaved}),
              {c - 2 * s, s + 2 * c, 3 * c2 - 4 * s2, 3 * s2 + 4 * c2, 5});
}

// Numbers of the published formulas, evaluated by Python 3.11 in f64.
TEST_P(AttentionOn, ScalesFrequenciesForLongerSequences) {
  expect_near(rope_frequencies_linear(4, 4, 10000, here), {0.25, 0.0025}, 1e-7);
  expect_near(rope_frequencies_ntk(4, 2, 10000, here), {1, 0.005}, 1e-7);
  expect_near(rope_frequencies_dynamic(16, {.factor = 2, .trained = 4096, .length = 8192}, 10000, here),
              {1, 0.2702961256924036, 0.07305999556432365, 0.019747833744140873, 0.005337762951858991, 0.001442776645751933,
               0.000389976937586229, 0.00010540925533894598},
              1e-7);
  expect_near(rope_frequencies_dynamic(16, {.factor = 2, .trained = 4096, .length = 4096}, 10000, here),
              rope_frequencies(16, 10000, here).to(f64).to_host<double>(), 0);
  expect_near(rope_frequencies_llama3(16, {}, 500000, here),
              {1, 0.19392274474868576, 0.03760603093086393, 0.007292664737217109, 0.0005248461609929547, 3.428102195952591e-05,
               6.647869871181235e-06, 1.2891731721515574e-06},
              1e-7);
  expect_near(rope_frequencies_yarn(16, {.factor = 4, .trained = 4096}, 10000, here),
              {1, 0.31622776601683794, 0.1, 0.02569350598886808, 0.00625, 0.001383496476323666, 0.00025, 7.905694150420948e-05}, 1e-7);
  EXPECT_NEAR(yarn_attention_factor(4), 0.1 * std::log(4.0) + 1, 1e-15);
  EXPECT_EQ(kind_of([&] { rope_frequencies_linear(3, 2); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { rope_frequencies_llama3(4, {.low = 4, .high = 4}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { rope_frequencies_yarn(4, {.factor = 0.5}); }), ErrorKind::InvalidArgument);
}

TEST_P(AttentionOn, RefusesWhatDoesNotFit) {
  EXPECT_EQ(kind_of([&] { attention(q, k, v, {}, {.softcap = -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { attention(q, k, v, {}, {.window = -1}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { attention(q, k, v, {}, {.slopes = of({1, 2, 3})}); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { attention(q.to(f32), k.to(f32), v.to(f32), zeros({3, 4}, f64, here)); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { rope(q.to(f32), of({0, 1, 2}, i64), of({1}, f64)); }), ErrorKind::DTypeMismatch);
}

}  // namespace
}  // namespace votive
