// Names of compare_opinfo.py for elements chosen by integers or masks, and for orders.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

static ScatterMode mode_of(const Call& c) {
  const std::map<std::string, ScatterMode> modes = {{"assign", ScatterMode::assign}, {"add", ScatterMode::add},
                                                    {"min", ScatterMode::min},       {"max", ScatterMode::max},
                                                    {"mul", ScatterMode::mul},       {"mean", ScatterMode::mean}};
  return modes.at(c.text("how"));
}

static QuantileOptions quantile_options(const Call& c) {
  const std::map<std::string, QuantileMethod> methods = {{"linear", QuantileMethod::linear},
                                                         {"lower", QuantileMethod::lower},
                                                         {"higher", QuantileMethod::higher},
                                                         {"nearest", QuantileMethod::nearest},
                                                         {"midpoint", QuantileMethod::midpoint}};
  QuantileOptions o{.keep = c.flag("keep"), .method = methods.at(c.text("interpolation", "linear"))};
  if (c.has("axis")) o.axis = c.axis();
  return o;
}

static MedianOptions median_options(const Call& c) {
  MedianOptions o{.keep = c.flag("keep")};
  if (c.has("axis")) o.axis = c.axis();
  return o;
}

static void add_choices(Table& table) {
  table["embedding"] = [](const Call& c) { return Tensors{embedding(c.x(0), c.x(1))}; };
  table["index_select"] = [](const Call& c) { return Tensors{index_select(c.x(0), c.x(1), c.axis())}; };
  table["gather"] = [](const Call& c) { return Tensors{gather(c.x(0), c.x(1), c.axis())}; };
  table["take"] = [](const Call& c) { return Tensors{take(c.x(0), c.x(1))}; };
  table["scatter"] = [](const Call& c) { return Tensors{scatter(c.x(0), c.x(1), c.x(2), {.axis = c.axis(), .mode = mode_of(c)})}; };
  table["scatter_value"] = [](const Call& c) {
    const Tensor source = full(c.x(1).shape(), c.number("value"), c.x(0).dtype(), {.device = c.device()});
    return Tensors{scatter(c.x(0), c.x(1), source, {.axis = c.axis()})};
  };
  table["index_add"] = [](const Call& c) { return Tensors{index_add(c.x(0), c.x(1), c.x(2), c.axis())}; };
  table["index_copy"] = [](const Call& c) { return Tensors{index_copy(c.x(0), c.x(1), c.x(2), c.axis())}; };
  table["index_reduce"] = [](const Call& c) {
    return Tensors{index_reduce(c.x(0), c.x(1), c.x(2), {.axis = c.axis(), .mode = mode_of(c)})};
  };
  table["index_fill"] = [](const Call& c) { return Tensors{index_fill(c.x(0), c.x(1), c.number("value"), c.axis())}; };
  table["index_put"] = [](const Call& c) {
    return Tensors{index_put(c.x(0), std::span<const Tensor>(c.tensors(2)), c.x(1), {.accumulate = c.flag("accumulate")})};
  };
  table["put"] = [](const Call& c) {
    const Tensor flat = index_put(flatten(c.x(0)), {flatten(c.x(1))}, flatten(c.x(2)), {.accumulate = c.flag("accumulate")});
    return Tensors{reshape(flat, c.x(0).shape())};
  };
  table["masked_fill"] = [](const Call& c) { return Tensors{masked_fill(c.x(0), c.x(1), c.number("value"))}; };
  table["masked_select"] = [](const Call& c) { return Tensors{masked_select(c.x(0), c.x(1))}; };
  table["masked_scatter"] = [](const Call& c) { return Tensors{masked_scatter(c.x(0), c.x(1), c.x(2))}; };
  table["nonzero"] = [](const Call& c) { return Tensors{nonzero(c.x())}; };
}

static void add_orders(Table& table) {
  table["sort"] = [](const Call& c) {
    const Sorted y = sort(c.x(), {.axis = c.axis(), .descending = c.flag("descending")});
    return Tensors{y.values, y.indices};
  };
  table["msort"] = [](const Call& c) { return Tensors{msort(c.x())}; };
  table["argsort"] = [](const Call& c) { return Tensors{argsort(c.x(), {.axis = c.axis(), .descending = c.flag("descending")})}; };
  table["topk"] = [](const Call& c) {
    const Sorted y = topk(c.x(), c.integer("k"), {.axis = c.axis(), .largest = c.flag("largest", true)});
    return Tensors{y.values, y.indices};
  };
  table["kthvalue"] = [](const Call& c) {
    const Sorted y = kthvalue(c.x(), c.integer("k"), {.axis = c.axis(), .keep = c.flag("keep")});
    return Tensors{y.values, y.indices};
  };
  table["median"] = [](const Call& c) { return Tensors{median(c.x(), median_options(c)).values}; };
  table["nanmedian"] = [](const Call& c) { return Tensors{nanmedian(c.x(), median_options(c)).values}; };
  table["mode"] = [](const Call& c) { return Tensors{mode(c.x(), {.axis = c.axis(), .keep = c.flag("keep")}).values}; };
  table["quantile"] = [](const Call& c) {
    const QuantileOptions o = quantile_options(c);
    return Tensors{c.has("q") ? quantile(c.x(), c.real("q"), o) : quantile(c.x(), std::span<const double>(c.reals("list")), o)};
  };
  table["nanquantile"] = [](const Call& c) {
    const QuantileOptions o = quantile_options(c);
    return Tensors{c.has("q") ? nanquantile(c.x(), c.real("q"), o) : nanquantile(c.x(), std::span<const double>(c.reals("list")), o)};
  };
  table["searchsorted"] = [](const Call& c) { return Tensors{searchsorted(c.x(0), c.x(1), {.right = c.flag("right")})}; };
  table["bucketize"] = [](const Call& c) { return Tensors{bucketize(c.x(0), c.x(1), {.right = c.flag("right")})}; };
  table["isin"] = [](const Call& c) { return Tensors{isin(c.x(0), c.x(1))}; };
  table["unique"] = [](const Call& c) {
    const Unique y = unique(c.x());
    return Tensors{y.values, y.inverse, y.counts};
  };
  table["bincount"] = [](const Call& c) { return Tensors{bincount(c.x(0), {.weights = c.x(1), .minimum = c.integer("least")})}; };
  table["histc"] = [](const Call& c) {
    HistogramOptions o;
    if (c.has("low")) o.low = c.real("low");
    if (c.has("high")) o.high = c.real("high");
    return Tensors{histc(c.x(), c.integer("bins", 100), o)};
  };
}

void add_indexing(Table& table) {
  add_choices(table);
  add_orders(table);
}

}  // namespace votive::opinfo
