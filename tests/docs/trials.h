// An example run with another dtype, on another device, and differentiated: what the documentation says of dtypes and gradients is what happened here.
#pragma once

#include <array>
#include <string>

#include "tests/docs/examples.h"

namespace votive::docs {

inline constexpr std::array every_plain_dtype{DType::boolean, DType::u8,  DType::i8,  DType::u16,  DType::i16,
                                              DType::u32,     DType::i32, DType::u64, DType::i64,  DType::f16,
                                              DType::bf16,    DType::f32, DType::f64, DType::e4m3, DType::e5m2};

/// `text` is the result or the error, without the device's name; `result` the dtype of the first tensor it gave.
struct Answer {
  bool accepted = false;
  std::string text;
  std::string result;
};
Answer tried(const Example& example, const Trial& trial);

enum class Differentiable : std::uint8_t {
  yes,
  zero,          // recorded, and nothing but zeros came
  refused,       // backward throws, naming the operation
  not_recorded,  // floating inputs and a floating result between which nothing was recorded
  no_result,     // the result is not floating
  no_input,      // nothing to differentiate by
};
std::string_view to_string(Differentiable answer);
/// The example in f64, differentiated by its floating inputs with unequal weights of the result; `twice` whether the gradient has one itself.
Differentiable differentiated(const Example& example, bool& twice);

}  // namespace votive::docs
