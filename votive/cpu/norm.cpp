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

/// The tree over the squares of elements.
template <class From>
struct Squares {
  using T = typename From::T;
  using Storage = typename From::Storage;
  static T one(Storage x) { return From::one(x) * From::one(x); }
  [[gnu::always_inline]] static auto load(const Storage* x) {
    const auto v = From::load(x);
    return mul(v, v);
  }
};

template <class From>
typename From::T tree_of_row(const typename From::Storage* x, Size n) {
  UpperTree<typename From::T, Sum<typename From::T>> tree;
  for (Size k = 0; k < n; k += tree_chunk)
    tree.push(tree_of_registers<From, Sum<typename From::T>>(x + k, n - k < tree_chunk ? n - k : tree_chunk));
  return tree.total();
}

template <class T, class Done>
void rms_norm_row(const T* __restrict x, const T* __restrict gamma, T epsilon, T* __restrict y, Size n, const NextRow& next, Done done) {
  const T r = T{1} / root(tree_of_row<Squares<Elements<T>>>(x, n) / static_cast<T>(n) + epsilon);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    if (gamma == nullptr) {
      for (Size i = first; i < first + count; ++i) y[i] = x[i] * r;
    } else {
      for (Size i = first; i < first + count; ++i) y[i] = (x[i] * r) * gamma[i];
    }
    done(first, count);
  });
}

template <class T, class Done>
void layer_norm_row(const T* __restrict x, const T* __restrict gamma, const T* __restrict beta, Size neighbours, T epsilon, T* __restrict y,
                    Size n, const NextRow& next, Done done) {
  const T count = static_cast<T>(n);
  const T mean = tree_sum(x, n) / count;
  UpperTree<T, Sum<T>> first, second;
  for (Size k = 0; k < n; k += tree_chunk) {
    const Size m = n - k < tree_chunk ? n - k : tree_chunk;
    for_each_piece_of_row(m, next.from(k), [&](Size begin, Size some) {
      for (Size i = k + begin; i < k + begin + some; ++i) y[i] = x[i] - mean;
    });
    first.push(tree_of_registers<Elements<T>, Sum<T>>(y + k, m));
    second.push(tree_of_registers<Squares<Elements<T>>, Sum<T>>(y + k, m));
  }
  const T s1 = first.total(), s2 = second.total();
  const T r = T{1} / root((s2 - s1 * s1 / count) / count + epsilon);
  if (neighbours > 1) {
    for (Size begin = 0; begin < n; begin += neighbours) {
      T* __restrict part = y + begin;
      const Size w = begin / neighbours;
      for (Size i = 0; i < neighbours; ++i) part[i] = part[i] * r;
      if (gamma != nullptr) {
        for (Size i = 0; i < neighbours; ++i) part[i] = part[i] * gamma[w];
      }
      if (beta != nullptr) {
        for (Size i = 0; i < neighbours; ++i) part[i] = part[i] + beta[w];
      }
    }
    return done(0, n);
  }
  for_each_piece_of_row(n, NextRow(), [&](Size begin, Size some) {
    const Size end = begin + some;
    if (gamma != nullptr && beta != nullptr) {
      for (Size i = begin; i < end; ++i) y[i] = (y[i] * r) * gamma[i] + beta[i];
    } else if (gamma != nullptr) {
      for (Size i = begin; i < end; ++i) y[i] = (y[i] * r) * gamma[i];
    } else if (beta != nullptr) {
      for (Size i = begin; i < end; ++i) y[i] = y[i] * r + beta[i];
    } else {
      for (Size i = begin; i < end; ++i) y[i] = y[i] * r;
    }
    done(begin, some);
  });
}

// Halves stay as they are stored until they are in registers, and are rounded there.

struct Bf16Rows : Bf16Elements {
  static Storage narrow(f32 x) { return numerics::f32_to_bf16(x); }
  [[gnu::always_inline]] static void put(Storage* y, Vf32 v) { store_bf16(y, v); }
};
struct F16Rows : F16Elements {
  static Storage narrow(f32 x) { return numerics::f32_to_f16(x); }
  [[gnu::always_inline]] static void put(Storage* y, Vf32 v) { store_f16(y, v); }
};

/// y = (x·r)·γ + β of elements first … first + n, each weight where it is given; x is f32 or a half.
template <class Rows, class From>
void scale_and_round(const typename From::Storage* __restrict x, f32 r, const f32* __restrict gamma, const f32* __restrict beta, Size first,
                     Size n, u16* __restrict y) {
  const Vf32 factor = Vf32::broadcast(r);
  Size i = first;
  for (; i + Vf32::lanes <= first + n; i += Vf32::lanes) {
    Vf32 v = mul(From::load(x + i), factor);
    if (gamma != nullptr) v = mul(v, Vf32::load(gamma + i));
    if (beta != nullptr) v = add(v, Vf32::load(beta + i));
    Rows::put(y + i, v);
  }
  for (; i < first + n; ++i) {
    f32 v = From::one(x[i]) * r;
    if (gamma != nullptr) v = v * gamma[i];
    if (beta != nullptr) v = v + beta[i];
    y[i] = Rows::narrow(v);
  }
}

