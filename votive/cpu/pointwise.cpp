// Pointwise operations on the CPU. Operands come as runs of the compute type, the scalar text runs over them in a plain loop, the result is rounded
// and stored: so an operation is compiled once per compute type, not once per storage type. Dense tensors go straight from memory to memory, and so do f16
// and bf16 where the operation is so short that memory is the limit.
// The loops themselves are in pointwise_unary.cpp and pointwise_binary.cpp.
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/half_table.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/path.h"
#include "votive/cpu/pointwise_plan.h"
#include "votive/cpu/scratch.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

// Outputs come from apply() and are contiguous.

/// The elements after which a layout repeats itself, when it is dense rows or one element for all; else 0.
Size period_of(const Layout& layout) {
  Size period = 1;
  int axis = layout.rank() - 1;
  for (; axis >= 0 && (layout.shape[axis] == 1 || layout.strides[axis] == period); --axis) period *= layout.shape[axis];
  for (; axis >= 0; --axis) {
    if (layout.strides[axis] != 0 && layout.shape[axis] != 1) return 0;
  }
  return period;
}

/// Whether neighbours in memory lie in one column of the output: a transposed operand.
bool runs_across(const Layout& layout) {
  constexpr Size worth_blocks = 16;
  const int last = layout.rank() - 1;
  if (last < 1 || layout.shape[last] < worth_blocks || layout.shape[last - 1] < worth_blocks) return false;
  return layout.strides[last - 1] == 1 && layout.strides[last] != 0 && layout.strides[last] != 1;
}

/// How an operand is read: as dtype `as`, broadcast to `shape`.
struct Source {
  Layout layout;
  Reader reader;
  Size period, bytes;
  const std::byte* buffer;
  bool across;  // and of the wanted dtype
  Source(const Tensor& x, const Shape& shape, DType as)
      : layout(broadcast_layout(x.layout(), shape)),
        reader(x, layout, as),
        period(period_of(layout)),
        bytes(block_bytes(as)),
        buffer(x.buffer()),
        across(x.dtype() == as && runs_across(layout)) {}
};

/// A source with the tile of one thread. A short row that repeats itself is laid out many times in the tile, once: tiles then need not end with it, which
/// costs a call each and, past the caches, a line in pieces.
class Operand {
 public:
  Operand(const Source& source, Size elements) : source_(source) {
    const Size room = static_cast<Size>(sizeof tile_.bytes) / source.bytes;
    if (source.period == 0 || 2 * source.period > room || elements < 4 * room) return;
    Size n = source.period;
    const std::byte* row = source.reader.read_bytes(0, n, tile_.bytes);
    if (row != tile_.bytes) std::memcpy(tile_.bytes, row, static_cast<std::size_t>(n * source.bytes));
    for (Size m; n < room; n += m) {
      m = n < room - n ? n : room - n;
      std::memcpy(tile_.bytes + n * source.bytes, tile_.bytes, static_cast<std::size_t>(m * source.bytes));
    }
    repeats_ = (room - source.period) / 64 * 64;
  }
  /// Up to n: the elements from `begin` on that a tile may have.
  Size tile_end(Size begin, Size n) const {
    const Size most = repeats_ > 0 ? repeats_ : source_.reader.needs_no_tile() ? n : tile_size;
    return source_.reader.tile_end(begin, n < most ? n : most);
  }
  const std::byte* read(Size begin, Size n) {
    if (repeats_ > 0) return tile_.bytes + begin % source_.period * source_.bytes;
    return source_.reader.read_bytes(begin, n, tile_.bytes);
  }

 private:
  const Source& source_;
  Size repeats_ = 0;  // elements that the tile holds from any start within the row
  Tile tile_;
};

/// Elements [begin, end) by loops over tiles, or over all of them where nothing is collected and nothing written back.
template <class Loop, class Call, class... Operands>
void run_range(Loop loop, bool streams, const Writer& out, Size begin, Size end, const Call& call, Operands&&... in) {
  Tile tile_y;
  const Size most = streams || out.is_in_place() ? end - begin : tile_size;
  for (Size at = begin, n = 0; at < end; at += n) {
    n = end - at < most ? end - at : most;
    ((n = in.tile_end(at, n)), ...);
    void* place = streams ? out.address(at) : out.place<void>(at, &tile_y);
    call(loop, in.read(at, n)..., place, n);
    if (!streams) out.write(at, n, place);
  }
  out.finish();
}

