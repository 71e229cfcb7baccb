// Rules of rotary positions, and the frequencies they turn at.
#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/ops/apply.h"
#include "votive/ops/attention.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"

namespace votive {

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
        .detail(text::format("{} turn {} pairs, and {} has {}", describe(f), frequencies.shape[0], describe(a), D / 2));
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

namespace {

/// base^(−2i/R) for every pair, after the checks that all the frequencies share.
std::vector<double> unscaled(std::string_view op, Size rotated, double base) try {
  if (rotated < 0 || rotated % 2 != 0)
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} elements do not form pairs", rotated)).accepted("even sizes");
  if (!(base > 0.0) || base > 1.7976931348623157e308)
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("base = {}", base)).accepted("positive finite numbers");
  if (rotated > (Size{1} << 24))
    throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} elements", rotated)).accepted("up to 2^24 elements");
  std::vector<double> frequencies(static_cast<std::size_t>(rotated / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = numerics::pow_positive_f64(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotated));
  return frequencies;
} catch (const std::bad_alloc&) { detail::refuse_memory(op); }

Tensor rounded(const std::vector<double>& frequencies, const CreateOptions& options) try {
  const FloatEnvironment environment;
  std::vector<float> values;
  for (const double f : frequencies) values.push_back(numerics::f64_to_f32(f));
  return from_host(std::span<const float>(values), {static_cast<Size>(values.size())}, DType::f32, options);
} catch (const std::bad_alloc&) { detail::refuse_memory("rope_frequencies"); }

void require_at_least(std::string_view op, std::string_view name, double value, double least) {
  if (value >= least && value <= 1.7976931348623157e308) return;
  throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} = {}", name, value)).accepted(text::format("{} and more", least));
}

/// The base at which the slowest pair turns `factor` times slower and the fastest as before.
double stretched(Size rotated, double factor, double base) {
  if (rotated <= 2) return base;
  return base * numerics::pow_positive_f64(factor, static_cast<double>(rotated) / static_cast<double>(rotated - 2));
}

constexpr double two_pi = 6.283185307179586;

}  // namespace

Tensor rope_frequencies(Size rotated, double base, CreateOptions options) {
  const FloatEnvironment environment;
  return rounded(unscaled("rope_frequencies", rotated, base), options);
}

Tensor rope_frequencies_linear(Size rotated, double factor, double base, CreateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "rope_frequencies_linear";
  std::vector<double> frequencies = unscaled(op, rotated, base);
  require_at_least(op, "factor", factor, 1);
  for (double& f : frequencies) f = f / factor;
  return rounded(frequencies, options);
}

Tensor rope_frequencies_ntk(Size rotated, double factor, double base, CreateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "rope_frequencies_ntk";
  unscaled(op, 0, base);
  require_at_least(op, "factor", factor, 1);
  return rounded(unscaled(op, rotated, stretched(rotated, factor, base)), options);
}

Tensor rope_frequencies_dynamic(Size rotated, DynamicRope scaling, double base, CreateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "rope_frequencies_dynamic";
  unscaled(op, 0, base);
  require_at_least(op, "factor", scaling.factor, 1);
  require_at_least(op, "trained", static_cast<double>(scaling.trained), 1);
  require_at_least(op, "length", static_cast<double>(scaling.length), 0);
  const double times = scaling.length <= scaling.trained ? 1.0 : static_cast<double>(scaling.length) / static_cast<double>(scaling.trained);
  const double factor = times == 1.0 ? 1.0 : scaling.factor * times - (scaling.factor - 1.0);
  return rounded(unscaled(op, rotated, factor == 1.0 ? base : stretched(rotated, factor, base)), options);
}

Tensor rope_frequencies_llama3(Size rotated, Llama3Rope scaling, double base, CreateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "rope_frequencies_llama3";
  std::vector<double> frequencies = unscaled(op, rotated, base);
  require_at_least(op, "factor", scaling.factor, 1);
  require_at_least(op, "trained", static_cast<double>(scaling.trained), 1);
  if (!(scaling.low > 0.0 && scaling.low < scaling.high && scaling.high < 1e300))
    throw Error(ErrorKind::InvalidArgument, op)
        .detail(text::format("low = {}, high = {}", scaling.low, scaling.high))
        .accepted("0 < low < high");
  for (double& f : frequencies) {
    const double turns = static_cast<double>(scaling.trained) * f / two_pi;  // within the length it was trained on
    if (turns > scaling.high) continue;
    const double kept = turns < scaling.low ? 0.0 : (turns - scaling.low) / (scaling.high - scaling.low);
    f = (1.0 - kept) * f / scaling.factor + kept * f;
  }
  return rounded(frequencies, options);
}

Tensor rope_frequencies_yarn(Size rotated, YarnRope scaling, double base, CreateOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "rope_frequencies_yarn";
  std::vector<double> frequencies = unscaled(op, rotated, base);
  require_at_least(op, "factor", scaling.factor, 1);
  require_at_least(op, "trained", static_cast<double>(scaling.trained), 1);
  if (!(scaling.slow > 0.0 && scaling.slow < scaling.fast && scaling.fast < 1e300))
    throw Error(ErrorKind::InvalidArgument, op)
        .detail(text::format("slow = {}, fast = {}", scaling.slow, scaling.fast))
        .accepted("0 < slow < fast");
  if (!(base > 1.0)) throw Error(ErrorKind::InvalidArgument, op).detail(text::format("base = {}", base)).accepted("numbers above 1");
  const double pairs = static_cast<double>(rotated) / 2.0;
  // the pair, not always whole, that turns so often within the length it was trained on
  const auto pair_of = [&](double turns) {
    return pairs * numerics::log_f64(static_cast<double>(scaling.trained) / (turns * two_pi)) / numerics::log_f64(base);
  };
  double first = numerics::floor_f64(pair_of(scaling.fast)), last = numerics::ceil_f64(pair_of(scaling.slow));
  first = first < 0.0 ? 0.0 : first;
  last = last > static_cast<double>(rotated) - 1.0 ? static_cast<double>(rotated) - 1.0 : last;
  if (first == last) last = last + 0.001;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    double slowed = (static_cast<double>(i) - first) / (last - first);
    slowed = slowed < 0.0 ? 0.0 : slowed > 1.0 ? 1.0 : slowed;
    frequencies[i] = frequencies[i] / scaling.factor * slowed + frequencies[i] * (1.0 - slowed);
  }
  return rounded(frequencies, options);
}

double yarn_attention_factor(double factor) { return factor <= 1.0 ? 1.0 : 0.1 * numerics::log_f64(factor) + 1.0; }

}  // namespace votive
