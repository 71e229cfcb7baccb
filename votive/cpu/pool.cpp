// Pooling on the CPU: a row of outputs at a time, tap by tap along the row, so that windows of any kernel run in vectors; irregular windows one by one. Planes
// that do not lie dense in the type that is computed are converted first. Sums keep the canonical tree whatever the row's length.
#include "votive/ops/pool.h"

#include <limits>

#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/tree.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }
constexpr Size columns_at_once = 128;

template <class T>
constexpr DType dtype_of = std::is_same_v<T, f64>   ? DType::f64
                           : std::is_same_v<T, f32> ? DType::f32
                           : std::is_same_v<T, i64> ? DType::i64
                                                    : DType::u64;

struct Plan {
  Bins bins;
  Windows w;  // along three axes
  Spatial in;
  Size plane, windows, planes, rows;  // rows of windows in a plane

  Plan(const Bins& b, const Shape& x)
      : bins(b),
        w(b.windows.in_three()),
        in(spatial_of(x, b.windows.axes)),
        plane(in[0] * in[1] * in[2]),
        windows(w.count()),
        planes(x[0] * x[1]),
        rows(w.size[0] * w.size[1]) {}

  Bins::Range range(std::size_t i, Size o) const { return bins.range(w, i, o, in[i]); }
};

/// Outputs begin … end of tap t of a row lie inside the last axis; output 0 reads `first`.
struct Inside {
  Size begin, end, first;
  Inside(const Plan& p, Size tap) : first(tap * p.w.dilation[2] - p.w.before[2]) {
    const Size s = p.w.stride[2], n = p.w.size[2];
    begin = first >= 0 ? 0 : least(n, (-first + s - 1) / s);
    end = first >= p.in[2] ? begin : most(begin, least(n, (p.in[2] - 1 - first) / s + 1));
  }
};

/// Planes of x as T: where they lie when they are dense, else converted into room of the thread's own, the last one kept.
template <class T>
class Planes {
 public:
  Planes(const Tensor& x, Size plane) : read_(x, x.layout(), dtype_of<T>), dense_(read_.template dense<T>()), plane_(plane) {}

  class Own {
   public:
    explicit Own(const Planes& all) : all_(all), room_(all.dense_ != nullptr ? 0 : all.plane_) {}
    const T* at(Size p) {
      if (all_.dense_ != nullptr) return all_.dense_ + p * all_.plane_;
      if (p != held_) values_ = all_.read_.template read<T>(p * all_.plane_, all_.plane_, room_.data());
      held_ = p;
      return values_;
    }

   private:
    const Planes& all_;
    Scratch<T> room_;
    const T* values_ = nullptr;
    Size held_ = -1;
  };

 private:
  Reader read_;
  const T* dense_;
  Size plane_;
};

/// Units of work: rows of windows where planes lie as they are, so that one large plane has work for all.
Size row_grain(const Plan& p, Size taps) { return most(1, 16384 / most(1, p.w.size[2] * taps)); }

// ---- the largest ----

template <class T>
T larger(T a, T b) {
  return Greatest<T>::join(a, b);
}

/// Whether b takes the place of a.
template <class T>
bool better(T a, T b) {
  return (b > a) | ((b != b) & (a == a));
}

/// One tap along a row of outputs: the value, and which tap it came from (−1: none so far).
template <class T>
void take_tap(const T* __restrict x, Size stride, i32 tap, T* __restrict best, i32* __restrict from, Size n) {
  for (Size j = 0; j < n; ++j) {
    const T v = x[j * stride];
    const bool takes = (from[j] < 0) | better(best[j], v);
    best[j] = from[j] < 0 ? v : larger(best[j], v);
    from[j] = takes ? tap : from[j];
  }
}

template <class T>
void max_row(const Plan& p, const T* plane, Size o0, Size o1, T* best, i32* from, i64* indices) {
  const Size n = p.w.size[2];
  const auto a = p.range(0, o0), b = p.range(1, o1);
  for (Size j = 0; j < n; ++j) {
    best[j] = T{0};
    from[j] = -1;
  }
  i32 tap = 0;
  for (Size t0 = 0; t0 < a.count; ++t0) {
    const Size i0 = a.first + t0 * a.step;
    for (Size t1 = 0; t1 < b.count; ++t1) {
      const Size i1 = b.first + t1 * b.step;
      if (i0 < 0 || i0 >= p.in[0] || i1 < 0 || i1 >= p.in[1]) {
        tap += static_cast<i32>(p.w.kernel[2]);
        continue;
      }
      const T* row = plane + (i0 * p.in[1] + i1) * p.in[2];
      for (Size t2 = 0; t2 < p.w.kernel[2]; ++t2, ++tap) {
        const Inside in(p, t2);
        const Size s = p.w.stride[2];
        const T* at = row + in.first + in.begin * s;
        const Size count = in.end - in.begin;
        if (s == 1) {
          take_tap(at, 1, tap, best + in.begin, from + in.begin, count);
        } else if (s == 2) {
          take_tap(at, 2, tap, best + in.begin, from + in.begin, count);
        } else {
          take_tap(at, s, tap, best + in.begin, from + in.begin, count);
        }
      }
    }
  }
  const Size k2 = p.w.kernel[2];
  for (Size j = 0; j < n; ++j) {
    const Size t = from[j];
    const Size i0 = a.first + t / (k2 * b.count) * a.step, i1 = b.first + t / k2 % b.count * b.step;
    indices[j] = (i0 * p.in[1] + i1) * p.in[2] + j * p.w.stride[2] - p.w.before[2] + t % k2 * p.w.dilation[2];
  }
}

