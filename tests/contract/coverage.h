// How many results were compared, by operation, dtype and device: printed at the end of the program and added to a file that several programs share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "votive/core/device.h"
#include "votive/core/dtype.h"

namespace votive::contract {

void count_cases(const std::string& operation, DType dtype, Device device, Size cases);

/// Prints the table when all tests have run, with the instruction sets that ran and those this machine lacks.
class CoverageReport : public ::testing::Environment {
 public:
  void TearDown() override;
};

}  // namespace votive::contract
