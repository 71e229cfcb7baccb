// Rules of softmax and the norms: floats in, the same dtype out, one rounding at the end (CONTRACT.md 4.1 and 4.2).
#include "votive/ops/norm.h"
#include <algorithm>
#include <span>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/few.h"
#include "votive/ops/ops.h"

namespace votive {

namespace {

void require_last_axis(std::string_view op, const Argument& x) { require_rank(op, x, 1); }

void require_epsilon(std::string_view op, float epsilon) {
  if (epsilon >= 0.0f) return;
  throw Error(ErrorKind::InvalidArgument, op).detail(text::format("epsilon = {}", epsilon)).accepted("0 and more");
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
  if (gamma.present) require_floating(info.name, g);
  require_same_dtype(info.name, a, g);
  require_same_device(info.name, a, g);
  require_last_axis(info.name, a);
  if (gamma.present) require_shape(info.name, g, {x.shape.back()});
  require_epsilon(info.name, epsilon);
  return x;
}

Meta LayerNorm::result(const Meta& x, const Meta& gamma, const Meta& beta) const {
  const Argument a{"x", 1, x}, g{"gamma", 2, gamma}, b{"beta", 3, beta};
  require_floating(name(), a);
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_floating(name(), weight);
    require_same_dtype(name(), a, weight);
  }
  require_same_device(name(), a, g);
  require_same_device(name(), a, b);
  require_last_axis(name(), a);
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_shape(name(), weight, {groups * weights_of(x.shape.back())});
  }
  require_epsilon(name(), epsilon);
  return x;
}

