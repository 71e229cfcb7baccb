// Windows as columns and back (im2col, col2im) on the CPU: rows of an input axis at a time. Sums of overlapping windows run over the taps in order, in one
// plane by one thread. Not here: convolutions, which never make the columns (conv.cpp).
#include "votive/base/thread_pool.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/ops/conv.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }

/// Windows begin … end of one tap lie inside an axis of n elements.
struct Inside {
  Size begin, end, first;  // first: the element that window 0 would read
  Inside(const Windows& w, std::size_t i, Size tap, Size n) : first(tap * w.dilation[i] - w.before[i]) {
    begin = first >= 0 ? 0 : least(w.size[i], (-first + w.stride[i] - 1) / w.stride[i]);
    end = first >= n ? begin : most(begin, least(w.size[i], (n - 1 - first) / w.stride[i] + 1));
  }
};

template <class Word>
void im2col_words(const Windows& w, const Tensor& x, int axes, Tensor& y) {
  const Spatial in = spatial_of(x.shape(), axes);
  Spatial step = spatial_of(x.strides(), axes);
  const Size channels = x.shape()[1], taps = w.taps(), windows = w.count();
  parallel_for(x.shape()[0] * channels * taps, most(1, 16384 / windows), [&](Size first, Size last) {
    for (Size i = first; i < last; ++i) {
      const Size tap = i % taps, plane = i / taps;
      const Word* from = data<Word>(x) + plane / channels * x.strides()[0] + plane % channels * x.strides()[1];
      Word* to = data<Word>(y) + i * windows;
      const Inside a(w, 0, tap / (w.kernel[2] * w.kernel[1]), in[0]), b(w, 1, tap / w.kernel[2] % w.kernel[1], in[1]),
          c(w, 2, tap % w.kernel[2], in[2]);
      for (Size o0 = 0; o0 < w.size[0]; ++o0) {
        for (Size o1 = 0; o1 < w.size[1]; ++o1, to += w.size[2]) {
          if (o0 < a.begin || o0 >= a.end || o1 < b.begin || o1 >= b.end) {
            for (Size j = 0; j < w.size[2]; ++j) to[j] = 0;
            continue;
          }
          const Word* row = from + (o0 * w.stride[0] + a.first) * step[0] + (o1 * w.stride[1] + b.first) * step[1] + c.first * step[2];
          const Size each = w.stride[2] * step[2];
          for (Size j = 0; j < c.begin; ++j) to[j] = 0;
          if (each == 1) {
            for (Size j = c.begin; j < c.end; ++j) to[j] = row[j];
          } else {
            for (Size j = c.begin; j < c.end; ++j) to[j] = row[j * each];
          }
          for (Size j = c.end; j < w.size[2]; ++j) to[j] = 0;
        }
      }
    }
  });
}

void im2col(const Im2Col& op, const Tensor& x, Tensor& y, Stream&) {
  const Windows w = op.windows.in_three();
  const int axes = op.windows.axes;
  switch (block_bytes(x.dtype())) {
    case 1: return im2col_words<u8>(w, x, axes, y);
    case 2: return im2col_words<u16>(w, x, axes, y);
    case 4: return im2col_words<u32>(w, x, axes, y);
    default: return im2col_words<u64>(w, x, axes, y);
  }
}

template <class T>
void col2im_as(const Col2Im& op, const Tensor& x, Tensor& y) {
  constexpr DType as = sizeof(T) == 8 ? DType::f64 : DType::f32;
  const Windows w = op.windows.in_three();
  const Spatial in = spatial_of(y.shape(), op.windows.axes);
  const Size taps = w.taps(), windows = w.count(), plane = in[0] * in[1] * in[2], planes = y.shape()[0] * y.shape()[1];
  const Reader read(x, x.layout(), as);
  const Writer write(y, y.layout(), as);
  parallel_for(planes, most(1, 8192 / most(1, taps * windows)), [&](Size first, Size last) {
    const Scratch<T> room(windows), sums(plane);
    for (Size p = first; p < last; ++p) {
      T* sum = write.template place<T>(p * plane, sums.data());
      for (Size i = 0; i < plane; ++i) sum[i] = 0;
      for (Size tap = 0; tap < taps; ++tap) {
        const T* from = read.template read<T>((p * taps + tap) * windows, windows, room.data());
        const Inside a(w, 0, tap / (w.kernel[2] * w.kernel[1]), in[0]), b(w, 1, tap / w.kernel[2] % w.kernel[1], in[1]),
            c(w, 2, tap % w.kernel[2], in[2]);
        for (Size o0 = a.begin; o0 < a.end; ++o0) {
          for (Size o1 = b.begin; o1 < b.end; ++o1) {
            const T* row = from + (o0 * w.size[1] + o1) * w.size[2];
            T* to = sum + ((o0 * w.stride[0] + a.first) * in[1] + o1 * w.stride[1] + b.first) * in[2] + c.first;
            if (w.stride[2] == 1) {
              for (Size j = c.begin; j < c.end; ++j) to[j] += row[j];
            } else {
              for (Size j = c.begin; j < c.end; ++j) to[j * w.stride[2]] += row[j];
            }
          }
        }
      }
      write.write(p * plane, plane, sum);
    }
    write.finish();
  });
}

void col2im(const Col2Im& op, const Tensor& x, Tensor& y, Stream&) {
  if (x.count() == 0) {
    std::memset(y.mutable_buffer(), 0, static_cast<std::size_t>(y.count() * block_bytes(y.dtype())));
    return;
  }
  if (x.dtype() == DType::f64) return col2im_as<f64>(op, x, y);
  col2im_as<f32>(op, x, y);
}

}  // namespace

void register_unfold(Kernels& kernels) {
  kernels.add<Im2Col>(Device::cpu, im2col);
  kernels.add<Col2Im>(Device::cpu, col2im);
}

}  // namespace votive::cpu::VOTIVE_ISA