/// A window of any kind.
template <class T>
void max_window(const Plan& p, const T* plane, Size o0, Size o1, Size o2, T& value, i64& index) {
  const Bins::Range r[3] = {p.range(0, o0), p.range(1, o1), p.range(2, o2)};
  index = -1;
  T best{};
  for (Size t0 = 0; t0 < r[0].count; ++t0) {
    for (Size t1 = 0; t1 < r[1].count; ++t1) {
      const Size i0 = r[0].first + t0 * r[0].step, i1 = r[1].first + t1 * r[1].step;
      if (i0 < 0 || i0 >= p.in[0] || i1 < 0 || i1 >= p.in[1]) continue;
      for (Size t2 = 0; t2 < r[2].count; ++t2) {
        const Size i2 = r[2].first + t2 * r[2].step;
        if (i2 < 0 || i2 >= p.in[2]) continue;
        const Size place = (i0 * p.in[1] + i1) * p.in[2] + i2;
        const T v = plane[place];
        if (index < 0 || better(best, v)) {
          best = index < 0 ? v : larger(best, v);
          index = place;
        } else {
          best = larger(best, v);
        }
      }
    }
  }
  value = best;
}

template <class T>
void max_pool_as(const MaxPool& op, const Tensor& x, Tensor& values, Tensor& indices) {
  const Plan p(op.bins, x.shape());
  const Planes<T> planes(x, p.plane);
  const Writer write(values, values.layout(), dtype_of<T>);
  i64* places = data<i64>(indices);
  const Size n = p.w.size[2];
  const bool by_rows = !op.bins.adaptive && n >= 4 && p.w.taps() < std::numeric_limits<i32>::max();
  parallel_for(p.planes * p.rows, row_grain(p, p.bins.adaptive ? p.plane / p.windows + 1 : p.w.taps()), [&](Size begin, Size end) {
    typename Planes<T>::Own own(planes);
    const Scratch<T> room(n);
    const Scratch<i32> taps(n);
    for (Size i = begin; i < end; ++i) {
      const T* plane = own.at(i / p.rows);
      const Size o0 = i % p.rows / p.w.size[1], o1 = i % p.w.size[1];
      T* best = write.template place<T>(i * n, room.data());
      if (by_rows) {
        max_row(p, plane, o0, o1, best, taps.data(), places + i * n);
      } else {
        for (Size o2 = 0; o2 < n; ++o2) max_window(p, plane, o0, o1, o2, best[o2], places[i * n + o2]);
      }
      write.write(i * n, n, best);
    }
    write.finish();
  });
}

void max_pool(const MaxPool& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  if (x.dtype() == DType::f64) return max_pool_as<f64>(op, x, values, indices);
  if (is_floating(x.dtype())) return max_pool_as<f32>(op, x, values, indices);
  if (is_unsigned_integer(x.dtype())) return max_pool_as<u64>(op, x, values, indices);
  max_pool_as<i64>(op, x, values, indices);
}

// ---- back to their places ----

template <class T>
void sum_into_planes(const Tensor& x, const i64* places, Tensor& y, Size planes, Size windows, Size plane) {
  const Reader read(x, x.layout(), dtype_of<T>);
  const Writer write(y, y.layout(), dtype_of<T>);
  parallel_for(planes, most(1, 16384 / most(1, plane)), [&](Size begin, Size end) {
    const Scratch<T> room(windows), sums(plane);
    for (Size p = begin; p < end; ++p) {
      const T* from = read.template read<T>(p * windows, windows, room.data());
      T* sum = write.template place<T>(p * plane, sums.data());
      for (Size i = 0; i < plane; ++i) sum[i] = 0;
      for (Size i = 0; i < windows; ++i) sum[places[p * windows + i]] += from[i];
      write.write(p * plane, plane, sum);
    }
    write.finish();
  });
}

