// Softmax and log_softmax: four short passes over a row that is in L1 after the first. The sum is the canonical tree, and the last pass divides, as
// CONTRACT.md 4.1 says. Not here: masks (attention.cpp).
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/numerics/math.h"
#include "votive/ops/norm.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

VOTIVE_SCALAR f32 exponential(f32 x) { return numerics::exp_f32(x); }
VOTIVE_SCALAR f64 exponential(f64 x) { return numerics::exp_f64(x); }
VOTIVE_SCALAR f32 logarithm(f32 x) { return numerics::log_f32(x); }
VOTIVE_SCALAR f64 logarithm(f64 x) { return numerics::log_f64(x); }

/// The largest element. With a NaN in the row any number will do, since the sum becomes NaN; and of equal zeros either, since exp(±0) = 1.
template <class T>
T largest(const T* __restrict x, Size n) {
  constexpr Size lanes = 64;
  T m = x[0];
  Size i = 0;
  if (n >= lanes) {
    T lane[lanes];
    for (Size l = 0; l < lanes; ++l) lane[l] = x[l];
    for (i = lanes; i + lanes <= n; i += lanes) {
      for (Size l = 0; l < lanes; ++l) lane[l] = lane[l] > x[i + l] ? lane[l] : x[i + l];
    }
    for (Size w = lanes / 2; w > 0; w /= 2) {
      for (Size l = 0; l < w; ++l) lane[l] = lane[l] > lane[l + w] ? lane[l] : lane[l + w];
    }
    m = lane[0];
  }
  for (; i < n; ++i) m = m > x[i] ? m : x[i];
  return m;
}

template <class T>
void softmax_row(const T* __restrict x, T* __restrict y, Size n) {
  const T m = largest(x, n);
  for (Size i = 0; i < n; ++i) y[i] = exponential(x[i] - m);
  const T sum = tree_sum(y, n);
  for (Size i = 0; i < n; ++i) y[i] = y[i] / sum;
}

template <class T>
void log_softmax_row(const T* __restrict x, T* __restrict y, Size n) {
  const T m = largest(x, n);
  for (Size i = 0; i < n; ++i) y[i] = exponential(x[i] - m);
  const T log_sum = logarithm(tree_sum(y, n));
  for (Size i = 0; i < n; ++i) y[i] = (x[i] - m) - log_sum;
}

template <class T>
void softmax_as(const Softmax& op, const Tensor& x, Tensor& y) {
  const Size n = x.shape()[op.axis];
  const auto row = op.logarithm ? log_softmax_row<T> : softmax_row<T>;
  for_each_row<T>(x, y, op.axis, 0, [&](const T* values, T* place, T*) { row(values, place, n); });
}

void softmax(const Softmax& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return softmax_as<f64>(op, x, y);
  softmax_as<f32>(op, x, y);
}

}  // namespace

void register_softmax(Kernels& kernels) { kernels.add<Softmax>(Device::cpu, softmax); }

}  // namespace votive::cpu::VOTIVE_ISA
