// rms_norm and layer_norm over the last axis, in f32 (f64 for f64) with the sums of CONTRACT.md 3.4 and one rounding at the end.
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/ops/norm.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

VOTIVE_SCALAR f32 root(f32 x) { return numerics::sqrt_f32(x); }
VOTIVE_SCALAR f64 root(f64 x) { return numerics::sqrt_f64(x); }

/// A weight of one element per column as T, or null where it is absent.
template <class T>
class Weight {
 public:
  explicit Weight(const Tensor& weight) : memory_(weight.defined() ? weight.count() : 0) {
    if (!weight.defined()) return;
    const Reader in(weight, weight.layout(), std::is_same_v<T, f64> ? DType::f64 : DType::f32);
    values_ = in.read<T>(0, weight.count(), memory_.data());
  }
  const T* values() const { return values_; }

 private:
  Scratch<T> memory_;
  const T* values_ = nullptr;
};

template <class T>
void rms_norm_row(const T* __restrict x, const T* __restrict gamma, T epsilon, T* __restrict y, Size n) {
  for (Size i = 0; i < n; ++i) y[i] = x[i] * x[i];
  const T r = T{1} / root(tree_sum(y, n) / static_cast<T>(n) + epsilon);
  for (Size i = 0; i < n; ++i) y[i] = (x[i] * r) * gamma[i];
}

template <class T>
void layer_norm_row(const T* __restrict x, const T* __restrict gamma, const T* __restrict beta, T epsilon, T* __restrict y,
                    T* __restrict squares, Size n) {
  const T count = static_cast<T>(n);
  const T mean = tree_sum(x, n) / count;
  for (Size i = 0; i < n; ++i) {
    y[i] = x[i] - mean;
    squares[i] = y[i] * y[i];
  }
  const T s1 = tree_sum(y, n), s2 = tree_sum(squares, n);
  const T r = T{1} / root((s2 - s1 * s1 / count) / count + epsilon);
  for (Size i = 0; i < n; ++i) y[i] = y[i] * r;
  if (gamma != nullptr) {
    for (Size i = 0; i < n; ++i) y[i] = y[i] * gamma[i];
  }
  if (beta != nullptr) {
    for (Size i = 0; i < n; ++i) y[i] = y[i] + beta[i];
  }
}

template <class T>
void rms_norm_as(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y) {
  const Weight<T> weight(gamma);
  const Size n = x.shape().back();
  const T epsilon = static_cast<T>(op.epsilon);
  for_each_row<T>(x, y, x.rank() - 1, 0, [&](const T* values, T* place, T*) { rms_norm_row(values, weight.values(), epsilon, place, n); });
}

template <class T>
void layer_norm_as(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y) {
  const Weight<T> scale(gamma), shift(beta);
  const Size n = x.shape().back();
  const T epsilon = static_cast<T>(op.epsilon);
  for_each_row<T>(x, y, x.rank() - 1, 1, [&](const T* values, T* place, T* squares) {
    layer_norm_row(values, scale.values(), shift.values(), epsilon, place, squares, n);
  });
}

void rms_norm(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return rms_norm_as<f64>(op, x, gamma, y);
  rms_norm_as<f32>(op, x, gamma, y);
}

void layer_norm(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return layer_norm_as<f64>(op, x, gamma, beta, y);
  layer_norm_as<f32>(op, x, gamma, beta, y);
}

}  // namespace

void register_norm(Kernels& kernels) {
  kernels.add<RmsNorm>(Device::cpu, rms_norm);
  kernels.add<LayerNorm>(Device::cpu, layer_norm);
}

}  // namespace votive::cpu::VOTIVE_ISA
