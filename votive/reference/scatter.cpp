// Scatter straight from CONTRACT.md 5.3: for every element the list of its updates in ascending position, then one rule for the list.
#include "votive/ops/scatter.h"

#include "votive/numerics/pointwise.h"
#include "votive/numerics/reduce.h"
#include "votive/reference/folds.h"
#include "votive/reference/kernels.h"
#include "votive/reference/positions.h"

namespace votive::reference {

using namespace numerics;

namespace {

/// For each element of y, row-major, the numbers of its updates.
using Lists = std::vector<std::vector<std::size_t>>;

Lists updates_of(const Scatter& op, const Tensor& indices, const Tensor& source, const Tensor& y) {
  const std::vector<Size> positions = checked_positions(op.range(y.shape()[op.axis]), indices);
  const Strides step = contiguous_strides(y.shape());
  Lists lists(static_cast<std::size_t>(y.count()));
  Size inner = 1;  // elements of a slice of y
  for (int axis = op.axis + 1; axis < y.rank(); ++axis) inner *= y.shape()[axis];
  const Size K = indices.count(), n = y.shape()[op.axis];
  for (Size u = 0; u < source.count(); ++u) {
    Size target = 0;
    if (op.slices) {
      const Size outer = u / (K * inner), k = u / inner % K, w = u % inner;
      target = (outer * n + positions[static_cast<std::size_t>(k)]) * inner + w;
    } else {
      const Strides from = contiguous_strides(source.shape());
      for (int axis = 0; axis < y.rank(); ++axis)
        target += (axis == op.axis ? positions[static_cast<std::size_t>(u)] : u / from[axis] % source.shape()[axis]) * step[axis];
    }
    lists[static_cast<std::size_t>(target)].push_back(static_cast<std::size_t>(u));
  }
  return lists;
}

template <class T>
T extreme(bool least, T x, const std::vector<T>& updates) {
  for (const T u : updates) x = least ? smallest(x, u) : largest(x, u);
  return x;
}

template <class T>
T of_floats(ScatterMode mode, T x, const std::vector<T>& updates) {
  switch (mode) {
    case ScatterMode::add: return x + total(updates);
    case ScatterMode::mul: return x * product(updates);
    case ScatterMode::mean: return (x + total(updates)) / static_cast<T>(updates.size() + 1);
    default: return extreme(mode == ScatterMode::min, x, updates);
  }
}

template <class T>
T of_integers(ScatterMode mode, T x, const std::vector<T>& updates) {
  auto bits = static_cast<u64>(x);
  switch (mode) {
    case ScatterMode::add:
      for (const T u : updates) bits += static_cast<u64>(u);
      return static_cast<T>(bits);
    case ScatterMode::mul:
      for (const T u : updates) bits *= static_cast<u64>(u);
      return static_cast<T>(bits);
    default: return extreme(mode == ScatterMode::min, x, updates);
  }
}

/// Where there are updates the rule's result, elsewhere the old one.
template <class T, class Rule>
std::vector<T> joined(const std::vector<T>& x, const std::vector<T>& source, const Lists& lists, Rule rule) {
  std::vector<T> result = x;
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::vector<T> updates;
    for (const std::size_t u : lists[i]) updates.push_back(source[u]);
    if (!updates.empty()) result[i] = rule(x[i], updates);
  }
  return result;
}

}  // namespace

void scatter(const Scatter& op, const Tensor& x, const Tensor& indices, const Tensor& source, Tensor& y, Stream&) {
  const Lists lists = updates_of(op, indices, source, y);
  const std::vector<u64> before = read_bits(x);
  if (op.mode == ScatterMode::assign) {
    return write_bits(y, joined(before, read_bits(source), lists, [](u64, const auto& updates) { return updates.back(); }));
  }
  const auto by_floats = [&](auto value, const auto& updates) { return of_floats(op.mode, value, updates); };
  const auto by_integers = [&](auto value, const auto& updates) { return of_integers(op.mode, value, updates); };
  if (x.dtype() == DType::f64) {
    write_f64(y, joined(read_f64(x), read_f64(source), lists, by_floats));
  } else if (is_floating(x.dtype())) {
    write_f32(y, joined(read_f32(x), read_f32(source), lists, by_floats));
  } else if (is_signed_integer(x.dtype())) {
    write_i64(y, joined(read_i64(x), read_i64(source), lists, by_integers));
  } else {
    write_u64(y, joined(read_u64(x), read_u64(source), lists, by_integers));
  }
  // what nothing was added to is copied, a NaN with its bits
  std::vector<u64> after = read_bits(y);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (lists[i].empty()) after[i] = before[i];
  write_bits(y, after);
}

}  // namespace votive::reference
