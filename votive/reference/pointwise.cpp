// Pointwise operations straight from CONTRACT.md 2: operands converted to the compute type, the scalar, the result converted to y's dtype.
#include "votive/ops/pointwise.h"

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

// One function per group of rows; the scalars come as the functions of numerics, `same` where a group has none.

constexpr auto same = [](auto x) { return x; };

template <class F32, class F64>
void floats(const Tensor& x, Tensor& y, F32 of_f32, F64 of_f64) {
  if (x.dtype() == DType::f64) return write_f64(y, each(read_f64(x), of_f64));
  write_f32(y, each(read_f32(x), of_f32));
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

template <class F32, class F64>
void floats(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, F32 of_f32, F64 of_f64) {
  if (compute_type(op.kind, a.dtype(), b.dtype()) == Compute::f64) return write_f64(y, each(read_f64(a), read_f64(b), of_f64));
  write_f32(y, each(read_f32(a), read_f32(b), of_f32));
}

template <class F32, class F64, class I64, class U64>
void numbers(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, F32 of_f32, F64 of_f64, I64 of_i64, U64 of_u64) {
  switch (compute_type(op.kind, a.dtype(), b.dtype())) {
    case Compute::i64: return write_i64(y, each(read_i64(a), read_i64(b), of_i64));
    case Compute::u64: return write_u64(y, each(read_u64(a), read_u64(b), of_u64));
    default: floats(op, a, b, y, of_f32, of_f64);
  }
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

}  // namespace

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
#define GROUP_arithmetic(name) numbers(op, x, y, name##_f32, name##_f64, name##_i64, name##_u64)
#define GROUP_rounding(name) numbers(op, x, y, name##_f32, name##_f64, same, same)
#define GROUP_floating(name) floats(x, y, name##_f32, name##_f64)
#define GROUP_function(name) floats(x, y, name##_f32, name##_f64)
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
}

void binary(const Binary& op, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const Tensor a = broadcast(first, y.shape()), b = broadcast(second, y.shape());
#define GROUP_arithmetic(name) numbers(op, a, b, y, name##_f32, name##_f64, name##_i64, name##_u64)
#define GROUP_floating(name) floats(op, a, b, y, name##_f32, name##_f64)
#define GROUP_function(name) floats(op, a, b, y, name##_f32, name##_f64)
#define GROUP_compare(name) compare(op, a, b, y, name##_f32, name##_f64, name##_i64, name##_u64, name##_i64_u64, name##_u64_i64)
#define GROUP_logical(name) write_truth(y, each(read_truth(a), read_truth(b), name))
  switch (op.kind) {
#define ROW(group, name, ...) \
  case BinaryKind::name: return GROUP_##group(name);
    VOTIVE_BINARY(ROW)
#undef ROW
  }
#undef GROUP_arithmetic
#undef GROUP_floating
#undef GROUP_function
#undef GROUP_compare
#undef GROUP_logical
}

void where(const Where&, const Tensor& condition, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const std::vector<u8> c = read_truth(broadcast(condition, y.shape()));
  const std::vector<u64> a = read_bits(broadcast(first, y.shape())), b = read_bits(broadcast(second, y.shape()));
  std::vector<u64> v;
  for (std::size_t i = 0; i < c.size(); ++i) v.push_back(c[i] != 0 ? a[i] : b[i]);
  write_bits(y, v);
}

}  // namespace votive::reference
