// How the inputs of fingerprints are made and their outputs hashed. The inputs are bits from Philox, so that they hold every kind of float: large, small,
// subnormal, infinite and NaN. They are the same on every device: made by the cpu, then moved.
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "fingerprint_list.h"

namespace votive::app {

namespace {

enum class Kind : std::uint8_t { bits, normal, small, positions };

/// Inputs are made once and shared by all rows of the table, which they are the same for; tensors are immutable, and what makes random numbers has
/// fingerprints of its own.
Tensor shared(Kind kind, const Shape& shape, DType dtype, std::uint64_t seed, Size n, Device device, const std::function<Tensor()>& make) {
  using Key = std::tuple<Kind, std::vector<Size>, DType, std::uint64_t, Size, Device::Kind>;
  static std::map<Key, Tensor> made;
  Tensor& x = made[{kind, {shape.begin(), shape.end()}, dtype, seed, n, device.kind}];
  if (!x.defined()) x = make();
  return x;
}

Tensor bits_of(const Shape& shape, DType dtype, std::uint64_t seed) {
  const Size n = count(shape);
  const Size bytes = n / block_size(dtype) * block_bytes(dtype);
  const Tensor words = randint(0, 256, {bytes}, {.seed = seed, .dtype = u8});
  const std::vector<std::uint8_t> raw = words.to_host<std::uint8_t>();
  Tensor x = Tensor::allocate("fingerprint", {dtype, shape});
  std::byte* to = x.mutable_buffer();
  for (Size i = 0; i < bytes; ++i) {
    const std::uint8_t byte = raw[static_cast<std::size_t>(i)];
    to[i] = static_cast<std::byte>(dtype == boolean ? byte & 1 : byte);
  }
  return x;
}

}  // namespace

Tensor random_bits(const Shape& shape, DType dtype, std::uint64_t seed, Device device) {
  return shared(Kind::bits, shape, dtype, seed, 0, device, [&] { return bits_of(shape, dtype, seed).to(device); });
}

Tensor normal(const Shape& shape, DType dtype, std::uint64_t seed, Device device) {
  return shared(Kind::normal, shape, dtype, seed, 0, device,
                [&] { return randn(shape, {.seed = seed, .dtype = f32}).to(dtype).to(device); });
}

Tensor random_weight(Size n, Size k, DType dtype, Device device) {
  Tensor w = Tensor::allocate("fingerprint", {dtype, {n, k}});
  const std::vector<std::uint8_t> raw =
      randint(0, 256, {static_cast<Size>(w.buffer_bytes())}, {.seed = 99, .dtype = u8}).to_host<std::uint8_t>();
  std::memcpy(w.mutable_buffer(), raw.data(), raw.size());
  const Size step = block_bytes(dtype), blocks = n * k / block_size(dtype);
  const bool two = dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q4_k || dtype == DType::q5_k;
  const Size first = dtype == DType::q6_k ? 208 : 0;
  for (Size b = 0; b < blocks; ++b) {
    for (Size i = 0; i < (two ? 2 : 1); ++i) {
      std::byte* high = w.mutable_buffer() + b * step + first + 2 * i + 1;
      *high = (*high & std::byte{0x83}) | std::byte{0x18};  // exponent 6 or 7 of 31: about 2^-9
    }
  }
  return w.to(device);
}

Tensor numbers(const Shape& shape, DType dtype, std::uint64_t seed, Device device) {
  return is_floating(dtype) || is_float8(dtype) ? normal(shape, dtype, seed, device) : random_bits(shape, dtype, seed, device);
}

Tensor small(const Shape& shape, DType dtype, std::uint64_t seed, Device device) {
  const bool negative = is_signed_integer(dtype) || is_floating(dtype) || is_float8(dtype);
  return shared(Kind::small, shape, dtype, seed, 0, device,
                [&] { return randint(negative ? -8 : 0, 9, shape, {.seed = seed, .dtype = i64}).to(dtype).to(device); });
}

Tensor positions(const Shape& shape, Size n, DType dtype, std::uint64_t seed, Device device) {
  return shared(Kind::positions, shape, dtype, seed, n, device,
                [&] { return randint(0, n, shape, {.seed = seed, .dtype = i64}).to(dtype).to(device); });
}

std::uint64_t hash_of(const Tensor& given) {
  const Tensor x = contiguous(given.device() == Device::cpu ? given : given.to(Device::cpu));
  const bool wide = x.dtype() == f64;
  const Tensor numbers = is_floating(x.dtype()) && !wide ? x.to(f32) : x;
  const Size bytes = numbers.count() * block_bytes(numbers.dtype());
  const std::byte* data = numbers.buffer() + numbers.offset() * block_bytes(numbers.dtype());
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  const auto mix = [&](const void* from, Size n) {
    for (Size i = 0; i < n; ++i) hash = (hash ^ static_cast<const unsigned char*>(from)[i]) * 0x100000001b3u;
  };
  if (numbers.dtype() == f32) {
    for (Size i = 0; i < numbers.count(); ++i) {
      float v;
      std::memcpy(&v, data + 4 * i, 4);
      if (std::isnan(v)) v = std::nanf("");
      std::uint32_t bits;
      std::memcpy(&bits, &v, 4);
      if (std::isnan(v)) bits = 0x7fc00000u;
      mix(&bits, 4);
    }
  } else if (wide) {
    for (Size i = 0; i < numbers.count(); ++i) {
      double v;
      std::memcpy(&v, data + 8 * i, 8);
      std::uint64_t bits;
      std::memcpy(&bits, &v, 8);
      if (std::isnan(v)) bits = 0x7ff8000000000000u;
      mix(&bits, 8);
    }
  } else {
    mix(data, bytes);
  }
  return hash;
}

namespace {

struct Mixer {
  std::uint64_t hash = 0xcbf29ce484222325u;
  void operator()(std::uint64_t word) {
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
};

/// The one NaN that stands for all of its dtype, or the bits as they are.
std::uint64_t canonical(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::f64: return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u ? 0x7ff8000000000000u : bits;
    case DType::f32: return (bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : bits;
    case DType::f16: return (bits & 0x7fffu) > 0x7c00u ? 0x7e00u : bits;
    case DType::bf16: return (bits & 0x7fffu) > 0x7f80u ? 0x7fc0u : bits;
    case DType::e4m3: return (bits & 0x7fu) == 0x7fu ? 0x7fu : bits;
    case DType::e5m2: return (bits & 0x7fu) > 0x7cu ? 0x7eu : bits;
    default: return bits;
  }
}

}  // namespace

std::uint64_t hash_of_all(const std::vector<Tensor>& outputs, NanBits nan_bits) {
  Mixer mix;
  for (const Tensor& given : outputs) {
    const Tensor x = contiguous(given.device() == Device::cpu ? given : given.to(Device::cpu));
    for (const char c : to_string(x.dtype())) mix(static_cast<unsigned char>(c));
    for (const Size n : x.shape()) mix(static_cast<std::uint64_t>(n));
    const Size width = block_bytes(x.dtype());
    const std::byte* from = x.buffer() + x.offset() / block_size(x.dtype()) * width;
    if (is_quantised(x.dtype())) {
      for (Size i = 0; i < x.count() / block_size(x.dtype()) * width; ++i) mix(static_cast<std::uint64_t>(from[i]));
      continue;
    }
    for (Size i = 0; i < x.count(); ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, from + i * width, static_cast<std::size_t>(width));
      mix(nan_bits == NanBits::exact ? bits : canonical(x.dtype(), bits));
    }
  }
  return mix.hash;
}

}  // namespace votive::app
