// Pointwise operations straight from CONTRACT.md 2: operands converted to the compute type, the scalar, the result converted to y's dtype.
#include "votive/ops/pointwise.h"

#include "votive/numerics/checked.h"
#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

template <class T, class Each>
auto each(const std::vector<T>& x, Each operation) {
  std::vector<decltype(operation(x[0]))> y;
  for (const T& v : x) y.push_back(operation(v));
  return y;
}

template <class T, class U, class Each>
auto each(const std::vector<T>& a, const std::vector<U>& b, Each operation) {
  std::vector<decltype(operation(a[0], b[0]))> y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(operation(a[i], b[i]));
  return y;
}

// One function per group of rows; the scalars come as objects that call the functions of numerics, `same` where a group has none. Not as pointers: those
// functions are always inlined, and a compiler that follows a pointer too late to do so (g++ 12 at -O1) refuses the program.
#define SCALAR(name) [](auto... values) { return name(values...); }

constexpr auto same = [](auto x) { return x; };

template <class F32, class F64>
void floats(const Tensor& x, Tensor& y, F32 of_f32, F64 of_f64) {
  if (x.dtype() == DType::f64) return write_f64(y, each(read_f64(x), of_f64));
  write_f32(y, each(read_f32(x), of_f32));
}

template <class F32, class F64>
void truths(const Tensor& x, Tensor& y, F32 of_f32, F64 of_f64) {
  if (x.dtype() == DType::f64) return write_truth(y, each(read_f64(x), of_f64));
  write_truth(y, each(read_f32(x), of_f32));
}

// neg and abs act on the bits of a NaN, which conversion through f32 would lose
void sign_bits(UnaryKind kind, const Tensor& x, Tensor& y) {
  const u64 sign = u64{1} << (block_bytes(x.dtype()) * 8 - 1);
  write_bits(y, each(read_bits(x), [&](u64 e) { return kind == UnaryKind::neg ? e ^ sign : e & ~sign; }));
}

template <class F32, class F64, class I64, class U64>
void numbers(const Unary& op, const Tensor& x, Tensor& y, F32 of_f32, F64 of_f64, I64 of_i64, U64 of_u64) {
  switch (compute_type(op.kind, x.dtype())) {
    case Compute::i64: return write_i64(y, each(read_i64(x), of_i64));
    case Compute::u64: return write_u64(y, each(read_u64(x), of_u64));
    default: break;
  }
  if (op.kind == UnaryKind::neg || op.kind == UnaryKind::abs) return sign_bits(op.kind, x, y);
  floats(x, y, of_f32, of_f64);
}

template <class I64, class U64, class Bool>
void bitwise(const Tensor& x, Tensor& y, I64 of_i64, U64 of_u64, Bool of_bool) {
  if (x.dtype() == DType::boolean) return write_truth(y, each(read_truth(x), of_bool));
  if (is_signed_integer(x.dtype())) return write_i64(y, each(read_i64(x), of_i64));
  write_u64(y, each(read_u64(x), of_u64));
}

template <class F32, class F64>
void floats(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, F32 of_f32, F64 of_f64) {
  const bool same_halves = a.dtype() == b.dtype() && (a.dtype() == DType::f16 || a.dtype() == DType::bf16);
  if (op.kind == BinaryKind::copysign && same_halves) {  // bits again
    return write_bits(y, each(read_bits(a), read_bits(b), [](u64 p, u64 q) { return (p & 0x7fff) | (q & 0x8000); }));
  }
  if (compute_type(op.kind, a.dtype(), b.dtype()) == Compute::f64) return write_f64(y, each(read_f64(a), read_f64(b), of_f64));
  write_f32(y, each(read_f32(a), read_f32(b), of_f32));
}

template <class I64, class U64>
void integers(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, I64 of_i64, U64 of_u64) {
  if (compute_type(op.kind, a.dtype(), b.dtype()) == Compute::i64) return write_i64(y, each(read_i64(a), read_i64(b), of_i64));
  write_u64(y, each(read_u64(a), read_u64(b), of_u64));
}

