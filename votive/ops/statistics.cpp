// Rules of the reductions that take more than one pass (CONTRACT.md 3.4), and those that are made of others.
#include <cmath>
#include <limits>

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/as_one.h"
#include "votive/ops/norm.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

namespace votive {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

std::string_view Statistic::name() const {
  constexpr std::string_view names[] = {"var", "std", "norm", "logsumexp"};
  return names[static_cast<int>(kind)];
}

Meta Statistic::result(const Meta& x) const {
  const Argument argument{"x", 1, x};
  if (kind == StatisticKind::logsumexp) {
    require_plain(name(), argument);
  } else {
    require_number(name(), argument);
  }
  if (!(std::fabs(correction) < infinity))
    throw Error(ErrorKind::InvalidArgument, name()).detail(text::format("correction = {}", correction));
  Meta y = x;
  if (!is_floating(x.dtype)) y.dtype = DType::f32;
  y.shape = reduced_shape(x.shape, axes, keep);
  return y;
}

Tensors Statistic::gradient(const Backward& b) const {
  const DType dtype = b.meta().dtype, inner = inner_dtype(dtype);
  const Tensor x = b.x().to(inner);
  const Shape kept = reduced_shape(x.shape(), axes, true);
  const Tensor dy = reshape(b.dy().to(inner), kept);
  std::vector<int> list;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if ((axes >> axis & 1) != 0) list.push_back(axis);
  }
  const ReduceOptions over{.axis = Axes(list), .keep = true};
  const double n = static_cast<double>(joined_count(x.shape(), axes)) - correction;
  Tensor dx;
  switch (kind) {
    case StatisticKind::var: dx = (x - mean(x, over)) * 2 * (dy / n); break;
    case StatisticKind::std:
      // 0 where all elements are equal, though the root has no slope there
      dx = multiply_no_nan(dy / std(x, {.axis = Axes(list), .keep = true, .correction = correction}) / n, x - mean(x, over));
      break;
    case StatisticKind::norm: dx = xdivy(x, norm(x, {.axis = Axes(list), .keep = true})) * dy; break;
    case StatisticKind::logsumexp: {
      const Tensor y = logsumexp(x, over);
      dx = exp(x - where(lt(abs(y), infinity), y, 0)) * dy;
      break;
    }
  }
  return {dx.to(dtype)};
}

namespace {

Tensor statistic(Statistic op, const Tensor& x, const Axes& axes) {
  const Meta y = op.result(x.meta());
  op.axes = axes.mask(op.name(), x.rank());
  return apply(op, x.to(y.dtype));
}

/// x for an operation of one final rounding: f32 for halves and integers, f64 as it is.
Tensor widened(const Tensor& x) { return x.to(inner_dtype(x.dtype())); }

Tensor variance(StatisticKind kind, const Tensor& x, const VarianceOptions& options) {
  const Statistic op{kind, 0, options.keep, options.correction.value_or(0)};
  op.result(x.meta());
  if (!options.correction) {
    throw Error(ErrorKind::InvalidArgument, op.name())
        .detail("no correction is given, and conventions differ")
        .hint(text::format("Write {0}(x, {{.correction = 1}}) to divide by n - 1, {0}(x, {{.correction = 0}}) to divide by n", op.name()));
  }
  return statistic(op, x, options.axis);
}

}  // namespace

Tensor var(const Tensor& x, const VarianceOptions& options) { return variance(StatisticKind::var, x, options); }
Tensor std(const Tensor& x, const VarianceOptions& options) { return variance(StatisticKind::std, x, options); }
Tensor logsumexp(const Tensor& x, const ReduceOptions& options) {
  if (options.dtype) throw Error(ErrorKind::InvalidArgument, "logsumexp").detail("dtype: it is x's").hint("Cast x, e.g. x.to(f32)");
  return statistic({StatisticKind::logsumexp, 0, options.keep}, x, options.axis);
}

Tensor norm(const Tensor& x, const NormOf& options) {
  return as_one("norm", [&] {
    const Statistic euclidean{StatisticKind::norm, 0, options.keep};
    const double p = options.p;
    if (p == 2) return statistic(euclidean, x, options.axis);
    const DType dtype = euclidean.result(x.meta()).dtype;
    const std::uint32_t axes = options.axis.mask("norm", x.rank());
    if (std::isnan(p)) throw Error(ErrorKind::InvalidArgument, "norm").detail("p is NaN");
    const ReduceOptions over{.axis = options.axis, .keep = options.keep};
    const Shape shape = reduced_shape(x.shape(), axes, options.keep);
    if (joined_count(x.shape(), axes) == 0 && (p >= 0 || count(shape) == 0)) return zeros(shape, dtype, {.device = x.device()});
    if (joined_count(x.shape(), axes) == 0) {
      const Meta meta = x.meta();
      throw error_about(ErrorKind::EmptyReduction, "norm", {{"x", 1, meta}}).detail(text::format("{} for p = {}", describe(meta), p));
    }
    const Tensor wide = widened(x);
    if (p == 0) return sum(where(eq(wide, wide), abs(sign(wide)), 1), over).to(dtype);
    const Tensor magnitude = abs(wide);
    if (p == 1) return sum(magnitude, over).to(dtype);
    if (p == infinity) return max(magnitude, over).to(dtype);
    if (p == -infinity) return min(magnitude, over).to(dtype);
    return pow(sum(pow(magnitude, p), over), 1 / p).to(dtype);
  });
}

MinMax aminmax(const Tensor& x, const ReduceOptions& options) {
  return as_one("aminmax", [&] {
    require_plain("aminmax", {"x", 1, x.meta()});
    options.axis.mask("aminmax", x.rank());
    return MinMax{min(x, options), max(x, options)};
  });
}

Tensor count_nonzero(const Tensor& x, const ReduceOptions& options) {
  return as_one("count_nonzero", [&] {
    require_plain("count_nonzero", {"x", 1, x.meta()});
    options.axis.mask("count_nonzero", x.rank());
    return sum(x.detach().to(DType::boolean), {.axis = options.axis, .keep = options.keep});
  });
}

namespace {

/// Of sums: then no element was NaN, and without it they are what they are with it.
bool holds_no_nan(const Tensor& sums) { return !is_floating(sums.dtype()) || all(eq(sums, sums)).item<bool>(); }

}  // namespace

Tensor nansum(const Tensor& x, const ReduceOptions& options) {
  return as_one("nansum", [&] {
    require_plain("nansum", {"x", 1, x.meta()});
    options.axis.mask("nansum", x.rank());
    const Tensor plain = sum(x, options);
    if (holds_no_nan(plain)) return plain;
    return sum(where(eq(x, x), x, 0), options);
  });
}

Tensor nanmean(const Tensor& x, const ReduceOptions& options) {
  return as_one("nanmean", [&] {
    require_plain("nanmean", {"x", 1, x.meta()});
    options.axis.mask("nanmean", x.rank());
    const ReduceOptions over{.axis = options.axis, .keep = options.keep};
    if (is_floating(x.dtype()) && options.dtype && !is_floating(*options.dtype)) {  // what is NaN would be 0 there
      const Tensor present = eq(x, x);
      return sum(where(present, x, 0), options).to(DType::f32) / sum(present, over).to(DType::f32);
    }
    const Tensor plain = mean(x, options);
    if (holds_no_nan(plain)) return plain;
    const Tensor value = options.dtype ? x.to(*options.dtype) : x;
    const Tensor present = eq(value, value);
    const Tensor wide = where(present, widened(value), 0);
    return (sum(wide, over) / sum(present, over).to(wide.dtype())).to(value.dtype());
  });
}

}  // namespace votive
