// The inverse of erf: no entry of CONTRACT.md 2.3, so its bound stands here. A polynomial of x^2, and towards 1 one of sqrt(-log(1 - x)). No branches.
#pragma once

#include "votive/numerics/erf_f64.h"
#include "votive/numerics/math_f32.h"
#include "votive/numerics/math_f64.h"

namespace votive::numerics {

/// The inverse of erf;  +-1 give +-inf, beyond NaN.   <= 4 ulp.
VOTIVE_SCALAR f32 erfinv_f32(f32 x) {
  const f32 a = abs_f32(x);
  const f32 z = x * x;
  f32 p = 0x1.02e57cp+0f;
  p = fma_f32(p, z, -0x1.09582ap+1f);
  p = fma_f32(p, z, 0x1.063232p+1f);
  p = fma_f32(p, z, -0x1.107d60p+0f);
  p = fma_f32(p, z, 0x1.a530b2p-2f);
  p = fma_f32(p, z, -0x1.9bd56ep-6f);
  p = fma_f32(p, z, 0x1.320ef6p-4f);
  p = fma_f32(p, z, 0x1.5fa132p-4f);
  p = fma_f32(p, z, 0x1.05494ep-3f);
  p = fma_f32(p, z, 0x1.db29d2p-3f);
  const f32 s = sqrt_f32(-log_f32(a < 1.0f ? 1.0f - a : 1.0f));
  const f32 v = s - 2.625f;
  f32 q = -0x1.f86fc0p-26f;
  q = fma_f32(q, v, 0x1.367a5ep-23f);
  q = fma_f32(q, v, 0x1.3e4460p-20f);
  q = fma_f32(q, v, -0x1.650ee6p-18f);
  q = fma_f32(q, v, 0x1.430848p-17f);
  q = fma_f32(q, v, -0x1.aa3554p-16f);
  q = fma_f32(q, v, 0x1.67918cp-14f);
  q = fma_f32(q, v, -0x1.de182cp-13f);
  q = fma_f32(q, v, 0x1.111a5ep-11f);
  q = fma_f32(q, v, -0x1.02f46ap-10f);
  q = fma_f32(q, v, 0x1.c816bcp-11f);
  q = fma_f32(q, v, 0x1.4cd514p-8f);
  q = fma_f32(q, v, -0x1.76e416p-5f);
  q = fma_f32(q, v, 0x1.34e564p-2f);
  const f32 y = copysign_f32(a < 0.75f ? fma_f32(a, 0x1.c5bf8ap-1f, fma_f32(p, z, -0x1.c96212p-26f) * a) : s - q, x);
  return a < 1.0f ? y : (a == 1.0f ? copysign_f32(infinity_f32(), x) : nan_f32());
}
/// A polynomial's 20 bits, and one step of Halley's to all of them.
VOTIVE_SCALAR f64 erfinv_f64(f64 x) {
  const f64 a = abs_f64(x);
  const f64 c = a < 1.0 ? a : 0.0;
  const f64 z = c * c;
  f64 p = 0x1.0d0bf0p-3f;
  p = fma_f64(p, z, 0x1.32d1fcp-9f);
  p = fma_f64(p, z, 0x1.3daff4p-4f);
  p = fma_f64(p, z, 0x1.5bbfb4p-4f);
  p = fma_f64(p, z, 0x1.057578p-3f);
  p = fma_f64(p, z, 0x1.db2852p-3f);
  p = fma_f64(p, z, 0x1.c5bf8ap-1f);
  const f64 s = sqrt_f64(-log_f64(1.0 - c));
  const f64 v = s - 3.4;
  f64 q = -0x1.402fb34766292p-25;
  q = fma_f64(q, v, 0x1.dfd3bbba4514ep-23);
  q = fma_f64(q, v, -0x1.05b936a17fec6p-22);
  q = fma_f64(q, v, -0x1.9f444f7332590p-23);
  q = fma_f64(q, v, -0x1.9f51163e292e6p-19);
  q = fma_f64(q, v, 0x1.fe26ad6dcab6dp-17);
  q = fma_f64(q, v, -0x1.12338c35f4c14p-15);
  q = fma_f64(q, v, 0x1.1b029dfa52dbcp-14);
  q = fma_f64(q, v, -0x1.a37289374bfdap-14);
  q = fma_f64(q, v, -0x1.a32ccb2ebc9b7p-12);
  q = fma_f64(q, v, 0x1.4f383f44e2436p-8);
  q = fma_f64(q, v, -0x1.333c220b93475p-5);
  q = fma_f64(q, v, 0x1.13dcc814f17d3p-2);
  const f64 y = c < 0.5 ? p * c : s - q;
  const f64 miss = c < 0.5 ? erf_f64(y) - c : (1.0 - c) - erfc_f64(y);
  const f64 step = miss * 0x1.c5bf891b4ef6ap-1 * exp_f64(y * y);  // over erf'
  const f64 root = copysign_f64(y - step / fma_f64(y, step, 1.0), x);
  return a < 1.0 ? (a < 0x1p-500 ? x * 0x1.c5bf891b4ef6ap-1 : root) : (a == 1.0 ? copysign_f64(infinity_f64(), x) : nan_f64());
}

}  // namespace votive::numerics
