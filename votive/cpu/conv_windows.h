// The windows of a convolution as columns of a product, put together where a tile needs them. Not here: the product (matmul_blocks.h).
#pragma once

#include <algorithm>

#include "votive/cpu/conv.h"
#include "votive/cpu/matmul.h"

namespace votive::cpu::VOTIVE_ISA {

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
    const Axis& last = c_.axes[2];
    const bool along_taps = last.out <= 8 && last.taps >= 8;
    Size tap = k0 / c_.channels, channel = k0 % c_.channels;
    for (Size left = k; left > 0;) {
      Size taps = 1, rows = least(left, c_.channels - channel);
      if (along_taps && channel == 0 && left >= 2 * c_.channels) {
        taps = least(last.taps - tap % last.taps, left / c_.channels);
        rows = taps * c_.channels;
        for (int r = 0; r < count; ++r) fill_taps(x, runs[r], tap, taps, width, row);
      } else {
        for (int r = 0; r < count; ++r) fill_channels(x, runs[r], tap, channel, rows, width, row);
      }
      if (columns < width) {
        for (Size i = 0; i < rows; ++i) std::fill_n(row + i * width + columns, width - columns, Word{0});
      }
      row += rows * width;
      left -= rows;
      channel = 0;
      tap += taps;
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

  /// Where tap t of a run's first output reads, and whether it lies inside the axes before the last.
  struct Start {
    Size i2, at;
    bool inside;
    Start(const Convolution& c, const Run& run, Size tap) {
      const auto& [a0, a1, a2] = c.axes;
      const Size i0 = run.i0 + tap / (a2.taps * a1.taps) * a0.step, i1 = run.i1 + tap / a2.taps % a1.taps * a1.step;
      i2 = run.i2 + tap % a2.taps * a2.step;
      inside = i0 >= 0 && i0 < a0.in && i1 >= 0 && i1 < a1.in;
      at = run.image + i0 * a0.x_stride + i1 * a1.x_stride + i2 * a2.x_stride;
    }
  };

  /// Multiples 0 … n − 1 of `step` past `first` that lie in [0, in).
  struct Inside {
    Size begin, end;
    Inside(Size first, Size step, Size n, Size in, bool any) {
      begin = !any ? n : first >= 0 ? 0 : least(n, (-first + step - 1) / step);
      end = !any || first >= in ? begin : most(begin, least(n, (in - 1 - first) / step + 1));
    }
  };

  /// One tap of n channels: outputs of a run lie side by side.
  void fill_channels(const Word* x, const Run& run, Size tap, Size channel, Size n, Size width, Word* to) const {
    const Axis& a = c_.axes[2];
    const Start start(c_, run, tap);
    const Inside range(start.i2, a.stride, run.length, a.in, start.inside);
    const Size step = a.stride * a.x_stride;
    const Word* from = x + start.at + channel * c_.x_channel;
    to += run.at;
    for (Size i = 0; i < n; ++i, from += c_.x_channel, to += width) {
      for (Size j = 0; j < range.begin; ++j) to[j] = 0;
      if (step == 1) {
        for (Size j = range.begin; j < range.end; ++j) to[j] = from[j];
      } else {
        for (Size j = range.begin; j < range.end; ++j) to[j] = from[j * step];
      }
      for (Size j = range.end; j < run.length; ++j) to[j] = 0;
    }
  }

  /// Neighbouring taps of all channels: of short runs the taps are the longer way.
  void fill_taps(const Word* x, const Run& run, Size tap, Size taps, Size width, Word* to) const {
    const Axis& a = c_.axes[2];
    const Start start(c_, run, tap);
    const Size row_step = c_.channels * width, step = a.step * a.x_stride;
    for (Size j = 0; j < run.length; ++j) {
      const Inside range(start.i2 + j * a.stride, a.step, taps, a.in, start.inside);
      for (Size i = 0; i < c_.channels; ++i) {
        const Word* from = x + start.at + j * a.stride * a.x_stride + i * c_.x_channel;
        Word* column = to + i * width + run.at + j;
        for (Size t = 0; t < range.begin; ++t) column[t * row_step] = 0;
        for (Size t = range.begin; t < range.end; ++t) column[t * row_step] = from[t * step];
        for (Size t = range.end; t < taps; ++t) column[t * row_step] = 0;
      }
    }
  }

  const Convolution& c_;
};

}  // namespace votive::cpu::VOTIVE_ISA
