// The order in which a device runs kernels. The CPU and `reference` run each kernel before its call returns;
// kernels take a Stream nevertheless, so that an asynchronous device changes no signature.
#pragma once

#include "votive/core/device.h"

namespace votive {

class Stream {
 public:
  explicit constexpr Stream(Device device) : device_(device) {}
  constexpr Device device() const { return device_; }

 private:
  Device device_;
};

}  // namespace votive
