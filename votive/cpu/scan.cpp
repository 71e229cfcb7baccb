// Scans on the CPU: a thread takes whole lines along the axis, or columns of them where lines are neighbours in memory; threads share the chunks of a line
// where there are too few of either. The canonical scan itself is in scan_tree.h; the others have an order of their own, element after element.
#include "votive/ops/scan.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/cpu/scan_tree.h"
#include "votive/numerics/math.h"
#include "votive/numerics/power.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

Size least(Size a, Size b) { return a < b ? a : b; }
Size most(Size a, Size b) { return a > b ? a : b; }

/// A tensor as [outer, n, inner], n along the axis.
struct Split {
  Size outer = 1, n, inner = 1;
  Split(const Tensor& x, int axis) : n(x.shape()[axis]) {
    for (int i = 0; i < axis; ++i) outer *= x.shape()[i];
    for (int i = axis + 1; i < x.rank(); ++i) inner *= x.shape()[i];
  }
  /// Whether to go row by row: lines are then columns, worked on side by side.
  bool by_columns(const Tensor& x, int axis) const { return inner >= 32 && x.strides()[axis] != 1; }
};

/// Calls columns(first, width, row) for blocks of columns; row(r) is where in row-major order they lie in row r.
template <class Columns>
void for_each_column_block(const Split& s, Columns columns) {
  constexpr Size narrowest = 512, widest = 4096;  // long runs of memory, and what a column needs still in L2
  const Size shared = most(narrowest, (s.inner + threads() - 1) / threads());
  const Size width = least(s.inner, least(widest, s.outer >= threads() ? widest : (shared + 63) / 64 * 64));
  const Size blocks = (s.inner + width - 1) / width;
  parallel_for(s.outer * blocks, 1 + 8192 / (s.n * width), [&](Size begin, Size end) { columns(begin, end, blocks, width); });
}

constexpr Size columns_at_once = 1024;  // read, joined and stored past the caches in turn

/// state.begin(width), then state.push(x, first column, columns, y) for every row of every block of columns, from left to right; make(width) gives each thread
/// its state.
template <class T, class Make>
void scan_columns(const Tensor& x, Tensor& y, const Split& s, DType as, Make make) {
  const Reader in(x, x.layout(), as);
  const Writer out(y, y.layout(), as);
  for_each_column_block(s, [&](Size begin, Size end, Size blocks, Size widest) {
    auto state = make(widest);
    const Scratch<T> room(2 * columns_at_once);
    for (Size unit = begin; unit < end; ++unit) {
      const Size c = unit % blocks * widest, width = least(widest, s.inner - c);
      state.begin(width);
      for (Size r = 0; r < s.n; ++r) {
        for (Size first = 0; first < width; first += columns_at_once) {
          const Size at = (unit / blocks * s.n + r) * s.inner + c + first, m = least(columns_at_once, width - first);
          T* place = out.place<T>(at, room.data() + columns_at_once);
          state.push(in.read<T>(at, m, room.data()), first, m, place);
          out.write(at, m, place);
        }
      }
    }
    out.finish();
  });
}

/// line(x, y, n) for every line along the axis, elements read as T (dtype `as`) and stored from it.
template <class T, class Line>
void for_each_line(const Tensor& x, Tensor& y, int axis, DType as, Line line) {
  const Size n = x.shape()[axis], lines = x.count() / n;
  const Reader in(x, with_axis_last(x.layout(), axis), as);
  const Writer out(y, with_axis_last(y.layout(), axis), as);
  parallel_for(lines, n < 8192 ? 8192 / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room(2 * n);
    for (Size i = begin; i < end; ++i) {
      T* place = out.place<T>(i * n, room.data() + n);
      line(in.read<T>(i * n, n, room.data()), place, n);
      out.write(i * n, n, place);
    }
    out.finish();
  });
}

/// One offset of the canonical scan: Before of one column.
template <class T, class Join>
struct OffsetOfChunk {
  T subtree[52], joined, offset;
  Before<T, Join> chunks{subtree, 1};

  void begin() {
    chunks.clear(1);
    offset = Join::identity();
  }
  void push(T sum) {
    chunks.push(&sum);
    offset = Join::identity();
    chunks.join_all(&joined, &offset);
  }
};