/// Blocks of the output's last two axes for operands that run across it: 64 rows, a line or more of such an operand each, of half a tile. Their blocks are
/// turned into one that stays in L2, and read from there row by row; so every line of every operand is touched once (0.34 to 0.54 of triad bandwidth instead of
/// 0.07, 2-core Zen 4).
struct Blocks {
  static constexpr Size rows = 64, columns = tile_size / 2;
  Shape shape;
  Size P, Q, down, along;
  explicit Blocks(const Shape& y)
      : shape(y), P(y[y.rank() - 2]), Q(y.back()), down((P + rows - 1) / rows), along((Q + columns - 1) / columns) {}
  Size count() const { return down * along * (votive::count(shape) / (P * Q)); }
};
struct Block {
  Size outer, p, q, rows, columns;
  Block(const Blocks& blocks, Size unit)
      : outer(unit / blocks.along / blocks.down),
        p(unit / blocks.along % blocks.down * Blocks::rows),
        q(unit % blocks.along * Blocks::columns),
        rows(blocks.P - p < Blocks::rows ? blocks.P - p : Blocks::rows),
        columns(blocks.Q - q < Blocks::columns ? blocks.Q - q : Blocks::columns) {}
};

/// A source with the block of one thread.
class BlockOperand {
 public:
  explicit BlockOperand(const Source& source)
      : source_(source), turned_(source.across ? Blocks::rows * Blocks::columns * source.bytes : 0) {}

  void enter(const Block& block) {
    rows_ = block.rows;
    if (!source_.across) return;
    const Layout& x = source_.layout;
    const int last = x.rank() - 1;
    Size at = x.offset + block.p + block.q * x.strides[last], outer = block.outer;
    for (int axis = last - 2; axis >= 0; --axis) {
      at += outer % x.shape[axis] * x.strides[axis];
      outer /= x.shape[axis];
    }
    columns_ = block.columns;
    const Shape shape{block.rows, block.columns};
    const Path path({shape, {1, x.strides[last]}, 0}, {shape, {columns_, 1}, 0});
    if (path.rank == 2) {
      copy_transposed(path, 0, 1, source_.buffer + at * source_.bytes, turned_.data(), source_.bytes);
    } else {
      gather_run(source_.buffer + at * source_.bytes, block.rows == 1 ? x.strides[last] : 1, turned_.data(), block.rows * block.columns,
                 source_.bytes);
    }
  }
  /// `n` elements from `begin` on, which are row `row` of the block. Where they lie in the tensor those of the next row are fetched: half a tile is too short
  /// for the machine to see what comes.
  const std::byte* read(Size row, Size begin, Size n) {
    if (source_.across) return turned_.data() + row * columns_ * source_.bytes;
    const std::byte* const values = source_.reader.read_bytes(begin, n, tile_.bytes);
    if (values != tile_.bytes && row + 1 < rows_) {
      const std::byte* const next = values + source_.layout.shape.back() * source_.bytes;
      for (Size at = 0; at < n * source_.bytes; at += 64) __builtin_prefetch(next + at, 0, 2);
    }
    return values;
  }

 private:
  const Source& source_;
  Scratch<std::byte> turned_;
  Size columns_ = 0, rows_ = 0;
  Tile tile_;
};

template <class Loop, class Call, class... Operands>
void run_blocks(Loop loop, bool streams, const Writer& out, const Blocks& blocks, Size begin, Size end, const Call& call,
                Operands&&... in) {
  Tile tile_y;
  for (Size unit = begin; unit < end; ++unit) {
    const Block block(blocks, unit);
    (in.enter(block), ...);
    for (Size row = 0; row < block.rows; ++row) {
      const Size at = (block.outer * blocks.P + block.p + row) * blocks.Q + block.q, n = block.columns;
      void* place = streams ? out.address(at) : out.place<void>(at, &tile_y);
      call(loop, in.read(row, at, n)..., place, n);
      if (!streams) out.write(at, n, place);
    }
  }
  out.finish();
}

