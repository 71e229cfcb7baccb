// Names of compare_opinfo.py for many elements to one, and for scans.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static Axes axes(const Call& c) { return c.has("axes") ? Axes(c.axes()) : Axes(); }
static ReduceOptions options(const Call& c) { return {.axis = axes(c), .keep = c.flag("keep")}; }
static VarianceOptions variance(const Call& c) { return {.axis = axes(c), .keep = c.flag("keep"), .correction = c.real("correction")}; }
static AxisOptions one_axis(const Call& c) {
  return {.axis = c.has("axis") ? std::optional<int>(c.axis()) : std::nullopt, .keep = c.flag("keep")};
}

#define REDUCTION(name)                                                   \
  {                                                                       \
#name, [](const Call& c) { return Tensors{name(c.x(), options(c))}; } \
  }

static const Table::value_type rows[] = {
    REDUCTION(sum), REDUCTION(mean),      REDUCTION(prod),          REDUCTION(min),    REDUCTION(max),     REDUCTION(any),
    REDUCTION(all), REDUCTION(logsumexp), REDUCTION(count_nonzero), REDUCTION(nansum), REDUCTION(nanmean),
};

#undef REDUCTION

/// What PyTorch has a name for and one writes here in a line.
static void add_compositions(Table& table) {
  table["dist"] = [](const Call& c) { return Tensors{norm(c.x(0) - c.x(1), {.p = c.real("p", 2)})}; };
  table["cdist"] = [](const Call& c) {
    return Tensors{norm(unsqueeze(c.x(0), -2) - unsqueeze(c.x(1), -3), {.p = c.real("p", 2), .axis = -1})};
  };
  table["pairwise_distance"] = [](const Call& c) {
    return Tensors{norm(c.x(0) - c.x(1) + c.real("epsilon"), {.p = c.real("p", 2), .axis = -1, .keep = c.flag("keep")})};
  };
  table["cov"] = [](const Call& c) {
    const bool one = c.x().rank() < 2 || c.x().size(0) == 1;
    const Tensor x = c.x().rank() < 2 ? reshape(c.x(), {1, -1}) : c.x();
    const Tensor d = x - mean(x, {.axis = -1, .keep = true});
    const Tensor y = matmul(d, transpose(d)) / (static_cast<double>(x.size(-1)) - c.real("correction", 1));
    return Tensors{one ? reshape(y, {}) : y};
  };
  table["trapezoid"] = [](const Call& c) {
    const Tensor y = c.x(0), x = c.x(1);
    const Size n = y.size(c.axis());
    const Tensor pairs = narrow(y, c.axis(), 1, n - 1) + narrow(y, c.axis(), 0, n - 1);
    if (!x.defined()) return Tensors{sum(pairs, {.axis = c.axis()}) * (c.real("step", 1) / 2)};
    const int axis = x.rank() == 1 ? 0 : c.axis();
    const Size m = x.size(axis);
    Tensor steps = narrow(x, axis, 1, m - 1) - narrow(x, axis, 0, m - 1);
    if (x.rank() == 1 && y.rank() > 1) {
      Shape shape = Shape::filled(y.rank(), 1);
      shape[normalise_axis("trapezoid", c.axis(), y.rank())] = m - 1;
      steps = reshape(steps, shape);
    }
    return Tensors{sum(pairs * steps, {.axis = c.axis()}) / 2};
  };
}

void add_reductions(Table& table) {
  table.insert(std::begin(rows), std::end(rows));
  table["argmax"] = [](const Call& c) { return Tensors{argmax(c.x(), one_axis(c))}; };
  table["argmin"] = [](const Call& c) { return Tensors{argmin(c.x(), one_axis(c))}; };
  table["max_with_index"] = [](const Call& c) {
    return Tensors{max(c.x(), {.axis = c.axis(), .keep = c.flag("keep")}), argmax(c.x(), one_axis(c))};
  };
  table["min_with_index"] = [](const Call& c) {
    return Tensors{min(c.x(), {.axis = c.axis(), .keep = c.flag("keep")}), argmin(c.x(), one_axis(c))};
  };
  table["aminmax"] = [](const Call& c) {
    const MinMax y = aminmax(c.x(), options(c));
    return Tensors{y.min, y.max};
  };
  table["var"] = [](const Call& c) { return Tensors{var(c.x(), variance(c))}; };
  table["std"] = [](const Call& c) { return Tensors{std(c.x(), variance(c))}; };
  table["var_mean"] = [](const Call& c) { return Tensors{var(c.x(), variance(c)), mean(c.x(), options(c))}; };
  table["std_mean"] = [](const Call& c) { return Tensors{std(c.x(), variance(c)), mean(c.x(), options(c))}; };
  table["norm"] = [](const Call& c) { return Tensors{norm(c.x(), {.p = c.real("p", 2), .axis = axes(c), .keep = c.flag("keep")})}; };
  table["cumsum"] = [](const Call& c) { return Tensors{cumsum(c.x(), c.axis())}; };
  table["cumprod"] = [](const Call& c) { return Tensors{cumprod(c.x(), c.axis())}; };
  table["logcumsumexp"] = [](const Call& c) { return Tensors{logcumsumexp(c.x(), c.axis())}; };
  table["cummax"] = [](const Call& c) {
    const ScannedExtreme y = cummax(c.x(), c.axis());
    return Tensors{y.values, y.indices};
  };
  table["cummin"] = [](const Call& c) {
    const ScannedExtreme y = cummin(c.x(), c.axis());
    return Tensors{y.values, y.indices};
  };
  table["diff"] = [](const Call& c) { return Tensors{diff(c.x(), static_cast<int>(c.integer("n", 1)), c.axis())}; };
  add_compositions(table);
}

}  // namespace votive::opinfo