Meta BatchNorm::result(const Meta& x, const Meta& mean, const Meta& variance, const Meta& gamma, const Meta& beta) const {
  const Argument a{"x", 1, x}, m{"mean", 2, mean}, v{"variance", 3, variance}, g{"gamma", 4, gamma}, b{"beta", 5, beta};
  require_floating(info.name, a);
  for (const Argument& channel : {m, v, g, b}) {
    if (!channel.meta.present && channel.number > 3) continue;
    require_floating(info.name, channel);
    if (channel.meta.dtype != inner_dtype(x.dtype)) require_same_dtype(info.name, a, channel);
  }
  for (const Argument& channel : {m, v, g, b}) require_same_device(info.name, a, channel);
  require_rank(info.name, a, 2);
  for (const Argument& channel : {m, v, g, b}) {
    if (channel.meta.present) require_shape(info.name, channel, {x.shape[1]});
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

// The gradient of x · rsqrt(mean(x²) + ε) · γ, step by step.
Tensors RmsNorm::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const Size n = b.meta().shape.back();
  const Tensor x = b.x(0).to(inner), dy = b.dy().to(inner);
  const ReduceOptions row{.axis = -1, .keep = true};
  const Tensor r = rsqrt(mean(square(x), row) + epsilon);
  Tensors gradients(2);
  if (b.wants(0)) {
    const Tensor dn = b.meta(1).present ? dy * b.x(1).to(inner) : dy;
    const Tensor dv = multiply_no_nan(-0.5 * (r * r * r), sum(dn * x, row));
    gradients[0] = (dn * r + dv / static_cast<double>(n) * (2 * x)).to(dtype);
  }
  if (b.wants(1)) gradients[1] = sum(reshape(dy * (x * r), {n == 0 ? 0 : x.count() / n, n}), {.axis = 0}).to(dtype);
  return gradients;
}

// The gradient of (x − mean(x)) · rsqrt(var(x) + ε) · γ + β, step by step; x as [rows of a group, groups, weights, neighbours of a weight].
Tensors LayerNorm::gradient(const Backward& b) const {
  const Meta& meta = b.meta();
  const DType dtype = meta.dtype, inner = inner_dtype(dtype);
  const Size n = meta.shape.back(), per_group = weights_of(n), rows = n == 0 ? 0 : count(meta.shape) / n;
  const Shape parts{groups == 0 ? 0 : rows / groups, groups, per_group, per_group == 0 ? 0 : n / per_group};
  const Tensor x = reshape(b.x(0).to(inner), parts), dy = reshape(b.dy().to(inner), parts);
  const ReduceOptions row{.axis = {2, 3}, .keep = true}, others{.axis = {0, 3}};
  const Tensor c = x - mean(x, row);
  const Tensor r = rsqrt(var(x, {.axis = {2, 3}, .keep = true, .correction = 0}) + epsilon);
  Tensors gradients(3);
  if (b.wants(0)) {
    const Tensor dn = b.meta(1).present ? dy * reshape(b.x(1).to(inner), {1, groups, per_group, 1}) : dy;
    const Tensor dv = multiply_no_nan(-0.5 * (r * r * r), sum(dn * c, row));
    const Tensor dc = dn * r;
    const Tensor dx = dc + c * 2 * (dv / static_cast<double>(n)) - mean(dc, row);
    gradients[0] = reshape(dx, meta.shape).to(dtype);
  }
  if (b.wants(1)) gradients[1] = reshape(sum(dy * (c * r), others), b.meta(1).shape).to(dtype);
  if (b.wants(2)) gradients[2] = reshape(sum(dy, others), b.meta(2).shape).to(dtype);
  return gradients;
}

Tensors BatchNorm::gradient(const Backward& b) const {
  const Meta& meta = b.meta();
  const DType inner = inner_dtype(meta.dtype);
  Shape channel = Shape::filled(meta.shape.rank(), 1);
  channel[1] = meta.shape[1];
  std::vector<int> list;
  for (int axis = 0; axis < meta.shape.rank(); ++axis) {
    if (axis != 1) list.push_back(axis);
  }
  const ReduceOptions others{.axis = Axes(list)};
  const Tensor dy = b.dy().to(inner), c = b.x(0).to(inner) - reshape(b.x(1).to(inner), channel);
  const Tensor r = rsqrt(reshape(b.x(2).to(inner), channel) + epsilon);
  const Tensor dn = b.meta(3).present ? dy * reshape(b.x(3).to(inner), channel) : dy;
  Tensors gradients(5);
  if (b.wants(0)) gradients[0] = (dn * r).to(meta.dtype);
  if (b.wants(1)) gradients[1] = sum(-(dn * r), others).to(b.meta(1).dtype);
  if (b.wants(2)) gradients[2] = (multiply_no_nan(reshape(-0.5 * (r * r * r), b.meta(2).shape), sum(dn * c, others))).to(b.meta(2).dtype);
  if (b.wants(3)) gradients[3] = sum(dy * (c * r), others).to(b.meta(3).dtype);
  if (b.wants(4)) gradients[4] = sum(dy, others).to(b.meta(4).dtype);
  return gradients;
}

namespace {

Tensor softmax_of(const Tensor& x, bool logarithm, SoftmaxOptions options) {
  Softmax op{0, logarithm};
  if (auto* const loop = few_loop<Softmax>(logarithm, x); loop != nullptr && options.axis == -1 && x.rank() > 0) {
    op.axis = x.rank() - 1;
    op.narrow = x.dtype() == DType::f16 || x.dtype() == DType::bf16;
    return apply_few(
        op,
        [&] {
          Tensor result = Tensor::allocate_like(x);
          const Size n = x.shape().back(), rows = n == x.count() ? 1 : x.count() / n;
          loop(x.first(), result.mutable_first(), rows, n);
          return result;
        },
        x);
  }
  const Meta y = op.result(x.meta());
  op.axis = normalise_axis(op.name(), options.axis, y.shape.rank());
  op.narrow = y.dtype == DType::f16 || y.dtype == DType::bf16;
  return x.dtype() == y.dtype ? apply(op, x) : apply(op, x.to(y.dtype));
}

}  // namespace

Tensor softmax(const Tensor& x, SoftmaxOptions options) { return softmax_of(x, false, options); }
Tensor log_softmax(const Tensor& x, SoftmaxOptions options) { return softmax_of(x, true, options); }
Tensor softmin(const Tensor& x, SoftmaxOptions options) {
  return as_one("softmin", [&] {
    require_plain("softmin", {"x", 1, x.meta()});
    const int axis = normalise_axis("softmin", options.axis, x.rank());
    return softmax(-(is_floating(x.dtype()) ? x : x.to(DType::f32)), {.axis = axis});
  });
}

namespace {

/// x is floating, gamma and beta, where present, are of its dtype; all on one device.
void require_dtypes_and_devices(std::string_view op, const Argument& x, const Argument& gamma, const Argument& beta) {
  require_floating(op, x);
  for (const Argument& weight : {gamma, beta}) {
    if (weight.meta.present) require_floating(op, weight);
    require_same_dtype(op, x, weight);
  }
  require_same_device(op, x, gamma);
  require_same_device(op, x, beta);
}

/// The shape of the trailing axes that are normalised together; every error a user can make is thrown here, in words of the call.
Shape normalised_shape(std::string_view op, const Tensor& x, const Tensor& gamma, const Tensor& beta, const NormOptions& options) {
  const Meta meta = x.meta(), scale = gamma.meta(), shift = beta.meta();
  const Argument a{"x", 1, meta}, g{"gamma", 2, scale}, b{"beta", 3, shift};
  require_dtypes_and_devices(op, a, g, b);
  if (options.axes < 1) throw Error(ErrorKind::InvalidArgument, op).detail(text::format("axes = {}", options.axes)).accepted("1 and more");
  require_rank(op, a, options.axes);
  const Shape trailing(std::span(meta.shape.end() - options.axes, static_cast<std::size_t>(options.axes)));
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_shape(op, weight, trailing);
  }
  require_epsilon(op, options.epsilon);
  return trailing;
}

/// [rows, n] where n elements are normalised together.
Tensor in_rows(const Tensor& x, Size n) { return reshape(x, {n == 0 ? 0 : x.count() / n, n}); }
Tensor flat(const Tensor& weight) { return weight.defined() ? reshape(weight, {weight.count()}) : weight; }

/// Groups of channels of one sample, normalised together.
Tensor grouped_norm(std::string_view op, const Tensor& x, Size groups, const Tensor& gamma, const Tensor& beta, float epsilon) {
  const Meta meta = x.meta(), scale = gamma.meta(), shift = beta.meta();
  const Argument a{"x", 1, meta}, g{"gamma", 3, scale}, b{"beta", 4, shift};
  require_dtypes_and_devices(op, a, g, b);
  require_rank(op, a, 2);
  const Size B = meta.shape[0], C = meta.shape[1];
  if (groups < 0) groups = C;
  for (const Argument& weight : {g, b}) {
    if (weight.meta.present) require_shape(op, weight, {C});
  }
  if (groups < 1 ? C != 0 : C % groups != 0) {
    throw error_about(ErrorKind::InvalidArgument, op, {a})
        .detail(text::format("groups = {} of {}, which has {} channels", groups, describe(a), C))
        .accepted("divisors of the number of channels");
  }
  require_epsilon(op, epsilon);
  if (groups < 1) groups = 1;
  Size spatial = 1;
  for (int axis = 2; axis < meta.shape.rank(); ++axis) spatial *= meta.shape[axis];
  const LayerNorm norm{epsilon, op, groups, C / groups};
  return reshape(apply(norm, reshape(x, {B * groups, C / groups * spatial}), gamma, beta), meta.shape);
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& gamma, NormOptions options) {
  const RmsNorm norm{options.epsilon};
  if (options.axes == 1) return apply(norm, x, gamma);
  const Size n = count(normalised_shape("rms_norm", x, gamma, {}, options));
  return reshape(apply(norm, in_rows(x, n), flat(gamma)), x.shape());
}

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, NormOptions options) {
  const LayerNorm norm{options.epsilon};
  if (options.axes == 1) return apply(norm, x, gamma, beta);
  const Size n = count(normalised_shape("layer_norm", x, gamma, beta, options));
  return reshape(apply(norm, in_rows(x, n), flat(gamma), flat(beta)), x.shape());
}

