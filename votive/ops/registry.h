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
/// Of operations that have one: for each kind and floating dtype a loop of the CPU over row-major elements of that dtype, to the same dtype; null where
/// the kind or the device has none, and until the kernels are registered.
template <class Op>
struct DenseTable {
  static constexpr std::size_t dtypes = static_cast<std::size_t>(DType::f64) - static_cast<std::size_t>(DType::f16) + 1;
  static constexpr std::size_t place(decltype(Op::kind) kind, DType dtype) {
    return static_cast<std::size_t>(kind) * dtypes + (static_cast<std::size_t>(dtype) - static_cast<std::size_t>(DType::f16));
  }
  static inline std::array<std::atomic<typename Op::Dense*>, Op::kinds * dtypes> loops{};
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
  template <class Op>
  void add_dense(decltype(Op::kind) kind, DType dtype, typename Op::Dense* loop) {
    using Table = detail::DenseTable<Op>;
    Table::loops[Table::place(kind, dtype)].store(loop, std::memory_order_release);
  }
};

/// Fills the tables of every device that was built (runtime/devices.cpp): called by the first operation, and again while VOTIVE_ISA names no set.
void register_all_kernels();

/// Operations that have a kernel on `device`, for the coverage table.
std::span<const std::string_view> kernel_names(Device device);

/// What computes op(x, like…) without more being asked: null unless all are small, row-major, floating and of one dtype, shape and device.
template <class Op, class... Like>
typename Op::Dense* find_dense(const Op& op, const Tensor& x, const Like&... like) {
  if (!(x.is_small_and_dense() && ... && like.is_small_and_dense())) return nullptr;
  const DType dtype = x.dtype();
  const bool alike = is_floating(dtype) && x.device() == Device::cpu &&
                     (... && (like.dtype() == dtype && like.device() == Device::cpu && like.shape() == x.shape()));
  if (!alike) return nullptr;
  using Table = detail::DenseTable<Op>;
  return Table::loops[Table::place(op.kind, dtype)].load(std::memory_order_acquire);
}

template <class Op>
typename Op::Kernel* find_kernel(std::string_view op, Device device) {
  auto& slot = detail::KernelTable<Op>::functions[static_cast<int>(device.kind)];
  if (auto* kernel = slot.load(std::memory_order_acquire)) [[likely]]
    return kernel;
  register_all_kernels();
  if (auto* kernel = slot.load(std::memory_order_acquire)) return kernel;
  detail::refuse_missing_kernel(op, device);
}

}  // namespace votive
