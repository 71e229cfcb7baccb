// How far predictions are from targets. Compositions of other operations, inner work in f32 (f64 for f64) and one rounding at the end, so their gradients
// come by themselves and can be differentiated again.
#pragma once

#include <cstdint>

#include "votive/core/tensor.h"

namespace votive {

/// What becomes of the losses of single elements: nothing, their mean, their sum, their sum divided by the size of the first axis.
enum class Reduction : std::uint8_t { none, mean, sum, batch_mean };

struct LossOptions {
  Reduction reduction = Reduction::mean;
};
/// (x − y)². x and y floating, of one shape. Class E.
/// Example: mse_loss(tensor({1, 2}), tensor({1, 4}))  // 2
Tensor mse_loss(const Tensor& x, const Tensor& y, LossOptions options = {});
/// |x − y|. x and y floating, of one shape. Class E.
/// Example: l1_loss(tensor({1, 2}), tensor({1, 4}))  // 1
Tensor l1_loss(const Tensor& x, const Tensor& y, LossOptions options = {});
struct SmoothL1Options {
  double beta = 1;
  Reduction reduction = Reduction::mean;
};
/// With d = |x − y|: d²/(2β) where d < β, else d − β/2; β = 0 is l1_loss. Class E.
/// Example: smooth_l1_loss(tensor({1, 2}), tensor({1, 4}))  // 0.75
Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, SmoothL1Options options = {});
struct HuberOptions {
  double delta = 1;
  Reduction reduction = Reduction::mean;
};
/// With d = |x − y|: d²/2 where d ≤ δ, else δ·(d − δ/2). Class E. Source: Huber 1964.
/// Example: huber_loss(tensor({1, 2}), tensor({1, 4}))  // 0.75
Tensor huber_loss(const Tensor& x, const Tensor& y, HuberOptions options = {});

struct ClassOptions {
  Tensor weights = {};               // [C], of the target's class
  std::int64_t ignore_index = -100;  // a target that counts for nothing
  double label_smoothing = 0;        // of cross_entropy: this share of the target goes to all classes alike
  Reduction reduction = Reduction::mean;
};
/// −log softmax(x)[target]: x [N, C, …] or [C] of floats, target [N, …] of class indices, or of x's shape with the classes' probabilities.
/// Class P. The mean divides by the weights of the targets that count, of probabilities by their number. Without any it is NaN.
/// Throws Error{IndexOutOfRange} for a target outside 0 … C − 1 that is not ignore_index, Error{ShapeMismatch, DTypeMismatch, InvalidArgument}.
/// Example: cross_entropy(tensor({{0, 0}}), tensor({1}, i64))  // 0.6931472
Tensor cross_entropy(const Tensor& x, const Tensor& target, const ClassOptions& options = {});
/// −x[target] of log probabilities, shapes as for cross_entropy with class indices. Class E.
/// Example: nll_loss(tensor({{-1, -2}}), tensor({1}, i64))  // 2
Tensor nll_loss(const Tensor& x, const Tensor& target, const ClassOptions& options = {});

struct BinaryOptions {
  Tensor weights = {};     // factors of the losses, broadcast to them
  Tensor pos_weight = {};  // of binary_cross_entropy_with_logits: factors of the positive part
  Reduction reduction = Reduction::mean;
};
/// −(y·log x + (1 − y)·log(1 − x)), logarithms at least −100. x and y floating, of one shape. Class P. Throws Error{Domain} for x outside [0, 1].
/// Example: binary_cross_entropy(tensor({0.5}), tensor({1}))  // 0.6931472
Tensor binary_cross_entropy(const Tensor& x, const Tensor& y, const BinaryOptions& options = {});
/// The same of sigmoid(x), finite for every finite x: (1 − y)·x + (1 + (p − 1)·y)·softplus(−x). Class P.
/// Example: binary_cross_entropy_with_logits(tensor({0}), tensor({1}))  // 0.6931472
Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& y, const BinaryOptions& options = {});
struct KlOptions {
  bool log_target = false;
  Reduction reduction = Reduction::mean;
};
/// y·(log y − x), x being log probabilities; with log_target exp(y)·(y − x). Class P. The divergence proper is Reduction::batch_mean.
/// Example: kl_div(tensor({0, 0}), tensor({1, 1}))  // 0
Tensor kl_div(const Tensor& x, const Tensor& y, KlOptions options = {});
struct PoissonOptions {
  bool log_input = true, full = false;
  double epsilon = 1e-8;
  Reduction reduction = Reduction::mean;
};
/// exp x − y·x, or x − y·log(x + ε) without log_input; full: plus Stirling's y·log y − y + log(2πy)/2 where y > 1. Class P.
/// Example: poisson_nll_loss(tensor({0}), tensor({2}))  // 1
Tensor poisson_nll_loss(const Tensor& x, const Tensor& y, PoissonOptions options = {});
struct GaussianOptions {
  bool full = false;
  double epsilon = 1e-6;
  Reduction reduction = Reduction::mean;
};
/// (log v + (x − y)²/v)/2, v = max(variance, ε); full: plus log(2π)/2. The variance broadcasts. Class P. Throws Error{Domain}
/// for a negative variance, Error{ShapeMismatch} where one per row and one per column could be meant.
/// Example: gaussian_nll_loss(tensor({1}), tensor({3}), tensor({1}))  // 2
Tensor gaussian_nll_loss(const Tensor& x, const Tensor& y, const Tensor& variance, GaussianOptions options = {});

