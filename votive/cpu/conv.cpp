// Convolutions on the CPU: products of the weights with windows that are put together tile by tile where the packed matmul needs them, so that the unfolded
// input never exists. A transposed convolution is one such product per residue of the stride. Rows of one channel go without a matrix.
// Not here: the order of additions (matmul_tile.h) and unfolding as an operation (unfold.cpp).
#include "votive/ops/conv.h"

#include <array>
#include <numeric>

#include "votive/base/thread_pool.h"
#include "votive/cpu/convert.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/matmul.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"
#include "votive/numerics/portable.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

constexpr Size least(Size a, Size b) { return a < b ? a : b; }
constexpr Size most(Size a, Size b) { return a > b ? a : b; }

/// One axis: tap t of output o reads input o·stride + t·step + origin, which may lie outside [0, in).
struct Axis {
  Size in, out, taps, stride, step, origin;
  Size x_stride;                   // elements
  Size kernel_first, kernel_step;  // tap t is w's kernel index kernel_first + t·kernel_step
};

struct Convolution {
  std::array<Axis, 3> axes;
  Size images, groups, channels, rows;  // channels and rows of y per group
  Size x_image, x_channel;
  DType dtype;
  const std::byte* x;

  Size taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  Size positions() const { return axes[0].out * axes[1].out * axes[2].out; }
  Size k() const { return taps() * channels; }
};

// ---- windows ----

/// b[k, column]: k counts taps and, faster, channels; a column is an output position, of one image or of all in order.
template <class Word>
class Gathered final : public GatheredColumns {
 public:
  explicit Gathered(const Convolution& c) : c_(c) {}

  void fill(Size offset, Size column, int columns, int width, Size k0, Size k, std::byte* to) const override {
    Run runs[max_columns];
    const int count = runs_of(column, columns, runs);
    const Word* x = reinterpret_cast<const Word*>(c_.x) + offset;
    Word* row = reinterpret_cast<Word*>(to);
    const auto& [a0, a1, a2] = c_.axes;
    Size tap = k0 / c_.channels, channel = k0 % c_.channels;
    for (Size left = k; left > 0;) {
      const Size n = least(left, c_.channels - channel);
      const Size t2 = tap % a2.taps, t1 = tap / a2.taps % a1.taps, t0 = tap / (a2.taps * a1.taps);
      for (int r = 0; r < count; ++r) {
        const Run& run = runs[r];
        const Size i0 = run.i0 + t0 * a0.step, i1 = run.i1 + t1 * a1.step, i2 = run.i2 + t2 * a2.step;
        const bool inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in;
        // elements begin … end of the run lie inside the last axis
        const Size begin = !inside ? run.length : i2 >= 0 ? 0 : least(run.length, (-i2 + a2.stride - 1) / a2.stride);
        const Size end = !inside || i2 >= a2.in ? begin : most(begin, least(run.length, (a2.in - 1 - i2) / a2.stride + 1));
        const Word* from = x + run.image + channel * c_.x_channel + i0 * a0.x_stride + i1 * a1.x_stride + i2 * a2.x_stride;
        copy(from, row + run.at, n, width, run.length, begin, end);
      }
      if (columns < width) {
        for (Size i = 0; i < n; ++i) std::fill_n(row + i * width + columns, width - columns, Word{0});
      }
      row += n * width;
      left -= n;
      channel = 0;
      ++tap;
    }
  }

 private:
  static constexpr int max_columns = 128;  // of a panel: eight vectors of 16

  /// Neighbouring outputs along the last axis; i0 … i2 is where their first tap reads.
  struct Run {
    Size image, i0, i1, i2;
    int at, length;
  };

  int runs_of(Size column, int columns, Run* runs) const {
    const auto& [a0, a1, a2] = c_.axes;
    int count = 0;
    for (int at = 0; at < columns;) {
      const Size o2 = column % a2.out, o1 = column / a2.out % a1.out, o0 = column / (a2.out * a1.out) % a0.out;
      const int length = static_cast<int>(least(columns - at, a2.out - o2));
      runs[count++] = {column / c_.positions() * c_.x_image,
                       o0 * a0.stride + a0.origin,
                       o1 * a1.stride + a1.origin,
                       o2 * a2.stride + a2.origin,
                       at,
                       length};
      at += length;
      column += length;
    }
    return count;
  }

