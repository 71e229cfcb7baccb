// Scans straight from CONTRACT.md 3.4: chunks of 4096 as 256 blocks of 16, serial inside a block, offsets of blocks and of chunks by Blelloch's two sweeps.
#include "votive/ops/scan.h"

#include "votive/numerics/math.h"
#include "votive/numerics/pointwise.h"
#include "votive/numerics/power.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

constexpr std::size_t block_size = 16, blocks_per_chunk = 256;

/// What comes before each element, joined by the two sweeps. `identity` changes nothing.
template <class T, class Join>
std::vector<T> exclusive(std::vector<T> tree, T identity, Join join) {
  const std::size_t count = tree.size();
  std::size_t n = 1;
  while (n < count) n *= 2;
  tree.resize(n, identity);
  for (std::size_t half = 1; half < n; half *= 2) {
    for (std::size_t right = 2 * half - 1; right < n; right += 2 * half) tree[right] = join(tree[right - half], tree[right]);
  }
  tree[n - 1] = identity;
  for (std::size_t half = n / 2; half > 0; half /= 2) {
    for (std::size_t right = 2 * half - 1; right < n; right += 2 * half) {
      const T left_sum = tree[right - half], parent = tree[right];
      tree[right - half] = parent;
      tree[right] = join(parent, left_sum);
    }
  }
  tree.resize(count);
  return tree;
}

/// Their join, the root of the first sweep.
template <class T, class Join>
T total(std::vector<T> tree, T identity, Join join) {
  while (tree.size() > 1) {
    if (tree.size() % 2 != 0) tree.push_back(identity);
    std::vector<T> above;
    for (std::size_t i = 0; i < tree.size(); i += 2) above.push_back(join(tree[i], tree[i + 1]));
    tree = above;
  }
  return tree[0];
}

template <class T, class Join>
std::vector<T> canonical_scan(const std::vector<T>& x, T identity, Join join) {
  std::vector<T> y, chunk_totals;
  std::vector<std::vector<T>> block_offsets;
  for (std::size_t chunk = 0; chunk < x.size(); chunk += block_size * blocks_per_chunk) {
    std::vector<T> block_totals;
    for (std::size_t block = chunk; block < x.size() && block < chunk + block_size * blocks_per_chunk; block += block_size) {
      T local = identity;
      for (std::size_t i = block; i < x.size() && i < block + block_size; ++i) {
        local = i == block ? x[i] : join(local, x[i]);
        y.push_back(local);
      }
      block_totals.push_back(local);
    }
    block_totals.resize(blocks_per_chunk, identity);
    block_offsets.push_back(exclusive(block_totals, identity, join));
    chunk_totals.push_back(total(block_totals, identity, join));
  }
  const std::vector<T> chunk_offsets = exclusive(chunk_totals, identity, join);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const std::size_t chunk = i / (block_size * blocks_per_chunk), block = i / block_size % blocks_per_chunk;
    y[i] = join(join(chunk_offsets[chunk], block_offsets[chunk][block]), y[i]);
  }
  return y;
}

f32 log_add(f32 a, f32 b) { return logaddexp_f32(a, b); }
f64 log_add(f64 a, f64 b) { return logaddexp_f64(a, b); }
u64 log_add(u64 a, u64) { return a; }  // of floats only

template <class T>
std::vector<T> scanned(ScanKind kind, const std::vector<T>& x) {
  if (x.empty()) return {};
  if (kind == ScanKind::sum) return canonical_scan(x, static_cast<T>(-0.0), [](T a, T b) { return a + b; });
  if (kind == ScanKind::prod) return canonical_scan(x, T{1}, [](T a, T b) { return a * b; });
  std::vector<T> y{x[0]};
  for (std::size_t i = 1; i < x.size(); ++i) y.push_back(log_add(y.back(), x[i]));
  return y;
}

/// function(line) for every line along the axis.
template <class T, class Function>
std::vector<T> along(const std::vector<T>& x, const Around& around, Function function) {
  std::vector<T> y(x.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      std::vector<T> line;
      for (Size i = 0; i < around.n; ++i) line.push_back(x[static_cast<std::size_t>(around.at(o, i, j))]);
      line = function(line);
      for (Size i = 0; i < around.n; ++i) y[static_cast<std::size_t>(around.at(o, i, j))] = line[static_cast<std::size_t>(i)];
    }
  }
  return y;
}

