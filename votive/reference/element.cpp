// Reading and writing elements: one conversion per dtype, all of them the scalar text of numerics.
#include "votive/reference/element.h"

#include <cstring>

#include "votive/numerics/blocks.h"
#include "votive/numerics/convert.h"

namespace votive::reference {

using namespace numerics;

std::vector<Size> element_offsets(const Layout& layout) {
  const Size n = layout.count();
  std::vector<Size> offsets(static_cast<std::size_t>(n));
  for (Size i = 0; i < n; ++i) {
    Size rest = i, offset = layout.offset;
    for (int axis = layout.rank() - 1; axis >= 0; --axis) {
      offset += rest % layout.shape[axis] * layout.strides[axis];
      rest /= layout.shape[axis];
    }
    offsets[static_cast<std::size_t>(i)] = offset;
  }
  return offsets;
}

Tensor broadcast(const Tensor& x, const Shape& shape) {
  return x.shape() == shape ? x : Tensor::view(x, broadcast_layout(x.layout(), shape));
}

namespace {

template <class T>
T load(const std::byte* address) {
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

/// convert(element's address) of each element.
template <class Value, class Convert>
std::vector<Value> read_with(const Tensor& x, Convert convert) {
  std::vector<Value> values;
  const Size bytes = votive::block_bytes(x.dtype());
  for (const Size offset : element_offsets(x.layout())) values.push_back(convert(x.buffer() + offset * bytes));
  return values;
}

/// Bits of element i, made by `convert(i)`.
template <class Convert>
void write_with(Tensor& y, Convert convert) {
  const auto bytes = static_cast<std::size_t>(votive::block_bytes(y.dtype()));
  std::byte* const buffer = y.mutable_buffer();
  std::size_t i = 0;
  for (const Size offset : element_offsets(y.layout())) {
    const u64 bits = convert(i++);
    std::memcpy(buffer + offset * static_cast<Size>(bytes), &bits, bytes);
  }
}

std::vector<f32> read_blocks(const Tensor& x) {
  const auto format = static_cast<BlockFormat>(static_cast<int>(x.dtype()) - static_cast<int>(DType::q4_0));
  const Size elements = votive::block_size(x.dtype()), bytes = votive::block_bytes(x.dtype());
  std::vector<f32> values;
  f32 block[256];
  Size decoded = -1;
  for (const Size offset : element_offsets(x.layout())) {
    if (offset / elements != decoded) {
      decoded = offset / elements;
      dequantise_block(format, reinterpret_cast<const u8*>(x.buffer()) + decoded * bytes, block);
    }
    values.push_back(block[offset % elements]);
  }
  return values;
}

}  // namespace

std::vector<u64> read_bits(const Tensor& x) {
  const auto bytes = static_cast<std::size_t>(votive::block_bytes(x.dtype()));
  return read_with<u64>(x, [&](const std::byte* p) {
    u64 bits = 0;
    std::memcpy(&bits, p, bytes);
    return bits;
  });
}

void write_bits(Tensor& y, std::span<const u64> bits) {
  write_with(y, [&](std::size_t i) { return bits[i]; });
}

std::vector<i64> read_i64(const Tensor& x) {
  switch (x.dtype()) {
    case DType::boolean:
    case DType::u8: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<u8>(p); });
    case DType::i8: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<i8>(p); });
    case DType::u16: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<u16>(p); });
    case DType::i16: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<i16>(p); });
    case DType::u32: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<u32>(p); });
    case DType::i32: return read_with<i64>(x, [](const std::byte* p) -> i64 { return load<i32>(p); });
    case DType::u64:
    case DType::i64: return read_with<i64>(x, load<i64>);
    default: throw Error(ErrorKind::Internal, "read_i64").detail("not an integer");
  }
}

std::vector<u64> read_u64(const Tensor& x) {
  const std::vector<i64> values = read_i64(x);
  return {values.begin(), values.end()};
}

std::vector<f32> read_f32(const Tensor& x) {
  if (is_quantised(x.dtype())) return read_blocks(x);
  switch (x.dtype()) {
    case DType::f16: return read_with<f32>(x, [](const std::byte* p) { return f16_to_f32(load<u16>(p)); });
    case DType::bf16: return read_with<f32>(x, [](const std::byte* p) { return bf16_to_f32(load<u16>(p)); });
    case DType::e4m3: return read_with<f32>(x, [](const std::byte* p) { return e4m3_to_f32(load<u8>(p)); });
    case DType::e5m2: return read_with<f32>(x, [](const std::byte* p) { return e5m2_to_f32(load<u8>(p)); });
    case DType::f32: return read_with<f32>(x, load<f32>);
    case DType::u64: return read_with<f32>(x, [](const std::byte* p) { return u64_to_f32(load<u64>(p)); });
    default: break;
  }
  std::vector<f32> values;
  for (const i64 v : read_i64(x)) values.push_back(i64_to_f32(v));
  return values;
}

