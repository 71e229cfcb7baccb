// Products with quantised weights (CONTRACT.md D15): tensors, scratch and threads. A weight that comes as the file has it is interleaved into scratch
// first, a cost that prepack() saves. Not here: the loops over weights (quantised_rows.h).
#include "votive/cpu/quantised.h"

#include "votive/base/thread_pool.h"
#include "votive/core/memory.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/packed_words.h"
#include "votive/cpu/quantised_rows.h"
#include "votive/numerics/blocks.h"
#include "votive/numerics/convert.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

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
    const Size lanes = std::min<Size>(16, n - 16 * g);
    if (lanes < 16) std::memset(to, 0, static_cast<std::size_t>(group_bytes()));
    const u8* rows = start + 16 * g * row_bytes;
    switch (dtype) {
      case DType::q4_0: return pack_rows<DType::q4_0>(rows, lanes, to);
      case DType::q4_1: return pack_rows<DType::q4_1>(rows, lanes, to);
      case DType::q5_0: return pack_rows<DType::q5_0>(rows, lanes, to);
      case DType::q5_1: return pack_rows<DType::q5_1>(rows, lanes, to);
      case DType::q8_0: return pack_rows<DType::q8_0>(rows, lanes, to);
      case DType::q4_k: return pack_rows<DType::q4_k>(rows, lanes, to);
      case DType::q5_k: return pack_rows<DType::q5_k>(rows, lanes, to);
      default: return pack_rows<DType::q6_k>(rows, lanes, to);
    }
  }

  template <DType type>
  void pack_rows(const u8* rows, Size lanes, u8* to) const {
    for (Size b = 0; b < k / block_size(type); ++b, to += quantised_format(type).block_bytes()) {
      for (Size lane = 0; lane < lanes; ++lane) pack_lane<type>(rows + lane * row_bytes + b * block_bytes(type), lane, to);
    }
  }
};

/// Whether x is one row that passes a packed weight, which has loops of its own.
bool is_one(Size rows, const WeightRows& w) { return rows == 1 && w.packed; }

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
    const MultiplyFunctions functions = multiply_functions(w.dtype);
    const Size blocks = w.k / block_size(w.dtype), x_row = w.k / 32;
    if (is_one(rows, w)) return run_one(begin, end, functions, blocks);
    const Size span = std::max<Size>(1, (Size{192} << 10) / w.group_bytes());
    const Scratch scratch(w.packed ? 0 : std::min(span, end - begin) * w.group_bytes());
    alignas(64) f32 lanes[16 * QuantisedTiles::most];
    for (Size g0 = begin; g0 < end; g0 += span) {
      const Size g1 = std::min(end, g0 + span);
      if (!w.packed) {
        for (Size g = g0; g < g1; ++g) w.pack_group(g, scratch.as<u8>() + (g - g0) * w.group_bytes());
      }
      for (Size row = 0, t = 0; row < rows;) {
        const int m = QuantisedTiles::rows[t];
        if (rows - row < m) {
          ++t;
          continue;
        }
        for (Size g = g0; g < g1; ++g) {
          const u8* group = w.packed ? w.group(g) : scratch.as<u8>() + (g - g0) * w.group_bytes();
          functions.tiles[static_cast<std::size_t>(t)](group, blocks, x + row * x_row, x_row, lanes);
          for (int r = 0; r < m; ++r) write(row + r, g, lanes + 16 * r);
        }
        row += m;
      }
    }
  }

  /// One row of x: the range is read as several runs of groups side by side.
  void run_one(Size begin, Size end, const MultiplyFunctions& functions, Size blocks) const {
    alignas(64) f32 lanes[16 * streams_of_one];
    const Size run = (end - begin) / streams_of_one;
    for (Size g = begin; g < begin + run; ++g) {
      functions.streams(w.group(g), run * w.group_bytes(), blocks, x, lanes);
      for (int i = 0; i < streams_of_one; ++i) write(0, g + i * run, lanes + 16 * i);
    }
    for (Size g = begin + run * streams_of_one; g < end; ++g) {
      functions.stream(w.group(g), 0, blocks, x, lanes);
      write(0, g, lanes);
    }
  }
};

void quantise_rows(const Tensor& a, const Size* row_offsets, Size rows, const WeightRows& w, ActivationBlock* x) {
  const QuantisedFormat format = quantised_format(w.dtype);
  const bool as_words = is_one(rows, w) ? multiply_functions(w.dtype).one_as_words : products_of_rows == Products::words;
  const Size step = a.strides().back(), blocks = w.k / 32;
  parallel_for(rows * blocks, 512, [&](Size begin, Size end) {
    f32 values[32];
    for (Size i = begin; i < end; ++i) {
      const Size at = row_offsets[i / blocks] + 32 * (i % blocks) * step;
      if (a.dtype() == DType::f32 && step == 1) {
        std::memcpy(values, a.buffer() + 4 * at, sizeof values);
      } else {
        for (int j = 0; j < 32; ++j) values[j] = read_float(a.dtype(), a.buffer(), at + j * step);
      }
      quantise_block(values, as_words, format.zero, format.group, x[i]);
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
  // A group's rows lie one after another but are read side by side, which no prefetcher follows.
  const Size groups = (rows.n + 15) / 16, bytes = 16 * rows.row_bytes;
  parallel_for(groups, 1, [&](Size begin, Size end) {
    for (Size g = begin; g < end; ++g) {
      const u8* const next = rows.start + (g + 1) * bytes;
      for (Size at = 0; g + 2 < groups && at < bytes; at += 64) __builtin_prefetch(next + at, 0, 2);
      rows.pack_group(g, reinterpret_cast<u8*>(y.mutable_buffer()) + g * rows.group_bytes());
    }
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
    const Size weight_offset = batch_offset(b, batch, first) / block_size(b.dtype()) * block_bytes(b.dtype());
    const WeightRows w{b.dtype(),
                       reinterpret_cast<const u8*>(b.buffer()) + weight_offset,
                       b.strides().back() / block_size(b.dtype()) * block_bytes(b.dtype()),
                       n,
                       k,
                       b.packing() == Packing::rows16};
    quantise_rows(a, offsets.as<Size>(), rows, w, x);
    const Product product{bias, y, w, x, rows, first * m};
    const Size work_per_group = w.group_bytes() * std::max<Size>(1, rows / 4);
    const Size grain = std::max<Size>(1, (Size{48} << 10) / std::max<Size>(1, work_per_group));
    parallel_for((n + 15) / 16, grain, [&](Size begin, Size end) { product.run(begin, end); });
  }
}

void register_quantised(Kernels& kernels) { kernels.add<Prepack>(Device::cpu, prepack); }

}  // namespace votive::cpu::VOTIVE_ISA
