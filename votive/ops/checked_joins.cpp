// Sums and products of integers in the checked mode, once more in 128 bits. Slow on purpose: the mode is for finding a mistake.
#include "votive/base/text.h"
#include "votive/ops/ops.h"
#include "votive/ops/reduce.h"

namespace votive {

namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

/// Whether |v| with this sign is a number of the result's dtype.
bool fits(bool is_unsigned, bool negative, u128 magnitude) {
  if (is_unsigned) return !negative && magnitude >> 64 == 0;
  return magnitude <= (u128{1} << 63) - (negative ? 0 : 1);
}

}  // namespace

void require_joins_fit(std::string_view op, Joined joined, bool prefixes, const Tensor& x, std::uint32_t axes) {
  const bool is_unsigned = is_unsigned_integer(x.dtype());
  const Tensor rows = to_rows(x.detach(), axes);
  // the 64 bits of every element
  const std::vector<std::int64_t> values =
      (is_unsigned ? bitcast(rows.to(DType::u64), DType::i64) : rows.to(DType::i64)).to_host<std::int64_t>();
  const Size n = rows.size(1);
  for (Size row = 0; row < rows.size(0); ++row) {
    i128 sum = 0;
    bool negative = false;
    u128 magnitude = 1;
    const u128 beyond = u128{1} << 64;  // no number of either dtype, and stays so
    for (Size i = 0; i < n; ++i) {
      const std::int64_t bits = values[static_cast<std::size_t>(row * n + i)];
      const i128 v = is_unsigned ? static_cast<i128>(static_cast<std::uint64_t>(bits)) : static_cast<i128>(bits);
      sum += v;
      const u128 size = static_cast<u128>(v < 0 ? -v : v);
      negative = negative != (v < 0);
      magnitude = size == 0 ? 0 : magnitude >= beyond ? beyond : magnitude * size;
      if (magnitude > beyond) magnitude = beyond;
      if (!prefixes && i + 1 < n) continue;
      const bool good = joined == Joined::sums ? fits(is_unsigned, sum < 0, static_cast<u128>(sum < 0 ? -sum : sum))
                                               : fits(is_unsigned, negative && magnitude != 0, magnitude);
      if (good) continue;
      const Meta meta = x.meta();
      throw error_about(ErrorKind::IntegerOverflow, op, {{"x", 1, meta}})
          .detail(text::format("{}: result {} does not fit {}", describe(meta), prefixes ? row * n + i : row, is_unsigned ? "u64" : "i64"))
          .hint("Sum in floats, e.g. {.dtype = f64}");
    }
  }
}

}  // namespace votive
