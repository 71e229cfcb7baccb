// Lookups on the CPU: embedding, index_select, gather, and concat. Indices of any integer dtype and layout become checked positions first, all of them,
// so that nothing is written when one is out of range (CONTRACT.md 5.2); then bits are moved.
#include "votive/ops/index.h"

#include <algorithm>
#include <cstring>

#include "votive/base/thread_pool.h"
#include "votive/cpu/copy.h"
#include "votive/cpu/dequantise.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/positions.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 16;
constexpr Size pieces(Size bytes) { return bytes < grain_bytes ? grain_bytes / (bytes + 1) + 1 : 1; }

/// Dense slices of `bytes` into y, one after another: past the caches where y is that large and they are whole lines, and with those to come on their way,
/// since only the indices say where they are.
class Slices {
 public:
  Slices(const Tensor& y, Size bytes)
      : bytes_(bytes),
        ahead_(bytes == 0 || bytes > fetched ? 1 : std::min<Size>(fetched / bytes, 16)),
        streams_(y.count() * block_bytes(y.dtype()) >= stream_threshold && bytes % 64 == 0 &&
                 reinterpret_cast<std::uintptr_t>(y.buffer() + y.offset() * block_bytes(y.dtype())) % 64 == 0) {}

  /// Slices [begin, end), the first of them to `to`; at(i) is where slice i lies.
  template <class At>
  void copy(std::byte* to, Size begin, Size end, const At& at) const {
    for (Size i = begin; i < end; ++i, to += bytes_) {
      if (i + ahead_ < end) {
        const std::byte* const soon = at(i + ahead_);
        for (Size line = 0; line < bytes_ && line < fetched; line += 64) __builtin_prefetch(soon + line, 0, 2);
      }
      if (streams_) {
        stream_bytes(to, at(i), bytes_);
      } else {
        std::memcpy(to, at(i), static_cast<std::size_t>(bytes_));
      }
    }
    if (streams_) stream_fence();
  }

 private:
  static constexpr Size fetched = 4096;
  Size bytes_, ahead_;
  bool streams_;
};

void copy_rows(const Tensor& table, const Positions& rows, Size count, Tensor& y) {
  const Size D = table.shape()[1];
  const Size bytes = block_bytes(table.dtype()), row_step = table.strides()[0], step = table.strides()[1];
  const std::byte* from = table.buffer() + table.offset() * bytes;
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  const Slices slices(y, D * bytes);
  parallel_for(count, pieces(D * bytes), [&](Size begin, Size end) {
    if (step == 1) return slices.copy(to + begin * D * bytes, begin, end, [&](Size i) { return from + rows[i] * row_step * bytes; });
    for (Size i = begin; i < end; ++i) gather_run(from + rows[i] * row_step * bytes, step, to + i * D * bytes, D, bytes);
  });
}