Tensor group_norm(const Tensor& x, Size groups, const Tensor& gamma, const Tensor& beta, NormOptions options) {
  if (groups < 1) throw Error(ErrorKind::InvalidArgument, "group_norm").detail(text::format("groups = {}", groups)).accepted("1 and more");
  return grouped_norm("group_norm", x, groups, gamma, beta, options.epsilon);
}

Tensor instance_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, NormOptions options) {
  return grouped_norm("instance_norm", x, -1, gamma, beta, options.epsilon);
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma, const Tensor& beta,
                  NormOptions options) {
  return apply(BatchNorm{options.epsilon}, x, mean, variance, gamma, beta);
}

BatchNormalised batch_norm_training(const Tensor& x, const Tensor& gamma, const Tensor& beta, NormOptions options) {
  return as_one("batch_norm_training", [&] {
    const BatchNorm norm{options.epsilon};
    const Meta meta = x.meta();
    require_floating("batch_norm_training", {"x", 1, meta});
    require_rank("batch_norm_training", {"x", 1, meta}, 2);
    const Meta channel{.dtype = inner_dtype(meta.dtype), .shape = {meta.shape[1]}, .device = meta.device};
    norm.result(meta, channel, channel, gamma.meta(), beta.meta());
    std::vector<int> others;
    for (int axis = 0; axis < meta.shape.rank(); ++axis) {
      if (axis != 1) others.push_back(axis);
    }
    const Tensor wide = x.to(channel.dtype);
    const Tensor average = mean(wide, {.axis = Axes(others)});
    const Tensor variance = var(wide, {.axis = Axes(others), .correction = 0});
    return BatchNormalised{apply(norm, x, average, variance, gamma, beta), average, variance};
  });
}

