// Which pairs of dtypes add, and to what: the table of CONTRACT.md 1.2, transcribed; and what a literal becomes beside each dtype (1.3).
#include <cmath>
#include <numeric>

#include "tests/ops/on_devices.h"

namespace votive {
namespace {

constexpr DType order[] = {boolean, u8, i8, u16, i16, u32, i32, u64, i64, f16, bf16, f32, f64, e4m3, e5m2};

// x: refused. Row and column in the order above; bool with bool has a common dtype but no arithmetic.
constexpr const char* table[15][15] = {
    {"x", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "x", "x"},
    {"u8", "u8", "i16", "u16", "i16", "u32", "i32", "u64", "i64", "f16", "bf16", "f32", "f64", "x", "x"},
    {"i8", "i16", "i8", "i32", "i16", "i64", "i32", "x", "i64", "f16", "bf16", "f32", "f64", "x", "x"},
    {"u16", "u16", "i32", "u16", "i32", "u32", "i32", "u64", "i64", "x", "x", "f32", "f64", "x", "x"},
    {"i16", "i16", "i16", "i32", "i16", "i64", "i32", "x", "i64", "x", "x", "f32", "f64", "x", "x"},
    {"u32", "u32", "i64", "u32", "i64", "u32", "i64", "u64", "i64", "x", "x", "x", "f64", "x", "x"},
    {"i32", "i32", "i32", "i32", "i32", "i64", "i32", "x", "i64", "x", "x", "x", "f64", "x", "x"},
    {"u64", "u64", "x", "u64", "x", "u64", "x", "u64", "x", "x", "x", "x", "x", "x", "x"},
    {"i64", "i64", "i64", "i64", "i64", "i64", "i64", "x", "i64", "x", "x", "x", "x", "x", "x"},
    {"f16", "f16", "f16", "x", "x", "x", "x", "x", "x", "f16", "f32", "f32", "f64", "x", "x"},
    {"bf16", "bf16", "bf16", "x", "x", "x", "x", "x", "x", "f32", "bf16", "f32", "f64", "x", "x"},
    {"f32", "f32", "f32", "f32", "f32", "x", "x", "x", "x", "f32", "f32", "f32", "f64", "x", "x"},
    {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "x", "x", "f64", "f64", "f64", "f64", "x", "x"},
    {"x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x"},
    {"x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x"},
};

std::string sum_dtype(const std::function<Tensor()>& call) {
  try {
    return std::string(to_string(call().dtype()));
  } catch (const Error& error) { return error.kind() == ErrorKind::DTypeMismatch ? "x" : error.what(); }
}

class Promotion : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Devices, Promotion, every_device, device_name);

TEST_P(Promotion, OfASumIsTheTable) {
  for (int a = 0; a < 15; ++a) {
    for (int b = 0; b < 15; ++b) {
      EXPECT_EQ(sum_dtype([&] { return zeros({2}, order[a], here) + zeros({2}, order[b], here); }), table[a][b])
          << to_string(order[a]) << " + " << to_string(order[b]);
    }
  }
}

TEST_P(Promotion, NeverLooksAtTheRank) {
  EXPECT_EQ((zeros({3}, i32, here) + zeros({}, i64, here)).dtype(), i64);
  EXPECT_EQ((zeros({3}, f32, here) + zeros({}, f64, here)).dtype(), f64);
}

// There is none across devices, whatever the rank: no operand is moved behind the caller's back (CONTRACT.md 1.2).
TEST_P(Promotion, NeverCrossesDevices) {
  const Device other = GetParam() == Device::cpu ? Device::reference : Device::cpu;
  const Tensor x = ones({2, 2}, f32, here), y = x.to(other), one = ones({}, f32, here), far = one.to(other);
  const Tensor ids = zeros({2}, i64, here), far_ids = ids.to(other), mask = ones({2, 2}, boolean, here), far_mask = mask.to(other);
  const Tensor image = ones({1, 2, 2, 2}, f32, here), kernel = ones({2, 2, 1, 1}, f32, here), heads = ones({1, 1, 2, 2}, f32, here);
  const std::pair<const char*, std::function<Tensor()>> calls[] = {
      {"add", [&] { return x + y; }},
      {"add of a number", [&] { return x + far; }},
      {"add to a number", [&] { return one * y; }},
      {"add of numbers", [&] { return one - far; }},
      {"eq", [&] { return eq(x, far); }},
      {"shift", [&] { return ids << far_ids; }},
      {"logical_and", [&] { return logical_and(mask, far_mask); }},
      {"fma", [&] { return fma(x, x, far); }},
      {"where, condition", [&] { return where(far_mask, x, x); }},
      {"where, choice", [&] { return where(mask, x, far); }},
      {"clamp", [&] { return clamp(x, far, one); }},
      {"matmul", [&] { return matmul(x, y); }},
      {"linear, bias", [&] { return linear(x, x, ones({2}, f32, {.device = other})); }},
      {"conv2d", [&] { return conv2d(image, kernel.to(other)); }},
      {"rms_norm", [&] { return rms_norm(x, ones({2}, f32, {.device = other})); }},
      {"layer_norm", [&] { return layer_norm(x, ones({2}, f32, here), ones({2}, f32, {.device = other})); }},
      {"attention", [&] { return attention(heads, heads, heads.to(other)); }},
      {"concat",
       [&] {
         return concat({x, y});
       }},
      {"stack",
       [&] {
         return stack({one, far});
       }},
      {"take", [&] { return take(x, far_ids); }},
      {"take of one", [&] { return take(x, zeros({}, i64, {.device = other})); }},
      {"gather",
       [&] {
         return gather(x, zeros({2, 2}, i64, {.device = other}), 0);
       }},
      {"embedding", [&] { return embedding(x, far_ids); }},
      {"scatter_add",
       [&] {
         return scatter_add(x, zeros({2, 2}, i64, here), y);
       }},
      {"masked_fill", [&] { return masked_fill(x, mask, far); }},
      {"masked_select", [&] { return masked_select(x, far_mask); }},
      {"searchsorted", [&] { return searchsorted(ones({2}, f32, here), far); }},
      {"mse_loss", [&] { return mse_loss(x, y); }},
      {"cross_entropy", [&] { return cross_entropy(x, far_ids); }},
      {"copy_into",
       [&] {
         Tensor to = zeros({2, 2}, f32, here);
         copy_into(to, far);
         return to;
       }},
  };
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    EXPECT_EQ(kind_of(call), ErrorKind::DeviceMismatch);
  }
}

