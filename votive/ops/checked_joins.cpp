// Sums and products of integers in the checked mode, once more in 128 bits. Slow on purpose: the mode is for finding a mistake.
#include <algorithm>
#include <span>

#include "votive/base/text.h"
#include "votive/ops/modes.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

namespace votive {

namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

/// A sum or a product of integers as it truly is, up to what no dtype holds.
class Join {
 public:
  Join(Joined joined, i128 start) : joined_(joined), sum_(start), negative_(start < 0), magnitude_(magnitude_of(start)) {}

  void take(i128 v) {
    sum_ += v;
    const u128 size = magnitude_of(v);
    negative_ = negative_ != (v < 0);
    magnitude_ = size == 0 ? 0 : magnitude_ >= beyond ? beyond : std::min(magnitude_ * size, beyond);
  }
  /// Whether it is a number of the integer `dtype`.
  bool fits(DType dtype) const {
    const bool sums = joined_ == Joined::sums;
    const u128 magnitude = sums ? magnitude_of(sum_) : magnitude_;
    const bool negative = sums ? sum_ < 0 : negative_ && magnitude_ != 0;
    const auto width = static_cast<unsigned>(8 * block_bytes(dtype));
    if (is_unsigned_integer(dtype)) return !negative && magnitude >> width == 0;
    return magnitude <= (u128{1} << (width - 1)) - (negative ? 0 : 1);
  }

 private:
  static constexpr u128 beyond = u128{1} << 64;  // no number of any dtype; a factor other than 0 leaves it so
  static u128 magnitude_of(i128 v) { return static_cast<u128>(v < 0 ? -v : v); }

  Joined joined_;
  i128 sum_;
  bool negative_;
  u128 magnitude_;
};

/// The elements of an integer tensor, row-major.
std::vector<i128> numbers(const Tensor& x) {
  const bool is_unsigned = is_unsigned_integer(x.dtype());
  const std::vector<std::int64_t> bits =
      (is_unsigned ? bitcast(x.detach().to(DType::u64), DType::i64) : x.detach().to(DType::i64)).to_host<std::int64_t>();
  std::vector<i128> values;
  values.reserve(bits.size());
  for (const std::int64_t b : bits) values.push_back(is_unsigned ? static_cast<i128>(static_cast<std::uint64_t>(b)) : static_cast<i128>(b));
  return values;
}

}  // namespace

void require_joins_fit(std::string_view op, Joined joined, bool prefixes, const Tensor& x, std::uint32_t axes) {
  const Unchecked off;
  const DType result = is_unsigned_integer(x.dtype()) ? DType::u64 : DType::i64;
  const Tensor rows = to_rows(x.detach(), axes);
  const std::vector<i128> values = numbers(rows);
  const Size n = rows.size(1);
  for (Size row = 0; row < rows.size(0); ++row) {
    Join join(joined, joined == Joined::sums ? 0 : 1);
    for (Size i = 0; i < n; ++i) {
      join.take(values[static_cast<std::size_t>(row * n + i)]);
      if ((!prefixes && i + 1 < n) || join.fits(result)) continue;
      const Meta meta = x.meta();
      throw error_about(ErrorKind::IntegerOverflow, op, {{"x", 1, meta}})
          .detail(text::format("{}: result {} does not fit {}", describe(meta), prefixes ? row * n + i : row, to_string(result)))
          .hint("Sum in floats, e.g. {.dtype = f64}");
    }
  }
}

void require_updates_fit(std::string_view op, Joined joined, const Tensor& x, const Tensor& targets, const Tensor& updates) {
  const Unchecked off;
  std::vector<Join> joins;
  for (const i128 v : numbers(x)) joins.emplace_back(joined, v);
  const std::vector<i128> to = numbers(targets), values = numbers(updates);
  for (std::size_t i = 0; i < values.size(); ++i) joins[static_cast<std::size_t>(to[i])].take(values[i]);
  for (std::size_t i = 0; i < joins.size(); ++i) {
    if (joins[i].fits(x.dtype())) continue;
    std::vector<Size> position(static_cast<std::size_t>(x.rank()));
    auto rest = static_cast<Size>(i);
    for (int axis = x.rank() - 1; axis >= 0; --axis) {
      position[static_cast<std::size_t>(axis)] = rest % x.shape()[axis];
      rest /= x.shape()[axis];
    }
    const Meta meta = x.meta();
    throw error_about(ErrorKind::IntegerOverflow, op, {{"x", 1, meta}})
        .position(position)
        .detail(text::format("{}: the result at position {} is not in {}", describe(meta),
                             to_string(Shape(std::span<const Size>(position))), to_string(x.dtype())))
        .hint("Cast x, e.g. x.to(i64)");
  }
}

}  // namespace votive