  /// The same piece of a row for n channels.
  void copy(const Word* from, Word* to, Size n, Size width, Size length, Size begin, Size end) const {
    const Size step = c_.axes[2].stride * c_.axes[2].x_stride;
    for (Size i = 0; i < n; ++i, from += c_.x_channel, to += width) {
      for (Size j = 0; j < begin; ++j) to[j] = 0;
      if (step == 1) {
        for (Size j = begin; j < end; ++j) to[j] = from[j];
      } else {
        for (Size j = begin; j < end; ++j) to[j] = from[j * step];
      }
      for (Size j = end; j < length; ++j) to[j] = 0;
    }
  }

  const Convolution& c_;
};

// ---- weights ----

/// w's elements as rows of k: [groups·rows, taps, channels].
template <class Word>
void arrange_weights(const Convolution& c, const Word* w, Size group_step, Size row_step, Size channel_step, const Size* kernel_steps,
                     Word* to) {
  const Size k = c.k();
  parallel_for(c.groups * c.rows, most(1, 8192 / (k + 1)), [&](Size begin, Size end) {
    for (Size row = begin; row < end; ++row) {
      const Word* from = w + row / c.rows * group_step + row % c.rows * row_step;
      Word* at = to + row * k;
      const auto& [a0, a1, a2] = c.axes;
      for (Size t0 = 0; t0 < a0.taps; ++t0) {
        for (Size t1 = 0; t1 < a1.taps; ++t1) {
          for (Size t2 = 0; t2 < a2.taps; ++t2) {
            const Word* tap = from + (a0.kernel_first + t0 * a0.kernel_step) * kernel_steps[0] +
                              (a1.kernel_first + t1 * a1.kernel_step) * kernel_steps[1] +
                              (a2.kernel_first + t2 * a2.kernel_step) * kernel_steps[2];
            for (Size i = 0; i < c.channels; ++i) *at++ = tap[i * channel_step];
          }
        }
      }
    }
  });
}

/// A bias in the accumulator's type, or nothing.
template <class Acc>
class Bias {
 public:
  explicit Bias(const Tensor& bias) : room_(bias.defined() ? bias.count() : 0), present_(bias.defined()) {
    if (present_)
      values_ = Reader(bias, bias.layout(), sizeof(Acc) == 8 ? DType::f64 : DType::f32).template read<Acc>(0, bias.count(), room_.data());
  }
  const Acc* data() const { return present_ ? values_ : nullptr; }

 private:
  Scratch<Acc> room_;
  bool present_;
  const Acc* values_ = nullptr;
};

// ---- one channel in, one row out: no matrix, a row of outputs at a time ----

constexpr Size longest_plane_kernel = 1024;  // taps of one block

bool is_plane_by_plane(const Convolution& c) {
  return c.rows == 1 && c.channels == 1 && c.dtype != DType::bf16 && c.taps() > 0 && c.taps() <= longest_plane_kernel &&
         c.axes[2].x_stride == 1;
}

VOTIVE_SCALAR f32 fused(f32 a, f32 b, f32 c) { return numerics::fma_f32(a, b, c); }
VOTIVE_SCALAR f64 fused(f64 a, f64 b, f64 c) { return numerics::fma_f64(a, b, c); }

template <class Acc>
void add_taps(const Acc* __restrict x, Size stride, Acc w, Acc* __restrict sum, Size n) {
  if (stride == 1) {
    for (Size j = 0; j < n; ++j) sum[j] = fused(w, x[j], sum[j]);
  } else if (stride == 2) {
    for (Size j = 0; j < n; ++j) sum[j] = fused(w, x[2 * j], sum[j]);
  } else {
    for (Size j = 0; j < n; ++j) sum[j] = fused(w, x[j * stride], sum[j]);
  }
}

