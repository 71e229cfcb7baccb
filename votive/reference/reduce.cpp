// Reductions straight from CONTRACT.md 3: elements numbered row-major over the reduced axes, floats through the canonical tree.
#include "votive/numerics/reduce.h"

#include <algorithm>
#include <limits>

#include "votive/numerics/convert.h"
#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/reference/element.h"
#include "votive/reference/folds.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

/// For every output, in row-major order, the numbers of its inputs in row-major order over the reduced axes.
std::vector<std::vector<std::size_t>> groups_of(const Shape& shape, std::uint32_t axes, Size outputs) {
  std::vector<std::vector<std::size_t>> groups(static_cast<std::size_t>(outputs));
  const Size n = count(shape);
  for (Size i = 0; i < n; ++i) {
    Size rest = i, output = 0, step = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if ((axes >> axis & 1) == 0) {
        output += rest % shape[axis] * step;
        step *= shape[axis];
      }
      rest /= shape[axis];
    }
    groups[static_cast<std::size_t>(output)].push_back(static_cast<std::size_t>(i));
  }
  return groups;
}

/// reduce(the elements of a group) for each group.
template <class T, class Function>
auto over_groups(const std::vector<T>& x, const std::vector<std::vector<std::size_t>>& groups, Function function) {
  std::vector<decltype(function(x))> results;
  for (const auto& group : groups) {
    std::vector<T> elements;
    for (const std::size_t i : group) elements.push_back(x[i]);
    results.push_back(function(elements));
  }
  return results;
}

template <class T>
T extreme(ReduceKind kind, const std::vector<T>& x) {
  T result = x[0];
  for (const T v : x) result = kind == ReduceKind::min ? smallest(result, v) : largest(result, v);
  return result;
}

template <class T>
T float_reduction(ReduceKind kind, const std::vector<T>& x) {
  switch (kind) {
    case ReduceKind::sum: return total(x);
    case ReduceKind::mean: return total(x) / static_cast<T>(x.size());
    case ReduceKind::prod: return product(x);
    default: return extreme(kind, x);
  }
}

u64 integer_sum(const std::vector<u64>& x) {
  u64 sum = 0;
  for (const u64 v : x) sum += v;
  return sum;
}

u64 integer_product(const std::vector<u64>& x) {
  u64 product = 1;
  for (const u64 v : x) product *= v;
  return product;
}

__extension__ using i128 = __int128;

/// To the nearest f32, ties to even: 64 leading bits, the last of them a 1 if anything is lost, are rounded once.
f32 to_f32(i128 v) {
  const bool negative = v < 0;
  unsigned __int128 magnitude = static_cast<unsigned __int128>(negative ? -v : v);
  f32 scale = 1.0f;
  while (magnitude >> 64 != 0) {
    magnitude = magnitude >> 1 | (magnitude & 1);
    scale = scale * 2.0f;
  }
  const f32 value = u64_to_f32(static_cast<u64>(magnitude)) * scale;
  return negative ? -value : value;
}

/// Exact sum and count, each to f32, one division.
f32 integer_mean(bool is_signed, const std::vector<u64>& x) {
  i128 sum = 0;
  for (const u64 v : x) sum += is_signed ? static_cast<i128>(static_cast<i64>(v)) : static_cast<i128>(v);
  return to_f32(sum) / u64_to_f32(x.size());
}

f32 root_of(f32 x) { return sqrt_f32(x); }
f64 root_of(f64 x) { return sqrt_f64(x); }
f32 exp_of(f32 x) { return exp_f32(x); }
f64 exp_of(f64 x) { return exp_f64(x); }
f32 log_of(f32 x) { return log_f32(x); }
f64 log_of(f64 x) { return log_f64(x); }
f32 magnitude_of(f32 x) { return abs_f32(x); }
f64 magnitude_of(f64 x) { return abs_f64(x); }

/// s1 = T(x − m), s2 = T((x − m)²), (s2 − s1²/n)/(n − correction).
template <class T>
T variance(f64 correction, const std::vector<T>& x) {
  const T n = static_cast<T>(x.size());
  const f64 divisor = static_cast<f64>(x.size()) - correction;
  if (!(divisor > 0)) return static_cast<T>(nan_f32());
  const T m = total(x) / n;
  std::vector<T> deviations, squares;
  for (const T v : x) deviations.push_back(v - m);
  for (const T d : deviations) squares.push_back(d * d);
  const T s1 = total(deviations);
  return (total(squares) - s1 * s1 / n) / static_cast<T>(divisor);
}

