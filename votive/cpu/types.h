// The C++ types behind dtypes, under the names the scalar text uses. Inside votive::cpu `f32` is float; the dtype is DType::f32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "votive/core/dtype.h"

namespace votive::cpu {

using u8 = std::uint8_t;
using i8 = std::int8_t;
using u16 = std::uint16_t;
using i16 = std::int16_t;
using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i64 = std::int64_t;
using f32 = float;
using f64 = double;

}  // namespace votive::cpu
