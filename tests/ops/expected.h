// Inputs that other libraries can be given too, and comparison with what they answered.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "tests/ops/on_devices.h"

namespace votive {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Element i is ((i·step) mod `modulus` − shift) / divisor, f64.
inline Tensor pattern(const Shape& shape, Size step, Device device, Size modulus = 11, Size shift = 5, double divisor = 4) {
  std::vector<double> values;
  for (Size i = 0; i < count(shape); ++i) values.push_back(static_cast<double>((i * step) % modulus - shift) / divisor);
  return from_host(std::span<const double>(values), shape, f64, {.device = device});
}

inline void expect_near(const Tensor& y, const std::vector<double>& expected, double tolerance = 1e-9) {
  const std::vector<double> values = y.to(f64).to_host<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == expected[i] || (std::isnan(values[i]) && std::isnan(expected[i]))) continue;
    EXPECT_NEAR(values[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << "element " << i;
  }
}

}  // namespace votive
