// Random numbers as functions of (seed, stream, offset, logical index) alone (CONTRACT.md 7). No hidden generator exists.
#include "votive/numerics/random.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "votive/base/float_environment.h"
#include "votive/base/text.h"
#include "votive/ops/literal.h"
#include "votive/ops/ops.h"
#include "votive/ops/views.h"

namespace votive {

namespace {

Random drawn_from(std::string_view op, RandomKind kind, const Shape& shape, const RandomOptions& options) {
  checked_count(op, shape, block_bytes(options.dtype));
  return {.meta = {.dtype = options.dtype, .shape = shape, .device = options.device},
          .kind = kind,
          .seed = options.seed,
          .stream = options.stream,
          .offset = options.offset,
          .called = op};
}

void require_dtype(std::string_view op, DType dtype, bool fits, std::string_view accepted) {
  if (fits) return;
  throw Error(ErrorKind::DTypeMismatch, op)
      .detail(text::format("dtype {}", to_string(dtype)))
      .dtype(to_string(dtype))
      .accepted(std::string(accepted));
}

void require_floats(std::string_view op, DType dtype) { require_dtype(op, dtype, is_floating(dtype), "f16, bf16, f32, f64"); }

RandomOptions like(std::string_view op, const Tensor& x, RandomOptions options) {
  const Meta meta = x.meta();
  require_floating(op, {"x", 1, meta});
  options.dtype = meta.dtype;
  options.device = meta.device;
  return options;
}

/// Where a generator stands.
RandomOptions at(const Generator& generator, RandomOptions options) {
  options.seed = generator.seed;
  options.stream = generator.stream;
  options.offset = generator.offset;
  return options;
}

/// Moves a generator past `elements` of so many words each; a Philox block has four.
void advance(Generator& generator, Size elements, int words_per_element) {
  const auto n = static_cast<std::uint64_t>(elements), words = static_cast<std::uint64_t>(words_per_element);
  generator.offset += n / 4 * words + (n % 4 * words + 3) / 4;
}

int words_of(DType dtype) { return dtype == DType::f64 ? 2 : 1; }

Tensor normal_draw(std::string_view op, const Shape& shape, const RandomOptions& options) {
  const FloatEnvironment environment;
  require_floats(op, options.dtype);
  return apply(drawn_from(op, RandomKind::normal, shape, options));
}

/// The dtype's value of a number, by the rules of literals.
double rounded_to(std::string_view op, double value, DType dtype) {
  const std::uint64_t bits = literal_bits(op, value, dtype, "Give a wider dtype");
  switch (dtype) {
    case DType::f16: return numerics::f16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::bf16: return numerics::bf16_to_f32(static_cast<std::uint16_t>(bits));
    case DType::f32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default: return value;
  }
}

double require_probability(std::string_view op, double p) {
  if (!(p >= 0 && p <= 1))
    throw Error(ErrorKind::InvalidArgument, op).value(text::format("{}", p)).detail(text::format("p = {} is not in [0, 1]", p));
  return p;
}

Tensor words(std::string_view op, const Shape& shape, RandomOptions options) {
  options.dtype = DType::u32;
  return apply(drawn_from(op, RandomKind::words, shape, options));
}

Tensor bernoulli_draw(std::string_view op, double p, const Shape& shape, const RandomOptions& options) {
  const FloatEnvironment environment;
  require_probability(op, p);
  const Tensor truth = lt(words(op, shape, options), numerics::bernoulli_threshold(p));
  return truth.to(options.dtype);
}

}  // namespace

Generator Generator::fork(std::uint64_t k) const { return {seed, numerics::fork_stream(stream, k), 0}; }

Generator Generator::from_entropy() {
  std::random_device entropy;
  const std::uint64_t high = entropy(), low = entropy();
  return {.seed = high << 32 | (low & 0xffffffffu)};
}

Tensor rand(const Shape& shape, RandomOptions options) {
  require_floats("rand", options.dtype);
  return apply(drawn_from("rand", RandomKind::uniform, shape, options));
}
Tensor rand(const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = rand(shape, at(generator, options));
  advance(generator, y.count(), words_of(options.dtype));
  return y;
}
Tensor rand_like(const Tensor& x, RandomOptions options) {
  return apply(drawn_from("rand_like", RandomKind::uniform, x.meta().shape, like("rand_like", x, options)));
}
Tensor rand_like(const Tensor& x, Generator& generator) {
  Tensor y = rand_like(x, at(generator, {}));
  advance(generator, y.count(), words_of(y.dtype()));
  return y;
}

Tensor uniform(double low, double high, const Shape& shape, RandomOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "uniform";
  require_floats(op, options.dtype);
  Random random = drawn_from(op, RandomKind::uniform, shape, options);
  random.low = rounded_to(op, low, options.dtype);
  random.high = rounded_to(op, high, options.dtype);
  const bool wide = options.dtype == DType::f64;
  const double distance =
      wide ? random.high - random.low : static_cast<double>(static_cast<float>(random.high) - static_cast<float>(random.low));
  if (!(random.low < random.high) || !std::isfinite(distance)) {
    throw Error(ErrorKind::InvalidArgument, op)
        .detail(text::format("[{}, {}) as {} is [{}, {})", low, high, to_string(options.dtype), random.low, random.high))
        .accepted("low < high, a finite distance apart");
  }
  return apply(random);
}
Tensor uniform(double low, double high, const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = uniform(low, high, shape, at(generator, options));
  advance(generator, y.count(), words_of(options.dtype));
  return y;
}

Tensor randn(const Shape& shape, RandomOptions options) { return normal_draw("randn", shape, options); }
Tensor randn(const Shape& shape, Generator& generator, RandomOptions options) {
  // the last element of an odd draw uses both words of its pair
  Tensor y = randn(shape, at(generator, options));
  advance(generator, y.count(), words_of(options.dtype));
  return y;
}
Tensor randn_like(const Tensor& x, RandomOptions options) {
  return normal_draw("randn_like", x.meta().shape, like("randn_like", x, options));
}
Tensor randn_like(const Tensor& x, Generator& generator) {
  Tensor y = randn_like(x, at(generator, {}));
  advance(generator, y.count(), words_of(y.dtype()));
  return y;
}

Tensor normal(double mean, double deviation, const Shape& shape, RandomOptions options) {
  const FloatEnvironment environment;
  require_floats("normal", options.dtype);
  for (const double value : {mean, deviation}) literal_bits("normal", value, options.dtype, "Give a wider dtype");
  if (!(deviation >= 0) || !std::isfinite(deviation) || !std::isfinite(mean))
    throw Error(ErrorKind::InvalidArgument, "normal")
        .detail(text::format("mean {} and deviation {}", mean, deviation))
        .accepted("numbers, deviation ≥ 0");
  return normal_draw("normal", shape, options) * deviation + mean;
}
Tensor normal(double mean, double deviation, const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = normal(mean, deviation, shape, at(generator, options));
  advance(generator, y.count(), words_of(options.dtype));
  return y;
}
Tensor normal(const Tensor& mean, const Tensor& deviation, RandomOptions options) {
  const Meta m = mean.meta(), d = deviation.meta();
  const Argument a{"mean", 1, m}, b{"deviation", 2, d};
  require_floating("normal", a);
  require_floating("normal", b);
  options.dtype = require_common_dtype("normal", a, b);
  require_same_device("normal", a, b);
  options.device = m.device;
  return normal_draw("normal", require_broadcast("normal", a, b), options) * deviation + mean;
}
Tensor normal(const Tensor& mean, const Tensor& deviation, Generator& generator) {
  Tensor y = normal(mean, deviation, at(generator, {}));
  advance(generator, y.count(), words_of(y.dtype()));
  return y;
}

Tensor truncated_normal(const Shape& shape, const TruncatedNormalOptions& options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "truncated_normal";
  require_floats(op, options.dtype);
  const double mean = options.mean, deviation = options.deviation, low = options.low, high = options.high;
  for (const double value : {mean, deviation}) literal_bits(op, value, options.dtype, "Give a wider dtype");
  if (!std::isfinite(mean) || !std::isfinite(deviation) || !(deviation > 0) || !(low < high)) {
    throw Error(ErrorKind::InvalidArgument, op)
        .detail(text::format("mean {}, deviation {}, from {} to {}", mean, deviation, low, high))
        .accepted("deviation > 0 and low < high");
  }
  constexpr double root_two = 1.4142135623730951;
  const bool wide = options.dtype == DType::f64;
  // P(z < x) = (1 + erf(x / √2)) / 2, so the ends of the uniform draw are those of erf
  const auto end = [&](double x) {
    const double e = numerics::erf_f64((x - mean) / (deviation * root_two));
    return wide ? e : static_cast<double>(static_cast<float>(e));
  };
  Random random = drawn_from(op, RandomKind::uniform, shape,
                             {.seed = options.seed,
                              .stream = options.stream,
                              .offset = options.offset,
                              .dtype = wide ? DType::f64 : DType::f32,
                              .device = options.device});
  random.low = end(low);
  random.high = end(high);
  if (!(random.low < random.high)) {
    throw Error(ErrorKind::InvalidArgument, op)
        .detail(text::format("from {} to {}, {} and {} deviations from the mean, lies no probability that {} can tell from 0", low, high,
                             (low - mean) / deviation, (high - mean) / deviation, wide ? "f64" : "f32"));
  }
  const Tensor z = erfinv(apply(random)) * (root_two * deviation) + mean;
  return minimum(maximum(z, low), high).to(options.dtype);
}
Tensor truncated_normal(const Shape& shape, Generator& generator, TruncatedNormalOptions options) {
  options.seed = generator.seed;
  options.stream = generator.stream;
  options.offset = generator.offset;
  Tensor y = truncated_normal(shape, options);
  advance(generator, y.count(), words_of(options.dtype));
  return y;
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, RandomOptions options) {
  require_dtype("randint", options.dtype, is_integer(options.dtype), "u8, i8, u16, i16, u32, i32, u64, i64");
  if (low >= high) throw Error(ErrorKind::InvalidArgument, "randint").detail(text::format("no integer is in [{}, {})", low, high));
  for (const std::int64_t end : {low, high - 1}) literal_bits("randint", end, options.dtype, "Give a wider dtype");
  Random random = drawn_from("randint", RandomKind::integers, shape, options);
  random.integer_low = low;
  random.integer_high = high;
  return apply(random);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = randint(low, high, shape, at(generator, options));
  advance(generator, y.count(), 2);
  return y;
}

Tensor randperm(Size n, RandomOptions options) {
  constexpr std::string_view op = "randperm";
  require_dtype(op, options.dtype, is_integer(options.dtype), "u8, i8, u16, i16, u32, i32, u64, i64");
  if (n < 0) throw Error(ErrorKind::InvalidArgument, op).detail(text::format("{} numbers", n));
  if (n > 0) literal_bits(op, n - 1, options.dtype, "Give a wider dtype");
  RandomOptions wide = options;
  wide.dtype = DType::u64;
  Random random = drawn_from(op, RandomKind::integers, {n}, wide);
  random.integer_low = random.integer_high = 0;  // all 64 bits
  return sort(apply(random), {.axis = 0}).indices.to(options.dtype);
}
Tensor randperm(Size n, Generator& generator, RandomOptions options) {
  Tensor y = randperm(n, at(generator, options));
  advance(generator, n, 2);
  return y;
}

Tensor bernoulli(double p, const Shape& shape, RandomOptions options) { return bernoulli_draw("bernoulli", p, shape, options); }
Tensor bernoulli(double p, const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = bernoulli(p, shape, at(generator, options));
  advance(generator, y.count(), 1);
  return y;
}
Tensor bernoulli(const Tensor& p, RandomOptions options) {
  constexpr std::string_view op = "bernoulli";
  const Meta meta = p.meta();
  require_floating(op, {"p", 1, meta});
  const Tensor exact = p.detach().to(DType::f64);
  const Tensor inside = logical_and(ge(exact, 0), le(exact, 1));  // a NaN is not
  if (!all(inside).item<bool>()) {
    throw error_about(ErrorKind::InvalidArgument, op, {{"p", 1, meta}})
        .detail(text::format("p {} has values outside [0, 1]", describe(meta)));
  }
  options.device = meta.device;
  return lt(words(op, meta.shape, options).to(DType::f64), floor(exact * 0x1p32)).to(options.dtype);
}
Tensor bernoulli(const Tensor& p, Generator& generator, RandomOptions options) {
  Tensor y = bernoulli(p, at(generator, options));
  advance(generator, y.count(), 1);
  return y;
}

Tensor multinomial(const Tensor& weights, Size n, MultinomialOptions options) {
  const FloatEnvironment environment;
  constexpr std::string_view op = "multinomial";
  const Meta meta = weights.meta();
  const Argument argument{"weights", 1, meta};
  require_plain(op, argument);
  require_rank(op, argument, 1);
  const auto refuse = [&](const std::string& detail) {
    throw error_about(ErrorKind::InvalidArgument, op, {argument}).detail(text::format("{}: {}", describe(argument), detail));
  };
  if (n < 0) refuse(text::format("{} samples", n));
  const Tensor w = weights.detach().to(DType::f32);
  if (!all(logical_and(ge(w, 0), lt(w, std::numeric_limits<double>::infinity()))).item<bool>())
    refuse("a weight is negative, NaN or infinite");
  const Tensor positive = sum(gt(w, 0), {.axis = -1});
  const Size needed = options.replacement ? (n > 0 ? 1 : 0) : n;
  if (!all(ge(positive, needed)).item<bool>()) refuse(text::format("a row has fewer than {} positive weights", needed));
  const RandomOptions from{.seed = options.seed, .stream = options.stream, .offset = options.offset, .device = meta.device};
  if (!options.replacement) {
    const Tensor waiting = -log(1.0 - apply(drawn_from(op, RandomKind::uniform, meta.shape, from)));
    return topk(waiting / w, n, {.axis = -1, .largest = false}).indices;
  }
  Shape shape = meta.shape;
  shape.back() = n;
  const Tensor u = apply(drawn_from(op, RandomKind::uniform, shape, from));
  if (meta.shape.back() == 0) return zeros(shape, DType::i64, {.device = meta.device});
  const Tensor up_to = cumsum(w, -1);
  if (!all(lt(narrow(up_to, -1, meta.shape.back() - 1, 1), std::numeric_limits<double>::infinity())).item<bool>())
    refuse("the weights of a row add up to more than f32 holds");
  const Tensor target = u * narrow(up_to, -1, meta.shape.back() - 1, 1);
  return argmax(gt(unsqueeze(up_to, -2), unsqueeze(target, -1)));
}
Tensor multinomial(const Tensor& weights, Size n, Generator& generator, MultinomialOptions options) {
  options.seed = generator.seed;
  options.stream = generator.stream;
  options.offset = generator.offset;
  Tensor y = multinomial(weights, n, options);
  advance(generator, options.replacement ? y.count() : weights.count(), 1);
  return y;
}

Tensor dropout_mask(double p, const Shape& shape, RandomOptions options) {
  options.dtype = DType::boolean;
  return bernoulli_draw("dropout_mask", 1 - require_probability("dropout_mask", p), shape, options);
}
Tensor dropout_mask(double p, const Shape& shape, Generator& generator, RandomOptions options) {
  Tensor y = dropout_mask(p, shape, at(generator, options));
  advance(generator, y.count(), 1);
  return y;
}

Tensor dropout(const Tensor& x, double p, RandomOptions options) {
  const FloatEnvironment environment;
  const Meta meta = x.meta();
  require_floating("dropout", {"x", 1, meta});
  require_probability("dropout", p);
  options.dtype = DType::boolean;
  options.device = meta.device;
  const Tensor mask = bernoulli_draw("dropout", 1 - p, meta.shape, options);
  const Tensor none = zeros({}, meta.dtype, {.device = meta.device});
  return where(mask, p == 0 || p == 1 ? x : x / (1 - p), none);
}
Tensor dropout(const Tensor& x, double p, Generator& generator) {
  Tensor y = dropout(x, p, at(generator, {}));
  advance(generator, y.count(), 1);
  return y;
}

}  // namespace votive
