// How elements and layouts of generated inputs are made, and how results are compared.
#include "tests/contract/values.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "votive/core/walk.h"
#include "votive/numerics/convert.h"
#include "votive/ops/ops.h"

namespace votive::contract {

std::uint64_t Rng::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::uint64_t seed_of_run() {
  static const std::uint64_t seed = [] {
    if (const char* wish = std::getenv("VOTIVE_SEED")) {
      std::uint64_t number = 0;
      const char* const end = wish + std::strlen(wish);
      if (const auto [stop, code] = std::from_chars(wish, end, number); code != std::errc() || stop != end) {
        std::fprintf(stderr, "VOTIVE_SEED=%s is not a number from 0 to 2^64 - 1\n", wish);
        std::exit(2);
      }
      return number;
    }
    if (std::getenv("VOTIVE_EXHAUSTIVE") != nullptr) return std::uint64_t{std::random_device{}()};
    return std::uint64_t{20240229};
  }();
  return seed;
}

std::uint64_t seed_of(std::string_view name) {
  std::uint64_t seed = seed_of_run();
  for (const char c : name) seed = seed * 1099511628211u + static_cast<unsigned char>(c);
  return seed;
}

std::string_view to_string(LayoutKind kind) {
  constexpr std::string_view names[] = {"contiguous", "transposed", "sliced", "flipped", "broadcast", "odd strides"};
  return names[static_cast<int>(kind)];
}

namespace {

/// The nearest element of a float dtype.
std::uint64_t float_bits(DType dtype, double value) {
  switch (dtype) {
    case DType::f16: return numerics::f64_to_f16(value);
    case DType::bf16: return numerics::f64_to_bf16(value);
    case DType::f32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::e4m3: return numerics::f64_to_e4m3(value);
    case DType::e5m2: return numerics::f64_to_e5m2(value);
    default: return std::bit_cast<std::uint64_t>(value);
  }
}

struct FloatFormat {
  int width, mantissa;
};
FloatFormat format_of(DType dtype) {
  switch (dtype) {
    case DType::f16: return {16, 10};
    case DType::bf16: return {16, 7};
    case DType::f32: return {32, 23};
    case DType::e4m3: return {8, 3};
    case DType::e5m2: return {8, 2};
    default: return {64, 52};
  }
}

bool is_float(DType dtype) { return is_floating(dtype) || is_float8(dtype); }

std::vector<std::uint64_t> float_corners(DType dtype) {
  const auto [width, mantissa] = format_of(dtype);
  const std::uint64_t sign = std::uint64_t{1} << (width - 1), ones = (std::uint64_t{1} << mantissa) - 1;
  const std::uint64_t infinity = sign - 1 - ones;  // the exponent full; in e4m3 the largest numbers lie there
  std::vector<std::uint64_t> magnitudes{
      0, 1, 2, ones, ones + 1, ones + 2, infinity - 1, infinity, infinity + 1, sign - 1, infinity | (ones >> 1)};
  for (const double v : {0.5,
                         1.0,
                         1.5,
                         2.0,
                         2.5,
                         3.0,
                         3.14159265358979,
                         1.0 / 3,
                         88.5,
                         103.0,
                         127.0,
                         128.0,
                         255.0,
                         256.0,
                         257.0,
                         448.0,
                         464.0,
                         2048.5,
                         65504.0,
                         65520.0,
                         57344.0,
                         61440.0,
                         16777215.0,
                         16777217.0,
                         2147483647.0,
                         2147483648.0,
                         4294967296.0,
                         9007199254740993.0,
                         9223372036854775808.0,
                         18446744073709551616.0,
                         1e-3,
                         1e-8,
                         0x1p-24,
                         0x1p-25,
                         0x1p-126,
                         0x1p-149,
                         1e30}) {
    const std::uint64_t bits = float_bits(dtype, v);
    magnitudes.insert(magnitudes.end(), {bits, bits + 1, bits - 1});
  }
  std::vector<std::uint64_t> corners;
  for (const std::uint64_t m : magnitudes) {
    corners.push_back(m & (sign - 1));
    corners.push_back((m & (sign - 1)) | sign);
  }
  return corners;
}

std::vector<std::uint64_t> integer_corners(DType dtype) {
  if (dtype == DType::boolean) return {0, 1};
  std::vector<std::uint64_t> corners;
  for (int power = 0; power < block_bytes(dtype) * 8; ++power) {
    const std::uint64_t p = std::uint64_t{1} << power;
    for (const std::uint64_t v : {p - 1, p, p + 1}) {
      corners.push_back(v);
      corners.push_back(std::uint64_t{0} - v);
    }
  }
  return corners;
}

}  // namespace

const std::vector<std::uint64_t>& corners_of(DType dtype) {
  static std::vector<std::uint64_t> all[dtype_count];
  std::vector<std::uint64_t>& corners = all[static_cast<int>(dtype)];
  if (corners.empty()) corners = is_float(dtype) ? float_corners(dtype) : integer_corners(dtype);
  return corners;
}

std::uint64_t element_bits(Rng& rng, const Input& input, Size i) {
  const DType d = input.dtype;
  switch (input.values) {
    case Values::truth: return static_cast<std::uint64_t>(rng.below(2));
    case Values::index: return static_cast<std::uint64_t>(rng.between(input.low, input.high - 1));
    case Values::position:
      return static_cast<std::uint64_t>(rng.one_in(16) ? 100000 : rng.below(5000)) & (block_bytes(d) == 1 ? 127 : ~std::uint64_t{0});
    case Values::every: return static_cast<std::uint64_t>(i);
    case Values::small_integers: {
      const std::int64_t v = is_unsigned_integer(d) ? rng.below(9) : rng.between(-8, 8);
      return is_float(d)           ? float_bits(d, static_cast<double>(v))
             : d == DType::boolean ? static_cast<std::uint64_t>(v & 1)
                                   : static_cast<std::uint64_t>(v);
    }
    case Values::corners: return corners_of(d)[static_cast<std::size_t>(rng.below(static_cast<Size>(corners_of(d).size())))];
    case Values::moderate:
      if (is_float(d)) return float_bits(d, 4 * rng.unit());
      return d == DType::boolean ? rng.next() & 1 : rng.next() & 63;
    case Values::wide:
      if (is_float(d)) return float_bits(d, rng.unit() * std::ldexp(1.0, static_cast<int>(rng.between(-20, 20))));
      return d == DType::boolean ? rng.next() & 1 : rng.next();
    case Values::any: break;
  }
  if (d == DType::boolean) return rng.next() & 1;
  Input one = input;
  switch (rng.below(4)) {
    case 0: one.values = Values::corners; break;
    case 1: return rng.next();
    case 2: one.values = Values::wide; break;
    default: one.values = Values::moderate;
  }
  return element_bits(rng, one, i);
}

namespace {

/// Blocks of random bytes whose scales are finite, but for one block in 64 where they are whatever they are.
void fill_blocks(Rng& rng, DType dtype, std::byte* to, Size blocks) {
  const Size bytes = block_bytes(dtype);
  for (Size b = 0; b < blocks; ++b, to += bytes) {
    for (Size i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(rng.next());
    if (rng.one_in(256)) continue;
    const Size scale_at = dtype == DType::q6_k ? bytes - 2 : 0;
    const bool has_second = dtype == DType::q4_1 || dtype == DType::q5_1 || dtype == DType::q4_k || dtype == DType::q5_k;
    for (Size i = 0; i < (has_second ? 2 : 1); ++i) {
      const std::uint16_t scale = numerics::f64_to_f16(rng.unit() * 0.125);
      std::memcpy(to + scale_at + 2 * i, &scale, 2);
    }
  }
}

Tensor filled(Rng& rng, const Input& input, const Shape& shape) {
  Tensor x = Tensor::allocate("make", {.dtype = input.dtype, .shape = shape});
  if (x.count() == 0) return x;
  if (is_quantised(input.dtype)) {
    fill_blocks(rng, input.dtype, x.mutable_buffer(), x.count() / block_size(input.dtype));
    return x;
  }
  const auto width = static_cast<std::size_t>(block_bytes(input.dtype));
  for (Size i = 0; i < x.count(); ++i) {
    const std::uint64_t bits = element_bits(rng, input, i);
    std::memcpy(x.mutable_buffer() + static_cast<std::size_t>(i) * width, &bits, width);
  }
  return x;
}

}  // namespace

Tensor make(Rng& rng, const Input& input, LayoutKind kind) {
  const Shape& shape = input.shape;
  const int rank = shape.rank();
  if (rank == 0 || input.always_contiguous || input.values == Values::every) return filled(rng, input, shape);
  Shape base = shape;
  switch (kind) {
    case LayoutKind::contiguous: return filled(rng, input, shape);
    case LayoutKind::transposed: {
      std::vector<int> axes;
      for (int axis = 0; axis < rank; ++axis) {
        base[axis] = shape[rank - 1 - axis];
        axes.push_back(rank - 1 - axis);
      }
      return permute(filled(rng, input, base), axes);
    }
    case LayoutKind::sliced: {
      for (int axis = 0; axis < rank; ++axis) base[axis] = 2 * shape[axis] + 1;
      Tensor x = filled(rng, input, base);
      for (int axis = 0; axis < rank; ++axis) x = slice(x, {.axis = axis, .start = 1, .step = 2});
      return x;
    }
    case LayoutKind::flipped: {
      Tensor x = filled(rng, input, shape);
      for (int axis = 0; axis < rank; ++axis) {
        if (axis == rank - 1 || rng.one_in(2)) x = flip(x, axis);
      }
      return x;
    }
    case LayoutKind::broadcast: {
      for (int axis = 0; axis < rank; ++axis) {
        if (shape[axis] > 0 && (rank == 1 || rng.one_in(2))) base[axis] = 1;
      }
      return broadcast_to(filled(rng, input, base), shape);
    }
    case LayoutKind::odd_strides: {
      for (int axis = 0; axis < rank; ++axis) base[axis] = shape[axis] + 1 + axis % 2;
      Tensor x = filled(rng, input, base);
      for (int axis = 0; axis < rank; ++axis) x = narrow(x, axis, 1, shape[axis]);
      return x;
    }
  }
  return filled(rng, input, shape);
}

std::vector<std::byte> bytes_of(const Tensor& x) {
  const Size block = block_size(x.dtype()), bytes = block_bytes(x.dtype());
  std::vector<std::byte> result;
  if (is_quantised(x.dtype())) {
    const std::byte* from = x.buffer() + x.offset() / block * bytes;
    return {from, from + x.count() / block * bytes};
  }
  result.reserve(static_cast<std::size_t>(x.count() * bytes));
  Walk<1> walk({&x.layout()});
  walk.for_each_run(0, walk.count(), [&](const std::array<Size, 1>& offsets, Size n) {
    for (Size i = 0; i < n; ++i) {
      const std::byte* from = x.buffer() + (offsets[0] + i * walk.step(0)) * bytes;
      result.insert(result.end(), from, from + bytes);
    }
  });
  return result;
}

Tensor moved(const Tensor& x, Device device) {
  if (!x.defined()) return x;
  Meta meta = x.meta();
  meta.device = device;
  Tensor y = Tensor::allocate("moved", meta);
  const std::vector<std::byte> bytes = bytes_of(x);
  if (!bytes.empty()) std::memcpy(y.mutable_buffer(), bytes.data(), bytes.size());
  return y;
}

namespace {

bool is_nan(DType dtype, std::uint64_t bits) {
  if (!is_float(dtype)) return false;
  const auto [width, mantissa] = format_of(dtype);
  const std::uint64_t magnitude = bits & ((std::uint64_t{1} << (width - 1)) - 1), ones = (std::uint64_t{1} << mantissa) - 1;
  const std::uint64_t infinity = (std::uint64_t{1} << (width - 1)) - 1 - ones;
  return dtype == DType::e4m3 ? magnitude == 0x7f : magnitude > infinity;
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, bool exact_nan) {
  if (actual.dtype() != expected.dtype() || actual.shape() != expected.shape()) {
    return fmt::format("{}{} instead of {}{}", to_string(actual.dtype()), to_string(actual.shape()), to_string(expected.dtype()),
                       to_string(expected.shape()));
  }
  const std::vector<std::byte> a = bytes_of(actual), b = bytes_of(expected);
  if (a == b) return {};
  const auto width = static_cast<std::size_t>(block_bytes(actual.dtype()));
  Size differing = 0;
  std::string first;
  for (std::size_t i = 0; i < a.size() / width; ++i) {
    std::uint64_t p = 0, q = 0;
    std::memcpy(&p, a.data() + i * width, width);
    std::memcpy(&q, b.data() + i * width, width);
    if (p == q || (!exact_nan && is_nan(actual.dtype(), p) && is_nan(actual.dtype(), q))) continue;
    if (++differing == 1) first = fmt::format("element {} is 0x{:0{}x}, expected 0x{:0{}x}", i, p, 2 * width, q, 2 * width);
  }
  if (differing == 0) return {};
  return fmt::format("{} of {} elements of {}{} differ; {}", differing, a.size() / width, to_string(actual.dtype()),
                     to_string(actual.shape()), first);
}

}  // namespace votive::contract
