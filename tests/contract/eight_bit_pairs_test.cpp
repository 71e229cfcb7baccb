// Every operation of two tensors for all pairs of bool, u8, i8, e4m3 and e5m2 values, against 128-bit arithmetic, or for functions of analysis against
// libm in f64 within the bound of their row. The oracle is this file; both devices are compared with it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <numeric>

#include "tests/contract/binary_rules.h"
#include "tests/contract/values.h"

namespace votive::contract {
namespace {

std::vector<std::uint64_t> all_values(DType dtype) {
  std::vector<std::uint64_t> all(dtype == DType::boolean ? 2 : 256);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

Wide floor_quotient(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }
Wide power_of(Wide a, Wide n) {  // mod 2^64, which keeps every narrower answer; exact or huge is what power_fits is for
  std::uint64_t result = 1;
  for (Wide i = 0; i < n; ++i) result *= static_cast<std::uint64_t>(a);
  return static_cast<Wide>(result);
}
bool fits(Wide v, DType d) { return integer_of(d, static_cast<std::uint64_t>(v)) == v; }
bool power_fits(Wide a, Wide n, DType d) {
  Wide result = 1;
  for (Wide i = 0; i < n; ++i) {
    result *= a;
    if (!fits(result, d)) return false;  // |a| ≥ 2: it only grows
  }
  return true;
}

/// What an operation on whole numbers gives, exactly; `width` is the dtype whose bits count.
Wide exact(BinaryKind kind, Wide a, Wide b, DType width) {
  const int bits = static_cast<int>(block_bytes(width)) * 8;
  const bool counts = b >= 0 && b < bits;
  switch (kind) {
    case BinaryKind::add: return a + b;
    case BinaryKind::sub: return a - b;
    case BinaryKind::mul: return a * b;
    case BinaryKind::minimum:
    case BinaryKind::fmin: return std::min(a, b);
    case BinaryKind::maximum:
    case BinaryKind::fmax: return std::max(a, b);
    case BinaryKind::div_trunc: return a / b;
    case BinaryKind::floor_div: return floor_quotient(a, b);
    case BinaryKind::remainder: return a - b * floor_quotient(a, b);
    case BinaryKind::fmod: return a % b;
    case BinaryKind::pow: return power_of(a, b);
    case BinaryKind::gcd: return std::gcd(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
    case BinaryKind::lcm: return std::lcm(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
    case BinaryKind::bitwise_and: return a & b;
    case BinaryKind::bitwise_or: return a | b;
    case BinaryKind::bitwise_xor: return a ^ b;
    case BinaryKind::shift_left: return counts ? a * (Wide{1} << static_cast<int>(b)) : 0;
    case BinaryKind::shift_right: return counts ? floor_quotient(a, Wide{1} << static_cast<int>(b)) : a < 0 ? -1 : 0;
    case BinaryKind::add_overflows: return !fits(a + b, width);
    case BinaryKind::sub_overflows: return !fits(a - b, width);
    case BinaryKind::mul_overflows: return !fits(a * b, width);
    case BinaryKind::div_overflows: return b != 0 && !fits(a / b, width);
    case BinaryKind::pow_overflows: return (a > 1 || a < -1) && !power_fits(a, b, width);
    case BinaryKind::shift_left_overflows: return !counts || !fits(a * (Wide{1} << static_cast<int>(b)), width);
    case BinaryKind::shift_right_overflows: return !counts;
    case BinaryKind::eq: return a == b;
    case BinaryKind::ne: return a != b;
    case BinaryKind::lt: return a < b;
    case BinaryKind::le: return a <= b;
    case BinaryKind::gt: return a > b;
    case BinaryKind::ge: return a >= b;
    case BinaryKind::logical_and: return a != 0 && b != 0;
    case BinaryKind::logical_or: return a != 0 || b != 0;
    case BinaryKind::logical_xor: return (a != 0) != (b != 0);
    default: throw std::logic_error("an operation without an exact answer");
  }
}

bool has_exact_answer(PointwiseGroup group) { return group != PointwiseGroup::floating && group != PointwiseGroup::function; }

/// The value of a function of analysis, in f64, or in f32 where one f32 operation is its definition.
double analytic(BinaryKind kind, double a, double b) {
  const auto silu = [](double x) { return x >= 0 ? x / (1 + std::exp(-x)) : x * (std::exp(x) / (1 + std::exp(x))); };
  switch (kind) {
    case BinaryKind::div: return static_cast<double>(static_cast<float>(a) / static_cast<float>(b));
    case BinaryKind::multiply_no_nan: return b == 0 ? 0 : a * b;
    case BinaryKind::xdivy: return a == 0 ? 0 : static_cast<double>(static_cast<float>(a) / static_cast<float>(b));
    case BinaryKind::copysign: return std::copysign(a, b);
    case BinaryKind::atan2: return std::atan2(a, b);
    case BinaryKind::hypot: return std::hypot(a, b);
    case BinaryKind::logaddexp: return std::max(a, b) + std::log1p(std::exp(-std::fabs(a - b)));
    case BinaryKind::xlogy: return a == 0 ? 0 : a * std::log(b);
    case BinaryKind::xlog1py: return a == 0 ? 0 : a * std::log1p(b);
    case BinaryKind::swiglu: return silu(a) * b;
    case BinaryKind::geglu: return a * std::erfc(-a / std::sqrt(2.0)) / 2 * b;
    default: throw std::logic_error("an operation without an analytic answer");
  }
}

/// Distance in units in the last place of f32, which for silu(a)·b and gelu(a)·b is at least b times the smallest subnormal: there the first factor has
/// lost digits before it is multiplied (tests/numerics/accuracy_pairs_test.cpp says the same).
double ulps(BinaryKind kind, double b, double value, double truth) {
  if (std::isnan(truth) || std::isnan(value)) return std::isnan(truth) == std::isnan(value) ? 0 : INFINITY;
  if (std::isinf(truth) || std::isinf(value)) return value == truth ? 0 : INFINITY;
  int exponent = 0;
  std::frexp(truth, &exponent);
  const bool is_product = kind == BinaryKind::swiglu || kind == BinaryKind::geglu;
  return std::fabs(value - truth) / (std::ldexp(1.0, std::max(exponent - 24, -149)) + (is_product ? std::fabs(b) * 0x1p-149 : 0));
}

class EightBits : public ::testing::TestWithParam<BinaryFunction> {
 protected:
  static inline long long compared = 0;
  static void TearDownTestSuite() { std::printf("8-bit pairs: %lld results compared with arithmetic\n", compared); }
};

INSTANTIATE_TEST_SUITE_P(EveryOperation, EightBits, ::testing::ValuesIn(binary_functions()),
                         [](const auto& parameter) { return parameter.param.name(); });

struct Pairs {
  std::vector<std::uint64_t> lefts, rights;
  Tensor a, b;
};

Pairs pairs_of(const BinaryFunction& f, std::optional<DType> result, DType a, DType b) {
  Pairs p{all_values(a), all_values(b), {}, {}};
  // Whether a power fits is a question about the powers that are taken.
  const PointwiseGroup group = f.kind == BinaryKind::pow_overflows ? PointwiseGroup::power : f.row().group;
  if (group == PointwiseGroup::power && !is_floating(*result)) result = smallest_holding(a, b);
  std::erase_if(p.rights, [&](std::uint64_t bits) { return is_refused(group, result, b, bits); });
  if (sanitized) std::erase_if(p.rights, [](std::uint64_t bits) { return bits % 7 != 1; });
  p.a = tensor_of(a, {static_cast<Size>(p.lefts.size()), 1}, p.lefts);
  p.b = tensor_of(b, {static_cast<Size>(p.rights.size())}, p.rights);
  return p;
}

TEST_P(EightBits, OfWholeNumbersGiveWhatArithmeticGives) {
  const BinaryFunction& f = GetParam();
  const PointwiseGroup group = f.row().group;
  constexpr DType whole[] = {DType::boolean, DType::u8, DType::i8};
  int taken = 0;
  for (const DType a : whole) {
    for (const DType b : whole) {
      const PairRule rule = pair_rule(group, a, b);
      if (!rule.result) continue;
      ++taken;
      const Pairs p = pairs_of(f, rule.result, a, b);
      const DType width = smallest_holding(a, b).value_or(a);
      for (const Device device : {Device::cpu, Device::reference}) {
        const Tensor y = f.call(moved(p.a, device), moved(p.b, device));
        ASSERT_EQ(y.dtype(), *rule.result);
        const std::vector<std::uint64_t> found = elements_of(y);
        std::size_t i = 0;
        int wrong = 0;
        for (const std::uint64_t left : p.lefts) {
          for (const std::uint64_t right : p.rights) {
            const Wide m = integer_of(a, left), n = integer_of(b, right);
            const std::uint64_t bits = found[i++];
            ++compared;
            if (has_exact_answer(group)) {
              const Wide want = integer_of(*rule.result, static_cast<std::uint64_t>(exact(f.kind, m, n, width)));
              if (integer_of(*rule.result, bits) == want) continue;
              ADD_FAILURE() << f.name() << "(" << to_string(a) << " " << static_cast<int>(m) << ", " << to_string(b) << " "
                            << static_cast<int>(n) << ") is " << static_cast<long long>(integer_of(*rule.result, bits)) << " on "
                            << to_string(device) << ", not " << static_cast<long long>(want);
            } else {
              const double want = analytic(f.kind, static_cast<double>(m), static_cast<double>(n)), got = value_of(*rule.result, bits);
              const bool fine = f.row().ulp == 0 ? (got == want || (std::isnan(got) && std::isnan(want)))
                                                 : ulps(f.kind, static_cast<double>(n), got, want) <= f.row().ulp;
              if (fine) continue;
              ADD_FAILURE() << f.name() << "(" << static_cast<int>(m) << ", " << static_cast<int>(n) << ") is " << got << " on "
                            << to_string(device) << ", not " << want << ": " << ulps(f.kind, static_cast<double>(n), got, want) << " ulp";
            }
            if (++wrong == 5) FAIL() << "and perhaps more";
          }
        }
      }
    }
  }
  EXPECT_GE(taken, group == PointwiseGroup::integer || group == PointwiseGroup::shift || group == PointwiseGroup::overflows ||
                           group == PointwiseGroup::lost_bits
                       ? 4
                       : 8);
}

// 8-bit floats are compared and are true or not; nothing else takes them.
TEST_P(EightBits, OfFloatsCompareAsTheirValuesDo) {
  const BinaryFunction& f = GetParam();
  for (const DType a : {DType::e4m3, DType::e5m2}) {
    for (const DType b : {DType::e4m3, DType::e5m2}) {
      const PairRule rule = pair_rule(f.row().group, a, b);
      if (!rule.result) continue;
      const Pairs p = pairs_of(f, rule.result, a, b);
      for (const Device device : {Device::cpu, Device::reference}) {
        const std::vector<std::uint64_t> found = elements_of(f.call(moved(p.a, device), moved(p.b, device)));
        std::size_t i = 0;
        for (const std::uint64_t left : p.lefts) {
          for (const std::uint64_t right : p.rights) {
            const double x = value_of(a, left), y = value_of(b, right);
            const bool t = x != 0, u = y != 0;  // NaN is true
            bool want = false;
            switch (f.kind) {
              case BinaryKind::eq: want = x == y; break;
              case BinaryKind::ne: want = x != y; break;
              case BinaryKind::lt: want = x < y; break;
              case BinaryKind::le: want = x <= y; break;
              case BinaryKind::gt: want = x > y; break;
              case BinaryKind::ge: want = x >= y; break;
              case BinaryKind::logical_and: want = t && u; break;
              case BinaryKind::logical_or: want = t || u; break;
              case BinaryKind::logical_xor: want = t != u; break;
              default: FAIL() << f.name() << " takes 8-bit floats";
            }
            ASSERT_EQ(found[i++] != 0, want) << f.name() << "(" << to_string(a) << " " << x << ", " << to_string(b) << " " << y << ") on "
                                             << to_string(device);
            ++compared;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace votive::contract
