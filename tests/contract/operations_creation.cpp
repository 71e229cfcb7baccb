// Operations without inputs: constants, ranges, the identity, random numbers.
#include "tests/contract/operations.h"
#include "votive/ops/ops.h"

namespace votive::contract {

namespace {

using Outputs = std::vector<Tensor>;

Case made(std::function<Tensor(Device)> make_it, std::string note = {}) {
  return {{}, [make_it](std::span<const Tensor>, Device device) { return Outputs{make_it(device)}; }, std::move(note), false};
}

std::vector<Case> constants(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{3, 0}, Shape{3, 5, 2}, Shape{rng.between(30000, 40000)}}) {
    all.push_back(made([shape, d](Device device) { return zeros(shape, d, {.device = device}); }));
    all.push_back(made([shape, d](Device device) { return ones(shape, d, {.device = device}); }));
    if (d != DType::boolean) all.push_back(made([shape, d](Device device) { return full(shape, 117, d, {.device = device}); }));
  }
  return all;
}

std::vector<Case> ranges(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const auto& [start, stop, step] : {std::array{0, 10, 1}, std::array{5, -1, -2}, std::array{3, 3, 1}, std::array{0, 100, 7}}) {
    if (stop < 0 && is_unsigned_integer(d)) continue;
    all.push_back(made([=, a = start, b = stop, c = step](Device device) { return arange(a, b, c, d, {.device = device}); }));
  }
  if (!is_integer(d) || block_bytes(d) >= 4) {
    const Size n = rng.between(30000, 40000);
    all.push_back(made([n, d](Device device) { return arange(0, n, 1, d, {.device = device}); }, "large"));
  }
  if (is_floating(d)) all.push_back(made([d](Device device) { return arange(0.5, 17.0, 0.3, d, {.device = device}); }, "of floats"));
  return all;
}

std::vector<Case> spaces(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const Size n : {Size{0}, Size{1}, Size{2}, Size{3}, Size{1001}, rng.between(30000, 40000)}) {
    all.push_back(made([n, d](Device device) { return linspace(-1.25, 7.1, n, d, {.device = device}); }));
  }
  return all;
}

std::vector<Case> identities(Rng& rng, DType d) {
  std::vector<Case> all;
  for (int i = 0; i < 4; ++i) {
    const Size n = rng.between(0, 90), m = rng.between(0, 90), offset = rng.between(-99, 99);
    all.push_back(made([=](Device device) { return eye(n, m, offset, d, {.device = device}); }));
  }
  for (const Size n : {Size{0}, Size{1}, Size{5}, rng.between(100, 130)}) {
    all.push_back(made([n, d](Device device) { return eye(n, d, {.device = device}); }));
  }
  return all;
}

template <class Draw>
std::vector<Case> draws(Rng& rng, DType d, Draw draw) {
  std::vector<Case> all;
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{2}, Shape{3}, Shape{5}, Shape{3, 7}, Shape{0}, Shape{1023}, Shape{rng.between(66000, 70000)}}) {
    for (int i = 0; i < 3; ++i) {
      const RandomOptions options{.seed = rng.next(),
                                  .stream = i == 0 ? 0 : rng.next(),
                                  .offset = i == 2 ? ~std::uint64_t{0} - 3 : static_cast<std::uint64_t>(i) * 77,
                                  .dtype = d};
      all.push_back(made([=](Device device) {
        RandomOptions o = options;
        o.device = device;
        return draw(shape, o);
      }));
    }
  }
  return all;
}

std::vector<Case> integer_draws(Rng& rng, DType d) {
  const std::int64_t high = d == DType::u8 || d == DType::i8 ? 100 : d == DType::u16 || d == DType::i16 ? 30000 : 2000000000;
  const std::int64_t low = is_unsigned_integer(d) ? 3 : -high;
  std::vector<Case> all = draws(rng, d, [=](const Shape& s, const RandomOptions& o) { return randint(low, high, s, o); });
  if (d == DType::i64) {
    const auto whole = draws(rng, d, [](const Shape& s, const RandomOptions& o) { return randint(INT64_MIN, INT64_MAX, s, o); });
    all.insert(all.end(), whole.begin(), whole.end());
  }
  return all;
}

