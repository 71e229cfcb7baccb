// Where kernels get elements and put them: any layout and any dtype at one end, runs of the type they compute in at the other. A kernel asks for elements
// [begin, begin + n) in row-major order and gets a pointer, into the tensor where they already lie so, else into its tile.
// Not here: threads (each makes its own tiles) and arithmetic.
#pragma once

#include "votive/core/tensor.h"
#include "votive/core/walk.h"
#include "votive/cpu/convert.h"

namespace votive::cpu::VOTIVE_ISA {

/// Room for a tile of any compute type.
struct alignas(64) Tile {
  std::byte bytes[tile_size * 8];
};

/// First element of a tensor, or rather where its layout's offset points.
template <class T>
inline const T* data(const Tensor& x) {
  return reinterpret_cast<const T*>(x.buffer()) + x.offset();
}
template <class T>
inline T* data(Tensor& y) {
  return reinterpret_cast<T*>(y.mutable_buffer()) + y.offset();
}

/// Bytes past the caches: such outputs are written without reading their lines first (1.5 times the copy bandwidth, 2-core Zen 4).
inline constexpr Size stream_threshold = Size{16} << 20;
/// Copies by stores that bypass the caches. Call stream_fence() before another thread may read.
void stream_bytes(std::byte* to, const std::byte* from, Size n);
void stream_fence();

class Reader {
 public:
  /// Reads `x` in the row-major order of `order`, a layout of x's buffer, as dtype `as`.
  Reader(const Tensor& x, const Layout& order, DType as, bool saturate = true);

  Size count() const { return walk_.count(); }
  /// Whether there is one element that stands for all.
  bool is_one_element() const { return linear_ && step_ == 0; }
  /// Whether elements are read where they lie, in runs as long as tile_end() allows.
  bool needs_no_tile() const { return convert_.is_identity() && step_ == 1 && (linear_ || inner_ >= shortest_run); }
  /// Elements [begin, begin + n); `room` has space for n. For quantised dtypes both are multiples of the block.
  template <class T>
  const T* read(Size begin, Size n, void* room) const {
    return reinterpret_cast<const T*>(read_bytes(begin, n, static_cast<std::byte*>(room)));
  }
  const std::byte* read_bytes(Size begin, Size n, std::byte* room) const;
  /// Up to n, ends a tile that starts at `begin` where a long run ends: its elements can then be read where they lie.
  Size tile_end(Size begin, Size n) const {
    if (!convert_.is_identity() || step_ != 1 || inner_ == count() || inner_ < shortest_run) return n;
    const Size left = inner_ - begin % inner_;
    return left < n ? left : n;
  }
  /// The first element where all of them lie in order and as they are wanted, else null.
  template <class T>
  const T* dense() const {
    if (!convert_.is_identity() || !linear_ || step_ != 1) return nullptr;
    return reinterpret_cast<const T*>(base_ + start_ * bytes_);
  }

 private:
  static constexpr Size shortest_run = 256;  // shorter runs are cheaper to collect than to compute one by one

  const std::byte* collect(Size begin, Size n, std::byte* into) const;

  Walk<1> walk_;
  Conversion convert_;
  const std::byte* base_;
  Size start_, step_, inner_, block_, bytes_, result_bytes_;
  bool linear_;  // one run
};

class Writer {
 public:
  /// Writes runs of dtype `from` to `y` in the row-major order of `order`. `saturate` is for 8-bit floats.
  Writer(Tensor& y, const Layout& order, DType from, bool saturate = true);

  /// Whether the output goes around the caches and is what the kernel computes, so that a loop which stores so itself needs no tile.
  bool takes_streams() const { return stream_ && convert_.is_identity(); }
  bool is_in_place() const { return direct_; }
  /// Where such a loop puts element `begin`.
  void* address(Size begin) const { return base_ + (offset_ + begin) * bytes_; }
  /// Where to compute elements [begin, begin + n): in the tensor when that is the same, else in `room`.
  template <class T>
  T* place(Size begin, void* room) const {
    return direct_ ? reinterpret_cast<T*>(base_ + (offset_ + begin) * bytes_) : static_cast<T*>(room);
  }
  /// Puts elements where they belong, unless they were computed in place.
  void write(Size begin, Size n, const void* values) const;
  /// Once per thread, after its last write.
  void finish() const {
    if (stream_) stream_fence();
  }

 private:
  Walk<1> walk_;
  Conversion convert_;
  std::byte* base_;
  Size step_, offset_, bytes_, from_bytes_;
  bool direct_, stream_;
};

/// n elements of `bytes` each, `step` elements apart, to a dense run; and back.
void gather_run(const std::byte* from, Size step, std::byte* to, Size n, Size bytes);
void scatter_run(const std::byte* from, std::byte* to, Size step, Size n, Size bytes);

}  // namespace votive::cpu::VOTIVE_ISA
