// The loops of operations on one tensor, with and without numbers beside it: the scalar text of numerics in a plain loop that the compiler vectorises.
#include "votive/cpu/angles.h"
#include "votive/cpu/element_loops.h"
#include "votive/cpu/pointwise_plan.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

template <class X, class Y, auto compute>
void loop1(const void* x, void* y, Size n) {
  const X* __restrict in = static_cast<const X*>(x);
  Y* __restrict out = static_cast<Y*>(y);
  for (Size i = 0; i < n; ++i) out[i] = static_cast<Y>(compute(in[i]));
}

template <class X, class Y, auto compute, bool past_caches>
void blocks1(const void* x, void* y, Size n) {
  for_elements<past_caches>(
      [](ValueOf<X> v) __attribute__((always_inline)) { return compute(v); }, n, static_cast<Y*>(y), static_cast<const X*>(x));
}

/// The numbers beside a tensor, in the type that it is computed in.
template <class T>
struct Numbers {
  T p, q, r;
  explicit Numbers(const Attributes& attributes) {
    if constexpr (std::is_same_v<T, f64>) {
      p = attributes.p, q = attributes.q, r = attributes.r;
    } else {
      p = f64_to_f32(attributes.p), q = f64_to_f32(attributes.q), r = f64_to_f32(attributes.r);
    }
  }
};

template <class T, auto compute>
void loop_with(const void* x, void* y, Size n, const Attributes& attributes) {
  const T* __restrict in = static_cast<const T*>(x);
  T* __restrict out = static_cast<T*>(y);
  const Numbers<T> number(attributes);
  const T p = number.p, q = number.q, r = number.r;
  for (Size i = 0; i < n; ++i) out[i] = compute(in[i], p, q, r);
}

template <class E, auto compute, bool past_caches>
void blocks_with(const void* x, void* y, Size n, const Attributes& attributes) {
  using T = ValueOf<E>;
  const Numbers<T> number(attributes);
  for_elements<past_caches>(
      [ p = number.p, q = number.q, r = number.r ](T v) __attribute__((always_inline)) { return compute(v, p, q, r); }, n,
      static_cast<E*>(y), static_cast<const E*>(x));
}

template <bool sine>
void loop_of_angles(const void* x, void* y, Size n) {
  const f32* in = static_cast<const f32*>(x);
  f32* out = static_cast<f32*>(y);
  f32 other[tile_size];
  for (Size at = 0; at < n; at += tile_size) {
    const Size m = n - at < tile_size ? n - at : tile_size;
    if (sine) {
      sines_and_cosines(in + at, out + at, other, m);
    } else {
      sines_and_cosines(in + at, other, out + at, m);
    }
  }
}

// Reduced as if every angle were moderate, which has no branch; the few that are not are computed again.
template <class T, auto moderate, auto any>
void loop_of_angles(const void* x, void* y, Size n, T limit) {
  const T* __restrict in = static_cast<const T*>(x);
  T* __restrict out = static_cast<T*>(y);
  int beyond = 0;
  for (Size i = 0; i < n; ++i) {
    out[i] = moderate(in[i]);
    beyond |= !(in[i] <= limit && in[i] >= -limit);
  }
  for (Size i = 0; beyond != 0 && i < n; ++i)
    if (!(in[i] <= limit && in[i] >= -limit)) out[i] = any(in[i]);
}

/// Computes a run and says whether a number in it was not moderate.
template <auto compute, auto is_moderate, class Flag>
bool goes_beyond(const f32* __restrict in, f32* __restrict out, Size n) {
  Flag beyond = 0;
  for (Size i = 0; i < n; ++i) {
    out[i] = compute(in[i]);
    beyond |= is_moderate(in[i]) ? Flag{0} : Flag{1};
  }
  return beyond != 0;
}

/// The same by the largest of the bits that `measure` gives, where moderate numbers are those of few: an integer maximum is cheaper than a comparison whose
/// mask is kept (exp 0.17 ns per element instead of 0.2, 2-core Zen 4).
template <auto compute, auto measure>
bool measures_beyond(const f32* __restrict in, f32* __restrict out, Size n, u32 limit) {
  u32 most = 0;
  for (Size i = 0; i < n; ++i) {
    out[i] = compute(in[i]);
    const u32 here = measure(bits_f32(in[i]));
    most = here > most ? here : most;
  }
  return most > limit;
}
VOTIVE_SCALAR u32 magnitude_bits(u32 bits) { return bits & 0x7fffffffu; }
VOTIVE_SCALAR u32 bits_above_subnormals(u32 bits) { return bits - 0x00800000u; }

// A function whose text is shorter for moderate numbers: a block by that text, and again by the whole one where a number was beyond; while blocks go on
// like that, by the whole one at once. `limit` is the largest measure of what is_moderate of numerics lets through.
template <auto whole, auto moderate, auto measure>
void loop_of_moderate(const void* x, void* y, Size n, u32 limit) {
  constexpr Size block = 512;
  const f32* in = static_cast<const f32*>(x);
  f32* out = static_cast<f32*>(y);
  bool beyond = false;
  for (Size at = 0; at < n; at += block) {
    const Size m = n - at < block ? n - at : block;
    if (!beyond) beyond = measures_beyond<moderate, measure>(in + at, out + at, m, limit);
    if (beyond) beyond = measures_beyond<whole, measure>(in + at, out + at, m, limit);
  }
}