/// Lines of floats, chunk by chunk; of a few long ones the chunks of a segment are shared by the threads, twice: their sums, then they themselves, while the
/// elements are in the caches.
template <class T, class Join>
void scan_lines(const Tensor& x, Tensor& y, int axis, DType as) {
  using Chunk = ChunkScan<T, Join>;
  constexpr Size chunks_of_segment = 64;
  const Size n = x.shape()[axis], lines = x.count() / n, chunks = (n + tree_chunk - 1) / tree_chunk;
  const Reader in(x, with_axis_last(x.layout(), axis), as);
  const Writer out(y, with_axis_last(y.layout(), axis), as);
  const auto length = [&](Size k) { return least(tree_chunk, n - k * tree_chunk); };
  const T* dense = in.dense<T>();
  const auto put = [&](const Chunk& chunk, T before, Size line, Size k, T* room) {
    const Size start = line * n + k * tree_chunk;
    const NextRow next = dense == nullptr ? NextRow() : NextRow(reinterpret_cast<const std::byte*>(dense + start + length(k)), sizeof(T));
    for (Size first = 0; first < length(k); first += Chunk::at_once) {
      const Size at = start + first, m = least(Chunk::at_once, length(k) - first);
      T* place = out.place<T>(at, room);
      next.fetch(first, m);
      chunk.finish(before, first, place, m);
      out.write(at, m, place);
    }
  };
  if (lines >= threads() || chunks < 16) {
    parallel_for(lines, n < 8192 ? 8192 / n : 1, [&](Size begin, Size end) {
      const Scratch<Chunk> chunk(1);
      const Scratch<T> room(2 * least(n, tree_chunk));
      for (Size line = begin; line < end; ++line) {
        OffsetOfChunk<T, Join> before;
        before.begin();
        for (Size k = 0; k < chunks; ++k) {
          const T* values = in.read<T>(line * n + k * tree_chunk, length(k), room.data());
          const T sum = chunk[0].sum(values, length(k));
          put(chunk[0], before.offset, line, k, room.data() + least(n, tree_chunk));
          if (k + 1 < chunks) before.push(sum);
        }
      }
      out.finish();
    });
    return;
  }
  T sums[chunks_of_segment], offsets[chunks_of_segment];
  for (Size line = 0; line < lines; ++line) {
    OffsetOfChunk<T, Join> before;
    before.begin();
    for (Size first = 0; first < chunks; first += chunks_of_segment) {
      const Size m = least(chunks_of_segment, chunks - first);
      const auto for_each_chunk = [&](auto body) {
        parallel_for(m, 4, [&](Size begin, Size end) {
          const Scratch<Chunk> chunk(1);
          const Scratch<T> room(2 * tree_chunk);
          for (Size k = first + begin; k < first + end; ++k) {
            const T sum = chunk[0].sum(in.read<T>(line * n + k * tree_chunk, length(k), room.data()), length(k));
            body(chunk[0], sum, k, room.data() + tree_chunk);
          }
        });
      };
      for_each_chunk([&](const Chunk&, T sum, Size k, T*) { sums[k - first] = sum; });
      for (Size k = 0; k < m; ++k) {
        offsets[k] = before.offset;
        before.push(sums[k]);
      }
      for_each_chunk([&](const Chunk& chunk, T, Size k, T* room) {
        put(chunk, offsets[k - first], line, k, room);
        out.finish();
      });
    }
  }
}

/// Integers join in any order.
template <class Join>
void integer_scan(const u64* __restrict x, u64* __restrict y, Size n) {
  u64 joined = Join::identity();
  for (Size i = 0; i < n; ++i) y[i] = joined = Join::join(joined, x[i]);
}

VOTIVE_SCALAR f32 log_add(f32 a, f32 b) { return numerics::logaddexp_f32(a, b); }
VOTIVE_SCALAR f64 log_add(f64 a, f64 b) { return numerics::logaddexp_f64(a, b); }

template <class T>
void log_scan(const T* x, T* y, Size n) {
  T sum = x[0];
  y[0] = sum;
  for (Size i = 1; i < n; ++i) y[i] = sum = log_add(sum, x[i]);
}

/// y = the row before it ∘ x, side by side.
template <class T, T (*join)(T, T)>
class SerialColumns {
 public:
  explicit SerialColumns(Size width) : last_(width) {}
  void begin(Size width) {
    width_ = width;
    first_ = true;
  }
  void push(const T* __restrict x, Size first, Size n, T* __restrict y) {
    T* __restrict last = last_.data() + first;
    if (first_) {
      for (Size c = 0; c < n; ++c) y[c] = last[c] = x[c];
    } else {
      for (Size c = 0; c < n; ++c) y[c] = last[c] = join(last[c], x[c]);
    }
    if (first + n == width_) first_ = false;
  }

 private:
  Scratch<T> last_;
  Size width_ = 0;
  bool first_ = true;
};

template <class T>
[[gnu::always_inline]] inline T log_add_of(T a, T b) {
  return log_add(a, b);
}

