// Pooling straight from the contract: the elements of each window are collected in row-major order of its positions, then reduced.
#include "votive/ops/pool.h"

#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"
#include "votive/reference/windows.h"

namespace votive::reference {

using namespace numerics;

namespace {

/// The places in a plane that window o holds, −1 for padding, in order.
std::vector<Size> places(const Bins& bins, const Spatial& in, const Spatial& o) {
  const Windows w = bins.windows.in_three();
  Bins::Range range[3];
  for (std::size_t i = 0; i < 3; ++i) range[i] = bins.range(w, i, o[i], in[i]);
  std::vector<Size> all;
  for_each({range[0].count, range[1].count, range[2].count}, [&](const Spatial& t) {
    Size place = 0;
    bool inside = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const Size at = range[i].first + t[i] * range[i].step;
      inside = inside && at >= 0 && at < in[i];
      place = place * in[i] + at;
    }
    all.push_back(inside ? place : -1);
  });
  return all;
}

Size divisor_of(const AveragePool& op, const Spatial& in, const Spatial& o) {
  if (op.divisor != 0) return op.divisor;
  const Windows w = op.bins.windows.in_three();
  Size n = 1;
  for (std::size_t i = 0; i < 3; ++i) n *= op.counted(op.bins.range(w, i, o[i], in[i]), i, in[i]);
  return n;
}

f32 largest(f32 a, f32 b) { return maximum_f32(a, b); }
f64 largest(f64 a, f64 b) { return maximum_f64(a, b); }
i64 largest(i64 a, i64 b) { return a > b ? a : b; }
u64 largest(u64 a, u64 b) { return a > b ? a : b; }

template <class T>
std::vector<T> largest_of(const MaxPool& op, const Spatial& in, const std::vector<T>& x, Size planes, std::vector<i64>& indices) {
  std::vector<T> values;
  const Size plane = in[0] * in[1] * in[2];
  for (Size p = 0; p < planes; ++p) {
    for_each(op.bins.windows.in_three().size, [&](const Spatial& o) {
      Size best = -1;
      T value{};
      for (const Size place : places(op.bins, in, o)) {
        if (place < 0) continue;
        const T v = x[static_cast<std::size_t>(p * plane + place)];
        const T so_far = best < 0 ? v : x[static_cast<std::size_t>(p * plane + best)];
        if (best < 0 || v > so_far || (v != v && so_far == so_far)) {
          value = best < 0 ? v : largest(value, v);
          best = place;
        } else {
          value = largest(value, v);
        }
      }
      values.push_back(value);
      indices.push_back(best);
    });
  }
  return values;
}

f32 tree(const std::vector<f32>& x) { return tree_sum_f32(x.data(), static_cast<i64>(x.size()), 1); }
f64 tree(const std::vector<f64>& x) { return tree_sum_f64(x.data(), static_cast<i64>(x.size()), 1); }

template <class T>
std::vector<T> averages(const AveragePool& op, const Spatial& in, const std::vector<T>& x, Size planes) {
  std::vector<T> y;
  for (Size p = 0; p < planes; ++p) {
    for_each(op.bins.windows.in_three().size, [&](const Spatial& o) {
      std::vector<T> window;
      for (const Size place : places(op.bins, in, o))
        window.push_back(place < 0 ? T{-0.0} : x[static_cast<std::size_t>(p * in[0] * in[1] * in[2] + place)]);
      y.push_back(tree(window) / static_cast<T>(divisor_of(op, in, o)));
    });
  }
  return y;
}

template <class T>
std::vector<T> spread(const AveragePool& op, const Spatial& in, const std::vector<T>& x, Size planes) {
  const Size plane = in[0] * in[1] * in[2];
  std::vector<T> y(static_cast<std::size_t>(planes * plane), T{0});
  std::size_t next = 0;
  for (Size p = 0; p < planes; ++p) {
    for_each(op.bins.windows.in_three().size, [&](const Spatial& o) {
      const T share = x[next++] / static_cast<T>(divisor_of(op, in, o));
      for (const Size place : places(op.bins, in, o)) {
        if (place >= 0) y[static_cast<std::size_t>(p * plane + place)] += share;
      }
    });
  }
  return y;
}

template <class T>
std::vector<T> unpooled_sums(const std::vector<T>& x, const std::vector<i64>& indices, Size windows, Size plane, Size count) {
  std::vector<T> y(static_cast<std::size_t>(count), T{0});
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i / static_cast<std::size_t>(windows) * static_cast<std::size_t>(plane) + static_cast<std::size_t>(indices[i])] += x[i];
  return y;
}

}  // namespace

void max_pool(const MaxPool& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  const Spatial in = spatial_of(x.shape(), op.bins.windows.axes);
  const Size planes = x.shape()[0] * x.shape()[1];
  std::vector<i64> where;
  if (x.dtype() == DType::f64) {
    write_f64(values, largest_of(op, in, read_f64(x), planes, where));
  } else if (is_floating(x.dtype())) {
    write_f32(values, largest_of(op, in, read_f32(x), planes, where));
  } else if (is_unsigned_integer(x.dtype())) {
    write_u64(values, largest_of(op, in, read_u64(x), planes, where));
  } else {
    write_i64(values, largest_of(op, in, read_i64(x), planes, where));
  }
  write_i64(indices, where);
}

void max_unpool(const MaxUnpool& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Spatial size = spatial_of(y.shape(), op.axes);
  const Size plane = size[0] * size[1] * size[2], windows = x.count() / (x.shape()[0] * x.shape()[1]);
  const std::vector<i64> places = read_i64(indices);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0 && places[i] < plane) continue;
    throw unpool_index_error(indices, static_cast<Size>(i), places[i], plane);
  }
  if (op.sums) {
    if (y.dtype() == DType::f64) return write_f64(y, unpooled_sums(read_f64(x), places, windows, plane, y.count()));
    return write_f32(y, unpooled_sums(read_f32(x), places, windows, plane, y.count()));
  }
  const std::vector<u64> from = read_bits(x);
  std::vector<u64> to(static_cast<std::size_t>(y.count()), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    to[i / static_cast<std::size_t>(windows) * static_cast<std::size_t>(plane) + static_cast<std::size_t>(places[i])] = from[i];
  write_bits(y, to);
}

void avg_pool(const AveragePool& op, const Tensor& x, Tensor& y, Stream&) {
  const Spatial in = spatial_of(x.shape(), op.bins.windows.axes);
  const Size planes = x.shape()[0] * x.shape()[1];
  if (x.dtype() == DType::f64) return write_f64(y, averages(op, in, read_f64(x), planes));
  write_f32(y, averages(op, in, read_f32(x), planes));
}

void avg_spread(const AverageSpread& op, const Tensor& x, Tensor& y, Stream&) {
  const Spatial in = spatial_of(y.shape(), op.pool.bins.windows.axes);
  const Size planes = x.shape()[0] * x.shape()[1];
  if (x.dtype() == DType::f64) return write_f64(y, spread(op.pool, in, read_f64(x), planes));
  write_f32(y, spread(op.pool, in, read_f32(x), planes));
}

}  // namespace votive::reference
