// Softmax and log_softmax: four short passes over a row that is in L1 after the first. The sum is the canonical tree, and the last pass gives the quotients
// that a division gives, as CONTRACT.md 4.1 says. Not here: masks (attention.cpp).
#include "votive/cpu/kernels.h"
#include "votive/cpu/largest.h"
#include "votive/cpu/rows.h"
#include "votive/numerics/math.h"
#include "votive/ops/norm.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

VOTIVE_SCALAR f32 exponential(f32 x) { return numerics::exp_f32(x); }
VOTIVE_SCALAR f64 exponential(f64 x) { return numerics::exp_f64(x); }
VOTIVE_SCALAR f32 logarithm(f32 x) { return numerics::log_f32(x); }
VOTIVE_SCALAR f64 logarithm(f64 x) { return numerics::log_f64(x); }

/// y = exp(x − m); the least bits of those that are not 0, less 1.
u32 exponentials(const f32* __restrict x, f32 m, f32* __restrict y, Size n) {
  u32 least = 0xffffffffu;
  for (Size i = 0; i < n; ++i) {
    const f32 e = numerics::exp_f32(x[i] - m);
    const u32 bits = numerics::bits_f32(e) - 1u;
    y[i] = e;
    least = bits < least ? bits : least;
  }
  return least;
}

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__aarch64__)
constexpr bool has_fma = true;
#else
constexpr bool has_fma = false;
#endif

/// y = y/s for 0 ≤ y ≤ 1 ≤ s < 2³¹, or NaN. With an fma and 1/s rounded to nearest, q = y·(1/s) and one correction of q by its remainder are the quotient to
/// the bit, as long as nothing underflows (Markstein 1990; Brisebarre, Muller and Raina 2004): 3 cycles for 16 elements instead of 10 (Zen 4).
void divide(f32* __restrict y, f32 s, f32 inverse, bool small, Size n) {
  if (has_fma && !small) {
    for (Size i = 0; i < n; ++i) {
      const f32 q = y[i] * inverse;
      y[i] = numerics::fma_f32(numerics::fma_f32(-q, s, y[i]), inverse, q);
    }
  } else {
    for (Size i = 0; i < n; ++i) y[i] = y[i] / s;
  }
}

template <class Done>
void softmax_row(const f32* x, f32* y, Size n, const NextRow& next, Done done) {
  constexpr u32 safe = 0x12800000u - 1u;  // 2^−90: quotients and remainders stay normal
  const f32 m = largest(x, n);
  u32 least = 0xffffffffu;
  for_each_piece_of_row(n, next, [&](Size i, Size count) {
    const u32 here = exponentials(x + i, m, y + i, count);
    least = here < least ? here : least;
  });
  const f32 sum = tree_sum(y, n), inverse = 1.0f / sum;
  for_each_piece_of_row(n, NextRow(), [&](Size i, Size count) {
    divide(y + i, sum, inverse, least < safe, count);
    done(i, count);
  });
}

template <class Done>
void softmax_row(const f64* __restrict x, f64* __restrict y, Size n, const NextRow& next, Done done) {
  const f64 m = largest(x, n);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = exponential(x[i] - m);
  });
  const f64 sum = tree_sum(y, n);
  for (Size i = 0; i < n; ++i) y[i] = y[i] / sum;
  done(0, n);
}

template <class T, class Done>
void log_softmax_row(const T* __restrict x, T* __restrict y, Size n, const NextRow& next, Done done) {
  const T m = largest(x, n);
  for_each_piece_of_row(n, next, [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = exponential(x[i] - m);
  });
  const T log_sum = logarithm(tree_sum(y, n));
  for_each_piece_of_row(n, NextRow(), [&](Size first, Size count) {
    for (Size i = first; i < first + count; ++i) y[i] = (x[i] - m) - log_sum;
    done(first, count);
  });
}

template <class T>
void softmax_as(const Softmax& op, const Tensor& x, Tensor& y) {
  const Size n = x.shape()[op.axis];
  for_each_row<T>(x, y, op.axis, std::is_same_v<T, f64> ? DType::f64 : DType::f32,
                  [&](const T* values, T* place, Size, const NextRow& next, auto done) {
                    op.logarithm ? log_softmax_row(values, place, n, next, done) : softmax_row(values, place, n, next, done);
                  });
}

void softmax(const Softmax& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return softmax_as<f64>(op, x, y);
  softmax_as<f32>(op, x, y);
}

}  // namespace

void register_softmax(Kernels& kernels) { kernels.add<Softmax>(Device::cpu, softmax); }

}  // namespace votive::cpu::VOTIVE_ISA
