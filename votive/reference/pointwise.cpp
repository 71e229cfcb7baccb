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

f32 scalar_f32(UnaryKind kind, f32 x) {
  switch (kind) {
#define X(name) \
  case UnaryKind::name: return name##_f32(x);
    VOTIVE_UNARY_ARITHMETIC(X) VOTIVE_UNARY_ROUNDING(X) VOTIVE_UNARY_FLOAT(X) VOTIVE_UNARY_FUNCTION(X)
#undef X
  }
  return 0;
}

f64 scalar_f64(UnaryKind kind, f64 x) {
  switch (kind) {
#define X(name) \
  case UnaryKind::name: return name##_f64(x);
    VOTIVE_UNARY_ARITHMETIC(X)
    VOTIVE_UNARY_ROUNDING(X)
    VOTIVE_UNARY_FLOAT(X)
#undef X
    default: return 0;
  }
}

i64 scalar_i64(UnaryKind kind, i64 x) {
  switch (kind) {
#define X(name) \
  case UnaryKind::name: return name##_i64(x);
    VOTIVE_UNARY_ARITHMETIC(X)
#undef X
    default: return x;
  }
}

u64 scalar_u64(UnaryKind kind, u64 x) {
  switch (kind) {
#define X(name) \
  case UnaryKind::name: return name##_u64(x);
    VOTIVE_UNARY_ARITHMETIC(X)
#undef X
    default: return x;
  }
}

f32 scalar_f32(BinaryKind kind, f32 a, f32 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_f32(a, b);
    VOTIVE_BINARY_ARITHMETIC(X)
    VOTIVE_BINARY_FLOAT(X)
    VOTIVE_BINARY_FUNCTION(X)
#undef X
    default: return 0;
  }
}

f64 scalar_f64(BinaryKind kind, f64 a, f64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_f64(a, b);
    VOTIVE_BINARY_ARITHMETIC(X)
    VOTIVE_BINARY_FLOAT(X)
#undef X
    default: return 0;
  }
}

i64 scalar_i64(BinaryKind kind, i64 a, i64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_i64(a, b);
    VOTIVE_BINARY_ARITHMETIC(X)
#undef X
    default: return 0;
  }
}

u64 scalar_u64(BinaryKind kind, u64 a, u64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_u64(a, b);
    VOTIVE_BINARY_ARITHMETIC(X)
#undef X
    default: return 0;
  }
}

u8 compare(BinaryKind kind, f32 a, f32 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_f32(a, b);
    VOTIVE_BINARY_COMPARE(X)
#undef X
    default: return 0;
  }
}

u8 compare(BinaryKind kind, f64 a, f64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_f64(a, b);
    VOTIVE_BINARY_COMPARE(X)
#undef X
    default: return 0;
  }
}

u8 compare(BinaryKind kind, i64 a, i64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_i64(a, b);
    VOTIVE_BINARY_COMPARE(X)
#undef X
    default: return 0;
  }
}

u8 compare(BinaryKind kind, u64 a, u64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_u64(a, b);
    VOTIVE_BINARY_COMPARE(X)
#undef X
    default: return 0;
  }
}

u8 compare_mixed(BinaryKind kind, i64 a, u64 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name##_i64_u64(a, b);
    VOTIVE_BINARY_COMPARE(X)
#undef X
    default: return 0;
  }
}

/// The comparison that holds of (b, a) when `kind` holds of (a, b).
BinaryKind swapped(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::lt: return BinaryKind::gt;
    case BinaryKind::le: return BinaryKind::ge;
    case BinaryKind::gt: return BinaryKind::lt;
    case BinaryKind::ge: return BinaryKind::le;
    default: return kind;
  }
}

template <class T, class Combine>
auto combine(const std::vector<T>& a, const std::vector<T>& b, Combine operation) {
  std::vector<decltype(operation(a[0], b[0]))> y;
  for (std::size_t i = 0; i < a.size(); ++i) y.push_back(operation(a[i], b[i]));
  return y;
}

