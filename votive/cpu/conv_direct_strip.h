// The part of an image that a strip of outputs reads, as direct convolutions want it: planes, rows and columns with their padding, the channels of a position
// side by side, in words of the dot product. Not here: which outputs make a strip (conv_direct.cpp).
#pragma once

#include "votive/cpu/conv.h"
#include "votive/cpu/conv_direct_lanes.h"

namespace votive::cpu::VOTIVE_ISA {

/// Rows of outputs of one image, `at` words and `first` outputs into the strip.
struct Band {
  Size image, o0, o1, rows, at, first;
};

/// Element is what x holds.
template <class Dot, class Element>
class StripLayout {
 public:
  using Packed = typename Dot::Packed;

  const Size words;             // of a position's channels
  Size position, pitch, plane;  // words from a position to the next, row to row, plane to plane
  Size band_rows, bands;        // rows of outputs at once of one image, and images

  explicit StripLayout(const Convolution& c) : words(Dot::units(c.channels)), c_(c) {
    const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
    // Positions a multiple of half a page apart would share two sets of L1.
    position = words * Size{sizeof(Packed)} % 2048 == 0 ? words + 64 / Size{sizeof(Packed)} : words;
    columns_ = (a2.out - 1) * a2.stride + (a2.taps - 1) * a2.step + 1;
    pitch = columns_ * position;
    over_ = (a1.taps - 1) * a1.step + 1 - a1.stride;
    const Size fits = least(most_words / (a0.taps * pitch) - over_, most_positions / a2.out * a1.stride) / a1.stride;
    band_rows = least(a1.out, most(1, fits));
    plane = (band_rows * a1.stride + over_) * pitch;
    bands = 1;
    if (band_rows == a1.out)
      bands = most(1, least(least(most_words / (a0.taps * plane), most_positions / (a1.out * a2.out)), c.images * a0.out));
    from_ = least(columns_, most(0, -a2.origin));
    to_ = most(from_, least(columns_, a2.in - a2.origin));
  }

  /// Words of all bands, and outputs of each channel.
  Size size() const { return bands * c_.axes[0].taps * plane; }
  Size positions() const { return bands * band_rows * c_.axes[2].out; }

  void fill(const Band& band, Size group, Packed* strip) const {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1];
    const Size rows = band.rows * a1.stride + over_, i1 = band.o1 * a1.stride + a1.origin;
    for (Size t0 = 0; t0 < a0.taps; ++t0) {
      const Size i0 = band.o0 * a0.stride + t0 * a0.step + a0.origin;
      Packed* to = strip + band.at + t0 * plane;
      const bool any = i0 >= 0 && i0 < a0.in && to_ > from_;
      const Size begin = any ? least(rows, most(0, -i1)) : rows, end = any ? most(begin, least(rows, a1.in - i1)) : rows;
      clear(to, begin * pitch);
      clear(to + end * pitch, (rows - end) * pitch);
      for (Size r = begin; r < end; ++r) {
        clear(to + r * pitch, from_ * position);
        clear(to + r * pitch + to_ * position, (columns_ - to_) * position);
      }
      if (begin == end) continue;
      const Element* x = reinterpret_cast<const Element*>(c_.x) + band.image * c_.x_image + group * c_.channels * c_.x_channel +
                         i0 * a0.x_stride + (i1 + begin) * a1.x_stride;
      take_rows(x, end - begin, to + begin * pitch);
    }
  }

 private:
  static constexpr Size most_words = Size{1} << 16;  // a strip shares L2 with a panel of weights
  static constexpr Size most_positions = 1024;       // and with the sums of a panel
  static constexpr Size lanes = Dot::Vector::lanes;
  using Acc = typename Dot::Acc;
  using Vector = typename Dot::Vector;

  static void clear(Packed* to, Size n) {
    if (n > 0) std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(Packed));
  }

  /// `rows` rows of the input, of which `x` is column 0 of the first.
  void take_rows(const Element* x, Size rows, Packed* to) const {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    if (a2.x_stride != 1 || words < lanes / 2) {
      for (Size r = 0; r < rows; ++r) take_elements(x + r * a1.x_stride + (a2.origin + from_) * a2.x_stride, to + r * pitch);
    } else if (a1.x_stride == a2.in) {
      take_run(x, rows * a2.in, a2.in, -a2.origin, to);
    } else {
      for (Size r = 0; r < rows; ++r) take_run(x + r * a1.x_stride + a2.origin + from_, to_ - from_, to_ - from_, from_, to + r * pitch);
    }
  }

  /// n elements of rows of `length`, which begin in this column of the strip.
  void take_run(const Element* x, Size n, Size length, Size first_column, Packed* to) const {
    constexpr Size taken = lanes * LoadLanes<Dot, Element>::elements;
    for (Size channel = 0; channel < c_.channels; channel += taken) {
      const Size here = least(lanes, words - channel / LoadLanes<Dot, Element>::elements);
      const auto row = [&](Size i) { return x + (channel + i) * c_.x_channel; };
      Packed* at = to + channel / LoadLanes<Dot, Element>::elements;
      Size next = 0, column = first_column;
      // Of each channel there is one short piece, too short for the machine to see it coming: the next channels' are, or what follows in the first.
      const Size ahead = channel + 2 * taken <= c_.channels ? taken * c_.x_channel : n - channel * c_.x_channel;
      rows_to_lanes<Dot, Element>(c_.channels - channel, n, c_.dtype == DType::f16, Dot::swapped, ahead, row, [&](Size i, Vector v) {
        if (i != next) {
          at += (i / length - next / length) * pitch;
          column = first_column + i % length;
        }
        if (column >= 0 && column < columns_) {
          Acc* place = reinterpret_cast<Acc*>(at + column * position);
          if (here == lanes) {
            store(place, v);
          } else {
            store_part(place, static_cast<int>(here), v);
          }
        }
        next = i + 1;
        if (++column == first_column + length) {
          column = first_column;
          at += pitch;
        }
      });
    }
  }

  /// Columns from_ … to_ of one row, of any layout.
  void take_elements(const Element* x, Packed* to) const {
    const Size step = c_.axes[2].x_stride;
    for (Size column = from_; column < to_; ++column, x += step) {
      Packed* at = to + column * position;
      for (Size i = 0; i < c_.channels; ++i) {
        const Element element = x[i * c_.x_channel];
        if constexpr (Dot::pairs) {
          reinterpret_cast<Element*>(at)[i] = element;
        } else if constexpr (sizeof(Element) == sizeof(Packed)) {
          at[i] = element;
        } else {
          at[Dot::swapped ? i ^ 1 : i] = c_.dtype == DType::f16 ? numerics::f16_to_f32(element) : numerics::bf16_to_f32(element);
        }
      }
    }
  }

  const Convolution& c_;
  Size over_;                 // rows of the input beside those that each row of outputs brings
  Size columns_, from_, to_;  // of the strip; those inside the input
};

}  // namespace votive::cpu::VOTIVE_ISA
