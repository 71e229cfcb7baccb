// Quantised weights times 15-bit activations. Weights are read as Packing::rows16 (packed_weight.h); a weight that comes as the file has it is
// interleaved into scratch first, a cost that prepack() saves. x = d_x·q with q = 256·high + low, two planes of bytes, so that one byte-dot
// instruction serves every format; sums are exact, hence their order is free, and the chain over groups is the contract's.
#include "votive/cpu/quantised.h"

#include <utility>

#include "votive/base/thread_pool.h"
#include "votive/core/memory.h"
#include "votive/cpu/integer_lanes.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/packed_weight.h"
#include "votive/numerics/blocks.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

using numerics::i16;

/// 32 consecutive k of one row of x.
struct alignas(16) ActivationBlock {
  i8 high[32], low[32];
  f32 scale;        // d_x; NaN where the block holds a NaN or an infinity
  f32 sum;          // S = Σ q, exact
  i32 half_sum[2];  // Σ q of k < 16 and of k ≥ 16
};

/// Rows of x that share a weight while it is in registers. Measured on Zen 5 (v4n): 8 rows 1.3 × 4 rows.
constexpr int row_tile = Lanes::count == 16 && Lanes::has_dot ? 8 : 4;

void quantise_block(const f32* x, ActivationBlock& block) {
  i16 q[32];
  numerics::quantise_activation_block(x, q, &block.scale);
  for (int k = 0; k < 32; ++k) {
    const auto low = static_cast<i8>(q[k]);
    block.low[k] = low;
    block.high[k] = static_cast<i8>((q[k] - low) >> 8);
  }
  for (int half = 0; half < 2; ++half) {
    i32 sum = 0;
    for (int k = 0; k < 16; ++k) sum += q[16 * half + k];
    block.half_sum[half] = sum;
  }
  block.sum = static_cast<f32>(block.half_sum[0] + block.half_sum[1]);
}

// ---- one unit of 32 k --------------------------------------------------------------------------------------------------------------------

/// Stored weights of k = 4j … 4j+3, a byte each.
template <DType dtype, int j>
inline Lanes::I stored(const u8* unit) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  if constexpr (format.bits == 8) {
    return Lanes::load(unit + 64 * j);
  } else {
    Lanes::I v = Lanes::load(unit + 64 * (j % 4));
    if constexpr (j >= 4) v = Lanes::template right<4>(v);
    v = Lanes::both(v, Lanes::all(0x0f0f0f0f));
    if constexpr (format.bits == 5) {
      Lanes::I fifth = Lanes::load(unit + 256);
      if constexpr (j < 4) {
        fifth = Lanes::template left<4 - j>(fifth);
      } else {
        fifth = Lanes::template right<j - 4>(fifth);
      }
      v = Lanes::either(v, Lanes::both(fifth, Lanes::all(0x10101010)));
    }
    if constexpr (format.bits == 6) {
      Lanes::I upper = Lanes::load(unit + 256 + 64 * (j / 4));
      if constexpr (j % 4 < 2) {
        upper = Lanes::template left<4 - 2 * (j % 4)>(upper);
      } else {
        upper = Lanes::template right<2 * (j % 4) - 4>(upper);
      }
      v = Lanes::either(v, Lanes::both(upper, Lanes::all(0x30303030)));
    }
    return v;
  }
}

/// Exact Σ w·q over k = 4·first … 4·(first + n) − 1 for M rows of x, by byte dots that add to 32 bits.
template <class V, DType dtype, int M, int first, int n>
inline void dots(const u8* unit, const ActivationBlock* x, Size x_row, int half, typename V::I (&total)[M]) {
  constexpr int zero = quantised_format(dtype).zero;
  typename V::I high[M];
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r) {
    const ActivationBlock& b = x[r * x_row];
    total[r] = zero == 0 ? V::zero() : V::all(-zero * (n == 8 ? b.half_sum[0] + b.half_sum[1] : b.half_sum[half]));
    high[r] = V::zero();
  }
  const auto step = [&]<int j>() {
    const typename V::I w = stored<dtype, j>(unit);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      high[r] = V::dot(high[r], w, V::four(x[r * x_row].high + 4 * j));
      total[r] = V::dot(total[r], w, V::four(x[r * x_row].low + 4 * j));
    }
  };
  [&]<int... j>(std::integer_sequence<int, j...>) { (step.template operator()<first + j>(), ...); }
  (std::make_integer_sequence<int, n>{});
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r) total[r] = V::add(total[r], V::template left<8>(high[r]));
}

