// Losses against classes and label sequences: cross entropy, negative log likelihood, margins between classes, CTC.
#include <limits>

#include "votive/base/text.h"
#include "votive/ops/as_one.h"
#include "votive/ops/index.h"
#include "votive/ops/loss.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// x [N, C, …] or [C], target without the axis of classes.
struct Classified {
  int axis;  // of the classes
  Size C;
  Shape losses;
};
Classified classified(std::string_view op, const Meta& x) {
  require_floating(op, {"x", 1, x});
  require_rank(op, {"x", 1, x}, 1);
  Classified result{x.shape.rank() == 1 ? 0 : 1, 0, x.shape};
  result.C = x.shape[result.axis];
  result.losses.erase(result.axis);
  return result;
}

void require_classes(std::string_view op, const Meta& x, const Meta& target, const Shape& losses) {
  require_index(op, {"target", 2, target});
  require_same_device(op, {"x", 1, x}, {"target", 2, target});
  require_shape(op, {"target", 2, target}, losses);
}

Tensor class_weights(std::string_view op, const Tensor& weights, const Meta& x, Size C, DType inner) {
  if (!weights.defined()) return weights;
  const Meta meta = weights.meta();
  const Argument w{"weights", 3, meta};
  require_floating(op, w);
  require_same_device(op, {"x", 1, x}, w);
  require_shape(op, w, {C});
  return weights.to(inner);
}

/// weights [C] so that they broadcast along the axis of classes.
Tensor along(const Tensor& weights, int axis, int rank) {
  Shape shape = Shape::filled(rank, 1);
  shape[axis] = weights.count();
  return reshape(weights, shape);
}

/// What a target's loss counts for: its class's weight, 0 where it is ignored.
struct Counted {
  Tensor classes, weight;
};
Counted counted(std::string_view op, const Tensor& target, Size C, const Tensor& weights, std::int64_t ignored, DType inner) {
  const Tensor classes = checked_classes(op, target, C, &ignored);
  const Tensor counts = ne(target, ignored);
  if (!weights.defined()) return {classes, counts.to(inner)};
  return {classes, where(counts, reshape(index_select(weights, reshape(classes, {classes.count()})), classes.shape()), 0)};
}

Tensor picked(const Tensor& x, const Tensor& classes, int axis) { return squeeze(gather(x, unsqueeze(classes, axis), axis), axis); }

Tensor weighted(std::string_view op, const Tensor& loss, const Tensor& weight, Reduction reduction) {
  if (reduction == Reduction::mean) return sum(loss) / sum(weight);
  return reduced(op, loss, reduction);
}

}  // namespace

Tensor nll_loss(const Tensor& x, const Tensor& target, const ClassOptions& options) {
  constexpr std::string_view op = "nll_loss";
  return as_one(op, [&] {
    const Meta meta = x.meta();
    const auto [axis, C, losses] = classified(op, meta);
    require_classes(op, meta, target.meta(), losses);
    const DType inner = inner_dtype(meta.dtype);
    const Tensor weights = class_weights(op, options.weights, meta, C, inner);
    if (options.label_smoothing != 0) throw Error(ErrorKind::InvalidArgument, op).detail("label_smoothing is of cross_entropy");
    const auto [classes, weight] = counted(op, target, C, weights, options.ignore_index, inner);
    // a choice, not a product: an ignored −∞ counts for nothing
    const Tensor loss = where(ne(target, options.ignore_index), -picked(x.to(inner), classes, axis) * weight, 0);
    return weighted(op, loss, weight, options.reduction).to(meta.dtype);
  });
}

Tensor cross_entropy(const Tensor& x, const Tensor& target, const ClassOptions& options) {
  constexpr std::string_view op = "cross_entropy";
  return as_one(op, [&] {
    const Meta meta = x.meta(), to = target.meta();
    const auto [axis, C, losses] = classified(op, meta);
    const DType inner = inner_dtype(meta.dtype);
    require_present(op, {"target", 2, to});
    const bool probabilities = is_floating(to.dtype);
    if (probabilities) {
      require_same_device(op, {"x", 1, meta}, {"target", 2, to});
      require_shape(op, {"target", 2, to}, meta.shape);
    } else {
      require_classes(op, meta, to, losses);
    }
    const Tensor weights = class_weights(op, options.weights, meta, C, inner);
    const double smoothing = options.label_smoothing;
    if (!(smoothing >= 0 && smoothing <= 1))
      throw Error(ErrorKind::InvalidArgument, op).detail(text::format("label_smoothing = {}", smoothing)).accepted("0 to 1");
    const Tensor log_p = log_softmax(x.to(inner), {.axis = axis});
    const Tensor per_class = weights.defined() ? along(weights, axis, meta.shape.rank()) : Tensor();
    if (probabilities) {
      Tensor t = target.to(inner);
      if (smoothing != 0) t = t * (1 - smoothing) + smoothing / static_cast<double>(C);
      const Tensor loss = -sum(per_class.defined() ? log_p * t * per_class : log_p * t, {.axis = axis});
      return reduced(op, loss, options.reduction).to(meta.dtype);
    }
    const auto [classes, weight] = counted(op, target, C, weights, options.ignore_index, inner);
    const Tensor counts = ne(target, options.ignore_index);
    Tensor loss = where(counts, -picked(log_p, classes, axis) * weight, 0);
    if (smoothing != 0) {
      const Tensor all = -sum(per_class.defined() ? log_p * per_class : log_p, {.axis = axis});
      loss = loss * (1 - smoothing) + where(counts, all, 0) * (smoothing / static_cast<double>(C));
    }
    return weighted(op, loss, weight, options.reduction).to(meta.dtype);
  });
}