/// weights: [groups, taps] in the accumulator's type; y [images, groups, positions].
template <class Acc>
void convolve_planes(const Convolution& c, const Acc* weights, const Acc* bias, std::byte* y) {
  const auto& [a0, a1, a2] = c.axes;
  constexpr DType as = sizeof(Acc) == 8 ? DType::f64 : DType::f32;
  const Size bytes = block_bytes(c.dtype), n = a2.out, reach = (a2.out - 1) * a2.stride + (a2.taps - 1) * a2.step + 1;
  const Conversion load(c.dtype, as), store(as, c.dtype);
  // the input's elements that a row of outputs reads: padding, from … to, padding
  const Size from = a2.origin < 0 ? least(-a2.origin, reach) : 0;
  const Size to = most(from, least(reach, a2.in - a2.origin));
  const Size rows_of_plane = a0.out * a1.out;
  parallel_for(c.images * c.groups * rows_of_plane, most(1, 32768 / (n * c.taps() + 1)), [&](Size begin, Size end) {
    const Scratch<Acc> padded(reach), sum(n);
    for (Size i = 0; i < reach; ++i) padded[i] = 0;
    for (Size i = begin; i < end; ++i) {
      const Size plane = i / rows_of_plane, group = plane % c.groups, o0 = i % rows_of_plane / a1.out, o1 = i % a1.out;
      const std::byte* x = c.x + (plane / c.groups * c.x_image + group * c.x_channel) * bytes;
      const Acc* w = weights + group * c.taps();
      for (Size j = 0; j < n; ++j) sum[j] = 0;
      for (Size t0 = 0; t0 < a0.taps; ++t0) {
        const Size i0 = o0 * a0.stride + t0 * a0.step + a0.origin;
        for (Size t1 = 0; t1 < a1.taps; ++t1) {
          const Size i1 = o1 * a1.stride + t1 * a1.step + a1.origin;
          const bool inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in && to > from;
          if (inside) {
            const std::byte* row = x + (i0 * a0.x_stride + i1 * a1.x_stride + a2.origin + from) * bytes;
            if (load.is_identity()) {
              std::memcpy(padded.data() + from, row, static_cast<std::size_t>((to - from) * bytes));
            } else {
              load(row, reinterpret_cast<std::byte*>(padded.data() + from), to - from);
            }
          } else {
            for (Size j = from; j < to; ++j) padded[j] = 0;
          }
          for (Size t2 = 0; t2 < a2.taps; ++t2) add_taps(padded.data() + t2 * a2.step, a2.stride, *w++, sum.data(), n);
        }
      }
      if (bias != nullptr) {
        for (Size j = 0; j < n; ++j) sum[j] += bias[group];
      }
      std::byte* at = y + i * n * bytes;
      if (store.is_identity()) {
        std::memcpy(at, sum.data(), static_cast<std::size_t>(n * bytes));
      } else {
        store(reinterpret_cast<const std::byte*>(sum.data()), at, n);
      }
    }
  });
}

// ---- a convolution as products ----

/// Whether windows are the input itself: one tap at every element, the spatial axes evenly spaced.
bool is_plain_product(const Convolution& c) {
  for (const Axis& a : c.axes) {
    if (a.taps != 1 || a.stride != 1 || a.origin != 0 || a.out != a.in) return false;
  }
  const auto& [a0, a1, a2] = c.axes;
  if (a1.in != 1 && a1.x_stride != a2.in * a2.x_stride) return false;
  return a0.in == 1 || a0.x_stride == a1.in * a2.in * a2.x_stride;
}

void multiply(const MatrixProduct& p) {
  if (p.y_dtype == DType::f64) return multiply_f64(p);
  if (p.b.dtype == DType::bf16) return multiply_bf16(p);
  multiply_f32(p);
}

/// [groups, rows, images, positions] to [images, groups, rows, positions].
void put_images_first(const Convolution& c, const std::byte* from, std::byte* to) {
  const Size bytes = c.positions() * block_bytes(c.dtype), rows = c.groups * c.rows;
  for (Size row = 0; row < rows; ++row) {
    for (Size n = 0; n < c.images; ++n)
      std::memcpy(to + (n * rows + row) * bytes, from + (row * c.images + n) * bytes, static_cast<std::size_t>(bytes));
  }
}

