// rms_norm, layer_norm and its kin over the last axis, batch_norm by channel, in f32 (f64 for f64) with the sums of CONTRACT.md 3.4 and one rounding at the end.
#include "votive/ops/norm.h"
#include "votive/cpu/each_row.h"
#include "votive/cpu/element_loops.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/lane_sums.h"

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

// Rows that lie dense: elements stay as they are stored until they are in registers, halves are rounded there, and past the caches whole lines are stored
// around them.

/// y[i] = compute(x[i]), then times γ[i] and plus β[i] where they are given.
template <bool past_caches, class X, class Compute>
void weighted(Compute compute, const f32* gamma, const f32* beta, Size n, X* y, const X* x) {
  if (gamma != nullptr && beta != nullptr) {
    for_elements<past_caches>(
        [=](f32 v, f32 g, f32 b) __attribute__((always_inline)) { return compute(v) * g + b; }, n, y, x, gamma, beta);
  } else if (gamma != nullptr) {
    for_elements<past_caches>(
        [=](f32 v, f32 g) __attribute__((always_inline)) { return compute(v) * g; }, n, y, x, gamma);
  } else if (beta != nullptr) {
    for_elements<past_caches>(
        [=](f32 v, f32 b) __attribute__((always_inline)) { return compute(v) + b; }, n, y, x, beta);
  } else {
    for_elements<past_caches>(
        [=](f32 v) __attribute__((always_inline)) { return compute(v); }, n, y, x);
  }
}

/// The trees over x − mean and over its squares, 0 < n.
struct CentredSums {
  f32 first, second;
};
template <class X>
CentredSums centred_sums(const X* elements, f32 mean, Size n, const NextRow& next) {
  using From = FromOf<X>;
  using Lanes = LaneRegisters<Vf32>;
  constexpr Size group = tree_lanes * numerics::tree_group_steps;
  const auto* x = stored(elements);
  const Vf32 means = Vf32::broadcast(mean);
  UpperTree<f32, Sum<f32>> first, second;
  for (Size k = 0; k < n; k += tree_chunk) {
    const Size end = n - k < tree_chunk ? n : k + tree_chunk;
    GroupSums firsts, seconds;
    for (Size at = k; at < end; at += group) {
      const Size m = end - at < group ? end - at : group;
      next.fetch(at, m);
      Lanes s1, s2;
      unroll<Lanes::registers>([&](auto i) __attribute__((always_inline)) { s1.r[i] = s2.r[i] = Vf32::broadcast(-0.0f); });
      Size i = at;
      for (; i + tree_lanes <= at + m; i += tree_lanes) {
        unroll<Lanes::registers>([&](auto r) __attribute__((always_inline)) {
          const Vf32 v = sub(From::load(x + i + r * Vf32::lanes), means);
          s1.r[r] = add(s1.r[r], v);
          s2.r[r] = add(s2.r[r], mul(v, v));
        });
      }
      if (i < at + m) {
        alignas(64) f32 centred[tree_lanes], squares[tree_lanes];
        for (Size l = 0; l < tree_lanes; ++l) centred[l] = squares[l] = -0.0f;
        for (Size l = 0; i + l < at + m; ++l) {
          centred[l] = From::one(x[i + l]) - mean;
          squares[l] = centred[l] * centred[l];
        }
        s1 = Lanes::join<Sum<f32>>(s1, Lanes::load<Elements<f32>>(centred));
        s2 = Lanes::join<Sum<f32>>(s2, Lanes::load<Elements<f32>>(squares));
      }
      firsts.push(s1);
      seconds.push(s2);
    }
    first.push(firsts.total());
    second.push(seconds.total());
  }
  return {first.total(), second.total()};
}

/// Calls row(past_caches, x, y, number, next) for the rows of a dense x along its last axis.
template <class X, class Row>
void for_each_dense_row(const Tensor& x, Tensor& y, Row row) {
  constexpr Size grain = 8192;
  const Size n = x.shape().back(), rows = x.count() / n;
  const X* from = data<X>(x);
  X* to = data<X>(y);
  const bool whole_lines = n * Size{sizeof(X)} % 64 == 0 && reinterpret_cast<std::uintptr_t>(to) % 64 == 0;
  const bool past_caches = whole_lines && y.count() * Size{sizeof(X)} >= stream_threshold;
  parallel_for(rows, n < grain ? grain / n : 1, [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const NextRow next = i + 1 == end ? NextRow() : NextRow(reinterpret_cast<const std::byte*>(from + (i + 1) * n), sizeof(X));
      past_caches ? row(std::true_type(), from + i * n, to + i * n, i, next) : row(std::false_type(), from + i * n, to + i * n, i, next);
    }
    if (past_caches) stream_fence();
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

template <class X>
void rms_norm_dense(const RmsNorm& op, const Tensor& x, const Tensor& gamma, Tensor& y) {
  const Weight<f32> weight(gamma);
  const Size n = x.shape().back();
  for_each_dense_row<X>(x, y, [&](auto past_caches, const X* from, X* to, Size, const NextRow& next) {
    const f32 r = 1.0f / root(tree_of_row<Squares<FromOf<X>>>(stored(from), n) / static_cast<f32>(n) + op.epsilon);
    constexpr Size piece = 1024;
    for (Size i = 0; i < n; i += piece) {
      const Size m = n - i < piece ? n - i : piece;
      next.fetch(i, m);
      weighted<decltype(past_caches)::value>(
          [r](f32 v) __attribute__((always_inline)) { return v * r; }, weight.values() == nullptr ? nullptr : weight.values() + i, nullptr,
          m, to + i, from + i);
    }
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
template <class X>
void layer_norm_dense(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y) {
  const Weight<f32> scale(gamma), shift(beta);
  const Size n = x.shape().back();
  const f32 count = static_cast<f32>(n);
  for_each_dense_row<X>(x, y, [&](auto past_caches, const X* from, X* to, Size row, const NextRow& next) {
    const f32 mean = tree_of_row<FromOf<X>>(stored(from), n) / count;
    const CentredSums s = centred_sums(from, mean, n, next);
    const f32 r = 1.0f / root((s.second - s.first * s.first / count) / count + op.epsilon);
    weighted<decltype(past_caches)::value>(
        [ mean, r ](f32 v) __attribute__((always_inline)) { return (v - mean) * r; }, of_group(scale, op, row, n),
        of_group(shift, op, row, n), n, to, from);
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
  if (x.is_contiguous()) {
    if (x.dtype() == DType::bf16) return rms_norm_dense<Bf16>(op, x, gamma, y);
    if (x.dtype() == DType::f16) return rms_norm_dense<F16>(op, x, gamma, y);
    return rms_norm_dense<f32>(op, x, gamma, y);
  }
  rms_norm_as<f32>(op, x, gamma, y);
}

void layer_norm(const LayerNorm& op, const Tensor& x, const Tensor& gamma, const Tensor& beta, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return layer_norm_as<f64>(op, x, gamma, beta, y);
  if (x.is_contiguous() && op.weights_of(x.shape().back()) == x.shape().back()) {
    if (x.dtype() == DType::bf16) return layer_norm_dense<Bf16>(op, x, gamma, beta, y);
    if (x.dtype() == DType::f16) return layer_norm_dense<F16>(op, x, gamma, beta, y);
    return layer_norm_dense<f32>(op, x, gamma, beta, y);
  }
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