template <class T, class Join>
void join_scan(const Scan& op, const Tensor& x, Tensor& y, DType as) {
  const Split split(x, op.axis);
  if constexpr (std::is_floating_point_v<T>) {
    if (split.by_columns(x, op.axis))
      return scan_columns<T>(x, y, split, as, [&](Size width) { return ScanColumns<T, Join>(split.n, width); });
    scan_lines<T, Join>(x, y, op.axis, as);
  } else {
    if (split.by_columns(x, op.axis))
      return scan_columns<T>(x, y, split, as, [](Size width) { return SerialColumns<T, Join::join>(width); });
    for_each_line<T>(x, y, op.axis, as, integer_scan<Join>);
  }
}

template <class T>
void scan_as(const Scan& op, const Tensor& x, Tensor& y, DType as) {
  if (op.kind == ScanKind::sum) return join_scan<T, Sum<T>>(op, x, y, as);
  if (op.kind == ScanKind::prod) return join_scan<T, Product<T>>(op, x, y, as);
  if constexpr (std::is_floating_point_v<T>) {
    const Split split(x, op.axis);
    if (split.by_columns(x, op.axis))
      return scan_columns<T>(x, y, split, as, [](Size width) { return SerialColumns<T, log_add_of<T>>(width); });
    for_each_line<T>(x, y, op.axis, as, log_scan<T>);
  }
}

void scan(const Scan& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.count() == 0) return;
  const DType as = exact_compute(x.dtype());
  if (as == DType::f32) return scan_as<f32>(op, x, y, as);
  if (as == DType::f64) return scan_as<f64>(op, x, y, as);
  scan_as<u64>(op, x, y, as);  // modulo 2⁶⁴, the same signed and unsigned
}

template <class T>
T extreme_of(bool largest, T a, T b) {
  return largest ? Greatest<T>::join(a, b) : Least<T>::join(a, b);
}

/// What a running extreme holds of a column: the element at `best`, and the extreme, which may be a zero of another sign. NaN is the extreme from where it is.
template <class T>
struct Running {
  T *held, *most;
  i64* best;
};

template <class T, bool largest>
void extreme_row(const T* __restrict v, Size row, Size width, const Running<T>& running, T* __restrict value, i64* __restrict place) {
  T* __restrict held = running.held;
  T* __restrict most = running.most;
  i64* __restrict best = running.best;
  for (Size c = 0; c < width; ++c) {
    const T x = v[c], h = held[c];
    const bool further = largest ? x > h : x < h;
    const bool equal = !further & !(largest ? x < h : x > h) & (h == h);  // or x is a NaN
    const bool takes = further | (equal & (x != x));
    const T joined = extreme_of(largest, most[c], x);
    most[c] = further ? x : equal ? joined : most[c];
    held[c] = takes ? x : h;
    best[c] = takes ? row : best[c];
    value[c] = most[c];
    place[c] = best[c];
  }
}

template <class T>
void extreme_columns(bool largest, const Tensor& x, Tensor& values, Tensor& indices, const Split& s, DType as) {
  const Reader in(x, x.layout(), as);
  const Writer out(values, values.layout(), as), places(indices, indices.layout(), DType::i64);
  for_each_column_block(s, [&](Size begin, Size end, Size blocks, Size widest) {
    const Scratch<T> room(4 * widest);
    const Scratch<i64> numbers(2 * widest);
    const Running<T> running{room.data() + 2 * widest, room.data() + 3 * widest, numbers.data() + widest};
    for (Size unit = begin; unit < end; ++unit) {
      const Size c = unit % blocks * widest, width = least(widest, s.inner - c);
      for (Size r = 0; r < s.n; ++r) {
        const Size at = (unit / blocks * s.n + r) * s.inner + c;
        const T* v = in.read<T>(at, width, room.data());
        T* value = out.place<T>(at, room.data() + widest);
        i64* place = places.place<i64>(at, numbers.data());
        if (r == 0) {
          std::copy_n(v, width, running.held);
          std::copy_n(v, width, running.most);
          std::fill_n(running.best, width, 0);
        }
        largest ? extreme_row<T, true>(v, r, width, running, value, place) : extreme_row<T, false>(v, r, width, running, value, place);
        out.write(at, width, value);
        places.write(at, width, place);
      }
    }
    out.finish();
    places.finish();
  });
}

