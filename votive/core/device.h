// Where a tensor lives. Not here: which devices were built (runtime/devices.cpp) or what they can do.
#pragma once

#include <cstdint>
#include <string_view>

namespace votive {

/// `cpu` is the product; `reference` is the executable contract: plain loops, slow on purpose, whose bits every other device must give.
struct Device {
  enum class Kind : std::uint8_t { cpu, reference };
  Kind kind = Kind::cpu;

  static const Device cpu, reference;
  friend constexpr bool operator==(Device, Device) = default;
};
inline constexpr Device Device::cpu{Device::Kind::cpu};
inline constexpr Device Device::reference{Device::Kind::reference};
inline constexpr int device_kinds = 2;

constexpr std::string_view to_string(Device device) { return device.kind == Device::Kind::cpu ? "cpu" : "reference"; }

}  // namespace votive
