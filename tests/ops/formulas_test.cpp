// The formulas that CONTRACT.md 3.4, 4.1 and 4.2 fix to the bit, written out once more in the order of their roundings and compared with every device: two
// devices that misread the contract alike would agree with each other. From the library come only exp and log, which tests/numerics judges by MPFR.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/numerics/inputs.h"
#include "tests/numerics/literal_tree.h"
#include "tests/ops/on_devices.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"

namespace votive {
namespace {

template <class T>
using Row = std::vector<T>;

template <class T>
T total(const Row<T>& x) {
  return literal::tree<literal::Sum>(x);
}
float exponential(float x) { return numerics::exp_f32(x); }
double exponential(double x) { return numerics::exp_f64(x); }
float logarithm(float x) { return numerics::log_f32(x); }
double logarithm(double x) { return numerics::log_f64(x); }

template <class T, class Function>
Row<T> each(const Row<T>& x, Function function) {
  Row<T> y;
  for (const T v : x) y.push_back(function(v));
  return y;
}

template <class T>
T mean_of(const Row<T>& x) {
  return total(x) / static_cast<T>(x.size());
}
/// s1 = T(x − m), s2 = T((x − m)²), (s2 − s1²/n) / (n − correction).
template <class T>
T variance_of(const Row<T>& x, int correction) {
  const T m = mean_of(x), n = static_cast<T>(x.size());
  const Row<T> deviations = each(x, [&](T v) { return v - m; });
  const T s1 = total(deviations), s2 = total(each(deviations, [](T d) { return d * d; }));
  const T lost = s1 * s1;
  return (s2 - lost / n) / static_cast<T>(static_cast<double>(x.size()) - correction);
}
template <class T>
T norm_of(const Row<T>& x) {
  T most = 0;
  for (const T v : x) most = std::max(most, std::fabs(v));
  if (most == 0) return 0;
  const int e = std::ilogb(most);
  return std::ldexp(std::sqrt(total(each(x,
                                         [&](T v) {
                                           const T scaled = std::ldexp(v, -e);
                                           return scaled * scaled;
                                         }))),
                    e);
}
template <class T>
T greatest(const Row<T>& x) {
  return *std::max_element(x.begin(), x.end());
}
template <class T>
Row<T> softmax_of(const Row<T>& x) {
  const T m = greatest(x);
  const Row<T> e = each(x, [&](T v) { return exponential(v - m); });
  const T sum = total(e);
  return each(e, [&](T v) { return v / sum; });
}
template <class T>
Row<T> log_softmax_of(const Row<T>& x) {
  const T m = greatest(x);
  const T log_sum = logarithm(total(each(x, [&](T v) { return exponential(v - m); })));
  return each(x, [&](T v) {
    const T shifted = v - m;
    return shifted - log_sum;
  });
}
template <class T>
T logsumexp_of(const Row<T>& x) {
  const T m = greatest(x);
  return logarithm(total(each(x, [&](T v) { return exponential(v - m); }))) + m;
}

constexpr float epsilon = 0.0037f;

template <class T>
Row<T> rms_norm_of(const Row<T>& x, const Row<T>& gamma) {
  const T r = 1 / std::sqrt(total(each(x, [](T v) { return v * v; })) / static_cast<T>(x.size()) + epsilon);
  Row<T> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T scaled = x[i] * r;
    y.push_back(scaled * gamma[i]);
  }
  return y;
}
/// ((x − μ) · r) · γ + β, every step rounded.
template <class T>
T normalised(T x, T mean, T r, T gamma, T beta) {
  const T deviation = x - mean, scaled = deviation * r, weighted = scaled * gamma;
  return weighted + beta;
}
template <class T>
Row<T> layer_norm_of(const Row<T>& x, const Row<T>& gamma, const Row<T>& beta) {
  const T mean = mean_of(x), r = 1 / std::sqrt(variance_of(x, 0) + epsilon);
  Row<T> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(normalised(x[i], mean, r, gamma[i], beta[i]));
  return y;
}

template <class T>
constexpr DType dtype_of = sizeof(T) == 8 ? DType::f64 : DType::f32;

class Formulas : public OnDevices {
 protected:
  template <class T>
  Tensor of(const Row<T>& x) const {
    return from_host<T>(x, {static_cast<Size>(x.size())}, dtype_of<T>, here);
  }
  /// check(a row of float or double) for lengths around those of the tree, with magnitudes up to 2⁸ about zero and elsewhere.
  template <class Check>
  void for_rows(Check check) {
    for (const std::size_t n : {1, 2, 3, 31, 33, 64, 100, 511, 513, 1000, 4096, 4097, 9001}) {
      rows<float>(n, check);
      rows<double>(n, check);
      if (HasFatalFailure()) return;
    }
  }
  template <class T>
  Row<T> row(std::size_t n, double offset = 0) {
    Row<T> x;
    for (std::size_t i = 0; i < n; ++i) {
      const double digits = static_cast<double>(static_cast<std::int64_t>(random_())) * 0x1p-63;
      x.push_back(static_cast<T>(std::ldexp(digits, static_cast<int>(random_() % 17) - 8) + offset));
    }
    return x;
  }
  template <class T>
  void expect(const Tensor& y, const Row<T>& expected, std::size_t n) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    ASSERT_EQ(y.dtype(), dtype_of<T>);
    const std::vector<T> got = y.to_host<T>();
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(std::bit_cast<Bits>(got[i]), std::bit_cast<Bits>(expected[i]))
          << std::hexfloat << got[i] << " instead of " << expected[i] << " at " << i << " of " << n << " " << to_string(y.dtype());
    }
  }

 private:
  template <class T, class Check>
  void rows(std::size_t n, Check check) {
    check(row<T>(n));
    check(row<T>(n, 77.3));
    // So far from zero that the mean is rounded to what the deviations are made of: here the corrected variance corrects something.
    const T far = 0x1p-4f / std::numeric_limits<T>::epsilon();
    check(each(row<T>(n), [&](T v) { return far + std::ldexp(v, -6); }));
  }
  numerics::Random random_{31};
};
INSTANTIATE_TEST_SUITE_P(Devices, Formulas, every_device, device_name);

