// The names of registered kernels, for messages and the coverage table. The kernels themselves are in the tables of registry.h.
#include "votive/ops/registry.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "votive/base/text.h"

namespace votive {

namespace {

// Reserved once, so that a span handed out stays valid when an instruction set is chosen anew.
struct Names {
  std::mutex mutex;
  std::vector<std::string_view> of_device[device_kinds];
  Names() {
    for (auto& names : of_device) names.reserve(256);
  }
};

Names& names() {
  static Names instance;
  return instance;
}

}  // namespace

namespace detail {

void note_kernel(Device device, const OpInfo& info) {
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  auto& list = all.of_device[static_cast<int>(device.kind)];
  if (std::find(list.begin(), list.end(), info.name) == list.end() && list.size() < list.capacity()) list.push_back(info.name);
}

void refuse_missing_kernel(std::string_view op, Device device) {
  throw Error(ErrorKind::Unsupported, op)
      .detail(text::format("no kernel on {}", to_string(device)))
      .device(to_string(device))
      .hint(device == Device::cpu ? "Compute it where it exists, e.g. x.to(Device::reference)"
                                  : "Compute it where it exists, e.g. x.to(Device::cpu)");
}

}  // namespace detail

std::span<const std::string_view> kernel_names(Device device) {
  register_all_kernels();
  Names& all = names();
  const std::lock_guard lock(all.mutex);
  return all.of_device[static_cast<int>(device.kind)];
}

}  // namespace votive
