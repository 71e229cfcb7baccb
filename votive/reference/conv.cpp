// Convolutions straight from CONTRACT.md 4.3: every output is one canonical dot product of the elements under its window and a row of weights, both
// collected in the order of k.
#include "votive/ops/conv.h"

#include "votive/numerics/reduce.h"
#include "votive/reference/element.h"
#include "votive/reference/kernels.h"
#include "votive/reference/windows.h"

namespace votive::reference {

using namespace numerics;

namespace {

Size flat(const Spatial& at, const Spatial& n) { return (at[0] * n[1] + at[1]) * n[2] + at[2]; }

bool inside(const Spatial& at, const Spatial& n) {
  for (std::size_t i = 0; i < 3; ++i) {
    if (at[i] < 0 || at[i] >= n[i]) return false;
  }
  return true;
}

/// One term of a dot product: an element of x's plane, or padding (−1), and a kernel position.
struct Term {
  Size x, w;
};

/// Where output o of a convolution reads, in order.
std::vector<Term> forward_terms(const Windows& w, const Spatial& in, const Spatial& o) {
  std::vector<Term> terms;
  for_each(w.kernel, [&](const Spatial& t) {
    Spatial at;
    for (std::size_t i = 0; i < 3; ++i) at[i] = o[i] * w.stride[i] + t[i] * w.dilation[i] - w.before[i];
    terms.push_back({inside(at, in) ? flat(at, in) : -1, flat(t, w.kernel)});
  });
  return terms;
}

/// The same of a transposed convolution: kernel positions from the last to the first, those that fall between two elements left out.
std::vector<Term> transposed_terms(const Windows& w, const Spatial& in, const Spatial& o) {
  std::vector<Term> terms;
  for_each(w.kernel, [&](const Spatial& reversed) {
    Spatial t, at;
    for (std::size_t i = 0; i < 3; ++i) {
      t[i] = w.kernel[i] - 1 - reversed[i];
      const Size from = o[i] + w.before[i] - t[i] * w.dilation[i];
      if (from % w.stride[i] != 0) return;
      at[i] = from / w.stride[i];
    }
    terms.push_back({inside(at, in) ? flat(at, in) : -1, flat(t, w.kernel)});
  });
  return terms;
}

struct Sizes3 {
  Size images, groups, channels, rows;
};

/// y[n, g, m, o] in order: dot(x's terms, w's terms, k). `weight_at(g, m, c)` is the plane of w that belongs to them.
template <class T, class Terms, class WeightAt, class Dot>
auto convolve(const std::vector<T>& x, const std::vector<T>& w, const Sizes3& size, const Windows& windows, const Spatial& in, Terms terms,
              WeightAt weight_at, Dot dot) {
  std::vector<decltype(dot(x.data(), w.data(), Size{0}))> y;
  const Size plane = in[0] * in[1] * in[2], taps = windows.taps();
  for (Size n = 0; n < size.images; ++n) {
    for (Size g = 0; g < size.groups; ++g) {
      for (Size m = 0; m < size.rows; ++m) {
        for_each(windows.size, [&](const Spatial& o) {
          std::vector<T> a, b;
          for (const Term& term : terms(windows, in, o)) {
            for (Size c = 0; c < size.channels; ++c) {
              a.push_back(term.x < 0
                              ? T{0}
                              : x[static_cast<std::size_t>((n * size.groups * size.channels + g * size.channels + c) * plane + term.x)]);
              b.push_back(w[static_cast<std::size_t>(weight_at(g, m, c) * taps + term.w)]);
            }
          }
          y.push_back(dot(b.data(), a.data(), static_cast<Size>(a.size())));
        });
      }
    }
  }
  return y;
}

template <class T>
void add_bias(std::vector<T>& y, const std::vector<T>& bias, Size plane) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i / static_cast<std::size_t>(plane) % bias.size()];
}

std::vector<u16> read_u16(const Tensor& x) {
  const std::vector<u64> bits = read_bits(x);
  return {bits.begin(), bits.end()};
}