bool is_nan(f32 x) { return x != x; }
bool is_nan(f64 x) { return x != x; }
bool is_nan(i64) { return false; }
bool is_nan(u64) { return false; }
f32 least(f32 a, f32 b) { return minimum_f32(a, b); }
f64 least(f64 a, f64 b) { return minimum_f64(a, b); }
i64 least(i64 a, i64 b) { return a < b ? a : b; }
u64 least(u64 a, u64 b) { return a < b ? a : b; }
f32 most(f32 a, f32 b) { return maximum_f32(a, b); }
f64 most(f64 a, f64 b) { return maximum_f64(a, b); }
i64 most(i64 a, i64 b) { return a > b ? a : b; }
u64 most(u64 a, u64 b) { return a > b ? a : b; }

template <class T>
void extremes(const ScanExtreme& op, const Around& around, const std::vector<T>& x, std::vector<T>& values, std::vector<i64>& indices) {
  values.resize(x.size());
  indices.resize(x.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      Size best = 0;
      for (Size i = 0; i < around.n; ++i) {
        const auto at = static_cast<std::size_t>(around.at(o, i, j));
        const T v = x[at], held = x[static_cast<std::size_t>(around.at(o, best, j))];
        if (!is_nan(held) && (is_nan(v) || (op.largest ? v > held : v < held))) best = i;
        const T before = i == 0 ? v : values[static_cast<std::size_t>(around.at(o, i - 1, j))];
        values[at] = op.largest ? most(before, v) : least(before, v);
        indices[at] = best;
      }
    }
  }
}

template <class T>
std::vector<T> recurrence(const std::vector<T>& a, const std::vector<T>& b, const Around& around) {
  std::vector<T> y(b.size());
  for (Size o = 0; o < around.outer; ++o) {
    for (Size j = 0; j < around.inner; ++j) {
      for (Size i = 0; i < around.n; ++i) {
        const auto at = static_cast<std::size_t>(around.at(o, i, j));
        if (i == 0) {
          y[at] = b[at];
          continue;
        }
        const T before = y[static_cast<std::size_t>(around.at(o, i - 1, j))];
        if constexpr (std::is_same_v<T, f64>) {
          y[at] = fma_f64(a[at], before, b[at]);
        } else {
          y[at] = fma_f32(a[at], before, b[at]);
        }
      }
    }
  }
  return y;
}

}  // namespace

void scan(const Scan& op, const Tensor& x, Tensor& y, Stream&) {
  const Around around(x.shape(), op.axis);
  const auto line = [&](const auto& values) { return scanned(op.kind, values); };
  if (x.dtype() == DType::f64) return write_f64(y, along(read_f64(x), around, line));
  if (is_floating(x.dtype())) return write_f32(y, along(read_f32(x), around, line));
  write_u64(y, along(read_u64(x), around, line));
}

void scan_extreme(const ScanExtreme& op, const Tensor& x, Tensor& values, Tensor& indices, Stream&) {
  const Around around(x.shape(), op.axis);
  std::vector<i64> places;
  if (x.dtype() == DType::f64) {
    std::vector<f64> found;
    extremes(op, around, read_f64(x), found, places);
    write_f64(values, found);
  } else if (is_floating(x.dtype())) {
    std::vector<f32> found;
    extremes(op, around, read_f32(x), found, places);
    write_f32(values, found);
  } else if (x.dtype() == DType::u64) {
    std::vector<u64> found;
    extremes(op, around, read_u64(x), found, places);
    write_u64(values, found);
  } else {
    std::vector<i64> found;
    extremes(op, around, read_i64(x), found, places);
    write_i64(values, found);
  }
  write_i64(indices, places);
}

void linear_recurrence(const Recurrence& op, const Tensor& a, const Tensor& b, Tensor& y, Stream&) {
  const Around around(b.shape(), op.axis);
  if (b.dtype() == DType::f64) return write_f64(y, recurrence(read_f64(a), read_f64(b), around));
  write_f32(y, recurrence(read_f32(a), read_f32(b), around));
}

}  // namespace votive::reference
