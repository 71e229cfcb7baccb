// The list of fingerprints: which subjects it has, in the order of the golden file. Each subject is a file; a new operation is one line in the file of its
// subject, and tests/verify fails without it.
#include "fingerprints.h"

#include "fingerprint_list.h"

namespace votive::app {

void Collector::keep(std::string name, std::uint64_t hash) {
  if (known_.insert(name).second) list_.push_back({std::move(name), hash});
}

void Collector::add(const std::string& name, const std::function<Tensor()>& compute) {
  if (!known_.contains(name)) keep(name, hash_of(compute()));
}

void Collector::one(const std::string& name, const std::function<Outputs()>& compute, NanBits nan_bits) {
  if (!known_.contains(name)) keep(name, hash_of_all(compute(), nan_bits));
}

void Collector::one_if_taken(const std::string& name, const std::function<Outputs()>& compute, NanBits nan_bits) {
  try {
    one(name, compute, nan_bits);
  } catch (const Error& error) {
    // a dtype that the operation refuses has no fingerprint; that it is refused is the business of tests/ops
    if (error.kind() != ErrorKind::DTypeMismatch && error.kind() != ErrorKind::Unsupported) throw;
  }
}

void Collector::all(const std::string& name, const std::function<Outputs(DType)>& compute, NanBits nan_bits) {
  for (const DType dtype : every_dtype)
    one_if_taken(
        name + " " + std::string(to_string(dtype)), [&] { return compute(dtype); }, nan_bits);
}

std::vector<Fingerprint> fingerprints(Device device) {
  Collector collector(device);
  add_first(collector);
  add_unary(collector);
  add_binary(collector);
  add_reductions(collector);
  add_orders(collector);
  add_norms(collector);
  add_products(collector);
  add_windows(collector);
  add_attention(collector);
  add_creation(collector);
  add_movement(collector);
  add_indexing(collector);
  add_losses(collector);
  add_gradients(collector);
  add_large(collector);
  return collector.take();
}

}  // namespace votive::app
