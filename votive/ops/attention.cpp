// Rules of attention. Its numbers are those of the composition matmul(softmax(scale·matmul(q, kᵀ) + mask), v) in f32, f64 for f64 (D14).
#include <cmath>
#include <limits>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/attention.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

void refuse(std::string_view op, const Argument& x, const Argument& y, const std::string& detail) {
  throw error_about(ErrorKind::ShapeMismatch, op, {x, y}).detail(text::format("{} and {}: {}", describe(x), describe(y), detail));
}

}  // namespace

Meta Attention::result(const Meta& q, const Meta& k, const Meta& v, const Meta& mask, const Meta& slopes) const {
  const Argument a{"q", 1, q}, b{"k", 2, k}, c{"v", 3, v}, m{"mask", 4, mask}, l{"slopes", 5, slopes};
  for (const Argument& x : {a, b, c}) require_floating(info.name, x);
  require_same_dtype(info.name, a, b);
  require_same_dtype(info.name, a, c);
  for (const Argument& x : {m, l}) {
    if (!x.meta.present || (x.number == 4 && x.meta.dtype == DType::boolean)) continue;
    require_floating(info.name, x);
    if (x.meta.dtype == DType::f64 && q.dtype != DType::f64) {
      throw error_about(ErrorKind::DTypeMismatch, info.name, {x})
          .detail(text::format("{} beside {}", describe(x), describe(a)))
          .accepted(x.number == 4 ? "bool, f16, bf16, f32" : "f16, bf16, f32")
          .hint(text::format("Cast it, e.g. {}.to(f32)", x.name));
    }
  }
  require_same_device(info.name, a, b);
  require_same_device(info.name, a, c);
  require_same_device(info.name, a, m);
  require_same_device(info.name, a, l);
  require_rank(info.name, a, 4, 4);
  require_rank(info.name, b, 4, 4);
  require_rank(info.name, c, 4, 4);
  if (q.shape[0] != k.shape[0]) refuse(info.name, a, b, text::format("batches {} and {}", q.shape[0], k.shape[0]));
  if (k.shape[0] != v.shape[0]) refuse(info.name, b, c, text::format("batches {} and {}", k.shape[0], v.shape[0]));
  if (k.shape[1] != v.shape[1]) refuse(info.name, b, c, text::format("{} and {} heads", k.shape[1], v.shape[1]));
  if (k.shape[1] == 0 ? q.shape[1] != 0 : q.shape[1] % k.shape[1] != 0) {
    refuse(info.name, a, b, text::format("{} query heads are no multiple of {} key heads", q.shape[1], k.shape[1]));
  }
  if (k.shape[2] != v.shape[2]) refuse(info.name, b, c, text::format("{} keys and {} values", k.shape[2], v.shape[2]));
  if (q.shape[3] != k.shape[3]) refuse(info.name, a, b, text::format("head sizes {} and {}", q.shape[3], k.shape[3]));
  if (mask.present) {
    const Meta scores{.shape = {q.shape[0], q.shape[1], q.shape[2], k.shape[2]}};
    if (require_broadcast(info.name, {"scores", 1, scores}, m) != scores.shape) {
      throw error_about(ErrorKind::ShapeMismatch, info.name, {m})
          .detail(text::format("{} does not broadcast to the scores {}", describe(m), to_string(scores.shape)));
    }
  }
  if (slopes.present) require_shape(info.name, l, {q.shape[1]});
  if (!(softcap >= 0.0f) || !std::isfinite(softcap))
    throw Error(ErrorKind::InvalidArgument, info.name)
        .detail(text::format("softcap = {}", softcap))
        .accepted("0 (none) and positive numbers");
  if (window < 0)
    throw Error(ErrorKind::InvalidArgument, info.name).detail(text::format("window = {}", window)).accepted("0 (none) and more");
  return {.dtype = q.dtype, .shape = {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, .device = q.device};
}

namespace {

/// How far key s is ahead of query t, i64 [T, S].
Tensor steps_ahead(Size T, Size S, Device device) {
  const CreateOptions here{.device = device};
  return arange(0, S, 1, DType::i64, here) - reshape(arange(S - T, S, 1, DType::i64, here), {T, 1});
}

}  // namespace

// The composition's own gradient, with its probabilities computed again. Where a key takes no part, its gradients are 0 whatever lies behind the mask.
Tensors Attention::gradient(const Backward& step) const {
  const Meta &q_meta = step.meta(0), &k_meta = step.meta(1);
  const Size B = q_meta.shape[0], H = q_meta.shape[1], T = q_meta.shape[2], D = q_meta.shape[3];
  const Size K = k_meta.shape[1], S = k_meta.shape[2], E = step.meta(2).shape[3];
  const bool has_mask = step.meta(3).present, has_slopes = step.meta(4).present;
  const DType inner = inner_dtype(q_meta.dtype);
  const Size rows = K == 0 ? 0 : H / K * T;  // of one key head
  const Shape scores_shape{B, H, T, S}, grouped{B, K, rows, S};
  const ReduceOptions last{.axis = -1, .keep = true};

  const Tensor q = reshape(step.x(0).to(inner), {B, K, rows, D}), dy = reshape(step.dy().to(inner), {B, K, rows, E});
  Tensor k = step.x(1).to(inner), v = step.x(2).to(inner);
  const Tensor ahead = causal || window > 0 || has_slopes ? steps_ahead(T, S, q_meta.device) : Tensor();
  Tensor allowed;  // absent: every key
  const auto restrict_to = [&](const Tensor& keys) { allowed = allowed.defined() ? logical_and(allowed, keys) : keys; };
  if (causal) restrict_to(le(ahead, 0));
  if (window > 0) restrict_to(lt(abs(ahead), window));
  if (has_mask) restrict_to(step.meta(3).dtype == DType::boolean ? step.x(3) : ne(step.x(3), -std::numeric_limits<double>::infinity()));
  const Tensor zero = zeros({}, inner, {.device = q_meta.device});
  if (allowed.defined()) {
    allowed = broadcast_to(allowed, scores_shape);
    // a key that no query sees may hold NaN, which 0 · NaN would let out
    const Tensor seen = reshape(any(reshape(allowed, grouped), {.axis = 2}), {B, K, S, 1});
    k = where(seen, k, zero);
    v = where(seen, v, zero);
  }

  Tensor x = reshape(matmul(q, transpose(k)), scores_shape) * scale, capped;
  if (softcap != 0) x = (capped = tanh(x / softcap)) * softcap;
  if (has_slopes) x = x - reshape(step.x(4), {H, 1, 1}) * abs(ahead).to(inner);
  if (has_mask && step.meta(3).dtype != DType::boolean) x = x + step.x(3);
  if (allowed.defined()) x = where(allowed, x, full({}, -std::numeric_limits<double>::infinity(), inner, {.device = q_meta.device}));
  Tensor p = softmax(x);
  if (allowed.defined()) p = where(allowed, p, zero);

  const Tensor p_rows = reshape(p, grouped);
  const Tensor dv = matmul(transpose(p_rows), dy);
  Tensor dp = reshape(matmul(dy, transpose(v)), scores_shape);
  if (allowed.defined()) dp = where(allowed, dp, zero);
  Tensor dx = p * (dp - sum(p * dp, last));
  Tensors gradients(5);
  if (step.wants(3)) gradients[3] = dx;
  if (step.wants(4)) gradients[4] = sum(-(dx * abs(ahead).to(inner)), {.axis = {0, 2, 3}});
  if (softcap != 0) dx = dx * (1 - square(capped));
  const Tensor ds = reshape(dx * scale, grouped);
  if (step.wants(0)) gradients[0] = reshape(matmul(ds, k), q_meta.shape).to(q_meta.dtype);
  if (step.wants(1)) gradients[1] = matmul(transpose(ds), q).to(q_meta.dtype);
  if (step.wants(2)) gradients[2] = dv.to(q_meta.dtype);
  return gradients;
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const AttentionOptions& options) {
  const FloatEnvironment environment;
  Attention op{options.scale.value_or(1.0f), options.causal, options.softcap, options.window};
  const Tensor& slopes = options.slopes;
  const Meta y = op.result(q.meta(), k.meta(), v.meta(), mask.meta(), slopes.meta());
  // 1/√D as f32 division of 1 by the rounded root: both are exact operations on every machine
  if (!options.scale) op.scale = q.size(3) == 0 ? 1.0f : 1.0f / std::sqrt(static_cast<float>(q.size(3)));
  const DType inner = inner_dtype(y.dtype);
  Tensor wide = mask;
  if (mask.defined()) {
    if (mask.dtype() != DType::boolean) wide = mask.to(inner);
    wide = broadcast_to(wide, {y.shape[0], y.shape[1], y.shape[2], k.size(2)});
  }
  return apply(op, q, k, v, wide, slopes.defined() ? slopes.to(inner) : slopes);
}

}  // namespace votive
