// Convolutions on the CPU. Most have channels enough to be lanes (conv_direct.h); others are products of the weights with windows that are put together tile by
// tile where the packed matmul needs them, so that the unfolded input never exists; rows of one channel go without a matrix. A transposed convolution is one
// convolution per residue of the stride.
// Not here: the order of additions (matmul_tile.h) and unfolding as an operation (unfold.cpp).
#include "votive/ops/conv.h"

#include <numeric>

#include "votive/base/thread_pool.h"
#include "votive/cpu/conv_direct.h"
#include "votive/cpu/conv_planes.h"
#include "votive/cpu/conv_planes_3x3.h"
#include "votive/cpu/conv_rows.h"
#include "votive/cpu/conv_windows.h"
#include "votive/cpu/kernels.h"
#include "votive/cpu/scratch.h"
#include "votive/cpu/tile.h"

namespace votive::cpu::VOTIVE_ISA {

namespace {

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
      const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
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

// ---- a convolution as products ----

/// Whether windows are the input itself: one tap at every element, the spatial axes evenly spaced.
bool is_plain_product(const Convolution& c) {
  for (const Axis& a : c.axes) {
    if (a.taps != 1 || a.stride != 1 || a.origin != 0 || a.out != a.in) return false;
  }
  const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
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

/// Whether a row of w holds channels and, faster, taps without a gap.
bool has_dense_rows(const Convolution& c, const WeightSteps& steps) {
  Size step = 1;
  for (std::size_t i = 3; i-- > 0;) {
    const Axis& a = c.axes[i];
    if (a.taps > 1 && (steps.kernel[i] != step || a.kernel_step != 1)) return false;
    if (a.kernel_first != 0) return false;
    step *= a.taps;
  }
  return c.channels == 1 || steps.channel == step;
}

template <class Word>
void convolve(const Convolution& c, const Tensor& w, const WeightSteps& steps, const Tensor& bias, std::byte* y) {
  const bool direct = direct_convolution_fits(c);
  if (direct && has_dense_rows(c, steps)) {
    const DirectWeights rows{reinterpret_cast<const std::byte*>(data<Word>(w)), steps.group, steps.row, true};
    if (c.dtype == DType::f64) return convolve_directly(c, rows, Bias<f64>(bias).data(), y);
    return convolve_directly(c, rows, Bias<f32>(bias).data(), y);
  }
  const Scratch<Word> weights(c.groups * c.rows * c.k());
  arrange_weights(c, data<Word>(w), steps.group, steps.row, steps.channel, steps.kernel, weights.data());
  const DirectWeights rows{reinterpret_cast<const std::byte*>(weights.data()), c.rows * c.k(), c.k(), false};
  if (c.dtype == DType::f64) {
    const Bias<f64> wide(bias);
    if (direct) return convolve_directly(c, rows, wide.data(), y);
    if (has_short_rows(c)) return convolve_short_rows<f64>(c, reinterpret_cast<const f64*>(weights.data()), wide.data(), y);
    if (is_plane_by_plane(c)) return convolve_planes<f64>(c, reinterpret_cast<const f64*>(weights.data()), wide.data(), y);
    return convolve_as_product(c, weights.data(), wide.data(), y);
  }
  const Bias<f32> wide(bias);
  if (direct) return convolve_directly(c, rows, wide.data(), y);
  const bool short_rows = has_short_rows(c);
  if (!short_rows && !is_plane_by_plane(c)) return convolve_as_product(c, weights.data(), wide.data(), y);
  const Size n = c.groups * c.k();
  const Scratch<f32> widened(n);
  if (c.dtype == DType::f32) {
    std::memcpy(widened.data(), weights.data(), static_cast<std::size_t>(n) * sizeof(f32));
  } else {
    Conversion(c.dtype, DType::f32)(reinterpret_cast<const std::byte*>(weights.data()), reinterpret_cast<std::byte*>(widened.data()), n);
  }
  if (short_rows && c.channels == 1 && c.axes[2].stride == 1) return convolve_short_rows_together(c, widened.data(), wide.data(), y);
  if (short_rows) return convolve_short_rows<f32>(c, widened.data(), wide.data(), y);
  if (c.dtype == DType::f32 && Planes3x3<PlaneF32>::fits(c, wide.data()))
    return Planes3x3<PlaneF32>(c, widened.data(), wide.data(), y).run();
#if defined(__AVX2__)
  if (c.dtype == DType::bf16 && Planes3x3<PlaneBf16>::fits(c, wide.data()))
    return Planes3x3<PlaneBf16>(c, widened.data(), wide.data(), y).run();
#endif
  Planes(c, widened.data(), wide.data(), y).run();
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
  const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
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
