// Names of compare_opinfo.py for many elements to one, and for scans.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static ReduceOptions options(const Call& c) { return {.axis = c.has("axes") ? Axes(c.axes()) : Axes(), .keep = c.flag("keep")}; }

/// PyTorch's dim=None of an operation that has one axis here: the flat tensor.
static Tensor along(const Call& c) { return c.has("axis") ? c.x() : flatten(c.x()); }

#define REDUCTION(name)                                                   \
  {                                                                       \
#name, [](const Call& c) { return Tensors{name(c.x(), options(c))}; } \
  }

static const Table::value_type rows[] = {
    REDUCTION(sum), REDUCTION(mean), REDUCTION(prod), REDUCTION(min), REDUCTION(max), REDUCTION(any), REDUCTION(all),
};

#undef REDUCTION

void add_reductions(Table& table) {
  table.insert(std::begin(rows), std::end(rows));
  table["argmax"] = [](const Call& c) { return Tensors{argmax(along(c), {.axis = c.axis(), .keep = c.flag("keep")})}; };
  table["argmin"] = [](const Call& c) { return Tensors{argmin(along(c), {.axis = c.axis(), .keep = c.flag("keep")})}; };
  table["aminmax"] = [](const Call& c) { return Tensors{min(c.x(), options(c)), max(c.x(), options(c))}; };
  table["max_with_index"] = [](const Call& c) {
    return Tensors{max(c.x(), {.axis = c.axis(), .keep = c.flag("keep")}), argmax(c.x(), {.axis = c.axis(), .keep = c.flag("keep")})};
  };
  table["min_with_index"] = [](const Call& c) {
    return Tensors{min(c.x(), {.axis = c.axis(), .keep = c.flag("keep")}), argmin(c.x(), {.axis = c.axis(), .keep = c.flag("keep")})};
  };
  table["nansum"] = [](const Call& c) { return Tensors{sum(where(eq(c.x(), c.x()), c.x(), 0), options(c))}; };
  table["nanmean"] = [](const Call& c) {
    const Tensor here = eq(c.x(), c.x());
    return Tensors{sum(where(here, c.x(), 0), options(c)) / sum(here, options(c)).to(c.x().dtype())};
  };
  table["diff"] = [](const Call& c) {
    Tensor y = c.x();
    for (Size i = c.integer("n", 1); i > 0; --i) {
      const Size n = y.size(c.axis());
      if (n == 0) break;
      const Tensor after = narrow(y, c.axis(), 1, n - 1), before = narrow(y, c.axis(), 0, n - 1);
      y = y.dtype() == boolean ? logical_xor(after, before) : after - before;
    }
    return Tensors{y};
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

}  // namespace votive::opinfo