/// The same where no instruction adds bytes to 32 bits: pairs go to 16 bits, `run` vectors of them are added there before they could overflow
/// (run·2·w·128 < 2¹⁵), then both planes are widened and joined. The eighth bit of a full byte is taken apart, for 2·255·128 would saturate.
template <class V, DType dtype, int M, int first, int n>
inline void dots_by_pairs(const u8* unit, const ActivationBlock* x, Size x_row, int half, typename V::I (&total)[M]) {
  constexpr int bits = quantised_format(dtype).bits;
  constexpr int zero = quantised_format(dtype).zero;
  constexpr int run = bits == 4 ? 8 : bits == 5 ? 4 : bits == 6 ? 2 : 1;
  const typename V::I by_256 = V::all(0x01000100), by_1 = V::all(0x00010001);
  typename V::I high[M], low[M];
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r) {
    const ActivationBlock& b = x[r * x_row];
    total[r] = zero == 0 ? V::zero() : V::all(-zero * (n == 8 ? b.half_sum[0] + b.half_sum[1] : b.half_sum[half]));
  }
  const auto step = [&]<int j>() {
    const typename V::I w = stored<dtype, first + j>(unit);
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) {
      const typename V::I xh = V::four(x[r * x_row].high + 4 * (first + j)), xl = V::four(x[r * x_row].low + 4 * (first + j));
      if constexpr (bits == 8) {
        const typename V::I seven = V::both(w, V::all(0x7f7f7f7f)), eighth = V::both(w, V::all(static_cast<i32>(0x80808080u)));
        total[r] = V::add(total[r], V::add(V::widen(V::pairs(seven, xh), by_256), V::widen(V::pairs(seven, xl), by_1)));
        total[r] = V::add(total[r], V::add(V::widen(V::pairs(eighth, xh), by_256), V::widen(V::pairs(eighth, xl), by_1)));
      } else {
        high[r] = j % run == 0 ? V::pairs(w, xh) : V::add16(high[r], V::pairs(w, xh));
        low[r] = j % run == 0 ? V::pairs(w, xl) : V::add16(low[r], V::pairs(w, xl));
        if constexpr (j % run == run - 1 || j == n - 1) {
          total[r] = V::add(total[r], V::add(V::widen(high[r], by_256), V::widen(low[r], by_1)));
        }
      }
    }
  };
  [&]<int... j>(std::integer_sequence<int, j...>) { (step.template operator()<j>(), ...); }
  (std::make_integer_sequence<int, n>{});
}

template <DType dtype, int M, int first, int n>
inline void exact_dots(const u8* unit, const ActivationBlock* x, Size x_row, int half, Lanes::I (&total)[M]) {
  if constexpr (Lanes::has_dot) {
    dots<Lanes, dtype, M, first, n>(unit, x, x_row, half, total);
  } else {
    dots_by_pairs<Lanes, dtype, M, first, n>(unit, x, x_row, half, total);
  }
}

// ---- 16 rows of w times M rows of x --------------------------------------------------------------------------------------------------------