// The same with a flag, of 16 bits, for which g++ takes two vectors at a time: that pays where the text is long.
template <auto whole, auto moderate, auto is_moderate, class Flag>
void loop_of_moderate(const void* x, void* y, Size n) {
  constexpr Size block = 256;
  const f32* in = static_cast<const f32*>(x);
  f32* out = static_cast<f32*>(y);
  bool beyond = false;
  for (Size at = 0; at < n; at += block) {
    const Size m = n - at < block ? n - at : block;
    if (!beyond) beyond = goes_beyond<moderate, is_moderate, Flag>(in + at, out + at, m);
    if (beyond) beyond = goes_beyond<whole, is_moderate, Flag>(in + at, out + at, m);
  }
}

// Integers of any width in the text of 64 bits, cut to their width: the low bits of + − × are the same, and so is the order.
template <auto of_i64, auto of_u64>
Plan1 integers(DType x) {
  const Loop1 loop = of_integer(x, []<class T>(T) -> Loop1 {
    if constexpr (std::is_signed_v<T>) {
      return loop1<T, T, of_i64>;
    } else {
      return loop1<T, T, of_u64>;
    }
  });
  const Loop1 streamed = of_integer(x, []<class T>(T) -> Loop1 {
    if constexpr (std::is_signed_v<T>) {
      return blocks1<T, T, of_i64, true>;
    } else {
      return blocks1<T, T, of_u64, true>;
    }
  });
  return {loop, x, x, grain_of_arithmetic, streamed};
}

// One function per group of rows.

template <auto of_f32, auto of_f64>
Plan1 functions(DType x) {
  if (x == DType::f64) return {loop1<f64, f64, of_f64>, x, x, grain_of_functions};
  return {loop1<f32, f32, of_f32>, DType::f32, DType::f32, grain_of_functions};
}

template <auto of_f32, auto of_f64>
Plan1 floats(DType x) {
  constexpr Size grain = grain_of_arithmetic;
  if (x == DType::f16) return {blocks1<F16, F16, of_f32, false>, x, x, grain, blocks1<F16, F16, of_f32, true>};
  if (x == DType::bf16) return {blocks1<Bf16, Bf16, of_f32, false>, x, x, grain, blocks1<Bf16, Bf16, of_f32, true>};
  if (x == DType::f64) return {loop1<f64, f64, of_f64>, x, x, grain, blocks1<f64, f64, of_f64, true>};
  return {loop1<f32, f32, of_f32>, DType::f32, DType::f32, grain, blocks1<f32, f32, of_f32, true>};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64>
Plan1 numbers(DType x) {
  if (is_whole(x)) return integers<of_i64, of_u64>(x);
  return floats<of_f32, of_f64>(x);
}

template <auto of_f32, auto of_f64>
Plan1 truths(DType x) {
  if (x == DType::f64) return {loop1<f64, u8, of_f64>, x, DType::boolean, grain_of_arithmetic, blocks1<f64, u8, of_f64, true>};
  return {loop1<f32, u8, of_f32>, DType::f32, DType::boolean, grain_of_arithmetic, blocks1<f32, u8, of_f32, true>};
}

template <auto of_bool>
Plan1 logical() {
  return {loop1<u8, u8, of_bool>, DType::boolean, DType::boolean, grain_of_arithmetic, blocks1<u8, u8, of_bool, true>};
}

template <auto of_i64, auto of_u64, auto of_bool>
Plan1 bitwise(DType x) {
  if (x == DType::boolean) return logical<of_bool>();
  return integers<of_i64, of_u64>(x);
}

/// Of halves, on their bits.
template <auto of_bits>
Plan1 bits(DType x) {
  return {loop1<u16, u16, of_bits>, x, x, grain_of_arithmetic, blocks1<u16, u16, of_bits, true>};
}

template <auto of_f32, auto of_f64, bool arithmetic>
PlanWith floats_with(DType x) {
  if constexpr (!arithmetic) {
    if (x == DType::f64) return {loop_with<f64, of_f64>, x, x, grain_of_functions};
    return {loop_with<f32, of_f32>, DType::f32, DType::f32, grain_of_functions};
  } else {
    constexpr Size grain = grain_of_arithmetic;
    if (x == DType::f16) return {blocks_with<F16, of_f32, false>, x, x, grain, blocks_with<F16, of_f32, true>};
    if (x == DType::bf16) return {blocks_with<Bf16, of_f32, false>, x, x, grain, blocks_with<Bf16, of_f32, true>};
    if (x == DType::f64) return {loop_with<f64, of_f64>, x, x, grain, blocks_with<f64, of_f64, true>};
    return {loop_with<f32, of_f32>, DType::f32, DType::f32, grain, blocks_with<f32, of_f32, true>};
  }
}

// The scalar text as something a template can take.
#define F32(name) [](f32 v) { return name##_f32(v); }
#define F64(name) [](f64 v) { return name##_f64(v); }
#define I64(name) [](i64 v) { return name##_i64(v); }
#define U64(name) [](u64 v) { return name##_u64(v); }
#define SAME [](auto v) { return v; }

}  // namespace

