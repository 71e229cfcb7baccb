// Orders straight from CONTRACT.md 3.1: a stable sort of each row, NaN after every number when ascending.
#include "votive/ops/order.h"

#include <algorithm>
#include <numeric>

#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

namespace {

bool is_nan(f64 x) { return x != x; }
bool is_nan(i64) { return false; }
bool is_nan(u64) { return false; }

/// The stable order of one row: ascending with NaN last, or descending with NaN first.
template <class T>
std::vector<i64> order_of(bool descending, const std::vector<T>& row) {
  std::vector<i64> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](i64 p, i64 q) {
    const T a = row[static_cast<std::size_t>(p)], b = row[static_cast<std::size_t>(q)];
    if (is_nan(a) || is_nan(b)) return descending ? is_nan(a) && !is_nan(b) : !is_nan(a) && is_nan(b);
    return descending ? a > b : a < b;
  });
  return order;
}

template <class T>
void sort_rows(const Sort& op, const std::vector<T>& x, const std::vector<u64>& bits, const Around& around, std::vector<u64>& values,
               std::vector<i64>& indices) {
  const Size kept = op.k < 0 ? around.n : op.k;
  values.resize(static_cast<std::size_t>(around.outer * kept * around.inner));
  indices.resize(values.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      std::vector<T> row;
      for (Size i = 0; i < around.n; ++i) row.push_back(x[static_cast<std::size_t>(around.at(o, i, j))]);
      const std::vector<i64> order = order_of(op.descending, row);
      for (Size i = 0; i < kept; ++i) {
        const auto to = static_cast<std::size_t>((o * kept + i) * around.inner + j);
        indices[to] = order[static_cast<std::size_t>(i)];
        values[to] = bits[static_cast<std::size_t>(around.at(o, indices[to], j))];
      }
    }
  }
}

/// The place in a row that `op` asks for, from the row's stable ascending order.
template <class T>
i64 place_of(const Rank& op, const std::vector<T>& row) {
  const std::vector<i64> order = order_of(false, row);
  const auto value = [&](std::size_t i) { return row[static_cast<std::size_t>(order[i])]; };
  const auto same = [&](std::size_t i, std::size_t j) { return value(i) == value(j) || (is_nan(value(i)) && is_nan(value(j))); };
  std::size_t numbers = 0;  // they come before the NaN
  while (numbers < row.size() && !is_nan(value(numbers))) ++numbers;
  switch (op.kind) {
    case RankKind::kth: return order[static_cast<std::size_t>(op.k - 1)];
    case RankKind::median: return order[numbers < row.size() ? numbers : (numbers - 1) / 2];
    case RankKind::nanmedian: return order[numbers == 0 ? 0 : (numbers - 1) / 2];
    case RankKind::mode: break;
  }
  std::size_t best = 0, longest = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    std::size_t end = i;
    while (end < row.size() && same(i, end)) ++end;
    if (end - i > longest) {
      longest = end - i;
      best = i;
    }
  }
  return order[best];
}

template <class T>
std::vector<i64> places_of(const Rank& op, const std::vector<T>& x, const Around& around) {
  std::vector<i64> places;
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      std::vector<T> row;
      for (Size i = 0; i < around.n; ++i) row.push_back(x[static_cast<std::size_t>(around.at(o, i, j))]);
      places.push_back(place_of(op, row));
    }
  }
  return places;
}

/// Halving: the place is defined even where the row is not sorted.
template <class T>
i64 place_for(bool right, const T* row, Size n, T v) {
  const auto before = [&](T x) {
    const bool less = is_nan(v) ? !is_nan(x) : x < v, equal = is_nan(v) ? is_nan(x) : x == v;
    return less || (right && equal);
  };
  Size low = 0, left = n;
  while (left > 1) {
    const Size half = left / 2;
    if (before(row[low + half - 1])) low += half;
    left -= half;
  }
  return left == 1 && before(row[low]) ? low + 1 : low;
}

template <class T>
std::vector<i64> places_for(const SearchSorted& op, const std::vector<T>& sorted, const std::vector<T>& values, Size n, bool one_row) {
  std::vector<i64> places;
  const std::size_t rows = one_row || n == 0 ? 1 : sorted.size() / static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t row = i / (values.size() / rows);
    places.push_back(place_for(op.right, sorted.data() + row * static_cast<std::size_t>(n), n, values[i]));
  }
  return places;
}

}  // namespace

void rank(const Rank& op, const Tensor& x, Tensor& y, Stream&) {
  const Around around(x.shape(), op.axis);
  if (is_floating(x.dtype())) return write_i64(y, places_of(op, read_f64(x), around));
  if (x.dtype() == DType::u64) return write_i64(y, places_of(op, read_u64(x), around));
  write_i64(y, places_of(op, read_i64(x), around));
}

void search_sorted(const SearchSorted& op, const Tensor& sorted, const Tensor& values, Tensor& y, Stream&) {
  const Size n = sorted.shape().back();
  const bool one_row = sorted.rank() == 1;
  if (is_floating(sorted.dtype())) return write_i64(y, places_for(op, read_f64(sorted), read_f64(values), n, one_row));
  if (sorted.dtype() == DType::u64) return write_i64(y, places_for(op, read_u64(sorted), read_u64(values), n, one_row));
  write_i64(y, places_for(op, read_i64(sorted), read_i64(values), n, one_row));
}

void sort(const Sort& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  const Around around(x.shape(), op.axis);
  const std::vector<u64> bits = read_bits(x);
  std::vector<u64> sorted;
  std::vector<i64> order;
  if (is_floating(x.dtype())) {
    sort_rows(op, read_f64(x), bits, around, sorted, order);
  } else if (x.dtype() == DType::u64) {
    sort_rows(op, read_u64(x), bits, around, sorted, order);
  } else {
    sort_rows(op, read_i64(x), bits, around, sorted, order);
  }
  write_bits(values, sorted);
  write_i64(indices, order);
}

}  // namespace votive::reference
