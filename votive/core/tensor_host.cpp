// Reading the elements of a tensor as C++ values. Not here: conversion of whole tensors between dtypes (the cast operation).
#include <cmath>
#include <concepts>
#include <cstring>
#include <exception>
#include <limits>
#include <type_traits>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/core/tensor.h"
#include "votive/core/walk.h"
#include "votive/numerics/convert.h"

namespace votive {

namespace {

template <class T>
constexpr bool holds(DType dtype) {
  if constexpr (std::same_as<T, bool>) return dtype == DType::boolean;
  if constexpr (std::same_as<T, std::uint8_t>) return dtype == DType::u8 || is_float8(dtype);
  if constexpr (std::same_as<T, std::uint16_t>) return dtype == DType::u16 || dtype == DType::f16 || dtype == DType::bf16;
  if constexpr (std::same_as<T, std::int8_t>) return dtype == DType::i8;
  if constexpr (std::same_as<T, std::int16_t>) return dtype == DType::i16;
  if constexpr (std::same_as<T, std::uint32_t>) return dtype == DType::u32;
  if constexpr (std::same_as<T, std::int32_t>) return dtype == DType::i32;
  if constexpr (std::same_as<T, std::uint64_t>) return dtype == DType::u64;
  if constexpr (std::same_as<T, std::int64_t>) return dtype == DType::i64;
  if constexpr (std::same_as<T, float>) return dtype == DType::f32;
  if constexpr (std::same_as<T, double>) return dtype == DType::f64;
  return false;
}

template <class T>
constexpr const char* name_of() {
  if constexpr (std::same_as<T, bool>) return "bool";
  if constexpr (std::same_as<T, float>) return "float";
  if constexpr (std::same_as<T, double>) return "double";
  if constexpr (std::same_as<T, std::uint8_t>) return "std::uint8_t";
  if constexpr (std::same_as<T, std::uint16_t>) return "std::uint16_t";
  if constexpr (std::same_as<T, std::uint32_t>) return "std::uint32_t";
  if constexpr (std::same_as<T, std::uint64_t>) return "std::uint64_t";
  if constexpr (std::same_as<T, std::int8_t>) return "std::int8_t";
  if constexpr (std::same_as<T, std::int16_t>) return "std::int16_t";
  if constexpr (std::same_as<T, std::int32_t>) return "std::int32_t";
  return "std::int64_t";
}

void require_plain(const char* op, const Tensor& x) {
  if (!x.defined()) throw Error(ErrorKind::InvalidArgument, op).detail("no tensor was given");
  if (x.packing() != Packing::none)
    throw Error(ErrorKind::Unsupported, op)
        .detail("the elements of a packed weight cannot be read")
        .hint("Read the weight before prepack()");
}

template <class T>
T element(const Tensor& x) {
  T value;
  std::memcpy(&value, x.buffer() + x.offset() * static_cast<Size>(sizeof(T)), sizeof(T));
  return value;
}

[[noreturn]] void refuse_item(const Tensor& x, const char* type, const std::string& value) {
  throw Error(ErrorKind::DTypeMismatch, "item")
      .dtype(to_string(x.dtype()))
      .value(value)
      .detail(text::format("{} of {} is not a value of {}", value, to_string(x.dtype()), type));
}

template <class T, std::integral From>
T exactly(const Tensor& x, From value) {
  if constexpr (std::same_as<T, bool>) {
    if (value <= 1 && !(value < From{0})) return value != 0;
  } else if constexpr (std::integral<T>) {
    if (std::in_range<T>(value)) return static_cast<T>(value);
  } else {
    // Exact when the digits between the highest and the lowest bit set fit into the significand.
    const auto magnitude = value < From{0} ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    if (magnitude == 0 || 64 - __builtin_clzll(magnitude) - __builtin_ctzll(magnitude) <= std::numeric_limits<T>::digits)
      return static_cast<T>(value);
  }
  refuse_item(x, name_of<T>(), std::to_string(value));
}

template <class T>
T exactly(const Tensor& x, double value) {
  if constexpr (std::same_as<T, double>) {
    return value;
  } else if constexpr (std::same_as<T, float>) {
    if (std::isnan(value) || std::isinf(value) ||
        (std::fabs(value) <= std::numeric_limits<float>::max() && static_cast<double>(static_cast<float>(value)) == value))
      return static_cast<float>(value);
  } else if constexpr (std::same_as<T, bool>) {
    if (value == 0 || value == 1) return value == 1;
  } else {
    // Both bounds are powers of two or zero, so exact in double; NaN fails both.
    const double low = static_cast<double>(std::numeric_limits<T>::min()), high = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (value >= low && value < high && std::trunc(value) == value) return static_cast<T>(value);
  }
  refuse_item(x, name_of<T>(), text::format("{}", value));
}

/// Out of line: inlined, its conversions could move past the scope of item()'s environment.
template <class T>
[[gnu::noinline]] T only_element(const Tensor& x) {
  switch (x.dtype()) {
    case DType::boolean: return exactly<T>(x, element<std::uint8_t>(x));
    case DType::u8: return exactly<T>(x, element<std::uint8_t>(x));
    case DType::i8: return exactly<T>(x, element<std::int8_t>(x));
    case DType::u16: return exactly<T>(x, element<std::uint16_t>(x));
    case DType::i16: return exactly<T>(x, element<std::int16_t>(x));
    case DType::u32: return exactly<T>(x, element<std::uint32_t>(x));
    case DType::i32: return exactly<T>(x, element<std::int32_t>(x));
    case DType::u64: return exactly<T>(x, element<std::uint64_t>(x));
    case DType::i64: return exactly<T>(x, element<std::int64_t>(x));
    case DType::f16: return exactly<T>(x, static_cast<double>(numerics::f16_to_f32(element<std::uint16_t>(x))));
    case DType::bf16: return exactly<T>(x, static_cast<double>(numerics::bf16_to_f32(element<std::uint16_t>(x))));
    case DType::f32: return exactly<T>(x, static_cast<double>(element<float>(x)));
    case DType::f64: return exactly<T>(x, element<double>(x));
    case DType::e4m3: return exactly<T>(x, static_cast<double>(numerics::e4m3_to_f32(element<std::uint8_t>(x))));
    case DType::e5m2: return exactly<T>(x, static_cast<double>(numerics::e5m2_to_f32(element<std::uint8_t>(x))));
    default: break;
  }
  throw Error(ErrorKind::DTypeMismatch, "item")
      .dtype(to_string(x.dtype()))
      .detail(text::format("{} has no single elements", to_string(x.dtype())))
      .hint("Convert it first: x.to(f32)");
}

}  // namespace

template <class T>
std::vector<T> Tensor::to_host() const {
  require_plain("to_host", *this);
  if (!holds<T>(dtype()))
    throw Error(ErrorKind::DTypeMismatch, "to_host")
        .dtype(to_string(dtype()))
        .detail(text::format("a tensor of {} cannot be read as {}", to_string(dtype()), name_of<T>()));
  const T* const elements = reinterpret_cast<const T*>(buffer());
  const Walk<1> walk({&layout()});
  std::vector<T> host;
  try {
    host.reserve(static_cast<std::size_t>(walk.count()));
  } catch (const std::exception&) {  // bad_alloc, length_error: a broadcast view can have more elements than there is memory
    throw Error(ErrorKind::OutOfMemory, "to_host")
        .detail(text::format("no memory for {} elements of {}", walk.count(), to_string(dtype())));
  }
  walk.for_each_run(0, walk.count(), [&](const std::array<Size, 1>& offsets, Size n) {
    const T* const from = elements + offsets[0];
    if (walk.step(0) == 1) {
      host.insert(host.end(), from, from + n);
    } else {
      for (Size i = 0; i < n; ++i) host.push_back(from[i * walk.step(0)]);
    }
  });
  return host;
}

template <class T>
T Tensor::item() const {
  const FloatEnvironment environment;  // an f32 subnormal on its way through double is 0 where the caller flushes
  require_plain("item", *this);
  if (count() != 1)
    throw Error(ErrorKind::ShapeMismatch, "item")
        .shape(shape().to_vector())
        .detail(text::format("shape {} has {} elements, not one", to_string(shape()), count()));
  return only_element<T>(*this);
}

template std::vector<bool> Tensor::to_host() const;
template std::vector<std::uint8_t> Tensor::to_host() const;
template std::vector<std::int8_t> Tensor::to_host() const;
template std::vector<std::uint16_t> Tensor::to_host() const;
template std::vector<std::int16_t> Tensor::to_host() const;
template std::vector<std::uint32_t> Tensor::to_host() const;
template std::vector<std::int32_t> Tensor::to_host() const;
template std::vector<std::uint64_t> Tensor::to_host() const;
template std::vector<std::int64_t> Tensor::to_host() const;
template std::vector<float> Tensor::to_host() const;
template std::vector<double> Tensor::to_host() const;
template bool Tensor::item() const;
template std::uint8_t Tensor::item() const;
template std::int8_t Tensor::item() const;
template std::uint16_t Tensor::item() const;
template std::int16_t Tensor::item() const;
template std::uint32_t Tensor::item() const;
template std::int32_t Tensor::item() const;
template std::uint64_t Tensor::item() const;
template std::int64_t Tensor::item() const;
template float Tensor::item() const;
template double Tensor::item() const;

}  // namespace votive
