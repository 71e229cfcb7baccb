// Reductions of more than one pass: var, std, norm, logsumexp. A pass joins what a function makes of each element and a number of its result, tile by tile.
#include "votive/cpu/kernels.h"
#include "votive/cpu/squares.h"
#include "votive/numerics/math.h"
#include "votive/ops/reduce.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace reducing;

template <class T>
[[gnu::always_inline]] inline T deviation(T x, T mean) {
  return x - mean;
}
template <class T>
[[gnu::always_inline]] inline T squared_deviation(T x, T mean) {
  return (x - mean) * (x - mean);
}
VOTIVE_SCALAR f32 absolute(f32 x) { return numerics::abs_f32(x); }
VOTIVE_SCALAR f64 absolute(f64 x) { return numerics::abs_f64(x); }
template <class T>
[[gnu::always_inline]] inline T magnitude(T x, T) {
  return absolute(x);
}
template <class T>
[[gnu::always_inline]] inline T scaled_square(T x, T scale) {
  return (x * scale) * (x * scale);
}
VOTIVE_SCALAR f32 exponential(f32 x) { return numerics::exp_f32(x); }
VOTIVE_SCALAR f64 exponential(f64 x) { return numerics::exp_f64(x); }
template <class T>
[[gnu::always_inline]] inline T shifted_exponential(T x, T shift) {
  return exponential(x - shift);
}
VOTIVE_SCALAR f32 logarithm(f32 x) { return numerics::log_f32(x); }
VOTIVE_SCALAR f64 logarithm(f64 x) { return numerics::log_f64(x); }
VOTIVE_SCALAR f32 root(f32 x) { return numerics::sqrt_f32(x); }
VOTIVE_SCALAR f64 root(f64 x) { return numerics::sqrt_f64(x); }

/// 2^e, e the exponent of a positive finite x, at least that of the least normal number: 2^−e is a number then.
VOTIVE_SCALAR f32 power_below(f32 x) {
  const u32 exponent = numerics::bits_f32(x) >> 23;
  return numerics::f32_from_bits((exponent == 0 ? 1u : exponent) << 23);
}
VOTIVE_SCALAR f64 power_below(f64 x) {
  const u64 exponent = numerics::bits_f64(x) >> 52;
  return numerics::f64_from_bits((exponent == 0 ? u64{1} : exponent) << 52);
}

template <class T>
void variances(const Statistic& op, const Tensor& x, const Plan& plan, DType as, T* y) {
  const T n = static_cast<T>(plan.n);
  const f64 divisor = static_cast<f64>(plan.n) - op.correction;
  if (!(divisor > 0)) {
    for (Size o = 0; o < plan.outputs; ++o) y[o] = std::numeric_limits<T>::quiet_NaN();
    return;
  }
  const Scratch<T> mean(plan.outputs), s1(plan.outputs);
  reduce_all<T, Sum<T>>(x, plan, as, mean.data());
  for (Size o = 0; o < plan.outputs; ++o) mean[o] = mean[o] / n;
  reduce_all<T, Sum<T>>(x, plan, as, s1.data(), Mapped<T, deviation<T>>{mean.data()});
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, squared_deviation<T>>{mean.data()});
  for (Size o = 0; o < plan.outputs; ++o) {
    y[o] = (y[o] - s1[o] * s1[o] / n) / static_cast<T>(divisor);
    if (op.kind == StatisticKind::std) y[o] = root(y[o]);
  }
}

bool sum_plain_squares(const Tensor& x, const Plan& plan, f32* y) {
  switch (x.dtype()) {
    case DType::f32: return sum_squares<Elements<f32>>(x, plan, y);
    case DType::bf16: return sum_squares<Bf16Elements>(x, plan, y);
    case DType::f16: return sum_squares<F16Elements>(x, plan, y);
    default: return false;
  }
}
bool sum_plain_squares(const Tensor& x, const Plan& plan, f64* y) { return sum_squares<Elements<f64>>(x, plan, y); }

template <class T>
void norms(const Tensor& x, const Plan& plan, DType as, T* y) {
  if (sum_plain_squares(x, plan, y)) {
    for (Size o = 0; o < plan.outputs; ++o) y[o] = root(y[o]);
    return;
  }
  const Scratch<T> most_of(plan.outputs), scale(plan.outputs);
  reduce_all<T, Greatest<T>>(x, plan, as, most_of.data(), Mapped<T, magnitude<T>>{nullptr});
  const auto is_answer = [](T m) { return !(m > 0 && m < std::numeric_limits<T>::infinity()); };
  for (Size o = 0; o < plan.outputs; ++o) {
    if (plan.n == 0) most_of[o] = 0;
    scale[o] = is_answer(most_of[o]) ? T{1} : T{1} / power_below(most_of[o]);
  }
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, scaled_square<T>>{scale.data()});
  for (Size o = 0; o < plan.outputs; ++o) y[o] = is_answer(most_of[o]) ? most_of[o] : root(y[o]) * power_below(most_of[o]);
}

template <class T>
void log_sums(const Tensor& x, const Plan& plan, DType as, T* y) {
  const Scratch<T> shift(plan.outputs);
  reduce_all<T, Greatest<T>>(x, plan, as, shift.data());
  constexpr T infinity = std::numeric_limits<T>::infinity();
  for (Size o = 0; o < plan.outputs; ++o) shift[o] = shift[o] > -infinity && shift[o] < infinity ? shift[o] : T{0};
  reduce_all<T, Sum<T>>(x, plan, as, y, Mapped<T, shifted_exponential<T>>{shift.data()});
  for (Size o = 0; o < plan.outputs; ++o) y[o] = logarithm(y[o]) + shift[o];
}

template <class T>
void statistic_as(const Statistic& op, const Tensor& x, Tensor& y, DType as) {
  const Plan plan(x.layout(), op.axes);
  const Scratch<T> results(plan.outputs);
  switch (op.kind) {
    case StatisticKind::var:
    case StatisticKind::std: variances(op, x, plan, as, results.data()); break;
    case StatisticKind::norm: norms(x, plan, as, results.data()); break;
    case StatisticKind::logsumexp: log_sums(x, plan, as, results.data()); break;
  }
  put(results.data(), as, y);
}

void statistic(const Statistic& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return statistic_as<f64>(op, x, y, DType::f64);
  statistic_as<f32>(op, x, y, DType::f32);
}

}  // namespace

void register_statistics(Kernels& kernels) { kernels.add<Statistic>(Device::cpu, statistic); }

}  // namespace votive::cpu::VOTIVE_ISA
