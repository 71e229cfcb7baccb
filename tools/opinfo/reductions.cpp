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
}

}  // namespace votive::opinfo
