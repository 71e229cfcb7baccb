// Rules of attention. Its numbers are those of the composition matmul(softmax(scale·matmul(q, kᵀ) + mask), v) in f32 (D14).
#include <cmath>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/matmul.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

void refuse(std::string_view op, const Argument& x, const Argument& y, std::string detail) {
  throw error_about(ErrorKind::ShapeMismatch, op, {x, y}).detail(format("{} and {}: {}", describe(x), describe(y), detail));
}

}  // namespace

Meta Attention::result(const Meta& q, const Meta& k, const Meta& v, const Meta& mask) const {
  const Argument a{"q", 1, q}, b{"k", 2, k}, c{"v", 3, v}, m{"mask", 4, mask};
  for (const Argument& x : {a, b, c}) {
    require_floating(info.name, x);
    if (x.meta.dtype == DType::f64) {
      throw error_about(ErrorKind::Unsupported, info.name, {x})
          .detail(describe(x))
          .accepted("f16, bf16, f32")
          .hint(format("Cast it, e.g. {}.to(f32)", x.name));
    }
  }
  require_same_dtype(info.name, a, b);
  require_same_dtype(info.name, a, c);
  if (mask.present && mask.dtype != DType::boolean) {
    require_floating(info.name, m);
    if (mask.dtype == DType::f64) {
      throw error_about(ErrorKind::DTypeMismatch, info.name, {m})
          .detail(describe(m))
          .accepted("bool, f16, bf16, f32")
          .hint("Cast it, e.g. mask.to(f32)");
    }
  }
  require_same_device(info.name, a, b);
  require_same_device(info.name, a, c);
  require_same_device(info.name, a, m);
  require_rank(info.name, a, 4, 4);
  require_rank(info.name, b, 4, 4);
  require_rank(info.name, c, 4, 4);
  if (q.shape[0] != k.shape[0]) refuse(info.name, a, b, format("batches {} and {}", q.shape[0], k.shape[0]));
  if (k.shape[0] != v.shape[0]) refuse(info.name, b, c, format("batches {} and {}", k.shape[0], v.shape[0]));
  if (k.shape[1] != v.shape[1]) refuse(info.name, b, c, format("{} and {} heads", k.shape[1], v.shape[1]));
  if (k.shape[1] == 0 ? q.shape[1] != 0 : q.shape[1] % k.shape[1] != 0) {
    refuse(info.name, a, b, format("{} query heads are no multiple of {} key heads", q.shape[1], k.shape[1]));
  }
  if (k.shape[2] != v.shape[2]) refuse(info.name, b, c, format("{} keys and {} values", k.shape[2], v.shape[2]));
  if (q.shape[3] != k.shape[3]) refuse(info.name, a, b, format("head sizes {} and {}", q.shape[3], k.shape[3]));
  if (mask.present) {
    const Meta scores{.shape = {q.shape[0], q.shape[1], q.shape[2], k.shape[2]}};
    if (require_broadcast(info.name, {"scores", 1, scores}, m) != scores.shape) {
      throw error_about(ErrorKind::ShapeMismatch, info.name, {m})
          .detail(format("{} does not broadcast to the scores {}", describe(m), to_string(scores.shape)));
    }
  }
  return {.dtype = q.dtype, .shape = {q.shape[0], q.shape[1], q.shape[2], v.shape[3]}, .device = q.device};
}

Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, AttentionOptions options) {
  Attention op{options.scale.value_or(1.0f), options.causal};
  const Meta y = op.result(q.meta(), k.meta(), v.meta(), mask.meta());
  // 1/√D as f32 division of 1 by the rounded root: both are exact operations on every machine
  if (!options.scale) op.scale = q.size(3) == 0 ? 1.0f : 1.0f / std::sqrt(static_cast<float>(q.size(3)));
  if (!mask.defined()) return apply(op, q, k, v, mask);
  const Tensor wide = mask.dtype() == DType::boolean ? mask : mask.to(DType::f32);
  return apply(op, q, k, v, broadcast_to(wide, {y.shape[0], y.shape[1], y.shape[2], k.size(2)}));
}

}  // namespace votive
