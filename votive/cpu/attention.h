// What the attention kernels share: the call with its sizes, which keys a query may see, and the kernels that attention.cpp chooses from.
#pragma once

#include "votive/core/tensor.h"
#include "votive/cpu/types.h"
#include "votive/numerics/reduce.h"
#include "votive/ops/attention.h"

namespace votive::cpu::VOTIVE_ISA {

struct KeyRange {
  Size first, last;
};

/// The keys that causality and the window leave to query t of T; both ends grow with t.
inline KeyRange key_range(const Attention& op, Size t, Size T, Size S) {
  const Size p = S - T + t;
  Size first = 0, last = S;
  if (op.window > 0 && p >= op.window) first = p - op.window + 1;
  if (op.window > 0 && op.window < S - p) last = p + op.window;
  if (op.causal && p < last) last = p + 1;
  if (last < 0) last = 0;
  return {first < last ? first : last, last};
}

/// One call in f32, f16 or bf16. The rows of a key head are the queries of its query heads: row r is position r / G of query head r % G, so that
/// neighbouring rows have nearly the same keys.
struct AttentionCall {
  const Attention& op;
  const Tensor &q, &k, &v, &mask, &slopes;
  Tensor& y;
  Size B, H, T, D, K, S, E, G;  // batch, query heads, queries, head size, key heads, keys, value size, query heads per key head

  AttentionCall(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes, Tensor& y)
      : op(op), q(q), k(k), v(v), mask(mask), slopes(slopes), y(y) {
    B = q.shape()[0];
    H = q.shape()[1];
    T = q.shape()[2];
    D = q.shape()[3];
    K = k.shape()[1];
    S = k.shape()[2];
    E = v.shape()[3];
    G = H / K;
  }

  Size rows() const { return G * T; }
  Size position(Size row) const { return row / G; }
  Size query_head(Size key_head, Size row) const { return key_head * G + row % G; }
  KeyRange range(Size row) const { return key_range(op, position(row), T, S); }
  f32 slope(Size head) const { return reinterpret_cast<const f32*>(slopes.buffer())[slopes.offset() + head * slopes.strides()[0]]; }

  static const std::byte* at(const Tensor& x, Size b, Size head, Size t) {
    const Strides& step = x.strides();
    return x.buffer() + (x.offset() + b * step[0] + head * step[1] + t * step[2]) * block_bytes(x.dtype());
  }
  /// The D numbers of a row's query, side by side.
  void copy_query(Size b, Size key_head, Size row, std::byte* to) const;
  /// Rounds E sums to the row of y.
  void write(Size b, Size key_head, Size row, const f32* sums) const;
};

/// Many queries of a key head: they are the lanes of its vectors.
void attend_many(const AttentionCall& call);
/// Few queries of a key head, as one token of a text has: lanes are keys for q·k, columns for p·v, and both are read once, from where they lie.
void attend_few(const AttentionCall& call);
bool are_few(const AttentionCall& call);

void attention_f64(const Attention& op, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, const Tensor& slopes,
                   Tensor& y);

}  // namespace votive::cpu::VOTIVE_ISA