void compare_all(BinaryKind kind, Compute compute, const Tensor& a, const Tensor& b, Tensor& y) {
  const auto each = [&](auto p, auto q) { return compare(kind, p, q); };
  switch (compute) {
    case Compute::f32: return write_truth(y, combine(read_f32(a), read_f32(b), each));
    case Compute::f64: return write_truth(y, combine(read_f64(a), read_f64(b), each));
    case Compute::i64: return write_truth(y, combine(read_i64(a), read_i64(b), each));
    case Compute::u64: return write_truth(y, combine(read_u64(a), read_u64(b), each));
    case Compute::boolean: return;
    case Compute::mixed: break;
  }
  const bool unsigned_first = a.dtype() == DType::u64;
  const std::vector<i64> p = read_i64(unsigned_first ? b : a);
  const std::vector<u64> q = read_u64(unsigned_first ? a : b);
  std::vector<u8> result;
  for (std::size_t i = 0; i < p.size(); ++i) result.push_back(compare_mixed(unsigned_first ? swapped(kind) : kind, p[i], q[i]));
  write_truth(y, result);
}

void sign_bits(UnaryKind kind, const Tensor& x, Tensor& y) {
  const u64 sign = u64{1} << (block_bytes(x.dtype()) * 8 - 1);
  std::vector<u64> v = read_bits(x);
  for (u64& e : v) e = kind == UnaryKind::neg ? e ^ sign : e & ~sign;
  write_bits(y, v);
}

u8 logical(BinaryKind kind, u8 a, u8 b) {
  switch (kind) {
#define X(name) \
  case BinaryKind::name: return name(a, b);
    VOTIVE_BINARY_LOGICAL(X)
#undef X
    default: return 0;
  }
}

}  // namespace

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
  switch (compute_type(op.kind, x.dtype())) {
    case Compute::f64: {
      std::vector<f64> v = read_f64(x);
      for (f64& e : v) e = scalar_f64(op.kind, e);
      return write_f64(y, v);
    }
    case Compute::i64: {
      std::vector<i64> v = read_i64(x);
      for (i64& e : v) e = scalar_i64(op.kind, e);
      return write_i64(y, v);
    }
    case Compute::u64: {
      std::vector<u64> v = read_u64(x);
      for (u64& e : v) e = scalar_u64(op.kind, e);
      return write_u64(y, v);
    }
    default: break;
  }
  // neg and abs act on the bits of a NaN, which conversion through f32 would lose
  if (op.kind == UnaryKind::neg || op.kind == UnaryKind::abs) return sign_bits(op.kind, x, y);
  std::vector<f32> v = read_f32(x);
  for (f32& e : v) e = scalar_f32(op.kind, e);
  write_f32(y, v);
}

void binary(const Binary& op, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const Tensor a = broadcast(first, y.shape()), b = broadcast(second, y.shape());
  const Compute compute = compute_type(op.kind, a.dtype(), b.dtype());
  if (is_compare(op.kind)) return compare_all(op.kind, compute, a, b, y);
  if (is_logical(op.kind)) return write_truth(y, combine(read_truth(a), read_truth(b), [&](u8 p, u8 q) { return logical(op.kind, p, q); }));
  switch (compute) {
    case Compute::f32: return write_f32(y, combine(read_f32(a), read_f32(b), [&](f32 p, f32 q) { return scalar_f32(op.kind, p, q); }));
    case Compute::f64: return write_f64(y, combine(read_f64(a), read_f64(b), [&](f64 p, f64 q) { return scalar_f64(op.kind, p, q); }));
    case Compute::i64: return write_i64(y, combine(read_i64(a), read_i64(b), [&](i64 p, i64 q) { return scalar_i64(op.kind, p, q); }));
    case Compute::u64: return write_u64(y, combine(read_u64(a), read_u64(b), [&](u64 p, u64 q) { return scalar_u64(op.kind, p, q); }));
    default: return;
  }
}

void where(const Where&, const Tensor& condition, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const std::vector<u8> c = read_truth(broadcast(condition, y.shape()));
  const std::vector<u64> a = read_bits(broadcast(first, y.shape())), b = read_bits(broadcast(second, y.shape()));
  std::vector<u64> v;
  for (std::size_t i = 0; i < c.size(); ++i) v.push_back(c[i] != 0 ? a[i] : b[i]);
  write_bits(y, v);
}

}  // namespace votive::reference
