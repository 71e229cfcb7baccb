// Rules of rotary positions, and the frequencies they turn at.
#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/ops/apply.h"
#include "votive/ops/attention.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

Meta Rope::result(const Meta& x, const Meta& positions, const Meta& frequencies) const {
  const Argument a{"x", 1, x}, p{"positions", 2, positions}, f{"frequencies", 3, frequencies};
  require_floating(info.name, a);
  require_index(info.name, p);
  require_floating(info.name, f);
  if (frequencies.dtype != DType::f32 && (frequencies.dtype != DType::f64 || x.dtype != DType::f64)) {
    throw error_about(ErrorKind::DTypeMismatch, info.name, {f})
        .detail(describe(f))
        .accepted(x.dtype == DType::f64 ? "f32, f64" : "f32")
        .hint("Cast them, e.g. frequencies.to(f32)");
  }
  require_same_device(info.name, a, p);
  require_same_device(info.name, a, f);
  require_rank(info.name, a, 4, 4);
  require_rank(info.name, p, 1, 2);
  require_rank(info.name, f, 1, 1);
  const Size B = x.shape[0], T = x.shape[2], D = x.shape[3];
  require_shape(info.name, p, positions.shape.rank() == 1 ? Shape{T} : Shape{B, T});
  if (frequencies.shape[0] > D / 2) {
    throw error_about(ErrorKind::ShapeMismatch, info.name, {a, f})
        .detail(format("{} turn {} pairs, and {} has {}", describe(f), frequencies.shape[0], describe(a), D / 2));
  }
  return x;
}

// x turns back by −θ. A frequency moves y along y turned by a quarter, at the speed of its position.
Tensors Rope::gradient(const Backward& b) const {
  const Tensor& dy = b.dy();
  const Tensor &positions = b.x(1), &frequencies = b.x(2);
  Tensors gradients(3);
  if (b.wants(0)) gradients[0] = rope(dy, positions, -frequencies, {.pairing = pairing});
  if (!b.wants(2)) return gradients;
  const DType inner = inner_dtype(dy.dtype());
  const Size pairs = frequencies.size(0);
  const Tensor y = rope(b.x(0).to(inner), positions, frequencies, {.pairing = pairing});
  const auto half = [&](const Tensor& x, Size which) {
    if (pairing == RopePairing::halves) return narrow(x, 3, which * pairs, pairs);
    return slice(narrow(x, 3, 0, 2 * pairs), {.axis = 3, .start = which, .step = 2});
  };
  const Tensor wide = dy.to(inner);
  const Tensor turning = half(wide, 1) * half(y, 0) - half(wide, 0) * half(y, 1);
  const Tensor at = positions.to(inner);
  const Tensor speed = at.rank() == 1 ? reshape(at, {at.size(0), 1}) : reshape(at, {at.size(0), 1, at.size(1), 1});
  gradients[2] = sum(turning * speed, {.axis = {0, 1, 2}}).to(frequencies.dtype());
  return gradients;
}

Tensor rope(const Tensor& x, const Tensor& positions, const Tensor& frequencies, RopeOptions options) {
  return apply(Rope{options.pairing}, x, positions, frequencies);
}

Tensor rope_frequencies(Size rotated, double base, CreateOptions options) {
  if (rotated < 0 || rotated % 2 != 0) {
    throw Error(ErrorKind::InvalidArgument, "rope_frequencies")
        .detail(format("{} elements do not form pairs", rotated))
        .accepted("even sizes");
  }
  if (!(base > 0.0) || base > 1.7976931348623157e308) {
    throw Error(ErrorKind::InvalidArgument, "rope_frequencies").detail(format("base = {}", base)).accepted("positive finite numbers");
  }
  if (rotated > (Size{1} << 24)) {
    throw Error(ErrorKind::InvalidArgument, "rope_frequencies").detail(format("{} elements", rotated)).accepted("up to 2^24 elements");
  }
  std::vector<float> frequencies(static_cast<std::size_t>(rotated / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(rotated);
    frequencies[i] = numerics::f64_to_f32(numerics::pow_positive_f64(base, exponent));
  }
  return from_host(std::span<const float>(frequencies), {rotated / 2}, DType::f32, options);
}

}  // namespace votive
