// The loops of operations on two and three tensors: the scalar text of numerics in a plain loop that the compiler vectorises.
#include "votive/cpu/element_loops.h"
#include "votive/cpu/pointwise_plan.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

template <class A, class B, class Y, auto compute>
void loop2(const void* a, const void* b, void* y, Size n) {
  const A* __restrict left = static_cast<const A*>(a);
  const B* __restrict right = static_cast<const B*>(b);
  Y* __restrict out = static_cast<Y*>(y);
  for (Size i = 0; i < n; ++i) out[i] = static_cast<Y>(compute(left[i], right[i]));
}

template <class A, class B, class Y, auto compute, bool past_caches>
void blocks2(const void* a, const void* b, void* y, Size n) {
  for_elements<past_caches>(
      [](ValueOf<A> p, ValueOf<B> q) __attribute__((always_inline)) { return compute(p, q); }, n, static_cast<Y*>(y),
      static_cast<const A*>(a), static_cast<const B*>(b));
}

/// compute(a, b, width of a in bits)
template <class A, class B, class Y, auto compute>
void loop2_of_width(const void* a, const void* b, void* y, Size n) {
  loop2<A, B, Y, [](A p, B q) { return compute(p, q, static_cast<i32>(8 * sizeof(A))); }>(a, b, y, n);
}

template <class T>
T factor_of(double value) {
  if constexpr (std::is_same_v<T, f64>) {
    return value;
  } else {
    return f64_to_f32(value);
  }
}

template <class T, auto compute>
void loop3(const void* a, const void* b, const void* c, void* y, Size n, double value) {
  const T* __restrict first = static_cast<const T*>(a);
  const T* __restrict second = static_cast<const T*>(b);
  const T* __restrict third = static_cast<const T*>(c);
  T* __restrict out = static_cast<T*>(y);
  const T factor = factor_of<T>(value);
  for (Size i = 0; i < n; ++i) out[i] = compute(first[i], second[i], third[i], factor);
}

template <class E, auto compute, bool past_caches>
void blocks3(const void* a, const void* b, const void* c, void* y, Size n, double value) {
  using T = ValueOf<E>;
  const T factor = factor_of<T>(value);
  for_elements<past_caches>(
      [factor](T p, T q, T r) __attribute__((always_inline)) { return compute(p, q, r, factor); }, n, static_cast<E*>(y),
      static_cast<const E*>(a), static_cast<const E*>(b), static_cast<const E*>(c));
}

/// The bits of a where the condition is 1, of b where it is 0.
template <class T, bool past_caches>
void select_loop(const void* condition, const void* a, const void* b, void* y, Size n) {
  const auto select = [](u8 chosen, T p, T q) __attribute__((always_inline)) {
    const T mask = static_cast<T>(-static_cast<T>(chosen));
    return static_cast<T>((p & mask) | (q & static_cast<T>(~mask)));
  };
  for_elements<past_caches>(select, n, static_cast<T*>(y), static_cast<const u8*>(condition), static_cast<const T*>(a),
                            static_cast<const T*>(b));
}

template <auto of_i64, auto of_u64, class T>
constexpr auto text_of() {
  if constexpr (std::is_signed_v<T>) {
    return of_i64;
  } else {
    return of_u64;
  }
}

/// Integers of any width in the text of 64 bits, cut to their width: the low bits of + − × are the same, and so is the order.
/// `truth` where the result is a bool, else it is of the operands' dtype.
template <auto of_i64, auto of_u64, bool truth>
Loop2 integers(DType dtype) {
  return of_integer(dtype, []<class T>(T) -> Loop2 { return loop2<T, T, std::conditional_t<truth, u8, T>, text_of<of_i64, of_u64, T>()>; });
}
template <auto of_i64, auto of_u64, bool truth>
Loop2 streamed_integers(DType dtype) {
  return of_integer(
      dtype, []<class T>(T) -> Loop2 { return blocks2<T, T, std::conditional_t<truth, u8, T>, text_of<of_i64, of_u64, T>(), true>; });
}

/// Where the width counts; `counted` where b is a number of bits, read as i64, else it is of a's dtype.
template <auto of_i64, auto of_u64, bool counted, bool truth>
Loop2 integers_of_width(DType dtype) {
  return of_integer(dtype, []<class T>(T) -> Loop2 {
    return loop2_of_width<T, std::conditional_t<counted, i64, T>, std::conditional_t<truth, u8, T>, text_of<of_i64, of_u64, T>()>;
  });
}

// One function per group of rows.

template <auto of_f32, auto of_f64>
Plan2 floats(DType a, DType b, Size grain) {
  if (a == DType::f64 || b == DType::f64) return {loop2<f64, f64, f64, of_f64>, DType::f64, DType::f64, DType::f64, grain};
  return {loop2<f32, f32, f32, of_f32>, DType::f32, DType::f32, DType::f32, grain};
}

