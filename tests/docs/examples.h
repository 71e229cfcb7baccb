// The examples of the docstrings as a list of programs: what each is written as, what it says it gives, and a way to run it, also with tensors of
// another dtype or device than the one it was written with. The list itself is generated (tools/make_ops_doc.py).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "votive/core/tensor.h"

namespace votive::docs {

/// What an expression gave: what one reads of it, and its tensors.
struct Outcome {
  std::string text;
  std::vector<Tensor> tensors;
};
Outcome outcome(const Tensor& x);
Outcome outcome(const std::vector<Tensor>& list);
Outcome outcome(const std::pair<Tensor, Tensor>& pair);
Outcome outcome(const std::string& text);
Outcome outcome(double value);
Outcome outcome(bool value);
Outcome outcome(const Shape& shape);
template <std::integral T>
Outcome outcome(T value) {
  return {std::to_string(value), {}};
}

struct Example {
  const char* function;
  const char* header;
  int line;
  const char* expression;
  const char* expected;
  Outcome (*run)();
};
std::vector<Example> examples();

/// What is done to one tensor of an example to see how its function takes it.
enum class Harm : std::uint8_t {
  none,
  absent,
  empty,
  rank_0,
  one_more_axis,
  longer,
  reversed,
  nan,
  least,
  most,
  boolean,
  bytes,
  wide,
  eight_bit,
  elsewhere
};

/// With which tensors an example runs: as it is written when there is no dtype.
struct Trial {
  std::optional<DType> dtype = {};
  Device device = Device::cpu;
  bool gradient = false;  // floating inputs ask for their gradient
  Harm harm = Harm::none;
  int harmed = 0;  // which of the tensors, in the order in which they are made
};

/// While one lives, made() changes what an example makes; tells what it made.
class Trying {
 public:
  explicit Trying(const Trial& trial);
  ~Trying();
  Trying(const Trying&) = delete;
  Trying& operator=(const Trying&) = delete;
  const std::vector<Tensor>& leaves() const;
  /// How many tensors the example has made.
  int count() const;
};

/// An example's `x` as it was written, or of the trial's dtype (if `varied`) and device.
Tensor made(const Tensor& x, bool varied);
/// Whether the example is being tried with another dtype, and with which: for functions that take a dtype themselves.
bool trying();
DType tried_dtype();
Device tried_device();

}  // namespace votive::docs