/// y [images, groups·rows, positions] from weights [groups·rows, k].
template <class Word>
void convolve_as_product(const Convolution& c, const Word* weights, const void* bias, std::byte* y) {
  const Gathered<Word> windows(c);
  const Size k = c.k(), positions = c.positions();
  // Few positions of many images are the columns of one product.
  const bool joined = c.images > 1 && positions < 128;
  const Scratch<Word> together(joined ? c.images * c.groups * c.rows * positions : 0);
  MatrixProduct p{.m = c.rows,
                  .n = joined ? c.images * positions : positions,
                  .k = k,
                  .a = {reinterpret_cast<const std::byte*>(weights), c.dtype, k, 1},
                  .b = {c.x, c.dtype, 0, 0},
                  .y = joined ? reinterpret_cast<std::byte*>(together.data()) : y,
                  .y_dtype = c.dtype,
                  .bias = bias,
                  .batch = joined ? Shape{c.groups} : Shape{c.images, c.groups},
                  .a_batch = joined ? Strides{c.rows * k} : Strides{0, c.rows * k},
                  .b_batch = joined ? Strides{c.channels * c.x_channel} : Strides{c.x_image, c.channels * c.x_channel},
                  .bias_rows = bias != nullptr ? c.groups * c.rows : 0,
                  .gathered = &windows};
  if (!joined && is_plain_product(c)) {
    p.gathered = nullptr;
    p.b.row = c.x_channel;
    p.b.column = c.axes[2].in != 1 ? c.axes[2].x_stride : c.axes[1].in != 1 ? c.axes[1].x_stride : c.axes[0].x_stride;
  }
  multiply(p);
  if (joined) put_images_first(c, reinterpret_cast<const std::byte*>(together.data()), y);
}

/// w [groups·a, b, kernel…] read with the strides of its axes: where rows, channels and groups are.
struct WeightSteps {
  Size group, row, channel, kernel[3];
};

template <class Word>
void convolve(const Convolution& c, const Tensor& w, const WeightSteps& steps, const Tensor& bias, std::byte* y) {
  const Scratch<Word> weights(c.groups * c.rows * c.k());
  arrange_weights(c, data<Word>(w), steps.group, steps.row, steps.channel, steps.kernel, weights.data());
  if (c.dtype == DType::f64) {
    const Bias<f64> wide(bias);
    if (is_plane_by_plane(c)) return convolve_planes<f64>(c, reinterpret_cast<const f64*>(weights.data()), wide.data(), y);
    return convolve_as_product(c, weights.data(), wide.data(), y);
  }
  const Bias<f32> wide(bias);
  if (!is_plane_by_plane(c)) return convolve_as_product(c, weights.data(), wide.data(), y);
  const Size n = c.groups * c.taps();
  const Scratch<f32> widened(n);
  if (c.dtype == DType::f32) {
    std::memcpy(widened.data(), weights.data(), static_cast<std::size_t>(n) * sizeof(f32));
  } else {
    Conversion(c.dtype, DType::f32)(reinterpret_cast<const std::byte*>(weights.data()), reinterpret_cast<std::byte*>(widened.data()), n);
  }
  convolve_planes<f32>(c, widened.data(), wide.data(), y);
}

void convolve_any(const Convolution& c, const Tensor& w, const WeightSteps& steps, const Tensor& bias, std::byte* y) {
  switch (block_bytes(c.dtype)) {
    case 2: return convolve<u16>(c, w, steps, bias, y);
    case 4: return convolve<f32>(c, w, steps, bias, y);
    default: return convolve<f64>(c, w, steps, bias, y);
  }
}

Convolution over(const Tensor& x, Size groups, Size rows, int axes) {
  Convolution c{.axes = {},
                .images = x.shape()[0],
                .groups = groups,
                .channels = x.shape()[1] / groups,
                .rows = rows,
                .x_image = x.strides()[0],
                .x_channel = x.strides()[1],
                .dtype = x.dtype(),
                .x = x.buffer() + x.offset() * block_bytes(x.dtype())};
  const Spatial in = spatial_of(x.shape(), axes), steps = spatial_of(x.strides(), axes);
  for (std::size_t i = 0; i < 3; ++i) {
    c.axes[i] = {.in = in[i], .out = 1, .taps = 1, .stride = 1, .step = 1, .origin = 0, .x_stride = 1, .kernel_first = 0, .kernel_step = 1};
    if (static_cast<int>(i) >= 3 - axes) c.axes[i].x_stride = steps[i];
  }
  return c;
}

WeightSteps steps_of(const Tensor& w, int axes, Size group, Size row, Size channel) {
  WeightSteps steps{group, row, channel, {0, 0, 0}};
  for (int axis = 0; axis < axes; ++axis) steps.kernel[axis + 3 - axes] = w.strides()[axis + 2];
  return steps;
}

void conv(const Conv& op, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&) {
  const int axes = op.windows.axes;
  const Size rows = w.shape()[0] / op.groups;
  Convolution c = over(x, op.groups, rows, axes);
  const Windows windows = op.windows.in_three();
  for (std::size_t i = 0; i < 3; ++i) {
    Axis& axis = c.axes[i];
    axis.out = windows.size[i];
    axis.taps = windows.kernel[i];
    axis.stride = windows.stride[i];
    axis.step = windows.dilation[i];
    axis.origin = -windows.before[i];
  }
  convolve_any(c, w, steps_of(w, axes, rows * w.strides()[0], w.strides()[0], w.strides()[1]), bias, y.mutable_buffer());
}

