// Hand-written cases run on every device: a fixture whose parameter is the device.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "votive/ops/ops.h"

namespace votive {

class OnDevices : public ::testing::TestWithParam<Device> {
 protected:
  CreateOptions here{.device = GetParam()};
};

inline std::string device_name(const ::testing::TestParamInfo<Device>& parameter) { return std::string(to_string(parameter.param)); }

/// Use as INSTANTIATE_TEST_SUITE_P(Devices, Fixture, every_device, device_name).
inline const auto every_device = ::testing::Values(Device::cpu, Device::reference);

/// The kind of the Error that `call` throws; fails the test when it throws none.
inline ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) { return error.kind(); }
  ADD_FAILURE() << "no error was thrown";
  return ErrorKind::Internal;
}

/// The text of the Error that `call` throws.
inline std::string text_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) { return error.what(); }
  return "no error was thrown";
}

}  // namespace votive
