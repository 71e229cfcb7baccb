// Softmax and the norms straight from CONTRACT.md 4.1 and 4.2: rows in f32 (f64 for f64), one rounding at the end.
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

f32 exp_of(f32 x) { return exp_f32(x); }
f64 exp_of(f64 x) { return exp_f64(x); }
f32 log_of(f32 x) { return log_f32(x); }
f64 log_of(f64 x) { return log_f64(x); }
f32 root_of(f32 x) { return sqrt_f32(x); }
f64 root_of(f64 x) { return sqrt_f64(x); }
f32 larger(f32 a, f32 b) { return maximum_f32(a, b); }
f64 larger(f64 a, f64 b) { return maximum_f64(a, b); }
f32 tree(const std::vector<f32>& x) { return tree_sum_f32(x.data(), static_cast<i64>(x.size()), 1); }
f64 tree(const std::vector<f64>& x) { return tree_sum_f64(x.data(), static_cast<i64>(x.size()), 1); }

template <class T>
std::vector<T> softmax_row(bool logarithm, const std::vector<T>& x) {
  T m = x[0];
  for (const T v : x) m = larger(m, v);
  std::vector<T> e;
  for (const T v : x) e.push_back(exp_of(v - m));
  const T sum = tree(e);
  std::vector<T> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(logarithm ? (x[i] - m) - log_of(sum) : e[i] / sum);
  return y;
}

template <class T>
std::vector<T> rms_norm_row(T epsilon, const std::vector<T>& x, const std::vector<T>& gamma) {
  std::vector<T> squares;
  for (const T v : x) squares.push_back(v * v);
  const T r = T{1} / root_of(tree(squares) / static_cast<T>(x.size()) + epsilon);
  std::vector<T> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(gamma.empty() ? x[i] * r : (x[i] * r) * gamma[i]);
  return y;
}

/// mean, then s1 = T(x − m), s2 = T((x − m)²), var = (s2 − s1²/n)/n (CONTRACT.md 3.4, correction 0).
template <class T>
std::vector<T> layer_norm_row(const LayerNorm& op, Size row, const std::vector<T>& x, const std::vector<T>& gamma,
                              const std::vector<T>& beta) {
  const Size per_group = op.weights_of(static_cast<Size>(x.size()));
  const T n = static_cast<T>(x.size());
  const T mean = tree(x) / n;
  std::vector<T> deviations, squares;
  for (const T v : x) deviations.push_back(v - mean);
  for (const T d : deviations) squares.push_back(d * d);
  const T s1 = tree(deviations), s2 = tree(squares);
  const T variance = (s2 - s1 * s1 / n) / n;
  const T r = T{1} / root_of(variance + static_cast<T>(op.epsilon));
  std::vector<T> y;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t neighbours = x.size() / static_cast<std::size_t>(per_group);
    const std::size_t c = static_cast<std::size_t>(row % op.groups * per_group) + i / neighbours;
    T v = deviations[i] * r;
    if (!gamma.empty()) v = v * gamma[c];
    if (!beta.empty()) v = v + beta[c];
    y.push_back(v);
  }
  return y;
}

template <class T, class Function>
std::vector<T> along_axis(const std::vector<T>& x, const Around& around, Function function) {
  std::vector<T> y(x.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      std::vector<T> row;
      for (Size i = 0; i < around.n; ++i) row.push_back(x[static_cast<std::size_t>(around.at(o, i, j))]);
      const std::vector<T> result = function(row);
      for (Size i = 0; i < around.n; ++i) y[static_cast<std::size_t>(around.at(o, i, j))] = result[static_cast<std::size_t>(i)];
    }
  }
  return y;
}

std::vector<f32> read_optional_f32(const Tensor& x) { return x.defined() ? read_f32(x) : std::vector<f32>{}; }
std::vector<f64> read_optional_f64(const Tensor& x) { return x.defined() ? read_f64(x) : std::vector<f64>{}; }

}  // namespace

void softmax(const Softmax& op, const Tensor& x, Tensor& y, Stream&) {
  const Around around(x.shape(), op.axis);
  if (x.dtype() == DType::f64)
    return write_f64(y, along_axis(read_f64(x), around, [&](const auto& row) { return softmax_row(op.logarithm, row); }));
  write_f32(y, along_axis(read_f32(x), around, [&](const auto& row) { return softmax_row(op.logarithm, row); }));
}

void rms_norm(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y, Stream&) {
  const Around around(x.shape(), x.rank() - 1);
  if (x.dtype() == DType::f64) {
    const std::vector<f64> g = read_optional_f64(gamma);
    return write_f64(y, along_axis(read_f64(x), around, [&](const auto& row) { return rms_norm_row(f32_to_f64(op.epsilon), row, g); }));
  }
  const std::vector<f32> g = read_optional_f32(gamma);
  write_f32(y, along_axis(read_f32(x), around, [&](const auto& row) { return rms_norm_row(op.epsilon, row, g); }));
}

void layer_norm(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&) {
  const Around around(x.shape(), x.rank() - 1);
  Size row = 0;
  if (x.dtype() == DType::f64) {
    const std::vector<f64> g = read_optional_f64(gamma), b = read_optional_f64(beta);
    return write_f64(y, along_axis(read_f64(x), around, [&](const auto& values) { return layer_norm_row(op, row++, values, g, b); }));
  }
  const std::vector<f32> g = read_optional_f32(gamma), b = read_optional_f32(beta);
  write_f32(y, along_axis(read_f32(x), around, [&](const auto& values) { return layer_norm_row(op, row++, values, g, b); }));
}

namespace {

template <class T>
std::vector<T> by_channel(T epsilon, const Around& around, const std::vector<T>& x, const std::vector<T>& mean,
                          const std::vector<T>& variance, const std::vector<T>& gamma, const std::vector<T>& beta) {
  std::vector<T> y(x.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size i = 0; i < around.n; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const T r = T{1} / root_of(variance[c] + epsilon);
      for (Size j = 0; j < around.inner; ++j) {
        const auto at = static_cast<std::size_t>(around.at(o, i, j));
        T v = (x[at] - mean[c]) * r;
        if (!gamma.empty()) v = v * gamma[c];
        if (!beta.empty()) v = v + beta[c];
        y[at] = v;
      }
    }
  }
  return y;
}

}  // namespace

void batch_norm(const BatchNorm& op, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma, const Tensor& beta,
                Tensor& y, Stream&) {
  const Around around(x.shape(), 1);
  if (x.dtype() == DType::f64) {
    return write_f64(y, by_channel(f32_to_f64(op.epsilon), around, read_f64(x), read_f64(mean), read_f64(variance),
                                   read_optional_f64(gamma), read_optional_f64(beta)));
  }
  write_f32(y, by_channel(op.epsilon, around, read_f32(x), read_f32(mean), read_f32(variance), read_optional_f32(gamma),
                          read_optional_f32(beta)));
}

}  // namespace votive::reference
