// Attention on the CPU: the bits of the composition in D14 without its S × T scores. Which kernel takes a call, and what they have in common; the kernels
// are in attention_many.cpp, attention_few.cpp and attention_f64.cpp.
#include "votive/cpu/attention.h"

#include <cstring>

#include "votive/cpu/convert.h"
#include "votive/cpu/kernels.h"

namespace votive::cpu::VOTIVE_ISA {

void AttentionCall::copy_query(Size b, Size key_head, Size row, std::byte* to) const {
  const Size bytes = block_bytes(q.dtype()), step = q.strides()[3];
  const std::byte* from = at(q, b, query_head(key_head, row), position(row));
  if (step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(D * bytes));
  } else {
    for (Size d = 0; d < D; ++d) std::memcpy(to + d * bytes, from + d * step * bytes, static_cast<std::size_t>(bytes));
  }
}

void AttentionCall::write(Size b, Size key_head, Size row, const f32* sums) const {
  const Size place = ((b * H + query_head(key_head, row)) * T + position(row)) * E;
  std::byte* to = y.mutable_buffer() + (y.offset() + place) * block_bytes(y.dtype());
  if (y.dtype() == DType::f32) {
    std::memcpy(to, sums, static_cast<std::size_t>(E) * sizeof(f32));
  } else {
    Conversion(DType::f32, y.dtype())(reinterpret_cast<const std::byte*>(sums), to, E);
  }
}

namespace {

void attention(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y,
               Stream&) {
  if (q.dtype() == DType::f64) return attention_f64(op, q, k, v, mask, slopes, y);
  const AttentionCall call(op, q, k, v, mask, slopes, y);
  if (are_few(call)) return attend_few(call);
  attend_many(call);
}

}  // namespace

void register_attention(Kernels& kernels) { kernels.add<Attention>(Device::cpu, attention); }

}  // namespace votive::cpu::VOTIVE_ISA
