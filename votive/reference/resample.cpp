// Interpolation along an axis: each output is a chain of fma over its taps, or a copy.
#include "votive/ops/resample.h"

#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

f32 fused(f32 a, f32 b, f32 c) { return fma_f32(a, b, c); }
f64 fused(f64 a, f64 b, f64 c) { return fma_f64(a, b, c); }

template <class T>
std::vector<T> interpolated(const TapTable& table, const std::vector<T>& x, const Around& from, const Around& to) {
  std::vector<T> y;
  for (Size o = 0; o < to.outer; ++o) {
    for (Size i = 0; i < to.n; ++i) {
      for (Size j = 0; j < to.inner; ++j) {
        T sum = 0;
        for (auto k = static_cast<std::size_t>(table.begin[static_cast<std::size_t>(i)]);
             k < static_cast<std::size_t>(table.begin[static_cast<std::size_t>(i) + 1]); ++k)
          sum = fused(static_cast<T>(table.weight[k]), x[static_cast<std::size_t>(from.at(o, table.index[k], j))], sum);
        y.push_back(sum);
      }
    }
  }
  return y;
}

}  // namespace

void interpolate(const Interpolate& op, const Tensor& x, Tensor& y, Stream&) {
  const TapTable table = op.table();
  const Around from(x.shape(), op.axis), to(y.shape(), op.axis);
  if (table.copies) {
    const std::vector<u64> bits = read_bits(x);
    std::vector<u64> out;
    for (Size o = 0; o < to.outer; ++o) {
      for (Size i = 0; i < to.n; ++i) {
        for (Size j = 0; j < to.inner; ++j)
          out.push_back(bits[static_cast<std::size_t>(from.at(o, table.index[static_cast<std::size_t>(i)], j))]);
      }
    }
    return write_bits(y, out);
  }
  if (x.dtype() == DType::f64) return write_f64(y, interpolated(table, read_f64(x), from, to));
  write_f32(y, interpolated(table, read_f32(x), from, to));
}

void grid_sample(const GridSample& op, const Tensor& x, const Tensor& grid, Tensor& y, Stream&) {
  write_bits(y, read_bits(grid_sample_in_parts(x.detach(), grid.detach(), op.options)));
}

}  // namespace votive::reference
