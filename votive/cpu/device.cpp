// Which build of the kernel files is in use. Compiled once, for every machine; nothing here computes.
#include "votive/cpu/device.h"

#include <atomic>

#include "votive/cpu/isa.h"
#include "votive/cpu/kernels.h"

namespace votive::cpu {
namespace {

std::atomic<const IsaDescription*> selected{nullptr};

void register_set([[maybe_unused]] std::string_view isa, Kernels& kernels) {
#define VOTIVE_REGISTER(file) register_##file(kernels);
#if VOTIVE_HAS_v3
  if (isa == "v3") {
    using namespace v3;
    VOTIVE_CPU_KERNEL_FILES(VOTIVE_REGISTER)
    return;
  }
#endif
#if VOTIVE_HAS_v4emulated
  if (isa == "v4emulated") {
    using namespace v4emulated;
    VOTIVE_CPU_KERNEL_FILES(VOTIVE_REGISTER)
    return;
  }
#endif
#if VOTIVE_HAS_v4
  if (isa == "v4") {
    using namespace v4;
    VOTIVE_CPU_KERNEL_FILES(VOTIVE_REGISTER)
    return;
  }
#endif
#if VOTIVE_HAS_v4n
  if (isa == "v4n") {
    using namespace v4n;
    VOTIVE_CPU_KERNEL_FILES(VOTIVE_REGISTER)
    return;
  }
#endif
  using namespace baseline;
  VOTIVE_CPU_KERNEL_FILES(VOTIVE_REGISTER)
#undef VOTIVE_REGISTER
}

}  // namespace

void register_kernels(Kernels& kernels) {
  const IsaDescription* isa = selected.load();
  if (isa == nullptr) isa = &default_isa();
  register_set(isa->name, kernels);
  selected.store(isa);
}

void select_isa(std::string_view name) {
  const IsaDescription& isa = find_isa(name, "set_instruction_set");
  Kernels kernels;
  register_set(isa.name, kernels);
  selected.store(&isa);
}

std::string_view selected_isa() {
  const IsaDescription* isa = selected.load();
  return isa != nullptr ? isa->name : default_isa().name;
}

}  // namespace votive::cpu