// ---- transposed: outputs whose index has one residue modulo the stride are a convolution of stride 1 with every so-manieth tap ----

/// Outputs residue, residue + stride, … of one axis of y: the taps that reach them, the last first.
bool residue_axis(const Windows& w, std::size_t i, Size residue, Axis& axis) {
  const Size s = w.stride[i], d = w.dilation[i];
  axis.out = residue < w.size[i] ? (w.size[i] - residue - 1) / s + 1 : 0;
  const Size spacing = s / std::gcd(s, d);
  Size first = 0;
  while (first < least(spacing, w.kernel[i]) && (residue + w.before[i] - first * d) % s != 0) ++first;
  if (first >= least(spacing, w.kernel[i])) {
    axis.taps = 0;
    return axis.out > 0;
  }
  axis.taps = (w.kernel[i] - 1 - first) / spacing + 1;
  axis.kernel_first = first + (axis.taps - 1) * spacing;
  axis.kernel_step = -spacing;
  axis.origin = (residue + w.before[i] - axis.kernel_first * d) / s;
  axis.step = spacing * d / s;
  return axis.out > 0;
}

/// Rows of `from`, [planes, positions of the residues], to every stride-th element of y's planes.
template <class Word>
void interleave(const Convolution& c, const Windows& w, const Spatial& residue, const Word* from, Word* to) {
  const auto& [a0, a1, a2] = c.axes;
  const Size planes = c.images * c.groups * c.rows, plane = w.count();
  parallel_for(planes, most(1, 16384 / c.positions()), [&, from, to](Size begin, Size end) {
    const Word* at = from + begin * c.positions();
    for (Size p = begin; p < end; ++p) {
      for (Size o0 = 0; o0 < a0.out; ++o0) {
        for (Size o1 = 0; o1 < a1.out; ++o1) {
          Word* row =
              to + p * plane + ((o0 * w.stride[0] + residue[0]) * w.size[1] + o1 * w.stride[1] + residue[1]) * w.size[2] + residue[2];
          for (Size o2 = 0; o2 < a2.out; ++o2) row[o2 * w.stride[2]] = *at++;
        }
      }
    }
  });
}

void conv_transpose(const ConvTranspose& op, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&) {
  const int axes = op.windows.axes;
  const Windows windows = op.windows.in_three();
  Convolution c = over(x, op.groups, w.shape()[1], axes);
  const WeightSteps steps = steps_of(w, axes, c.channels * w.strides()[0], w.strides()[1], w.strides()[0]);
  const bool one = windows.stride[0] * windows.stride[1] * windows.stride[2] == 1;
  const Size planes = c.images * c.groups * c.rows;
  Spatial r;
  for (r[0] = 0; r[0] < least(windows.stride[0], windows.size[0]); ++r[0]) {
    for (r[1] = 0; r[1] < least(windows.stride[1], windows.size[1]); ++r[1]) {
      for (r[2] = 0; r[2] < least(windows.stride[2], windows.size[2]); ++r[2]) {
        bool any = true;
        for (std::size_t i = 0; i < 3; ++i) any = residue_axis(windows, i, r[i], c.axes[i]) && any;
        if (!any) continue;
        if (one) {
          convolve_any(c, w, steps, bias, y.mutable_buffer());
          continue;
        }
        const Scratch<std::byte> part(planes * c.positions() * block_bytes(c.dtype));
        convolve_any(c, w, steps, bias, part.data());
        switch (block_bytes(c.dtype)) {
          case 2: interleave(c, windows, r, reinterpret_cast<const u16*>(part.data()), data<u16>(y)); break;
          case 4: interleave(c, windows, r, reinterpret_cast<const u32*>(part.data()), data<u32>(y)); break;
          default: interleave(c, windows, r, reinterpret_cast<const u64*>(part.data()), data<u64>(y)); break;
        }
      }
    }
  }
}

}  // namespace

void register_conv(Kernels& kernels) {
  kernels.add<Conv>(Device::cpu, conv);
  kernels.add<ConvTranspose>(Device::cpu, conv_transpose);
}

}  // namespace votive::cpu::VOTIVE_ISA
