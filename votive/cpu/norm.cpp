// rms_norm, layer_norm and its kin over the last axis, batch_norm by channel, in f32 (f64 for f64) with the sums of CONTRACT.md 3.4 and one rounding at the end.
#include "votive/ops/norm.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"

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
  if (gamma == nullptr) {
    for (Size i = 0; i < n; ++i) y[i] = x[i] * r;
  } else {
    for (Size i = 0; i < n; ++i) y[i] = (x[i] * r) * gamma[i];
  }
}

template <class T>
void layer_norm_row(const T* __restrict x, const T* __restrict gamma, const T* __restrict beta, Size neighbours, T epsilon, T* __restrict y,
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
  for (Size first = 0; neighbours > 1 && first < n; first += neighbours) {
    T* __restrict part = y + first;
    if (gamma != nullptr) {
      for (Size i = 0; i < neighbours; ++i) part[i] = part[i] * gamma[first / neighbours];
    }
    if (beta != nullptr) {
      for (Size i = 0; i < neighbours; ++i) part[i] = part[i] + beta[first / neighbours];
    }
  }
  if (neighbours > 1) return;
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
  const Size n = x.shape().back(), per_group = op.weights_of(n);
  const T epsilon = static_cast<T>(op.epsilon);
  for_each_row<T>(x, y, x.rank() - 1, 1, [&](const T* values, T* place, T* squares, Size row) {
    const Size first = row % op.groups * per_group;
    layer_norm_row(values, scale.values() == nullptr ? nullptr : scale.values() + first,
                   shift.values() == nullptr ? nullptr : shift.values() + first, n / per_group, epsilon, place, squares, n);
  });
}

/// One channel's elements.
template <class T>
void by_channel(const T* __restrict x, T* __restrict y, Size n, T mean, T r, const T* gamma, const T* beta) {
  if (gamma != nullptr && beta != nullptr) {
    for (Size i = 0; i < n; ++i) y[i] = ((x[i] - mean) * r) * *gamma + *beta;
    return;
  }
  for (Size i = 0; i < n; ++i) {
    T v = (x[i] - mean) * r;
    if (gamma != nullptr) v = v * *gamma;
    if (beta != nullptr) v = v + *beta;
    y[i] = v;
  }
}

template <class T>
void batch_norm_as(const BatchNorm& op, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma,
                   const Tensor& beta, Tensor& y) {
  constexpr DType as = std::is_same_v<T, f64> ? DType::f64 : DType::f32;
  const Weight<T> m(mean), v(variance), scale(gamma), shift(beta);
  const Size C = x.shape()[1], samples = x.shape()[0], positions = x.count() / samples / C;
  const Scratch<T> r(C);
  for (Size c = 0; c < C; ++c) r[c] = T{1} / root(v.values()[c] + static_cast<T>(op.epsilon));
  const Reader in(x, x.layout(), as);
  const Writer out(y, y.layout(), as);
  // with few positions a channel is too short a run, and a sample is one
  const bool by_sample = positions < 16;
  const Size n = by_sample ? C * positions : positions, runs = x.count() / n;
  parallel_for(runs, n < 8192 ? 8192 / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room(2 * n);
    for (Size run = begin; run < end; ++run) {
      const T* values = in.read<T>(run * n, n, room.data());
      T* place = out.place<T>(run * n, room.data() + n);
      const auto channel = [&](Size c, Size at) {
        by_channel(values + at, place + at, positions, m.values()[c], r[c], scale.values() == nullptr ? nullptr : scale.values() + c,
                   shift.values() == nullptr ? nullptr : shift.values() + c);
      };
      if (!by_sample) {
        channel(run % C, 0);
      } else if (positions == 1) {
        for (Size c = 0; c < C; ++c) place[c] = (values[c] - m.values()[c]) * r[c];
        for (Size c = 0; c < C && scale.values() != nullptr; ++c) place[c] = place[c] * scale.values()[c];
        for (Size c = 0; c < C && shift.values() != nullptr; ++c) place[c] = place[c] + shift.values()[c];
      } else {
        for (Size c = 0; c < C; ++c) channel(c, c * positions);
      }
      out.write(run * n, n, place);
    }
    out.finish();
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

void batch_norm(const BatchNorm& op, const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& gamma, const Tensor& beta,
                Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return batch_norm_as<f64>(op, x, mean, variance, gamma, beta, y);
  batch_norm_as<f32>(op, x, mean, variance, gamma, beta, y);
}

}  // namespace

void register_norm(Kernels& kernels) {
  kernels.add<RmsNorm>(Device::cpu, rms_norm);
  kernels.add<LayerNorm>(Device::cpu, layer_norm);
  kernels.add<BatchNorm>(Device::cpu, batch_norm);
}

}  // namespace votive::cpu::VOTIVE_ISA
