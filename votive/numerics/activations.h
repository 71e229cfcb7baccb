// Activations of neural networks that are made of the functions of math_f32.h and math_f64.h: one chain of f32 (f64) steps each, the digits kept where a
// plain composition would lose them. Each takes -inf to its limit and NaN to NaN.
#pragma once

#include "votive/numerics/erf_f64.h"
#include "votive/numerics/hyperbolic.h"
#include "votive/numerics/math_f32.h"
#include "votive/numerics/math_f64.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/power.h"
#include "votive/numerics/trigonometry.h"
#include "votive/numerics/trigonometry_f64.h"

namespace votive::numerics {

/// log(sigmoid(x)) = -softplus(-x).   <= 5 ulp.
VOTIVE_SCALAR f32 log_sigmoid_f32(f32 x) { return neg_f32(softplus_f32(neg_f32(x))); }
VOTIVE_SCALAR f64 log_sigmoid_f64(f64 x) { return neg_f64(softplus_f64(neg_f64(x))); }

/// log(x / (1 - x)), the inverse of sigmoid;  0 and 1 give -+inf, beyond NaN.   <= 4 ulp.
VOTIVE_SCALAR f32 logit_f32(f32 x) {
  const f32 middle = 2.0f * atanh_f32(2.0f * x - 1.0f);  // 2x - 1 is exact between 1/4 and 3/4, where the logarithms would cancel
  const f32 outer = log_f32(x) - log1p_f32(-x);
  return ((x > 0.25f) & (x < 0.75f)) ? middle : outer;
}
VOTIVE_SCALAR f64 logit_f64(f64 x) {
  const f64 middle = 2.0 * atanh_f64(2.0 * x - 1.0);
  const f64 outer = log_f64(x) - log1p_f64(-x);
  return ((x > 0.25) & (x < 0.75)) ? middle : outer;
}

/// x tanh(softplus(x)).   <= 6 ulp;  mish(-inf) = -0.
VOTIVE_SCALAR f32 mish_f32(f32 x) {
  // tanh(log(1+e)) = e (e+2) / (e (e+2) + 2); the small factor comes last, as in times_sigmoid_f32
  const f32 c = x > -120.0f ? x : -120.0f;
  const ScaledF32 s = exp_scaled_f32(c < 20.0f ? c : 20.0f);
  const f32 first = first_factor_f32(s.exponent);
  const f32 second = second_factor_f32(s.exponent);
  const f32 half = fma_f32(s.excess, first, first);
  const f32 e = half * second;
  const f32 above = e + 2.0f;
  const f32 y = c * half * (above / fma_f32(e, above, 2.0f)) * second;
  return x > 20.0f ? x : (x != x ? x : y);
}
VOTIVE_SCALAR f64 mish_f64(f64 x) {
  const f64 c = x > -760.0 ? x : -760.0;
  const ScaledF64 s = exp_scaled_f64(c < 40.0 ? c : 40.0, 0.0);
  const i32 first = s.exponent >> 1;
  const f64 half = s.fraction * power_of_two_f64(first);
  const f64 second = power_of_two_f64(s.exponent - first);
  const f64 e = half * second;
  const f64 above = e + 2.0;
  const f64 y = c * half * (above / fma_f64(e, above, 2.0)) * second;
  return x > 40.0 ? x : (x != x ? x : y);
}

/// x, or alpha (e^x - 1) below 0.   <= 4 ulp.
VOTIVE_SCALAR f32 elu_f32(f32 x, f32 alpha) {
  const f32 y = alpha * expm1_f32(x);
  return x < 0.0f ? y : x;
}
VOTIVE_SCALAR f64 elu_f64(f64 x, f64 alpha) {
  const f64 y = alpha * expm1_f64(x);
  return x < 0.0 ? y : x;
}
/// x, or alpha (e^(x/alpha) - 1) below 0.   <= 6 ulp.
VOTIVE_SCALAR f32 celu_f32(f32 x, f32 alpha) {
  const f32 y = alpha * expm1_f32(x / alpha);
  return x < 0.0f ? y : x;
}
VOTIVE_SCALAR f64 celu_f64(f64 x, f64 alpha) {
  const f64 y = alpha * expm1_f64(x / alpha);
  return x < 0.0 ? y : x;
}
/// 1.0507... times x, or times 1.6733... (e^x - 1) below 0 (Klambauer et al. 2017).   <= 4 ulp.
VOTIVE_SCALAR f32 selu_f32(f32 x) {
  const f32 y = 0x1.c212ccp+0f * expm1_f32(x);
  return x < 0.0f ? y : x * 0x1.0cfabep+0f;
}
VOTIVE_SCALAR f64 selu_f64(f64 x) {
  const f64 y = 0x1.c212cc640f031p+0 * expm1_f64(x);
  return x < 0.0 ? y : x * 0x1.0cfabd6a91132p+0;
}

/// x * (relu6(x + 3) / 6);  below -3 it is -0.
VOTIVE_SCALAR f32 hardswish_f32(f32 x) {
  const f32 c = x < -3.0f ? -3.0f : x;
  return c * (relu6_f32(c + 3.0f) / 6.0f);
}
VOTIVE_SCALAR f64 hardswish_f64(f64 x) {
  const f64 c = x < -3.0 ? -3.0 : x;
  return c * (relu6_f64(c + 3.0) / 6.0);
}
/// relu6(x + 3) / 6.
VOTIVE_SCALAR f32 hardsigmoid_f32(f32 x) { return relu6_f32(x + 3.0f) / 6.0f; }
VOTIVE_SCALAR f64 hardsigmoid_f64(f64 x) { return relu6_f64(x + 3.0) / 6.0; }

/// x / (1 + |x|), +-1 at +-inf.   <= 1.5 ulp.
VOTIVE_SCALAR f32 softsign_f32(f32 x) {
  const f32 y = x / (1.0f + abs_f32(x));
  return abs_f32(x) == infinity_f32() ? copysign_f32(1.0f, x) : y;
}
VOTIVE_SCALAR f64 softsign_f64(f64 x) {
  const f64 y = x / (1.0 + abs_f64(x));
  return abs_f64(x) == infinity_f64() ? copysign_f64(1.0, x) : y;
}

/// x - tanh(x), by a polynomial where the two nearly agree.   <= 4 ulp.
VOTIVE_SCALAR f32 tanhshrink_f32(f32 x) {
  const f32 z = x * x;
  f32 p = -0x1.f5c7dcp-18f;
  p = fma_f32(p, z, 0x1.4496d2p-14f);
  p = fma_f32(p, z, -0x1.92d6e4p-12f);
  p = fma_f32(p, z, 0x1.514ecep-10f);
  p = fma_f32(p, z, -0x1.cc60d6p-9f);
  p = fma_f32(p, z, 0x1.21f624p-7f);
  p = fma_f32(p, z, -0x1.665edep-6f);
  p = fma_f32(p, z, 0x1.ba2008p-5f);
  p = fma_f32(p, z, -0x1.111138p-3f);
  p = fma_f32(p, z, 0x1.555556p-2f);
  const f32 small = p * z * x;
  return abs_f32(x) < 1.25f ? small : x - tanh_f32(x);
}
VOTIVE_SCALAR f64 tanhshrink_f64(f64 x) {
  const f64 z = x * x;
  f64 p = -0x1.5e3466bdb6ca2p-35;
  p = fma_f64(p, z, 0x1.af9b4f81431d5p-31);
  p = fma_f64(p, z, -0x1.fe6126aa3d960p-28);
  p = fma_f64(p, z, 0x1.852583c629eb5p-25);
  p = fma_f64(p, z, -0x1.b3e5c8f5deec3p-23);
  p = fma_f64(p, z, 0x1.859f5452237cap-21);
  p = fma_f64(p, z, -0x1.2881eb79d48c2p-19);
  p = fma_f64(p, z, 0x1.960c6b9e66c02p-18);
  p = fma_f64(p, z, -0x1.05b4773fdfaafp-16);
  p = fma_f64(p, z, 0x1.47c6d8a4aa756p-15);
  p = fma_f64(p, z, -0x1.960f4c7bec436p-14);
  p = fma_f64(p, z, 0x1.f5679f176b49ep-13);
  p = fma_f64(p, z, -0x1.35567de1fcd8dp-11);
  p = fma_f64(p, z, 0x1.7da33487c9996p-10);
  p = fma_f64(p, z, -0x1.d6d3ccf82dc57p-9);
  p = fma_f64(p, z, 0x1.226e3542261e2p-7);
  p = fma_f64(p, z, -0x1.664f4881b9dc0p-6);
  p = fma_f64(p, z, 0x1.ba1ba1ba161d2p-5);
  p = fma_f64(p, z, -0x1.11111111110a1p-3);
  p = fma_f64(p, z, 0x1.5555555555555p-2);
  const f64 small = p * z * x;
  return abs_f64(x) < 1.25 ? small : x - tanh_f64(x);
}

/// x where |x| > limit, else 0;  NaN stays.
VOTIVE_SCALAR f32 hardshrink_f32(f32 x, f32 limit) { return ((x >= -limit) & (x <= limit)) ? 0.0f : x; }
VOTIVE_SCALAR f64 hardshrink_f64(f64 x, f64 limit) { return ((x >= -limit) & (x <= limit)) ? 0.0 : x; }
/// x - limit above limit, x + limit below -limit, else 0;  NaN stays.
VOTIVE_SCALAR f32 softshrink_f32(f32 x, f32 limit) { return x > limit ? x - limit : (x < -limit ? x + limit : (x != x ? x : 0.0f)); }
VOTIVE_SCALAR f64 softshrink_f64(f64 x, f64 limit) { return x > limit ? x - limit : (x < -limit ? x + limit : (x != x ? x : 0.0)); }

/// x * sigmoid(1.702 x), the product in two parts.   <= 6 ulp.
VOTIVE_SCALAR f32 quick_gelu_f32(f32 x) {
  const f32 z = x * 0x1.b3b646p+0f;
  const f32 y = times_sigmoid_of_sum_f32(x, z, fma_f32(x, -0x1.78d4fep-26f, fma_f32(x, 0x1.b3b646p+0f, -z)), 71.0f);
  return x != x ? x : y;
}
VOTIVE_SCALAR f64 quick_gelu_f64(f64 x) {
  const f64 z = x * 0x1.b3b645a1cac08p+0;
  const f64 y = times_sigmoid_of_sum_f64(x, z, fma_f64(x, 0x1.89374bc6a7efap-55, fma_f64(x, 0x1.b3b645a1cac08p+0, -z)), 447.0);
  return x != x ? x : y;
}

/// gelu(gate) * up.
VOTIVE_SCALAR f32 geglu_f32(f32 gate, f32 up) { return gelu_f32(gate) * up; }
VOTIVE_SCALAR f64 geglu_f64(f64 gate, f64 up) { return gelu_f64(gate) * up; }

/// sin(pi x) / (pi x), 1 at 0;  whole numbers give 0, infinities NaN.   <= 4 ulp.
VOTIVE_SCALAR f32 sinc_f32(f32 x) {
  const f32 n = rint_f32(x);
  const f32 s = sincospi_f32(x - n).sin;
  const f32 odd = n * 0.5f != rint_f32(n * 0.5f) ? -1.0f : 1.0f;
  const f32 y = odd * s / (0x1.921fb6p+1f * x);
  return abs_f32(x) < 0x1p-20f ? 1.0f : (s == 0.0f ? 0.0f : y);
}
VOTIVE_SCALAR f64 sinc_f64(f64 x) {
  const f64 n = rint_f64(x);
  const f64 s = sincospi_f64(x - n).sin;
  const f64 odd = n * 0.5 != rint_f64(n * 0.5) ? -1.0 : 1.0;
  const f64 y = odd * s / (0x1.921fb54442d18p+1 * x);
  return abs_f64(x) < 0x1p-40 ? 1.0 : (s == 0.0 ? 0.0 : y);
}

}  // namespace votive::numerics
