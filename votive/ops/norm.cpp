// Rules of softmax and the norms: floats in, the same dtype out, one rounding at the end (CONTRACT.md 4.1 and 4.2).
#include "votive/ops/norm.h"
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

void require_last_axis(std::string_view op, const Argument& x) { require_rank(op, x, 1); }

void require_epsilon(std::string_view op, float epsilon) {
  if (epsilon >= 0.0f) return;
  throw Error(ErrorKind::InvalidArgument, op).detail(format("epsilon = {}", epsilon)).accepted("0 and more");
}

}  // namespace

Meta Softmax::result(const Meta& x) const {
  require_plain(name(), {"x", 1, x});
  Meta y = x;
  if (!is_floating(x.dtype)) y.dtype = DType::f32;
  return y;
}

Meta RmsNorm::result(const Meta& x, const Meta& gamma) const {
  const Argument a{"x", 1, x}, g{"gamma", 2, gamma};
  require_floating(info.name, a);
  require_floating(info.name, g);
  require_same_dtype(info.name, a, g);
  require_same_device(info.name, a, g);
  require_last_axis(info.name, a);
  require_shape(info.name, g, {x.shape.back()});
  require_epsilon(info.name, epsilon);
  return x;
}

Meta LayerNorm::result(const Meta& x, const Meta& gamma, const Meta& beta) const {
  const Argument a{"x", 1, x}, g{"gamma", 2, gamma}, b{"beta", 3, beta};
  require_floating(info.name, a);
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_floating(info.name, weight);
    require_same_dtype(info.name, a, weight);
  }
  require_same_device(info.name, a, g);
  require_same_device(info.name, a, b);
  require_last_axis(info.name, a);
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_shape(info.name, weight, {x.shape.back()});
  }
  require_epsilon(info.name, epsilon);
  return x;
}

Tensors Softmax::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const ReduceOptions along{.axis = axis, .keep = true};
  const Tensor dy = b.dy().to(inner);
  const Tensor y = from_output() ? b.y() : softmax(b.x().to(inner), {.axis = axis});
  if (logarithm) return {(dy - y * sum(dy, along)).to(dtype)};
  return {(y * (dy - sum(y * dy, along))).to(dtype)};
}

namespace {

/// Sum over all axes but the last.
Tensor over_rows(const Tensor& x) { return sum(reshape(x, {-1, x.size(-1)}), {.axis = 0}); }

}  // namespace

// The gradient of x · rsqrt(mean(x²) + ε) · γ, step by step.
Tensors RmsNorm::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const Tensor x = b.x(0).to(inner), gamma = b.x(1).to(inner), dy = b.dy().to(inner);
  const ReduceOptions row{.axis = -1, .keep = true};
  const Tensor r = rsqrt(mean(square(x), row) + epsilon);
  Tensors gradients(2);
  if (b.wants(0)) {
    const Tensor dn = dy * gamma;
    const Tensor dv = sum(dn * x, row) * (r * r * r) * -0.5;
    gradients[0] = (dn * r + x * 2 * (dv / static_cast<double>(x.size(-1)))).to(dtype);
  }
  if (b.wants(1)) gradients[1] = over_rows(dy * (x * r)).to(dtype);
  return gradients;
}

// The gradient of (x − mean(x)) · rsqrt(var(x) + ε) · γ + β, step by step.
Tensors LayerNorm::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const Tensor x = b.x(0).to(inner), dy = b.dy().to(inner);
  const ReduceOptions row{.axis = -1, .keep = true};
  const Tensor c = x - mean(x, row);
  const Tensor s1 = sum(c, row), n = full({}, x.size(-1), inner, {.device = x.device()});
  const Tensor r = rsqrt((sum(square(c), row) - s1 * s1 / n) / n + epsilon);
  Tensors gradients(3);
  if (b.wants(0)) {
    const Tensor dn = b.meta(1).present ? dy * b.x(1).to(inner) : dy;
    const Tensor dv = sum(dn * c, row) * (r * r * r) * -0.5;
    const Tensor dc = dn * r + c * 2 * (dv / n);
    gradients[0] = (dc - mean(dc, row)).to(dtype);
  }
  if (b.wants(1)) gradients[1] = over_rows(dy * (c * r)).to(dtype);
  if (b.wants(2)) gradients[2] = over_rows(dy).to(dtype);
  return gradients;
}

namespace {

Tensor softmax_of(const Tensor& x, bool logarithm, SoftmaxOptions options) {
  Softmax op{0, logarithm};
  const Meta meta = x.meta();
  const Meta y = op.result(meta);
  op.axis = normalise_axis(op.name(), options.axis, meta.shape.rank());
  op.narrow = y.dtype == DType::f16 || y.dtype == DType::bf16;
  return apply(op, x.to(y.dtype));
}

}  // namespace

Tensor softmax(const Tensor& x, SoftmaxOptions options) { return softmax_of(x, false, options); }
Tensor log_softmax(const Tensor& x, SoftmaxOptions options) { return softmax_of(x, true, options); }
Tensor rms_norm(const Tensor& x, const Tensor& gamma, NormOptions options) { return apply(RmsNorm{options.epsilon}, x, gamma); }
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, NormOptions options) {
  return apply(LayerNorm{options.epsilon}, x, gamma, beta);
}

}  // namespace votive
