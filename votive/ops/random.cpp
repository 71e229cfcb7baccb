// Random tensors: functions of (seed, stream, offset, logical index) alone (CONTRACT.md 7). No hidden generator exists.
#include "votive/numerics/random.h"

#include "votive/base/text.h"
#include "votive/ops/apply.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"

namespace votive {

using text::format;

namespace {

Tensor draw(std::string_view op, RandomKind kind, const Shape& shape, const RandomOptions& options, std::int64_t low = 0,
            std::int64_t high = 1) {
  const bool integers = kind == RandomKind::integers;
  if (integers ? !is_integer(options.dtype) : !is_floating(options.dtype)) {
    throw Error(ErrorKind::DTypeMismatch, op)
        .detail(format("dtype {}", to_string(options.dtype)))
        .dtype(to_string(options.dtype))
        .accepted(integers ? "u8, i8, u16, i16, u32, i32, u64, i64" : "f16, bf16, f32, f64");
  }
  checked_count(op, shape, block_bytes(options.dtype));
  return apply(Random{.meta = {.dtype = options.dtype, .shape = shape, .device = options.device},
                      .kind = kind,
                      .seed = options.seed,
                      .stream = options.stream,
                      .offset = options.offset,
                      .integer_low = low,
                      .integer_high = high});
}

/// Draws from the generator's place and moves it past the Philox blocks used, four words each.
template <class Draw>
Tensor advance(Generator& generator, const Shape& shape, RandomOptions options, int words_per_element, Draw draw_at) {
  options.seed = generator.seed;
  options.stream = generator.stream;
  options.offset = generator.offset;
  Tensor y = draw_at(shape, options);
  const auto n = static_cast<std::uint64_t>(y.count());
  const auto words = static_cast<std::uint64_t>(words_per_element);
  generator.offset += n / 4 * words + (n % 4 * words + 3) / 4;
  return y;
}

int words_of(DType dtype) { return dtype == DType::f64 ? 2 : 1; }

}  // namespace

Generator Generator::fork(std::uint64_t k) const { return {seed, numerics::fork_stream(stream, k), 0}; }

Tensor rand(const Shape& shape, RandomOptions options) { return draw("rand", RandomKind::uniform, shape, options); }
Tensor randn(const Shape& shape, RandomOptions options) { return draw("randn", RandomKind::normal, shape, options); }

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, RandomOptions options) {
  if (low >= high) throw Error(ErrorKind::InvalidArgument, "randint").detail(format("no integer is in [{}, {})", low, high));
  if (is_integer(options.dtype)) {
    for (const std::int64_t end : {low, high - 1}) literal_bits("randint", end, options.dtype, "Give a wider dtype");
  }
  return draw("randint", RandomKind::integers, shape, options, low, high);
}

Tensor rand(const Shape& shape, Generator& generator, RandomOptions options) {
  return advance(generator, shape, options, words_of(options.dtype), [](const Shape& s, const RandomOptions& o) { return rand(s, o); });
}
Tensor randn(const Shape& shape, Generator& generator, RandomOptions options) {
  // the last element of an odd draw uses both words of its pair
  return advance(generator, shape, options, words_of(options.dtype), [](const Shape& s, const RandomOptions& o) { return randn(s, o); });
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, RandomOptions options) {
  return advance(generator, shape, options, 2, [&](const Shape& s, const RandomOptions& o) { return randint(low, high, s, o); });
}

}  // namespace votive