/// call(loop, operands…, y, n) with the loop that suits the output.
template <class Loop, class Call, class... Sources>
void run(Loop loop, Loop streamed, Size grain, const Writer& out, Size count, const Call& call, const Sources&... sources) {
  const bool streams = streamed != nullptr && out.takes_streams();
  if ((sources.across || ...) && count >= Blocks::rows * Blocks::columns) {
    const Blocks blocks([](const Source& first, const auto&...) { return first.layout.shape; }(sources...));
    parallel_for_worker(blocks.count(), 1, [&](Size begin, Size end, int) {
      run_blocks(streams ? streamed : loop, streams, out, blocks, begin, end, call, BlockOperand(sources)...);
    });
    return;
  }
  // Through a pointer also when one range is all: inlined, its 24 KiB of tiles would stand in this frame a second time, and a thread of 64 KiB overflow.
  parallel_for_worker(count, grain, [&](Size begin, Size end, int) {
    run_range(streams ? streamed : loop, streams, out, begin, end, call, Operand(sources, end - begin)...);
  });
}

template <class Plan, class Call>
void run_unary(const Plan& p, const Tensor& x, Tensor& y, const Call& call) {
  const Size count = y.count();
  if (count <= p.grain && x.dtype() == p.as && y.dtype() == p.result && x.is_contiguous()) {
    call(p.loop, x.buffer() + x.offset() * block_bytes(p.as), y.mutable_buffer() + y.offset() * block_bytes(p.result), count);
    return;
  }
  run(p.loop, p.streamed, p.grain, Writer(y, y.layout(), p.result), count, call, Source(x, y.shape(), p.as));
}

void unary(const Unary& op, const Tensor& x, Tensor& y, Stream&) {
  if (const u16* const table = half_table(op.kind, x.dtype(), y.count())) {
    const PlanOf<decltype(&look_up)> looks{look_up, x.dtype(), x.dtype(), 2 * grain_of_functions};
    const auto look = [table](auto loop, const void* in, void* out, Size n) {
      loop(table, static_cast<const u16*>(in), static_cast<u16*>(out), n);
    };
    return run_unary(looks, x, y, look);
  }
  run_unary(plan(op.kind, x.dtype()), x, y, [](Loop1 loop, const void* in, void* out, Size n) { loop(in, out, n); });
}

void unary_with(const UnaryWith& op, const Tensor& x, Tensor& y, Stream&) {
  run_unary(plan(op.kind, x.dtype()), x, y, [&](LoopWith loop, const void* in, void* out, Size n) { loop(in, out, n, op.attributes); });
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
  run(
      p.loop, p.streamed, p.grain, Writer(y, y.layout(), p.result), count,
      [](Loop2 loop, const void* left, const void* right, void* out, Size n) { loop(left, right, out, n); }, Source(a, y.shape(), p.a),
      Source(b, y.shape(), p.b));
}

void ternary(const Ternary& op, const Tensor& a, const Tensor& b, const Tensor& c, Tensor& y, Stream&) {
  const Plan3 p = plan(op.kind, y.dtype());
  run(
      p.loop, p.streamed, p.grain, Writer(y, y.layout(), p.result), y.count(),
      [&](Loop3 loop, const void* first, const void* second, const void* third, void* out, Size n) {
        loop(first, second, third, out, n, op.value);
      },
      Source(a, y.shape(), p.as), Source(b, y.shape(), p.as), Source(c, y.shape(), p.as));
}

void where(const Where&, const Tensor& condition, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  const PlanWhere p = plan_where(y.dtype());
  run(
      p.loop, p.streamed, p.grain, Writer(y, y.layout(), p.result), y.count(),
      [](LoopWhere loop, const void* chosen, const void* left, const void* right, void* out, Size n) { loop(chosen, left, right, out, n); },
      Source(condition, y.shape(), DType::boolean), Source(a, y.shape(), p.as), Source(b, y.shape(), p.as));
}

}  // namespace

void register_pointwise(Kernels& kernels) {
  kernels.add<Unary>(Device::cpu, unary);
  kernels.add<UnaryWith>(Device::cpu, unary_with);
  kernels.add<Binary>(Device::cpu, binary);
  kernels.add<Ternary>(Device::cpu, ternary);
  kernels.add<Where>(Device::cpu, where);
}

}  // namespace votive::cpu::VOTIVE_ISA