Plan1 plan(UnaryKind kind, DType x) {
  // On the bits, since a NaN must keep its own (CONTRACT.md 0.2).
  if (kind == UnaryKind::neg && is_half(x)) return bits<[](u16 v) { return v ^ 0x8000u; }>(x);
  if (kind == UnaryKind::abs && is_half(x)) return bits<[](u16 v) { return v & 0x7fffu; }>(x);
#define ANGLES(T, name) \
  [](const void* in, void* out, Size n) { loop_of_angles<T, name##_moderate_##T, name##_##T>(in, out, n, trig_limit_##T()); }
  if (x == DType::f64) {
    if (kind == UnaryKind::sin) return {ANGLES(f64, sin), x, x, grain_of_functions};
    if (kind == UnaryKind::cos) return {ANGLES(f64, cos), x, x, grain_of_functions};
    if (kind == UnaryKind::tan) return {ANGLES(f64, tan), x, x, grain_of_functions};
  } else {
    if (kind == UnaryKind::sin) return {loop_of_angles<true>, DType::f32, DType::f32, grain_of_functions};
    if (kind == UnaryKind::cos) return {loop_of_angles<false>, DType::f32, DType::f32, grain_of_functions};
    if (kind == UnaryKind::tan) return {ANGLES(f32, tan), DType::f32, DType::f32, grain_of_functions};
  }
#undef ANGLES
#define MODERATE(name, Flag)                                                                                    \
  if (kind == UnaryKind::name && x != DType::f64)                                                               \
    return {loop_of_moderate<[](f32 v) { return name##_f32(v); }, [](f32 v) { return name##_moderate_f32(v); }, \
                             [](f32 v) { return is_moderate_##name##_f32(v); }, Flag>,                          \
            DType::f32, DType::f32, grain_of_functions};
#define MEASURED(name, measure, limit)                                                                                                 \
  if (kind == UnaryKind::name && x != DType::f64)                                                                                      \
    return {[](const void* in, void* out, Size n) {                                                                                    \
              loop_of_moderate<[](f32 v) { return name##_f32(v); }, [](f32 v) { return name##_moderate_f32(v); }, measure>(in, out, n, \
                                                                                                                           limit);     \
            },                                                                                                                         \
            DType::f32, DType::f32, grain_of_functions};
  MEASURED(exp, magnitude_bits, bits_f32(87.0f))
  MEASURED(sigmoid, magnitude_bits, bits_f32(87.0f))
  MEASURED(silu, magnitude_bits, bits_f32(80.0f))
  MEASURED(log, bits_above_subnormals, 0x7effffffu)
#undef MEASURED
  MODERATE(gelu, u16)
  MODERATE(gelu_tanh, u16)
#undef MODERATE
#define GROUP_arithmetic(name) numbers<F32(name), F64(name), I64(name), U64(name)>(x)
#define GROUP_rounding(name) numbers<F32(name), F64(name), SAME, SAME>(x)
#define GROUP_floating(name) floats<F32(name), F64(name)>(x)
#define GROUP_function(name) functions<F32(name), F64(name)>(x)
#define GROUP_predicate(name) truths<F32(name), F64(name)>(x)
#define GROUP_bitwise(name) bitwise<I64(name), U64(name), [](u8 v) { return name##_bool(v); }>(x)
#define GROUP_logical(name) logical<[](u8 v) { return name(v); }>()
  switch (kind) {
#define ROW(group, name, ...) \
  case UnaryKind::name: return GROUP_##group(name);
    VOTIVE_UNARY(ROW)
#undef ROW
  }
#undef GROUP_arithmetic
#undef GROUP_rounding
#undef GROUP_floating
#undef GROUP_function
#undef GROUP_predicate
#undef GROUP_bitwise
#undef GROUP_logical
  return {};
}

#undef F32
#undef F64
#undef I64
#undef U64
#undef SAME

PlanWith plan(UnaryWithKind kind, DType x) {
#define GROUP_one(T, name) [](T v, T p, T, T) { return name##_##T(v, p); }
#define GROUP_two(T, name) [](T v, T p, T q, T) { return name##_##T(v, p, q); }
#define GROUP_three(T, name) [](T v, T p, T q, T r) { return name##_##T(v, p, q, r); }
  switch (kind) {
#define ROW(group, name, ulp, ...) \
  case UnaryWithKind::name: return floats_with<GROUP_##group(f32, name), GROUP_##group(f64, name), ulp == 0>(x);
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
  }
#undef GROUP_one
#undef GROUP_two
#undef GROUP_three
  return {};
}

}  // namespace votive::cpu::VOTIVE_ISA