std::vector<f64> read_f64(const Tensor& x) {
  if (x.dtype() == DType::f64) return read_with<f64>(x, load<f64>);
  if (x.dtype() == DType::u64) return read_with<f64>(x, [](const std::byte* p) { return u64_to_f64(load<u64>(p)); });
  std::vector<f64> values;
  if (x.dtype() == DType::boolean || is_integer(x.dtype())) {
    for (const i64 v : read_i64(x)) values.push_back(i64_to_f64(v));
  } else {
    for (const f32 v : read_f32(x)) values.push_back(f32_to_f64(v));
  }
  return values;
}

std::vector<u8> read_truth(const Tensor& x) {
  std::vector<u8> values;
  if (x.dtype() == DType::boolean || is_integer(x.dtype())) {
    for (const i64 v : read_i64(x)) values.push_back(v != 0);
  } else {
    for (const f64 v : read_f64(x)) values.push_back(v != 0);
  }
  return values;
}

void write_f32(Tensor& y, std::span<const f32> v, bool saturate) {
  write_with(y, [&](std::size_t i) -> u64 {
    switch (y.dtype()) {
      case DType::boolean: return v[i] != 0;
      case DType::u8: return f32_to_u8(v[i]);
      case DType::i8: return static_cast<u64>(f32_to_i8(v[i]));
      case DType::u16: return f32_to_u16(v[i]);
      case DType::i16: return static_cast<u64>(f32_to_i16(v[i]));
      case DType::u32: return f32_to_u32(v[i]);
      case DType::i32: return static_cast<u64>(f32_to_i32(v[i]));
      case DType::u64: return f32_to_u64(v[i]);
      case DType::i64: return static_cast<u64>(f32_to_i64(v[i]));
      case DType::f16: return f32_to_f16(v[i]);
      case DType::bf16: return f32_to_bf16(v[i]);
      case DType::f32: return bits_f32(v[i]);
      case DType::f64: return bits_f64(f32_to_f64(v[i]));
      case DType::e4m3: return saturate ? f32_to_e4m3(v[i]) : f32_to_e4m3_nonsaturating(v[i]);
      case DType::e5m2: return saturate ? f32_to_e5m2(v[i]) : f32_to_e5m2_nonsaturating(v[i]);
      default: return 0;
    }
  });
}

void write_f64(Tensor& y, std::span<const f64> v, bool saturate) {
  write_with(y, [&](std::size_t i) -> u64 {
    switch (y.dtype()) {
      case DType::boolean: return v[i] != 0;
      case DType::u8: return f64_to_u8(v[i]);
      case DType::i8: return static_cast<u64>(f64_to_i8(v[i]));
      case DType::u16: return f64_to_u16(v[i]);
      case DType::i16: return static_cast<u64>(f64_to_i16(v[i]));
      case DType::u32: return f64_to_u32(v[i]);
      case DType::i32: return static_cast<u64>(f64_to_i32(v[i]));
      case DType::u64: return f64_to_u64(v[i]);
      case DType::i64: return static_cast<u64>(f64_to_i64(v[i]));
      case DType::f16: return f64_to_f16(v[i]);
      case DType::bf16: return f64_to_bf16(v[i]);
      case DType::f32: return bits_f32(f64_to_f32(v[i]));
      case DType::f64: return bits_f64(v[i]);
      case DType::e4m3: return saturate ? f64_to_e4m3(v[i]) : f64_to_e4m3_nonsaturating(v[i]);
      case DType::e5m2: return saturate ? f64_to_e5m2(v[i]) : f64_to_e5m2_nonsaturating(v[i]);
      default: return 0;
    }
  });
}

void write_i64(Tensor& y, std::span<const i64> v, bool saturate) {
  write_with(y, [&](std::size_t i) -> u64 {
    switch (y.dtype()) {
      case DType::boolean: return v[i] != 0;
      case DType::f16: return i64_to_f16(v[i]);
      case DType::bf16: return i64_to_bf16(v[i]);
      case DType::f32: return bits_f32(i64_to_f32(v[i]));
      case DType::f64: return bits_f64(i64_to_f64(v[i]));
      case DType::e4m3: return saturate ? i64_to_e4m3(v[i]) : i64_to_e4m3_nonsaturating(v[i]);
      case DType::e5m2: return saturate ? i64_to_e5m2(v[i]) : i64_to_e5m2_nonsaturating(v[i]);
      default: return static_cast<u64>(v[i]);  // the low bytes, which is wrapping
    }
  });
}

void write_u64(Tensor& y, std::span<const u64> v, bool saturate) {
  write_with(y, [&](std::size_t i) -> u64 {
    switch (y.dtype()) {
      case DType::boolean: return v[i] != 0;
      case DType::f16: return u64_to_f16(v[i]);
      case DType::bf16: return u64_to_bf16(v[i]);
      case DType::f32: return bits_f32(u64_to_f32(v[i]));
      case DType::f64: return bits_f64(u64_to_f64(v[i]));
      case DType::e4m3: return saturate ? u64_to_e4m3(v[i]) : u64_to_e4m3_nonsaturating(v[i]);
      case DType::e5m2: return saturate ? u64_to_e5m2(v[i]) : u64_to_e5m2_nonsaturating(v[i]);
      default: return v[i];
    }
  });
}

void write_truth(Tensor& y, std::span<const u8> v) {
  write_with(y, [&](std::size_t i) -> u64 { return v[i]; });
}

}  // namespace votive::reference
