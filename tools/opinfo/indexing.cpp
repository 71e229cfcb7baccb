// Names of compare_opinfo.py for elements chosen by integers or masks, and for orders.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

void add_indexing(Table& table) {
  table["embedding"] = [](const Call& c) { return Tensors{embedding(c.x(0), c.x(1))}; };
  table["index_select"] = [](const Call& c) { return Tensors{index_select(c.x(0), c.x(1), c.axis())}; };
  table["gather"] = [](const Call& c) { return Tensors{gather(c.x(0), c.x(1), c.axis())}; };
  table["sort"] = [](const Call& c) {
    const Sorted y = sort(c.x(), {.axis = c.axis(), .descending = c.flag("descending")});
    return Tensors{y.values, y.indices};
  };
  table["topk"] = [](const Call& c) {
    const Sorted y = topk(c.x(), c.integer("k"), {.axis = c.axis(), .largest = c.flag("largest", true)});
    return Tensors{y.values, y.indices};
  };
}

}  // namespace votive::opinfo
