// Unary and binary operations on the CPU. Operands come as runs of the compute type, the scalar text runs over them in a plain loop, the result is rounded
// and stored: so an operation is compiled once per compute type, not once per storage type. Small dense tensors go straight from memory to memory.
#include "votive/ops/pointwise.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/angles.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/tile.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

using namespace votive::numerics;

using Loop1 = void (*)(const void* x, void* y, Size n);
using Loop2 = void (*)(const void* a, const void* b, void* y, Size n);

template <class T, auto compute>
void loop1(const void* x, void* y, Size n) {
  const T* __restrict in = static_cast<const T*>(x);
  T* __restrict out = static_cast<T*>(y);
  for (Size i = 0; i < n; ++i) out[i] = static_cast<T>(compute(in[i]));
}

template <class A, class B, class Y, auto compute>
void loop2(const void* a, const void* b, void* y, Size n) {
  const A* __restrict left = static_cast<const A*>(a);
  const B* __restrict right = static_cast<const B*>(b);
  Y* __restrict out = static_cast<Y*>(y);
  for (Size i = 0; i < n; ++i) out[i] = static_cast<Y>(compute(left[i], right[i]));
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

// Tables in the order of UnaryKind and BinaryKind; a table ends, or has none, where no operation computes so.

#define ROW(name) loop1<f32, [](f32 x) { return name##_f32(x); }>,
constexpr Loop1 unary_f32[] = {VOTIVE_UNARY_ARITHMETIC(ROW) VOTIVE_UNARY_ROUNDING(ROW) VOTIVE_UNARY_FLOAT(ROW) VOTIVE_UNARY_FUNCTION(ROW)};
#undef ROW
#define ROW(name) loop1<f64, [](f64 x) { return name##_f64(x); }>,
constexpr Loop1 unary_f64[] = {VOTIVE_UNARY_ARITHMETIC(ROW) VOTIVE_UNARY_ROUNDING(ROW) VOTIVE_UNARY_FLOAT(ROW)};
#undef ROW
#define SAME(name) loop1<i64, [](i64 x) { return x; }>,
#define ROW(name) loop1<i64, [](i64 x) { return name##_i64(x); }>,
constexpr Loop1 unary_i64[] = {VOTIVE_UNARY_ARITHMETIC(ROW) VOTIVE_UNARY_ROUNDING(SAME)};
#undef ROW
#define ROW(name) loop1<u64, [](u64 x) { return name##_u64(x); }>,
constexpr Loop1 unary_u64[] = {VOTIVE_UNARY_ARITHMETIC(ROW) VOTIVE_UNARY_ROUNDING(SAME)};
#undef ROW
#undef SAME

#define ROW(name) loop2<f32, f32, f32, [](f32 a, f32 b) { return name##_f32(a, b); }>,
#define TRUTH(name) loop2<f32, f32, u8, [](f32 a, f32 b) { return name##_f32(a, b); }>,
constexpr Loop2 binary_f32[] = {VOTIVE_BINARY_ARITHMETIC(ROW) VOTIVE_BINARY_FLOAT(ROW) VOTIVE_BINARY_FUNCTION(ROW)
                                    VOTIVE_BINARY_COMPARE(TRUTH)};
#undef ROW
#undef TRUTH
#define ROW(name) loop2<f64, f64, f64, [](f64 a, f64 b) { return name##_f64(a, b); }>,
#define TRUTH(name) loop2<f64, f64, u8, [](f64 a, f64 b) { return name##_f64(a, b); }>,
constexpr Loop2 binary_f64[] = {VOTIVE_BINARY_ARITHMETIC(ROW) VOTIVE_BINARY_FLOAT(ROW) VOTIVE_BINARY_FUNCTION(ROW)
                                    VOTIVE_BINARY_COMPARE(TRUTH)};
#undef ROW
#undef TRUTH

#define NONE(name) nullptr,
// Narrow integers in the text of 64 bits, cut to their width: the low bits of + − × are the same, and so is the order.
#define ROW(name) loop2<T, T, T, [](T a, T b) { return name##_i64(a, b); }>,
#define TRUTH(name) loop2<T, T, u8, [](T a, T b) { return name##_i64(a, b); }>,
template <class T>
constexpr Loop2 binary_signed[] = {VOTIVE_BINARY_ARITHMETIC(ROW) VOTIVE_BINARY_FLOAT(NONE) VOTIVE_BINARY_FUNCTION(NONE)
                                       VOTIVE_BINARY_COMPARE(TRUTH)};
#undef ROW
#undef TRUTH
#define ROW(name) loop2<T, T, T, [](T a, T b) { return name##_u64(a, b); }>,
#define TRUTH(name) loop2<T, T, u8, [](T a, T b) { return name##_u64(a, b); }>,
template <class T>
constexpr Loop2 binary_unsigned[] = {VOTIVE_BINARY_ARITHMETIC(ROW) VOTIVE_BINARY_FLOAT(NONE) VOTIVE_BINARY_FUNCTION(NONE)
                                         VOTIVE_BINARY_COMPARE(TRUTH)};
#undef ROW
#undef TRUTH
#undef NONE

#define ROW(name) loop2<i64, u64, u8, [](i64 a, u64 b) { return name##_i64_u64(a, b); }>,
constexpr Loop2 compare_signed_unsigned[] = {VOTIVE_BINARY_COMPARE(ROW)};
#undef ROW
// a ? b read as b ?' a, in the order eq ne lt le gt ge
constexpr Loop2 compare_unsigned_signed[] = {
    loop2<u64, i64, u8, [](u64 a, i64 b) { return eq_i64_u64(b, a); }>, loop2<u64, i64, u8, [](u64 a, i64 b) { return ne_i64_u64(b, a); }>,
    loop2<u64, i64, u8, [](u64 a, i64 b) { return gt_i64_u64(b, a); }>, loop2<u64, i64, u8, [](u64 a, i64 b) { return ge_i64_u64(b, a); }>,
    loop2<u64, i64, u8, [](u64 a, i64 b) { return lt_i64_u64(b, a); }>, loop2<u64, i64, u8, [](u64 a, i64 b) { return le_i64_u64(b, a); }>};
#define ROW(name) loop2<u8, u8, u8, [](u8 a, u8 b) { return name(a, b); }>,
constexpr Loop2 logical[] = {VOTIVE_BINARY_LOGICAL(ROW)};
#undef ROW

/// What a unary loop takes and gives, and how much of it a thread should have at least.
struct Plan1 {
  Loop1 loop;
  DType as;
  Size grain;
};
struct Plan2 {
  Loop2 loop;
  DType a, b, result;
  Size grain;
};

// A few microseconds of work, so that waking a thread (about 1 µs while it spins) pays.
constexpr Size grain_of_arithmetic = 32 * tile_size;
constexpr Size grain_of_functions = 4 * tile_size;

bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

Plan1 plan(UnaryKind kind, DType x) {
  // On the bits, since a NaN must keep its own (CONTRACT.md 0.2).
  if (kind == UnaryKind::neg && is_half(x)) return {loop1<u16, [](u16 bits) { return bits ^ 0x8000u; }>, x, grain_of_arithmetic};
  if (kind == UnaryKind::abs && is_half(x)) return {loop1<u16, [](u16 bits) { return bits & 0x7fffu; }>, x, grain_of_arithmetic};
  if (kind == UnaryKind::sin && x != DType::f64) return {loop_of_angles<true>, DType::f32, grain_of_functions};
  if (kind == UnaryKind::cos && x != DType::f64) return {loop_of_angles<false>, DType::f32, grain_of_functions};
  const int k = static_cast<int>(kind);
  const Size grain = kind >= UnaryKind::exp ? grain_of_functions : grain_of_arithmetic;
  switch (compute_type(kind, x)) {
    case Compute::f64: return {unary_f64[k], DType::f64, grain};
    case Compute::i64: return {unary_i64[k], DType::i64, grain};
    case Compute::u64: return {unary_u64[k], DType::u64, grain};
    default: return {unary_f32[k], DType::f32, grain};
  }
}

Plan2 plan(BinaryKind kind, DType a, DType b) {
  const int k = static_cast<int>(kind);
  const Size grain = kind == BinaryKind::swiglu ? grain_of_functions : grain_of_arithmetic;
  if (kind >= BinaryKind::logical_and) {
    return {logical[k - static_cast<int>(BinaryKind::logical_and)], DType::boolean, DType::boolean, DType::boolean, grain};
  }
  const bool compares = kind >= BinaryKind::eq;
  const auto result = [&](DType dtype) { return compares ? DType::boolean : dtype; };
  if (a == DType::f32 && b == DType::f32) return {binary_f32[k], a, a, result(a), grain};
  if (a == b && kind != BinaryKind::div) {
    switch (a) {
      case DType::i32: return {binary_signed<i32>[k], a, a, result(a), grain};
      case DType::u32: return {binary_unsigned<u32>[k], a, a, result(a), grain};
      case DType::u8:
      case DType::boolean: return {binary_unsigned<u8>[k], a, a, result(a), grain};
      default: break;
    }
  }
  switch (compute_type(kind, a, b)) {
    case Compute::f64: return {binary_f64[k], DType::f64, DType::f64, result(DType::f64), grain};
    case Compute::i64: return {binary_signed<i64>[k], DType::i64, DType::i64, result(DType::i64), grain};
    case Compute::u64: return {binary_unsigned<u64>[k], DType::u64, DType::u64, result(DType::u64), grain};
    case Compute::boolean: return {binary_unsigned<u8>[k], DType::boolean, DType::boolean, result(DType::boolean), grain};
    case Compute::mixed: {
      const int c = k - static_cast<int>(BinaryKind::eq);
      if (is_signed_integer(a)) return {compare_signed_unsigned[c], DType::i64, DType::u64, DType::boolean, grain};
      return {compare_unsigned_signed[c], DType::u64, DType::i64, DType::boolean, grain};
    }
    default: return {binary_f32[k], DType::f32, DType::f32, result(DType::f32), grain};
  }
}

// Outputs come from apply() and are contiguous.

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
  const Plan1 p = plan(op.kind, x.dtype());
  const Size count = y.count();
  if (count <= p.grain && x.dtype() == p.as && y.dtype() == p.as && x.is_contiguous()) {
    const Size bytes = block_bytes(p.as);
    p.loop(x.buffer() + x.offset() * bytes, y.mutable_buffer() + y.offset() * bytes, count);
    return;
  }
  const Reader in(x, x.layout(), p.as);
  const Writer out(y, y.layout(), p.as);
  parallel_for(count, p.grain, [&](Size begin, Size end) {
    Tile tile_x, tile_y;
    for (Size at = begin, n = 0; at < end; at += n) {
      n = in.tile_end(at, end - at < tile_size ? end - at : tile_size);
      void* place = out.place<void>(at, &tile_y);
      p.loop(in.read_bytes(at, n, tile_x.bytes), place, n);
      out.write(at, n, place);
    }
    out.finish();
  });
}