template <class T>
T euclidean(const std::vector<T>& x) {
  T m = 0;
  for (const T v : x) m = largest(m, magnitude_of(v));
  if (m == 0 || m != m || m == static_cast<T>(infinity_f32())) return m;
  T up = 1;  // the largest power of two that is not above m, but a normal number
  while (up > m && up / 2 >= std::numeric_limits<T>::min()) up = up / 2;
  while (m / 2 >= up) up = up * 2;
  std::vector<T> squares;
  for (const T v : x) {
    const T scaled = v * (1 / up);
    squares.push_back(scaled * scaled);
  }
  return root_of(total(squares)) * up;
}

template <class T>
T log_sum_exp(const std::vector<T>& x) {
  T m = static_cast<T>(-infinity_f32());
  for (const T v : x) m = largest(m, v);
  if (!(magnitude_of(m) < static_cast<T>(infinity_f32()))) m = 0;
  std::vector<T> e;
  for (const T v : x) e.push_back(exp_of(v - m));
  return log_of(total(e)) + m;
}

template <class T>
T statistic_of(const Statistic& op, const std::vector<T>& x) {
  switch (op.kind) {
    case StatisticKind::var: return variance(op.correction, x);
    case StatisticKind::std: return root_of(variance(op.correction, x));
    case StatisticKind::norm: return euclidean(x);
    case StatisticKind::logsumexp: return log_sum_exp(x);
  }
  return 0;
}

}  // namespace

void reduce(const Reduce& op, const Tensor& x, Tensor& y, Stream&) {
  const auto groups = groups_of(x.shape(), op.axes, y.count());
  if (op.kind == ReduceKind::any || op.kind == ReduceKind::all) {
    return write_truth(y, over_groups(read_truth(x), groups, [&](const std::vector<u8>& e) -> u8 {
                         return op.kind == ReduceKind::any ? std::count(e.begin(), e.end(), 1) > 0 : std::count(e.begin(), e.end(), 0) == 0;
                       }));
  }
  if (x.dtype() == DType::f64)
    return write_f64(y, over_groups(read_f64(x), groups, [&](const auto& e) { return float_reduction(op.kind, e); }));
  if (is_floating(x.dtype()))
    return write_f32(y, over_groups(read_f32(x), groups, [&](const auto& e) { return float_reduction(op.kind, e); }));
  const bool is_signed = !is_unsigned_integer(x.dtype());  // bool counts in i64
  switch (op.kind) {
    case ReduceKind::sum: return write_u64(y, over_groups(read_u64(x), groups, integer_sum));
    case ReduceKind::prod: return write_u64(y, over_groups(read_u64(x), groups, integer_product));
    case ReduceKind::mean: return write_f32(y, over_groups(read_u64(x), groups, [&](const auto& e) { return integer_mean(is_signed, e); }));
    default: break;
  }
  if (is_signed) return write_i64(y, over_groups(read_i64(x), groups, [&](const auto& e) { return extreme(op.kind, e); }));
  write_u64(y, over_groups(read_u64(x), groups, [&](const auto& e) { return extreme(op.kind, e); }));
}

void statistic(const Statistic& op, const Tensor& x, Tensor& y, Stream&) {
  const auto groups = groups_of(x.shape(), op.axes, y.count());
  if (x.dtype() == DType::f64) return write_f64(y, over_groups(read_f64(x), groups, [&](const auto& e) { return statistic_of(op, e); }));
  write_f32(y, over_groups(read_f32(x), groups, [&](const auto& e) { return statistic_of(op, e); }));
}

namespace {

bool is_nan(f64 x) { return x != x; }
bool is_nan(i64) { return false; }
bool is_nan(u64) { return false; }

/// NaN beats every number and no NaN; numbers beat by < and >, so that −0 and +0 tie.
template <class T>
bool beats(bool largest_wins, T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && !is_nan(b);
  return largest_wins ? a > b : a < b;
}

template <class T>
std::vector<i64> extreme_positions(const ArgReduce& op, const Around& around, const std::vector<T>& x) {
  std::vector<i64> positions;
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      i64 best = 0;
      for (Size i = 1; i < around.n; ++i) {
        if (beats(op.largest, x[static_cast<std::size_t>(around.at(o, i, j))], x[static_cast<std::size_t>(around.at(o, best, j))]))
          best = i;
      }
      positions.push_back(best);
    }
  }
  return positions;
}

}  // namespace

void arg_reduce(const ArgReduce& op, const Tensor& x, Tensor& y, Stream&) {
  const Around around(x.shape(), op.axis);
  if (is_floating(x.dtype())) return write_i64(y, extreme_positions(op, around, read_f64(x)));
  if (x.dtype() == DType::u64) return write_i64(y, extreme_positions(op, around, read_u64(x)));
  write_i64(y, extreme_positions(op, around, read_i64(x)));
}

}  // namespace votive::reference