template <class Terms, class WeightAt>
void convolve_any(const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, const Sizes3& size, const Windows& windows,
                  const Spatial& in, Terms terms, WeightAt weight_at) {
  if (y.dtype() == DType::f64) {
    std::vector<f64> values = convolve(read_f64(x), read_f64(w), size, windows, in, terms, weight_at,
                                       [](const f64* a, const f64* b, Size k) { return dot_f64(a, 1, b, 1, k); });
    if (bias.defined()) add_bias(values, read_f64(bias), windows.count());
    return write_f64(y, values);
  }
  std::vector<f32> values;
  if (y.dtype() == DType::bf16) {
    values = convolve(read_u16(x), read_u16(w), size, windows, in, terms, weight_at,
                      [](const u16* a, const u16* b, Size k) { return dot_bf16(a, 1, b, 1, k); });
  } else {
    values = convolve(read_f32(x), read_f32(w), size, windows, in, terms, weight_at,
                      [](const f32* a, const f32* b, Size k) { return dot_f32(a, 1, b, 1, k); });
  }
  if (bias.defined()) add_bias(values, read_f32(bias), windows.count());
  write_f32(y, values);
}

}  // namespace

void conv(const Conv& op, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&) {
  const Sizes3 size{x.shape()[0], op.groups, x.shape()[1] / op.groups, w.shape()[0] / op.groups};
  convolve_any(x, w, bias, y, size, op.windows.in_three(), spatial_of(x.shape(), op.windows.axes), forward_terms,
               [&](Size g, Size m, Size c) { return (g * size.rows + m) * size.channels + c; });
}

void conv_transpose(const ConvTranspose& op, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&) {
  const Sizes3 size{x.shape()[0], op.groups, x.shape()[1] / op.groups, w.shape()[1]};
  convolve_any(x, w, bias, y, size, op.windows.in_three(), spatial_of(x.shape(), op.windows.axes), transposed_terms,
               [&](Size g, Size m, Size c) { return (g * size.channels + c) * size.rows + m; });
}

void im2col(const Im2Col& op, const Tensor& x, Tensor& y, Stream&) {
  const Windows w = op.windows.in_three();
  const Spatial in = spatial_of(x.shape(), op.windows.axes);
  const std::vector<u64> from = read_bits(x);
  std::vector<u64> to;
  for (Size plane = 0; plane < x.shape()[0] * x.shape()[1]; ++plane) {
    for_each(w.kernel, [&](const Spatial& t) {
      for_each(w.size, [&](const Spatial& o) {
        Spatial at;
        for (std::size_t i = 0; i < 3; ++i) at[i] = o[i] * w.stride[i] + t[i] * w.dilation[i] - w.before[i];
        to.push_back(inside(at, in) ? from[static_cast<std::size_t>(plane * in[0] * in[1] * in[2] + flat(at, in))] : 0);
      });
    });
  }
  write_bits(y, to);
}

namespace {

template <class T>
std::vector<T> folded(const Windows& w, const Spatial& in, const std::vector<T>& x, Size planes) {
  std::vector<T> y(static_cast<std::size_t>(planes * in[0] * in[1] * in[2]), T{0});
  std::size_t next = 0;
  for (Size plane = 0; plane < planes; ++plane) {
    for_each(w.kernel, [&](const Spatial& t) {
      for_each(w.size, [&](const Spatial& o) {
        Spatial at;
        for (std::size_t i = 0; i < 3; ++i) at[i] = o[i] * w.stride[i] + t[i] * w.dilation[i] - w.before[i];
        if (inside(at, in)) y[static_cast<std::size_t>(plane * in[0] * in[1] * in[2] + flat(at, in))] += x[next];
        ++next;
      });
    });
  }
  return y;
}

}  // namespace

void col2im(const Col2Im& op, const Tensor& x, Tensor& y, Stream&) {
  const Windows w = op.windows.in_three();
  const Spatial in = spatial_of(y.shape(), op.windows.axes);
  const Size planes = y.shape()[0] * y.shape()[1];
  if (y.dtype() == DType::f64) return write_f64(y, folded(w, in, read_f64(x), planes));
  write_f32(y, folded(w, in, read_f32(x), planes));
}

}  // namespace votive::reference