std::vector<Case> weighted(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const bool replacement : {true, false}) {
    for (const Shape& shape : {Shape{1}, Shape{5, 3}, Shape{2, 2, 70}, Shape{5000}}) {
      const MultinomialOptions options{.replacement = replacement, .seed = rng.next()};
      const Size n = replacement ? 7 : 1;
      all.push_back({{{.dtype = d, .shape = shape, .values = Values::moderate}},
                     [=](std::span<const Tensor> in, Device) { return Outputs{multinomial(abs(in[0]), n, options)}; },
                     replacement ? "with replacement" : "without",
                     true});
    }
  }
  return all;
}

std::vector<Case> classes(Rng& rng, DType d) {
  std::vector<Case> all;
  for (const DType to : every_plain) {
    for (const Size beyond : {Size{0}, Size{1}}) {
      const Size n = rng.between(1, 50);
      all.push_back({{{.dtype = d, .shape = {rng.between(1, 5), rng.between(0, 5)}, .values = Values::index, .high = n + beyond}},
                     [=](std::span<const Tensor> in, Device) { return Outputs{one_hot(in[0], n, to)}; },
                     "to " + std::string(to_string(to)) + (beyond == 1 ? ", some beyond" : ""),
                     true});
    }
  }
  all.push_back({{{.dtype = d, .shape = {2500}, .values = Values::index, .high = 9}},
                 [](std::span<const Tensor> in, Device) { return Outputs{one_hot(in[0], 9, DType::boolean)}; },
                 "large",
                 false});
  return all;
}

std::vector<Case> probabilities(Rng& rng, DType d) {
  std::vector<Case> all = draws(rng, d, [](const Shape& s, RandomOptions o) {
    o.dtype = DType::boolean;
    return bernoulli(0.3, s, o);
  });
  all.push_back({{{.dtype = d, .shape = {7, 40}, .values = Values::truth}},
                 [](std::span<const Tensor> in, Device) { return Outputs{bernoulli(in[0] * 0.75, {.seed = 4, .dtype = DType::f32})}; },
                 "of a tensor",
                 true});
  all.push_back({{{.dtype = d, .shape = {7, 40}, .values = Values::moderate}},
                 [](std::span<const Tensor> in, Device) { return Outputs{dropout(in[0], 0.4, {.seed = 4})}; },
                 "dropout",
                 true});
  return all;
}

}  // namespace

void add_creation(std::vector<Operation>& all) {
  all.push_back({"full", every_plain, constants});
  all.push_back({"arange", every_arithmetic, ranges});
  all.push_back({"linspace", every_floating, spaces});
  all.push_back({"eye", every_plain, identities});
  all.push_back({"rand", every_floating,
                 [](Rng& rng, DType d) { return draws(rng, d, [](const Shape& s, const RandomOptions& o) { return rand(s, o); }); }});
  all.push_back({"randn", every_floating,
                 [](Rng& rng, DType d) { return draws(rng, d, [](const Shape& s, const RandomOptions& o) { return randn(s, o); }); }});
  all.push_back({"randint", every_integer, integer_draws});
  all.push_back({"uniform", every_floating, [](Rng& rng, DType d) {
                   return draws(rng, d, [](const Shape& s, const RandomOptions& o) { return uniform(-2, 254, s, o); });
                 }});
  all.push_back({"truncated", every_floating, [](Rng& rng, DType d) {
                   return draws(rng, d, [](const Shape& s, const RandomOptions& o) {
                     return truncated_normal(s, {.mean = 1,
                                                 .low = 0.5,
                                                 .high = 3,
                                                 .seed = o.seed,
                                                 .stream = o.stream,
                                                 .offset = o.offset,
                                                 .dtype = o.dtype,
                                                 .device = o.device});
                   });
                 }});
  all.push_back({"multinomial", every_floating, weighted});
  all.push_back({"randperm", every_integer, [](Rng& rng, DType d) {
                   return draws(rng, d, [](const Shape& s, const RandomOptions& o) { return randperm(count(s) % 127, o); });
                 }});
  all.push_back({"bernoulli", every_floating, probabilities});
  all.push_back({"one_hot", every_integer, classes});
}

}  // namespace votive::contract
