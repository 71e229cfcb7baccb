// Opens a hostile file, reads all that it offers, and hands back the error that came of it and the memory that it cost.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/hostile/allocation_meter.h"
#include "votive/base/error.h"
#include "votive/core/memory.h"
#include "votive/io/gguf.h"
#include "votive/io/safetensors.h"

namespace votive::io {

// What the issue of hostile files allows beside the file's own size.
constexpr std::size_t allowance = std::size_t{1} << 20;

struct Outcome {
  std::optional<Error> error;
  std::size_t peak_bytes = 0;            ///< of malloc and new
  std::uint64_t tensor_allocations = 0;  ///< blocks from Votive's own allocator
};

template <class Work>
Outcome outcome_of(Work work) {
  Outcome outcome;
  const std::uint64_t before = memory_statistics().allocations;
  const AllocationMeter meter;
  try {
    work();
    outcome.peak_bytes = meter.peak();
  } catch (const Error& error) {
    outcome.peak_bytes = meter.peak();
    outcome.error = error;
  }
  outcome.tensor_allocations = memory_statistics().allocations - before;
  return outcome;
}

inline std::uint64_t sum_of(const Tensor& tensor, std::size_t bytes) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes; ++i) sum += std::to_integer<std::uint64_t>(tensor.buffer()[i]);
  return sum;
}

/// Touches every value and every tensor, as `inspect` and a loader would. The sum keeps the reads alive.
inline std::uint64_t read_all(const GgufFile& file) {
  std::uint64_t sum = file.version() + static_cast<std::uint64_t>(file.alignment());
  for (const GgufValue& value : file.values()) {
    sum += value.text().size() + value.key().size() + to_string(value.type()).size();
    if (value.type() == GgufType::array && value.element_type() == GgufType::string)
      for (std::string_view s : value.strings()) sum += s.size() + (s.empty() ? 0 : static_cast<unsigned char>(s.back()));
    if (file.find(value.key()) != &value) ++sum;
  }
  for (const GgufTensor& tensor : file.tensors())
    if (tensor.dtype.has_value()) sum += sum_of(file.tensor(tensor.name), tensor.bytes);
  return sum;
}

inline std::uint64_t read_all(const SafetensorsFile& file) {
  std::uint64_t sum = 0;
  for (const auto& [key, value] : file.metadata()) sum += key.size() + value.size();
  for (Size i = 0; i < file.size(); ++i) {
    if (file.meta(i).dtype != boolean) sum += sum_of(file.tensor(file.name(i)), file.bytes(i));
    sum += static_cast<std::uint64_t>(file.find(file.name(i)));
  }
  return sum;
}

}  // namespace votive::io
