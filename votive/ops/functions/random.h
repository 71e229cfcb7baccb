// Random tensors: their contents depend on seed, stream, offset and index alone, on every device and with any number of threads (CONTRACT.md 7).
// Every function has a form with a Generator, whose offset moves past what was drawn; seed, stream and offset of its options are then not read.
#pragma once

#include "votive/core/tensor.h"

namespace votive {

/// Where random numbers come from: a seed, a stream and how much was used. Its state is these three integers.
struct Generator {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  /// An independent stream of the same seed; the same k gives the same stream.
  Generator fork(std::uint64_t k) const;
  /// A seed from the system's entropy: the one way to numbers that do not come again.
  static Generator from_entropy();
};
struct RandomOptions {
  std::uint64_t seed = 0, stream = 0, offset = 0;
  DType dtype = f32;
  Device device = Device::cpu;
};

/// Uniform in [0, 1): 24 bits of a word in f32, 53 of two in f64, 11 in f16, 8 in bf16; exact, never 1. Class E.
/// Example: rand({2}, {.seed = 1})  // [0.89025915, 0.8946847]
Tensor rand(const Shape& shape, RandomOptions options = {});
Tensor rand(const Shape& shape, Generator& generator, RandomOptions options = {});
/// rand of x's shape, dtype and device. Class E.
/// Example: rand_like(zeros({0}))  // []
Tensor rand_like(const Tensor& x, RandomOptions options = {});
Tensor rand_like(const Tensor& x, Generator& generator);
/// Uniform in [low, high):  low + u·(high − low) in f32 (f64), two roundings, and the value below high where that reaches it. Class E.
/// The ends are rounded to the dtype first. Throws Error{InvalidArgument} unless low < high with a finite distance.
/// Example: uniform(5, 6, {0})  // []
Tensor uniform(double low, double high, const Shape& shape, RandomOptions options = {});
Tensor uniform(double low, double high, const Shape& shape, Generator& generator, RandomOptions options = {});

/// Normal, mean 0 and variance 1: Box and Muller on pairs of words with the portable log and sincospi; halves rounded once. Class P, tail to 6.7 σ.
/// Example: randn({0})  // []
Tensor randn(const Shape& shape, RandomOptions options = {});
Tensor randn(const Shape& shape, Generator& generator, RandomOptions options = {});
/// randn of x's shape, dtype and device. Class P.
/// Example: randn_like(zeros({0}))  // []
Tensor randn_like(const Tensor& x, RandomOptions options = {});
Tensor randn_like(const Tensor& x, Generator& generator);
/// randn·deviation + mean, numbers by the rules of literals or tensors that broadcast (of their common dtype, with gradients). Class P.
/// Throws Error{InvalidArgument} for a number deviation below 0.
/// Example: normal(5, 0, {2})  // [5, 5]
Tensor normal(double mean, double deviation, const Shape& shape, RandomOptions options = {});
Tensor normal(double mean, double deviation, const Shape& shape, Generator& generator, RandomOptions options = {});
Tensor normal(const Tensor& mean, const Tensor& deviation, RandomOptions options = {});
Tensor normal(const Tensor& mean, const Tensor& deviation, Generator& generator);

/// Where a normal distribution is cut off, and what it is before that.
struct TruncatedNormalOptions {
  double mean = 0, deviation = 1, low = -2, high = 2;
  std::uint64_t seed = 0, stream = 0, offset = 0;
  DType dtype = f32;
  Device device = Device::cpu;
};
/// Normal within [low, high], by the inverse of the distribution and not by rejection, so that it always takes one word (f64: two) per element:
/// erfinv of a uniform draw between erf of the ends, ·√2·deviation, + mean, clamped; in f32 (f64), halves rounded once. Class P.
/// Throws Error{InvalidArgument} unless low < high and between them lies more than one f32 of probability.
/// Example: truncated_normal({0})  // []
Tensor truncated_normal(const Shape& shape, const TruncatedNormalOptions& options = {});
Tensor truncated_normal(const Shape& shape, Generator& generator, TruncatedNormalOptions options = {});

/// Integers in [low, high): the high half of a 64-bit word times their number. Class E; bias ≤ (high − low)·2⁻⁶⁴.
/// Throws Error{InvalidArgument} for an empty range, Error{LiteralOutOfRange} where the dtype has not all of it.
/// Example: randint(3, 4, {2})  // [3, 3]
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, RandomOptions options = {.dtype = i64});
Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, Generator& generator, RandomOptions options = {.dtype = i64});
/// 0 … n−1 in random order: the stable order of n 64-bit words. Class E.
/// Example: randperm(1)  // [0]
Tensor randperm(Size n, RandomOptions options = {.dtype = i64});
Tensor randperm(Size n, Generator& generator, RandomOptions options = {.dtype = i64});

/// True with probability p: word < ⌊p·2³²⌋, so 1 is always true and 0 never. Class E. bool, or 0 and 1 of the dtype asked for.
/// A tensor of probabilities gives its shape, and is read by the host to be checked. Throws Error{InvalidArgument} for p outside [0, 1].
/// Example: bernoulli(1, {2})  // [true, true]
Tensor bernoulli(double p, const Shape& shape, RandomOptions options = {.dtype = boolean});
Tensor bernoulli(double p, const Shape& shape, Generator& generator, RandomOptions options = {.dtype = boolean});
Tensor bernoulli(const Tensor& p, RandomOptions options = {.dtype = boolean});
Tensor bernoulli(const Tensor& p, Generator& generator, RandomOptions options = {.dtype = boolean});
struct MultinomialOptions {
  bool replacement = false;  // whether an index may come more than once
  std::uint64_t seed = 0, stream = 0, offset = 0;
};
/// n indices along the last axis, each drawn with a probability in proportion to its weight; i64, in the order drawn. Class P.
/// With replacement: the lowest i whose canonical cumsum exceeds u·total, in f32. Without: the n smallest of −log(1 − u) / w, ties to the lower index.
/// Weights are numbers ≥ 0 of any dtype, read as f32 and by the host to be checked. Throws Error{InvalidArgument} for a negative weight, a NaN or an
/// infinity, a row of no weight, and without replacement for fewer positive weights than n.
/// Example: multinomial(tensor({0, 3, 0}), 2, {.replacement = true})  // [1, 1]
Tensor multinomial(const Tensor& weights, Size n, MultinomialOptions options = {});
Tensor multinomial(const Tensor& weights, Size n, Generator& generator, MultinomialOptions options = {});

/// Which elements dropout keeps: bernoulli(1 − p). Class E.
/// Example: dropout_mask(0, {2})  // [true, true]
Tensor dropout_mask(double p, const Shape& shape, RandomOptions options = {});
Tensor dropout_mask(double p, const Shape& shape, Generator& generator, RandomOptions options = {});
/// x / (1 − p) where dropout_mask keeps it, 0 elsewhere, so that the mean stays; 1 − p is rounded to x's dtype. The same mask on every device. Class E.
/// Example: dropout(ones({2}), 0)  // [1, 1]
Tensor dropout(const Tensor& x, double p, RandomOptions options = {});
Tensor dropout(const Tensor& x, double p, Generator& generator);

}  // namespace votive