template <class F32, class F64, class I64, class U64>
void numbers(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, F32 of_f32, F64 of_f64, I64 of_i64, U64 of_u64) {
  const bool is_whole =
      compute_type(op.kind, a.dtype(), b.dtype()) == Compute::i64 || compute_type(op.kind, a.dtype(), b.dtype()) == Compute::u64;
  if (is_whole) return integers(op, a, b, y, of_i64, of_u64);
  floats(op, a, b, y, of_f32, of_f64);
}

template <class I64, class U64>
void shifts(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, I64 of_i64, U64 of_u64) {
  const i32 width = static_cast<i32>(8 * block_bytes(y.dtype()));
  if (compute_type(op.kind, a.dtype(), b.dtype()) == Compute::i64)
    return write_i64(y, each(read_i64(a), read_i64(b), [&](i64 p, i64 count) { return of_i64(p, count, width); }));
  write_u64(y, each(read_u64(a), read_i64(b), [&](u64 p, i64 count) { return of_u64(p, count, width); }));
}

template <class I64, class U64>
void overflows(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, I64 of_i64, U64 of_u64) {
  const i32 width = static_cast<i32>(8 * block_bytes(width_of(a.dtype(), b.dtype())));
  if (compute_type(op.kind, a.dtype(), b.dtype()) == Compute::i64)
    return write_truth(y, each(read_i64(a), read_i64(b), [&](i64 p, i64 q) { return of_i64(p, q, width); }));
  write_truth(y, each(read_u64(a), read_i64(b), [&](u64 p, i64 q) { return of_u64(p, q, width); }));
}

template <class F32, class F64, class I64, class U64, class I64U64, class U64I64>
void compare(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, F32 of_f32, F64 of_f64, I64 of_i64, U64 of_u64,
             I64U64 of_i64_u64, U64I64 of_u64_i64) {
  switch (compute_type(op.kind, a.dtype(), b.dtype())) {
    case Compute::f32: return write_truth(y, each(read_f32(a), read_f32(b), of_f32));
    case Compute::f64: return write_truth(y, each(read_f64(a), read_f64(b), of_f64));
    case Compute::i64: return write_truth(y, each(read_i64(a), read_i64(b), of_i64));
    case Compute::u64: return write_truth(y, each(read_u64(a), read_u64(b), of_u64));
    default: break;
  }
  if (a.dtype() == DType::u64) return write_truth(y, each(read_u64(a), read_i64(b), of_u64_i64));
  write_truth(y, each(read_i64(a), read_u64(b), of_i64_u64));
}

/// Integer divisors that are zero, and exponents of integers below zero, in row-major order of b itself.
void require_operand(const Binary& op, const Tensor& b, const Tensor& y) {
  if (!is_integer(y.dtype())) return;
  const bool divides = row(op.kind).group == PointwiseGroup::division;
  const std::vector<i64> values = read_i64(b);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (divides && values[i] == 0) refuse_divisor(op.name(), b, static_cast<Size>(i));
    if (!divides && is_signed_integer(b.dtype()) && values[i] < 0) refuse_exponent(op.name(), b, static_cast<Size>(i), values[i]);
  }
}

}  // namespace

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
#define GROUP_arithmetic(name) numbers(op, x, y, SCALAR(name##_f32), SCALAR(name##_f64), SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_rounding(name) numbers(op, x, y, SCALAR(name##_f32), SCALAR(name##_f64), same, same)
#define GROUP_floating(name) floats(x, y, SCALAR(name##_f32), SCALAR(name##_f64))
#define GROUP_function(name) floats(x, y, SCALAR(name##_f32), SCALAR(name##_f64))
#define GROUP_predicate(name) truths(x, y, SCALAR(name##_f32), SCALAR(name##_f64))
#define GROUP_bitwise(name) bitwise(x, y, SCALAR(name##_i64), SCALAR(name##_u64), SCALAR(name##_bool))
#define GROUP_logical(name) write_truth(y, each(read_truth(x), SCALAR(name)))
  switch (op.kind) {
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
}

