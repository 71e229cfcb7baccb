// Losses of pairs: predictions and targets of one shape, or margins between them.
#include "votive/ops/loss.h"

#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/as_one.h"
#include "votive/ops/index.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

Compared compared(std::string_view op, const Tensor& x, const Tensor& y, std::string_view x_name, std::string_view y_name, int y_number) {
  const Meta first = x.meta(), second = y.meta();
  const Argument a{x_name, 1, first}, b{y_name, y_number, second};
  require_floating(op, a);
  require_floating(op, b);
  const DType dtype = require_common_dtype(op, a, b);
  require_same_device(op, a, b);
  if (first.shape != second.shape) {
    // broadcasting [N] against [N, 1] would compare everything with everything
    throw error_about(ErrorKind::ShapeMismatch, op, {a, b})
        .detail(text::format("{} and {} differ in shape", describe(a), describe(b)))
        .hint(text::format("If that is meant, broadcast_to({}, {})", y_name, "shape"));
  }
  const DType inner = inner_dtype(dtype);
  return {x.to(inner), y.to(inner), dtype};
}

Tensor factors(std::string_view op, std::string_view name, int number, const Tensor& w, const Tensor& x, const Shape& shape, DType inner) {
  if (!w.defined()) return w;
  const Meta meta = w.meta(), other = x.meta();
  const Meta target{.dtype = inner, .shape = shape, .device = other.device};
  const Argument a{name, number, meta};
  require_number(op, a);
  require_same_device(op, {"x", 1, other}, a);
  if (require_broadcast(op, {"losses", 1, target}, a) != shape)
    throw error_about(ErrorKind::ShapeMismatch, op, {a}).detail(text::format("{} does not broadcast to {}", describe(a), to_string(shape)));
  return w.to(inner);
}

Tensor reduced(std::string_view op, const Tensor& loss, Reduction reduction) {
  switch (reduction) {
    case Reduction::none: return loss;
    case Reduction::mean: return mean(loss);
    case Reduction::sum: return sum(loss);
    case Reduction::batch_mean: break;
  }
  if (loss.rank() == 0) throw Error(ErrorKind::InvalidArgument, op).detail("batch_mean of a loss without axes");
  return sum(loss) / static_cast<double>(loss.size(0));
}

Tensor checked_classes(std::string_view op, const Tensor& target, Size C, const std::int64_t* ignored) {
  Tensor classes = target.to(DType::i64);
  if (ignored != nullptr) classes = where(eq(target, *ignored), 0, classes);
  if (classes.count() == 0) return classes;
  if (min(classes).item<std::int64_t>() >= 0 && max(classes).item<std::int64_t>() < C) return classes;
  const std::vector<std::int64_t> values = classes.to_host<std::int64_t>();
  Size at = 0;
  while (values[static_cast<std::size_t>(at)] >= 0 && values[static_cast<std::size_t>(at)] < C) ++at;
  refuse_index({.call = op, .argument = "target", .number = 2, .axis = 1, .n = C, .from_end = false}, target, at,
               values[static_cast<std::size_t>(at)]);
}

Tensor mse_loss(const Tensor& x, const Tensor& y, LossOptions options) {
  return as_one("mse_loss", [&] {
    const auto [a, b, dtype] = compared("mse_loss", x, y);
    return reduced("mse_loss", square(a - b), options.reduction).to(dtype);
  });
}

Tensor l1_loss(const Tensor& x, const Tensor& y, LossOptions options) {
  return as_one("l1_loss", [&] {
    const auto [a, b, dtype] = compared("l1_loss", x, y);
    return reduced("l1_loss", abs(a - b), options.reduction).to(dtype);
  });
}

namespace {

/// A finite number above 0, or 0 where that is allowed too.
void require_threshold(std::string_view op, std::string_view name, double value, bool zero_too) {
  if (std::isfinite(value) && (zero_too ? value >= 0 : value > 0)) return;
  throw Error(ErrorKind::InvalidArgument, op)
      .detail(text::format("{} = {}", name, value))
      .accepted(zero_too ? "0 and positive numbers" : "positive numbers");
}

/// Whether any element of a bool tensor is true, now.
bool holds_anywhere(const Tensor& condition) { return any(condition.detach()).item<bool>(); }

constexpr double log_two_pi = 1.8378770664093453;

}  // namespace

