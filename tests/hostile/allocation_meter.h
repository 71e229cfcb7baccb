// Counts what the program takes from malloc, operator new included, at its highest. Of one thread at a time; mappings are not counted.
// Instead of a sum over calls: the limit that hostile files must keep to is about memory that exists at once.
#pragma once

#include <cstddef>

namespace votive {

class AllocationMeter {
 public:
  AllocationMeter();
  /// The most bytes, above those at construction, that were allocated at once since.
  std::size_t peak() const;

 private:
  std::ptrdiff_t start_;
};

}  // namespace votive
