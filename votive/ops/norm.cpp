// Rules of softmax and the norms: floats in, the same dtype out, one rounding at the end (CONTRACT.md 4.1 and 4.2).
#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

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

namespace {

Tensor softmax_of(const Tensor& x, bool logarithm, SoftmaxOptions options) {
  Softmax op{0, logarithm};
  const Meta meta = x.meta();
  const Meta y = op.result(meta);
  op.axis = normalise_axis(op.name(), options.axis, meta.shape.rank());
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
