// Lookups on the CPU: embedding, index_select, gather, and concat. Indices of any integer dtype and layout become checked positions first, all of them,
// so that nothing is written when one is out of range (CONTRACT.md 5.2); then bits are moved.
#include "votive/ops/index.h"

#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/copy.h"
#include "votive/cpu/dequantise.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 16;
constexpr Size pieces(Size bytes) { return bytes < grain_bytes ? grain_bytes / (bytes + 1) + 1 : 1; }

/// Indices as positions in [0, n), in row-major order; negative ones count from the end where `from_end` says so and the dtype is signed.
class Positions {
 public:
  Positions(std::string_view op, std::string_view name, const Tensor& indices, Size n, bool from_end) : memory_(indices.count()) {
    const bool is_signed = is_signed_integer(indices.dtype());
    const i64 low = from_end && is_signed ? -n : 0;
    const Reader in(indices, indices.layout(), DType::i64);
    const Size count = indices.count();
    for (Size at = 0; at < count; at += tile_size) {
      const Size m = count - at < tile_size ? count - at : tile_size;
      i64* place = memory_.data() + at;
      const i64* values = in.read<i64>(at, m, place);
      bool bad = false;  // a u64 past 2⁶³ is negative here, and refused as it should be
      for (Size i = 0; i < m; ++i) bad |= (values[i] < low) | (values[i] >= n);
      for (Size i = 0; bad && i < m; ++i) {
        if (values[i] < low || values[i] >= n) refuse_index(op, name, 2, indices, at + i, values[i], low, n - 1);
      }
      for (Size i = 0; i < m; ++i) place[i] = values[i] < 0 ? values[i] + n : values[i];
    }
  }
  i64 operator[](Size i) const { return memory_[i]; }

 private:
  Scratch<i64> memory_;
};

void copy_dense(std::byte* to, const std::byte* from, Size bytes) { std::memcpy(to, from, static_cast<std::size_t>(bytes)); }

void copy_rows(const Tensor& table, const Positions& rows, Size count, Tensor& y) {
  const Size D = table.shape()[1];
  const Size bytes = block_bytes(table.dtype()), row_step = table.strides()[0], step = table.strides()[1];
  const std::byte* from = table.buffer() + table.offset() * bytes;
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  parallel_for(count, pieces(D * bytes), [&](Size begin, Size end) {
    for (Size i = begin; i < end; ++i) {
      const std::byte* row = from + rows[i] * row_step * bytes;
      if (step == 1) {
        copy_dense(to + i * D * bytes, row, D * bytes);
      } else {
        gather_run(row, step, to + i * D * bytes, D, bytes);
      }
    }
  });
}

void embedding(const Embedding& op, const Tensor& table, const Tensor& ids, Tensor& y, Stream&) {
  const Positions rows(op.info.name, "ids", ids, table.shape()[0], false);
  const Size D = table.shape()[1], count = ids.count();
  if (is_quantised(table.dtype()) && !has_rows_of_blocks(table)) return copy_rows(dequantised(table), rows, count, y);
  if (is_quantised(table.dtype())) {
    f32* to = data<f32>(y);
    parallel_for(count, pieces(D * 4), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) dequantise_row(table, rows[i], to + i * D);
    });
    return;
  }
  copy_rows(table, rows, count, y);
}

Layout part_of_axes(const Layout& layout, int first, int last) {
  Layout part;
  for (int axis = first; axis < last; ++axis) {
    part.shape.push_back(layout.shape[axis]);
    part.strides.push_back(layout.strides[axis]);
  }
  return part;
}

void index_select(const IndexSelect& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Size n = x.shape()[op.axis];
  const Positions positions(op.info.name, "indices", indices, n, true);
  const Layout outer = part_of_axes(x.layout(), 0, op.axis), inner = part_of_axes(x.layout(), op.axis + 1, x.rank());
  const Walk<1> outer_walk({&outer}), inner_walk({&inner});
  const Size bytes = block_bytes(x.dtype()), axis_step = x.strides()[op.axis];
  const Size selected = indices.count(), inner_count = inner.count(), inner_step = inner_walk.step(0);
  const std::byte* from = x.buffer() + x.offset() * bytes;
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  parallel_for(outer.count() * selected, pieces(inner_count * bytes), [&](Size begin, Size end) {
    for (Size unit = begin; unit < end; ++unit) {
      Size start = positions[unit % selected] * axis_step;
      outer_walk.for_each_run(unit / selected, unit / selected + 1, [&](const std::array<Size, 1>& at, Size) { start += at[0]; });
      std::byte* place = to + unit * inner_count * bytes;
      inner_walk.for_each_run(0, inner_count, [&](const std::array<Size, 1>& at, Size m) {
        const std::byte* source = from + (start + at[0]) * bytes;
        if (inner_step == 1) {
          copy_dense(place, source, m * bytes);
        } else {
          gather_run(source, inner_step, place, m, bytes);
        }
        place += m * bytes;
      });
    }
  });
}

template <class T>
void gather_as(int axis, const Tensor& x, const Positions& positions, Tensor& y) {
  Layout other = x.layout();  // every coordinate but the one along the axis
  other.shape = y.shape();
  other.strides[axis] = 0;
  const Walk<1> walk({&other});
  const Size step = walk.step(0), axis_step = x.strides()[axis];
  const T* from = reinterpret_cast<const T*>(x.buffer());
  T* to = data<T>(y);
  parallel_for(y.count(), pieces(sizeof(T)), [&](Size begin, Size end) {
    Size i = begin;
    walk.for_each_run(begin, end, [&](const std::array<Size, 1>& at, Size m) {
      for (Size j = 0; j < m; ++j) to[i + j] = from[at[0] + j * step + positions[i + j] * axis_step];
      i += m;
    });
  });
}

void gather(const Gather& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Positions positions(op.info.name, "indices", indices, x.shape()[op.axis], true);
  switch (block_bytes(x.dtype())) {
    case 1: return gather_as<u8>(op.axis, x, positions, y);
    case 2: return gather_as<u16>(op.axis, x, positions, y);
    case 4: return gather_as<u32>(op.axis, x, positions, y);
    default: return gather_as<u64>(op.axis, x, positions, y);
  }
}

void concat(const Concat& op, std::span<const Tensor> x, Tensor& y, Stream&) {
  Size start = 0;
  for (const Tensor& part : x) {
    const Size n = part.shape()[op.axis];
    if (part.count() != 0) {
      Tensor place = Tensor::view(y, sliced(y.layout(), op.axis, start, 1, n));
      copy_elements(part, place);
    }
    start += n;
  }
}

}  // namespace

void register_index(Kernels& kernels) {
  kernels.add<Embedding>(Device::cpu, embedding);
  kernels.add<IndexSelect>(Device::cpu, index_select);
  kernels.add<Gather>(Device::cpu, gather);
  kernels.add<Concat>(Device::cpu, concat);
}

}  // namespace votive::cpu::VOTIVE_ISA