TEST_P(Formulas, OfMeans) {
  for_rows([&]<class T>(const Row<T>& x) { expect<T>(mean(of(x)), {mean_of(x)}, x.size()); });
}

TEST_P(Formulas, OfVariances) {
  for_rows([&]<class T>(const Row<T>& x) {
    expect<T>(var(of(x), {.correction = 0}), {variance_of(x, 0)}, x.size());
    if (x.size() == 1) return;
    expect<T>(var(of(x), {.correction = 1}), {variance_of(x, 1)}, x.size());
    expect<T>(votive::std(of(x), {.correction = 1}), {std::sqrt(variance_of(x, 1))}, x.size());
  });
}

TEST_P(Formulas, OfNorms) {
  for_rows([&]<class T>(const Row<T>& x) { expect<T>(norm(of(x)), {norm_of(x)}, x.size()); });
}

TEST_P(Formulas, OfSoftmax) {
  for_rows([&]<class T>(const Row<T>& x) {
    expect<T>(softmax(of(x)), softmax_of(x), x.size());
    expect<T>(log_softmax(of(x)), log_softmax_of(x), x.size());
    expect<T>(logsumexp(of(x)), {logsumexp_of(x)}, x.size());
  });
}

TEST_P(Formulas, OfNormalisingLayers) {
  for_rows([&]<class T>(const Row<T>& x) {
    const Row<T> gamma = row<T>(x.size()), beta = row<T>(x.size());
    expect<T>(rms_norm(of(x), of(gamma), {.epsilon = epsilon}), rms_norm_of(x, gamma), x.size());
    expect<T>(layer_norm(of(x), of(gamma), of(beta), {.epsilon = epsilon}), layer_norm_of(x, gamma, beta), x.size());
  });
}

TEST_P(Formulas, OfABatchNorm) {
  for_rows([&]<class T>(const Row<T>& x) {
    if (x.size() > 1000) return;
    const Row<T> own = row<T>(3), gamma = row<T>(3), beta = row<T>(3), variance = each(row<T>(3), [](T v) { return v * v; });
    Row<T> expected, all;
    for (std::size_t c = 0; c < 3; ++c) {
      const T r = 1 / std::sqrt(variance[c] + epsilon);
      for (const T v : x) expected.push_back(normalised(v, own[c], r, gamma[c], beta[c]));
      all.insert(all.end(), x.begin(), x.end());
    }
    const Tensor images = reshape(of(all), {1, 3, static_cast<Size>(x.size())});
    expect<T>(batch_norm(images, of(own), of(variance), of(gamma), of(beta), {.epsilon = epsilon}), expected, x.size());
  });
}

TEST_P(Formulas, OfAveragesOfWindows) {
  for_rows([&]<class T>(const Row<T>& x) {
    const auto n = static_cast<Size>(x.size());
    if (n > 1000) return;
    const Tensor image = reshape(of(x), {1, 1, n});
    expect<T>(avg_pool1d(image, n), {mean_of(x)}, x.size());
    if (n < 33) return;
    Row<T> expected;
    for (std::size_t o = 0; o + 33 <= x.size(); ++o) expected.push_back(mean_of(Row<T>(x.begin() + long(o), x.begin() + long(o + 33))));
    expect<T>(avg_pool1d(image, 33, {.stride = 1}), expected, x.size());
  });
}

// The sum and the number exact, each to f32, one division: 2²⁴ + 1 is rounded before it is divided.
TEST_P(Formulas, OfMeansOfIntegers) {
  numerics::Random random{32};
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int32_t> x(1 + random() % 9);
    std::int64_t sum = 0;
    for (std::int32_t& v : x) sum += v = static_cast<std::int32_t>(random()) >> random() % 12;
    const Tensor y = mean(from_host<std::int32_t>(x, {static_cast<Size>(x.size())}, i32, here));
    expect<float>(y, {static_cast<float>(sum) / static_cast<float>(x.size())}, x.size());
  }
}

// Halves are read as f32, and rounded once at the end.
TEST_P(Formulas, OfHalvesRoundOnce) {
  const auto bf16_row = each(row<float>(600), [](float v) { return numerics::bf16_to_f32(numerics::f32_to_bf16(v)); });
  const auto rounded = [](const Row<float>& x) { return each(x, [](float v) { return numerics::bf16_to_f32(numerics::f32_to_bf16(v)); }); };
  const Tensor x = of(bf16_row).to(bf16);
  expect<float>(softmax(x).to(f32), rounded(softmax_of(bf16_row)), 600);
  expect<float>(log_softmax(x).to(f32), rounded(log_softmax_of(bf16_row)), 600);
  expect<float>(mean(x).to(f32), rounded({mean_of(bf16_row)}), 600);
  expect<float>(var(x, {.correction = 1}).to(f32), rounded({variance_of(bf16_row, 1)}), 600);
  const Row<float> gamma = rounded(row<float>(600)), beta = rounded(row<float>(600));
  expect<float>(layer_norm(x, of(gamma).to(bf16), of(beta).to(bf16), {.epsilon = epsilon}).to(f32),
                rounded(layer_norm_of(bf16_row, gamma, beta)), 600);
}

}  // namespace
}  // namespace votive