template <auto of_f32, auto of_f64>
Plan2 arithmetic_of_floats(DType a, DType b) {
  constexpr Size grain = grain_of_arithmetic;
  if (a == b && a == DType::f16) return {blocks2<F16, F16, F16, of_f32, false>, a, a, a, grain, blocks2<F16, F16, F16, of_f32, true>};
  if (a == b && a == DType::bf16)
    return {blocks2<Bf16, Bf16, Bf16, of_f32, false>, a, a, a, grain, blocks2<Bf16, Bf16, Bf16, of_f32, true>};
  Plan2 p = floats<of_f32, of_f64>(a, b, grain);
  p.streamed = p.result == DType::f64 ? blocks2<f64, f64, f64, of_f64, true> : blocks2<f32, f32, f32, of_f32, true>;
  return p;
}

template <auto of_i64, auto of_u64>
Plan2 whole(DType a, DType b, Size grain) {
  const DType as = *common_dtype(a, b);
  return {integers<of_i64, of_u64, false>(as), as, as, as, grain};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64>
Plan2 numbers(DType a, DType b, Size grain) {
  if (is_whole(a) && is_whole(b)) return whole<of_i64, of_u64>(a, b, grain);
  return floats<of_f32, of_f64>(a, b, grain);
}

template <auto of_i64, auto of_u64>
Plan2 arithmetic_of_integers(DType a, DType b) {
  Plan2 p = whole<of_i64, of_u64>(a, b, grain_of_arithmetic);
  p.streamed = streamed_integers<of_i64, of_u64, false>(p.result);
  return p;
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64>
Plan2 arithmetic(DType a, DType b) {
  if (is_whole(a) && is_whole(b)) return arithmetic_of_integers<of_i64, of_u64>(a, b);
  return arithmetic_of_floats<of_f32, of_f64>(a, b);
}

template <auto of_i64, auto of_u64, bool counted, bool truth>
Plan2 of_width(DType a, DType b) {
  const DType as = width_of(a, b);
  return {integers_of_width<of_i64, of_u64, counted, truth>(as), as, counted ? DType::i64 : as, truth ? DType::boolean : as,
          grain_of_arithmetic};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64, auto of_i64_u64, auto of_u64_i64>
Plan2 compare(DType a, DType b) {
  const auto as = [](Loop2 loop, Loop2 streamed, DType p, DType q) {
    return Plan2{loop, p, q, DType::boolean, grain_of_arithmetic, streamed};
  };
  if (is_whole(a) && is_whole(b)) {
    if (const auto common = common_dtype(a, b))
      return as(integers<of_i64, of_u64, true>(*common), streamed_integers<of_i64, of_u64, true>(*common), *common, *common);
    if (is_signed_integer(a)) return as(loop2<i64, u64, u8, of_i64_u64>, nullptr, DType::i64, DType::u64);
    return as(loop2<u64, i64, u8, of_u64_i64>, nullptr, DType::u64, DType::i64);
  }
  if (a == DType::f64 || b == DType::f64)
    return as(loop2<f64, f64, u8, of_f64>, blocks2<f64, f64, u8, of_f64, true>, DType::f64, DType::f64);
  if (a == b && a == DType::f16) return as(blocks2<F16, F16, u8, of_f32, false>, blocks2<F16, F16, u8, of_f32, true>, a, a);
  if (a == b && a == DType::bf16) return as(blocks2<Bf16, Bf16, u8, of_f32, false>, blocks2<Bf16, Bf16, u8, of_f32, true>, a, a);
  return as(loop2<f32, f32, u8, of_f32>, blocks2<f32, f32, u8, of_f32, true>, DType::f32, DType::f32);
}

template <auto of_f32, auto of_f64>
Plan3 arithmetic_of_three(DType y) {
  if (y == DType::f16) return {blocks3<F16, of_f32, false>, y, y, grain_of_arithmetic, blocks3<F16, of_f32, true>};
  if (y == DType::bf16) return {blocks3<Bf16, of_f32, false>, y, y, grain_of_arithmetic, blocks3<Bf16, of_f32, true>};
  if (y == DType::f64) return {loop3<f64, of_f64>, y, y, grain_of_arithmetic, blocks3<f64, of_f64, true>};
  return {loop3<f32, of_f32>, DType::f32, DType::f32, grain_of_arithmetic, blocks3<f32, of_f32, true>};
}

// The scalar text as something a template can take.
#define TEXT(A, B, name) [](A p, B q) { return name(p, q); }
#define FLOATS(name) TEXT(f32, f32, name##_f32), TEXT(f64, f64, name##_f64)
#define INTEGERS(name) TEXT(i64, i64, name##_i64), TEXT(u64, u64, name##_u64)
#define OF_WIDTH(B, name) \
  [](i64 p, B q, i32 width) { return name##_i64(p, q, width); }, [](u64 p, B q, i32 width) { return name##_u64(p, q, width); }

}  // namespace

Plan2 plan(BinaryKind kind, DType a, DType b) {
  // On the bits, since a NaN must keep its own (CONTRACT.md 0.2).
  if (kind == BinaryKind::copysign && a == b && is_half(a)) {
    return {loop2<u16, u16, u16, [](u16 p, u16 q) { return (p & 0x7fffu) | (q & 0x8000u); }>, a, a, a, grain_of_arithmetic};
  }
#define GROUP_arithmetic(name) arithmetic<FLOATS(name), INTEGERS(name)>(a, b)
#define GROUP_division(name) numbers<FLOATS(name), INTEGERS(name)>(a, b, grain_of_functions)
#define GROUP_power(name) numbers<FLOATS(name), INTEGERS(name)>(a, b, grain_of_functions)
#define GROUP_floating(name) arithmetic_of_floats<FLOATS(name)>(a, b)
#define GROUP_function(name) floats<FLOATS(name)>(a, b, grain_of_functions)
#define GROUP_integer(name) whole<INTEGERS(name)>(a, b, grain_of_functions)
#define GROUP_bitwise(name) arithmetic_of_integers<TEXT(u64, u64, name##_u64), TEXT(u64, u64, name##_u64)>(a, b)
#define GROUP_shift(name) of_width<OF_WIDTH(i64, name), true, false>(a, b)
#define GROUP_overflows(name) of_width<OF_WIDTH(i64, name), false, true>(a, b)
#define GROUP_lost_bits(name) of_width<OF_WIDTH(i64, name), true, true>(a, b)
#define GROUP_compare(name) compare<FLOATS(name), INTEGERS(name), TEXT(i64, u64, name##_i64_u64), TEXT(u64, i64, name##_u64_i64)>(a, b)
#define GROUP_logical(name)                                                                                     \
  Plan2 {                                                                                                       \
    loop2<u8, u8, u8, TEXT(u8, u8, name)>, DType::boolean, DType::boolean, DType::boolean, grain_of_arithmetic, \
        blocks2<u8, u8, u8, TEXT(u8, u8, name), true>                                                           \
  }
  switch (kind) {
#define ROW(group, name, ...) \
  case BinaryKind::name: return GROUP_##group(name);
    VOTIVE_BINARY(ROW)
#undef ROW
  }
#undef GROUP_arithmetic
#undef GROUP_division
#undef GROUP_power
#undef GROUP_floating
#undef GROUP_function
#undef GROUP_integer
#undef GROUP_bitwise
#undef GROUP_shift
#undef GROUP_overflows
#undef GROUP_lost_bits
#undef GROUP_compare
#undef GROUP_logical
  return {};
}

#undef TEXT
#undef FLOATS
#undef INTEGERS
#undef OF_WIDTH

Plan3 plan(TernaryKind kind, DType y) {
#define THREE(name)                                                                 \
  arithmetic_of_three<[](f32 p, f32 q, f32 r, f32) { return name##_f32(p, q, r); }, \
                      [](f64 p, f64 q, f64 r, f64) { return name##_f64(p, q, r); }>(y)
#define FOUR(name)                                                                       \
  arithmetic_of_three<[](f32 p, f32 q, f32 r, f32 v) { return name##_f32(p, q, r, v); }, \
                      [](f64 p, f64 q, f64 r, f64 v) { return name##_f64(p, q, r, v); }>(y)
  switch (kind) {
    case TernaryKind::fma: return THREE(fma);
    case TernaryKind::lerp: return THREE(lerp);
    case TernaryKind::addcmul: return FOUR(addcmul);
    case TernaryKind::addcdiv: return FOUR(addcdiv);
  }
#undef THREE
#undef FOUR
  return {};
}

PlanWhere plan_where(DType y) {
  const auto as = [y](LoopWhere loop, LoopWhere streamed) { return PlanWhere{loop, y, y, grain_of_arithmetic, streamed}; };
  switch (block_bytes(y)) {
    case 1: return as(select_loop<u8, false>, select_loop<u8, true>);
    case 2: return as(select_loop<u16, false>, select_loop<u16, true>);
    case 4: return as(select_loop<u32, false>, select_loop<u32, true>);
    default: return as(select_loop<u64, false>, select_loop<u64, true>);
  }
}

}  // namespace votive::cpu::VOTIVE_ISA
