// Pointwise operations on the CPU. Operands come as runs of the compute type, the scalar text runs over them in a plain loop, the result is rounded
// and stored: so an operation is compiled once per compute type, not once per storage type. Small dense tensors go straight from memory to memory.
// The loops themselves are in pointwise_unary.cpp and pointwise_binary.cpp.
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/pointwise_plan.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

// Outputs come from apply() and are contiguous.

template <class Loop>
void run(const Tensor& x, Tensor& y, DType as, DType result, Size grain, Loop loop) {
  const Size count = y.count();
  if (count <= grain && x.dtype() == as && y.dtype() == result && x.is_contiguous()) {
    loop(x.buffer() + x.offset() * block_bytes(as), y.mutable_buffer() + y.offset() * block_bytes(result), count);
    return;
  }
  const Reader in(x, x.layout(), as);
  const Writer out(y, y.layout(), result);
  parallel_for(count, grain, [&](Size begin, Size end) {
    Tile tile_x, tile_y;
    for (Size at = begin, n = 0; at < end; at += n) {
      n = in.tile_end(at, end - at < tile_size ? end - at : tile_size);
      void* place = out.place<void>(at, &tile_y);
      loop(in.read_bytes(at, n, tile_x.bytes), place, n);
      out.write(at, n, place);
    }
    out.finish();
  });
}

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
  const Plan1 p = plan(op.kind, x.dtype());
  run(x, y, p.as, p.result, p.grain, p.loop);
}

void unary_with(const UnaryWith& op, const Tensor& x, Tensor& y, Stream&) {
  const PlanWith p = plan(op.kind, x.dtype());
  run(x, y, p.as, p.result, p.grain, [&](const void* in, void* out, Size n) { p.loop(in, out, n, op.attributes); });
}

/// Integer divisors that are zero, and exponents of integers below zero, in row-major order of b itself.
void require_operand(const Binary& op, const Tensor& b) {
  const bool divides = row(op.kind).group == PointwiseGroup::division;
  if (!divides && !is_signed_integer(b.dtype())) return;
  const Reader in(b, b.layout(), DType::i64);
  const Size count = b.count();
  Tile tile;
  for (Size at = 0; at < count; at += tile_size) {
    const Size n = count - at < tile_size ? count - at : tile_size;
    const i64* v = in.read<i64>(at, n, tile.bytes);
    int bad = 0;
    for (Size i = 0; i < n; ++i) bad |= divides ? v[i] == 0 : v[i] < 0;
    for (Size i = 0; bad != 0 && i < n; ++i) {
      if (divides && v[i] == 0) refuse_divisor(op.name(), b, at + i);
      if (!divides && v[i] < 0) refuse_exponent(op.name(), b, at + i, v[i]);
    }
  }
}

bool lies_as(const Tensor& x, DType dtype, const Tensor& y) { return x.dtype() == dtype && x.shape() == y.shape() && x.is_contiguous(); }

void binary(const Binary& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  const PointwiseGroup group = row(op.kind).group;
  if ((group == PointwiseGroup::division || group == PointwiseGroup::power) && is_integer(y.dtype())) require_operand(op, b);
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
  // Through a pointer also when one range is all: inlined, its 24 KiB of tiles would stand in this frame a second time, and a thread of 64 KiB overflow.
  parallel_for_worker(count, p.grain, [&](Size begin, Size end, int) {
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

void ternary(const Ternary& op, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& y, Stream&) {
  const Plan3 p = plan(op.kind, y.dtype());
  const Reader first(a, broadcast_layout(a.layout(), y.shape()), p.as);
  const Reader second(b, broadcast_layout(b.layout(), y.shape()), p.as);
  const Reader third(c, broadcast_layout(c.layout(), y.shape()), p.as);
  const Writer out(y, y.layout(), p.result);
  parallel_for(y.count(), p.grain, [&](Size begin, Size end) {
    Tile tile_a, tile_b, tile_c, tile_y;
    for (Size at = begin, n = 0; at < end; at += n) {
      n = third.tile_end(at, second.tile_end(at, first.tile_end(at, end - at < tile_size ? end - at : tile_size)));
      void* place = out.place<void>(at, &tile_y);
      p.loop(first.read_bytes(at, n, tile_a.bytes), second.read_bytes(at, n, tile_b.bytes), third.read_bytes(at, n, tile_c.bytes), place, n,
             op.value);
      out.write(at, n, place);
    }
    out.finish();
  });
}

}  // namespace

void register_pointwise(Kernels& kernels) {
  kernels.add<Unary>(Device::cpu, unary);
  kernels.add<UnaryWith>(Device::cpu, unary_with);
  kernels.add<Binary>(Device::cpu, binary);
  kernels.add<Ternary>(Device::cpu, ternary);
}

}  // namespace votive::cpu::VOTIVE_ISA