Tensor multi_margin_loss(const Tensor& x, const Tensor& target, const MultiMarginOptions& options) {
  constexpr std::string_view op = "multi_margin_loss";
  return as_one(op, [&] {
    const Meta meta = x.meta();
    const auto [axis, C, losses] = classified(op, meta);
    require_classes(op, meta, target.meta(), losses);
    require_rank(op, {"x", 1, meta}, 1, 2);
    if (options.p != 1 && options.p != 2)
      throw Error(ErrorKind::InvalidArgument, op).detail(text::format("p = {}", options.p)).accepted("1, 2");
    const DType inner = inner_dtype(meta.dtype);
    const Tensor weights = class_weights(op, options.weights, meta, C, inner);
    const Tensor classes = unsqueeze(checked_classes(op, target, C), axis);
    const Tensor wide = x.to(inner);
    Tensor loss = relu(wide - gather(wide, classes, axis) + options.margin);
    if (options.p == 2) loss = square(loss);
    loss = where(eq(arange(0, C, 1, DType::i64, {.device = x.device()}), classes), 0, loss);
    loss = sum(loss, {.axis = axis}) / static_cast<double>(C);
    if (weights.defined()) loss = loss * reshape(index_select(weights, reshape(classes, {classes.count()})), loss.shape());
    return reduced(op, loss, options.reduction).to(meta.dtype);
  });
}

// α over the labels with blanks between them, one step of time after the other. Before time 0 the path stands at the first blank with probability 1.
Tensor ctc_loss(const Tensor& x, const Tensor& targets, const Tensor& lengths, const Tensor& sizes, CtcOptions options) {
  constexpr std::string_view op = "ctc_loss";
  return as_one(op, [&] {
    const Meta meta = x.meta(), label = targets.meta(), input = lengths.meta(), size = sizes.meta();
    const Argument a{"x", 1, meta}, t{"targets", 2, label}, l{"lengths", 3, input}, s{"sizes", 4, size};
    require_floating(op, a);
    for (const Argument& argument : {t, l, s}) require_index(op, argument);
    for (const Argument& argument : {t, l, s}) require_same_device(op, a, argument);
    require_rank(op, a, 3, 3);
    require_rank(op, t, 2, 2);
    const Size T = meta.shape[0], N = meta.shape[1], C = meta.shape[2], S = label.shape[1];
    require_shape(op, t, {N, S});
    require_shape(op, l, {N});
    require_shape(op, s, {N});
    if (options.blank < 0 || options.blank >= C)
      throw Error(ErrorKind::InvalidArgument, op)
          .detail(text::format("blank = {} of {} classes", options.blank, C))
          .limit(text::format("0..{}", C - 1));
    const auto require_at_most = [&](const Argument& argument, const Tensor& numbers, Size limit) {
      for (const std::int64_t n : numbers.to(DType::i64).to_host<std::int64_t>()) {
        if (n >= 0 && n <= limit) continue;
        throw error_about(ErrorKind::InvalidArgument, op, {argument})
            .detail(text::format("{} has {}", describe(argument), n))
            .limit(text::format("0..{}", limit));
      }
    };
    require_at_most(l, lengths, T);
    require_at_most(s, sizes, S);
    const CreateOptions here{.device = x.device()};
    const auto positions = [&](Size n) { return arange(0, n, 1, DType::i64, here); };
    const Tensor n_labels = reshape(sizes.to(DType::i64), {N, 1});
    const Tensor labels = checked_classes(op, where(lt(positions(S), n_labels), targets.to(DType::i64), options.blank), C);

    const DType inner = inner_dtype(meta.dtype);
    const Size L = 2 * S + 1;
    const Tensor blanks = full({N, S, 1}, options.blank, DType::i64, here);
    const Tensor path =
        concat({reshape(concat({blanks, unsqueeze(labels, 2)}, 2), {N, 2 * S}), full({N, 1}, options.blank, DType::i64, here)}, 1);
    // from a label to the next one past the blank between them, unless they are equal
    const Tensor skips =
        L < 3 ? full({N, L}, false, DType::boolean, here)
              : concat({full({N, 2}, false, DType::boolean, here), logical_and(ne(narrow(path, 1, 2, L - 2), options.blank),
                                                                               ne(narrow(path, 1, 2, L - 2), narrow(path, 1, 0, L - 2)))},
                       1);
    const Tensor emitted = gather(x.to(inner), broadcast_to(unsqueeze(path, 0), {T, N, L}), 2);
    const Tensor impossible = full({N, 1}, -infinity, inner, here);
    const auto moved = [&](const Tensor& alpha, Size by) {
      if (by >= L) return broadcast_to(impossible, {N, L});
      return concat({broadcast_to(impossible, {N, by}), narrow(alpha, 1, 0, L - by)}, 1);
    };
    const Tensor duration = reshape(lengths.to(DType::i64), {N, 1});
    Tensor alpha = where(broadcast_to(eq(positions(L), 0), {N, L}), zeros({}, inner, here), impossible);
    for (Size time = 0; time < T; ++time) {
      const Tensor step = logsumexp(stack({alpha, moved(alpha, 1), where(skips, moved(alpha, 2), impossible)}, 0), {.axis = 0});
      alpha = where(lt(full({}, time, DType::i64, here), duration), step + select(emitted, 0, time), alpha);
    }
    const Tensor at_end = logical_and(ge(positions(L), n_labels * 2 - 1), le(positions(L), n_labels * 2));
    Tensor loss = -logsumexp(where(at_end, alpha, impossible), {.axis = 1});
    if (options.zero_infinity) loss = where(eq(loss, infinity), 0, loss);
    if (options.reduction == Reduction::mean) loss = loss / maximum(reshape(n_labels, {N}), 1).to(inner);
    return reduced(op, loss, options.reduction).to(meta.dtype);
  });
}

}  // namespace votive