struct MarginOptions {
  double margin = 0;
  Reduction reduction = Reduction::mean;
};
/// x where y = 1, max(0, margin − x) where y = −1. Class E. y of any number dtype; the margin is mostly 1.
/// Example: hinge_embedding_loss(tensor({0.25, 0.25}), tensor({1, -1}))  // 0.5
Tensor hinge_embedding_loss(const Tensor& x, const Tensor& y, MarginOptions options = {.margin = 1});
/// max(0, margin − y·(a − b)), y = 1 where a should be larger, else −1. Class E.
/// Example: margin_ranking_loss(tensor({1, 2}), tensor({2, 1}), tensor({1, 1}))  // 0.5
Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& y, MarginOptions options = {});
/// log(1 + exp(−y·x)), y = ±1. Class P.
/// Example: soft_margin_loss(tensor({0}), tensor({1}))  // 0.6931472
Tensor soft_margin_loss(const Tensor& x, const Tensor& y, LossOptions options = {});
struct SimilarityOptions {
  int axis = 1;
  double epsilon = 1e-8;
};
/// Σ a/max(‖a‖, ε) · b/max(‖b‖, ε) along an axis; a and b broadcast. Class E.
/// Example: cosine_similarity(tensor({{3, 4}}), tensor({{6, 8}}))  // [1]
Tensor cosine_similarity(const Tensor& a, const Tensor& b, SimilarityOptions options = {});
/// With c the cosine along the last axis: 1 − c where y = 1, max(0, c − margin) where y = −1. Class E.
/// Example: cosine_embedding_loss(tensor({{3, 4}}), tensor({{6, 8}}), tensor({-1}))  // 1
Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& y, MarginOptions options = {});
struct TripletOptions {
  double margin = 1, p = 2, epsilon = 1e-6;
  bool swap = false;  // also the distance of positive and negative, whichever is less
  Reduction reduction = Reduction::mean;
};
/// max(0, d(anchor, positive) − d(anchor, negative) + margin), d(a, b) = ‖a − b + ε‖ₚ along the last axis. Class E for p = 2.
/// Example: triplet_margin_loss(tensor({{0, 0}}), tensor({{0, 0}}), tensor({{9, 9}}))  // 0
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, TripletOptions options = {});
struct MultiMarginOptions {
  int p = 1;  // or 2
  double margin = 1;
  Tensor weights = {};  // [C], of the target's class
  Reduction reduction = Reduction::mean;
};
/// Σ over j ≠ t of max(0, margin − x[t] + x[j])ᵖ / C, x [N, C] or [C], target t [N] or []. Class E. Throws Error{IndexOutOfRange}.
/// Example: multi_margin_loss(tensor({{0, 0}}), tensor({1}, i64))  // 0.5
Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const MultiMarginOptions& options = {});
struct MultilabelOptions {
  Tensor weights = {};  // [C]
  Reduction reduction = Reduction::mean;
};
/// Mean over the last axis of binary_cross_entropy_with_logits. Class P.
/// Example: multilabel_soft_margin_loss(tensor({{0, 0}}), tensor({{1, 0}}))  // 0.6931472
Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& y, const MultilabelOptions& options = {});

struct CtcOptions {
  std::int64_t blank = 0;
  bool zero_infinity = false;  // 0 instead of ∞ where no path fits
  Reduction reduction = Reduction::mean;
};
/// −log of the sum of the probabilities of all paths that read as the target, in log space: x [T, N, C] log probabilities, targets [N, S], lengths [N] of
/// the inputs and sizes [N] of the targets, integers. Class P. The mean divides every loss by its target's size first. A target that does not fit is ∞.
/// Throws Error{IndexOutOfRange, InvalidArgument, ShapeMismatch, DTypeMismatch}. Source: Graves et al. 2006.
/// Example: ctc_loss(log_softmax(zeros({2, 1, 2})), tensor({{1}}, i64), tensor({2}, i64), tensor({1}, i64))  // 0.28768206
Tensor ctc_loss(const Tensor& x, const Tensor& targets, const Tensor& lengths, const Tensor& sizes, CtcOptions options = {});

}  // namespace votive