Tensor local_response_norm(const Tensor& x, Size size, LocalResponseOptions options) {
  constexpr std::string_view op = "local_response_norm";
  return as_one(op, [&] {
    const Meta meta = x.meta();
    require_floating(op, {"x", 1, meta});
    require_rank(op, {"x", 1, meta}, 2);
    if (size < 1) throw Error(ErrorKind::InvalidArgument, op).detail(text::format("size = {}", size)).accepted("1 and more");
    const Tensor wide = x.to(inner_dtype(meta.dtype));
    const Size C = meta.shape[1];
    const Size before = std::min(size / 2, C), after = std::min((size - 1) / 2, C);
    Shape edge = meta.shape;
    const auto nothing = [&](Size channels) {
      edge[1] = channels;
      return zeros(edge, wide.dtype(), {.device = x.device()});
    };
    const Tensor padded = concat({nothing(before), square(wide), nothing(after)}, 1);
    Tensor total = narrow(padded, 1, 0, C);
    for (Size i = 1; i <= before + after && i < 2 * C; ++i) total = total + narrow(padded, 1, i, C);
    const Tensor scale = total / static_cast<double>(size) * options.alpha + options.k;
    return (wide / pow(scale, options.beta)).to(meta.dtype);
  });
}

Tensor normalize(const Tensor& x, const NormalizeOptions& options) {
  constexpr std::string_view op = "normalize";
  return as_one(op, [&] {
    const Meta meta = x.meta();
    require_floating(op, {"x", 1, meta});
    options.axis.mask(op, meta.shape.rank());
    require_epsilon(op, options.epsilon);
    const Tensor wide = x.to(inner_dtype(meta.dtype));
    return (wide / maximum(norm(wide, {.p = options.p, .axis = options.axis, .keep = true}), options.epsilon)).to(meta.dtype);
  });
}

}  // namespace votive