template <class Word>
void put_into_planes(const Tensor& x, const i64* places, Tensor& y, Size planes, Size windows, Size plane) {
  const Reader read(x, x.layout(), x.dtype());
  Word* to = data<Word>(y);
  parallel_for(planes, most(1, 16384 / most(1, plane)), [&](Size begin, Size end) {
    const Scratch<Word> room(windows);
    for (Size p = begin; p < end; ++p) {
      const Word* from = read.template read<Word>(p * windows, windows, room.data());
      for (Size i = 0; i < plane; ++i) to[p * plane + i] = 0;
      for (Size i = 0; i < windows; ++i) to[p * plane + places[p * windows + i]] = from[i];
    }
  });
}

void max_unpool(const MaxUnpool& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Spatial size = spatial_of(y.shape(), op.axes);
  const Size plane = size[0] * size[1] * size[2], planes = x.shape()[0] * x.shape()[1], windows = x.count() / planes;
  const Scratch<i64> room(indices.count());
  const i64* places = Reader(indices, indices.layout(), DType::i64).read<i64>(0, indices.count(), room.data());
  for (Size i = 0; i < indices.count(); ++i) {
    if (places[i] < 0 || places[i] >= plane) throw unpool_index_error(indices, i, places[i], plane);
  }
  if (op.sums) {
    if (y.dtype() == DType::f64) return sum_into_planes<f64>(x, places, y, planes, windows, plane);
    return sum_into_planes<f32>(x, places, y, planes, windows, plane);
  }
  switch (block_bytes(y.dtype())) {
    case 1: return put_into_planes<u8>(x, places, y, planes, windows, plane);
    case 2: return put_into_planes<u16>(x, places, y, planes, windows, plane);
    case 4: return put_into_planes<u32>(x, places, y, planes, windows, plane);
    default: return put_into_planes<u64>(x, places, y, planes, windows, plane);
  }
}

// ---- averages ----

/// Divisors as products of a number per axis, those of the last axis from a table.
class Divisors {
 public:
  Divisors(const AveragePool& op, const Plan& p) : op_(op), p_(p), last_(p.w.size[2]) {
    for (Size o2 = 0; o2 < p.w.size[2]; ++o2) last_[o2] = op.divisor != 0 ? op.divisor : counted(2, o2);
  }
  /// For a row of windows, to be multiplied with those of its elements.
  Size row(Size o0, Size o1) const { return op_.divisor != 0 ? 1 : counted(0, o0) * counted(1, o1); }
  const Size* last() const { return last_.data(); }

 private:
  Size counted(std::size_t i, Size o) const { return op_.counted(p_.range(i, o), i, p_.in[i]); }
  const AveragePool& op_;
  const Plan& p_;
  Scratch<Size> last_;
};

/// Sums of outputs begin … begin + n of a row: a tree for each, fed tap by tap.
template <class T>
void sum_columns(const Plan& p, const T* plane, Size o0, Size o1, Size begin, Size n, T* memory, T* result) {
  alignas(64) T column[columns_at_once];
  TreeColumns<T, Sum<T>> tree(memory, n);
  const auto a = p.range(0, o0), b = p.range(1, o1);
  const Size s = p.w.stride[2];
  for (Size t0 = 0; t0 < a.count; ++t0) {
    const Size i0 = a.first + t0;
    for (Size t1 = 0; t1 < b.count; ++t1) {
      const Size i1 = b.first + t1;
      const bool inside = i0 >= 0 && i0 < p.in[0] && i1 >= 0 && i1 < p.in[1];
      const T* row = plane + (i0 * p.in[1] + i1) * p.in[2];
      for (Size t2 = 0; t2 < p.w.kernel[2]; ++t2) {
        const Inside in(p, t2);
        const Size from = !inside ? n : least(n, most(0, in.begin - begin)), to = !inside ? n : most(from, least(n, in.end - begin));
        const T* at = row + in.first + begin * s;
        if (from == 0 && to == n && s == 1) {
          tree.push(at);
          continue;
        }
        for (Size j = 0; j < from; ++j) column[j] = static_cast<T>(-0.0);
        if (s == 2) {
          for (Size j = from; j < to; ++j) column[j] = at[2 * j];
        } else {
          for (Size j = from; j < to; ++j) column[j] = at[j * s];
        }
        for (Size j = to; j < n; ++j) column[j] = static_cast<T>(-0.0);
        tree.push(column);
      }
    }
  }
  tree.fold(result);
}

template <class T>
T sum_window(const Plan& p, const T* plane, Size o0, Size o1, Size o2, T* window) {
  const Bins::Range r[3] = {p.range(0, o0), p.range(1, o1), p.range(2, o2)};
  T* at = window;
  for (Size t0 = 0; t0 < r[0].count; ++t0) {
    for (Size t1 = 0; t1 < r[1].count; ++t1) {
      const Size i0 = r[0].first + t0, i1 = r[1].first + t1;
      const bool inside = i0 >= 0 && i0 < p.in[0] && i1 >= 0 && i1 < p.in[1];
      const T* row = plane + (i0 * p.in[1] + i1) * p.in[2];
      for (Size t2 = 0; t2 < r[2].count; ++t2) {
        const Size i2 = r[2].first + t2;
        *at++ = inside && i2 >= 0 && i2 < p.in[2] ? row[i2] : static_cast<T>(-0.0);
      }
    }
  }
  return tree_sum(window, at - window);
}

