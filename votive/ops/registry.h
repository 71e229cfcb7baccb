// Which function computes an operation on a device. Kernels register explicitly, one function per device (cpu/device.cpp,
// reference/device.cpp), keyed by the operation's C++ type: `grep Softmax` finds everything. Absence is a typed error, never a stub.
#pragma once

#include <array>
#include <atomic>
#include <span>
#include <string_view>

#include "votive/ops/op.h"

namespace votive {

namespace detail {
template <class Op>
struct KernelTable {
  static inline std::array<std::atomic<typename Op::Kernel*>, device_kinds> functions{};
};
void note_kernel(Device device, const OpInfo& info);
[[noreturn]] void refuse_missing_kernel(std::string_view op, Device device);
}  // namespace detail

class Kernels {
 public:
  /// A later registration for the same operation and device replaces the earlier (another instruction set was chosen).
  template <class Op>
  void add(Device device, typename Op::Kernel* kernel) {
    detail::KernelTable<Op>::functions[static_cast<int>(device.kind)].store(kernel, std::memory_order_release);
    detail::note_kernel(device, Op::info);
  }
};

/// Fills the tables of every device that was built; implemented by runtime/devices.cpp, called once by the first operation.
void register_all_kernels();

/// Operations that have a kernel on `device`, for the coverage table.
std::span<const std::string_view> kernel_names(Device device);

template <class Op>
typename Op::Kernel* find_kernel(std::string_view op, Device device) {
  auto& slot = detail::KernelTable<Op>::functions[static_cast<int>(device.kind)];
  if (auto* kernel = slot.load(std::memory_order_acquire)) return kernel;
  register_all_kernels();
  if (auto* kernel = slot.load(std::memory_order_acquire)) return kernel;
  detail::refuse_missing_kernel(op, device);
}

}  // namespace votive