Tensor smooth_l1_loss(const Tensor& x, const Tensor& y, SmoothL1Options options) {
  constexpr std::string_view op = "smooth_l1_loss";
  return as_one(op, [&] {
    const auto [a, b, dtype] = compared(op, x, y);
    require_threshold(op, "beta", options.beta, true);
    const Tensor d = abs(a - b);
    if (options.beta == 0) return reduced(op, d, options.reduction).to(dtype);
    const Tensor near = minimum(d, options.beta);  // the same formula on both sides
    const Tensor loss = near * (d - near * 0.5) / options.beta;
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor huber_loss(const Tensor& x, const Tensor& y, HuberOptions options) {
  constexpr std::string_view op = "huber_loss";
  return as_one(op, [&] {
    const auto [a, b, dtype] = compared(op, x, y);
    require_threshold(op, "delta", options.delta, false);
    const Tensor d = abs(a - b);
    const Tensor near = minimum(d, options.delta);  // the same formula on both sides
    const Tensor loss = near * (d - near * 0.5);
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor binary_cross_entropy(const Tensor& x, const Tensor& y, const BinaryOptions& options) {
  constexpr std::string_view op = "binary_cross_entropy";
  return as_one(op, [&] {
    const auto [p, t, dtype] = compared(op, x, y);
    const Tensor w = factors(op, "weights", 3, options.weights, x, p.shape(), p.dtype());
    if (options.pos_weight.defined())
      throw Error(ErrorKind::InvalidArgument, op).detail("pos_weight is of binary_cross_entropy_with_logits").hint("Use weights");
    if (holds_anywhere(lt(p, 0)) || holds_anywhere(gt(p, 1)))
      throw Error(ErrorKind::Domain, op)
          .arg("x", 1)
          .detail("x has elements outside [0, 1]")
          .hint("Of logits take binary_cross_entropy_with_logits");
    Tensor loss = -(t * maximum(log(p), -100) + (1 - t) * maximum(log1p(-p), -100));
    if (w.defined()) loss = loss * w;
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor binary_cross_entropy_with_logits(const Tensor& x, const Tensor& y, const BinaryOptions& options) {
  constexpr std::string_view op = "binary_cross_entropy_with_logits";
  return as_one(op, [&] {
    const auto [z, t, dtype] = compared(op, x, y);
    const Tensor w = factors(op, "weights", 3, options.weights, x, z.shape(), z.dtype());
    const Tensor positive = factors(op, "pos_weight", 4, options.pos_weight, x, z.shape(), z.dtype());
    Tensor loss = softplus(-z);
    if (positive.defined()) loss = ((positive - 1) * t + 1) * loss;
    loss = (1 - t) * z + loss;
    if (w.defined()) loss = loss * w;
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor kl_div(const Tensor& x, const Tensor& y, KlOptions options) {
  return as_one("kl_div", [&] {
    const auto [p, t, dtype] = compared("kl_div", x, y);
    Tensor loss;
    if (options.log_target) {
      loss = exp(t) * (t - p);
    } else {
      const Tensor some = gt(t, 0);
      loss = where(some, t * log(where(some, t, 1)), 0) - t * p;
    }
    return reduced("kl_div", loss, options.reduction).to(dtype);
  });
}

Tensor poisson_nll_loss(const Tensor& x, const Tensor& y, PoissonOptions options) {
  constexpr std::string_view op = "poisson_nll_loss";
  return as_one(op, [&] {
    const auto [p, t, dtype] = compared(op, x, y);
    require_threshold(op, "epsilon", options.epsilon, true);
    Tensor loss = options.log_input ? exp(p) - t * p : p - t * log(p + options.epsilon);
    if (options.full) {
      const Tensor many = gt(t, 1), n = where(many, t, 1);
      loss = loss + where(many, n * log(n) - n + (log(n) + log_two_pi) * 0.5, 0);
    }
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor gaussian_nll_loss(const Tensor& x, const Tensor& y, const Tensor& variance, GaussianOptions options) {
  constexpr std::string_view op = "gaussian_nll_loss";
  return as_one(op, [&] {
    const auto [p, t, dtype] = compared(op, x, y);
    const Meta given = variance.meta();
    require_floating(op, {"variance", 3, given});
    require_threshold(op, "epsilon", options.epsilon, false);
    const Shape& losses = p.shape();
    if (given.shape.rank() > 0 && given.shape.rank() + 1 == losses.rank() && given.shape.back() == losses.back() &&
        std::equal(given.shape.begin(), given.shape.end(), losses.begin())) {
      // one per row or one per column: PyTorch takes the first, broadcasting the second
      throw error_about(ErrorKind::ShapeMismatch, op, {{"x", 1, x.meta()}, {"variance", 3, given}})
          .detail(text::format("a variance {} may be one per row or one per column of {}", describe(given), to_string(losses)))
          .hint("Write unsqueeze(variance, -1) for one per row, unsqueeze(variance, 0) for one per column");
    }
    const Tensor v = factors(op, "variance", 3, variance, x, p.shape(), p.dtype());
    if (holds_anywhere(lt(v, 0))) throw Error(ErrorKind::Domain, op).arg("variance", 3).detail("the variance has negative elements");
    const Tensor bounded = maximum(v, options.epsilon);
    Tensor loss = (log(bounded) + square(p - t) / bounded) * 0.5;
    if (options.full) loss = loss + 0.5 * log_two_pi;
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

namespace {

/// y of signs beside x: any number dtype, broadcast to `shape`.
Tensor signs(std::string_view op, int number, const Tensor& y, const Tensor& x, const Shape& shape, DType inner) {
  require_present(op, {"y", number, y.meta()});
  return factors(op, "y", number, y, x, shape, inner);
}

struct Floating {
  Tensor x;
  DType dtype;
};
Floating widened(std::string_view op, const Tensor& x) {
  const Meta meta = x.meta();
  require_floating(op, {"x", 1, meta});
  return {x.to(inner_dtype(meta.dtype)), meta.dtype};
}

}  // namespace

Tensor hinge_embedding_loss(const Tensor& x, const Tensor& y, MarginOptions options) {
  constexpr std::string_view op = "hinge_embedding_loss";
  return as_one(op, [&] {
    const auto [d, dtype] = widened(op, x);
    const Tensor sign = signs(op, 2, y, x, d.shape(), d.dtype());
    const Tensor loss = where(ne(sign, 1), relu(options.margin - d), 0) + where(ne(sign, -1), d, 0);
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor margin_ranking_loss(const Tensor& a, const Tensor& b, const Tensor& y, MarginOptions options) {
  constexpr std::string_view op = "margin_ranking_loss";
  return as_one(op, [&] {
    const auto [p, q, dtype] = compared(op, a, b, "a", "b");
    const Tensor sign = signs(op, 3, y, a, p.shape(), p.dtype());
    return reduced(op, relu(options.margin - sign * (p - q)), options.reduction).to(dtype);
  });
}

Tensor soft_margin_loss(const Tensor& x, const Tensor& y, LossOptions options) {
  constexpr std::string_view op = "soft_margin_loss";
  return as_one(op, [&] {
    const auto [z, dtype] = widened(op, x);
    const Tensor sign = signs(op, 2, y, x, z.shape(), z.dtype());
    return reduced(op, softplus(-(sign * z)), options.reduction).to(dtype);
  });
}

namespace {

Tensor cosine(const Tensor& a, const Tensor& b, int axis, double epsilon) {
  const auto unit = [&](const Tensor& v) { return v / maximum(norm(v, {.axis = axis, .keep = true}), epsilon); };
  return sum(unit(a) * unit(b), {.axis = axis});
}

}  // namespace

Tensor cosine_similarity(const Tensor& a, const Tensor& b, SimilarityOptions options) {
  constexpr std::string_view op = "cosine_similarity";
  return as_one(op, [&] {
    const Meta first = a.meta(), second = b.meta();
    const Argument p{"a", 1, first}, q{"b", 2, second};
    require_floating(op, p);
    require_floating(op, q);
    const DType dtype = require_common_dtype(op, p, q), inner = inner_dtype(dtype);
    require_same_device(op, p, q);
    const Shape shape = require_broadcast(op, p, q);
    const int axis = normalise_axis(op, options.axis, shape.rank());
    require_threshold(op, "epsilon", options.epsilon, true);
    return cosine(broadcast_to(a.to(inner), shape), broadcast_to(b.to(inner), shape), axis, options.epsilon).to(dtype);
  });
}

Tensor cosine_embedding_loss(const Tensor& a, const Tensor& b, const Tensor& y, MarginOptions options) {
  constexpr std::string_view op = "cosine_embedding_loss";
  return as_one(op, [&] {
    const auto [p, q, dtype] = compared(op, a, b, "a", "b");
    const Meta meta = a.meta();
    require_rank(op, {"a", 1, meta}, 1);
    const Tensor c = cosine(p, q, p.rank() - 1, 1e-8);
    const Tensor sign = signs(op, 3, y, a, c.shape(), p.dtype());
    const Tensor loss = where(eq(sign, 1), 1 - c, 0) + where(eq(sign, -1), relu(c - options.margin), 0);
    return reduced(op, loss, options.reduction).to(dtype);
  });
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, TripletOptions options) {
  constexpr std::string_view op = "triplet_margin_loss";
  return as_one(op, [&] {
    const auto [a, p, dtype] = compared(op, anchor, positive, "anchor", "positive");
    const auto [unused, n, other] = compared(op, anchor, negative, "anchor", "negative", 3);
    const Meta meta = anchor.meta();
    require_rank(op, {"anchor", 1, meta}, 1);
    require_threshold(op, "epsilon", options.epsilon, true);
    const auto distance = [&](const Tensor& u, const Tensor& v) { return norm(u - v + options.epsilon, {.p = options.p, .axis = -1}); };
    Tensor far = distance(a, n);
    if (options.swap) far = minimum(far, distance(p, n));
    return reduced(op, relu(distance(a, p) - far + options.margin), options.reduction).to(dtype);
  });
}

Tensor multilabel_soft_margin_loss(const Tensor& x, const Tensor& y, const MultilabelOptions& options) {
  constexpr std::string_view op = "multilabel_soft_margin_loss";
  return as_one(op, [&] {
    const auto [z, t, dtype] = compared(op, x, y);
    const Meta meta = x.meta();
    require_rank(op, {"x", 1, meta}, 1);
    const Tensor w = factors(op, "weights", 3, options.weights, x, z.shape(), z.dtype());
    Tensor loss = (1 - t) * z + softplus(-z);
    if (w.defined()) loss = loss * w;
    return reduced(op, mean(loss, {.axis = -1}), options.reduction).to(dtype);
  });
}

}  // namespace votive
