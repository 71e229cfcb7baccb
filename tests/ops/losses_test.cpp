// Losses against numbers made by PyTorch 2.15.0 in f64 from the same inputs, and by hand where a class, a length or an edge decides.
#include "tests/ops/expected.h"

namespace votive {
namespace {

class Losses : public OnDevices {
 protected:
  Tensor of(const Nested& values, DType dtype = f64) const { return tensor(values, dtype, here); }
  Tensor x = pattern({3, 4}, 7, GetParam()), y = pattern({3, 4}, 3, GetParam()), z = pattern({3, 4}, 9, GetParam());
  Tensor target = tensor({2, 0, 3}, i64, here), weights = tensor({0.5, 1, 2, 1.5}, f64, here);
  Tensor sign = tensor({{1, -1, -1, 1}, {1, 1, -1, -1}, {1, -1, 1, -1}}, f64, here);
};
INSTANTIATE_TEST_SUITE_P(Devices, Losses, every_device, device_name);

TEST_P(Losses, OfDistances) {
  expect_near(mse_loss(x, y), {0.5729166666666666});
  expect_near(mse_loss(x, y, {.reduction = Reduction::sum}), {6.875});
  expect_near(smooth_l1_loss(x, y, {.beta = 0.5, .reduction = Reduction::none}),
              {0.0, 0.75, 0.5, 0.0625, 1.0, 0.25, 0.25, 1.0, 0.0625, 0.5, 0.75, 0.0});
  expect_near(smooth_l1_loss(x, y, {.beta = 0.5}), {0.4270833333333333});
  expect_near(huber_loss(x, y, {.delta = 0.5, .reduction = Reduction::none}),
              {0.0, 0.375, 0.25, 0.03125, 0.5, 0.125, 0.125, 0.5, 0.03125, 0.25, 0.375, 0.0});
  expect_near(huber_loss(x, y, {.delta = 0.5, .reduction = Reduction::sum}), {2.5625});
  expect_near(l1_loss(of({1, 2}), of({1, 4})), {1});
  expect_near(smooth_l1_loss(of({1, 2}), of({1, 4}), {.beta = 0}), {1});
}

TEST_P(Losses, OfClasses) {
  using enum Reduction;
  const Tensor some = of({2, -100, 3}, i64);
  expect_near(cross_entropy(x, target, {.reduction = none}), {2.297095156552987, 1.450132693633123, 2.516999725429153});
  expect_near(cross_entropy(x, target), {2.088075858538421});
  expect_near(cross_entropy(x, target.to(u8), {.reduction = sum}), {6.264227575615263});
  expect_near(cross_entropy(x, target, {.weights = weights, .label_smoothing = 0.1, .reduction = none}),
              {4.3406581763645, 0.8307012988390458, 3.6094495950080003});
  expect_near(cross_entropy(x, target, {.weights = weights, .label_smoothing = 0.1}), {2.1952022675528866});
  expect_near(cross_entropy(x, some, {.weights = weights, .label_smoothing = 0.1, .reduction = none}),
              {4.3406581763645, 0.0, 3.6094495950080003});
  expect_near(cross_entropy(x, some, {.weights = weights, .label_smoothing = 0.1}), {2.271459363249286});
  expect_near(cross_entropy(x, some, {.weights = weights, .label_smoothing = 0.1, .reduction = sum}), {7.950107771372501});
  expect_near(nll_loss(log_softmax(x), some, {.weights = weights, .reduction = none}), {4.594190313105974, 0.0, 3.775499588143729});
  expect_near(nll_loss(log_softmax(x), some, {.weights = weights}), {2.3913399717856296});
  const Tensor spatial = pattern({2, 3, 2, 2}, 5, GetParam()), classes = of({{{0, 1}, {2, 0}}, {{1, 2}, {0, 1}}}, i32);
  expect_near(cross_entropy(spatial, classes), {1.381188626990732});
  expect_near(cross_entropy(spatial, classes, {.reduction = none}),
              {2.787621321433714, 1.1802696706417346, 1.6802696706417346, 0.6802696706417346, 1.1802696706417346, 1.6802696706417346,
               0.6802696706417346, 1.1802696706417346});
  expect_near(cross_entropy(select(x, 0, 0), of(1, i64)), {1.2970951565529871});
  const Tensor p = softmax(y);
  expect_near(cross_entropy(x, p, {.weights = weights, .label_smoothing = 0.2, .reduction = none}),
              {1.9402513818546387, 2.0597719428073247, 2.189230431806065});
  expect_near(cross_entropy(x, p, {.weights = weights, .label_smoothing = 0.2}), {2.0630845854893427});
  expect_near(multi_margin_loss(x, target), {1.1458333333333333});
  expect_near(multi_margin_loss(x, target, {.p = 2, .margin = 0.5, .weights = weights}), {2.4192708333333335});
}

TEST_P(Losses, OfNoClassThatCountsIsNan) {
  expect_near(cross_entropy(x, of({-100, -100, -100}, i64)), {std::nan("")});
  expect_near(cross_entropy(x, of({-100, -100, -100}, i64), {.reduction = Reduction::sum}), {0});
}

TEST_P(Losses, OfAnIgnoredRowIsNothingWhateverStandsInIt) {
  const Tensor rows = where(ne(of({{0}, {1}, {0}}), 0), full({}, std::nan(""), f64, here), x);
  expect_near(cross_entropy(rows, of({2, -100, 3}, i64), {.reduction = Reduction::none}),
              {2.297095156552987, 0, 2.516999725429153});  // two of the numbers above
}

TEST_P(Losses, AreRoundedOnce) {
  const Tensor half = x.to(f16);
  EXPECT_EQ(cross_entropy(half, target).to(f32).item<float>(), cross_entropy(half.to(f32), target).to(f16).to(f32).item<float>());
  EXPECT_EQ(cross_entropy(half, target).dtype(), f16);
  EXPECT_EQ(mse_loss(half, y.to(f32)).dtype(), f32);
}

// User report s: binary_cross_entropy_with_logit of candle is log(sigmoid(x)), infinite for large logits (candle #2561).
TEST_P(Losses, N2561OfLargeLogitsAreFinite) {
  const Tensor logits = of({100, -100, 1000, -1000}, f32), truth = of({1, 0, 0, 1}, f32);
  expect_near(binary_cross_entropy_with_logits(logits, truth, {.reduction = Reduction::none}),
              {3.783505853677006e-44, 3.783505853677006e-44, 1000, 1000});
}

TEST_P(Losses, OfProbabilities) {
  const Tensor p = sigmoid(x), t = sigmoid(y);
  expect_near(binary_cross_entropy(p, t), {0.6823972144341296});
  expect_near(binary_cross_entropy(p, t, {.weights = weights}), {0.8603917709742449});
  expect_near(binary_cross_entropy(of({0, 1, 0, 1}), of({1, 0, 0, 1}), {.reduction = Reduction::none}), {100, 100, 0, 0});
  expect_near(binary_cross_entropy_with_logits(x, t), {0.6823972144341296});
  expect_near(binary_cross_entropy_with_logits(x, t, {.weights = weights, .pos_weight = of({2, 0.5, 1, 3})}), {1.1264399395985372});
  expect_near(multilabel_soft_margin_loss(x, gt(sign, 0).to(f64)), {0.8707693849983508});
  expect_near(multilabel_soft_margin_loss(x, gt(sign, 0).to(f64), {.weights = weights}), {0.9971206907342923});
  const Tensor log_p = log_softmax(x), q = softmax(y);
  expect_near(kl_div(log_p, q), {0.07098312814461284});
  expect_near(kl_div(log_p, q, {.reduction = Reduction::batch_mean}), {0.28393251257845137});
  expect_near(kl_div(log_p, log(q), {.log_target = true, .reduction = Reduction::sum}), {0.8517975377353542});
  expect_near(kl_div(select(log_p, 0, 0), of({0, 0.5, 0.5, 0}), {.reduction = Reduction::none}),
              {0.0, 0.3019739879965209, 0.8019739879965209, 0.0});
}

TEST_P(Losses, OfCountsAndOfMeasurements) {
  const Tensor counts = of({{0, 1, 2, 5}, {3, 0, 1, 7}, {2, 2, 4, 1}});
  expect_near(poisson_nll_loss(x, counts), {0.8589132100281921});
  expect_near(poisson_nll_loss(x, counts, {.full = true}), {2.538986198220908});
  expect_near(poisson_nll_loss(abs(x), counts, {.log_input = false}), {12.392897472461437});
  const Tensor variance = pattern({3, 4}, 5, GetParam(), 7, -1, 2);
  expect_near(gaussian_nll_loss(x, y, variance), {0.49340701079463245});
  expect_near(gaussian_nll_loss(x, y, variance, {.full = true}), {1.4123455439993051});
  expect_near(gaussian_nll_loss(x, y, narrow(variance, 1, 0, 1)), {0.4775122191164618});
}

TEST_P(Losses, OfMargins) {
  expect_near(hinge_embedding_loss(x, sign), {0.3125});
  expect_near(hinge_embedding_loss(x, sign.to(i32), {.margin = 0.5}), {0.125});
  expect_near(margin_ranking_loss(x, y, sign, {.margin = 0.3}), {0.5375});
  expect_near(soft_margin_loss(x, sign), {0.8707693849983508});
  expect_near(cosine_similarity(x, y), {0.755043015345807, 0.2024102261881841, 0.7260384169902694});
  expect_near(cosine_similarity(x, y, {.axis = 0}), {0.7201190377787747, -0.09534625892455922, 0.1749635530559413, 0.7833494518006401});
  expect_near(cosine_embedding_loss(x, y, of({1, -1, -1}), {.margin = 0.2}), {0.2578018759441785});
  expect_near(triplet_margin_loss(x, y, z), {0.9937723594208991});
  expect_near(triplet_margin_loss(x, y, z, {.margin = 2, .p = 1, .swap = true}), {2.0});
  expect_near(triplet_margin_loss(x, y, z, {.reduction = Reduction::none}), {0.5977044365771453, 1.7859092877153437, 0.5977033539702081});
}

TEST_P(Losses, OfLabelSequences) {
  const Tensor log_p = log_softmax(pattern({6, 2, 4}, 7, GetParam()));
  const Tensor labels = of({{1, 2, 2}, {3, 0, 0}}, i64), lengths = of({6, 4}, i64), sizes = of({3, 1}, i32);
  expect_near(ctc_loss(log_p, labels, lengths, sizes, {.reduction = Reduction::none}), {4.703562081096459, 2.718216878232142});
  expect_near(ctc_loss(log_p, labels, lengths, sizes), {2.1430354526321476});
  expect_near(ctc_loss(log_p, labels, lengths, sizes, {.reduction = Reduction::sum}), {7.421778959328601});
  const Tensor same = of({{1, 1, 1}, {2, 2, 2}}, i64), short_first = of({4, 6}, i64);
  expect_near(ctc_loss(log_p, same, short_first, of({3, 3}, i64), {.reduction = Reduction::none}), {infinity, 7.226628826560726});
  expect_near(ctc_loss(log_p, same, short_first, of({3, 3}, i64), {.zero_infinity = true, .reduction = Reduction::none}),
              {0.0, 7.226628826560726});
  expect_near(ctc_loss(log_p, same, short_first, of({0, 1}, i64), {.reduction = Reduction::none}), {9.848094332840446, 5.883047412068111});
  expect_near(ctc_loss(log_p, same, of({0, 0}, i64), of({0, 1}, i64), {.reduction = Reduction::none}), {0, infinity});
}

// CONTRACT.md 5.1: a class has no negative meaning.
TEST_P(Losses, RefuseClassesThatAreNone) {
  for (const int bad : {-1, 4, 100}) {
    EXPECT_EQ(kind_of([&] { cross_entropy(x, of({0, bad, 1}, i64)); }), ErrorKind::IndexOutOfRange);
    EXPECT_EQ(kind_of([&] { nll_loss(x, of({0, bad, 1}, i64)); }), ErrorKind::IndexOutOfRange);
    EXPECT_EQ(kind_of([&] { multi_margin_loss(x, of({0, bad, 1}, i64)); }), ErrorKind::IndexOutOfRange);
  }
  EXPECT_EQ(kind_of([&] {
              ctc_loss(pattern({3, 1, 4}, 7, GetParam()), of({{4}}, i64), of({3}, i64), of({1}, i64));
            }),
            ErrorKind::IndexOutOfRange);
}

TEST_P(Losses, RefuseWhatDoesNotFit) {
  EXPECT_EQ(kind_of([&] { mse_loss(x, select(y, 1, 0)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { mse_loss(x, target); }), ErrorKind::DTypeMismatch);
  EXPECT_EQ(kind_of([&] { cross_entropy(x, of({1, 2}, i64)); }), ErrorKind::ShapeMismatch);
  EXPECT_EQ(kind_of([&] { cross_entropy(x, target, {.label_smoothing = 2}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { huber_loss(x, y, {.delta = 0}); }), ErrorKind::InvalidArgument);
  EXPECT_EQ(kind_of([&] { binary_cross_entropy(x, y); }), ErrorKind::Domain);
  EXPECT_EQ(kind_of([&] { gaussian_nll_loss(x, y, y); }), ErrorKind::Domain);
  const Tensor square_ = ones({3, 3});
  EXPECT_EQ(kind_of([&] { gaussian_nll_loss(square_, square_, ones({3})); }), ErrorKind::ShapeMismatch) << "rows or columns";
  EXPECT_EQ(gaussian_nll_loss(square_, square_, ones({3, 1})).item<float>(), 0.0f);
  EXPECT_EQ(kind_of([&] { cross_entropy(x, Tensor()); }), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace votive