template <class Rows, class Done>
void rms_norm_half_row(const u16* x, const f32* gamma, f32 epsilon, u16* y, Size n, const NextRow& next, Done done) {
  const f32 r = 1.0f / root(tree_of_row<Squares<Rows>>(x, n) / static_cast<f32>(n) + epsilon);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    scale_and_round<Rows, Rows>(x, r, gamma, nullptr, first, count, y);
    done(first, count);
  });
}

/// `centred` holds n elements.
template <class Rows, class Done>
void layer_norm_half_row(const u16* __restrict x, const f32* gamma, const f32* beta, f32 epsilon, f32* __restrict centred, u16* y, Size n,
                         const NextRow& next, Done done) {
  const f32 count = static_cast<f32>(n), mean = tree_of_row<Rows>(x, n) / count;
  const Vf32 means = Vf32::broadcast(mean);
  for_each_piece_of_row(n, next, [&](Size first, Size some) {
    Size i = first;
    for (; i + Vf32::lanes <= first + some; i += Vf32::lanes) store(centred + i, sub(Rows::load(x + i), means));
    for (; i < first + some; ++i) centred[i] = Rows::one(x[i]) - mean;
  });
  const f32 s1 = tree_of_row<Elements<f32>>(centred, n), s2 = tree_of_row<Squares<Elements<f32>>>(centred, n);
  const f32 r = 1.0f / root((s2 - s1 * s1 / count) / count + epsilon);
  for_each_piece_of_row(n, NextRow(), [&](Size first, Size some) {
    scale_and_round<Rows, Elements<f32>>(centred, r, gamma, beta, first, some, y);
    done(first, some);
  });
}

template <class T>
constexpr DType dtype_of = std::is_same_v<T, f64> ? DType::f64 : DType::f32;

template <class T>
void rms_norm_as(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y) {
  const Weight<T> weight(gamma);
  const Size n = x.shape().back();
  const T epsilon = static_cast<T>(op.epsilon);
  for_each_row<T>(x, y, x.rank() - 1, dtype_of<T>, [&](const T* values, T* place, Size, const NextRow& next, auto done) {
    rms_norm_row(values, weight.values(), epsilon, place, n, next, done);
  });
}

template <class Rows>
void rms_norm_halves(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y) {
  const Weight<f32> weight(gamma);
  const Size n = x.shape().back();
  for_each_row<u16>(x, y, x.rank() - 1, x.dtype(), [&](const u16* values, u16* place, Size, const NextRow& next, auto done) {
    rms_norm_half_row<Rows>(values, weight.values(), op.epsilon, place, n, next, done);
  });
}

/// The group's weights in row `row`, or null.
template <class T>
const T* of_group(const Weight<T>& weight, const LayerNorm& op, Size row, Size per_group) {
  return weight.values() == nullptr ? nullptr : weight.values() + row % op.groups * per_group;
}

template <class T>
void layer_norm_as(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y) {
  const Weight<T> scale(gamma), shift(beta);
  const Size n = x.shape().back(), per_group = op.weights_of(n);
  const T epsilon = static_cast<T>(op.epsilon);
  for_each_row<T>(x, y, x.rank() - 1, dtype_of<T>, [&](const T* values, T* place, Size row, const NextRow& next, auto done) {
    layer_norm_row(values, of_group(scale, op, row, per_group), of_group(shift, op, row, per_group), n / per_group, epsilon, place, n, next,
                   done);
  });
}

/// A weight for each element of a row.
template <class Rows>
void layer_norm_halves(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y) {
  const Weight<f32> scale(gamma), shift(beta);
  const Size n = x.shape().back();
  for_each_row<u16>(x, y, x.rank() - 1, x.dtype(), [&](const u16* values, u16* place, Size row, const NextRow& next, auto done) {
    const Scratch<f32> centred(n);
    layer_norm_half_row<Rows>(values, of_group(scale, op, row, n), of_group(shift, op, row, n), op.epsilon, centred.data(), place, n, next,
                              done);
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
  if (x.dtype() == DType::bf16) return rms_norm_halves<Bf16Rows>(op, x, gamma, y);
  if (x.dtype() == DType::f16) return rms_norm_halves<F16Rows>(op, x, gamma, y);
  rms_norm_as<f32>(op, x, gamma, y);
}

void layer_norm(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return layer_norm_as<f64>(op, x, gamma, beta, y);
  const bool of_elements = op.weights_of(x.shape().back()) == x.shape().back();
  if (of_elements && x.dtype() == DType::bf16) return layer_norm_halves<Bf16Rows>(op, x, gamma, beta, y);
  if (of_elements && x.dtype() == DType::f16) return layer_norm_halves<F16Rows>(op, x, gamma, beta, y);
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
