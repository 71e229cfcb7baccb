// The loops of operations on one tensor, with and without numbers beside it: the scalar text of numerics in a plain loop that the compiler vectorises.
#include "votive/cpu/angles.h"
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

template <class T, auto compute>
void loop_with(const void* x, void* y, Size n, const Attributes& attributes) {
  const T* __restrict in = static_cast<const T*>(x);
  T* __restrict out = static_cast<T*>(y);
  T p, q, r;
  if constexpr (std::is_same_v<T, f64>) {
    p = attributes.p, q = attributes.q, r = attributes.r;
  } else {
    p = f64_to_f32(attributes.p), q = f64_to_f32(attributes.q), r = f64_to_f32(attributes.r);
  }
  for (Size i = 0; i < n; ++i) out[i] = compute(in[i], p, q, r);
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

// Integers of any width in the text of 64 bits, cut to their width: the low bits of + − × are the same, and so is the order.
template <auto of_i64, auto of_u64>
Loop1 integers(DType dtype) {
  switch (dtype) {
    case DType::i8: return loop1<i8, i8, of_i64>;
    case DType::i16: return loop1<i16, i16, of_i64>;
    case DType::i32: return loop1<i32, i32, of_i64>;
    case DType::i64: return loop1<i64, i64, of_i64>;
    case DType::u16: return loop1<u16, u16, of_u64>;
    case DType::u32: return loop1<u32, u32, of_u64>;
    case DType::u64: return loop1<u64, u64, of_u64>;
    default: return loop1<u8, u8, of_u64>;
  }
}

// One function per group of rows.

template <auto of_f32, auto of_f64>
Plan1 floats(DType x, Size grain) {
  if (x == DType::f64) return {loop1<f64, f64, of_f64>, x, x, grain};
  return {loop1<f32, f32, of_f32>, DType::f32, DType::f32, grain};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64>
Plan1 numbers(DType x) {
  if (is_whole(x)) return {integers<of_i64, of_u64>(x), x, x, grain_of_arithmetic};
  return floats<of_f32, of_f64>(x, grain_of_arithmetic);
}

template <auto of_f32, auto of_f64>
Plan1 truths(DType x) {
  if (x == DType::f64) return {loop1<f64, u8, of_f64>, x, DType::boolean, grain_of_arithmetic};
  return {loop1<f32, u8, of_f32>, DType::f32, DType::boolean, grain_of_arithmetic};
}

template <auto of_i64, auto of_u64, auto of_bool>
Plan1 bitwise(DType x) {
  if (x == DType::boolean) return {loop1<u8, u8, of_bool>, x, x, grain_of_arithmetic};
  return {integers<of_i64, of_u64>(x), x, x, grain_of_arithmetic};
}

template <auto of_f32, auto of_f64>
PlanWith floats_with(DType x, Size grain) {
  if (x == DType::f64) return {loop_with<f64, of_f64>, x, x, grain};
  return {loop_with<f32, of_f32>, DType::f32, DType::f32, grain};
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
  if (kind == UnaryKind::neg && is_half(x)) return {loop1<u16, u16, [](u16 bits) { return bits ^ 0x8000u; }>, x, x, grain_of_arithmetic};
  if (kind == UnaryKind::abs && is_half(x)) return {loop1<u16, u16, [](u16 bits) { return bits & 0x7fffu; }>, x, x, grain_of_arithmetic};
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
#define GROUP_arithmetic(name) numbers<F32(name), F64(name), I64(name), U64(name)>(x)
#define GROUP_rounding(name) numbers<F32(name), F64(name), SAME, SAME>(x)
#define GROUP_floating(name) floats<F32(name), F64(name)>(x, grain_of_arithmetic)
#define GROUP_function(name) floats<F32(name), F64(name)>(x, grain_of_functions)
#define GROUP_predicate(name) truths<F32(name), F64(name)>(x)
#define GROUP_bitwise(name) bitwise<I64(name), U64(name), [](u8 v) { return name##_bool(v); }>(x)
#define GROUP_logical(name)                                                                          \
  Plan1 {                                                                                            \
    loop1<u8, u8, [](u8 v) { return name(v); }>, DType::boolean, DType::boolean, grain_of_arithmetic \
  }
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
  const Size grain = row(kind).ulp > 0 ? grain_of_functions : grain_of_arithmetic;
#define GROUP_one(T, name) [](T v, T p, T, T) { return name##_##T(v, p); }
#define GROUP_two(T, name) [](T v, T p, T q, T) { return name##_##T(v, p, q); }
#define GROUP_three(T, name) [](T v, T p, T q, T r) { return name##_##T(v, p, q, r); }
  switch (kind) {
#define ROW(group, name, ...) \
  case UnaryWithKind::name: return floats_with<GROUP_##group(f32, name), GROUP_##group(f64, name)>(x, grain);
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
  }
#undef GROUP_one
#undef GROUP_two
#undef GROUP_three
  return {};
}

}  // namespace votive::cpu::VOTIVE_ISA
