// The table of operations, gathered: each operations_*.cpp describes a subject.
#include "tests/contract/operations.h"

namespace votive::contract {

std::vector<Operation> operations() {
  std::vector<Operation> all;
  add_pointwise(all);
  add_conversions(all);
  add_creation(all);
  add_reductions(all);
  add_losses(all);
  add_scans(all);
  add_norms(all);
  add_attention(all);
  add_products(all);
  add_convolutions(all);
  add_pooling(all);
  add_resampling(all);
  add_lookups(all);
  add_movement(all);
  add_scatters(all);
  add_orders(all);
  return all;
}

}  // namespace votive::contract
