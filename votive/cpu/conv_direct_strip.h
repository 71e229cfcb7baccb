// The part of an image that a strip of outputs reads, as direct convolutions want it: planes, rows and columns with their padding, the channels of a position
// side by side, in words of the dot product. Not here: which outputs make a strip (conv_direct.cpp).
#pragma once

#include "votive/cpu/conv.h"
#include "votive/cpu/conv_direct_lanes.h"

namespace votive::cpu::VOTIVE_ISA {

/// Rows of outputs of one image, or a part of one row, `at` words and `first` outputs into the strip.
struct Band {
  Size image, o0, o1, o2, rows, columns, at, first;
};

/// Element is what x holds.
template <class Dot, class Element>
class StripLayout {
 public:
  using Packed = typename Dot::Packed;

  const Size words;             // of a position's channels
  Size position, pitch, plane;  // words from a position to the next, row to row, plane to plane
  Size band_rows, bands;        // rows of outputs at once of one image, and images
  Size band_columns, parts;     // of a row, and how many parts it has; more than one only where a row is too long for a strip

  explicit StripLayout(const Convolution& c) : words(Dot::units(c.channels)), c_(c) {
    const Axis &a0 = c.axes[0], &a1 = c.axes[1], &a2 = c.axes[2];
    // Positions a multiple of half a page apart would share two sets of L1.
    position = words * Size{sizeof(Packed)} % 2048 == 0 ? words + 64 / Size{sizeof(Packed)} : words;
    over_ = (a1.taps - 1) * a1.step + 1 - a1.stride;
    // As many columns as one row of outputs may have.
    const Size row_words = most_words / (a0.taps * (over_ + a1.stride) * position) - (a2.taps - 1) * a2.step - 1;
    const Size fits_columns = most(least_columns, least(most_positions, row_words / a2.stride + 1));
    parts = (a2.out + fits_columns - 1) / fits_columns;
    band_columns = (a2.out + parts - 1) / parts;
    parts = (a2.out + band_columns - 1) / band_columns;
    columns_ = reach(band_columns);
    pitch = columns_ * position;
    const Size fits = least(most_words / (a0.taps * pitch) - over_, most_positions / band_columns * a1.stride) / a1.stride;
    band_rows = parts > 1 ? 1 : least(a1.out, most(1, fits));
    plane = (band_rows * a1.stride + over_) * pitch;
    bands = 1;
    if (band_rows == a1.out && parts == 1)
      bands = most(1, least(least(most_words / (a0.taps * plane), most_positions / (a1.out * a2.out)), c.images * a0.out));
  }

  /// Words of all bands, and outputs of each channel.
  Size size() const { return bands * c_.axes[0].taps * plane; }
  Size positions() const { return bands * band_rows * band_columns; }

  void fill(const Band& band, Size group, Packed* strip) const {
    const Axis &a0 = c_.axes[0], &a1 = c_.axes[1], &a2 = c_.axes[2];
    const Size origin = band.o2 * a2.stride + a2.origin;  // the column of the input that is the strip's first
    const Size from = least(columns_, most(0, -origin)), to_column = most(from, least(reach(band.columns), a2.in - origin));
    const Part part{origin, from, to_column};
    const Size rows = band.rows * a1.stride + over_, i1 = band.o1 * a1.stride + a1.origin;
    for (Size t0 = 0; t0 < a0.taps; ++t0) {
      const Size i0 = band.o0 * a0.stride + t0 * a0.step + a0.origin;
      Packed* to = strip + band.at + t0 * plane;
      const bool any = i0 >= 0 && i0 < a0.in && part.to > part.from;
      const Size begin = any ? least(rows, most(0, -i1)) : rows, end = any ? most(begin, least(rows, a1.in - i1)) : rows;
      clear(to, begin * pitch);
      clear(to + end * pitch, (rows - end) * pitch);
      for (Size r = begin; r < end; ++r) {
        clear(to + r * pitch, part.from * position);
        clear(to + r * pitch + part.to * position, (columns_ - part.to) * position);
      }
      if (begin == end) continue;
      const Element* x = reinterpret_cast<const Element*>(c_.x) + band.image * c_.x_image + group * c_.channels * c_.x_channel +
                         i0 * a0.x_stride + (i1 + begin) * a1.x_stride;
      take_rows(x, end - begin, part, to + begin * pitch);
    }
  }

 private:
  static constexpr Size most_words = Size{1} << 16;  // a strip shares L2 with a panel of weights
  static constexpr Size most_positions = 1024;       // and with the sums of a panel
  static constexpr Size least_columns = 56;          // shorter parts would read too much twice
  static constexpr Size lanes = Dot::Vector::lanes;
  using Acc = typename Dot::Acc;
  using Vector = typename Dot::Vector;

  /// Columns of the input: the strip's first, and those of the strip that exist.
  struct Part {
    Size origin, from, to;
  };

  /// Columns that so many neighbouring outputs read.
  Size reach(Size outputs) const { return (outputs - 1) * c_.axes[2].stride + (c_.axes[2].taps - 1) * c_.axes[2].step + 1; }

  static void clear(Packed* to, Size n) {
    if (n > 0) std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(Packed));
  }

  /// `rows` rows of the input, of which `x` is column 0 of the first.
  void take_rows(const Element* x, Size rows, const Part& part, Packed* to) const {
    const Axis &a1 = c_.axes[1], &a2 = c_.axes[2];
    if (a2.x_stride == 1 && words >= lanes / 2 && a1.x_stride == a2.in && parts == 1)
      return take_run(x, rows * a2.in, a2.in, -part.origin, to);
    x += (part.origin + part.from) * a2.x_stride;
    for (Size r = 0; r < rows; ++r, x += a1.x_stride, to += pitch) {
      if (a2.x_stride == 1 && words >= lanes / 2) {
        take_run(x, part.to - part.from, part.to - part.from, part.from, to);
      } else {
        take_elements(x, part, to);
      }
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

  /// The columns of one row, of any layout.
  void take_elements(const Element* x, const Part& part, Packed* to) const {
    const Size step = c_.axes[2].x_stride;
    for (Size column = part.from; column < part.to; ++column, x += step) {
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
  Size over_;     // rows of the input beside those that each row of outputs brings
  Size columns_;  // of the strip
};

}  // namespace votive::cpu::VOTIVE_ISA
