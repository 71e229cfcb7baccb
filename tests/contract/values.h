// Inputs of generated cases: elements that matter (corners of each dtype, special values, every magnitude) in every layout a view can have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "votive/core/tensor.h"

namespace votive::contract {

/// Whether a sanitizer watches: everything takes some thirty times as long then, and what is looked at is accesses, not values.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// SplitMix64: a test needs numbers that are the same everywhere, not good ones.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  /// 0 … n−1
  Size below(Size n) { return static_cast<Size>(next() % static_cast<std::uint64_t>(n)); }
  Size between(Size low, Size high) { return low + below(high - low + 1); }
  bool one_in(int n) { return below(n) == 0; }
  /// Uniform in [−1, 1).
  double unit() { return static_cast<double>(static_cast<std::int64_t>(next())) * 0x1p-63; }

 private:
  std::uint64_t state_;
};

/// The seed of this run: VOTIVE_SEED, else a constant, or under VOTIVE_EXHAUSTIVE another one every time. The test programs print it.
std::uint64_t seed_of_run();
/// Mixed with `name`, so that each operation has numbers of its own.
std::uint64_t seed_of(std::string_view name);

enum class Values : std::uint8_t {
  any,             ///< corners, random bits and moderate numbers
  corners,         ///< only the telling ones: ±0, ±inf, NaN, subnormals, extremes, halves, 2^k ± 1
  moderate,        ///< within ±4, no specials
  wide,            ///< magnitudes from 2⁻²⁰ to 2²⁰: sums depend on their order
  small_integers,  ///< −8 … 8: exact in every dtype that has them
  truth,           ///< 0 and 1
  index,           ///< low … high − 1 of the input
  position,        ///< 0 … 5000, and now and then 100 000
  every,           ///< all values of an 8- or 16-bit dtype in order, repeated
};

enum class LayoutKind : std::uint8_t { contiguous, transposed, sliced, flipped, broadcast, odd_strides };
inline constexpr LayoutKind every_layout[] = {LayoutKind::contiguous, LayoutKind::transposed, LayoutKind::sliced,
                                              LayoutKind::flipped,    LayoutKind::broadcast,  LayoutKind::odd_strides};
std::string_view to_string(LayoutKind kind);

struct Input {
  DType dtype = DType::f32;
  Shape shape = {};
  Values values = Values::any;
  std::int64_t low = 0, high = 1;  // of Values::index
  bool always_contiguous = false;  // quantised weights, and what the case needs dense
  bool present = true;
};

/// One element of a dtype, low bytes first.
std::uint64_t element_bits(Rng& rng, const Input& input, Size i);
/// The telling values of a dtype.
const std::vector<std::uint64_t>& corners_of(DType dtype);

/// A tensor on the cpu with this input's shape, its elements where `kind` puts them.
Tensor make(Rng& rng, const Input& input, LayoutKind kind);
/// The same elements, row-major, on another device, without any kernel.
Tensor moved(const Tensor& x, Device device);
/// The bytes of the elements in row-major order, whatever the layout; of quantised tensors the blocks.
std::vector<std::byte> bytes_of(const Tensor& x);

/// Elements equal to the bit, where any NaN equals any NaN unless `exact_nan`. Says the first difference.
std::string difference(const Tensor& actual, const Tensor& expected, bool exact_nan);

}  // namespace votive::contract