bool lies_as(const Tensor& x, DType dtype, const Tensor& y) { return x.dtype() == dtype && x.shape() == y.shape() && x.is_contiguous(); }

void binary(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  const Plan2 p = plan(op.kind, a.dtype(), b.dtype());
  const Size count = y.count();
  if (count <= p.grain && y.dtype() == p.result && lies_as(a, p.a, y) && lies_as(b, p.b, y)) {
    p.loop(a.buffer() + a.offset() * block_bytes(p.a), b.buffer() + b.offset() * block_bytes(p.b),
           y.mutable_buffer() + y.offset() * block_bytes(p.result), count);
    return;
  }
  if (count <= p.grain && y.dtype() == p.result && b.count() == 1 && b.dtype() == p.b && lies_as(a, p.a, y)) {
    Tile tile;
    const Size bytes_a = block_bytes(p.a), bytes_b = block_bytes(p.b), bytes_y = block_bytes(p.result);
    gather_run(b.buffer() + b.offset() * bytes_b, 0, tile.bytes, count < tile_size ? count : tile_size, bytes_b);
    for (Size at = 0; at < count; at += tile_size) {
      p.loop(a.buffer() + (a.offset() + at) * bytes_a, tile.bytes, y.mutable_buffer() + (y.offset() + at) * bytes_y,
             count - at < tile_size ? count - at : tile_size);
    }
    return;
  }
  const Reader left(a, broadcast_layout(a.layout(), y.shape()), p.a);
  const Reader right(b, broadcast_layout(b.layout(), y.shape()), p.b);
  const Writer out(y, y.layout(), p.result);
  parallel_for(count, p.grain, [&](Size begin, Size end) {
    Tile tile_a, tile_b, tile_y;
    for (Size at = begin, n = 0; at < end; at += n) {
      n = right.tile_end(at, left.tile_end(at, end - at < tile_size ? end - at : tile_size));
      void* place = out.place<void>(at, &tile_y);
      p.loop(left.read_bytes(at, n, tile_a.bytes), right.read_bytes(at, n, tile_b.bytes), place, n);
      out.write(at, n, place);
    }
    out.finish();
  });
}

}  // namespace

void register_pointwise(Kernels& kernels) {
  kernels.add<Unary>(Device::cpu, unary);
  kernels.add<Binary>(Device::cpu, binary);
}

}  // namespace votive::cpu::VOTIVE_ISA