void unary_with(const UnaryWith& op, const Tensor& x, Tensor& y, Stream&) {
  const f64 p = op.attributes.p, q = op.attributes.q, r = op.attributes.r;
  const f32 p32 = numerics::f64_to_f32(p), q32 = numerics::f64_to_f32(q), r32 = numerics::f64_to_f32(r);
#define GROUP_one(name) \
  floats(               \
      x, y, [&](f32 v) { return name##_f32(v, p32); }, [&](f64 v) { return name##_f64(v, p); })
#define GROUP_two(name) \
  floats(               \
      x, y, [&](f32 v) { return name##_f32(v, p32, q32); }, [&](f64 v) { return name##_f64(v, p, q); })
#define GROUP_three(name) \
  floats(                 \
      x, y, [&](f32 v) { return name##_f32(v, p32, q32, r32); }, [&](f64 v) { return name##_f64(v, p, q, r); })
  switch (op.kind) {
#define ROW(group, name, ...) \
  case UnaryWithKind::name: return GROUP_##group(name);
    VOTIVE_UNARY_WITH(ROW)
#undef ROW
  }
#undef GROUP_one
#undef GROUP_two
#undef GROUP_three
}

void binary(const Binary& op, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const PointwiseGroup group = row(op.kind).group;
  if (group == PointwiseGroup::division || group == PointwiseGroup::power) require_operand(op, second, y);
  const Tensor a = broadcast(first, y.shape()), b = broadcast(second, y.shape());
#define GROUP_arithmetic(name) numbers(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64), SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_division(name) numbers(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64), SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_power(name) numbers(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64), SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_floating(name) floats(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64))
#define GROUP_function(name) floats(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64))
#define GROUP_integer(name) integers(op, a, b, y, SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_bitwise(name) write_u64(y, each(read_u64(a), read_u64(b), SCALAR(name##_u64)))
#define GROUP_shift(name) shifts(op, a, b, y, SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_overflows(name) overflows(op, a, b, y, SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_lost_bits(name) overflows(op, a, b, y, SCALAR(name##_i64), SCALAR(name##_u64))
#define GROUP_compare(name)                                                                                                    \
  compare(op, a, b, y, SCALAR(name##_f32), SCALAR(name##_f64), SCALAR(name##_i64), SCALAR(name##_u64), SCALAR(name##_i64_u64), \
          SCALAR(name##_u64_i64))
#define GROUP_logical(name) write_truth(y, each(read_truth(a), read_truth(b), SCALAR(name)))
  switch (op.kind) {
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
}

void ternary(const Ternary& op, const Tensor& first, const Tensor& second, const Tensor& third, Tensor& y, Stream&) {
  const Tensor a = broadcast(first, y.shape()), b = broadcast(second, y.shape()), c = broadcast(third, y.shape());
  const auto count = static_cast<std::size_t>(y.count());
  const auto floats3 = [&](auto of_f32, auto of_f64) {
    if (y.dtype() == DType::f64) {
      const std::vector<f64> p = read_f64(a), q = read_f64(b), r = read_f64(c);
      std::vector<f64> v(count);
      for (std::size_t i = 0; i < count; ++i) v[i] = of_f64(p[i], q[i], r[i], op.value);
      return write_f64(y, v);
    }
    const std::vector<f32> p = read_f32(a), q = read_f32(b), r = read_f32(c);
    std::vector<f32> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = of_f32(p[i], q[i], r[i], numerics::f64_to_f32(op.value));
    write_f32(y, v);
  };
  switch (op.kind) {
    case TernaryKind::fma:
      return floats3([](f32 p, f32 q, f32 r, f32) { return fma_f32(p, q, r); }, [](f64 p, f64 q, f64 r, f64) { return fma_f64(p, q, r); });
    case TernaryKind::lerp:
      return floats3([](f32 p, f32 q, f32 r, f32) { return lerp_f32(p, q, r); },
                     [](f64 p, f64 q, f64 r, f64) { return lerp_f64(p, q, r); });
    case TernaryKind::addcmul: return floats3(SCALAR(addcmul_f32), SCALAR(addcmul_f64));
    case TernaryKind::addcdiv: return floats3(SCALAR(addcdiv_f32), SCALAR(addcdiv_f64));
  }
}

#undef SCALAR

void where(const Where&, const Tensor& condition, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const std::vector<u8> c = read_truth(broadcast(condition, y.shape()));
  const std::vector<u64> a = read_bits(broadcast(first, y.shape())), b = read_bits(broadcast(second, y.shape()));
  std::vector<u64> v;
  for (std::size_t i = 0; i < c.size(); ++i) v.push_back(c[i] != 0 ? a[i] : b[i]);
  write_bits(y, v);
}

}  // namespace votive::reference