/// y[16·r + lane] = chain over groups for row r of x and row `lane` of the weight group.
template <DType dtype, int M>
void multiply(const u8* group, Size blocks, const ActivationBlock* x, Size x_row, f32* y) {
  constexpr QuantisedFormat format = quantised_format(dtype);
  for (int lane = 0; lane < 16; lane += Lanes::count) {
    Lanes::F sum[M];
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r) sum[r] = Lanes::nothing();
    const u8* block = group;
    const ActivationBlock* x_at = x;
    for (Size b = 0; b < blocks; ++b, block += format.block_bytes()) {
      const Lanes::F d = Lanes::half(block + 2 * lane);
      Lanes::F m = Lanes::nothing();
      if constexpr (format.offset) m = Lanes::half(block + 32 + 2 * lane);
      const u8* unit = block + format.header;
      for (int u = 0; u < format.units; ++u, unit += format.unit_bytes(), ++x_at) {
        const u8* weights = unit + format.unit_header + 4 * lane;
        Lanes::I total[M];
        if constexpr (format.group == 16) {
#pragma GCC unroll 2
          for (int half = 0; half < 2; ++half) {
            const Lanes::F scale = Lanes::times(d, Lanes::signed_bytes(unit + 16 * half + lane));
            if (half == 0) {
              exact_dots<dtype, M, 0, 4>(weights, x_at, x_row, 0, total);
            } else {
              exact_dots<dtype, M, 4, 4>(weights, x_at, x_row, 1, total);
            }
#pragma GCC unroll 8
            for (int r = 0; r < M; ++r) {
              sum[r] = Lanes::fma(Lanes::times(scale, Lanes::all(x_at[r * x_row].scale)), Lanes::to_float(total[r]), sum[r]);
            }
          }
        } else {
          Lanes::F scale = d, offset = m;
          if constexpr (format.unit_header != 0) {
            scale = Lanes::times(d, Lanes::bytes(unit + lane));
            offset = Lanes::times(Lanes::negative(m), Lanes::bytes(unit + 16 + lane));
          }
          exact_dots<dtype, M, 0, 8>(weights, x_at, x_row, 0, total);
#pragma GCC unroll 8
          for (int r = 0; r < M; ++r) {
            const Lanes::F dx = Lanes::all(x_at[r * x_row].scale);
            sum[r] = Lanes::fma(Lanes::times(scale, dx), Lanes::to_float(total[r]), sum[r]);
            if constexpr (format.offset) sum[r] = Lanes::fma(Lanes::times(offset, dx), Lanes::all(x_at[r * x_row].sum), sum[r]);
          }
        }
      }
    }
    for (int r = 0; r < M; ++r) Lanes::store(y + 16 * r + lane, sum[r]);
  }
}

using MultiplyFunction = void (*)(const u8*, Size, const ActivationBlock*, Size, f32*);
struct MultiplyPair {
  MultiplyFunction tile, row;
};

MultiplyPair multiply_functions(DType dtype) {
  switch (dtype) {
    case DType::q4_0: return {multiply<DType::q4_0, row_tile>, multiply<DType::q4_0, 1>};
    case DType::q4_1: return {multiply<DType::q4_1, row_tile>, multiply<DType::q4_1, 1>};
    case DType::q5_0: return {multiply<DType::q5_0, row_tile>, multiply<DType::q5_0, 1>};
    case DType::q5_1: return {multiply<DType::q5_1, row_tile>, multiply<DType::q5_1, 1>};
    case DType::q8_0: return {multiply<DType::q8_0, row_tile>, multiply<DType::q8_0, 1>};
    case DType::q4_k: return {multiply<DType::q4_k, row_tile>, multiply<DType::q4_k, 1>};
    case DType::q5_k: return {multiply<DType::q5_k, row_tile>, multiply<DType::q5_k, 1>};
    default: return {multiply<DType::q6_k, row_tile>, multiply<DType::q6_k, 1>};
  }
}

// ---- tensors -----------------------------------------------------------------------------------------------------------------------------

/// Scratch from the caching allocator, given back at the end of the call.
class Scratch {
 public:
  explicit Scratch(Size bytes) : memory_(allocate_memory(static_cast<std::size_t>(bytes))) {}
  ~Scratch() { free_memory(memory_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(memory_.address);
  }

 private:
  Memory memory_;
};

f32 read_float(DType dtype, const std::byte* buffer, Size element) {
  switch (dtype) {
    case DType::f32: {
      f32 v;
      std::memcpy(&v, buffer + 4 * element, 4);
      return v;
    }
    case DType::f16: return numerics::f16_to_f32(detail::word_at(reinterpret_cast<const u8*>(buffer) + 2 * element));
    default: return numerics::bf16_to_f32(detail::word_at(reinterpret_cast<const u8*>(buffer) + 2 * element));
  }
}

void write_float(DType dtype, std::byte* buffer, Size element, f32 v) {
  if (dtype == DType::f32) {
    std::memcpy(buffer + 4 * element, &v, 4);
    return;
  }
  const u16 half = dtype == DType::f16 ? numerics::f32_to_f16(v) : numerics::f32_to_bf16(v);
  std::memcpy(buffer + 2 * element, &half, 2);
}

/// Rows of w [n, k] as they lie: strided rows of blocks, or groups of 16 interleaved.
struct WeightRows {
  DType dtype;
  const u8* start;
  Size row_bytes;
  Size n, k;
  bool packed;

