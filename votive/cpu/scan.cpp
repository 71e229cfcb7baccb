// Scans on the CPU: a thread takes whole lines along the axis. Offsets of the canonical scan (CONTRACT.md 3.4) come from a binary counter of finished subtrees,
// which is Blelloch's down-sweep read from the top: for every set bit of a block's number, from the highest, the sum of the left subtree it passes.
#include "votive/ops/scan.h"

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/rows.h"
#include "votive/numerics/math.h"
#include "votive/numerics/power.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size block_elements = 16, chunk_elements = tree_chunk;

/// Sums of 2^i consecutive parts where bit i of the count is set.
template <class T, class Join>
class Before {
 public:
  T join_all() const {
    T offset = Join::identity();
    for (int level = top_ - 1; level >= 0; --level) {
      if ((count_ >> level & 1) != 0) offset = Join::join(offset, subtree_[level]);
    }
    return offset;
  }
  void push(T value) {
    int level = 0;
    for (; (count_ >> level & 1) != 0; ++level) value = Join::join(subtree_[level], value);
    subtree_[level] = value;
    ++count_;
    if (level + 1 > top_) top_ = level + 1;
  }
  /// The root: what is absent on the right changes nothing.
  T total() const {
    int level = 0;
    while ((count_ >> level & 1) == 0) ++level;
    T value = subtree_[level];
    for (++level; level < top_; ++level) {
      if ((count_ >> level & 1) != 0) value = Join::join(subtree_[level], value);
    }
    return value;
  }

 private:
  Size count_ = 0;
  int top_ = 0;
  T subtree_[60];
};

template <class T, class Join>
void canonical_scan(const T* __restrict x, T* __restrict y, Size n) {
  Before<T, Join> chunks;
  for (Size chunk = 0; chunk < n; chunk += chunk_elements) {
    const Size chunk_end = n - chunk < chunk_elements ? n : chunk + chunk_elements;
    const T chunk_offset = chunks.join_all();
    Before<T, Join> blocks;
    for (Size block = chunk; block < chunk_end; block += block_elements) {
      const Size end = chunk_end - block < block_elements ? chunk_end : block + block_elements;
      T local = x[block];
      y[block] = local;
      for (Size i = block + 1; i < end; ++i) y[i] = local = Join::join(local, x[i]);
      const T offset = Join::join(chunk_offset, blocks.join_all());
      for (Size i = block; i < end; ++i) y[i] = Join::join(offset, y[i]);
      blocks.push(local);
    }
    chunks.push(blocks.total());
  }
}

VOTIVE_SCALAR f32 log_add(f32 a, f32 b) { return numerics::logaddexp_f32(a, b); }
VOTIVE_SCALAR f64 log_add(f64 a, f64 b) { return numerics::logaddexp_f64(a, b); }

template <class T>
void log_scan(const T* x, T* y, Size n) {
  T sum = x[0];
  y[0] = sum;
  for (Size i = 1; i < n; ++i) y[i] = sum = log_add(sum, x[i]);
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

template <class T>
void scan_as(const Scan& op, const Tensor& x, Tensor& y, DType as) {
  if (op.kind == ScanKind::sum) return for_each_line<T>(x, y, op.axis, as, canonical_scan<T, Sum<T>>);
  if (op.kind == ScanKind::prod) return for_each_line<T>(x, y, op.axis, as, canonical_scan<T, Product<T>>);
  if constexpr (std::is_floating_point_v<T>) for_each_line<T>(x, y, op.axis, as, log_scan<T>);
}

void scan(const Scan& op, const Tensor& x, Tensor& y, Stream&) {
  const DType as = exact_compute(x.dtype());
  if (as == DType::f32) return scan_as<f32>(op, x, y, as);
  if (as == DType::f64) return scan_as<f64>(op, x, y, as);
  scan_as<u64>(op, x, y, as);  // modulo 2⁶⁴, the same signed and unsigned
}

template <class T>
T extreme_of(bool largest, T a, T b) {
  return largest ? Greatest<T>::join(a, b) : Least<T>::join(a, b);
}

template <class T>
void scan_extreme_as(const ScanExtreme& op, const Tensor& x, Tensor& values, Tensor& indices, DType as) {
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

template <class T>
void recurrence_as(const Recurrence& op, const Tensor& a, const Tensor& b, Tensor& y, DType as) {
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
