// Every size from 0 to 4200, sizes around multiples of 4096, and primes: sum, mean, var, std, norm, softmax, layer and RMS norm against the canonical tree
// and the algorithms of CONTRACT.md 3.4, 4.1 and 4.2 computed here, on every instruction set, along rows, columns and a middle axis.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <type_traits>

#include "tests/contract/numbers.h"
#include "tests/contract/values.h"
#include "tests/numerics/literal_tree.h"
#include "votive/base/thread_pool.h"
#include "votive/ops/ops.h"
#include "votive/runtime/devices.h"

namespace votive::contract {
namespace {

template <class T>
T tree_sum(const std::vector<T>& x) {
  return literal::tree<literal::Sum>(x);
}

/// What the contract asks of n numbers, computed in T (f32, or f64 of f64), not yet rounded to the dtype.
template <class T>
struct Answers {
  T sum, mean, var, std, norm;
  std::vector<T> softmax, layer_norm, rms_norm;
};

constexpr double correction = 1;
constexpr float epsilon = 1e-5f;

/// exp and ln are the library's own on single numbers: here the order of additions is in question, there (tests/numerics) the functions.
template <class T>
std::vector<T> exponentials(const std::vector<T>& x) {
  std::vector<std::uint64_t> bits;
  constexpr DType d = std::is_same_v<T, double> ? DType::f64 : DType::f32;
  for (const T v : x) bits.push_back(rounded_to(d, static_cast<double>(v)));
  return exp(tensor_of(d, {static_cast<Size>(x.size())}, bits)).template to_host<T>();
}

template <class T>
std::vector<T> each(const std::vector<T>& x, auto f) {
  std::vector<T> y;
  for (const T v : x) y.push_back(f(v));
  return y;
}

template <class T>
T norm_of(const std::vector<T>& x) {
  T largest = 0;
  for (const T v : x) largest = std::max(largest, std::fabs(v));
  if (largest == 0) return 0;
  const int e = std::ilogb(largest);
  return std::ldexp(std::sqrt(tree_sum(each(x,
                                            [e](T v) {
                                              const T scaled = std::ldexp(v, -e);
                                              return scaled * scaled;
                                            }))),
                    e);
}

template <class T>
Answers<T> answers(const std::vector<T>& x) {
  Answers<T> a;
  const T n = static_cast<T>(x.size());
  a.sum = tree_sum(x);
  a.mean = a.sum / n;
  const T m = a.mean;
  const T s1 = tree_sum(each(x, [m](T v) { return v - m; }));
  const T s2 = tree_sum(each(x, [m](T v) {
    const T c = v - m;
    return c * c;
  }));
  const auto variance = [&](double c) {
    return static_cast<double>(x.size()) - c <= 0 ? T(NAN) : (s2 - s1 * s1 / n) / static_cast<T>(static_cast<double>(x.size()) - c);
  };
  a.var = variance(correction);
  a.std = std::sqrt(a.var);
  a.norm = norm_of(x);
  if (x.empty()) return a;
  const T highest = *std::max_element(x.begin(), x.end());
  const std::vector<T> e = exponentials(each(x, [highest](T v) { return v - highest; }));
  const T total = tree_sum(e);
  a.softmax = each(e, [total](T v) { return v / total; });
  const T r = T(1) / std::sqrt(variance(0) + T(epsilon));
  a.layer_norm = each(x, [m, r](T v) { return (v - m) * r; });
  const T root = T(1) / std::sqrt(tree_sum(each(x, [](T v) { return v * v; })) / n + T(epsilon));
  a.rms_norm = each(x, [root](T v) { return v * root; });
  return a;
}

template <class T>
Tensor rounded(DType d, const Shape& shape, const std::vector<T>& numbers) {
  std::vector<std::uint64_t> bits;
  for (const T v : numbers) bits.push_back(rounded_to(d, static_cast<double>(v)));
  return tensor_of(d, shape, bits);
}
template <class T>
Tensor rounded(DType d, T number) {
  return rounded(d, {}, std::vector<T>{number});
}

/// n elements out of a longer row, from a place that is seldom aligned.
Tensor part(const Tensor& pool, Size n) { return narrow(pool, 0, n % 37, n); }

Tensor numbers(Rng& rng, DType d, Size n) {
  std::vector<std::uint64_t> bits;
  for (Size i = 0; i < n; ++i) bits.push_back(rounded_to(d, rng.unit() * std::ldexp(1.0, static_cast<int>(rng.between(-6, 6)))));
  return tensor_of(d, {n}, bits);
}

struct Expected {
  std::string name;
  Tensor y;
  std::function<Tensor()> call;
};

template <class T>
std::vector<Expected> expectations(const Tensor& x, bool whole_rows) {
  const DType d = x.dtype();
  std::vector<T> values;
  for (const std::uint64_t bits : elements_of(x)) values.push_back(static_cast<T>(value_of(d, bits)));
  const Answers<T> a = answers(values);
  const Shape shape = x.shape();
  std::vector<Expected> all{{"sum", rounded(d, a.sum), [x] { return sum(x); }},
                            {"mean", rounded(d, a.mean), [x] { return mean(x); }},
                            {"var", rounded(d, a.var), [x] { return var(x, {.correction = correction}); }},
                            {"std", rounded(d, a.std), [x] { return votive::std(x, {.correction = correction}); }},
                            {"norm", rounded(d, a.norm), [x] { return norm(x); }},
                            {"sum of columns", rounded(d, {3}, std::vector<T>(3, a.sum)),
                             [x, shape] {
                               return sum(broadcast_to(reshape(x, {shape[0], 1}), {shape[0], 3}), {.axis = {0}});
                             }},
                            {"sum of a middle axis", rounded(d, {2, 2}, std::vector<T>(4, a.sum)), [x, shape] {
                               return sum(broadcast_to(reshape(x, {1, shape[0], 1}), {2, shape[0], 2}), {.axis = {1}});
                             }}};
  if (!whole_rows || values.empty()) return all;
  all.push_back({"softmax", rounded(d, shape, a.softmax), [x] { return softmax(x); }});
  all.push_back({"layer_norm", rounded(d, shape, a.layer_norm), [x] { return layer_norm(x, {}, {}, {.epsilon = epsilon}); }});
  all.push_back({"rms_norm", rounded(d, shape, a.rms_norm), [x] { return rms_norm(x, {}, {.epsilon = epsilon}); }});
  return all;
}

class TreeSizes : public ::testing::TestWithParam<DType> {
 protected:
  void TearDown() override {
    runtime::set_instruction_set(set_before_);
    set_threads(threads_before_);
  }
  static inline long long compared = 0;
  static void TearDownTestSuite() { std::printf("trees: %lld results compared with the tree written in the test\n", compared); }

