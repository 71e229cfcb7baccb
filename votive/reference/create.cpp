// Constants, ranges, the identity and random numbers (CONTRACT.md 7 and 8).
#include "votive/numerics/convert.h"
#include "votive/numerics/random.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"
#include "votive/reference/positions.h"

namespace votive::reference {

using namespace numerics;

void fill(const Fill& op, Tensor& y, Stream&) { write_bits(y, std::vector<u64>(static_cast<std::size_t>(y.count()), op.bits)); }

void arange(const Arange& op, Tensor& y, Stream&) {
  const Size n = y.count();
  if (op.integer) {
    std::vector<u64> values;
    for (Size i = 0; i < n; ++i) values.push_back(static_cast<u64>(op.first) + static_cast<u64>(i) * static_cast<u64>(op.integer_step));
    return write_u64(y, values);
  }
  std::vector<f64> values;
  for (Size i = 0; i < n; ++i) values.push_back(op.hit_stop && i == n - 1 ? op.stop : fma_f64(i64_to_f64(i), op.step, op.start));
  write_f64(y, values);
}

void one_hot(const OneHot& op, const Tensor& ids, Tensor& y, Stream&) {
  const std::vector<Size> classes = checked_positions({op.info.name, "ids", 1, -1, op.classes, false}, ids);
  std::vector<u64> values(static_cast<std::size_t>(y.count()), 0);
  for (std::size_t i = 0; i < classes.size(); ++i)
    values[i * static_cast<std::size_t>(op.classes) + static_cast<std::size_t>(classes[i])] = 1;
  write_u64(y, values);
}

namespace {

f32 uniform(const Random& op, DType dtype, u64 i) {
  const u32 word = random_word32(op.seed, op.stream, op.offset, i);
  const f32 u = dtype == DType::f16 ? uniform_f16(word) : dtype == DType::bf16 ? uniform_bf16(word) : uniform_f32(word);
  if (op.low == 0 && op.high == 1) return u;
  const f32 high = f64_to_f32(op.high);
  const f32 y = uniform_between_f32(u, f64_to_f32(op.low), high);
  // rounded to a half it must stay below high too
  const f32 below = dtype == DType::f16 ? next_below_f16(high) : dtype == DType::bf16 ? next_below_bf16(high) : y;
  return y > below ? below : y;
}

f64 uniform_wide(const Random& op, u64 i) {
  const f64 u = uniform_f64(random_word64(op.seed, op.stream, op.offset, i));
  return op.low == 0 && op.high == 1 ? u : uniform_between_f64(u, op.low, op.high);
}

f32 normal(const Random& op, u64 i) {
  const u64 pair = i & ~u64{1};
  const NormalPairF32 z =
      normal_pair_f32(random_word32(op.seed, op.stream, op.offset, pair), random_word32(op.seed, op.stream, op.offset, pair + 1));
  return (i & 1) != 0 ? z.second : z.first;
}

f64 normal_wide(const Random& op, u64 i) {
  const u64 pair = i & ~u64{1};
  const NormalPairF64 z =
      normal_pair_f64(random_word64(op.seed, op.stream, op.offset, pair), random_word64(op.seed, op.stream, op.offset, pair + 1));
  return (i & 1) != 0 ? z.second : z.first;
}

}  // namespace

void random(const Random& op, Tensor& y, Stream&) {
  const auto n = static_cast<u64>(y.count());
  if (op.kind == RandomKind::integers) {
    const u64 range = static_cast<u64>(op.integer_high) - static_cast<u64>(op.integer_low);
    std::vector<i64> values;
    for (u64 i = 0; i < n; ++i) values.push_back(uniform_i64(random_word64(op.seed, op.stream, op.offset, i), op.integer_low, range));
    return write_i64(y, values);
  }
  if (op.kind == RandomKind::words) {
    std::vector<u64> values;
    for (u64 i = 0; i < n; ++i) values.push_back(random_word32(op.seed, op.stream, op.offset, i));
    return write_u64(y, values);
  }
  const bool is_normal = op.kind == RandomKind::normal;
  if (y.dtype() == DType::f64) {
    std::vector<f64> values;
    for (u64 i = 0; i < n; ++i) values.push_back(is_normal ? normal_wide(op, i) : uniform_wide(op, i));
    return write_f64(y, values);
  }
  std::vector<f32> values;
  for (u64 i = 0; i < n; ++i) values.push_back(is_normal ? normal(op, i) : uniform(op, y.dtype(), i));
  write_f32(y, values);
}

}  // namespace votive::reference
