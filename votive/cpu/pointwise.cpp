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

template <class X, class Y, auto compute>
void loop1(const void* x, void* y, Size n) {
  const X* __restrict in = static_cast<const X*>(x);
  Y* __restrict out = static_cast<Y*>(y);
  for (Size i = 0; i < n; ++i) out[i] = static_cast<Y>(compute(in[i]));
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

/// What a unary loop takes and gives, and how much of it a thread should have at least.
struct Plan1 {
  Loop1 loop;
  DType as, result;
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

bool is_whole(DType dtype) { return dtype == DType::boolean || is_integer(dtype); }
bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

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

/// `truth` where the result is a bool, else it is of the operands' dtype.
template <auto of_i64, auto of_u64, bool truth>
Loop2 integers(DType dtype) {
#define OF(T, text) loop2<T, T, std::conditional_t<truth, u8, T>, text>
  switch (dtype) {
    case DType::i8: return OF(i8, of_i64);
    case DType::i16: return OF(i16, of_i64);
    case DType::i32: return OF(i32, of_i64);
    case DType::i64: return OF(i64, of_i64);
    case DType::u16: return OF(u16, of_u64);
    case DType::u32: return OF(u32, of_u64);
    case DType::u64: return OF(u64, of_u64);
    default: return OF(u8, of_u64);
  }
#undef OF
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
Plan2 floats(DType a, DType b, Size grain) {
  if (a == DType::f64 || b == DType::f64) return {loop2<f64, f64, f64, of_f64>, DType::f64, DType::f64, DType::f64, grain};
  return {loop2<f32, f32, f32, of_f32>, DType::f32, DType::f32, DType::f32, grain};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64>
Plan2 numbers(DType a, DType b) {
  if (!is_whole(a) || !is_whole(b)) return floats<of_f32, of_f64>(a, b, grain_of_arithmetic);
  const DType as = *common_dtype(a, b);
  return {integers<of_i64, of_u64, false>(as), as, as, as, grain_of_arithmetic};
}

template <auto of_f32, auto of_f64, auto of_i64, auto of_u64, auto of_i64_u64, auto of_u64_i64>
Plan2 compare(DType a, DType b) {
  const auto as = [](Loop2 loop, DType p, DType q) { return Plan2{loop, p, q, DType::boolean, grain_of_arithmetic}; };
  if (is_whole(a) && is_whole(b)) {
    if (const auto common = common_dtype(a, b)) return as(integers<of_i64, of_u64, true>(*common), *common, *common);
    if (is_signed_integer(a)) return as(loop2<i64, u64, u8, of_i64_u64>, DType::i64, DType::u64);
    return as(loop2<u64, i64, u8, of_u64_i64>, DType::u64, DType::i64);
  }
  if (a == DType::f64 || b == DType::f64) return as(loop2<f64, f64, u8, of_f64>, DType::f64, DType::f64);
  return as(loop2<f32, f32, u8, of_f32>, DType::f32, DType::f32);
}

// The scalar text as something a template can take.
#define F32(name) [](f32 v) { return name##_f32(v); }
#define F64(name) [](f64 v) { return name##_f64(v); }
#define I64(name) [](i64 v) { return name##_i64(v); }
#define U64(name) [](u64 v) { return name##_u64(v); }
#define SAME [](auto v) { return v; }

Plan1 plan(UnaryKind kind, DType x) {
  // On the bits, since a NaN must keep its own (CONTRACT.md 0.2).
  if (kind == UnaryKind::neg && is_half(x)) return {loop1<u16, u16, [](u16 bits) { return bits ^ 0x8000u; }>, x, x, grain_of_arithmetic};
  if (kind == UnaryKind::abs && is_half(x)) return {loop1<u16, u16, [](u16 bits) { return bits & 0x7fffu; }>, x, x, grain_of_arithmetic};
  if (kind == UnaryKind::sin && x != DType::f64) return {loop_of_angles<true>, DType::f32, DType::f32, grain_of_functions};
  if (kind == UnaryKind::cos && x != DType::f64) return {loop_of_angles<false>, DType::f32, DType::f32, grain_of_functions};
#define GROUP_arithmetic(name) numbers<F32(name), F64(name), I64(name), U64(name)>(x)
#define GROUP_rounding(name) numbers<F32(name), F64(name), SAME, SAME>(x)
#define GROUP_floating(name) floats<F32(name), F64(name)>(x, grain_of_arithmetic)
#define GROUP_function(name) floats<F32(name), F64(name)>(x, grain_of_functions)
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
  return {};
}

#undef F32
#undef F64
#undef I64
#undef U64
#undef SAME
#define TEXT(A, B, name) [](A p, B q) { return name(p, q); }

Plan2 plan(BinaryKind kind, DType a, DType b) {
#define FLOATS(name) TEXT(f32, f32, name##_f32), TEXT(f64, f64, name##_f64)
#define INTEGERS(name) TEXT(i64, i64, name##_i64), TEXT(u64, u64, name##_u64)
#define GROUP_arithmetic(name) numbers<FLOATS(name), INTEGERS(name)>(a, b)
#define GROUP_floating(name) floats<FLOATS(name)>(a, b, grain_of_arithmetic)
#define GROUP_function(name) floats<FLOATS(name)>(a, b, grain_of_functions)
#define GROUP_compare(name) compare<FLOATS(name), INTEGERS(name), TEXT(i64, u64, name##_i64_u64), TEXT(u64, i64, name##_u64_i64)>(a, b)
#define GROUP_logical(name) \
  Plan2 { loop2<u8, u8, u8, TEXT(u8, u8, name)>, DType::boolean, DType::boolean, DType::boolean, grain_of_arithmetic }
  switch (kind) {
#define ROW(group, name, ...) \
  case BinaryKind::name: return GROUP_##group(name);
    VOTIVE_BINARY(ROW)
#undef ROW
  }
#undef FLOATS
#undef INTEGERS
#undef GROUP_arithmetic
#undef GROUP_floating
#undef GROUP_function
#undef GROUP_compare
#undef GROUP_logical
  return {};
}

#undef TEXT

// Outputs come from apply() and are contiguous.

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
  const Plan1 p = plan(op.kind, x.dtype());
  const Size count = y.count();
  if (count <= p.grain && x.dtype() == p.as && y.dtype() == p.result && x.is_contiguous()) {
    p.loop(x.buffer() + x.offset() * block_bytes(p.as), y.mutable_buffer() + y.offset() * block_bytes(p.result), count);
    return;
  }
  const Reader in(x, x.layout(), p.as);
  const Writer out(y, y.layout(), p.result);
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