Size largest_window(const Plan& p) {
  if (!p.bins.adaptive) return p.w.taps();
  Size n = 1;
  for (std::size_t i = 0; i < 3; ++i) n *= p.in[i] / p.w.size[i] + 2;
  return n;
}

template <class T>
void avg_pool_as(const AveragePool& op, const Tensor& x, Tensor& y) {
  const Plan p(op.bins, x.shape());
  const Planes<T> planes(x, p.plane);
  const Divisors divisors(op, p);
  const Writer write(y, y.layout(), dtype_of<T>);
  const Size n = p.w.size[2], longest = largest_window(p);
  const bool by_columns = !op.bins.adaptive && n >= 8 && p.w.taps() <= tree_chunk;
  parallel_for(p.planes * p.rows, row_grain(p, longest), [&](Size begin, Size end) {
    typename Planes<T>::Own own(planes);
    const Scratch<T> room(n), memory(by_columns ? TreeColumns<T, Sum<T>>::rows_of_memory * columns_at_once : longest);
    for (Size i = begin; i < end; ++i) {
      const T* plane = own.at(i / p.rows);
      const Size o0 = i % p.rows / p.w.size[1], o1 = i % p.w.size[1];
      T* sums = write.template place<T>(i * n, room.data());
      if (by_columns) {
        for (Size at = 0; at < n; at += columns_at_once)
          sum_columns(p, plane, o0, o1, at, least(columns_at_once, n - at), memory.data(), sums + at);
      } else {
        for (Size o2 = 0; o2 < n; ++o2) sums[o2] = sum_window(p, plane, o0, o1, o2, memory.data());
      }
      const Size outer = divisors.row(o0, o1);
      for (Size o2 = 0; o2 < n; ++o2) sums[o2] /= static_cast<T>(outer * divisors.last()[o2]);
      write.write(i * n, n, sums);
    }
    write.finish();
  });
}

void avg_pool(const AveragePool& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return avg_pool_as<f64>(op, x, y);
  avg_pool_as<f32>(op, x, y);
}

template <class T>
void avg_spread_as(const AverageSpread& op, const Tensor& x, Tensor& y) {
  const Plan p(op.pool.bins, y.shape());
  const Reader read(x, x.layout(), dtype_of<T>);
  const Writer write(y, y.layout(), dtype_of<T>);
  const Divisors divisors(op.pool, p);
  parallel_for(p.planes, most(1, 16384 / most(1, p.plane)), [&](Size begin, Size end) {
    const Scratch<T> room(p.windows), sums(p.plane);
    for (Size plane = begin; plane < end; ++plane) {
      const T* from = read.template read<T>(plane * p.windows, p.windows, room.data());
      T* sum = write.template place<T>(plane * p.plane, sums.data());
      for (Size i = 0; i < p.plane; ++i) sum[i] = 0;
      for (Size o = 0; o < p.windows; ++o) {
        const Size o0 = o / (p.w.size[1] * p.w.size[2]), o1 = o / p.w.size[2] % p.w.size[1], o2 = o % p.w.size[2];
        const T share = from[o] / static_cast<T>(divisors.row(o0, o1) * divisors.last()[o2]);
        const Bins::Range a = p.range(0, o0), b = p.range(1, o1), c = p.range(2, o2);
        const Size first = most(0, c.first), last = least(p.in[2], c.first + c.count);
        for (Size i0 = most(0, a.first); i0 < least(p.in[0], a.first + a.count); ++i0) {
          for (Size i1 = most(0, b.first); i1 < least(p.in[1], b.first + b.count); ++i1) {
            T* row = sum + (i0 * p.in[1] + i1) * p.in[2];
            for (Size i2 = first; i2 < last; ++i2) row[i2] += share;
          }
        }
      }
      write.write(plane * p.plane, p.plane, sum);
    }
    write.finish();
  });
}

void avg_spread(const AverageSpread& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.dtype() == DType::f64) return avg_spread_as<f64>(op, x, y);
  avg_spread_as<f32>(op, x, y);
}

}  // namespace

void register_pool(Kernels& kernels) {
  kernels.add<MaxPool>(Device::cpu, max_pool);
  kernels.add<MaxUnpool>(Device::cpu, max_unpool);
  kernels.add<AveragePool>(Device::cpu, avg_pool);
  kernels.add<AverageSpread>(Device::cpu, avg_spread);
}

}  // namespace votive::cpu::VOTIVE_ISA
