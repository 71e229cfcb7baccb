// Convolutions and the windows they slide. What the numbers are is CONTRACT.md 4.3 and 4.4; what a user may ask for is functions/convolution.h.
#pragma once

#include <array>

#include "votive/ops/check.h"
#include "votive/ops/functions/convolution.h"
#include "votive/ops/gradient.h"

namespace votive {

using Spatial = std::array<Size, 3>;

/// Where windows lie along up to three spatial axes: tap t of window o is element o·stride + t·dilation − before; outside the input lies padding.
struct Windows {
  int axes;
  Spatial kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, before{0, 0, 0},
      size{1, 1, 1};  // size: windows. The first `axes` of each count.

  /// The same along three axes, of which the first may be idle.
  Windows in_three() const;
  Size taps() const { return kernel[0] * kernel[1] * kernel[2]; }  // of in_three()
  Size count() const { return size[0] * size[1] * size[2]; }
};

/// The last `axes` sizes of a shape, idle ones in front.
Spatial spatial_of(const Shape& shape, int axes);

/// Windows over `in` (spatial sizes) with every rule about their numbers checked. `ceil`: a last window may begin inside the input and end behind it.
Windows slide(std::string_view op, const Argument& x, int axes, const Shape& in, const Spatial& kernel, const PerAxis& stride,
              const Padding& padding, const PerAxis& dilation, bool ceil = false);

/// x [N, G·C, in…] · w [G·M, C, kernel…] → y [N, G·M, size…]. Kernels meet x, w and bias of y's dtype.
struct Conv {
  Windows windows;
  Size groups;

  static constexpr OpInfo info{"conv", Class::exact};
  using Kernel = void(const Conv&, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&);
  std::string_view name() const;
  Meta result(const Meta& x, const Meta& w, const Meta& bias) const;
  Saves saves() const { return {0b011, false}; }
  Tensors gradient(const Backward& b) const;
};

/// x [N, G·C, in…] · w [G·C, M, kernel…] → y [N, G·M, size…]: the windows of a Conv from y to x, their `size` here y's.
struct ConvTranspose {
  Windows windows;
  Size groups;

  static constexpr OpInfo info{"conv_transpose", Class::exact};
  using Kernel = void(const ConvTranspose&, const Tensor& x, const Tensor& w, const Tensor& bias, Tensor& y, Stream&);
  std::string_view name() const;
  Meta result(const Meta& x, const Meta& w, const Meta& bias) const;
  Saves saves() const { return {0b011, false}; }
  Tensors gradient(const Backward& b) const;
};

/// x [N, C, in…] → y [N, C·taps, windows].
struct Im2Col {
  Windows windows;

  static constexpr OpInfo info{"im2col", Class::exact};
  using Kernel = void(const Im2Col&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

/// x [N, C·taps, windows] → y [N, C, in…].
struct Col2Im {
  Windows windows;
  Spatial in;  // the first windows.axes of it

  static constexpr OpInfo info{"col2im", Class::exact};
  using Kernel = void(const Col2Im&, const Tensor& x, Tensor& y, Stream&);
  Meta result(const Meta& x) const;
  Saves saves() const { return {0, false}; }
  Tensors gradient(const Backward& b) const;
};

}  // namespace votive
