// Movements that leave or write something beside what they copy: padding, slices written, triangles. Copies go through copy_elements; what is filled is
// only what the copy does not cover.
#include "votive/ops/movement.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "votive/base/thread_pool.h"
#include "votive/core/walk.h"
#include "votive/cpu/copy.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/positions.h"
#include "votive/cpu/tile.h"
#include "votive/cpu/types.h"
#include "votive/ops/index_syntax.h"

namespace votive::cpu::VOTIVE_ISA {
namespace {

constexpr Size grain_bytes = Size{1} << 17;

template <class T>
void fill_part(Tensor& y, const Layout& part, T value) {
  const Walk<1> walk({&part});
  const Size step = walk.step(0);
  T* const to = reinterpret_cast<T*>(y.mutable_buffer());
  parallel_for(walk.count(), grain_bytes / static_cast<Size>(sizeof(T)), [&](Size begin, Size end) {
    walk.for_each_run(begin, end, [&](const std::array<Size, 1>& at, Size n) {
      T* const run = to + at[0];
      if (step == 1) {
        std::fill_n(run, n, value);
      } else {
        for (Size i = 0; i < n; ++i) run[i * step] = value;
      }
    });
  });
}

/// Where the elements of `at` are a box inside row-major `y`, its first corner; the outside is then a few slabs.
bool corner_of_box(const Layout& y, const Layout& at, Size* corner) {
  if (at.rank() != y.rank()) return false;
  Size rest = at.offset;
  for (int axis = 0; axis < y.rank(); ++axis) {
    if (at.shape[axis] > 1 && at.strides[axis] != y.strides[axis]) return false;
    corner[axis] = y.strides[axis] == 0 ? 0 : rest / y.strides[axis];
    rest -= corner[axis] * y.strides[axis];
  }
  return true;
}

template <class T>
void place_as(const Place& op, const Tensor& x, Tensor& y) {
  const T value = static_cast<T>(op.bits);
  Size corner[max_rank];
  Layout inside = y.layout();
  if (x.count() == 0 || !corner_of_box(y.layout(), op.at, corner)) {
    fill_part(y, inside, value);
  } else {
    for (int axis = 0; axis < y.rank(); ++axis) {  // what lies before and after the box along this axis, inside it along those before
      const Size first = corner[axis], n = op.at.shape[axis], size = y.shape()[axis];
      if (first > 0) fill_part(y, sliced(inside, axis, 0, 1, first), value);
      if (first + n < size) fill_part(y, sliced(inside, axis, first + n, 1, size - first - n), value);
      inside = sliced(inside, axis, first, 1, n);
    }
  }
  if (x.count() == 0) return;
  Tensor target = Tensor::view(y, op.at);
  copy_elements(x, target);
}

void place(const Place& op, const Tensor& x, Tensor& y, Stream&) {
  switch (block_bytes(x.dtype())) {
    case 1: return place_as<u8>(op, x, y);
    case 2: return place_as<u16>(op, x, y);
    case 4: return place_as<u32>(op, x, y);
    default: return place_as<u64>(op, x, y);
  }
}

void overlay(const Overlay& op, const Tensor& x, const Tensor& source, Tensor& y, Stream&) {
  copy_elements(x, y);
  if (source.count() == 0) return;
  Tensor target = Tensor::view(y, op.at);
  copy_elements(source, target);
}

void triangle(const Triangle& op, const Tensor& x, Tensor& y, Stream&) {
  copy_elements(x, y);
  const Size rows = y.shape()[y.rank() - 2], columns = y.shape()[y.rank() - 1], bytes = block_bytes(y.dtype());
  std::byte* const to = y.mutable_buffer() + y.offset() * bytes;
  parallel_for(y.count() / columns, grain_bytes / (columns * bytes) + 1, [&](Size begin, Size end) {
    for (Size row = begin; row < end; ++row) {
      const Size at = row % rows + op.offset;  // the diagonal's column
      const Size first = op.lower ? std::clamp<Size>(at + 1, 0, columns) : 0, last = op.lower ? columns : std::clamp<Size>(at, 0, columns);
      std::memset(to + (row * columns + first) * bytes, 0, static_cast<std::size_t>((last - first) * bytes));
    }
  });
}

void locate(const Locate& op, std::span<const Tensor> indices, Tensor& y, Stream&) {
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::string entry = "at[" + std::to_string(op.entries[k]) + "]";
    const Positions checked({op.info.name, entry, 2, op.axes[k], op.sizes[static_cast<int>(k)]}, indices[k]);
  }
  i64* const positions = data<i64>(y);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Reader in(indices[k], broadcast_layout(indices[k].layout(), y.shape()), DType::i64);
    const Size n = op.sizes[static_cast<int>(k)];
    parallel_for(y.count(), 16 * tile_size, [&](Size begin, Size end) {
      Tile tile;
      for (Size at = begin; at < end; at += tile_size) {
        const Size m = end - at < tile_size ? end - at : tile_size;
        const i64* values = in.read<i64>(at, m, &tile);
        i64* const to = positions + at;
        for (Size i = 0; i < m; ++i) to[i] = (k == 0 ? 0 : to[i] * n) + (values[i] < 0 ? values[i] + n : values[i]);
      }
    });
  }
}

void bitcast(const Bitcast&, const Tensor& x, Tensor& y, Stream&) { copy_elements(x, y); }

}  // namespace

void register_movement(Kernels& kernels) {
  kernels.add<Place>(Device::cpu, place);
  kernels.add<Overlay>(Device::cpu, overlay);
  kernels.add<Triangle>(Device::cpu, triangle);
  kernels.add<Bitcast>(Device::cpu, bitcast);
  kernels.add<Locate>(Device::cpu, locate);
}

}  // namespace votive::cpu::VOTIVE_ISA