  void compare(const Tensor& x, bool whole_rows) {
    const auto all = x.dtype() == DType::f64 ? expectations<double>(x, whole_rows) : expectations<float>(x, whole_rows);
    for (const runtime::InstructionSet& set : runtime::instruction_sets()) {
      if (!set.available) continue;
      runtime::set_instruction_set(set.name);
      for (const Expected& e : all) {
        const std::string wrong = difference(e.call(), e.y, false);
        ASSERT_EQ(wrong, "") << e.name << " of " << to_string(x.dtype()) << to_string(x.shape()) << " on " << set.name
                             << "; VOTIVE_SEED decides the numbers";
        ++compared;
      }
    }
  }

 private:
  std::string set_before_{runtime::instruction_set()};
  int threads_before_ = threads();
};

INSTANTIATE_TEST_SUITE_P(Floats, TreeSizes, ::testing::Values(DType::f16, DType::bf16, DType::f32, DType::f64),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

TEST_P(TreeSizes, FromNothingTo4200) {
  Rng rng(seed_of("tree sizes"));
  const Tensor pool = numbers(rng, GetParam(), 4300);
  for (Size n = 0; n <= 4200; n += sanitized ? 61 : 1) {
    // Outputs of n elements cost more than sums: those of every size up to 700, around 4096, and every seventh between.
    compare(part(pool, n), n <= 700 || n % 7 == 0 || n > 4080);
    if (HasFatalFailure()) return;
  }
}

TEST_P(TreeSizes, AroundMultiplesOf4096AndOfPrimeNumbers) {
  Rng rng(seed_of("long trees"));
  const Tensor pool = numbers(rng, GetParam(), 104800);
  std::vector<Size> sizes{4201, 4211, 5003, 6007, 7919, 9973, 12289, 17389, 22307, 30011, 46337, 65521, 65537, 99991, 104729};
  for (Size k = 1; k <= 13; ++k) {
    for (const Size beside : {-1, 0, 1}) sizes.push_back(4096 * k + beside);
  }
  for (const int count : sanitized ? std::vector<int>{3} : std::vector<int>{1, 2, 3, 7}) {
    set_threads(count);
    for (const Size n : sizes) {
      compare(part(pool, n), n < 10000);
      if (HasFatalFailure()) return;
    }
  }
}

// Integers are summed exactly; their mean is the exact sum and the count, each as f32, divided (CONTRACT.md 3.1).
TEST(IntegerSums, AreExactForEverySize) {
  Rng rng(seed_of("integer sums"));
  long long compared = 0;
  for (const DType d : {DType::boolean, DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64}) {
    const Tensor pool = make(rng, {.dtype = d, .shape = {4300}}, LayoutKind::contiguous);
    for (Size n = 1; n <= 4200; n += n < 600 ? 1 : 11) {
      const Tensor x = part(pool, n);
      Wide total = 0;
      for (const std::uint64_t bits : elements_of(x)) total += integer_of(d, bits);
      const DType wide = is_unsigned_integer(d) ? DType::u64 : DType::i64;
      EXPECT_EQ(difference(sum(x), tensor_of(wide, {}, {static_cast<std::uint64_t>(total)}), true), "") << to_string(d) << " " << n;
      const float average = static_cast<float>(total) / static_cast<float>(n);
      EXPECT_EQ(difference(mean(x), tensor_of(DType::f32, {}, {rounded_to(DType::f32, static_cast<double>(average))}), true), "")
          << to_string(d) << " " << n;
      compared += 2;
    }
  }
  std::printf("integer sums: %lld results compared with 128-bit arithmetic\n", compared);
}

}  // namespace
}  // namespace votive::contract
