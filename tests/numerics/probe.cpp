// Each function of the scalar text in a loop that the compiler may vectorise as it likes: the bits must not depend on what it made of it.
#include "tests/numerics/probe_loop.h"

#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/random.h"
#if VOTIVE_ISA_v4n
#include <immintrin.h>
#endif

namespace votive::numerics_probe::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

constexpr Loop all[] = {
    of_f32<[](f32 x) { return exp_f32(x); }>("exp_f32"),
    of_f32<[](f32 x) { return exp2_f32(x); }>("exp2_f32"),
    of_f32<[](f32 x) { return log_f32(x); }>("log_f32"),
    of_f32<[](f32 x) { return log2_f32(x); }>("log2_f32"),
    of_f32<[](f32 x) { return log10_f32(x); }>("log10_f32"),
    of_f32<[](f32 x) { return log1p_f32(x); }>("log1p_f32"),
    of_f32<[](f32 x) { return expm1_f32(x); }>("expm1_f32"),
    of_f32<[](f32 x) { return softplus_f32(x); }>("softplus_f32"),
    of_f64<[](f64 x) { return exp2_f64(x); }>("exp2_f64"),
    of_f64<[](f64 x) { return log2_f64(x); }>("log2_f64"),
    of_f64<[](f64 x) { return log10_f64(x); }>("log10_f64"),
    of_f64<[](f64 x) { return log1p_f64(x); }>("log1p_f64"),
    of_f64<[](f64 x) { return softplus_f64(x); }>("softplus_f64"),
    of_f32<[](f32 x) { return sigmoid_f32(x); }>("sigmoid_f32"),
    of_f32<[](f32 x) { return logit_f32(x); }>("logit_f32"),
    of_f64<[](f64 x) { return logit_f64(x); }>("logit_f64"),
    of_f32<[](f32 x) { return silu_f32(x); }>("silu_f32"),
    of_f32<[](f32 x) { return gelu_f32(x); }>("gelu_f32"),
    of_f32<[](f32 x) { return gelu_tanh_f32(x); }>("gelu_tanh_f32"),
    of_f32<[](f32 x) { return tanh_f32(x); }>("tanh_f32"),
    of_f32<[](f32 x) { return erf_f32(x); }>("erf_f32"),
    of_f32<[](f32 x) { return erfc_f32(x); }>("erfc_f32"),
    of_f32<[](f32 x) { return sin_f32(x); }>("sin_f32"),
    of_f32<[](f32 x) { return cos_f32(x); }>("cos_f32"),
    of_f32<[](f32 x) { return sin_moderate_f32(abs_f32(x) <= trig_limit_f32() ? x : 1.0f); }>("sin_moderate_f32"),
    of_f32<[](f32 x) { return cos_moderate_f32(abs_f32(x) <= trig_limit_f32() ? x : 1.0f); }>("cos_moderate_f32"),
    of_f32<[](f32 x) { return sincospi_f32(abs_f32(x) <= 0x1p20f ? x : 1.0f).sin; }>("sinpi_f32"),
    of_f32<[](f32 x) { return sincospi_f32(abs_f32(x) <= 0x1p20f ? x : 1.0f).cos; }>("cospi_f32"),
    of_f32<[](f32 x) { return rsqrt_f32(x); }>("rsqrt_f32"),
    of_f32<[](f32 x) { return recip_f32(x); }>("recip_f32"),
    of_f32<[](f32 x) { return round_f32(x); }>("round_f32"),
    of_f32<[](f32 x) { return floor_f32(x); }>("floor_f32"),
    of_f32<[](f32 x) { return ceil_f32(x); }>("ceil_f32"),
    of_f32<[](f32 x) { return trunc_f32(x); }>("trunc_f32"),
    of_f32<[](f32 x) { return sign_f32(x); }>("sign_f32"),
    of_f32<[](f32 x) { return relu_f32(x); }>("relu_f32"),
    of_f32<[](f32 x) { return f32_to_f16(x); }>("f32_to_f16"),
    of_f32<[](f32 x) { return f32_to_bf16(x); }>("f32_to_bf16"),
    of_f32<[](f32 x) { return f32_to_e4m3(x); }>("f32_to_e4m3"),
    of_f32<[](f32 x) { return f32_to_e4m3_nonsaturating(x); }>("f32_to_e4m3_nonsaturating"),
    of_f32<[](f32 x) { return f32_to_e5m2(x); }>("f32_to_e5m2"),
    of_f32<[](f32 x) { return f32_to_e5m2_nonsaturating(x); }>("f32_to_e5m2_nonsaturating"),
    of_f32<[](f32 x) { return f32_to_f64(x); }>("f32_to_f64"),
    of_f32<[](f32 x) { return f32_to_i8(x); }>("f32_to_i8"),
    of_f32<[](f32 x) { return f32_to_u8(x); }>("f32_to_u8"),
    of_f32<[](f32 x) { return f32_to_i16(x); }>("f32_to_i16"),
    of_f32<[](f32 x) { return f32_to_u16(x); }>("f32_to_u16"),
    of_f32<[](f32 x) { return f32_to_i32(x); }>("f32_to_i32"),
    of_f32<[](f32 x) { return f32_to_u32(x); }>("f32_to_u32"),
    of_f32<[](f32 x) { return f32_to_i64(x); }>("f32_to_i64"),
    of_f32<[](f32 x) { return f32_to_u64(x); }>("f32_to_u64"),
    of_f32<[](f32 x) { return f32_to_bool(x); }>("f32_to_bool"),
    of_f64<[](f64 x) { return exp_f64(x); }>("exp_f64"),
    of_f64<[](f64 x) { return log_f64(x); }>("log_f64"),
    of_f64<[](f64 x) { return expm1_f64(x); }>("expm1_f64"),
    of_f64<[](f64 x) { return tanh_f64(x); }>("tanh_f64"),
    of_f64<[](f64 x) { return erf_f64(x); }>("erf_f64"),
    of_f64<[](f64 x) { return erfc_f64(x); }>("erfc_f64"),
    of_f64<[](f64 x) { return gelu_f64(x); }>("gelu_f64"),
    of_f64<[](f64 x) { return sin_f64(x); }>("sin_f64"),
    of_f64<[](f64 x) { return cos_f64(x); }>("cos_f64"),
    of_f64<[](f64 x) { return silu_f64(x); }>("silu_f64"),
    of_f64<[](f64 x) { return gelu_tanh_f64(x); }>("gelu_tanh_f64"),
    of_f64<[](f64 x) { return sincospi_f64(abs_f64(x) <= 0x1p49 ? x : 1.0).sin; }>("sinpi_f64"),
    of_f64<[](f64 x) { return sincospi_f64(abs_f64(x) <= 0x1p49 ? x : 1.0).cos; }>("cospi_f64"),
    of_f64<[](f64 x) { return f64_to_f32(x); }>("f64_to_f32"),
    of_f64<[](f64 x) { return f64_to_f16(x); }>("f64_to_f16"),
    of_f64<[](f64 x) { return f64_to_bf16(x); }>("f64_to_bf16"),
    of_f64<[](f64 x) { return f64_to_e4m3(x); }>("f64_to_e4m3"),
    of_f64<[](f64 x) { return f64_to_e5m2(x); }>("f64_to_e5m2"),
    of_f64<[](f64 x) { return f64_to_i8(x); }>("f64_to_i8"),
    of_f64<[](f64 x) { return f64_to_u8(x); }>("f64_to_u8"),
    of_f64<[](f64 x) { return f64_to_i16(x); }>("f64_to_i16"),
    of_f64<[](f64 x) { return f64_to_u16(x); }>("f64_to_u16"),
    of_f64<[](f64 x) { return f64_to_i32(x); }>("f64_to_i32"),
    of_f64<[](f64 x) { return f64_to_u32(x); }>("f64_to_u32"),
    of_f64<[](f64 x) { return f64_to_i64(x); }>("f64_to_i64"),
    of_f64<[](f64 x) { return f64_to_u64(x); }>("f64_to_u64"),
    of_i64<[](i64 x) { return i64_to_f32(x); }>("i64_to_f32"),
    of_i64<[](i64 x) { return i64_to_f64(x); }>("i64_to_f64"),
    of_i64<[](i64 x) { return i64_to_f16(x); }>("i64_to_f16"),
    of_i64<[](i64 x) { return i64_to_bf16(x); }>("i64_to_bf16"),
    of_i64<[](i64 x) { return i64_to_e4m3(x); }>("i64_to_e4m3"),
    of_i64<[](i64 x) { return i64_to_e5m2(x); }>("i64_to_e5m2"),
    of_i64<[](i64 x) { return u64_to_f32((u64)x); }>("u64_to_f32"),
    of_i64<[](i64 x) { return u64_to_f64((u64)x); }>("u64_to_f64"),
    of_i64<[](i64 x) { return u64_to_f16((u64)x); }>("u64_to_f16"),
    of_i64<[](i64 x) { return u64_to_bf16((u64)x); }>("u64_to_bf16"),
    of_u16<[](u16 x) { return f16_to_f32(x); }>("f16_to_f32"),
    of_u16<[](u16 x) { return bf16_to_f32(x); }>("bf16_to_f32"),
    of_u8<[](u8 x) { return e4m3_to_f32(x); }>("e4m3_to_f32"),
    of_u8<[](u8 x) { return e5m2_to_f32(x); }>("e5m2_to_f32"),
    of_pair<[](F32Pair p) { return minimum_f32(p.first, p.second); }>("minimum_f32"),
    of_pair<[](F32Pair p) { return maximum_f32(p.first, p.second); }>("maximum_f32"),
    of_pair<[](F32Pair p) { return fmin_f32(p.first, p.second); }>("fmin_f32"),
    of_pair<[](F32Pair p) { return fmax_f32(p.first, p.second); }>("fmax_f32"),
    of_pair<[](F32Pair p) { return div_f32(p.first, p.second); }>("div_f32"),
    of_pair<[](F32Pair p) { return add_f32(mul_f32(p.first, p.second), p.first); }>("mul_then_add_f32"),
    of_pair<[](F32Pair p) { return fmod_f32(p.first, p.second); }>("fmod_f32"),
    of_pair<[](F32Pair p) { return floor_div_f32(p.first, p.second); }>("floor_div_f32"),
    loop<[](WordPair w) { return normal_pair_f32(w.first, w.second).first; }>(
        "normal_first", Input::word_pair, +[](WordPair) { return 0.0f; }),
    loop<[](WordPair w) { return normal_pair_f32(w.first, w.second).second; }>(
        "normal_second", Input::word_pair, +[](WordPair) { return 0.0f; }),
};

}  // namespace

std::span<const Loop> loops() { return all; }

#if VOTIVE_ISA_v4n
void dot_pairs(const float* acc, const std::uint16_t* a, const std::uint16_t* b, float* out, std::size_t n) {
  for (std::size_t i = 0; i < n; i += 16) {
    const __m512bh x = (__m512bh)_mm512_loadu_si512(a + 2 * i);
    const __m512bh y = (__m512bh)_mm512_loadu_si512(b + 2 * i);
    _mm512_storeu_ps(out + i, _mm512_dpbf16_ps(_mm512_loadu_ps(acc + i), x, y));
  }
}
#endif

}  // namespace votive::numerics_probe::VOTIVE_ISA