TEST_P(Promotion, OfComparisonsTakesAnyTwoIntegersAndRefusesWhatSumsRefuse) {
  for (const DType a : order) {
    for (const DType b : order) {
      const bool whole = (a == boolean || is_integer(a)) && (b == boolean || is_integer(b));
      const bool expected = whole || common_dtype(a, b).has_value();
      EXPECT_EQ(sum_dtype([&] { return eq(zeros({2}, a, here), zeros({2}, b, here)); }), expected ? "bool" : "x")
          << to_string(a) << " == " << to_string(b);
    }
  }
}

TEST_P(Promotion, OfALiteral) {
  for (const DType d : order) {
    const Tensor x = zeros({2}, d, here);
    const std::string own(to_string(d));
    const bool refused = d == boolean || is_float8(d);
    EXPECT_EQ(sum_dtype([&] { return x + 3; }), refused ? "x" : own);
    EXPECT_EQ(sum_dtype([&] { return x * 0.5; }), refused ? "x" : is_integer(d) ? "f32" : own);
    EXPECT_EQ(sum_dtype([&] { return x - true; }), "x");
  }
}

TEST_P(Promotion, RoundsALiteralToTheTensorFirst) {
  // 0.1 in bf16 is 0.10009765625; 3 · that = 0.30029296875, in bf16 0.30078125 (RNE of 0.30029296875 between 0.298828125 and 0.30078125)
  EXPECT_EQ((full({}, 3, bf16, here) * 0.1).to(f32).item<float>(), 0.30078125f);
  EXPECT_EQ((full({}, 1, f16, here) + 2049).to(f32).item<float>(), 2048.0f + 0.0f);  // 2049 rounds to 2048, 2049 to 2048
}

/// To the nearest number of so many significant bits, ties to even; exact products of two such numbers come in.
double to_bits(double x, int bits) {
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, bits)), exponent - bits);
}

// A literal kept in f32 until after the product would give other numbers, for a quarter of them in bf16.
TEST_P(Promotion, RoundsALiteralBeforeEveryProduct) {
  for (const auto& [dtype, bits] : {std::pair{bf16, 8}, {f16, 11}}) {
    std::vector<float> numbers(255);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    const Tensor x = from_host<float>(numbers, {255}, f32, here).to(dtype);
    const std::vector<float> products = (x * 0.1).to(f32).to_host<float>(), quotients = (x / 0.3).to(f32).to_host<float>();
    int late = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      ASSERT_EQ(products[i], to_bits(numbers[i] * to_bits(0.1, bits), bits)) << numbers[i] << " in " << to_string(dtype);
      ASSERT_EQ(quotients[i], to_bits(static_cast<float>(numbers[i] / to_bits(0.3, bits)), bits))
          << numbers[i] << " in " << to_string(dtype);
      late += products[i] != to_bits(static_cast<float>(numbers[i] * double(0.1f)), bits);
    }
    EXPECT_GT(late, 10);
  }
}

TEST_P(Promotion, OfReductionsFollowsTheirTable) {
  for (const DType d : order) {
    if (is_float8(d)) {
      EXPECT_EQ(kind_of([&] { sum(zeros({2}, d, here)); }), ErrorKind::DTypeMismatch);
      continue;
    }
    const Tensor x = zeros({2}, d, here);
    const DType summed = is_floating(d) ? d : is_unsigned_integer(d) ? u64 : i64;
    EXPECT_EQ(sum(x).dtype(), summed);
    EXPECT_EQ(prod(x).dtype(), summed);
    EXPECT_EQ(mean(x).dtype(), is_floating(d) ? d : f32);
    EXPECT_EQ(max(x).dtype(), d);
    EXPECT_EQ(any(x).dtype(), boolean);
    EXPECT_EQ(argmax(x).dtype(), i64);
    EXPECT_EQ(exp(d == f64 ? x.to(f32) : x).dtype(), is_floating(d) && d != f64 ? d : f32);
    EXPECT_EQ(softmax(x).dtype(), is_floating(d) ? d : f32);
  }
}

}  // namespace
}  // namespace votive