  Size group_bytes() const { return k / block_size(dtype) * quantised_format(dtype).block_bytes(); }
  const u8* group(Size g) const { return start + g * group_bytes(); }

  void pack_group(Size g, u8* to) const {
    const QuantisedFormat format = quantised_format(dtype);
    std::memset(to, 0, static_cast<std::size_t>(group_bytes()));
    StoredBlock stored;
    for (int lane = 0; lane < 16 && 16 * g + lane < n; ++lane) {
      const u8* row = start + (16 * g + lane) * row_bytes;
      for (Size b = 0; b < k / block_size(dtype); ++b) {
        read_stored_block(dtype, row + b * block_bytes(dtype), stored);
        write_packed_lane(dtype, stored, lane, to + b * format.block_bytes());
      }
    }
  }
};

struct Product {
  const Tensor& bias;
  Tensor& y;
  WeightRows w;
  const ActivationBlock* x;  // rows × (k / 32)
  Size rows;
  Size first_output_row;

  void write(Size row, Size g, const f32* lanes) const {
    const Size n0 = 16 * g, n = std::min<Size>(16, w.n - n0);
    std::byte* out = y.mutable_buffer();
    const Size at = (first_output_row + row) * w.n + n0;
    if (bias.defined()) {
      for (Size i = 0; i < n; ++i) {
        const f32 b = read_float(bias.dtype(), bias.buffer(), bias.offset() + (n0 + i) * bias.strides()[0]);
        write_float(y.dtype(), out, at + i, lanes[i] + b);
      }
    } else if (y.dtype() == DType::f32) {
      std::memcpy(out + 4 * at, lanes, static_cast<std::size_t>(4 * n));
    } else {
      for (Size i = 0; i < n; ++i) write_float(y.dtype(), out, at + i, lanes[i]);
    }
  }

