// Products straight from CONTRACT.md 4.4 and D15: every output is one canonical dot product over its row and its column.
#include "votive/ops/matmul.h"

#include "votive/numerics/blocks.h"
#include "votive/numerics/reduce.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"

namespace votive::reference {

using namespace numerics;

namespace {

/// dot(row i of a's batch, column j of b's batch) for every output; a is [batch·m, k] and b [batch, k, n], both row-major.
template <class T, class Dot>
auto products(const std::vector<T>& a, const std::vector<T>& b, Size batch, Size m, Size n, Size k, Dot dot) {
  std::vector<decltype(dot(a.data(), 1, b.data(), n, k))> y;
  for (Size o = 0; o < batch; ++o) {
    for (Size i = 0; i < m; ++i) {
      for (Size j = 0; j < n; ++j) y.push_back(dot(a.data() + (o * m + i) * k, 1, b.data() + o * k * n + j, n, k));
    }
  }
  return y;
}

std::vector<u16> read_u16(const Tensor& x) {
  const std::vector<u64> bits = read_bits(x);
  return {bits.begin(), bits.end()};
}

/// Weight rows lie along k in blocks, b being transpose(w): row j starts at b's element (0, j).
std::vector<f32> quantised_products(const Tensor& a, const Tensor& b, Size rows) {
  const auto format = static_cast<BlockFormat>(static_cast<int>(b.dtype()) - static_cast<int>(DType::q4_0));
  const Size k = b.shape()[0], n = b.shape()[1], elements = votive::block_size(b.dtype()), bytes = votive::block_bytes(b.dtype());
  const std::vector<f32> x = read_f32(a);
  std::vector<f32> y;
  for (Size i = 0; i < rows; ++i) {
    std::vector<i16> q(static_cast<std::size_t>(k));
    std::vector<f32> scales(static_cast<std::size_t>(k / 32));
    for (Size block = 0; block < k / 32; ++block)
      quantise_activation_block(x.data() + i * k + block * 32, q.data() + block * 32, scales.data() + block);
    for (Size j = 0; j < n; ++j) {
      const Size first = b.offset() + j * b.strides()[1];
      y.push_back(
          dot_quantised(format, reinterpret_cast<const u8*>(b.buffer()) + first / elements * bytes, q.data(), scales.data(), k / elements));
    }
  }
  return y;
}

template <class T>
void add_bias(std::vector<T>& y, const std::vector<T>& bias) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
}

}  // namespace

void matmul(const Matmul&, const Tensor& first, const Tensor& second, const Tensor& bias, Tensor& y, Stream&) {
  const int rank = y.rank();
  const Size m = y.shape()[rank - 2], n = y.shape()[rank - 1], k = first.shape().back(), batch = y.count() / (m * n);
  if (is_quantised(second.dtype())) {
    std::vector<f32> values = quantised_products(first, second, batch * m);
    if (bias.defined()) add_bias(values, read_f32(bias));
    return write_f32(y, values);
  }
  Shape shape_a = y.shape(), shape_b = y.shape();
  shape_a[rank - 1] = k;
  shape_b[rank - 2] = k;
  const Tensor a = broadcast(first, shape_a), b = broadcast(second, shape_b);
  if (y.dtype() == DType::f64) {
    std::vector<f64> values = products(read_f64(a), read_f64(b), batch, m, n, k,
                                       [](const f64* p, i64 ps, const f64* q, i64 qs, i64 size) { return dot_f64(p, ps, q, qs, size); });
    if (bias.defined()) add_bias(values, read_f64(bias));
    return write_f64(y, values);
  }
  std::vector<f32> values;
  if (first.dtype() == DType::bf16 && second.dtype() == DType::bf16) {
    values = products(read_u16(a), read_u16(b), batch, m, n, k,
                      [](const u16* p, i64 ps, const u16* q, i64 qs, i64 size) { return dot_bf16(p, ps, q, qs, size); });
  } else {
    values = products(read_f32(a), read_f32(b), batch, m, n, k,
                      [](const f32* p, i64 ps, const f32* q, i64 qs, i64 size) { return dot_f32(p, ps, q, qs, size); });
  }
  if (bias.defined()) add_bias(values, read_f32(bias));
  write_f32(y, values);
}

void integer_matmul(const IntegerMatmul&, const Tensor& first, const Tensor& second, Tensor& y, Stream&) {
  const int rank = y.rank();
  const Size m = y.shape()[rank - 2], n = y.shape()[rank - 1], k = first.shape().back();
  Shape shape_a = y.shape(), shape_b = y.shape();
  shape_a[rank - 1] = k;
  shape_b[rank - 2] = k;
  // read as i64 or u64, negative numbers keep their bits: sums and products modulo 2⁶⁴ do not see the difference
  const std::vector<u64> values = products(read_u64(broadcast(first, shape_a)), read_u64(broadcast(second, shape_b)), y.count() / (m * n),
                                           m, n, k, [](const u64* p, i64 ps, const u64* q, i64 qs, i64 size) {
                                             u64 sum = 0;
                                             for (i64 i = 0; i < size; ++i) sum += p[i * ps] * q[i * qs];
                                             return sum;
                                           });
  write_bits(y, values);
}

}  // namespace votive::reference
