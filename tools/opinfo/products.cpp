// Names of compare_opinfo.py for sums of products: matmul and what is made of it, convolution, pooling, resampling.
#include "tools/opinfo/call.h"

namespace votive::opinfo {

void add_products(Table& table) {
  table["matmul"] = [](const Call& c) { return Tensors{matmul(c.x(0), c.x(1))}; };
  table["linear"] = [](const Call& c) { return Tensors{linear(c.x(0), c.x(1), c.x(2))}; };
}

}  // namespace votive::opinfo