  /// Weight groups [begin, end) times every row of x. A span of groups that fits L2 stays there while the rows pass by, tile by tile.
  void run(Size begin, Size end) const {
    const MultiplyPair functions = multiply_functions(w.dtype);
    const Size blocks = w.k / block_size(w.dtype), x_row = w.k / 32;
    const Size span = rows == 1 && w.packed ? end - begin : std::max<Size>(1, (Size{192} << 10) / w.group_bytes());
    const Scratch scratch(w.packed ? 0 : std::min(span, end - begin) * w.group_bytes());
    alignas(64) f32 lanes[16 * row_tile];
    for (Size g0 = begin; g0 < end; g0 += span) {
      const Size g1 = std::min(end, g0 + span);
      if (!w.packed) {
        for (Size g = g0; g < g1; ++g) w.pack_group(g, scratch.as<u8>() + (g - g0) * w.group_bytes());
      }
      for (Size row = 0; row < rows;) {
        const bool tile = rows - row >= row_tile;
        for (Size g = g0; g < g1; ++g) {
          const u8* group = w.packed ? w.group(g) : scratch.as<u8>() + (g - g0) * w.group_bytes();
          (tile ? functions.tile : functions.row)(group, blocks, x + row * x_row, x_row, lanes);
          for (int r = 0; r < (tile ? row_tile : 1); ++r) write(row + r, g, lanes + 16 * r);
        }
        row += tile ? row_tile : 1;
      }
    }
  }
};

void quantise_rows(const Tensor& a, const Size* row_offsets, Size rows, Size k, ActivationBlock* x) {
  const Size step = a.strides().back(), blocks = k / 32;
  parallel_for(rows * blocks, 512, [&](Size begin, Size end) {
    f32 values[32];
    for (Size i = begin; i < end; ++i) {
      const Size at = row_offsets[i / blocks] + 32 * (i % blocks) * step;
      if (a.dtype() == DType::f32 && step == 1) {
        std::memcpy(values, a.buffer() + 4 * at, sizeof values);
      } else {
        for (int j = 0; j < 32; ++j) values[j] = read_float(a.dtype(), a.buffer(), at + j * step);
      }
      quantise_block(values, x[i]);
    }
  });
}

/// Element offset of batch `index` (row-major over `batch`) in a tensor whose leading axes broadcast to it.
Size batch_offset(const Tensor& t, const Shape& batch, Size index) {
  const int lead = t.rank() - 2;
  Size offset = t.offset();
  for (int axis = batch.rank() - 1; axis >= 0; --axis) {
    const Size i = index % batch[axis];
    index /= batch[axis];
    const int own = axis - (batch.rank() - lead);
    if (own >= 0 && t.shape()[own] != 1) offset += i * t.strides()[own];
  }
  return offset;
}

void prepack(const Prepack&, const Tensor& w, Tensor& y, Stream&) {
  if (!is_quantised(w.dtype())) return prepack_floats(w, y);
  const WeightRows rows{w.dtype(),
                        reinterpret_cast<const u8*>(w.buffer()) + w.offset() / block_size(w.dtype()) * block_bytes(w.dtype()),
                        w.strides()[0] / block_size(w.dtype()) * block_bytes(w.dtype()),
                        w.shape()[0],
                        w.shape()[1],
                        false};
  parallel_for((rows.n + 15) / 16, 1, [&](Size begin, Size end) {
    for (Size g = begin; g < end; ++g) rows.pack_group(g, reinterpret_cast<u8*>(y.mutable_buffer()) + g * rows.group_bytes());
  });
}

}  // namespace

void quantised_matmul(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& y) {
  const Size k = b.shape()[b.rank() - 2], n = b.shape().back();
  const Shape& out = y.shape();
  const bool vector = a.rank() == 1;
  const Size m = vector ? 1 : a.shape()[a.rank() - 2];
  Shape batch;
  for (int axis = 0; axis + 2 < out.rank(); ++axis) batch.push_back(out[axis]);
  const Size batches = count(batch);
  const bool one_weight = b.rank() == 2;

  // All rows of a at once when there is one weight, else batch by batch.
  const Size rows = one_weight ? batches * m : m;
  const Scratch offsets(rows * static_cast<Size>(sizeof(Size)));
  const Scratch blocks(rows * (k / 32) * static_cast<Size>(sizeof(ActivationBlock)));
  for (Size first = 0; first < batches; first += one_weight ? batches : 1) {
    for (Size r = 0; r < rows; ++r) {
      offsets.as<Size>()[r] = vector ? a.offset() : batch_offset(a, batch, first + r / m) + (r % m) * a.strides()[a.rank() - 2];
    }
    auto* x = blocks.as<ActivationBlock>();
    quantise_rows(a, offsets.as<Size>(), rows, k, x);
    const Size weight_offset = batch_offset(b, batch, first) / block_size(b.dtype()) * block_bytes(b.dtype());
    const WeightRows w{b.dtype(),
                       reinterpret_cast<const u8*>(b.buffer()) + weight_offset,
                       b.strides().back() / block_size(b.dtype()) * block_bytes(b.dtype()),
                       n,
                       k,
                       b.packing() == Packing::rows16};
    const Product product{bias, y, w, x, rows, first * m};
    const Size work_per_group = w.group_bytes() * std::max<Size>(1, rows / 4);
    const Size grain = std::max<Size>(1, (Size{48} << 10) / std::max<Size>(1, work_per_group));
    parallel_for((n + 15) / 16, grain, [&](Size begin, Size end) { product.run(begin, end); });
  }
}

void register_quantised(Kernels& kernels) { kernels.add<Prepack>(Device::cpu, prepack); }

}  // namespace votive::cpu::VOTIVE_ISA
