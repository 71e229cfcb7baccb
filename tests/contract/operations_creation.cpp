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
  all.push_back(made([d](Device device) { return arange(0.5, 17.0, 0.3, d, {.device = device}); }, "of floats"));
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
}

}  // namespace votive::contract
