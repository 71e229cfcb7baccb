// Registration of every device that was built: the only place that names them all.
#include "votive/runtime/devices.h"

#include "votive/cpu/device.h"
#include "votive/cpu/isa.h"
#include "votive/ops/registry.h"
#include "votive/reference/device.h"

namespace votive {

void register_all_kernels() {
  // Not std::call_once: after an exception (VOTIVE_ISA names no set) the next call would wait for ever where pthread_once does not unwind, as in musl.
  static const bool registered = [] {
    Kernels kernels;
    cpu::register_kernels(kernels);  // first: it may refuse VOTIVE_ISA, and then no device has kernels
    reference::register_kernels(kernels);
    return true;
  }();
  static_cast<void>(registered);
}

namespace runtime {

std::vector<Device> devices() { return {Device::cpu, Device::reference}; }

std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets;
  for (const cpu::IsaDescription& isa : cpu::isa_descriptions()) sets.push_back({isa.name, isa.meaning, isa.available, isa.missing});
  return sets;
}

std::string_view instruction_set() { return cpu::selected_isa(); }

void set_instruction_set(std::string_view name) {
  register_all_kernels();
  cpu::select_isa(name);
}

}  // namespace runtime

}  // namespace votive