void embedding(const Embedding& op, const Tensor& table, const Tensor& ids, Tensor& y, Stream&) {
  const Positions rows({op.info.name, "ids", 2, 0, table.shape()[0], false}, ids);
  const Size D = table.shape()[1], count = ids.count();
  if (is_quantised(table.dtype()) && !has_rows_of_blocks(table)) return copy_rows(dequantised(table), rows, count, y);
  if (is_quantised(table.dtype())) {
    f32* to = data<f32>(y);
    parallel_for(count, pieces(D * 4), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) dequantise_row(table, rows[i], to + i * D);
    });
    return;
  }
  if (table.packing() == Packing::panels) {
    const Size bytes = D * block_bytes(table.dtype());
    std::byte* to = y.mutable_buffer() + y.offset() * block_bytes(table.dtype());
    if (table.strides()[1] != 1) return copy_rows(unpacked(table), rows, count, y);
    parallel_for(count, pieces(bytes), [&](Size begin, Size end) {
      for (Size i = begin; i < end; ++i) read_packed_floats(table, rows[i], to + i * bytes);
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

/// Slices of one element along a dense or strided axis, where a call per slice would cost more than the slice.
template <class T>
void select_elements(const T* from, Size step, const i64* positions, Size n, T* to) {
  for (Size i = 0; i < n; ++i) to[i] = from[positions[i] * step];
}

void select_elements(const std::byte* from, Size step, const i64* positions, Size n, std::byte* to, Size bytes) {
  const auto as = [&]<class T>(T) { select_elements(reinterpret_cast<const T*>(from), step, positions, n, reinterpret_cast<T*>(to)); };
  switch (bytes) {
    case 1: return as(u8{});
    case 2: return as(u16{});
    case 4: return as(u32{});
    default: return as(u64{});
  }
}

void index_select(const IndexSelect& op, const Tensor& x, const Tensor& indices, Tensor& y, Stream&) {
  const Size n = x.shape()[op.axis];
  const Positions positions(op.range(n), indices);
  const Layout outer = part_of_axes(x.layout(), 0, op.axis), inner = part_of_axes(x.layout(), op.axis + 1, x.rank());
  const Walk<1> outer_walk({&outer}), inner_walk({&inner});
  const Size bytes = block_bytes(x.dtype()), axis_step = x.strides()[op.axis];
  const Size selected = indices.count(), inner_count = inner.count(), inner_step = inner_walk.step(0);
  const bool one_run = inner_walk.inner() == inner_count;
  const std::byte* from = x.buffer() + x.offset() * bytes;
  std::byte* to = y.mutable_buffer() + y.offset() * bytes;
  const Slices slices(y, inner_count * bytes);
  parallel_for(outer.count() * selected, pieces(inner_count * bytes), [&](Size begin, Size end) {
    for (Size unit = begin; unit < end;) {
      const Size o = unit / selected, k = unit % selected, m = selected - k < end - unit ? selected - k : end - unit;
      Size start = 0;
      outer_walk.for_each_run(o, o + 1, [&](const std::array<Size, 1>& at, Size) { start += at[0]; });
      std::byte* place = to + unit * inner_count * bytes;
      const std::byte* base = from + start * bytes;
      unit += m;
      if (inner_count == 1) {
        select_elements(base, axis_step, positions.data() + k, m, place, bytes);
        continue;
      }
      if (one_run && inner_step == 1) {
        slices.copy(place, k, k + m, [&](Size i) { return base + positions[i] * axis_step * bytes; });
        continue;
      }
      for (Size i = k; i < k + m; ++i) {
        const std::byte* slice = base + positions[i] * axis_step * bytes;
        inner_walk.for_each_run(0, inner_count, [&](const std::array<Size, 1>& at, Size run) {
          gather_run(slice + at[0] * bytes, inner_step, place, run, bytes);
          place += run * bytes;
        });
      }
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
  const Positions positions(op.range(x.shape()[op.axis]), indices);
  switch (block_bytes(x.dtype())) {
    case 1: return gather_as<u8>(op.axis, x, positions, y);
    case 2: return gather_as<u16>(op.axis, x, positions, y);
    case 4: return gather_as<u32>(op.axis, x, positions, y);
    default: return gather_as<u64>(op.axis, x, positions, y);
  }
}

void index_places(const IndexPlaces& op, const Tensor& indices, Tensor& y, Stream&) {
  const Positions positions(op.range, indices);
  std::memcpy(data<i64>(y), positions.data(), sizeof(i64) * static_cast<std::size_t>(indices.count()));
}

/// Two walks over blocks of the mask: count, then write where the blocks before end.
void nonzero(const Nonzero& op, const Tensor& mask, Tensor& y, Stream&) {
  constexpr Size block = 16 * tile_size;
  const Size count = mask.count(), blocks = (count + block - 1) / block;
  const Reader in(mask, mask.layout(), DType::boolean);
  const auto for_each_tile = [&](Size b, auto body) {
    Tile room;
    const Size end = count < (b + 1) * block ? count : (b + 1) * block;
    for (Size at = b * block; at < end; at += tile_size) {
      const Size m = end - at < tile_size ? end - at : tile_size;
      body(at, in.read<u8>(at, m, room.bytes), m);
    }
  };
  const Scratch<Size> found(blocks);
  parallel_for(blocks, 1, [&](Size begin, Size end) {
    for (Size b = begin; b < end; ++b) {
      Size n = 0;
      for_each_tile(b, [&](Size, const u8* truth, Size m) {
        for (Size i = 0; i < m; ++i) n += truth[i];
      });
      found[b] = n;
    }
  });
  Size total = 0;
  for (Size b = 0; b < blocks; ++b) {
    const Size n = found[b];
    found[b] = total;
    total += n;
  }
  const int rank = op.coordinates ? mask.rank() : 1;
  const Strides steps = contiguous_strides(mask.shape());
  i64* to = data<i64>(y);
  parallel_for(blocks, 1, [&](Size begin, Size end) {
    for (Size b = begin; b < end; ++b) {
      i64* place = to + found[b] * rank;
      for_each_tile(b, [&](Size at, const u8* truth, Size m) {
        for (Size i = 0; i < m; ++i) {
          if (truth[i] == 0) continue;
          if (!op.coordinates) *place++ = at + i;
          for (int axis = 0; op.coordinates && axis < rank; ++axis) *place++ = (at + i) / steps[axis] % mask.shape()[axis];
        }
      });
    }
  });
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
  kernels.add<IndexPlaces>(Device::cpu, index_places);
  kernels.add<Nonzero>(Device::cpu, nonzero);
  kernels.add<Concat>(Device::cpu, concat);
}

}  // namespace votive::cpu::VOTIVE_ISA