template <class T>
void scan_extreme_as(const ScanExtreme& op, const Tensor& x, Tensor& values, Tensor& indices, DType as) {
  if (const Split split(x, op.axis); split.by_columns(x, op.axis)) return extreme_columns<T>(op.largest, x, values, indices, split, as);
  const Size n = x.shape()[op.axis], lines = x.count() / n;
  const Reader in(x, with_axis_last(x.layout(), op.axis), as);
  const Writer out(values, with_axis_last(values.layout(), op.axis), as),
      places(indices, with_axis_last(indices.layout(), op.axis), DType::i64);
  parallel_for(lines, n < 8192 ? 8192 / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room(2 * n);
    const Scratch<i64> numbers(n);
    for (Size l = begin; l < end; ++l) {
      const T* v = in.read<T>(l * n, n, room.data());
      T* value = out.place<T>(l * n, room.data() + n);
      i64* place = places.place<i64>(l * n, numbers.data());
      Size best = 0;
      T held = v[0], most = v[0];  // the element at `best`, and the extreme, which may be a zero of another sign
      for (Size i = 0; i < n; ++i) {
        if (op.largest ? v[i] > held : v[i] < held) {
          best = i;
          held = most = v[i];
        } else if (!(op.largest ? v[i] < held : v[i] > held) && held == held) {  // equal, or a NaN
          if (v[i] != v[i]) {
            best = i;
            held = v[i];
          }
          most = extreme_of(op.largest, most, v[i]);
        }
        value[i] = most;
        place[i] = best;
      }
      out.write(l * n, n, value);
      places.write(l * n, n, place);
    }
    out.finish();
    places.finish();
  });
}

void scan_extreme(const ScanExtreme& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  const DType as = exact_compute(x.dtype());
  switch (as) {
    case DType::f32: return scan_extreme_as<f32>(op, x, values, indices, as);
    case DType::f64: return scan_extreme_as<f64>(op, x, values, indices, as);
    case DType::i64: return scan_extreme_as<i64>(op, x, values, indices, as);
    default: return scan_extreme_as<u64>(op, x, values, indices, as);
  }
}

VOTIVE_SCALAR f32 multiply_add(f32 a, f32 b, f32 c) { return numerics::fma_f32(a, b, c); }
VOTIVE_SCALAR f64 multiply_add(f64 a, f64 b, f64 c) { return numerics::fma_f64(a, b, c); }

/// y = a · (the row before it) + b, side by side.
template <class T>
void recurrence_columns(const Tensor& a, const Tensor& b, Tensor& y, const Split& s, DType as) {
  const Reader factors(a, a.layout(), as), in(b, b.layout(), as);
  const Writer out(y, y.layout(), as);
  for_each_column_block(s, [&](Size begin, Size end, Size blocks, Size widest) {
    const Scratch<T> room(4 * widest);
    T* last = room.data() + 3 * widest;
    for (Size unit = begin; unit < end; ++unit) {
      const Size c = unit % blocks * widest, width = least(widest, s.inner - c);
      for (Size r = 0; r < s.n; ++r) {
        const Size at = (unit / blocks * s.n + r) * s.inner + c;
        const T* __restrict factor = factors.read<T>(at, width, room.data());
        const T* __restrict added = in.read<T>(at, width, room.data() + widest);
        T* __restrict place = out.place<T>(at, room.data() + 2 * widest);
        T* __restrict held = last;
        if (r == 0) {
          for (Size i = 0; i < width; ++i) place[i] = held[i] = added[i];
        } else {
          for (Size i = 0; i < width; ++i) place[i] = held[i] = multiply_add(factor[i], held[i], added[i]);
        }
        out.write(at, width, place);
      }
    }
    out.finish();
  });
}

template <class T>
void recurrence_as(const Recurrence& op, const Tensor& a, const Tensor& b, Tensor& y, DType as) {
  if (const Split split(b, op.axis); split.by_columns(b, op.axis)) return recurrence_columns<T>(a, b, y, split, as);
  const Reader factors(a, with_axis_last(a.layout(), op.axis), as);
  const Size n = b.shape()[op.axis], lines = b.count() / n;
  const Reader in(b, with_axis_last(b.layout(), op.axis), as);
  const Writer out(y, with_axis_last(y.layout(), op.axis), as);
  parallel_for(lines, n < 8192 ? 8192 / n : 1, [&](Size begin, Size end) {
    const Scratch<T> room(3 * n);
    for (Size l = begin; l < end; ++l) {
      const T* factor = factors.read<T>(l * n, n, room.data());
      const T* added = in.read<T>(l * n, n, room.data() + n);
      T* place = out.place<T>(l * n, room.data() + 2 * n);
      T last = place[0] = added[0];
      for (Size i = 1; i < n; ++i) place[i] = last = multiply_add(factor[i], last, added[i]);
      out.write(l * n, n, place);
    }
    out.finish();
  });
}

void linear_recurrence(const Recurrence& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  if (b.dtype() == DType::f64) return recurrence_as<f64>(op, a, b, y, DType::f64);
  recurrence_as<f32>(op, a, b, y, DType::f32);
}

}  // namespace

void register_scan(Kernels& kernels) {
  kernels.add<Scan>(Device::cpu, scan);
  kernels.add<ScanExtreme>(Device::cpu, scan_extreme);
  kernels.add<Recurrence>(Device::cpu, linear_recurrence);
}

}  // namespace votive::cpu::VOTIVE_ISA
